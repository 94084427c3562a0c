//! The step relation of the instrumented program as assertions of a script.
//!
//! `move` says which step it is. For each there is one assertion with what the instruction does
//! ([`moves`](super::moves)); the rules that are the same for all ([ESOP13, Eqs. 1–12], as
//! docs/certificate/robust.md states them) follow once, over the variables that these set: the
//! state `from` which a thread moves (on the path or not), the one that it is then in (`start`) and
//! the one that it settles `to`, the `kind` of access (0 none, 1 load, 2 store) with its `address`
//! and `value`.

use super::tables::{Stage, Tables};
use super::terms::{comment, conjunction, disjunction, equal, integer, line, negation};

/// Nothing: no state, no attacker, no thread.
pub(super) const NONE: &str = "(- 1)";

/// The parts of the step relation, in the order in which `rule` numbers them.
const RULES: [&str; 5] =
    ["a thread's step", "the attacker's step", "delaying starts", "the load after delayed stores", "control flow"];

impl Tables<'_> {
    /// Asserts that there is a step from the state to the one after it.
    pub(super) fn assert_step(&self, text: &mut String) {
        for (number, rule) in RULES.iter().enumerate() {
            line(text, &format!("; rule {number}: {rule}"));
        }
        for name in ["rule", "move", "from", "start", "to", "kind", "address", "value"] {
            line(text, &format!("(declare-const {name} Int)"));
        }
        for name in ["on-path", "holding", "writes", "permitted", "fault"] {
            line(text, &format!("(declare-const {name} Bool)"));
        }
        self.define_by_address(text, ("read", "Int", "0"), |place| format!("m{place}"));
        self.define_by_address(text, ("level", "Int", "0"), |place| format!("v{place}"));
        self.define_by_address(text, ("delays", "Bool", "false"), |place| format!("h{place}"));
        self.define_by_address(text, ("delayed", "Int", "0"), |place| format!("b{place}"));
        self.define_by_address(text, ("listed", "Bool", "false"), |_| "true".to_owned());
        self.define_settling(text);

        let moves = [self.thread_moves(), self.attacker_moves(), self.starts(), self.loads(), self.flows()];
        let mut number = 0;
        for (rule, moves) in moves.into_iter().enumerate() {
            for (name, conditions) in moves {
                line(text, &format!("; {}", comment(&name)));
                let effect = conjunction(std::iter::once(equal("rule", rule)).chain(conditions));
                line(text, &format!("(assert (=> (= move {number}) {effect}))"));
                number += 1;
            }
        }
        line(text, &format!("(assert (and (<= 0 move) (< move {number})))"));
        self.assert_rules(text);
    }

    /// The claim which states a thread settles to.
    pub(super) fn define_settling(&self, text: &mut String) {
        let claim = |(start, settled): (usize, &Vec<usize>)| {
            let ends = disjunction(settled.iter().map(|end| equal("end", end)));
            conjunction([equal("start", start), if settled.is_empty() { equal("end", NONE) } else { ends }])
        };
        let body = disjunction(self.settled.iter().enumerate().map(claim));
        line(text, &format!("(define-fun settles ((start Int) (end Int)) Bool {body})"));
    }

    /// The rules that do not depend on the instruction.
    fn assert_rules(&self, text: &mut String) {
        let mut assert = |condition: String| line(text, &format!("(assert {condition})"));
        let delayed = self.is_stage(|stage| matches!(stage, Stage::Delayed(..)));
        let helped = self.is_stage(|stage| matches!(stage, Stage::Helped(_)));
        let flow = self.is_stage(|stage| matches!(stage, Stage::Flow(..)));
        let alone = disjunction(
            (0..self.attackers.len()).filter(|own| self.moves_alone(*own)).map(|own| equal("attacker", own)),
        );
        // An access joins the path when its address has been stored there, a store also when it has
        // been loaded.
        let joins = "(ite (= kind 0) false (ite (= kind 1) (= (level address) 2) (>= (level address) 1)))";
        let follows = format!("(and {helped} (or on-path {joins}))");
        let is_rule = |rule: usize| equal("rule", rule);
        let for_rule =
            |rule: usize, conditions: Vec<String>| format!("(=> (= rule {rule}) {})", conjunction(conditions));
        let same = |name: String| equal(format!("{name}_"), name);

        assert(for_rule(
            0,
            vec![
                negation(&flow),
                format!("(=> on-path {helped})"),
                format!("(=> {delayed} {})", negation(&alone)),
                format!("(=> (and {helped} (not on-path)) (ite (= kind 0) permitted (or {joins} holding)))"),
                format!("(ite (= start {NONE}) (= to {NONE}) (settles start to))"),
                equal("outside_", format!("(or fault (= start {NONE}) (>= to {}))", self.listed)),
            ],
        ));
        let settled = [equal("from", NONE), equal("to", NONE)];
        let lost = format!("(or fault (= attacker_ {NONE}))");
        assert(for_rule(
            1,
            [delayed, same("locked".to_owned()), equal("outside_", &lost)].into_iter().chain(settled.clone()).collect(),
        ));
        assert(for_rule(
            2,
            vec![
                equal("stage", 0),
                same("locked".to_owned()),
                equal("to", NONE),
                equal("outside_", &lost),
                negation("on-path"),
            ],
        ));
        assert(for_rule(
            3,
            [same("locked".to_owned()), equal("outside_", "fault")].into_iter().chain(settled).collect(),
        ));
        assert(for_rule(4, vec![same("stage".to_owned()), negation("outside_")]));
        assert(format!("(=> (<= rule 1) {})", same("stage".to_owned())));
        assert(format!("(=> {} {})", disjunction([is_rule(0), is_rule(3)]), same("attacker".to_owned())));
        assert(equal("origin_", "(ite (= rule 2) address origin)"));

        for (place, address) in self.places() {
            let here = equal("address", integer(address));
            let max = |left: String, right: &str| format!("(ite (>= {left} {right}) {left} {right})");
            let access = format!("(ite {here} kind 0)");
            assert(equal(format!("m{place}_"), format!("(ite (and (= rule 0) writes {here}) value m{place})")));
            let puts = format!("(and (= rule 1) writes {here})");
            assert(equal(format!("h{place}_"), format!("(ite (= rule 2) {here} (or h{place} {puts}))")));
            assert(equal(format!("b{place}_"), format!("(ite (or {puts} (= rule 2)) value b{place})")));
            // The accesses of the own section join with the one that does.
            let before = max(format!("v{place}"), &format!("(ite on-path 0 e{place})"));
            let risen = max(before, &access);
            assert(equal(
                format!("v{place}_"),
                format!("(ite (= rule 3) (ite {here} 1 0) (ite (and (= rule 0) {follows}) {risen} v{place}))"),
            ));
            let recorded = format!(
                "(ite {follows} (ite on-path e{place} 0) (ite holding {} e{place}))",
                max(format!("e{place}"), &access)
            );
            assert(equal(format!("e{place}_"), format!("(ite (= rule 3) 0 (ite (= rule 0) {recorded} e{place}))")));
        }
        for number in 0..self.listed {
            let takes = format!("(ite (and (not on-path) (= from {number})) 1 0)");
            let gets = format!("(ite (and (not {follows}) (= to {number})) 1 0)");
            assert(equal(format!("n{number}_"), format!("(+ (- n{number} {takes}) {gets})")));
            let takes = format!("(ite (and on-path (= from {number})) 1 0)");
            let gets = format!("(ite (and {follows} (= to {number})) 1 0)");
            assert(equal(format!("j{number}_"), format!("(ite (= rule 3) 0 (+ (- j{number} {takes}) {gets}))")));
        }
    }

    /// Whether only local instructions stand at an attacker's label, at least one.
    fn moves_alone(&self, number: usize) -> bool {
        let own = &self.attackers[number];
        let mut here = self.at(own.thread, own.label).peekable();
        here.peek().is_some() && here.all(|(_, own)| own.action.is_local_under_tso())
    }
}
