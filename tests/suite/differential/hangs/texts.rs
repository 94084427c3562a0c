//! Random programs that wait.

use palisade::program::Program;
use palisade::semantics::random::Randomness;
use palisade::syntax::{Format, parse};
use palisade::text::SourceText;

/// A program with fixed numbers of copies.
pub(super) fn fixed(seed: u64) -> Program {
    Text::new(seed).program(&["", "", "", " [2]"])
}

/// A program with a replicated thread.
pub(super) fn any_number(seed: u64) -> Program {
    Text::new(seed).program(&["", " [*]", " [*]"])
}

const NAMES: [&str; 3] = ["x", "y", "z"];

struct Text {
    random: Randomness,
    registers: usize,
}

impl Text {
    fn new(seed: u64) -> Self {
        Self { random: Randomness::new(seed), registers: 0 }
    }

    fn program(&mut self, copies: &[&str]) -> Program {
        let high = 1 + self.random.below(2);
        let mut text = format!("program random\ndomain 0..{high} wrap\naddress x, y, z\n");
        for thread in 0..2 + self.random.below(2) {
            // The first is as its kind says, so that kinds come up as often as they are listed.
            let copies = copies[if thread == 0 { copies.len() - 1 } else { self.random.below(copies.len()) }];
            let count = 1 + self.random.below(3);
            let body: String = (0..count).map(|_| self.statement(2)).collect();
            let daemon = if self.random.below(8) == 0 { "daemon " } else { "" };
            text.push_str(&format!("{daemon}thread t{thread}{copies} {{ {body}}}\n"));
        }
        let parsed = parse(SourceText::new("random.pal".to_owned(), text.clone()), Format::Native);
        parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.random.below(NAMES.len())]
    }

    fn value(&mut self) -> usize {
        self.random.below(2)
    }

    fn condition(&mut self) -> String {
        let (name, value) = (self.name(), self.value());
        let comparison = ["==", "==", "!="][self.random.below(3)];
        format!("{name} {comparison} {value}")
    }

    fn mark(&mut self) -> &'static str {
        ["", "", "", "", "idle ", "timed "][self.random.below(6)]
    }

    fn sleeping(&mut self) -> String {
        let (name, other, value) = (self.name(), self.name(), self.value());
        match self.random.below(10) {
            0 | 1 => format!("{}wait({name}, {value}); ", self.mark()),
            2 => format!("{name} = {value}; wake({name}, all); "),
            3 => format!("wake({name}, 1); "),
            4 => format!("wake({name}, all); "),
            5 => format!("lock({name}); {}unlock({name}); ", self.statement(0)),
            6 => format!("acquire({name}); "),
            7 => format!("release({name}); "),
            8 if name != other => format!("lock({name}); cond_wait({other}, {name}); unlock({name}); "),
            _ => format!("fetch_add({name}, 1); "),
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        let (name, value, other) = (self.name(), self.value(), self.value());
        match self.random.below(if depth == 0 { 8 } else { 14 }) {
            0..=2 => format!("{name} = {value}; "),
            3 => "mfence; ".to_owned(),
            4 => format!("{}await ({}); ", self.mark(), self.condition()),
            5 => self.sleeping(),
            6 => format!("while (xchg({name}, {value}) != {other}) {{ pause; }} "),
            7 => format!("while (cas({name}, {value}, {other}) != {value}) {{ pause; }} "),
            8 | 9 => format!("await ({}); {}", self.condition(), self.statement(depth - 1)),
            10 => format!("if ({}) {{ {}}} ", self.condition(), self.statement(depth - 1)),
            11 => format!("while ({}) {{ {}}} ", self.condition(), self.statement(depth - 1)),
            12 => {
                self.registers += 1;
                let register = format!("r{}", self.registers);
                format!("let {register} = {name}; if ({register} == {value}) {{ {}}} ", self.statement(depth - 1))
            }
            _ => format!("choose {{ {}}} or {{ {}}} ", self.statement(depth - 1), self.statement(depth - 1)),
        }
    }
}
