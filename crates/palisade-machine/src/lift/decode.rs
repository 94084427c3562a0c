//! From bytes to the forms of the table: which instruction stands at an address.
//!
//! What an instruction means is not said here but by the table that readers of litmus tests use as
//! well. The library that decodes is used here and nowhere else. Instructions that are not listed
//! are refused.

use super::vectors::vector;
use iced_x86::{ConditionCode as IcedCondition, Decoder, DecoderOptions, Formatter, GasFormatter};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use palisade_model::program::Value;
use palisade_syntax::x86::registers::{MachineRegister, Part};
use palisade_syntax::x86::{Arithmetic, BitChange, ConditionCode, FlagTest, Form, Operation, Place, Scan, VectorForm};

/// An operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryOperand {
    /// The register that is added.
    pub(crate) base: Option<u8>,
    /// The register that is added as often as the second number says.
    pub(crate) index: Option<(u8, Value)>,
    /// What is added to them.
    pub(crate) displacement: Value,
    /// The number of bytes accessed.
    pub(crate) bytes: u8,
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To this address.
    Direct(u64),
    /// To the address in a register.
    Register(u8),
    /// To the address in memory.
    Memory(MemoryOperand),
}

/// A register of 16 bytes, or a place for as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorPlace {
    /// The register.
    Vector(u8),
    /// Memory.
    Memory(MemoryOperand),
    /// A general-purpose register, of which so many bytes count.
    General(u8, u8),
}

/// What stands at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An instruction of the table, with its operand in memory.
    Table(Form, Option<MemoryOperand>),
    /// The address of the operand is put into the register.
    Address(MachineRegister, MemoryOperand),
    /// A value is pushed: an instruction that moves it to the place above the stack.
    Push(Place, Option<MemoryOperand>),
    /// A register is popped.
    Pop(u8),
    /// The frame that `rbp` points to is left.
    Leave,
    /// A call.
    Call(Target),
    /// A jump.
    Jump(Target),
    /// A jump under a condition.
    Branch(ConditionCode, u64),
    /// A return that takes so many bytes more from the stack.
    Return(u64),
    /// `mfence`.
    Fence,
    /// `sfence`.
    StoreFence,
    /// Nothing that others see.
    Nothing,
    /// The system is called.
    SystemCall,
    /// The process ends.
    Trap,
    /// Copies up to 16 bytes: destination, source, bytes.
    VectorMove(VectorPlace, VectorPlace, u8),
    /// An instruction of the table on registers of 16 bytes; with an operand in memory, that is
    /// read into the scratch register first.
    Lanes(VectorForm, Option<MemoryOperand>),
    /// The signs of lanes of so many bits are put into a general-purpose register.
    LaneSigns(MachineRegister, u8, u8),
    /// The upper half of a register of 16 bytes is stored.
    StoreUpper(MemoryOperand, u8),
    /// Sign extension of the accumulator: into its own upper half, or into `rdx`.
    SignExtend {
        /// The bits of the source.
        from: u8,
        /// Whether `rdx` receives copies of the sign.
        into_data: bool,
    },
}

impl Kind {
    /// The operand in memory that the segment's base is added to, if there is one.
    fn memory(&mut self) -> Option<&mut MemoryOperand> {
        match self {
            Self::Table(_, memory) | Self::Push(_, memory) | Self::Lanes(_, memory) => memory.as_mut(),
            Self::Call(Target::Memory(memory)) | Self::Jump(Target::Memory(memory)) | Self::StoreUpper(memory, _) => {
                Some(memory)
            }
            Self::VectorMove(VectorPlace::Memory(memory), ..) | Self::VectorMove(_, VectorPlace::Memory(memory), _) => {
                Some(memory)
            }
            _ => None,
        }
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    /// What it is.
    pub(crate) kind: Kind,
    /// The address of the one behind it.
    pub(crate) next: u64,
    /// Its text, in the order of AT&T.
    pub(crate) text: String,
}

/// Why an instruction is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotUnderstood {
    /// Its text.
    pub(crate) text: String,
    /// What is wrong with it.
    pub(crate) why: String,
    /// Whether it accesses data of the thread's own, of which nothing is known.
    pub(crate) is_of_thread: bool,
}

/// Decodes the instruction at an address. Data of the thread's own is counted from an address, if
/// that is known.
pub(crate) fn decode(bytes: &[u8], address: u64, thread_pointer: Option<u64>) -> Result<Decoded, NotUnderstood> {
    let mut decoder = Decoder::with_ip(64, &bytes[..bytes.len().min(15)], address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let text = text_of(&instruction);
    let refused = |why: &str| NotUnderstood { text: text.clone(), why: why.to_owned(), is_of_thread: false };
    if instruction.is_invalid() {
        return Err(refused("these bytes are no instruction"));
    }
    // Before a jump or a call it is about bounds that nobody checks.
    let repeats_until = instruction.has_repne_prefix() && instruction.flow_control() == FlowControl::Next;
    if instruction.has_rep_prefix() && !is_harmless_prefix(&instruction) || repeats_until {
        return Err(refused("instructions that repeat are not understood"));
    }
    let mut kind = kind_of(&instruction).map_err(|why| refused(&why))?;
    let own = "this is data of the thread's own, which no other copy shares (thread-local storage)";
    match (instruction.segment_prefix(), thread_pointer, kind.memory()) {
        (Register::FS, Some(base), Some(memory)) => {
            memory.displacement = memory.displacement.wrapping_add(base.cast_signed());
        }
        (Register::FS, None, _) => return Err(NotUnderstood { is_of_thread: true, ..refused(own) }),
        (Register::FS | Register::GS, ..) => return Err(refused(own)),
        _ => {}
    }
    Ok(Decoded { kind, next: instruction.next_ip(), text })
}

fn text_of(instruction: &Instruction) -> String {
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_rip_relative_addresses(false);
    let mut text = String::new();
    formatter.format(instruction, &mut text);
    text
}

/// `pause` and `endbr64` have the prefix as a part of their code; before `ret` it says nothing.
fn is_harmless_prefix(instruction: &Instruction) -> bool {
    let name = instruction.mnemonic();
    matches!(
        name,
        Mnemonic::Pause
            | Mnemonic::Endbr64
            | Mnemonic::Ret
            | Mnemonic::Nop
            | Mnemonic::Bsf
            | Mnemonic::Tzcnt
            | Mnemonic::Lzcnt
            | Mnemonic::Popcnt
    ) || is_vector(instruction.op0_register())
        || is_vector(instruction.op1_register())
}

pub(super) fn is_vector(register: Register) -> bool {
    register.is_xmm()
}

fn kind_of(instruction: &Instruction) -> Result<Kind, String> {
    match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall if instruction.mnemonic() == Mnemonic::Syscall => {
            return Ok(Kind::SystemCall);
        }
        FlowControl::Call | FlowControl::IndirectCall => return Ok(Kind::Call(target(instruction)?)),
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => {
            return Ok(Kind::Jump(target(instruction)?));
        }
        FlowControl::ConditionalBranch if instruction.condition_code() != IcedCondition::None => {
            let code = condition(instruction.condition_code())?;
            return Ok(Kind::Branch(code, instruction.near_branch_target()));
        }
        FlowControl::Return if instruction.mnemonic() == Mnemonic::Ret => {
            let more = if instruction.op_count() == 1 { instruction.immediate(0) } else { 0 };
            return Ok(Kind::Return(more));
        }
        FlowControl::Exception => return Ok(Kind::Trap),
        FlowControl::Next => {}
        FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => return Ok(Kind::Trap),
        _ => return Err("control flow of this kind is not understood".to_owned()),
    }
    if let Some(kind) = vector(instruction)? {
        return Ok(kind);
    }
    if let Some(kind) = special(instruction)? {
        return Ok(kind);
    }
    let form = form(instruction)?;
    let memory = memory_operand(instruction)?;
    Ok(Kind::Table(form, memory))
}

fn target(instruction: &Instruction) -> Result<Target, String> {
    match instruction.op0_kind() {
        OpKind::NearBranch64 => Ok(Target::Direct(instruction.near_branch_target())),
        OpKind::Register => Ok(Target::Register(register(instruction.op0_register())?.family)),
        OpKind::Memory => {
            let memory = memory_operand(instruction)?.ok_or("this target is not understood")?;
            Ok(Target::Memory(MemoryOperand { bytes: 8, ..memory }))
        }
        _ => Err("this target is not understood".to_owned()),
    }
}

/// Instructions that the table does not have.
fn special(instruction: &Instruction) -> Result<Option<Kind>, String> {
    Ok(Some(match instruction.mnemonic() {
        Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause | Mnemonic::Prefetcht0 | Mnemonic::Prefetchw => {
            Kind::Nothing
        }
        Mnemonic::Lfence => Kind::Nothing,
        Mnemonic::Mfence => Kind::Fence,
        Mnemonic::Sfence => Kind::StoreFence,
        Mnemonic::Lea => {
            let destination = register(instruction.op0_register())?;
            let memory = memory_operand(instruction)?.ok_or("an address is expected")?;
            Kind::Address(destination, memory)
        }
        Mnemonic::Push => {
            let place = place(instruction, 0)?;
            Kind::Push(place, memory_operand(instruction)?)
        }
        Mnemonic::Pop => match place(instruction, 0)? {
            Place::Register(register) if register.part == Part::Quad => Kind::Pop(register.family),
            _ => return Err("only registers of 64 bits are popped".to_owned()),
        },
        Mnemonic::Leave => Kind::Leave,
        Mnemonic::Cbw => Kind::SignExtend { from: 8, into_data: false },
        Mnemonic::Cwde => Kind::SignExtend { from: 16, into_data: false },
        Mnemonic::Cdqe => Kind::SignExtend { from: 32, into_data: false },
        Mnemonic::Cdq => Kind::SignExtend { from: 32, into_data: true },
        Mnemonic::Cqo => Kind::SignExtend { from: 64, into_data: true },
        _ => return Ok(None),
    }))
}

/// The number of a register in its class.
pub(super) fn number(register: Register) -> u8 {
    u8::try_from(register.number()).unwrap_or(u8::MAX)
}

/// The form of an instruction of the table.
fn form(instruction: &Instruction) -> Result<Form, String> {
    let operation = operation(instruction)?;
    let operands = (0..instruction.op_count()).map(|index| place(instruction, index)).collect::<Result<Vec<_>, _>>()?;
    let bits = width(instruction, 0)?;
    let (least, most) = operation.operand_counts();
    if !(least..=most).contains(&operands.len()) {
        return Err("this form is not understood".to_owned());
    }
    Ok(Form { operation, bits, locked: instruction.has_lock_prefix(), operands })
}

/// The bits of an operand.
fn width(instruction: &Instruction, index: u32) -> Result<u8, String> {
    match instruction.op_kind(index) {
        OpKind::Register => Ok(register(instruction.op_register(index))?.part.bits()),
        OpKind::Memory => {
            let bits = instruction.memory_size().size() * 8;
            u8::try_from(bits)
                .ok()
                .filter(|bits| matches!(bits, 8 | 16 | 32 | 64))
                .ok_or_else(|| "operands of this size are not understood".to_owned())
        }
        _ => Err("this form is not understood".to_owned()),
    }
}

fn operation(instruction: &Instruction) -> Result<Operation, String> {
    let code = || condition(instruction.condition_code());
    let operation = match instruction.mnemonic() {
        Mnemonic::Mov => Operation::Move,
        Mnemonic::Xchg => Operation::Exchange,
        Mnemonic::Xadd => Operation::ExchangeAdd,
        Mnemonic::Cmpxchg => Operation::CompareExchange,
        Mnemonic::Inc => Operation::Increment,
        Mnemonic::Dec => Operation::Decrement,
        Mnemonic::Add => Operation::Arithmetic(Arithmetic::Add),
        Mnemonic::Sub => Operation::Arithmetic(Arithmetic::Subtract),
        Mnemonic::And => Operation::Arithmetic(Arithmetic::And),
        Mnemonic::Or => Operation::Arithmetic(Arithmetic::Or),
        Mnemonic::Xor => Operation::Arithmetic(Arithmetic::Xor),
        Mnemonic::Adc => Operation::WithCarry { subtract: false },
        Mnemonic::Sbb => Operation::WithCarry { subtract: true },
        Mnemonic::Cmp => Operation::Compare,
        Mnemonic::Test => Operation::Test,
        Mnemonic::Shl | Mnemonic::Sal => Operation::ShiftLeft,
        Mnemonic::Shr => Operation::ShiftRight { signed: false },
        Mnemonic::Sar => Operation::ShiftRight { signed: true },
        Mnemonic::Neg => Operation::Negate,
        Mnemonic::Not => Operation::Complement,
        Mnemonic::Rol => Operation::RotateLeft,
        Mnemonic::Ror => Operation::RotateRight,
        Mnemonic::Imul => Operation::Multiply,
        Mnemonic::Mul => Operation::MultiplyUnsigned,
        Mnemonic::Div => Operation::Divide { signed: false },
        Mnemonic::Idiv => Operation::Divide { signed: true },
        Mnemonic::Bsf => Operation::Scan(Scan::Lowest),
        Mnemonic::Bsr => Operation::Scan(Scan::Highest),
        Mnemonic::Tzcnt => Operation::Scan(Scan::ZerosBelow),
        Mnemonic::Lzcnt => Operation::Scan(Scan::ZerosAbove),
        Mnemonic::Popcnt => Operation::CountOnes,
        Mnemonic::Bswap => Operation::SwapBytes,
        Mnemonic::Bt => Operation::BitTest(BitChange::Keep),
        Mnemonic::Bts => Operation::BitTest(BitChange::Set),
        Mnemonic::Btr => Operation::BitTest(BitChange::Clear),
        Mnemonic::Btc => Operation::BitTest(BitChange::Flip),
        Mnemonic::Movzx => Operation::Extend { from: width(instruction, 1)?, signed: false },
        Mnemonic::Movsx | Mnemonic::Movsxd => Operation::Extend { from: width(instruction, 1)?, signed: true },
        _ if is_conditional_move(instruction) => Operation::ConditionalMove(code()?),
        _ if is_set(instruction) => Operation::Set(code()?),
        _ => return Err("this instruction is not understood".to_owned()),
    };
    Ok(operation)
}

fn is_conditional_move(instruction: &Instruction) -> bool {
    instruction.condition_code() != IcedCondition::None && instruction.op_count() == 2
}

fn is_set(instruction: &Instruction) -> bool {
    instruction.condition_code() != IcedCondition::None && instruction.op_count() == 1
}

fn condition(code: IcedCondition) -> Result<ConditionCode, String> {
    use FlagTest::{Below, BelowOrEqual, Equal, Less, LessOrEqual, Overflow, Sign};
    let (test, negated) = match code {
        IcedCondition::e => (Equal, false),
        IcedCondition::ne => (Equal, true),
        IcedCondition::l => (Less, false),
        IcedCondition::ge => (Less, true),
        IcedCondition::le => (LessOrEqual, false),
        IcedCondition::g => (LessOrEqual, true),
        IcedCondition::b => (Below, false),
        IcedCondition::ae => (Below, true),
        IcedCondition::be => (BelowOrEqual, false),
        IcedCondition::a => (BelowOrEqual, true),
        IcedCondition::s => (Sign, false),
        IcedCondition::ns => (Sign, true),
        IcedCondition::o => (Overflow, false),
        IcedCondition::no => (Overflow, true),
        _ => return Err("tests of the parity are not understood".to_owned()),
    };
    Ok(ConditionCode { test, negated })
}

fn place(instruction: &Instruction, index: u32) -> Result<Place, String> {
    Ok(match instruction.op_kind(index) {
        OpKind::Register => Place::Register(register(instruction.op_register(index))?),
        OpKind::Memory => Place::Memory,
        OpKind::Immediate8
        | OpKind::Immediate16
        | OpKind::Immediate32
        | OpKind::Immediate64
        | OpKind::Immediate8to16
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64
        | OpKind::Immediate32to64 => Place::Number(i128::from(instruction.immediate(index).cast_signed())),
        _ => return Err("this operand is not understood".to_owned()),
    })
}

/// The operand in memory, if there is one.
pub(super) fn memory_operand(instruction: &Instruction) -> Result<Option<MemoryOperand>, String> {
    if !(0..instruction.op_count()).any(|index| instruction.op_kind(index) == OpKind::Memory) {
        return Ok(None);
    }
    let bytes = u8::try_from(instruction.memory_size().size()).unwrap_or(0);
    let displacement = instruction.memory_displacement64().cast_signed();
    let whole = |name: Register| -> Result<Option<u8>, String> {
        match name {
            Register::None => Ok(None),
            name => match register(name)? {
                found if found.part == Part::Quad => Ok(Some(found.family)),
                _ => Err("addresses are computed from registers of 64 bits".to_owned()),
            },
        }
    };
    if instruction.is_ip_rel_memory_operand() {
        let displacement = instruction.ip_rel_memory_address().cast_signed();
        return Ok(Some(MemoryOperand { base: None, index: None, displacement, bytes }));
    }
    let index = whole(instruction.memory_index())?;
    let index = index.map(|family| (family, Value::from(instruction.memory_index_scale())));
    Ok(Some(MemoryOperand { base: whole(instruction.memory_base())?, index, displacement, bytes }))
}

/// A general-purpose register.
pub(super) fn register(register: Register) -> Result<MachineRegister, String> {
    if !register.is_gpr() {
        return Err("this register is not understood".to_owned());
    }
    let part = match register.size() {
        1 if matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) => Part::HighByte,
        1 => Part::LowByte,
        2 => Part::Word,
        4 => Part::Double,
        _ => Part::Quad,
    };
    Ok(MachineRegister { family: number(register.full_register()), part })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_operands() {
        // lock cmpxchg %ecx,0x10(%rdi,%rsi,4)
        let decoded = decode(&[0xf0, 0x0f, 0xb1, 0x4c, 0xb7, 0x10], 0x1000, None).expect("is understood");
        let Kind::Table(form, Some(memory)) = decoded.kind else { panic!("{decoded:?}") };
        assert_eq!((form.operation, form.bits, form.locked), (Operation::CompareExchange, 32, true));
        assert_eq!(memory, MemoryOperand { base: Some(7), index: Some((6, 4)), displacement: 16, bytes: 4 });
        // mov 0x2eda(%rip),%eax
        let decoded = decode(&[0x8b, 0x05, 0xda, 0x2e, 0, 0], 0x0040_1138, None).expect("is understood");
        let Kind::Table(_, Some(memory)) = decoded.kind else { panic!("{decoded:?}") };
        assert_eq!((memory.base, memory.displacement), (None, 0x0040_4018));
    }

    #[test]
    fn data_of_the_thread_is_counted_from_its_base() {
        // mov %fs:0xfffffffffffffff8,%rax
        let bytes = [0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff];
        let decoded = decode(&bytes, 0, Some(0x7f00_0000_1000)).expect("is understood");
        let Kind::Table(_, Some(memory)) = decoded.kind else { panic!("{decoded:?}") };
        assert_eq!((memory.base, memory.displacement), (None, 0x7f00_0000_0ff8));
        assert!(decode(&bytes, 0, None).expect_err("no thread is known").is_of_thread);
    }

    #[test]
    fn what_is_not_understood() {
        for (bytes, why) in [
            (&[0xf3, 0x48, 0xab][..], "repeat"),                           // rep stos
            (&[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0], "thread-local"), // mov %fs:0,%rax
            (&[0x0f, 0xc3, 0x07], "not understood"),                       // movnti %eax,(%rdi)
            (&[0x0f, 0xae, 0x3f], "not understood"),                       // clflush (%rdi)
            (&[0x7a, 0x00], "parity"),                                     // jp
            (&[0x67, 0x8b, 0x07], "64 bits"),                              // mov (%edi),%eax
        ] {
            let error = decode(bytes, 0, None).expect_err("is refused");
            assert!(error.why.contains(why), "{error:?}");
        }
    }
}
