//! Attacks of one thread under candidate sets of measures.
//!
//! What measures change is the delaying phase alone, in which the forbidden labels are obstacles
//! ([`DelayingPhases`]). The exploration under SC before it and everything known of the helpers'
//! phase after it are shared.
//!
//! Where an exploration takes more than its round allows, the net of the attack has its turn.

use super::attempt::{Attempt, Methods};
use super::catalogue::{Catalogue, MeasureSet};
use super::on_nets::Nets;
use super::progress::Observer;
use crate::decide::{Method, Round, Turn, decide};
use crate::robustness::{PhaseSteps, Story, story_of_steps};
use palisade_exploration::instrumented::system::Phase;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{
    Attack, DelayFlow, DelayingPhase, DelayingPhases, Fault, Obstacles, Obstructed, Success, Successes, ThreadSearch,
    attacker_label, is_stopped, mode_of,
};
use palisade_exploration::lazy::{Exploration, LazyNet, Mode, Step};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{InstructionId, Program, ThreadId};
use rustc_hash::FxHashMap;

/// Nodes of delaying phases kept for later candidates.
const KEPT_NODES: usize = 500_000;

/// The searches for the attacks of one thread.
pub(super) struct Analysis<'a, 'p> {
    program: &'p Program,
    /// The thread.
    pub(super) id: ThreadId,
    catalogue: &'a Catalogue,
    /// The exploration under SC; none when it took too long.
    sc: Option<&'a Exploration>,
    search: ThreadSearch<'p>,
    flow: DelayFlow<'p>,
    /// What may be used.
    pub(super) attempt: &'a Attempt<'a>,
    /// The nets, when they may be asked.
    nets: Option<Nets<'p>>,
    /// Whether the net has answered last.
    net_answered_last: bool,
    observer: &'a dyn Observer,
    /// Configurations after ld_A from which success is known to be reachable.
    successful: Successes,
    /// Delaying phases of the store looked at last, by what was forbidden.
    delaying: FxHashMap<Obstacles, DelayingPhase>,
    /// Where the delaying of that store starts.
    phases: Option<DelayingPhases>,
    /// A computation that shows the row found last.
    shown: Option<Story>,
    /// Computations that show the rows made shorter.
    pub(super) stories: Stories,
    /// How many candidates were tried.
    pub(super) candidates: usize,
    /// How many of them needed a search.
    pub(super) searches: usize,
    /// Configurations explored.
    pub(super) markings: usize,
}

/// What remains of an attack: a row that some measures do not touch, if there is one.
type Remaining = Option<MeasureSet>;

/// The name of the nets among the methods.
const NET: &str = "net";

/// The question what remains of an attack past obstacles.
struct Past<'q, 'a, 'p> {
    analysis: &'q mut Analysis<'a, 'p>,
    attack: &'q Attack,
    obstacles: &'q Obstacles,
}

impl Past<'_, '_, '_> {
    fn search(&mut self, round: Round) -> Turn<Remaining, Fault> {
        self.analysis.search(self.attack, self.obstacles, round.work).map(Some)
    }

    fn net(&mut self, round: Round) -> Turn<Remaining, Fault> {
        self.analysis.ask_net(self.attack, self.obstacles, round.work).map(Some)
    }
}

/// Computations that show rows of attacks.
pub(super) type Stories = FxHashMap<(Attack, MeasureSet), Story>;

impl<'a, 'p> Analysis<'a, 'p> {
    /// Decides attacks of a thread, given the exploration under SC of a system.
    pub(super) fn new(
        system: &System<'p>,
        sc: Option<&'a Exploration>,
        id: ThreadId,
        catalogue: &'a Catalogue,
        attempt: &'a Attempt<'a>,
        observer: &'a dyn Observer,
    ) -> Self {
        let program = system.program();
        let thread = program.thread(id);
        Self {
            program,
            id,
            catalogue,
            sc,
            search: ThreadSearch::new(system.clone(), mode_of(system)),
            flow: DelayFlow::of(thread),
            attempt,
            nets: (attempt.methods != Methods::Searches).then(|| Nets::new(program, thread)),
            net_answered_last: false,
            observer,
            successful: Successes::default(),
            delaying: FxHashMap::default(),
            phases: None,
            shown: None,
            stories: Stories::default(),
            candidates: 0,
            searches: 0,
            markings: 0,
        }
    }

    /// Whether an attack stays feasible under a set of measures: then a row that the set does not
    /// touch.
    pub(super) fn remaining(&mut self, attack: &Attack, set: &MeasureSet) -> Result<Option<MeasureSet>, Halt<Fault>> {
        self.attempt.limits.check()?;
        self.candidates += 1;
        self.observer.candidate_tried();
        self.succeeds(attack, set)
    }

    fn succeeds(&mut self, attack: &Attack, set: &MeasureSet) -> Result<Option<MeasureSet>, Halt<Fault>> {
        let obstacles = self.catalogue.obstacles(self.program, self.id, set);
        if !self.flow.leads(attack.store, attack.load, &obstacles) {
            return Ok(None);
        }
        self.searches += 1;
        // Ask the method that answered last first.
        let mut methods = [Method { name: "search", turn: Past::search }, Method { name: NET, turn: Past::net }];
        if self.net_answered_last {
            methods.reverse();
        }
        let schedule = self.attempt.schedule();
        let mut question = Past { analysis: self, attack, obstacles: &obstacles };
        let answer = decide(&mut question, &methods, schedule)?;
        self.net_answered_last = answer.method == NET;
        Ok(answer.answer)
    }

    /// A row that the obstacles leave open, from the net of the attack.
    fn ask_net(&mut self, attack: &Attack, obstacles: &Obstacles, work: u64) -> Result<Remaining, Halt<Fault>> {
        let nets = self.nets.as_mut().ok_or(StopReason::Budget)?;
        let budget = Budget::within(&self.attempt.limits).with_work(work);
        match nets.remaining(attack, obstacles, self.attempt.values, &budget) {
            Ok(None) => Ok(None),
            Ok(Some((way, story))) => {
                self.shown = story;
                Ok(Some(self.catalogue.row_of(self.program, self.id, &way)))
            }
            // Value sets grow, or reach what has no value: the program need not.
            Err(Halt::Fault(_)) if self.attempt.methods == Methods::Both => {
                self.nets = None;
                Err(StopReason::Budget.into())
            }
            Err(halt) => Err(halt),
        }
    }

    /// A row that the obstacles leave open, from explorations.
    fn search(&mut self, attack: &Attack, obstacles: &Obstacles, work: u64) -> Result<Remaining, Halt<Fault>> {
        let sc = self.sc.ok_or(StopReason::Budget)?;
        let budget = Budget::within(&self.attempt.limits).with_work(work);
        self.delay(sc, attack.store, obstacles, &budget)?;
        let delaying = &self.delaying[obstacles];
        let starts = delaying.starts.get(&attack.load).cloned().unwrap_or_default();
        let before = self.search.helped.len();
        self.search.helped.renew_budget();
        let success = self.search.help(starts, &self.successful, &budget);
        self.markings += self.search.helped.len() - before;
        match success {
            Ok(None) => {
                self.search.helped.settle();
                Ok(None)
            }
            Ok(Some(found)) => {
                let ThreadSearch { helped, system, .. } = &mut self.search;
                self.successful.remember(helped, system, found.success).map_err(Halt::Fault)?;
                self.shown = self.story(sc, attack, obstacles, &found).map_err(Halt::Fault)?;
                self.search.helped.forget_unsettled();
                let phase = &self.delaying[obstacles];
                row(&mut self.search.system, self.catalogue, phase, attack, found.delayed, obstacles)
                    .map(Some)
                    .map_err(Halt::Fault)
            }
            Err(halt) => {
                self.search.helped.forget_unsettled();
                Err(halt)
            }
        }
    }

    /// The computation that an exact search has found; nothing with ω, which stands for many.
    fn story(
        &mut self,
        sc: &Exploration,
        attack: &Attack,
        obstacles: &Obstacles,
        found: &Success,
    ) -> Result<Option<Story>, Fault> {
        if sc.mode() == Mode::Omega {
            return Ok(None);
        }
        let phase = &self.delaying[obstacles];
        let explored = phase.explored();
        let ThreadSearch { helped, system, .. } = &mut self.search;
        let start = phase.path(found.delayed)[0];
        let before = phase.origin(start);
        let first = helped.path(found.success)[0];
        let way = self.successful.way_from(helped.control(first), helped.entries(first));
        let steps = PhaseSteps {
            initial: sc.entries(sc.path(before)[0]),
            sc: &sc.steps_along(system, before)?,
            before_delay: sc.entries(before),
            delay_start: (explored.control(start), explored.entries(start)),
            delayed: &delaying_steps(system, self.catalogue, phase, found.delayed, obstacles)?,
            helped: &way.expect("the way of the success found has been remembered"),
        };
        story_of_steps(system.program(), *attack, system, &steps).map(Some)
    }

    /// A computation that shows the row found last, if it is known.
    pub(super) fn shown(&mut self) -> Option<Story> {
        self.shown.take()
    }

    /// Keeps that computation.
    fn keep_shown(&mut self, attack: &Attack, row: &MeasureSet) {
        let story = self.shown.take();
        self.stories.extend(story.map(|story| ((*attack, row.clone()), story)));
    }

    /// A row of an attack none of whose measures can be left out: the one found last, made shorter.
    pub(super) fn shortened(&mut self, attack: &Attack, mut row: MeasureSet) -> Result<MeasureSet, Halt<Fault>> {
        let everything = self.catalogue.everything();
        for measure in row.ones().collect::<Vec<_>>() {
            if !row.contains(measure) {
                continue;
            }
            let mut allowed = row.clone();
            allowed.set(measure, false);
            let mut others = everything.clone();
            others.difference_with(&allowed);
            if let Some(shorter) = self.succeeds(attack, &others)? {
                row = shorter;
            }
        }
        self.keep_shown(attack, &row);
        Ok(row)
    }

    /// Explores the delaying phase of a store, unless it is at hand.
    fn delay(
        &mut self,
        sc: &Exploration,
        store: InstructionId,
        obstacles: &Obstacles,
        budget: &Budget,
    ) -> Result<(), Halt<Fault>> {
        let known = self.phases.take().filter(|phases| phases.store() == store);
        let mut phases = match known {
            Some(known) => known,
            None => {
                self.delaying.clear();
                DelayingPhases::new(&mut self.search.system, sc, (self.id, store), budget)?
            }
        };
        let explored = self.delay_past(&mut phases, obstacles, budget);
        self.phases = Some(phases);
        explored
    }

    fn delay_past(
        &mut self,
        phases: &mut DelayingPhases,
        obstacles: &Obstacles,
        budget: &Budget,
    ) -> Result<(), Halt<Fault>> {
        if self.delaying.contains_key(obstacles) {
            return Ok(());
        }
        let kept: usize = self.delaying.values().map(DelayingPhase::len).sum();
        if kept > KEPT_NODES {
            self.delaying.clear();
        }
        let phase = phases.explore(&mut self.search.system, obstacles, budget)?;
        self.markings += phase.len();
        self.delaying.insert(obstacles.clone(), phase);
        Ok(())
    }
}

/// The measures that would stop the attacker on its way from a store to a delaying node.
///
/// With ω the way is one of many that the node stands for: those repeat parts of it, and meet the
/// same labels.
fn row(
    system: &mut System<'_>,
    catalogue: &Catalogue,
    phase: &DelayingPhase,
    attack: &Attack,
    node: u32,
    obstacles: &Obstacles,
) -> Result<MeasureSet, Fault> {
    let explored = phase.explored();
    let mut row = catalogue.nothing();
    row.extend(catalogue.measure_of(attack.thread, attack.store));
    let path = phase.path(node);
    for node in &path {
        let label = attacker_label(system, explored.control(*node));
        row.extend(label.and_then(|label| catalogue.fence_at(attack.thread, label)));
    }
    if catalogue.forbids_instructions() {
        let mut steps = Vec::new();
        for pair in path.windows(2) {
            let (before, after) = (explored.control(pair[0]), explored.control(pair[1]));
            if attacker_of(system, before) == attacker_of(system, after) {
                continue;
            }
            steps.clear();
            system.steps(before, explored.entries(pair[0]), &mut steps)?;
            // Where several instructions lead there, one that no measure forbids will do.
            let measures = steps
                .iter()
                .filter(|step| step.take.is_none() && step.control == after && !is_stopped(system, obstacles, step))
                .map(|step| measure_of(system, catalogue, step));
            row.extend(measures.min().expect("the attacker moved by one of its steps"));
        }
    }
    Ok(row)
}

/// The steps to a delaying node of an exact exploration, each with the control before it. Where
/// several lead from one node to the next it is the one that [`row`] is about.
fn delaying_steps(
    system: &mut System<'_>,
    catalogue: &Catalogue,
    phase: &DelayingPhase,
    node: u32,
    obstacles: &Obstacles,
) -> Result<Vec<(u32, Step)>, Fault> {
    let explored = phase.explored();
    let mut steps = Vec::new();
    for pair in phase.path(node).windows(2) {
        let possible = explored.steps_between(&mut Obstructed { system, obstacles }, pair[0], pair[1])?;
        let measure = |step: &Step| match step.take {
            None => measure_of(system, catalogue, step),
            Some(_) => None,
        };
        let step = possible.into_iter().min_by_key(measure).expect("a node is found by a step from its parent");
        steps.push((explored.control(pair[0]), step));
    }
    Ok(steps)
}

/// The measure that forbids a step of the attacker itself.
fn measure_of(system: &System<'_>, catalogue: &Catalogue, step: &Step) -> Option<usize> {
    let (thread, instruction) = system.label(step);
    catalogue.measure_of(thread, instruction)
}

fn attacker_of(system: &System<'_>, control: u32) -> Option<u32> {
    match system.control(control).phase {
        Phase::Delayed(number) => Some(number),
        _ => None,
    }
}
