//! What searches explore, and how. Nothing here decides a question or tells an answer;
//! `palisade-engine` does.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`lazy`] | forward exploration of nets that are built while they are explored | – |
//! | [`instrumented`] | attacks, and programs instrumented for them: as lazily built nets and as listed ones | `lazy` |
//! | [`buffered`] | programs with store buffers as lazily built nets; what values can come up, and what matters for a target | `lazy`, `instrumented` |
//! | [`hangs`] | programs with store buffers, for states in which nobody goes on | `lazy`, `instrumented`, `buffered` |
//! | [`states`] | searches over the states of the machine, for runs to a target | `lazy`, `buffered` |
//!
//! Nearly all time of a long search is spent here, which is why it is a crate: the profile
//! `release` translates it with care, and what asks quickly. So explorations are methods of what is
//! explored, and are translated with it. Like all that searches, it may be wrong without a wrong
//! verdict: each answer carries evidence that `palisade-verify` checks.

pub mod buffered;
pub mod hangs;
pub mod instrumented;
pub mod lazy;
pub mod states;
