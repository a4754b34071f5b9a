//! What a task reads: columns and ranges, from the optimised plan with parameters kept symbolic.
//!
//! DataFusion's optimiser moves filters down to the scans and through joins where that is valid; what stands at
//! a scan then holds for every row that anything above can see. Whatever is not understood is unbounded: ranges
//! may be too wide, never too narrow.

mod bounds;
mod joins;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use oncemore_core::{Bound, ColumnsRead, Edge, Read, TimeType};

use self::bounds::Range;
pub(super) use self::joins::has_subquery;
use super::parameters::Parameter;
use super::{EngineError, InputSchema};

/// What has been seen of one input.
#[derive(Default)]
struct Seen {
    columns: BTreeSet<String>,
    range: Option<Range>,
}

/// One read per input of an optimised plan, by name.
pub(super) fn reads(
    state: &SessionState,
    mut optimised: LogicalPlan,
    parameters: &[Parameter],
    inputs: &[InputSchema],
) -> Result<Vec<Read>, EngineError> {
    if let Some(narrowed) = joins::narrowed(&optimised)? {
        optimised = state.optimize(&narrowed)?;
    }
    let mut seen: BTreeMap<&str, Seen> =
        inputs.iter().map(|input| (input.name.as_str(), Seen::default())).collect();
    optimised.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let name = scan.table_name.to_string();
            if let Some(input) = inputs.iter().find(|input| input.name == name)
                && let Some(seen) = seen.get_mut(name.as_str())
            {
                seen.add(scan, input, parameters);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let reads = seen.into_iter().map(|(name, seen)| {
        let time = inputs.iter().find(|input| input.name == name).and_then(|input| input.time.as_ref());
        seen.read(name, time.map(|time| time.time_type))
    });
    Ok(reads.collect())
}

impl Seen {
    fn add(&mut self, scan: &TableScan, input: &InputSchema, parameters: &[Parameter]) {
        for field in scan.projected_schema.fields() {
            self.columns.insert(field.name().clone());
        }
        for filter in &scan.filters {
            self.columns.extend(filter.column_refs().into_iter().map(|column| column.name.clone()));
        }
        let Some(time) = &input.time else { return };
        let reader = values::Reader { column: &time.column, time_type: time.time_type, parameters };
        let here = scan.filters.iter().map(|filter| reader.range(filter)).fold(Range::default(), Range::and);
        self.range = Some(match self.range.take() {
            Some(before) => before.or(here),
            None => here,
        });
    }

    fn read(self, name: &str, time_type: Option<TimeType>) -> Read {
        let range = match (self.range, time_type) {
            (Some(range), _) => range,
            // Never scanned: an empty range, where ranges mean anything.
            (None, Some(time_type)) if self.columns.is_empty() => {
                let nothing = Bound { edge: Edge::Const(0), time_type, offsets: Vec::new() };
                Range { from: Some(nothing.clone()), to: Some(nothing) }
            }
            (None, _) => Range::default(),
        };
        let columns = ColumnsRead::Some(self.columns.into_iter().collect());
        Read { input: name.to_owned(), columns, from: range.from, to: range.to }
    }
}
