//! Code versions: digests of what a model means. Comments, layout, names of CTEs, audits, tags, descriptions, ranges and
//! reactions to inputs do not count; the query, settings that change its rows, variables, views and source formats do.

use std::collections::BTreeMap;

use oncemore_core::{Audit, CodeVersion, Digest, Digester, Format, SEMANTICS, SourceSpec};

use crate::decode::project::Settings;
use crate::load::Draft;
use crate::model::{Kind, Variable};

/// Computes code versions, of inputs before their readers.
pub(crate) struct Coder<'s> {
    variables: &'s BTreeMap<String, Variable>,
    sources: BTreeMap<&'s str, Digest>,
    views: BTreeMap<String, CodeVersion>,
}

impl<'s> Coder<'s> {
    pub(crate) fn new(settings: &'s Settings) -> Self {
        let sources = &settings.sources;
        Coder {
            variables: &settings.variables,
            sources: sources
                .iter()
                .map(|source| (source.spec.name.as_str(), source_digest(&source.spec)))
                .collect(),
            views: BTreeMap::new(),
        }
    }

    /// The code version of a model all of whose views have theirs, and its frame: all of it but the query's text.
    pub(crate) fn code(&mut self, draft: &Draft, inputs: &[String]) -> Option<(CodeVersion, Digest)> {
        let analysed = draft.analysed.as_ref()?;
        let kind = draft.settings.kind?;
        let open = |domain| {
            Digester::new(domain).field("semantics", SEMANTICS.to_le_bytes()).field("kind", kind.name())
        };
        let mut code = open("code").field("query", &analysed.canonical.text);
        for name in &analysed.canonical.naming {
            code = code.field("named after", name);
        }
        let code = self.frame(code, draft, inputs)?.finish();
        if kind == Kind::View {
            self.views.insert(draft.key.clone(), code);
        }
        Some((code, self.frame(open("frame"), draft, inputs)?.finish()))
    }

    /// Feeds all that gives a query its meaning beside its text.
    fn frame(&self, mut digester: Digester, draft: &Draft, inputs: &[String]) -> Option<Digester> {
        let analysed = draft.analysed.as_ref()?;
        if let Some(calendar) = &draft.settings.calendar {
            digester = digester
                .field("interval", calendar.length.to_string())
                .field("time_zone", calendar.zone.name());
        }
        if let Some(time) = &draft.settings.time {
            digester = digester.field("time", time);
        }
        for column in &draft.settings.key {
            digester = digester.field("key", column);
        }
        if let Some(history) = &draft.settings.history {
            digester = digester.field("dated by", history.at.as_deref().unwrap_or("start of the interval"));
            for column in &history.track {
                digester = digester.field("track", column);
            }
        }
        if matches!(draft.settings.kind, Some(Kind::Merge | Kind::History)) {
            for column in &draft.settings.order {
                digester = digester.field("order", column);
            }
            digester =
                digester.field("deleted", draft.settings.deleted.as_deref().unwrap_or_default().trim());
        }
        let mut used: Vec<&str> = analysed.placeholders.iter().map(|found| found.name.as_str()).collect();
        used.sort_unstable();
        used.dedup();
        for name in used {
            if let Some(value) = self.variables.get(name) {
                digester = digester.field("variable", name).field("value", variable_text(value));
            }
        }
        for input in inputs {
            if let Some(digest) = self.sources.get(input.as_str()).or_else(|| self.views.get(input)) {
                digester = digester.field("input", input).field("version", digest.0);
            }
        }
        Some(digester)
    }
}

/// A value with its type: `1` and `'1'` differ.
fn variable_text(value: &Variable) -> String {
    match value {
        Variable::Boolean(value) => format!("boolean {value}"),
        Variable::Integer(value) => format!("integer {value}"),
        Variable::Float(value) => format!("float {value:?}"),
        Variable::Text(value) => format!("text {value}"),
    }
}

/// What of a source's declaration changes the rows that are read from the same files.
fn source_digest(spec: &SourceSpec) -> Digest {
    let mut digester = Digester::new("source").field("time_zone", &spec.time_zone);
    digester = match &spec.format {
        Format::Csv { header, delimiter, null } => {
            let digester = digester
                .field("format", "csv")
                .field("header", [u8::from(*header)])
                .field("delimiter", delimiter.to_string());
            let mut spellings: Vec<&String> = null.iter().collect();
            spellings.sort_unstable();
            spellings.into_iter().fold(digester, |digester, spelling| digester.field("null", spelling))
        }
        Format::NdJson => digester.field("format", "ndjson"),
        Format::Parquet => digester.field("format", "parquet"),
    };
    for (name, kind) in &spec.columns {
        digester = digester.field("column", name).field("type", kind.to_string());
    }
    digester.finish()
}

/// Digest of a model's audits, in their order.
pub(crate) fn audits_digest(audits: &[Audit]) -> Digest {
    let mut digester = Digester::new("audits");
    for audit in audits {
        digester = digester.field(audit.kind(), serde_json::to_string(audit).unwrap_or_default());
    }
    digester.finish()
}
