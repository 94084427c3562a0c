//! Crowds: copies that a computation counts and does not name, since a counter comes around only
//! among very many.

use crate::checked::{check, prove};
use palisade::evidence::{Evidence, ProgramSubject, Witness};
use palisade::program::{InstructionId, Program, SourceText, ThreadId};
use palisade::properties::{Answer, ProveOptions};
use palisade::robustness::{CheckOptions, Verdict, Violation, witness_evidence};
use palisade::semantics::crowd::is_crowd;
use palisade::semantics::{CopyId, Edge, Event, Instance, Machine, Model, NodeId, Step, StepKind};
use palisade::syntax::{Format, read};
use palisade::verify::check_witness;
use std::path::Path;

/// A model, with other copies and another domain.
fn model(name: &str, copies: &str, domain: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
    let text = std::fs::read_to_string(path).expect("the model is there");
    let mut program = read(SourceText::new("crowds.pal", text), Format::Native).expect("it is a program").program;
    program.override_copies(&[format!("worker={copies}").parse().expect("copies")]).expect("it has workers");
    program.override_domain(Some(domain.parse().expect("a domain")), true).expect("it contains 0");
    program
}

/// The violation of a program that is not robust.
fn violation(program: &Program) -> Violation {
    let checked = check(program, &CheckOptions::default()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::NotRobust);
    checked.violation.expect("what is not robust has a violation")
}

/// The witness in which each copy of a crowd takes its own steps.
pub(crate) fn one_by_one(witness: &Witness) -> Witness {
    let mut steps: Vec<Step> = Vec::new();
    let mut more = 0;
    for step in &witness.steps {
        let StepKind::Crowd { instruction, copies } = step.kind else {
            steps.push(*step);
            continue;
        };
        let way: Vec<StepKind> = steps.iter().filter(|own| own.copy == step.copy).map(|own| own.kind).collect();
        let before = steps.len();
        steps.push(Step { kind: StepKind::Execute { instruction, chosen: None }, ..*step });
        for copy in 1..copies {
            let copy = CopyId { copy: step.copy.copy + copy, ..step.copy };
            let execute = StepKind::Execute { instruction, chosen: None };
            steps.extend(way.iter().copied().chain([execute]).map(|kind| Step { copy, kind }));
        }
        more += steps.len() - before - 1;
    }
    // Crowds come before the delayed store.
    Witness { store_step: witness.store_step + more, load_step: witness.load_step + more, steps, ..witness.clone() }
}

/// One copy more than there are tickets breaks a ticket lock, and no fewer do.
#[test]
fn tickets_come_around() {
    for (domain, tickets) in [("0..4", 5), ("-4..3", 8), ("0..15", 16), ("0..31", 32_u64)] {
        let lock = model("ticket-lock.pal", "*", domain);
        let found = violation(&lock);
        assert!(found.has_crowd() && found.instance_minimal, "{domain}");
        assert_eq!(found.instance.total(), tickets + 1, "{domain}");
        let witness = witness_evidence(&found);
        assert_eq!(check_witness(&lock, &one_by_one(&witness)), Ok(()), "{domain}");
        // Whatever the number of other copies.
        let more = model("ticket-lock.pal", &(tickets + 50).to_string(), domain);
        assert_eq!(violation(&more).instance.total(), tickets + 50, "{domain}");
    }
}

/// The counter of a spinlock comes around below: it is 1 when free, and each copy that tries takes
/// one off.
#[test]
fn spinlocks_come_around() {
    for (domain, copies) in [("-8..7", 10), ("-128..127", 130), ("-2147483648..2147483647", 2_147_483_650)] {
        let lock = model("linux-spinlock.pal", "*", domain);
        let found = violation(&lock);
        assert!(found.has_crowd(), "{domain}");
        assert_eq!(found.instance.total(), copies, "{domain}");
        if copies < 1000 {
            assert_eq!(check_witness(&lock, &one_by_one(&witness_evidence(&found))), Ok(()), "{domain}");
        }
    }
}

/// Where few copies do, nobody counts many.
#[test]
fn few_copies_do() {
    let text = "program p domain 0..255 wrap address x, y, n
        thread t [*] regs r, s init a begin
          a: r <- fetch_add(mem[n], 1); b: mem[x] <- 1; c: s <- mem[y];
        end
        thread u [*] regs r, s init a begin a: mem[y] <- 1; b: s <- mem[x]; end";
    let program = read(SourceText::new("few.pal", text), Format::Native).expect("it is a program").program;
    let found = violation(&program);
    assert!(!found.has_crowd() && found.instance.total() == 2);
}

/// Evidence goes through its text, and what says too much of a crowd is rejected.
#[test]
fn crowds_that_are_none() {
    let lock = model("ticket-lock.pal", "*", "0..31");
    let witness = witness_evidence(&violation(&lock));
    assert_eq!(check_witness(&lock, &witness), Ok(()));
    let place = witness.steps.iter().position(|step| matches!(step.kind, StepKind::Crowd { .. })).expect("a crowd");
    let StepKind::Crowd { instruction, copies } = witness.steps[place].kind else { unreachable!("it is a crowd's") };
    let with = |kind: StepKind| {
        let mut other = witness.clone();
        other.steps[place].kind = kind;
        other
    };
    let mut forged = vec![
        ("fewer", with(StepKind::Crowd { instruction, copies: copies - 1 })),
        ("more than there are", with(StepKind::Crowd { instruction, copies: copies + 32 })),
        ("none", with(StepKind::Crowd { instruction, copies: 0 })),
        ("one", with(StepKind::Execute { instruction, chosen: None })),
        ("very many", with(StepKind::Crowd { instruction, copies: u64::MAX })),
    ];
    let store = lock.threads[0].instruction_ids().find(|(_, own)| own.action.addition().is_none());
    let (store, _) = store.expect("other instructions");
    forged.push(("of another instruction", with(StepKind::Crowd { instruction: store, copies })));
    let leader = witness.steps[place].copy;
    let mut acts = witness.clone();
    let member = CopyId { copy: leader.copy + 1, ..leader };
    acts.steps.push(Step { copy: member, kind: StepKind::Execute { instruction, chosen: None } });
    forged.push(("whose copies act once more", acts));
    let mut counts = witness.instance.counts().to_vec();
    counts[0] -= 1;
    forged.push(("with a copy less", Witness { instance: Instance::new(counts), ..witness.clone() }));
    let mut through = witness.clone();
    let node = NodeId { position: usize::try_from(leader.copy).expect("few"), index: 0 };
    through.cycle[0] = Edge { from: node, ..through.cycle[0] };
    forged.push(("on the cycle", through));
    for (what, other) in forged {
        assert!(check_witness(&lock, &other).is_err(), "a crowd {what}");
    }
    // In 16 tickets as in 32, copy 33 draws the first one's; in 19 it does not.
    let other = model("ticket-lock.pal", "*", "0..18");
    assert!(check_witness(&other, &witness).is_err(), "another width");
}

#[test]
fn crowds_are_written_and_read() {
    let lock = model("ticket-lock.pal", "*", "0..31");
    let witness = witness_evidence(&violation(&lock));
    let subject = ProgramSubject::of(&lock, "native", &[]);
    let evidence = Evidence::NotRobust(subject, witness);
    let text = evidence.to_text();
    assert!(text.replace(char::is_whitespace, "").contains(",null,31]"), "{text}");
    assert_eq!(Evidence::read(text.as_bytes()).expect("it is evidence"), evidence);
}

/// Memory at the first address, the first copy's register, and the events after all steps; nothing
/// where one cannot be taken.
fn after(machine: &Machine<'_>, steps: &[Step]) -> Option<(i64, i64, Vec<Event>)> {
    let mut state = machine.initial_state();
    let mut events = Vec::new();
    for step in steps {
        let event = machine.event(&state, *step).ok()?;
        machine.take(&mut state, &event);
        events.push(event);
    }
    let address = machine.program().addresses[0].address;
    Some((state.memory(address), state.threads()[0].registers[0], events))
}

/// Copies that do one thing and then add a number to an address.
fn adding(domain: &str, (initial, number): (i64, i64), first: &str) -> Option<Program> {
    let text = format!(
        "program p {domain} address n, x initial n = {initial}
        thread t [*] regs r init a begin a: {first}; b: r <- fetch_add(mem[n], {number}); end"
    );
    read(SourceText::new("adds.pal", text), Format::Native).ok().map(|parsed| parsed.program)
}

fn execute(copy: u64, instruction: usize) -> Step {
    let instruction = InstructionId::from_index(instruction);
    Step { copy: worker(copy), kind: StepKind::Execute { instruction, chosen: None } }
}

fn crowd(copies: u64) -> Step {
    Step { copy: worker(0), kind: StepKind::Crowd { instruction: InstructionId::from_index(1), copies } }
}

fn worker(copy: u64) -> CopyId {
    CopyId { thread: ThreadId::from_index(0), copy }
}

/// A crowd comes to what its copies come to one by one, in every domain and for every number that
/// they add.
#[test]
fn a_crowd_is_its_copies_one_by_one() {
    let (mut taken, mut refused) = (0, 0);
    for domain in ["", "domain 0..6", "domain 0..6 wrap", "domain -3..2 wrap", "domain -8..7 wrap"] {
        for (number, initial, copies) in
            [(1, 0, 6), (1, 0, 7), (1, 2, 30), (-1, 0, 3), (-1, 1, 9), (3, 1, 2), (-2, 2, 17), (40, -1, 5), (7, 0, 8)]
        {
            let Some(program) = adding(domain, (initial, number), "nop") else { continue };
            let all = Machine::new(&program, &Instance::new(vec![copies]), Model::Tso);
            let first = Machine::of_copies(&program, vec![worker(0)], Model::Tso);
            let one_by_one: Vec<Step> = (0..copies).flat_map(|own| [execute(own, 0), execute(own, 1)]).collect();
            let expected = after(&all, &one_by_one).map(|(memory, register, _)| (memory, register));
            let found = after(&first, &[execute(0, 0), crowd(copies)]);
            let ends = found.as_ref().map(|(memory, register, _)| (*memory, *register));
            assert_eq!(ends, expected, "{domain} {number} {initial} {copies}");
            let Some((.., events)) = found else {
                refused += 1;
                continue;
            };
            taken += 1;
            assert!(is_crowd(&events, 1, copies) && !is_crowd(&events, 1, copies - 1));
            assert!(!is_crowd(&events, 0, copies), "that is a step of one copy");
        }
    }
    assert!(taken > 20 && refused > 3, "{taken} {refused}");
}

/// What has looked at memory has not come alone.
#[test]
fn crowds_come_alone() {
    let program = adding("", (0, 1), "r <- mem[x]").expect("it is a program");
    let machine = Machine::of_copies(&program, vec![worker(0)], Model::Tso);
    let (memory, _, events) = after(&machine, &[execute(0, 0), crowd(3)]).expect("the machine takes them");
    assert!(memory == 3 && !is_crowd(&events, 1, 3));
}

/// Two copies come to be in the critical section of a ticket lock where one more draws than there
/// are tickets, and of a spinlock where its counter has come around: under SC already. With few
/// copies, the properties hold.
#[test]
fn properties_of_real_widths() {
    for (name, domain, copies) in [
        ("ticket-lock.pal", "0..255", 257),
        ("ticket-lock.pal", "0..4294967295", 4_294_967_297_u64),
        ("linux-spinlock.pal", "-128..127", 130),
    ] {
        for model_of_memory in [Model::Sc, Model::Tso] {
            let lock = model(name, "*", domain);
            let proof = prove(&lock, None, &ProveOptions::new(model_of_memory)).expect("it has no faults");
            let Answer::Violated(found) = &proof.answers[0].answer else { panic!("{name} {domain} is not violated") };
            assert_eq!(found.instance.total(), copies, "{name} {domain}");
            assert!(found.events.iter().any(|event| matches!(event.step.kind, StepKind::Crowd { .. })));
        }
        if copies < 1000 {
            let few = model(name, "2", domain);
            let proof = prove(&few, None, &ProveOptions::new(Model::Tso)).expect("it has no faults");
            assert!(proof.holds(), "{name} {domain}");
        }
    }
}
