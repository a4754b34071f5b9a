//! Errors of the engine: short texts that say what, where in the model's SQL, and what to write instead.
//!
//! Translates DataFusion's errors; must not know files or how errors are shown.

mod planner;

use datafusion::common::{DataFusionError, SchemaError};
use datafusion::parquet::errors::ParquetError;

use crate::source::SourceError;

/// What kind of trouble an [`EngineError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Legal SQL that this engine can't run, or can't run deterministically.
    Unsupported,
    /// SQL that would break the promise that a slice depends on its interval, code and inputs alone.
    Refused,
    /// A column that does not exist.
    UnknownColumn,
    /// A table that does not exist.
    UnknownTable,
    /// A function that does not exist.
    UnknownFunction,
    /// Types that don't fit.
    Type,
    /// Text that is not SQL.
    Parse,
    /// Memory or disk ran out.
    Resources,
    /// An input is not what it was declared to be, or could not be read.
    Input,
    /// A bug of ours or of DataFusion's.
    Internal,
}

/// Why a query could not be analysed or computed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    /// What kind of trouble it is.
    pub kind: ErrorKind,
    /// What is wrong, in one or two sentences.
    pub message: String,
    /// What to write or do instead.
    pub help: Option<String>,
    /// Line and column in the SQL that was given, both from 1.
    pub at: Option<(u64, u64)>,
    /// The view whose SQL `at` points into; `None`: the model's own.
    pub view: Option<String>,
    /// What it is about beside the SQL, where it is.
    pub about: Option<About>,
}

/// What an error is about, where no place in the SQL is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A value of one of the model's settings.
    Setting(&'static str, String),
    /// A column that the query yields.
    Output(String),
    /// A word of the SQL: a function or a type.
    Word(String),
}

impl EngineError {
    /// An error without help or place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        EngineError { kind, message: message.into(), help: None, at: None, view: None, about: None }
    }

    /// The same with what to do instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same about a setting or a column.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        self.about = Some(about);
        self
    }

    /// The same at a line and column, where these are known.
    #[must_use]
    pub fn at(mut self, at: Option<(u64, u64)>) -> Self {
        self.at = at.or(self.at);
        self
    }
}

impl From<EngineError> for DataFusionError {
    fn from(error: EngineError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

impl From<DataFusionError> for EngineError {
    fn from(error: DataFusionError) -> Self {
        let at = error
            .diagnostic()
            .and_then(|found| found.span)
            .map(|span| (span.start.line, span.start.column))
            .filter(|(line, _)| *line > 0);
        translate(error).at(at)
    }
}

fn translate(error: DataFusionError) -> EngineError {
    use DataFusionError as E;
    match error {
        E::Context(context, inner) if matches!(*inner, E::ResourcesExhausted(_)) => {
            let mut inner = translate(*inner);
            inner.message = format!("{} ({context})", inner.message);
            inner
        }
        E::Context(_, inner) | E::Diagnostic(_, inner) => translate(*inner),
        E::Shared(inner) => match std::sync::Arc::try_unwrap(inner) {
            Ok(inner) => translate(inner),
            Err(inner) => shared(&inner),
        },
        E::Collection(mut errors) if !errors.is_empty() => translate(errors.swap_remove(0)),
        E::External(inner) => match inner.downcast::<EngineError>() {
            Ok(error) => *error,
            Err(inner) => match inner.downcast::<DataFusionError>() {
                Ok(error) => translate(*error),
                Err(inner) => external(inner.as_ref()),
            },
        },
        E::ArrowError(inner, _) => arrow(*inner),
        E::SQL(inner, _) => EngineError::new(ErrorKind::Parse, parser_text(&inner.to_string())),
        E::SchemaError(inner, _) => schema(&inner),
        E::ResourcesExhausted(message) => EngineError::new(ErrorKind::Resources, first_line(&message))
            .help("give more memory (`--memory`) or run fewer tasks at once (`--jobs`)"),
        E::NotImplemented(message) => planner::unsupported(&message),
        E::Plan(message) => planner::told(&message),
        E::Execution(message) => EngineError::new(ErrorKind::Type, first_line(&message)),
        E::IoError(inner) => unreadable(inner),
        E::ParquetError(inner) => parquet(&inner),
        E::ObjectStore(inner) => unreadable(inner),
        E::Internal(message) => EngineError::new(ErrorKind::Internal, first_line(&message)),
        other => EngineError::new(ErrorKind::Internal, first_line(&other.strip_backtrace())),
    }
}

/// What to do where a file can't be read for reasons that lie in the machine.
pub(crate) const UNREADABLE: &str = "see whether the file can be read, then run the same command again";

/// An error of another part: that of a source keeps its help apart.
fn external(error: &(dyn std::error::Error + 'static)) -> EngineError {
    let Some(found) = error.downcast_ref::<SourceError>() else {
        return EngineError::new(ErrorKind::Input, error.to_string());
    };
    let mut found = found.clone();
    let help = found.help.take();
    EngineError { help, ..EngineError::new(ErrorKind::Input, found.to_string()) }
}

fn unreadable(error: impl std::fmt::Display) -> EngineError {
    EngineError::new(ErrorKind::Input, error.to_string()).help(UNREADABLE)
}

fn shared(error: &DataFusionError) -> EngineError {
    let mut inner = error;
    while let DataFusionError::Context(_, next) | DataFusionError::Diagnostic(_, next) = inner {
        inner = next;
    }
    match inner {
        DataFusionError::External(inner) => match inner.downcast_ref::<EngineError>() {
            Some(error) => error.clone(),
            None => external(inner.as_ref()),
        },
        DataFusionError::Shared(inner) => shared(inner),
        DataFusionError::ResourcesExhausted(message) => {
            translate(DataFusionError::ResourcesExhausted(message.clone()))
        }
        DataFusionError::Execution(message) => EngineError::new(ErrorKind::Type, first_line(message)),
        DataFusionError::ParquetError(inner) => parquet(inner),
        DataFusionError::IoError(inner) => unreadable(inner),
        DataFusionError::ObjectStore(inner) => unreadable(inner),
        other => EngineError::new(ErrorKind::Internal, first_line(&other.strip_backtrace())),
    }
}

/// Of a table's file; those of sources have readers of their own, which name them.
fn parquet(error: &ParquetError) -> EngineError {
    if matches!(error, ParquetError::External(_)) {
        return unreadable(error);
    }
    EngineError::new(ErrorKind::Input, format!("a data file of a table is damaged: {error}"))
        .help("`oncemore run MODEL --force` writes slices anew whose rows can't be read")
}

fn arrow(error: arrow::error::ArrowError) -> EngineError {
    use arrow::error::ArrowError as A;
    match error {
        A::ExternalError(inner) => match inner.downcast::<DataFusionError>() {
            Ok(error) => translate(*error),
            Err(inner) => match inner.downcast::<EngineError>() {
                Ok(error) => *error,
                Err(inner) => EngineError::new(ErrorKind::Input, inner.to_string()),
            },
        },
        A::DivideByZero => EngineError::new(ErrorKind::Type, "division by zero")
            .help("write `x / NULLIF(y, 0)` where the divisor may be zero"),
        A::CastError(message) | A::ComputeError(message) | A::ArithmeticOverflow(message) => {
            EngineError::new(ErrorKind::Type, first_line(&message))
        }
        other => EngineError::new(ErrorKind::Input, first_line(&other.to_string())),
    }
}

fn schema(error: &SchemaError) -> EngineError {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let wanted = field.name.as_str();
            let nearest = nearest(wanted, valid_fields.iter().map(|column| column.name.as_str()));
            let unknown =
                EngineError::new(ErrorKind::UnknownColumn, format!("no column `{}`", field.flat_name()))
                    .at(field.spans.first().map(|span| (span.start.line, span.start.column)));
            match nearest {
                Some(name) if name == wanted => {
                    let full = valid_fields.iter().find(|column| column.name == name);
                    unknown.help(format!("write `{}`", full.map(|c| c.flat_name()).unwrap_or_default()))
                }
                Some(name) => unknown.help(format!("did you mean `{name}`?")),
                None => {
                    unknown.help(format!("there are {}", list(valid_fields.iter().map(|c| c.name.as_str()))))
                }
            }
        }
        SchemaError::AmbiguousReference { field } => EngineError::new(
            ErrorKind::UnknownColumn,
            format!("column `{}` is in several inputs", field.name),
        )
        .help(format!("write which one, `input.{}`", field.name)),
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => {
            EngineError::new(ErrorKind::Type, format!("two columns are named `{name}`"))
                .help(format!("give one another name: `AS {name}_2`"))
        }
    }
}

/// The candidate that looks most like `wanted`, if any is near.
pub(crate) fn nearest<'a>(wanted: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    candidates
        .map(|name| (strsim::damerau_levenshtein(&wanted, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 3)
        .min()
        .map(|(_, name)| name)
}

/// The first of several names, in backticks, and how many more there are.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 12 { format!(" and {} more", names.len() - 12) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn parser_text(text: &str) -> String {
    text.trim_start_matches("sql parser error: ").trim_start_matches("SQL error: ").to_owned()
}

fn first_line(text: &str) -> String {
    let text = text.trim_start_matches("Error during planning: ");
    text.lines().next().unwrap_or_default().to_owned()
}
