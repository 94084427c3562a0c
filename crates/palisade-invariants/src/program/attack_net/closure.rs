//! The net of an attack, closed by the rules of docs/certificate/attack-nets.md from its initial
//! places.
//!
//! `steps` alone says what a step does. A rule says what a step *looks at*: some facts, and the
//! state of one thread or the attacker. The small configuration in which just these hold goes
//! through the steps of the model, and the same facts are read off what comes out: the transition
//! takes the former and puts the latter.
//!
//! The closure takes up places one by one, in the order in which it found them. It examines a
//! combination of places that a rule looks at when it takes up the last of them. Examining some
//! again does no harm, as equal transitions count once.

use super::facts::{fact_of_attacker, size};
use crate::CheckFailure;
use crate::failure::reject;
use crate::program::configuration::{DelayingThread, Phase, Token};
use crate::program::model::Model;
use hashbrown::{HashMap, HashSet};
use palisade_evidence::{Attacker, Fact, Level, LocalState};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId};
use palisade_model::program::{Action, Copies, InstructionId, ThreadId, Value};
use std::rc::Rc;

/// How many places there may be, and how much work (facts looked at, sizes of places and
/// transitions) finding them may be: more is answered by rejection.
const MOST_PLACES: usize = 1 << 18;
const MOST_WORK: usize = 1 << 25;

/// The net of an attack.
pub(super) struct AttackNet {
    pub(super) net: Net,
    /// What each place stands for.
    pub(super) facts: Vec<Fact>,
    /// The places by what they stand for.
    pub(super) places: HashMap<Fact, PlaceId>,
}

/// A store and a load of one thread.
pub(super) type Attack = (ThreadId, InstructionId, InstructionId);

/// Accesses of an open section, ascending by address.
type Section = Vec<(Value, Level)>;

/// An instruction that somebody stands at.
struct Move {
    actor: Actor,
    instruction: InstructionId,
    /// The address in memory that it accesses.
    access: Option<Value>,
}

/// The thread that executes an instruction.
enum Actor {
    Thread(Token),
    Attacker(DelayingThread),
}

/// Builds the net.
struct Closure<'m, 'a> {
    model: &'m mut Model<'a>,
    attack: Attack,
    found: AttackNet,
    /// What the transitions found so far take and put, ascending.
    transitions: HashSet<(Vec<PlaceId>, Vec<PlaceId>)>,
    work: usize,
    /// The places taken up, by what the rules ask for.
    values: HashMap<Value, Vec<Value>>,
    levels: HashMap<Value, Vec<Option<Level>>>,
    sections: Vec<Section>,
    gone: HashSet<Value>,
    is_loaded: bool,
    /// The moves of the threads and attackers taken up: those that access an address in memory, and
    /// those of threads that are not on the path.
    moves_at: HashMap<Value, Vec<Rc<Move>>>,
    moves_off_path: Vec<Rc<Move>>,
}

/// The net of an attack.
pub(super) fn close(model: &mut Model, attack: Attack) -> Result<AttackNet, CheckFailure> {
    let mut closure = Closure {
        model,
        attack,
        found: AttackNet { net: Net::default(), facts: Vec::new(), places: HashMap::new() },
        transitions: HashSet::new(),
        work: 0,
        values: HashMap::new(),
        levels: HashMap::new(),
        sections: Vec::new(),
        gone: HashSet::new(),
        is_loaded: false,
        moves_at: HashMap::new(),
        moves_off_path: Vec::new(),
    };
    closure.start()?;
    let mut taken_up = 0;
    while let Some(fact) = closure.found.facts.get(taken_up).cloned() {
        closure.take_up(fact)?;
        taken_up += 1;
    }
    Ok(closure.found)
}

impl Closure<'_, '_> {
    /// The initial places, and the place that must not be marked.
    fn start(&mut self) -> Result<(), CheckFailure> {
        self.place(Fact::Success)?;
        for fact in [Fact::Locked(false), Fact::Loaded(false), Fact::Idle, Fact::Section(Vec::new())] {
            self.mark(fact, OmegaCount::Finite(Count::ONE))?;
        }
        let program = self.model.program;
        for (id, thread) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
            let settled = self.model.initial_states(id)?;
            let settled: Vec<Fact> =
                settled.iter().copied().map(|local| self.model.thread_fact(Token { local, joined: false })).collect();
            match thread.copies {
                Copies::Any => {
                    for fact in settled {
                        self.mark(fact, OmegaCount::Omega)?;
                    }
                }
                Copies::Exactly(copies) => {
                    let copies = OmegaCount::Finite(copies.into());
                    if let [fact] = settled.as_slice() {
                        self.mark(fact.clone(), copies)?;
                    } else if !settled.is_empty() {
                        self.mark(Fact::Start(id), copies)?;
                        for fact in settled {
                            self.transition("start", vec![Fact::Start(id)], vec![fact])?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Examines what rules can look at now that this place is there.
    fn take_up(&mut self, fact: Fact) -> Result<(), CheckFailure> {
        match fact {
            Fact::Thread(local, joined) => self.take_up_thread(&local, joined)?,
            Fact::Attacker(attacker) => self.take_up_attacker(attacker)?,
            Fact::Memory(address, value) => {
                self.values.entry(address).or_default().push(value);
                for own in self.moves_at(address) {
                    self.steps_before(&own, Some(value))?;
                    for section in self.sections_for(&own) {
                        self.steps_after(&own, Some(value), section.as_ref())?;
                    }
                }
            }
            Fact::Level(address, level) => {
                self.levels.entry(address).or_default().push(level);
                self.success(address)?;
                for own in self.moves_at(address) {
                    self.all_steps_after(&own)?;
                }
                let joining = |section: &&Section| section.iter().any(|(own, _)| *own == address);
                for section in self.sections.iter().filter(joining).cloned().collect::<Vec<_>>() {
                    self.steps_with_section(&section)?;
                }
            }
            Fact::Section(section) => {
                self.sections.push(section.clone());
                self.steps_with_section(&section)?;
            }
            Fact::Loaded(true) => {
                self.is_loaded = true;
                for own in self.moves_off_path.clone() {
                    self.all_steps_after(&own)?;
                }
            }
            Fact::Gone(store_address) => {
                self.gone.insert(store_address);
                self.success(store_address)?;
            }
            Fact::Loaded(false) | Fact::Locked(_) | Fact::Idle | Fact::Start(_) | Fact::Success => {}
        }
        Ok(())
    }

    /// Rules 1 to 3 for a new state of a thread.
    fn take_up_thread(&mut self, local: &LocalState, joined: bool) -> Result<(), CheckFailure> {
        let token = Token { local: self.model.local_number(local.clone()), joined };
        if !joined {
            self.starts_of_delaying(token)?;
        }
        for instruction in self.model.instructions_at(local.thread, local.label).to_vec() {
            if self.model.instruction(local.thread, instruction).action.is_local_under_tso() {
                continue;
            }
            let access = self.model.accessed_address(local.thread, instruction, &local.registers)?;
            let own = self.add_move(Actor::Thread(token), instruction, access)?;
            if !joined {
                self.moves_off_path.push(Rc::clone(&own));
            }
            for value in self.values_for(&own) {
                self.steps_before(&own, value)?;
            }
            self.all_steps_after(&own)?;
        }
        Ok(())
    }

    /// Whether an instruction of the attacker waits for values.
    fn waits(&self, instruction: InstructionId) -> bool {
        self.model.instruction(self.attack.0, instruction).until().is_some()
    }

    /// Rules 4 and 5 for a new state of the attacker.
    fn take_up_attacker(&mut self, attacker: Attacker) -> Result<(), CheckFailure> {
        let thread = self.attack.0;
        let Attacker { label, registers, buffer, store_address } = attacker;
        let delaying = DelayingThread { label, registers, buffer: buffer.into_iter().collect(), store_address };
        if !self.waits(self.attack.2) {
            self.overstepped_load(&delaying, &[])?;
        }
        for instruction in self.model.instructions_at(thread, label).to_vec() {
            // Its stores do not go to memory.
            let access = match self.model.instruction(thread, instruction).action {
                Action::Load { .. } => self.model.accessed_address(thread, instruction, &delaying.registers)?,
                _ => None,
            };
            let access = access.filter(|address| !delaying.buffer.contains_key(address));
            let own = self.add_move(Actor::Attacker(delaying.clone()), instruction, access)?;
            for value in self.values_for(&own) {
                self.steps_before(&own, value)?;
            }
        }
        Ok(())
    }

    /// A new move; its address becomes known.
    fn add_move(
        &mut self,
        actor: Actor,
        instruction: InstructionId,
        access: Option<Value>,
    ) -> Result<Rc<Move>, CheckFailure> {
        let own = Rc::new(Move { actor, instruction, access });
        if let Some(address) = access {
            self.know(address)?;
            self.moves_at.entry(address).or_default().push(Rc::clone(&own));
        }
        Ok(own)
    }

    /// Rules 1 and 4: what a move does before the load, when it finds the value at its address.
    fn steps_before(&mut self, own: &Move, value: Option<Value>) -> Result<(), CheckFailure> {
        match &own.actor {
            Actor::Attacker(delaying) => self.attacker_steps(delaying, own, value),
            Actor::Thread(token) if token.joined => Ok(()),
            Actor::Thread(token) => {
                let mut looked_at = self.looked_at(*token, own, value);
                looked_at.push(Fact::Loaded(false));
                self.thread_steps(*token, own.instruction, &looked_at)
            }
        }
    }

    /// Rule 2: what a thread's move does after the load, when it finds the value at its address,
    /// and the section if it has to look at that.
    fn steps_after(&mut self, own: &Move, value: Option<Value>, section: Option<&Section>) -> Result<(), CheckFailure> {
        let Actor::Thread(token) = own.actor else { return Ok(()) };
        if !token.joined && !self.is_loaded {
            return Ok(());
        }
        let mut looked_at = self.looked_at(token, own, value);
        if !token.joined {
            looked_at.push(Fact::Loaded(true));
        }
        looked_at.extend(section.cloned().map(Fact::Section));
        match own.access {
            Some(address) => self.thread_steps_by_level(token, own.instruction, &looked_at, address),
            None => self.thread_steps(token, own.instruction, &looked_at),
        }
    }

    /// Rule 2 for a move with everything taken up that it may find.
    fn all_steps_after(&mut self, own: &Move) -> Result<(), CheckFailure> {
        for value in self.values_for(own) {
            for section in self.sections_for(own) {
                self.steps_after(own, value, section.as_ref())?;
            }
        }
        Ok(())
    }

    /// Rule 2 for all moves that look at the section, with this one.
    fn steps_with_section(&mut self, section: &Section) -> Result<(), CheckFailure> {
        for own in self.moves_off_path.clone().iter().filter(|own| own.access.is_some()) {
            for value in self.values_for(own) {
                self.steps_after(own, value, Some(section))?;
            }
        }
        Ok(())
    }

    /// What a thread's move looks at in every phase: the value at its address, and the lock, unless
    /// it has that and keeps it.
    fn looked_at(&self, token: Token, own: &Move, value: Option<Value>) -> Vec<Fact> {
        let LocalState { thread, holding, .. } = *self.model.local(token.local);
        let mut facts = Vec::with_capacity(6);
        facts.extend(own.access.zip(value).map(|(address, value)| Fact::Memory(address, value)));
        if !holding || self.model.instruction(thread, own.instruction).action == Action::Unlock {
            facts.push(Fact::Locked(holding));
        }
        facts
    }

    /// The steps of a thread that looks at these facts and at the level of an address.
    fn thread_steps_by_level(
        &mut self,
        token: Token,
        instruction: InstructionId,
        looked_at: &[Fact],
        address: Value,
    ) -> Result<(), CheckFailure> {
        for level in self.levels.get(&address).cloned().unwrap_or_default() {
            let mut looked_at = looked_at.to_vec();
            looked_at.push(Fact::Level(address, level));
            self.thread_steps(token, instruction, &looked_at)?;
        }
        Ok(())
    }

    /// The steps of a thread that looks at these facts. One that raises the level of a further
    /// address (it joins, and the address is in the section) looks at that level, too.
    fn thread_steps(
        &mut self,
        token: Token,
        instruction: InstructionId,
        looked_at: &[Fact],
    ) -> Result<(), CheckFailure> {
        self.spend(looked_at.iter().map(size).sum())?;
        let LocalState { thread, holding, .. } = *self.model.local(token.local);
        let before = self.model.configuration_of(token, holding, looked_at);
        for after in self.model.steps_of(&before, token, thread, instruction)? {
            if let Some(address) = self.model.level_not_looked_at(&after.control, looked_at) {
                return self.thread_steps_by_level(token, instruction, looked_at, address);
            }
            let mut puts: Vec<Fact> =
                looked_at.iter().map(|fact| self.model.afterwards(fact, &after.control)).collect();
            puts.extend(after.tokens.iter().map(|(token, _)| self.model.thread_fact(*token)));
            let mut takes = looked_at.to_vec();
            takes.push(self.model.thread_fact(token));
            self.transition(&self.model.instruction_in_words(thread, instruction), takes, puts)?;
        }
        Ok(())
    }

    /// Rule 3: a thread that stands at the attack's store may become the attacker.
    fn starts_of_delaying(&mut self, token: Token) -> Result<(), CheckFailure> {
        let (thread, store, _) = self.attack;
        let before = self.model.configuration_of(token, false, &[Fact::Loaded(false)]);
        for after in self.model.starts_of_delaying(&before, thread, store)? {
            if let Some(attacker) = self.model.attacker_fact(thread, &after) {
                let takes = vec![self.model.thread_fact(token), Fact::Idle, Fact::Loaded(false)];
                self.transition("delaying starts", takes, vec![attacker, Fact::Loaded(false)])?;
            }
        }
        Ok(())
    }

    /// Rule 4: what the attacker's instruction does, when it finds the value at its address in
    /// memory. If it waits and is the attack's load, rule 5 as well.
    fn attacker_steps(
        &mut self,
        delaying: &DelayingThread,
        own: &Move,
        value: Option<Value>,
    ) -> Result<(), CheckFailure> {
        let thread = self.attack.0;
        let mut looked_at: Vec<Fact> =
            own.access.zip(value).map(|(own, value)| Fact::Memory(own, value)).into_iter().collect();
        if let Action::Load { .. } = self.model.instruction(thread, own.instruction).action {
            looked_at.push(Fact::Locked(false));
        }
        if own.instruction == self.attack.2 && own.access.is_some() && self.waits(own.instruction) {
            self.overstepped_load(delaying, &looked_at[..1])?;
        }
        let before = self.model.delaying_of(delaying, &looked_at);
        let here = fact_of_attacker(delaying);
        self.spend(size(&here))?;
        for after in self.model.attacker_steps(&before, thread, delaying, own.instruction)? {
            if let Some(next) = self.model.attacker_fact(thread, &after) {
                let (mut takes, mut puts) = (looked_at.clone(), looked_at.clone());
                takes.push(here.clone());
                puts.push(next);
                self.transition(&self.model.instruction_in_words(thread, own.instruction), takes, puts)?;
            }
        }
        Ok(())
    }

    /// Rule 5: the attack's load, if the attacker stands there and finds these facts; none of
    /// memory if it does not wait.
    fn overstepped_load(&mut self, delaying: &DelayingThread, found: &[Fact]) -> Result<(), CheckFailure> {
        let (thread, _, load) = self.attack;
        let before = self.model.delaying_of(delaying, &[&[Fact::Locked(false)], found].concat());
        let Some(after) = self.model.overstepped_load(&before, thread, load)? else { return Ok(()) };
        let Phase::Helped(path) = self.model.phase(&after.control).clone() else { return Ok(()) };
        let mut takes = vec![fact_of_attacker(delaying), Fact::Loaded(false), Fact::Locked(false)];
        let mut puts = vec![Fact::Gone(path.store_address), Fact::Loaded(true), Fact::Locked(false)];
        takes.extend_from_slice(found);
        puts.extend_from_slice(found);
        for (address, level) in path.levels.clone() {
            self.know(address)?;
            takes.push(Fact::Level(address, None));
            puts.push(Fact::Level(address, Some(level)));
        }
        self.transition("the load", takes, puts)
    }

    /// Rule 6: success, if the attacker is gone whose first delayed store was to the address.
    fn success(&mut self, address: Value) -> Result<(), CheckFailure> {
        if !self.gone.contains(&address) {
            return Ok(());
        }
        let levels = self.levels.get(&address).cloned().unwrap_or_default();
        for level in levels.into_iter().flatten() {
            let looked_at = [Fact::Level(address, Some(level)), Fact::Locked(false)];
            let with = |fact| looked_at.iter().cloned().chain([fact]).collect();
            self.transition("success", with(Fact::Gone(address)), with(Fact::Success))?;
        }
        Ok(())
    }

    /// The moves that access the address.
    fn moves_at(&self, address: Value) -> Vec<Rc<Move>> {
        self.moves_at.get(&address).cloned().unwrap_or_default()
    }

    /// The values that a move may find at its address; nothing when it accesses none.
    fn values_for(&self, own: &Move) -> Vec<Option<Value>> {
        match own.access {
            Some(address) => self.values.get(&address).into_iter().flatten().copied().map(Some).collect(),
            None => vec![None],
        }
    }

    /// The sections that a move may find; nothing when it does not look.
    fn sections_for(&self, own: &Move) -> Vec<Option<Section>> {
        match own.actor {
            Actor::Thread(Token { joined: false, .. }) if own.access.is_some() => {
                self.sections.iter().cloned().map(Some).collect()
            }
            _ => vec![None],
        }
    }

    /// Sees to it that what is initially known of the address is there.
    fn know(&mut self, address: Value) -> Result<(), CheckFailure> {
        let initial = self.model.program.initial_value(address);
        self.mark(Fact::Memory(address, initial), OmegaCount::Finite(Count::ONE))?;
        self.mark(Fact::Level(address, None), OmegaCount::Finite(Count::ONE))
    }

    /// Marks a place initially.
    fn mark(&mut self, fact: Fact, tokens: OmegaCount) -> Result<(), CheckFailure> {
        let place = self.place(fact)?;
        self.found.net.initial[place.index()] = tokens;
        Ok(())
    }

    /// The place of a fact.
    fn place(&mut self, fact: Fact) -> Result<PlaceId, CheckFailure> {
        if let Some(place) = self.found.places.get(&fact) {
            return Ok(*place);
        }
        if self.found.facts.len() >= MOST_PLACES {
            reject!(Form, "it has more than {MOST_PLACES} places");
        }
        self.spend(size(&fact))?;
        let name = self.model.fact_in_words(self.attack.0, &fact);
        let place = self.found.net.add_place(name, OmegaCount::Finite(Count::ZERO));
        self.found.facts.push(fact.clone());
        self.found.places.insert(fact, place);
        Ok(place)
    }

    /// Adds a transition, unless it is there already or changes nothing.
    fn transition(&mut self, name: &str, takes: Vec<Fact>, puts: Vec<Fact>) -> Result<(), CheckFailure> {
        self.spend(takes.len() + puts.len())?;
        let mut places = |facts: Vec<Fact>| {
            let mut places = facts.into_iter().map(|fact| self.place(fact)).collect::<Result<Vec<_>, _>>()?;
            places.sort_unstable();
            Ok(places)
        };
        let (takes, puts) = (places(takes)?, places(puts)?);
        if takes != puts && self.transitions.insert((takes.clone(), puts.clone())) {
            let arcs = |places: Vec<PlaceId>| places.into_iter().map(|place| (place, Count::ONE)).collect();
            self.found.net.add_transition(name, arcs(takes), arcs(puts));
        }
        Ok(())
    }

    /// Counts work, up to the bound.
    fn spend(&mut self, work: usize) -> Result<(), CheckFailure> {
        self.work += work;
        if self.work > MOST_WORK {
            reject!(Form, "it has too many places and transitions");
        }
        Ok(())
    }
}
