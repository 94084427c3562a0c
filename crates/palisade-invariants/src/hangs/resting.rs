//! Whether a copy rests: by what it does alone while memory stays as it is.

use super::copies::{Control, Threads};
use crate::CheckFailure;
use std::collections::BTreeSet;

impl Threads<'_> {
    /// Whether a copy with nothing in its buffer waits: alone, while memory stays as it is, it does nothing on any way, nor can an `assume` stop it. To give
    /// back the lock that it holds is to do something.
    pub(super) fn waits(&mut self, control: Control, number: u32) -> Result<bool, CheckFailure> {
        let holds = self.states.get(number).local.holding;
        let mut seen = BTreeSet::from([(control, number)]);
        let mut open = vec![(control, number)];
        while let Some((control, number)) = open.pop() {
            let ways = self.ways(control, number)?;
            if ways.may_be_stopped {
                return Ok(false);
            }
            for way in &ways.all {
                let Some(to) = way.to.filter(|_| !way.does_something) else { return Ok(false) };
                if holds && !self.states.get(to).local.holding {
                    return Ok(false);
                }
                if seen.insert((way.control, to)) {
                    open.push((way.control, to));
                }
            }
        }
        Ok(true)
    }
}
