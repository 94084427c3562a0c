//! Numbers in sentences.

use std::collections::BTreeSet;
use std::fmt::Display;

/// A number with the noun that it counts: `1 place`, `2 places`.
pub fn counted(number: impl Display, noun: &str) -> String {
    let digits = number.to_string();
    let ending = if digits == "1" { "" } else { "s" };
    format!("{digits} {noun}{ending}")
}

/// Alternatives in a sentence, each once: `a or b`.
pub fn alternatives(names: impl IntoIterator<Item = String>) -> String {
    let mut seen = BTreeSet::new();
    let names: Vec<String> = names.into_iter().filter(|name| seen.insert(name.clone())).collect();
    names.join(" or ")
}

/// How wide a column is made at most to stand in line with others: names may have a million
/// letters, and the library's own padding ends at 2¹⁶.
pub(crate) const WIDEST: usize = 500;

/// How many configurations an exploration may have, as a reason for no answer.
pub(super) fn more_than(configurations: u64) -> String {
    format!("more than {}", counted(configurations, "configuration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_is_plural() {
        assert_eq!([0, 1, 2, 21].map(|number| counted(number, "net")), ["0 nets", "1 net", "2 nets", "21 nets"]);
    }
}
