//! Changes of C and C++ sources, by their tokens: what is not certain is refused.

use super::c_orderings::ordered;
use super::c_tokens::{Token, tokens};
use super::{Replacement, SourceChange, before};
use std::ops::Range;

/// The change at a byte of a file.
pub(super) fn replacement(
    text: &str,
    offset: usize,
    plus_plus: bool,
    change: SourceChange,
) -> Result<Replacement, String> {
    match change {
        SourceChange::Fence => {
            let fence = if plus_plus {
                "std::atomic_thread_fence(std::memory_order_seq_cst);"
            } else if text.contains("stdatomic.h") {
                "atomic_thread_fence(memory_order_seq_cst);"
            } else {
                "__atomic_thread_fence(__ATOMIC_SEQ_CST);"
            };
            let statement = statement(text, offset)?;
            if has_store(text, statement..offset) {
                return Err("a store stands in front of it in one statement: make two of it".to_owned());
            }
            Ok(before(text, statement, fence))
        }
        SourceChange::SeqCstStore => ordering(text, offset),
        SourceChange::Ordered { word, failing, from, to } => ordered(text, offset, (word, failing), (from, to)),
    }
}

/// Whether a part of a text has a whole call that stores.
fn has_store(text: &str, part: Range<usize>) -> bool {
    let (mut depth, mut of_store) = (0_usize, None);
    for token in tokens(text).iter().filter(|token| part.contains(&token.start)) {
        match token.text {
            "(" => depth += 1,
            ")" => {
                depth = depth.saturating_sub(1);
                if of_store == Some(depth) {
                    return true;
                }
            }
            word if of_store.is_none() && (word.contains("store") || word == "WRITE_ONCE") => of_store = Some(depth),
            _ => {}
        }
    }
    false
}

/// The ordering of the one store on a line made sequentially consistent.
fn ordering(text: &str, offset: usize) -> Result<Replacement, String> {
    const WEAK: [(&str, &str); 4] = [
        ("memory_order_relaxed", "memory_order_seq_cst"),
        ("memory_order_release", "memory_order_seq_cst"),
        ("__ATOMIC_RELAXED", "__ATOMIC_SEQ_CST"),
        ("__ATOMIC_RELEASE", "__ATOMIC_SEQ_CST"),
    ];
    let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let tokens: Vec<Token<'_>> = tokens(text).into_iter().filter(|token| (start..end).contains(&token.start)).collect();
    let is_other = |token: &Token<'_>| ["load", "exchange", "fetch"].iter().any(|word| token.text.contains(word));
    if tokens.iter().any(is_other) {
        return Err("the line has other accesses than the store".to_owned());
    }
    let weak: Vec<Replacement> = tokens
        .iter()
        .filter_map(|token| {
            let (_, strong) = WEAK.iter().find(|(weak, _)| *weak == token.text)?;
            Some(Replacement { start: token.start, end: token.start + token.text.len(), text: (*strong).to_owned() })
        })
        .collect();
    match weak.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err("the ordering of the store is not written on its line, or there are several".to_owned()),
    }
}

/// A brace that is open.
struct Open {
    /// Whether statements stand inside.
    is_block: bool,
    /// Whether it is the body of a `do`.
    of_do: bool,
    /// How many parentheses were open around it.
    parentheses: usize,
    /// Where the statement around it begins.
    statement: Option<usize>,
}

/// Where the statement around a byte begins.
fn statement(text: &str, offset: usize) -> Result<usize, String> {
    let tokens = tokens(text);
    let last = tokens.iter().rposition(|token| token.start <= offset).ok_or("no statement is there")?;
    if tokens[last].start + tokens[last].text.len() <= offset {
        return Err("the place is in a comment, a string or a macro's definition".to_owned());
    }
    let (mut open, mut parentheses): (Vec<Open>, usize) = (Vec::new(), 0);
    // The token with which the current statement begins.
    let mut begin: Option<usize> = None;
    // Whether a `do` has just ended, and whether the current statement is its condition.
    let (mut ended_do, mut is_condition) = (false, false);
    for (number, token) in tokens.iter().enumerate().take(last + 1) {
        let first = begin.is_none();
        let previous = number.checked_sub(1).map(|before| tokens[before].text);
        match token.text {
            "{" => {
                let of_block = [")", "else", "do", "{", "}", ";", ":", "try"];
                let is_block = previous.is_none_or(|previous| of_block.contains(&previous));
                open.push(Open { is_block, of_do: previous == Some("do"), parentheses, statement: begin });
                if is_block {
                    (begin, parentheses, ended_do, is_condition) = (None, 0, false, false);
                }
            }
            "}" => {
                let Some(closed) = open.pop() else { return Err("its braces do not match".to_owned()) };
                parentheses = closed.parentheses;
                begin = if closed.is_block && parentheses == 0 { None } else { closed.statement };
                ended_do = closed.of_do;
            }
            "(" | "[" => parentheses += 1,
            ")" | "]" => parentheses = parentheses.saturating_sub(1),
            ";" if parentheses == 0 && open.last().is_none_or(|open| open.is_block) => {
                // A loop without braces goes on behind its statement.
                ended_do = begin.is_some_and(|begin| tokens[begin].text == "do");
                (begin, is_condition) = (None, false);
                continue;
            }
            _ => {}
        }
        if first && begin.is_none() && !matches!(token.text, "{" | "}") {
            begin = Some(number);
            is_condition = ended_do && token.text == "while";
        }
    }
    let begin = begin.ok_or("no statement is there")?;
    if !open.first().is_some_and(|outermost| outermost.is_block) {
        return Err("the place is outside of functions".to_owned());
    }
    if is_condition {
        return Err("the place is in the condition of a do loop".to_owned());
    }
    match tokens[begin].text {
        "else" => Err("the statement is a branch without braces".to_owned()),
        "case" | "default" => Err("the statement follows a label of a switch".to_owned()),
        _ if tokens.get(begin + 1).is_some_and(|next| next.text == ":") => {
            Err("the statement follows a label".to_owned())
        }
        _ => Ok(tokens[begin].start),
    }
}

#[cfg(test)]
mod tests {
    use crate::edit::{SourceChange, changed};
    use palisade_model::text::Position;

    const SOURCE: &str = "\
#include <stdatomic.h>
#define PEEK(x) atomic_load(x)
static _Atomic int done, state = 1; /* ; { */

int wake(void) {
    atomic_store_explicit(&done, 1, memory_order_release);
    if (atomic_load(&state))
        return 1;
    else
        atomic_load(&state);
    for (int i = 0; i < 3; i++) {
        int copy[] = { 1, atomic_load(&state) };
    }
    do {
        done = 0;
    } while (atomic_load(&state));
    switch (done) {
    case 1:
        return atomic_load(&state);
    }
    return state;
}
";

    fn fenced(line: usize, word: &str) -> Result<usize, String> {
        let text = SOURCE.lines().nth(line - 1).expect("the line is there");
        let column = text.find(word).expect("the word is there") + 1;
        let after = changed("a.c", SOURCE, &[(Position { line, column }, SourceChange::Fence)])?;
        let is_fence = |line: &str| line.trim() == "atomic_thread_fence(memory_order_seq_cst);";
        let at = after.lines().position(is_fence).expect("a fence on a line of its own") + 1;
        let without: String = after.lines().filter(|line| !is_fence(line)).map(|line| format!("{line}\n")).collect();
        assert_eq!(without, SOURCE, "nothing else changes");
        Ok(at)
    }

    #[test]
    fn fences_stand_in_front_of_statements() {
        for (line, word, expected) in [
            (6, "done", 6),
            (7, "state", 7),
            (8, "return", 7),
            (11, "i < 3", 11),
            (12, "state", 12),
            (15, "done", 15),
            (17, "done", 17),
            (21, "state", 21),
        ] {
            assert_eq!(fenced(line, word), Ok(expected), "{line} {word}");
        }
    }

    #[test]
    fn a_store_in_the_same_statement_leaves_no_place() {
        let text = "void f(void) { int r = (atomic_store(&x, 1), atomic_load(&y)); }\n";
        let at = |word: &str| {
            let column = text.find(word).expect("it is there") + 1;
            changed("a.c", text, &[(Position { line: 1, column }, SourceChange::Fence)])
        };
        assert!(at("atomic_load").is_err_and(|why| why.contains("in one statement")));
        assert!(at("atomic_store").is_ok());
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        for (line, word) in [(2, "atomic"), (3, "state"), (10, "atomic"), (16, "atomic"), (19, "atomic")] {
            assert!(fenced(line, word).is_err(), "{line} {word}");
        }
    }

    #[test]
    fn stores_become_sequentially_consistent() {
        let at = |line| changed("a.c", SOURCE, &[(Position { line, column: 5 }, SourceChange::SeqCstStore)]);
        assert_eq!(at(6), Ok(SOURCE.replace("memory_order_release", "memory_order_seq_cst")));
        assert!(at(7).is_err(), "a load is no store");
    }
}
