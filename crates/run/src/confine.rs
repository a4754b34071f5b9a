//! Links: nothing that a project names leads out of its folder.

use std::path::Path;

use crate::error::{ErrorKind, RunError};

/// Refuses `path`, below `root`, where it leads out of `root` by a link. What is not there yet leads nowhere.
///
/// # Errors
/// A link out, or a folder that can't be looked at.
pub(crate) fn inside(root: &Path, path: &Path) -> Result<(), RunError> {
    let Some(there) =
        path.ancestors().map(|part| root.join(part)).find(|full| full.symlink_metadata().is_ok())
    else {
        return Ok(());
    };
    let look = |path: &Path| {
        path.canonicalize().map_err(|error| {
            RunError::new(ErrorKind::Config, format!("can't follow `{}`: {error}", path.display()))
                .help("a link in the project's folder leads to what is there, in that folder")
        })
    };
    let (home, target) = (look(root)?, look(&there)?);
    if target.starts_with(&home) {
        return Ok(());
    }
    Err(RunError::new(
        ErrorKind::Config,
        format!(
            "`{}` leads out of the project's folder by a link, to `{}`",
            path.display(),
            target.display()
        ),
    )
    .help("put what it leads to into the project's folder, or mount it there"))
}
