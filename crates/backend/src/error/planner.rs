//! What DataFusion's planner says, in words of SQL and with what to write instead. Pure: one text in, one error out.

use oncemore_core::ColumnType;

use super::{About, EngineError, ErrorKind, first_line, nearest};

/// What to do where a type does not fit.
const CAST: &str = "write `CAST(… AS …)` around what is of the wrong type";

/// Types of the engine that have another name in SQL; longer names first.
const TYPES: [(&str, &str); 14] = [
    ("Timestamp(µs, \"UTC\")", "TIMESTAMPTZ"),
    ("Timestamp(µs)", "TIMESTAMP"),
    ("LargeUtf8", "TEXT"),
    ("Utf8View", "TEXT"),
    ("Utf8", "TEXT"),
    ("Decimal128", "DECIMAL"),
    ("Float64", "DOUBLE"),
    ("Float32", "REAL"),
    ("UInt64", "BIGINT"),
    ("Int64", "BIGINT"),
    ("Int32", "INTEGER"),
    ("Date32", "DATE"),
    ("Boolean", "BOOLEAN"),
    ("Binary", "BINARY"),
];

/// The error that a message of the planner stands for.
pub(super) fn told(message: &str) -> EngineError {
    unknown_function(message)
        .or_else(|| arguments(message))
        .or_else(|| operands(message))
        .or_else(|| ungrouped(message))
        .unwrap_or_else(|| EngineError::new(ErrorKind::Type, in_sql(&first_line(message))))
}

/// The error that a message about what the engine can't do stands for.
pub(super) fn unsupported(message: &str) -> EngineError {
    let Some(name) = message.strip_prefix("Unsupported SQL type ").and_then(|rest| rest.lines().next())
    else {
        return EngineError::new(ErrorKind::Unsupported, first_line(message));
    };
    let unknown =
        EngineError::new(ErrorKind::Type, format!("no type `{name}`")).about(About::Word(name.to_owned()));
    match nearest(name, ColumnType::names()) {
        Some(near) => unknown.help(format!("did you mean `{near}`?")),
        None => unknown.help(
            "types are BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p, s), TEXT, DATE, TIMESTAMP, TIMESTAMPTZ and BINARY",
        ),
    }
}

/// `Invalid function 'uper'.`, and which one comes nearest, on a line of its own.
fn unknown_function(message: &str) -> Option<EngineError> {
    let (name, rest) = message.split_once("Invalid function '")?.1.split_once('\'')?;
    let near = rest.split_once("Did you mean '").and_then(|(_, near)| near.split('\'').next());
    let unknown = EngineError::new(ErrorKind::UnknownFunction, format!("no function `{name}`"))
        .about(About::Word(name.to_owned()));
    Some(match near.and_then(|near| nearest(name, std::iter::once(near))) {
        Some(near) => unknown.help(format!("did you mean `{near}`?")),
        None => unknown.help(
            "functions are those of Apache DataFusion, but for those whose value changes from run to run",
        ),
    })
}

/// `No function matches the given name and argument types 'upper(Int64, Utf8)'`, after what was looked for.
fn arguments(message: &str) -> Option<EngineError> {
    let call = message.split_once("argument types '")?.1.split('\'').next()?;
    let (name, given) = call.strip_suffix(')')?.split_once('(')?;
    let wrong =
        |message: String| EngineError::new(ErrorKind::Type, message).about(About::Word(name.to_owned()));
    // One that may be called in several ways has a number of arguments for each.
    let only = (!message.contains("failed to match any signature")).then_some(message);
    let numbers =
        only.and_then(|message| message.split_once(" expects ")?.1.split_once(" arguments but received "));
    Some(match numbers {
        Some((takes, rest)) => {
            let given = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            wrong(format!(
                "`{name}` takes {takes} argument{}, not {given}",
                if takes == "1" { "" } else { "s" }
            ))
        }
        None => wrong(format!("`{name}` takes no ({})", in_sql(given))).help(CAST),
    })
}

/// Two values that no operator takes together.
fn operands(message: &str) -> Option<EngineError> {
    let line = first_line(message);
    let both = if let Some(rest) = line.strip_prefix("Cannot coerce arithmetic expression ") {
        rest.strip_suffix(" to valid types")?.to_owned()
    } else if let Some(rest) = line.strip_prefix("Cannot infer common argument type for ") {
        rest.split_once("operation ")?.1.to_owned()
    } else {
        let (types, operator) =
            line.strip_prefix("There isn't a common type to coerce ")?.split_once(" in ")?;
        types.replacen(" and ", &format!(" {} ", operator.strip_suffix(" expression")?), 1)
    };
    let message = format!("no operator takes `{}`", in_sql(&both));
    Some(EngineError::new(ErrorKind::Type, message).help(CAST))
}

/// A column that stands for many values of a group.
fn ungrouped(message: &str) -> Option<EngineError> {
    let (_, rest) = message.split_once("column \"")?;
    let (column, _) = rest.split_once("\" must appear in the GROUP BY clause")?;
    let message = format!("`{column}` is neither in GROUP BY nor in an aggregate");
    let help = format!("add it to GROUP BY, or say which of its values is meant: `max({column})`");
    Some(EngineError::new(ErrorKind::Type, message).help(help))
}

/// The text with types as SQL calls them.
fn in_sql(text: &str) -> String {
    TYPES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_words_of_sql() {
        let said = |message: &str| {
            let EngineError { message, help, .. } = told(message);
            format!("{message} / {}", help.unwrap_or_default())
        };
        let signature = "No function matches the given name and argument types";
        let found = [
            "Invalid function 'uper'.\nDid you mean 'upper'?",
            "Invalid function 'days_between'.\nDid you mean 'date_part'?",
            &format!("Function 'upper' expects 1 arguments but received 2 {signature} 'upper(Int64, Utf8)'. You might"),
            &format!("Failed to coerce arguments to satisfy a call to 'sqrt' function: no. {signature} 'sqrt(Utf8)'. You"),
            &format!("Internal error: Function 'substr' failed to match any signature, errors: Error during planning: \
                      Function 'substr' expects 2 arguments but received 3.\nThis is a bug {signature} 'substr(Date32, Int64)'."),
            "Cannot coerce arithmetic expression Int64 + Utf8 to valid types",
            "Cannot infer common argument type for comparison operation Utf8 IS DISTINCT FROM Boolean",
            "There isn't a common type to coerce Utf8 and Int64 in LIKE expression",
            "Column in SELECT must be in GROUP BY or an aggregate function: While expanding wildcard, column \"a.d\" must \
             appear in the GROUP BY clause or must be part of an aggregate function, currently only \"sum(a.i)\" appears",
            "something of Int32 and\nmore",
        ]
        .map(said);
        insta::assert_snapshot!(found.join("\n"), @"
        no function `uper` / did you mean `upper`?
        no function `days_between` / functions are those of Apache DataFusion, but for those whose value changes from run to run
        `upper` takes 1 argument, not 2 / 
        `sqrt` takes no (TEXT) / write `CAST(… AS …)` around what is of the wrong type
        `substr` takes no (DATE, BIGINT) / write `CAST(… AS …)` around what is of the wrong type
        no operator takes `BIGINT + TEXT` / write `CAST(… AS …)` around what is of the wrong type
        no operator takes `TEXT IS DISTINCT FROM BOOLEAN` / write `CAST(… AS …)` around what is of the wrong type
        no operator takes `TEXT LIKE BIGINT` / write `CAST(… AS …)` around what is of the wrong type
        `a.d` is neither in GROUP BY nor in an aggregate / add it to GROUP BY, or say which of its values is meant: `max(a.d)`
        something of INTEGER and / 
        ");
        let types = ["BIGNIT", "JSON"].map(|name| {
            let error = unsupported(&format!("Unsupported SQL type {name}"));
            format!("{} / {}", error.message, error.help.unwrap_or_default())
        });
        insta::assert_snapshot!(types.join("\n"), @"
        no type `BIGNIT` / did you mean `BIGINT`?
        no type `JSON` / types are BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p, s), TEXT, DATE, TIMESTAMP, TIMESTAMPTZ and BINARY
        ");
    }
}
