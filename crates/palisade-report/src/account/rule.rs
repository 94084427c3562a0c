//! The rules that findings are instances of. A question may bring a rule of its own.

/// How bad it is to break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something is wrong.
    Error,
    /// Something may be wrong.
    Warning,
    /// Something is worth a look.
    Note,
}

/// A rule: what its instances have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, as `not-robust`.
    pub id: &'static str,
    /// The same in the manner of types, as `NotRobust`.
    pub name: &'static str,
    /// How bad it is to break it.
    pub level: Level,
    /// What it means to break it.
    pub short: &'static str,
    /// The same with what can be done.
    pub full: &'static str,
}

impl Rule {
    /// A store is delayed past a load, so that no interleaving explains what threads read.
    pub const NOT_ROBUST: &'static Self = &Self {
        id: "not-robust",
        name: "NotRobust",
        level: Level::Error,
        short: "A store is delayed past a later access, and the outcome shows it",
        full: "Store buffers let the program behave in a way that no interleaving of its threads explains, on x86 or under the memory model that the message names. A fence between the two accesses, or a locked instruction in place of the store, stops this; `palisade fences` finds the cheapest set for x86.",
    };
    /// An execution that a language admits is none of an interleaving, or has a race.
    pub const NOT_ROBUST_IN_LANGUAGE: &'static Self = &Self {
        id: "orderings-too-weak",
        name: "OrderingsTooWeak",
        level: Level::Error,
        short: "The orderings admit an execution that no interleaving has",
        full: "C11 or release/acquire admits an execution in which a thread reads what another one has overwritten before it, or in which accesses of plain data race. Stronger orderings or a fence between the accesses stop this.",
    };
    /// A property of the program is violated.
    pub const PROPERTY_VIOLATED: &'static Self = &Self {
        id: "property-violated",
        name: "PropertyViolated",
        level: Level::Error,
        short: "A stated property does not hold",
        full: "An `ensure` or `fail` is reached, or a state that `never` or the question of a litmus test rules out, under the memory model that the message names. The code flow is the computation.",
    };
    /// A fence of a cheapest set that makes the program robust, or lets its properties hold.
    pub const MISSING_FENCE: &'static Self = &Self {
        id: "missing-fence",
        name: "MissingFence",
        level: Level::Warning,
        short: "The program needs a fence here",
        full: "A cheapest set of fences that makes the program robust, or with which its properties hold, has this one. The fix inserts it; all fixes of a program together do so.",
    };
    /// A fence without which the program is as robust as with it.
    pub const REDUNDANT_FENCE: &'static Self = &Self {
        id: "redundant-fence",
        name: "RedundantFence",
        level: Level::Note,
        short: "This fence can go",
        full: "The program is as robust without this fence as with it, and so it is without all the fences of the program that are reported together.",
    };
    /// An ordering that is stronger than the program needs.
    pub const STRONGER_THAN_NEEDED: &'static Self = &Self {
        id: "ordering-stronger-than-needed",
        name: "OrderingStrongerThanNeeded",
        level: Level::Note,
        short: "This ordering can be weaker",
        full: "The program stays robust against C11, free of races and right with a weaker ordering here, and so it does with all the changes of the program that are reported together.",
    };
    /// A load races with a store after an earlier store of its thread.
    pub const TRIANGULAR_RACE: &'static Self = &Self {
        id: "triangular-race",
        name: "TriangularRace",
        level: Level::Warning,
        short: "A load after a store races with another thread's store",
        full: "A load follows a store of its thread to another address with no fence in between, right before another thread's store to what it loads. Programs without such races and without sections are robust; with one they may be.",
    };
    /// A state is reached in which nobody goes on, and somebody waits.
    pub const HANG: &'static Self = &Self {
        id: "hang",
        name: "Hang",
        level: Level::Error,
        short: "Somebody waits for ever",
        full: "A state is reached in which nobody can change anything any more, and a thread waits that must not wait for ever. The code flow is the computation.",
    };
    /// Events cannot be seen as atomic, or the tasks of an event as run one after the other.
    pub const NOT_ATOMIC: &'static Self = &Self {
        id: "not-atomic",
        name: "NotAtomic",
        level: Level::Error,
        short: "Events cannot be seen as atomic",
        full: "The tasks of an event interleave with those of another in a way that no order of whole events explains.",
    };
    /// A label that no interleaving reaches: verdicts say nothing about it.
    pub const UNREACHED: &'static Self = &Self {
        id: "unreached",
        name: "Unreached",
        level: Level::Note,
        short: "No interleaving reaches this label",
        full: "A verdict says nothing about code that never runs. Often a condition is wrong.",
    };
    /// What is doubtful in a program.
    pub const DOUBTFUL: &'static Self = &Self {
        id: "doubtful",
        name: "Doubtful",
        level: Level::Warning,
        short: "The text may not mean what its author meant",
        full: "The reader understands the text, and doubts it.",
    };
    /// The input is refused.
    pub const REFUSED: &'static Self = &Self {
        id: "refused",
        name: "Refused",
        level: Level::Error,
        short: "The input is refused",
        full: "The input cannot be read, or a step that is reached has no meaning.",
    };

    /// The rules of the house, in the order in which reports list them.
    pub const ALL: [&'static Self; 12] = [
        Self::NOT_ROBUST,
        Self::NOT_ROBUST_IN_LANGUAGE,
        Self::PROPERTY_VIOLATED,
        Self::MISSING_FENCE,
        Self::REDUNDANT_FENCE,
        Self::STRONGER_THAN_NEEDED,
        Self::TRIANGULAR_RACE,
        Self::HANG,
        Self::NOT_ATOMIC,
        Self::UNREACHED,
        Self::DOUBTFUL,
        Self::REFUSED,
    ];
}
