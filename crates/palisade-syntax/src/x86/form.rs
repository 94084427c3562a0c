//! Forms of instructions, and which of them the machine has.

use super::operation::Operation;
use super::registers::{MachineRegister, Part};
use palisade_model::program::Expression;

/// Where an operand is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A register or a part of one.
    Register(MachineRegister),
    /// Memory; the caller knows the address.
    Memory,
    /// A number of the instruction.
    Number(i128),
    /// A number of the instruction that is only known as an expression, such as an address.
    Address(Expression),
}

/// An instruction's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// What it does.
    pub operation: Operation,
    /// The bits it works on.
    pub bits: u8,
    /// Whether it has the `lock` prefix.
    pub locked: bool,
    /// Its operands, destination first.
    pub operands: Vec<Place>,
}

/// Why the machine has no such form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    /// The operand that is at fault, or the instruction.
    pub operand: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What there is instead.
    pub help: Option<String>,
}

impl FormError {
    fn instruction(message: impl Into<String>) -> Self {
        Self { operand: None, message: message.into(), help: None }
    }

    fn operand(operand: usize, message: impl Into<String>) -> Self {
        Self { operand: Some(operand), message: message.into(), help: None }
    }

    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Form {
    /// Whether the machine has the form. The number of operands is that of the operation.
    pub(super) fn check(&self) -> Result<(), FormError> {
        if self.operands.iter().filter(|place| **place == Place::Memory).count() > 1 {
            return Err(FormError::instruction("at most one operand can be in memory"));
        }
        let in_memory = self.operands.first() == Some(&Place::Memory);
        if self.locked && !(self.operation.may_be_locked() && in_memory) {
            return Err(FormError::instruction("this instruction cannot be locked here").with_help(
                "lock goes with xchg, xadd, cmpxchg, inc, dec, neg, not, add, sub, adc, sbb, and, or, xor, bts, btr and btc whose destination is in memory",
            ));
        }
        self.check_kinds()?;
        self.check_high_bytes()?;
        self.operands.iter().enumerate().try_for_each(|(index, place)| match place {
            Place::Number(number) => self.check_number(index, *number),
            _ => Ok(()),
        })
    }

    /// The operands that may be constants, registers and memory.
    fn check_kinds(&self) -> Result<(), FormError> {
        let is_constant = |place: &Place| matches!(place, Place::Number(_) | Place::Address(_));
        if self.operands.first().is_some_and(is_constant) {
            let message = if self.operation.writes_first() {
                "a constant cannot be written to"
            } else {
                "this operand is a register or in memory"
            };
            return Err(FormError::operand(0, message));
        }
        let Some(second) = self.operands.get(1) else { return self.check_one_operand() };
        match self.operation {
            Operation::Exchange => match second {
                second if is_constant(second) => Err(FormError::operand(1, "a constant cannot be written to")),
                _ => Ok(()),
            },
            Operation::ExchangeAdd | Operation::CompareExchange => match second {
                Place::Register(_) => Ok(()),
                _ => Err(FormError::operand(1, "the source of this instruction is a register")),
            },
            Operation::ConditionalMove(_) => {
                if self.bits < 16 {
                    return Err(FormError::instruction("there is no conditional move of 8 bits"));
                }
                if self.operands[0] == Place::Memory {
                    return Err(FormError::operand(0, "the destination of a conditional move is a register"));
                }
                match second {
                    second if is_constant(second) => {
                        Err(FormError::operand(1, "the source of a conditional move is a register or in memory"))
                    }
                    _ => Ok(()),
                }
            }
            Operation::Multiply => self.check_multiply(),
            Operation::Extend { from, .. } => match second {
                Place::Register(register) if register.part.bits() == from && from < self.bits => Ok(()),
                Place::Memory if from < self.bits => Ok(()),
                _ => Err(FormError::operand(1, "the source of this instruction is narrower than the destination")),
            },
            Operation::BitTest(_) => match second {
                _ if self.bits < 16 => Err(FormError::instruction("there is no bit test of 8 bits")),
                Place::Number(_) => Ok(()),
                Place::Register(_) if self.operands[0] != Place::Memory => Ok(()),
                _ => Err(FormError::operand(1, "the bit of a test in memory is given by a number here")),
            },
            Operation::Scan(_) | Operation::CountOnes => match (&self.operands[0], second) {
                _ if self.bits < 16 => Err(FormError::instruction("there is no search for bits in 8 bits")),
                (Place::Register(_), Place::Register(_) | Place::Memory) => Ok(()),
                _ => Err(FormError::operand(0, "bits are sought in a register or in memory, for a register")),
            },
            operation if operation.has_count() => match second {
                Place::Number(_) | Place::Register(MachineRegister { family: 1, part: Part::LowByte }) => Ok(()),
                _ => Err(FormError::operand(1, "a shift is by a number or by `cl`")),
            },
            _ => Ok(()),
        }
    }

    fn check_one_operand(&self) -> Result<(), FormError> {
        match self.operation {
            Operation::Divide { .. } if self.bits < 16 => {
                Err(FormError::instruction("divisions of 8 bits are not understood"))
            }
            Operation::SwapBytes if self.bits < 32 || self.operands[0] == Place::Memory => {
                Err(FormError::instruction("the bytes of registers of 32 and 64 bits are reversed"))
            }
            _ => Ok(()),
        }
    }

    fn check_multiply(&self) -> Result<(), FormError> {
        let is_register = |index: usize| matches!(self.operands[index], Place::Register(_));
        let is_number = |place: &Place| matches!(place, Place::Number(_));
        if self.bits < 16 {
            return Err(FormError::instruction("there is no such multiplication of 8 bits"));
        }
        if !is_register(0) {
            return Err(FormError::operand(0, "the destination of a multiplication is a register"));
        }
        match self.operands.get(2) {
            Some(third) if !is_number(third) => {
                Err(FormError::operand(2, "the third operand of a multiplication is a number"))
            }
            _ if !is_register(1) && self.operands[1] != Place::Memory => {
                Err(FormError::operand(1, "the second operand of a multiplication is a register or in memory"))
            }
            _ => Ok(()),
        }
    }

    /// The encoding has no room for a high byte beside a register that came with 64 bits.
    fn check_high_bytes(&self) -> Result<(), FormError> {
        let registers = || {
            self.operands.iter().enumerate().filter_map(|(index, place)| match place {
                Place::Register(register) => Some((index, *register)),
                _ => None,
            })
        };
        let high = registers().find(|(_, register)| register.part == Part::HighByte);
        match high {
            Some((index, _)) if registers().any(|(_, register)| register.is_extended()) => {
                Err(FormError::operand(index, HIGH_BYTE_BESIDE_EXTENDED))
            }
            _ => Ok(()),
        }
    }

    /// A number has to fit: 32 bits are sign-extended for operations of 64, save in a move to a
    /// register.
    fn check_number(&self, index: usize, number: i128) -> Result<(), FormError> {
        // A number of 64 bits is the same whether it is read as signed or not.
        let number = if number >> 63 == 1 { number - (1 << 64) } else { number };
        let is_move = self.operation == Operation::Move && matches!(self.operands[0], Place::Register(_));
        let counts = self.operation.has_count() || matches!(self.operation, Operation::BitTest(_));
        let (fits, what) = if counts {
            (fits(number, 8), "the 8 bits of a shift's count".to_owned())
        } else if self.bits < 64 {
            (fits(number, self.bits), format!("the {} bits of the operation", self.bits))
        } else if is_move {
            (i64::try_from(number).is_ok(), "64 bits".to_owned())
        } else {
            (i32::try_from(number).is_ok(), "the 32 bits that are sign-extended to 64 here".to_owned())
        };
        if fits {
            return Ok(());
        }
        let error = FormError::operand(index, format!("this number does not fit in {what}"));
        let moved = self.bits == 64 && !is_move && i64::try_from(number).is_ok();
        Err(if moved { error.with_help("move it to a register first") } else { error })
    }
}

/// Whether so many bits hold a number, signed or not.
fn fits(number: i128, bits: u8) -> bool {
    (-(1 << (bits - 1))..1 << bits).contains(&number)
}

/// Why a high byte is no operand beside some registers.
pub const HIGH_BYTE_BESIDE_EXTENDED: &str =
    "a high byte cannot stand beside `spl`, `bpl`, `sil`, `dil` or `r8` to `r15`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_signed_or_not() {
        assert!(fits(-128, 8) && fits(255, 8) && !fits(-129, 8) && !fits(256, 8));
        assert!(fits(-1 << 31, 32) && fits((1 << 32) - 1, 32) && !fits(1 << 32, 32));
    }
}
