//! What is known of tables: columns, types, keys. From definitions in all files, and from model headers.

use std::collections::HashMap;

use crate::ir::{Action, AlterChange, Column, Name, Verb};
use crate::script::Script;

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
    /// A view, a foreign table.
    pub temporary: bool,
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
    /// Columns that the user says tell when or by whom a row was written.
    pub provenance: Vec<String>,
}

impl Knowledge {
    /// Gathers what the scripts say.
    #[must_use]
    pub fn gather<'a>(scripts: impl IntoIterator<Item = &'a Script>) -> Self {
        let mut knowledge = Self::default();
        let mut likes = Vec::new();
        for script in scripts {
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
            }
        }
        for (name, like) in likes {
            if let (Some(facts), Some(_)) = (knowledge.table(&like).cloned(), knowledge.table(&name)) {
                knowledge.add(TableFacts { name, ..facts });
            }
        }
        knowledge
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
                        Some(other) => other.not_null |= column.not_null,
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
            source: "the table's definition",
            ..TableFacts::default()
        });
    }

    /// What is known of a table.
    #[must_use]
    pub fn table(&self, name: &Name) -> Option<&TableFacts> {
        self.tables.get(name.last())?.iter().find(|facts| facts.name.same(name))
    }
}
