//! Names that a format accepts, each used once.

use rustc_hash::FxHashSet;

/// For each name itself where the format accepts it, else `<prefix><index>`, made longer until it
/// is free. The second part tells how many were replaced.
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

/// A name in braces, with a backslash before each brace and backslash of its own.
pub(super) fn in_braces(text: &str) -> String {
    let mut quoted = String::from("{");
    for character in text.chars() {
        if matches!(character, '{' | '}' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('}');
    quoted
}

/// Each name on one line, made longer until it is free: names that are equal or differ in control
/// characters stay apart.
pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a str>, prefix: &str) -> Vec<String> {
    let mut used: FxHashSet<String> = FxHashSet::default();
    let mut chosen = Vec::new();
    for (index, name) in names.enumerate() {
        let mut own = one_line(name);
        while !used.insert(own.clone()) {
            own = format!("{own}#{prefix}{index}");
        }
        chosen.push(own);
    }
    chosen
}

/// A text on one line, for comments.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
