//! Every form of every instruction that the reader of litmus tests knows, as lines for the reader
//! and for the assembler.

use super::states::Flag;

/// The machine that the reader takes a form to be for, and what it knows of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// `X86_64`, registers hold any 64 bits.
    Wide,
    /// `X86_64`, registers hold 32 bits at first, so that the reader leaves truncations out.
    Narrow,
    /// `X86`.
    Legacy,
}

/// An operand.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A register, by its name.
    Register(&'static str),
    /// The one location.
    Memory,
    /// A constant.
    Number(i128),
}
use Operand::{Memory, Number, Register};

/// A line of a form.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// An instruction, its operands with the destination first.
    Instruction(String, Vec<Operand>),
    /// A jump to the form's one label.
    Jump(String),
    /// The label.
    Label,
}

impl Line {
    /// The line in the order and syntax of AT&T, for assembler and reader.
    pub(super) fn att(&self, number: usize) -> String {
        match self {
            Self::Jump(mnemonic) => format!("{mnemonic} L{number}"),
            Self::Label => format!("L{number}:"),
            Self::Instruction(mnemonic, operands) => {
                let show = |operand: &Operand| match operand {
                    Register(name) => format!("%{name}"),
                    Memory => "x(%rip)".to_owned(),
                    Number(number) => format!("${number}"),
                };
                format!("{mnemonic} {}", operands.iter().rev().map(show).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The line in Intel's order, for the reader.
    pub(super) fn intel(&self, number: usize) -> String {
        let Self::Instruction(mnemonic, operands) = self else { return self.att(number) };
        let show = |operand: &Operand| match operand {
            Register(name) => name.to_ascii_uppercase(),
            Memory => "[x]".to_owned(),
            Number(number) => format!("${number}"),
        };
        let operands: Vec<String> = operands.iter().map(show).collect();
        format!("{} {}", mnemonic.to_ascii_uppercase(), operands.join(","))
    }
}

/// A form: a comparison or addition that sets the flags, and the instruction.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) mode: Mode,
    /// The bits of the location.
    pub(super) bits: u8,
    pub(super) lines: Vec<Line>,
    /// The flags that the manual leaves undefined.
    pub(super) undefined: &'static [Flag],
}

/// The conditions, every name the assembler has for them.
const CONDITIONS: [&str; 26] = [
    "e", "ne", "l", "ge", "le", "g", "b", "ae", "be", "a", "s", "ns", "o", "no", // one name each
    "z", "nz", "nge", "nl", "ng", "nle", "c", "nae", "nb", "nc", "na", "nbe",
];
/// How many of them have different meanings.
const MEANINGS: usize = 14;

/// All forms.
pub(super) fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    for (mode, widths) in
        [(Mode::Wide, &[8, 16, 32, 64][..]), (Mode::Narrow, &[8, 16, 32]), (Mode::Legacy, &[8, 16, 32])]
    {
        for bits in widths {
            let mut collector = Collector { mode, bits: *bits, forms: &mut forms };
            collector.two_operands();
            collector.one_operand();
            collector.products_and_bits();
            collector.long_products();
            collector.quotients();
            collector.searches();
            // What is known of a register matters where it is read or written as 32 bits.
            if mode == Mode::Narrow && *bits < 32 {
                continue;
            }
            collector.constants();
            collector.shifts();
            collector.rotations();
            collector.conditional_moves();
        }
        Collector { mode, bits: 8, forms: &mut forms }.sets();
        Collector { mode, bits: 32, forms: &mut forms }.control();
    }
    forms
}

/// Collects the forms of one width.
struct Collector<'a> {
    mode: Mode,
    bits: u8,
    forms: &'a mut Vec<Form>,
}

impl Collector<'_> {
    fn suffixed(&self, stem: &str) -> String {
        let suffix = match self.bits {
            8 => "b",
            16 => "w",
            32 => "l",
            _ => "q",
        };
        format!("{stem}{suffix}")
    }

    fn form(&mut self, line: Line, undefined: &'static [Flag]) {
        let setter = if self.forms.len().is_multiple_of(2) { "addb" } else { "cmpb" };
        self.lines(setter, vec![line], undefined);
    }

    fn lines(&mut self, setter: &str, lines: Vec<Line>, undefined: &'static [Flag]) {
        let setter = Line::Instruction(setter.to_owned(), vec![Register("bl"), Register("bh")]);
        let lines = std::iter::once(setter).chain(lines).collect();
        self.forms.push(Form { mode: self.mode, bits: self.bits, lines, undefined });
    }

    fn add(&mut self, stem: &str, operands: &[Operand]) {
        let mnemonic = self.suffixed(stem);
        self.form(Line::Instruction(mnemonic, operands.to_vec()), &[]);
    }

    /// The register of a family, as wide as the form: `a`, `c`, `d`, `s` or `9`.
    fn register(&self, family: char) -> &'static str {
        let names = match family {
            'a' => ["al", "ax", "eax", "rax"],
            'c' => ["cl", "cx", "ecx", "rcx"],
            'd' => ["dl", "dx", "edx", "rdx"],
            's' => ["sil", "si", "esi", "rsi"],
            _ => ["r9b", "r9w", "r9d", "r9"],
        };
        names[self.bits.trailing_zeros() as usize - 3]
    }

    /// Pairs of destination and source, the same register and parts of it among them.
    fn pairs(&self) -> Vec<(&'static str, &'static str)> {
        let is_legacy = self.mode == Mode::Legacy;
        if self.bits == 8 {
            let mut pairs = vec![
                ("dl", "cl"),
                ("dh", "cl"),
                ("dl", "ch"),
                ("dh", "ch"),
                ("al", "cl"),
                ("dl", "al"),
                ("al", "ah"),
                ("ah", "al"),
                ("ah", "dh"),
                ("dl", "dl"),
                ("dh", "dh"),
                ("al", "al"),
                ("dl", "dh"),
            ];
            if !is_legacy {
                pairs.extend([("sil", "dl"), ("r9b", "sil"), ("al", "r9b")]);
            }
            return pairs;
        }
        let mut pairs = vec![('d', 'c'), ('a', 'c'), ('d', 'a'), ('a', 'a'), ('d', 'd')];
        if !is_legacy {
            pairs.extend([('9', 'd'), ('d', '9')]);
        }
        pairs.into_iter().map(|(left, right)| (self.register(left), self.register(right))).collect()
    }

    /// Registers to stand beside memory.
    fn beside_memory(&self) -> Vec<&'static str> {
        let mut registers = vec![self.register('c'), self.register('a')];
        if self.bits == 8 {
            registers.extend(["ch", "ah"]);
        }
        registers
    }

    fn two_operands(&mut self) {
        for stem in ["mov", "xchg", "xadd", "cmpxchg", "add", "sub", "adc", "sbb", "and", "or", "xor", "cmp", "test"] {
            for (left, right) in self.pairs() {
                self.add(stem, &[Register(left), Register(right)]);
            }
            for register in self.beside_memory() {
                self.add(stem, &[Memory, Register(register)]);
                if !matches!(stem, "mov" | "cmp" | "test") {
                    self.add(&format!("lock {stem}"), &[Memory, Register(register)]);
                }
                if !matches!(stem, "xadd" | "cmpxchg") {
                    self.add(stem, &[Register(register), Memory]);
                }
            }
        }
    }

    fn constants(&mut self) {
        let numbers: [i128; 6] = match self.bits {
            8 => [0, 1, -1, 127, -128, 200],
            16 => [0, 1, -1, 32767, -32768, 51234],
            32 => [0, 1, -1, 0x7fff_ffff, -0x8000_0000, 0xdead_beef],
            _ => [0, 1, -1, 0x7fff_ffff, -0x8000_0000, 0xffff_ffff_8765_4321],
        };
        let mut registers = vec![self.register('d'), self.register('a')];
        if self.bits == 8 {
            registers.push("dh");
        }
        for stem in ["mov", "add", "sub", "adc", "sbb", "and", "or", "xor", "cmp", "test"] {
            for (index, number) in numbers.into_iter().enumerate() {
                self.add(stem, &[Register(registers[index % registers.len()]), Number(number)]);
                if index % 2 == 1 {
                    self.add(stem, &[Memory, Number(number)]);
                    if !matches!(stem, "mov" | "cmp" | "test") {
                        self.add(&format!("lock {stem}"), &[Memory, Number(number)]);
                    }
                }
            }
        }
        if self.bits == 64 {
            for stem in ["mov", "movabs"] {
                for number in [0x1234_5678_9abc_def0, 0xffff_ffff, -1 << 63, (1 << 64) - 1, 0] {
                    self.add(stem, &[Register("rdx"), Number(number)]);
                }
            }
        }
    }

    /// Multiplications and tests of bits.
    fn products_and_bits(&mut self) {
        if self.bits == 8 {
            return;
        }
        let product: &'static [Flag] = &[Flag::Zero, Flag::Sign, Flag::Less];
        let (imul, a, c, d) = (self.suffixed("imul"), self.register('a'), self.register('c'), self.register('d'));
        for operands in [
            vec![Register(d), Register(c)],
            vec![Register(a), Register(a)],
            vec![Register(d), Memory],
            vec![Register(d), Register(c), Number(-3)],
            vec![Register(c), Memory, Number(24)],
            vec![Register(d), Register(d), Number(1000)],
        ] {
            self.form(Line::Instruction(imul.clone(), operands), product);
        }
        let tested: &'static [Flag] = &[Flag::Overflow, Flag::Sign, Flag::Less];
        for stem in ["bt", "bts", "btr", "btc"] {
            let mnemonic = self.suffixed(stem);
            for operands in [
                vec![Register(d), Register(c)],
                vec![Register(d), Number(0)],
                vec![Register(a), Number(i128::from(self.bits) - 1)],
                vec![Memory, Number(3)],
            ] {
                let is_in_memory = matches!(operands[0], Memory);
                self.form(Line::Instruction(mnemonic.clone(), operands.clone()), tested);
                if is_in_memory && stem != "bt" {
                    self.form(Line::Instruction(format!("lock {mnemonic}"), operands), tested);
                }
            }
        }
    }

    fn one_operand(&mut self) {
        for stem in ["inc", "dec", "neg", "not"] {
            for family in ['d', 'a'] {
                self.add(stem, &[Register(self.register(family))]);
            }
            if self.bits == 8 {
                self.add(stem, &[Register("dh")]);
            }
            self.add(stem, &[Memory]);
            self.add(&format!("lock {stem}"), &[Memory]);
        }
        if matches!(self.bits, 16 | 32) {
            self.add("nop", &[Memory]);
            self.add("nop", &[Register(self.register('d'))]);
        }
    }

    fn shifts(&mut self) {
        for (stem, is_left, is_signed) in [("shl", true, false), ("shr", false, false), ("sar", false, true)] {
            self.shift(stem, is_left, is_signed);
        }
    }

    fn shift(&mut self, stem: &str, is_left: bool, is_signed: bool) {
        let bits = i128::from(self.bits);
        let (mut destinations, counts) = (self.moved(), self.counts());
        let shl = self.suffixed(stem);
        let mask = if self.bits == 64 { 63 } else { 31 };
        for destination in &destinations {
            let line = Line::Instruction(shl.clone(), vec![destination.clone()]);
            self.form(line, &[]);
            for count in &counts {
                let line = Line::Instruction(shl.clone(), vec![destination.clone(), Number(*count)]);
                let undefined: &[Flag] = match count & mask {
                    0 | 1 => &[],
                    masked if masked < bits || is_signed => &[Flag::Overflow, Flag::Less],
                    _ => &[Flag::Carry, Flag::Overflow, Flag::Less],
                };
                self.form(line, undefined);
            }
        }
        destinations.push(Register(self.register('c')));
        if self.bits == 8 {
            destinations.push(Register("ch"));
        }
        for destination in destinations {
            let line = Line::Instruction(shl.clone(), vec![destination, Register("cl")]);
            // A masked count may be as large as 8 or 16 bits, not as 32.
            let undefined: &[Flag] = match self.bits {
                _ if !is_left => &[Flag::Carry, Flag::Overflow, Flag::Less],
                8 | 16 => &[Flag::Carry, Flag::Overflow, Flag::Less],
                _ => &[Flag::Overflow, Flag::Less],
            };
            self.form(line, undefined);
        }
    }

    /// What bits are moved in.
    fn moved(&self) -> Vec<Operand> {
        let mut destinations = vec![Register(self.register('d')), Memory];
        if self.bits == 8 {
            destinations.push(Register("dh"));
        }
        destinations
    }

    /// By how much bits are moved.
    fn counts(&self) -> Vec<i128> {
        let bits = i128::from(self.bits);
        let mut counts = vec![0, 1, 2, 5, bits - 1, bits, bits + 1, 31, 32, 33, 63, 64, 65, 255, -1];
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn rotations(&mut self) {
        let mask = if self.bits == 64 { 63 } else { 31 };
        for stem in ["rol", "ror"] {
            let mnemonic = self.suffixed(stem);
            for destination in self.moved() {
                self.form(Line::Instruction(mnemonic.clone(), vec![destination.clone()]), &[]);
                for count in self.counts() {
                    let undefined: &[Flag] = if count & mask <= 1 { &[] } else { &[Flag::Overflow, Flag::Less] };
                    self.form(Line::Instruction(mnemonic.clone(), vec![destination.clone(), Number(count)]), undefined);
                }
            }
            for destination in self.moved().into_iter().chain([Register(self.register('c'))]) {
                let line = Line::Instruction(mnemonic.clone(), vec![destination, Register("cl")]);
                self.form(line, &[Flag::Overflow, Flag::Less]);
            }
        }
    }

    /// Lines that an instruction stands behind.
    fn behind(&mut self, before: &[(&str, &[Operand])], line: (&str, &[Operand]), undefined: &'static [Flag]) {
        let lines = before.iter().chain([&line]);
        let lines = lines.map(|(stem, operands)| Line::Instruction(self.suffixed(stem), operands.to_vec())).collect();
        self.lines("cmpb", lines, undefined);
    }

    /// Products of twice as many bits.
    fn long_products(&mut self) {
        let (a, c) = (self.register('a'), self.register('c'));
        for stem in ["mul", "imul"] {
            for operand in [Register(c), Register(a), Memory] {
                self.behind(&[], (stem, &[operand]), &[Flag::Zero, Flag::Sign, Flag::Less]);
            }
        }
    }

    /// Quotients that fit.
    fn quotients(&mut self) {
        if self.bits == 8 {
            return;
        }
        let (c, d) = (self.register('c'), self.register('d'));
        let (small, large, sign) = match self.bits {
            16 => (Number(0x7f), Number(0x200), Number(15)),
            bits => (Number(0x7fff), Number(0x10_0000), Number(i128::from(bits) - 1)),
        };
        let mut quotient = |before: &[(&str, &[Operand])], stem: &str, by: Operand| {
            self.behind(before, (stem, &[by]), &[Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow, Flag::Less]);
        };
        for by in [Register(c), Memory] {
            let at_least: &[Operand] = &[by.clone(), large.clone()];
            let none: (&str, &[Operand]) = ("xor", &[Register(d), Register(d)]);
            quotient(&[none, ("or", at_least)], "div", by.clone());
            quotient(&[("and", &[Register(d), small.clone()]), ("or", at_least)], "div", by.clone());
            let positive: &[(&str, &[Operand])] =
                &[("sar", &[Register(d), sign.clone()]), ("shr", &[by.clone(), Number(1)]), ("or", at_least)];
            quotient(positive, "idiv", by.clone());
            quotient(&[positive, &[("neg", &[by.clone()])]].concat(), "idiv", by.clone());
        }
    }

    /// Searches for bits, counts of them, and bytes in reverse.
    fn searches(&mut self) {
        let (a, c, d) = (self.register('a'), self.register('c'), self.register('d'));
        if self.bits >= 32 && self.mode != Mode::Legacy || self.bits == 32 {
            self.add("bswap", &[Register(d)]);
        }
        if self.bits == 8 {
            return;
        }
        let width = Number(i128::from(self.bits));
        let all_but_zero: &'static [Flag] = &[Flag::Sign, Flag::Carry, Flag::Overflow, Flag::Less];
        let all: &'static [Flag] = &[Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow, Flag::Less];
        for source in [Register(c), Register(d), Memory] {
            let operands = [Register(d), source.clone()];
            // A register of which 32 bits are left alone must have no others.
            let whole: &[(&str, &[Operand])] =
                if self.bits == 32 { &[("mov", &[Register(d), Register(d)])] } else { &[] };
            for stem in ["bsf", "bsr"] {
                self.behind(whole, (stem, &operands), all_but_zero);
            }
            self.behind(&[], ("lzcnt", &operands), &[Flag::Sign, Flag::Overflow, Flag::Less]);
            self.behind(&[], ("popcnt", &operands), &[]);
            if !matches!(source, Register(own) if own == d) {
                self.behind(&[("mov", &[Register(d), width.clone()])], ("tzcnt", &operands), all);
            }
            let not_zero: &[Operand] = &[source.clone(), Number(64)];
            self.behind(&[("or", not_zero)], ("tzcnt", &[Register(a), source.clone()]), all);
        }
    }

    /// The conditions to try in a mode: all names once, all meanings always.
    fn conditions(&self) -> &'static [&'static str] {
        if self.mode == Mode::Wide { &CONDITIONS } else { &CONDITIONS[..MEANINGS] }
    }

    fn conditional_moves(&mut self) {
        if self.bits == 8 {
            return;
        }
        let (a, c, d) = (self.register('a'), self.register('c'), self.register('d'));
        for (index, condition) in self.conditions().iter().enumerate() {
            let mnemonic = self.suffixed(&format!("cmov{condition}"));
            let line = |destination, source| Line::Instruction(mnemonic.clone(), vec![Register(destination), source]);
            self.lines("addb", vec![line(d, Register(c))], &[]);
            self.lines("cmpb", vec![line(d, Memory)], &[]);
            if index < MEANINGS {
                self.lines("cmpb", vec![line(a, Register(c))], &[]);
            }
            if index < 2 {
                self.lines("addb", vec![line(d, Register(d))], &[]);
            }
        }
    }

    fn sets(&mut self) {
        for (index, condition) in self.conditions().iter().enumerate() {
            let line = |destination| Line::Instruction(format!("set{condition}"), vec![destination]);
            self.lines("addb", vec![line(Register("dl"))], &[]);
            self.lines("cmpb", vec![line(Memory)], &[]);
            if index < MEANINGS {
                self.lines("cmpb", vec![line(Register("dh"))], &[]);
            }
        }
    }

    /// Jumps, fences and what does nothing.
    fn control(&mut self) {
        let skipped = Line::Instruction("movl".to_owned(), vec![Register("edx"), Number(77)]);
        for condition in self.conditions() {
            for setter in ["addb", "cmpb"] {
                let lines = vec![Line::Jump(format!("j{condition}")), skipped.clone(), Line::Label];
                self.lines(setter, lines, &[]);
            }
        }
        self.lines("addb", vec![Line::Jump("jmp".to_owned()), skipped.clone(), Line::Label], &[]);
        for mnemonic in ["mfence", "sfence", "lfence", "nop", "endbr64"] {
            self.form(Line::Instruction(mnemonic.to_owned(), Vec::new()), &[]);
        }
    }
}
