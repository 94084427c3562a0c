//! Violations are shown in as few steps as they take: against all computations that are shorter,
//! and in an algorithm whose violation nets find with a detour.

use crate::checked::check;
use crate::documents;
use crate::environment::{is_long_run, seeds};
use crate::piped::palisade_reading;
use palisade::evidence::Witness;
use palisade::program::{Copies, InstructionId, Program};
use palisade::robustness::{CheckOptions, Verdict, Violation};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{
    CopyId, Effect, Event, Instance, Machine, Model, State, Step, StepKind, replay, shortest_cycle,
};
use palisade::verify::check_witness;
use rayon::prelude::*;
use std::process::Output;

/// The filter lock: G. L. Peterson, Myths about the mutual exclusion problem, Information
/// Processing Letters 12(3), 1981, for this many threads.
fn filter_lock(threads: usize) -> String {
    let mut text = format!("program FilterLock\naddress level[{}], last_in[{threads}], inside\n", threads + 1);
    for me in 1..=threads {
        text += &format!(
            "thread t{me} regs stage = 1, other, seen, last, others init announce begin
  announce: mem[level + {me}] <- stage;
  give_way: mem[last_in + stage] <- {me};
  start: other <- 1; goto skip;
  skip: assert other = {me}; goto next;
  skip: assert other != {me}; goto look;
  look: seen <- mem[level + other];
  ahead: assert seen >= stage; goto whose;
  ahead: assert seen < stage; goto next;
  whose: last <- mem[last_in + stage];
  insist: assert last = {me}; goto start;
  insist: assert last != {me}; goto climb;
  next: other <- other + 1;
  every: assert other <= {threads}; goto skip;
  every: assert other > {threads}; goto climb;
  climb: stage <- stage + 1;
  top: assert stage < {threads}; goto announce;
  top: assert stage >= {threads}; goto critical;
  critical: others <- mem[inside];
  alone: ensure others = 0;
  occupy: mem[inside] <- 1;
  vacate: mem[inside] <- 0;
  leave: mem[level + {me}] <- 0;
  again: stage <- 1; goto announce;
end
"
        );
    }
    text
}

fn palisade(command: &str, options: &[&str], text: &str) -> Output {
    palisade_reading(&[&[command, "-", "--from", "native"], options].concat(), text)
}

/// The rows of the first table in a report, its header left out.
fn rows(text: &str) -> Vec<&str> {
    let table = text.lines().skip_while(|line| !line.contains('┼')).skip(1);
    table.take_while(|line| line.contains('│')).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// Rows of the violation that a check reports.
fn length(options: &[&str]) -> usize {
    let output = palisade("check", &[&["--ask", "robustness"], options].concat(), &filter_lock(3));
    assert_eq!(output.status.code(), Some(1), "{options:?}");
    let text = stdout(&output);
    assert!(!text.contains("cut off"), "{options:?}\n{text}");
    rows(&text).len()
}

/// Two threads show the violation, whatever found it and whatever other threads there are.
#[test]
fn a_filter_lock_of_three_threads() {
    let alone = length(&["--threads", "t3=0"]);
    assert!(alone <= 17, "{alone} rows");
    for options in [&[][..], &["--all"], &["--nets"], &["--threads", "all=*"], &["--threads", "t3=*"]] {
        assert_eq!(length(options), alone, "{options:?}");
    }
}

/// With steps in registers, rows are numbered from 1 without a gap, an assertion shows its
/// condition, and so does JSON, without prose to be read.
#[test]
fn rows_and_steps() {
    let text = stdout(&palisade("check", &["--ask", "robustness", "-v"], &filter_lock(3)));
    for (index, row) in rows(&text).into_iter().enumerate() {
        let number = row.split('│').next().map(str::trim);
        assert_eq!(number, Some((index + 1).to_string().as_str()), "{text}");
    }
    assert!(text.contains("skip: assert other != 1"), "{text}");
    let document = documents::read(stdout(&palisade("check", &["--ask", "robustness", "--json"], &filter_lock(3))));
    let steps = document["answers"][0]["witness"]["steps"].as_array().expect("steps").clone();
    assert_eq!(document["answers"][0]["witness"]["shortest"], true);
    assert_eq!(steps.last().expect("a step")["row"], rows(&text).len());
    for step in &steps {
        let kind = step["kind"].as_str().expect("a kind");
        let has = |key: &str| !step[key].is_null();
        match kind {
            "load" => assert!(has("address") && step["value"].is_i64() && has("register"), "{step}"),
            "store" | "flush" => assert!(has("address") && step["value"].is_i64(), "{step}"),
            "assign" => assert!(has("register") && step["value"].is_i64(), "{step}"),
            "assert" | "ensure" => assert!(has("condition"), "{step}"),
            other => panic!("{other}"),
        }
        assert!(has("text") && has("row") && has("thread"), "{step}");
    }
    let stores = |kind: &str| steps.iter().filter(|step| step["kind"] == kind).count();
    assert_eq!(stores("store"), stores("flush"));
}

/// The number of jobs changes neither the violation nor what the report says about it.
#[test]
fn the_number_of_jobs_changes_nothing() {
    let answers: Vec<String> = ["1", "4"]
        .iter()
        .map(|jobs| stdout(&palisade("check", &["--ask", "robustness", "--jobs", jobs], &filter_lock(3))))
        .collect();
    assert_eq!(answers[0], answers[1]);
}

/// Looks for a witness of an attack with fewer steps, through all computations of its form.
struct Shorter<'p> {
    program: &'p Program,
    instance: &'p Instance,
    violation: &'p Violation,
    machine: Machine<'p>,
    steps: Vec<Step>,
    /// The attacker, and when it issued st_A.
    attacker: Option<(CopyId, usize)>,
    /// When it executed ld_A.
    load: Option<usize>,
}

impl Shorter<'_> {
    /// Whether the steps so far can be continued to a witness that is shorter than the violation.
    fn exists(&mut self, state: &State) -> bool {
        let left = self.violation.steps.len() - 1 - self.steps.len();
        if left < self.needed(state) {
            return false;
        }
        if let (Some((attacker, issue)), Some(load)) = (self.attacker, self.load) {
            let position = self.machine.position(attacker).expect("the attacker is there");
            let buffered = state.threads()[position].buffer.len();
            if self.is_witness(attacker, issue, load, buffered) {
                return true;
            }
        }
        if left == 0 {
            return false;
        }
        let copies = self.machine.copies().len();
        (0..copies).any(|position| {
            let mut events = Vec::new();
            self.machine.events(state, position, &mut events).expect("values exist");
            events.into_iter().any(|event| self.may_take(&event) && self.take(state, &event))
        })
    }

    /// Steps that every witness takes from here on: those of the attacker, and one of a helper
    /// after ld_A.
    fn needed(&self, state: &State) -> usize {
        let Some((attacker, _)) = self.attacker else { return 4 };
        let position = self.machine.position(attacker).expect("the attacker is there");
        state.threads()[position].buffer.len() + if self.load.is_none() { 2 } else { 0 }
    }

    /// Whether a step is of the form of a witness: all stores but the attacker's are flushed by
    /// `take`.
    fn may_take(&self, event: &Event) -> bool {
        let by_attacker = self.attacker.is_some_and(|(attacker, _)| attacker == event.step.copy);
        event.step.kind != StepKind::Flush && !(by_attacker && self.load.is_some())
    }

    fn take(&mut self, state: &State, event: &Event) -> bool {
        let (length, attacker, load) = (self.steps.len(), self.attacker, self.load);
        let attack = self.violation.attack;
        let executes = |wanted: InstructionId| {
            event.step.copy.thread == attack.thread
                && matches!(event.step.kind, StepKind::Execute { instruction, .. } if instruction == wanted)
        };
        let after = self.machine.successor(state, event);
        self.steps.push(event.step);
        let by_attacker = attacker.is_some_and(|(attacker, _)| attacker == event.step.copy);
        let mut found = false;
        if matches!(event.effect, Effect::Issue { .. }) && !by_attacker {
            if attacker.is_none() && executes(attack.store) {
                self.attacker = Some((event.step.copy, length));
                found = self.fits() && self.exists(&after);
                self.attacker = None;
            }
            let flush = Step { copy: event.step.copy, kind: StepKind::Flush };
            if !found && let Ok(flushed) = self.machine.event(&after, flush) {
                self.steps.push(flush);
                found = self.fits() && self.exists(&self.machine.successor(&after, &flushed));
            }
        } else {
            if by_attacker && executes(attack.load) {
                self.load = Some(length);
                found = self.fits() && self.exists(&after);
                self.load = None;
            }
            found = found || self.fits() && self.exists(&after);
        }
        self.steps.truncate(length);
        (self.attacker, self.load) = (attacker, load);
        found
    }

    fn fits(&self) -> bool {
        self.steps.len() < self.violation.steps.len()
    }

    /// Whether the steps, and the flushes that remain, are a witness.
    fn is_witness(&self, attacker: CopyId, store_step: usize, load_step: usize, buffered: usize) -> bool {
        let mut steps = self.steps.clone();
        steps.extend((0..buffered).map(|_| Step { copy: attacker, kind: StepKind::Flush }));
        let Ok(replayed) = replay(self.program, self.instance, Model::Tso, &steps) else { return false };
        let Some(cycle) = shortest_cycle(&replayed.trace) else { return false };
        let attack = self.violation.attack;
        let (store, load) = (attack.store, attack.load);
        let instance = self.instance.clone();
        check_witness(self.program, &Witness { instance, attacker, store, load, store_step, load_step, steps, cycle })
            .is_ok()
    }
}

/// Checks a program; the number of steps of its violation, when it has one, than which no witness
/// is shorter.
fn shortest(name: &str, program: &Program, options: &CheckOptions) -> Option<usize> {
    let checked = check(program, options).ok()?;
    let violation = checked.violation.filter(|_| checked.verdict == Verdict::NotRobust)?;
    assert!(violation.shortest, "{name}");
    if violation.steps.len() > MOST_STEPS {
        return None;
    }
    let instance = violation.instance.clone();
    let machine = Machine::new(program, &instance, Model::Tso);
    let initial = machine.initial_state();
    let mut shorter = Shorter {
        program,
        instance: &instance,
        violation: &violation,
        machine,
        steps: Vec::new(),
        attacker: None,
        load: None,
    };
    assert!(!shorter.exists(&initial), "{name}: {} steps are not the fewest\n{program:?}", violation.steps.len());
    Some(violation.steps.len())
}

/// Violations with more steps are left alone: all shorter computations are too many.
const MOST_STEPS: usize = 10;

const SMALL: Shape = Shape {
    copies: 2,
    labels: 3,
    total_labels: 6,
    addresses: 2,
    branches: 25,
    fences: 6,
    rmws: 10,
    sections: 15,
    indirect: 10,
    domains: 15,
    overtaken: 50,
    choices: 0,
    loops: 0,
    any: 0,
    store_fences: 0,
    stores_first: 0,
    properties: 0,
    joined: 0,
    cycles: 0,
};

#[test]
fn no_computation_is_shorter() {
    let seeds = if is_long_run() { 60_000 } else { 500u64 };
    let found: usize = (0..seeds)
        .into_par_iter()
        .filter_map(|seed| {
            let program = random::program(seed, &SMALL);
            let length = shortest(&format!("seed {seed}"), &program, &CheckOptions::default())?;
            // Values may grow in the nets that do not grow in the program.
            if let Ok(on_nets) = check(&program, &CheckOptions { nets: true, ..CheckOptions::default() }) {
                let steps = on_nets.violation.expect("not robust").steps.len();
                assert_eq!(steps, length, "seed {seed} on nets");
            }
            Some(())
        })
        .count();
    assert!(found > 6, "{found} violations");
}

/// With any number of copies the violation keeps the smallest instance.
#[test]
fn no_computation_of_the_smallest_instance_is_shorter() {
    let found: usize = seeds(350, 3_500)
        .into_par_iter()
        .filter_map(|seed| {
            let mut program = random::program(5000 + seed, &SMALL);
            program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
            shortest(&format!("seed {seed}"), &program, &CheckOptions::default())
        })
        .count();
    assert!(found > 6, "{found} violations");
}
