//! The rules of a SARIF log: what each means, and how bad it is to break it.

use super::log::{Configuration, Descriptor, Level, Message};
use crate::findings::Rule;

/// The name of a rule.
pub(super) fn id(rule: Rule) -> &'static str {
    match rule {
        Rule::NotRobust => "not-robust",
        Rule::PropertyViolated => "property-violated",
        Rule::MissingFence => "missing-fence",
        Rule::RedundantFence => "redundant-fence",
        Rule::TriangularRace => "triangular-race",
        Rule::NotAtomic => "not-atomic",
        Rule::Unreached => "unreached",
        Rule::Doubtful => "doubtful",
        Rule::Refused => "refused",
    }
}

/// How bad it is to break a rule.
pub(super) fn level(rule: Rule) -> Level {
    match rule {
        Rule::NotRobust | Rule::PropertyViolated | Rule::NotAtomic | Rule::Refused => Level::Error,
        Rule::MissingFence | Rule::TriangularRace | Rule::Doubtful => Level::Warning,
        Rule::RedundantFence | Rule::Unreached => Level::Note,
    }
}

/// A rule with its description.
pub(super) fn descriptor(rule: Rule) -> Descriptor {
    let (name, short, full) = words(rule);
    Descriptor {
        id: id(rule),
        name,
        short_description: Message::new(short),
        full_description: Message::new(full),
        default_configuration: Configuration { level: level(rule) },
    }
}

fn words(rule: Rule) -> (&'static str, &'static str, &'static str) {
    match rule {
        Rule::NotRobust => (
            "NotRobust",
            "A store is delayed past a later access, and the outcome shows it",
            "Store buffers let the program behave in a way that no interleaving of its threads explains, on x86 or under the memory model that the message names. A fence between the two accesses, or a locked instruction in place of the store, stops this; `palisade fences` finds the cheapest set for x86.",
        ),
        Rule::PropertyViolated => (
            "PropertyViolated",
            "A stated property does not hold",
            "An `ensure` or `fail` is reached, or a state that `never` or the question of a litmus test rules out, under the memory model that the message names. The code flow is the computation.",
        ),
        Rule::MissingFence => (
            "MissingFence",
            "The program needs a fence here",
            "A cheapest set of fences that makes the program robust, or with which its properties hold, has this one. The fix inserts it; all fixes of a program together do so.",
        ),
        Rule::RedundantFence => (
            "RedundantFence",
            "This fence can go",
            "The program is as robust without this fence as with it, and so it is without all the fences of the program that are reported together.",
        ),
        Rule::TriangularRace => (
            "TriangularRace",
            "A load after a store races with another thread's store",
            "A load follows a store of its thread to another address with no fence in between, right before another thread's store to what it loads. Programs without such races and without sections are robust; with one they may be.",
        ),
        Rule::NotAtomic => (
            "NotAtomic",
            "Events cannot be seen as atomic",
            "The tasks of an event interleave with those of another in a way that no order of whole events explains.",
        ),
        Rule::Unreached => (
            "Unreached",
            "No interleaving reaches this label",
            "A verdict says nothing about code that never runs. Often a condition is wrong.",
        ),
        Rule::Doubtful => (
            "Doubtful",
            "The text may not mean what its author meant",
            "The reader understands the text, and doubts it.",
        ),
        Rule::Refused => {
            ("Refused", "The input is refused", "The input cannot be read, or a step that is reached has no meaning.")
        }
    }
}
