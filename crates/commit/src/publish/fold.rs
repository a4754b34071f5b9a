//! Takes the tables that are folded from a log along with a commit to it: which rows they hold when the log holds what
//! the commit makes it hold. Planned anew on each head, as the commit is.

mod layout;
mod passes;
mod product;
mod share;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use oncemore_core::{Interval, Pin};

use super::decide::Decisions;
use super::{Change, Publish, TableCommit};
use crate::error::{CommitError, Result};
use crate::fold::{self, FoldSpec, OnTie, Tied, Ties};
use crate::ledger::Attempt;
use crate::slice_map::SliceMap;
use crate::stage::start_of;
use crate::state::State;
use crate::warehouse::Warehouse;
use passes::Folding;
use product::{Product, Role};
use write::Writing;

/// What comes of tables that are folded along; items by their place.
pub(super) enum Folded {
    /// Their commits, and the ties that items bring.
    Commits(Vec<TableCommit>, Vec<(usize, Tied)>),
    /// Ties for which items are refused: without them, the rest is to be planned anew.
    Refused(Vec<(usize, Tied)>),
}

impl Default for Folded {
    /// There is nothing to do.
    fn default() -> Self {
        Folded::Commits(Vec::new(), Vec::new())
    }
}

/// The commits of all tables that are folded from the log that `decisions` are about.
pub(super) fn plan(
    warehouse: &Warehouse,
    decisions: &Decisions<'_>,
    publishes: &[Publish],
    spec: &FoldSpec,
) -> Result<Folded> {
    let places = || decisions.replaced.iter().chain(&decisions.restamped);
    let newest = places().map(|place| &publishes[*place]).max_by_key(|publish| publish.stamp.epoch);
    let Some(newest) = newest else { return Ok(Folded::default()) };
    let takes_foreign = places()
        .any(|place| publishes[*place].replace_foreign || matches!(publishes[*place].change, Change::Adopt));
    let mut products = products(warehouse, decisions.state, spec, takes_foreign)?;
    let (before, after) = (fold::log_digest(&decisions.state.map), fold::log_digest(&decisions.map));
    let adopted = places().any(|place| matches!(publishes[*place].change, Change::Adopt));
    let follows = |product: &Product| product.reflects(before) && product.state.is_ours();
    let damaged = is_damaged(decisions, publishes, &products);
    let again = adopted || damaged || !decisions.state.is_ours() || !products.iter().all(follows);
    if before == after && !again {
        return Ok(Folded::default());
    }
    let folding = Folding::new(warehouse, decisions, publishes, spec, newest)?;
    // Where there is nothing, or little, all of the log is what came.
    let is_all = again || products.iter().all(Product::is_empty) || folding.changes_most();
    let ties = if is_all { folding.all(&mut products)? } else { folding.changes(&mut products)? };
    let (refused, counted): (Vec<_>, Vec<_>) = brought(decisions, publishes, &ties)
        .into_iter()
        .partition(|(place, _)| publishes[*place].on_tie == OnTie::Refuse);
    if !refused.is_empty() {
        return Ok(Folded::Refused(refused));
    }
    if !is_all {
        folding.write(&mut products)?;
    }
    let pin = Pin { input: decisions.state.table.to_string(), version: after };
    let commits = products.into_iter().map(|product| product.commit(warehouse, newest, &pin));
    Ok(Folded::Commits(commits.collect::<Result<_>>()?, counted))
}

/// The ties that items bring, by their place, for those that want to know.
fn brought(decisions: &Decisions<'_>, publishes: &[Publish], ties: &Ties) -> Vec<(usize, Tied)> {
    let items = || decisions.replaced.iter().map(|place| (*place, &publishes[*place]));
    let seeking = || items().filter(|(_, publish)| publish.on_tie != OnTie::Ignore);
    let refusing = items().filter(|(_, publish)| publish.on_tie == OnTie::Refuse);
    let refusing: BTreeSet<_> = refusing.map(|(_, publish)| start_of(publish.interval)).collect();
    let mut found = ties.by_slice(|start| refusing.contains(&start));
    seeking()
        .filter_map(|(place, publish)| Some((place, found.remove(&start_of(publish.interval))?)))
        .collect()
}

/// Whether what is folded can't be gone on from, as far as that is looked for.
fn is_damaged(decisions: &Decisions<'_>, publishes: &[Publish], products: &[Product]) -> bool {
    // Equal rows in new files: the old ones were not as they were written, and a table may share them.
    let is_mended = |place: &usize| {
        let print = |map: &SliceMap| Some(map.get(publishes[*place].interval)?.stamp.as_ref()?.fingerprint);
        print(&decisions.state.map).is_some_and(|was| print(&decisions.map) == Some(was))
    };
    let mut places = decisions.replaced.iter().chain(&decisions.restamped);
    decisions.replaced.iter().any(is_mended)
        || places.any(|place| publishes[*place].read_back) && !products.iter().all(Product::is_there)
}

/// The commits of those tables folded from a log that are not compact; `name` gives what their files are named by.
pub(super) fn compacted(
    warehouse: &Warehouse,
    log: &Arc<State>,
    spec: &FoldSpec,
    name: &mut dyn FnMut() -> Result<Attempt>,
) -> Result<Vec<TableCommit>> {
    for table in spec.tables() {
        if warehouse.state(table)?.is_none_or(|state| !state.is_ours()) {
            return Ok(Vec::new());
        }
    }
    let limits = passes::limits(spec);
    let mut commits = Vec::new();
    for mut product in products(warehouse, log, spec, false)? {
        product.open(warehouse)?;
        if product.is_compact(limits) {
            continue;
        }
        let attempt = name()?;
        let stem = passes::stem(attempt.epoch, attempt.id, attempt.interval);
        Writing { warehouse, stem: &stem, key: &spec.key, limits }.compact(&mut product)?;
        commits.push(product.commit_as_before(warehouse)?);
    }
    Ok(commits)
}

/// The tables that are folded from a log, as they are.
fn products(
    warehouse: &Warehouse,
    log: &Arc<State>,
    spec: &FoldSpec,
    takes_foreign: bool,
) -> Result<Vec<Product>> {
    let changes = passes::columns_of(log)?;
    let mut products = Vec::new();
    for (place, table) in spec.tables().enumerate() {
        let state = warehouse.state(table)?;
        let state = state.ok_or_else(|| CommitError::Config(format!("there is no table `{table}`")))?;
        if !state.is_ours() && !takes_foreign {
            return Err(CommitError::Foreign {
                table: table.clone(),
                interval: Interval::WHOLE,
                detail:
                    "its rows are folded from the changes beside it; `--replace-foreign` folds them again"
                        .to_owned(),
            });
        }
        let role = match (&spec.validity, place) {
            (None, 0) => Role::Kind { deleted: false },
            (None, _) => Role::Kind { deleted: true },
            (Some(_), 0) => Role::Stretches,
            (Some(_), _) => Role::Changes,
        };
        products.push(Product::new(warehouse, state, role, spec, &changes)?);
    }
    Ok(products)
}
