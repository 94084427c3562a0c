//! The orderings in the text of one access or fence, and other ones in their place.

use palisade_model::program::{Operation, Ordering};
use std::ops::Range;

/// A stretch of a text, in bytes, with what comes in its place.
pub(crate) type Replacement = (Range<usize>, String);

/// What stands before an ordering in C.
const IN_C: &str = "memory_order_";

/// Lets a stretch of a text say an operation with other orderings than it has: a call gets them as
/// its last operands, `mfence` and, in a body in braces, a load by its name become calls. Nothing
/// where the text is of another form.
pub(crate) fn reordered(text: &str, operation: &Operation, is_braced: bool) -> Option<Replacement> {
    if let Some(call) = Call::of(text, operation) {
        let prefix = if call.is_of_c { IN_C } else { "" };
        let mut words = format!("{prefix}{}", operation.ordering());
        let is_named_anew = call.is_of_c && call.orderings == 0;
        if let Operation::Update { expected: Some(_), success, failure, .. } = operation
            && (call.orderings > 1 || is_named_anew || *failure != success.of_failure())
        {
            words.push_str(&format!(", {prefix}{failure}"));
        }
        return match call.operands.len() - call.orderings {
            rest if call.orderings > 0 => {
                let (first, last) = (&call.operands[rest], &call.operands[call.operands.len() - 1]);
                Some((first.start..last.end, words))
            }
            // Without an ordering, functions of C have another name.
            _ if is_named_anew => {
                let open = call.start + text[call.start..].find('(')?;
                let name = text[call.start..open].trim_end();
                Some((call.start..call.end, format!("{name}_explicit{}, {words}", &text[open..call.end])))
            }
            _ => Some((call.end..call.end, format!(", {words}"))),
        };
    }
    match operation {
        Operation::Fence { ordering } => {
            let at = text.find("mfence")?;
            Some((at..at + "mfence".len(), format!("fence({ordering})")))
        }
        Operation::Load { ordering, .. } if is_braced && is_place(text) => {
            Some((0..text.len(), format!("load({text}, {ordering})")))
        }
        _ => None,
    }
}

/// The stretch of a text that is a fence.
pub(crate) fn fence(text: &str) -> Option<Range<usize>> {
    let name = text.split('(').next().unwrap_or_default();
    if is_kernel_fence(name.trim_end()) {
        return text.find(')').map(|close| 0..close + 1);
    }
    match Call::of(text, &Operation::Fence { ordering: Ordering::SeqCst }) {
        Some(call) => Some(call.start..call.end + 1),
        None => text.find("mfence").map(|at| at..at + "mfence".len()),
    }
}

/// Whether a call of a name is a fence of the Linux kernel.
pub(crate) fn is_kernel_fence(name: &str) -> bool {
    matches!(name, "mb" | "smp_acquire__after_ctrl_dep" | "smp_mb" | "smp_rmb" | "smp_wmb")
        || name.starts_with("smp_mb__")
}

/// The statement that a fence in a stretch of a text is, with its semicolon.
pub(crate) fn fence_statement(text: &str, from: Range<usize>) -> Option<Range<usize>> {
    let own = fence(&text[from.clone()])?;
    let (start, end) = (from.start + own.start, from.start + own.end);
    let behind = text[end..].find(|c: char| !c.is_whitespace()).filter(|at| text[end + at..].starts_with(';'))?;
    Some(start..end + behind + 1)
}

/// Whether a text names an address: `x`, `x[i]`.
fn is_place(text: &str) -> bool {
    let name = text.split('[').next().unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.contains('(')
}

/// A call that is an access or a fence.
pub(crate) struct Call {
    /// Where its name begins.
    start: usize,
    /// Its operands, without the blanks around them.
    pub(crate) operands: Vec<Range<usize>>,
    /// How many of the last ones are orderings.
    orderings: usize,
    /// Where its closing parenthesis stands.
    end: usize,
    /// Whether it is a function of C.
    is_of_c: bool,
}

impl Call {
    /// The first call in a text that may be an operation.
    fn of(text: &str, operation: &Operation) -> Option<Self> {
        let mut at = 0;
        while let Some(found) = text[at..].find('(') {
            let open = at + found;
            let before = text[..open].trim_end();
            let is_letter = |c: char| c.is_alphanumeric() || c == '_';
            let start = before.rfind(|c| !is_letter(c)).map_or(0, |last| last + 1);
            if is_call_of(&before[start..], operation) {
                return Self::operands(text, start, open);
            }
            at = open + 1;
        }
        None
    }

    /// The call whose name begins at a byte, and whose operands begin behind another one.
    pub(crate) fn operands(text: &str, start: usize, open: usize) -> Option<Self> {
        let (mut depth, mut from, mut operands) = (0, open + 1, Vec::new());
        for (at, letter) in text[open..].char_indices().map(|(at, letter)| (open + at, letter)) {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                ',' if depth == 1 => {
                    operands.push(trimmed(text, from..at));
                    from = at + 1;
                }
                _ => {}
            }
            if depth == 0 {
                operands.push(trimmed(text, from..at));
                let ordering = |operand: &&Range<usize>| {
                    let word = &text[(*operand).clone()];
                    word == "consume" || Ordering::named(word.strip_prefix(IN_C).unwrap_or(word)).is_some()
                };
                let orderings = operands.iter().rev().take_while(ordering).count();
                let is_of_c = text[start..].starts_with("atomic_");
                return Some(Self { start, operands, orderings, end: at, is_of_c });
            }
        }
        None
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let own = &text[range.clone()];
    let start = range.start + (own.len() - own.trim_start().len());
    start..start + own.trim().len()
}

/// Whether a call of a name may be an operation.
fn is_call_of(name: &str, operation: &Operation) -> bool {
    let name = name.strip_prefix("atomic_").unwrap_or(name);
    let name = name.strip_suffix("_explicit").unwrap_or(name);
    match operation {
        Operation::Load { .. } => matches!(name, "load" | "await"),
        Operation::Store { .. } => name == "store",
        Operation::Update { expected: Some(_), .. } => {
            matches!(name, "cas" | "weak_cas" | "await_cas") || name.starts_with("compare_exchange")
        }
        Operation::Update { expected: None, .. } => {
            matches!(name, "xchg" | "rmw" | "exchange") || name.starts_with("fetch_")
        }
        Operation::Fence { .. } => matches!(name, "fence" | "thread_fence"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::program::{Expression, RegisterId};

    fn changed(text: &str, operation: &Operation) -> Option<String> {
        let (range, new) = reordered(text, operation, true)?;
        Some(format!("{}{new}{}", &text[..range.start], &text[range.end..]))
    }

    fn update(expected: Option<Expression>, success: Ordering, failure: Ordering) -> Operation {
        let (address, new) = (Expression::Constant(0), Expression::Old);
        Operation::Update { register: None, address, expected, new, success, failure, until: None, spurious: None }
    }

    #[test]
    fn orderings_are_replaced_where_they_stand() {
        use Ordering::{Acquire, Relaxed, Release, SeqCst};
        let (register, address) = (RegisterId::from_index(0), Expression::Constant(0));
        let load = |ordering| Operation::Load { register, address: address.clone(), ordering, until: None };
        let store = |ordering| {
            let (address, value) = (address.clone(), Expression::Constant(1));
            Operation::Store { address, value, ordering }
        };
        let cas = |success, failure| update(Some(Expression::Constant(0)), success, failure);
        for (text, operation, wanted) in [
            ("load(x, acquire)", load(Relaxed), "load(x, relaxed)"),
            ("x", load(Acquire), "load(x, acquire)"),
            ("x[i + 1]", load(Acquire), "load(x[i + 1], acquire)"),
            ("store(x, load(y, acquire), release);", store(Relaxed), "store(x, load(y, acquire), relaxed);"),
            ("store(x, load(y, acquire), release);", load(Relaxed), "store(x, load(y, relaxed), release);"),
            ("cas(x, 0, f(1, 2), acq_rel)", cas(Acquire, Acquire), "cas(x, 0, f(1, 2), acquire)"),
            ("cas(x, 0, 1, acq_rel)", cas(Acquire, Relaxed), "cas(x, 0, 1, acquire, relaxed)"),
            ("weak_cas(x, 0, 1)", cas(Release, Relaxed), "weak_cas(x, 0, 1, release)"),
            ("cas(x, 0, 1, acq_rel, acquire)", cas(Relaxed, Relaxed), "cas(x, 0, 1, relaxed, relaxed)"),
            (
                "r <- fetch_add(mem[x], 1, seq_cst)",
                update(None, Relaxed, Relaxed),
                "r <- fetch_add(mem[x], 1, relaxed)",
            ),
            ("mfence", Operation::Fence { ordering: Acquire }, "fence(acquire)"),
            ("fence(seq_cst);", Operation::Fence { ordering: Release }, "fence(release);"),
            (
                "r0 = atomic_load_explicit(x, memory_order_acquire);",
                load(SeqCst),
                "r0 = atomic_load_explicit(x, memory_order_seq_cst);",
            ),
        ] {
            assert_eq!(changed(text, &operation).as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(changed("x = 1", &store(Release)), None);
        let explicit = "atomic_load_explicit(x, memory_order_acquire)";
        assert_eq!(changed("atomic_load(x)", &load(Acquire)).as_deref(), Some(explicit));
        let explicit = "atomic_compare_exchange_strong_explicit(x, &r, 1, memory_order_acquire, memory_order_acquire)";
        let strong = changed("atomic_compare_exchange_strong(x, &r, 1)", &cas(Acquire, Acquire));
        assert_eq!(strong.as_deref(), Some(explicit));
    }

    #[test]
    fn a_fence_is_a_statement() {
        let text = "{ fence (acquire) ; object = 1; mfence; }";
        let found = |from| fence_statement(text, from).map(|range| &text[range]);
        assert_eq!(found(2..17), Some("fence (acquire) ;"));
        assert_eq!(found(32..38), Some("mfence;"));
        assert_eq!(fence_statement("fence(acquire)", 0..14), None);
        assert_eq!(fence("l: fence(acquire); goto m"), Some(3..17));
    }
}
