//! Evidence about robustness against PSO as text: configurations as lists.

use super::field::{bit, id, number, truth};
use super::number::N;
use crate::{Level, LocalIndex, LocalState, MemoryIndex, PsoAttack, PsoCertificate, PsoConfiguration, Tokens};
use palisade_model::program::{RegisterId, Value};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The certificate as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PsoCertificateText {
    live: Vec<Vec<Vec<u32>>>,
    locals: Vec<LocalState>,
    memories: Vec<Vec<(Value, Value)>>,
    configurations: Vec<PsoConfiguration>,
}

impl From<&PsoCertificate> for PsoCertificateText {
    fn from(certificate: &PsoCertificate) -> Self {
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|it| number(it.index())).collect();
        let PsoCertificate { live, locals, memories, configurations } = certificate.clone();
        let live = live.iter().map(|labels| labels.iter().map(numbers).collect()).collect();
        Self { live, locals, memories, configurations }
    }
}

impl From<PsoCertificateText> for PsoCertificate {
    fn from(text: PsoCertificateText) -> Self {
        let registers = |numbers: Vec<u32>| numbers.into_iter().map(|it| id(RegisterId::from_index, it)).collect();
        let live = text.live.into_iter().map(|labels| labels.into_iter().map(registers).collect()).collect();
        let PsoCertificateText { locals, memories, configurations, .. } = text;
        Self { live, locals, memories, configurations }
    }
}

/// `[store address, attacker's local state, delayed value, levels]`; the local state and the value
/// are null once the attacker is gone.
type AttackText = (Value, Option<LocalIndex>, Option<Value>, Vec<(Value, Level)>);

/// `[memory, attack, [[local state, on the path, count], …]]`; the attack is null under SC.
type ConfigurationText = (MemoryIndex, Option<AttackText>, Vec<(LocalIndex, u8, N<Tokens>)>);

impl Serialize for PsoConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let attack = |attack: PsoAttack| -> AttackText {
            let (local, value) = attack.attacker.unzip();
            (attack.store_address, local, value, attack.levels)
        };
        let token = |(local, joined, count): &(LocalIndex, bool, Tokens)| (*local, bit(*joined), N(*count));
        let tokens = self.tokens.iter().map(token).collect();
        let text: ConfigurationText = (self.memory, self.attack.clone().map(attack), tokens);
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PsoConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, attack, tokens): ConfigurationText = Deserialize::deserialize(deserializer)?;
        let attack_in = |(store_address, local, value, levels): AttackText| {
            if local.is_some() != value.is_some() {
                return Err(D::Error::custom("an attacker has a local state and a value"));
            }
            Ok(PsoAttack { store_address, attacker: local.zip(value), levels })
        };
        let token = |(local, joined, N(count)): (LocalIndex, u8, N<Tokens>)| Ok((local, truth(joined)?, count));
        Ok(Self {
            memory,
            attack: attack.map(attack_in).transpose()?,
            tokens: tokens.into_iter().map(token).collect::<Result<_, D::Error>>()?,
        })
    }
}
