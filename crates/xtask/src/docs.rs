//! Pages that are made from the code, so that they can't say something else.

use std::io;
use std::path::Path;

/// Generated pages: path and text.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![("docs/keys.md", oncemore_project::keys_markdown())]
}

/// Writes every generated page.
///
/// # Errors
/// A page that can't be written.
pub fn write(root: &Path) -> io::Result<()> {
    for (path, text) in pages() {
        std::fs::write(root.join(path), text)?;
    }
    Ok(())
}
