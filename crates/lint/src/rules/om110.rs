//! OM110: what is read is kept outside the database.
use super::prelude::*;
use super::shared::severity;
use super::uses::has_param;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM110", page: include_str!("../../rules/OM110.md"), check };

const EVERYWHERE: &[&str] = &[
    "read_csv", "read_csv_auto", "read_parquet", "read_json", "read_json_auto", "read_json_objects", "read_ndjson", "read_ndjson_auto", "read_text", "read_blob", "read_xlsx", "parquet_scan", "sqlite_scan",
    "postgres_scan", "mysql_scan", "iceberg_scan", "delta_scan", "st_read", "external_query", "openrowset", "openquery", "opendatasource", "dblink", "read_files", "postgres_query", "mysql_query",
];
const CLICKHOUSE: &[&str] = &[
    "s3", "s3cluster", "url", "urlcluster", "file", "filecluster", "remote", "remotesecure", "mysql", "postgresql", "mongodb", "sqlite", "jdbc", "odbc", "hdfs", "hdfscluster", "gcs", "azureblobstorage", "iceberg",
    "deltalake", "hudi", "redis",
];

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for (id, _) in view.queries() {
            for from in view.select(id).into_iter().flat_map(|select| &select.from) {
                let Some(what) = outside(file, from) else { continue };
                out.report(
                    Draft::new(level, from.span, format!("{what}, which the database does not keep"))
                        .rerun("run 2024-03-01 again in June: the same address holds other bytes, and March can't be computed again")
                        .help("land it first with a list of what was landed, or name the interval in the path"),
                );
            }
        }
    }
}

fn outside(file: &File<'_>, from: &From) -> Option<&'static str> {
    match &from.relation {
        Relation::Function(call) => {
            let name = call.name.rsplit('.').next().unwrap_or(&call.name);
            let known = EVERYWHERE.contains(&name) || file.script.dialect == Dialect::ClickHouse && CLICKHOUSE.contains(&name);
            let written = from.span.of(&file.script.text);
            (known && !call.args.iter().any(has_param) && !templated(written)).then_some("this reads files or another server")
        }
        Relation::Table(name) => {
            if file.knowledge.table(name).is_some_and(|facts| facts.foreign) {
                return Some("this is a foreign table");
            }
            let written = name.span.of(&file.script.text);
            let path = written.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim_start_matches(['.', '`', '\'', '"']);
            let in_quotes = written.len() > path.len() && written.ends_with(['`', '\'']);
            let is_path = in_quotes && (path.contains("://") || path.starts_with('/') || [".csv", ".parquet", ".json", ".csv.gz"].iter().any(|end| path.trim_end_matches(['`', '\'']).ends_with(end)));
            let stage = file.script.dialect == Dialect::Snowflake && written.starts_with('@');
            ((is_path || stage) && !templated(written)).then_some("this reads files")
        }
        _ => None,
    }
}

fn templated(written: &str) -> bool {
    ["${", "{{", "%(", "&{", "<%"].iter().any(|mark| written.contains(mark))
}
