//! Weighted sums of tokens that no transition changes: P-semiflows.
//!
//! Farkas' elimination, as Martinez and Silva use it [MS82]: every place begins as a row, its
//! effects by transition and itself with weight 1; a transition is eliminated by adding up, for
//! each pair of rows with effects of opposite signs there, the multiples that cancel. Rows whose
//! support includes another's are left out. The number of rows can explode, so it is bounded, and
//! large nets are not asked: [`units`](super::units) finds in them the semiflows that matter most.

use super::Context;
use super::compact::CompactNet;
use super::number::Number;
use num_integer::Integer;
use palisade_model::limits::StopReason;
use palisade_model::ordered;

/// A weighted sum that every reachable marking keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Semiflow {
    /// Places with their weights, at least 1, ascending.
    pub(super) weights: Vec<(u32, u64)>,
    /// The sum.
    pub(super) total: u64,
}

/// Nets with more places or transitions are not asked.
const LARGEST: (usize, usize) = (400, 2_000);

/// The elimination gives up when it has more rows than this.
const MOST_ROWS: usize = 1_000;

/// A linear combination of places.
#[derive(Clone, Debug)]
struct Row {
    /// Its effect by transition, without zeros, ascending.
    effects: Vec<(u32, i64)>,
    /// Its weights by place, ascending.
    weights: Vec<(u32, i64)>,
}

/// The semiflows of minimal support; none when the net is large or they are too many.
pub(super) fn semiflows<N: Number>(compact: &CompactNet<N>, context: &Context) -> Result<Vec<Semiflow>, StopReason> {
    if compact.places() > LARGEST.0 || compact.transitions.len() > LARGEST.1 {
        return Ok(Vec::new());
    }
    let Some(rows) = rows(compact) else { return Ok(Vec::new()) };
    let eliminated = eliminate(rows, compact.transitions.len(), context)?;
    Ok(eliminated.unwrap_or_default().into_iter().filter_map(|row| total(compact, row)).collect())
}

/// A row per place; none when a count is too large.
fn rows<N: Number>(compact: &CompactNet<N>) -> Option<Vec<Row>> {
    let places = u32::try_from(compact.places()).ok()?;
    let mut rows: Vec<Row> = (0..places).map(|place| Row { effects: Vec::new(), weights: vec![(place, 1)] }).collect();
    for transition in 0..u32::try_from(compact.transitions.len()).ok()? {
        for effect in compact.effects(transition) {
            let change = i64::from(small(&effect.post)?) - i64::from(small(&effect.pre)?);
            if change != 0 {
                rows[effect.place as usize].effects.push((transition, change));
            }
        }
    }
    Some(rows)
}

/// A count below 2^31.
fn small<N: Number>(count: &N) -> Option<i32> {
    i32::try_from(count.rough()).ok()
}

/// Eliminates all transitions, at each turn one that makes the fewest new rows; none when there are
/// too many.
fn eliminate(mut rows: Vec<Row>, transitions: usize, context: &Context) -> Result<Option<Vec<Row>>, StopReason> {
    loop {
        let mut signs = vec![(0usize, 0usize); transitions];
        for (transition, effect) in rows.iter().flat_map(|row| &row.effects) {
            let (puts, takes) = &mut signs[*transition as usize];
            *if *effect > 0 { puts } else { takes } += 1;
        }
        let used = (0u32..).zip(&signs).filter(|(_, signs)| **signs != (0, 0));
        let Some((transition, _)) = used.min_by_key(|(_, (puts, takes))| puts * takes) else { return Ok(Some(rows)) };
        let (with, mut without): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.effect(transition) != 0);
        let (puts, takes): (Vec<Row>, Vec<Row>) = with.into_iter().partition(|row| row.effect(transition) > 0);
        for one in &puts {
            context.check_interrupts()?;
            for other in &takes {
                let Some(sum) = one.cancel(other, transition) else { return Ok(None) };
                without.push(sum);
                if without.len() > MOST_ROWS {
                    return Ok(None);
                }
            }
        }
        rows = minimal(without);
    }
}

/// Leaves out rows whose support includes another's.
fn minimal(mut rows: Vec<Row>) -> Vec<Row> {
    ordered::sort_by_key(&mut rows, |row| row.weights.len());
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        if !kept.iter().any(|other| other.is_within(&row)) {
            kept.push(row);
        }
    }
    kept
}

impl Row {
    fn effect(&self, transition: u32) -> i64 {
        let position = self.effects.binary_search_by_key(&transition, |(transition, _)| *transition);
        position.map_or(0, |position| self.effects[position].1)
    }

    /// The least positive combination of two rows that has no effect on a transition; none when a
    /// number is too large.
    fn cancel(&self, other: &Self, transition: u32) -> Option<Self> {
        let (own, theirs) = (self.effect(transition).checked_abs()?, other.effect(transition).checked_abs()?);
        let common = own.gcd(&theirs);
        let (own, theirs) = (own / common, theirs / common);
        let mut sum = Self {
            effects: combine(&self.effects, theirs, &other.effects, own)?,
            weights: combine(&self.weights, theirs, &other.weights, own)?,
        };
        let divisor = sum.effects.iter().chain(&sum.weights).fold(0i64, |divisor, (_, number)| divisor.gcd(number));
        sum.effects.iter_mut().chain(&mut sum.weights).for_each(|(_, number)| *number /= divisor);
        Some(sum)
    }

    /// Whether its support is part of another's.
    fn is_within(&self, other: &Self) -> bool {
        let mut rest = other.weights.iter().map(|(place, _)| place);
        self.weights.iter().all(|(place, _)| rest.any(|other| other == place))
    }
}

/// `factor · one + other_factor · other`, sparse.
fn combine(one: &[(u32, i64)], factor: i64, other: &[(u32, i64)], other_factor: i64) -> Option<Vec<(u32, i64)>> {
    let mut sum = Vec::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let key = match (left.peek(), right.peek()) {
            (None, None) => return Some(sum),
            (Some((key, _)), None) | (None, Some((key, _))) => *key,
            (Some((key, _)), Some((other, _))) => *key.min(other),
        };
        let mut number = 0i64;
        if let Some((_, own)) = left.next_if(|(other, _)| *other == key) {
            number = own.checked_mul(factor)?;
        }
        if let Some((_, own)) = right.next_if(|(other, _)| *other == key) {
            number = number.checked_add(own.checked_mul(other_factor)?)?;
        }
        if number != 0 {
            sum.push((key, number));
        }
    }
}

/// The sum that a row keeps; nothing when it is too large, or not a sum of a few.
fn total<N: Number>(compact: &CompactNet<N>, row: Row) -> Option<Semiflow> {
    let mut total = 0u64;
    let mut weights = Vec::with_capacity(row.weights.len());
    for (place, weight) in row.weights {
        let weight = u64::try_from(weight).ok()?;
        let tokens = u64::try_from(small(&compact.initial[place as usize])?).ok()?;
        total = total.checked_add(weight.checked_mul(tokens)?)?;
        weights.push((place, weight));
    }
    Some(Semiflow { weights, total })
}
