//! Whole dbt projects: what is found where, once for how many models, and in which world.

use oncemore_lint::{Config, Input, lint};

/// `path:text of the place rule severity` of each finding, in order.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let input = |(path, text): &(&str, &str)| Input {
        path: (*path).to_string(),
        text: (*text).to_string(),
        dialect: None,
    };
    let inputs: Vec<Input> = files.iter().map(input).collect();
    let report = lint(&inputs, &Config::default());
    let line = |finding: &oncemore_lint::Finding| {
        let text = files.iter().find(|(path, _)| *path == finding.path).map_or("", |(_, text)| text);
        let place = finding.span.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
        format!(
            "{}:{}:{} {} {} `{place}`",
            finding.path, finding.start.line, finding.start.column, finding.rule, finding.severity
        )
    };
    report.findings.iter().map(line).collect()
}

const PROJECT: (&str, &str) = ("dbt_project.yml", "name: shop\nmodels:\n  +transient: true\n");

#[test]
fn a_macro_is_told_of_once() {
    let files = [
        PROJECT,
        ("macros/fresh.sql", "{% macro fresh(column) %}{{ column }} > current_date - 7{% endmacro %}"),
        (
            "models/a.sql",
            "{{ config(materialized='table') }}\nselect id from {{ ref('x') }} where {{ fresh('day') }}",
        ),
        (
            "models/b.sql",
            "{{ config(materialized='table') }}\nselect no from {{ ref('y') }} where {{ fresh('at') }}",
        ),
    ];
    assert_eq!(found(&files), ["macros/fresh.sql:1:41 OM101 error `current_date`"]);
    let inputs: Vec<Input> = files
        .iter()
        .map(|(path, text)| Input { path: (*path).into(), text: (*text).into(), dialect: None })
        .collect();
    let report = lint(&inputs, &Config::default());
    let message = report.findings.first().map(|finding| finding.message.as_str()).unwrap_or_default();
    assert!(message.ends_with("(the macro `fresh`, in 2 models)"), "{message}");
}

#[test]
fn what_only_a_full_refresh_does_weighs_less() {
    let text = "{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}\n\
                select id, n from {{ ref('x') }}\n\
                {% if is_incremental() %}where day = '{{ var('day') }}'\n\
                {% else %}where day > current_date - 365\n{% endif %}";
    assert_eq!(found(&[PROJECT, ("models/a.sql", text)]), ["models/a.sql:4:23 OM101 warning `current_date`"]);
}

#[test]
fn comments_of_the_template_allow() {
    let text = "{{ config(materialized='table') }}\nselect id from {{ ref('x') }}\n\
                where day > current_date -- oncemore: allow(OM101) because it is a view of today\n";
    assert_eq!(found(&[PROJECT, ("models/a.sql", text)]), Vec::<String>::new());
}

#[test]
fn a_snapshot_in_yaml_is_found_there() {
    let yaml = "snapshots:\n  - name: customers_history\n    relation: source('shop', 'customers')\n    \
                config:\n      unique_key: id\n      strategy: check\n      check_cols: [city]\n";
    let found = found(&[PROJECT, ("snapshots/s.yml", yaml)]);
    assert_eq!(found, ["snapshots/s.yml:2:11 OM505 info `customers_history`"]);
}

#[test]
fn the_answer_of_a_query_of_the_template_is_a_bound() {
    let text = "{{ config(materialized='incremental', unique_key='id') }}\n\
                {% set newest = run_query('select max(day) from ' ~ this).columns[0].values()[0] %}\n\
                select id, day from {{ ref('x') }}\n\
                {% if is_incremental() %}where day > '{{ newest }}'{% endif %}";
    let found = found(&[PROJECT, ("models/a.sql", text)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found.iter().all(|line| line.starts_with("models/a.sql:2:") && line.contains("OM305")),
        "{found:?}"
    );
}

#[test]
fn a_project_in_a_folder_keeps_its_paths_and_scripts_stay_scripts() {
    let files = [
        ("shop/dbt_project.yml", "name: shop\n"),
        ("shop/models/a.sql", "{{ config(materialized='table') }}\nselect id from {{ ref('x') }} limit 10"),
        ("load.sql", "INSERT INTO mart.t (id) SELECT id FROM raw.t WHERE day = :day;"),
    ];
    let found = found(&files);
    assert_eq!(
        found,
        ["load.sql:1:1 OM301 error `INSERT INTO mart.t`", "shop/models/a.sql:2:31 OM206 error `limit 10`"]
    );
}

#[test]
fn a_template_that_can_not_be_rendered_is_said() {
    let found = found(&[PROJECT, ("models/a.sql", "select 1 {% if %} from x")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found.iter().all(|line| line.starts_with("models/a.sql:1:") && line.contains("OM001 info")),
        "{found:?}"
    );
}
