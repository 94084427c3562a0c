//! x86 instructions: registers, forms and what each form does, in one table.
//!
//! [`meaning`] is the table. It takes a [`Form`] – an operation, its width, its operands,
//! destination first – to a [`Meaning`]: what the instruction does to memory, and what registers
//! and flags hold after it, each as an expression over the state *before* it. So no order of
//! assignments has to be kept, and operands that overlap need no care. The table knows no text:
//! readers of litmus tests and of other things share it. [`vector_meaning`] is the part of it about
//! registers of 16 bytes. `tests/suite/processor` compares every form with the processor.

pub mod automaton;
pub mod code;
pub mod fold;
mod form;
pub mod lowerer;
mod meaning;
mod operation;
mod parts;
pub mod registers;

pub use form::{Form, FormError, HIGH_BYTE_BESIDE_EXTENDED, Place};
pub use meaning::{
    Access, Meaning, VectorForm, VectorOperation, Write, condition, meaning, vector_mask, vector_meaning,
};
pub use operation::{Arithmetic, BitChange, ConditionCode, FlagTest, Operation, Scan};
pub use parts::{Atom, Flag, Half, Machine, SCRATCH};

/// The syntax and register width of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// 32-bit registers, destination first.
    X86,
    /// 64-bit registers, destination last.
    #[allow(non_camel_case_types, reason = "the architecture's name")]
    X86_64,
}

impl Architecture {
    /// The architecture of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "X86" => Some(Self::X86),
            "X86_64" => Some(Self::X86_64),
            _ => None,
        }
    }

    /// The name at the beginning of a test.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86 => "X86",
            Self::X86_64 => "X86_64",
        }
    }

    /// The width of a whole register.
    pub fn register_bits(self) -> u8 {
        match self {
            Self::X86 => 32,
            Self::X86_64 => 64,
        }
    }
}
