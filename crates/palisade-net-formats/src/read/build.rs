//! What a reader of formulas makes of conditions: lower bounds, for coverability, or any condition,
//! for reachability.

use super::formula::{Formula, Sense, Sum};
use num_bigint::BigInt;
use palisade_model::net::{Formula as Condition, LinearBound, Net, PlaceId, TransitionId};
use palisade_model::text::{Diagnostic, Span};

/// Makes conditions in the sense in which they count.
pub(super) trait Build {
    /// A condition.
    type Part;

    /// A truth value.
    fn constant(&self, sense: Sense, value: bool) -> Self::Part;

    /// A conjunction of parts that were made in this sense.
    fn all(&self, sense: Sense, parts: Vec<Self::Part>) -> Self::Part;

    /// A disjunction of parts that were made in this sense.
    fn any(&self, sense: Sense, parts: Vec<Self::Part>) -> Self::Part;

    /// That no transition can fire, where that is a condition.
    fn deadlock(&self, sense: Sense, net: &Net) -> Option<Self::Part>;

    /// Whether it can be asked in this sense that a transition can fire.
    fn can_ask_fireable(&self, sense: Sense, span: Span) -> Result<(), Diagnostic>;

    /// That a transition can fire; the span is that of its name.
    fn fireable(&self, sense: Sense, net: &Net, transition: TransitionId, span: Span)
    -> Result<Self::Part, Diagnostic>;

    /// A comparison, by its sign.
    fn compare(&self, sense: Sense, sign: &str, sides: (Sum, Sum), span: Span) -> Result<Self::Part, Diagnostic>;
}

/// Makes lower bounds.
pub(super) struct LowerBounds;

impl Build for LowerBounds {
    type Part = Formula;

    fn constant(&self, sense: Sense, value: bool) -> Formula {
        sense.constant(value)
    }

    fn all(&self, sense: Sense, parts: Vec<Formula>) -> Formula {
        sense.all(parts)
    }

    fn any(&self, sense: Sense, parts: Vec<Formula>) -> Formula {
        sense.any(parts)
    }

    fn deadlock(&self, _: Sense, _: &Net) -> Option<Formula> {
        None
    }

    fn can_ask_fireable(&self, sense: Sense, span: Span) -> Result<(), Diagnostic> {
        match sense {
            Sense::Plain => Ok(()),
            Sense::Negated => Err(Diagnostic::error(sense.no_lower_bound(), span).with_expected(["`NOT FIREABLE`"])),
        }
    }

    fn fireable(&self, sense: Sense, net: &Net, transition: TransitionId, span: Span) -> Result<Formula, Diagnostic> {
        let complaint = || Diagnostic::error(sense.no_lower_bound(), span);
        Formula::fireable(net, transition).ok_or_else(complaint)
    }

    fn compare(&self, sense: Sense, sign: &str, (left, right): (Sum, Sum), span: Span) -> Result<Formula, Diagnostic> {
        let bound = match sign {
            ">=" | ">" => sense.at_most(right, left, sign == ">"),
            "<=" | "<" => sense.at_most(left, right, sign == "<"),
            _ => {
                let in_sense = if sign == "=" { sense } else { sense.negated() };
                let complaint = || {
                    let message = format!("`{sign}` makes no coverability question");
                    Diagnostic::error(message, span).with_expected(match sense {
                        Sense::Plain => ["`>=`", "`!= 0`"],
                        Sense::Negated => ["`<=`", "`= 0`"],
                    })
                };
                return in_sense.equal(left, right).ok_or_else(complaint);
            }
        };
        bound.ok_or_else(|| {
            let side = match sense {
                Sense::Plain => "places on the larger side only",
                Sense::Negated => "places on the smaller side only",
            };
            Diagnostic::error(sense.no_lower_bound(), span).with_expected([side])
        })
    }
}

/// Makes any condition.
pub(super) struct AnyCondition;

impl Build for AnyCondition {
    type Part = Condition;

    fn constant(&self, sense: Sense, value: bool) -> Condition {
        Condition::Constant(value == (sense == Sense::Plain))
    }

    fn all(&self, sense: Sense, parts: Vec<Condition>) -> Condition {
        match sense {
            Sense::Plain => Condition::All(parts),
            Sense::Negated => Condition::Any(parts),
        }
    }

    fn any(&self, sense: Sense, parts: Vec<Condition>) -> Condition {
        self.all(sense.negated(), parts)
    }

    fn deadlock(&self, sense: Sense, net: &Net) -> Option<Condition> {
        Some(in_sense(sense, net, Condition::Deadlock))
    }

    fn can_ask_fireable(&self, _: Sense, _: Span) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn fireable(&self, sense: Sense, net: &Net, transition: TransitionId, _: Span) -> Result<Condition, Diagnostic> {
        Ok(in_sense(sense, net, Condition::fireable(net, transition)))
    }

    fn compare(&self, sense: Sense, sign: &str, (left, right): (Sum, Sum), _: Span) -> Result<Condition, Diagnostic> {
        let (left, right) = (Weighed::from(left), Weighed::from(right));
        Ok(in_sense(sense, &Net::default(), comparison(sign, &left, &right)))
    }
}

/// A condition of the net, or in the negated sense its contrary.
pub(super) fn in_sense(sense: Sense, net: &Net, condition: Condition) -> Condition {
    match sense {
        Sense::Plain => condition,
        Sense::Negated => condition.contrary(net),
    }
}

/// A weighted sum of tokens and a constant.
#[derive(Clone, Debug, Default)]
pub(super) struct Weighed {
    pub(super) terms: Vec<(PlaceId, BigInt)>,
    pub(super) constant: BigInt,
}

impl Weighed {
    /// Adds a sum, or with the sign −1 takes it away.
    pub(super) fn add(&mut self, other: &Self, sign: i32) {
        self.terms.extend(other.terms.iter().map(|(place, weight)| (*place, weight * sign)));
        self.constant += &other.constant * sign;
    }
}

impl From<Sum> for Weighed {
    fn from(sum: Sum) -> Self {
        let terms = sum.terms.into_iter().map(|(place, weight)| (place, weight.to_big().into())).collect();
        Self { terms, constant: sum.constant.to_big().into() }
    }
}

/// A comparison of sums: `<=`, `<`, `>=`, `>`, `=`, or else `!=`.
pub(super) fn comparison(sign: &str, left: &Weighed, right: &Weighed) -> Condition {
    // `small + by ≤ large`.
    let at_most = |small: &Weighed, large: &Weighed, by: i32| {
        let mut sum = large.clone();
        sum.add(small, -1);
        Condition::AtLeast(LinearBound::new(sum.terms, BigInt::from(by) - sum.constant))
    };
    match sign {
        "<=" => at_most(left, right, 0),
        "<" => at_most(left, right, 1),
        ">=" => at_most(right, left, 0),
        ">" => at_most(right, left, 1),
        "=" => Condition::All(vec![at_most(left, right, 0), at_most(right, left, 0)]),
        _ => Condition::Any(vec![at_most(left, right, 1), at_most(right, left, 1)]),
    }
}
