//! Findings: what a rule says about a place.

use std::fmt;

use crate::text::{Position, Span};

/// How grave a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Probably breaks a re-run.
    Warning,
    /// Breaks a re-run.
    Error,
}

impl Severity {
    /// One step down; an info stays one.
    #[must_use]
    pub fn lower(self) -> Self {
        match self {
            Self::Error => Self::Warning,
            Self::Warning | Self::Info => Self::Info,
        }
    }

    /// The severity of a word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "error" => Self::Error,
            "warning" => Self::Warning,
            "info" => Self::Info,
            _ => return None,
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// How sure the rule is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// Facts are lacking, or the file was not parsed.
    Low,
    /// A name or a habit was taken for a fact.
    Medium,
    /// It follows from what is written.
    High,
}

/// Whether a rewrite changes what the statement means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// Wherever the statement as it is written succeeds, the result is the same.
    Safe,
    /// The result may differ, as it should, or rests on what the files say of tables: somebody has to look.
    Unsafe,
}

/// A rewrite that removes a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
    /// Whether it can be done unseen.
    pub safety: Safety,
}

/// What a rule says about a place, before it is known where that is.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) rerun: String,
    pub(crate) lacked: Option<String>,
    pub(crate) help: String,
    pub(crate) fix: Option<Fix>,
    /// The place is one of the template's file, not of the SQL.
    pub(crate) in_template: bool,
    /// It says that a table can be created once only; many such of one script are said as one.
    pub(crate) is_definition: bool,
}

impl Draft {
    /// A finding of a severity, at a place, in a sentence without a full stop.
    #[must_use]
    pub fn new(severity: Severity, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity,
            confidence: Confidence::High,
            span,
            message: message.into(),
            rerun: String::new(),
            lacked: None,
            help: String::new(),
            fix: None,
            in_template: false,
            is_definition: false,
        }
    }

    /// The place is one of the dbt template that the SQL was rendered from.
    #[must_use]
    pub fn in_template(mut self) -> Self {
        self.in_template = true;
        self
    }

    /// It says that a table can be created once only; many such of one script are said as one.
    #[must_use]
    pub fn definition(mut self) -> Self {
        self.is_definition = true;
        self
    }

    /// The re-run that goes wrong.
    #[must_use]
    pub fn rerun(mut self, text: impl Into<String>) -> Self {
        self.rerun = text.into();
        self
    }

    /// What to write instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = text.into();
        self
    }

    /// The fact that was lacking: the finding goes one step down.
    #[must_use]
    pub fn lacked(mut self, fact: impl Into<String>) -> Self {
        self.severity = self.severity.lower();
        self.confidence = Confidence::Low;
        self.lacked = Some(fact.into());
        self
    }

    /// A habit or name was taken for a fact.
    #[must_use]
    pub fn guessed(mut self) -> Self {
        self.confidence = Confidence::Medium;
        self
    }

    /// A rewrite, where there is one.
    #[must_use]
    pub fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's id: `OM101`.
    pub rule: &'static str,
    /// The rule's name: `volatile-clock`.
    pub name: &'static str,
    /// How grave.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The file.
    pub path: String,
    /// Bytes in the file.
    pub span: Span,
    /// Line and column of the first byte.
    pub start: Position,
    /// Line and column after the last byte.
    pub end: Position,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The re-run that goes wrong.
    pub rerun: String,
    /// The fact that was lacking, if one was.
    pub lacked: Option<String>,
    /// What to write instead.
    pub help: String,
    /// A rewrite.
    pub fix: Option<Fix>,
}

/// A finding that somebody allows.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// The finding.
    pub finding: Finding,
    /// Why, in the words of who allowed it; empty where a comment of another linter did.
    pub because: String,
}
