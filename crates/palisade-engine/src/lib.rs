//! What answers about programs: robustness, properties, and the cheapest fences.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`compilations`] | whether orderings suffice for every compilation of the sources of machine code | – |
//! | `decide` | the schedules by which methods take turns, side by side | – |
//! | [`robustness`] | which attacks are feasible, verdict, witness, certificate | `decide` |
//! | [`fences`] | eliminating sets, the 0/1 program, costs | `decide`, `robustness` |
//! | [`properties`] | proofs and violations of properties, races, fences for properties | `decide`, `robustness`, `fences` |
//! | [`hangs`] | stuck states: computations to them, proofs that there are none | `robustness`, `properties` |
//!
//! What is explored stands in `palisade-exploration`; the nets of attacks are answered by
//! `palisade-coverability`. Everything here may be wrong without a wrong verdict: each answer
//! carries evidence that `palisade-verify` checks.

pub mod compilations;
mod decide;
pub mod fences;
pub mod hangs;
pub mod properties;
pub mod robustness;
