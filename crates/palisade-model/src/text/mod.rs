//! Texts that people write: places in them, and what readers find wrong there.
//!
//! Readers of programs and of nets take a [`SourceText`] and answer with [`Diagnostic`]s about
//! [`Span`]s of it. This room depends on no other.

mod diagnostic;
mod markup;
mod source;

pub use diagnostic::{Details, Diagnostic, Severity};
pub use markup::escaped;
pub use source::{Obstacle, Origin, Position, SourceText, Span};
