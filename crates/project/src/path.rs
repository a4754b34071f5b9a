//! Paths that a project names: they never leave its folder, and `{interval:…}` in them says which interval a file holds.

use oncemore_core::IntervalLength;

/// What is wrong with a path, and what to write.
pub(crate) struct PathProblem {
    pub(crate) message: String,
    pub(crate) help: String,
}

fn problem<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, PathProblem> {
    Err(PathProblem { message: message.into(), help: help.into() })
}

/// Whether `path` stays inside the folder that it is relative to.
pub(crate) fn check_inside(path: &str) -> Result<(), PathProblem> {
    const HELP: &str = "write a path below the project's folder, with `/`";
    let drive = path.as_bytes();
    let drive = drive.len() >= 2 && drive[0].is_ascii_alphabetic() && drive[1] == b':';
    if path.trim().is_empty() {
        return problem("the path is empty", HELP);
    }
    if path.contains("://") {
        return problem(format!("`{path}` is an address: object stores are not built yet"), HELP);
    }
    if path.chars().any(char::is_control) {
        return problem("the path holds a control character", HELP);
    }
    if path.starts_with('/') || path.starts_with('~') || drive {
        return problem(format!("`{path}` leads out of the project's folder"), HELP);
    }
    if path.contains('\\') {
        return problem(format!("`{path}` holds a backslash"), HELP);
    }
    if path.split('/').any(|part| part.trim() == "..") {
        return problem(format!("`{path}` leads out of the project's folder"), HELP);
    }
    Ok(())
}

/// Length of the interval that one path stands for; `None` where it has no `{interval:…}`.
pub(crate) fn interval_of(path: &str) -> Result<Option<IntervalLength>, PathProblem> {
    const HELP: &str = "write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H";
    let mut fields: Vec<char> = Vec::new();
    let mut rest = path;
    let mut found = false;
    while let Some(open) = rest.find(['{', '}']) {
        if rest[open..].starts_with('}') {
            return problem("`}` without `{` in the path", HELP);
        }
        let Some(close) = rest[open..].find('}').map(|close| open + close) else {
            return problem("`{` without `}` in the path", HELP);
        };
        let inside = &rest[open + 1..close];
        let Some(format) = inside.strip_prefix("interval:") else {
            return problem(format!("unknown placeholder `{{{inside}}}` in the path"), HELP);
        };
        fields_of(format, &mut fields)?;
        found = true;
        rest = &rest[close + 1..];
    }
    if !found {
        return Ok(None);
    }
    let has = |field: char| fields.contains(&field);
    let day = has('d') || has('j');
    let missing = if !has('Y') {
        Some("%Y")
    } else if has('d') && !has('m') {
        Some("%m")
    } else if has('H') && !day {
        Some("%d")
    } else {
        None
    };
    if let Some(missing) = missing {
        return problem(format!("`{{interval:…}}` names no interval without {missing}"), HELP);
    }
    Ok(Some(if has('H') {
        IntervalLength::Hour
    } else if day {
        IntervalLength::Day
    } else if has('m') {
        IntervalLength::Month
    } else {
        IntervalLength::Year
    }))
}

fn fields_of(format: &str, fields: &mut Vec<char>) -> Result<(), PathProblem> {
    const HELP: &str = "fields are %Y, %m, %d, %j and %H";
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            continue;
        }
        match chars.next() {
            Some('%') => {}
            Some(field @ ('Y' | 'm' | 'd' | 'j' | 'H')) => fields.push(field),
            Some(other) => return problem(format!("unknown field `%{other}` in `{{interval:…}}`"), HELP),
            None => return problem("a lone `%` in `{interval:…}`", HELP),
        }
    }
    Ok(())
}

/// Whether the path, `{interval:…}` apart, is a glob that can be matched.
pub(crate) fn check_glob(path: &str) -> Result<(), PathProblem> {
    let mut plain = String::new();
    for (number, part) in path.split('{').enumerate() {
        if number > 0 {
            plain.push('*');
        }
        plain.push_str(part.split_once('}').map_or(part, |(_, after)| if number > 0 { after } else { part }));
    }
    match globset::Glob::new(&plain) {
        Ok(_) => Ok(()),
        Err(error) => {
            problem(format!("the path is no glob: {}", error.kind()), "see docs of `*`, `?`, `[…]`")
        }
    }
}
