//! The actions of a violation that its picture shows.

use palisade_engine::robustness::Violation;
use palisade_model::program::{self, InstructionId, Program};
use palisade_report::computation::{address_text, crowd_text};
use palisade_semantics::{CopyId, Effect, NodeId, StepKind};
use std::collections::{BTreeMap, VecDeque};

/// An action.
pub(super) struct Action {
    /// The number of its lane.
    pub(super) lane: usize,
    /// As the paper writes it, without the thread.
    pub(super) text: String,
    /// The label and the line of its instruction.
    pub(super) label: String,
    /// Its node of the trace, if it is an access.
    pub(super) node: Option<NodeId>,
    /// Whether a store that is delayed is issued here.
    pub(super) is_issue: bool,
    /// Whether a store that was delayed reaches memory here.
    pub(super) is_delayed_store: bool,
}

/// A copy on its way through its instructions.
#[derive(Default)]
struct Way {
    /// How many nodes of the trace it has made.
    nodes: usize,
    /// Whether it is in a locked section, which is one node.
    is_in_section: bool,
    /// The stores in its buffer, the oldest first.
    buffer: VecDeque<(NodeId, InstructionId)>,
}

/// The actions in order; copies have the lanes of their positions.
pub(super) fn actions(program: &Program, violation: &Violation, copies: &[CopyId]) -> Vec<Action> {
    let mut ways: BTreeMap<usize, Way> = BTreeMap::new();
    let mut shown = Vec::new();
    for (index, event) in violation.replay.events.iter().enumerate() {
        let copy = event.step.copy;
        let position = violation.acting.iter().position(|other| *other == copy).expect("the copy acts");
        let way = ways.entry(position).or_default();
        let (node, instruction) = match event.step.kind {
            StepKind::Execute { instruction, .. } | StepKind::Crowd { instruction, .. } => {
                let action = &program.thread(copy.thread).instruction(instruction).action;
                (way.execute(position, instruction, action), Some(instruction))
            }
            StepKind::Flush | StepKind::FlushAddress(_) => {
                let oldest = way.buffer.pop_front();
                (oldest.map(|(node, _)| node), oldest.map(|(_, instruction)| instruction))
            }
        };
        let delays = copy == violation.attacker && index >= violation.issue;
        let Some(text) = text(program, &event.effect, delays) else { continue };
        let text = text + &crowd_text(event.step.kind);
        shown.push(Action {
            lane: copies.iter().position(|other| *other == copy).expect("the copy acts"),
            text,
            label: instruction.map(|instruction| label(program, copy, instruction)).unwrap_or_default(),
            // An issue is no access yet.
            node: node.filter(|_| !matches!(event.effect, Effect::Issue { .. })),
            is_issue: delays && matches!(event.effect, Effect::Issue { .. }),
            is_delayed_store: delays && matches!(event.effect, Effect::Store { .. }),
        });
    }
    shown
}

impl Way {
    /// The node of an instruction that is executed, if it is an access or opens a section.
    fn execute(&mut self, position: usize, instruction: InstructionId, action: &program::Action) -> Option<NodeId> {
        let is_access = matches!(
            action,
            program::Action::Load { .. }
                | program::Action::Store { .. }
                | program::Action::Cas { .. }
                | program::Action::Rmw { .. }
                | program::Action::Lock
        );
        if matches!(action, program::Action::Unlock) {
            self.is_in_section = false;
        }
        if !is_access {
            return None;
        }
        if !self.is_in_section {
            self.nodes += 1;
        }
        self.is_in_section |= matches!(action, program::Action::Lock);
        let node = NodeId { position, index: self.nodes - 1 };
        if matches!(action, program::Action::Store { .. }) {
            self.buffer.push_back((node, instruction));
        }
        Some(node)
    }
}

/// The line of an instruction, behind the name that the text has there.
fn label(program: &Program, copy: CopyId, instruction: InstructionId) -> String {
    let thread = program.thread(copy.thread);
    let found = thread.instruction(instruction);
    let name = thread.label(found.source).written().map(|name| format!("{name} ")).unwrap_or_default();
    format!("{name}line {}", program.source.position(found.span.start).line)
}

/// An action as the paper writes it. Local actions and issues of stores that are not delayed are
/// left out.
fn text(program: &Program, effect: &Effect, delays: bool) -> Option<String> {
    let at = |address| address_text(program, address);
    Some(match *effect {
        Effect::Load { address, value, .. } => format!("(ld, {}, {value})", at(address)),
        Effect::Issue { .. } if delays => "(issue)".into(),
        Effect::Store { address, value } => format!("(st, {}, {value})", at(address)),
        Effect::Rmw { address, old, new: Some(new), .. } => format!("(rmw, {}, {old}, {new})", at(address)),
        Effect::Rmw { address, old, .. } => format!("(ld, {}, {old})", at(address)),
        Effect::Lock => "(lock)".into(),
        Effect::Unlock => "(unlock)".into(),
        Effect::Fence => "(mfence)".into(),
        Effect::StoreFence => "(sfence)".into(),
        Effect::Issue { .. } | Effect::Local { .. } | Effect::Violation | Effect::Failure => return None,
    })
}
