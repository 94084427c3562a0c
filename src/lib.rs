//! Palisade proves concurrent programs robust against the x86-TSO memory model for any number of
//! threads, shows a violation where there is one, and repairs it with the cheapest fences.
//!
//! A program is robust when every TSO computation has the trace of an SC computation. Robustness
//! fails exactly when an *attack* is feasible; feasibility is SC reachability in an instrumented
//! program; for any number of threads that is coverability in a Petri net. ARCHITECTURE.md draws
//! the house; data flows downwards through the modules below.
//!
//! # The library
//!
//! Texts and files become a [`Program`](program::Program) by [`syntax::read`] and a
//! [`Problem`](net::Problem) by [`net::read`]; both can be built in code. [`robustness::check`]
//! decides a program, [`fences::repair`] repairs it, [`coverability::solve`] answers a net, and
//! [`verify`] checks the evidence of any of these without knowing how it was found.
//!
//! ```
//! use palisade::program::{Copies, SourceText};
//! use palisade::robustness::{CheckOptions, Verdict, certificate, check};
//! use palisade::syntax::{Format, read};
//! use palisade::verify::check_robust_certificate;
//!
//! let text = "program Pair address x, y
//!     thread left [*] regs r init a begin a: mem[x] <- 1; b: mfence; c: r <- mem[y]; end
//!     thread right [*] regs r init a begin a: mem[y] <- 1; b: mfence; c: r <- mem[x]; end";
//! let program = read(SourceText::new("pair.pal", text), Format::Native).expect("a program").program;
//! assert!(program.threads.iter().all(|thread| thread.copies == Copies::Any));
//!
//! let checked = check(&program, &CheckOptions::default()).expect("no value grows");
//! assert_eq!(checked.verdict, Verdict::Robust);
//! let evidence = certificate(&program, &checked).expect("robust programs have one");
//! check_robust_certificate(&program, &evidence).expect("it shows what it claims");
//! ```
//!
//! `examples/` has a program that is built in code, a net, fences with the changed text, and
//! evidence that travels. The crates behind the modules can be taken one by one: a program that
//! only checks evidence takes `palisade-verify`, which cannot name the engine.
//!
//! # Features
//!
//! `cli`, on by default, is the command with what it needs (clap, progress, plots, pages). Without
//! it the package is the library alone. `machine`, on by default, reads machine code
//! ([`machine::read`]). `oracles` adds brute-force oracles for properties, PSO and races, and
//! random programs, to test other tools with.
//!
//! # References
//!
//! Code cites the literature by these tags.
//!
//! - `[ESOP13]` A. Bouajjani, E. Derevenetc, R. Meyer. *Checking and Enforcing Robustness against
//!   TSO*. ESOP 2013, LNCS 7792; extended version arXiv:1208.6152.
//! - `[X86TSO]` P. Sewell, S. Sarkar, S. Owens, F. Zappa Nardelli, M. O. Myreen. *x86-TSO: A
//!   Rigorous and Usable Programmer's Model for x86 Multiprocessors*. CACM 53(7), 2010.
//! - `[SDM]` Intel. *Intel 64 and IA-32 Architectures Software Developer's Manual*, volume 2:
//!   *Instruction Set Reference*. Order number 325383.
//! - `[KM69]` R. M. Karp, R. E. Miller. *Parallel Program Schemata*. JCSS 3(2), 1969.
//! - `[TARJAN72]` R. Tarjan. *Depth-First Search and Linear Graph Algorithms*. SIAM Journal on
//!   Computing 1(2), 1972.
//! - `[GK79]` A. Goralčíková, V. Koubek. *A Reduct-and-Closure Algorithm for Graphs*. MFCS 1979,
//!   LNCS 74.
//! - `[MS82]` J. Martinez, M. Silva. *A Simple and Fast Algorithm to Obtain All Invariants of a
//!   Generalised Petri Net*. Application and Theory of Petri Nets 1981, Informatik-Fachberichte
//!   52, 1982.
//! - `[KO92]` A. V. Kovalyov. *Concurrency Relations and the Safety Problem for Petri Nets*.
//!   Application and Theory of Petri Nets 1992, LNCS 616.
//! - `[AC96]` P. A. Abdulla, K. Čerāns, B. Jonsson, Y.-K. Tsay. *General Decidability Theorems for
//!   Infinite-State Systems*. LICS 1996.
//! - `[ECOOP10]` S. Owens. *Reasoning about the Implementation of Concurrency Abstractions on
//!   x86-TSO*. ECOOP 2010, LNCS 6183.
//! - `[ME96]` S. Melzer, J. Esparza. *Checking System Properties via Integer Programming*. ESOP
//!   1996, LNCS 1058.
//! - `[EM00]` J. Esparza, S. Melzer. *Verification of Safety Properties Using Integer Programming:
//!   Beyond the State Equation*. Formal Methods in System Design 16(2), 2000.
//! - `[HN01]` J. Hoffmann, B. Nebel. *The FF Planning System: Fast Plan Generation Through
//!   Heuristic Search*. JAIR 14, 2001.
//! - `[FG05]` A. Finkel, G. Geeraerts, J.-F. Raskin, L. Van Begin. *A Counter-Example to the
//!   Minimal Coverability Tree Algorithm*. Technical report 535, Université Libre de
//!   Bruxelles, 2005.
//! - `[FH15]` E. Fraca, S. Haddad. *Complexity Analysis of Continuous Petri Nets*. Fundamenta
//!   Informaticae 137(1), 2015.
//! - `[AABN18]` P. A. Abdulla, M. F. Atig, A. Bouajjani, T. P. Ngo. *A Load-Buffer Semantics for
//!   Total Store Ordering*. LMCS 14(1:9), 2018.
//! - `[FASE15]` A. Bouajjani, G. Calin, E. Derevenetc, R. Meyer. *Lazy TSO Reachability*. FASE
//!   2015, LNCS 9033.
//! - `[FM15]` S. Joshi, D. Kroening. *Property-Driven Fence Insertion using Reorder Bounded Model
//!   Checking*. FM 2015, LNCS 9109.
//! - `[RC11]` O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur, D. Dreyer. *Repairing Sequential
//!   Consistency in C/C++11*. PLDI 2017, for the axioms of C11.
//! - `[IMM19]` A. Podkopaev, O. Lahav, V. Vafeiadis. *Bridging the Gap between Programming
//!   Languages and Hardware Weak Memory Models*. POPL 2019.
//! - `[RA19]` O. Lahav, R. Margalit. *Robustness against Release/Acquire Semantics*. PLDI 2019, for
//!   the question about execution graphs.
//! - `[NETYS17]` E. Derevenetc, R. Meyer, S. Schweizer. *Locality and Singularity for Store-Atomic
//!   Memory Models*. NETYS 2017, LNCS 10299; extended version arXiv:1703.04603.
//! - `[NETYS18]` A. Bouajjani, C. Enea, M. Mukund, R. Roy. *On Verifying TSO Robustness for
//!   Event-Driven Asynchronous Programs*. NETYS 2018, LNCS 11028.
//! - `[ASPLOS18]` J. Alglave, L. Maranget, P. E. `McKenney`, A. Parri, A. Stern. *Frightening Small
//!   Children and Disconcerting Grown-ups: Concurrency in the Linux Kernel*. ASPLOS 2018.
//! - `[LG17]` N. Lipovetzky, H. Geffner. *Best-First Width Search: Exploration and Exploitation in
//!   Classical Planning*. AAAI 2017.

#[cfg(feature = "cli")]
pub mod cli;

pub mod questions;

pub use palisade_concurrency as concurrency;
pub use palisade_coverability as coverability;
pub use palisade_engine::{compilations, fences, hangs, properties, robustness};
pub use palisade_evidence as evidence;
#[cfg(feature = "machine")]
pub use palisade_machine as machine;
pub use palisade_model::{limits, program, text};
pub use palisade_semantics as semantics;
pub use palisade_syntax as syntax;
pub use palisade_verify as verify;

/// Petri nets and markings; readers and writers of the field's formats.
pub mod net {
    pub use palisade_model::net::*;
    pub use palisade_net_formats::*;
}

/// What commands say: text and documents; pages, pictures and what other tools read.
pub mod report {
    pub use palisade_exports::*;
    pub use palisade_report::*;
}
