//! The forms as the reader of litmus tests understands them: text, program, values.

use super::forms::{Form, Mode};
use super::native::Left;
use super::states::{FLAGS, Flag, REGISTERS, State};
use palisade::program::{Action, Program, SourceText, Value};
use palisade::semantics::{Instance, Machine, Model};
use palisade::syntax::litmus;
use palisade::syntax::render;

/// What the reader's program leaves of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) registers: Vec<Value>,
    pub(super) memory: Value,
    /// The flags that are not undefined, in the order of [`Reader::flags`].
    pub(super) flags: Vec<bool>,
}

/// A form that was read.
pub(super) struct Reader {
    mode: Mode,
    bits: u8,
    program: Program,
    /// For each label, the instructions there.
    instructions: Vec<Vec<usize>>,
    /// The thread's registers for those of a state.
    registers: Vec<usize>,
    pub(super) flags: Vec<Flag>,
}

/// The location's address; the flags' follow.
const LOCATION: Value = 1;

/// The test that a form is in, which shows some flags after it.
pub(super) fn text(form: &Form, number: usize, shown: &[Flag]) -> String {
    let (architecture, start) = match form.mode {
        Mode::Wide => ("X86_64", -1),
        Mode::Narrow => ("X86_64", 0),
        Mode::Legacy => ("X86", 0),
    };
    let bits = form.bits;
    let mut text = format!("{architecture} t\n{{ uint{bits}_t x;");
    for index in 0..FLAGS.len() {
        text += &format!(" uint8_t f{index};");
    }
    for register in REGISTERS {
        if let Some(name) = register_name(form.mode, register) {
            text += &format!(" 0:{name}={start};");
        }
    }
    text += " }\nP0;\n";
    let is_legacy = form.mode == Mode::Legacy;
    for line in &form.lines {
        text += &if is_legacy { line.intel(number) } else { line.att(number) };
        text += ";\n";
    }
    for (index, (flag, instruction)) in FLAGS.iter().enumerate() {
        if shown.contains(flag) {
            text += &if is_legacy {
                format!("{instruction} [f{index}];\n")
            } else {
                format!("{instruction} (f{index});\n")
            };
        }
    }
    text + "exists (true)\n"
}

/// What a mode calls a register, if it has it.
fn register_name(mode: Mode, register: &str) -> Option<String> {
    match mode {
        Mode::Legacy => (register != "r9").then(|| register.to_ascii_uppercase().replacen('R', "E", 1)),
        _ => Some(register.to_owned()),
    }
}

impl Reader {
    /// Reads a form, and looks at every flag that it does not leave undefined.
    pub(super) fn new(form: &Form, number: usize) -> Result<Self, String> {
        let defined = FLAGS.iter().map(|(flag, _)| *flag).filter(|flag| !form.undefined.contains(flag));
        let flags: Vec<Flag> = defined.collect();
        let program = read(text(form, number, &flags))?;
        let thread = &program.threads[0];
        let mut instructions = vec![Vec::new(); thread.labels.len()];
        for (index, instruction) in thread.instructions.iter().enumerate() {
            instructions[instruction.source.index()].push(index);
        }
        let names = REGISTERS.iter().filter_map(|register| register_name(form.mode, register));
        let position = |name: String| thread.registers.iter().position(|register| register.name == name);
        let registers = names.map(|name| position(name).expect("registers with values are kept")).collect();
        Ok(Self { mode: form.mode, bits: form.bits, instructions, registers, flags, program })
    }

    /// How a register of the state is kept.
    fn kept(&self, register: u64) -> Value {
        match self.mode {
            Mode::Legacy => register.cast_signed() << 32 >> 32,
            _ => register.cast_signed(),
        }
    }

    fn kept_memory(&self, memory: u64) -> Value {
        match (self.bits, self.mode) {
            (64, _) => memory.cast_signed(),
            (32, Mode::Legacy) => memory.cast_signed() << 32 >> 32,
            (bits, _) => (memory & ((1 << bits) - 1)).cast_signed(),
        }
    }

    /// What the processor's state would be kept as.
    pub(super) fn expected(&self, state: State, flags: u64) -> Outcome {
        Outcome {
            registers: state.registers[..self.registers.len()].iter().map(|register| self.kept(*register)).collect(),
            memory: self.kept_memory(state.memory),
            flags: self.flags.iter().map(|flag| flag.of(flags)).collect(),
        }
    }

    fn outcome(&self, registers: &[Value], memory: impl Fn(Value) -> Value) -> Outcome {
        Outcome {
            registers: self.registers.iter().map(|index| registers[*index]).collect(),
            memory: memory(LOCATION),
            flags: self.flags.iter().map(|flag| memory(flag_address(*flag)) != 0).collect(),
        }
    }

    /// What the program leaves of a state.
    pub(super) fn run(&self, state: State) -> Result<Outcome, String> {
        let mut registers = Vec::new();
        let memory = self.execute(state, &mut registers)?;
        Ok(self.outcome(&registers, |address| memory[cell(address)]))
    }

    /// Whether the program leaves of a state what the processor left of it. It is asked millions of
    /// times: `registers` are kept from one time to the next.
    pub(super) fn agrees(&self, from: State, left: &Left, registers: &mut Vec<Value>) -> bool {
        let Ok(memory) = self.execute(from, registers) else { return false };
        for (index, value) in self.registers.iter().zip(&left.state.registers) {
            if registers[*index] != self.kept(*value) {
                return false;
            }
        }
        for flag in &self.flags {
            if (memory[cell(flag_address(*flag))] != 0) != flag.of(left.flags) {
                return false;
            }
        }
        memory[cell(LOCATION)] == self.kept_memory(left.state.memory)
    }

    /// Runs the program's instructions one after the other; the memory that they leave.
    fn execute(&self, state: State, registers: &mut Vec<Value>) -> Result<[Value; 8], String> {
        let thread = &self.program.threads[0];
        registers.clear();
        registers.resize(thread.registers.len(), 0);
        for (index, value) in self.registers.iter().zip(&state.registers) {
            registers[*index] = self.kept(*value);
        }
        let mut memory = [0; 8];
        memory[cell(LOCATION)] = self.kept_memory(state.memory);
        let mut label = thread.initial;
        'steps: loop {
            let here = &self.instructions[label.index()];
            for index in here {
                let instruction = &thread.instructions[*index];
                match step(&instruction.action, registers, &mut memory) {
                    Ok(true) => {
                        label = instruction.target;
                        continue 'steps;
                    }
                    Ok(false) => {}
                    Err(error) => return Err(format!("{error:?}")),
                }
            }
            if here.is_empty() {
                return Ok(memory);
            }
            return Err("no instruction can be executed".to_owned());
        }
    }

    /// The same on the machine of the semantics.
    pub(super) fn run_on_machine(&self, state: State) -> Outcome {
        let mut program = self.program.clone();
        for (index, value) in self.registers.iter().zip(state.registers) {
            program.threads[0].registers[*index].initial = self.kept(value);
        }
        program.initial_memory.insert(LOCATION, self.kept_memory(state.memory));
        program.initial_memory.retain(|_, value| *value != 0);
        let instance = Instance::of(&program).expect("one copy");
        let machine = Machine::new(&program, &instance, Model::Sc);
        let mut now = machine.initial_state();
        let mut events = Vec::new();
        loop {
            events.clear();
            machine.events(&now, 0, &mut events).expect("values exist");
            let Some(event) = events.first() else { break };
            machine.take(&mut now, event);
        }
        self.outcome(&now.threads()[0].registers, |address| now.memory(address))
    }
}

/// Where the program shows a flag.
fn flag_address(flag: Flag) -> Value {
    // In the order of `FLAGS`, which is that of their declaration.
    LOCATION + 1 + flag as Value
}

/// The cell of an address.
fn cell(address: Value) -> usize {
    usize::try_from(address).expect("the test's addresses are few")
}

/// Reads a test.
pub(super) fn read(text: String) -> Result<Program, String> {
    let source = SourceText::new("form.litmus", text);
    let rendered = |errors: Vec<palisade::syntax::Diagnostic>| -> String {
        errors.iter().map(|error| render(error, &source, false)).collect()
    };
    litmus::read(source.clone()).map(|test| test.program).map_err(rendered)
}

/// Takes a step, and says whether the copy can.
fn step(
    action: &Action,
    registers: &mut [Value],
    memory: &mut [Value; 8],
) -> Result<bool, palisade::program::EvaluationError> {
    match action {
        Action::Load { register, address } => {
            registers[register.index()] = memory[cell(address.evaluate_address(registers)?)];
        }
        Action::Store { address, value } => {
            memory[cell(address.evaluate_address(registers)?)] = value.evaluate(registers, None)?;
        }
        Action::Assign { register, value } => registers[register.index()] = value.evaluate(registers, None)?,
        Action::Cas { register, address, expected, new } => {
            let at = cell(address.evaluate_address(registers)?);
            let old = memory[at];
            if old == expected.evaluate(registers, None)? {
                memory[at] = new.evaluate(registers, None)?;
            }
            if let Some(register) = register {
                registers[register.index()] = old;
            }
        }
        Action::Rmw { register, address, new } => {
            let at = cell(address.evaluate_address(registers)?);
            let old = memory[at];
            memory[at] = new.evaluate_with_old(registers, old, None)?;
            if let Some(register) = register {
                registers[register.index()] = old;
            }
        }
        Action::Assume(condition) => return condition.holds(registers, None),
        Action::Fence | Action::StoreFence | Action::Nop => {}
        other => panic!("no form has {other:?}"),
    }
    Ok(true)
}
