//! Where searches start: initial configurations, and copies that are free to be any replicated thread.

use super::control::{Control, Memory, Phase};
use super::{Operation, Place, System};
use crate::coverability::lazy::{Entry, Step, Tokens};
use crate::robustness::fault::Fault;
use palisade_model::program::{Copies, InstructionId, ThreadId};

/// A configuration to start a search from.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its control.
    pub control: u32,
    /// Its tokens, sorted by place.
    pub entries: Vec<Entry>,
}

impl System<'_> {
    /// The initial configurations: each thread with a fixed number of copies has chosen where it settles.
    pub fn roots(&mut self) -> Result<Vec<Root>, Fault> {
        let memory = self.controls.memories.intern(Memory::default()).0;
        let control = self.intern(Control { memory, locked: false, phase: Phase::Sc });
        let mut roots: Vec<Vec<Place>> = vec![Vec::new()];
        let mut omega = Vec::new();
        for (thread, template) in self.program().thread_ids() {
            if template.copies == Copies::Exactly(0) {
                continue;
            }
            let places: Vec<Place> =
                self.locals.initial(thread)?.into_iter().flatten().map(|local| Place::of(local, false)).collect();
            match template.copies {
                Copies::Any if self.spare.is_some() => self.spare_places.extend(places),
                Copies::Any => omega.extend(places),
                Copies::Exactly(copies) if !places.is_empty() => {
                    for _ in 0..copies {
                        roots = roots
                            .iter()
                            .flat_map(|root| places.iter().map(|place| [root.as_slice(), &[*place]].concat()))
                            .collect();
                        for root in &mut roots {
                            root.sort_by_key(|place| place.0);
                        }
                        roots.sort_by(|a, b| a.iter().map(|p| p.0).cmp(b.iter().map(|p| p.0)));
                        roots.dedup();
                    }
                }
                Copies::Exactly(_) => {}
            }
        }
        Ok(roots
            .into_iter()
            .map(|places| {
                let mut entries: Vec<Entry> = Vec::new();
                for place in places {
                    match entries.last_mut() {
                        Some(last) if last.place == place.0 => last.tokens = last.tokens.plus_one(),
                        _ => entries.push(Entry { place: place.0, tokens: Tokens::ONE }),
                    }
                }
                entries.extend(omega.iter().map(|place| Entry { place: place.0, tokens: Tokens::OMEGA }));
                if let Some(copies) = self.spare.filter(|copies| *copies > 0) {
                    entries.push(Entry { place: Place::SPARE.0, tokens: Tokens::finite(copies) });
                }
                entries.sort_by_key(|entry| entry.place);
                Root { control, entries }
            })
            .collect())
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
