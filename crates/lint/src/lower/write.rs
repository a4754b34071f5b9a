//! Lowering of what writes: INSERT, UPDATE, DELETE, MERGE, TRUNCATE.

use sqlparser::ast::{
    self, AssignmentTarget, ConflictTarget, FromTable, MergeAction, MergeClauseKind, MergeInsertKind,
    MergeUpdateKind, OnConflictAction, OnInsert, SqliteOnConflict, TableFactor, TableObject,
    UpdateTableFromKind,
};

use crate::dialect::Dialect;
use crate::ir::{
    Action, Assign, Branch, BranchAction, Conflict, ConflictAction, Expr, ExprKind, Join, Name, Op, Place,
    QueryId, Relation, Verb, When, Write,
};
use crate::text::Span;

use super::Lowering;
use super::from::plain_from;

impl Write {
    /// A write of which nothing is known yet.
    pub(crate) fn empty() -> Self {
        Self {
            verb: Verb::Insert,
            span: Span::NOWHERE,
            head: Span::NOWHERE,
            target: Name::default(),
            alias: None,
            columns: Vec::new(),
            by_name: false,
            source: None,
            scope: None,
            conflict: None,
            filters: Vec::new(),
            branches: Vec::new(),
            sets: Vec::new(),
            partition: Vec::new(),
            cte: None,
        }
    }
}

impl Lowering<'_> {
    fn first_word(&self, words: &[&str], from: Span) -> Span {
        let index =
            self.source.lexed.index_at(if from.is_somewhere() { from.start } else { self.span.start });
        let tokens = &self.source.lexed.tokens;
        (index..tokens.len())
            .take_while(|at| tokens.get(*at).is_some_and(|token| token.span.start < self.span.end))
            .find(|at| self.token_is(*at, words))
            .and_then(|at| tokens.get(at))
            .map_or(Span::NOWHERE, |token| token.span)
    }

    pub(super) fn insert(&mut self, insert: &ast::Insert) -> Action {
        if !insert.multi_table_into_clauses.is_empty() || !insert.multi_table_when_clauses.is_empty() {
            return self.insert_all(insert);
        }
        let start = self.place(insert.insert_token.0.span);
        let target = match &insert.table {
            TableObject::TableName(name) => self.name(name),
            TableObject::TableFunction(function) => self.name(&function.name),
            TableObject::TableQuery(_) => Name::default(),
        };
        let source = insert.source.as_ref().map(|source| self.query(source, Place::Root, None, None));
        let alias = insert.table_alias.as_ref().map(|alias| alias.alias.value.to_ascii_lowercase());
        let mut conflict = self.conflict(insert, start);
        if let Some(conflict) =
            conflict.as_mut().filter(|conflict| keeps_all(conflict, &target, alias.as_deref()))
        {
            conflict.action = ConflictAction::Nothing;
            conflict.sets.clear();
        }
        let verb = if insert.overwrite { Verb::Overwrite } else { Verb::Insert };
        let partition = insert.partitioned.iter().flatten().filter_map(|expr| self.partition(expr)).collect();
        let columns =
            insert.columns.iter().map(|name| self.name(name).last().to_string()).collect::<Vec<_>>();
        let columns = if columns.is_empty() {
            insert.after_columns.iter().map(|ident| ident.value.to_ascii_lowercase()).collect()
        } else {
            columns
        };
        let sets = self.assigns(&insert.assignments, None);
        let head = start.to(target.span);
        let head = if start.is_somewhere() { head } else { self.head(target.span, &["insert", "replace"]) };
        let span = Span { start: head.start, end: self.span.end };
        self.writes.push(Write {
            verb,
            span,
            head,
            target,
            alias,
            columns,
            by_name: insert.by_name,
            source,
            conflict,
            partition,
            sets,
            ..Write::empty()
        });
        Action::Write
    }

    fn insert_all(&mut self, insert: &ast::Insert) -> Action {
        let source = insert.source.as_ref().map(|source| self.query(source, Place::Root, None, None));
        let when = insert.multi_table_when_clauses.iter().flat_map(|when| &when.into_clauses);
        for into in insert
            .multi_table_into_clauses
            .iter()
            .chain(when)
            .chain(insert.multi_table_else_clause.iter().flatten())
        {
            let target = self.name(&into.table_name);
            let head = self.head(target.span, &["into"]);
            let columns = into.columns.iter().map(|ident| ident.value.to_ascii_lowercase()).collect();
            self.writes.push(Write {
                verb: Verb::Insert,
                span: self.span,
                head,
                target,
                columns,
                source,
                ..Write::empty()
            });
        }
        Action::Write
    }

    fn partition(&mut self, ast: &ast::Expr) -> Option<(String, Option<Expr>)> {
        let expr = self.expr(ast, None);
        match expr.kind {
            ExprKind::Column { name, .. } => Some((name, None)),
            ExprKind::Op(Op::Eq, mut args) => {
                let value = args.pop();
                let (_, name) = args.first()?.column()?;
                Some((name.to_string(), value))
            }
            _ => None,
        }
    }

    fn conflict(&mut self, insert: &ast::Insert, start: Span) -> Option<Conflict> {
        let none = |span, action| {
            Some(Conflict { span, keys: Vec::new(), action, sets: Vec::new(), filters: Vec::new() })
        };
        if insert.replace_into {
            return none(self.with_after(start, &["into"]), ConflictAction::Replace);
        }
        if insert.ignore {
            return none(self.with_after(start, &["ignore"]), ConflictAction::Nothing);
        }
        match insert.or {
            Some(SqliteOnConflict::Ignore) => {
                return none(self.with_after(start, &["or", "ignore"]), ConflictAction::Nothing);
            }
            Some(SqliteOnConflict::Replace) => {
                return none(self.with_after(start, &["or", "replace"]), ConflictAction::Replace);
            }
            _ => {}
        }
        match insert.on.as_ref()? {
            OnInsert::DuplicateKeyUpdate(assigns) => {
                let sets = self.assigns(assigns, None);
                let word = self.first_word(&["duplicate"], start);
                let span = self.with_before(word, &["on"]);
                let span = sets.iter().fold(span, |span, set| span.to(set.span));
                Some(Conflict {
                    span,
                    keys: Vec::new(),
                    action: ConflictAction::Update,
                    sets,
                    filters: Vec::new(),
                })
            }
            OnInsert::OnConflict(clause) => {
                let keys = match &clause.conflict_target {
                    Some(ConflictTarget::Columns { columns, .. }) => {
                        columns.iter().map(|ident| ident.value.to_ascii_lowercase()).collect()
                    }
                    _ => Vec::new(),
                };
                let word = self.first_word(&["conflict"], start);
                let span = self.with_before(word, &["on"]);
                match &clause.action {
                    OnConflictAction::DoNothing => {
                        let end = self.first_word(&["nothing"], span);
                        Some(Conflict {
                            span: span.to(end),
                            keys,
                            action: ConflictAction::Nothing,
                            sets: Vec::new(),
                            filters: Vec::new(),
                        })
                    }
                    OnConflictAction::DoUpdate(update) => {
                        let sets = self.assigns(&update.assignments, None);
                        let filters = update
                            .selection
                            .as_ref()
                            .map_or_else(Vec::new, |expr| self.conjuncts(expr, None));
                        let span = sets.iter().fold(span, |span, set| span.to(set.span));
                        Some(Conflict { span, keys, action: ConflictAction::Update, sets, filters })
                    }
                }
            }
            _ => None,
        }
    }

    fn assigns(&mut self, list: &[ast::Assignment], parent: Option<QueryId>) -> Vec<Assign> {
        let mut sets = Vec::new();
        for assignment in list {
            let value = self.expr(&assignment.value, parent);
            match &assignment.target {
                AssignmentTarget::ColumnName(name) => {
                    let name = self.name(name);
                    let compound = self.is_compound(name.span, value.span);
                    sets.push(Assign {
                        span: name.span.to(value.span),
                        column: name.last().to_string(),
                        value,
                        compound,
                    });
                }
                AssignmentTarget::Tuple(names) => {
                    let values = match &value.kind {
                        ExprKind::Other(values) if values.len() == names.len() => Some(values.clone()),
                        _ => None,
                    };
                    for (index, name) in names.iter().enumerate() {
                        let name = self.name(name);
                        let value =
                            values.as_ref().and_then(|values| values.get(index)).unwrap_or(&value).clone();
                        sets.push(Assign {
                            span: name.span.to(value.span),
                            column: name.last().to_string(),
                            value,
                            compound: false,
                        });
                    }
                }
            }
        }
        sets
    }

    /// Whether `=` between column and value has an operator before it, which was blanked out for the parser.
    fn is_compound(&self, column: Span, value: Span) -> bool {
        let between = Span { start: column.end, end: value.start }.of(self.source.text);
        column.is_somewhere()
            && value.is_somewhere()
            && ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="].iter().any(|op| between.contains(op))
    }

    pub(super) fn update(&mut self, update: &ast::Update) -> Action {
        let mut filters = Vec::new();
        let mut sets = Vec::new();
        let scope = self.scope(|this, id| {
            let mut from = Vec::new();
            this.table_with_joins(&update.table, Join::First, id, &mut from);
            if let Some(UpdateTableFromKind::BeforeSet(tables) | UpdateTableFromKind::AfterSet(tables)) =
                &update.from
            {
                tables.iter().for_each(|table| this.table_with_joins(table, Join::First, id, &mut from));
            }
            filters = update.selection.as_ref().map_or_else(Vec::new, |expr| this.conjuncts(expr, Some(id)));
            sets = this.assigns(&update.assignments, Some(id));
            (from, filters.clone())
        });
        let (target, alias) = self.scope_target(scope);
        let head = self.place(update.update_token.0.span).to(self.factor_name(&update.table.relation));
        self.writes.push(Write {
            verb: Verb::Update,
            span: self.span,
            head,
            target,
            alias,
            scope: Some(scope),
            filters,
            sets,
            ..Write::empty()
        });
        Action::Write
    }

    fn factor_name(&self, factor: &TableFactor) -> Span {
        match factor {
            TableFactor::Table { name, .. } => self.name(name).span,
            _ => Span::NOWHERE,
        }
    }

    /// The target of UPDATE and DELETE: the first table; `UPDATE u SET … FROM t AS u` names an alias of
    /// another.
    fn scope_target(&mut self, scope: QueryId) -> (Name, Option<String>) {
        let Some(crate::ir::Body::Select(select)) =
            self.queries.get_mut(scope.0 as usize).map(|query| &mut query.body)
        else {
            return (Name::default(), None);
        };
        let Some(first) = select.from.first() else { return (Name::default(), None) };
        let Relation::Table(name) = &first.relation else { return (Name::default(), None) };
        let own = name.clone();
        let named = select.from.iter().skip(1).position(|from| {
            from.alias == own.last() && !matches!(&from.relation, Relation::Table(t) if *t == own)
        });
        if let (Some(at), 1) = (named, own.parts.len()) {
            select.from.remove(0);
            let real = select.from.remove(at);
            let target = match &real.relation {
                Relation::Table(name) => name.clone(),
                _ => own,
            };
            let alias = real.alias.clone();
            select.from.insert(0, real);
            return (target, Some(alias));
        }
        let alias = (first.alias != own.last()).then(|| first.alias.clone());
        (own, alias)
    }

    pub(super) fn delete(&mut self, delete: &ast::Delete) -> Action {
        let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
        let named = delete.tables.first().map(|name| self.name(name));
        let mut filters = Vec::new();
        let scope = self.scope(|this, id| {
            let mut from = Vec::new();
            if let Some(named) = &named {
                from.push(plain_from(named.last().to_string(), Relation::Table(named.clone()), named.span));
            }
            for table in tables.iter().chain(delete.using.iter().flatten()) {
                this.table_with_joins(table, Join::First, id, &mut from);
            }
            filters = delete.selection.as_ref().map_or_else(Vec::new, |expr| this.conjuncts(expr, Some(id)));
            (from, filters.clone())
        });
        let (target, alias) = self.scope_target(scope);
        let first = named
            .map(|name| name.span)
            .or_else(|| tables.first().map(|table| self.factor_name(&table.relation)));
        let start = self.place(delete.delete_token.0.span);
        let head = start.to(first.unwrap_or(Span::NOWHERE));
        let head = if start.is_somewhere() { head } else { self.head(target.span, &["delete"]) };
        let span = Span { start: head.start, end: self.span.end };
        self.writes.push(Write {
            verb: Verb::Delete,
            span,
            head,
            target,
            alias,
            scope: Some(scope),
            filters,
            ..Write::empty()
        });
        Action::Write
    }

    pub(super) fn truncate(&mut self, truncate: &ast::Truncate) -> Action {
        for table in &truncate.table_names {
            let target = self.name(&table.name);
            let head = self.head(target.span, &["truncate"]);
            let partition: Vec<(String, Option<Expr>)> =
                truncate.partitions.iter().flatten().filter_map(|expr| self.partition(expr)).collect();
            self.writes.push(Write {
                verb: Verb::Truncate,
                span: self.span,
                head,
                target,
                partition,
                ..Write::empty()
            });
        }
        Action::Write
    }

    pub(super) fn merge(&mut self, merge: &ast::Merge) -> Action {
        let mut source = None;
        let mut filters = Vec::new();
        let mut branches = Vec::new();
        let scope = self.scope(|this, id| {
            let mut from = Vec::new();
            this.factor(&merge.table, Join::First, id, &mut from);
            from.truncate(1);
            let alias = factor_alias(&merge.source);
            let query = this.factor_as_query(&merge.source, id);
            source = Some(query);
            let span = this.queries.get(query.0 as usize).map_or(Span::NOWHERE, |query| query.span);
            let mut item = plain_from(alias, Relation::Query(query), span);
            item.join = Join::Inner;
            from.push(item);
            filters = this.conjuncts(&merge.on, Some(id));
            branches = merge.clauses.iter().map(|clause| this.merge_branch(clause, id)).collect();
            (from, filters.clone())
        });
        self.close_branches(&mut branches);
        let (target, alias) = self.scope_target(scope);
        let head = self.place(merge.merge_token.0.span).to(self.factor_name(&merge.table));
        let span = Span { start: head.start, end: self.span.end };
        self.writes.push(Write {
            verb: Verb::Merge,
            span,
            head,
            target,
            alias,
            source,
            scope: Some(scope),
            filters,
            branches,
            ..Write::empty()
        });
        Action::Write
    }

    /// Each WHEN ends where the next begins.
    fn close_branches(&self, branches: &mut [Branch]) {
        let mut end = self.span.end;
        for branch in branches.iter_mut().rev() {
            let start = branch.span.start;
            let text = Span { start, end }.of(self.source.text);
            branch.span = Span::new(start as usize, start as usize + text.trim_end().len());
            end = start;
        }
    }

    fn merge_branch(&mut self, clause: &ast::MergeClause, scope: QueryId) -> Branch {
        let when = match clause.clause_kind {
            MergeClauseKind::Matched => When::Matched,
            MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => When::NotMatched,
            MergeClauseKind::NotMatchedBySource => When::NotMatchedBySource,
        };
        let parent = Some(scope);
        let mut filters =
            clause.predicate.as_ref().map_or_else(Vec::new, |expr| self.conjuncts(expr, parent));
        let action = match &clause.action {
            MergeAction::Insert(insert) => {
                let columns = insert.columns.iter().map(|name| self.name(name).last().to_string()).collect();
                if let Some(predicate) = &insert.insert_predicate {
                    filters.extend(self.conjuncts(predicate, parent));
                }
                match &insert.kind {
                    MergeInsertKind::Values(values) => {
                        let row =
                            values.rows.first().map_or_else(Vec::new, |row| self.exprs(&row.content, parent));
                        BranchAction::Insert(columns, row)
                    }
                    _ => BranchAction::InsertAll,
                }
            }
            MergeAction::Update(update) => {
                if let Some(predicate) = &update.update_predicate {
                    filters.extend(self.conjuncts(predicate, parent));
                }
                match &update.kind {
                    MergeUpdateKind::Set(assigns) => BranchAction::Update(self.assigns(assigns, parent)),
                    MergeUpdateKind::Wildcard => BranchAction::UpdateAll,
                }
            }
            MergeAction::Delete { .. } => BranchAction::Delete,
            MergeAction::DoNothing { .. } => BranchAction::Nothing,
        };
        Branch { span: self.place(clause.when_token.0.span), when, filters, action }
    }

    /// Whether the statement is to be read as one of a dialect whose temporary tables begin with `#`.
    pub(super) fn is_temporary(&self, name: &Name) -> bool {
        self.source.dialect == Dialect::TSql && name.last().starts_with('#')
    }
}

fn factor_alias(factor: &TableFactor) -> String {
    match factor {
        TableFactor::Table { alias, name, .. } => alias.as_ref().map_or_else(
            || {
                name.0.last().map_or_else(String::new, |part| {
                    part.to_string().trim_matches(['"', '`', '[', ']']).to_ascii_lowercase()
                })
            },
            |alias| alias.name.value.to_ascii_lowercase(),
        ),
        TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::TableFunction { alias, .. } => {
            alias.as_ref().map_or_else(String::new, |alias| alias.name.value.to_ascii_lowercase())
        }
        _ => String::new(),
    }
}

/// `ON DUPLICATE KEY UPDATE id = id`: the row stays as it is.
fn keeps_all(conflict: &Conflict, target: &Name, alias: Option<&str>) -> bool {
    let own = |qualifier: &str| qualifier == target.last() || Some(qualifier) == alias;
    let keeps = |set: &Assign| {
        !set.compound
            && set
                .value
                .column()
                .is_some_and(|(qualifier, name)| name == set.column && qualifier.is_none_or(own))
    };
    conflict.action == ConflictAction::Update && !conflict.sets.is_empty() && conflict.sets.iter().all(keeps)
}
