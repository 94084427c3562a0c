//! Evidence about robustness against concurrency as text: states as short lists that refer to the
//! tables.

use super::MalformedEvidence;
use super::field::{bit, truth};
use super::strict::{Object, nullable};
use crate::{
    AccessLevels, ConcurrencyCertificate, ConcurrencyReason, ConcurrencyWitness, LocalState, PendingTask, PivotAccess,
    PivotStage, SerialRun, SerialState,
};
use palisade_model::program::{InstructionId, RegisterId, ThreadId, Value};
use palisade_semantics::tasks::TaskStep;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `{"live", "locals", "memories", "pivots": [[template, instruction, registers], …], "states"}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CertificateText {
    live: Vec<Vec<Vec<u32>>>,
    locals: Vec<LocalState>,
    memories: Vec<Vec<(Value, Value)>>,
    pivots: Vec<(u32, u32, Vec<Value>)>,
    states: Vec<Object<StateText>>,
}

/// `[main, local, late]`.
type TaskText = (Bit, usize, Bit);

/// `[task, begun, own, kids]`.
type RunText = (TaskText, Bit, LevelsText, Vec<TaskText>);

/// `[[address, written], …]`.
type LevelsText = Vec<(Value, Bit)>;

/// A truth value inside a list: 0 or 1.
struct Bit(bool);

impl Serialize for Bit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        bit(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u8::deserialize(deserializer).and_then(truth).map(Self)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateText {
    memory: usize,
    starts: Vec<u64>,
    /// 0 before the pivot's event, 1 in it, 2 after it.
    stage: u8,
    #[serde(deserialize_with = "nullable")]
    pivot: Option<usize>,
    path: LevelsText,
    #[serde(deserialize_with = "nullable")]
    cut: Option<LevelsText>,
    spoiling: LevelsText,
    current: LevelsText,
    on: bool,
    #[serde(deserialize_with = "nullable")]
    run: Option<RunText>,
    stack: Vec<TaskText>,
}

/// `{"steps", "cycle": [[step, step], …]}` or `{"steps", "inversion": [step, step]}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterleavingText {
    steps: Vec<StepText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cycle: Vec<(usize, usize)>,
    #[serde(default, deserialize_with = "super::strict::present", skip_serializing_if = "Option::is_none")]
    inversion: Option<(usize, usize)>,
}

/// `["occur", event]`, `["begin", invocation]`, `["return", invocation]`,
/// `["do", invocation, instruction, choice]`; the choice is null for every instruction but
/// `r <- *`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StepText {
    Execute(String, usize, u32, Option<Value>),
    Other(String, usize),
}

fn task_out(task: &PendingTask) -> TaskText {
    (Bit(task.main), task.local, Bit(task.late))
}

fn levels_out(levels: &AccessLevels) -> LevelsText {
    levels.iter().map(|(address, written)| (*address, Bit(*written))).collect()
}

fn levels_in(levels: LevelsText) -> AccessLevels {
    levels.into_iter().map(|(address, Bit(written))| (address, written)).collect()
}

fn task_in((Bit(main), local, Bit(late)): TaskText) -> PendingTask {
    PendingTask { main, local, late }
}

impl From<&ConcurrencyCertificate> for CertificateText {
    fn from(certificate: &ConcurrencyCertificate) -> Self {
        let ConcurrencyCertificate { live, locals, memories, pivots, states } = certificate;
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|register| small(register.index())).collect();
        let pivot = |pivot: &PivotAccess| {
            (small(pivot.template.index()), small(pivot.instruction.index()), pivot.registers.clone())
        };
        Self {
            live: live.iter().map(|labels| labels.iter().map(numbers).collect()).collect(),
            locals: locals.clone(),
            memories: memories.clone(),
            pivots: pivots.iter().map(pivot).collect(),
            states: states.iter().map(|state| Object(state_out(state))).collect(),
        }
    }
}

fn state_out(state: &SerialState) -> StateText {
    let run = |run: &SerialRun| {
        (task_out(&run.task), Bit(run.begun), levels_out(&run.own), run.kids.iter().map(task_out).collect::<Vec<_>>())
    };
    StateText {
        memory: state.memory,
        starts: state.starts.clone(),
        stage: match state.stage {
            PivotStage::Before => 0,
            PivotStage::In => 1,
            PivotStage::After => 2,
        },
        pivot: state.pivot,
        path: levels_out(&state.path),
        cut: state.cut.as_ref().map(levels_out),
        spoiling: levels_out(&state.spoiling),
        current: levels_out(&state.current),
        on: state.on,
        run: state.run.as_ref().map(run),
        stack: state.stack.iter().map(task_out).collect(),
    }
}

impl TryFrom<CertificateText> for ConcurrencyCertificate {
    type Error = MalformedEvidence;

    fn try_from(text: CertificateText) -> Result<Self, MalformedEvidence> {
        let CertificateText { live, locals, memories, pivots, states } = text;
        let registers =
            |numbers: Vec<u32>| numbers.into_iter().map(|number| RegisterId::from_index(number as usize)).collect();
        let labels = |labels: Vec<Vec<u32>>| labels.into_iter().map(registers).collect();
        let pivot = |(template, instruction, registers): (u32, u32, Vec<Value>)| PivotAccess {
            template: ThreadId::from_index(template as usize),
            instruction: InstructionId::from_index(instruction as usize),
            registers,
        };
        Ok(Self {
            live: live.into_iter().map(labels).collect(),
            locals,
            memories,
            pivots: pivots.into_iter().map(pivot).collect(),
            states: states.into_iter().map(|Object(state)| state_in(state)).collect::<Result<_, _>>()?,
        })
    }
}

fn state_in(text: StateText) -> Result<SerialState, MalformedEvidence> {
    let run = |(task, Bit(begun), own, kids): RunText| SerialRun {
        task: task_in(task),
        begun,
        own: levels_in(own),
        kids: kids.into_iter().map(task_in).collect(),
    };
    let stage = match text.stage {
        0 => PivotStage::Before,
        1 => PivotStage::In,
        2 => PivotStage::After,
        stage => return Err(MalformedEvidence::new(format!("stage {stage} is not known"))),
    };
    Ok(SerialState {
        memory: text.memory,
        starts: text.starts,
        stage,
        pivot: text.pivot,
        path: levels_in(text.path),
        cut: text.cut.map(levels_in),
        spoiling: levels_in(text.spoiling),
        current: levels_in(text.current),
        on: text.on,
        run: text.run.map(run),
        stack: text.stack.into_iter().map(task_in).collect(),
    })
}

impl From<&ConcurrencyWitness> for InterleavingText {
    fn from(witness: &ConcurrencyWitness) -> Self {
        let (cycle, inversion) = match &witness.reason {
            ConcurrencyReason::Serializability(edges) => (edges.clone(), None),
            ConcurrencyReason::Determinism(first, second) => (Vec::new(), Some((*first, *second))),
        };
        let step = |step: &TaskStep| match *step {
            TaskStep::Occur { event } => StepText::Other("occur".to_owned(), event.index()),
            TaskStep::Begin { invocation } => StepText::Other("begin".to_owned(), invocation),
            TaskStep::Return { invocation } => StepText::Other("return".to_owned(), invocation),
            TaskStep::Execute { invocation, instruction, chosen } => {
                StepText::Execute("do".to_owned(), invocation, small(instruction.index()), chosen)
            }
            TaskStep::Flush { .. } | TaskStep::FlushMain => unreachable!("there are no store buffers under SC"),
        };
        Self { steps: witness.steps.iter().map(step).collect(), cycle, inversion }
    }
}

impl TryFrom<InterleavingText> for ConcurrencyWitness {
    type Error = MalformedEvidence;

    fn try_from(text: InterleavingText) -> Result<Self, MalformedEvidence> {
        let reason = match (text.cycle, text.inversion) {
            (edges, None) if !edges.is_empty() => ConcurrencyReason::Serializability(edges),
            (edges, Some((first, second))) if edges.is_empty() => ConcurrencyReason::Determinism(first, second),
            _ => return Err(MalformedEvidence::new("an interleaving has either a cycle or an inversion")),
        };
        let step = |step: StepText| match step {
            StepText::Other(word, number) => match word.as_str() {
                "occur" if u32::try_from(number).is_ok() => Ok(TaskStep::Occur { event: ThreadId::from_index(number) }),
                "begin" => Ok(TaskStep::Begin { invocation: number }),
                "return" => Ok(TaskStep::Return { invocation: number }),
                _ => Err(MalformedEvidence::new(format!("the step `{word}` is not known"))),
            },
            StepText::Execute(word, invocation, instruction, chosen) if word == "do" => Ok(TaskStep::Execute {
                invocation,
                instruction: InstructionId::from_index(instruction as usize),
                chosen,
            }),
            StepText::Execute(word, ..) => Err(MalformedEvidence::new(format!("the step `{word}` is not known"))),
        };
        Ok(Self { steps: text.steps.into_iter().map(step).collect::<Result<_, _>>()?, reason })
    }
}

/// An index as a number of 32 bits, which all ids are.
fn small(index: usize) -> u32 {
    u32::try_from(index).expect("ids have 32 bits")
}
