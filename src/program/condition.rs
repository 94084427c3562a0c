//! Conditions on final states, as litmus tests state them.
//!
//! A condition quantifies a proposition over final states. What it looks at is an [`Observable`]: a register of a
//! thread or a memory cell, seen through the width and signedness of its type. Propositions are evaluated over any
//! final state that can tell the raw value of a [`Place`].

use super::domain::Value;
use super::expression::truncate;
use super::ids::{RegisterId, ThreadId};

/// Something a final state gives a value to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A register of a thread.
    Register {
        /// The thread.
        thread: ThreadId,
        /// Its register.
        register: RegisterId,
    },
    /// A memory cell, by its address.
    Memory(Value),
}

/// A place as a test looks at it: under a name, with a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observable {
    /// Where the value is.
    pub place: Place,
    /// The name shown: `0:rax`, `[x]`, `t[2]`.
    pub name: String,
    /// The number of low bits looked at, 1 to 64.
    pub bits: u8,
    /// Whether they are a two's-complement number.
    pub signed: bool,
    /// Whether the value may be an address, then shown by its name.
    pub pointer: bool,
}

impl Observable {
    /// A place seen whole, as a signed 64-bit number.
    pub fn whole(place: Place, name: impl Into<String>) -> Self {
        Self { place, name: name.into(), bits: 64, signed: true, pointer: false }
    }

    /// What is seen of a raw value: its low bits with their sign.
    pub fn view(&self, raw: Value) -> Value {
        // 64 unsigned bits may exceed a value; they are seen as the machine's signed number, as everywhere.
        let signed = self.signed || self.bits == 64;
        Value::try_from(truncate(i128::from(raw), self.bits, signed)).expect("64 bits fit a value")
    }
}

/// The right-hand side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A number.
    Constant(Value),
    /// The number of an address, by its name.
    Address {
        /// The name as written.
        name: String,
        /// The address.
        value: Value,
    },
    /// Another place.
    Observable(Observable),
}

/// A proposition over one final state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Proposition {
    /// `left = right`.
    Equal(Observable, Operand),
    /// `not p` (also `~p`).
    Not(Box<Proposition>),
    /// Conjunction; `true` when empty.
    And(Vec<Proposition>),
    /// Disjunction; `false` when empty.
    Or(Vec<Proposition>),
    /// `p => q`.
    Implies(Box<Proposition>, Box<Proposition>),
}

impl Proposition {
    /// Whether it holds in the final state whose raw values `value_of` gives.
    pub fn holds(&self, value_of: &impl Fn(Place) -> Value) -> bool {
        let seen = |observable: &Observable| observable.view(value_of(observable.place));
        match self {
            // Both sides are compared through the left one's type, so that `x = -1` means what it says.
            Self::Equal(left, Operand::Constant(value) | Operand::Address { value, .. }) => {
                seen(left) == left.view(*value)
            }
            Self::Equal(left, Operand::Observable(right)) => seen(left) == left.view(seen(right)),
            Self::Not(inner) => !inner.holds(value_of),
            Self::And(parts) => parts.iter().all(|part| part.holds(value_of)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(value_of)),
            Self::Implies(premise, conclusion) => !premise.holds(value_of) || conclusion.holds(value_of),
        }
    }

    /// Calls `visit` with every place looked at, left to right, repetitions included.
    pub fn for_each_observable<'a>(&'a self, visit: &mut impl FnMut(&'a Observable)) {
        match self {
            Self::Equal(left, right) => {
                visit(left);
                if let Operand::Observable(right) = right {
                    visit(right);
                }
            }
            Self::Not(inner) => inner.for_each_observable(visit),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.for_each_observable(visit)),
            Self::Implies(premise, conclusion) => {
                premise.for_each_observable(visit);
                conclusion.for_each_observable(visit);
            }
        }
    }
}

/// How a condition ranges over final states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Some final state satisfies it.
    Exists,
    /// No final state satisfies it.
    NotExists,
    /// Every final state satisfies it.
    ForAll,
}

/// A quantified proposition over the final states of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// Over which final states.
    pub quantifier: Quantifier,
    /// What they satisfy.
    pub proposition: Proposition,
}

impl Condition {
    /// Whether the condition holds when so many final states satisfy the proposition and so many do not.
    pub fn verdict(&self, satisfying: u64, others: u64) -> bool {
        match self.quantifier {
            Quantifier::Exists => satisfying > 0,
            Quantifier::NotExists => satisfying == 0,
            Quantifier::ForAll => others == 0,
        }
    }
}

impl std::fmt::Display for Quantifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Exists => "exists",
            Self::NotExists => "~exists",
            Self::ForAll => "forall",
        })
    }
}

impl std::fmt::Display for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Address { name, .. } => f.write_str(name),
            Self::Observable(observable) => f.write_str(&observable.name),
        }
    }
}

impl Proposition {
    /// How tightly it binds: 3 atoms and negations, 2 conjunctions, 1 disjunctions, 0 implications.
    fn precedence(&self) -> u8 {
        match self {
            Self::Equal(..) | Self::Not(_) => 3,
            Self::And(parts) | Self::Or(parts) if parts.is_empty() => 3,
            Self::And(_) => 2,
            Self::Or(_) => 1,
            Self::Implies(..) => 0,
        }
    }

    fn write(&self, f: &mut std::fmt::Formatter<'_>, outer: u8) -> std::fmt::Result {
        let parenthesized = self.precedence() < outer;
        if parenthesized {
            f.write_str("(")?;
        }
        let sequence = |f: &mut std::fmt::Formatter<'_>, parts: &[Proposition], operator: &str, inner: u8| {
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    write!(f, " {operator} ")?;
                }
                part.write(f, inner)?;
            }
            Ok(())
        };
        match self {
            Self::Equal(left, right) => write!(f, "{}={right}", left.name)?,
            Self::Not(inner) => {
                f.write_str("not (")?;
                inner.write(f, 0)?;
                f.write_str(")")?;
            }
            Self::And(parts) if parts.is_empty() => f.write_str("true")?,
            Self::Or(parts) if parts.is_empty() => f.write_str("false")?,
            Self::And(parts) => sequence(f, parts, "/\\", 2)?,
            Self::Or(parts) => sequence(f, parts, "\\/", 2)?,
            Self::Implies(premise, conclusion) => {
                premise.write(f, 1)?;
                f.write_str(" => ")?;
                conclusion.write(f, 0)?;
            }
        }
        if parenthesized {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Proposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.write(f, 0)
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.quantifier, self.proposition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(address: Value, value: Value) -> Proposition {
        let observable = Observable {
            place: Place::Memory(address),
            name: format!("[m{address}]"),
            bits: 32,
            signed: true,
            pointer: false,
        };
        Proposition::Equal(observable, Operand::Constant(value))
    }

    #[test]
    fn values_are_seen_through_their_type() {
        let minus_one = equal(1, -1);
        assert!(minus_one.holds(&|_| 0xffff_ffff));
        assert!(minus_one.holds(&|_| -1));
        assert!(!minus_one.holds(&|_| 1));
    }

    #[test]
    fn conditions_print_with_parentheses_where_needed() {
        let either = Proposition::Or(vec![equal(1, 0), equal(2, 0)]);
        let condition = Condition {
            quantifier: Quantifier::NotExists,
            proposition: Proposition::And(vec![either, Proposition::Not(Box::new(equal(3, 1)))]),
        };
        assert_eq!(condition.to_string(), "~exists (([m1]=0 \\/ [m2]=0) /\\ not ([m3]=1))");
    }
}
