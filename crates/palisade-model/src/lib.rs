//! What Palisade's questions are about: programs and Petri nets, what they mean, and the budgets of searches.
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`limits`] | budgets of time and memory, why a run stopped | – |
//! | [`ordered`] | what is put in order once: sets and maps that are filled one by one, sorts of positions | – |
//! | [`text`] | source texts, places in them, diagnostics | – |
//! | [`program`] | threads as control-flow automata over integers or a finite domain | `ordered`, `text` |
//! | [`semantics`] | operational SC, TSO and PSO, computations, traces, happens-before, the brute-force oracles for robustness, of threads and of event-driven programs, and for properties | `limits`, `ordered`, `program` |
//! | [`net`] | Petri nets and markings | `text` |
//!
//! Both the engine and the checker of its evidence stand on this crate; neither of them is known here.

mod index_type;
pub mod limits;
pub mod net;
pub mod ordered;
pub mod program;
pub mod semantics;
pub mod text;
