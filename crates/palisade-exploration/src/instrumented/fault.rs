//! Faults of the program under analysis: errors of the user's input that only reachable steps show.

use crate::lazy::NetError;
use palisade_model::limits::{Halt, StopReason};
use palisade_model::program::{
    Action, Copies, Counters, EvaluationError, Heading, Instruction, InstructionId, KeptOut, Obstacle, Program,
    RegisterId, ThreadId, Value,
};
use std::borrow::Cow;

/// What takes more values than an analysis without a domain admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growing {
    /// A register of the fault's thread.
    Register(RegisterId),
    /// An address.
    Address(Value),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An expression has no value.
    Evaluation(EvaluationError),
    /// Values grow beyond the number of distinct values admitted without a domain.
    Growth {
        /// What grows.
        what: Growing,
        /// How many distinct values were admitted.
        limit: usize,
    },
    /// `r <- *` without a domain.
    HavocWithoutDomain,
    /// Nothing is wrong: a limit was reached among the local steps of a thread.
    Stopped(StopReason),
}

/// A reachable step of the program that has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The thread.
    pub thread: ThreadId,
    /// The instruction.
    pub instruction: InstructionId,
    /// What is wrong with it.
    pub kind: FaultKind,
}

impl NetError for Fault {
    fn halt(self) -> Halt<Self> {
        match self.kind {
            FaultKind::Stopped(reason) => Halt::Stopped(reason),
            _ => Halt::Fault(self),
        }
    }
}

impl Fault {
    /// Which limit was reached, where that is all.
    pub fn stopped(&self) -> Option<StopReason> {
        match self.kind {
            FaultKind::Stopped(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether values grow, which a declared domain would mend.
    pub fn is_growth(&self) -> bool {
        matches!(self.kind, FaultKind::Growth { .. })
    }

    /// Why the code of the instruction is not understood, where that is what is wrong.
    pub fn obstacle<'p>(&self, program: &'p Program) -> Option<&'p Obstacle> {
        let instruction = program.thread(self.thread).instructions.get(self.instruction.index())?;
        let is_one = matches!(instruction.action, Action::Assume(_))
            && self.kind == FaultKind::Evaluation(EvaluationError::DivisionByZero);
        program.source.origin(instruction.span).filter(|_| is_one)?.obstacle.as_ref()
    }

    /// The fault in a sentence, with names.
    pub fn describe(&self, program: &Program) -> String {
        self.describe_as(program, if can_grow(program) { "grows: it takes" } else { "takes" })
    }

    /// Why there is no net, in a sentence; the program need not reach what the net has.
    pub fn describe_in_net(&self, program: &Program) -> String {
        match &self.kind {
            FaultKind::Growth { what, limit } => {
                format!("the net takes more than {limit} values of {}", self.name_of(program, *what))
            }
            _ => format!("the net has a step without a value: {}", self.describe(program)),
        }
    }

    /// The fault in a sentence, where it is not known whether the program reaches it.
    pub fn describe_suspicion(&self, program: &Program) -> String {
        self.describe_as(program, "may grow: thread by thread, it seems to take")
    }

    fn describe_as(&self, program: &Program, grows: &str) -> String {
        let place = program.place(self.thread, self.instruction);
        if let Some(obstacle) = self.obstacle(program) {
            return format!("{} at {place}", obstacle.message.lines().next().unwrap_or_default());
        }
        match &self.kind {
            FaultKind::Evaluation(_) if self.is_of_unforeseen_cell(program) => {
                format!(
                    "an address is computed which is none of the cells that executions of the roles have shown, \
                     at {place}"
                )
            }
            FaultKind::Evaluation(_) if self.is_of_unforeseen_value(program) => {
                format!("a value is stored to the cell of a hint that no small instance has stored there, at {place}")
            }
            FaultKind::Evaluation(EvaluationError::DivisionByZero) if program.source.is_listing => {
                format!(
                    "a number is computed that has no value, or not the same on all processors: \
                     a quotient that does not fit, a bit sought in 0, at {place}"
                )
            }
            FaultKind::Evaluation(error) => format!("{error} at {place}"),
            FaultKind::HavocWithoutDomain => format!("`<- *` needs a declared domain at {place}"),
            FaultKind::Stopped(reason) => format!("{reason} among local steps at {place}"),
            FaultKind::Growth { what, limit } => {
                format!("{} {grows} more than {limit} values, at {place}", self.name_of(program, *what))
            }
        }
    }

    /// What grows, by its name.
    fn name_of(&self, program: &Program, what: Growing) -> String {
        let thread = program.thread(self.thread);
        match what {
            Growing::Register(register) => {
                format!("register `{}` of thread `{}`", thread.registers[register.index()].name, thread.name)
            }
            Growing::Address(address) => format!("address `{}`", program.address_name(address)),
        }
    }

    /// What may be growing and what to try, in a sentence; nothing when that is not what is wrong,
    /// or cannot be.
    pub fn describe_growth(&self, program: &Program) -> Option<String> {
        let FaultKind::Growth { what, .. } = self.kind else { return None };
        if !can_grow(program) {
            return None;
        }
        let name = match what {
            Growing::Register(register) => &program.thread(self.thread).registers[register.index()].name,
            Growing::Address(address) => &program.address_name(address),
        };
        let remedy = match what {
            _ if !program.source.is_listing => match program.domain_to_wrap() {
                Some(range) => format!("try `--domain {range} --wrap`"),
                None => "bound it in the program".to_owned(),
            },
            Growing::Address(_) => format!("narrow it to fewer bits: `.narrow([\"{name}\"], 2)` in the harness"),
            Growing::Register(_) => "narrow the cell that it comes from to fewer bits".to_owned(),
        };
        Some(format!("`{name}` may be growing; {remedy}"))
    }

    /// Why what grows is not taken for a counter, or why that does not help, in a sentence; nothing
    /// when that is not what is wrong.
    pub fn describe_counter(&self, program: &Program) -> Option<String> {
        self.describe_counter_among(program, &Counters::of(program))
    }

    /// The same, where these are the counters.
    pub fn describe_counter_among(&self, program: &Program, counters: &Counters) -> Option<String> {
        let FaultKind::Growth { what, .. } = self.kind else { return None };
        if let Some(class) = self.class_of(program, counters, what) {
            let cells = counters.classes()[class].cells.iter();
            let names: Vec<String> = cells.map(|cell| format!("`{}`", program.address_name(*cell))).collect();
            return Some(format!(
                "{} and registers with their values are explored relative to each other, as counters, but come ever further apart",
                names.join(", ")
            ));
        }
        let out = match what {
            Growing::Address(address) => counters.kept_out().iter().find(|out| out.address == address)?,
            Growing::Register(register) => match self.source_of(program, counters, register)? {
                Source::KeptOut(out) => out,
                Source::Computed(instruction) => return Some(self.describe_computed(program, instruction)),
            },
        };
        Some(format!(
            "`{}` is not taken for a counter because of the instruction at {}: counters are copied, \
             moved by constants, cut to some bits and compared with others that are cut to as many, and nothing else",
            program.address_name(out.address),
            program.place(out.thread, out.instruction)
        ))
    }

    /// Where the values of a register of the fault's thread come from that may grow: from what
    /// reaches it in the fewest assignments.
    fn source_of<'c>(&self, program: &Program, counters: &'c Counters, register: RegisterId) -> Option<Source<'c>> {
        let thread = program.thread(self.thread);
        let mut wanted = vec![register];
        let mut next = 0;
        while let Some(register) = wanted.get(next).copied() {
            next += 1;
            let writes = |instruction: &&(InstructionId, &Instruction)| {
                instruction.1.action.written_register() == Some(register)
            };
            for (id, instruction) in thread.instruction_ids().filter(|own| writes(&own)) {
                match instruction.action.address() {
                    Some(address) if !address.is_constant() => return Some(Source::Computed(id)),
                    Some(address) => {
                        let address = address.evaluate_address(&[]).ok();
                        let out = counters.kept_out().iter().find(|out| Some(out.address) == address);
                        if let Some(out) = out {
                            return Some(Source::KeptOut(out));
                        }
                    }
                    None => instruction.action.expressions().for_each(|expression| {
                        expression.for_each_register(&mut |register| {
                            if !wanted.contains(&register) {
                                wanted.push(register);
                            }
                        });
                    }),
                }
            }
        }
        None
    }

    /// Why values that a load finds at computed addresses are no counters, in a sentence.
    fn describe_computed(&self, program: &Program, load: InstructionId) -> String {
        format!(
            "the instruction at {} loads such values from a computed address, \
             and only constants and masks name addresses that hold counters",
            program.place(self.thread, load)
        )
    }

    /// The class of counters that what grows belongs to.
    fn class_of(&self, program: &Program, counters: &Counters, what: Growing) -> Option<usize> {
        let register = match what {
            Growing::Address(address) => return counters.class_of_cell(address),
            Growing::Register(register) => register,
        };
        let instruction = program.thread(self.thread).instruction(self.instruction);
        let members = |label| counters.registers_at(self.thread, label).iter();
        let mut members = members(instruction.target).chain(members(instruction.source));
        members.find(|(member, _)| *member == register).map(|(_, member)| member.class)
    }

    /// Whether machine code computes an address that its reader did not foresee: it divides such
    /// addresses by 0.
    fn is_of_unforeseen_cell(&self, program: &Program) -> bool {
        let action = &program.thread(self.thread).instruction(self.instruction).action;
        program.source.is_listing
            && self.kind == FaultKind::Evaluation(EvaluationError::DivisionByZero)
            && action.address().is_some_and(|address| !address.is_constant())
    }

    /// Whether machine code stores a value that a hint was not given to choose: what is stored is
    /// divided by 0 then.
    fn is_of_unforeseen_value(&self, program: &Program) -> bool {
        self.kind == FaultKind::Evaluation(EvaluationError::DivisionByZero)
            && Heading::of(&program.source).is_some_and(|heading| !heading.hints.is_empty())
    }

    /// What the user can do about it.
    pub fn advice(&self, program: &Program) -> Cow<'static, str> {
        if let FaultKind::Growth { what, .. } = self.kind
            && program.source.is_listing
        {
            return self.narrowing(program, what).into();
        }
        if matches!(self.kind, FaultKind::Growth { .. } | FaultKind::Evaluation(EvaluationError::Overflow)) {
            return Cow::Owned(match program.domain_to_wrap() {
                Some(range) => format!(
                    "declare the values it may take: `domain {range} wrap` in the program, or `--domain {range} --wrap`"
                ),
                None => BOUND.to_owned(),
            });
        }
        Cow::Borrowed(match self.kind {
            FaultKind::Evaluation(_) if self.is_of_unforeseen_cell(program) => {
                "the code may leave its objects, which is an error of its own; if not, smaller objects or fewer copies show all cells sooner"
            }
            FaultKind::Evaluation(EvaluationError::OutsideDomain { .. }) => program.domain_advice(),
            FaultKind::Evaluation(_) if self.is_of_unforeseen_value(program) => {
                "leave the hint out, or ask about fewer copies"
            }
            FaultKind::Growth { .. } | FaultKind::HavocWithoutDomain => {
                "declare the values it may take: `domain 0..7 wrap` in the program, or `--domain 0..7 --wrap`"
            }
            FaultKind::Evaluation(_) => "guard the instruction with an `assume`",
            FaultKind::Stopped(_) => "declare a smaller domain, or admit more time and memory",
        })
    }

    /// How machine code is told to compute in few bits the cells that grow, or that a register
    /// which grows comes from.
    fn narrowing(&self, program: &Program, what: Growing) -> String {
        let counters = Counters::of(program);
        let cells = match (self.class_of(program, &counters, what), what) {
            (Some(class), _) => counters.classes()[class].cells.clone(),
            (None, Growing::Address(address)) => vec![address],
            (None, Growing::Register(register)) => match self.source_of(program, &counters, register) {
                Some(Source::KeptOut(out)) => vec![out.address],
                _ => Vec::new(),
            },
        };
        let names: Vec<String> = cells.iter().map(|cell| format!("{:?}", program.address_name(*cell))).collect();
        let narrow = if names.is_empty() {
            "compute the cell that it comes from in fewer bits, by `narrow`".to_owned()
        } else {
            let names = names.join(", ");
            format!(
                "compute what counts for ever in fewer bits, as many as comparisons need: `.narrow([{names}], 2)` in \
                 the harness, or `narrow = [{{ cells = [{names}], bits = 2 }}]` in the file of roles"
            )
        };
        format!(
            "{narrow}; what does not count for ever needs more values: `--values 1000`, behind `--` for \
             `cargo palisade`"
        )
    }
}

/// What helps where values grow that a domain cannot wrap.
const BOUND: &str = "bound what grows: let a thread wait, or go another way, before the value is too large; a domain \
     that wraps would change which of two values is greater, leave an array, or need too many values";

/// Where values come from that grow.
enum Source<'c> {
    /// From an address that is kept out of classes.
    KeptOut(&'c KeptOut),
    /// From computed addresses, by this instruction.
    Computed(InstructionId),
}

/// Whether values can grow without end: they cannot in so many copies of threads without loops.
fn can_grow(program: &Program) -> bool {
    program.threads.iter().any(|thread| match thread.copies {
        Copies::Exactly(0) => false,
        Copies::Exactly(_) => thread.has_loop(),
        Copies::Any => true,
    })
}
