//! Operations and conditions, without their names.

/// What a conditional instruction asks of the flags, and whether it asks for the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConditionCode {
    /// The test.
    pub(crate) test: FlagTest,
    /// Whether it must fail.
    pub(crate) negated: bool,
}

/// A test of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagTest {
    /// ZF: equal, zero.
    Equal,
    /// SF ≠ OF: less, signed.
    Less,
    /// ZF or SF ≠ OF: less or equal, signed.
    LessOrEqual,
    /// CF: below, carry.
    Below,
    /// CF or ZF: below or equal.
    BelowOrEqual,
    /// SF: sign.
    Sign,
    /// OF: overflow.
    Overflow,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Copies.
    Move,
    /// Exchanges; locked when one operand is in memory.
    Exchange,
    /// Exchanges, then adds.
    ExchangeAdd,
    /// Compares the accumulator and stores.
    CompareExchange,
    /// Adds one.
    Increment,
    /// Subtracts one.
    Decrement,
    /// Computes from two operands.
    Arithmetic(Arithmetic),
    /// Subtracts for the flags only.
    Compare,
    /// Conjoins for the flags only.
    Test,
    /// Shifts left.
    ShiftLeft,
    /// Goes to a label.
    Jump,
    /// Goes to a label under a condition.
    ConditionalJump(ConditionCode),
    /// Copies under a condition.
    ConditionalMove(ConditionCode),
    /// Writes whether a condition holds.
    Set(ConditionCode),
    /// `mfence`.
    MemoryFence,
    /// `sfence`.
    StoreFence,
    /// `lfence`.
    LoadFence,
    /// Does nothing, whatever its operands.
    Nop,
    /// Ends the thread.
    Return,
}

/// Two-operand arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

impl Operation {
    /// The least and the largest number of operands.
    pub(crate) fn operand_counts(self) -> (usize, usize) {
        match self {
            Self::Move
            | Self::Exchange
            | Self::ExchangeAdd
            | Self::CompareExchange
            | Self::Arithmetic(_)
            | Self::Compare
            | Self::Test
            | Self::ConditionalMove(_) => (2, 2),
            Self::Increment | Self::Decrement | Self::Set(_) => (1, 1),
            Self::ShiftLeft => (1, 2),
            Self::Nop => (0, 1),
            Self::Jump
            | Self::ConditionalJump(_)
            | Self::MemoryFence
            | Self::StoreFence
            | Self::LoadFence
            | Self::Return => (0, 0),
        }
    }

    /// Whether `lock` may stand before it, with a destination in memory.
    pub(crate) fn may_be_locked(self) -> bool {
        matches!(
            self,
            Self::Exchange
                | Self::ExchangeAdd
                | Self::CompareExchange
                | Self::Increment
                | Self::Decrement
                | Self::Arithmetic(_)
        )
    }

    /// Whether it writes its first operand.
    pub(crate) fn writes_first(self) -> bool {
        !matches!(self, Self::Compare | Self::Test)
    }
}
