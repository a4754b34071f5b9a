//! Lowering of queries.

use std::collections::HashMap;

use sqlparser::ast::{
    self, Distinct as AstDistinct, ExcludeSelectItem, GroupByExpr, LimitClause, NamedWindowExpr, OrderByKind,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, TopQuantity,
};

use crate::dialect::Dialect;
use crate::ir::{
    Action, Body, Creation, Distinct, Expr, ExprKind, From, Group, Item, Join, Limit, Literal, Op, Place,
    Query, QueryId, Relation, Select, SetOp, Sort, Verb, Window, Write,
};
use crate::text::Span;

use super::Lowering;
use super::from::{columns, plain_from, star_item};

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
                    || self.writes.iter().any(|write| write.cte.is_some())
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
                match self.assigned(id) {
                    Some(name) => {
                        let kind = ExprKind::Subquery { query: id, ask: crate::ir::Ask::Scalar, expr: None };
                        Action::Variable { name, value: Some(Expr { span: self.span, kind }) }
                    }
                    None => Action::Select(id),
                }
            }
        }
    }

    /// The variable of T-SQL's `SELECT @newest = MAX(t) FROM …`; of several the first that takes a newest value.
    fn assigned(&self, id: QueryId) -> Option<String> {
        let Body::Select(select) = &self.queries.get(id.0 as usize)?.body else { return None };
        let names = select.items.iter().map(|item| match item {
            Item::Expr { expr, alias: Some(alias) } => Some((alias.strip_prefix('@')?, expr)),
            Item::Expr { expr: Expr { kind: ExprKind::Op(Op::Eq, sides), .. }, .. } => match sides.as_slice()
            {
                [Expr { kind: ExprKind::Param(name), .. }, value] => Some((name.as_str(), value)),
                _ => None,
            },
            _ => None,
        });
        let assigned: Vec<(&str, &Expr)> = names.collect::<Option<_>>()?;
        let newest = |(_, value): &&(&str, &Expr)| {
            value.any(&mut |part| matches!(&part.kind, ExprKind::Call(call) if call.name == "max"))
        };
        let found = assigned.iter().find(newest).or(assigned.first())?;
        (self.source.dialect == Dialect::TSql).then(|| found.0.to_owned())
    }

    pub(super) fn reserve(&mut self, place: Place, parent: Parent, name: Option<String>) -> QueryId {
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

    pub(super) fn slot(&mut self, id: QueryId) -> &mut Query {
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
                let id = self.reserve(Place::Cte, parent, Some(name.clone()));
                self.writes.iter_mut().skip(before).for_each(|write| write.cte = Some(id));
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

    /// `WHERE ROWNUM <= n` of Oracle, which is no condition on rows. Over a query that is ordered it cuts that.
    fn row_number_limit(&mut self, filters: &mut Vec<Expr>, from: &[From]) -> Option<Limit> {
        let counts = |filter: &Expr| match &filter.kind {
            ExprKind::Op(Op::LtEq | Op::Lt | Op::Eq, sides) => {
                sides.first().and_then(Expr::column).is_some_and(|column| column == (None, "rownum"))
            }
            _ => false,
        };
        let at = filters.iter().position(counts).filter(|_| self.source.dialect == Dialect::Oracle)?;
        let filter = filters.remove(at);
        let ExprKind::Op(op, mut sides) = filter.kind else { return None };
        let mut count = sides.pop();
        if op == Op::Lt
            && let Some(Expr { kind: ExprKind::Literal(Literal::Number(number)), .. }) = &mut count
            && number == "2"
        {
            *number = "1".to_owned();
        }
        let limit = Limit {
            span: filter.span,
            count,
            offset: None,
            with_ties: false,
            percent: false,
            by: Vec::new(),
        };
        if let [From { relation: Relation::Query(inner), .. }] = from
            && let Some(inner) = self.queries.get_mut(inner.0 as usize)
            && !inner.order.is_empty()
            && inner.limit.is_none()
        {
            inner.limit = Some(limit);
            return None;
        }
        Some(limit)
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
        let limit = limit.or_else(|| self.row_number_limit(&mut filters, &from));
        if let Some(into) = &select.into {
            self.select_into(into, id);
        }
        (Select { span, distinct, items, from, filters, group, having, qualify, spread }, limit)
    }

    /// SELECT … INTO t; in a routine the targets are variables, but not in T-SQL.
    fn select_into(&mut self, into: &ast::SelectInto, id: QueryId) {
        if (self.routine || self.source.dialect == Dialect::Oracle) && self.source.dialect != Dialect::TSql {
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
