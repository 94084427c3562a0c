//! What Palisade's questions are about: programs and Petri nets, and the budgets of searches.
//! `palisade-semantics` says what programs mean.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`limits`] | budgets of time and memory, why a run stopped | – |
//! | [`decide`] | the scheduler: methods that take turns under growing budgets | `limits` |
//! | [`ordered`] | what is put in order once: sets and maps that are filled one by one, sorts of positions | – |
//! | [`text`] | source texts, places in them, diagnostics | – |
//! | [`program`] | threads as control-flow automata over integers or a finite domain | `ordered`, `text` |
//! | [`net`] | Petri nets and markings | `text` |
//!
//! Both the engine and the checker of its evidence stand on this crate; neither of them is known
//! here. The profile `release` does not optimise it: what searches ask at every step is marked
//! `#[inline]`, and so translated with the searches.

pub mod decide;
mod index_type;
pub mod limits;
pub mod net;
pub mod ordered;
pub mod program;
pub mod text;
