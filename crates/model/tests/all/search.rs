//! Breadth-first search through all states of a configuration.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use oncemore_model::step::{STEPS, Step};
use oncemore_model::{Act, Config, GOALS, INVARIANTS, State};
use stateright::{Checker, HasDiscoveries, Model, Property};

/// A configuration as the checker takes it.
#[derive(Debug)]
struct Searched {
    config: Config,
    /// Invariants found broken, by place: the checker would keep the last way to each, not the first.
    broken: AtomicU64,
    /// Steps taken, by place.
    taken: Arc<AtomicU64>,
}

fn invariant<const PLACE: usize>(searched: &Searched, state: &State) -> bool {
    let bit = 1 << PLACE;
    searched.broken.load(Ordering::Relaxed) & bit != 0
        || (INVARIANTS[PLACE].holds)(&searched.config, state)
        || {
            searched.broken.fetch_or(bit, Ordering::Relaxed);
            false
        }
}

fn goal<const PLACE: usize>(searched: &Searched, state: &State) -> bool {
    (GOALS[PLACE].shown)(&searched.config, state)
}

impl Model for Searched {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![self.config.start()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Act>) {
        self.config.actions(state, actions);
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        for step in self.config.steps(last, act) {
            self.taken.fetch_or(1 << (*step as u64), Ordering::Relaxed);
        }
        self.config.next(last, act)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let invariants: [fn(&Searched, &State) -> bool; INVARIANTS.len()] = [
            invariant::<0>,
            invariant::<1>,
            invariant::<2>,
            invariant::<3>,
            invariant::<4>,
            invariant::<5>,
            invariant::<6>,
            invariant::<7>,
            invariant::<8>,
            invariant::<9>,
            invariant::<10>,
            invariant::<11>,
            invariant::<12>,
        ];
        let goals: [fn(&Searched, &State) -> bool; GOALS.len()] =
            [goal::<0>, goal::<1>, goal::<2>, goal::<3>, goal::<4>];
        let invariants =
            INVARIANTS.iter().zip(invariants).map(|(known, holds)| Property::always(known.name, holds));
        let goals = GOALS.iter().zip(goals).map(|(known, shown)| Property::sometimes(known.name, shown));
        invariants.chain(goals).collect()
    }
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) states: usize,
    /// Broken invariants, each with the shortest way to it.
    pub(crate) broken: Vec<(&'static str, Vec<String>)>,
    /// Goals that were reached.
    pub(crate) reached: Vec<&'static str>,
    /// Steps that were taken.
    pub(crate) taken: Vec<Step>,
}

/// Searches all states, or up to the first broken invariant.
pub(crate) fn search(config: &Config, to_the_end: bool) -> Found {
    let start = Instant::now();
    let taken = Arc::new(AtomicU64::default());
    let searched = Searched { config: config.clone(), broken: AtomicU64::default(), taken: taken.clone() };
    let builder = searched.checker().threads(1);
    let builder = if to_the_end { builder } else { builder.finish_when(HasDiscoveries::AnyFailures) };
    let done = builder.spawn_bfs().join();
    let steps = STEPS.into_iter().filter(|step| taken.load(Ordering::Relaxed) >> (*step as u64) & 1 == 1);
    let mut found = Found {
        states: done.unique_state_count(),
        broken: Vec::new(),
        reached: Vec::new(),
        taken: steps.collect(),
    };
    let ways: std::collections::BTreeMap<_, _> = done.discoveries().into_iter().collect();
    for (name, way) in ways {
        if GOALS.iter().any(|goal| goal.name == name) {
            found.reached.push(name);
        } else {
            let acts = way.into_vec().into_iter();
            let said = acts.filter_map(|(state, act)| Some(config.describe(&state, act?))).collect();
            found.broken.push((name, said));
        }
    }
    let mut text = format!(
        "{:<60} {:>9} states, depth {:>2}, {:>5.1} s: {}; reached: {}\n",
        config.flaw.map_or(config.name.to_owned(), |flaw| format!("{flaw:?} on `{}`", config.name)),
        found.states,
        done.max_depth(),
        start.elapsed().as_secs_f32(),
        if found.broken.is_empty() { "holds".to_owned() } else { numbers(&found) + " broken" },
        found.reached.join(", "),
    );
    for (name, way) in &found.broken {
        text += &format!("  {name}, after {} steps:\n    {}\n", way.len(), way.join("\n    "));
    }
    std::io::stderr().write_all(text.as_bytes()).unwrap();
    found
}

/// Numbers of the broken invariants.
pub(crate) fn numbers(found: &Found) -> String {
    let names = found.broken.iter().map(|(name, _)| name.split(' ').next().unwrap_or_default());
    names.collect::<Vec<_>>().join(" ")
}
