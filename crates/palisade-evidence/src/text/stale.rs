//! Evidence about robustness against C11 and release/acquire as text: configurations as lists,
//! graphs as interleavings with a last step.

use super::MalformedEvidence;
use super::field::{bit, id, number, truth};
use super::number::N;
use super::strict::word;
use super::witness::{StepText, counted_instance, step_in, step_out};
use crate::{
    Forgotten, GraphWitness, LocalIndex, LocalState, MemoryIndex, StaleAttack, StaleCertificate, StaleClaim,
    StaleConfiguration, StaleGoal, StaleLocation, StaleView, Tokens,
};
use palisade_model::program::{LabelId, RegisterId, ThreadId, Value};
use palisade_semantics::graphs::Axioms;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The language, in a word.
pub(super) struct LanguageText(pub(super) Axioms);

impl Serialize for LanguageText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<'de> Deserialize<'de> for LanguageText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = |text: &str| Axioms::LANGUAGES.into_iter().find(|axioms| axioms.word() == text);
        word(deserializer, "\"c11\" or \"ra\"", named).map(Self)
    }
}

/// `[thread, label, acquirable, released, everything]`.
type ForgottenText = (u32, u32, u8, u8, u8);

/// The certificate as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StaleCertificateText {
    language: LanguageText,
    live: Vec<Vec<Vec<u32>>>,
    forgotten: Vec<ForgottenText>,
    unheard: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shifts: Option<Vec<(Value, Value)>>,
    locals: Vec<LocalState>,
    memories: Vec<Vec<(Value, Value)>>,
    configurations: Vec<StaleConfiguration>,
}

impl From<&StaleCertificate> for StaleCertificateText {
    fn from(certificate: &StaleCertificate) -> Self {
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|it| number(it.index())).collect();
        let StaleCertificate { axioms, live, forgotten, unheard, shifts, locals, memories, configurations } =
            certificate.clone();
        let forgotten_out = |it: &Forgotten| {
            let Forgotten { thread, label, acquirable, released, everything } = *it;
            (number(thread.index()), number(label.index()), bit(acquirable), bit(released), bit(everything))
        };
        Self {
            language: LanguageText(axioms),
            live: live.iter().map(|labels| labels.iter().map(numbers).collect()).collect(),
            forgotten: forgotten.iter().map(forgotten_out).collect(),
            unheard,
            shifts,
            locals,
            memories,
            configurations,
        }
    }
}

impl TryFrom<StaleCertificateText> for StaleCertificate {
    type Error = MalformedEvidence;

    fn try_from(text: StaleCertificateText) -> Result<Self, MalformedEvidence> {
        let registers = |numbers: Vec<u32>| numbers.into_iter().map(|it| id(RegisterId::from_index, it)).collect();
        let live = text.live.into_iter().map(|labels| labels.into_iter().map(registers).collect()).collect();
        let forgotten_in = |(thread, label, acquirable, released, everything): ForgottenText| {
            let truth = |bit| truth(bit).map_err(|error: serde_json::Error| MalformedEvidence::new(error.to_string()));
            Ok(Forgotten {
                thread: id(ThreadId::from_index, thread),
                label: id(LabelId::from_index, label),
                acquirable: truth(acquirable)?,
                released: truth(released)?,
                everything: truth(everything)?,
            })
        };
        Ok(Self {
            axioms: text.language.0,
            live,
            forgotten: text.forgotten.into_iter().map(forgotten_in).collect::<Result<_, MalformedEvidence>>()?,
            unheard: text.unheard,
            shifts: text.shifts,
            locals: text.locals,
            memories: text.memories,
            configurations: text.configurations,
        })
    }
}

/// `[old value, is update]` of a stale read, or `[writes, is plain]` of a race.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GoalText {
    Stale(Option<Value>, u8),
    Race(u8, u8),
}

/// `[address, goal, [[address, known], …]]`.
type AttackText = (Value, GoalText, Vec<(Value, StaleLocation)>);

/// `[memory, attack, [[local state, view, count], …]]`; the attack is null under SC.
type ConfigurationText = (MemoryIndex, Option<AttackText>, Vec<(LocalIndex, StaleView, N<Tokens>)>);

impl Serialize for StaleConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let attack = |attack: StaleAttack| -> AttackText {
            let goal = match attack.goal {
                StaleGoal::Stale { old, is_update } => GoalText::Stale(old, bit(is_update)),
                StaleGoal::Race { writes, is_plain } => GoalText::Race(bit(writes), bit(is_plain)),
            };
            (attack.address, goal, attack.locations)
        };
        let tokens = self.tokens.iter().map(|(local, view, count)| (*local, *view, N(*count))).collect();
        let text: ConfigurationText = (self.memory, self.attack.clone().map(attack), tokens);
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StaleConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, attack, tokens): ConfigurationText = Deserialize::deserialize(deserializer)?;
        let attack_in = |(address, goal, locations): AttackText| -> Result<StaleAttack, D::Error> {
            let goal = match goal {
                GoalText::Stale(old, is_update) => StaleGoal::Stale { old, is_update: truth(is_update)? },
                GoalText::Race(writes, is_plain) => {
                    StaleGoal::Race { writes: truth(writes)?, is_plain: truth(is_plain)? }
                }
            };
            Ok(StaleAttack { address, goal, locations })
        };
        Ok(Self {
            memory,
            attack: attack.map(attack_in).transpose()?,
            tokens: tokens.into_iter().map(|(local, view, N(count))| (local, view, count)).collect(),
        })
    }
}

/// The graph as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphText {
    language: LanguageText,
    claim: ClaimText,
    /// How many copies of each thread run.
    instance: Vec<u64>,
    steps: Vec<StepText>,
    last: StepText,
    /// The position of the write among the steps; null for the initial value.
    reads_from: Option<usize>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ClaimText {
    BeyondSc,
    Race,
}

impl<'de> Deserialize<'de> for ClaimText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"beyond-sc\" or \"race\"", |text| match text {
            "beyond-sc" => Some(Self::BeyondSc),
            "race" => Some(Self::Race),
            _ => None,
        })
    }
}

impl From<&GraphWitness> for GraphText {
    fn from(witness: &GraphWitness) -> Self {
        let instance = &witness.instance;
        Self {
            language: LanguageText(witness.axioms),
            claim: match witness.claim {
                StaleClaim::BeyondSc => ClaimText::BeyondSc,
                StaleClaim::Race => ClaimText::Race,
            },
            instance: instance.counts().to_vec(),
            steps: witness.steps.iter().map(|step| step_out(instance, step)).collect(),
            last: step_out(instance, &witness.last),
            reads_from: witness.reads_from,
        }
    }
}

impl TryFrom<GraphText> for GraphWitness {
    type Error = MalformedEvidence;

    fn try_from(text: GraphText) -> Result<Self, MalformedEvidence> {
        let instance = counted_instance(text.instance)?;
        Ok(Self {
            axioms: text.language.0,
            claim: match text.claim {
                ClaimText::BeyondSc => StaleClaim::BeyondSc,
                ClaimText::Race => StaleClaim::Race,
            },
            steps: text.steps.iter().map(|step| step_in(&instance, step)).collect::<Result<_, _>>()?,
            last: step_in(&instance, &text.last)?,
            reads_from: text.reads_from,
            instance,
        })
    }
}
