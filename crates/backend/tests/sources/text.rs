//! Text that another reader would take, and lose a value by it without a word.

use oncemore_core::{Format, Interval};

use crate::support::{Project, csv, query, spec};

async fn refused(name: &str, content: &str, format: Format, columns: &str) -> String {
    let project = Project::new();
    project.write(name, content);
    project.scan(&spec(name, format, columns, None)).await.unwrap_err().to_string()
}

/// Of two values of one field nobody can know which counts.
#[tokio::test]
async fn a_field_that_comes_twice() {
    let json = |text: &'static str| refused("in/a.ndjson", text, Format::NdJson, "i BIGINT, s TEXT");
    insta::assert_snapshot!(json("{\"i\":1,\"s\":\"a\"}\n{\"i\":1, \"i\":2}\n").await, @r#"
    in/a.ndjson:2:9: the object has field `i` twice
    2 | {"i":1, "i":2}
      |         ^
    help: deliver one value a field: which of the two counts, nobody can know
    "#);
    // Equal values, NULL, and a name that is written otherwise are no way around it.
    insta::assert_snapshot!(json("{\"i\":1,\"s\":\"é\",\"\\u0069\":1}\n").await, @r#"
    in/a.ndjson:1:16: the object has field `i` twice
    1 | {"i":1,"s":"é","\u0069":1}
      |                ^
    help: deliver one value a field: which of the two counts, nobody can know
    "#);
    insta::assert_snapshot!(json("\n  {\"s\":null,\"s\":\"x\"}\n").await, @r#"
    in/a.ndjson:2:13: the object has field `s` twice
    2 |   {"s":null,"s":"x"}
      |             ^
    help: deliver one value a field: which of the two counts, nobody can know
    "#);
    insta::assert_snapshot!(json("{\"s\":\"x\",\"i\":null,\"s\":null}").await, @r#"
    in/a.ndjson:1:19: the object has field `s` twice
    1 | {"s":"x","i":null,"s":null}
      |                   ^
    help: deliver one value a field: which of the two counts, nobody can know
    "#);
    // Fields that nobody declared are not read, nor are those within them.
    let project = Project::new();
    project.write("in/a.ndjson", "{\"x\":{\"i\":1,\"i\":2},\"y\":1,\"i\":3,\"y\":[{\"s\":1,\"s\":2}]}\n");
    let index = project.scan(&spec("in/a.ndjson", Format::NdJson, "i BIGINT, s TEXT", None)).await.unwrap();
    let shown = query(project.table(&index, Interval::WHOLE), "SELECT * FROM t").await.unwrap();
    insta::assert_snapshot!(shown, @"
    +---+---+
    | i | s |
    +---+---+
    | 3 |   |
    +---+---+
    ");
}

/// Lines that are nearly JSON.
#[tokio::test]
async fn json_that_is_none() {
    let project = Project::new();
    let declared = spec("in/a.ndjson", Format::NdJson, "i BIGINT, s TEXT", None);
    let mut texts = String::new();
    for line in [
        "{\"i\":1 \"s\":2}",
        "{\"i\":1,}",
        "{,\"i\":1}",
        "{\"i\" 1}",
        "{i:1}",
        "{\"i\":}",
        "{\"i\":nul}",
        "{\"i\":1",
        "{\"i\":1}}",
        "{\"s\":\"a}",
        "{\"s\":\"\\x\"}",
        "{\"s\":\"\\u12\"}",
        "{\"s\":\"\\ud800\"}",
        "{\"s\":\"\\ud83d\\u0041\"}",
        "{\"s\":[1]}",
        "{\"x\":[1,]}",
        "{\"x\":[1}}",
        "{\"x\":{\"y\" 1}}",
        "{\"x\":{1}}",
        "{\"x\":[[[[",
        "null",
    ] {
        project.write("in/a.ndjson", format!("{{\"i\":0}}\n{line}\n{{\"i\":2}}\n"));
        texts += &format!("{}\n", project.scan(&declared).await.unwrap_err());
    }
    insta::assert_snapshot!(texts, @r#"
    in/a.ndjson:2:8: no JSON object: a comma is missing
    2 | {"i":1 "s":2}
      |        ^
    in/a.ndjson:2:8: no JSON object: a name in quotes is missing
    2 | {"i":1,}
      |        ^
    in/a.ndjson:2:2: no JSON object: a name in quotes is missing
    2 | {,"i":1}
      |  ^
    in/a.ndjson:2:6: no JSON object: a colon is missing
    2 | {"i" 1}
      |      ^
    in/a.ndjson:2:2: no JSON object: a name in quotes is missing
    2 | {i:1}
      |  ^
    in/a.ndjson:2:6: no JSON object: no value stands here
    2 | {"i":}
      |      ^
    in/a.ndjson:2:6: no JSON object: no value stands here
    2 | {"i":nul}
      |      ^
    in/a.ndjson:2:8: no JSON object: it does not end in its line
    2 | {"i":1
      |        ^
    in/a.ndjson:2:8: more than one value in the line
    2 | {"i":1}}
      |        ^
    in/a.ndjson:2:6: no JSON object: the string does not end in its line
    2 | {"s":"a}
      |      ^
    in/a.ndjson:2:7: no JSON object: nothing is escaped like this
    2 | {"s":"\x"}
      |       ^
    in/a.ndjson:2:7: no JSON object: `\u` without the four digits of a character
    2 | {"s":"\u12"}
      |       ^
    in/a.ndjson:2:7: no JSON object: `\u` without the four digits of a character
    2 | {"s":"\ud800"}
      |       ^
    in/a.ndjson:2:7: no JSON object: `\u` without the four digits of a character
    2 | {"s":"\ud83d\u0041"}
      |       ^
    in/a.ndjson:2:6: the value is an object or a list, which no column holds
    2 | {"s":[1]}
      |      ^
    help: deliver it as text, or take the column out of `columns:`
    in/a.ndjson:2:9: no JSON object: no value stands here
    2 | {"x":[1,]}
      |         ^
    in/a.ndjson:2:8: no JSON object: a comma is missing
    2 | {"x":[1}}
      |        ^
    in/a.ndjson:2:11: no JSON object: a colon is missing
    2 | {"x":{"y" 1}}
      |           ^
    in/a.ndjson:2:7: no JSON object: a name in quotes is missing
    2 | {"x":{1}}
      |       ^
    in/a.ndjson:2:11: no JSON object: it does not end in its line
    2 | {"x":[[[[
      |           ^
    in/a.ndjson:2:1: no JSON object: it does not begin with `{`
    2 | null
      | ^
    "#);
}

/// Values as they are written, in any order, with escapes and without.
#[tokio::test]
async fn json_values() {
    let project = Project::new();
    let lines = [
        r#"{"s":"plain","i":1}"#,
        r#"{"i":"2","x":[[],{},{"a":[1,{"b":null}],"c":"]}"}, -1.5e3, true],"s":"a\"b\\c\/d\te\u00e9\ud83d\ude00 é"}"#,
        r#" { "s" : true , "\u0069" : 3 } "#,
        r#"{"s":-1.50e2,"i":null}"#,
        r#"{}"#,
        r#"{"s":"","unknown \" name":"\"","i":6}"#,
    ];
    project.write("in/a.ndjson", format!("\u{feff}{}\r\n\r\n", lines.join("\r\n")));
    let index = project.scan(&spec("in/a.ndjson", Format::NdJson, "i BIGINT, s TEXT", None)).await.unwrap();
    let shown = query(project.table(&index, Interval::WHOLE), "SELECT * FROM t").await.unwrap();
    insta::assert_snapshot!(shown, @r#"
    +---+----------------+
    | i | s              |
    +---+----------------+
    | 1 | plain          |
    | 2 | a"b\c/d	eé😀 é |
    | 3 | true           |
    |   | -1.50e2        |
    |   |                |
    | 6 |                |
    +---+----------------+
    "#);
}

/// `"abc"def` would be read as `abcdef`.
#[tokio::test]
async fn text_behind_a_closing_quote() {
    let text = |text: &'static str| refused("in/a.csv", text, csv(), "a TEXT, b TEXT");
    insta::assert_snapshot!(text("a,b\n1,2\n\"é\",\"abc\"def\n").await, @r#"
    in/a.csv:3:10: text stands behind a closing quote
    3 | "é","abc"def
      |          ^
    help: a quote within quotes is written twice, `""`
    "#);
    insta::assert_snapshot!(text("a,b\n\"1\" ,2\n").await, @r#"
    in/a.csv:2:4: text stands behind a closing quote
    2 | "1" ,2
      |    ^
    help: a quote within quotes is written twice, `""`
    "#);
    insta::assert_snapshot!(text("a,\"b\"c\n1,2\n").await, @r#"
    in/a.csv:1: text stands behind a closing quote
    1 | a,"b"c
    help: a quote within quotes is written twice, `""`
    "#);
    // The quote that was forgotten stands above.
    insta::assert_snapshot!(text("a,b\n1,\"x\n2,y\n3,\"z\"\n").await, @r#"
    in/a.csv:4:4: text stands behind a closing quote
    4 | 3,"z"
      |    ^
    help: a quote within quotes is written twice, `""`; or a quote of the row that begins in line 2 is never closed
    "#);
    // A quoted field may end beyond the bytes that are read at once.
    let long = format!("a,b\n1,\"{}\"x\n", "y".repeat(300_000));
    let project = Project::new();
    project.write("in/a.csv", long);
    let error = project.scan(&spec("in/a.csv", csv(), "a TEXT, b TEXT", None)).await.unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), None));
    // What is no such text.
    for (at, whole) in [
        "a,b\n\"1\",\"2\"\n",
        "a,b\r\n\"1\",\"2\"\r\n",
        "a,b\n1,\"2\"",
        "a,b\n\"a\"\"b\",\"\"\n",
        "a,b\n1\" x 2\",6\" pipe\n",
        "\u{feff}\"a\",b\n\"x\ny\",2\n",
    ]
    .iter()
    .enumerate()
    {
        project.write("in/a.csv", whole);
        let found = project.scan(&spec("in/a.csv", csv(), "a TEXT, b TEXT", None)).await;
        assert!(found.is_ok(), "{at}: {found:?}");
    }
}
