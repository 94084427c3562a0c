//! Registers of 16 bytes: from instructions to copies and to the operations of the table.

use super::decode::{Kind, MemoryOperand, VectorPlace, is_vector, memory_operand, number, register};
use iced_x86::{Instruction, Mnemonic, OpKind};
use palisade_syntax::x86::{SCRATCH, VectorForm, VectorOperation};

/// What an instruction on registers of 16 bytes does; nothing for others.
pub(super) fn vector(instruction: &Instruction) -> Result<Option<Kind>, String> {
    if !(0..instruction.op_count()).any(|index| is_vector(instruction.op_register(index))) {
        return Ok(None);
    }
    if let Some((operation, bytes)) = operation(instruction)? {
        return lanes(instruction, operation, bytes).map(Some);
    }
    let bytes = match instruction.mnemonic() {
        Mnemonic::Movups | Mnemonic::Movaps | Mnemonic::Movupd | Mnemonic::Movapd => 16,
        Mnemonic::Movdqa | Mnemonic::Movdqu => 16,
        Mnemonic::Movq | Mnemonic::Movsd | Mnemonic::Movlps | Mnemonic::Movlpd => 8,
        Mnemonic::Movd | Mnemonic::Movss => 4,
        Mnemonic::Movhps | Mnemonic::Movhpd => {
            let memory = memory_operand(instruction)?.ok_or("an operand in memory is expected")?;
            return Ok(Some(Kind::StoreUpper(
                MemoryOperand { bytes: 8, ..memory },
                number(instruction.op1_register()),
            )));
        }
        Mnemonic::Pmovmskb => return signs(instruction, 8),
        Mnemonic::Movmskps => return signs(instruction, 32),
        Mnemonic::Movmskpd => return signs(instruction, 64),
        _ => return Err("of vector arithmetic, moves, masks and sums of whole numbers are understood".to_owned()),
    };
    Ok(Some(Kind::VectorMove(place(instruction, 0, bytes)?, place(instruction, 1, bytes)?, bytes)))
}

fn place(instruction: &Instruction, index: u32, bytes: u8) -> Result<VectorPlace, String> {
    match instruction.op_kind(index) {
        OpKind::Register if is_vector(instruction.op_register(index)) => {
            Ok(VectorPlace::Vector(number(instruction.op_register(index))))
        }
        OpKind::Register => Ok(VectorPlace::General(register(instruction.op_register(index))?.family, bytes)),
        OpKind::Memory => {
            let memory = memory_operand(instruction)?.ok_or("an operand in memory is expected")?;
            Ok(VectorPlace::Memory(MemoryOperand { bytes, ..memory }))
        }
        _ => Err("this operand is not understood".to_owned()),
    }
}

fn signs(instruction: &Instruction, bits: u8) -> Result<Option<Kind>, String> {
    let to = register(instruction.op0_register())?;
    Ok(Some(Kind::LaneSigns(to, number(instruction.op1_register()), bits)))
}

/// The operation of the table, with the bytes of its operand in memory; nothing for copies.
fn operation(instruction: &Instruction) -> Result<Option<(VectorOperation, u8)>, String> {
    use VectorOperation as V;
    let are_both_vectors = is_vector(instruction.op0_register()) && is_vector(instruction.op1_register());
    let to_register = instruction.op0_kind() == OpKind::Register;
    let whole = |operation| Ok(Some((operation, 16)));
    let moved = |lane: u8, left: bool, signed: bool| match instruction.op1_kind() {
        OpKind::Immediate8 => whole(if left { V::ShiftLeft(lane) } else { V::ShiftRight { lane, signed } }),
        _ => Err("a shift of lanes by what is in a register is not understood".to_owned()),
    };
    match instruction.mnemonic() {
        Mnemonic::Pand | Mnemonic::Andps | Mnemonic::Andpd => whole(V::And),
        Mnemonic::Pandn | Mnemonic::Andnps | Mnemonic::Andnpd => whole(V::AndNot),
        Mnemonic::Por | Mnemonic::Orps | Mnemonic::Orpd => whole(V::Or),
        Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd => whole(V::Xor),
        Mnemonic::Paddb => whole(V::Add(8)),
        Mnemonic::Paddw => whole(V::Add(16)),
        Mnemonic::Paddd => whole(V::Add(32)),
        Mnemonic::Paddq => whole(V::Add(64)),
        Mnemonic::Psubb => whole(V::Subtract(8)),
        Mnemonic::Psubw => whole(V::Subtract(16)),
        Mnemonic::Psubd => whole(V::Subtract(32)),
        Mnemonic::Psubq => whole(V::Subtract(64)),
        Mnemonic::Pcmpeqb => whole(V::Equal(8)),
        Mnemonic::Pcmpeqw => whole(V::Equal(16)),
        Mnemonic::Pcmpeqd => whole(V::Equal(32)),
        Mnemonic::Pcmpgtb => whole(V::Greater(8)),
        Mnemonic::Pcmpgtw => whole(V::Greater(16)),
        Mnemonic::Pcmpgtd => whole(V::Greater(32)),
        Mnemonic::Psllw => moved(16, true, false),
        Mnemonic::Pslld => moved(32, true, false),
        Mnemonic::Psllq => moved(64, true, false),
        Mnemonic::Psrlw => moved(16, false, false),
        Mnemonic::Psrld => moved(32, false, false),
        Mnemonic::Psrlq => moved(64, false, false),
        Mnemonic::Psraw => moved(16, false, true),
        Mnemonic::Psrad => moved(32, false, true),
        Mnemonic::Pslldq => whole(V::ShiftBytes { left: true }),
        Mnemonic::Psrldq => whole(V::ShiftBytes { left: false }),
        Mnemonic::Punpcklbw => whole(V::Interleave { lane: 8, upper: false }),
        Mnemonic::Punpcklwd => whole(V::Interleave { lane: 16, upper: false }),
        Mnemonic::Punpckldq | Mnemonic::Unpcklps => whole(V::Interleave { lane: 32, upper: false }),
        Mnemonic::Punpcklqdq | Mnemonic::Unpcklpd => whole(V::Interleave { lane: 64, upper: false }),
        Mnemonic::Punpckhbw => whole(V::Interleave { lane: 8, upper: true }),
        Mnemonic::Punpckhwd => whole(V::Interleave { lane: 16, upper: true }),
        Mnemonic::Punpckhdq | Mnemonic::Unpckhps => whole(V::Interleave { lane: 32, upper: true }),
        Mnemonic::Punpckhqdq | Mnemonic::Unpckhpd => whole(V::Interleave { lane: 64, upper: true }),
        Mnemonic::Pshufd => whole(V::Shuffle),
        Mnemonic::Pshuflw => whole(V::ShuffleWords { upper: false }),
        Mnemonic::Pshufhw => whole(V::ShuffleWords { upper: true }),
        Mnemonic::Shufps => whole(V::ShuffleBoth(32)),
        Mnemonic::Shufpd => whole(V::ShuffleBoth(64)),
        Mnemonic::Movsd if are_both_vectors => whole(V::Low(64)),
        Mnemonic::Movss if are_both_vectors => whole(V::Low(32)),
        Mnemonic::Movhlps => whole(V::LowFromHigh),
        Mnemonic::Movlhps => whole(V::HighFromLow),
        Mnemonic::Movlps | Mnemonic::Movlpd if to_register => Ok(Some((V::Low(64), 8))),
        Mnemonic::Movhps | Mnemonic::Movhpd if to_register => Ok(Some((V::HighFromLow, 8))),
        _ => Ok(None),
    }
}

fn lanes(instruction: &Instruction, operation: VectorOperation, bytes: u8) -> Result<Kind, String> {
    let to = number(instruction.op0_register());
    let last = instruction.op_count() - 1;
    let given = if instruction.op_kind(last) == OpKind::Immediate8 { instruction.immediate8() } else { 0 };
    let form = |from| VectorForm { operation, to, from, number: given };
    match instruction.op1_kind() {
        OpKind::Register => Ok(Kind::Lanes(form(number(instruction.op1_register())), None)),
        OpKind::Memory => {
            let memory = memory_operand(instruction)?.ok_or("an operand in memory is expected")?;
            Ok(Kind::Lanes(form(SCRATCH), Some(MemoryOperand { bytes, ..memory })))
        }
        // A shift by a number has no second register.
        _ => Ok(Kind::Lanes(form(to), None)),
    }
}
