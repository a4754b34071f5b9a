//! Expressions of templates: calls, filters and tests are looked up here; what they compute is in
//! [`super::super::functions`].

use super::super::functions::{self, Given};
use super::super::syntax::{Args, Compare, Expr, ExprKind, Span};
use super::super::value::Value;
use super::operators::{binary, group, moment_method, negative, relation_method, select};
use super::{Render, Res};

impl Render<'_> {
    pub(in crate::dbt) fn given(&mut self, args: &Args) -> Res<Given> {
        let mut given = Given::default();
        for arg in &args.plain {
            given.plain.push(self.expr(arg)?);
        }
        if let Some(star) = &args.star {
            given.plain.extend(self.expr(star)?.items());
        }
        for (name, value) in &args.named {
            given.named.push((name.as_ref().into(), self.expr(value)?));
        }
        if let Some(stars) = &args.stars
            && let Value::Dict(items) = self.expr(stars)?
        {
            given.named.extend(items.borrow().iter().map(|(key, value)| (key.print(), value.clone())));
        }
        Ok(given)
    }

    pub(in crate::dbt) fn expr(&mut self, expr: &Expr) -> Res<Value> {
        self.spend(1, expr.span)?;
        self.deeper(expr.span)?;
        let value = self.expr_inner(expr);
        self.depth -= 1;
        value
    }

    fn expr_inner(&mut self, expr: &Expr) -> Res<Value> {
        Ok(match &expr.kind {
            ExprKind::None => Value::None,
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Int(value) => Value::Int(*value),
            ExprKind::Float(value) => Value::Float(*value),
            ExprKind::Str(text) => Value::text(text.as_ref()),
            ExprKind::Name(name) => match self.variable(name) {
                Some(value) => value,
                None => self.name(name),
            },
            ExprKind::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.expr(item)?);
                }
                Value::list(values)
            }
            ExprKind::Dict(items) => {
                let mut values = Vec::with_capacity(items.len());
                for (key, value) in items {
                    values.push((self.expr(key)?, self.expr(value)?));
                }
                Value::dict(values)
            }
            ExprKind::Attr(of, name) => {
                let of = self.expr(of)?;
                self.attribute(&of, name)
            }
            ExprKind::Item(of, at) => {
                let of = self.expr(of)?;
                let at = self.expr(at)?;
                self.item(&of, &at)
            }
            ExprKind::Slice(of, parts) => self.slice(of, parts)?,
            ExprKind::Call(callee, args) => self.call(callee, args, expr.span)?,
            ExprKind::Filter(of, name, args) => {
                let value = match of {
                    Some(of) => self.expr(of)?,
                    None => Value::text(""),
                };
                self.filter(name, value, args, expr.span)?
            }
            ExprKind::Test(of, name, args) => {
                let value = self.expr(of)?;
                let given = self.given(args)?;
                match functions::test(name, &value, &given) {
                    Some(result) => Value::Bool(result),
                    None => return self.fail(expr.span, format!("no test is called `{name}`")),
                }
            }
            ExprKind::Not(inner) => Value::Bool(!self.decide(inner)?),
            ExprKind::Negative(inner) => negative(self.expr(inner)?),
            ExprKind::And(left, right) => {
                let left = self.expr(left)?;
                if left.truth() { self.expr(right)? } else { left }
            }
            ExprKind::Or(left, right) => {
                let left = self.expr(left)?;
                if left.truth() { left } else { self.expr(right)? }
            }
            ExprKind::Compare(first, rest) => self.compare(first, rest)?,
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                binary(*op, &left, &right)
            }
            ExprKind::If(condition, then, otherwise) => {
                if self.decide(condition)? {
                    self.expr(then)?
                } else if let Some(otherwise) = otherwise {
                    self.expr(otherwise)?
                } else {
                    Value::text("")
                }
            }
        })
    }

    fn compare(&mut self, first: &Expr, rest: &[(Compare, Expr)]) -> Res<Value> {
        let mut left = self.expr(first)?;
        for (op, right) in rest {
            let right = self.expr(right)?;
            let unknown = |value: &Value| value.is_stub() && !matches!(value, Value::Undefined(_));
            self.approximate |= unknown(&left) || unknown(&right);
            let holds = match op {
                Compare::Eq => left.equals(&right),
                Compare::Ne => !left.equals(&right),
                Compare::In => functions::contains(&right, &left),
                Compare::NotIn => !functions::contains(&right, &left),
                _ if unknown(&left) || unknown(&right) => false,
                Compare::Lt => functions::order(&left, &right).is_lt(),
                Compare::Le => functions::order(&left, &right).is_le(),
                Compare::Gt => functions::order(&left, &right).is_gt(),
                Compare::Ge => functions::order(&left, &right).is_ge(),
            };
            if !holds {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn item(&mut self, of: &Value, at: &Value) -> Value {
        match of {
            Value::List(items) => {
                let items = items.borrow();
                let index = at.as_int().unwrap_or(i64::MAX);
                let index = if index < 0 { index.saturating_add(items.len() as i64) } else { index };
                let item = usize::try_from(index).ok().and_then(|index| items.get(index));
                item.cloned().unwrap_or_else(|| Value::Undefined("item".into()))
            }
            Value::Dict(items) => {
                let items = items.borrow();
                let item = items.iter().find(|(key, _)| key.equals(at)).map(|(_, value)| value.clone());
                item.unwrap_or_else(|| Value::Undefined(at.print()))
            }
            Value::Text(text) if !text.stub => {
                let chars: Vec<char> = text.text.chars().collect();
                let index = at.as_int().unwrap_or(i64::MAX);
                let index = if index < 0 { index.saturating_add(chars.len() as i64) } else { index };
                let c = usize::try_from(index).ok().and_then(|index| chars.get(index));
                c.map_or_else(|| Value::Undefined("item".into()), |c| Value::text(c.to_string()))
            }
            Value::Stub(_) | Value::Text(_) => of.clone(),
            other => {
                let name = at.print();
                let other = other.clone();
                self.attribute(&other, &name)
            }
        }
    }

    fn slice(&mut self, of: &Expr, parts: &[Option<Box<Expr>>; 3]) -> Res<Value> {
        let of = self.expr(of)?;
        let mut bounds = [None, None, None];
        for (bound, part) in bounds.iter_mut().zip(parts) {
            if let Some(part) = part {
                *bound = self.expr(part)?.as_int();
            }
        }
        let items: Vec<Value> = match &of {
            Value::Text(text) if text.stub => return Ok(of),
            Value::Stub(_) | Value::Moment => return Ok(of),
            other => other.items(),
        };
        let len = items.len() as i64;
        let place =
            |bound: i64| (if bound < 0 { bound.saturating_add(len) } else { bound }).clamp(0, len) as usize;
        let (start, end) = (bounds[0].map_or(0, place), bounds[1].map_or(items.len(), place));
        let mut kept: Vec<Value> = items.get(start..end.max(start)).unwrap_or_default().to_vec();
        match bounds[2] {
            Some(step) if step < 0 => kept = items.into_iter().rev().collect(),
            Some(step) if step > 1 => kept = kept.into_iter().step_by(step as usize).collect(),
            _ => {}
        }
        Ok(match of {
            Value::Text(_) => {
                Value::text(kept.iter().map(|item| item.print().to_string()).collect::<String>())
            }
            _ => Value::list(kept),
        })
    }

    pub(super) fn callee(&mut self, callee: &Expr) -> Res<Value> {
        match &callee.kind {
            ExprKind::Name(name) => Ok(match self.variable(name) {
                Some(value) => value,
                None => self.name(name),
            }),
            _ => self.expr(callee),
        }
    }

    fn call(&mut self, callee: &Expr, args: &Args, at: Span) -> Res<Value> {
        if let ExprKind::Attr(of, name) = &callee.kind {
            let of = self.callee(of)?;
            let given = self.given(args)?;
            return self.call_method(&of, name, given, at);
        }
        let function = self.callee(callee)?;
        let given = self.given(args)?;
        self.call_value(&function, given, at)
    }

    pub(in crate::dbt) fn call_value(&mut self, function: &Value, given: Given, at: Span) -> Res<Value> {
        match function {
            Value::Macro(callable) => self.call_macro(callable, given, None, at),
            Value::Named(name) => self.native(name, given, at),
            Value::Undefined(name) | Value::Stub(name) => Ok(Value::stub(name)),
            other => Ok(Value::stub(&other.print())),
        }
    }

    fn call_method(&mut self, of: &Value, name: &str, given: Given, at: Span) -> Res<Value> {
        match of {
            Value::Text(_) | Value::List(_) | Value::Dict(_) => {
                if let Value::Dict(_) = of
                    && let found @ (Value::Macro(_) | Value::Named(_)) = functions::member(of, name)
                {
                    return self.call_value(&found, given, at);
                }
                self.spend(1, at)?;
                match functions::method(of, name, &given) {
                    Some(value) => Ok(value),
                    None => Ok(Value::stub(name)),
                }
            }
            Value::Named(base) => self.native(&format!("{base}.{name}"), given, at),
            Value::Package(package) => {
                let found = self.package_name(package, name);
                self.call_value(&found, given, at)
            }
            Value::Relation(relation) => Ok(relation_method(relation, name, &given)),
            Value::Moment => Ok(moment_method(name, &given)),
            Value::Stub(of) => Ok(Value::stub(&format!("{of}_{name}"))),
            Value::Undefined(of) => Ok(Value::stub(&format!("{of}_{name}"))),
            _ => Ok(Value::stub(name)),
        }
    }

    pub(super) fn filter_chain(&mut self, filter: &Expr, value: Value) -> Res<Value> {
        let ExprKind::Filter(of, name, args) = &filter.kind else { return Ok(value) };
        let value = match of {
            Some(of) => self.filter_chain(of, value)?,
            None => value,
        };
        self.filter(name, value, args, filter.span)
    }

    fn filter(&mut self, name: &str, value: Value, args: &Args, at: Span) -> Res<Value> {
        let given = self.given(args)?;
        self.spend(1, at)?;
        match name {
            "map" => self.map(&value, given, at),
            "select" | "reject" | "selectattr" | "rejectattr" => Ok(select(name, &value, &given)),
            "groupby" => Ok(group(&value, &given)),
            "attr" => Ok(self.attribute(&value, &given.text(0, "name").unwrap_or_default())),
            _ => match functions::filter(name, &value, &given) {
                Some(value) => Ok(value),
                None => {
                    let function = self.name(name);
                    let mut given = given;
                    given.plain.insert(0, value);
                    self.call_value(&function, given, at)
                }
            },
        }
    }

    fn map(&mut self, value: &Value, given: Given, at: Span) -> Res<Value> {
        let mut mapped = Vec::new();
        for item in value.items() {
            self.spend(1, at)?;
            mapped.push(match given.named("attribute") {
                Some(path) => {
                    let mut item = item;
                    for part in path.print().split('.') {
                        item = match part.parse::<i64>() {
                            Ok(index) => self.item(&item, &Value::Int(index)),
                            Err(_) => self.attribute(&item, part),
                        };
                    }
                    match (&item, given.named("default")) {
                        (Value::Undefined(_), Some(default)) => default.clone(),
                        _ => item,
                    }
                }
                None => {
                    let name = given.text(0, "filter").unwrap_or_default();
                    let rest = Given {
                        plain: given.plain.iter().skip(1).cloned().collect(),
                        named: given.named.clone(),
                    };
                    functions::filter(&name, &item, &rest).unwrap_or(item)
                }
            });
        }
        Ok(Value::list(mapped))
    }
}
