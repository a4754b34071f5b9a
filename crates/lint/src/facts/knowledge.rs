//! What is known of tables: columns, types, keys. From definitions in all files, and from model headers.

use std::collections::HashMap;

use crate::ir::{Action, AlterChange, BranchAction, Column, ExprKind, ModelWrite, Name, Verb, When};
use crate::routine::{Routine, Trust};
use crate::script::Script;

use super::alike::is_aggregate;
use super::view::{OutputValue, View};

/// What is known of one table.
#[derive(Clone, Debug, Default)]
pub struct TableFacts {
    /// Its name.
    pub name: Name,
    /// Its columns; empty if unknown.
    pub columns: Vec<Column>,
    /// Sets of columns that are unique.
    pub keys: Vec<Vec<String>>,
    /// Partition columns.
    pub partition: Vec<String>,
    /// The engine merges rows of equal key some day.
    pub replacing: bool,
    /// Goes with its session.
    pub temporary: bool,
    /// Kept by another server, or in files.
    pub foreign: bool,
    /// There may be other columns than those that are known.
    pub partial: bool,
    /// Where the knowledge of the keys comes from, in words: `PRIMARY KEY`, `test unique`.
    pub source: &'static str,
}

impl TableFacts {
    /// A column of the table.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// What is known of all tables.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    tables: HashMap<String, Vec<TableFacts>>,
    routines: HashMap<String, Vec<Routine>>,
    derived: HashMap<String, Vec<Vec<String>>>,
    /// Columns that the user says tell when or by whom a row was written.
    pub provenance: Vec<String>,
}

impl Knowledge {
    /// Gathers what the scripts say.
    #[must_use]
    pub fn gather<'a>(scripts: impl IntoIterator<Item = &'a Script>) -> Self {
        Self::gather_with([], scripts)
    }

    /// Gathers what the scripts say, on top of what is known already.
    #[must_use]
    pub fn gather_with<'a>(
        known: impl IntoIterator<Item = TableFacts>,
        scripts: impl IntoIterator<Item = &'a Script>,
    ) -> Self {
        let mut knowledge = Self::default();
        known.into_iter().for_each(|facts| knowledge.add(facts));
        let mut likes = Vec::new();
        let scripts: Vec<&Script> = scripts.into_iter().collect();
        for script in &scripts {
            for routine in &script.routines {
                knowledge.routines.entry(routine.name.last().to_string()).or_default().push(routine.clone());
            }
            for (name, key) in &script.stated {
                knowledge.add(TableFacts {
                    name: name.clone(),
                    keys: vec![key.clone()],
                    partial: true,
                    source: "a comment",
                    ..TableFacts::default()
                });
            }
            for statement in &script.statements {
                match &statement.action {
                    Action::Define(table) => {
                        if let Some(like) = &table.like {
                            likes.push((table.name.clone(), like.clone()));
                        }
                        knowledge.add(TableFacts {
                            name: table.name.clone(),
                            columns: table.columns.clone(),
                            keys: table.keys.clone(),
                            partition: table.partition.clone(),
                            replacing: table.replacing,
                            temporary: table.creation.temporary,
                            foreign: table.foreign,
                            partial: false,
                            source: "the table's definition",
                        });
                    }
                    Action::Alter(changes) => {
                        for change in changes {
                            if let AlterChange::AddKey(key) = &change.change {
                                knowledge.add_key(&change.name, key.clone());
                            }
                        }
                    }
                    _ => {}
                }
                knowledge.add_model(script, statement);
                knowledge.add_written_keys(script, statement);
            }
        }
        knowledge.derive(&scripts);
        for (name, like) in likes {
            if let (Some(facts), Some(_)) = (knowledge.table(&like).cloned(), knowledge.table(&name)) {
                knowledge.add(TableFacts { name, ..facts });
            }
        }
        knowledge
    }

    /// Keys of tables and views that a query makes, where it is the only thing that writes them.
    fn derive(&mut self, scripts: &[&Script]) {
        let mut writers: HashMap<String, usize> = HashMap::new();
        for write in
            scripts.iter().flat_map(|script| &script.statements).flat_map(|statement| &statement.writes)
        {
            if !matches!(write.verb, Verb::Update | Verb::Delete | Verb::Truncate) {
                *writers.entry(write.target.last().to_string()).or_default() += 1;
            }
        }
        for script in scripts {
            for statement in &script.statements {
                for write in &statement.writes {
                    let implied = self.imply(script, statement, write);
                    implied.into_iter().for_each(|key| self.add_key(&write.target, key));
                    let makes = match write.verb {
                        Verb::CreateAs(creation) => !creation.if_not_exists || creation.temporary,
                        Verb::View { .. } | Verb::Model(ModelWrite::Full | ModelWrite::View) => true,
                        _ => false,
                    };
                    let (true, Some(source), Some(1)) =
                        (makes, write.source, writers.get(write.target.last()))
                    else {
                        continue;
                    };
                    let keys = View::new(statement, self, script.dialect).keys(source, 0);
                    if !keys.is_empty() && write.columns.is_empty() {
                        self.derived.insert(write.target.text(), keys);
                    }
                }
            }
        }
    }

    /// Where `md5(a || b) AS id` is known to be unique, so are `a, b`: two rows alike in them would have the same `id`.
    fn imply(
        &self,
        script: &Script,
        statement: &crate::ir::Statement,
        write: &crate::ir::Write,
    ) -> Vec<Vec<String>> {
        let (Some(source), Verb::Model(_) | Verb::CreateAs(_), Some(facts)) =
            (write.source, write.verb, self.table(&write.target))
        else {
            return Vec::new();
        };
        let view = View::new(statement, self, script.dialect);
        let outputs = view.outputs(source);
        let parts = |key: &Vec<String>| {
            let [name] = key.as_slice() else { return None };
            let output = outputs.list.iter().find(|output| output.name == *name)?;
            let OutputValue::Expr(expr) = output.value else { return None };
            let (mut columns, mut pure) = (Vec::new(), expr.column().is_none());
            expr.walk(&mut |part| match &part.kind {
                ExprKind::Column { .. } => columns.push(part),
                ExprKind::Subquery { .. } => pure = false,
                ExprKind::Call(call) => {
                    pure &= call.over.is_none()
                        && !is_aggregate(&call.name)
                        && crate::functions::class(view.dialect, &call.name, call.args.len()).is_none();
                }
                _ => {}
            });
            let names = view.named(source, &columns).filter(|_| pure && !columns.is_empty())?;
            (!facts.keys.contains(&names)).then_some(names)
        };
        facts.keys.iter().filter_map(parts).collect()
    }

    /// What is only ever written by key has one row a key: the columns of ON CONFLICT, and those a MERGE
    /// that inserts
    /// compares.
    fn add_written_keys(&mut self, script: &Script, statement: &crate::ir::Statement) {
        for write in &statement.writes {
            // dbt's delete+insert takes any columns as its key, and deletes by them.
            let unique = write.verb != Verb::Model(ModelWrite::DeleteInsert);
            let conflict = write.conflict.iter().filter(|_| unique).map(|conflict| conflict.keys.clone());
            let inserts = write.branches.iter().any(|branch| {
                branch.when == When::NotMatched
                    && matches!(branch.action, BranchAction::Insert(..) | BranchAction::InsertAll)
            });
            let merged = (write.verb == Verb::Merge && inserts).then(|| {
                let view = View::new(statement, self, script.dialect);
                let pairs = view.merge_pairs(write);
                let all = pairs.len() == write.filters.len();
                if all { pairs.into_iter().map(|(target, _)| target).collect() } else { Vec::new() }
            });
            let keys: Vec<Vec<String>> = conflict.chain(merged).filter(|key| !key.is_empty()).collect();
            for key in keys {
                self.add(TableFacts {
                    name: write.target.clone(),
                    keys: vec![key],
                    partial: true,
                    source: "how it is written",
                    ..TableFacts::default()
                });
            }
        }
    }

    fn add_model(&mut self, script: &Script, statement: &crate::ir::Statement) {
        let Some(header) = &script.model else { return };
        for write in statement.writes.iter().filter(|write| matches!(write.verb, Verb::Model(_))) {
            let not_null = header.not_null.iter().chain(&header.key).chain(&header.time);
            let columns = not_null
                .map(|name| Column { name: name.clone(), not_null: true, ..Column::default() })
                .collect();
            let keys = if header.key.is_empty() { Vec::new() } else { vec![header.key.clone()] };
            self.add(TableFacts {
                name: write.target.clone(),
                columns,
                keys,
                partial: true,
                source: "the model's key",
                ..TableFacts::default()
            });
        }
    }

    /// Adds facts of a table; to facts that are there, columns and keys are added.
    pub fn add(&mut self, facts: TableFacts) {
        let list = self.tables.entry(facts.name.last().to_string()).or_default();
        match list.iter_mut().find(|known| known.name.same(&facts.name)) {
            Some(known) => {
                for column in facts.columns {
                    match known.columns.iter_mut().find(|other| other.name == column.name) {
                        Some(other) => {
                            other.not_null |= column.not_null;
                            if other.data_type.is_empty() {
                                other.data_type = column.data_type;
                            }
                        }
                        None => known.columns.push(column),
                    }
                }
                for key in facts.keys {
                    if !known.keys.contains(&key) {
                        known.keys.push(key);
                    }
                }
                known.replacing |= facts.replacing;
                known.temporary |= facts.temporary;
                known.foreign |= facts.foreign;
                known.partial &= facts.partial;
                if known.partition.is_empty() {
                    known.partition = facts.partition;
                }
            }
            None => list.push(facts),
        }
    }

    /// Adds a key.
    pub fn add_key(&mut self, name: &Name, key: Vec<String>) {
        self.add(TableFacts {
            name: name.clone(),
            keys: vec![key],
            partial: true,
            source: "the table's definition",
            ..TableFacts::default()
        });
    }

    /// Sets of columns of a table that are unique by the query that makes it. Named exactly so: `orders` may
    /// be another table
    /// than `mart.orders`.
    #[must_use]
    pub fn derived_keys(&self, name: &Name) -> &[Vec<String>] {
        self.derived.get(&name.text()).map_or(&[], Vec::as_slice)
    }

    /// What is known of a function, by the name of a call; of several that are called so the one that can be
    /// vouched for.
    #[must_use]
    pub fn routine(&self, call: &str) -> Option<&Routine> {
        let name = Name { parts: call.split('.').map(str::to_string).collect(), ..Name::default() };
        let all = self.routines.get(name.last())?.iter().filter(|routine| routine.name.same(&name));
        all.min_by_key(|routine| routine.trust == Trust::Opaque)
    }

    /// What is known of a table.
    #[must_use]
    pub fn table(&self, name: &Name) -> Option<&TableFacts> {
        self.tables.get(name.last())?.iter().find(|facts| facts.name.same(name))
    }
}
