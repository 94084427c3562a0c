//! Functions of Rust's library through which a build without optimisation makes its atomic
//! accesses: what each does, and the orderings that it is called with.
//!
//! The library's methods hand their orderings on as numbers, which are constants wherever the
//! source names them. So nothing rests on the text of a source here.

use super::contexts::{ContextId, Contexts, Place};
use super::environment::{ARGUMENTS, Environment};
use super::knowledge::Knowledge;
use palisade_model::program::{Ordering, Value};
use std::collections::BTreeMap;

/// What a function of the library does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// It loads.
    Load,
    /// It stores.
    Store,
    /// It loads and stores.
    Update,
    /// It compares and exchanges.
    CompareExchange {
        /// Whether it may fail for no reason.
        is_weak: bool,
    },
    /// It is a fence.
    Fence,
}

/// A call of such a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtomicCall {
    /// What it does.
    pub(crate) made: Made,
    /// The ordering; nothing where it is no constant.
    pub(crate) ordering: Option<Ordering>,
    /// Of a compare-and-exchange: the ordering where it fails.
    pub(crate) failure: Option<Ordering>,
}

impl Made {
    /// What a function does, by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        // Newer symbols name a type's methods as `<Type>::method`.
        let name = name.trim_start_matches('<').strip_prefix("core::sync::atomic::")?;
        if name == "fence" {
            return Some(Self::Fence);
        }
        // A method of a type of atomics, or the function behind it, which the compiler may have put
        // into the method.
        let method = match name.strip_prefix("atomic_") {
            Some(function) => function.split("::<").next()?,
            None => name.strip_prefix("Atomic")?.rsplit("::").next()?,
        };
        Some(match method.trim_start_matches("fetch_") {
            "load" => Self::Load,
            "store" => Self::Store,
            "compare_exchange" => Self::CompareExchange { is_weak: false },
            "compare_exchange_weak" => Self::CompareExchange { is_weak: true },
            "swap" | "add" | "sub" | "and" | "nand" | "or" | "xor" | "max" | "min" | "umax" | "umin" | "ptr_add"
            | "ptr_sub" | "byte_add" | "byte_sub" => Self::Update,
            _ => return None,
        })
    }

    /// The registers that hold its orderings when it is called.
    fn orderings(self) -> (u8, Option<u8>) {
        let [first, second, third, fourth, fifth, _] = ARGUMENTS;
        match self {
            Self::Fence => (first, None),
            Self::Load => (second, None),
            Self::Store | Self::Update => (third, None),
            Self::CompareExchange { .. } => (fourth, Some(fifth)),
        }
    }
}

/// The ordering that a number of one byte stands for.
fn ordering(number: Value) -> Option<Ordering> {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    usize::try_from(number & 0xff)
        .ok()
        .and_then(|number| [Relaxed, Release, Acquire, AcqRel, SeqCst].get(number).copied())
}

/// The calls of such functions, by their chains of calls.
pub(crate) fn calls(
    places: &BTreeMap<Place, Environment>,
    contexts: &Contexts,
    knowledge: &Knowledge<'_>,
) -> BTreeMap<ContextId, AtomicCall> {
    let call = |(place, environment): (&Place, &Environment)| {
        if contexts.get(place.context).function != place.address {
            return None;
        }
        let names = knowledge.memory.image.functions_at(place.address);
        let made = names.into_iter().find_map(Made::named)?;
        let given = |family: u8| environment.family(family).constant().and_then(ordering);
        let (success, failure) = made.orderings();
        Some((place.context, AtomicCall { made, ordering: given(success), failure: failure.and_then(given) }))
    };
    places.iter().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_however_symbols_are_written() {
        let made = |name: &str| Made::named(name);
        assert_eq!(made("core::sync::atomic::atomic_load"), Some(Made::Load));
        assert_eq!(made("core::sync::atomic::atomic_store::<u32>"), Some(Made::Store));
        assert_eq!(made("core::sync::atomic::AtomicU32::swap"), Some(Made::Update));
        assert_eq!(made("<core::sync::atomic::AtomicU32>::fetch_or"), Some(Made::Update));
        assert_eq!(made("<core::sync::atomic::Atomic<u32>>::swap"), Some(Made::Update));
        let weak = Some(Made::CompareExchange { is_weak: true });
        assert_eq!(made("core::sync::atomic::AtomicPtr<T>::compare_exchange_weak"), weak);
        assert_eq!(made("core::sync::atomic::fence"), Some(Made::Fence));
        for other in ["core::sync::atomic::compiler_fence", "core::sync::atomic::AtomicU32::fetch_update", "mine::swap"]
        {
            assert_eq!(made(other), None, "{other}");
        }
    }
}
