//! Lowering of queries.

use std::collections::HashMap;

use sqlparser::ast::{
    self, Distinct as AstDistinct, ExcludeSelectItem, GroupByExpr, JoinConstraint, JoinOperator, LimitClause,
    NamedWindowExpr, OrderByKind, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator,
    SetQuantifier, TableFactor, TableSampleKind, TableWithJoins, TopQuantity,
};

use crate::dialect::Dialect;
use crate::ir::{
    Action, Body, Call, Creation, Distinct, Expr, ExprKind, From, Group, Item, Join, Limit, Literal, Place,
    Query, QueryId, Relation, Sample, Select, SetOp, Sort, Verb, Window, Write,
};
use crate::text::Span;

use super::Lowering;

type Parent = Option<QueryId>;

impl Lowering<'_> {
    /// The query of a statement: rows for the client, or a write with CTEs before it.
    pub(super) fn root_query(&mut self, query: &ast::Query) -> Action {
        match &*query.body {
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => {
                let scope = self.with(query.with.as_ref(), None);
                self.ctes.push(scope);
                let action = self.action(statement);
                self.ctes.pop();
                action
            }
            _ => {
                let id = self.query(query, Place::Root, None, None);
                if self.writes.iter().any(|write| write.source == Some(id))
                    || self.writes.iter().any(|write| write.in_cte)
                {
                    return Action::Write;
                }
                let into = query
                    .body
                    .as_select()
                    .and_then(|select| select.into.as_ref())
                    .and_then(|into| into.targets.first());
                if let Some(target) = into {
                    let name = self
                        .span_of(target)
                        .of(self.source.text)
                        .trim_start_matches(['@', ':'])
                        .to_ascii_lowercase();
                    let value = Expr {
                        span: self.span,
                        kind: ExprKind::Subquery { query: id, ask: crate::ir::Ask::Scalar, expr: None },
                    };
                    return Action::Variable { name, value: Some(value) };
                }
                Action::Select(id)
            }
        }
    }

    fn reserve(&mut self, place: Place, parent: Parent, name: Option<String>) -> QueryId {
        let id = QueryId(u32::try_from(self.queries.len()).unwrap_or(u32::MAX));
        self.queries.push(Query {
            span: Span::NOWHERE,
            name,
            parent,
            place,
            body: Body::Opaque,
            order: Vec::new(),
            order_span: Span::NOWHERE,
            limit: None,
            columns: Vec::new(),
            recursive: false,
        });
        id
    }

    fn slot(&mut self, id: QueryId) -> &mut Query {
        &mut self.queries[id.0 as usize]
    }

    /// Lowers the CTEs; gives their names.
    fn with(&mut self, with: Option<&ast::With>, parent: Parent) -> HashMap<String, QueryId> {
        self.ctes.push(HashMap::new());
        for cte in with.iter().flat_map(|with| &with.cte_tables) {
            let name = cte.alias.name.value.to_ascii_lowercase();
            let columns = columns(&cte.alias);
            if let SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) = &*cte.query.body
            {
                let before = self.writes.len();
                self.action(statement);
                self.writes.iter_mut().skip(before).for_each(|write| write.in_cte = true);
                let id = self.reserve(Place::Cte, parent, Some(name.clone()));
                self.ctes.last_mut().map(|scope| scope.insert(name, id));
                continue;
            }
            let recursive = with.is_some_and(|with| with.recursive);
            let id = self.reserve(Place::Cte, parent, Some(name.clone()));
            if recursive {
                self.ctes.last_mut().map(|scope| scope.insert(name.clone(), id));
            }
            self.query_into(id, &cte.query);
            let reads_itself = recursive && self.queries.iter().any(|query| reads(query, id));
            let slot = self.slot(id);
            slot.columns = columns;
            slot.recursive = reads_itself;
            self.ctes.last_mut().map(|scope| scope.insert(name, id));
        }
        self.ctes.pop().unwrap_or_default()
    }

    pub(super) fn query(
        &mut self,
        query: &ast::Query,
        place: Place,
        parent: Parent,
        name: Option<String>,
    ) -> QueryId {
        let id = self.reserve(place, parent, name);
        self.query_into(id, query);
        id
    }

    fn query_into(&mut self, id: QueryId, query: &ast::Query) {
        let parent = self.slot(id).parent;
        let scope = self.with(query.with.as_ref(), parent);
        self.ctes.push(scope);
        let (body, limit, span) = self.body(&query.body, id);
        let mut order = match query.order_by.as_ref().map(|order| &order.kind) {
            Some(OrderByKind::Expressions(list)) => self.sorts(list, Some(id)),
            _ => Vec::new(),
        };
        let order_span = match (order.first(), order.last()) {
            (Some(first), Some(last)) => {
                let start = self.with_before(first.expr.span, &["order", "by"]);
                let end = self.with_after(last.expr.span, &["asc", "desc", "nulls", "first", "last"]);
                start.to(end)
            }
            _ => Span::NOWHERE,
        };
        if let Body::Select(select) = &body {
            ordinals_in_order(&mut order, &select.items);
        }
        let limit = self.limit(query, id).or(limit);
        self.ctes.pop();
        let slot = self.slot(id);
        slot.span = span;
        slot.body = if query.pipe_operators.is_empty() { body } else { Body::Opaque };
        slot.order = order;
        slot.order_span = order_span;
        slot.limit = limit;
    }

    fn body(&mut self, body: &SetExpr, id: QueryId) -> (Body, Option<Limit>, Span) {
        match body {
            SetExpr::Select(select) => {
                let first = self.place(select.select_token.0.span);
                let span = self.query_span(first);
                let (select, limit) = self.select(select, id, span);
                (Body::Select(Box::new(select)), limit, span)
            }
            SetExpr::Query(inner) => {
                let parent = self.slot(id).parent;
                let inner = self.query(inner, Place::Derived, parent, None);
                let span = self.slot(inner).span;
                (Body::Select(Box::new(pass_through(inner, span))), None, span)
            }
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let (left, right) = (self.branch(left, id), self.branch(right, id));
                let op = match op {
                    SetOperator::Union => SetOp::Union,
                    SetOperator::Except | SetOperator::Minus => SetOp::Except,
                    SetOperator::Intersect => SetOp::Intersect,
                };
                let all = matches!(set_quantifier, SetQuantifier::All | SetQuantifier::AllByName);
                let span = self.slot(left).span;
                let of_right = self.slot(right).span;
                let from_op =
                    self.with_before(of_right, &["except", "minus", "union", "intersect", "all", "distinct"]);
                (Body::Set { op, all, span: from_op, left, right }, None, span)
            }
            SetExpr::Values(values) => {
                let parent = self.slot(id).parent;
                let span =
                    values.rows.first().map_or(Span::NOWHERE, |row| self.place(row.opening_token.0.span));
                let rows = values.rows.iter().map(|row| self.exprs(&row.content, parent)).collect();
                (Body::Values(rows), None, span)
            }
            SetExpr::Table(table) => {
                let parts = [table.schema_name.clone(), table.table_name.clone()]
                    .into_iter()
                    .flatten()
                    .map(|p| p.value.to_ascii_lowercase());
                let name = crate::ir::Name { parts: parts.collect(), span: Span::NOWHERE };
                let from = plain_from(name.last().to_string(), Relation::Table(name.clone()), Span::NOWHERE);
                (Body::Select(Box::new(star_of(from))), None, Span::NOWHERE)
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => {
                self.action(statement);
                (Body::Opaque, None, Span::NOWHERE)
            }
        }
    }

    /// A branch of a set operation; chains lean to the left and may be long.
    fn branch(&mut self, body: &SetExpr, id: QueryId) -> QueryId {
        let parent = self.slot(id).parent;
        if let SetExpr::Query(inner) = body {
            return self.query(inner, Place::Branch, parent, None);
        }
        let branch = self.reserve(Place::Branch, parent, None);
        let (body, limit, span) = self.body(body, branch);
        let slot = self.slot(branch);
        slot.span = span;
        slot.body = body;
        slot.limit = limit;
        branch
    }

    fn limit(&mut self, query: &ast::Query, id: QueryId) -> Option<Limit> {
        let words =
            &["limit", "offset", "fetch", "first", "next", "rows", "row", "only", "with", "ties", "percent"];
        if let Some(fetch) = &query.fetch {
            let count = fetch.quantity.as_ref().map(|expr| self.expr(expr, Some(id)));
            let span = count.as_ref().map_or(self.span, |count| count.span);
            let span = self.with_after(self.with_before(span, &["fetch", "first", "next"]), words);
            return Some(Limit {
                span,
                count,
                offset: None,
                with_ties: fetch.with_ties,
                percent: fetch.percent,
                by: Vec::new(),
            });
        }
        let (limit, offset, by) = match query.limit_clause.as_ref()? {
            LimitClause::LimitOffset { limit, offset, limit_by } => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value), limit_by.as_slice())
            }
            LimitClause::OffsetCommaLimit { offset, limit } => (Some(limit), Some(offset), &[] as &[_]),
        };
        let count = limit.map(|expr| self.expr(expr, Some(id)));
        let offset = offset.map(|expr| self.expr(expr, Some(id)));
        let by = self.exprs(by, Some(id));
        let inner = count.as_ref().or(offset.as_ref()).map_or(Span::NOWHERE, |expr| expr.span);
        let span = self.with_before(inner, words);
        let span = by.iter().fold(span, |span, expr| span.to(expr.span));
        if count.is_none() && offset.is_none() && by.is_empty() {
            return None;
        }
        Some(Limit { span, count, offset, with_ties: false, percent: false, by })
    }

    fn top(&mut self, top: &ast::Top, id: QueryId, select: Span) -> Option<Limit> {
        let index = self.source.lexed.index_at(select.start);
        let at = (index..index + 5).find(|at| self.token_is(*at, &["top"]))?;
        let tokens = &self.source.lexed.tokens;
        let mut end = at + 1;
        if let Some(close) = tokens.get(end).and_then(|token| token.mate) {
            end = close as usize;
        }
        while self.token_is(end + 1, &["percent", "with", "ties"]) {
            end += 1;
        }
        let span = tokens.get(at)?.span.to(tokens.get(end)?.span);
        let count = match top.quantity.as_ref()? {
            TopQuantity::Expr(expr) => self.expr(expr, Some(id)),
            TopQuantity::Constant(count) => {
                Expr { span, kind: ExprKind::Literal(Literal::Number(count.to_string())) }
            }
        };
        Some(Limit {
            span,
            count: Some(count),
            offset: None,
            with_ties: top.with_ties,
            percent: top.percent,
            by: Vec::new(),
        })
    }

    fn select(&mut self, select: &ast::Select, id: QueryId, span: Span) -> (Select, Option<Limit>) {
        let parent = Some(id);
        let mut from = Vec::new();
        for table in &select.from {
            self.table_with_joins(table, Join::First, id, &mut from);
        }
        self.windows.push(select.named_window.clone());
        let items: Vec<Item> = select.projection.iter().flat_map(|item| self.item(item, parent)).collect();
        let mut filters = Vec::new();
        for condition in select.prewhere.iter().chain(&select.selection) {
            filters.extend(self.conjuncts(condition, parent));
        }
        for view in &select.lateral_views {
            let call = self.expr(&view.lateral_view, parent);
            from.push(plain_from(
                view.lateral_view_name.to_string().to_ascii_lowercase(),
                Relation::Unnest(vec![call]),
                Span::NOWHERE,
            ));
        }
        let distinct = match &select.distinct {
            Some(AstDistinct::Distinct) => Distinct::Rows,
            Some(AstDistinct::On(list)) => {
                let list = self.exprs(list, parent);
                let inner = list.iter().fold(Span::NOWHERE, |span, expr| span.to(expr.span));
                let span = self.with_before(self.with_parens(inner), &["on", "distinct"]);
                Distinct::On(list, span)
            }
            _ => Distinct::No,
        };
        let group = self.group(&select.group_by, parent, &items);
        let having = select.having.as_ref().map_or_else(Vec::new, |expr| self.conjuncts(expr, parent));
        let qualify = select.qualify.as_ref().map_or_else(Vec::new, |expr| self.conjuncts(expr, parent));
        let mut spread = self.exprs(&select.distribute_by, parent);
        spread.extend(self.exprs(&select.cluster_by, parent));
        self.windows.pop();
        let limit = select.top.as_ref().and_then(|top| self.top(top, id, span));
        if let Some(into) = &select.into {
            self.select_into(into, id);
        }
        (Select { span, distinct, items, from, filters, group, having, qualify, spread }, limit)
    }

    /// SELECT … INTO t; in a routine the targets are variables, but not in T-SQL.
    fn select_into(&mut self, into: &ast::SelectInto, id: QueryId) {
        if self.routine && self.source.dialect != Dialect::TSql {
            return;
        }
        let Some(target) = into.targets.first() else { return };
        let span = self.span_of(target);
        let text = span.of(self.source.text).to_ascii_lowercase();
        if text.is_empty()
            || text.starts_with('@')
            || text.starts_with(':')
            || self.source.dialect == Dialect::MySql
        {
            return;
        }
        let name = crate::ir::Name {
            parts: text.split('.').map(|p| p.trim_matches(['[', ']', '"', '`']).to_string()).collect(),
            span,
        };
        let temporary = into.temporary || text.starts_with('#');
        let verb = Verb::CreateAs(Creation { temporary, ..Creation::default() });
        let head = self.head(span, &["into"]);
        self.writes.push(Write {
            verb,
            span: self.span,
            head,
            target: name,
            source: Some(id),
            ..Write::empty()
        });
    }

    fn group(&mut self, group: &GroupByExpr, parent: Parent, items: &[Item]) -> Group {
        match group {
            GroupByExpr::All(_) => Group::All,
            GroupByExpr::Expressions(list, modifiers) => {
                if list.is_empty() {
                    return Group::No;
                }
                let sets = !modifiers.is_empty()
                    || list.iter().any(|expr| {
                        matches!(expr, ast::Expr::Rollup(_) | ast::Expr::Cube(_) | ast::Expr::GroupingSets(_))
                    });
                let mut list = self.exprs(list, parent);
                list.iter_mut().for_each(|expr| ordinal(expr, items));
                if sets { Group::Sets(list) } else { Group::By(list) }
            }
        }
    }

    fn item(&mut self, item: &SelectItem, parent: Parent) -> Vec<Item> {
        match item {
            SelectItem::UnnamedExpr(expr) => vec![Item::Expr { expr: self.expr(expr, parent), alias: None }],
            SelectItem::ExprWithAlias { expr, alias } => {
                vec![Item::Expr {
                    expr: self.expr(expr, parent),
                    alias: Some(alias.value.to_ascii_lowercase()),
                }]
            }
            SelectItem::ExprWithAliases { expr, aliases } => {
                let expr = self.expr(expr, parent);
                aliases
                    .iter()
                    .map(|alias| Item::Expr {
                        expr: expr.clone(),
                        alias: Some(alias.value.to_ascii_lowercase()),
                    })
                    .collect()
            }
            SelectItem::QualifiedWildcard(kind, options) => {
                let (span, qualifier) = match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        let name = self.name(name);
                        (name.span, Some(name.last().to_string()))
                    }
                    SelectItemQualifiedWildcardKind::Expr(expr) => (self.span_of(expr), Some(String::new())),
                };
                vec![self.star(
                    span.to(self.place(options.wildcard_token.0.span)),
                    qualifier,
                    options,
                    parent,
                )]
            }
            SelectItem::Wildcard(options) => {
                vec![self.star(self.place(options.wildcard_token.0.span), None, options, parent)]
            }
        }
    }

    fn star(
        &mut self,
        span: Span,
        qualifier: Option<String>,
        options: &ast::WildcardAdditionalOptions,
        parent: Parent,
    ) -> Item {
        let mut except = Vec::new();
        match &options.opt_exclude {
            Some(ExcludeSelectItem::Single(name)) => except.push(self.name(name).last().to_string()),
            Some(ExcludeSelectItem::Multiple(names)) => {
                except.extend(names.iter().map(|name| self.name(name).last().to_string()))
            }
            None => {}
        }
        if let Some(list) = &options.opt_except {
            except.push(list.first_element.value.to_ascii_lowercase());
            except.extend(list.additional_elements.iter().map(|ident| ident.value.to_ascii_lowercase()));
        }
        let replace = options.opt_replace.iter().flat_map(|list| &list.items);
        let replace = replace
            .map(|item| (item.column_name.value.to_ascii_lowercase(), self.expr(&item.expr, parent)))
            .collect();
        Item::Star { span, qualifier, except, replace }
    }

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

    /// A query made of tables and conditions, without a list: the scope of MERGE, UPDATE and DELETE.
    pub(super) fn scope(
        &mut self,
        build: impl FnOnce(&mut Self, QueryId) -> (Vec<From>, Vec<Expr>),
    ) -> QueryId {
        let id = self.reserve(Place::Derived, None, None);
        let (from, filters) = build(self, id);
        let select = Select { span: self.span, from, filters, ..Select::default() };
        self.slot(id).body = Body::Select(Box::new(select));
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

    pub(super) fn named_window(&mut self, name: &ast::Ident, parent: Parent) -> Option<Window> {
        let windows = self.windows.last()?.clone();
        let mut wanted = name.value.clone();
        for _ in 0..8 {
            let found = windows.iter().find(|window| window.0.value.eq_ignore_ascii_case(&wanted))?;
            match &found.1 {
                NamedWindowExpr::NamedWindow(other) => wanted.clone_from(&other.value),
                NamedWindowExpr::WindowSpec(spec) => return Some(self.window(spec, parent)),
            }
        }
        None
    }
}

fn reads(query: &Query, id: QueryId) -> bool {
    match &query.body {
        Body::Select(select) => {
            select.from.iter().any(|from| matches!(&from.relation, Relation::Query(read) if *read == id))
        }
        _ => false,
    }
}

fn columns(alias: &ast::TableAlias) -> Vec<String> {
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
    }
}

fn star_item(span: Span) -> Item {
    Item::Star { span, qualifier: None, except: Vec::new(), replace: Vec::new() }
}

pub(super) fn star_of(from: From) -> Select {
    Select { span: from.span, items: vec![star_item(from.span)], from: vec![from], ..Select::default() }
}

fn pass_through(inner: QueryId, span: Span) -> Select {
    star_of(plain_from(String::new(), Relation::Query(inner), span))
}

/// Puts the listed expression in place of its number.
fn ordinal(expr: &mut Expr, items: &[Item]) {
    let ExprKind::Literal(Literal::Number(number)) = &expr.kind else { return };
    let Some(index) = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else { return };
    if items.iter().take(index + 1).any(|item| matches!(item, Item::Star { .. })) {
        return;
    }
    if let Some(Item::Expr { expr: listed, .. }) = items.get(index) {
        *expr = Expr { span: expr.span, kind: listed.kind.clone() };
    }
}

fn ordinals_in_order(order: &mut [Sort], items: &[Item]) {
    order.iter_mut().for_each(|sort| ordinal(&mut sort.expr, items));
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
