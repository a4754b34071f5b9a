//! Small projects as text, and what the front end makes of them. One file each: `//- path` opens a file of
//! the project,
//! `//=` what is expected.

use std::fmt::Write as _;

use super::{ClockRole, Model, Node, Project, Rendered, World, Worlds, template_clocks};

/// Reads a fixture, compares, and checks that positions hold.
fn check(fixture: &str) {
    let (project, expected) = fixture.split_once("//=\n").expect("a fixture has a line `//=`");
    let files: Vec<(&str, &str)> = project
        .split("//- ")
        .skip(1)
        .map(|part| part.split_once('\n').expect("a path ends its line"))
        .collect();
    let project = Project::read(&files);
    let mut found = String::new();
    for problem in &project.problems {
        let _ = writeln!(found, "problem {}: {}", problem.path, problem.why);
    }
    for (index, node) in project.nodes.iter().enumerate() {
        let model = project.model(index).expect("each node has a model");
        describe(&mut found, &project, node, &model);
        model.worlds.iter().for_each(|rendered| positions(&files, &project, node, rendered));
    }
    for known in project.relations.iter().filter(|known| known.node.is_none()) {
        let _ = writeln!(found, "{} `{}`", known.id, known.name.printed);
        facts(&mut found, &known.knowledge);
    }
    assert_eq!(found.trim(), expected.trim(), "\n--- found:\n{found}");
}

fn describe(out: &mut String, project: &Project, node: &Node, model: &Model) {
    let config = &model.config;
    let _ = writeln!(
        out,
        "{:?} {} in {}: {} `{}`",
        node.kind, node.name, node.path, config.materialized, node.relation.printed
    );
    let mut all = config.all.clone();
    all.remove("materialized");
    if !all.is_empty() {
        let _ = writeln!(out, "  config {}", serde_json::to_string(&all).unwrap_or_default());
    }
    facts(out, &project.relations[node.known].knowledge);
    for failed in &model.failed {
        let _ = writeln!(
            out,
            "  {}: not rendered: {} ({} {:?})",
            worlds(failed.worlds),
            failed.why,
            failed.path,
            failed.span
        );
    }
    for rendered in &model.worlds {
        let guess = if rendered.approximate { ", approximate" } else { "" };
        let from = if rendered.from_manifest { ", compiled by dbt" } else { "" };
        let _ = writeln!(out, "  {}{guess}{from}", worlds(rendered.worlds));
        for line in rendered.sql.lines().filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(out, "  | {}", line.trim_end());
        }
        for part in rendered.segments.iter().filter(|part| !part.exact || part.by.is_some()) {
            let by = part.by.map(|by| format!(" by {}", project.macros[by].name)).unwrap_or_default();
            let stub = if part.stub { " stub" } else { "" };
            let shown = node.text.get(part.shown.clone()).unwrap_or("?");
            let _ = writeln!(out, "  {:?} <- {shown:?}{by}{stub}", &rendered.sql[part.rendered.clone()]);
        }
        for query in &rendered.queries {
            let _ = writeln!(out, "  asks {:?}", query.sql);
        }
    }
    for clock in &model.clocks {
        let _ = writeln!(out, "  clock {:?} {:?} {:?}", clock.text, clock.kind, clock.role);
    }
    for index in &model.macros {
        for clock in project.macro_clocks(*index) {
            let _ =
                writeln!(out, "  clock of {} {:?} {:?}", project.macros[*index].name, clock.text, clock.role);
        }
    }
}

fn facts(out: &mut String, knowledge: &super::Knowledge) {
    for (columns, trust) in &knowledge.unique {
        let _ = writeln!(out, "  unique {columns:?} {trust:?}");
    }
    for (column, trust) in &knowledge.not_null {
        let _ = writeln!(out, "  not null {column} {trust:?}");
    }
    for column in knowledge.columns.iter().filter(|column| column.data_type.is_some()) {
        let _ = writeln!(
            out,
            "  {} {} {:?}",
            column.name,
            column.data_type.as_deref().unwrap_or_default(),
            column.trust
        );
    }
    for reference in &knowledge.references {
        let _ = writeln!(out, "  {} -> {}.{}", reference.column, reference.to, reference.field);
    }
}

fn worlds(worlds: Worlds) -> &'static str {
    match worlds {
        Worlds::Both => "both",
        Worlds::One(World::FullRefresh) => "full refresh",
        Worlds::One(World::Steady) => "steady",
    }
}

/// Segments ascend, cover all but white space, and exact ones say what their source says.
fn positions(files: &[(&str, &str)], project: &Project, node: &Node, rendered: &Rendered) {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut last = 0;
    for part in &rendered.segments {
        assert!(last <= part.rendered.start, "{}: segments overlap at {part:?}", node.name);
        assert!(
            rendered.sql[last..part.rendered.start].trim().is_empty(),
            "{}: gap before {part:?}",
            node.name
        );
        last = part.rendered.end;
        let path = part.by.map_or(node.path.as_str(), |by| project.macros[by].path.as_str());
        let source = files
            .iter()
            .find(|(found, _)| *found == path)
            .and_then(|(_, text)| text.get(part.source.clone()));
        if let (true, Some(source)) = (part.exact, source) {
            assert_eq!(
                squeeze(source),
                squeeze(&rendered.sql[part.rendered.clone()]),
                "{}: {part:?}",
                node.name
            );
        }
    }
}

macro_rules! fixtures {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            check(include_str!(concat!("tests/", stringify!($name), ".txt")));
        }
    )* };
}

fixtures! {
    two_worlds
    configuration
    facts_of_schema
    macros
    clocks
    bounds
    snapshots
    manifest
    python_in_jinja
}

#[test]
fn airflow_clocks_have_roles() {
    let text = "-- built {{ ts }}\nselect * from t where d >= '{{ ds }}' and d < '{{ macros.datetime.utcnow() }}'\n\
                {% set start = dag_run.start_date %}{% do log(run_id) %} and s = '{{ start }}'";
    let found: Vec<(String, ClockRole)> =
        template_clocks(text).into_iter().map(|clock| (clock.text, clock.role)).collect();
    let expected = [
        ("ts", ClockRole::Comment),
        ("ds", ClockRole::Sql),
        ("macros.datetime.utcnow()", ClockRole::Sql),
        ("dag_run.start_date", ClockRole::Sql),
        ("run_id", ClockRole::Log),
    ];
    assert_eq!(found, expected.map(|(text, role)| (text.to_owned(), role)));
}

#[test]
fn of_what_is_no_template_as_a_whole_each_hole_is_read() {
    let text = "{% if %} select {{ 1 + }}, '{{ macros.datetime.utcnow() }}', '{{ ts }}'";
    let found: Vec<String> = template_clocks(text).into_iter().map(|clock| clock.text).collect();
    assert_eq!(found, ["macros.datetime.utcnow()", "ts"]);
}

#[test]
fn a_name_that_the_template_sets_is_no_clock() {
    assert_eq!(template_clocks("{% for ds in ['a'] %}{{ ds }}{% endfor %}"), []);
    assert_eq!(template_clocks("select ds from t -- ts"), []);
}

#[test]
fn source_of_leads_from_rendered_bytes_to_the_users_file() {
    let text = "select {{ 1 + 1 }}, created_at\nfrom {{ ref('a') }}\n";
    let project = Project::read(&[("dbt_project.yml", "name: p"), ("models/b.sql", text)]);
    let model = project.model(0).expect("one model");
    let rendered = &model.worlds[0];
    let at = rendered.sql.find("created_at").expect("it is there");
    assert_eq!(rendered.source_of(at..at + 10).map(|range| &text[range]), Some("created_at"));
    let at = rendered.sql.find("dbt_target.a").expect("it is there");
    assert_eq!(rendered.source_of(at + 3..at + 12).map(|range| &text[range]), Some("{{ ref('a') }}"));
}

#[test]
fn broken_templates_never_panic() {
    let text = include_str!("tests/python_in_jinja.txt");
    for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        let project = Project::read(&[("dbt_project.yml", "name: p"), ("models/b.sql", &text[..end])]);
        let model = project.model(0).expect("one model");
        assert_eq!(model.worlds.is_empty(), !model.failed.is_empty());
        let project = Project::read(&[("dbt_project.yml", "name: p"), ("models/b.sql", &text[end..])]);
        let _ = project.model(0).expect("one model");
    }
}
