//! A session with the language server, message by message, through the binary.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::project::Project;

struct Session {
    child: Child,
    reader: BufReader<ChildStdout>,
    next: u64,
}

impl Session {
    fn start(project: &Project) -> Session {
        let mut child = Command::new(env!("CARGO_BIN_EXE_oncemore"))
            .current_dir(project.folder.path())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let reader = BufReader::new(child.stdout.take().unwrap());
        let mut session = Session { child, reader, next: 0 };
        let result = session.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 1);
        assert_eq!(result["capabilities"]["hoverProvider"], true);
        session.tell("initialized", json!({}));
        session
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let stdin = self.child.stdin.as_mut().unwrap();
        write!(stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        stdin.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "the server has gone");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn heard(&mut self, method: &str) -> Value {
        loop {
            let message = self.read();
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    /// Findings of a version of a file: those that come last.
    fn findings(&mut self, uri: &str, version: u64) -> Vec<Value> {
        loop {
            let published = self.heard("textDocument/publishDiagnostics");
            if published["uri"] == uri && published["version"] == version {
                return published["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "sql", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, version: u64, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

fn uri(project: &Project, path: &str) -> String {
    format!("file://{}", project.path(path).display())
}

fn codes(findings: &[Value]) -> Vec<&str> {
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

const BAD: &str = "-- wörk\nINSERT INTO mart.t (k, v)\nSELECT k, v FROM raw.s;\n";
const GOOD: &str = "CREATE OR REPLACE TABLE mart.t AS\nSELECT k, v FROM raw.s;\n";

#[test]
fn findings_come_and_go_as_one_types() {
    let project = Project::empty();
    let mut session = Session::start(&project);
    let uri = uri(&project, "etl/load.sql");
    session.open(&uri, BAD);
    let found = session.findings(&uri, 1);
    assert_eq!(codes(&found), ["OM301"]);
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 1, "character": 0 }));

    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 3 } });
    let hover = session.ask("textDocument/hover", place);
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("# OM301 append-insert"));
    let nowhere = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
    assert_eq!(session.ask("textDocument/hover", nowhere), Value::Null);

    session.change(&uri, 2, GOOD);
    assert_eq!(session.findings(&uri, 2), Vec::<Value>::new());
    session.change(&uri, 3, BAD);
    assert_eq!(codes(&session.findings(&uri, 3)), ["OM301"]);
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let cleared = session.heard("textDocument/publishDiagnostics");
    assert_eq!(cleared["diagnostics"], json!([]));
    session.end();
}

#[test]
fn actions_allow_a_finding_and_rewrite_it() {
    let project = Project::empty();
    let mut session = Session::start(&project);
    let uri = uri(&project, "load.sql");
    session.open(&uri, BAD);
    session.findings(&uri, 1);
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let offered = session.ask("textDocument/codeAction", asked.clone());
    let edit = &offered[0]["edit"]["changes"][&uri][0];
    assert_eq!(edit["newText"], "-- oncemore: allow(OM301) because \n");
    assert_eq!(edit["range"]["start"], json!({ "line": 1, "character": 0 }));

    // Without a reason it allows nothing; with one it does; and once nothing is found under it, it may go.
    let with =
        |reason: &str, sql: &str| format!("-- wörk\n-- oncemore: allow(OM301) because {reason}\n{sql}");
    let statement = BAD.split_once('\n').unwrap().1;
    session.change(&uri, 2, &with("", statement));
    assert_eq!(codes(&session.findings(&uri, 2)), ["OM002", "OM301"]);
    session.change(&uri, 3, &with("it is a journal", statement));
    assert_eq!(session.findings(&uri, 3), Vec::<Value>::new());
    session.change(&uri, 4, &with("it is a journal", GOOD));
    assert_eq!(codes(&session.findings(&uri, 4)), ["OM002"]);
    let offered = session.ask("textDocument/codeAction", asked);
    let edit = &offered[0]["edit"]["changes"][&uri][0];
    assert_eq!(edit["newText"], "");
    assert_eq!(edit["range"]["end"], json!({ "line": 2, "character": 0 }));
    session.end();
}

#[test]
fn settings_and_neighbours_count() {
    let project = Project::empty();
    project.write(".oncemore-lint.yml", "rules: {OM301: off}\n");
    let mut session = Session::start(&project);
    let uri = uri(&project, "etl/load.sql");
    session.open(&uri, BAD);
    assert_eq!(session.findings(&uri, 1), Vec::<Value>::new());
    project.write(".oncemore-lint.yml", "rules: {OM301: wrong}\n");
    session.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    let told = session.heard("window/showMessage");
    assert!(told["message"].as_str().unwrap().contains("`wrong` is no `severity`"), "{told}");
    session.end();
}

#[test]
fn models_are_judged_as_models() {
    let project = Project::new();
    let mut session = Session::start(&project);
    let uri = uri(&project, "models/gold/city_day.sql");
    session.open(&uri, crate::project::CITY_DAY);
    assert_eq!(session.findings(&uri, 1), Vec::<Value>::new());
    let clock =
        crate::project::CITY_DAY.replace("sum(amount) AS amount", "now() AS seen, sum(amount) AS amount");
    session.change(&uri, 2, &clock);
    assert!(codes(&session.findings(&uri, 2)).iter().any(|code| code.starts_with("OM1")));
    session.end();
}

#[test]
fn unknown_requests_and_wrong_parameters_are_answered() {
    let project = Project::empty();
    let mut session = Session::start(&project);
    for (method, params) in
        [("textDocument/rename", json!({})), ("textDocument/hover", json!({ "position": 1 }))]
    {
        session.send(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }));
        let answer = session.read();
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    session.tell("textDocument/didOpen", json!({ "nothing": true }));
    session.open("untitled:1", BAD);
    session.end();
}

/// What a client says that does not keep to the protocol, after `initialize`: what is told in its log, and how the server
/// ends once the stream does.
fn after(stream: &[u8]) -> (Vec<String>, Option<i32>, String) {
    let project = Project::empty();
    let mut server = project.command(&["lsp"]);
    server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = server.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
    ] {
        let text = message.to_string();
        write!(stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }
    // A server that has ended takes no more.
    let _ = stdin.write_all(stream);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let told = said.split("Content-Length: ").filter_map(|part| part.split_once("\r\n\r\n"));
    let told = told.filter_map(|(_, body)| {
        let message: Value = serde_json::from_str(body).unwrap();
        message["params"]["message"].as_str().map(str::to_owned)
    });
    (told.collect(), output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_absurd_length_allocates_nothing() {
    let (told, code, why) = after(b"Content-Length: 99999999999999\r\n\r\nabc");
    assert_eq!(told, ["a message of 99999999999999 bytes is passed over: 268435456 are the most"]);
    assert_eq!((code, why.trim()), (Some(7), "error: unexpected end of file"));
    let (told, code, why) = after(b"Content-Length: -5\r\n\r\n");
    assert_eq!((told.len(), code, why.trim()), (0, Some(7), "error: `Content-Length: -5` is no length"));
}

#[test]
fn what_is_no_message_is_passed_over() {
    let (told, code, why) = after(b"Content-Length: 2\r\n\r\n\xff\xfeContent-Length: 4\r\n\r\n{\"a\"");
    assert_eq!((told.len(), code, why.as_str()), (2, Some(0), ""), "{told:?}");
}

#[test]
fn a_text_that_is_too_long_is_not_looked_at_until_it_is_shorter() {
    let project = Project::empty();
    let mut session = Session::start(&project);
    let uri = uri(&project, "etl/dump.sql");
    session.open(&uri, &BAD.repeat((17 << 20) / BAD.len()));
    assert_eq!(session.findings(&uri, 1), Vec::<Value>::new());
    let told = session.heard("window/showMessage");
    assert_eq!(
        told["message"],
        "`dump.sql` is larger than 16 MB and is not looked at as you type; `oncemore lint` does"
    );
    session.change(&uri, 2, BAD);
    assert_eq!(codes(&session.findings(&uri, 2)), ["OM301"]);
    session.end();
}
