//! A write within its script: what was done to the target before and after, and in which transaction.

use crate::ir::{
    Action, AlterChange, Body, ConflictAction, ExprKind, Join, Name, Op, QueryId, Relation, Verb, Write,
};
use crate::script::Script;

use super::knowledge::Knowledge;
use super::view::View;

/// What a second run of a write does to what the first one wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Rows are added to what is there.
    Append,
    /// Rows are added to a table that this script has made, or emptied.
    Fresh,
    /// The rows in a scope are replaced.
    ReplaceSlice(Replaced),
    /// All rows are replaced.
    ReplaceAll(Replaced),
    /// A row that is there is replaced by key.
    Keyed,
    /// A row that is there stays.
    KeepFirst,
    /// Rows that are there are changed, or removed.
    Change,
    /// Nothing is stored.
    Nothing,
}

/// How rows are replaced.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replaced {
    /// The statement that removes them: an index into the script; none where the write itself does.
    pub by: Option<(usize, usize)>,
    /// Whether removal and write become visible together.
    pub atomic: bool,
}

/// The place of a write in its script.
#[derive(Clone, Copy)]
pub struct StatementContext<'a> {
    /// The script.
    pub script: &'a Script,
    /// What is known of tables.
    pub knowledge: &'a Knowledge,
    /// The statement's index.
    pub statement: usize,
    /// Whether the runner makes each script one transaction.
    pub atomic_scripts: bool,
}

impl<'a> StatementContext<'a> {
    /// What a second run of the write does.
    #[must_use]
    pub fn effect(&self, index: usize) -> Effect {
        let Some(write) =
            self.script.statements.get(self.statement).and_then(|statement| statement.writes.get(index))
        else {
            return Effect::Nothing;
        };
        let whole = || Replaced { by: None, atomic: true };
        match write.verb {
            Verb::Overwrite | Verb::ReplaceWhere => {
                if write.verb == Verb::Overwrite && write.partition.is_empty() {
                    Effect::ReplaceAll(whole())
                } else {
                    Effect::ReplaceSlice(whole())
                }
            }
            Verb::Model(model) => match model {
                crate::ir::ModelWrite::Slice
                | crate::ir::ModelWrite::OverwritePartitions
                | crate::ir::ModelWrite::DeleteInsert => Effect::ReplaceSlice(whole()),
                crate::ir::ModelWrite::Keyed => Effect::Keyed,
                crate::ir::ModelWrite::Full => Effect::ReplaceAll(whole()),
                crate::ir::ModelWrite::View => Effect::Nothing,
                crate::ir::ModelWrite::Append => Effect::Append,
            },
            Verb::CreateAs(creation) if creation.temporary => Effect::Fresh,
            Verb::CreateAs(_) => Effect::ReplaceAll(whole()),
            Verb::View { .. } => Effect::Nothing,
            Verb::Merge => Effect::Keyed,
            Verb::Update | Verb::Delete | Verb::Truncate => Effect::Change,
            Verb::Copy { remembers: true } => Effect::KeepFirst,
            Verb::Insert | Verb::Copy { .. } => match write.conflict.as_ref().map(|conflict| conflict.action)
            {
                Some(ConflictAction::Nothing) => Effect::KeepFirst,
                Some(_) => Effect::Keyed,
                None => self.inserted(write),
            },
        }
    }

    /// Whether the table that is written was made, or emptied, by this script before.
    #[must_use]
    pub fn is_fresh(&self, write: &Write) -> bool {
        self.inserted(write) == Effect::Fresh
    }

    fn inserted(&self, write: &Write) -> Effect {
        let own = self.script.statements.get(self.statement);
        let known_temporary = self.knowledge.table(&write.target).is_some_and(|facts| facts.temporary);
        let mut dropped = false;
        let mut swapped_out = false;
        let mut found = None;
        for at in self.script.index.before(write.target.last(), self.statement) {
            let Some(statement) = self.script.statements.get(at) else { continue };
            match &statement.action {
                // IF NOT EXISTS keeps what is there, but for a temporary table, which goes with its session.
                Action::Define(table)
                    if table.name.same(&write.target)
                        && (!table.creation.if_not_exists || table.creation.temporary) =>
                {
                    return Effect::Fresh;
                }
                Action::Drop { names, .. } => dropped |= names.iter().any(|name| name.same(&write.target)),
                Action::Alter(changes) => {
                    swapped_out |= changes.iter().any(|alter| match &alter.change {
                        AlterChange::Rename(_) | AlterChange::Swap(_) => alter.name.same(&write.target),
                        AlterChange::DropPartition => alter.name.same(&write.target),
                        _ => false,
                    });
                }
                _ => {}
            }
            if dropped || swapped_out {
                return Effect::Fresh;
            }
            for (index, other) in statement.writes.iter().enumerate().rev() {
                if !other.target.same(&write.target) {
                    continue;
                }
                match other.verb {
                    Verb::CreateAs(creation) if !creation.if_not_exists => return Effect::Fresh,
                    Verb::Truncate | Verb::Delete => {
                        let all = other.filters.is_empty() && other.partition.is_empty();
                        // Of several removals the one of the narrowest scope that is nearest counts.
                        if found.is_none() {
                            found =
                                Some((Replaced { by: Some((at, index)), atomic: self.together(at) }, all));
                        }
                    }
                    Verb::Overwrite | Verb::ReplaceWhere if found.is_none() => {
                        found = Some((
                            Replaced { by: Some((at, index)), atomic: self.together(at) },
                            other.partition.is_empty() && other.filters.is_empty(),
                        ));
                    }
                    _ => {}
                }
            }
        }
        // A CTE of the same statement that deletes: `WITH gone AS (DELETE …) INSERT …`.
        let in_statement = own.and_then(|own| {
            own.writes.iter().position(|other| other.verb == Verb::Delete && other.target.same(&write.target))
        });
        if let Some(index) = in_statement {
            return Effect::ReplaceSlice(Replaced { by: Some((self.statement, index)), atomic: true });
        }
        if self.overwrites_by_setting() {
            return Effect::ReplaceSlice(Replaced { by: None, atomic: true });
        }
        match found {
            Some((replaced, true)) => Effect::ReplaceAll(replaced),
            Some((replaced, false)) => Effect::ReplaceSlice(replaced),
            None if known_temporary || (write.target.last().starts_with('#')) => Effect::Fresh,
            None => Effect::Append,
        }
    }

    /// Trino's Hive connector can be told to overwrite the partitions that an INSERT writes to.
    fn overwrites_by_setting(&self) -> bool {
        let mut before = self.script.index.sessions.iter().filter(|at| **at < self.statement);
        before.any(|at| {
            let Some(statement) = self.script.statements.get(*at) else { return false };
            let Action::Session { value, .. } = &statement.action else { return false };
            let value = value.to_ascii_lowercase();
            value.contains("insert_existing_partitions_behavior") && value.contains("overwrite")
        })
    }

    /// Whether a statement and this one become visible together.
    #[must_use]
    pub fn together(&self, other: usize) -> bool {
        let (Some(a), Some(b)) =
            (self.script.statements.get(other), self.script.statements.get(self.statement))
        else {
            return false;
        };
        self.atomic_scripts || (a.transaction.is_some() && a.transaction == b.transaction)
    }

    /// Whether what is written is taken away, emptied or moved elsewhere later in the script: a stage.
    #[must_use]
    pub fn is_stage(&self, write: &Write) -> bool {
        let index = &self.script.index;
        if index.partitions.last().is_some_and(|at| *at > self.statement) {
            return true;
        }
        let mut after =
            index.after(write.target.last(), self.statement).filter_map(|at| self.script.statements.get(at));
        after.any(|statement| match &statement.action {
            Action::Drop { names, .. } => names.iter().any(|name| name.same(&write.target)),
            Action::Alter(changes) => changes.iter().any(|alter| match &alter.change {
                AlterChange::Rename(to) => alter.name.same(&write.target) || (to.same(&write.target)),
                AlterChange::Swap(to) => alter.name.same(&write.target) || to.same(&write.target),
                _ => false,
            }),
            _ => statement.writes.iter().any(|other| {
                other.target.same(&write.target)
                    && (other.verb == Verb::Truncate
                        || (other.verb == Verb::Delete
                            && other.filters.is_empty()
                            && other.partition.is_empty()))
            }),
        })
    }

    /// Whether the target keeps a log of runs: its name says so.
    #[must_use]
    pub fn is_log(&self, target: &Name) -> bool {
        let name = target.last();
        let words: Vec<&str> = name.split(['_', '-']).collect();
        let operational = [
            "log",
            "logs",
            "audit",
            "audits",
            "runs",
            "job",
            "jobs",
            "batch",
            "batches",
            "checkpoint",
            "checkpoints",
            "heartbeat",
            "lock",
            "locks",
            "watermark",
            "watermarks",
            "etl",
            "logging",
            "journal",
            "migrations",
            "manifest",
            "invocations",
            "errors",
            "idempotency",
            "dedup",
        ];
        let last_matters = words.last().is_some_and(|last| {
            operational.contains(last)
                || *last == "run"
                || *last == "history"
                    && words.iter().any(|word| ["run", "job", "load", "etl", "batch"].contains(word))
        });
        // `RunLog` is folded to one word; a catalog, a dialog and a backlog are no logs.
        let joined = name.ends_with("log")
            && !["catalog", "dialog", "backlog", "blog", "analog"].iter().any(|word| name.ends_with(word));
        last_matters
            || joined
            || (words.len() > 1
                && words.iter().any(|word| ["etl", "job", "batch", "audit", "lock"].contains(word))
                && words.iter().any(|word| {
                    ["log", "run", "runs", "status", "state", "control", "history"].contains(word)
                }))
    }
}

/// How a query reads the table that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SelfRead {
    /// Rows of it are read.
    Rows,
    /// NOT EXISTS, NOT IN, LEFT JOIN … IS NULL, EXCEPT.
    AntiJoin,
    /// `(SELECT max(ts) FROM t)`.
    Watermark,
    /// EXISTS, IN: which keys are there.
    Presence,
}

impl<'a> View<'a> {
    /// All reads of the target by a write's source, each with its place.
    #[must_use]
    pub fn self_reads(&self, write: &'a Write) -> Vec<(SelfRead, crate::text::Span)> {
        write.source.map(|source| self.reads_of(source, &write.target)).unwrap_or_default()
    }

    /// All reads of a table by a query, each with its place.
    #[must_use]
    pub fn reads_of(&self, source: QueryId, table: &Name) -> Vec<(SelfRead, crate::text::Span)> {
        let tables = self.tables(source).into_iter().filter(|(_, _, name)| name.surely_same(table));
        tables.map(|(id, from, _)| self.judge_read(source, id, from)).collect()
    }

    fn judge_read(
        &self,
        root: QueryId,
        id: QueryId,
        from: &crate::ir::From,
    ) -> (SelfRead, crate::text::Span) {
        if let Some(place) = self.left_join_null(id, from) {
            return (SelfRead::AntiJoin, place);
        }
        if from.join == Join::Anti {
            return (SelfRead::AntiJoin, from.span);
        }
        if let Some(place) = self.excepted(id) {
            return (SelfRead::AntiJoin, place);
        }
        let only_max = self.is_watermark(id);
        if let Some((ask, place)) = self.asked(root, id) {
            return match ask {
                crate::ir::Ask::NotExists | crate::ir::Ask::NotIn => (SelfRead::AntiJoin, place),
                crate::ir::Ask::Exists | crate::ir::Ask::In => (SelfRead::Presence, place),
                _ if only_max => (SelfRead::Watermark, place),
                _ => (SelfRead::Rows, from.span),
            };
        }
        if only_max { (SelfRead::Watermark, from.span) } else { (SelfRead::Rows, from.span) }
    }

    /// `LEFT JOIN t … WHERE t.k IS NULL`, directly or through a CTE.
    fn left_join_null(&self, id: QueryId, from: &crate::ir::From) -> Option<crate::text::Span> {
        let mut places = vec![(id, from.alias.clone())];
        for (other, _) in self.queries() {
            let Some(select) = self.select(other) else { continue };
            for item in &select.from {
                if matches!(&item.relation, Relation::Query(inner) if *inner == id) {
                    places.push((other, item.alias.clone()));
                }
            }
        }
        for (query, alias) in places {
            let Some(select) = self.select(query) else { continue };
            let Some(at) = select
                .from
                .iter()
                .position(|item| item.alias == alias && matches!(item.join, Join::Left | Join::Full))
            else {
                continue;
            };
            for condition in &select.filters {
                let ExprKind::Op(Op::IsNull, args) = &condition.kind else { continue };
                let of_it = args.first().is_some_and(|arg| match self.source(query, arg) {
                    super::view::ColumnSource::From { query: id, from, .. } => id == query && from == at,
                    _ => arg.column().is_some_and(|(qualifier, _)| qualifier == Some(alias.as_str())),
                });
                if of_it {
                    return Some(condition.span);
                }
            }
        }
        None
    }

    /// The right branch of EXCEPT, through plain selects.
    fn excepted(&self, id: QueryId) -> Option<crate::text::Span> {
        self.queries().find_map(|(_, query)| match &query.body {
            Body::Set { op: crate::ir::SetOp::Except, right, span, .. }
                if *right == id || self.reachable(*right).contains(&id) =>
            {
                Some(*span)
            }
            _ => None,
        })
    }

    /// Whether a query gives only the greatest of something, perhaps by key.
    fn is_watermark(&self, id: QueryId) -> bool {
        let Some(select) = self.select(id) else { return false };
        let is_max = |expr: &crate::ir::Expr| {
            expr.any(&mut |part| matches!(&part.kind, ExprKind::Call(call) if call.name == "max" && call.over.is_none()))
        };
        let by_max = !select.items.is_empty()
            && select
                .items
                .iter()
                .all(|item| matches!(item, crate::ir::Item::Expr { expr, .. } if is_max(expr)));
        let query = self.query(id);
        let by_order = query.limit.is_some()
            && query.order.first().is_some_and(|sort| sort.descending)
            && select.items.len() == 1
            && matches!(query.place, crate::ir::Place::Nested(_));
        by_max || by_order
    }

    /// What the nearest expression around asks of a query, through FROM.
    fn asked(&self, root: QueryId, id: QueryId) -> Option<(crate::ir::Ask, crate::text::Span)> {
        let mut at = id;
        for _ in 0..20 {
            if let crate::ir::Place::Nested(ask) = self.query(at).place {
                return Some((ask, self.place_of(at)));
            }
            if at == root {
                return None;
            }
            let reader = self.queries().find(|(other, _)| {
                *other != at
                    && (self.select(*other).is_some_and(|select| select
                            .from.iter().any(|from| matches!(&from.relation, Relation::Query(inner) if *inner == at)))
                        || matches!(&self.query(*other).body, Body::Set { left, right, .. } if *left == at || *right == at))
            });
            at = reader?.0;
        }
        None
    }

    /// The expression that holds a query.
    fn place_of(&self, id: QueryId) -> crate::text::Span {
        let mut place = self.query(id).span;
        let mut look = |expr: &crate::ir::Expr| {
            expr.walk(&mut |part| {
                if matches!(&part.kind, ExprKind::Subquery { query, .. } if *query == id) {
                    place = part.span;
                }
            });
        };
        for (other, _) in self.queries() {
            self.each_expr(other, &mut look);
        }
        place
    }
}
