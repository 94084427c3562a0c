//! Properties of a net: formulas over questions of coverability and reachability.

use super::formula::{Formula, LinearBound, ReachQuestion};
use super::ids::PlaceId;
use super::model::{Quantifier, Query};
use super::which_question::WhichQuestion;
use crate::text::Diagnostic;
use num_bigint::BigInt;

/// A property with its name, read as far as it is about reachable markings.
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
    /// `EF` or `AG` of something that lower bounds describe.
    Question(Question),
    /// `EF` or `AG` of any other condition on a marking.
    Reach(ReachQuestion),
    /// How large a sum of tokens gets: a number, no truth value.
    Bound(UpperBound),
    /// Something that is no question about reachable markings, and why.
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
}

/// The question how large a weighted sum of tokens gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpperBound {
    /// Places with their weights: ascending, each once, no weight 0.
    pub terms: Vec<(PlaceId, BigInt)>,
}

impl UpperBound {
    /// The condition that the sum is at least so large.
    pub fn at_least(&self, tokens: BigInt) -> Formula {
        Formula::AtLeast(LinearBound { terms: self.terms.clone(), bound: tokens })
    }
}

/// A question of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedOf<'a> {
    /// Of coverability.
    Cover(&'a Question),
    /// Of reachability.
    Reach(&'a ReachQuestion),
}

impl AskedOf<'_> {
    /// What is sought, as a condition.
    pub fn goal(&self) -> Formula {
        match self {
            Self::Cover(question) => Formula::covers(&question.query),
            Self::Reach(question) => question.goal.clone(),
        }
    }

    /// How it is put.
    pub fn quantifier(&self) -> Quantifier {
        match self {
            Self::Cover(question) => question.quantifier,
            Self::Reach(question) => question.quantifier,
        }
    }
}

impl Claim {
    /// Its questions, in order. Evidence calls them by their numbers in this order, from 1.
    pub fn questions(&self) -> Vec<AskedOf<'_>> {
        match self {
            Self::Question(question) => vec![AskedOf::Cover(question)],
            Self::Reach(question) => vec![AskedOf::Reach(question)],
            Self::Open(_) | Self::Bound(_) => Vec::new(),
            Self::Not(part) => part.questions(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::questions).collect(),
        }
    }

    /// The sum whose bound it asks for.
    pub fn bound(&self) -> Option<&UpperBound> {
        match self {
            Self::Bound(bound) => Some(bound),
            _ => None,
        }
    }

    /// A question of it as one of reachability; nothing where there is no such question.
    pub fn reach_question(&self, which: &WhichQuestion) -> Option<ReachQuestion> {
        let number = match which {
            WhichQuestion::AtLeast(tokens) => {
                let goal = self.bound()?.at_least(tokens.clone());
                return Some(ReachQuestion { quantifier: Quantifier::Eventually, goal });
            }
            WhichQuestion::Number(number) => *number,
            WhichQuestion::Only => 1,
        };
        let asked = *self.questions().get(number.checked_sub(1)?)?;
        Some(ReachQuestion { quantifier: asked.quantifier(), goal: asked.goal() })
    }

    /// Why parts of it are no questions about reachable markings, in order.
    pub fn obstacles(&self) -> Vec<&Diagnostic> {
        match self {
            Self::Question(_) | Self::Reach(_) | Self::Bound(_) => Vec::new(),
            Self::Open(why) => vec![why],
            Self::Not(part) => part.obstacles(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::obstacles).collect(),
        }
    }

    /// Whether it holds, as far as the answers to its questions tell, which are given in their
    /// order.
    pub fn value(&self, answers: &[Option<bool>]) -> Option<bool> {
        let mut answers = answers.iter().copied();
        self.value_of(&mut answers)
    }

    fn value_of(&self, answers: &mut impl Iterator<Item = Option<bool>>) -> Option<bool> {
        match self {
            Self::Question(Question { quantifier, .. }) | Self::Reach(ReachQuestion { quantifier, .. }) => {
                answers.next()?.map(|is_met| quantifier.holds(is_met))
            }
            Self::Open(_) | Self::Bound(_) => None,
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

    /// `EF` of something.
    fn cover() -> Claim {
        Claim::Question(Question { quantifier: Quantifier::Eventually, query: Query::default() })
    }

    /// `AG` of something.
    fn reach() -> Claim {
        Claim::Reach(ReachQuestion { quantifier: Quantifier::Always, goal: Formula::Deadlock })
    }

    #[test]
    fn values_are_known_where_the_parts_tell() {
        let open = Claim::Open(Diagnostic::error("no", Span::default()));
        let any = Claim::Any(vec![cover(), open.clone(), reach()]);
        assert_eq!(any.value(&[Some(true), None]), Some(true));
        assert_eq!(any.value(&[None, Some(false)]), Some(true));
        assert_eq!(any.value(&[Some(false), Some(true)]), None, "a part is open");
        let all = Claim::All(vec![reach(), open, cover()]);
        assert_eq!(all.value(&[Some(true), Some(true)]), Some(false));
        assert_eq!(all.value(&[Some(false), Some(true)]), None, "a part is open");
        let not = Claim::Not(Box::new(Claim::Any(vec![cover(), cover()])));
        assert_eq!(not.value(&[Some(false), Some(false)]), Some(true));
        assert_eq!(not.value(&[None, Some(true)]), Some(false));
        assert_eq!(not.value(&[None, Some(false)]), None);
        assert_eq!((any.questions().len(), any.obstacles().len()), (2, 1));
    }
}
