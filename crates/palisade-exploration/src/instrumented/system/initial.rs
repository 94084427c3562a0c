//! The tokens of initial configurations: in which ways copies may begin.

use crate::instrumented::fault::Fault;
use crate::lazy::{self, Entry, MOST_WAYS, Tokens, sort_entries};
use palisade_model::ordered;
use palisade_model::program::{Copies, Program, ThreadId};
use std::cmp::Reverse;

/// Every way in which so many copies can choose among places, as counts; nothing when there are too
/// many.
fn splits(copies: u64, places: &[u32]) -> Option<Vec<Vec<Entry>>> {
    let copies = u32::try_from(copies).ok().filter(|copies| *copies < u32::MAX)?;
    let entry = |(way, count)| {
        let tokens = Tokens::finite(u32::try_from(count).expect("no more than all copies"));
        Entry { place: places[way], tokens }
    };
    let splits = lazy::splits(copies.into(), places.len())?;
    Some(splits.into_iter().map(|split| split.into_iter().map(entry).collect()).collect())
}

/// The tokens of the initial configurations.
pub struct InitialTokens {
    /// For each initial configuration its tokens, sorted by place. The place of spare copies has
    /// the largest number.
    pub(crate) roots: Vec<Vec<Entry>>,
    /// The places in which a spare copy may begin.
    pub(crate) spare_places: Vec<u32>,
}

impl InitialTokens {
    /// The place of copies of replicated threads that have not chosen their thread yet.
    pub const SPARE: u32 = u32::MAX;

    /// Every way in which the copies of a program may begin, when each thread may begin in the
    /// given places. Any number of copies is ω in each of them, or `spare` copies in all. None when
    /// there are too many, or too many copies to count.
    pub(crate) fn of(
        program: &Program,
        spare: Option<u32>,
        initial: &mut dyn FnMut(ThreadId) -> Result<Vec<u32>, Fault>,
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
                    let Some(splits) = splits(copies, &places).filter(|it| it.len() * roots.len() <= MOST_WAYS) else {
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
        roots.iter_mut().for_each(|root| sort_entries(root.as_mut_slice()));
        // In the order of the places of one copy after the other.
        let key = |entry: &Entry| (entry.place, Reverse(entry.tokens));
        ordered::sort_by(&mut roots, |a, b| a.iter().map(key).cmp(b.iter().map(key)));
        for entries in &mut roots {
            entries.extend(omega.iter().map(|place| Entry { place: *place, tokens: Tokens::OMEGA }));
            if let Some(copies) = spare.filter(|copies| *copies > 0) {
                entries.push(Entry { place: Self::SPARE, tokens: Tokens::finite(copies) });
            }
            sort_entries(entries);
        }
        Ok(Some(Self { roots, spare_places }))
    }
}
