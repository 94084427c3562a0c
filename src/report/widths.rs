//! For which counters a verdict is given, in words.

use crate::robustness::{Modulo, Turns};
use palisade_model::program::{Program, TicketPair};

/// The counters for which a program was shown robust modulo few values.
pub(super) fn words(modulo: &Modulo) -> String {
    let Modulo { low, high, .. } = modulo;
    let bits = (i128::from(*high) - i128::from(*low)).unsigned_abs().count_ones();
    let (plural, sign) = (if bits == 1 { "bit" } else { "bits" }, if *low < 0 { "signed ones " } else { "" });
    format!("{sign}of {bits} {plural} and more, and integers without end")
}

/// The tickets of which a program was shown robust without knowing them.
pub(super) fn tickets(program: &Program, turns: &Turns) -> String {
    let pair = |TicketPair { dispenser, served, .. }: &TicketPair| {
        format!("of `{}`, served by `{}`", program.address_name(*dispenser), program.address_name(*served))
    };
    let pairs: Vec<String> = turns.pairs.iter().map(pair).collect();
    format!("{}: no two copies ever hold the same one", pairs.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::RobustCertificate;

    #[test]
    fn widths_in_words() {
        let with = |low, high| words(&Modulo { low, high, certificate: RobustCertificate::default() });
        assert_eq!(with(0, 1), "of 1 bit and more, and integers without end");
        assert_eq!(with(0, 7), "of 3 bits and more, and integers without end");
        assert_eq!(with(-4, 3), "signed ones of 3 bits and more, and integers without end");
    }
}
