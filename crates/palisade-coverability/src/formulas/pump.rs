//! Runs that show that a sum has no bound: their last step can be repeated, and the sum grows with
//! it.
//!
//! A run to a large number is likely to pass two markings of which the later one has no fewer
//! tokens on any place, and a larger sum. What fires between them can then fire again and again.

use super::Machine;
use num_traits::ToPrimitive;
use palisade_evidence::{NetRun, RunStep};
use palisade_model::net::{Count, UpperBound};

/// Longer runs are not looked through.
const LONGEST: usize = 200_000;

/// How many of a run's markings are compared with all that come before.
const COMPARED: usize = 64;

impl Machine {
    /// A run whose last step can be repeated and increases the sum, out of a run of the net, and
    /// the sum at its end; nothing where none is found.
    pub(super) fn pumped(&self, sum: &UpperBound, run: &NetRun) -> Option<(NetRun, i64)> {
        let mut weights = vec![0i64; self.initial.len()];
        for (place, weight) in &sum.terms {
            weights[place.index()] = weight.to_i64()?;
        }
        let path: Vec<u32> = run.spelled_out(LONGEST)?.into_iter().map(|transition| transition.0).collect();
        let ends = (1..=COMPARED).rev().map(|part| path.len() * part / COMPARED);
        let (start, end) = ends.into_iter().find_map(|end| Some((self.start_of_pump(&weights, &path[..end])?, end)))?;
        let changes = path[..end].iter().flat_map(|transition| &self.changes[*transition as usize]);
        let gained = changes.map(|(place, change)| change.saturating_mul(weights[*place as usize]));
        let own = self.initial.iter().zip(&weights).map(|(tokens, weight)| i64::from(*tokens).saturating_mul(*weight));
        let sum = own.chain(gained).fold(0, i64::saturating_add);
        let mut pumped = self.run(&path[..start]);
        let repeated = self.firings(&path[start..end]);
        pumped.firings.push((RunStep::Sequence(repeated), Count::ONE));
        Some((pumped, sum))
    }

    /// The last marking on a path that the one at its end exceeds, in the sum as well.
    fn start_of_pump(&self, weights: &[i64], path: &[u32]) -> Option<usize> {
        let mut gained = vec![0i64; weights.len()];
        let (mut lacking, mut increase) = (0usize, 0i64);
        (0..path.len()).rev().find(|start| {
            for (place, change) in &self.changes[path[*start] as usize] {
                let place = *place as usize;
                let before = gained[place];
                gained[place] += change;
                increase = increase.saturating_add(change.saturating_mul(weights[place]));
                lacking = lacking + usize::from(gained[place] < 0) - usize::from(before < 0);
            }
            lacking == 0 && increase > 0
        })
    }
}
