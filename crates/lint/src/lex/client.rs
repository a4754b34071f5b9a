//! Lines that are for a client and not for the engine: `WHENEVER SQLERROR EXIT` and `PROMPT it's done` of SQL*Plus, `:setvar` of
//! sqlcmd, `source x.sql` of mysql. They end with the line, and what stands in them is no SQL. psql's begin with a backslash.

use crate::dialect::Dialect;

/// Commands of SQL*Plus whose first word begins no line of a statement.
const COMMANDS: &[&str] =
    &["prompt", "rem", "remark", "whenever", "spool", "accept", "undefine", "ttitle", "btitle"];

/// What SET sets for the client alone; not AUTOCOMMIT, which decides what a statement is.
const SETTINGS: &[&str] = &[
    "appinfo",
    "arraysize",
    "colsep",
    "concat",
    "define",
    "echo",
    "escape",
    "feed",
    "feedback",
    "head",
    "heading",
    "lines",
    "linesize",
    "long",
    "longchunksize",
    "markup",
    "newpage",
    "numformat",
    "numwidth",
    "pages",
    "pagesize",
    "scan",
    "serverout",
    "serveroutput",
    "sqlblanklines",
    "sqlprompt",
    "tab",
    "term",
    "termout",
    "time",
    "timing",
    "trim",
    "trimout",
    "trims",
    "trimspool",
    "underline",
    "ver",
    "verify",
    "wrap",
];

/// Whether a line, from its first word on, is a command of the client that speaks with engines of a dialect.
pub(super) fn is_command(line: &str, dialect: Dialect) -> bool {
    let mut words = line.split_whitespace().map(|word| word.trim_end_matches(';').to_ascii_lowercase());
    let (Some(first), second, third) = (words.next(), words.next(), words.next()) else { return false };
    let is = |word: &Option<String>, list: &[&str]| word.as_ref().is_some_and(|word| list.contains(&&**word));
    match (dialect, first.as_str()) {
        // `UPDATE t` and `SET echo = 1` on the next line is a statement.
        (Dialect::Oracle, "set") => is(&second, SETTINGS) && !line.contains('='),
        (Dialect::Oracle, "column" | "col") => {
            is(&third, &["format", "for", "heading", "head", "new_value", "new_v", "noprint"])
        }
        (Dialect::Oracle, "whenever") => is(&second, &["sqlerror", "oserror"]),
        (Dialect::Oracle, first) => COMMANDS.contains(&first),
        (Dialect::MySql, "source") => second.is_some_and(|file| file.contains(['.', '/'])) && third.is_none(),
        (Dialect::MySql, first) => matches!(first, "pager" | "nopager" | "tee" | "notee" | "charset"),
        (Dialect::TSql, first) => {
            let name = first.trim_start_matches(':');
            ["setvar", "on", "r", "out", "error", "perftrace", "connect", "listvar", "xml", "exit", "quit"]
                .contains(&name)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_command;
    use crate::dialect::Dialect::{self, MySql, Oracle, TSql};

    #[test]
    fn lines_of_a_client_are_told_from_lines_of_a_statement() {
        let commands: [(Dialect, &[&str]); 3] = [
            (
                Oracle,
                &[
                    "PROMPT it's done",
                    "whenever sqlerror exit 1;",
                    "SET ECHO OFF",
                    "set serveroutput on size 1000000;",
                    "REM",
                    "column run_day new_value day",
                    "spool off",
                ],
            ),
            (MySql, &["source etl/defs.sql", "source defs.sql;", "tee load.log"]),
            (TSql, &[":setvar Day 2024-03-01", ":r defs.sql", ":on error exit"]),
        ];
        for (dialect, lines) in commands {
            for line in lines {
                assert!(is_command(line, dialect), "{line}");
            }
        }
        let others: [(Dialect, &[&str]); 3] = [
            (
                Oracle,
                &[
                    "SET echo = 1",
                    "set role analyst",
                    "SET TRANSACTION READ ONLY",
                    "column c",
                    "",
                    "prompt_id,",
                    "whenever",
                ],
            ),
            (MySql, &["source, target", "source = 'a.b'", "source", "SET x = 1"]),
            (TSql, &[":day", ":day,"]),
        ];
        for (dialect, lines) in others {
            for line in lines {
                assert!(!is_command(line, dialect), "{line}");
            }
        }
    }
}
