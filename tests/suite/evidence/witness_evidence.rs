//! TSO witnesses of random programs: those of the engine are accepted, corrupted ones rejected,
//! each kind of corruption a thousand times.
//!
//! Corruptions are chosen so that they must be fatal, whatever the program:
//!
//! - *steps swapped*: two steps of one copy, with none of it between them, that start at different
//!   labels, or a helper's store and its reaching memory: the copy cannot take the later one first;
//! - *flush missing*: as many stores are issued as reach memory, so that one stays buffered, or a
//!   later one comes too soon;
//! - *buffer read past*: the witness names another load, which reads from the attacker's own
//!   buffer; or the cycle is one that is there only when such a load reads memory: the store, then
//!   the load in program order, and back since the load would not have seen the store, or would
//!   have seen another copy's. (What a load reads is not part of a witness, which says the steps
//!   alone; what it claims to have read shows in the edges of the cycle.)
//! - *cycle cut*: a cycle without one of its edges does not close, and an edge to or from another
//!   node is not between the nodes of its neighbours;
//! - *truncated*: a JSON document without its end is none.

use crate::checked::check;
use crate::environment::is_long_run;
use palisade::evidence::{Evidence, ProgramSubject, Witness};
use palisade::program::{Copies, InstructionId, Program, SourceText};
use palisade::robustness::{CheckOptions, Verdict, witness_evidence};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::semantics::{Edge, Effect, Machine, Model, NodeId, Relation, StepKind};
use palisade::syntax::{Format, read};
use palisade::verify::{check_program_evidence, check_witness};
use std::collections::BTreeMap;

/// Every kind of corruption is met so often.
fn enough() -> usize {
    if is_long_run() { 1000 } else { 250 }
}

/// The engine's witness that a program is not robust.
fn witness(program: &Program) -> Option<Witness> {
    let checked = check(program, &CheckOptions::default()).ok()?;
    assert_eq!(checked.verdict == Verdict::NotRobust, checked.violation.is_some());
    checked.violation.as_ref().map(witness_evidence)
}

/// Random programs that are not robust, with their witnesses; now and then with any number of
/// copies.
fn violated(first_seed: u64) -> impl Iterator<Item = (Program, Witness)> {
    (first_seed..).filter_map(|seed| {
        let mut program = random::program(seed, &Shape { fences: 2, total_labels: 8, ..Shape::default() });
        if seed % 20 == 0 {
            program.threads[0].copies = Copies::Any;
        }
        let witness = witness(&program)?;
        Some((program, witness))
    })
}

fn assert_rejected(program: &Program, witness: &Witness, corruption: &str) {
    assert!(check_witness(program, witness).is_err(), "{corruption}: {witness:?} of {program:?}");
}

/// The label at which each step starts, nothing for stores that reach memory.
fn sources(program: &Program, witness: &Witness) -> Vec<Option<usize>> {
    let source = |step: &palisade::semantics::Step| {
        let instruction = step.kind.instruction()?;
        Some(program.thread(step.copy.thread).instruction(instruction).source.index())
    };
    witness.steps.iter().map(source).collect()
}

#[test]
fn corrupted_witnesses_are_rejected() {
    let mut random = Randomness::new(21);
    let (mut swapped, mut unflushed, mut cut, mut redirected, mut claims) = (0, 0, 0, 0, 0);
    for (program, witness) in violated(0) {
        if [swapped, unflushed, cut, redirected, claims].iter().all(|count| *count >= enough()) {
            return;
        }
        assert_eq!(check_witness(&program, &witness), Ok(()), "{witness:?} of {program:?}");
        let labels = sources(&program, &witness);
        for first in 0..witness.steps.len() {
            let copy = witness.steps[first].copy;
            let Some(second) = (first + 1..witness.steps.len()).find(|index| witness.steps[*index].copy == copy) else {
                continue;
            };
            let helper_flushes = copy != witness.attacker && labels[second].is_none();
            let other_label = labels[first].is_some() && labels[second].is_some() && labels[first] != labels[second];
            if helper_flushes || other_label {
                let mut corrupted = witness.clone();
                corrupted.steps.swap(first, second);
                assert_rejected(&program, &corrupted, "steps swapped");
                swapped += 1;
            }
        }
        for index in (0..witness.steps.len()).filter(|index| labels[*index].is_none()) {
            let mut corrupted = witness.clone();
            corrupted.steps.remove(index);
            corrupted.store_step -= usize::from(index < witness.store_step);
            corrupted.load_step -= usize::from(index < witness.load_step);
            assert_rejected(&program, &corrupted, "flush missing");
            unflushed += 1;
        }
        for index in 0..witness.cycle.len() {
            let mut corrupted = witness.clone();
            corrupted.cycle.remove(index);
            assert_rejected(&program, &corrupted, "cycle cut");
            cut += 1;
            let mut corrupted = witness.clone();
            let edge = &mut corrupted.cycle[index];
            let node = if random.below(2) == 0 { &mut edge.from } else { &mut edge.to };
            match random.below(3) {
                0 => node.index += 1 + random.below(3),
                1 => node.position += 1 + random.below(3),
                _ => node.index = usize::MAX,
            }
            assert_rejected(&program, &corrupted, "edge redirected");
            redirected += 1;
        }
        for kind in 0..5 {
            let mut corrupted = witness.clone();
            match kind {
                0 => corrupted.store_step += 1,
                1 => corrupted.load_step = witness.steps.len() + random.below(5),
                2 => corrupted.load = InstructionId::from_index(1_000_000),
                3 => corrupted.attacker.copy += 1 + u64::try_from(random.below(5)).expect("a small number"),
                _ => corrupted.steps.truncate(random.below(witness.steps.len())),
            }
            assert_rejected(&program, &corrupted, "wrong claim");
            claims += 1;
        }
    }
}

/// A text in which each thread stores to its own address, reads it back one or more times, and
/// loads the other's; with private accesses in between.
fn store_buffering(random: &mut Randomness) -> String {
    let mut thread = |name: &str, own: &str, other: &str, copies: &str| {
        let private = format!("z{name}");
        let mut lines = Vec::new();
        let pad = |lines: &mut Vec<String>, random: &mut Randomness, stores: bool| {
            for _ in 0..random.below(3) {
                lines.push(match random.below(3) {
                    0 if stores => format!("mem[{private}] <- {}", random.below(9)),
                    1 => format!("r <- mem[{private}]"),
                    _ => format!("s <- {}", random.below(9)),
                });
            }
        };
        pad(&mut lines, random, true);
        lines.push(format!("mem[{own}] <- {}", 1 + random.below(9)));
        pad(&mut lines, random, true);
        for _ in 0..=random.below(3) {
            lines.push(format!("r <- mem[{own}]"));
        }
        pad(&mut lines, random, false);
        lines.push(format!("s <- mem[{other}]"));
        let body: Vec<String> =
            lines.iter().enumerate().map(|(index, line)| format!("  l{index}: {line}; goto l{};", index + 1)).collect();
        format!("thread {name}{copies} regs r, s init l0 begin\n{}\nend\n", body.join("\n"))
    };
    let (first, second) = (thread("a", "x", "y", ""), thread("b", "y", "x", ""));
    format!("program P\n{first}{second}")
}

/// The witness is rejected with this cycle in place of its own.
fn assert_forged(program: &Program, witness: &Witness, cycle: Vec<Edge>) {
    let corrupted = Witness { cycle, ..witness.clone() };
    let failure = check_witness(program, &corrupted).expect_err("the cycle is not there");
    assert!(failure.detail.contains("not there in the trace"), "{failure}: {corrupted:?} of {program:?}");
}

#[test]
fn loads_from_the_own_buffer_and_truncated_texts_are_rejected() {
    let mut random = Randomness::new(22);
    let (mut read_past, mut forged, mut truncated) = (0, 0, 0);
    while read_past < enough() || forged < enough() || truncated < enough() {
        let text = store_buffering(&mut random);
        let program = read(SourceText::new("p.pal", text.as_str()), Format::Native).unwrap().program;
        let witness = witness(&program).expect("store buffering is a violation");
        assert_eq!(check_witness(&program, &witness), Ok(()), "{witness:?} of {text}");

        let machine = Machine::new(&program, &witness.instance, Model::Tso);
        let mut state = machine.initial_state();
        // The accesses of each copy so far are its nodes; for each address the last node that
        // stores there.
        let mut nodes = [0; 2];
        let mut stored: BTreeMap<(usize, i64), NodeId> = BTreeMap::new();
        for (index, step) in witness.steps.iter().enumerate() {
            let event = machine.event(&state, *step).unwrap();
            machine.take(&mut state, &event);
            if let (Effect::Load { early: true, .. }, StepKind::Execute { instruction, .. }) = (event.effect, step.kind)
            {
                assert_eq!(step.copy, witness.attacker);
                let mut corrupted = witness.clone();
                corrupted.load_step = index;
                corrupted.load = instruction;
                assert_rejected(&program, &corrupted, "buffer read past");
                read_past += 1;
            }
            let position = step.copy.thread.index();
            let node = NodeId { position, index: nodes[position] };
            match event.effect {
                Effect::Load { early: true, address, .. } => {
                    let own = stored[&(position, address)];
                    let edge = |from, to, relation, address| Edge { from, to, relation, address };
                    let program_order = edge(own, node, Relation::ProgramOrder, None);
                    let overlooks = edge(node, own, Relation::Conflict, Some(address));
                    assert_forged(&program, &witness, vec![program_order, overlooks]);
                    forged += 1;
                    if let Some(other) = stored.get(&(1 - position, address)) {
                        let other_source = edge(*other, node, Relation::Source, Some(address));
                        let overlooked = edge(node, *other, Relation::Conflict, Some(address));
                        assert_forged(&program, &witness, vec![other_source, overlooked]);
                        forged += 1;
                    }
                    nodes[position] += 1;
                }
                Effect::Issue { address, .. } => {
                    stored.insert((position, address), node);
                    nodes[position] += 1;
                }
                Effect::Load { .. } | Effect::Rmw { .. } => nodes[position] += 1,
                _ => {}
            }
        }

        let subject = ProgramSubject::of(&program, "native", &[]);
        let written = Evidence::NotRobust(subject, witness);
        let text = written.to_text();
        let read_again = Evidence::read(text.as_bytes()).unwrap();
        assert_eq!(read_again, written);
        assert_eq!(check_program_evidence(&program, &read_again), Ok(()));
        for _ in 0..4 {
            let length = random.below(text.len() - 1);
            assert!(Evidence::read(&text.as_bytes()[..length]).is_err(), "{text} cut after {length} bytes");
            truncated += 1;
        }
    }
}
