//! Faults of events and tasks: of the serial search, and of the attacks with tasks.

use super::Fault;

/// Small programs in which one rule decides.
const CORNERS: &str = "events::corners::one_rule_decides";

/// The models of events with their verdicts.
const MODELS: &str = "events::models::models_have_their_verdicts";

/// Random programs against the oracle for concurrency.
const CONCURRENCY: &str = "differential::events::robustness_against_concurrency_is_what_the_oracle_says";

/// Random programs against the oracle for TSO.
const TSO: &str = "differential::events_tso::robustness_against_tso_is_what_the_oracle_says";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "events: main tasks go on that happen after the cut one",
        file: "crates/palisade-concurrency/src/system.rs",
        old: "            if run.main {
                return false;
            }
            run.late = true;",
        new: "            if run.main && !PLANTED {
                return false;
            }
            run.late = true;",
        caught_by: CORNERS,
    },
    Fault {
        what: "events: several main tasks are cut",
        file: "crates/palisade-concurrency/src/system.rs",
        old: "        if after.monitor.cut.is_some() {
            return None;
        }",
        new: "        if after.monitor.cut.is_some() && !PLANTED {
            return None;
        }",
        caught_by: CONCURRENCY,
    },
    Fault {
        what: "events: what happens after the cut task is not followed through background tasks",
        file: "crates/palisade-concurrency/src/system.rs",
        old: "            cut.add(accesses);",
        new: "            if !PLANTED {
                cut.add(accesses);
            }",
        caught_by: CORNERS,
    },
    Fault {
        what: "events: the accesses of an event before it joins the path do not count",
        file: "crates/palisade-concurrency/src/system.rs",
        old: "monitor.path.add(&monitor.current);",
        new: "monitor.path.add(if PLANTED { accesses } else { &monitor.current });",
        caught_by: CORNERS,
    },
    Fault {
        what: "events: the last access comes while a main task runs that has not returned",
        file: "crates/palisade-concurrency/src/system.rs",
        old: "if state.run.as_ref().is_some_and(|run| run.main) && monitor.cut.is_some() {",
        new: "if state.run.as_ref().is_some_and(|run| run.main) && monitor.cut.is_some() && !PLANTED {",
        caught_by: CORNERS,
    },
    Fault {
        what: "events: callbacks of the cut main task run",
        file: "crates/palisade-concurrency/src/system.rs",
        old: "if !(next.main && next.late) {",
        new: "if PLANTED || !(next.main && next.late) {",
        caught_by: CORNERS,
    },
    Fault {
        what: "tasks: a posted task is not on the path that its poster is on",
        file: "crates/palisade-exploration/src/instrumented/tasks/steps.rs",
        old: "locals.into_iter().map(|it| self.own_place(it, joined)).collect(),",
        new: "locals.into_iter().map(|it| self.own_place(it, joined && !PLANTED)).collect(),",
        caught_by: MODELS,
    },
    Fault {
        what: "tasks: a callback is not on the path that its poster is on",
        file: "crates/palisade-exploration/src/instrumented/tasks/steps.rs",
        old: "Place::Pending(it, joined).number());
                locals",
        new: "Place::Pending(it, joined && !PLANTED).number());
                locals",
        caught_by: CORNERS,
    },
    Fault {
        what: "tasks: the main thread leaves the path when it returns",
        file: "crates/palisade-exploration/src/instrumented/tasks/steps.rs",
        old: "let after = control.with_main(Main::Idle);",
        new: "let after = control.with_main(Main::Idle).with_main_joined(control.phase.main_joined && !PLANTED);",
        caught_by: CORNERS,
    },
    Fault {
        what: "tasks: the main thread goes on although it is the attacker",
        file: "crates/palisade-exploration/src/instrumented/tasks/attacker.rs",
        old: "let main = if on_main { Main::Blocked } else { control.phase.main };",
        new: "let main = if on_main && PLANTED {
            Main::Idle
        } else if on_main {
            Main::Blocked
        } else {
            control.phase.main
        };",
        caught_by: TSO,
    },
    Fault {
        what: "tasks: the others stand still while the attacker delays",
        file: "crates/palisade-exploration/src/instrumented/tasks/steps.rs",
        old: "            let step = self.locals.move_at(index);
            self.delaying_starts",
        new: "            if PLANTED && matches!(control.phase.attack, Phase::Delayed(_)) {
                continue;
            }
            let step = self.locals.move_at(index);
            self.delaying_starts",
        caught_by: CORNERS,
    },
    Fault {
        what: "tasks: a plain post does not overtake stores",
        file: "crates/palisade-exploration/src/instrumented/tasks/attacker.rs",
        old: "                if !control.locked {",
        new: "                if !control.locked && !PLANTED {",
        caught_by: MODELS,
    },
    Fault {
        what: "tasks: the main thread's buffer ends with its task",
        file: "crates/palisade-exploration/src/instrumented/tasks/attacker.rs",
        old: "if self.returns(local) && self.is_plain() && attacker.on_main {",
        new: "if self.returns(local) && self.is_plain() && attacker.on_main && !PLANTED {",
        caught_by: CORNERS,
    },
    Fault {
        what: "properties: plain posts count as posts that drain",
        file: "crates/palisade-engine/src/properties/posts.rs",
        old: "    if !needs_order.contains(&true) {",
        new: "    if PLANTED || !needs_order.contains(&true) {",
        caught_by: "events::properties::plain_posts_are_what_all_computations_say",
    },
];
