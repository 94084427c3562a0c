//! The steps of everyone but a delaying attacker.

use super::Tasks;
use super::configuration::{Configuration, Control, Main, Phase, Token};
use crate::CheckFailure;
use crate::program::known::Act;
use crate::tokens::{with_one, without_one};
use palisade_evidence::{Level, LocalState, Tokens};
use palisade_model::program::{Action, Copies, Executor, InstructionId, ThreadId, Value};

/// The tokens of a configuration.
pub(super) type Counts = Vec<(Token, Tokens)>;

/// Someone who executes instructions, with what else there is.
struct Runner {
    on_main: bool,
    local: u32,
    joined: bool,
    /// The tokens without its own.
    rest: Counts,
}

impl Tasks<'_> {
    /// Where one step leads from a configuration. Attackers that cannot come to what they need are
    /// left out.
    pub(super) fn steps(&mut self, from: &Configuration) -> Result<Vec<Configuration>, CheckFailure> {
        let mut found = self.attacker_successors(from)?;
        if let Main::Runs(local) = from.control.main {
            if self.returns(local) {
                let control = Control { main: Main::Idle, ..from.control.clone() };
                found.push(Configuration { control, tokens: from.tokens.clone() });
            }
            let (joined, rest) = (from.control.main_joined, from.tokens.clone());
            self.run(from, &Runner { on_main: true, local, joined, rest }, &mut found)?;
        }
        let events: Vec<(ThreadId, Copies)> = self.program().events().map(|(id, it)| (id, it.copies)).collect();
        for (event, _) in events.iter().filter(|(_, copies)| *copies == Copies::Any) {
            self.occur(from, *event, &from.tokens, &mut found)?;
        }
        for (token, _) in &from.tokens {
            let rest = without_one(&from.tokens, *token);
            match *token {
                Token::Own(local, joined) => {
                    self.run(from, &Runner { on_main: false, local, joined, rest }, &mut found)?;
                }
                Token::Pending(local, joined) => self.begin(from, local, joined, &rest, &mut found),
                Token::Start(event) => self.occur(from, event, &rest, &mut found)?,
            }
        }
        Ok(found)
    }

    /// A pending task begins when the main thread is idle. After the attacker's load it or the main
    /// thread must be on the path, and the main thread is afterwards.
    fn begin(&self, from: &Configuration, local: u32, joined: bool, rest: &Counts, found: &mut Vec<Configuration>) {
        self.attacker_goes_on(from, &[local], rest, found);
        let main_joined = from.control.main_joined || joined;
        let may = main_joined || !matches!(from.control.phase, Phase::Helped(_));
        if from.control.main == Main::Idle && may {
            let control = Control { main: Main::Runs(local), main_joined, ..from.control.clone() };
            found.push(Configuration { control, tokens: rest.clone() });
        }
    }

    /// An event occurs when the main thread is idle and the guard holds. The guard is a read by the
    /// main thread; after the attacker's load that one must be on the path, or the read must join.
    fn occur(
        &mut self,
        from: &Configuration,
        event: ThreadId,
        rest: &Counts,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        self.attacker_occurs(from, event, rest, found)?;
        let mut control = from.control.clone();
        if control.main != Main::Idle {
            return Ok(());
        }
        let memory = control.memory;
        let Some(read) = self.guard(event, control.locked, |tasks, address| tasks.model.value_in(memory, address))
        else {
            return Ok(());
        };
        if let Phase::Helped(path) = &mut control.phase {
            let joins = read.is_some_and(|address| path.levels.get(&address) == Some(&Level::Store));
            if !control.main_joined && !joins {
                return Ok(());
            }
            path.levels_rise(read.map(|address| (address, Level::Load)));
            control.main_joined = true;
        }
        let states = self.first_states(event, &[])?;
        let mains =
            if states.is_empty() { vec![Main::Blocked] } else { states.iter().copied().map(Main::Runs).collect() };
        for main in mains {
            let control = Control { main, ..control.clone() };
            found.push(Configuration { control, tokens: rest.clone() });
        }
        Ok(())
    }

    /// The address that a guard reads, if there is a guard; nothing when the event cannot occur.
    /// `read` says what the main thread would read.
    #[allow(clippy::option_option, reason = "an event may lack a guard")]
    pub(super) fn guard(
        &self,
        event: ThreadId,
        locked: bool,
        read: impl Fn(&Self, Value) -> Value,
    ) -> Option<Option<Value>> {
        let Some(guard) = self.program().thread(event).guard() else { return Some(None) };
        let address = guard.read_address().ok()?;
        let holds = guard.admits(read(self, address), self.program().domain).unwrap_or(false);
        (holds && !locked).then_some(Some(address))
    }

    /// One instruction of the main thread, of a thread or of a task on a thread of its own.
    fn run(
        &mut self,
        from: &Configuration,
        runner: &Runner,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let LocalState { thread, label, .. } = *self.model.local(runner.local);
        for id in self.model.instructions_at(thread, label).to_vec() {
            self.delay(from, runner.on_main, runner.local, id, &runner.rest, found)?;
            let action = &self.model.instruction(thread, id).action;
            if matches!(action, Action::Post { .. }) {
                let is_helped = matches!(from.control.phase, Phase::Helped(_));
                if runner.joined || !is_helped {
                    let registers = self.model.local(runner.local).registers.clone();
                    for posted in self.posted(thread, id, &registers, runner.joined)? {
                        let rest = with_some(&runner.rest, posted)?;
                        self.settle(&from.control, runner, (id, registers.clone()), &rest, found)?;
                    }
                }
            } else {
                self.access(from, runner, id, found)?;
            }
        }
        Ok(())
    }

    /// An instruction on memory, the lock or the buffer.
    fn access(
        &mut self,
        from: &Configuration,
        runner: &Runner,
        id: InstructionId,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let mut control = from.control.clone();
        let Some(effect) = self.model.effect((control.memory, control.locked), runner.local, id)? else {
            return Ok(());
        };
        let LocalState { thread, holding, .. } = *self.model.local(runner.local);
        let mut joined = runner.joined;
        if let Phase::Helped(path) = &mut control.phase {
            match path.follow(Act::of(&self.model.instruction(thread, id).action, effect.access, holding), joined) {
                Some(on_path) => joined = on_path,
                None => return Ok(()),
            }
        }
        if effect.holding != holding {
            control.locked = effect.holding;
        }
        if let Some((address, value)) = effect.write {
            control.memory = self.model.written(control.memory, address, value);
        }
        let runner = Runner { joined, rest: runner.rest.clone(), ..*runner };
        let rest = runner.rest.clone();
        self.settle_holding(&control, &runner, (id, effect.registers), effect.holding, &rest, found)
    }

    fn settle(
        &mut self,
        control: &Control,
        runner: &Runner,
        after: (InstructionId, Vec<Value>),
        rest: &Counts,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let holding = self.model.local(runner.local).holding;
        self.settle_holding(control, runner, after, holding, rest, found)
    }

    /// The configurations in which someone has settled after an instruction that left the registers
    /// so.
    fn settle_holding(
        &mut self,
        control: &Control,
        runner: &Runner,
        (id, registers): (InstructionId, Vec<Value>),
        holding: bool,
        rest: &Counts,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let thread = self.model.local(runner.local).thread;
        let label = self.model.instruction(thread, id).target;
        let states = self.model.settle_as(LocalState { thread, label, registers, holding }, true)?;
        let joined = runner.joined;
        if runner.on_main {
            let mains =
                if states.is_empty() { vec![Main::Blocked] } else { states.iter().copied().map(Main::Runs).collect() };
            for main in mains {
                let control = Control { main, main_joined: joined, ..control.clone() };
                found.push(Configuration { control, tokens: rest.clone() });
            }
            return Ok(());
        }
        for token in self.own_tokens(&states, joined) {
            found.push(Configuration { control: control.clone(), tokens: with_some(rest, token)? });
        }
        Ok(())
    }

    /// The tokens that someone on a thread of its own may be in such states: none where it has come
    /// to its end, or has stopped.
    fn own_tokens(&self, states: &[u32], joined: bool) -> Vec<Option<Token>> {
        if states.is_empty() {
            return vec![None];
        }
        states.iter().map(|state| (!self.is_at_end(*state)).then_some(Token::Own(*state, joined))).collect()
    }

    /// The tokens that a post may make: none where the task does nothing at all.
    pub(super) fn posted(
        &mut self,
        thread: ThreadId,
        id: InstructionId,
        registers: &[Value],
        joined: bool,
    ) -> Result<Vec<Option<Token>>, CheckFailure> {
        let domain = self.program().domain;
        let instruction = self.model.instruction(thread, id);
        let Action::Post { executor, task, arguments } = &instruction.action else { return Ok(vec![None]) };
        let value =
            |it: &palisade_model::program::Expression| self.model.value(thread, id, it.evaluate(registers, domain));
        let values = arguments.iter().map(value).collect::<Result<Vec<Value>, CheckFailure>>()?;
        let states = self.first_states(*task, &values)?;
        Ok(match executor {
            Executor::Any => self.own_tokens(&states, joined),
            Executor::Main if states.is_empty() => vec![None],
            Executor::Main => states.iter().copied().map(|state| Some(Token::Pending(state, joined))).collect(),
        })
    }
}

/// Counts with one more of something, or of nothing.
pub(super) fn with_some(counts: &Counts, token: Option<Token>) -> Result<Counts, CheckFailure> {
    match token {
        Some(token) => with_one(counts, token),
        None => Ok(counts.clone()),
    }
}
