//! Conditions on markings in words, as reports show them.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use palisade_model::net::{Formula, LinearBound, Net, PlaceId};

/// A condition with the places' names: `a + 2 × b ≥ c + 1 and (d = 3 or no transition can fire)`.
pub fn condition_words(net: &Net, condition: &Formula) -> String {
    match condition {
        Formula::Constant(true) => "anything holds".to_owned(),
        Formula::Constant(false) => "nothing holds".to_owned(),
        Formula::AtLeast(bound) => comparison(net, bound, "≥", "≤"),
        Formula::Deadlock => "no transition can fire".to_owned(),
        Formula::All(parts) => match equality(parts) {
            Some(exact) => comparison(net, exact, "=", "="),
            None => joined(net, parts, " and "),
        },
        Formula::Any(parts) => joined(net, parts, " or "),
    }
}

fn joined(net: &Net, parts: &[Formula], by: &str) -> String {
    let part = |part: &Formula| match part {
        Formula::All(inner) | Formula::Any(inner)
            if parts.len() > 1 && inner.len() > 1 && equality(inner).is_none() =>
        {
            format!("({})", condition_words(net, part))
        }
        _ => condition_words(net, part),
    };
    let words: Vec<String> = parts.iter().map(part).collect();
    match words.is_empty() {
        true if by == " and " => condition_words(net, &Formula::Constant(true)),
        true => condition_words(net, &Formula::Constant(false)),
        false => words.join(by),
    }
}

/// The bound that two bounds come to which leave one value.
fn equality(parts: &[Formula]) -> Option<&LinearBound> {
    let [Formula::AtLeast(one), Formula::AtLeast(other)] = parts else { return None };
    let negated = |(own, its): (&(PlaceId, BigInt), &(PlaceId, BigInt))| own.0 == its.0 && own.1 == -&its.1;
    let are_contrary = one.terms.len() == other.terms.len() && one.terms.iter().zip(&other.terms).all(negated);
    let is_first = one.terms.first().is_some_and(|(_, weight)| weight.is_positive());
    (are_contrary && one.bound == -&other.bound).then_some(if is_first { one } else { other })
}

/// A comparison without negative numbers: what is subtracted stands on the other side.
fn comparison(net: &Net, bound: &LinearBound, sign: &str, backwards: &str) -> String {
    let side = |is_positive: bool, number: &BigInt| {
        let terms = bound.terms.iter().filter(|(_, weight)| weight.is_positive() == is_positive);
        let term = |(place, weight): &(PlaceId, BigInt)| {
            let name = &net.places[place.index()].name;
            if weight.abs().is_one() { name.to_string() } else { format!("{} × {name}", weight.abs()) }
        };
        let mut words: Vec<String> = terms.map(term).collect();
        if words.is_empty() || number.is_positive() {
            words.push(number.max(&BigInt::zero()).to_string());
        }
        words.join(" + ")
    };
    let (left, right) = (side(true, &-&bound.bound), side(false, &bound.bound));
    if bound.terms.iter().any(|(_, weight)| weight.is_positive()) {
        format!("{left} {sign} {right}")
    } else {
        format!("{right} {backwards} {left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::net::{Count, OmegaCount};

    #[test]
    fn nothing_negative_is_shown() {
        let mut net = Net::default();
        let [a, b, c]: [PlaceId; 3] = ["a", "b", "c"].map(|name| net.add_place(name, OmegaCount::Finite(Count::ZERO)));
        let words = |terms: &[(PlaceId, i32)], bound: i32| {
            let terms = terms.iter().map(|(place, weight)| (*place, BigInt::from(*weight))).collect();
            condition_words(&net, &Formula::AtLeast(LinearBound::new(terms, BigInt::from(bound))))
        };
        assert_eq!(words(&[(a, 1), (b, 2)], 3), "a + 2 × b ≥ 3");
        assert_eq!(words(&[(a, 1), (c, -1)], 1), "a ≥ c + 1");
        assert_eq!(words(&[(a, 1), (c, -1)], 0), "a ≥ c");
        assert_eq!(words(&[(a, 1), (c, -3)], -2), "a + 2 ≥ 3 × c");
        assert_eq!(words(&[(a, -1)], -2), "a ≤ 2");
        assert_eq!(words(&[(a, -1)], 0), "a ≤ 0");
        let some = Formula::Any(vec![Formula::Deadlock, Formula::All(Vec::new())]);
        let bounds = [(-1, -2), (1, 2)].map(|(weight, bound)| {
            Formula::AtLeast(LinearBound::new(vec![(b, BigInt::from(weight))], BigInt::from(bound)))
        });
        assert_eq!(condition_words(&net, &Formula::All(bounds.to_vec())), "b = 2");
        let both =
            Formula::All(vec![some, Formula::AtLeast(LinearBound::new(vec![(a, BigInt::one())], BigInt::one()))]);
        assert_eq!(condition_words(&net, &both), "(no transition can fire or anything holds) and a ≥ 1");
    }
}
