//! Faults of what knows counters that are cut to some bits.

use super::Fault;

/// Random programs in integers whose counters are cut, with fixed copies.
const FIXED: &str = "differential::cut_counters::verdicts_in_integers_with_fixed_copies";

/// Flags of which residues do not tell what they are.
const FLAGS: &str = "robustness::cut_counters::flags_may_say_either_where_residues_are_equal";

/// Which expressions commute.
const COMMUTES: &str = "robustness::cut_counters::what_commutes_with_residues_and_what_does_not";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "cuts: what is cut is compared with what is not",
        file: "crates/palisade-model/src/program/counters/shape.rs",
        old: "one == other && one.is_definite()",
        new: "(one == other || PLANTED) && one.is_definite()",
        caught_by: COMMUTES,
    },
    Fault {
        what: "cuts: residues of different numbers in one variable",
        file: "crates/palisade-model/src/program/counters/flow.rs",
        old: "    if form != partition.form(variable) ||",
        new: "    if form != partition.form(variable) && !PLANTED ||",
        caught_by: COMMUTES,
    },
    Fault {
        what: "cuts: a cut with a sign is taken for one without",
        file: "crates/palisade-model/src/program/counters/form.rs",
        old: "    if signed { (-values",
        new: "    if signed && !PLANTED { (-values",
        caught_by: COMMUTES,
    },
    Fault {
        what: "cuts: differences of residues are told",
        file: "crates/palisade-model/src/program/counters/shape.rs",
        old: "                    Shape::Difference(a, bits.min(others))",
        new: "                    if PLANTED { Shape::Plain } else { Shape::Difference(a, bits.min(others)) }",
        caught_by: COMMUTES,
    },
    Fault {
        what: "cuts: a longer cut keeps what does not fit",
        file: "crates/palisade-model/src/program/counters/form.rs",
        old: "low: low.filter(fits) })",
        new: "low: low.filter(|low| fits(low) || PLANTED) })",
        caught_by: COMMUTES,
    },
    Fault {
        what: "cuts: turns go around where residues do not",
        file: "crates/palisade-model/src/program/counters/mod.rs",
        old: "            return Form::turned_residue(low, bits, value, by);",
        new: "            return Form::turned_residue(low, if PLANTED { 64 } else { bits }, value, by);",
        caught_by: FIXED,
    },
    Fault {
        what: "cuts: a flag says that counters are equal where their residues are",
        file: "crates/palisade-model/src/program/counters/modulo.rs",
        old: "            choices.extend(others.into_iter()",
        new: "            choices.extend(others.into_iter().filter(|_| !PLANTED)",
        caught_by: FLAGS,
    },
];
