//! Lowering of expressions.

use sqlparser::ast::{
    self, AccessExpr, BinaryOperator, CastKind, DuplicateTreatment, Expr as Ast, FunctionArg,
    FunctionArgExpr, FunctionArgumentClause, FunctionArguments, InTarget, Subscript, UnaryOperator, Value,
    WindowFrameBound, WindowFrameUnits, WindowType,
};

use crate::ir::{Ask, Call, Expr, ExprKind, Frame, Literal, Op, Place, QueryId, Sort, Window};
use crate::text::Span;

use super::Lowering;

type Parent = Option<QueryId>;

/// The newest partition that the target of a dbt model has.
pub(crate) const MAX_PARTITION: &str = "_dbt_max_partition";

impl Lowering<'_> {
    /// An expression as a conjunction.
    pub(super) fn conjuncts(&mut self, ast: &Ast, parent: Parent) -> Vec<Expr> {
        let expr = self.expr(ast, parent);
        let mut list = Vec::new();
        flatten(expr, &mut list);
        list
    }

    pub(super) fn exprs(&mut self, list: &[Ast], parent: Parent) -> Vec<Expr> {
        list.iter().map(|expr| self.expr(expr, parent)).collect()
    }

    fn boxed(&mut self, ast: &Ast, parent: Parent) -> Box<Expr> {
        Box::new(self.expr(ast, parent))
    }

    pub(super) fn expr(&mut self, ast: &Ast, parent: Parent) -> Expr {
        match ast {
            Ast::Identifier(ident) => self.identifier(std::slice::from_ref(ident)),
            Ast::CompoundIdentifier(parts) => self.identifier(parts),
            Ast::Value(value) => self.value(value),
            Ast::BinaryOp { left, op, right } => self.binary(left, op, right, parent),
            Ast::Function(function) => self.function(function, parent),
            Ast::Nested(inner) => {
                let mut inner = self.expr(inner, parent);
                inner.span = self.with_parens(inner.span);
                inner
            }
            Ast::UnaryOp { op, expr } => {
                let inner = self.expr(expr, parent);
                let (op, words): (Op, &[&str]) = match op {
                    UnaryOperator::Not | UnaryOperator::BangNot => (Op::Not, &["not", "-"]),
                    UnaryOperator::Minus => (Op::Neg, &["-"]),
                    _ => (Op::Other, &["-"]),
                };
                let span = self.with_before(inner.span, words);
                Expr { span, kind: ExprKind::Op(op, vec![inner]) }
            }
            Ast::Cast { kind, expr, data_type, .. } => {
                let inner = self.expr(expr, parent);
                let span = match kind {
                    CastKind::DoubleColon => self.colon_cast_span(inner.span),
                    _ => self.wrapped(inner.span, &["cast", "try_cast", "safe_cast"]),
                };
                Expr {
                    span,
                    kind: ExprKind::Cast {
                        expr: Box::new(inner),
                        to: data_type.to_string().to_ascii_lowercase(),
                    },
                }
            }
            Ast::Case { case_token, end_token, operand, conditions, else_result } => {
                let span = self.place(case_token.0.span).to(self.place(end_token.0.span));
                let operand = operand.as_ref().map(|expr| self.boxed(expr, parent));
                let branches = conditions
                    .iter()
                    .map(|when| (self.expr(&when.condition, parent), self.expr(&when.result, parent)))
                    .collect();
                let otherwise = else_result.as_ref().map(|expr| self.boxed(expr, parent));
                Expr { span, kind: ExprKind::Case { operand, branches, otherwise } }
            }
            _ => self.predicate(ast, parent),
        }
    }

    fn predicate(&mut self, ast: &Ast, parent: Parent) -> Expr {
        let null = &["is", "not", "null", "true", "false", "unknown"];
        match ast {
            Ast::IsNull(expr) => self.postfix(Op::IsNull, expr, null, parent),
            Ast::IsNotNull(expr) => self.postfix(Op::IsNotNull, expr, null, parent),
            Ast::IsTrue(expr) => {
                let mut inner = self.expr(expr, parent);
                inner.span = self.with_after(inner.span, null);
                inner
            }
            Ast::IsFalse(expr) | Ast::IsNotTrue(expr) => self.postfix(Op::Not, expr, null, parent),
            Ast::IsNotFalse(expr) | Ast::IsUnknown(expr) | Ast::IsNotUnknown(expr) => {
                self.postfix(Op::Other, expr, null, parent)
            }
            Ast::IsDistinctFrom(left, right) => self.pair(Op::Distinct, left, right, parent),
            Ast::IsNotDistinctFrom(left, right) => self.pair(Op::NullSafeEq, left, right, parent),
            Ast::Like { expr, pattern, .. }
            | Ast::ILike { expr, pattern, .. }
            | Ast::SimilarTo { expr, pattern, .. }
            | Ast::RLike { expr, pattern, .. } => self.pair(Op::Like, expr, pattern, parent),
            Ast::Between { expr, negated, low, high } => {
                let (expr, low, high) =
                    (self.boxed(expr, parent), self.boxed(low, parent), self.boxed(high, parent));
                let span = expr.span.to(low.span).to(high.span);
                let kind = if *negated {
                    ExprKind::Op(Op::Other, vec![*expr, *low, *high])
                } else {
                    ExprKind::Between { expr, low, high }
                };
                Expr { span, kind }
            }
            Ast::In { expr, target, negated, .. } => self.in_target(expr, target, *negated, parent),
            Ast::Exists { subquery, negated } => {
                let ask = if *negated { Ask::NotExists } else { Ask::Exists };
                self.subquery(subquery, ask, None, &["exists", "not"], parent)
            }
            Ast::Subquery(query) => self.subquery(query, Ask::Scalar, None, &[], parent),
            Ast::AnyOp { left, compare_op, right, .. } => {
                self.quantified(left, compare_op, right, Ask::In, parent)
            }
            Ast::AllOp { left, compare_op, right } => {
                let ask = if *compare_op == BinaryOperator::NotEq { Ask::NotIn } else { Ask::In };
                self.quantified(left, compare_op, right, ask, parent)
            }
            _ => self.special(ast, parent),
        }
    }

    fn special(&mut self, ast: &Ast, parent: Parent) -> Expr {
        match ast {
            Ast::TypedString(typed) => {
                let text = self.value(&typed.value);
                let to = typed.data_type.to_string().to_ascii_lowercase();
                let span = self.with_before(
                    text.span,
                    &["date", "timestamp", "time", "datetime", "timestamptz", "with", "zone"],
                );
                Expr { span, kind: ExprKind::Cast { expr: Box::new(text), to } }
            }
            Ast::Interval(interval) => {
                let inner = self.expr(&interval.value, parent);
                let span = self.with_before(inner.span, &["interval"]);
                let span = self.with_after(
                    span,
                    &[
                        "year", "quarter", "month", "week", "day", "hour", "minute", "second", "days",
                        "hours", "minutes", "months", "years", "weeks",
                    ],
                );
                let text = ast.to_string().to_ascii_lowercase();
                let constant = matches!(inner.kind, ExprKind::Literal(_));
                Expr {
                    span,
                    kind: if constant {
                        ExprKind::Literal(Literal::Other(text))
                    } else {
                        ExprKind::Other(vec![inner])
                    },
                }
            }
            Ast::AtTimeZone { timestamp, time_zone } => {
                let args = vec![self.expr(timestamp, parent), self.expr(time_zone, parent)];
                named("at time zone", args, |span| span)
            }
            Ast::Extract { field, expr, .. } => {
                let inner = self.expr(expr, parent);
                let span = self.wrapped(inner.span, &["extract"]);
                let part = Expr {
                    span: Span::NOWHERE,
                    kind: ExprKind::Literal(Literal::Other(field.to_string().to_ascii_lowercase())),
                };
                named("extract", vec![part, inner], |_| span)
            }
            Ast::Ceil { expr, .. } => self.wrapping("ceil", &[expr], &["ceil", "ceiling"], parent),
            Ast::Floor { expr, .. } => self.wrapping("floor", &[expr], &["floor"], parent),
            Ast::Position { expr, r#in } => self.wrapping("position", &[expr, r#in], &["position"], parent),
            Ast::Substring { expr, substring_from, substring_for, .. } => {
                let args: Vec<&Ast> = [Some(expr), substring_from.as_ref(), substring_for.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|e| &**e)
                    .collect();
                self.wrapping("substring", &args, &["substring", "substr"], parent)
            }
            Ast::Trim { expr, trim_what, .. } => {
                let args: Vec<&Ast> =
                    [Some(expr), trim_what.as_ref()].into_iter().flatten().map(|e| &**e).collect();
                self.wrapping("trim", &args, &["trim"], parent)
            }
            Ast::Overlay { expr, overlay_what, .. } => {
                self.wrapping("overlay", &[expr, overlay_what], &["overlay"], parent)
            }
            Ast::Convert { expr, data_type, .. } => {
                let inner = self.expr(expr, parent);
                let span = self.wrapped(inner.span, &["convert", "try_convert"]);
                let to = data_type.as_ref().map_or_else(String::new, |t| t.to_string().to_ascii_lowercase());
                Expr { span, kind: ExprKind::Cast { expr: Box::new(inner), to } }
            }
            _ => self.compound(ast, parent),
        }
    }

    fn compound(&mut self, ast: &Ast, parent: Parent) -> Expr {
        match ast {
            Ast::Collate { expr, .. }
            | Ast::Prefixed { value: expr, .. }
            | Ast::Named { expr, .. }
            | Ast::OuterJoin(expr)
            | Ast::Prior(expr) => self.expr(expr, parent),
            Ast::CompoundFieldAccess { root, access_chain } => {
                let root = self.boxed(root, parent);
                let mut path = Vec::new();
                for access in access_chain {
                    match access {
                        AccessExpr::Dot(expr) | AccessExpr::Subscript(Subscript::Index { index: expr }) => {
                            path.push(self.expr(expr, parent))
                        }
                        AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, .. }) => {
                            path.extend(
                                lower_bound.iter().chain(upper_bound).map(|expr| self.expr(expr, parent)),
                            );
                        }
                    }
                }
                let span = path.iter().fold(root.span, |span, expr| span.to(expr.span));
                let span = self.with_close(span, b']');
                Expr { span, kind: ExprKind::Element { expr: root, path } }
            }
            Ast::JsonAccess { value, path } => {
                let value = self.boxed(value, parent);
                let path =
                    path.path.iter().filter_map(|step| self.json_step(step, value.span, parent)).collect();
                Expr { span: value.span, kind: ExprKind::Element { expr: value, path } }
            }
            Ast::Tuple(list)
            | Ast::Struct { values: list, .. }
            | Ast::Array(ast::Array { elem: list, .. }) => self.other(list.iter(), parent),
            Ast::GroupingSets(sets) | Ast::Cube(sets) | Ast::Rollup(sets) => {
                self.other(sets.iter().flatten(), parent)
            }
            Ast::Dictionary(fields) => self.other(fields.iter().map(|field| &*field.value), parent),
            Ast::Map(map) => {
                self.other(map.entries.iter().flat_map(|entry| [&*entry.key, &*entry.value]), parent)
            }
            Ast::Lambda(lambda) => self.other(std::iter::once(&*lambda.body), parent),
            Ast::MemberOf(member) => self.other([&*member.value, &*member.array].into_iter(), parent),
            Ast::IsJson { expr, .. } | Ast::IsNormalized { expr, .. } => {
                self.other(std::iter::once(&**expr), parent)
            }
            _ => Expr { span: self.span_of(ast), kind: ExprKind::Other(Vec::new()) },
        }
    }

    /// A step of `v:a.b[0]`: the key tells one element from another.
    fn json_step(&mut self, step: &ast::JsonPathElem, span: Span, parent: Parent) -> Option<Expr> {
        match step {
            ast::JsonPathElem::Dot { key, .. } => {
                Some(Expr { span, kind: ExprKind::Literal(Literal::Text(key.clone())) })
            }
            ast::JsonPathElem::Bracket { key } | ast::JsonPathElem::ColonBracket { key } => {
                Some(self.expr(key, parent))
            }
        }
    }

    fn other<'a>(&mut self, list: impl Iterator<Item = &'a Ast>, parent: Parent) -> Expr {
        let list: Vec<Expr> = list.map(|expr| self.expr(expr, parent)).collect();
        let span = list.iter().fold(Span::NOWHERE, |span, expr| span.to(expr.span));
        Expr { span, kind: ExprKind::Other(list) }
    }

    fn wrapping(&mut self, name: &str, args: &[&Ast], words: &[&str], parent: Parent) -> Expr {
        let args: Vec<Expr> = args.iter().map(|expr| self.expr(expr, parent)).collect();
        let inner = args.first().map_or(Span::NOWHERE, |expr| expr.span);
        let span = self.wrapped(inner, words);
        named(name, args, |_| span)
    }

    fn postfix(&mut self, op: Op, expr: &Ast, words: &[&str], parent: Parent) -> Expr {
        let inner = self.expr(expr, parent);
        let span = self.with_after(inner.span, words);
        Expr { span, kind: ExprKind::Op(op, vec![inner]) }
    }

    fn pair(&mut self, op: Op, left: &Ast, right: &Ast, parent: Parent) -> Expr {
        let pair = vec![self.expr(left, parent), self.expr(right, parent)];
        let span = pair.iter().fold(Span::NOWHERE, |span, expr| span.to(expr.span));
        Expr { span, kind: ExprKind::Op(op, pair) }
    }

    /// Chains of one operator lean to the left and can be thousands long: walked in a loop, kept as one node.
    fn binary(&mut self, left: &Ast, op: &BinaryOperator, right: &Ast, parent: Parent) -> Expr {
        let lowered = binary_op(op);
        let mut args = vec![right];
        let mut rest = left;
        if matches!(lowered, Op::And | Op::Or | Op::Add | Op::Mul | Op::Concat) {
            while let Ast::BinaryOp { left, op: inner, right } = rest {
                if binary_op(inner) != lowered {
                    break;
                }
                args.push(right);
                rest = left;
            }
        }
        args.push(rest);
        let args: Vec<Expr> = args.into_iter().rev().map(|expr| self.expr(expr, parent)).collect();
        let span = args.iter().fold(Span::NOWHERE, |span, expr| span.to(expr.span));
        Expr { span, kind: ExprKind::Op(lowered, args) }
    }

    fn quantified(&mut self, left: &Ast, op: &BinaryOperator, right: &Ast, ask: Ask, parent: Parent) -> Expr {
        let inner = if let Ast::Nested(inner) = right { inner } else { right };
        let left_expr = self.boxed(left, parent);
        if let (Ast::Subquery(query), BinaryOperator::Eq | BinaryOperator::NotEq) = (inner, op) {
            return self.subquery(query, ask, Some(left_expr), &["any", "some", "all"], parent);
        }
        let right = self.expr(right, parent);
        let span = left_expr.span.to(right.span);
        let kind = match op {
            // `x = ANY (array)`, `x <> ALL (array)`: a search in a list.
            BinaryOperator::Eq if ask == Ask::In => {
                ExprKind::In { expr: left_expr, list: vec![right], negated: false }
            }
            BinaryOperator::NotEq if ask == Ask::NotIn => {
                ExprKind::In { expr: left_expr, list: vec![right], negated: true }
            }
            _ => ExprKind::Op(Op::Other, vec![*left_expr, right]),
        };
        Expr { span, kind }
    }

    fn in_target(&mut self, expr: &Ast, target: &InTarget, negated: bool, parent: Parent) -> Expr {
        let expr = self.boxed(expr, parent);
        match target {
            InTarget::List(list) => {
                let list = self.exprs(list, parent);
                let span = list.iter().fold(expr.span, |span, item| span.to(item.span));
                Expr { span: self.with_close(span, b')'), kind: ExprKind::In { expr, list, negated } }
            }
            InTarget::Subquery(query) => {
                let ask = if negated { Ask::NotIn } else { Ask::In };
                self.subquery(query, ask, Some(expr), &[], parent)
            }
            InTarget::Unnest(list) => {
                let list = vec![self.expr(list, parent)];
                let span =
                    self.with_close(list.iter().fold(expr.span, |span, item| span.to(item.span)), b')');
                Expr { span, kind: ExprKind::In { expr, list, negated } }
            }
            InTarget::Table { .. } => Expr { span: expr.span, kind: ExprKind::Other(vec![*expr]) },
        }
    }

    fn subquery(
        &mut self,
        query: &ast::Query,
        ask: Ask,
        expr: Option<Box<Expr>>,
        words: &[&str],
        parent: Parent,
    ) -> Expr {
        let id = self.query(query, Place::Nested(ask), parent, None);
        let inner = self.queries.get(id.0 as usize).map_or(Span::NOWHERE, |query| query.span);
        let span = self.wrapped_query(inner, words);
        let span = expr.as_ref().map_or(span, |expr| expr.span.to(span));
        Expr { span, kind: ExprKind::Subquery { query: id, ask, expr } }
    }

    fn identifier(&self, parts: &[ast::Ident]) -> Expr {
        let span = parts.iter().fold(Span::NOWHERE, |span, part| span.to(self.place(part.span)));
        let [before @ .., last] = parts else {
            return Expr { span, kind: ExprKind::Other(Vec::new()) };
        };
        let first = self.place(parts.first().unwrap_or(last).span);
        if before.is_empty() {
            if let Some(placeholder) =
                self.source.lexed.placeholder_at(first.start).filter(|_| first.is_somewhere())
            {
                return Expr { span, kind: ExprKind::Param(param_name(placeholder.of(self.source.text))) };
            }
            let marked = last.value.starts_with('@') || last.value.starts_with(':');
            // What dbt's script for BigQuery declares around a model.
            let declared = self.source.variables.hold(&last.value, first) || last.value == MAX_PARTITION;
            if last.quote_style.is_none() && (marked || declared) {
                return Expr { span, kind: ExprKind::Param(param_name(&last.value)) };
            }
        }
        let name = self.word_of(last, self.place(last.span));
        let qualifier = before.last().map(|ident| self.word_of(ident, self.place(ident.span)));
        Expr { span, kind: ExprKind::Column { qualifier, name } }
    }

    fn value(&self, value: &ast::ValueWithSpan) -> Expr {
        let span = self.place(value.span);
        let literal = match &value.value {
            Value::Placeholder(name) => {
                return Expr { span: self.param_span(span, name), kind: ExprKind::Param(param_name(name)) };
            }
            Value::Number(number, _) => Literal::Number(number.to_string()),
            Value::Boolean(value) => Literal::Bool(*value),
            Value::Null => Literal::Null,
            other => {
                let written = span.of(self.source.text);
                let holds = self.source.lexed.holds_placeholder(span);
                // Few literals hold a mark at all.
                let marked = written.bytes().any(|byte| matches!(byte, b'{' | b'%'))
                    && ["{{", "${", "%("].iter().any(|mark| written.contains(mark));
                if holds || marked {
                    return Expr { span, kind: ExprKind::Param(param_name(written)) };
                }
                other.clone().into_string().map_or_else(|| Literal::Other(other.to_string()), Literal::Text)
            }
        };
        Expr { span, kind: ExprKind::Literal(literal) }
    }

    /// The parser gives the place of the mark or of the name only.
    fn param_span(&self, span: Span, name: &str) -> Span {
        if !span.is_somewhere() {
            return span;
        }
        let length = u32::try_from(name.len()).unwrap_or(0);
        let end = span.start + length;
        if (Span { start: span.start, end }).of(self.source.text) == name {
            Span { start: span.start, end }
        } else {
            span
        }
    }

    pub(super) fn sorts(&mut self, list: &[ast::OrderByExpr], parent: Parent) -> Vec<Sort> {
        list.iter()
            .map(|sort| Sort {
                expr: self.expr(&sort.expr, parent),
                descending: matches!(sort.options.sort, Some(ast::OrderBySort::Desc)),
            })
            .collect()
    }

    pub(super) fn function(&mut self, function: &ast::Function, parent: Parent) -> Expr {
        let name = self.name(&function.name);
        let span = self.call_span(name.span);
        let mut call = Call {
            name: name.text(),
            bare: matches!(function.args, FunctionArguments::None),
            ..Call::default()
        };
        for arguments in [&function.parameters, &function.args] {
            self.arguments(&mut call, arguments, parent);
        }
        call.order.extend(self.sorts(&function.within_group, parent));
        call.filter = function.filter.as_ref().map(|expr| self.boxed(expr, parent));
        call.over = function.over.as_ref().map(|over| self.over(over, parent));
        if let Some(name) = reflected(&call) {
            call = Call { name: name.to_owned(), ..Call::default() };
        }
        // Functions that compare as `IS NOT DISTINCT FROM` does.
        if call.name == "equal_null" && call.args.len() == 2 {
            return Expr { span, kind: ExprKind::Op(Op::NullSafeEq, call.args) };
        }
        Expr { span, kind: ExprKind::Call(Box::new(call)) }
    }

    fn arguments(&mut self, call: &mut Call, arguments: &FunctionArguments, parent: Parent) {
        match arguments {
            FunctionArguments::None => {}
            FunctionArguments::Subquery(query) => {
                let ask = if call.name == "array" { Ask::Array } else { Ask::Scalar };
                let subquery = self.subquery(query, ask, None, &[], parent);
                call.args.push(subquery);
            }
            FunctionArguments::List(list) => {
                call.distinct |= list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
                self.function_args(call, &list.args, parent);
                for clause in &list.clauses {
                    match clause {
                        FunctionArgumentClause::OrderBy(order) => {
                            call.order.extend(self.sorts(order, parent))
                        }
                        FunctionArgumentClause::Limit(expr) => call.bounded = Some(self.boxed(expr, parent)),
                        FunctionArgumentClause::Having(bound) => {
                            call.bounded = Some(self.boxed(&bound.1, parent))
                        }
                        FunctionArgumentClause::Where(expr) => call.filter = Some(self.boxed(expr, parent)),
                        _ => {}
                    }
                }
            }
        }
    }

    pub(super) fn function_args(&mut self, call: &mut Call, args: &[FunctionArg], parent: Parent) {
        for arg in args {
            let (FunctionArg::Named { arg, .. }
            | FunctionArg::ExprNamed { arg, .. }
            | FunctionArg::Unnamed(arg)) = arg;
            match arg {
                FunctionArgExpr::Expr(expr) => {
                    let expr = self.expr(expr, parent);
                    call.args.push(expr);
                }
                _ => call.star = true,
            }
        }
    }

    fn over(&mut self, over: &WindowType, parent: Parent) -> Window {
        match over {
            WindowType::WindowSpec(spec) => {
                let base = spec.window_name.as_ref().and_then(|name| self.named_window(name, parent));
                let mut window = self.window(spec, parent);
                if let Some(base) = base {
                    window.partition.splice(0..0, base.partition);
                    if window.order.is_empty() {
                        window.order = base.order;
                    }
                }
                window
            }
            WindowType::NamedWindow(name) => self.named_window(name, parent).unwrap_or_default(),
        }
    }

    pub(super) fn window(&mut self, spec: &ast::WindowSpec, parent: Parent) -> Window {
        let frame = spec.window_frame.as_ref().map(|frame| {
            let from_start = matches!(frame.start_bound, WindowFrameBound::Preceding(None));
            let to_end = matches!(frame.end_bound, Some(WindowFrameBound::Following(None)));
            Frame {
                rows: frame.units == WindowFrameUnits::Rows,
                whole: from_start && to_end,
                bounded: !from_start,
            }
        });
        Window {
            partition: self.exprs(&spec.partition_by, parent),
            order: self.sorts(&spec.order_by, parent),
            frame,
        }
    }
}

/// What a method of Java does that Spark and Hive are made to call: `reflect('java.util.UUID', 'randomUUID')`.
fn reflected(call: &Call) -> Option<&'static str> {
    if !matches!(call.name.as_str(), "reflect" | "java_method" | "try_reflect") {
        return None;
    }
    let ExprKind::Literal(Literal::Text(method)) = &call.args.get(1)?.kind else { return None };
    match method.to_ascii_lowercase().as_str() {
        "randomuuid" => Some("uuid"),
        "random" | "nextint" | "nextdouble" | "nextlong" => Some("rand"),
        "currenttimemillis" | "nanotime" | "now" => Some("current_timestamp"),
        _ => None,
    }
}

fn named(name: &str, args: Vec<Expr>, span: impl FnOnce(Span) -> Span) -> Expr {
    let inner = args.iter().fold(Span::NOWHERE, |span, expr| span.to(expr.span));
    let call = Call { name: name.to_string(), args, ..Call::default() };
    Expr { span: span(inner), kind: ExprKind::Call(Box::new(call)) }
}

fn flatten(expr: Expr, list: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::Op(Op::And, args) => args.into_iter().for_each(|arg| flatten(arg, list)),
        _ => list.push(expr),
    }
}

/// The name of a parameter without its marks: `{{ ds }}`, `:ds`, `%(ds)s` are all `ds`.
pub(super) fn param_name(written: &str) -> String {
    let inner = if let (Some(from), Some(to)) = (written.find("{{"), written.find("}}")) {
        written.get(from + 2..to)
    } else if let Some(from) = written.find("${").or_else(|| written.find("&{")) {
        written.get(from + 2..).and_then(|rest| rest.split('}').next())
    } else if let Some(from) = written.find("%(") {
        written.get(from + 2..).and_then(|rest| rest.split(')').next())
    } else {
        Some(written)
    };
    let inner = inner.unwrap_or(written).trim().trim_start_matches(['-', '%', '=', ':', '@', '$', '{', '<']);
    let inner = inner.trim_end_matches(['-', '}', '%', '>']);
    let mut parts = inner.split(':').map(str::trim);
    let first = parts.next().unwrap_or("").to_ascii_lowercase();
    // `${hivevar:day}`: where the variable comes from, then its name; elsewhere its name comes first.
    match parts.next() {
        Some(name) if matches!(first.as_str(), "hivevar" | "hiveconf" | "env" | "system") => {
            name.to_ascii_lowercase()
        }
        _ => first,
    }
}

fn binary_op(op: &BinaryOperator) -> Op {
    match op {
        BinaryOperator::And => Op::And,
        BinaryOperator::Or => Op::Or,
        BinaryOperator::Eq => Op::Eq,
        BinaryOperator::Spaceship => Op::NullSafeEq,
        BinaryOperator::NotEq => Op::NotEq,
        BinaryOperator::Lt => Op::Lt,
        BinaryOperator::LtEq => Op::LtEq,
        BinaryOperator::Gt => Op::Gt,
        BinaryOperator::GtEq => Op::GtEq,
        BinaryOperator::Plus => Op::Add,
        BinaryOperator::Minus => Op::Sub,
        BinaryOperator::Multiply => Op::Mul,
        BinaryOperator::Divide | BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide => {
            Op::Div
        }
        BinaryOperator::Modulo => Op::Mod,
        BinaryOperator::StringConcat => Op::Concat,
        BinaryOperator::PGRegexMatch | BinaryOperator::PGLikeMatch | BinaryOperator::Regexp => Op::Like,
        _ => Op::Other,
    }
}
