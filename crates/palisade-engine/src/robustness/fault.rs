//! Faults of the program under analysis: errors of the user's input that only reachable steps show.

use palisade_model::program::{EvaluationError, InstructionId, Program, RegisterId, ThreadId, Value};

/// What takes more values than an analysis without a domain admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growing {
    /// A register of the fault's thread.
    Register(RegisterId),
    /// An address.
    Address(Value),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An expression has no value.
    Evaluation(EvaluationError),
    /// Values grow beyond the number of distinct values admitted without a domain.
    Growth {
        /// What grows.
        what: Growing,
        /// How many distinct values were admitted.
        limit: usize,
    },
    /// `r <- *` without a domain.
    HavocWithoutDomain,
}

/// A reachable step of the program that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The thread.
    pub thread: ThreadId,
    /// The instruction.
    pub instruction: InstructionId,
    /// What is wrong with it.
    pub kind: FaultKind,
}

impl Fault {
    /// Whether values grow, which a declared domain would mend.
    pub fn is_growth(&self) -> bool {
        matches!(self.kind, FaultKind::Growth { .. })
    }

    /// The fault in a sentence, with names.
    pub fn describe(&self, program: &Program) -> String {
        self.describe_as(program, "grows: it takes")
    }

    /// The fault in a sentence, where it is not known whether the program reaches it.
    pub fn describe_suspicion(&self, program: &Program) -> String {
        self.describe_as(program, "may grow: thread by thread, it seems to take")
    }

    fn describe_as(&self, program: &Program, grows: &str) -> String {
        let thread = program.thread(self.thread);
        let instruction = thread.instruction(self.instruction);
        let place = format!("thread `{}` at `{}`", thread.name, thread.label(instruction.source).name);
        match &self.kind {
            FaultKind::Evaluation(error) => format!("{error} ({place})"),
            FaultKind::HavocWithoutDomain => format!("`<- *` needs a declared domain ({place})"),
            FaultKind::Growth { what, limit } => {
                let what = match what {
                    Growing::Register(register) => {
                        format!("register `{}` of thread `{}`", thread.registers[register.index()].name, thread.name)
                    }
                    Growing::Address(address) => format!("address `{}`", program.address_name(*address)),
                };
                format!("{what} {grows} more than {limit} values ({place})")
            }
        }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> &'static str {
        match self.kind {
            FaultKind::Evaluation(EvaluationError::OutsideDomain { .. }) => {
                "declare a larger domain, or let it wrap: `domain LOW..HIGH wrap`, or `--wrap` on the command line"
            }
            FaultKind::Growth { .. }
            | FaultKind::HavocWithoutDomain
            | FaultKind::Evaluation(EvaluationError::Overflow) => {
                "declare the values it may take: `domain 0..7 wrap` in the program, or `--domain 0..7 --wrap`"
            }
            FaultKind::Evaluation(_) => "guard the instruction with an `assume`",
        }
    }
}
