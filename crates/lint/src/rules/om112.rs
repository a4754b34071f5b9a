//! OM112: a function that nobody can vouch for.
use super::prelude::*;
use super::shared::severity;
use super::uses::calls;
use crate::dialect::Dialect;
use crate::routine::Trust;

pub(super) const RULE: Rule = Rule { id: "OM112", page: include_str!("../../rules/OM112.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for (_, expr, call) in calls(view, |call| !call.bare) {
            judge(file, call, expr.span, level, true).into_iter().for_each(|draft| out.report(draft));
        }
        for (id, _) in view.queries() {
            for from in view.select(id).into_iter().flat_map(|select| &select.from) {
                if let Relation::Function(call) = &from.relation {
                    judge(file, call, from.span, level, false).into_iter().for_each(|draft| out.report(draft));
                }
            }
        }
    }
}

fn judge(file: &File<'_>, call: &Call, span: Span, level: Severity, scalar: bool) -> Option<Draft> {
    let name = call.name.as_str();
    let draft = |level, message: String| {
        Draft::new(level, span, message)
            .rerun("in a later run the function may be another version, and the same rows get other values")
            .help("keep the answers by input and version, or declare the function immutable if it is")
    };
    if is_model(file.script.dialect, name) {
        return Some(draft(level, format!("`{name}` asks a model that may be another one tomorrow")));
    }
    match file.knowledge.routine(name).map(|routine| routine.trust) {
        Some(Trust::Opaque) => Some(draft(level, format!("`{name}` does not say that it is immutable"))),
        Some(Trust::Declared | Trust::Readable) => None,
        None => (scalar && is_own(name)).then(|| draft(Severity::Info, format!("nothing is known of `{name}`")).lacked("the function's definition")),
    }
}

/// Models of language and prediction, and calls over the network.
fn is_model(dialect: Dialect, name: &str) -> bool {
    const AI: &[&str] = &[
        "ai_query", "ai_gen", "ai_classify", "ai_extract", "ai_summarize", "ai_translate", "ai_similarity", "ai_mask", "ai_fix_grammar", "ai_analyze_sentiment", "ai_forecast", "ai_complete", "ai_filter", "ai_agg",
        "ai_summarize_agg", "ai_embed", "ai_sentiment", "ai_parse_document", "ai_transcribe", "http_request", "vector_search",
    ];
    const ML: &[&str] = &[
        "ml.predict", "ml.forecast", "ml.generate_text", "ml.generate_embedding", "ml.generate_text_embedding", "ml.explain_predict", "ml.detect_anomalies", "ml.recommend", "ml.understand_text", "ml.translate",
        "ml.annotate_image", "ml.transcribe", "ml.process_document", "ai.generate", "ai.generate_text", "ai.generate_table", "ai.generate_bool", "ai.generate_double", "ai.generate_int", "ai.forecast", "ai.if", "ai.classify",
        "ai.score",
    ];
    match dialect {
        Dialect::Snowflake => name.starts_with("snowflake.cortex.") || name.starts_with("cortex.") || AI.contains(&name),
        Dialect::Spark => AI.contains(&name),
        Dialect::BigQuery => ML.contains(&name),
        _ => false,
    }
}

/// Whether a name has a schema that is not the engine's own.
fn is_own(name: &str) -> bool {
    const ENGINE: &[&str] = &[
        "pg_catalog", "system", "builtin", "sys", "safe", "net", "hll_count", "keys", "aead", "st", "ml", "ai", "snowflake", "information_schema", "dbms_random", "dbms_lob", "dbms_crypto", "dbms_utility", "utl_raw",
        "utl_i18n", "d3l", "kll_quantiles", "obj", "bqutil", "topology", "tiger", "extensions", "public", "hll", "dbo", "d", "stv",
    ];
    let Some((schema, last)) = name.rsplit_once('.') else { return false };
    let schema = schema.rsplit('.').next().unwrap_or(schema);
    !ENGINE.contains(&schema) && last != "nextval" && last.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.contains(['{', '$', '@', '<'])
}
