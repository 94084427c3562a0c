//! What evidence says of counters whose values it does not know.

use crate::simulate::{Simulation, turned_classes};
use palisade_evidence::{CountEvidence, RobustCertificate};
use palisade_model::program::{Program, Value};
use serde::Serialize;

/// Counters for all of which an answer holds: integers without end, and domains that wrap, contain
/// these values, and have a multiple of as many.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CountersDocument {
    /// The least value.
    pub low: Value,
    /// The greatest value.
    pub high: Value,
}

/// Two addresses that hand out tickets and serve them.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TicketsDocument {
    /// Tickets are drawn from this address.
    pub dispenser: String,
    /// The ticket at this address is served.
    pub served: String,
}

impl CountersDocument {
    /// Of a domain with these ends.
    pub fn of((low, high): (Value, Value)) -> Self {
        Self { low, high }
    }
}

impl TicketsDocument {
    /// Those that a certificate does not know.
    pub fn all(program: &Program, certificate: &RobustCertificate) -> Vec<Self> {
        let name = |address: &Value| program.address_name(*address);
        let pair = |(dispenser, served)| Self { dispenser: name(dispenser), served: name(served) };
        certificate.tickets.iter().map(|(dispenser, served)| pair((dispenser, served))).collect()
    }
}

/// An address whose values are one beyond an end.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndDocument {
    /// The address.
    pub address: String,
    /// The end.
    pub end: Value,
}

impl EndDocument {
    /// Those of a certificate.
    pub fn all(program: &Program, certificate: &RobustCertificate) -> Vec<Self> {
        let own = |(address, end): &(Value, Value)| Self { address: program.address_name(*address), end: *end };
        certificate.ends.iter().map(own).collect()
    }
}

/// An address that counts what copies hold.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CountDocument {
    /// The address.
    pub address: String,
    /// What is more than this is one value.
    pub few: Value,
    /// The answer holds as long as that value stands for no more than this; null where it holds
    /// without end.
    pub most: Option<Value>,
}

impl CountDocument {
    /// Those of a certificate.
    pub fn all(program: &Program, certificate: &RobustCertificate) -> Vec<Self> {
        let own =
            |own: &CountEvidence| Self { address: program.address_name(own.address), few: own.few, most: own.most };
        certificate.counts.iter().map(own).collect()
    }
}

/// An address that counters fall behind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FarDocument {
    /// The address.
    pub address: String,
    /// What is so far behind, or farther, is one value.
    pub distance: Value,
}

impl FarDocument {
    /// Those of a certificate.
    pub fn all(program: &Program, certificate: &RobustCertificate) -> Vec<Self> {
        let own = |(address, distance): &(Value, Value)| Self {
            address: program.address_name(*address),
            distance: *distance,
        };
        certificate.far.iter().map(own).collect()
    }
}

/// What grows, of which low bits alone are known.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LowBitsDocument {
    /// How many low bits.
    pub bits: u8,
    /// The addresses.
    pub addresses: Vec<String>,
    /// How many assignments to registers cut what they assign, which counts rounds.
    pub rounds: usize,
}

impl LowBitsDocument {
    /// That of a certificate.
    pub fn of(program: &Program, certificate: &RobustCertificate) -> Option<Self> {
        let own = certificate.low.as_ref()?;
        let addresses = own.cells.iter().map(|cell| program.address_name(*cell)).collect();
        Some(Self { bits: own.bits, addresses, rounds: own.assigned.len() })
    }
}

/// Counters up to whose turns final states are told apart: each final state stands for all that
/// come of it by adding one number to all of these, modulo the size of the domain if there is one.
/// At least one of them is reached.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TurnedDocument {
    /// The addresses among them.
    pub addresses: Vec<String>,
    /// The members of `states` to whose values the number is added; others may hold counters where
    /// no thread looks at them again.
    pub members: Vec<String>,
    /// What the number is a multiple of.
    pub step: Value,
}

impl TurnedDocument {
    /// Those of a simulation; none where it tells all states apart.
    pub(super) fn all(simulation: &Simulation<'_>) -> Vec<Self> {
        let own = |class: crate::simulate::TurnedClass| Self {
            addresses: class.addresses,
            members: class.columns,
            step: class.step,
        };
        turned_classes(simulation).into_iter().map(own).collect()
    }
}
