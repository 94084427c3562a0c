//! Why a computation has no answer.

/// Why a computation stopped before it had an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// More markings, states or arcs than can be numbered.
    TooLarge,
    /// The net begins with any number of tokens somewhere, or has numbers that machine words do not
    /// hold.
    BeyondWords,
    /// What was found is too long to be written down.
    TooLong,
    /// The user interrupted it, or another worker already had the answer.
    Interrupted,
    /// Its own share of work or time is used up; with more it may have an answer.
    Budget,
    /// The method itself can say no more (an incomplete strategy that neither proved nor refuted).
    Inconclusive,
    /// Nothing is wrong with what was asked, but only a part of the question was.
    Part,
    /// What was found needs tasks taken from the main queue in another order than that of their
    /// posts, and only that order counts.
    Order,
    /// The answer rests on accesses whose orderings are not known.
    Orderings,
    /// What would do has no place in the text.
    NoPlace,
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::TooLarge => "there are more markings or arcs than can be numbered",
            Self::BeyondWords => {
                "reachability is decided from one initial marking and for numbers below 2^31, and this net has others"
            }
            Self::TooLong => "the run that was found is too long to be written down",
            Self::Interrupted => "interrupted",
            Self::Budget => "the budget is used up",
            Self::Inconclusive => "the strategy is inconclusive here",
            Self::Part => "only a part of the attacks was asked about",
            Self::Order => "what was found needs tasks taken in another order than that of their posts",
            Self::Orderings => {
                "it rests on accesses whose orderings are not known: if they are relaxed there is a violation, \
                 if they are sequentially consistent there is none"
            }
            Self::NoPlace => {
                "the cheapest changes need a fence in the middle of a statement, where the text has no \
                 place"
            }
        })
    }
}

/// Why a computation ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt<E> {
    /// It was stopped.
    Stopped(StopReason),
    /// What it works on is at fault.
    Fault(E),
}

impl<E> Halt<E> {
    /// Whether its own budget was used up: with more it may have an answer.
    pub fn is_budget(&self) -> bool {
        matches!(self, Self::Stopped(StopReason::Budget))
    }
}

impl<E> From<StopReason> for Halt<E> {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}
