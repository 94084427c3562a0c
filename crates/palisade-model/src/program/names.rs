//! Names fit for a format: valid, different from each other, and the original ones wherever those
//! will do.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Gives out names of one name space.
#[derive(Clone, Debug, Default)]
pub struct NameSpace {
    /// Names that several spaces may not give out.
    reserved: Arc<FxHashSet<String>>,
    taken: FxHashSet<String>,
    /// What follows the last number given to names that begin alike: those up to it are taken for
    /// good.
    numbers: FxHashMap<String, u64>,
}

impl NameSpace {
    /// A name space that has some names already.
    pub fn with_taken<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        Self { taken: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// A name space that may not give out names which other spaces share.
    pub fn with_reserved(reserved: Arc<FxHashSet<String>>) -> Self {
        Self { reserved, ..Self::default() }
    }

    /// Takes a name; whether it was free.
    fn take(&mut self, name: &str) -> bool {
        !self.reserved.contains(name) && self.taken.insert(name.to_owned())
    }

    /// Makes names for things that have names already. Those which `valid` accepts and which are
    /// free are kept; the others become what `repair` makes of them, numbered if need be.
    pub fn assign<'a>(
        &mut self,
        originals: impl Iterator<Item = &'a str> + Clone,
        valid: impl Fn(&str) -> bool,
        repair: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let kept: Vec<bool> = originals.clone().map(|name| valid(name) && self.take(name)).collect();
        originals.zip(kept).map(|(name, kept)| if kept { name.to_owned() } else { self.fresh(&repair(name)) }).collect()
    }

    /// A free name that begins like `base`.
    pub fn fresh(&mut self, base: &str) -> String {
        if self.take(base) {
            return base.to_owned();
        }
        let mut number = self.numbers.get(base).copied().unwrap_or(2);
        loop {
            let name = format!("{base}_{number}");
            number += 1;
            if self.take(&name) {
                self.numbers.insert(base.to_owned(), number);
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn originals_are_kept_where_they_will_do() {
        let mut space = NameSpace::with_taken(["x"]);
        let originals = ["a-b", "x", "a_b", "a_b", "c"];
        let valid = |name: &str| !name.contains('-');
        let names = space.assign(originals.into_iter(), valid, |name| name.replace('-', "_"));
        assert_eq!(names, ["a_b_2", "x_2", "a_b", "a_b_3", "c"]);
    }
}
