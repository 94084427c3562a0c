//! Computations for rows whose search has left none: those with ω, which stand for many, and those
//! too long to be kept.
//!
//! Most violations need two copies of replicated threads, or three. All rows share the exploration
//! under SC of an instance with so many.

use super::super::analysis::Analysis;
use super::super::attempt::{Attempt, Methods};
use super::super::catalogue::Catalogue;
use super::super::computation::Computation;
use super::super::cost::Cost;
use super::super::options::FenceOptions;
use super::super::progress::Silent;
use crate::decide::Round;
use crate::decide::schedule::ROWS;
use crate::robustness::Story;
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Attack, explore_sc};
use palisade_model::limits::Budget;
use palisade_model::program::{Measure, Program, Sites, ThreadId};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// How many copies replicated threads have together.
const COPIES: std::ops::RangeInclusive<u32> = 2..=3;

/// A row without a computation: its position, its attack, its measures.
pub(super) type Wanted<'a> = (usize, Attack, &'a [Measure]);

/// Computations for rows of a program with replicated threads, in which few copies of these act, by
/// the positions of the rows: such as are found soon. Sites are those of the program as it is
/// written. The attacker passes no measure on offer but those of the row while it delays.
pub(super) fn stories_of_few(
    program: &Program,
    sites: &Sites,
    measures: &[Measure],
    wanted: &[Wanted<'_>],
    options: &FenceOptions,
) -> BTreeMap<usize, Computation> {
    let mut stories = BTreeMap::new();
    if wanted.is_empty() || !program.is_parameterized() {
        return stories;
    }
    for copies in COPIES {
        let open: Vec<Wanted<'_>> = wanted.iter().copied().filter(|(index, ..)| !stories.contains_key(index)).collect();
        let mut system = System::with_spare_copies(program, Growth::Cut(options.values), copies);
        let budget = Budget::within(&options.limits).with_work(ROWS);
        let Ok(sc) = explore_sc(&mut system, &budget) else { break };
        let attempt = Attempt {
            limits: options.limits.clone(),
            round: Round::only(ROWS),
            first_work: ROWS,
            values: options.values,
            methods: Methods::Searches,
            growth: None,
        };
        let threads: BTreeSet<ThreadId> = open.iter().map(|(_, attack, _)| attack.thread).collect();
        let threads: Vec<ThreadId> = threads.into_iter().collect();
        let found: Vec<Vec<(usize, Story)>> = threads
            .par_iter()
            .map(|thread| {
                let catalogue = catalogue_of(*thread, sites, measures);
                let mut analysis = Analysis::new(&system, Some(&sc), *thread, &catalogue, &attempt, &Silent);
                let own = open.iter().filter(|(_, attack, _)| attack.thread == *thread);
                own.filter_map(|(index, attack, row)| {
                    Some((*index, story_past(&mut analysis, &catalogue, *attack, row)?))
                })
                .collect()
            })
            .collect();
        stories.extend(found.into_iter().flatten().map(|(index, story)| (index, Computation::Bare(story))));
    }
    stories
}

/// The measures that change one thread.
fn catalogue_of(thread: ThreadId, sites: &Sites, measures: &[Measure]) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let changes = |measure: &&Measure| measure.parts(sites).iter().any(|part| part.thread() == thread);
    for measure in measures.iter().filter(changes) {
        catalogue.offer(*measure, sites, Cost::one());
    }
    catalogue
}

/// A computation of an attack past all measures but those of a row.
fn story_past(
    analysis: &mut Analysis<'_, '_>,
    catalogue: &Catalogue,
    attack: Attack,
    row: &[Measure],
) -> Option<Story> {
    let mut others = catalogue.everything();
    for (number, measure) in catalogue.measures(&catalogue.everything()).into_iter().enumerate() {
        others.set(number, !row.contains(&measure));
    }
    analysis.remaining(&attack, &others).ok().flatten()?;
    analysis.shown()
}
