//! Changes on their way into a log: which of them delete their key.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use crate::error::{EngineError, ErrorKind};

/// A condition on changes, ready to be asked.
#[derive(Debug)]
pub struct Condition {
    expression: Arc<dyn PhysicalExpr>,
}

impl Condition {
    /// Parses `text` as a condition on rows with the columns `schema`.
    ///
    /// # Errors
    /// Not one SQL condition over these columns.
    pub fn parse(session: &SessionContext, schema: &SchemaRef, text: &str) -> Result<Condition, EngineError> {
        let schema = DFSchema::try_from(Arc::clone(schema))?;
        let parsed = session.parse_sql_expr(text, &schema)?.unalias();
        let hides = parsed.exists(|part| {
            Ok(matches!(part, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_)))
        })?;
        if hides {
            return Err(EngineError::new(ErrorKind::Refused, "a condition on changes can't hold a query"));
        }
        let kind = parsed.get_type(&schema)?;
        if kind != DataType::Boolean {
            let message = format!("`{}` is no condition: its type is {kind}", text.trim());
            return Err(
                EngineError::new(ErrorKind::Type, message).help("write a comparison, `op = 'delete'` say")
            );
        }
        Ok(Condition { expression: session.create_physical_expr(parsed, &schema)? })
    }

    /// Adds the column `name` to each batch: whether the condition is true. NULL is not.
    pub fn mark(self, rows: SendableRecordBatchStream, name: &str) -> SendableRecordBatchStream {
        let schema = marked(&rows.schema(), name);
        let own = Arc::clone(&schema);
        let marked = rows.map(move |batch| {
            let batch = batch?;
            let said = self.expression.evaluate(&batch)?.into_array(batch.num_rows())?;
            let said = said.as_boolean_opt().ok_or_else(not_boolean)?.iter();
            let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
            columns.push(Arc::new(said.map(|said| Some(said == Some(true))).collect::<BooleanArray>()));
            Ok(RecordBatch::try_new(Arc::clone(&own), columns)?) as EngineResult<RecordBatch>
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, marked))
    }
}

fn not_boolean() -> DataFusionError {
    DataFusionError::Internal("a condition that yields no booleans".to_owned())
}

/// The columns with one more that says true or false.
pub fn marked(schema: &SchemaRef, name: &str) -> SchemaRef {
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(name, DataType::Boolean, true)));
    Arc::new(Schema::new(fields))
}
