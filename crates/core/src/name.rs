//! Names of tables. A name can never leave the folder that its table lives in.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Ending of the table of the changes that a table is folded from.
pub const CHANGES: &str = "__changes";
/// Ending of the table of the changes that count, beside a history.
pub const COUNTING: &str = "__dated";
/// Ending of the table of deleted keys, beside a merged table.
pub const DELETED_KEYS: &str = "__deleted";
/// Ending of a table that is built anew beside the one that it is going to replace.
pub const REBUILD: &str = "__rebuild";

/// `<schema>.<name>`, each part `[a-z][a-z0-9_]{0,63}`: safe in a path, in SQL and in every catalog.
///
/// Cheap to clone: plans hold one for each of a million slices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TableName(Arc<str>);

/// Why a text is no table name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not exactly two parts.
    #[error("`{0}` is no table name: write `<schema>.<name>`")]
    Parts(String),
    /// A part holds a character that a path or a catalog would not bear.
    #[error("`{0}` can't be part of a table name: use a-z, 0-9 and _, starting with a letter, at most 64")]
    Part(String),
}

impl TableName {
    /// The table `<schema>.<name>`.
    ///
    /// # Errors
    /// A part that is not `[a-z][a-z0-9_]{0,63}`.
    pub fn new(schema: &str, name: &str) -> Result<Self, NameError> {
        for part in [schema, name] {
            let mut chars = part.chars();
            let starts = chars.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
            let rest = chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            if !starts || !rest || part.len() > 64 {
                return Err(NameError::Part(part.to_owned()));
            }
        }
        Ok(TableName(format!("{schema}.{name}").into()))
    }

    /// The part before the dot.
    pub fn schema(&self) -> &str {
        self.0.split_once('.').map_or("", |(schema, _)| schema)
    }

    /// The part after the dot.
    pub fn name(&self) -> &str {
        self.0.split_once('.').map_or("", |(_, name)| name)
    }

    /// The table of the same schema whose name has `ending` behind.
    ///
    /// # Errors
    /// A name that would be longer than 64 characters.
    pub fn with_ending(&self, ending: &str) -> Result<Self, NameError> {
        TableName::new(self.schema(), &format!("{}{ending}", self.name()))
    }

    /// The table of the same schema whose name lacks `ending`, where this one has it.
    pub fn without_ending(&self, ending: &str) -> Option<Self> {
        TableName::new(self.schema(), self.name().strip_suffix(ending)?).ok()
    }

    /// Both parts with their dot.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TableName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.split('.').collect::<Vec<_>>()[..] {
            [schema, name] => TableName::new(schema, name),
            _ => Err(NameError::Parts(text.to_owned())),
        }
    }
}

impl TryFrom<String> for TableName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<TableName> for String {
    fn from(name: TableName) -> String {
        name.to_string()
    }
}
