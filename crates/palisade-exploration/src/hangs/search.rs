//! One exploration, breadth first, until a stuck state is found.

use super::configuration::Configuration;
use super::counters::counters;
use super::persistent::Persistence;
use super::place::Waiting;
use super::rows::{Row, rows};
use super::system::{Act, Control, Shape, System};
use crate::instrumented::Fault;
use crate::lazy::{Interner, MOST_WAYS, NetError, splits};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{Copies, Program, ThreadId};

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// From where a copy goes on.
    pub from: u32,
    /// What it does.
    pub act: Act,
    /// Where it is then; nothing when it has ended.
    pub to: Option<u32>,
    /// The copies that it wakes: where each sleeps and where it goes on, or nothing when it has
    /// ended. Not listed of copies that are not counted exactly.
    pub woken: Vec<(u32, Option<u32>)>,
}

/// What an exploration has found.
#[derive(Debug)]
pub struct Search<'p> {
    /// What copies do.
    pub system: System<'p>,
    /// The configurations.
    configurations: Interner<Configuration>,
    /// How each was found: from which one, and by which step.
    found: Vec<(u32, Option<Step>)>,
    /// Places in which copies of replicated threads begin.
    sources: Vec<u32>,
    /// The initial ones.
    initial: Vec<Configuration>,
    /// A stuck one, or one in which a copy is hopeless.
    stuck: Option<u32>,
    /// The place in which a copy is hopeless there.
    hopeless: Option<u32>,
    /// Sums that configurations keep; others are left out.
    rows: Vec<Row>,
    /// Which copies are enough to go on from a configuration, where steps may be left out.
    persistence: Option<Persistence>,
    /// Whether steps were left out.
    pub(super) has_left_out: bool,
    /// Whether a store had to wait for room in a buffer.
    overflowed: bool,
    /// Whether a counter may fall below 0.
    is_negative: bool,
    /// Whether a copy rests inside a locked section while others wait for their buffers to drain.
    pub has_closed_lock: bool,
    /// Whether a state was met in which nobody goes on, and `finally` was asked of it.
    pub has_end: bool,
    /// Whether all was explored.
    is_exhausted: bool,
}

impl Search<'_> {
    /// The steps to the stuck state, and the configuration that they begin in; nothing where none
    /// was found.
    pub fn run(&self) -> Option<(&Configuration, Vec<Step>)> {
        let mut node = self.stuck?;
        let mut steps = Vec::new();
        while let (before, Some(step)) = &self.found[node as usize] {
            steps.push(step.clone());
            node = *before;
        }
        steps.reverse();
        Some((self.configurations.get(node), steps))
    }

    /// The stuck state.
    pub fn stuck(&self) -> Option<&Configuration> {
        self.stuck.map(|node| self.configurations.get(node))
    }

    /// The place of a copy that is hopeless in that state, where nothing is stuck.
    pub fn hopeless(&self) -> Option<u32> {
        self.hopeless
    }

    /// Whether all is known that may come of a configuration.
    pub fn is_whole(&self) -> bool {
        self.is_exhausted && !self.overflowed && !self.is_negative && !self.has_closed_lock
    }

    /// Whether the set is closed for unbounded buffers, and has no stuck state.
    pub fn is_free(&self) -> bool {
        self.is_whole() && self.stuck.is_none()
    }

    /// How many configurations there are.
    pub fn len(&self) -> usize {
        self.configurations.len()
    }

    /// Whether there are none: an `assume` stops every run at its start.
    pub fn is_empty(&self) -> bool {
        self.configurations.is_empty()
    }

    /// All configurations.
    pub fn configurations(&self) -> impl Iterator<Item = &Configuration> {
        (0..self.configurations.len()).map(|index| self.configurations.get(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// The threads with copies that, as far as was explored, neither end nor wait: hangs of others
    /// are seen only when they rest.
    pub fn never_resting(&mut self) -> Result<Vec<ThreadId>, Fault> {
        let program = self.system.program();
        let mut rests: Vec<bool> = program.threads.iter().map(|thread| thread.copies == Copies::Exactly(0)).collect();
        for index in 0..self.system.ends.len() {
            rests[index] |= self.system.ends[index];
        }
        for node in 0..self.configurations.len() {
            if rests.iter().all(|rests| *rests) {
                break;
            }
            let Configuration { control, tokens } = self.configurations.get(u32::try_from(node).unwrap_or(u32::MAX));
            let sleepers = self.system.sleepers(tokens);
            for place in tokens.iter().map(|(place, _)| *place).chain(self.sources.iter().copied()) {
                let thread = self.system.local(place).thread;
                if !rests[thread.index()] {
                    rests[thread.index()] = self.system.waiting(*control, place, &sleepers)? != Waiting::Active;
                }
            }
        }
        Ok(program.thread_ids().map(|(id, _)| id).filter(|id| !rests[id.index()]).collect())
    }
}

/// Explores a program until a stuck state is found, or to the end.
pub fn search<'p>(program: &'p Program, shape: Shape, budget: &Budget) -> Result<Search<'p>, Halt<Fault>> {
    let mut search = Search::new(System::new(program, shape, Vec::new(), &budget.limits), Vec::new());
    search.explore(budget, true)?;
    Ok(search)
}

/// Explores a program in which the values of counters are told apart up to [`Shape::most`], and
/// configurations are left out that break a sum that all steps keep; nothing where there are no
/// counters.
pub fn search_counting<'p>(
    program: &'p Program,
    shape: Shape,
    budget: &Budget,
) -> Result<Option<Search<'p>>, Halt<Fault>> {
    let counters = counters(program, shape.most);
    if counters.is_empty() {
        return Ok(None);
    }
    // First without sums, which lists all steps that there may be.
    let mut listing = Search::new(System::new(program, shape, counters, &budget.limits), Vec::new());
    listing.explore(budget, false)?;
    let rows = rows(&listing.system, &listing.sources, &listing.initial);
    let mut search = Search::new(listing.system, rows);
    search.explore(budget, true)?;
    Ok(Some(search))
}

impl<'p> Search<'p> {
    pub(super) fn new(system: System<'p>, rows: Vec<Row>) -> Self {
        let persistence = if system.shape().leaves_out { Persistence::of(system.program()) } else { None };
        Self {
            persistence,
            has_left_out: false,
            system,
            configurations: Interner::default(),
            found: Vec::new(),
            sources: Vec::new(),
            initial: Vec::new(),
            stuck: None,
            hopeless: None,
            rows,
            overflowed: false,
            is_negative: false,
            has_closed_lock: false,
            has_end: false,
            is_exhausted: false,
        }
    }

    /// A configuration by its number.
    pub(super) fn configuration(&self, node: usize) -> &Configuration {
        self.configurations.get(u32::try_from(node).unwrap_or(u32::MAX))
    }

    /// The number of a configuration that was explored.
    pub(super) fn node_of(&mut self, configuration: Configuration) -> usize {
        let (node, is_new) = self.configurations.intern(configuration);
        debug_assert!(!is_new, "all that steps lead to was explored");
        node as usize
    }

    /// Notes that a copy in a place is hopeless in a configuration.
    pub(super) fn mark_hopeless(&mut self, node: usize, place: u32) {
        (self.stuck, self.hopeless) = (u32::try_from(node).ok(), Some(place));
    }

    /// The sums that configurations keep.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// Steps between two looks at the limits: a configuration has as many as there are values to
/// choose.
const BETWEEN_LOOKS: usize = 256;

impl Search<'_> {
    /// Explores until a stuck configuration is found, if that is asked, or to the end.
    pub(super) fn explore(&mut self, budget: &Budget, stops: bool) -> Result<(), Halt<Fault>> {
        for tokens in self.roots().map_err(NetError::halt)?.ok_or(StopReason::Budget)? {
            let configuration = Configuration { control: System::initial_control(), tokens };
            self.initial.push(configuration.clone());
            self.add(configuration, 0, None);
        }
        let mut node: u32 = 0;
        let mut successors = Vec::new();
        let mut steps: usize = 0;
        while (node as usize) < self.configurations.len() {
            let configuration = self.configurations.get(node).clone();
            if stops && self.is_stuck(&configuration).map_err(NetError::halt)? {
                self.stuck = Some(node);
                return Ok(());
            }
            let Configuration { control, tokens } = &configuration;
            let mut few = match &mut self.persistence {
                Some(persistence) => persistence.movers(&mut self.system, *control, tokens).map_err(NetError::halt)?,
                None => None,
            };
            loop {
                self.successors(&configuration, few.as_deref(), budget, &mut successors)?;
                let mut goes_on = false;
                for (successor, step) in successors.drain(..) {
                    goes_on |= self.add(successor, node, Some(step)).is_some_and(|to| to > node);
                    if steps.is_multiple_of(BETWEEN_LOOKS) {
                        budget.check(self.configurations.len() as u64)?;
                    }
                    steps += 1;
                }
                // Where a few copies lead back, all go on: nobody is put off for ever.
                if few.is_none() || goes_on {
                    self.has_left_out |= few.is_some();
                    break;
                }
                few = None;
            }
            node += 1;
        }
        self.is_exhausted = true;
        Ok(())
    }

    /// Adds a configuration; its number, unless a sum rules it out.
    fn add(&mut self, configuration: Configuration, from: u32, step: Option<Step>) -> Option<u32> {
        if self.rows.iter().any(|row| row.rules_out(&self.system, &configuration)) {
            return None;
        }
        let (number, is_new) = self.configurations.intern(configuration);
        if is_new {
            self.found.push((from, step));
        }
        Some(number)
    }

    /// The tokens of each initial configuration; nothing when there are too many.
    fn roots(&mut self) -> Result<Option<Vec<Box<[(u32, u64)]>>>, Fault> {
        let mut roots: Vec<Vec<(u32, u64)>> = vec![Vec::new()];
        for (id, thread) in self.system.program().thread_ids() {
            let (places, _) = self.system.beginnings(id)?;
            match thread.copies {
                Copies::Exactly(0) => {}
                Copies::Any => self.sources.extend(places.into_iter().flatten()),
                Copies::Exactly(copies) => {
                    let Some(splits) = splits(copies, places.len()) else { return Ok(None) };
                    if splits.len().saturating_mul(roots.len()) > MOST_WAYS {
                        return Ok(None);
                    }
                    let with = |root: &Vec<(u32, u64)>, split: &Vec<(usize, u64)>| {
                        let tokens = split.iter().filter_map(|(way, count)| Some((places[*way]?, *count)));
                        root.iter().copied().chain(tokens).collect()
                    };
                    roots = roots.iter().flat_map(|root| splits.iter().map(move |split| with(root, split))).collect();
                }
            }
        }
        let in_order = |mut tokens: Vec<(u32, u64)>| {
            tokens.sort_unstable();
            tokens.into_boxed_slice()
        };
        Ok(Some(roots.into_iter().map(in_order).collect()))
    }

    /// Whether nobody can change anything any more, and somebody waits who must not, or memory is
    /// not as it must be in the end.
    pub(super) fn is_stuck(&mut self, configuration: &Configuration) -> Result<bool, Fault> {
        let Configuration { control, tokens } = configuration;
        let (mut waits, mut drains) = (false, false);
        let sleepers = self.system.sleepers(tokens);
        for (place, _) in tokens {
            let holds = self.system.local(*place).holding;
            if !self.system.buffer(*place).is_empty() {
                // Nobody else's buffer drains while the lock is held.
                if !control.locked || holds {
                    return Ok(false);
                }
                drains = true;
            } else {
                match self.system.waiting(*control, *place, &sleepers)? {
                    Waiting::Active => return Ok(false),
                    Waiting::Waits => waits = true,
                    Waiting::Idle => {}
                }
            }
        }
        // The number of copies that have not moved is ours to choose: those that wait are there,
        // others are not.
        for source in self.sources.clone() {
            waits |= self.system.waiting(*control, source, &sleepers)? == Waiting::Waits;
        }
        self.has_closed_lock |= drains;
        self.has_end |= !drains;
        Ok(!drains && (waits || !self.system.ends_well(control.memory)))
    }

    /// Where one step leads from a configuration, of all copies or of those in a few places.
    fn successors(
        &mut self,
        from: &Configuration,
        few: Option<&[u32]>,
        budget: &Budget,
        found: &mut Vec<(Configuration, Step)>,
    ) -> Result<(), Halt<Fault>> {
        for (place, _) in from.tokens.iter().filter(|(place, _)| few.is_none_or(|few| few.contains(place))) {
            for rest in self.without_one(&from.tokens, *place) {
                self.steps(from.control, *place, &rest, budget, found)?;
            }
        }
        for source in self.sources.clone() {
            self.steps(from.control, source, &from.tokens, budget, found)?;
        }
        Ok(())
    }

    /// The steps of a copy in a place, beside the other copies.
    fn steps(
        &mut self,
        control: Control,
        place: u32,
        rest: &[(u32, u64)],
        budget: &Budget,
        found: &mut Vec<(Configuration, Step)>,
    ) -> Result<(), Halt<Fault>> {
        let changes = self.system.changes(control, place).map_err(NetError::halt)?;
        self.overflowed |= changes.is_full;
        self.is_negative |= changes.is_negative;
        for index in changes.start..changes.end {
            if found.len() % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 {
                budget.check(self.configurations.len() as u64)?;
            }
            let change = self.system.change(index);
            let tokens = match change.to {
                Some(to) => self.with_one(rest, to),
                None => rest.into(),
            };
            let step = Step { from: place, act: change.act, to: change.to, woken: Vec::new() };
            let control = change.control;
            match change.wakes {
                Some((address, all)) => {
                    for (tokens, woken) in self.after_wake(&tokens, address, all)? {
                        found.push((Configuration { control, tokens }, Step { woken, ..step.clone() }));
                    }
                }
                None => found.push((Configuration { control, tokens }, step)),
            }
        }
        Ok(())
    }
}
