//! The steps in registers by which a copy comes from one place to another.

use super::machine::{Machine, State};
use super::step::{Step, StepKind};
use hashbrown::HashSet;
use palisade_model::program::{Action, InstructionId, LabelId, Liveness, Value};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Where a copy is, and what its registers hold, dead ones 0.
type Place = (LabelId, SmallVec<[Value; 4]>);

/// Values to choose, in order; nothing where there is no choice.
type Choices = Box<dyn Iterator<Item = Option<Value>>>;

impl Machine<'_> {
    /// Steps of the copy at a position that are local under TSO, to a label with these values in
    /// the registers that are live there, all others 0; nothing where they do not lead there.
    ///
    /// Where a register takes any value, it takes the one that it holds in the end, if there is a
    /// way with such values: a shortest one then. Otherwise these values are the first ones that
    /// are tried: three choices among 256 values have sixteen million outcomes.
    pub fn local_way(
        &self,
        state: &State,
        position: usize,
        liveness: &Liveness,
        (label, registers): (LabelId, &[Value]),
    ) -> Option<Vec<Step>> {
        let own = &state.threads()[position];
        let goal: Place = (label, registers.into());
        let mut search = Search { machine: self, state: state.clone(), position, liveness, goal };
        let first = search.place(own.label?, own.registers.clone());
        search.with_wanted(first.clone()).or_else(|| search.with_all(first))
    }
}

struct Search<'m, 'p> {
    machine: &'m Machine<'p>,
    /// The state, in which the copy is moved about.
    state: State,
    position: usize,
    liveness: &'m Liveness,
    goal: Place,
}

impl Search<'_, '_> {
    /// Breadth first, with wanted values alone.
    fn with_wanted(&mut self, first: Place) -> Option<Vec<Step>> {
        let mut found: Vec<(usize, Option<Step>)> = vec![(0, None)];
        let mut seen: HashSet<Place> = HashSet::from([first.clone()]);
        let mut open = VecDeque::from([(0, first)]);
        while let Some((number, place)) = open.pop_front() {
            if place == self.goal {
                let (mut steps, mut node) = (Vec::new(), found[number]);
                while let (before, Some(step)) = node {
                    steps.push(step);
                    node = found[before];
                }
                steps.reverse();
                return Some(steps);
            }
            for instruction in self.local_instructions(&place) {
                let choices = self.choices(instruction);
                let one = if self.register(instruction).is_some() { 1 } else { usize::MAX };
                for chosen in choices.take(one) {
                    if let Some((step, after)) = self.after(&place, instruction, chosen)
                        && seen.insert(after.clone())
                    {
                        found.push((number, Some(step)));
                        open.push_back((found.len() - 1, after));
                    }
                }
            }
        }
        None
    }

    /// Depth first, with all values.
    fn with_all(&mut self, first: Place) -> Option<Vec<Step>> {
        let mut seen: HashSet<Place> = HashSet::from([first.clone()]);
        let moves = |search: &mut Self, place: &Place| -> Vec<(InstructionId, Choices)> {
            let instructions = search.local_instructions(place).into_iter();
            instructions.map(|instruction| (instruction, search.choices(instruction))).collect()
        };
        let mut steps: Vec<Step> = Vec::new();
        let mut stack = vec![(first.clone(), moves(self, &first))];
        while let Some((place, left)) = stack.last_mut() {
            let Some((instruction, choices)) = left.last_mut() else {
                stack.pop();
                steps.pop();
                continue;
            };
            let Some(chosen) = choices.next() else {
                left.pop();
                continue;
            };
            let (place, instruction) = (place.clone(), *instruction);
            let Some((step, after)) = self.after(&place, instruction, chosen) else { continue };
            if seen.insert(after.clone()) {
                steps.push(step);
                if after == self.goal {
                    return Some(steps);
                }
                let next = moves(self, &after);
                stack.push((after, next));
            }
        }
        None
    }

    fn local_instructions(&mut self, place: &Place) -> Vec<InstructionId> {
        self.state.thread_mut(self.position).label = Some(place.0);
        let here = self.machine.instructions_at(&self.state, self.position).iter().copied();
        let thread = self.machine.thread(self.position);
        here.filter(|own| thread.instruction(*own).action.is_local_under_tso()).collect()
    }

    /// The register that takes any value.
    fn register(&self, instruction: InstructionId) -> Option<usize> {
        match self.machine.thread(self.position).instruction(instruction).action {
            Action::Havoc { register } => Some(register.index()),
            _ => None,
        }
    }

    fn choices(&self, instruction: InstructionId) -> Choices {
        let Some(register) = self.register(instruction) else { return Box::new(std::iter::once(None)) };
        let Some(domain) = self.machine.program().domain else { return Box::new(std::iter::empty()) };
        let wanted = self.goal.1.get(register).copied().filter(|wanted| domain.contains(*wanted));
        Box::new(wanted.into_iter().chain(domain.values()).map(Some))
    }

    fn after(&mut self, place: &Place, instruction: InstructionId, chosen: Option<Value>) -> Option<(Step, Place)> {
        let own = self.state.thread_mut(self.position);
        own.label = Some(place.0);
        own.registers.clone_from(&place.1);
        let copy = self.machine.copies()[self.position];
        let step = Step { copy, kind: StepKind::Execute { instruction, chosen } };
        let event = self.machine.event(&self.state, step).ok()?;
        self.machine.take(&mut self.state, &event);
        let own = &self.state.threads()[self.position];
        Some((step, self.place(own.label?, own.registers.clone())))
    }

    fn place(&self, label: LabelId, mut registers: SmallVec<[Value; 4]>) -> Place {
        self.liveness.forget_dead(label, &mut registers);
        (label, registers)
    }
}
