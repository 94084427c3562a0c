//! Writer of coverability questions as formulas in LoLA's syntax.

use super::names::in_braces;
use crate::read::FORMULA_KEYWORDS;
use palisade_model::net::Target;

/// That one of the targets is reached, on places of these names; nothing when there is no target.
pub(super) fn write(targets: &[Target], places: &[String]) -> Option<String> {
    if targets.is_empty() {
        return None;
    }
    let alternatives: Vec<String> = targets.iter().map(|target| alternative(target, places)).collect();
    Some(format!("EF ({})\n", alternatives.join(" OR ")))
}

fn alternative(target: &Target, places: &[String]) -> String {
    if target.demands.is_empty() {
        return "TRUE".to_owned();
    }
    let bounds = target.demands.iter().map(|(place, count)| format!("{} >= {count}", name(&places[place.index()])));
    format!("({})", bounds.collect::<Vec<_>>().join(" AND "))
}

/// A name as it stands, or in braces.
fn name(text: &str) -> String {
    let plain = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
        && !FORMULA_KEYWORDS.contains(&text);
    if plain { text.to_owned() } else { in_braces(text) }
}
