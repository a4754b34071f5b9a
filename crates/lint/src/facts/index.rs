//! Which statements of a script touch which table, so that no write has to look at all of them.

use std::collections::{HashMap, HashSet};

use crate::ir::{Action, AlterChange, Body, Relation, Statement, Verb};

/// Of one table, how many statements are looked at. Scripts with more are data, not logic.
const EVENTS: usize = 500;

/// Statements by what they touch.
#[derive(Clone, Debug, Default)]
pub struct ScriptIndex {
    /// Statements, by the last part of a table's name, that define, drop, alter, empty, change or replace
    /// it; plain
    /// INSERTs are left out.
    events: HashMap<String, Vec<usize>>,
    /// Tables that rows are put into.
    filled: HashSet<String>,
    /// Statements, by the last part of a table's name, that read it.
    readers: HashMap<String, Vec<usize>>,
    /// Statements that set a variable to something.
    pub(crate) variables: Vec<usize>,
    /// Statements that change the session.
    pub(crate) sessions: Vec<usize>,
    /// Statements that move whole partitions.
    pub(crate) partitions: Vec<usize>,
    /// Whether errors are handled anywhere.
    pub(crate) handles_errors: bool,
}

impl ScriptIndex {
    /// Indexes statements.
    #[must_use]
    pub fn of(statements: &[Statement]) -> Self {
        let mut index = Self::default();
        for (at, statement) in statements.iter().enumerate() {
            index.handles_errors |= statement.handler;
            match &statement.action {
                Action::Define(table) => index.touch(table.name.last(), at),
                Action::Drop { names, .. } => names.iter().for_each(|name| index.touch(name.last(), at)),
                Action::Alter(changes) => {
                    for alter in changes {
                        index.touch(alter.name.last(), at);
                        match &alter.change {
                            AlterChange::Rename(to) | AlterChange::Swap(to) => index.touch(to.last(), at),
                            AlterChange::Partition(_) => index.partitions.push(at),
                            _ => {}
                        }
                    }
                }
                Action::Variable { value: Some(_), .. } => index.variables.push(at),
                Action::Session { .. } => index.sessions.push(at),
                _ => {}
            }
            for query in &statement.queries {
                let Body::Select(select) = &query.body else { continue };
                for from in &select.from {
                    if let Relation::Table(name) = &from.relation {
                        let list = index.readers.entry(name.last().to_string()).or_default();
                        if list.last() != Some(&at) {
                            list.push(at);
                        }
                    }
                }
            }
            for write in &statement.writes {
                if matches!(write.verb, Verb::Insert | Verb::Copy { .. } | Verb::Merge) {
                    index.filled.insert(write.target.last().to_string());
                }
                if !matches!(write.verb, Verb::Insert | Verb::Copy { .. }) {
                    index.touch(write.target.last(), at);
                }
            }
        }
        index
    }

    fn touch(&mut self, name: &str, at: usize) {
        match self.events.get_mut(name) {
            Some(list) => {
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
            None => {
                self.events.insert(name.to_string(), vec![at]);
            }
        }
    }

    fn list(&self, name: &str) -> &[usize] {
        self.events.get(name).map_or(&[], Vec::as_slice)
    }

    /// Statements before one that touch a table, nearest first.
    pub fn before(&self, name: &str, at: usize) -> impl Iterator<Item = usize> + '_ {
        let list = self.list(name);
        let end = list.partition_point(|other| *other < at);
        list.iter().take(end).rev().take(EVENTS).copied()
    }

    /// Statements after one that touch a table, nearest first.
    pub fn after(&self, name: &str, at: usize) -> impl Iterator<Item = usize> + '_ {
        let list = self.list(name);
        let start = list.partition_point(|other| *other <= at);
        list.iter().skip(start).take(EVENTS).copied()
    }

    /// Statements that define, drop, alter, empty, change or replace a table.
    pub fn around(&self, name: &str) -> impl Iterator<Item = usize> + '_ {
        self.list(name).iter().take(EVENTS).copied()
    }

    /// Statements after one that read a table, nearest first.
    pub fn readers_after(&self, name: &str, at: usize) -> impl Iterator<Item = usize> + '_ {
        let list = self.readers.get(name).map_or(&[] as &[usize], Vec::as_slice);
        let start = list.partition_point(|other| *other <= at);
        list.iter().skip(start).take(EVENTS).copied()
    }

    /// Whether rows are put into a table anywhere.
    #[must_use]
    pub fn is_filled(&self, name: &str) -> bool {
        self.filled.contains(name)
    }
}
