//! The basis: minimal markings with an index that answers "is one below this?" and "which are above
//! this?".
//!
//! A marking can only be below another whose places include its own. So each element is filed under
//! one of its places, the one that was rarest when it came; a query looks through the files of its
//! own places. For the other direction each element stands in the list of every place it has, and
//! the shortest list is searched. A 64-bit signature of the places decides most comparisons.

use super::super::number::{Number, Overflow, Stop};

/// Markings found so far, those that are not minimal dropped but kept as steps of runs.
pub(super) struct Basis<N> {
    elements: Vec<Element<N>>,
    /// Per place, the elements filed there.
    files: Vec<Vec<u32>>,
    /// Per place, the elements that have it.
    having: Vec<Vec<u32>>,
}

struct Element<N> {
    marking: Box<[(u32, N)]>,
    signature: u64,
    dropped: bool,
}

/// A set of places folded into 64 bits.
fn signature<N>(marking: &[(u32, N)]) -> u64 {
    marking.iter().fold(0, |bits, (place, _)| bits | 1 << (place.wrapping_mul(0x9E37_79B9) >> 26))
}

/// Whether `smaller` is nowhere larger than `larger`.
fn is_below<N: Number>(smaller: &[(u32, N)], larger: &[(u32, N)]) -> bool {
    let mut rest = larger.iter();
    smaller.iter().all(|(place, count)| {
        rest.find(|(other, _)| other >= place).is_some_and(|(other, own)| other == place && own >= count)
    })
}

impl<N: Number> Basis<N> {
    /// An empty basis over so many places.
    pub(super) fn new(places: usize) -> Self {
        Self { elements: Vec::new(), files: vec![Vec::new(); places], having: vec![Vec::new(); places] }
    }

    /// The marking of an element.
    pub(super) fn marking(&self, element: u32) -> &[(u32, N)] {
        &self.elements[element as usize].marking
    }

    /// Whether a later element lies below this one.
    pub(super) fn is_dropped(&self, element: u32) -> bool {
        self.elements[element as usize].dropped
    }

    /// The minimal elements.
    pub(super) fn alive(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.elements).filter(|(_, element)| !element.dropped).map(|(number, _)| number)
    }

    /// Whether an element lies below the marking (or is equal).
    pub(super) fn has_below(&self, marking: &[(u32, N)]) -> bool {
        let own = signature(marking);
        marking.iter().any(|(place, _)| {
            self.files[*place as usize].iter().any(|element| {
                let element = &self.elements[*element as usize];
                element.signature & !own == 0
                    && element.marking.len() <= marking.len()
                    && is_below(&element.marking, marking)
            })
        })
    }

    /// Adds a marking that is above none, and drops those above it. Returns its number.
    pub(super) fn insert(&mut self, marking: Vec<(u32, N)>) -> Result<u32, Stop> {
        const FEW: usize = 256;
        debug_assert!(marking.is_sorted_by(|a, b| a.0 < b.0), "markings list each place once, in order");
        debug_assert!(self.elements.len() > FEW || !self.has_below(&marking), "a basis is an antichain");
        let number = u32::try_from(self.elements.len()).map_err(|_| Stop::Fault(Overflow))?;
        let own = signature(&marking);
        let rarest = marking.iter().map(|(place, _)| *place).min_by_key(|place| self.having[*place as usize].len());
        if let Some(rarest) = rarest {
            let mut dropped = Vec::new();
            for other in &self.having[rarest as usize] {
                let element = &self.elements[*other as usize];
                if own & !element.signature == 0 && is_below(&marking, &element.marking) {
                    dropped.push(*other);
                }
            }
            for other in dropped {
                self.drop_element(other);
            }
            self.files[rarest as usize].push(number);
        }
        for (place, _) in &marking {
            self.having[*place as usize].push(number);
        }
        self.elements.push(Element { marking: marking.into(), signature: own, dropped: false });
        Ok(number)
    }

    /// Takes an element out of the basis; it stays as a step of runs.
    pub(super) fn drop_element(&mut self, number: u32) {
        let element = &mut self.elements[number as usize];
        element.dropped = true;
        for (place, _) in &element.marking {
            for list in [&mut self.files[*place as usize], &mut self.having[*place as usize]] {
                if let Ok(position) = list.binary_search(&number) {
                    list.remove(position);
                }
            }
        }
    }
}
