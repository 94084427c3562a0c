//! Evidence about event-driven programs as text: configurations as lists, steps as words with
//! numbers.

use super::MalformedEvidence;
use super::field::{bit, id, number, truth};
use super::number::N;
use crate::{
    Level, LocalIndex, LocalState, MainState, MemoryIndex, TaskCertificate, TaskConfiguration, TaskPhase, TaskToken,
    TaskWitness, Tokens,
};
use palisade_model::program::{Copies, InstructionId, RegisterId, ThreadId, Value};
use palisade_semantics::tasks::{InvocationId, TaskStep};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The certificate as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskCertificateText {
    live: Vec<Vec<Vec<u32>>>,
    locals: Vec<LocalState>,
    memories: Vec<Vec<(Value, Value)>>,
    configurations: Vec<TaskConfiguration>,
}

impl From<&TaskCertificate> for TaskCertificateText {
    fn from(certificate: &TaskCertificate) -> Self {
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|it| number(it.index())).collect();
        let TaskCertificate { live, locals, memories, configurations } = certificate.clone();
        let live = live.iter().map(|labels| labels.iter().map(numbers).collect()).collect();
        Self { live, locals, memories, configurations }
    }
}

impl From<TaskCertificateText> for TaskCertificate {
    fn from(text: TaskCertificateText) -> Self {
        let registers = |numbers: Vec<u32>| numbers.into_iter().map(|it| id(RegisterId::from_index, it)).collect();
        let live = text.live.into_iter().map(|labels| labels.into_iter().map(registers).collect()).collect();
        let TaskCertificateText { locals, memories, configurations, .. } = text;
        Self { live, locals, memories, configurations }
    }
}

/// `"idle"`, `"blocked"`, or the number of a local state.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum MainText {
    Runs(LocalIndex),
    Word(String),
}

/// `["sc"]`, `["delayed", on main, local, buffer, store address]` or
/// `["helped", store address, levels, section]`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PhaseText {
    Delayed(String, u8, Option<LocalIndex>, Vec<(Value, Value)>, Value),
    Helped(String, Value, Vec<(Value, Level)>, Vec<(Value, Level)>),
    Sc((String,)),
}

/// `["own" | "pending" | "start", number, joined, count]`.
type TokenText = (String, u32, u8, N<Tokens>);

/// `[memory, locked, main, main joined, phase, tokens]`.
type ConfigurationText = (MemoryIndex, u8, MainText, u8, PhaseText, Vec<TokenText>);

impl Serialize for TaskConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let main = match self.main {
            MainState::Idle => MainText::Word("idle".to_owned()),
            MainState::Blocked => MainText::Word("blocked".to_owned()),
            MainState::Runs(local) => MainText::Runs(local),
        };
        let phase = match self.phase.clone() {
            TaskPhase::Sc => PhaseText::Sc(("sc".to_owned(),)),
            TaskPhase::Delayed { on_main, local, buffer, store_address } => {
                PhaseText::Delayed("delayed".to_owned(), bit(on_main), local, buffer, store_address)
            }
            TaskPhase::Helped { store_address, levels, section } => {
                PhaseText::Helped("helped".to_owned(), store_address, levels, section)
            }
        };
        let token = |(token, count): &(TaskToken, Tokens)| -> TokenText {
            let (word, number, joined) = match token {
                TaskToken::Own(local, joined) => ("own", *local, *joined),
                TaskToken::Pending(local, joined) => ("pending", *local, *joined),
                TaskToken::Start(event) => ("start", number(event.index()), false),
            };
            (word.to_owned(), number, bit(joined), N(*count))
        };
        let tokens = self.tokens.iter().map(token).collect();
        let text: ConfigurationText = (self.memory, bit(self.locked), main, bit(self.main_joined), phase, tokens);
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TaskConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, locked, main, main_joined, phase, tokens): ConfigurationText =
            Deserialize::deserialize(deserializer)?;
        let main = match main {
            MainText::Runs(local) => MainState::Runs(local),
            MainText::Word(word) if word == "idle" => MainState::Idle,
            MainText::Word(word) if word == "blocked" => MainState::Blocked,
            MainText::Word(_) => return Err(D::Error::custom("expected a local state, \"idle\" or \"blocked\"")),
        };
        let phase = match phase {
            PhaseText::Sc((word,)) if word == "sc" => TaskPhase::Sc,
            PhaseText::Delayed(word, on_main, local, buffer, store_address) if word == "delayed" => {
                TaskPhase::Delayed { on_main: truth(on_main)?, local, buffer, store_address }
            }
            PhaseText::Helped(word, store_address, levels, section) if word == "helped" => {
                TaskPhase::Helped { store_address, levels, section }
            }
            _ => return Err(D::Error::custom("expected a phase")),
        };
        let token = |(word, number, joined, N(count)): TokenText| {
            let token = match (word.as_str(), truth(joined)?) {
                ("own", joined) => TaskToken::Own(number, joined),
                ("pending", joined) => TaskToken::Pending(number, joined),
                ("start", false) => TaskToken::Start(id(ThreadId::from_index, number)),
                _ => return Err(D::Error::custom("expected \"own\", \"pending\" or \"start\"")),
            };
            Ok((token, count))
        };
        let tokens = tokens.into_iter().map(token).collect::<Result<_, D::Error>>()?;
        Ok(Self { memory, locked: truth(locked)?, main, main_joined: truth(main_joined)?, phase, tokens })
    }
}

/// The witness as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskWitnessText {
    instance: Vec<u64>,
    steps: Vec<StepText>,
}

/// `["occur", event]`, `["begin", invocation]`, `["return", invocation]`, `["flush", invocation]`,
/// `["flush"]` for the main thread's buffer, or `["do", invocation, instruction, choice]`, the
/// choice null for all but `r <- *`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StepText {
    Do(String, InvocationId, u32, Option<Value>),
    Other(String, usize),
    Main((String,)),
}

fn step_out(step: &TaskStep) -> StepText {
    match *step {
        TaskStep::Occur { event } => StepText::Other("occur".to_owned(), event.index()),
        TaskStep::Begin { invocation } => StepText::Other("begin".to_owned(), invocation),
        TaskStep::Return { invocation } => StepText::Other("return".to_owned(), invocation),
        TaskStep::Flush { invocation } => StepText::Other("flush".to_owned(), invocation),
        TaskStep::FlushMain => StepText::Main(("flush".to_owned(),)),
        TaskStep::Execute { invocation, instruction, chosen } => {
            StepText::Do("do".to_owned(), invocation, number(instruction.index()), chosen)
        }
    }
}

fn step_in(text: StepText) -> Result<TaskStep, MalformedEvidence> {
    let unknown = |word: &str| Err(MalformedEvidence::new(format!("the step `{word}` is not known")));
    Ok(match text {
        StepText::Other(word, number) => match word.as_str() {
            "occur" => {
                let number =
                    u32::try_from(number).map_err(|_| MalformedEvidence::new("there are not so many events"))?;
                TaskStep::Occur { event: id(ThreadId::from_index, number) }
            }
            "begin" => TaskStep::Begin { invocation: number },
            "return" => TaskStep::Return { invocation: number },
            "flush" => TaskStep::Flush { invocation: number },
            _ => return unknown(&word),
        },
        StepText::Main((word,)) if word == "flush" => TaskStep::FlushMain,
        StepText::Do(word, invocation, instruction, chosen) if word == "do" => {
            TaskStep::Execute { invocation, instruction: id(InstructionId::from_index, instruction), chosen }
        }
        StepText::Main((word,)) | StepText::Do(word, ..) => return unknown(&word),
    })
}

impl From<&TaskWitness> for TaskWitnessText {
    fn from(witness: &TaskWitness) -> Self {
        Self { instance: witness.instance.clone(), steps: witness.steps.iter().map(step_out).collect() }
    }
}

impl TryFrom<TaskWitnessText> for TaskWitness {
    type Error = MalformedEvidence;

    fn try_from(text: TaskWitnessText) -> Result<Self, MalformedEvidence> {
        if let Some(count) = text.instance.iter().find(|count| **count > Copies::MOST) {
            return Err(MalformedEvidence::new(format!("{count} copies are more than {}", Copies::MOST)));
        }
        let steps = text.steps.into_iter().map(step_in).collect::<Result<_, MalformedEvidence>>()?;
        Ok(Self { instance: text.instance, steps })
    }
}
