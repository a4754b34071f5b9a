//! Keeps DataFusion's physical filter pushdown away from joins.
//!
//! `FilterPushdown` (53.1) finds a filter's columns below a projection by name. Where both sides of a join have
//! a column of one name it takes the first: `a LEFT JOIN b … WHERE b.id IS NULL` filters `a.id`, and rows are
//! lost without a word. The logical optimiser has moved filters through joins before, by qualified name, so
//! that nothing is lost by pushing below joins only.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// DataFusion's rules, that one kept below joins.
pub(super) fn rules() -> Vec<Rule> {
    let all = PhysicalOptimizer::new().rules;
    let pushes = |rule: &Rule| rule.name().starts_with("FilterPushdown");
    let mut first = true;
    all.into_iter()
        .filter_map(|rule| {
            if !pushes(&rule) {
                return Some(rule);
            }
            // The second pass pushes dynamic filters, which are off.
            std::mem::take(&mut first).then(|| Arc::new(BelowJoins(rule)) as Rule)
        })
        .collect()
}

#[derive(Debug)]
struct BelowJoins(Rule);

impl PhysicalOptimizerRule for BelowJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !has_join(plan.as_ref()) {
            return self.0.optimize(plan, config);
        }
        let below: Result<Vec<_>> =
            plan.children().into_iter().map(|child| self.optimize(Arc::clone(child), config)).collect();
        plan.with_new_children(below?)
    }

    fn name(&self) -> &str {
        "filter_pushdown_below_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn has_join(plan: &dyn ExecutionPlan) -> bool {
    plan.name().contains("Join") || plan.children().iter().any(|child| has_join(child.as_ref()))
}
