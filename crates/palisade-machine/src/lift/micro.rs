//! An instruction as steps of the table, one after the other, and where control goes then.

use super::copies::Copying;
use super::decode::{Decoded, Kind, MemoryOperand, Target, VectorPlace};
use super::environment::{Environment, STACK_POINTER};
use super::futex::Futex;
use super::heap::HeapStep;
use super::posix::Posix;
use super::refusal::Objection;
use palisade_model::program::{BinaryOperator as Op, Expression, Value};
use palisade_syntax::x86::fold::{binary, truncate};
use palisade_syntax::x86::registers::{MachineRegister, Part};
use palisade_syntax::x86::{
    Atom, ConditionCode, Form, FormError, Meaning, Operation, Place, SCRATCH, VectorForm, VectorOperation, Write,
    meaning, vector_mask, vector_meaning,
};

/// One step.
#[derive(Clone, Debug)]
pub(crate) enum Micro {
    /// What the table says, with the operand in memory.
    Table(Meaning, Option<MemoryOperand>),
    /// A copy from or to a register of 16 bytes: destination, source, bytes.
    Vector(VectorPlace, VectorPlace, u8),
    /// So many bytes are copied, filled or compared, as a function does that is called here.
    Copying(Copying, u16),
    /// Memory is taken from the heap, or given back.
    Heap(HeapStep),
    /// The copy sleeps, or wakes sleepers.
    Futex(Futex),
    /// A function of POSIX that locks, waits or wakes.
    Posix(Posix),
    /// Memory is read, to go where it says.
    Load(MemoryOperand),
    /// `mfence`.
    Fence,
    /// `sfence`.
    StoreFence,
}

/// Where control goes after the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// On.
    Next,
    /// Elsewhere.
    Jump(Target),
    /// Elsewhere if the condition holds.
    Branch(ConditionCode, u64),
    /// Into a function; the steps have not pushed the return address.
    Call(Target),
    /// Back; the steps have not popped the return address.
    Return(u64),
    /// The system is called.
    System,
    /// The process ends.
    Trap,
}

/// The family of `rbp`.
const FRAME_POINTER: u8 = 5;

/// The steps of an instruction.
pub(crate) fn steps(decoded: &Decoded, environment: &Environment) -> Result<(Vec<Micro>, Flow), Objection> {
    let table = |form: &Form| meaning(form, &environment.machine()).map_err(form_objection);
    let steps = match &decoded.kind {
        Kind::Table(form, memory) => vec![Micro::Table(table(form)?, *memory)],
        Kind::Address(register, memory) => vec![Micro::Table(address_meaning(*register, *memory), None)],
        Kind::Push(Place::Memory, _) => {
            return Err(Objection::new("a value in memory is pushed, which is not understood"));
        }
        Kind::Push(place, _) => {
            let place = match place {
                Place::Number(number) => {
                    Place::Address(Expression::Constant(Value::try_from(*number).unwrap_or_default()))
                }
                other => other.clone(),
            };
            vec![Micro::Table(table(&push_form(place))?, Some(at_stack(-8))), move_stack(-8)]
        }
        Kind::Pop(family) => vec![pop(*family, environment)?, move_stack(8)],
        Kind::Leave => {
            let form = Form {
                operation: Operation::Move,
                bits: 64,
                locked: false,
                operands: vec![whole(STACK_POINTER), whole(FRAME_POINTER)],
            };
            vec![Micro::Table(table(&form)?, None), pop(FRAME_POINTER, environment)?, move_stack(8)]
        }
        Kind::Fence => vec![Micro::Fence],
        Kind::StoreFence => vec![Micro::StoreFence],
        Kind::VectorMove(to, from, bytes) => vec![Micro::Vector(*to, *from, *bytes)],
        Kind::Lanes(form, memory) => {
            let scratch = VectorPlace::Vector(SCRATCH);
            let read = memory.map(|memory| Micro::Vector(scratch, VectorPlace::Memory(memory), memory.bytes));
            read.into_iter().chain([Micro::Table(vector_meaning(form), None)]).collect()
        }
        Kind::LaneSigns(to, from, bits) => vec![Micro::Table(vector_mask(*to, *from, *bits), None)],
        Kind::StoreUpper(memory, from) => {
            let form = VectorForm { operation: VectorOperation::LowFromHigh, to: SCRATCH, from: *from, number: 0 };
            let (to, scratch) = (VectorPlace::Memory(*memory), VectorPlace::Vector(SCRATCH));
            vec![Micro::Table(vector_meaning(&form), None), Micro::Vector(to, scratch, 8)]
        }
        Kind::SignExtend { from, into_data } => vec![Micro::Table(sign_extension(*from, *into_data), None)],
        Kind::Nothing
        | Kind::Call(_)
        | Kind::Jump(_)
        | Kind::Branch(..)
        | Kind::Return(_)
        | Kind::SystemCall
        | Kind::Trap => Vec::new(),
    };
    let flow = match &decoded.kind {
        Kind::Call(target) => Flow::Call(*target),
        Kind::Jump(target) => Flow::Jump(*target),
        Kind::Branch(code, target) => Flow::Branch(*code, *target),
        Kind::Return(more) => Flow::Return(*more),
        Kind::SystemCall => Flow::System,
        Kind::Trap => Flow::Trap,
        _ => Flow::Next,
    };
    Ok((steps, flow))
}

/// The steps of a call that are not its function's: the return address is pushed.
pub(crate) fn push_return(address: u64, environment: &Environment) -> Result<Vec<Micro>, Objection> {
    Ok(vec![stored(address.cast_signed(), at_stack(-8), environment)?, move_stack(-8)])
}

/// A number is stored.
pub(crate) fn stored(number: Value, to: MemoryOperand, environment: &Environment) -> Result<Micro, Objection> {
    let place = Place::Address(Expression::Constant(number));
    let stored = meaning(&push_form(place), &environment.machine()).map_err(form_objection)?;
    Ok(Micro::Table(stored, Some(to)))
}

/// A register is given a number.
pub(crate) fn set(family: u8, number: Value) -> Micro {
    let register = MachineRegister { family, part: Part::Quad };
    Micro::Table(writing(register, Expression::Constant(number)), None)
}

/// The stack pointer moves.
pub(crate) fn move_stack(by: Value) -> Micro {
    let register = MachineRegister { family: STACK_POINTER, part: Part::Quad };
    let operand = MemoryOperand { base: Some(STACK_POINTER), index: None, displacement: by, bytes: 8 };
    Micro::Table(address_meaning(register, operand), None)
}

/// The word on top of the stack, so many bytes from the stack pointer.
pub(crate) fn at_stack(displacement: Value) -> MemoryOperand {
    MemoryOperand { base: Some(STACK_POINTER), index: None, displacement, bytes: 8 }
}

fn whole(family: u8) -> Place {
    Place::Register(MachineRegister { family, part: Part::Quad })
}

fn push_form(place: Place) -> Form {
    Form { operation: Operation::Move, bits: 64, locked: false, operands: vec![Place::Memory, place] }
}

fn pop(family: u8, environment: &Environment) -> Result<Micro, Objection> {
    let form =
        Form { operation: Operation::Move, bits: 64, locked: false, operands: vec![whole(family), Place::Memory] };
    let popped = meaning(&form, &environment.machine()).map_err(form_objection)?;
    Ok(Micro::Table(popped, Some(at_stack(0))))
}

/// The address of an operand, over the atoms.
pub(crate) fn address(memory: MemoryOperand) -> Expression {
    let mut sum = Expression::Constant(memory.displacement);
    if let Some((family, scale)) = memory.index {
        let scaled = binary(Op::Multiply, Atom::Family(family).expression(), Expression::Constant(scale));
        sum = binary(Op::Add, scaled, sum);
    }
    if let Some(family) = memory.base {
        sum = binary(Op::Add, Atom::Family(family).expression(), sum);
    }
    truncate(sum, 64, true)
}

fn address_meaning(register: MachineRegister, memory: MemoryOperand) -> Meaning {
    let bits = register.part.bits();
    writing(register, truncate(address(memory), bits, bits == 64))
}

fn writing(register: MachineRegister, value: Expression) -> Meaning {
    let writes = vec![Write { register, value, condition: None }];
    Meaning { writes, ..Meaning::nothing() }
}

/// `cbw`, `cwde`, `cdqe` and `cdq`, `cqo` [SDM, vol. 2].
fn sign_extension(from: u8, into_data: bool) -> Meaning {
    let accumulator = Atom::Family(0).expression();
    let signed = truncate(accumulator, from, true);
    let (register, value) = if into_data {
        let negative = binary(Op::Less, signed, Expression::Constant(0));
        let register = MachineRegister { family: 2, part: Part::of_bits(from) };
        (register, binary(Op::Subtract, Expression::Constant(0), negative))
    } else {
        (MachineRegister { family: 0, part: Part::of_bits(from * 2) }, signed)
    };
    let bits = register.part.bits();
    writing(register, truncate(value, bits, bits == 64))
}

fn form_objection(error: FormError) -> Objection {
    Objection { help: error.help, ..Objection::new(error.message) }
}
