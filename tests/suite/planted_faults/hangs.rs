//! Faults in how stuck states are sought, and in how machine code sleeps and spins.

use super::Fault;

/// Random programs with fixed copies, against the oracle and `verify`.
const FIXED: &str = "differential::stuck::stuck_states_are_those_of_the_oracle";
/// Programs that publish and look.
const LOOKING: &str = "differential::stuck::who_looks_too_early_hangs_under_store_buffers";
/// The models that say who hangs.
const MODELS: &str = "hangs::models::models_hang_as_they_say";
/// Machine code that sleeps and spins.
const MACHINE: &str = "machine::waits::who_waits_for_ever_in_machine_code";

/// Faults of hangs.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "hangs: a copy that has not moved does not wait",
        file: "crates/palisade-exploration/src/hangs/search.rs",
        old: "waits |= self.system.waiting(*control, source, &sleepers)? == Waiting::Waits;",
        new: "waits |= !PLANTED && self.system.waiting(*control, source, &sleepers)? == Waiting::Waits;",
        caught_by: "hangs::crowds::nobody_is_free_who_hangs_in_crowds_alone",
    },
    Fault {
        what: "hangs: initial values are forgotten in a sum",
        file: "crates/palisade-exploration/src/hangs/rows.rs",
        old: "[Some(constant)] => row.constant = *constant,",
        new: "[Some(constant)] => row.constant = if PLANTED { 0 } else { *constant },",
        caught_by: MODELS,
    },
    Fault {
        what: "hangs: a wake-up may wake nobody",
        file: "crates/palisade-exploration/src/hangs/tokens.rs",
        old: "return Ok(if sleepers.is_empty() { vec![(tokens.into(), Vec::new())] } else { found });",
        new: "if PLANTED || sleepers.is_empty() {
                found.push((tokens.into(), Vec::new()));
            }
            return Ok(found);",
        caught_by: FIXED,
    },
    Fault {
        what: "hangs: what waits happens with any value",
        file: "crates/palisade-exploration/src/hangs/system.rs",
        old: "holds_of(&local.registers, read, self.program().domain).map(|holds| !holds)",
        new: "holds_of(&local.registers, read, self.program().domain).map(|holds| !holds && !PLANTED)",
        caught_by: FIXED,
    },
    Fault {
        what: "hangs: a buffer is overlooked",
        file: "crates/palisade-exploration/src/hangs/search.rs",
        old: "if !self.system.buffer(*place).is_empty() {",
        new: "if !PLANTED && !self.system.buffer(*place).is_empty() {",
        caught_by: LOOKING,
    },
    Fault {
        what: "hangs: a copy that changes memory alone waits",
        file: "crates/palisade-exploration/src/hangs/waiting.rs",
        old: "let Some(to) = change.to.filter(|_| !change.is_effect) else {",
        new: "let Some(to) = change.to.filter(|_| !change.is_effect || PLANTED) else {",
        caught_by: FIXED,
    },
    Fault {
        what: "hangs: time never runs out",
        file: "crates/palisade-exploration/src/hangs/waiting.rs",
        old: "patience == Patience::Timed { Waiting::Active }",
        new: "patience == Patience::Timed && !PLANTED { Waiting::Active }",
        caught_by: FIXED,
    },
    Fault {
        what: "hangs: traces are taken to tell which of several sleepers is woken",
        file: "crates/palisade-engine/src/hangs/asking.rs",
        old: "Some(Queue::Wake { all, .. }) => *all,",
        new: "Some(Queue::Wake { all, .. }) => *all || PLANTED,",
        caught_by: "hangs::crowds::robustness_says_nothing_of_who_is_woken",
    },
    Fault {
        what: "machine code: a wait returns at once",
        file: "crates/palisade-machine/src/lift/futex.rs",
        old: "(0 | 9, _, Abstract::Constant(0)) => Ok(Self::Wait { is_timed: false }),",
        new: "(0 | 9, _, Abstract::Constant(0)) => Ok(Self::Wait { is_timed: PLANTED }),",
        caught_by: MACHINE,
    },
    Fault {
        what: "machine code: a wake-up wakes all",
        file: "crates/palisade-machine/src/lift/futex.rs",
        old: "(1, Abstract::Constant(1), _) => Ok(Self::Wake { all: false }),",
        new: "(1, Abstract::Constant(1), _) => Ok(Self::Wake { all: PLANTED }),",
        caught_by: "machine::waits::one_sleeper_is_woken_or_all_are",
    },
];

/// Programs explored with few steps, and with all.
const FEW: &str = "differential::stuck::few_steps_find_the_stuck_states_that_all_find";

/// Faults in which steps are left out.
pub(super) const OF_FEW_STEPS: &[Fault] = &[
    Fault {
        what: "hangs: a load is not met by a store",
        file: "crates/palisade-exploration/src/hangs/persistent.rs",
        old: "self.writes & (other.reads | other.writes) | self.reads & other.writes != 0",
        new: "self.writes & (other.reads | other.writes) | if PLANTED { 0 } else { self.reads & other.writes } != 0",
        caught_by: FEW,
    },
    Fault {
        what: "hangs: what others touch later does not matter",
        file: "crates/palisade-exploration/src/hangs/persistent.rs",
        old: "if !set.contains(other) && touched[one].0.meets(touched[other].1) {",
        new: "let other_touches = if PLANTED { touched[other].0 } else { touched[other].1 };
            if !set.contains(other) && touched[one].0.meets(other_touches) {",
        caught_by: FEW,
    },
    Fault {
        what: "hangs: who goes round keeps going",
        file: "crates/palisade-exploration/src/hangs/persistent.rs",
        old: "own.any(|change| change.is_effect || !may_return)",
        new: "own.any(|change| change.is_effect || !may_return || PLANTED)",
        caught_by: FEW,
    },
];

/// Faults of what holds in the end, and of who waits while others go on.
pub(super) const OF_ENDS: &[Fault] = &[
    Fault {
        what: "hangs: what holds in the end is not asked",
        file: "crates/palisade-exploration/src/hangs/search.rs",
        old: "waits || !self.system.ends_well(control.memory)",
        new: "waits || !PLANTED && !self.system.ends_well(control.memory)",
        caught_by: "differential::finally::ends_are_those_of_the_oracle_and_of_a_thread_that_waits",
    },
    Fault {
        what: "hangs: sleepers that go on for no reason give hope",
        file: "crates/palisade-exploration/src/hangs/hopeless.rs",
        old: "if self.system.slept_at(place).is_some() {",
        new: "if !PLANTED && self.system.slept_at(place).is_some() {",
        caught_by: "differential::hopeless::who_waits_while_others_go_on_is_as_the_oracle_says",
    },
    Fault {
        what: "hangs: what others do gives no hope",
        file: "crates/palisade-exploration/src/hangs/hopeless.rs",
        old: "if left > 0 {",
        new: "if left > 0 && !PLANTED {",
        caught_by: "differential::hopeless::who_waits_while_others_go_on_is_as_the_oracle_says",
    },
];
