//! A net in machine words with conditions on its markings, for walks and explorations.
//!
//! The inequalities of all conditions are in one table, each once. Every transition has the
//! difference that it makes to each of them, so that a step updates the few sums that it changes.

use crate::rows::Rows;
use num_traits::ToPrimitive;
use palisade_model::net::{Arcs, Count, Formula, LinearBound, Net, OmegaCount};
use rustc_hash::FxHashMap;

/// Weights beyond this are not computed with in machine words.
const LARGEST_WEIGHT: i64 = 1 << 14;

/// Inequalities of more places are not computed with in machine words.
const MOST_TERMS: usize = 1 << 16;

/// What stands for bounds that no sum in machine words reaches.
const OUT_OF_REACH: i64 = 1 << 62;

/// A place with a number of tokens.
pub(super) type Arc = (u32, u32);

/// An inequality.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// Places with their weights.
    pub(super) terms: Vec<(u32, i64)>,
    /// What the weighted sum has to be at least.
    pub(super) bound: i64,
}

/// A condition over the table of inequalities.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    Constant(bool),
    Atom(u32),
    Deadlock,
    All(Vec<Goal>),
    Any(Vec<Goal>),
}

/// A net in machine words, with conditions.
#[derive(Debug)]
pub(super) struct Machine {
    /// The initial marking.
    pub(super) initial: Vec<u32>,
    /// For each transition what it needs.
    pub(super) needs: Rows<Arc>,
    /// For each transition the places whose tokens it changes, with the differences.
    pub(super) changes: Rows<(u32, i64)>,
    /// For each place the transitions that need tokens there, with how many.
    pub(super) consumers: Rows<Arc>,
    /// The inequalities.
    pub(super) atoms: Vec<Atom>,
    /// For each transition the inequalities whose sums it changes, with the differences.
    pub(super) deltas: Rows<(u32, i64)>,
    /// The conditions; none for those that machine words do not hold.
    pub(super) goals: Vec<Option<Goal>>,
}

impl Machine {
    /// The net with these conditions; nothing when its numbers do not fit, or it has inhibitor
    /// arcs.
    pub(super) fn new(net: &Net, goals: &[Formula]) -> Option<Self> {
        if !net.inhibitors.is_empty() {
            return None;
        }
        let initial = net.initial.iter().map(|count| match count {
            OmegaCount::Finite(count) => small(count),
            OmegaCount::Omega => None,
        });
        let initial: Vec<u32> = initial.collect::<Option<_>>()?;
        let arcs = |arcs: &Arcs| -> Option<Vec<Arc>> {
            arcs.iter().map(|(place, count)| Some((place.0, small(count)?))).collect()
        };
        let (mut needs, mut changes) = (Rows::default(), Rows::default());
        for transition in &net.transitions {
            needs.push(arcs(&transition.pre)?);
            let change = transition
                .effects()
                .map(|(place, taken, put)| Some((place.0, i64::from(small(put)?) - i64::from(small(taken)?))));
            let change: Vec<(u32, i64)> = change.collect::<Option<_>>()?;
            changes.push(change.into_iter().filter(|(_, change)| *change != 0));
        }
        let consumed = needs.numbered().flat_map(|(transition, needs)| {
            needs.iter().map(move |(place, count): &Arc| (*place, (transition, *count)))
        });
        let consumers = Rows::group(initial.len(), consumed);
        let mut table = Table::default();
        let goals = goals.iter().map(|goal| table.goal(goal)).collect();
        let weighed = (0u32..)
            .zip(&table.atoms)
            .flat_map(|(number, atom)| atom.terms.iter().map(move |(place, weight)| (*place, (number, *weight))));
        let of_place = Rows::group(initial.len(), weighed);
        let delta = |changes: &[(u32, i64)]| {
            let mut sums: Vec<(u32, i64)> = Vec::new();
            for (place, change) in changes {
                sums.extend(of_place[*place as usize].iter().map(|(atom, weight)| (*atom, weight * change)));
            }
            sums.sort_unstable_by_key(|(atom, _)| *atom);
            sums.dedup_by(|(atom, delta), (before, sum)| {
                let is_same = atom == before;
                if is_same {
                    *sum += *delta;
                }
                is_same
            });
            sums.retain(|(_, delta)| *delta != 0);
            sums
        };
        let mut deltas = Rows::default();
        changes.iter().for_each(|changes| deltas.push(delta(changes)));
        Some(Self { initial, needs, changes, consumers, atoms: table.atoms, deltas, goals })
    }

    /// The sums of all inequalities in a marking.
    pub(super) fn sums(&self, marking: &[u32]) -> Vec<i64> {
        let sum =
            |atom: &Atom| atom.terms.iter().map(|(place, weight)| i64::from(marking[*place as usize]) * weight).sum();
        self.atoms.iter().map(sum).collect()
    }

    /// Whether an inequality holds.
    #[inline]
    pub(super) fn is_true(&self, atom: u32, sums: &[i64]) -> bool {
        sums[atom as usize] >= self.atoms[atom as usize].bound
    }

    /// Whether a condition holds.
    pub(super) fn holds(&self, goal: &Goal, sums: &[i64], is_dead: bool) -> bool {
        match goal {
            Goal::Constant(value) => *value,
            Goal::Atom(atom) => self.is_true(*atom, sums),
            Goal::Deadlock => is_dead,
            Goal::All(parts) => parts.iter().all(|part| self.holds(part, sums, is_dead)),
            Goal::Any(parts) => parts.iter().any(|part| self.holds(part, sums, is_dead)),
        }
    }

    /// How far a marking is from a condition: what is missing in sums, the least of a disjunction,
    /// all of a conjunction together. For deadlock the number of transitions that can fire. It is 0
    /// where the condition holds, and only there.
    pub(super) fn distance(&self, goal: &Goal, sums: &[i64], enabled: usize) -> i64 {
        self.distance_below(OUT_OF_REACH, goal, sums, enabled)
    }

    /// The same where it is below a limit, and otherwise any number from the limit on: parts of
    /// which one is nearer already need not be looked at to the end.
    pub(super) fn distance_below(&self, limit: i64, goal: &Goal, sums: &[i64], enabled: usize) -> i64 {
        match goal {
            Goal::Constant(true) => 0,
            Goal::Constant(false) => OUT_OF_REACH,
            Goal::Atom(atom) => self.atoms[*atom as usize].bound.saturating_sub(sums[*atom as usize]).max(0),
            Goal::Deadlock => i64::try_from(enabled).unwrap_or(OUT_OF_REACH),
            Goal::All(parts) => {
                let mut sum = 0_i64;
                for part in parts {
                    sum = sum.saturating_add(self.distance_below(limit - sum, part, sums, enabled));
                    if sum >= limit {
                        break;
                    }
                }
                sum
            }
            Goal::Any(parts) => {
                let mut least = limit;
                for part in parts {
                    least = least.min(self.distance_below(least, part, sums, enabled));
                    if least == 0 {
                        break;
                    }
                }
                least
            }
        }
    }

    /// For each inequality the conditions that mention it.
    pub(super) fn goals_by_atom(&self) -> Vec<Vec<u32>> {
        let mut by_atom = vec![Vec::new(); self.atoms.len()];
        for (number, goal) in (0u32..).zip(&self.goals) {
            let mut atoms = Vec::new();
            goal.iter().for_each(|goal| goal.collect_atoms(&mut atoms));
            atoms.sort_unstable();
            atoms.dedup();
            atoms.into_iter().for_each(|atom| by_atom[atom as usize].push(number));
        }
        by_atom
    }
}

impl Goal {
    fn collect_atoms(&self, atoms: &mut Vec<u32>) {
        match self {
            Self::Constant(_) | Self::Deadlock => {}
            Self::Atom(atom) => atoms.push(*atom),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.collect_atoms(atoms)),
        }
    }

    /// Whether it asks for deadlock.
    pub(super) fn asks_deadlock(&self) -> bool {
        match self {
            Self::Deadlock => true,
            Self::Constant(_) | Self::Atom(_) => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::asks_deadlock),
        }
    }
}

/// A count below 2^31.
fn small(count: &Count) -> Option<u32> {
    count.to_u64().and_then(|count| i32::try_from(count).ok()).and_then(|count| u32::try_from(count).ok())
}

/// The inequalities so far, each with its number.
#[derive(Default)]
struct Table {
    numbers: FxHashMap<LinearBound, u32>,
    atoms: Vec<Atom>,
}

impl Table {
    fn goal(&mut self, formula: &Formula) -> Option<Goal> {
        let mut parts = |parts: &[Formula]| parts.iter().map(|part| self.goal(part)).collect::<Option<Vec<Goal>>>();
        Some(match formula {
            Formula::Constant(value) => Goal::Constant(*value),
            Formula::Deadlock => Goal::Deadlock,
            Formula::All(all) => Goal::All(parts(all)?),
            Formula::Any(any) => Goal::Any(parts(any)?),
            Formula::AtLeast(bound) => Goal::Atom(self.atom(bound)?),
        })
    }

    fn atom(&mut self, bound: &LinearBound) -> Option<u32> {
        if let Some(number) = self.numbers.get(bound) {
            return Some(*number);
        }
        if bound.terms.len() > MOST_TERMS {
            return None;
        }
        let fits = |weight: &i64| (-LARGEST_WEIGHT..=LARGEST_WEIGHT).contains(weight);
        let terms = bound.terms.iter().map(|(place, weight)| Some((place.0, weight.to_i64().filter(fits)?)));
        let terms = terms.collect::<Option<Vec<_>>>()?;
        let is_low = bound.bound.sign() == num_bigint::Sign::Minus;
        let limit = if is_low { -OUT_OF_REACH } else { OUT_OF_REACH };
        let least = bound.bound.to_i64().filter(|bound| bound.abs() < OUT_OF_REACH).unwrap_or(limit);
        let number = u32::try_from(self.atoms.len()).ok()?;
        self.numbers.insert(bound.clone(), number);
        self.atoms.push(Atom { terms, bound: least });
        Some(number)
    }
}
