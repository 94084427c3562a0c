//! What each step of the instrumented program does, instruction by instruction: the moves of the
//! step relation.
//!
//! A move is a comment with conditions on the variables of the script and of
//! [`steps`](super::steps); the instruction's expressions are written out with the registers of the
//! state that it is executed in.

use super::expression::{Reading, Term};
use super::steps::NONE;
use super::tables::{Stage, Tables};
use super::terms::{conjunction, equal, integer, negation};
use palisade_model::program::{Action, Domain, Expression, Instruction, InstructionId, LabelId, ThreadId, Value};

/// What a move is called, and its conditions.
pub(super) type Move = (String, Vec<String>);

impl Tables<'_> {
    /// What each instruction at each listed state does when a thread executes it on its own.
    pub(super) fn thread_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        for number in 0..self.listed {
            let state = &self.states[number];
            for (id, instruction) in
                self.at(state.thread, state.label).filter(|(_, own)| !own.action.is_local_under_tso())
            {
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
        // What is accessed, what is written, which actions do neither and are permitted off the
        // path.
        let (mut kind, mut writes, mut value) = ("0".to_owned(), "false".to_owned(), "0".to_owned());
        let mut permitted = false;
        match &instruction.action {
            Action::Load { .. } => kind = "1".into(),
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
        let waits = instruction.until().map(|until| waited_for(reading, until, (&old, &found), &mut defined));
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
        conditions.extend(waits);
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
    pub(super) fn attacker_moves(&self) -> Vec<Move> {
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
                        let mut conditions = Self::puts(&address, &value);
                        conditions.push(after(None));
                        add(conditions);
                    }
                    Action::Load { register, address } => {
                        let address = reading.address(address);
                        let found = format!("(ite (delays {0}) (delayed {0}) (read {0}))", address.text);
                        let mut conditions = vec![equal("writes", "false"), negation("locked")];
                        conditions.extend(self.becomes_with(number, target, register.index(), &found));
                        let listed = format!("(listed {})", address.text);
                        let mut defined: Vec<String> = address.defined.into_iter().chain([listed]).collect();
                        let old = (found.as_str(), &self.values()[..]);
                        let until = instruction.until();
                        conditions.extend(until.map(|until| waited_for(reading, until, old, &mut defined)));
                        conditions.push(faultless(defined));
                        add(conditions);
                    }
                    Action::Assign { register, value } => {
                        let value = reading.data(value);
                        let mut conditions = vec![equal("writes", "false"), faultless(value.defined)];
                        conditions.extend(self.becomes_with(number, target, register.index(), &value.text));
                        add(conditions);
                    }
                    Action::Havoc { register } => {
                        for value in self.program.domain.into_iter().flat_map(Domain::values) {
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
                    Action::Nop | Action::StoreFence | Action::Ensure(_) => {
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

    /// Which attacker there is after a step that gives a register a value: one that the certificate
    /// has, or none.
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
    fn puts(address: &Term, value: &Term) -> Vec<String> {
        let listed = format!("(listed {})", address.text);
        let defined = address.defined.iter().chain(&value.defined).cloned().chain([listed]);
        vec![
            equal("writes", "true"),
            equal("address", &address.text),
            equal("value", &value.text),
            equal("fault", negation(&conjunction(defined))),
        ]
    }

    /// Where delaying starts: a store with an attack that control flow does not rule out, by a
    /// thread without the lock.
    pub(super) fn starts(&self) -> Vec<Move> {
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
                conditions.extend(Self::puts(&reading.address(address), &reading.data(value)));
                moves.push((format!("state {number}: {}", self.words(*thread, *store)), conditions));
            }
        }
        moves
    }

    /// Where the attacker's last load leads, for each attack that control flow does not rule out.
    pub(super) fn loads(&self) -> Vec<Move> {
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
                let mut defined: Vec<String> = defined.into_iter().chain([format!("(listed {address})")]).collect();
                let old = format!("(read {address})");
                let until = instruction.until();
                let waits = until.map(|until| waited_for(reading, until, (&old, &self.values()), &mut defined));
                let mut conditions = vec![
                    equal("stage", stage),
                    equal("attacker", number),
                    negation("locked"),
                    negation(&format!("(delays {address})")),
                    equal("stage_", helped),
                    equal("address", &address),
                    equal("fault", negation(&conjunction(defined))),
                ];
                conditions.extend(waits);
                moves.push((format!("attacker {number}: {}", self.words(*thread, *load)), conditions));
            }
        }
        moves
    }

    /// Control flow without instructions that drain the buffer, wherever the values lead.
    pub(super) fn flows(&self) -> Vec<Move> {
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
}

/// What a read waits for, of a term for what it finds with the values that this may have; it adds
/// when that has a value.
fn waited_for(reading: Reading<'_>, until: &Expression, old: (&str, &[Value]), defined: &mut Vec<String>) -> String {
    let Term { text, defined: conditions } = Reading { old: Some(old), ..reading }.condition(until);
    defined.extend(conditions);
    format!("(or fault {text})")
}
