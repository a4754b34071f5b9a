//! Lowering of definitions: CREATE TABLE, CREATE VIEW, ALTER TABLE, CREATE INDEX.

use sqlparser::ast::{
    self, AlterTableOperation, ColumnOption, CreateTableLikeKind, HiveDistributionStyle, IndexColumn,
    RenameTableNameKind, TableConstraint,
};

use crate::ir::{Action, Alter, AlterChange, Column, Creation, Expr, Name, Place, Table, Verb, Write};
use crate::text::Span;

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn create_table(&mut self, create: &ast::CreateTable) -> Action {
        let name = self.name(&create.name);
        let temporary = create.temporary || create.volatile || self.is_temporary(&name);
        let creation =
            Creation { or_replace: create.or_replace, if_not_exists: create.if_not_exists, temporary };
        if let Some(query) = &create.query {
            let source = self.query(query, Place::Root, None, None);
            let head = self.head(name.span, &["create"]);
            self.writes.push(Write {
                verb: Verb::CreateAs(creation),
                span: self.span,
                head,
                target: name,
                source: Some(source),
                ..Write::empty()
            });
            return Action::Write;
        }
        let mut columns: Vec<Column> = create.columns.iter().map(|column| self.column(column)).collect();
        let mut keys = Vec::new();
        for (definition, column) in create.columns.iter().zip(&mut columns) {
            let is_key = definition
                .options
                .iter()
                .any(|option| matches!(option.option, ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_)));
            let primary =
                definition.options.iter().any(|option| matches!(option.option, ColumnOption::PrimaryKey(_)));
            column.not_null |= primary;
            if is_key {
                keys.push(vec![column.name.clone()]);
            }
        }
        for constraint in &create.constraints {
            let primary = matches!(constraint, TableConstraint::PrimaryKey(_));
            if let Some(key) = constraint_key(constraint) {
                if primary {
                    columns
                        .iter_mut()
                        .filter(|column| key.contains(&column.name))
                        .for_each(|column| column.not_null = true);
                }
                keys.push(key);
            }
        }
        let text = self.span.of(self.source.text).to_ascii_lowercase();
        let engine = text.split("engine").nth(1).map(|rest| rest.trim_start_matches([' ', '=', '\n', '\t']));
        let engine =
            engine.map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_string());
        let replacing = engine.as_ref().is_some_and(|engine| engine.contains("replacing"));
        let like = match &create.like {
            Some(CreateTableLikeKind::Parenthesized(like) | CreateTableLikeKind::Plain(like)) => {
                Some(self.name(&like.name))
            }
            None => create.clone.as_ref().map(|name| self.name(name)),
        };
        Action::Define(Table {
            name,
            creation,
            columns,
            keys,
            partition: self.partitions(create),
            engine,
            replacing,
            foreign: false,
            like,
        })
    }

    fn partitions(&mut self, create: &ast::CreateTable) -> Vec<String> {
        let mut columns = Vec::new();
        if let Some(expr) = &create.partition_by {
            columns_in(&self.expr(expr, None), &mut columns);
        }
        if let HiveDistributionStyle::PARTITIONED { columns: list } = &create.hive_distribution {
            columns.extend(list.iter().map(|column| column.name.value.to_ascii_lowercase()));
        }
        columns
    }

    fn column(&mut self, column: &ast::ColumnDef) -> Column {
        let data_type = column.data_type.to_string().to_ascii_lowercase();
        let place = self.place(column.name.span);
        let mut out = Column { name: column.name.value.to_ascii_lowercase(), ..Column::default() };
        if matches!(data_type.as_str(), "serial" | "bigserial" | "smallserial") {
            out.generated = Some(place);
        }
        out.data_type = data_type;
        for option in &column.options {
            match &option.option {
                ColumnOption::NotNull => out.not_null = true,
                ColumnOption::Default(expr) => out.default = Some(self.expr(expr, None)),
                ColumnOption::Identity(_) => out.generated = Some(place),
                ColumnOption::Generated { generation_expr: None, .. } => out.generated = Some(place),
                ColumnOption::DialectSpecific(tokens) => {
                    let text =
                        tokens.iter().map(ToString::to_string).collect::<String>().to_ascii_lowercase();
                    if text.contains("auto") {
                        out.generated = Some(place);
                    }
                }
                _ => {}
            }
        }
        out
    }

    pub(super) fn create_view(&mut self, create: &ast::CreateView) -> Action {
        let target = self.name(&create.name);
        let source = self.query(&create.query, Place::Root, None, None);
        let head = self.head(target.span, &["create"]);
        let columns = create.columns.iter().map(|column| column.name.value.to_ascii_lowercase()).collect();
        let verb = Verb::View { materialized: create.materialized };
        self.writes.push(Write {
            verb,
            span: self.span,
            head,
            target,
            columns,
            source: Some(source),
            ..Write::empty()
        });
        Action::Write
    }

    pub(super) fn create_index(&mut self, index: &ast::CreateIndex) -> Action {
        let key = index.unique && index.predicate.is_none();
        let columns = key.then(|| index_columns(&index.columns)).flatten();
        let name = self.name(&index.table_name);
        match columns {
            Some(columns) => Action::Alter(vec![Alter { name, change: AlterChange::AddKey(columns) }]),
            None => Action::Utility,
        }
    }

    pub(super) fn rename_tables(&mut self, renames: &[ast::RenameTable]) -> Action {
        let one = |rename: &ast::RenameTable| Alter {
            name: self.name(&rename.old_name),
            change: AlterChange::Rename(self.name(&rename.new_name)),
        };
        Action::Alter(renames.iter().map(one).collect())
    }

    pub(super) fn alter_table(&mut self, alter: &ast::AlterTable) -> Action {
        let name = self.name(&alter.name);
        let mut changes = Vec::new();
        for operation in &alter.operations {
            let change = match operation {
                AlterTableOperation::RenameTable {
                    table_name: RenameTableNameKind::As(to) | RenameTableNameKind::To(to),
                } => {
                    let mut to = self.name(to);
                    if to.parts.len() == 1 && name.parts.len() > 1 {
                        to.parts.splice(0..0, name.parts.iter().take(name.parts.len() - 1).cloned());
                    }
                    AlterChange::Rename(to)
                }
                AlterTableOperation::SwapWith { table_name } => AlterChange::Swap(self.name(table_name)),
                AlterTableOperation::AttachPartition { .. }
                | AlterTableOperation::AttachPartitionOf { .. } => AlterChange::Partition(None),
                AlterTableOperation::DropPartitions { .. }
                | AlterTableOperation::DetachPartitionOf { .. } => AlterChange::DropPartition,
                AlterTableOperation::AddColumn { if_not_exists, column_def, .. } => {
                    AlterChange::AddColumn { guarded: *if_not_exists, column: self.column(column_def) }
                }
                AlterTableOperation::AddConstraint { constraint, .. } => {
                    constraint_key(constraint).map_or(AlterChange::Other, AlterChange::AddKey)
                }
                _ => AlterChange::Other,
            };
            changes.push(Alter { name: name.clone(), change });
        }
        Action::Alter(changes)
    }
}

fn constraint_key(constraint: &TableConstraint) -> Option<Vec<String>> {
    match constraint {
        TableConstraint::PrimaryKey(key) => index_columns(&key.columns),
        TableConstraint::Unique(key) => index_columns(&key.columns),
        _ => None,
    }
}

fn index_columns(columns: &[IndexColumn]) -> Option<Vec<String>> {
    columns
        .iter()
        .map(|column| match &column.column.expr {
            ast::Expr::Identifier(ident) => Some(ident.value.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

fn columns_in(expr: &Expr, out: &mut Vec<String>) {
    expr.walk(&mut |part| {
        if let Some((_, name)) = part.column() {
            out.push(name.to_string());
        }
    });
}

/// A table's name from words, for statements read without the parser.
pub(crate) fn name_from(text: &str, span: Span) -> Name {
    let parts =
        text.split('.').map(|part| part.trim_matches(['"', '`', '[', ']', '\'']).to_ascii_lowercase());
    Name { parts: parts.filter(|part| !part.is_empty()).collect(), span }
}
