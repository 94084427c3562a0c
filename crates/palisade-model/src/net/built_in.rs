//! Questions about a net that need no file: the global properties of the Model Checking Contest that are questions about reachable markings.

use super::Count;
use super::formula::{Formula, LinearBound, ReachQuestion};
use super::model::{Net, Quantifier};
use super::property::Claim;

/// Their names, each with what it asks.
pub const BUILT_IN: [(&str, &str); 3] = [
    ("deadlock", "can a marking be reached in which no transition can fire?"),
    ("one-safe", "does no place ever hold more than one token?"),
    ("quasi-live", "can every transition fire once?"),
];

impl Claim {
    /// The question of this name.
    pub fn built_in(name: &str, net: &Net) -> Option<Self> {
        let eventually = |goal| Self::Reach(ReachQuestion { quantifier: Quantifier::Eventually, goal });
        match name {
            "deadlock" => Some(eventually(Formula::Deadlock)),
            "one-safe" => {
                let two = |place| Formula::AtLeast(LinearBound::at_least(place, &Count::from(2)));
                let goal = Formula::Any(net.place_ids().map(two).collect());
                Some(Self::Reach(ReachQuestion { quantifier: Quantifier::Always, goal }))
            }
            "quasi-live" => {
                let ids = net.transition_ids();
                Some(Self::All(ids.map(|(id, _)| eventually(Formula::fireable(net, id))).collect()))
            }
            _ => None,
        }
    }
}
