//! Tables that a script makes or empties, fills, and reads again: their rows are those of the query that filled them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ir::{Action, Name, Verb, Write};

use super::alike::constant;
use super::context::{Effect, StatementContext};
use super::scope::Scope;
use super::view::{OutputValue, Outputs, View};

/// The tables that are filled at some place of a script, by their names.
#[derive(Clone, Default)]
pub(crate) struct Stages<'a>(Rc<HashMap<String, Rc<Stage<'a>>>>);

/// What fills a table.
pub(super) struct Stage<'a> {
    /// The rows.
    pub(super) scopes: Rc<Vec<Scope<'a>>>,
    /// The columns, as the table names them.
    pub(super) outputs: Rc<Outputs<'a>>,
}

impl<'a> Stages<'a> {
    /// What fills a table that the script has made.
    pub(super) fn of(&self, name: &Name) -> Option<&Stage<'a>> {
        if self.0.is_empty() { None } else { self.0.get(&name.text()).map(|stage| &**stage) }
    }

    /// Whether a column of a table that the script has made holds one value for all rows.
    pub(super) fn is_constant(&self, name: &Name, column: &str) -> bool {
        let value =
            self.of(name).and_then(|stage| stage.outputs.list.iter().find(|output| output.name == column));
        matches!(value.map(|output| &output.value), Some(OutputValue::Expr(expr)) if constant(expr))
    }

    /// Takes in what a statement does.
    pub(crate) fn pass(&mut self, view: &View<'a>, context: &StatementContext<'a>) {
        let statement = view.statement;
        match &statement.action {
            Action::Drop { names, .. } => names.iter().for_each(|name| self.forget(name)),
            Action::Define(table) => self.forget(&table.name),
            Action::Alter(changes) => changes.iter().for_each(|alter| self.forget(&alter.name)),
            _ => {}
        }
        for (index, write) in statement.writes.iter().enumerate() {
            // A second INSERT adds rows of which the first says nothing.
            let again = self.0.contains_key(&write.target.text());
            self.forget(&write.target);
            let is_read =
                context.script.index.readers_after(write.target.last(), context.statement).next().is_some();
            if is_read && !again && is_filled(write, context, index) {
                self.keep(view, write);
            }
        }
    }

    fn forget(&mut self, name: &Name) {
        if self.0.contains_key(&name.text()) {
            Rc::make_mut(&mut self.0).remove(&name.text());
        }
    }

    fn keep(&mut self, view: &View<'a>, write: &'a Write) {
        let Some(source) = write.source else { return };
        let mut outputs = view.outputs(source);
        if !write.columns.is_empty() {
            let named = Rc::make_mut(&mut outputs);
            named.list.iter_mut().zip(&write.columns).for_each(|(output, name)| output.name.clone_from(name));
        }
        let stage = Stage { scopes: view.scopes(source), outputs };
        Rc::make_mut(&mut self.0).insert(write.target.text(), Rc::new(stage));
    }
}

/// Whether all rows of the target are those of the write.
fn is_filled(write: &Write, context: &StatementContext<'_>, index: usize) -> bool {
    match write.verb {
        Verb::CreateAs(creation) => creation.temporary || !creation.if_not_exists,
        Verb::Insert => {
            write.conflict.is_none() && matches!(context.effect(index), Effect::Fresh | Effect::ReplaceAll(_))
        }
        _ => false,
    }
}
