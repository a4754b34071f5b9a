//! Lowering of what stands in FROM: tables, subqueries, functions, joins.

use sqlparser::ast::{self, JoinConstraint, JoinOperator, TableFactor, TableSampleKind, TableWithJoins};

use crate::ir::{
    Body, Call, Expr, ExprKind, From, Item, Join, Literal, Place, QueryId, Relation, Sample, Select,
};
use crate::text::Span;

use super::Lowering;

impl Lowering<'_> {
    pub(super) fn table_with_joins(
        &mut self,
        table: &TableWithJoins,
        join: Join,
        id: QueryId,
        from: &mut Vec<From>,
    ) {
        self.factor(&table.relation, join, id, from);
        for joined in &table.joins {
            let (kind, constraint) = join_kind(&joined.join_operator);
            let before = from.len();
            self.factor(&joined.relation, kind, id, from);
            let Some(constraint) = constraint else { continue };
            let (on, using) = match constraint {
                JoinConstraint::On(expr) => (self.conjuncts(expr, Some(id)), Vec::new()),
                JoinConstraint::Using(names) | JoinConstraint::UsingAlias(names, _) => {
                    (Vec::new(), names.iter().map(|name| self.name(name).last().to_string()).collect())
                }
                _ => (Vec::new(), Vec::new()),
            };
            if let Some(first) = from.get_mut(before) {
                first.on = on;
                first.using = using;
            }
        }
    }

    pub(super) fn factor(&mut self, factor: &TableFactor, join: Join, id: QueryId, from: &mut Vec<From>) {
        let mut item = match factor {
            TableFactor::Table { name, alias, args, sample, version, .. } => {
                self.table(name, alias.as_ref(), args.as_ref(), sample.as_ref(), version.as_ref(), id)
            }
            TableFactor::Derived { subquery, alias, sample, .. } => {
                let name = alias.as_ref().map(|alias| alias.name.value.to_ascii_lowercase());
                let query = self.query(subquery, Place::Derived, Some(id), name.clone());
                self.slot(query).columns = alias.as_ref().map_or_else(Vec::new, columns);
                let span = self.slot(query).span;
                let mut item = plain_from(name.unwrap_or_default(), Relation::Query(query), span);
                item.sample = sample.as_ref().map(|sample| self.sample(sample, id));
                item
            }
            TableFactor::TableFunction { expr, alias } => {
                let expr = self.expr(expr, Some(id));
                let span = expr.span;
                let relation = match expr.kind {
                    ExprKind::Call(call) => Relation::Function(call),
                    kind => Relation::Unnest(vec![Expr { span, kind }]),
                };
                plain_from(alias_of(alias.as_ref()), relation, span)
            }
            TableFactor::Function { name, args, alias, .. } => {
                let name = self.name(name);
                let mut call = Call { name: name.text(), ..Call::default() };
                self.function_args(&mut call, args, Some(id));
                plain_from(
                    alias_of(alias.as_ref()),
                    Relation::Function(Box::new(call)),
                    self.call_span(name.span),
                )
            }
            TableFactor::UNNEST { alias, array_exprs, .. } => {
                let list = self.exprs(array_exprs, Some(id));
                let span = list.iter().fold(Span::NOWHERE, |span, expr| span.to(expr.span));
                plain_from(alias_of(alias.as_ref()), Relation::Unnest(list), span)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                let before = from.len();
                self.table_with_joins(table_with_joins, Join::First, id, from);
                if let Some(first) = from.get_mut(before) {
                    first.join = join;
                }
                return;
            }
            TableFactor::Pivot { table, alias, .. }
            | TableFactor::Unpivot { table, alias, .. }
            | TableFactor::MatchRecognize { table, alias, .. } => {
                let inner = self.factor_as_query(table, id);
                plain_from(alias_of(alias.as_ref()), Relation::Other(vec![inner]), Span::NOWHERE)
            }
            TableFactor::JsonTable { json_expr, alias, .. }
            | TableFactor::OpenJsonTable { json_expr, alias, .. } => {
                let list = vec![self.expr(json_expr, Some(id))];
                plain_from(alias_of(alias.as_ref()), Relation::Unnest(list), Span::NOWHERE)
            }
            _ => plain_from(String::new(), Relation::Other(Vec::new()), Span::NOWHERE),
        };
        item.join = join;
        from.push(item);
    }

    /// A table or subquery as a query of its own: `SELECT * FROM it`.
    pub(super) fn factor_as_query(&mut self, factor: &TableFactor, parent: QueryId) -> QueryId {
        if let TableFactor::Derived { subquery, alias, .. } = factor {
            let name = alias.as_ref().map(|alias| alias.name.value.to_ascii_lowercase());
            let id = self.query(subquery, Place::Derived, Some(parent), name);
            self.slot(id).columns = alias.as_ref().map_or_else(Vec::new, columns);
            return id;
        }
        let id = self.reserve(Place::Derived, Some(parent), None);
        let mut from = Vec::new();
        self.factor(factor, Join::First, id, &mut from);
        let span = from.first().map_or(Span::NOWHERE, |from| from.span);
        let select = Select { span, items: vec![star_item(span)], from, ..Select::default() };
        let slot = self.slot(id);
        slot.span = span;
        slot.body = Body::Select(Box::new(select));
        id
    }

    fn table(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
        args: Option<&ast::TableFunctionArgs>,
        sample: Option<&TableSampleKind>,
        version: Option<&ast::TableVersion>,
        id: QueryId,
    ) -> From {
        let name = self.name(name);
        let own = if alias.is_some() { alias_of(alias) } else { name.last().to_string() };
        let span = if args.is_some() { self.call_span(name.span) } else { name.span };
        let relation = if let Some(args) = args {
            let mut call = Call { name: name.text(), ..Call::default() };
            self.function_args(&mut call, &args.args, Some(id));
            Relation::Function(Box::new(call))
        } else if let [single] = name.parts.as_slice() {
            match self.ctes.iter().rev().find_map(|scope| scope.get(single)) {
                Some(query) => Relation::Query(*query),
                None => Relation::Table(name),
            }
        } else {
            Relation::Table(name)
        };
        let mut item = plain_from(own, relation, span);
        item.sample = sample.map(|sample| self.sample(sample, id));
        item.as_of = version.and_then(|version| match version {
            ast::TableVersion::ForSystemTimeAsOf(expr)
            | ast::TableVersion::TimestampAsOf(expr)
            | ast::TableVersion::Function(expr) => Some(Box::new(self.expr(expr, Some(id)))),
            _ => None,
        });
        let after = self.source.lexed.index_at(alias.map_or(span, |alias| self.place(alias.name.span)).end);
        item.modifier = if version.is_some() {
            Some("version".to_string())
        } else if self.token_is(after, &["final"]) {
            Some("final".to_string())
        } else {
            None
        };
        item
    }

    fn sample(&mut self, sample: &TableSampleKind, id: QueryId) -> Sample {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = sample;
        let value = sample.quantity.as_ref().map(|quantity| self.expr(&quantity.value, Some(id)));
        let bucket = sample.bucket.is_some();
        let whole = matches!(value.as_ref().map(|v| &v.kind), Some(ExprKind::Literal(Literal::Number(n))) if n == "100")
            && !sample.quantity.as_ref().is_some_and(|q| matches!(q.unit, Some(ast::TableSampleUnit::Rows)));
        let inner = value.map_or(Span::NOWHERE, |value| value.span);
        let names = &["tablesample", "sample", "using", "system", "bernoulli", "reservoir", "row", "block"];
        let inner = self.with_after(inner, &["percent", "rows"]);
        let span = self.with_before(self.with_close(self.with_parens(inner), b'%'), names);
        let span = self.with_group_after(span, &["repeatable", "seed"]);
        Sample { span, seeded: sample.seed.is_some() || bucket, whole }
    }
}

pub(super) fn columns(alias: &ast::TableAlias) -> Vec<String> {
    alias.columns.iter().map(|column| column.name.value.to_ascii_lowercase()).collect()
}

fn alias_of(alias: Option<&ast::TableAlias>) -> String {
    alias.map_or_else(String::new, |alias| alias.name.value.to_ascii_lowercase())
}

pub(super) fn plain_from(alias: String, relation: Relation, span: Span) -> From {
    From {
        span,
        alias,
        relation,
        join: Join::First,
        on: Vec::new(),
        using: Vec::new(),
        sample: None,
        modifier: None,
        as_of: None,
    }
}

pub(super) fn star_item(span: Span) -> Item {
    Item::Star { span, qualifier: None, except: Vec::new(), replace: Vec::new() }
}

fn join_kind(operator: &JoinOperator) -> (Join, Option<&JoinConstraint>) {
    match operator {
        JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::StraightJoin(on) => {
            (Join::Inner, Some(on))
        }
        JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (Join::Left, Some(on)),
        JoinOperator::Right(on) | JoinOperator::RightOuter(on) => (Join::Right, Some(on)),
        JoinOperator::FullOuter(on) => (Join::Full, Some(on)),
        JoinOperator::CrossJoin(on) => (Join::Cross, Some(on)),
        JoinOperator::Semi(on) | JoinOperator::LeftSemi(on) | JoinOperator::RightSemi(on) => {
            (Join::Semi, Some(on))
        }
        JoinOperator::Anti(on) | JoinOperator::LeftAnti(on) | JoinOperator::RightAnti(on) => {
            (Join::Anti, Some(on))
        }
        JoinOperator::AsOf { constraint, .. } => (Join::Left, Some(constraint)),
        JoinOperator::CrossApply
        | JoinOperator::OuterApply
        | JoinOperator::ArrayJoin
        | JoinOperator::LeftArrayJoin
        | JoinOperator::InnerArrayJoin => (Join::Cross, None),
    }
}
