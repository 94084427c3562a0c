//! Conditions on final states: the language of a litmus test's last line.

use palisade_model::ordered;
use palisade_model::program::{Program, RegisterId, ThreadId, Value, truncate};
use std::collections::BTreeSet;

/// What can be observed in a final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observable {
    /// A register of a thread.
    Register {
        /// The thread.
        thread: ThreadId,
        /// Its register.
        register: RegisterId,
    },
    /// The memory at an address.
    Address(Value),
}

/// The type through which a test looks at a raw value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The number of low bits seen, 1 to 64.
    pub bits: u8,
    /// Whether they are a two's-complement number; 64 bits always are.
    pub signed: bool,
    /// Whether the value may be an address, then shown by its name.
    pub pointer: bool,
}

impl View {
    /// The whole value as it is.
    pub const WHOLE: Self = Self { bits: 64, signed: true, pointer: false };

    /// What is seen of a raw value.
    pub fn see(self, raw: Value) -> Value {
        let seen = truncate(i128::from(raw), self.bits, self.signed || self.bits == 64);
        Value::try_from(seen).expect("fewer than 64 unsigned or 64 signed bits fit a value")
    }
}

/// An observable under the name it has in the text: `0:EAX`, `x`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// What is observed.
    pub observable: Observable,
    /// Its name, without brackets around an address.
    pub name: String,
    /// Its type.
    pub view: View,
}

impl Observable {
    /// The address, where memory is observed.
    pub fn address(self) -> Option<Value> {
        match self {
            Self::Address(address) => Some(address),
            Self::Register { .. } => None,
        }
    }
}

impl Location {
    /// A location whose value is seen as it is.
    pub fn whole(observable: Observable, name: impl Into<String>) -> Self {
        Self { observable, name: name.into(), view: View::WHOLE }
    }

    /// How its raw value is shown: in decimal through its type, an address by its name.
    pub fn shown(&self, raw: Value, program: &Program) -> String {
        let seen = self.view.see(raw);
        if self.view.pointer { program.address_name(seen) } else { seen.to_string() }
    }
}

/// A value under the text it has in the condition: `1`, `0x10`, or the name of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The value.
    pub value: Value,
    /// How it is written.
    pub text: String,
}

/// A Boolean combination of statements about one final state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Proposition {
    /// Always true.
    True,
    /// Never true.
    False,
    /// `location=constant`.
    Equals(Location, Constant),
    /// `location<>constant`.
    NotEquals(Location, Constant),
    /// `location=location`: both hold the same value.
    Same(Location, Location),
    /// `not (p)`, `~p`.
    Not(Box<Proposition>),
    /// `p /\ q /\ …`.
    And(Vec<Proposition>),
    /// `p \/ q \/ …`.
    Or(Vec<Proposition>),
    /// `p => q`.
    Implies(Box<Proposition>, Box<Proposition>),
}

/// How a condition speaks about all final states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `exists`: some final state satisfies the proposition.
    Exists,
    /// `~exists`: none does.
    NotExists,
    /// `forall`: every one does.
    ForAll,
}

/// A quantified proposition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The quantifier.
    pub quantifier: Quantifier,
    /// The proposition.
    pub proposition: Proposition,
}

/// What a test asks of its final states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Final states that violate this are left out altogether.
    pub filter: Option<Proposition>,
    /// The condition, where there is one.
    pub condition: Option<Condition>,
    /// Locations shown besides those of the condition.
    pub locations: Vec<Location>,
}

impl Proposition {
    /// Whether the proposition holds in the state that `value` reads.
    pub fn holds(&self, value: &impl Fn(Observable) -> Value) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            // Both sides are seen through the location's type, so that `x=-1` means what it says.
            Self::Equals(location, constant) => {
                location.view.see(value(location.observable)) == location.view.see(constant.value)
            }
            Self::NotEquals(location, constant) => {
                location.view.see(value(location.observable)) != location.view.see(constant.value)
            }
            Self::Same(left, right) => {
                left.view.see(value(left.observable)) == left.view.see(right.view.see(value(right.observable)))
            }
            Self::Not(operand) => !operand.holds(value),
            Self::And(operands) => operands.iter().all(|operand| operand.holds(value)),
            Self::Or(operands) => operands.iter().any(|operand| operand.holds(value)),
            Self::Implies(left, right) => !left.holds(value) || right.holds(value),
        }
    }

    /// Calls `visit` with every location, left to right, repetitions included.
    pub fn for_each_location<'a>(&'a self, visit: &mut impl FnMut(&'a Location)) {
        match self {
            Self::True | Self::False => {}
            Self::Equals(location, _) | Self::NotEquals(location, _) => visit(location),
            Self::Same(left, right) => {
                visit(left);
                visit(right);
            }
            Self::Not(operand) => operand.for_each_location(visit),
            Self::And(operands) | Self::Or(operands) => {
                operands.iter().for_each(|operand| operand.for_each_location(visit));
            }
            Self::Implies(left, right) => {
                left.for_each_location(visit);
                right.for_each_location(visit);
            }
        }
    }

    /// Writes the proposition, in parentheses when it binds less tightly than what stands around
    /// it.
    fn write(&self, f: &mut std::fmt::Formatter<'_>, around: Precedence) -> std::fmt::Result {
        match self {
            Self::True => f.write_str("true"),
            Self::False => f.write_str("false"),
            Self::Equals(location, constant) => write!(f, "{location}={}", constant.text),
            Self::NotEquals(location, constant) => write!(f, "not ({location}={})", constant.text),
            Self::Same(left, right) => write!(f, "{left}={right}"),
            Self::Not(operand) => {
                f.write_str("not (")?;
                operand.write(f, Precedence::Lowest)?;
                f.write_str(")")
            }
            Self::And(operands) if operands.is_empty() => f.write_str("true"),
            Self::Or(operands) if operands.is_empty() => f.write_str("false"),
            Self::And(operands) => write_joined(f, operands, " /\\ ", Precedence::And, around),
            Self::Or(operands) => write_joined(f, operands, " \\/ ", Precedence::Or, around),
            Self::Implies(left, right) => in_parentheses(f, around >= Precedence::Implies, |f| {
                left.write(f, Precedence::Implies)?;
                f.write_str(" => ")?;
                right.write(f, Precedence::Lowest)
            }),
        }
    }
}

/// How tightly a connective binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Lowest,
    Implies,
    Or,
    And,
}

fn in_parentheses(
    f: &mut std::fmt::Formatter<'_>,
    needed: bool,
    inner: impl FnOnce(&mut std::fmt::Formatter<'_>) -> std::fmt::Result,
) -> std::fmt::Result {
    if needed {
        f.write_str("(")?;
    }
    inner(f)?;
    if needed { f.write_str(")") } else { Ok(()) }
}

fn write_joined(
    f: &mut std::fmt::Formatter<'_>,
    operands: &[Proposition],
    connective: &str,
    own: Precedence,
    around: Precedence,
) -> std::fmt::Result {
    in_parentheses(f, around > own, |f| {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                f.write_str(connective)?;
            }
            operand.write(f, own)?;
        }
        Ok(())
    })
}

impl std::fmt::Display for Proposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.write(f, Precedence::Lowest)
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.observable {
            Observable::Register { .. } => f.write_str(&self.name),
            Observable::Address(_) => write!(f, "[{}]", self.name),
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quantifier = match self.quantifier {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::ForAll => "forall",
        };
        write!(f, "{quantifier} ({})", self.proposition)
    }
}

impl Question {
    /// Every location to show, each once: registers by thread and name, then addresses by name.
    pub fn observed(&self) -> Vec<Location> {
        let mut all: Vec<&Location> = self.locations.iter().collect();
        if let Some(condition) = &self.condition {
            condition.proposition.for_each_location(&mut |location| all.push(location));
        }
        let rank = |location: &Location| match location.observable {
            Observable::Register { thread, .. } => (0, thread.index()),
            Observable::Address(_) => (1, 0),
        };
        ordered::sort_by(&mut all, |left, right| (rank(left), &left.name).cmp(&(rank(right), &right.name)));
        let mut seen = BTreeSet::new();
        all.into_iter().filter(|location| seen.insert(location.observable)).cloned().collect()
    }

    /// Whether the filter keeps the state that `value` reads.
    pub fn keeps(&self, value: &impl Fn(Observable) -> Value) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.holds(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(thread: usize, name: &str) -> Location {
        let observable =
            Observable::Register { thread: ThreadId::from_index(thread), register: RegisterId::from_index(0) };
        Location::whole(observable, format!("{thread}:{name}"))
    }

    fn equals(location: Location, value: Value) -> Proposition {
        Proposition::Equals(location, Constant { value, text: value.to_string() })
    }

    #[test]
    fn conditions_evaluate_and_print() {
        let x = Location::whole(Observable::Address(1), "x");
        let either = Proposition::Or(vec![equals(register(0, "EAX"), 0), equals(x.clone(), 2)]);
        let both = Proposition::And(vec![equals(register(1, "EAX"), 1), either]);
        let condition = Condition { quantifier: Quantifier::NotExists, proposition: both };
        assert_eq!(condition.to_string(), "~exists (1:EAX=1 /\\ (0:EAX=0 \\/ [x]=2))");
        let state = |memory| {
            move |observable| match observable {
                Observable::Register { .. } => 1,
                Observable::Address(_) => memory,
            }
        };
        assert!(condition.proposition.holds(&state(2)));
        assert!(!condition.proposition.holds(&state(1)));
        let question = Question { condition: Some(condition), locations: vec![x], filter: None };
        let names: Vec<String> = question.observed().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["0:EAX", "1:EAX", "[x]"]);
    }
    #[test]
    fn values_are_seen_through_their_type() {
        let view = View { bits: 32, signed: true, pointer: false };
        let x = Location { view, ..Location::whole(Observable::Address(1), "x") };
        let minus_one = equals(x, -1);
        assert!(minus_one.holds(&|_| 0xffff_ffff));
        assert!(minus_one.holds(&|_| -1));
        assert!(!minus_one.holds(&|_| 1));
        assert_eq!(View { bits: 8, signed: false, pointer: false }.see(-1), 255);
    }
}
