//! The rungs in their order, for targets with one slice, in turns with growing budgets.

mod enriched;
mod pso;
mod turns;

use super::replay::{Violation, at_once, replay};
use super::run::{Run, run};
use super::shorten::shortened;
use super::{Answer, Proof, ProveOptions, Rung, TargetAnswer, Why};
use crate::decide::schedule::{CUTS, FIRST_CAPACITY, FIRST_VALUES, INSTANCES};
use crate::robustness::{Check, CheckOptions, Verdict, certificate, check_quickly};
use enriched::Enrichment;
use palisade_evidence::{BufferInvariant, PropertyProof, PropertyReason};
use palisade_exploration::buffered::{
    Goal, Known, Order, Search, Shape, Slice, Values, search, search_up_to_turns, single_writer_addresses,
};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::system::Growth;
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{Action, Copies, Program, Value};
use palisade_semantics::{Model, Target};
use std::collections::{BTreeMap, BTreeSet};
use turns::take_turns;

/// Why a rung has no answer that goes on in the next turn.
const UNFINISHED: Why = Why::Stopped(StopReason::Inconclusive);

/// Targets with one slice on their way up the rungs.
pub(super) struct Climb<'a, 'q> {
    program: &'a Program,
    sliced: &'a Program,
    slice: &'a Slice,
    /// Bounds of the addresses that are computed.
    bounds: Option<&'a Values<'a>>,
    /// Addresses at which silent stores are left out.
    silent: BTreeSet<Value>,
    /// The targets without an answer.
    goal: Goal<'q>,
    options: &'a ProveOptions,
    proof: &'a mut Proof,
    /// The closed set of interleavings, once it is there.
    interleavings: Option<Search<'a>>,
    /// Whether something has read what instructions that are left out may write.
    strayed: bool,
    /// Any number of copies: what instances of what is asked have said.
    instances: BTreeMap<Asked, Instances>,
    /// What the slice is enriched for.
    enrichment: Enrichment,
}

/// What an exploration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    rung: Rung,
    /// The most stores in a buffer, or snapshots in a queue.
    buffer: Option<usize>,
}

/// What instances with few copies have said.
#[derive(Clone, Copy, Debug)]
struct Instances {
    /// The copies of replicated threads in the next one.
    copies: u32,
    /// Whether all smaller ones have been explored, without bounds that mattered.
    is_minimal: bool,
    /// How many targets were open when an exploration with ω reached one of them, so that some
    /// instance does as well.
    reached_of: Option<usize>,
}

impl<'a, 'q> Climb<'a, 'q> {
    pub(super) fn new(
        program: &'a Program,
        sliced: &'a Program,
        slice: &'a Slice,
        bounds: Option<&'a Values<'a>>,
        goal: Goal<'q>,
        options: &'a ProveOptions,
        proof: &'a mut Proof,
    ) -> Self {
        let silent = single_writer_addresses(sliced, bounds);
        let instances = BTreeMap::new();
        Self {
            program,
            sliced,
            slice,
            bounds,
            silent,
            goal,
            options,
            proof,
            interleavings: None,
            strayed: false,
            instances,
            enrichment: Enrichment::new(options.buffer),
        }
    }

    /// Answers every target, if only that there is no answer. The targets left when the slice turns
    /// out to be none.
    pub(super) fn climb(&mut self) -> Result<Vec<Target>, Fault> {
        if self.goal.final_states().is_some() {
            let mut all = self.program.threads.iter().flat_map(|thread| &thread.instructions);
            let why = if self.program.is_parameterized() {
                Some(Why::AnyNumber)
            } else {
                all.any(|instruction| instruction.action == Action::Fail).then_some(Why::NotForThis)
            };
            if let Some(why) = why {
                self.leave_open(Rung::Sc, why);
                return Ok(Vec::new());
            }
        }
        match take_turns(self) {
            Ok(()) => {}
            Err(_) if self.strayed => return Ok(std::mem::take(&mut self.goal.targets)),
            Err(Halt::Fault(fault)) if fault.is_growth() && self.holds_up_to_turns() => {}
            Err(Halt::Fault(fault)) if fault.is_growth() && self.is_violated_among_first_values() => {}
            Err(Halt::Fault(fault)) => return Err(fault),
            Err(Halt::Stopped(StopReason::Budget)) => self.leave_open(Rung::Sc, Why::TooManyBeginnings),
            Err(Halt::Stopped(reason)) => {
                let rung = if self.interleavings.is_some() { Rung::Buffers } else { Rung::Sc };
                self.leave_open(self.options.by.unwrap_or(rung), Why::Stopped(reason));
            }
        }
        Ok(Vec::new())
    }

    /// Answers what can be answered before the turns end, or values grow; the other targets.
    pub(super) fn climb_briefly(&mut self) -> Vec<Target> {
        let first = self.proof.answers.len();
        let mut left = match take_turns(self) {
            Ok(()) => Vec::new(),
            Err(_) => std::mem::take(&mut self.goal.targets),
        };
        let is_open = |answer: &TargetAnswer| matches!(answer.answer, Answer::Open(_));
        left.extend(self.proof.answers[first..].iter().filter(|answer| is_open(answer)).map(|answer| answer.target));
        let mut place = 0..;
        self.proof.answers.retain(|answer| place.next() < Some(first) || !is_open(answer));
        left.sort_unstable();
        left
    }

    /// Whether a rung may be asked.
    fn wants(&self, rung: Rung) -> bool {
        self.options.by.is_none_or(|only| only == rung)
    }

    fn is_done(&self) -> bool {
        self.goal.targets.is_empty()
    }

    fn shape(&self, order: Order, capacity: usize) -> Shape {
        Shape { order, capacity, growth: Growth::Fault(self.options.values), spare: None }
    }

    /// The interleavings. What is reached there is reached under every model; under SC the rest is
    /// not. Why there is no closed set, if there is none.
    fn sc(&mut self, nodes: u64) -> Result<Option<Why>, Halt<Fault>> {
        let asked = Asked { rung: Rung::Sc, buffer: None };
        match self.explore(asked, self.shape(Order::Sc, usize::MAX), nodes)? {
            Explored::Closed(closed) if self.options.model == Model::Sc => {
                self.hold_closed(asked, &closed, PropertyReason::Buffers);
            }
            Explored::Closed(closed) => self.interleavings = Some(*closed),
            Explored::Answered => {}
            Explored::Open => unreachable!("nothing waits for room under SC"),
            Explored::Budget => return Ok(Some(Why::Stopped(StopReason::Inconclusive))),
        }
        Ok(None)
    }

    /// Store buffers with room for 2, 4, 8, … stores.
    fn buffers(&mut self, nodes: u64) -> Result<Why, Halt<Fault>> {
        let most = self.options.buffer;
        let mut capacity = FIRST_CAPACITY.min(most);
        loop {
            let asked = Asked { rung: Rung::Buffers, buffer: Some(capacity) };
            match self.explore(asked, self.shape(self.options.model.into(), capacity), nodes)? {
                Explored::Closed(closed) => {
                    self.hold_closed(asked, &closed, PropertyReason::Buffers);
                    return Ok(Why::NotForThis);
                }
                Explored::Answered => return Ok(Why::NotForThis),
                Explored::Open if capacity >= most => return Ok(Why::BuffersLonger(capacity)),
                Explored::Open => capacity = (2 * capacity).min(most),
                Explored::Budget => return Ok(Why::Stopped(StopReason::Inconclusive)),
            }
        }
    }

    /// Loads that lag behind on 2, 4, 8, … snapshots. This proves only: what is reached here,
    /// buffers reach as well, and give the computation.
    fn snapshots(&mut self, nodes: u64) -> Result<Why, Halt<Fault>> {
        if self.options.model != Model::Tso {
            return Ok(Why::NotForThis);
        }
        let most = self.options.buffer;
        let mut capacity = FIRST_CAPACITY.min(most);
        loop {
            let shape = self.shape(Order::Snapshots, capacity);
            let found = match search(self.sliced, &self.goal, self.known(), shape, &self.budget(nodes)) {
                Ok(found) => found,
                Err(Halt::Stopped(StopReason::Budget)) if nodes < u64::MAX => return Ok(UNFINISHED),
                Err(halt) => return Err(halt),
            };
            self.proof.states += found.explored.len();
            self.stop_if_strayed(&found)?;
            let is_reached = !found.reached.is_empty();
            if found.is_closed() {
                let asked = Asked { rung: Rung::Snapshots, buffer: Some(capacity) };
                self.hold_closed(asked, &found, PropertyReason::Snapshots);
            }
            match () {
                () if is_reached => return Ok(Why::ReachedOnly),
                () if self.is_done() => return Ok(Why::NotForThis),
                () if capacity >= most => return Ok(Why::SnapshotsMore(capacity)),
                () => capacity = (2 * capacity).min(most),
            }
        }
    }

    /// What makes for fewer steps.
    fn known(&self) -> Known<'_> {
        Known { silent: &self.silent, forbidden: &self.slice.written, bounds: self.bounds }
    }

    /// Robustness, after no target was reached under SC.
    fn robust(&mut self, nodes: u64) -> Result<Why, Halt<Fault>> {
        if self.options.model == Model::Sc || self.goal.final_states().is_some() {
            return Ok(Why::NotForThis);
        }
        if self.options.model == Model::Pso {
            return Ok(self.robust_against_pso(nodes));
        }
        let checked = self.check_robust(self.sliced)?;
        match checked.verdict {
            Verdict::NotRobust => {
                self.enrichment.note(&checked, Some);
                return Ok(Why::NotRobust);
            }
            Verdict::Unknown(reason) => return Ok(Why::Stopped(reason)),
            Verdict::Robust => {}
        }
        let Some(closed) = self.interleavings.take() else { return Ok(Why::NotForThis) };
        let certificate = Box::new(certificate(self.sliced, &checked).expect("a robust program has a certificate"));
        let asked = Asked { rung: Rung::ScRobust, buffer: None };
        self.hold_closed(asked, &closed, |sc| PropertyReason::Robust { certificate, sc });
        Ok(Why::NotForThis)
    }

    /// Asks whether the slice or what it has become is robust.
    fn check_robust<'p>(&mut self, program: &'p Program) -> Result<Check<'p>, Halt<Fault>> {
        let limits = self.options.limits.clone();
        // Scripts for outside solvers state a certificate's obligations configuration by
        // configuration.
        let options = CheckOptions { values: self.options.values, counters: false, limits, ..CheckOptions::default() };
        let checked = check_quickly(program, &options).map_err(Halt::Fault)?;
        self.proof.states += checked.markings;
        Ok(checked)
    }

    /// Explores the sliced program; notes the targets that are reached.
    fn explore(&mut self, asked: Asked, shape: Shape, nodes: u64) -> Result<Explored<'a>, Halt<Fault>> {
        let found = if self.program.is_parameterized() {
            self.explore_any_number(asked, shape, nodes)
        } else {
            self.search(asked, shape, true, nodes)
        };
        match found {
            _ if self.is_done() => Ok(Explored::Answered),
            Ok(found) if found.is_closed() => Ok(Explored::Closed(found.into())),
            Ok(_) => Ok(Explored::Open),
            Err(Halt::Stopped(StopReason::Budget)) if nodes < u64::MAX && !self.strayed => Ok(Explored::Budget),
            Err(halt) => Err(halt),
        }
    }

    /// Any number of copies: what is reached is sought in instances with few copies in all, the
    /// proof with ω.
    fn explore_any_number(&mut self, asked: Asked, shape: Shape, nodes: u64) -> Result<Search<'a>, Halt<Fault>> {
        let has_fixed = self.program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
        let first = Instances { copies: u32::from(!has_fixed), is_minimal: true, reached_of: None };
        let mut known = self.instances.get(&asked).copied().unwrap_or(first);
        for _ in 0..INSTANCES {
            let instance = Shape { spare: Some(known.copies), ..shape };
            match self.search(asked, instance, known.is_minimal, nodes) {
                Ok(found) if self.is_done() => return Ok(found),
                Ok(found) => {
                    known.copies += 1;
                    known.is_minimal &= !found.system.overflowed() && !found.system.was_cut();
                }
                Err(Halt::Stopped(StopReason::Budget)) => {
                    known.is_minimal = false;
                    break;
                }
                Err(halt) => return Err(halt),
            }
        }
        self.instances.insert(asked, known);
        if known.reached_of == Some(self.goal.targets.len()) {
            return Err(Halt::Stopped(StopReason::Budget));
        }
        let found = search(self.sliced, &self.goal, self.known(), shape, &self.budget(nodes))?;
        self.proof.states += found.explored.len();
        self.stop_if_strayed(&found)?;
        if found.reached.is_empty() {
            return Ok(found);
        }
        known.reached_of = Some(self.goal.targets.len());
        self.instances.insert(asked, known);
        Err(Halt::Stopped(StopReason::Budget))
    }

    fn budget(&self, nodes: u64) -> Budget {
        Budget::within(&self.options.limits).with_work(nodes)
    }

    /// One exploration; notes the targets that are reached.
    fn search(&mut self, asked: Asked, shape: Shape, is_minimal: bool, nodes: u64) -> Result<Search<'a>, Halt<Fault>> {
        let mut found = search(self.sliced, &self.goal, self.known(), shape, &self.budget(nodes))?;
        self.proof.states += found.explored.len();
        self.stop_if_strayed(&found)?;
        self.note_violations(asked, is_minimal, &mut found)?;
        Ok(found)
    }

    /// Whether to go on: what follows a read of what the instructions left out may write means
    /// nothing.
    fn stop_if_strayed(&mut self, found: &Search<'_>) -> Result<(), Halt<Fault>> {
        self.strayed |= found.system.strayed();
        if self.strayed { Err(Halt::Stopped(StopReason::Budget)) } else { Ok(()) }
    }

    /// Notes the targets that a search has reached.
    fn note_violations(&mut self, asked: Asked, is_minimal: bool, found: &mut Search<'_>) -> Result<(), Halt<Fault>> {
        let goal = self.goal.clone();
        for (number, target) in (0..).zip(goal.targets.iter().copied()) {
            if !found.reached.contains_key(&number) {
                continue;
            }
            let run = run(found, &goal, number).map_err(Halt::Fault)?;
            let shown = run.and_then(|run| self.shown(asked.rung, &run, target));
            let answer = shown.map_or(Answer::Open(Why::NotReplayed), |violation| {
                Answer::Violated(Violation { instance_minimal: is_minimal, ..violation }.into())
            });
            self.answer(asked, target, answer, found.explored.len());
        }
        Ok(())
    }

    /// The computation that a run becomes. What is violated under SC is shown without anything in a
    /// buffer.
    fn shown(&self, rung: Rung, run: &Run, target: Target) -> Option<Violation> {
        let (program, options) = (self.program, self.options);
        let under = |model| {
            let violation = replay(program, self.sliced, run, target, model)?;
            Some(if options.shorten { shortened(program, violation, &options.limits) } else { violation })
        };
        let is_of_sc = rung == Rung::Sc && options.model != Model::Sc;
        let interleaving = is_of_sc.then(|| at_once(program, &under(Model::Sc)?, options.model)).flatten();
        interleaving.or_else(|| under(options.model))
    }

    /// Notes that no target that is left is reached, but for those that the closed set reaches.
    fn hold_closed(
        &mut self,
        asked: Asked,
        closed: &Search<'_>,
        reason: impl FnOnce(BufferInvariant) -> PropertyReason,
    ) {
        let reason = reason(closed.closed_set());
        self.hold(asked, |target| closed.reaches(target), closed.explored.len(), reason);
    }

    /// Notes that no target that is left is reached, but for some, for a reason that was found in
    /// so many configurations.
    fn hold(&mut self, asked: Asked, is_reached: impl Fn(Target) -> bool, states: usize, reason: PropertyReason) {
        let position = self.proof.proofs.len();
        let (reached, targets): (Vec<_>, Vec<_>) = self.goal.targets.iter().copied().partition(|it| is_reached(*it));
        self.goal.targets = reached;
        if targets.is_empty() {
            return;
        }
        self.proof.proofs.push(PropertyProof {
            targets: targets.clone(),
            slice: self.slice.instructions(),
            bounds: self.bounds.map(Values::evidence),
            reason,
        });
        for target in targets {
            self.answer(asked, target, Answer::Holds(position), states);
        }
    }

    fn leave_open(&mut self, rung: Rung, why: Why) {
        for target in std::mem::take(&mut self.goal.targets) {
            self.answer(Asked { rung, buffer: None }, target, Answer::Open(why), 0);
        }
    }

    fn answer(&mut self, asked: Asked, target: Target, answer: Answer, states: usize) {
        self.goal.targets.retain(|it| *it != target);
        let is_reached = matches!(answer, Answer::Violated(_));
        let under_sc = match asked.rung {
            Rung::Sc if is_reached => Some(true),
            _ if matches!(&answer, Answer::Violated(found) if found.is_interleaving(self.program)) => Some(true),
            Rung::Sc if self.options.model == Model::Sc => Some(false),
            Rung::ScRobust => Some(false),
            _ => self.interleavings.is_some().then_some(false),
        };
        let sliced = self.slice.instructions().iter().map(Vec::len).sum();
        let Asked { rung, buffer } = asked;
        let seconds = 0.0;
        self.proof.answers.push(TargetAnswer { target, answer, rung, under_sc, buffer, states, sliced, seconds });
    }

    /// Whether none of the targets that are left is reached, which is shown of configurations up to
    /// turns of counters: their values grow, and the distances between them do not.
    fn holds_up_to_turns(&mut self) -> bool {
        let model = self.options.model;
        let (rung, mut capacity) =
            if model == Model::Sc { (Rung::Sc, usize::MAX) } else { (Rung::Buffers, FIRST_CAPACITY) };
        capacity = if model == Model::Sc { capacity } else { capacity.min(self.options.buffer) };
        while self.wants(rung) {
            let (shape, budget) =
                (self.shape(model.into(), capacity), self.budget(FIRST_VALUES.min(self.options.most)));
            let found = search_up_to_turns(self.sliced, &self.goal, self.known(), shape, &budget);
            let Some(Ok(found)) = found else { return false };
            self.proof.states += found.explored.len();
            if !found.reached.is_empty() || found.system.strayed() {
                return false;
            }
            if found.is_closed() {
                let asked = Asked { rung, buffer: Some(capacity).filter(|_| model != Model::Sc) };
                self.hold_closed(asked, &found, PropertyReason::Buffers);
                return true;
            }
            if !found.system.overflowed() || capacity >= self.options.buffer {
                return false;
            }
            capacity = (2 * capacity).min(self.options.buffer);
        }
        false
    }

    /// Whether all targets that are left are reached with the first values of data that grows.
    fn is_violated_among_first_values(&mut self) -> bool {
        for cut in CUTS {
            let order = self.options.model.into();
            let spare = self.program.is_parameterized().then_some(2);
            let shape = Shape { order, capacity: FIRST_CAPACITY, growth: Growth::Cut(cut), spare };
            let asked = Asked { rung: Rung::Buffers, buffer: Some(FIRST_CAPACITY) };
            if self.search(asked, shape, false, FIRST_VALUES).is_ok() && self.is_done() {
                return true;
            }
        }
        false
    }
}

/// What came of an exploration.
enum Explored<'a> {
    /// All targets have answers.
    Answered,
    /// A closed set that meets none of the targets that are left.
    Closed(Box<Search<'a>>),
    /// Buffers were too small.
    Open,
    /// There was more to explore.
    Budget,
}
