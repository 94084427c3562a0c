//! The step relation of the instrumented program as assertions of a script.
//!
//! `move` says which step it is. For each there is one assertion with what the instruction does, its expressions
//! written out; the rules that are the same for all ([ESOP13, Eqs. 1–12], as CERTIFICATE.md states them) follow once,
//! over the variables that these set: the state `from` which a thread moves (on the path or not), the one that it is
//! then in (`start`) and the one that it settles `to`, the `kind` of access (0 none, 1 load, 2 store) with its
//! `address` and `value`.

use super::expression::{Reading, Term};
use super::tables::{Stage, Tables};
use super::terms::{comment, conjunction, disjunction, equal, integer, line, negation};
use crate::program::{Action, Expression, Instruction, InstructionId, LabelId, ThreadId, Value};

/// Nothing: no state, no attacker, no thread.
const NONE: &str = "(- 1)";

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

    /// What each instruction at each listed state does when a thread executes it on its own.
    fn thread_moves(&self) -> Vec<(String, Vec<String>)> {
        let mut moves = Vec::new();
        for number in 0..self.listed {
            let state = &self.states[number];
            for (id, instruction) in self.at(state.thread, state.label).filter(|(_, own)| !own.action.is_local()) {
                if let Some(conditions) = self.thread_move(number, id, instruction) {
                    moves.push((format!("state {number}: {}", self.words(state.thread, id)), conditions));
                }
            }
        }
        moves
    }

    fn thread_move(&self, number: usize, id: InstructionId, instruction: &Instruction) -> Option<Vec<String>> {
        let state = &self.states[number];
        let found = self.found_by(number, id);
        let mut reading = Reading { registers: &state.registers, old: None, domain: self.program.domain };
        let mut defined = Vec::new();
        let mut term = |Term { text, defined: conditions }: Term| {
            defined.extend(conditions);
            text
        };
        let access = instruction.action.address().map(|address| term(reading.address(address)));
        let old = access.as_ref().map_or_else(|| "0".to_owned(), |address| format!("(read {address})"));
        // What is accessed, what is written, which actions do neither and are permitted off the path.
        let (mut kind, mut writes, mut value) = ("0".to_owned(), "false".to_owned(), "0".to_owned());
        let mut permitted = false;
        match &instruction.action {
            Action::Load { .. } => kind = "1".to_owned(),
            Action::Store { value: stored, .. } => {
                (kind, writes, value) = ("2".to_owned(), "true".to_owned(), term(reading.data(stored)));
            }
            Action::Cas { expected, new, .. } => {
                writes = equal(&old, term(reading.data(expected)));
                kind = format!("(ite {writes} 2 1)");
                let Term { text, defined: conditions } = reading.data(new);
                value = text;
                term(Term {
                    text: String::new(),
                    defined: conditions.iter().map(|own| format!("(=> {writes} {own})")).collect(),
                });
            }
            Action::Rmw { new, .. } => {
                reading.old = Some((&old, &found));
                (kind, writes, value) = ("2".to_owned(), "true".to_owned(), term(reading.data(new)));
            }
            Action::Lock if state.holding => return None,
            Action::Unlock if !state.holding => return None,
            action => permitted = *action == Action::Lock || (*action == Action::Fence && state.holding),
        }
        let locked = match instruction.action {
            Action::Lock => "locked_".to_owned(),
            Action::Unlock => negation("locked_"),
            _ => equal("locked_", "locked"),
        };
        let mut conditions = vec![
            equal("from", number),
            format!("(ite on-path (>= j{number} 1) (>= n{number} 1))"),
            equal("kind", kind),
            equal("address", access.as_deref().unwrap_or("0")),
            equal("writes", writes),
            equal("value", value),
            equal("holding", state.holding),
            equal("permitted", permitted),
            locked,
        ];
        if !state.holding {
            conditions.push(negation("locked"));
        }
        defined.extend(access.map(|address| format!("(listed {address})")));
        conditions.push(equal("fault", negation(&conjunction(defined))));
        let outcomes = self.outcomes(number, id);
        let mut elsewhere = Vec::new();
        let is_open = outcomes.iter().all(|(found, _)| found.is_some());
        for (found, state) in outcomes {
            let start = equal("start", self.number_of(&state).map_or_else(|| NONE.to_owned(), |own| own.to_string()));
            match found {
                None => conditions.push(start),
                Some(found) => {
                    let is_found = equal(&old, integer(found));
                    conditions.push(format!("(=> {is_found} {start})"));
                    elsewhere.push(negation(&is_found));
                }
            }
        }
        if is_open {
            conditions.push(format!("(=> {} {})", conjunction(elsewhere), equal("start", NONE)));
        }
        Some(conditions)
    }

    /// What each instruction at each attacker's label does; into hopeless states no step is taken.
    fn attacker_moves(&self) -> Vec<(String, Vec<String>)> {
        let mut moves = Vec::new();
        for (number, own) in self.attackers.iter().enumerate() {
            let at_attacker = equal("attacker", number);
            for (id, instruction) in self.at(own.thread, own.label) {
                let target = instruction.target;
                if self.is_hopeless(own.thread, target) {
                    continue;
                }
                let reading = Reading { registers: &own.registers, old: None, domain: self.program.domain };
                let mut add = |conditions: Vec<String>| {
                    let conditions = std::iter::once(at_attacker.clone()).chain(conditions).collect();
                    moves.push((format!("attacker {number}: {}", self.words(own.thread, id)), conditions));
                };
                let after = |set: Option<(usize, Value)>| {
                    let mut registers = own.registers.clone();
                    if let Some((register, value)) = set {
                        registers[register] = value;
                    }
                    self.becomes(own.thread, target, &registers)
                };
                let faultless = |defined: Vec<String>| equal("fault", negation(&conjunction(defined)));
                match &instruction.action {
                    Action::Store { address, value } => {
                        let (address, value) = (reading.address(address), reading.data(value));
                        let mut conditions = self.puts(&address, &value);
                        conditions.push(after(None));
                        add(conditions);
                    }
                    Action::Load { register, address } => {
                        let address = reading.address(address);
                        let found = format!("(ite (delays {0}) (delayed {0}) (read {0}))", address.text);
                        let mut conditions = vec![equal("writes", "false"), negation("locked")];
                        conditions.extend(self.becomes_with(number, target, register.index(), &found));
                        let listed = format!("(listed {})", address.text);
                        conditions.push(faultless(address.defined.into_iter().chain([listed]).collect()));
                        add(conditions);
                    }
                    Action::Assign { register, value } => {
                        let value = reading.data(value);
                        let mut conditions = vec![equal("writes", "false"), faultless(value.defined)];
                        conditions.extend(self.becomes_with(number, target, register.index(), &value.text));
                        add(conditions);
                    }
                    Action::Havoc { register } => {
                        for value in self.program.domain.into_iter().flat_map(crate::program::Domain::values) {
                            let set = Some((register.index(), value));
                            add(vec![equal("writes", "false"), equal("fault", "false"), after(set)]);
                        }
                    }
                    Action::Assume(condition) => {
                        let condition = reading.condition(condition);
                        let fault = negation(&conjunction(condition.defined));
                        let taken = format!("(or fault {})", condition.text);
                        add(vec![equal("writes", "false"), equal("fault", fault), taken, after(None)]);
                    }
                    Action::Nop | Action::Ensure(_) => {
                        add(vec![equal("writes", "false"), equal("fault", "false"), after(None)]);
                    }
                    _ => {}
                }
            }
        }
        moves
    }

    /// Which attacker there is after a step.
    fn becomes(&self, thread: ThreadId, label: LabelId, registers: &[Value]) -> String {
        let number = self.attacker(thread, label, registers);
        equal("attacker_", number.map_or_else(|| NONE.to_owned(), |number| number.to_string()))
    }

    /// Which attacker there is after a step that gives a register a value: one that the certificate has, or none.
    fn becomes_with(&self, number: usize, target: LabelId, register: usize, value: &str) -> Vec<String> {
        let own = &self.attackers[number];
        if !self.is_live(own.thread, target, register) {
            return vec![self.becomes(own.thread, target, &own.registers)];
        }
        let mut conditions = Vec::new();
        let mut elsewhere = Vec::new();
        for (other, state) in self.attackers.iter().enumerate() {
            let mut registers = own.registers.clone();
            registers[register] = state.registers.get(register).copied().unwrap_or_default();
            if state.thread == own.thread && self.attacker(own.thread, target, &registers) == Some(other) {
                let is_it = equal(value, integer(registers[register]));
                conditions.push(format!("(=> {is_it} {})", equal("attacker_", other)));
                elsewhere.push(negation(&is_it));
            }
        }
        conditions.push(format!("(=> {} {})", conjunction(elsewhere), equal("attacker_", NONE)));
        conditions
    }

    /// A store that goes into the attacker's buffer.
    fn puts(&self, address: &Term, value: &Term) -> Vec<String> {
        let listed = format!("(listed {})", address.text);
        let defined = address.defined.iter().chain(&value.defined).cloned().chain([listed]);
        vec![
            equal("writes", "true"),
            equal("address", &address.text),
            equal("value", &value.text),
            equal("fault", negation(&conjunction(defined))),
        ]
    }

    /// Where delaying starts: a store with an attack that control flow does not rule out, by a thread without the lock.
    fn starts(&self) -> Vec<(String, Vec<String>)> {
        let mut moves = Vec::new();
        for (stage, own) in self.stages.iter().enumerate() {
            let Stage::Delayed(thread, store) = own else { continue };
            let instruction = self.program.thread(*thread).instruction(*store);
            let Action::Store { address, value } = &instruction.action else { continue };
            if self.is_hopeless(*thread, instruction.target) {
                continue;
            }
            for number in 0..self.listed {
                let state = &self.states[number];
                if state.thread != *thread || state.label != instruction.source || state.holding {
                    continue;
                }
                let reading = Reading { registers: &state.registers, old: None, domain: self.program.domain };
                let mut conditions = vec![
                    equal("from", number),
                    format!("(>= n{number} 1)"),
                    equal("stage_", stage),
                    self.becomes(*thread, instruction.target, &state.registers),
                ];
                conditions.extend(self.puts(&reading.address(address), &reading.data(value)));
                moves.push((format!("state {number}: {}", self.words(*thread, *store)), conditions));
            }
        }
        moves
    }

    /// Where the attacker's last load leads, for each attack that control flow does not rule out.
    fn loads(&self) -> Vec<(String, Vec<String>)> {
        let mut moves = Vec::new();
        for (thread, store, load) in &self.infeasible {
            let (Some(stage), Some(helped)) =
                (self.stage(&Stage::Delayed(*thread, *store)), self.stage(&Stage::Helped(*thread)))
            else {
                continue;
            };
            let instruction = self.program.thread(*thread).instruction(*load);
            let Action::Load { address, .. } = &instruction.action else { continue };
            for (number, own) in self.attackers.iter().enumerate() {
                if own.thread != *thread || own.label != instruction.source {
                    continue;
                }
                let reading = Reading { registers: &own.registers, old: None, domain: self.program.domain };
                let Term { text: address, defined } = reading.address(address);
                let listed = format!("(listed {address})");
                let conditions = vec![
                    equal("stage", stage),
                    equal("attacker", number),
                    negation("locked"),
                    negation(&format!("(delays {address})")),
                    equal("stage_", helped),
                    equal("address", &address),
                    equal("fault", negation(&conjunction(defined.into_iter().chain([listed])))),
                ];
                moves.push((format!("attacker {number}: {}", self.words(*thread, *load)), conditions));
            }
        }
        moves
    }

    /// Control flow without instructions that drain the buffer, wherever the values lead.
    fn flows(&self) -> Vec<(String, Vec<String>)> {
        let mut moves = Vec::new();
        for (thread, own) in self.program.thread_ids() {
            let stage = self.is_stage(|stage| matches!(stage, Stage::Flow(flowing, ..) if *flowing == thread));
            for (id, instruction) in own.instruction_ids().filter(|(_, own)| !own.action.drains_buffer()) {
                let source = equal("point", instruction.source.index());
                let target = equal("point_", instruction.target.index());
                moves.push((self.words(thread, id), vec![stage.clone(), source, target]));
            }
        }
        moves
    }

    /// The instruction as it stands in the text.
    fn words(&self, thread: ThreadId, id: InstructionId) -> String {
        let span = self.program.thread(thread).instruction(id).span;
        let text = self.program.source.text.get(span.start..span.end).unwrap_or_default();
        format!("{} {id} {text}", self.program.thread(thread).name)
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
        // An access joins the path when its address has been stored there, a store also when it has been loaded.
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
        here.peek().is_some() && here.all(|(_, own)| own.action.is_local())
    }

    /// What the tables claim: the live registers solve the inequalities, and each state settles to what is said.
    pub(super) fn claims(&self) -> Vec<String> {
        let mut claims = Vec::new();
        for (thread, own) in self.program.thread_ids() {
            for (_, instruction) in own.instruction_ids() {
                let live =
                    |label: LabelId, register: usize| format!("(live {} {} {register})", thread.index(), label.index());
                let written = instruction.action.written_register().map(crate::program::RegisterId::index);
                for register in (0..own.registers.len()).filter(|register| written != Some(*register)) {
                    let (after, before) = (live(instruction.target, register), live(instruction.source, register));
                    claims.push(format!("(=> {after} {before})"));
                }
                for expression in instruction.action.expressions() {
                    expression.for_each_register(&mut |read| claims.push(live(instruction.source, read.index())));
                }
            }
        }
        for (number, state) in self.states.iter().enumerate() {
            for (_, instruction) in self.at(state.thread, state.label) {
                claims.push(self.settling_claim(number, instruction));
            }
        }
        claims
    }

    /// One instruction at a state: it is not local, and the state settles to itself; or what it leads to settles to
    /// nothing that the state does not settle to.
    fn settling_claim(&self, number: usize, instruction: &Instruction) -> String {
        let state = &self.states[number];
        if !instruction.action.is_local() {
            return format!("(settles {number} {number})");
        }
        let reading = Reading { registers: &state.registers, old: None, domain: self.program.domain };
        let Some(reached) = self.local_outcomes(state, instruction) else { return "false".to_owned() };
        let settle = reached.iter().map(|own| self.number_of(own)).map(|own| match own {
            None => "false".to_owned(),
            Some(own) => conjunction(self.settled[own].iter().map(|end| format!("(settles {number} {end})"))),
        });
        let settle = conjunction(settle);
        match &instruction.action {
            Action::Assign { register, value } if self.is_live(state.thread, instruction.target, register.index()) => {
                let Term { text, defined } = reading.data(value);
                let set = reached.first().map_or(0, |own| own.registers[register.index()]);
                conjunction(defined.into_iter().chain([equal(text, integer(set)), settle]))
            }
            Action::Assign { value, .. } => conjunction(reading.data(value).defined.into_iter().chain([settle])),
            Action::Assume(condition) => {
                let Term { text, defined } = reading.condition(condition);
                let settle = if reached.is_empty() { "false".to_owned() } else { settle };
                conjunction(defined.into_iter().chain([format!("(=> {text} {settle})")]))
            }
            _ => settle,
        }
    }

    /// Whether an expression of the program is not linear: products and quotients.
    pub(super) fn is_linear(&self) -> bool {
        let instructions = self.program.threads.iter().flat_map(|thread| &thread.instructions);
        instructions.flat_map(|own| own.action.expressions()).all(is_linear)
    }
}

fn is_linear(expression: &Expression) -> bool {
    use crate::program::BinaryOperator as Op;
    match expression {
        Expression::Unary(_, operand) => is_linear(operand),
        Expression::Binary(Op::Multiply | Op::Divide | Op::Remainder, ..) => false,
        Expression::Binary(_, left, right) => is_linear(left) && is_linear(right),
        _ => true,
    }
}
