//! The nearest known name to a mistyped one. Knows no project.

/// The candidate most like `name`, if any is near enough to be what was meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_ascii_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(wanted.len()) <= allowed * 4)
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&wanted, &candidate.to_ascii_lowercase());
            (distance <= allowed).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// The known table most like `name`: by all of it, else by the part after the dot.
pub(crate) fn nearest_table<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let last = |text: &'a str| text.rsplit('.').next().unwrap_or(text);
    let own = name.rsplit('.').next().unwrap_or(name);
    known
        .iter()
        .copied()
        .find(|candidate| last(candidate) == own)
        .or_else(|| nearest(name, known.iter().copied()))
        .or_else(|| {
            let part = nearest(own, known.iter().map(|candidate| last(candidate)))?;
            known.iter().copied().find(|candidate| last(candidate) == part)
        })
}

/// `did you mean` for a help text, else the list where it is short.
pub(crate) fn suggest(name: &str, known: &[&str]) -> Option<String> {
    match nearest(name, known.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if (1..=12).contains(&known.len()) => Some(format!("known: {}", known.join(", "))),
        None => None,
    }
}
