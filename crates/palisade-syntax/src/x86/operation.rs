//! Operations and conditions, without their names.

/// What a conditional instruction asks of the flags, and whether it asks for the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionCode {
    /// The test.
    pub test: FlagTest,
    /// Whether it must fail.
    pub negated: bool,
}

/// A test of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagTest {
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
pub enum Operation {
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
    /// Shifts right.
    ShiftRight {
        /// Whether copies of the sign come in, and not zeros.
        signed: bool,
    },
    /// Moves bits in a circle, to the left.
    RotateLeft,
    /// Moves bits in a circle, to the right.
    RotateRight,
    /// Adds or subtracts, and the carry as well.
    WithCarry {
        /// Whether it subtracts.
        subtract: bool,
    },
    /// Subtracts from 0.
    Negate,
    /// Complements.
    Complement,
    /// Multiplies signed numbers: the first operand by the second, or the second by the third into
    /// the first. One operand alone multiplies the accumulator, and the product has twice as many
    /// bits.
    Multiply,
    /// Multiplies the accumulator as an unsigned number; the product has twice as many bits.
    MultiplyUnsigned,
    /// Divides a number of twice as many bits; the quotient goes into the accumulator, the rest
    /// beside it.
    Divide {
        /// Whether the numbers are signed.
        signed: bool,
    },
    /// Seeks a bit that is set.
    Scan(Scan),
    /// Counts the bits that are set.
    CountOnes,
    /// Reverses the bytes.
    SwapBytes,
    /// Copies a narrower operand.
    Extend {
        /// The bits of the source.
        from: u8,
        /// Whether copies of its sign come before it, and not zeros.
        signed: bool,
    },
    /// Puts one bit into the carry and changes it.
    BitTest(BitChange),
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

/// Which bit is sought, and what comes of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// `bsf`: the lowest one; 0 leaves the destination alone.
    Lowest,
    /// `bsr`: the highest one; 0 leaves the destination alone.
    Highest,
    /// `tzcnt`: the zeros below the lowest one. Older processors take it for `bsf`.
    ZerosBelow,
    /// `lzcnt`: the zeros above the highest one.
    ZerosAbove,
}

/// What a bit test does to its bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitChange {
    /// Nothing.
    Keep,
    /// Sets it.
    Set,
    /// Clears it.
    Clear,
    /// Flips it.
    Flip,
}

/// Two-operand arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Arithmetic {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

impl Operation {
    /// The least and the largest number of operands.
    pub fn operand_counts(self) -> (usize, usize) {
        match self {
            Self::Move
            | Self::Exchange
            | Self::ExchangeAdd
            | Self::CompareExchange
            | Self::Arithmetic(_)
            | Self::Compare
            | Self::Test
            | Self::WithCarry { .. }
            | Self::Extend { .. }
            | Self::BitTest(_)
            | Self::Scan(_)
            | Self::CountOnes
            | Self::ConditionalMove(_) => (2, 2),
            Self::Increment
            | Self::Decrement
            | Self::Set(_)
            | Self::Negate
            | Self::Complement
            | Self::MultiplyUnsigned
            | Self::Divide { .. }
            | Self::SwapBytes => (1, 1),
            Self::Multiply => (1, 3),
            Self::ShiftLeft | Self::ShiftRight { .. } | Self::RotateLeft | Self::RotateRight => (1, 2),
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
    pub fn may_be_locked(self) -> bool {
        matches!(
            self,
            Self::Exchange
                | Self::ExchangeAdd
                | Self::CompareExchange
                | Self::Increment
                | Self::Decrement
                | Self::Arithmetic(_)
                | Self::WithCarry { .. }
                | Self::Negate
                | Self::Complement
                | Self::BitTest(BitChange::Set | BitChange::Clear | BitChange::Flip)
        )
    }

    /// Whether it moves bits by a count, which is a number or in `cl`.
    pub fn has_count(self) -> bool {
        matches!(self, Self::ShiftLeft | Self::ShiftRight { .. } | Self::RotateLeft | Self::RotateRight)
    }

    /// Whether it writes its first operand.
    pub fn writes_first(self) -> bool {
        !matches!(
            self,
            Self::Compare | Self::Test | Self::BitTest(BitChange::Keep) | Self::MultiplyUnsigned | Self::Divide { .. }
        )
    }
}
