//! For which counters a verdict is given, in words.

use palisade_engine::robustness::Violation;
use palisade_evidence::{
    AttackReason, CountEvidence, LowBitsEvidence, PropertyProof, PropertyReason, RobustCertificate,
};
use palisade_model::program::{Program, Value};
use palisade_semantics::StepKind;

/// A kind of counters, and what evidence about a program says of them.
type Line = (&'static str, String);

/// What a certificate that shows a program robust knows of its counters; nothing where it knows all
/// of their values.
pub fn known(program: &Program, certificate: &RobustCertificate) -> Option<Line> {
    match certificate.modulo {
        Some((low, high)) => Some(("counters", words(low, high))),
        None => without_residues(program, certificate),
    }
}

/// What a proof of properties knows of counters.
pub fn known_to_proof(program: &Program, proof: &PropertyProof) -> Vec<Line> {
    let PropertyReason::Counters { certificate, sc } = &proof.reason else { return Vec::new() };
    let widths = widths(proof).map(|(low, high)| ("counters", words(low, high)));
    let parts = [Some(sc), certificate.as_ref()].into_iter().flatten();
    let mut lines: Vec<Line> = parts.filter_map(|part| without_residues(program, part)).chain(widths).collect();
    lines.dedup();
    lines
}

/// How a proof of properties follows counters: which of their values it takes for one.
pub fn means(program: &Program, proof: &PropertyProof) -> String {
    let PropertyReason::Counters { certificate, sc } = &proof.reason else { return String::new() };
    let parts = [Some(sc), certificate.as_ref()].into_iter().flatten();
    let mut words: Vec<String> = parts.filter_map(|part| means_of(program, part)).collect();
    words.dedup();
    if words.is_empty() { "up to shifts of counters".to_owned() } else { words.join("; ") }
}

/// Which values of counters a certificate takes for one; nothing where these are those that a shift
/// makes of one another.
fn means_of(program: &Program, certificate: &RobustCertificate) -> Option<String> {
    let RobustCertificate { tickets, ends, counts, far, modulo, low, .. } = certificate;
    let name = |address: &Value| program.address_name(*address);
    let tickets = tickets.iter().map(|(from, _)| format!("tickets of `{}` are only known to differ", name(from)));
    let ends = ends.iter().map(|(own, end)| format!("values of `{}` beyond {end} are one", name(own)));
    let counts = counts.iter().map(|own| format!("values of `{}` above {} are one", name(&own.address), own.few));
    let far = far.iter().map(|(own, distance)| format!("values {distance} and more behind `{}` are one", name(own)));
    let modulo = modulo.iter().map(|(low, high)| format!("counters modulo {}", size((*low, *high)) + 1));
    let low = low.iter().map(|own| low_words(program, own));
    let words: Vec<String> = tickets.chain(ends).chain(counts).chain(far).chain(modulo).chain(low).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The ends of the least domain such that a proof of properties is about it, domains that wrap and
/// are multiples of it, and integers; nothing where it is about the program's own values alone.
pub fn widths(proof: &PropertyProof) -> Option<(Value, Value)> {
    let PropertyReason::Counters { certificate, sc } = &proof.reason else { return None };
    // What values bound is bounded in the program's own domain.
    let of_interleavings = sc.modulo.filter(|_| proof.bounds.is_none())?;
    let Some(certificate) = certificate else { return Some(of_interleavings) };
    let is_pruned = |reason: &AttackReason| matches!(reason, AttackReason::Pruned { .. });
    match certificate.modulo {
        // Both have a power of two of values, and so one is a multiple of the other one.
        Some(of_attacks) => Some(if size(of_attacks) > size(of_interleavings) { of_attacks } else { of_interleavings }),
        None if certificate.attacks.iter().all(|attack| is_pruned(&attack.reason)) => Some(of_interleavings),
        None => None,
    }
}

/// How many values there are, less 1.
fn size((low, high): (Value, Value)) -> u128 {
    (i128::from(high) - i128::from(low)).unsigned_abs()
}

/// What a certificate knows of counters that it does not know by residues.
fn without_residues(program: &Program, certificate: &RobustCertificate) -> Option<Line> {
    let RobustCertificate { tickets, ends, counts, far, low, .. } = certificate;
    match () {
        () if !tickets.is_empty() => Some(("tickets", tickets_words(program, tickets))),
        () if !ends.is_empty() => Some(("counters", ends_words(program, ends))),
        () if !counts.is_empty() => Some(("counts", counts_words(program, counts))),
        () if !far.is_empty() => Some(("counters", far_words(program, far))),
        // Low bits leave nothing out: what else is said matters more.
        () => low.as_ref().map(|low| ("counters", low_words(program, low))),
    }
}

/// Counters of all domains that wrap and are multiples of one.
fn words(low: Value, high: Value) -> String {
    let bits = size((low, high)).count_ones();
    let (plural, sign) = (if bits == 1 { "bit" } else { "bits" }, if low < 0 { "signed ones " } else { "" });
    format!("{sign}of {bits} {plural} and more, and integers without end")
}

/// Tickets of which only that they differ is known.
fn tickets_words(program: &Program, tickets: &[(Value, Value)]) -> String {
    let pair = |(dispenser, served): &(Value, Value)| {
        format!("of `{}`, served by `{}`", program.address_name(*dispenser), program.address_name(*served))
    };
    let pairs: Vec<String> = tickets.iter().map(pair).collect();
    format!("{}: no two copies ever hold the same one", pairs.join("; "))
}

/// Counters that stop at ends.
fn ends_words(program: &Program, ends: &[(Value, Value)]) -> String {
    let end = |(address, end): &(Value, Value)| {
        let beyond = if program.initial_value(*address) > *end { "less" } else { "more" };
        format!("`{}`, where {end} and {beyond} are one value", program.address_name(*address))
    };
    let ends: Vec<String> = ends.iter().map(end).collect();
    format!("without end: {}", ends.join("; "))
}

/// Counts of what copies hold.
fn counts_words(program: &Program, counts: &[CountEvidence]) -> String {
    let count = |own: &CountEvidence| {
        let (name, few) = (program.address_name(own.address), own.few);
        match own.most {
            Some(most) => {
                format!("`{name}` is exact up to {few}, {} to {most} are one value, and no count goes further", few + 1)
            }
            None => format!("`{name}` is exact up to {few}, all more is one value"),
        }
    };
    let counts: Vec<String> = counts.iter().map(count).collect();
    counts.join("; ")
}

/// What has its low bits alone.
fn low_words(program: &Program, LowBitsEvidence { bits, cells, assigned }: &LowBitsEvidence) -> String {
    let names: Vec<String> = cells.iter().map(|cell| format!("`{}`", program.address_name(*cell))).collect();
    let rounds = (!assigned.is_empty()).then(|| "the numbers of rounds".to_owned());
    let all: Vec<String> = names.into_iter().chain(rounds).collect();
    let bits = if *bits == 1 { "bit".to_owned() } else { format!("{bits} bits") };
    format!("known by their lowest {bits}: {}", all.join(", "))
}

/// Counters that fall behind addresses, of which is not told apart how far.
fn far_words(program: &Program, far: &[(Value, Value)]) -> String {
    let behind = |(address, distance): &(Value, Value)| {
        format!("what is {distance} and more behind `{}` is one value", program.address_name(*address))
    };
    let behind: Vec<String> = far.iter().map(behind).collect();
    format!("without end: {}", behind.join("; "))
}

/// With how many copies counters wrap around to a violation; nothing where none has to.
pub fn around(program: &Program, violation: &Violation) -> Option<String> {
    let step = violation.steps.iter().find(|step| matches!(step.kind, StepKind::Crowd { .. }))?;
    let instruction = step.kind.instruction()?;
    let thread = program.thread(step.copy.thread);
    let (address, _) = thread.instruction(instruction).action.addition()?;
    let copies = violation.instance.count(step.copy.thread);
    let fewer = if violation.instance_minimal {
        format!("robust with up to {}", copies - 1)
    } else {
        "fewer may do so, too".to_owned()
    };
    let (address, name) = (program.address_name(address), &thread.name);
    Some(format!("`{address}` wraps around among {copies} copies of `{name}`, which break the program; {fewer}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_in_words() {
        assert_eq!(words(0, 1), "of 1 bit and more, and integers without end");
        assert_eq!(words(0, 7), "of 3 bits and more, and integers without end");
        assert_eq!(words(-4, 3), "signed ones of 3 bits and more, and integers without end");
    }
}
