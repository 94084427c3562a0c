//! What a transition takes and puts, place by place.

use super::count::Count;
use super::ids::PlaceId;
use super::model::Transition;

/// The places of a transition in order, with what it takes there and what it puts.
#[derive(Clone, Debug)]
pub struct Effects<'a> {
    pre: &'a [(PlaceId, Count)],
    post: &'a [(PlaceId, Count)],
}

impl Transition {
    /// Its places in order, each once, with what it takes there and what it puts.
    #[inline]
    pub fn effects(&self) -> Effects<'_> {
        Effects { pre: &self.pre, post: &self.post }
    }
}

impl<'a> Iterator for Effects<'a> {
    type Item = (PlaceId, &'a Count, &'a Count);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        static NONE: Count = Count::ZERO;
        let (taken, put) = (self.pre.first(), self.post.first());
        let place = match (taken, put) {
            (Some((one, _)), Some((other, _))) => *one.min(other),
            (Some((place, _)), None) | (None, Some((place, _))) => *place,
            (None, None) => return None,
        };
        let mut at_place = (place, &NONE, &NONE);
        if let Some((own, count)) = taken
            && *own == place
        {
            at_place.1 = count;
            self.pre = &self.pre[1..];
        }
        if let Some((own, count)) = put
            && *own == place
        {
            at_place.2 = count;
            self.post = &self.post[1..];
        }
        Some(at_place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_in_order_and_once() {
        let arcs = |arcs: &[(u32, u64)]| arcs.iter().map(|(place, count)| (PlaceId(*place), (*count).into())).collect();
        let transition = Transition {
            name: "t".into(),
            pre: arcs(&[(1, 2), (4, 1), (9, 3)]),
            post: arcs(&[(0, 1), (4, 5), (7, 1)]),
        };
        let effects: Vec<(u32, u64, u64)> = transition
            .effects()
            .map(|(place, taken, put)| (place.0, taken.to_u64().unwrap(), put.to_u64().unwrap()))
            .collect();
        assert_eq!(effects, [(0, 0, 1), (1, 2, 0), (4, 1, 5), (7, 0, 1), (9, 3, 0)]);
    }
}
