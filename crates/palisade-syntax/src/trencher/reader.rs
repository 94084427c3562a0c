//! Reads Trencher's format.
//!
//! A reader by recursive descent over words. After an error it goes on at the next line, so that
//! several errors are reported at once.

use super::words::{Word, Words};
use crate::build::ThreadBuilder;
use crate::suggest::did_you_mean;
use crate::{Diagnostic, MAX_ERRORS, MAX_EXPRESSION_DEPTH, program_name};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Expression, Posts, Program, SourceText, Span, UnaryOperator,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::Arc;

const INSTRUCTIONS: [&str; 8] = ["read", "write", "local", "check", "mfence", "noop", "lock", "unlock"];
const OPERATORS: &str = "!, ==, !=, <, <=, >, >=, &&, ||, +, -, *, &";

/// Reads a text in Trencher's format.
pub(crate) fn parse(source: &Arc<SourceText>) -> Result<Program, Vec<Diagnostic>> {
    let mut reader = Reader { words: Words::new(&source.text).peekable(), end: source.text.len(), errors: Vec::new() };
    let threads = reader.program();
    if !reader.errors.is_empty() {
        return Err(reader.errors);
    }
    Ok(Program {
        name: program_name(source),
        domain: None,
        addresses: Vec::new(),
        initial_memory: BTreeMap::new(),
        threads,
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: source.clone(),
    })
}

/// An error was recorded; go on where the text can be understood again.
struct Recorded;

struct Reader<'s> {
    words: Peekable<Words<'s>>,
    /// The length of the text.
    end: usize,
    errors: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    fn program(&mut self) -> Vec<palisade_model::program::Thread> {
        let mut threads = Vec::new();
        let mut names: FxHashMap<&'s str, Span> = FxHashMap::default();
        while let Some(word) = self.words.next() {
            let result = match word.text {
                "thread" => self.thread(&mut names).map(|thread| threads.extend(thread)),
                "memory_size" => self.memory_size(),
                _ => Err(self.unexpected(word, "a thread", ["thread", "memory_size"])),
            };
            if result.is_err() {
                self.skip_to(|word| word == "thread");
            }
        }
        if threads.is_empty() && self.errors.is_empty() {
            let message = "there is no thread in this text";
            self.errors.push(Diagnostic::error(message, self.end_span()).with_expected(["`thread`"]));
        }
        threads
    }

    /// `memory_size N`: how many addresses Trencher reserves. Addresses need no reservation here.
    fn memory_size(&mut self) -> Result<(), Recorded> {
        let word = self.word("a number of addresses")?;
        match word.text.parse::<u64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(self.record(
                Diagnostic::error(format!("`{}` is not a number of addresses", word.text), word.span)
                    .with_expected(["a number"]),
            )),
        }
    }

    /// What follows `thread`, up to its `end`. `None` where an error was recorded inside.
    fn thread(
        &mut self,
        names: &mut FxHashMap<&'s str, Span>,
    ) -> Result<Option<palisade_model::program::Thread>, Recorded> {
        let name = self.word("a thread name")?;
        let errors_before = self.errors.len();
        if names.insert(name.text, name.span).is_some() {
            let message = format!("there is already a thread named `{}`", name.text);
            self.record(Diagnostic::error(message, name.span).with_label("named again here"));
        }
        let mut builder = ThreadBuilder::new(name.text, name.span, Copies::Exactly(1));
        let mut initial: Option<Word<'s>> = None;
        loop {
            let Some(word) = self.words.next() else {
                let message = format!("the thread `{}` has no `end`", name.text);
                return Err(self.record(Diagnostic::error(message, name.span).with_expected(["`end`"])));
            };
            let result = match word.text {
                "end" => break,
                "initial" => self.initial(&mut initial),
                "transition" => self.transition(&mut builder, word.span),
                "thread" if word.first_on_line => {
                    let message = format!("the thread `{}` has no `end` before the next one", name.text);
                    return Err(self.record(Diagnostic::error(message, word.span).with_expected(["`end`"])));
                }
                _ => Err(self.unexpected(word, "a transition", ["transition", "initial", "end"])),
            };
            if result.is_err() {
                self.skip_to(|_| true);
            }
        }
        let Some(initial) = initial else {
            let message = format!("the thread `{}` has no initial state", name.text);
            return Err(self.record(Diagnostic::error(message, name.span).with_expected(["`initial`"])));
        };
        if builder.label_named(initial.text).is_none() && !builder.is_empty() {
            let message = format!("the initial state `{}` occurs in no transition", initial.text);
            let help = did_you_mean(initial.text, builder.label_names());
            self.record(Diagnostic::error(message, initial.span).with_label("not a state").with_help_if(help));
        }
        let initial = builder.label(initial.text, initial.span);
        Ok((self.errors.len() == errors_before).then(|| builder.finish(initial)))
    }

    fn initial(&mut self, initial: &mut Option<Word<'s>>) -> Result<(), Recorded> {
        let word = self.word("the initial state")?;
        if initial.replace(word).is_some() {
            return Err(self.record(Diagnostic::error("a second initial state for one thread", word.span)));
        }
        Ok(())
    }

    /// What follows `transition`, which stands at `start`.
    fn transition(&mut self, builder: &mut ThreadBuilder<'s>, start: Span) -> Result<(), Recorded> {
        let from = self.word("the state it leaves")?;
        let to = self.word("the state it enters")?;
        let name = self.word("an instruction")?;
        let mut end = name.span;
        let action = match name.text {
            "read" => {
                let register = self.register(builder)?;
                let address = self.expression(builder, &mut end, 0)?;
                Action::Load { register, address }
            }
            "write" => {
                let value = self.expression(builder, &mut end, 0)?;
                let address = self.expression(builder, &mut end, 0)?;
                Action::Store { address, value }
            }
            "local" => {
                let register = self.register(builder)?;
                let value = self.expression(builder, &mut end, 0)?;
                Action::Assign { register, value }
            }
            "check" => Action::Assume(self.expression(builder, &mut end, 0)?),
            "mfence" => Action::Fence,
            "noop" => Action::Nop,
            "lock" => Action::Lock,
            "unlock" => Action::Unlock,
            _ => return Err(self.unexpected(name, "an instruction", INSTRUCTIONS)),
        };
        let source = builder.label(from.text, from.span);
        let target = builder.label(to.text, to.span);
        builder.instruction(source, target, action, start.to(end));
        Ok(())
    }

    fn register(&mut self, builder: &mut ThreadBuilder<'s>) -> Result<palisade_model::program::RegisterId, Recorded> {
        let word = self.word("a register")?;
        self.check_register(word)?;
        Ok(builder.register(word.text, word.span))
    }

    /// Every word that is neither a number nor an operator names a register.
    fn check_register(&mut self, word: Word<'s>) -> Result<(), Recorded> {
        let first = word.text.trim_start_matches(['+', '-']).chars().next();
        if first.is_some_and(|c| c.is_ascii_digit()) {
            let message = format!("`{}` is not a register: a number stands at its beginning", word.text);
            return Err(self.record(Diagnostic::error(message, word.span).with_expected(["a register"])));
        }
        if word.text.chars().all(|c| "!=<>&|+-*/%^~".contains(c)) {
            let message = format!("`{}` is not a register", word.text);
            let note = format!("the operators are {OPERATORS}; they stand before their operands");
            return Err(
                self.record(Diagnostic::error(message, word.span).with_expected(["a register"]).with_note(note))
            );
        }
        Ok(())
    }

    /// A prefix expression; `end` becomes the place of its last word.
    fn expression(
        &mut self,
        builder: &mut ThreadBuilder<'s>,
        end: &mut Span,
        depth: usize,
    ) -> Result<Expression, Recorded> {
        use BinaryOperator as Op;
        let word = self.word("an expression")?;
        *end = word.span;
        if depth > MAX_EXPRESSION_DEPTH {
            let message = format!("the expression is nested deeper than {MAX_EXPRESSION_DEPTH} levels");
            return Err(self.record(Diagnostic::error(message, word.span)));
        }
        let operator = match word.text {
            "==" => Op::Equal,
            "!=" => Op::NotEqual,
            "<" => Op::Less,
            "<=" => Op::LessOrEqual,
            ">" => Op::Greater,
            ">=" => Op::GreaterOrEqual,
            "&&" => Op::And,
            "||" => Op::Or,
            "+" => Op::Add,
            "-" => Op::Subtract,
            "*" => Op::Multiply,
            "&" => Op::BitAnd,
            "!" => {
                return Ok(Expression::unary(UnaryOperator::Not, self.expression(builder, end, depth + 1)?));
            }
            _ => return self.operand(builder, word),
        };
        let left = self.expression(builder, end, depth + 1)?;
        let right = self.expression(builder, end, depth + 1)?;
        Ok(Expression::binary(operator, left, right))
    }

    /// A number or a register.
    fn operand(&mut self, builder: &mut ThreadBuilder<'s>, word: Word<'s>) -> Result<Expression, Recorded> {
        let digits = word.text.trim_start_matches(['+', '-']);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return match word.text.parse() {
                Ok(value) => Ok(Expression::Constant(value)),
                Err(_) => {
                    let message = format!("the number `{}` does not fit 64 bits", word.text);
                    Err(self.record(Diagnostic::error(message, word.span)))
                }
            };
        }
        self.check_register(word)?;
        Ok(Expression::Register(builder.register(word.text, word.span)))
    }

    /// The next word, unless the text or the line's instruction ends here.
    fn word(&mut self, expected: &str) -> Result<Word<'s>, Recorded> {
        match self.words.peek().copied() {
            None => {
                let message = format!("expected {expected}, found the end of the text");
                Err(self.record(Diagnostic::error(message, self.end_span()).with_expected([expected])))
            }
            Some(word) if word.first_on_line && is_keyword(word.text) => {
                let message = format!("expected {expected}, found `{}`", word.text);
                Err(self.record(Diagnostic::error(message, word.span).with_expected([expected])))
            }
            Some(word) => {
                self.words.next();
                Ok(word)
            }
        }
    }

    fn unexpected<const N: usize>(&mut self, word: Word<'s>, what: &str, expected: [&str; N]) -> Recorded {
        let message = format!("expected {what}, found `{}`", word.text);
        self.record(
            Diagnostic::error(message, word.span)
                .with_expected(expected.map(|keyword| format!("`{keyword}`")))
                .with_help_if(did_you_mean(word.text, expected)),
        )
    }

    fn record(&mut self, error: Diagnostic) -> Recorded {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
        Recorded
    }

    /// Goes on before the next line whose first word will do, or not at all after many errors.
    fn skip_to(&mut self, will_do: impl Fn(&str) -> bool) {
        let enough = self.errors.len() >= MAX_ERRORS;
        while self.words.next_if(|word| enough || !(word.first_on_line && will_do(word.text))).is_some() {}
    }

    fn end_span(&self) -> Span {
        Span { start: self.end, end: self.end }
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "transition" | "initial" | "end" | "thread" | "memory_size")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let source = SourceText::new("t.txt", text);
        let errors = parse(&source).expect_err("the text is wrong");
        errors
            .iter()
            .map(|error| {
                let line = source.position(error.span.start).line;
                format!("{line}: {}{}", error.message, error.help.as_ref().map_or(String::new(), |h| format!("; {h}")))
            })
            .collect()
    }

    #[test]
    fn value_before_address_and_prefix_operators() {
        let text =
            "# c\nthread t # d\ninitial a\ntransition a b write + r 1 2 # e\ntransition b c check\n ! == r -3\nend";
        let program = parse(&SourceText::new("dir/sample.txt", text)).unwrap();
        assert_eq!(program.name, "sample");
        let thread = &program.threads[0];
        let Action::Store { address, value } = &thread.instructions[0].action else { panic!("a store") };
        assert_eq!(*address, Expression::Constant(2));
        assert_eq!(value.evaluate(&[4], None), Ok(5));
        let Action::Assume(condition) = &thread.instructions[1].action else { panic!("an assumption") };
        assert_eq!(condition.holds(&[-3], None), Ok(false));
        assert_eq!(program.source.slice(thread.instructions[0].span), "transition a b write + r 1 2");
        assert_eq!(thread.labels.len(), 3);
    }

    #[test]
    fn several_errors_with_suggestions() {
        let text = "thread t\ninitial q\ntransition q0 q1 wriet 1 0\ntransition q1 q2 write 1\ntransition q2 q0 read 5x 0\n\
                    trnasition q0 q0 noop\nend\nthread t\ninitial q0\ntransition q0 q0 noop\nend\n";
        assert_eq!(
            errors(text),
            [
                "3: expected an instruction, found `wriet`; did you mean `write`?",
                "5: expected an expression, found `transition`",
                "5: `5x` is not a register: a number stands at its beginning",
                "6: expected a transition, found `trnasition`; did you mean `transition`?",
                "8: there is already a thread named `t`",
            ]
        );
    }

    #[test]
    fn initial_states() {
        assert_eq!(
            errors("thread t\ninitial q00\ntransition q01 q0 noop\nend"),
            ["2: the initial state `q00` occurs in no transition; did you mean `q01`?"]
        );
        assert_eq!(errors("thread t\nend"), ["1: the thread `t` has no initial state"]);
        assert_eq!(errors("thread t\ninitial q"), ["1: the thread `t` has no `end`"]);
        assert_eq!(errors(" # nothing\n"), ["2: there is no thread in this text"]);
    }

    #[test]
    fn deep_expressions_are_refused() {
        let text = format!("thread t\ninitial a\ntransition a a check {} 1\nend", "! ".repeat(1_000_000));
        assert_eq!(errors(&text), ["3: the expression is nested deeper than 200 levels"]);
    }
}
