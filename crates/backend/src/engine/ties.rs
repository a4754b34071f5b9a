//! Picks and lists without a total order: ties are broken by all remaining columns, and a note says so.
//!
//! Runs on the plan as the SQL says it, before any optimisation, so that "all columns" means the same whatever
//! the optimiser does. What can't be made total without changing its meaning is refused.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result as DfResult};
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, Limit, LogicalPlan, Projection, Sort, SortExpr, Window,
    WindowFrame, WindowFrameUnits,
};

use super::{EngineError, ErrorKind, InputSchema, keys};

/// The plan with every tie broken, and a note for each place where that was needed.
pub(super) fn broken(
    plan: LogicalPlan,
    inputs: &[InputSchema],
) -> Result<(LogicalPlan, Vec<String>), EngineError> {
    let mut breaker = Breaker { inputs, notes: Vec::new() };
    let plan = plan.transform_up_with_subqueries(|node| breaker.node(node))?.data;
    // The order of the result itself, where somebody reads it as such.
    let plan = match plan {
        LogicalPlan::Sort(sort) => breaker.sorted(sort, None)?,
        other => other,
    };
    let mut notes = breaker.notes;
    notes.sort();
    notes.dedup();
    Ok((plan, notes))
}

struct Breaker<'a> {
    inputs: &'a [InputSchema],
    notes: Vec<String>,
}

/// What an order decides about a window function.
enum Need {
    /// Nothing: equal rows get equal values.
    Nothing,
    /// Which row is which: the order must be total.
    Total,
    /// The same, but a total order would change which rows are in the frame.
    Impossible,
}

impl Breaker<'_> {
    fn node(&mut self, node: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
        Ok(match node {
            LogicalPlan::Window(window) => Transformed::yes(self.window(window)?),
            LogicalPlan::Aggregate(aggregate) => Transformed::yes(self.aggregate(aggregate)?),
            LogicalPlan::Limit(limit) => Transformed::yes(self.limit(limit)?),
            LogicalPlan::Distinct(Distinct::On(on)) => Transformed::yes(self.distinct_on(on)?),
            other => Transformed::no(other),
        })
    }

    fn window(&mut self, window: Window) -> DfResult<LogicalPlan> {
        let node = LogicalPlan::Window(window.clone());
        let preserver = NamePreserver::new(&node);
        let (mut kept, mut changed) = (Vec::new(), Vec::new());
        for expr in &window.window_expr {
            let name = preserver.save(expr);
            match self.window_expr(expr, &window.input)? {
                Some(total) => changed.push(name.restore(total)),
                None => kept.push(expr.clone()),
            }
        }
        if changed.is_empty() {
            return Ok(node);
        }
        // Expressions of one node share one order, so each changed one gets a node of its own.
        let mut plan = window.input;
        if !kept.is_empty() {
            plan = Arc::new(LogicalPlan::Window(Window::try_new(kept, plan)?));
        }
        for expr in changed {
            plan = Arc::new(LogicalPlan::Window(Window::try_new(vec![expr], plan)?));
        }
        let columns = window.schema.columns().into_iter().map(Expr::Column).collect();
        Ok(LogicalPlan::Projection(Projection::try_new(columns, plan)?))
    }

    fn window_expr(&mut self, expr: &Expr, input: &LogicalPlan) -> DfResult<Option<Expr>> {
        let (Expr::WindowFunction(call), _) = unaliased(expr) else { return Ok(None) };
        let name = call.fun.name();
        let need = need(name, &call.params.window_frame);
        let ordered = call.params.order_by.iter().map(|sort| &sort.expr);
        if matches!(need, Need::Nothing)
            || keys::covers(input, ordered.chain(&call.params.partition_by), self.inputs)
        {
            return Ok(None);
        }
        if matches!(need, Need::Impossible) {
            return Err(EngineError::new(
                ErrorKind::Unsupported,
                format!("`{name}` over a RANGE or GROUPS frame: rows that are equal in ORDER BY give it no one value"),
            )
            .help("write `ROWS BETWEEN …`, or add columns to ORDER BY until no two rows are equal (the input's key)")
            .into());
        }
        let mut total: WindowFunction = call.as_ref().clone();
        let taken: Vec<&Expr> = call.params.partition_by.iter().collect();
        self.extend(&mut total.params.order_by, input, &taken, &format!("{name}()"));
        Ok(Some(Expr::WindowFunction(Box::new(total))))
    }

    fn aggregate(&mut self, aggregate: Aggregate) -> DfResult<LogicalPlan> {
        let node = LogicalPlan::Aggregate(aggregate.clone());
        let preserver = NamePreserver::new(&node);
        let mut changed = false;
        let mut exprs = Vec::new();
        for expr in &aggregate.aggr_expr {
            let name = preserver.save(expr);
            let total = match unaliased(expr).0 {
                Expr::AggregateFunction(call) => self.aggregate_expr(call, &aggregate),
                _ => None,
            };
            changed |= total.is_some();
            exprs.push(total.map_or_else(|| expr.clone(), |total| name.restore(total)));
        }
        if !changed {
            return Ok(node);
        }
        let rebuilt =
            Aggregate::try_new_with_schema(aggregate.input, aggregate.group_expr, exprs, aggregate.schema)?;
        Ok(LogicalPlan::Aggregate(rebuilt))
    }

    fn aggregate_expr(&mut self, call: &AggregateFunction, aggregate: &Aggregate) -> Option<Expr> {
        let name = call.func.name();
        if !is_pick(name) {
            return None;
        }
        let mut total = call.clone();
        if call.params.distinct {
            // Each value comes once, so that ordering by the value is total.
            let own = call.params.args.first()?;
            if !call.params.order_by.is_empty() {
                return None;
            }
            total.params.order_by.push(own.clone().sort(true, false));
            return Some(Expr::AggregateFunction(total));
        }
        let ordered = call.params.order_by.iter().map(|sort| &sort.expr);
        if keys::covers(&aggregate.input, ordered.chain(&aggregate.group_expr), self.inputs) {
            return None;
        }
        let taken: Vec<&Expr> = aggregate.group_expr.iter().collect();
        self.extend(&mut total.params.order_by, &aggregate.input, &taken, &format!("{name}()"));
        Some(Expr::AggregateFunction(total))
    }

    fn limit(&mut self, limit: Limit) -> DfResult<LogicalPlan> {
        let input = self.total(limit.input.as_ref().clone())?;
        Ok(LogicalPlan::Limit(Limit { input: Arc::new(input), ..limit }))
    }

    /// The plan with its rows in a total order.
    fn total(&mut self, plan: LogicalPlan) -> DfResult<LogicalPlan> {
        match plan {
            LogicalPlan::Sort(sort) => self.sorted(sort, Some("LIMIT")),
            LogicalPlan::Projection(projection) if is_sorted(&projection.input) => {
                let input = self.total(projection.input.as_ref().clone())?;
                let projection = Projection::try_new(projection.expr, Arc::new(input))?;
                Ok(LogicalPlan::Projection(projection))
            }
            other => {
                let sort = Sort { expr: Vec::new(), input: Arc::new(other), fetch: None };
                self.sorted(sort, Some("LIMIT"))
            }
        }
    }

    fn sorted(&mut self, mut sort: Sort, note: Option<&str>) -> DfResult<LogicalPlan> {
        if !sort.expr.is_empty()
            && keys::covers(&sort.input, sort.expr.iter().map(|sort| &sort.expr), self.inputs)
        {
            return Ok(LogicalPlan::Sort(sort));
        }
        let before = self.notes.len();
        self.extend(&mut sort.expr, &sort.input, &[], note.unwrap_or_default());
        if note.is_none() {
            self.notes.truncate(before);
        }
        Ok(LogicalPlan::Sort(sort))
    }

    fn distinct_on(&mut self, on: DistinctOn) -> DfResult<LogicalPlan> {
        let mut order = on.sort_expr.clone().unwrap_or_default();
        if order.is_empty() {
            order = on.on_expr.iter().map(|expr| expr.clone().sort(true, false)).collect();
        }
        if !keys::covers(&on.input, order.iter().map(|sort| &sort.expr), self.inputs) {
            self.extend(&mut order, &on.input, &[], "DISTINCT ON");
        }
        let total = DistinctOn::try_new(on.on_expr, on.select_expr, Some(order), on.input)?;
        Ok(LogicalPlan::Distinct(Distinct::On(total)))
    }

    /// Appends every column of `input` that `order` and `taken` do not name yet.
    fn extend(&mut self, order: &mut Vec<SortExpr>, input: &LogicalPlan, taken: &[&Expr], what: &str) {
        let mut added = Vec::new();
        for column in input.schema().columns() {
            let expr = Expr::Column(Column::new(column.relation, column.name.clone()));
            let known =
                |known: &Expr| known.try_as_col().zip(expr.try_as_col()).is_some_and(|(a, b)| same(a, b));
            if order.iter().any(|sort| known(&sort.expr)) || taken.iter().any(|taken| known(taken)) {
                continue;
            }
            added.push(column.name);
            order.push(expr.sort(true, false));
        }
        if !added.is_empty() {
            self.notes.push(format!(
                "{what}: rows that its order leaves equal are told apart by {}",
                added.join(", ")
            ));
        }
    }
}

fn same(a: &Column, b: &Column) -> bool {
    a.name == b.name && a.relation == b.relation
}

fn unaliased(expr: &Expr) -> (&Expr, bool) {
    match expr {
        Expr::Alias(alias) => (unaliased(&alias.expr).0, true),
        other => (other, false),
    }
}

fn is_sorted(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Sort(_) => true,
        LogicalPlan::Projection(projection) => is_sorted(&projection.input),
        _ => false,
    }
}

/// Aggregates whose value depends on the order of their rows.
fn is_pick(name: &str) -> bool {
    matches!(name, "first_value" | "last_value" | "nth_value" | "array_agg" | "string_agg")
}

fn need(name: &str, frame: &WindowFrame) -> Need {
    let by_rows = frame.units == WindowFrameUnits::Rows;
    let (from_first, to_last) = (frame.start_bound.is_unbounded(), frame.end_bound.is_unbounded());
    let if_safe = |safe: bool| if safe { Need::Total } else { Need::Impossible };
    match name {
        "rank" | "dense_rank" | "percent_rank" | "cume_dist" => Need::Nothing,
        "row_number" | "ntile" | "lag" | "lead" => Need::Total,
        "first_value" => if_safe(by_rows || from_first),
        "last_value" => if_safe(by_rows || to_last),
        _ if is_pick(name) => if_safe(by_rows || (from_first && to_last)),
        // Of other aggregates only the rows in the frame count, not their order.
        _ if by_rows && !(from_first && to_last) => Need::Total,
        _ => Need::Nothing,
    }
}
