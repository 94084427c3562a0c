//! Program certificates as text: configurations as short lists of numbers that refer to the tables.

use super::attack_net::AttackNetText;
use super::field::{bit, id, number, truth};
use super::number::N;
use super::strict::{Object, present, word};
use crate::{
    AttackEvidence, AttackReason, Attacker, CountEvidence, DelayedConfiguration, DelayedSet, HelpedConfiguration,
    HelpedSet, Level, LocalIndex, LocalState, LowBitsEvidence, MemoryIndex, RobustCertificate, ScConfiguration, Tokens,
};
use palisade_model::program::{InstructionId, LabelId, RegisterId, ThreadId, Value};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The certificate as it is written.
#[derive(Serialize)]
pub(super) struct RobustOut<'a> {
    live: Vec<Vec<Vec<usize>>>,
    locals: &'a [LocalState],
    memories: &'a [Vec<(Value, Value)>],
    sc: &'a [ScConfiguration],
    delayed: &'a [DelayedSet],
    helped: &'a [HelpedSet],
    attacks: &'a [AttackEvidence],
    #[serde(skip_serializing_if = "Option::is_none")]
    modulo: Option<(Value, Value)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<LowBitsText>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tickets: &'a [(Value, Value)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ends: &'a [(Value, Value)],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<CountText>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    far: &'a [(Value, Value)],
}

/// The certificate as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RobustIn {
    live: Vec<Vec<Vec<u32>>>,
    locals: Vec<LocalState>,
    memories: Vec<Vec<(Value, Value)>>,
    sc: Vec<ScConfiguration>,
    delayed: Vec<DelayedSet>,
    helped: Vec<HelpedSet>,
    attacks: Vec<AttackEvidence>,
    #[serde(default, deserialize_with = "present")]
    modulo: Option<(Value, Value)>,
    #[serde(default, deserialize_with = "present")]
    low: Option<LowBitsText>,
    #[serde(default)]
    tickets: Vec<(Value, Value)>,
    #[serde(default)]
    ends: Vec<(Value, Value)>,
    #[serde(default)]
    counts: Vec<CountText>,
    #[serde(default)]
    far: Vec<(Value, Value)>,
}

/// A count: its address, the greatest value told apart, the greatest one for which anything is
/// shown, and what copies own at first.
#[derive(Serialize, Deserialize)]
struct CountText(Value, Value, Option<Value>, Vec<Value>);

/// How many low bits are known, of which addresses, and what assignments cut: thread and
/// instruction.
#[derive(Serialize, Deserialize)]
struct LowBitsText(u8, Vec<Value>, Vec<(u32, u32)>);

impl From<&LowBitsEvidence> for LowBitsText {
    fn from(own: &LowBitsEvidence) -> Self {
        let number = |index: usize| u32::try_from(index).expect("programs are smaller");
        let assigned = own.assigned.iter().map(|(thread, id)| (number(thread.index()), number(id.index())));
        Self(own.bits, own.cells.clone(), assigned.collect())
    }
}

impl From<LowBitsText> for LowBitsEvidence {
    fn from(LowBitsText(bits, cells, assigned): LowBitsText) -> Self {
        let place =
            |(thread, id): (u32, u32)| (ThreadId::from_index(thread as usize), InstructionId::from_index(id as usize));
        Self { bits, cells, assigned: assigned.into_iter().map(place).collect() }
    }
}

impl<'a> From<&'a RobustCertificate> for RobustOut<'a> {
    fn from(certificate: &'a RobustCertificate) -> Self {
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|register| register.index()).collect();
        let RobustCertificate {
            live,
            locals,
            memories,
            sc,
            delayed,
            helped,
            attacks,
            modulo,
            low,
            tickets,
            ends,
            counts,
            far,
        } = certificate;
        let live = live.iter().map(|labels| labels.iter().map(numbers).collect()).collect();
        let count = |own: &CountEvidence| CountText(own.address, own.few, own.most, own.owned.clone());
        let counts = counts.iter().map(count).collect();
        let (modulo, low) = (*modulo, low.as_ref().map(LowBitsText::from));
        Self { live, locals, memories, sc, delayed, helped, attacks, modulo, low, tickets, ends, counts, far }
    }
}

impl From<RobustIn> for RobustCertificate {
    fn from(text: RobustIn) -> Self {
        let registers =
            |numbers: Vec<u32>| numbers.into_iter().map(|number| RegisterId::from_index(number as usize)).collect();
        let labels = |labels: Vec<Vec<u32>>| labels.into_iter().map(registers).collect();
        let RobustIn { live, locals, memories, sc, delayed, helped, attacks, modulo, low, tickets, ends, counts, far } =
            text;
        let live = live.into_iter().map(labels).collect();
        let count = |CountText(address, few, most, owned)| CountEvidence { address, few, most, owned };
        let counts = counts.into_iter().map(count).collect();
        let low = low.map(LowBitsEvidence::from);
        Self { live, locals, memories, sc, delayed, helped, attacks, modulo, low, tickets, ends, counts, far }
    }
}

/// The threads in one local state: its number alone for one thread, `[number, count]` for more.
pub(super) struct TokenText(pub(super) LocalIndex, pub(super) Tokens);

impl Serialize for TokenText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self(local, Tokens::Finite(1)) => local.serialize(serializer),
            Self(local, count) => (local, N(*count)).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TokenText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TokenVisitor)
    }
}

struct TokenVisitor;

impl<'de> Visitor<'de> for TokenVisitor {
    type Value = TokenText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a local state's number, or [number, count]")
    }

    fn visit_u64<E: Error>(self, local: u64) -> Result<TokenText, E> {
        let local = LocalIndex::try_from(local).map_err(|_| E::custom("a local state's number is too large"))?;
        Ok(TokenText(local, Tokens::Finite(1)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<TokenText, A::Error> {
        let (local, count): (LocalIndex, N<Tokens>) = Deserialize::deserialize(SeqAccessDeserializer::new(sequence))?;
        Ok(TokenText(local, count.0))
    }
}

pub(super) fn tokens_out<'a>(tokens: impl Iterator<Item = (LocalIndex, &'a Tokens)>) -> Vec<TokenText> {
    tokens.map(|(local, count)| TokenText(local, *count)).collect()
}

pub(super) fn token_in(TokenText(local, count): TokenText) -> (LocalIndex, Tokens) {
    (local, count)
}

/// `[thread, label, registers, holding]`.
impl Serialize for LocalState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.thread.index(), self.label.index(), &self.registers, bit(self.holding)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LocalState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (thread, label, registers, holding) = Deserialize::deserialize(deserializer)?;
        let (thread, label) = (id(ThreadId::from_index, thread), id(LabelId::from_index, label));
        Ok(Self { thread, label, registers, holding: truth(holding)? })
    }
}

/// `[memory, locked, tokens]`.
impl Serialize for ScConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tokens = tokens_out(self.tokens.iter().map(|(local, count)| (*local, count)));
        (self.memory, bit(self.locked), tokens).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ScConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, locked, tokens): (MemoryIndex, u8, Vec<TokenText>) = Deserialize::deserialize(deserializer)?;
        Ok(Self { memory, locked: truth(locked)?, tokens: tokens.into_iter().map(token_in).collect() })
    }
}

/// `{"thread", "store", "configurations"}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayedText<C> {
    thread: u32,
    store: u32,
    configurations: C,
}

impl Serialize for DelayedSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (thread, store) = (number(self.thread.index()), number(self.store.index()));
        DelayedText { thread, store, configurations: &self.configurations }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DelayedSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(text): Object<DelayedText<_>> = Deserialize::deserialize(deserializer)?;
        let (thread, store) = (id(ThreadId::from_index, text.thread), id(InstructionId::from_index, text.store));
        Ok(Self { thread, store, configurations: text.configurations })
    }
}

/// `[memory, locked, tokens, [label, registers, buffer, store address]]`.
impl Serialize for DelayedConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tokens = tokens_out(self.tokens.iter().map(|(local, count)| (*local, count)));
        (self.memory, bit(self.locked), tokens, &*self.attacker).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DelayedConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, locked, tokens, attacker): (MemoryIndex, u8, Vec<TokenText>, Attacker) =
            Deserialize::deserialize(deserializer)?;
        let tokens = tokens.into_iter().map(token_in).collect();
        Ok(Self { memory, locked: truth(locked)?, tokens, attacker: attacker.into() })
    }
}

/// `{"thread", "configurations"}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HelpedText<C> {
    thread: u32,
    configurations: C,
}

impl Serialize for HelpedSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let thread = number(self.thread.index());
        HelpedText { thread, configurations: &self.configurations }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HelpedSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(HelpedText { thread, configurations }) = Deserialize::deserialize(deserializer)?;
        Ok(Self { thread: id(ThreadId::from_index, thread), configurations })
    }
}

/// `[memory, locked, tokens off the path, tokens on the path, store address, levels, section]`.
impl Serialize for HelpedConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |joined: bool| {
            let tokens = self.tokens.iter().filter(|token| token.1 == joined);
            tokens_out(tokens.map(|(local, _, count)| (*local, count)))
        };
        let Self { memory, locked, store_address, levels, section, .. } = self;
        (memory, bit(*locked), of(false), of(true), store_address, levels, section).serialize(serializer)
    }
}

/// `[memory, lock, off the path, on the path, address of the store, levels, levels of the
/// section]`.
type HelpedElement = (MemoryIndex, u8, Vec<TokenText>, Vec<TokenText>, Value, Vec<(Value, Level)>, Vec<(Value, Level)>);

impl<'de> Deserialize<'de> for HelpedConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, locked, off_path, on_path, store_address, levels, section): HelpedElement =
            Deserialize::deserialize(deserializer)?;
        let with = |joined: bool| {
            move |text: TokenText| {
                let (local, count) = token_in(text);
                (local, joined, count)
            }
        };
        let tokens = off_path.into_iter().map(with(false)).chain(on_path.into_iter().map(with(true))).collect();
        Ok(Self { memory, locked: truth(locked)?, tokens, store_address, levels, section })
    }
}

/// `"load"` or `"store"`.
impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Load => "load",
            Self::Store => "store",
        })
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"load\" or \"store\"", |text| match text {
            "load" => Some(Self::Load),
            "store" => Some(Self::Store),
            _ => None,
        })
    }
}

/// `[label, registers, buffer, store address]`.
impl Serialize for Attacker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.label.index(), &self.registers, &self.buffer, self.store_address).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Attacker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (label, registers, buffer, store_address) = Deserialize::deserialize(deserializer)?;
        Ok(Self { label: id(LabelId::from_index, label), registers, buffer, store_address })
    }
}

/// Why an attack is not feasible: a list of labels for a cut, null for the certificate's sets, or
/// `{"places": [fact, …], "proof": {…}}`.
#[derive(Serialize)]
#[serde(untagged)]
enum ReasonText {
    Cut(Vec<u32>),
    Sets(()),
    Net(AttackNetText),
}

impl<'de> Deserialize<'de> for ReasonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReasonVisitor)
    }
}

struct ReasonVisitor;

impl<'de> Visitor<'de> for ReasonVisitor {
    type Value = ReasonText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of labels, null, or a proof about a net")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<ReasonText, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(sequence)).map(ReasonText::Cut)
    }

    fn visit_unit<E: Error>(self) -> Result<ReasonText, E> {
        Ok(ReasonText::Sets(()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ReasonText, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(ReasonText::Net)
    }
}

/// `[thread, store, load, reason]`.
impl Serialize for AttackEvidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reason = match &self.reason {
            AttackReason::Pruned { reachable } => {
                ReasonText::Cut(reachable.iter().map(|label| number(label.index())).collect())
            }
            AttackReason::Infeasible => ReasonText::Sets(()),
            AttackReason::Net(proof) => ReasonText::Net(proof.into()),
        };
        (self.thread.index(), self.store.index(), self.load.index(), reason).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AttackEvidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (thread, store, load, reason): (u32, u32, u32, ReasonText) = Deserialize::deserialize(deserializer)?;
        let labels = |cut: Vec<u32>| cut.into_iter().map(|label| id(LabelId::from_index, label)).collect();
        Ok(Self {
            thread: id(ThreadId::from_index, thread),
            store: id(InstructionId::from_index, store),
            load: id(InstructionId::from_index, load),
            reason: match reason {
                ReasonText::Sets(()) => AttackReason::Infeasible,
                ReasonText::Cut(cut) => AttackReason::Pruned { reachable: labels(cut) },
                ReasonText::Net(proof) => AttackReason::Net(proof.try_into().map_err(D::Error::custom)?),
            },
        })
    }
}
