//! Corrupted evidence about robustness against concurrency is rejected.

use crate::checked::check_concurrency;
use palisade::concurrency::{ConcurrencyOptions, ConcurrencyVerdict};
use palisade::evidence::{ConcurrencyCertificate, ConcurrencyReason, ConcurrencyWitness, SerialState};
use palisade::program::{Program, SourceText};
use palisade::semantics::tasks::TaskStep;
use palisade::syntax::{Format, read};
use palisade::verify::{check_concurrency_certificate, check_concurrency_witness};
use std::collections::BTreeSet;

/// Robust programs whose evidence has cut main tasks, late tasks and events on the path.
const ROBUST: [&str; 4] = [
    "program Callback address q, w, a, c
     event e1 [1] begin a: post main m(); b: mem[w] <- 1; end
     task m() begin a: mem[q] <- 1; end
     event e2 [1] begin a: post any b(); end
     task b() regs p, s begin
       a: p <- mem[q]; b: assume p = 1; goto c; c: s <- mem[w]; d: assume s = 0; goto e; e: mem[a] <- 1; f: s <- mem[c];
     end
     event e3 [1] begin a: post any d(); end
     task d() regs r begin a: mem[c] <- 1; b: r <- mem[a]; end",
    "program Guarded address busy, data
     event start [*] when mem[busy] = 0 begin a: mem[busy] <- 1; b: post any work(); end
     task work() regs r begin a: r <- fetch_add(mem[data], 1); b: assume r = 0; goto c; c: mem[busy] <- 0; end",
    "program Sections address x, y
     event e [1] begin a: lock; b: mem[x] <- 1; c: mem[y] <- 1; d: unlock; e: post any r(); end
     task r() regs s begin a: s <- mem[x]; end",
    "program Path address x, z
     event e1 [1] begin a: post any p(); end
     task p() regs r begin a: mem[x] <- 1; b: r <- mem[z]; end
     event e2 [1] begin a: post any q(); end
     task q() regs r begin a: r <- mem[x]; b: r <- mem[z]; end",
];

/// Programs that are not robust, by a cycle and by an inversion.
const VIOLATING: [&str; 2] = [
    "program Cycle address x, y
     event e1 [1] begin a: post any p(); end
     task p() regs r begin a: mem[x] <- 1; b: r <- mem[y]; end
     event e2 [1] begin a: post any q(); end
     task q() regs r begin a: mem[y] <- 1; b: r <- mem[x]; end",
    "program Inversion address x
     event e [1] begin a: post main m1(); b: post main m2(); end
     task m1() begin a: mem[x] <- 1; end
     task m2() begin a: mem[x] <- 2; end",
];

fn program(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("it is read").program
}

fn certificate(program: &Program) -> ConcurrencyCertificate {
    let checked = check_concurrency(program, &ConcurrencyOptions::default()).expect("it has a verdict");
    match checked.verdict {
        ConcurrencyVerdict::Robust(certificate) => certificate,
        other => panic!("{}: {other:?}", program.name),
    }
}

fn witness(program: &Program) -> ConcurrencyWitness {
    let checked = check_concurrency(program, &ConcurrencyOptions::default()).expect("it has a verdict");
    match checked.verdict {
        ConcurrencyVerdict::NotRobust(violation) => violation.witness,
        other => panic!("{}: {other:?}", program.name),
    }
}

/// States that stand for less than a state, or for others, each with what was done to it.
fn corrupted(state: &SerialState) -> Vec<(&'static str, SerialState)> {
    let mut found = Vec::new();
    let mut add = |what, change: &dyn Fn(&mut SerialState)| {
        let mut other = state.clone();
        change(&mut other);
        if other != *state {
            found.push((what, other));
        }
    };
    add("a main task is cut", &|state| {
        state.cut.get_or_insert_default();
    });
    add("everything is written after the cut main task", &|state| {
        state.cut.iter_mut().for_each(|cut| *cut = (0..5).map(|address| (address, true)).collect());
    });
    add("pending tasks are late", &|state| state.stack.iter_mut().for_each(|task| task.late = true));
    add("what runs is late", &|state| state.run.iter_mut().for_each(|run| run.task.late = true));
    add("accesses of the path are forgotten", &|state| state.path.truncate(state.path.len().saturating_sub(1)));
    add("a write of the path becomes a read", &|state| state.path.iter_mut().for_each(|level| level.1 = false));
    add("accesses of the event are forgotten", &|state| state.current.truncate(state.current.len().saturating_sub(1)));
    add("what λ must meet is forgotten", &|state| state.spoiling.truncate(state.spoiling.len().saturating_sub(1)));
    add("the event leaves the path", &|state| state.on = false);
    add("a pending task is forgotten", &|state| state.stack.truncate(state.stack.len().saturating_sub(1)));
    add("an event may occur less often", &|state| state.starts.iter_mut().for_each(|left| *left = 0));
    add("λ is forgotten", &|state| state.pivot = None);
    add("an address is on the path twice", &|state| {
        let again = state.path.first().map(|(address, _)| (*address, false));
        state.path.extend(again);
    });
    found
}

#[test]
fn states_that_are_changed_or_missing_are_noticed() {
    let (mut rejected, mut kinds) = (0, BTreeSet::new());
    for text in ROBUST {
        let program = program(text);
        let whole = certificate(&program);
        check_concurrency_certificate(&program, &whole).expect("it is accepted");
        for number in 0..whole.states.len() {
            let mut less = whole.clone();
            let state = less.states.remove(number);
            assert!(check_concurrency_certificate(&program, &less).is_err(), "{}: state {number}", program.name);
            rejected += 1;
            for (what, other) in corrupted(&state) {
                let mut changed = whole.clone();
                changed.states[number] = other;
                let failure = check_concurrency_certificate(&program, &changed);
                assert!(failure.is_err(), "{}: state {number}: {what}", program.name);
                rejected += 1;
                kinds.insert(what);
            }
        }
    }
    assert!(rejected >= 1000, "{rejected} are few");
    // Each way to change a state has met a state that it changes.
    assert_eq!(kinds.len(), 13, "{kinds:?}");
}

#[test]
fn evidence_of_one_program_says_nothing_of_another() {
    let programs: Vec<Program> = ROBUST.iter().map(|text| program(text)).collect();
    for (index, of) in programs.iter().enumerate() {
        let certificate = certificate(of);
        for (other, about) in programs.iter().enumerate().filter(|(other, _)| *other != index) {
            assert!(check_concurrency_certificate(about, &certificate).is_err(), "{index} for {other}");
        }
    }
}

#[test]
fn interleavings_that_are_changed_are_noticed() {
    for text in VIOLATING {
        let program = program(text);
        let whole = witness(&program);
        let rejected = |what: &str, change: &dyn Fn(&mut ConcurrencyWitness)| {
            let mut other = whole.clone();
            change(&mut other);
            assert!(check_concurrency_witness(&program, &other).is_err(), "{}: {what}", program.name);
        };
        check_concurrency_witness(&program, &whole).expect("it is accepted");
        rejected("the last access is missing", &|witness| witness.steps.truncate(witness.steps.len() - 1));
        rejected("an event occurs while the main thread is busy", &|witness| {
            let occurs = witness.steps[0];
            witness.steps.insert(1, occurs);
        });
        rejected("a task begins twice", &|witness| {
            let begins =
                witness.steps.iter().position(|step| matches!(step, TaskStep::Begin { .. })).expect("one does");
            let begin = witness.steps[begins];
            witness.steps.insert(begins, begin);
        });
        rejected("accesses change places", &|witness| match &mut witness.reason {
            ConcurrencyReason::Serializability(edges) => edges[0] = (edges[0].1, edges[0].0),
            ConcurrencyReason::Determinism(first, second) => std::mem::swap(first, second),
        });
        rejected("the kind is another one", &|witness| {
            witness.reason = match &witness.reason {
                ConcurrencyReason::Serializability(edges) => ConcurrencyReason::Determinism(edges[0].0, edges[0].1),
                ConcurrencyReason::Determinism(first, second) => {
                    ConcurrencyReason::Serializability(vec![(*first, *second)])
                }
            };
        });
        rejected("an edge is missing", &|witness| match &mut witness.reason {
            ConcurrencyReason::Serializability(edges) => edges.truncate(edges.len() - 1),
            ConcurrencyReason::Determinism(_, second) => *second += 1,
        });
    }
}
