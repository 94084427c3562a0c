//! Where searches start: initial configurations, and copies that are free to be any replicated
//! thread.

use super::initial::InitialTokens;
use super::{Control, Instrumented, Memory, MemoryModel};
use crate::instrumented::fault::Fault;
use crate::lazy::{Entry, Step};

/// A configuration to start a search from.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its control.
    pub control: u32,
    /// Its tokens, sorted by place.
    pub entries: Vec<Entry>,
}

impl<M: MemoryModel> Instrumented<'_, M> {
    /// The control in which every computation begins.
    pub(crate) fn initial_control(&mut self) -> u32 {
        let memory = self.memories.intern(Memory::default()).0;
        let (phase, _) = self.model.initial();
        self.intern(Control { memory, locked: false, phase })
    }

    /// The initial configurations: each copy of a thread with a fixed number of them has chosen
    /// where it settles. None when there are too many, or too many copies to count.
    pub fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        let control = self.initial_control();
        let Some(InitialTokens { roots, spare_places }) = M::initial_tokens(self)? else { return Ok(None) };
        self.spare_places.extend(spare_places);
        self.keep_spare_copies();
        Ok(Some(roots.into_iter().map(|entries| Root { control, entries }).collect()))
    }

    /// The places in which a spare copy may begin.
    pub(crate) fn spare_places(&self) -> &[u32] {
        &self.spare_places
    }

    /// The initial place that a step of a spare copy starts from.
    pub fn spare_place(&mut self, control: u32, step: &Step) -> Result<u32, Fault> {
        for index in 0..self.spare_places.len() {
            let place = self.spare_places[index];
            let (start, end) = self.token_steps(control, place)?;
            let started = Step { take: Some(place), ..*step };
            if self.step_arena[start as usize..end as usize].contains(&started) {
                return Ok(place);
            }
        }
        unreachable!("a spare copy starts from an initial place")
    }
}
