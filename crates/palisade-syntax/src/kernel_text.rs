//! The orderings in calls of the Linux kernel, which their names say, and calls with other ones in
//! their place.

use super::ordering_text::{Call, Replacement, is_kernel_fence};
use palisade_model::program::{Operation, Ordering};

/// The suffixes of updates.
const SUFFIXES: [&str; 3] = ["_relaxed", "_acquire", "_release"];

/// Lets the call that a text is say an operation with another ordering. Nothing where the kernel
/// has no such call, or where the text is no such call.
pub(crate) fn reordered(text: &str, operation: &Operation) -> Option<Replacement> {
    let open = text.find('(')?;
    let name = text[..open].trim_end();
    let call = Call::operands(text, 0, open)?;
    let operand = &text[call.operands.first()?.clone()];
    let lvalue = || operand.strip_prefix('&').map_or_else(|| format!("*{operand}"), str::to_owned);
    let address = || operand.strip_prefix('*').map_or_else(|| format!("&{operand}"), str::to_owned);
    let new = match (operation, operation.ordering()) {
        (Operation::Load { .. }, ordering) => match (name, ordering) {
            ("atomic_read_acquire", Ordering::Relaxed) => "atomic_read".to_owned(),
            ("atomic_read", Ordering::Acquire) => "atomic_read_acquire".to_owned(),
            ("smp_load_acquire", Ordering::Relaxed) => format!("READ_ONCE({}", lvalue()),
            ("READ_ONCE" | "rcu_dereference", Ordering::Acquire) => format!("smp_load_acquire({}", address()),
            _ => return None,
        },
        (Operation::Store { .. }, ordering) => match (name, ordering) {
            ("atomic_set_release", Ordering::Relaxed) => "atomic_set".to_owned(),
            ("atomic_set", Ordering::Release) => "atomic_set_release".to_owned(),
            ("rcu_assign_pointer", Ordering::Relaxed) => "WRITE_ONCE".to_owned(),
            ("smp_store_release", Ordering::Relaxed) => format!("WRITE_ONCE({}", lvalue()),
            ("WRITE_ONCE", Ordering::Release) => format!("smp_store_release({}", address()),
            _ => return None,
        },
        (Operation::Update { failure, .. }, ordering) => {
            let base = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix));
            let is_compare = matches!(base.unwrap_or(name), "cmpxchg" | "atomic_cmpxchg");
            // Without a suffix others have fences beside them.
            if base.is_none() && !is_compare || is_compare && *failure != Ordering::Relaxed {
                return None;
            }
            let suffix = match ordering {
                Ordering::SeqCst => String::new(),
                Ordering::Relaxed | Ordering::Acquire | Ordering::Release => format!("_{ordering}"),
                Ordering::AcqRel | Ordering::Plain => return None,
            };
            format!("{}{suffix}", base.unwrap_or(name))
        }
        (Operation::Fence { .. }, ordering) if is_kernel_fence(name) => match ordering {
            Ordering::SeqCst => "smp_mb".to_owned(),
            Ordering::Acquire => "smp_rmb".to_owned(),
            Ordering::Release => "smp_wmb".to_owned(),
            _ => return None,
        },
        (Operation::Fence { .. }, _) => return None,
    };
    let end = if new.contains('(') { call.operands[0].end } else { name.len() };
    Some((0..end, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::program::{Expression, RegisterId};

    #[test]
    fn calls_change_their_names() {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let (register, address) = (RegisterId::from_index(0), Expression::Constant(0));
        let load = |ordering| Operation::Load { register, address: address.clone(), ordering, until: None };
        let store = |ordering| Operation::Store { address: address.clone(), value: Expression::Constant(1), ordering };
        let update = |success| Operation::Update {
            register: None,
            address: address.clone(),
            expected: None,
            new: Expression::Old,
            success,
            failure: Relaxed,
            until: None,
            spurious: None,
        };
        let fence = |ordering| Operation::Fence { ordering };
        for (text, operation, wanted) in [
            ("smp_load_acquire(x)", load(Relaxed), Some("READ_ONCE(*x)")),
            ("smp_load_acquire(&x[1])", load(Relaxed), Some("READ_ONCE(x[1])")),
            ("READ_ONCE(*x)", load(Acquire), Some("smp_load_acquire(x)")),
            ("READ_ONCE(x[1])", load(Acquire), Some("smp_load_acquire(&x[1])")),
            ("READ_ONCE(*x)", load(SeqCst), None),
            ("atomic_read(x)", load(Acquire), Some("atomic_read_acquire(x)")),
            ("smp_store_release(x, f(1, 2))", store(Relaxed), Some("WRITE_ONCE(*x, f(1, 2))")),
            ("WRITE_ONCE(*x, READ_ONCE(*y))", store(Release), Some("smp_store_release(x, READ_ONCE(*y))")),
            ("smp_store_mb(*x, 1)", store(Release), None),
            ("spin_unlock(x)", store(Relaxed), None),
            ("xchg_acquire(x, 1)", update(Relaxed), Some("xchg_relaxed(x, 1)")),
            ("xchg_acquire(x, 1)", update(AcqRel), None),
            ("xchg(x, 1)", update(Relaxed), None),
            ("smp_wmb()", fence(SeqCst), Some("smp_mb()")),
            ("synchronize_rcu()", fence(Acquire), None),
        ] {
            let changed = reordered(text, &operation);
            let changed = changed.map(|(range, new)| format!("{}{new}{}", &text[..range.start], &text[range.end..]));
            assert_eq!(changed.as_deref(), wanted, "{text}");
        }
    }
}
