//! How evidence and the command line call a question of a property.

use num_bigint::BigInt;

/// Which question of a property is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichQuestion {
    /// The only one: `ID`.
    Only,
    /// The question of this number, from 1: `ID#2`.
    Number(usize),
    /// Whether the bound of the property is at least this: `ID>=3`.
    AtLeast(BigInt),
}

impl WhichQuestion {
    /// The property's id and the question that a name calls. An id that ends so itself has to be
    /// looked for before.
    pub fn of(name: &str) -> (&str, Self) {
        if let Some((id, number)) = name.rsplit_once('#')
            && let Some(number) = number.parse().ok().filter(|number| *number > 0)
        {
            return (id, Self::Number(number));
        }
        match name.rsplit_once(">=").and_then(|(id, tokens)| Some((id, tokens.parse().ok()?))) {
            Some((id, tokens)) => (id, Self::AtLeast(tokens)),
            None => (name, Self::Only),
        }
    }

    /// The name of a question of the property of this id.
    pub fn name(&self, id: &str) -> String {
        match self {
            Self::Only => id.to_owned(),
            Self::Number(number) => format!("{id}#{number}"),
            Self::AtLeast(tokens) => format!("{id}>={tokens}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_made() {
        for which in [WhichQuestion::Only, WhichQuestion::Number(2), WhichQuestion::AtLeast(BigInt::from(12))] {
            assert_eq!(WhichQuestion::of(&which.name("a>=b#c")), ("a>=b#c", which));
        }
        assert_eq!(WhichQuestion::of("a#0"), ("a#0", WhichQuestion::Only));
    }
}
