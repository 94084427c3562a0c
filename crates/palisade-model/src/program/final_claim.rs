//! What must hold of memory in the end.

use super::domain::{Domain, Value};
use super::expression::Expression;
use crate::text::Span;

/// What must hold of memory in each state in which every store has reached it, and each copy has
/// ended or may wait for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalClaim {
    /// The condition: register i is what memory holds at the address [`reads`](Self::reads)`[i]`.
    pub condition: Expression,
    /// The addresses that it reads, each once.
    pub reads: Vec<Value>,
    /// Where the text states it.
    pub span: Span,
}

impl FinalClaim {
    /// Whether it holds of a memory. A condition without a value, as of a division by 0, does not.
    pub fn holds(&self, domain: Option<Domain>, memory: impl Fn(Value) -> Value) -> bool {
        let held: Vec<Value> = self.reads.iter().map(|address| memory(*address)).collect();
        self.condition.holds(&held, domain).unwrap_or(false)
    }
}
