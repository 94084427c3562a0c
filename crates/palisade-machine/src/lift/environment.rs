//! What is known of registers, flags and the frame before an instruction.

use super::RoleCode;
use super::abstraction::Abstract;
use super::stubs::ERROR_NUMBER;
use crate::image::Stacks;
use palisade_model::program::RegisterId;
use palisade_syntax::x86::{Architecture, Atom, Flag, Machine, SCRATCH};
use std::collections::BTreeMap;

/// All flags, in the order in which they are kept.
const FLAGS: [Flag; 5] = [Flag::Zero, Flag::Less, Flag::Carry, Flag::Sign, Flag::Overflow];

/// The registers of 16 bytes, the scratch register among them.
const VECTORS: usize = SCRATCH as usize + 1;

/// The family of `rsp`.
pub(crate) const STACK_POINTER: u8 = 4;

/// The registers that a function may change, by the calling convention: rax, rcx, rdx, rsi, rdi, r8
/// to r11.
pub(crate) const CALLER_SAVED: [u8; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// The registers in which a function gets its arguments, in order: rdi, rsi, rdx, rcx, r8, r9.
pub(crate) const ARGUMENTS: [u8; 6] = [7, 6, 2, 1, 8, 9];

/// What is known before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Environment {
    /// The general-purpose registers.
    families: [Abstract; 16],
    /// The flags.
    flags: [Abstract; 5],
    /// The halves of the registers of 16 bytes, the lower one first.
    vectors: [[Abstract; 2]; VECTORS],
    /// What was written to the frame: offset to number of bytes and value. What is not here holds
    /// some number.
    frame: BTreeMap<i64, (u8, Abstract)>,
    /// Where the thread's own data is counted from, if that is known.
    pub(crate) thread_pointer: Option<u64>,
    /// Where the frame begins, if that is a known number: then pointers into it are numbers.
    stack: Option<u64>,
}

impl Environment {
    /// The state in which a role begins: its arguments in registers, 0 in the others, the stack
    /// pointer at its return address.
    pub(crate) fn at_start(role: &RoleCode, return_address: i64) -> Self {
        let mut families = [Abstract::Constant(0); 16];
        for (family, value) in ARGUMENTS.iter().zip(&role.arguments) {
            families[usize::from(*family)] = Abstract::Constant(*value);
        }
        let mut environment = Self {
            families,
            flags: [Abstract::Constant(0); 5],
            vectors: [[Abstract::Constant(0); 2]; VECTORS],
            frame: BTreeMap::from([(0, (8, Abstract::Constant(return_address)))]),
            thread_pointer: role.thread_pointer,
            stack: role.stack,
        };
        environment.set_family(STACK_POINTER, environment.frame_at(0));
        environment
    }

    /// A pointer into the frame, so far from where it begins.
    pub(crate) fn frame_at(&self, offset: i64) -> Abstract {
        match self.stack {
            Some(stack) => Abstract::Constant(stack.cast_signed() + offset),
            None => Abstract::Frame(offset),
        }
    }

    /// How far from where the frame begins a value points, if it points into it.
    pub(crate) fn in_frame(&self, value: Abstract) -> Option<i64> {
        match (value, self.stack) {
            (Abstract::Frame(offset), _) => Some(offset),
            (Abstract::Constant(address), Some(stack)) => Stacks::offset(stack, address.cast_unsigned()),
            _ => None,
        }
    }

    /// A register.
    pub(crate) fn family(&self, family: u8) -> Abstract {
        self.families[usize::from(family)]
    }

    /// Sets a register.
    pub(crate) fn set_family(&mut self, family: u8, value: Abstract) {
        self.families[usize::from(family)] = value;
    }

    /// Sets a flag.
    pub(crate) fn set_flag(&mut self, flag: Flag, value: Abstract) {
        let index = FLAGS.iter().position(|other| *other == flag).expect("all flags are listed");
        self.flags[index] = value.whole();
    }

    /// A flag.
    pub(crate) fn flag(&self, flag: Flag) -> Abstract {
        self.flags[FLAGS.iter().position(|other| *other == flag).expect("all flags are listed")]
    }

    /// All flags with what is known of them.
    pub(crate) fn flags(&self) -> impl Iterator<Item = (Flag, Abstract)> + '_ {
        FLAGS.iter().copied().zip(self.flags)
    }

    /// Half of a register of 16 bytes.
    pub(crate) fn vector(&self, number: u8, upper: bool) -> Abstract {
        self.vectors[usize::from(number)][usize::from(upper)]
    }

    /// Sets half of a register of 16 bytes.
    pub(crate) fn set_vector(&mut self, number: u8, upper: bool, value: Abstract) {
        self.vectors[usize::from(number)][usize::from(upper)] = value.whole();
    }

    /// What an atom of the table's expressions holds; `result` is what the instruction computes.
    pub(crate) fn atom(&self, register: RegisterId, result: Abstract) -> Abstract {
        match Atom::of(register) {
            Atom::Family(family) => self.family(family),
            Atom::Flag(flag) => self.flag(flag),
            Atom::Vector(half) => self.vector(half.number, half.upper),
            Atom::Result => result,
        }
    }

    /// The machine, with the registers that are known to hold 32 bits.
    pub(crate) fn machine(&self) -> Machine {
        let mut machine = Machine::any(Architecture::X86_64);
        for (narrow, known) in machine.narrow.iter_mut().zip(self.families) {
            *narrow = known.bits().is_some_and(|bits| bits <= 32);
        }
        machine
    }

    /// What so many bytes of the frame hold.
    pub(crate) fn read_frame(&self, offset: i64, bytes: u8) -> Abstract {
        if let Some((known, value)) = self.frame.get(&offset)
            && *known == bytes
        {
            return *value;
        }
        let touched = self.touching(offset, bytes);
        if let [at] = *touched.as_slice()
            && let (known, Abstract::Constant(value)) = self.frame[&at]
            && let into @ 0.. = offset - at
            && into + i64::from(bytes) <= i64::from(known)
        {
            return Abstract::Constant(value >> (8 * into)).truncated(bytes * 8, bytes == 8);
        }
        // A part of a pointer, or of several values.
        if touched.iter().all(|at| self.frame[at].1.is_number()) {
            Abstract::Number(bytes * 8)
        } else {
            Abstract::Unknown
        }
    }

    /// Writes so many bytes of the frame.
    pub(crate) fn write_frame(&mut self, offset: i64, bytes: u8, value: Abstract) {
        let end = offset + i64::from(bytes);
        for at in self.touching(offset, bytes) {
            let (known, old) = self.frame.remove(&at).expect("it is there");
            // Of a number that is partly overwritten nothing need be kept; what is left of a
            // pointer is no number.
            if !old.is_number() {
                self.keep_piece(at, offset);
                self.keep_piece(end, at + i64::from(known));
            }
        }
        self.frame.insert(offset, (bytes, value.whole()));
    }

    /// Keeps in mind that nothing is known of the bytes between two places, if there are any.
    fn keep_piece(&mut self, from: i64, to: i64) {
        if let Ok(bytes @ 1..) = u8::try_from(to - from) {
            let piece = self.frame.entry(from).or_insert((bytes, Abstract::Unknown));
            *piece = (piece.0.max(bytes), Abstract::Unknown);
        }
    }

    /// Forgets numbers below the stack pointer, where only callees that have returned have written.
    pub(crate) fn forget_below(&mut self, offset: i64) {
        self.frame.retain(|at, (bytes, _)| at + i64::from(*bytes) > offset || *at == ERROR_NUMBER);
    }

    fn touching(&self, offset: i64, bytes: u8) -> Vec<i64> {
        let end = offset + i64::from(bytes);
        let near = self.frame.range(offset - 7..end);
        near.filter(|(at, (known, _))| **at + i64::from(*known) > offset).map(|(at, _)| *at).collect()
    }

    /// The constants in the frame.
    pub(crate) fn frame_constants(&self) -> impl Iterator<Item = (i64, u8, i64)> + '_ {
        self.frame.iter().filter_map(|(at, (bytes, value))| Some((*at, *bytes, value.constant()?)))
    }

    /// Takes in another state in which control may come here; whether anything changed.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (own, other) in self.families.iter_mut().zip(&other.families) {
            *own = own.join(*other);
        }
        for (own, other) in self.flags.iter_mut().zip(&other.flags) {
            *own = own.join(*other);
        }
        for (own, other) in self.vectors.iter_mut().flatten().zip(other.vectors.iter().flatten()) {
            *own = own.join(*other);
        }
        let mut frame = BTreeMap::new();
        for (at, (bytes, value)) in self.frame.iter().chain(&other.frame) {
            let (one, two) = (before.frame.get(at), other.frame.get(at));
            let joined = match (one, two) {
                (Some((one_bytes, one)), Some((two_bytes, two))) if one_bytes == two_bytes => Some(one.join(*two)),
                // Only one of them knows about these bytes: of a number nothing need be kept.
                _ if value.is_number() => None,
                _ => Some(Abstract::Unknown),
            };
            if let Some(joined) = joined {
                let kept: &mut (u8, Abstract) = frame.entry(*at).or_insert((*bytes, joined));
                *kept = (kept.0.max(*bytes), kept.1.join(joined));
            }
        }
        self.frame = frame;
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_in_the_frame_stay_known_as_such() {
        let role = RoleCode {
            name: String::new(),
            function: 0,
            arguments: Vec::new(),
            copies: None,
            repeats: false,
            is_daemon: false,
            thread_pointer: None,
            stack: None,
        };
        let mut one = Environment::at_start(&role, -1);
        let mut two = one.clone();
        one.write_frame(-16, 8, Abstract::Frame(-40));
        two.write_frame(-16, 8, Abstract::Constant(3));
        let pointed = one.clone();
        assert!(one.join(&two));
        assert_eq!(one.read_frame(-16, 8), Abstract::Unknown);
        assert!(!one.join(&pointed));
        // Half of a pointer is no number.
        let mut three = pointed.clone();
        three.write_frame(-16, 4, Abstract::Constant(0));
        assert_eq!(three.read_frame(-12, 4), Abstract::Unknown);
        assert_eq!(three.read_frame(-16, 8), Abstract::Unknown);
        // What was written over the other half is one.
        assert_eq!(three.read_frame(-16, 4), Abstract::Constant(0));
        three.write_frame(-14, 1, Abstract::Frame(-8));
        assert_eq!(three.read_frame(-16, 4), Abstract::Unknown);
        three.write_frame(-16, 8, Abstract::Frame(-40));
        three.write_frame(-13, 2, Abstract::Number(16));
        let read = [(-16, 3), (-13, 2), (-11, 3), (-12, 4)].map(|(at, bytes)| three.read_frame(at, bytes).is_number());
        assert_eq!(read, [false, true, false, false]);
        assert_eq!(pointed.read_frame(-24, 8), Abstract::Number(64));
    }
}
