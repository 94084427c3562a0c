//! The transitive closure of a relation, and whether it has cycles.
//!
//! Components come from Tarjan's algorithm \[TARJAN72\], later ones first. A row is the union of
//! the rows of direct successors. In topological order, those that are in the union already add
//! nothing and are skipped \[GK79\]. Of an order on `n` events that is given with all its pairs,
//! this takes `n` unions of rows instead of `n²`.

use super::relation::Relation;
use std::ops::Range;

/// The events of a relation in topological order, those of a component side by side.
struct Order {
    /// The events.
    events: Vec<usize>,
    /// Where each component begins.
    components: Vec<usize>,
}

/// A depth-first search that finds components.
struct Search<'a> {
    relation: &'a Relation,
    /// The number of an event among those visited, in the order of their visits.
    index: Vec<usize>,
    /// The least number that an event is known to reach within its component.
    low: Vec<usize>,
    /// Events that were not visited, and those of components that are not complete, as sets of
    /// bits.
    new: Vec<u64>,
    open: Vec<u64>,
    /// Those of components that are not complete, in the order of their visits.
    stack: Vec<usize>,
    /// The events on the path, each with the word of its row to look at next.
    path: Vec<(usize, usize)>,
    visited: usize,
}

impl<'a> Search<'a> {
    fn new(relation: &'a Relation) -> Self {
        let size = relation.size();
        let (words, rest) = (size.div_ceil(64), size % 64);
        let mut new = vec![u64::MAX; words];
        if let (Some(last), true) = (new.last_mut(), rest > 0) {
            *last = (1 << rest) - 1;
        }
        Self {
            relation,
            index: vec![0; size],
            low: vec![0; size],
            new,
            open: vec![0; words],
            stack: Vec::new(),
            path: Vec::new(),
            visited: 0,
        }
    }

    fn enter(&mut self, event: usize) {
        (self.index[event], self.low[event]) = (self.visited, self.visited);
        self.visited += 1;
        self.new[event / 64] &= !(1 << (event % 64));
        self.open[event / 64] |= 1 << (event % 64);
        self.stack.push(event);
        self.path.push((event, 0));
    }

    /// The next successor of the last event on the path that was not visited.
    fn next_new(&mut self) -> Option<usize> {
        let (event, word) = self.path.last_mut()?;
        let row = self.relation.row(*event);
        while *word < row.len() {
            let bits = row[*word] & self.new[*word];
            if bits != 0 {
                return Some(*word * 64 + bits.trailing_zeros() as usize);
            }
            *word += 1;
        }
        None
    }

    /// The least number among the open successors of an event; its own where it has none.
    fn least_open(&self, event: usize) -> usize {
        let mut least = self.index[event];
        for (word, (row, open)) in self.relation.row(event).iter().zip(&self.open).enumerate() {
            let mut bits = row & open;
            while bits != 0 {
                least = least.min(self.index[word * 64 + bits.trailing_zeros() as usize]);
                bits &= bits - 1;
            }
        }
        least
    }

    /// Leaves the last event of the path; the events of its component, if it is complete now.
    fn leave(&mut self) -> Option<Vec<usize>> {
        let (event, _) = self.path.pop()?;
        self.low[event] = self.low[event].min(self.least_open(event));
        if let Some((before, _)) = self.path.last() {
            self.low[*before] = self.low[*before].min(self.low[event]);
        }
        if self.low[event] != self.index[event] {
            return None;
        }
        let first = self.stack.iter().rposition(|member| *member == event).expect("it is open");
        let component = self.stack.split_off(first);
        component.iter().for_each(|member| self.open[member / 64] &= !(1 << (member % 64)));
        Some(component)
    }
}

impl Order {
    fn of(relation: &Relation) -> Self {
        let size = relation.size();
        let mut search = Search::new(relation);
        // Components in the order in which they are complete: those that others reach come first.
        let (mut events, mut ends) = (Vec::with_capacity(size), Vec::new());
        for root in 0..size {
            if search.new[root / 64] >> (root % 64) & 1 == 0 {
                continue;
            }
            search.enter(root);
            while !search.path.is_empty() {
                if let Some(next) = search.next_new() {
                    search.enter(next);
                } else if let Some(component) = search.leave() {
                    events.extend(component);
                    ends.push(events.len());
                }
            }
        }
        events.reverse();
        let components = ends.iter().rev().map(|end| size - end).collect();
        Self { events, components }
    }

    /// The places of each component among the events.
    fn ranges(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + '_ {
        let end = |index: usize| self.components.get(index + 1).copied().unwrap_or(self.events.len());
        self.components.iter().enumerate().map(move |(index, start)| *start..end(index))
    }
}

impl Relation {
    /// The transitive closure.
    #[must_use]
    pub fn plus(&self) -> Self {
        let order = Order::of(self);
        let mut closed = Self::empty(self.size());
        for component in order.ranges().rev() {
            let members = &order.events[component.clone()];
            let first = members[0];
            for next in &order.events[component.end..] {
                if !closed.contains(first, *next) && members.iter().any(|member| self.contains(*member, *next)) {
                    closed.insert(first, *next);
                    let row = closed.row(*next).to_vec();
                    closed.add_row(first, &row);
                }
            }
            if members.len() > 1 || self.contains(first, first) {
                closed.insert_all(first, members);
            }
            let row = closed.row(first).to_vec();
            members[1..].iter().for_each(|member| closed.add_row(*member, &row));
        }
        closed
    }

    /// Whether there is no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.is_irreflexive() && Order::of(self).components.len() == self.size()
    }
}

#[cfg(test)]
mod tests {
    use super::super::relation::tests::relation;
    use super::*;
    use crate::random::Randomness;

    /// Triple by triple, as Warshall does.
    fn closed(relation: &Relation) -> Relation {
        let mut closed = relation.clone();
        for between in 0..relation.size() {
            for from in 0..relation.size() {
                for to in 0..relation.size() {
                    if closed.contains(from, between) && closed.contains(between, to) {
                        closed.insert(from, to);
                    }
                }
            }
        }
        closed
    }

    #[test]
    fn closures_are_those_found_pair_by_pair() {
        let mut randomness = Randomness::new(1);
        let mut cyclic = 0;
        for _ in 0..2000 {
            let most = if randomness.below(8) == 0 { 140 } else { 12 };
            let size = 1 + randomness.below(most);
            let count = randomness.below(3 * size);
            let pairs: Vec<(usize, usize)> =
                (0..count).map(|_| (randomness.below(size), randomness.below(size))).collect();
            let relation = relation(size, &pairs);
            let expected = closed(&relation);
            assert_eq!(relation.plus(), expected, "{pairs:?}");
            assert_eq!(relation.is_acyclic(), expected.is_irreflexive(), "{pairs:?}");
            cyclic += usize::from(!relation.is_acyclic());
        }
        assert!((500..1800).contains(&cyclic), "{cyclic}");
    }

    /// A thread of 20,000 events: triple by triple this would take minutes.
    #[test]
    fn long_chains_are_closed_row_by_row() {
        let length = 20_000;
        let mut chain = Relation::empty(length);
        (1..length).for_each(|event| chain.insert(event - 1, event));
        let closed = chain.plus();
        for event in (0..length).step_by(997) {
            assert_eq!(closed.after(event).count(), length - 1 - event);
        }
    }
}
