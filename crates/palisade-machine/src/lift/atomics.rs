//! Functions through which a build without optimisation makes its atomic accesses: what each does,
//! and the orderings that it is called with.
//!
//! In Rust these are those of the library, in C and C++ those of the header `palisade_atomics.h`.
//! They are given their orderings as numbers, which are constants wherever the source names them.
//! So nothing rests on the text of a source here.

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
    /// Whether an ordering is `consume`, which counts as acquire.
    pub(crate) consumes: bool,
}

/// Whose numbers stand for orderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Rust,
    C,
}

/// How the names of the header's functions begin.
const OF_C: &str = "palisade_atomic_";

impl Made {
    /// What a function does, by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.strip_prefix(OF_C) {
            Some("fence") => Some(Self::Fence),
            // Behind the last line stands a size.
            Some(function) => Self::of_method(function.rsplit_once('_')?.0),
            None => Self::of_rust(name),
        }
    }

    fn of_rust(name: &str) -> Option<Self> {
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
        Self::of_method(method)
    }

    fn of_method(method: &str) -> Option<Self> {
        Some(match method.trim_start_matches("fetch_") {
            "load" => Self::Load,
            "store" => Self::Store,
            "compare_exchange" => Self::CompareExchange { is_weak: false },
            "compare_exchange_weak" => Self::CompareExchange { is_weak: true },
            "swap" | "exchange_n" | "add" | "sub" | "and" | "nand" | "or" | "xor" | "max" | "min" | "umax" | "umin"
            | "ptr_add" | "ptr_sub" | "byte_add" | "byte_sub" => Self::Update,
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

impl Numbers {
    /// The ordering that a number stands for: of one byte in Rust, of four in C.
    fn ordering(self, number: Value) -> Option<Ordering> {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let (bits, known): (_, &[Ordering]) = match self {
            Self::Rust => (0xff, &[Relaxed, Release, Acquire, AcqRel, SeqCst]),
            Self::C => (0xffff_ffff, &[Relaxed, Acquire, Acquire, Release, AcqRel, SeqCst]),
        };
        usize::try_from(number & bits).ok().and_then(|number| known.get(number).copied())
    }

    /// Whether a number stands for `consume`.
    fn is_consume(self, number: Value) -> bool {
        self == Self::C && number & 0xffff_ffff == 1
    }
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
        let (made, name) = names.into_iter().find_map(|name| Some((Made::named(name)?, name)))?;
        let numbers = if name.starts_with(OF_C) { Numbers::C } else { Numbers::Rust };
        let number = |family: u8| environment.family(family).constant();
        let given = |family: u8| number(family).and_then(|number| numbers.ordering(number));
        let (success, failure) = made.orderings();
        let consumes =
            [Some(success), failure].into_iter().flatten().filter_map(number).any(|own| numbers.is_consume(own));
        let call = AtomicCall { made, ordering: given(success), failure: failure.and_then(given), consumes };
        Some((place.context, call))
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
        assert_eq!(made("palisade_atomic_load_4"), Some(Made::Load));
        assert_eq!(made("palisade_atomic_fetch_nand_8"), Some(Made::Update));
        assert_eq!(made("palisade_atomic_compare_exchange_weak_1"), weak);
        assert_eq!(made("palisade_atomic_fence"), Some(Made::Fence));
        for other in [
            "core::sync::atomic::compiler_fence",
            "core::sync::atomic::AtomicU32::fetch_update",
            "mine::swap",
            "palisade_atomic_wait_4",
        ] {
            assert_eq!(made(other), None, "{other}");
        }
    }

    #[test]
    fn languages_have_their_own_numbers() {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let all =
            |numbers: Numbers| -> Vec<Option<Ordering>> { (0..7).map(|number| numbers.ordering(number)).collect() };
        let rust = [Relaxed, Release, Acquire, AcqRel, SeqCst].map(Some);
        assert_eq!(all(Numbers::Rust), [&rust[..], &[None, None]].concat());
        let c = [Relaxed, Acquire, Acquire, Release, AcqRel, SeqCst].map(Some);
        assert_eq!(all(Numbers::C), [&c[..], &[None]].concat());
    }
}
