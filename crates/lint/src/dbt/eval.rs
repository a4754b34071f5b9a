//! The interpreter of templates: bounded in steps, depth and output. What dbt's own names mean is in
//! [`super::context`].

mod expr;
mod operators;

use std::rc::Rc;
use std::sync::Arc;

use super::functions::{self, Given};
use super::library::Library;
use super::syntax::{Expr, ExprKind, MacroDef, Node, Span, Target};
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
