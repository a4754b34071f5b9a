//! Pictures of `plan`, on hand-made data.
use oncemore_core::{Calendar, Interval};
use oncemore_run::limit::{Estimate, stale_parents, too_many};
use oncemore_run::plan::{Held, ModelSummary, StaleParent};
use oncemore_run::{Hold, Plan, Reason, Task};

use super::super::{
    error,
    plan::{group, nothing_to_do, render},
};
use super::{days, digest, inside, months, table, wide};

fn tasks(name: &str, calendar: &Calendar, range: &str, reason: &Reason) -> Vec<Task> {
    inside(calendar, range)
        .into_iter()
        .map(|interval| Task {
            at: 0,
            model: table(name),
            interval,
            label: calendar.label(interval).into(),
            reason: reason.clone(),
        })
        .collect()
}

fn held(
    name: &str,
    calendar: &Calendar,
    range: &str,
    reason: Reason,
    hold: impl Fn(&str) -> Hold,
) -> Vec<Held> {
    tasks(name, calendar, range, &reason)
        .into_iter()
        .map(|task| Held {
            at: 0,
            hold: hold(&task.label),
            model: task.model,
            interval: task.interval,
            label: task.label,
            reason: task.reason,
        })
        .collect()
}

fn march() -> Plan {
    let code = Reason::Code { from: digest("old"), to: digest("new") };
    let input = |certain| Reason::Input { inputs: vec!["silver.flights".to_owned()], certain };
    let mut plan = Plan {
        range: Some("2013-03-01T00:00:00 to 2013-04-01T00:00:00 (31 days, America/New_York)".to_owned()),
        ..Plan::default()
    };
    plan.tasks.extend(tasks("silver.flights", &days(), "2013-03", &code));
    plan.tasks.extend(tasks("gold.carrier_day", &days(), "2013-03", &input(false)));
    plan.tasks.extend(tasks("gold.route_month", &months(), "2013-03", &input(false)));
    plan.tasks.push(Task {
        at: 0,
        model: table("gold.planes"),
        interval: Interval::WHOLE,
        label: "all".to_owned().into(),
        reason: Reason::NeverRan,
    });
    plan.held.extend(held("silver.weather", &days(), "2013-Q1", Reason::NeverRan, |label| Hold::Waiting {
        what: format!("data/weather/{label}.csv.gz"),
    }));
    plan.held.extend(held(
        "silver.flights",
        &days(),
        "2013-04-02",
        Reason::Gone { path: "data/flights/2013-04-02.csv.gz".to_owned() },
        |_| Hold::Gone { path: "data/flights/2013-04-02.csv.gz".to_owned() },
    ));
    plan.models = [
        ("gold.planes", 1, 0),
        ("silver.weather", 365, 90),
        ("silver.flights", 365, 1),
        ("gold.carrier_day", 365, 0),
        ("gold.route_month", 12, 0),
    ]
    .map(|(name, due, held)| {
        let own = plan.tasks.iter().filter(|task| task.model == table(name)).count();
        ModelSummary {
            model: table(name),
            due,
            fresh: due - own - held,
            reported: 0,
            spared: 0,
            tasks: own,
            held,
        }
    })
    .into();
    plan
}

#[test]
fn a_plan_is_grouped_by_model_and_reason() {
    insta::assert_snapshot!(render(&march(), &wide(100)), @r"
    range: 2013-03-01T00:00:00 to 2013-04-01T00:00:00 (31 days, America/New_York)

    gold.planes  1 of 1 slice
      never ran               1  whole table

    silver.weather  0 of 365 slices, 90 held back
      waiting: never ran     90  2013-01-01 … 2013-03-31  (for data/weather/2013-01-01.csv.gz, and 89 like it)

    silver.flights  31 of 365 slices, 1 held back
      code changed           31  2013-03-01 … 2013-03-31  (cba06b5736fa to 11507a0e2f5e)
      input gone              1  2013-04-02  (data/flights/2013-04-02.csv.gz)

    gold.carrier_day  31 of 365 slices
      input may change       31  2013-03-01 … 2013-03-31  (silver.flights)

    gold.route_month  1 of 12 slices
      input may change        1  2013-03  (silver.flights)

    help: input gone: bring the file back, or run without it: `oncemore run silver.flights --accept-gone`

    64 slices of 4 models to run, 91 held back, 953 fresh
    ");
}

#[test]
fn an_empty_plan_is_one_line() {
    let mut plan = march();
    plan.tasks.clear();
    plan.held.clear();
    plan.range = None;
    plan.models.iter_mut().for_each(|model| (model.fresh, model.tasks, model.held) = (model.due, 0, 0));
    assert_eq!(nothing_to_do(&plan), "nothing to do: 1,108 slices of 5 models are fresh");
    assert_eq!(render(&plan, &wide(80)), "nothing to do: 1,108 slices of 5 models are fresh\n");
    plan.models.iter_mut().for_each(|model| (model.fresh, model.due) = (0, 0));
    assert_eq!(
        nothing_to_do(&plan),
        "nothing to do: no interval of 5 models is due: the first one is that of `start` in oncemore.yml, each once it \
         is over; `--from` and `--to` name others"
    );
}

#[test]
fn a_limit_says_how_to_go_on() {
    let cost = Estimate { bytes: Some(12_900_000), seconds: Some(7.4) };
    insta::assert_snapshot!(error::render(&too_many(&march(), 131, 100, cost), &|_| None, &wide(80)), @r"
    error: 131 slices to run because code or a dimension changed, more than `limits.tasks: 100` (gold.planes 1, silver.flights 31, gold.carrier_day 31, gold.route_month 1); all 64 take about 12.3 MiB and 7.40 s, going by earlier runs
    help: look at `oncemore plan`; then add `--yes`, narrow it with `--from` and `--to`, or keep the rows under the new code: `oncemore accept MODEL --from .. --to .. --because TEXT`
    ");
}

#[test]
fn a_stale_parent_is_named() {
    let mut plan = march();
    plan.held.clear();
    plan.tasks.truncate(1);
    plan.stale_parents
        .insert(StaleParent { parent: "silver.flights".to_owned(), reader: "gold.carrier_day".to_owned() });
    insta::assert_snapshot!(error::render(&stale_parents(&plan), &|_| None, &wide(100)), @r"
    error: stale parents are not selected: `silver.flights` (read by `gold.carrier_day`)
    help: select them too: `+gold.carrier_day`; or read them as they are: `--stale-parents ok`
    ");
}

#[test]
fn groups_for_programs_join_neighbours() {
    let plan = march();
    let groups = group(&plan);
    let flights = groups.iter().find(|group| group.model == &table("silver.flights")).unwrap();
    assert_eq!((flights.slices, flights.ranges.len()), (31, 1));
    insta::assert_snapshot!(serde_json::to_string(flights).unwrap(), @r#"{"model":"silver.flights","title":"code changed","details":["cba06b5736fa to 11507a0e2f5e"],"held":false,"slices":31,"ranges":[{"first":"2013-03-01","last":"2013-03-31","count":31}]}"#);
}
