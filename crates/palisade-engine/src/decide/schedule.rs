//! How much work each round allows: all schedules of the engine, side by side.
//!
//! The unit is a node of an exploration. Exact explorations of fixed copies are cheap per node and take many; for any number
//! of copies a node with ω is dear, and where the ω-search needs many nets are the better method.

/// Rounds of work that grows fourfold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// What the first round allows.
    pub(crate) first: u64,
    /// What the last round allows.
    pub(crate) most: u64,
}

/// One round of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// How much work each method may do.
    pub(crate) work: u64,
    /// Whether no round follows.
    pub(crate) is_last: bool,
}

/// How much more a round allows than the one before.
const GROWTH: u64 = 4;

/// As much work as it takes.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// Nodes of one exploration of the first values of data that grows, in a check: once, whatever the round.
pub(crate) const FIRST_VALUES: u64 = 400_000;

/// The work that a method may do for one question about fences, for fixed copies, before the next method has its turn.
pub(crate) const QUESTION_FIXED: u64 = 50_000;

/// The same for any number of copies.
pub(crate) const QUESTION_ANY_NUMBER: u64 = 2_000;

/// Nodes of one exploration for the violations that rows stand for, in an instance with few copies: once.
pub(crate) const ROWS: u64 = 50_000;

/// Instances with one copy more each that are searched in one round at most.
pub(crate) const INSTANCES: usize = 4;

impl Schedule {
    /// One round, with as much work as it takes.
    pub(crate) const UNLIMITED: Self = Self { first: UNLIMITED, most: UNLIMITED };

    /// The attacks of a program: search, instances and nets until one of them has a verdict.
    pub(crate) const CHECK: Self = Self { first: 20_000, most: UNLIMITED };

    /// All fences of a program with fixed copies. An exact search takes few nodes for each of its many questions.
    pub(crate) const FENCES_FIXED: Self = Self { first: 400_000, most: UNLIMITED };

    /// All fences of a program with replicated threads.
    pub(crate) const FENCES_ANY_NUMBER: Self = Self { first: 20_000, most: UNLIMITED };

    /// All fences, among the first values of data that grows.
    pub(crate) const FENCES_FIRST_VALUES: Self = Self { first: 100_000, most: 100_000 };

    /// The rounds.
    pub(crate) fn rounds(self) -> impl Iterator<Item = Round> {
        let round = move |work: u64| Round { work, is_last: work >= self.most };
        let next =
            move |before: &Round| (!before.is_last).then(|| round(before.work.saturating_mul(GROWTH).min(self.most)));
        std::iter::successors(Some(round(self.first.min(self.most))), next)
    }
}

impl Round {
    /// How much work the next round would allow.
    pub(crate) fn next_work(self) -> u64 {
        self.work.saturating_mul(GROWTH)
    }
}
