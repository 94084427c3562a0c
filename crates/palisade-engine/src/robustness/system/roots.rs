//! Where searches start: initial configurations, and copies that are free to be any replicated thread.

use super::control::{Control, Memory, Phase};
use super::{Operation, Place, System};
use crate::exploration::{Entry, Step, Tokens};
use crate::robustness::fault::Fault;
use palisade_model::program::{Copies, InstructionId, Program, ThreadId};
use std::cmp::Reverse;

/// A configuration to start a search from.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its control.
    pub control: u32,
    /// Its tokens, sorted by place.
    pub entries: Vec<Entry>,
}

/// A search starts from no more initial configurations than this. The checker lists as many.
const MOST_ROOTS: usize = 1 << 16;

/// Every way in which so many copies can choose among places, as counts; none when there are too many.
fn splits(copies: u64, places: &[u32]) -> Option<Vec<Vec<Entry>>> {
    let copies = u32::try_from(copies).ok().filter(|copies| *copies < u32::MAX)?;
    let mut partial: Vec<(Vec<Entry>, u32)> = vec![(Vec::new(), copies)];
    for (index, place) in places.iter().enumerate() {
        let is_last = index + 1 == places.len();
        let mut longer = Vec::new();
        for (split, rest) in partial {
            let least = if is_last { rest } else { 0 };
            if u64::from(rest - least) >= MOST_ROOTS as u64 {
                return None;
            }
            for count in least..=rest {
                let chosen = (count > 0).then(|| Entry { place: *place, tokens: Tokens::finite(count) });
                longer.push((split.iter().copied().chain(chosen).collect(), rest - count));
            }
            if longer.len() > MOST_ROOTS {
                return None;
            }
        }
        partial = longer;
    }
    Some(partial.into_iter().map(|(split, _)| split).collect())
}

/// The tokens of the initial configurations.
pub(crate) struct InitialTokens {
    /// For each initial configuration its tokens, sorted by place. The place of spare copies has the largest number.
    pub(crate) roots: Vec<Vec<Entry>>,
    /// The places in which a spare copy may begin.
    pub(crate) spare_places: Vec<u32>,
}

impl InitialTokens {
    /// The place of copies of replicated threads that have not chosen their thread yet.
    pub(crate) const SPARE: u32 = u32::MAX;

    /// Every way in which the copies of a program may begin, when each thread may begin in the given places. Any number of copies
    /// is ω in each of them, or `spare` copies in all. None when there are too many, or too many copies to count.
    pub(crate) fn of(
        program: &Program,
        spare: Option<u32>,
        mut initial: impl FnMut(ThreadId) -> Result<Vec<u32>, Fault>,
    ) -> Result<Option<Self>, Fault> {
        let mut roots: Vec<Vec<Entry>> = vec![Vec::new()];
        let mut omega = Vec::new();
        let mut spare_places = Vec::new();
        for (thread, template) in program.thread_ids() {
            if template.copies == Copies::Exactly(0) {
                continue;
            }
            let places = initial(thread)?;
            match template.copies {
                Copies::Any if spare.is_some() => spare_places.extend(places),
                Copies::Any => omega.extend(places),
                Copies::Exactly(copies) if !places.is_empty() => {
                    let Some(splits) = splits(copies, &places).filter(|it| it.len() * roots.len() <= MOST_ROOTS) else {
                        return Ok(None);
                    };
                    let joined = |root: &Vec<Entry>| {
                        let root = root.clone();
                        splits.iter().map(move |split| [root.as_slice(), split.as_slice()].concat())
                    };
                    roots = roots.iter().flat_map(joined).collect();
                }
                Copies::Exactly(_) => {}
            }
        }
        roots.iter_mut().for_each(|root| root.sort_by_key(|entry| entry.place));
        // In the order of the places of one copy after the other.
        let key = |entry: &Entry| (entry.place, Reverse(entry.tokens));
        roots.sort_by(|a, b| a.iter().map(key).cmp(b.iter().map(key)));
        for entries in &mut roots {
            entries.extend(omega.iter().map(|place| Entry { place: *place, tokens: Tokens::OMEGA }));
            if let Some(copies) = spare.filter(|copies| *copies > 0) {
                entries.push(Entry { place: Self::SPARE, tokens: Tokens::finite(copies) });
            }
            entries.sort_by_key(|entry| entry.place);
        }
        Ok(Some(Self { roots, spare_places }))
    }
}

impl System<'_> {
    /// The initial configurations: each copy of a thread with a fixed number of them has chosen where it settles. None
    /// when there are too many, or too many copies to count.
    pub fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        let memory = self.controls.memories.intern(Memory::default()).0;
        let control = self.intern(Control { memory, locked: false, phase: Phase::Sc });
        let locals = &mut self.locals;
        let tokens = InitialTokens::of(locals.program, self.spare, |thread| {
            let places = locals.initial(thread)?.into_iter().flatten();
            Ok(places.map(|local| Place::of(local, false).number()).collect())
        })?;
        let Some(InitialTokens { roots, spare_places }) = tokens else { return Ok(None) };
        self.spare_places.extend(spare_places.into_iter().map(Place::from_number));
        Ok(Some(roots.into_iter().map(|entries| Root { control, entries }).collect()))
    }

    /// The settled local states a thread may start in; none when it stops at once.
    pub(in crate::robustness) fn initial_locals(&mut self, thread: ThreadId) -> Result<Vec<u32>, Fault> {
        Ok(self.locals.initial(thread)?.into_iter().flatten().collect())
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<Place, Fault> {
        for place in self.spare_places.clone() {
            let (start, end) = self.token_steps(control, place)?;
            let started = Step { take: Some(place.0), ..*step };
            if self.step_arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }

    /// The initial place from which a spare copy became the attacker of a control by delaying its first store.
    pub fn spare_start(&mut self, control: u32, store: InstructionId) -> Place {
        let Phase::Delayed(number) = self.control(control).phase else { unreachable!("delaying has started") };
        let attacker = self.attacker(number).clone();
        self.spare_places
            .clone()
            .into_iter()
            .find(|place| {
                let mut registers = self.local(*place).registers.clone();
                self.locals.liveness[attacker.thread.index()].forget_dead(attacker.label, &mut registers);
                let operation = self.operation(place.local(), store);
                self.local(*place).thread == attacker.thread
                    && registers == attacker.registers
                    && operation == attacker.buffer.first().map(|(address, value)| Operation::Store(*address, *value))
            })
            .expect("a spare copy that delays its first store starts where the store stands")
    }
}
