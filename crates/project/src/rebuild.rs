//! A model whose table is built anew beside the old one: the same model once more, under tables of other names.

use oncemore_core::{NameError, REBUILD, TableName};

use crate::model::{Fold, Model, Project};

impl Project {
    /// The project with `model`, which has a table, once more behind itself: its tasks write `<name>__rebuild`, and
    /// whoever reads the model goes on reading `<name>`. Returns the table that is built.
    ///
    /// # Errors
    /// A name that leaves no room for the ending.
    pub fn add_rebuild(&mut self, model: &str) -> Result<Option<TableName>, NameError> {
        let Some(at) = self.models.iter().position(|known| known.name.as_str() == model) else {
            return Ok(None);
        };
        let rebuilt = rebuilt(&self.models[at])?;
        let name = rebuilt.name.clone();
        self.models.insert(at + 1, rebuilt);
        Ok(Some(name))
    }
}

fn rebuilt(model: &Model) -> Result<Model, NameError> {
    let fold = model.fold.as_ref().map(|fold| {
        let (log, beside) = (fold.log.with_ending(REBUILD)?, fold.beside.with_ending(REBUILD)?);
        Ok(Fold { log, beside, ..fold.clone() })
    });
    Ok(Model {
        name: model.name.with_ending(REBUILD)?,
        rebuilds: Some(model.name.clone()),
        fold: fold.transpose()?,
        ..model.clone()
    })
}
