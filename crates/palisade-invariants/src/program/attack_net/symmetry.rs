//! Symmetries of the net of an attack: shifts of the program's counters.
//!
//! A shift takes each fact to a fact. Whether it is a symmetry of the net, the checker does not
//! conclude from what counters are: it looks whether each place goes to a place, and each
//! transition to a transition.

use super::closure::AttackNet;
use crate::CheckFailure;
use crate::program::counters::Counters;
use crate::program::model::Model;
use crate::program::spans::{Variable, size};
use hashbrown::HashSet;
use palisade_evidence::{Attacker, Fact, LocalState, OmegaMarking};
use palisade_model::net::{Count, Net, PlaceId};
use palisade_model::ordered;
use palisade_model::program::{LabelId, RegisterId, ThreadId, Value};

/// The shifts of a program's classes that are symmetries.
pub(super) struct Symmetry {
    classes: Vec<Class>,
}

/// The least shift of one class.
struct Class {
    /// Where it takes each place.
    places: Vec<PlaceId>,
    /// How often it is applied for the form of a marking with a token on a place, by place: where
    /// memory has a value at the class's first address.
    times: Vec<Option<usize>>,
}

impl Symmetry {
    /// The symmetries of a net, if there are any.
    pub(super) fn of(model: &Model, attacker: ThreadId, net: &Net, found: &AttackNet) -> Option<Self> {
        let counters = model.found_counters()?;
        let class = |class| Class::of(model, attacker, (&counters, class), net, found);
        let classes = (0..counters.classes.len()).filter_map(class);
        let classes: Vec<Class> = classes.collect();
        (!classes.is_empty()).then_some(Self { classes })
    }

    /// A marking, shifted so that the first address of each class holds its initial value, or as
    /// much more as the class is not shifted by.
    pub(super) fn form(&self, mut marking: OmegaMarking) -> OmegaMarking {
        for Class { places, times } in &self.classes {
            let times = marking.iter().find_map(|(place, _)| times[place.index()]).unwrap_or(0);
            for (place, _) in &mut marking {
                *place = (0..times).fold(*place, |place, _| places[place.index()]);
            }
            ordered::sort_by_key(&mut marking, |(place, _)| *place);
        }
        marking
    }
}

impl Class {
    /// The least shift of a class that takes values which memory has at its first address to each
    /// other, if it is a symmetry.
    fn of(
        model: &Model,
        attacker: ThreadId,
        (counters, class): (&Counters, usize),
        net: &Net,
        found: &AttackNet,
    ) -> Option<Self> {
        let (first, grain) = counters.classes[class];
        let values = size(counters.domain?);
        let above = |fact: &Fact| match fact {
            Fact::Memory(address, value) if *address == first => {
                let initial = model.program.initial_value(first);
                Some((i128::from(*value) - i128::from(initial)).rem_euclid(values))
            }
            _ => None,
        };
        let above: Vec<Option<i128>> = found.facts.iter().map(above).collect();
        let apart = above.iter().flatten().fold(values, |one, other| common_divisor(one, *other));
        let by = apart / common_divisor(apart, grain) * grain;
        if by >= values {
            return None;
        }
        let places = found.facts.iter().map(|fact| {
            let shifted = shifted(counters, class, attacker, by, fact).ok()?;
            found.places.get(&shifted).copied()
        });
        let places: Vec<PlaceId> = places.collect::<Option<_>>()?;
        let times = |above: i128| usize::try_from((values - (above - above % by)) % values / by).ok();
        let times = above.into_iter().map(|above| above.and_then(times)).collect();
        is_symmetry(net, &places).then_some(Self { places, times })
    }
}

/// Whether a map of places is a permutation that takes each transition to a transition.
fn is_symmetry(net: &Net, places: &[PlaceId]) -> bool {
    type Arcs = Vec<(PlaceId, Count)>;
    let arcs: HashSet<(&Arcs, &Arcs)> = net.transitions.iter().map(|own| (&own.pre, &own.post)).collect();
    let shifted = |arcs: &Arcs| {
        let mut shifted: Arcs = arcs.iter().map(|(place, count)| (places[place.index()], count.clone())).collect();
        ordered::sort_by_key(&mut shifted, |(place, _)| *place);
        shifted
    };
    places.iter().collect::<HashSet<_>>().len() == places.len()
        && net.transitions.iter().all(|own| arcs.contains(&(&shifted(&own.pre), &shifted(&own.post))))
}

/// A fact with the members of a class shifted.
fn shifted(counters: &Counters, class: usize, attacker: ThreadId, by: i128, fact: &Fact) -> Result<Fact, CheckFailure> {
    let value_of = |variable: Variable, value: Value| match counters.members.get(&variable) {
        Some((own, span)) if *own == class => counters.shifted(*span, value, by),
        _ => Ok(value),
    };
    let registers = |thread: ThreadId, label: LabelId, registers: &[Value]| -> Result<Vec<Value>, CheckFailure> {
        let register = |(register, value): (usize, &Value)| {
            value_of(Variable::Register(thread, label, RegisterId::from_index(register)), *value)
        };
        registers.iter().enumerate().map(register).collect()
    };
    Ok(match fact {
        Fact::Memory(address, value) => Fact::Memory(*address, value_of(Variable::Cell(*address), *value)?),
        Fact::Thread(local, joined) => {
            let registers = registers(local.thread, local.label, &local.registers)?;
            Fact::Thread(LocalState { registers, ..local.clone() }, *joined)
        }
        Fact::Attacker(own) => {
            let buffered =
                |(address, value): &(Value, Value)| Ok((*address, value_of(Variable::Cell(*address), *value)?));
            Fact::Attacker(Attacker {
                registers: registers(attacker, own.label, &own.registers)?,
                buffer: own.buffer.iter().map(buffered).collect::<Result<_, CheckFailure>>()?,
                ..own.clone()
            })
        }
        other => other.clone(),
    })
}

/// The greatest common divisor of two numbers that are not both 0.
fn common_divisor(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
