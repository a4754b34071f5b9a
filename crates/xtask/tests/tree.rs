//! Holds the tree to its style, and the generated pages to the code.

#[test]
fn the_tree_is_tidy() {
    let offences = xtask::tidy::offences(&xtask::root());
    let shown: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "\n{}\n", shown.join("\n"));
}

#[test]
fn generated_pages_are_fresh() {
    for (path, text) in xtask::docs::pages() {
        let written = std::fs::read_to_string(xtask::root().join(path)).unwrap_or_default();
        assert!(written == text, "`{path}` is not what the code says: run `cargo run -p xtask -- docs`");
    }
}
