//! What is made of answers for other tools, and to look at.
//!
//! | module | what it makes |
//! |---|---|
//! | [`findings`] | what a command has found, with a rule for each kind: the ground of the next two |
//! | [`sarif`] | SARIF 2.1.0 |
//! | [`junit`] | JUnit's XML |
//! | [`page`] | a page of HTML with everything in it |
//! | [`picture`] | SVG, DOT and Mermaid of computations |
//! | [`smtlib`] | obligations of certificates as scripts for solvers |
//!
//! All of it stands on the answers and the documents of `palisade-report`; nothing here reads or
//! writes files.

pub mod findings;
pub mod junit;
pub mod page;
pub mod picture;
pub mod sarif;
pub mod smtlib;
