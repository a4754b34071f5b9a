//! Helpers of tests: project fixtures in one string, numbers from a seed, faults by plan. Knows `core` alone.

pub mod faults;
pub mod numbers;
mod objects;

pub use objects::FaultyObjects;

/// The files of a fixture: each begins with a line `//- <path>`; what comes before the first one is ignored.
///
/// ```
/// let files = oncemore_testkit::files("//- a.yml\nname: x\n//- b/c.sql\nSELECT 1\n");
/// assert_eq!(files[1], ("b/c.sql".to_owned(), "SELECT 1\n".to_owned()));
/// ```
pub fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("//- ") {
            Some(path) => files.push((path.trim().to_owned(), String::new())),
            None => {
                if let Some((_, body)) = files.last_mut() {
                    body.push_str(line);
                }
            }
        }
    }
    files
}
