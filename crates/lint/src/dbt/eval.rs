//! The interpreter of templates: bounded in steps, depth and output. What dbt's own names mean is in
//! [`super::context`].

use std::rc::Rc;
use std::sync::Arc;

use super::functions::{self, Given};
use super::library::Library;
use super::syntax::{Args, Binary, Compare, Expr, ExprKind, MacroDef, Node, Span, Target};
use super::value::{Callable, Mark, NO_MACRO, Out, Relation, Text, Value};

/// Steps a rendering may take.
const FUEL: u64 = 3_000_000;
/// Macros and expressions within each other.
const DEPTH_MAX: u32 = 150;
/// Bytes a rendering may write.
const TEXT_MAX: usize = 16 << 20;

/// Which run of an incremental model is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum World {
    /// The table is built from nothing: `is_incremental()` is false.
    FullRefresh,
    /// The table exists: `is_incremental()` is true.
    Steady,
}

/// Why rendering stopped.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) file: u32,
    pub(super) at: Span,
}

pub(super) enum Stop {
    Return(Value),
    Break,
    Continue,
    Fail(Box<Failure>),
}

pub(super) type Res<T> = Result<T, Stop>;

/// The file and macro whose text runs.
#[derive(Clone)]
pub(super) struct Unit {
    pub(super) text: Arc<str>,
    pub(super) file: u32,
    pub(super) by: u32,
    pub(super) package: Arc<str>,
}

#[derive(Default)]
struct Scope {
    names: Vec<(Arc<str>, Value)>,
    /// Names below are not seen, save those of the outermost scope where `top` says so.
    barrier: bool,
    top: bool,
}

/// One rendering of one template.
pub(super) struct Render<'p> {
    pub(super) library: &'p Library,
    pub(super) unit: Unit,
    /// Number of the model's file.
    pub(super) home: u32,
    pub(super) world: World,
    pub(super) execute: bool,
    pub(super) this: Rc<Relation>,
    pub(super) materialized: String,
    /// What `config()` was given, in the order of the calls.
    pub(super) config: Vec<(Rc<str>, Value)>,
    /// Configuration from outside of the template.
    pub(super) base: &'p serde_json::Map<String, serde_json::Value>,
    /// Whether anything asked which world it is.
    pub(super) world_read: bool,
    /// Whether something made up decided what is printed.
    pub(super) approximate: bool,
    pub(super) macros: Vec<u32>,
    /// Queries that the template sends while it renders.
    pub(super) asked: Vec<(Text, Span, u32)>,
    pub(super) out: Out,
    scopes: Vec<Scope>,
    fuel: u64,
    depth: u32,
}

impl<'p> Render<'p> {
    pub(super) fn new(
        library: &'p Library,
        unit: Unit,
        world: World,
        this: Rc<Relation>,
        base: &'p serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        let home = unit.file;
        Render {
            library,
            unit,
            home,
            world,
            execute: true,
            this,
            materialized: String::new(),
            config: Vec::new(),
            base,
            world_read: false,
            approximate: false,
            macros: Vec::new(),
            asked: Vec::new(),
            out: Out::default(),
            scopes: vec![Scope::default()],
            fuel: FUEL,
            depth: 0,
        }
    }

    pub(super) fn fail<T>(&self, at: Span, why: impl Into<String>) -> Res<T> {
        Err(Stop::Fail(Box::new(Failure { why: why.into(), file: self.unit.file, at })))
    }

    pub(super) fn spend(&mut self, steps: u64, at: Span) -> Res<()> {
        match self.fuel.checked_sub(steps) {
            Some(left) => self.fuel = left,
            None => return self.fail(at, "the template takes too many steps"),
        }
        if self.out.text.len() > TEXT_MAX {
            return self.fail(at, "the template writes too much");
        }
        Ok(())
    }

    fn deeper(&mut self, at: Span) -> Res<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail(at, "macros call each other without end");
        }
        Ok(())
    }

    /// Renders nodes; a `return` outside of a macro ends them.
    pub(super) fn template(&mut self, nodes: &[Node]) -> Result<(), Box<Failure>> {
        match self.nodes(nodes) {
            Err(Stop::Fail(failure)) => Err(failure),
            _ => Ok(()),
        }
    }

    pub(super) fn nodes(&mut self, nodes: &[Node]) -> Res<()> {
        for node in nodes {
            self.node(node)?;
        }
        Ok(())
    }

    fn mark(&self, source: Span) -> Mark {
        Mark {
            start: 0,
            end: 0,
            file: self.unit.file,
            source,
            exact: false,
            stub: false,
            by: self.unit.by,
            call: Span::default(),
        }
    }

    fn node(&mut self, node: &Node) -> Res<()> {
        match node {
            Node::Text(span) => {
                self.spend(1, *span)?;
                let mark = Mark { exact: true, ..self.mark(*span) };
                let text = self.unit.text.clone();
                self.out.mark(&text[span.range()], mark);
            }
            Node::Print(expr, span) => {
                let value = self.expr(expr)?;
                self.print(&value, *span);
            }
            Node::If(arms, otherwise) => {
                for (condition, body) in arms {
                    if self.decide(condition)? {
                        return self.nodes(body);
                    }
                }
                self.nodes(otherwise)?;
            }
            Node::For { .. } => self.for_node(node)?,
            Node::Set(targets, value) => {
                let value = self.expr(value)?;
                match targets.as_slice() {
                    [target] => self.assign(target, value),
                    targets => {
                        let items = value.items();
                        for (index, target) in targets.iter().enumerate() {
                            let item = items.get(index).cloned();
                            self.assign(target, item.unwrap_or_else(|| Value::stub(&value.print())));
                        }
                    }
                }
            }
            Node::SetBlock { target, filter, body } => {
                let mut value = Value::Text(self.capture(body)?);
                if let Some(filter) = filter {
                    value = self.filter_chain(filter, value)?;
                }
                self.assign(target, value);
            }
            Node::Do(expr) => {
                self.expr(expr)?;
            }
            Node::Macro(def) => {
                let callable = self.local(def, Rc::from([]));
                self.define(def.name.clone(), callable);
            }
            Node::Call { body, call, span } => {
                let value = self.call_block(body, call)?;
                self.print(&value, *span);
            }
            Node::FilterBlock(filter, body, span) => {
                let value = Value::Text(self.capture(body)?);
                let value = self.filter_chain(filter, value)?;
                self.print(&value, *span);
            }
            Node::With(values, body) => {
                self.scopes.push(Scope::default());
                let result = self.with(values, body);
                self.scopes.pop();
                result?;
            }
            Node::Scope(body) => self.nodes(body)?,
            Node::Break => return Err(Stop::Break),
            Node::Continue => return Err(Stop::Continue),
        }
        Ok(())
    }

    fn with(&mut self, values: &[(Target, Expr)], body: &[Node]) -> Res<()> {
        for (target, value) in values {
            let value = self.expr(value)?;
            self.assign(target, value);
        }
        self.nodes(body)
    }

    fn decide(&mut self, condition: &Expr) -> Res<bool> {
        let value = self.expr(condition)?;
        self.approximate |= matches!(value, Value::Stub(_));
        Ok(value.truth())
    }

    fn print(&mut self, value: &Value, span: Span) {
        let home = (self.unit.by == NO_MACRO && self.unit.file == self.home).then_some(self.home);
        let fill = self.mark(span);
        match value {
            Value::Text(text) => self.out.append(text, fill, home),
            other => {
                let stub =
                    other.is_stub() || matches!(other, Value::Named(_) | Value::Package(_) | Value::Macro(_));
                self.out.mark(&other.print(), Mark { stub, ..fill });
            }
        }
    }

    /// What nodes would print, as a text.
    pub(super) fn capture(&mut self, nodes: &[Node]) -> Res<Text> {
        let outer = std::mem::take(&mut self.out);
        let result = self.nodes(nodes);
        let inner = std::mem::replace(&mut self.out, outer);
        result?;
        Ok(inner.finish())
    }

    fn for_node(&mut self, node: &Node) -> Res<()> {
        let Node::For { names, over, only, body, otherwise } = node else { return Ok(()) };
        let value = self.expr(over)?;
        self.approximate |= value.is_stub() && !matches!(value, Value::Undefined(_));
        let mut items = value.items();
        if let Some(only) = only {
            let mut kept = Vec::new();
            for item in items {
                self.scopes.push(Scope::default());
                self.bind(names, &item);
                let keep = self.decide(only);
                self.scopes.pop();
                if keep? {
                    kept.push(item);
                }
            }
            items = kept;
        }
        if items.is_empty() {
            return self.nodes(otherwise);
        }
        let count = items.len();
        for (index, item) in items.iter().enumerate() {
            self.spend(4, over.span)?;
            self.scopes.push(Scope::default());
            self.bind(names, item);
            self.define("loop".into(), loop_value(&items, index, count));
            let result = self.nodes(body);
            self.scopes.pop();
            match result {
                Err(Stop::Break) => break,
                Err(Stop::Continue) | Ok(()) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    fn bind(&mut self, names: &[Arc<str>], item: &Value) {
        if let [name] = names {
            return self.define(name.clone(), item.clone());
        }
        let parts = item.items();
        for (index, name) in names.iter().enumerate() {
            let part = parts.get(index).cloned();
            self.define(name.clone(), part.unwrap_or_else(|| Value::stub(name)));
        }
    }

    fn define(&mut self, name: Arc<str>, value: Value) {
        let Some(scope) = self.scopes.last_mut() else { return };
        match scope.names.iter_mut().find(|(found, _)| *found == name) {
            Some((_, old)) => *old = value,
            None => scope.names.push((name, value)),
        }
    }

    fn assign(&mut self, target: &Target, value: Value) {
        match target {
            Target::Name(name) => self.define(name.clone(), value),
            Target::Attr(name, key) => {
                if let Some(Value::Dict(items)) = self.variable(name) {
                    functions::set(&items, Value::text(key.as_ref()), value);
                }
            }
        }
    }

    fn variable(&self, name: &str) -> Option<Value> {
        let find =
            |scope: &Scope| scope.names.iter().find(|(found, _)| &**found == name).map(|(_, v)| v.clone());
        for scope in self.scopes.iter().rev() {
            if let Some(value) = find(scope) {
                return Some(value);
            }
            if scope.barrier {
                return if scope.top { self.scopes.first().and_then(find) } else { None };
            }
        }
        None
    }

    /// A macro defined in the template that runs.
    fn local(&self, def: &Arc<MacroDef>, sees: Rc<[(Arc<str>, Value)]>) -> Value {
        Value::Macro(Rc::new(Callable {
            def: def.clone(),
            text: self.unit.text.clone(),
            file: self.unit.file,
            index: self.unit.by,
            package: self.unit.package.clone(),
            sees,
        }))
    }

    fn call_block(&mut self, body: &Arc<MacroDef>, call: &Expr) -> Res<Value> {
        let ExprKind::Call(callee, args) = &call.kind else { return self.expr(call) };
        if matches!(&callee.kind, ExprKind::Name(name) if &**name == "statement") {
            let text = self.capture(&body.body)?;
            self.asked.push((text, call.span, self.unit.file));
            return Ok(Value::text(""));
        }
        let mut sees: Vec<(Arc<str>, Value)> = Vec::new();
        for scope in self.scopes.iter().rev() {
            for (name, value) in &scope.names {
                if !sees.iter().any(|(seen, _)| seen == name) {
                    sees.push((name.clone(), value.clone()));
                }
            }
            if scope.barrier {
                break;
            }
        }
        let caller = self.local(body, sees.into());
        let given = self.given(args)?;
        match self.callee(callee)? {
            Value::Macro(callable) => self.call_macro(&callable, given, Some(caller), call.span),
            other => self.call_value(&other, given, call.span),
        }
    }

    /// Runs a macro; its value is what it printed, or what it returned.
    pub(super) fn call_macro(
        &mut self,
        callable: &Rc<Callable>,
        given: Given,
        caller: Option<Value>,
        at: Span,
    ) -> Res<Value> {
        self.spend(5, at)?;
        self.deeper(at)?;
        let top = callable.index == NO_MACRO;
        let mut scope = Scope { names: callable.sees.to_vec(), barrier: true, top };
        if let Some(caller) = caller {
            scope.names.push(("caller".into(), caller));
        }
        self.scopes.push(scope);
        let unit = Unit {
            text: callable.text.clone(),
            file: callable.file,
            by: callable.index,
            package: callable.package.clone(),
        };
        if callable.index != NO_MACRO && !self.macros.contains(&callable.index) {
            self.macros.push(callable.index);
        }
        let outer = std::mem::replace(&mut self.unit, unit);
        let result = self.run_macro(callable, given);
        self.unit = outer;
        self.scopes.pop();
        self.depth -= 1;
        let value = match result {
            Ok(text) => Value::Text(text),
            Err(Stop::Return(value)) => value,
            Err(Stop::Break | Stop::Continue) => Value::text(""),
            Err(fail) => return Err(fail),
        };
        Ok(match value {
            // What we wrote ourselves stands in no file of the user.
            Value::Text(text) if self.library.is_prelude(callable.file) => {
                Value::Text(Text { marks: Rc::from([]), ..text })
            }
            value => value,
        })
    }

    fn run_macro(&mut self, callable: &Rc<Callable>, given: Given) -> Res<Text> {
        let params = &callable.def.params;
        let mut plain = given.plain.into_iter();
        let mut named = given.named;
        for (name, default) in params {
            let value = match plain.next() {
                Some(value) => value,
                None => match named.iter().position(|(key, _)| **key == **name) {
                    Some(at) => named.swap_remove(at).1,
                    None => match default {
                        Some(default) => self.expr(default)?,
                        None => Value::Undefined(name.as_ref().into()),
                    },
                },
            };
            self.define(name.clone(), value);
        }
        self.define("varargs".into(), Value::list(plain.collect()));
        let rest = named.into_iter().map(|(key, value)| (Value::text(key), value)).collect();
        self.define("kwargs".into(), Value::dict(rest));
        self.capture(&callable.def.body)
    }

    pub(super) fn given(&mut self, args: &Args) -> Res<Given> {
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

    pub(super) fn expr(&mut self, expr: &Expr) -> Res<Value> {
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

    fn callee(&mut self, callee: &Expr) -> Res<Value> {
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

    pub(super) fn call_value(&mut self, function: &Value, given: Given, at: Span) -> Res<Value> {
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

    fn filter_chain(&mut self, filter: &Expr, value: Value) -> Res<Value> {
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

fn loop_value(items: &[Value], index: usize, count: usize) -> Value {
    let entry = |name: &str, value: Value| (Value::text(name), value);
    let mut entries = vec![
        entry("last", Value::Bool(index + 1 == count)),
        entry("first", Value::Bool(index == 0)),
        entry("index", Value::Int(index as i64 + 1)),
        entry("index0", Value::Int(index as i64)),
        entry("length", Value::Int(count as i64)),
        entry("revindex", Value::Int((count - index) as i64)),
        entry("revindex0", Value::Int((count - index) as i64 - 1)),
    ];
    if let Some(next) = items.get(index + 1) {
        entries.push(entry("nextitem", next.clone()));
    }
    if let Some(previous) = index.checked_sub(1).and_then(|at| items.get(at)) {
        entries.push(entry("previtem", previous.clone()));
    }
    Value::dict(entries)
}

fn select(name: &str, value: &Value, given: &Given) -> Value {
    let by_attribute = name.ends_with("attr");
    let skip = usize::from(by_attribute);
    let attribute = given.text(0, "");
    let test = given.text(skip, "");
    let rest = Given { plain: given.plain.iter().skip(skip + 1).cloned().collect(), named: Vec::new() };
    let kept = value.items().into_iter().filter(|item| {
        let subject = match &attribute {
            Some(name) if by_attribute => functions::member(item, name),
            _ => item.clone(),
        };
        let holds = match &test {
            Some(test) => functions::test(operator(test), &subject, &rest).unwrap_or(true),
            None => subject.truth(),
        };
        holds == name.starts_with("select") || subject.is_stub()
    });
    Value::list(kept.collect())
}

fn operator(test: &str) -> &str {
    match test {
        "==" => "eq",
        "!=" => "ne",
        "<" => "lt",
        "<=" => "le",
        ">" => "gt",
        ">=" => "ge",
        other => other,
    }
}

fn group(value: &Value, given: &Given) -> Value {
    let attribute = given.text(0, "attribute").unwrap_or_default();
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for item in value.items() {
        let key = functions::member(&item, &attribute);
        match groups.iter_mut().find(|(found, _)| found.equals(&key)) {
            Some((_, items)) => items.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    Value::list(groups.into_iter().map(|(key, items)| Value::list(vec![key, Value::list(items)])).collect())
}

fn binary(op: Binary, left: &Value, right: &Value) -> Value {
    if op == Binary::Concat {
        return functions::concat(&[left.clone(), right.clone()]);
    }
    match (op, left, right) {
        (Binary::Add, Value::Text(_), _) | (Binary::Add, _, Value::Text(_)) => {
            functions::concat(&[left.clone(), right.clone()])
        }
        (Binary::Add, Value::List(a), Value::List(b)) => {
            Value::list(a.borrow().iter().chain(b.borrow().iter()).cloned().collect())
        }
        (Binary::Mul, Value::Text(text), Value::Int(times)) => {
            let times = usize::try_from(*times).unwrap_or(0).min((1 << 20) / (text.text.len() + 1));
            Value::text(text.text.repeat(times))
        }
        (Binary::Rem, Value::Text(text), _) => Value::Text(Text { stub: true, ..text.clone() }),
        (Binary::Sub, Value::Moment, Value::Moment) => Value::stub("difference"),
        (_, Value::Moment, _) | (_, _, Value::Moment) => Value::Moment,
        (_, Value::Stub(name), _) | (_, _, Value::Stub(name)) => Value::Stub(name.clone()),
        (_, Value::Int(a), Value::Int(b)) => whole(op, *a, *b),
        _ => match (left.as_float(), right.as_float()) {
            (Some(a), Some(b)) => real(op, a, b),
            _ => Value::stub(&left.print()),
        },
    }
}

fn whole(op: Binary, a: i64, b: i64) -> Value {
    Value::Int(match op {
        Binary::Add => a.saturating_add(b),
        Binary::Sub => a.saturating_sub(b),
        Binary::Mul => a.saturating_mul(b),
        Binary::Whole if b != 0 => a.wrapping_div_euclid(b),
        Binary::Rem if b != 0 => a.wrapping_rem_euclid(b),
        Binary::Pow => a.saturating_pow(u32::try_from(b).unwrap_or(0)),
        _ => return real(op, a as f64, b as f64),
    })
}

fn real(op: Binary, a: f64, b: f64) -> Value {
    Value::Float(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        _ if b == 0.0 => return Value::stub("division_by_zero"),
        Binary::Div => a / b,
        Binary::Whole => (a / b).floor(),
        Binary::Rem => a.rem_euclid(b),
        _ => a.powf(b),
    })
}

fn negative(value: Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(value.saturating_neg()),
        Value::Float(value) => Value::Float(-value),
        other => other,
    }
}

fn relation_method(relation: &Rc<Relation>, name: &str, given: &Given) -> Value {
    match name {
        "include" => {
            let keep = |part: &str| given.named(part).is_none_or(Value::truth);
            let mut kept = (**relation).clone();
            if !keep("database") {
                kept.database = None;
            }
            if !keep("schema") {
                kept.schema = None;
            }
            let parts = [kept.database.as_deref(), kept.schema.as_deref(), Some(kept.identifier.as_str())];
            kept.printed = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
            Value::Relation(Rc::new(kept))
        }
        "render" | "__str__" | "to_string" => Value::text(relation.printed.as_str()),
        "get" => Value::None,
        _ => Value::Relation(relation.clone()),
    }
}

fn moment_method(name: &str, given: &Given) -> Value {
    let text = match name {
        "strftime" => {
            let pattern = given.text(0, "format").unwrap_or_default();
            let parts =
                [("%Y", "2000"), ("%m", "01"), ("%d", "01"), ("%H", "00"), ("%M", "00"), ("%S", "00")];
            let more = [
                ("%j", "001"),
                ("%f", "000000"),
                ("%z", "+0000"),
                ("%Z", "UTC"),
                ("%y", "00"),
                ("%s", "946684800"),
            ];
            parts
                .iter()
                .chain(&more)
                .fold(pattern.to_string(), |text, (code, value)| text.replace(code, value))
        }
        "isoformat" => "2000-01-01T00:00:00+00:00".to_owned(),
        "timestamp" => "946684800".to_owned(),
        "weekday" | "isoweekday" => "6".to_owned(),
        _ => return Value::Moment,
    };
    Value::Text(Text { stub: true, ..Text::plain(text) })
}
