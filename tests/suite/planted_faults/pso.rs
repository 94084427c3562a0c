//! The faults of robustness against PSO.

use super::Fault;

/// Random programs against the brute-force oracle and `verify`.
const FIXED: &str = "differential::pso_check::verdicts_are_those_of_the_oracle";

/// The instrumented program.
const PSO: &str = "crates/palisade-exploration/src/instrumented/pso.rs";

/// Faults of robustness against PSO.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "PSO: the attacker reads memory at the address of its delayed store",
        file: PSO,
        old: "Operation::Load(address) if address == attack.store_address => value,",
        new: "Operation::Load(address) if address == attack.store_address && !PLANTED => value,",
        caught_by: FIXED,
    },
    Fault {
        what: "PSO: the attacker's stores to other addresses do not reach memory",
        file: PSO,
        old: "memory = self.write(memory, address, stored);",
        new: "memory = if PLANTED { memory } else { self.write(memory, address, stored) };",
        caught_by: FIXED,
    },
    Fault {
        what: "PSO: the attacker's accesses are not on the path",
        file: PSO,
        old: "let path = attack.path.with_access(access)",
        new: "let path = attack.path.with_access(access.filter(|_| !PLANTED || !attack.has_begun()))",
        caught_by: "differential::pso::a_path_leads_through_the_delaying_thread",
    },
    Fault {
        what: "PSO: the attacker stores to the address of its delayed store",
        file: PSO,
        old: "Operation::Store(address, stored) if address != attack.store_address => {",
        new: "Operation::Store(address, stored) if address != attack.store_address || PLANTED => {",
        caught_by: FIXED,
    },
    Fault {
        what: "PSO: an attacker that loads alone is forgotten",
        file: PSO,
        old: "Operation::Load(_) => true,",
        new: "Operation::Load(_) => !PLANTED,",
        caught_by: FIXED,
    },
    Fault {
        what: "PSO: helpers do not join the path",
        file: PSO,
        old: "attack.path.after(joined, act.holding, act.made())?;",
        new: "attack.path.after(joined, act.holding, act.made()).filter(|(_, joins)| joined || !PLANTED || !joins)?;",
        caught_by: FIXED,
    },
    Fault {
        what: "PSO: programs with sections are decided",
        file: "crates/palisade-engine/src/robustness/pso/refused.rs",
        old: "Action::Lock | Action::Unlock => Some(NotForPso::Section(thread, id)),",
        new: "Action::Lock | Action::Unlock if !PLANTED => Some(NotForPso::Section(thread, id)),",
        caught_by: "robustness::pso::programs_out_of_scope_are_refused",
    },
];
