//! Orderings in C and C++ sources, by their tokens: which argument of which call says them.

use super::Replacement;
use super::c_tokens::{Token, tokens};
use palisade_model::program::Ordering;
use std::ops::Range;

/// The change of the ordering of an access, or a fence, at a byte of a file: `from` that which it
/// has, `to` that which it gets. A fence that gets `Relaxed` goes.
pub(super) fn ordered(
    text: &str,
    offset: usize,
    (word, failing): (&str, bool),
    (from, to): (Ordering, Ordering),
) -> Result<Replacement, String> {
    let tokens = tokens(text);
    let calls: Vec<Call> = (0..tokens.len()).filter_map(|name| Call::read(&tokens, name)).collect();
    let own: Vec<&Call> = calls.iter().filter(|call| kind(tokens[call.name].text) == Some(word)).collect();
    let line = |offset: usize| text[..offset].matches('\n').count();
    let is_around = |call: &&&Call| (tokens[call.name].start..=tokens[call.close].start).contains(&offset);
    let on_line: Vec<&&Call> = own.iter().filter(|call| line(tokens[call.name].start) == line(offset)).collect();
    let call = match (own.iter().filter(is_around).min_by_key(|call| call.close - call.name), on_line.as_slice()) {
        (Some(call), _) => call,
        (None, [call]) => call,
        (None, _) => return Err("no call of a function of atomics is certain there; it may be in a macro".to_owned()),
    };
    let name = tokens[call.name].text;
    let argument = call.arguments.get(call.argument(name, failing)?).expect("it is one of them").clone();
    let said = tokens[argument.clone()].last().copied().ok_or("an argument is missing")?;
    let written = Written::read(said.text, &tokens[argument]);
    let written = written.ok_or_else(|| format!("no constant stands in the place of the ordering of `{name}`"))?;
    if written.ordering != from {
        return Err("the source says another ordering than the code".to_owned());
    }
    if word == "fence" && to == Ordering::Relaxed {
        let before = call.name.checked_sub(1).map(|before| tokens[before].text);
        let is_alone =
            matches!(before, Some(";" | "{" | "}")) && tokens.get(call.close + 1).is_some_and(|end| end.text == ";");
        let end =
            tokens.get(call.close + 1).filter(|_| is_alone).ok_or("the fence is no statement by itself")?.start + 1;
        return Ok(super::without(text, tokens[call.name].start..end));
    }
    let new = written.style.word(to).ok_or("atomic accesses cannot be plain")?;
    Ok(Replacement { start: said.start, end: said.start + said.text.len(), text: new })
}

/// What a function or a method of atomics does, by its name, where it is told an ordering.
fn kind(name: &str) -> Option<&'static str> {
    let name = name.trim_start_matches("__atomic_").trim_start_matches("atomic_").trim_end_matches("_explicit");
    Some(match name {
        "load" | "load_n" => "load",
        "store" | "store_n" | "clear" | "flag_clear" => "store",
        "thread_fence" => "fence",
        "exchange" | "exchange_n" | "test_and_set" | "flag_test_and_set" => "update",
        name if name.starts_with("fetch_") || name.ends_with("_fetch") || name.starts_with("compare_exchange") => {
            "update"
        }
        _ => return None,
    })
}

/// A call.
struct Call {
    /// Its name, by number of a token.
    name: usize,
    /// The parenthesis that ends it.
    close: usize,
    /// The tokens of each argument.
    arguments: Vec<Range<usize>>,
}

impl Call {
    /// The call that begins with a token.
    fn read(tokens: &[Token<'_>], name: usize) -> Option<Self> {
        kind(tokens[name].text)?;
        if tokens.get(name + 1)?.text != "(" {
            return None;
        }
        let (mut depth, mut begin, mut arguments) = (0, name + 2, Vec::new());
        for (number, token) in tokens.iter().enumerate().skip(name + 1) {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 1 => {
                    arguments.push(begin..number);
                    begin = number + 1;
                }
                _ => {}
            }
            if depth == 0 {
                arguments.push(begin..number);
                return Some(Self { name, close: number, arguments });
            }
        }
        None
    }

    /// Which argument is the ordering; of an update that does not store, if `failing`.
    fn argument(&self, name: &str, failing: bool) -> Result<usize, String> {
        let count = self.arguments.len();
        let is_exchange = name.contains("compare_exchange");
        // Methods say one ordering or both.
        let is_method = !name.contains("atomic_");
        let distance = match (is_exchange, failing) {
            (true, true) if !is_method || count == 4 => 1,
            (true, false) if !is_method || count == 4 => 2,
            (_, false) => 1,
            (_, true) => return Err(format!("`{name}` is given no ordering for when it does not store")),
        };
        count.checked_sub(distance).ok_or_else(|| format!("`{name}` has too few arguments"))
    }
}

/// How orderings are written.
#[derive(Clone, Copy)]
enum Style {
    /// `memory_order_acquire`.
    C,
    /// `memory_order::acquire`.
    Scoped,
    /// `__ATOMIC_ACQUIRE`.
    Builtin,
}

impl Style {
    fn word(self, ordering: Ordering) -> Option<String> {
        let word = if ordering == Ordering::Plain { return None } else { ordering.word() };
        Some(match self {
            Self::C => format!("memory_order_{word}"),
            Self::Scoped => word.to_owned(),
            Self::Builtin => format!("__ATOMIC_{}", word.to_uppercase()),
        })
    }
}

/// An ordering that a source names.
struct Written {
    ordering: Ordering,
    style: Style,
}

impl Written {
    fn read(last: &str, argument: &[Token<'_>]) -> Option<Self> {
        let before: Vec<&str> = argument[..argument.len() - 1].iter().map(|token| token.text).collect();
        let (style, word) = if let Some(word) = last.strip_prefix("__ATOMIC_") {
            (Style::Builtin, word.to_lowercase())
        } else if let Some(word) = last.strip_prefix("memory_order_") {
            (Style::C, word.to_owned())
        } else {
            (Style::Scoped, last.to_owned())
        };
        let is_whole = match style {
            Style::Scoped => before.ends_with(&["memory_order", ":", ":"]),
            Style::C | Style::Builtin => before.is_empty() || before == ["std", ":", ":"],
        };
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let is_named = |ordering: &Ordering| ordering.word() == word;
        let ordering = match word.as_str() {
            "consume" => Acquire,
            _ => [Relaxed, Acquire, Release, AcqRel, SeqCst].into_iter().find(is_named)?,
        };
        is_whole.then_some(Self { ordering, style })
    }
}

#[cfg(test)]
mod tests {
    use crate::edit::{SourceChange, changed};
    use palisade_model::program::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
    use palisade_model::text::Position;

    const SOURCE: &str = "\
void f(void) {
    atomic_store_explicit(&done, load(1, 2), memory_order_release);
    if (__atomic_load_n(&state, __ATOMIC_RELAXED) && x.compare_exchange_strong(e, 1, std::memory_order_acq_rel))
        atomic_compare_exchange_weak_explicit(&s, &e, 1, memory_order_seq_cst, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    done.store(1, std::memory_order::release);
    atomic_load_explicit(&done, order);
    atomic_store(&done, 1);
    STORE(&done, 1);
}
";

    fn at(line: usize, word: &'static str, failing: bool, from: Ordering, to: Ordering) -> Result<String, String> {
        let column = SOURCE.lines().nth(line - 1).map_or(1, |line| line.len() - line.trim_start().len() + 1);
        changed("a.cpp", SOURCE, &[(Position { line, column }, SourceChange::Ordered { word, failing, from, to })])
    }

    #[test]
    fn orderings_are_arguments_of_calls() {
        let one = |old: &str, new: &str| Ok(SOURCE.replacen(old, new, 1));
        assert_eq!(at(2, "store", false, Release, SeqCst), one("memory_order_release", "memory_order_seq_cst"));
        assert_eq!(at(3, "load", false, Relaxed, Acquire), one("__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE"));
        assert_eq!(at(3, "update", false, AcqRel, Acquire), one("memory_order_acq_rel", "memory_order_acquire"));
        assert!(at(3, "update", true, Acquire, Relaxed).is_err(), "it says one ordering");
        assert_eq!(at(4, "update", false, SeqCst, AcqRel), one("memory_order_seq_cst", "memory_order_acq_rel"));
        assert_eq!(at(4, "update", true, Relaxed, Acquire), one("memory_order_relaxed", "memory_order_acquire"));
        assert_eq!(at(5, "fence", false, SeqCst, Relaxed), one("    atomic_thread_fence(memory_order_seq_cst);\n", ""));
        assert_eq!(at(6, "store", false, Release, SeqCst), one("memory_order::release", "memory_order::seq_cst"));
    }

    #[test]
    fn what_is_not_written_is_refused() {
        assert!(at(2, "store", false, Relaxed, SeqCst).is_err_and(|why| why.contains("another ordering")));
        assert!(at(7, "load", false, Relaxed, Acquire).is_err_and(|why| why.contains("no constant")));
        assert!(at(8, "store", false, SeqCst, Release).is_err_and(|why| why.contains("no constant")));
        assert!(at(9, "store", false, Relaxed, SeqCst).is_err_and(|why| why.contains("macro")));
    }
}
