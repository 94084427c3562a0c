//! Properties of a net: formulas over questions, each of which is one of coverability.

use super::model::{Quantifier, Query};
use crate::text::Diagnostic;

/// A property with its name, read as far as it is about coverability.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its id.
    pub id: String,
    /// What it says.
    pub claim: Claim,
}

/// What a property says.
#[derive(Clone, Debug)]
pub enum Claim {
    /// `EF` or `AG` of something.
    Question(Question),
    /// Something that is no question of coverability, and why.
    Open(Diagnostic),
    /// The contrary.
    Not(Box<Claim>),
    /// All of them.
    All(Vec<Claim>),
    /// One of them.
    Any(Vec<Claim>),
}

/// `EF` or `AG` of something that lower bounds describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// How it is put.
    pub quantifier: Quantifier,
    /// The targets.
    pub query: Query,
    /// Whether the targets are what the formula asks for. Otherwise they are more, as parts of it are no lower bounds and were left out:
    /// that none of them can be covered is an answer, that one can is none.
    pub is_exact: bool,
}

impl Question {
    /// Whether it holds, when some target can be covered or none can; nothing where that does not tell.
    pub fn holds(&self, coverable: bool) -> Option<bool> {
        (self.is_exact || !coverable).then(|| self.quantifier.holds(coverable))
    }
}

impl Claim {
    /// Its questions, in order. Evidence calls them by their numbers in this order, from 1.
    pub fn questions(&self) -> Vec<&Question> {
        match self {
            Self::Question(question) => vec![question],
            Self::Open(_) => Vec::new(),
            Self::Not(part) => part.questions(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::questions).collect(),
        }
    }

    /// Why parts of it are no questions of coverability, in order.
    pub fn obstacles(&self) -> Vec<&Diagnostic> {
        match self {
            Self::Question(_) => Vec::new(),
            Self::Open(why) => vec![why],
            Self::Not(part) => part.obstacles(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::obstacles).collect(),
        }
    }

    /// Whether it holds, as far as the answers to its questions tell, which are given in their order.
    pub fn value(&self, answers: &[Option<bool>]) -> Option<bool> {
        let mut answers = answers.iter().copied();
        self.value_of(&mut answers)
    }

    fn value_of(&self, answers: &mut impl Iterator<Item = Option<bool>>) -> Option<bool> {
        match self {
            Self::Question(question) => question.holds(answers.next()??),
            Self::Open(_) => None,
            Self::Not(part) => part.value_of(answers).map(|value| !value),
            Self::All(parts) => together(parts, false, answers),
            Self::Any(parts) => together(parts, true, answers),
        }
    }
}

/// The value of parts of which one that has the deciding value settles all.
fn together(parts: &[Claim], deciding: bool, answers: &mut impl Iterator<Item = Option<bool>>) -> Option<bool> {
    // All parts take their answers, whether or not these still matter.
    let values: Vec<Option<bool>> = parts.iter().map(|part| part.value_of(answers)).collect();
    if values.contains(&Some(deciding)) {
        return Some(deciding);
    }
    (!values.contains(&None)).then_some(!deciding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    fn question(is_exact: bool) -> Claim {
        Claim::Question(Question { quantifier: Quantifier::Eventually, query: Query::default(), is_exact })
    }

    #[test]
    fn values_are_known_where_the_parts_tell() {
        let open = Claim::Open(Diagnostic::error("no", Span::default()));
        let any = Claim::Any(vec![question(true), open.clone(), question(false)]);
        assert_eq!(any.value(&[Some(true), None]), Some(true));
        assert_eq!(any.value(&[Some(false), Some(false)]), None, "a part is open");
        let all = Claim::All(vec![question(false), open, question(true)]);
        assert_eq!(all.value(&[Some(false), Some(true)]), Some(false));
        assert_eq!(all.value(&[Some(true), Some(true)]), None, "a target too many says nothing");
        let not = Claim::Not(Box::new(Claim::Any(vec![question(true), question(true)])));
        assert_eq!(not.value(&[Some(false), Some(false)]), Some(true));
        assert_eq!(not.value(&[None, Some(true)]), Some(false));
        assert_eq!(not.value(&[None, Some(false)]), None);
        assert_eq!((any.questions().len(), any.obstacles().len()), (2, 1));
    }
}
