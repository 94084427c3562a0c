//! Questions about a net that need no file: the global properties of the Model Checking Contest
//! that are questions about reachable markings.

use super::Count;
use super::formula::{Formula, LinearBound, ReachQuestion};
use super::ids::PlaceId;
use super::model::{Net, Quantifier};
use super::property::{Claim, Property, UpperBound};
use num_bigint::BigInt;

/// Their names, each with what it asks.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("deadlock", "can a marking be reached in which no transition can fire?"),
    ("one-safe", "does no place ever hold more than one token?"),
    ("quasi-live", "can every transition fire once?"),
    (BOUNDS, "how many tokens does each place hold at most?"),
];

/// The name of the question for bounds, which has a property for each place: `upper-bounds:PLACE`.
const BOUNDS: &str = "upper-bounds";

impl Property {
    /// The question of this name: one property, or one for each place.
    pub fn built_in(name: &str, net: &Net) -> Option<Vec<Self>> {
        let eventually = |goal| Claim::Reach(ReachQuestion { quantifier: Quantifier::Eventually, goal });
        let claim = match name {
            "deadlock" => eventually(Formula::Deadlock),
            "one-safe" => {
                let two = |place| Formula::AtLeast(LinearBound::at_least(place, &Count::from(2)));
                let goal = Formula::Any(net.place_ids().map(two).collect());
                Claim::Reach(ReachQuestion { quantifier: Quantifier::Always, goal })
            }
            "quasi-live" => {
                let ids = net.transition_ids();
                Claim::All(ids.map(|(id, _)| eventually(Formula::fireable(net, id))).collect())
            }
            BOUNDS => return Some(net.place_ids().map(|place| bound_of(net, place)).collect()),
            _ => return None,
        };
        Some(vec![Self { id: name.to_owned(), claim }])
    }

    /// The property of this id among all that need no file.
    pub fn built_in_of_id(id: &str, net: &Net) -> Option<Self> {
        match id.split_once(':') {
            Some((BOUNDS, place)) => net.place_named(place).map(|place| bound_of(net, place)),
            _ => Self::built_in(id, net).filter(|properties| properties.len() == 1)?.pop(),
        }
    }

    /// Whether a property of this id needs no file.
    pub fn is_built_in(id: &str) -> bool {
        let name = id.split(':').next().unwrap_or_default();
        BUILT_IN.iter().any(|(known, _)| *known == name)
    }
}

fn bound_of(net: &Net, place: PlaceId) -> Property {
    let claim = Claim::Bound(UpperBound { terms: vec![(place, BigInt::from(1))] });
    Property { id: format!("{BOUNDS}:{}", net.places[place.index()].name), claim }
}
