//! Palisade proves concurrent programs robust against the x86-TSO memory model for any number of threads, shows a
//! violation where there is one, and repairs it with the cheapest fences.
//!
//! A program is robust when every TSO computation has the trace of an SC computation. Robustness fails exactly when
//! an *attack* is feasible; feasibility is SC reachability in an instrumented program; for any number of threads that
//! is coverability in a Petri net. ARCHITECTURE.md draws the house; data flows downwards through the modules below.
//!
//! # References
//!
//! Code cites the literature by these tags.
//!
//! - `[ESOP13]` A. Bouajjani, E. Derevenetc, R. Meyer. *Checking and Enforcing Robustness against TSO*. ESOP 2013,
//!   LNCS 7792; extended version arXiv:1208.6152.
//! - `[X86TSO]` P. Sewell, S. Sarkar, S. Owens, F. Zappa Nardelli, M. O. Myreen. *x86-TSO: A Rigorous and Usable
//!   Programmer's Model for x86 Multiprocessors*. CACM 53(7), 2010.
//! - `[KM69]` R. M. Karp, R. E. Miller. *Parallel Program Schemata*. JCSS 3(2), 1969.

pub mod cli;
pub mod report;

pub use palisade_engine::{coverability, fences, robustness};
pub use palisade_evidence as evidence;
pub use palisade_model::{limits, net, program, semantics};
pub use palisade_syntax as syntax;
pub use palisade_verify as verify;
