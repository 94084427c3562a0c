//! Machine code, its listings and its harness.

#[cfg(feature = "machine")]
mod code;
#[cfg(feature = "machine")]
mod compilations;
#[cfg(feature = "machine")]
mod copies;
mod crates;
#[cfg(feature = "machine")]
mod exceptions;
#[cfg(feature = "machine")]
mod fences;
#[cfg(feature = "machine")]
mod formats;
#[cfg(feature = "machine")]
mod heap;
#[cfg(feature = "machine")]
mod mutants;
#[cfg(feature = "machine")]
mod ordinary;
#[cfg(feature = "machine")]
mod package;
#[cfg(feature = "machine")]
mod parts;
#[cfg(feature = "machine")]
mod posix;
pub(crate) mod processor;
#[cfg(feature = "machine")]
mod reached;
#[cfg(feature = "machine")]
mod source_orderings;
mod source_repairs;
#[cfg(feature = "machine")]
mod stacks;
#[cfg(feature = "machine")]
mod traps;
#[cfg(feature = "machine")]
mod twins;
#[cfg(feature = "machine")]
mod unset;
#[cfg(feature = "machine")]
mod waits;
#[cfg(feature = "machine")]
mod ways;
