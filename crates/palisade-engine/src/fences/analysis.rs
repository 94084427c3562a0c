//! Attacks of one thread under candidate sets of measures.
//!
//! What measures change is the delaying phase alone. It is explored anew for each candidate, with the forbidden labels
//! as obstacles. Dropping nodes from an exploration made without obstacles would not do for any number of threads: there
//! a configuration is left out when a larger one covers it, and the larger one may have been reached through forbidden
//! labels only. The exploration under SC before it and everything known of the helpers' phase after it are shared.
//!
//! Where an exploration takes more than its round allows, the net of the attack has its turn.

use super::attempt::{Attempt, Methods};
use super::catalogue::{Catalogue, MeasureSet};
use super::on_nets::Nets;
use super::progress::Observer;
use crate::decide::{Method, Round, Turn, decide};
use crate::robustness::{PhaseSteps, Story, story_of_steps};
use palisade_exploration::instrumented::system::{Phase, System};
use palisade_exploration::instrumented::{
    Attack, DelayFlow, Fault, LoadStarts, Obstacles, Obstructed, Success, Successes, ThreadSearch, attacker_label,
    is_stopped, mode_of,
};
use palisade_exploration::lazy::{Entry, Exploration, LazyNet, Mode, Step};
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
    delaying: FxHashMap<Obstacles, Delaying>,
    /// That store, and where its delaying starts.
    store: Option<(InstructionId, Vec<Start>)>,
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

/// A configuration in which delaying starts.
struct Start {
    /// The node under SC before it.
    sc: u32,
    control: u32,
    entries: Vec<Entry>,
    depth: u32,
}

/// A delaying phase explored.
struct Delaying {
    explored: Exploration,
    /// The node under SC before each root.
    origins: FxHashMap<u32, u32>,
    starts: LoadStarts,
}

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
            store: None,
            shown: None,
            stories: Stories::default(),
            candidates: 0,
            searches: 0,
            markings: 0,
        }
    }

    /// Whether an attack stays feasible under a set of measures: then a row that the set does not touch.
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
                let explored = &self.delaying[obstacles].explored;
                row(&mut self.search.system, self.catalogue, explored, attack, found.delayed, obstacles)
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
        let Delaying { explored, origins, .. } = &self.delaying[obstacles];
        let ThreadSearch { helped, system, .. } = &mut self.search;
        let (before, start) = (origins[&explored.path(found.delayed)[0]], explored.path(found.delayed)[0]);
        let first = helped.path(found.success)[0];
        let way = self.successful.way_from(helped.control(first), helped.entries(first));
        let steps = PhaseSteps {
            initial: sc.entries(sc.path(before)[0]),
            sc: &sc.steps_along(system, before)?,
            before_delay: sc.entries(before),
            delay_start: (explored.control(start), explored.entries(start)),
            delayed: &delaying_steps(system, self.catalogue, explored, found.delayed, obstacles)?,
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
        if self.store.as_ref().is_none_or(|(known, _)| *known != store) {
            self.delaying.clear();
            self.store = Some((store, self.starts(sc, store, budget)?));
        }
        if self.delaying.contains_key(obstacles) {
            return Ok(());
        }
        let kept: usize = self.delaying.values().map(|delaying| delaying.explored.len()).sum();
        if kept > KEPT_NODES {
            self.delaying.clear();
        }
        let mut explored = Exploration::new(mode_of(&self.search.system));
        let mut origins = FxHashMap::default();
        if !obstacles.instructions.contains(store.index()) {
            for start in &self.store.as_ref().expect("set above").1 {
                let label = attacker_label(&self.search.system, start.control);
                if label.is_some_and(|label| !obstacles.labels.contains(label.index())) {
                    let root = explored.add_root(start.control, &start.entries, start.depth);
                    origins.extend(root.map(|root| (root, start.sc)));
                }
            }
        }
        Obstructed { system: &mut self.search.system, obstacles }.explore(&mut explored, budget)?;
        self.markings += explored.len();
        let starts = self.search.load_starts(&explored, budget)?;
        self.delaying.insert(obstacles.clone(), Delaying { explored, origins, starts });
        Ok(())
    }

    /// Where the delaying of a store starts.
    fn starts(&mut self, sc: &Exploration, store: InstructionId, budget: &Budget) -> Result<Vec<Start>, Halt<Fault>> {
        let mut starts = Vec::new();
        self.search.each_start(sc, self.id, store, budget, |node, root| {
            starts.push(Start { sc: node, control: root.control, entries: root.entries, depth: sc.depth(node) + 1 });
        })?;
        Ok(starts)
    }
}

/// The measures that would stop the attacker on its way from a store to a delaying node.
///
/// With ω the way is one of many that the node stands for: those repeat parts of it, and meet the same labels.
fn row(
    system: &mut System<'_>,
    catalogue: &Catalogue,
    explored: &Exploration,
    attack: &Attack,
    node: u32,
    obstacles: &Obstacles,
) -> Result<MeasureSet, Fault> {
    let mut row = catalogue.nothing();
    row.extend(catalogue.measure_of(attack.thread, attack.store));
    let path = explored.path(node);
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

/// The steps to a delaying node of an exact exploration, each with the control before it. Where several lead from one node to
/// the next it is the one that [`row`] is about.
fn delaying_steps(
    system: &mut System<'_>,
    catalogue: &Catalogue,
    explored: &Exploration,
    node: u32,
    obstacles: &Obstacles,
) -> Result<Vec<(u32, Step)>, Fault> {
    let mut steps = Vec::new();
    for pair in explored.path(node).windows(2) {
        let possible = explored.steps_to(&mut Obstructed { system, obstacles }, pair[1])?;
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
    let (thread, instruction) = system.instruction_of(step.label);
    catalogue.measure_of(thread, instruction)
}

fn attacker_of(system: &System<'_>, control: u32) -> Option<u32> {
    match system.control(control).phase {
        Phase::Delayed(number) => Some(number),
        _ => None,
    }
}
