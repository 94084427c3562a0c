//! Names that a format accepts, each used once.

use rustc_hash::FxHashSet;

/// For each name itself where the format accepts it, else `<prefix><index>`, made longer until it is free. The second
/// part tells how many were replaced.
pub(super) fn accepted<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    prefix: &str,
    accepts: impl Fn(&str) -> bool,
) -> (Vec<String>, usize) {
    let mut used: FxHashSet<String> = FxHashSet::default();
    let kept: Vec<bool> = names.clone().map(|name| accepts(name) && used.insert(name.to_owned())).collect();
    let mut replaced = 0;
    let chosen = names
        .zip(kept)
        .enumerate()
        .map(|(index, (name, kept))| {
            if kept {
                return name.to_owned();
            }
            replaced += 1;
            let mut candidate = format!("{prefix}{index}");
            while !used.insert(candidate.clone()) {
                candidate.push('_');
            }
            candidate
        })
        .collect();
    (chosen, replaced)
}

/// The note about replaced names, when there are some.
pub(super) fn note(replaced: usize, what: &str) -> Option<String> {
    match replaced {
        0 => None,
        1 => Some(format!("1 {what} has another name, as the format does not accept its own")),
        _ => Some(format!("{replaced} {what}s have other names, as the format does not accept their own")),
    }
}

/// A text on one line, for comments.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
