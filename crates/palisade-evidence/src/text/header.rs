//! The part of a document that says what it is about.

use super::MalformedEvidence;
use super::number::N;
use super::reach::{ObserverText, complements_in, complements_out};
use super::strict::{Object, nullable, word};
use crate::{AddressSubject, CopiesOrigin, InputFile, NetSubject, ProgramSubject, ThreadSubject, Tokens};
use palisade_model::net::{PlaceId, TransitionId};
use palisade_model::program::{AcceptedDelay, Copies, Domain, DomainOrigin, Value};
use serde::{Deserialize, Deserializer, Serialize};

/// `{"path", "format", "sha256"}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputText {
    path: String,
    format: String,
    sha256: String,
}

/// Where a setting comes from.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum OriginText {
    File,
    Option,
}

impl<'de> Deserialize<'de> for OriginText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"file\" or \"option\"", |text| match text {
            "file" => Some(Self::File),
            "option" => Some(Self::Option),
            _ => None,
        })
    }
}

/// `{"input", "threads", "addresses": [[name, address, length], …], "domain"}`, with
/// `"accepted": [[store, load], …]` where delays are accepted.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramHeader {
    input: Object<InputText>,
    threads: Vec<Object<ThreadText>>,
    addresses: Vec<(String, Value, u32)>,
    #[serde(deserialize_with = "nullable")]
    domain: Option<Object<DomainText>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accepted: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadText {
    name: String,
    /// A number, or `"*"` for any number.
    copies: N<Tokens>,
    origin: OriginText,
    labels: Vec<String>,
    registers: Vec<String>,
    instructions: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainText {
    low: Value,
    high: Value,
    wrap: bool,
    origin: OriginText,
}

/// `{"input", "query", "property", "place_count", "transition_count", "places": [[id, name], …],
/// "transitions": …}`, with `"complements": [[id, observer], …]` where inhibitor arcs test places.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetHeader {
    input: Object<InputText>,
    #[serde(deserialize_with = "nullable")]
    query: Option<Object<InputText>>,
    #[serde(deserialize_with = "nullable")]
    property: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    complements: Vec<(u32, Object<ObserverText>)>,
    place_count: usize,
    transition_count: usize,
    places: Vec<(u32, String)>,
    transitions: Vec<(u32, String)>,
}

impl From<&InputFile> for Object<InputText> {
    fn from(input: &InputFile) -> Self {
        let InputFile { path, format, sha256 } = input.clone();
        Self(InputText { path, format, sha256 })
    }
}

impl From<Object<InputText>> for InputFile {
    fn from(Object(text): Object<InputText>) -> Self {
        let InputText { path, format, sha256 } = text;
        Self { path, format, sha256 }
    }
}

impl From<&ProgramSubject> for ProgramHeader {
    fn from(subject: &ProgramSubject) -> Self {
        let thread = |thread: &ThreadSubject| {
            Object(ThreadText {
                name: thread.name.clone(),
                copies: N(match thread.copies {
                    Copies::Exactly(count) => Tokens::Finite(count),
                    Copies::Any => Tokens::Omega,
                }),
                origin: match thread.origin {
                    CopiesOrigin::File => OriginText::File,
                    CopiesOrigin::Option => OriginText::Option,
                },
                labels: thread.labels.clone(),
                registers: thread.registers.clone(),
                instructions: thread.instructions.clone(),
            })
        };
        let domain = |domain: Domain| {
            Object(DomainText {
                low: domain.low,
                high: domain.high,
                wrap: domain.wrap,
                origin: match domain.origin {
                    DomainOrigin::File => OriginText::File,
                    DomainOrigin::Option => OriginText::Option,
                },
            })
        };
        let address = |address: &AddressSubject| (address.name.clone(), address.address, address.length);
        Self {
            input: (&subject.input).into(),
            threads: subject.threads.iter().map(thread).collect(),
            addresses: subject.addresses.iter().map(address).collect(),
            domain: subject.domain.map(domain),
            accepted: subject.accepted.iter().map(|delay| (delay.store.clone(), delay.load.clone())).collect(),
        }
    }
}

impl TryFrom<ProgramHeader> for ProgramSubject {
    type Error = MalformedEvidence;

    fn try_from(header: ProgramHeader) -> Result<Self, MalformedEvidence> {
        let copies = |copies: Tokens| match copies {
            Tokens::Finite(count) if count > Copies::MOST => {
                Err(MalformedEvidence::new(format!("{count} copies of a thread are more than {}", Copies::MOST)))
            }
            Tokens::Finite(count) => Ok(Copies::Exactly(count)),
            Tokens::Omega => Ok(Copies::Any),
        };
        let thread = |Object(thread): Object<ThreadText>| {
            Ok(ThreadSubject {
                name: thread.name,
                copies: copies(thread.copies.0)?,
                origin: match thread.origin {
                    OriginText::File => CopiesOrigin::File,
                    OriginText::Option => CopiesOrigin::Option,
                },
                labels: thread.labels,
                registers: thread.registers,
                instructions: thread.instructions,
            })
        };
        let domain = |Object(DomainText { low, high, wrap, origin }): Object<DomainText>| {
            if low > 0 || high < 0 {
                return Err(MalformedEvidence::new(format!("the domain {low}..{high} does not contain 0")));
            }
            let origin = match origin {
                OriginText::File => DomainOrigin::File,
                OriginText::Option => DomainOrigin::Option,
            };
            Ok(Domain { low, high, wrap, origin })
        };
        Ok(Self {
            input: header.input.into(),
            threads: header.threads.into_iter().map(thread).collect::<Result<_, MalformedEvidence>>()?,
            addresses: header
                .addresses
                .into_iter()
                .map(|(name, address, length)| AddressSubject { name, address, length })
                .collect(),
            domain: header.domain.map(domain).transpose()?,
            accepted: header.accepted.into_iter().map(|(store, load)| AcceptedDelay { store, load }).collect(),
        })
    }
}

impl From<&NetSubject> for NetHeader {
    fn from(subject: &NetSubject) -> Self {
        Self {
            input: (&subject.input).into(),
            query: subject.query.as_ref().map(Into::into),
            property: subject.property.clone(),
            complements: complements_out(&subject.complements),
            place_count: subject.place_count,
            transition_count: subject.transition_count,
            places: subject.places.iter().map(|(place, name)| (place.0, name.clone())).collect(),
            transitions: subject.transitions.iter().map(|(transition, name)| (transition.0, name.clone())).collect(),
        }
    }
}

impl From<NetHeader> for NetSubject {
    fn from(header: NetHeader) -> Self {
        Self {
            input: header.input.into(),
            query: header.query.map(Into::into),
            property: header.property,
            complements: complements_in(header.complements),
            place_count: header.place_count,
            transition_count: header.transition_count,
            places: header.places.into_iter().map(|(place, name)| (PlaceId(place), name)).collect(),
            transitions: header.transitions.into_iter().map(|(id, name)| (TransitionId(id), name)).collect(),
        }
    }
}
