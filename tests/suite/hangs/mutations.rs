//! Evidence that is tampered with is rejected.

use super::{asked, checked, program};
use palisade::evidence::{
    BufferConfiguration, BufferedLocal, FreeCertificate, StuckGraph, StuckWitness, Tokens, WaitingLocal, WaitingSet,
};
use palisade::hangs::{HangOptions, Verdict};
use palisade::program::{Label, Program, RegisterId};
use palisade::semantics::Model;
use palisade::semantics::graphs::Axioms;
use palisade::verify::{check_free, check_stuck};
use std::sync::Arc;

const FREE: [&str; 3] = [
    "address x, y thread a { x = 1; mfence; await (y == 1); } thread b { y = 1; mfence; await (x == 1); }",
    "address m, ready thread a { lock(m); ready = 1; unlock(m); } \
     thread b [*] { lock(m); unlock(m); await (ready == 1); }",
    "address x thread a { x = 1; mfence; wake(x, all); } thread b [*] { while (x == 0) { wait(x, 0); } }",
];

const STUCK: [&str; 3] = [
    "address x, y, kick thread a { x = 1; if (y == 1) { kick = 1; } } \
     thread b { y = 1; if (x == 0) { await (kick == 1); } }",
    "address x thread a { wake(x, 1); } thread b { wait(x, 0); }",
    "address l thread a [*] { while (xchg(l, 1) != 0) { pause; } }",
];

fn free(text: &str) -> (Program, FreeCertificate) {
    let program = program(&format!("program small\n{text}"));
    match asked(&program, Model::Tso).verdict {
        Verdict::Free(certificate) => (program, Arc::unwrap_or_clone(certificate)),
        other => panic!("{other:?}: {text}"),
    }
}

fn stuck(text: &str) -> (Program, StuckWitness) {
    let program = program(&format!("program small\n{text}"));
    match asked(&program, Model::Tso).verdict {
        Verdict::Stuck(stuck) => (program, stuck.witness()),
        other => panic!("{other:?}: {text}"),
    }
}

#[test]
fn a_set_that_lacks_a_configuration_is_rejected() {
    for text in FREE {
        let (program, certificate) = free(text);
        assert_eq!(check_free(&program, &certificate), Ok(()));
        for index in 0..certificate.set.configurations.len() {
            let mut fewer = certificate.clone();
            fewer.set.configurations.remove(index);
            assert!(check_free(&program, &fewer).is_err(), "{text}: without configuration {index}");
        }
    }
}

#[test]
fn a_set_with_other_counts_memories_or_models_is_rejected() {
    for text in FREE {
        let (program, certificate) = free(text);
        let mut tried = 0;
        for index in 0..certificate.set.configurations.len() {
            for token in 0..certificate.set.configurations[index].tokens.len() {
                let mut other = certificate.clone();
                let (_, count) = &mut other.set.configurations[index].tokens[token];
                *count = match *count {
                    Tokens::Finite(count) => Tokens::Finite(count + 1),
                    Tokens::Omega => Tokens::Finite(other.set.most + 1),
                };
                assert!(check_free(&program, &other).is_err(), "{text}: {index}, {token}");
                tried += 1;
            }
        }
        for index in 0..certificate.set.memories.len() {
            let mut other = certificate.clone();
            other.set.memories[index] = vec![(1, 9)];
            assert!(check_free(&program, &other).is_err(), "{text}: memory {index}");
        }
        let other = FreeCertificate { model: Model::Pso, ..certificate.clone() };
        assert!(certificate.robust.is_none() || check_free(&program, &other).is_err(), "{text}");
        assert!(tried > 0, "{text}");
    }
}

/// Philosophers who take the lower fork first. Steps of some of them are left out.
const PHILOSOPHERS: &str = "address a, b, c, d thread p { lock(a); lock(b); unlock(b); unlock(a); } \
    thread q { lock(b); lock(c); unlock(c); unlock(b); } thread r { lock(c); lock(d); unlock(d); unlock(c); } \
    thread s { lock(a); lock(d); unlock(d); unlock(a); }";

fn with_few_steps(text: &str) -> (Program, Verdict) {
    let program = program(&format!("program small\n{text}"));
    let options = HangOptions { all_steps: 0, ..HangOptions::new(Model::Sc) };
    let found = checked::hangs(&program, &options).expect("steps have a meaning").expect("accepted");
    (program, found.verdict)
}

#[test]
fn a_set_that_leaves_out_what_matters_is_rejected() {
    let (program, Verdict::Free(certificate)) = with_few_steps(PHILOSOPHERS) else { panic!("they do not wait") };
    let Verdict::Free(all) = asked(&program, Model::Sc).verdict else { panic!("they do not wait") };
    let (few, many) = (certificate.set.configurations.len(), all.set.configurations.len());
    assert!(certificate.set.leaves_out && 2 * few < many, "{few} of {many}");
    assert_eq!(check_free(&program, &certificate), Ok(()));
    let is_needed = |index: &usize| {
        let mut fewer = (*certificate).clone();
        fewer.set.configurations.remove(*index);
        check_free(&program, &fewer).is_err()
    };
    // Other movers may lead past a configuration here and there.
    let needed: Vec<usize> = (0..few).filter(is_needed).collect();
    assert!(10 * needed.len() > 9 * few && needed.contains(&0), "{} of {few}", needed.len());
    let mut unsaid = (*certificate).clone();
    unsaid.set.leaves_out = false;
    assert!(check_free(&program, &unsaid).is_err(), "some steps are left out");
    let hopeful = FreeCertificate { is_hopeful: true, ..(*certificate).clone() };
    assert!(check_free(&program, &hopeful).is_err(), "steps that are left out may give hope");
    // The same set about philosophers who hang: each takes the left fork first.
    let left =
        PHILOSOPHERS.replace("lock(a); lock(d); unlock(d); unlock(a);", "lock(d); lock(a); unlock(a); unlock(d);");
    let (hanging, verdict) = with_few_steps(&left);
    assert!(matches!(verdict, Verdict::Stuck(_)), "{verdict:?}");
    assert!(check_free(&hanging, &certificate).is_err(), "they hang");
}

#[test]
fn no_step_is_left_out_of_what_locks_memory() {
    let text = "address x, y thread a { x = 1; } thread b { y = 1; } \
        thread c { atomic { let r = x; } }";
    let (program, verdict) = with_few_steps(text);
    let Verdict::Free(certificate) = verdict else { panic!("{verdict:?}") };
    assert!(!certificate.set.leaves_out);
    let mut said = (*certificate).clone();
    said.set.leaves_out = true;
    assert!(check_free(&program, &said).is_err());
}

#[test]
fn who_spins_alone_does_not_put_off_those_who_hang() {
    // The first goes round without effect, the second with, and two more wait for each other.
    for spins in ["while (x == 0) { pause; }", "while (y < 5) { y = 1 - y; x = y; }"] {
        let text = format!(
            "domain 0..1 address x, y, f, g thread a {{ {spins} }} \
             thread b {{ lock(f); lock(g); unlock(g); unlock(f); }} \
             thread c {{ lock(g); lock(f); unlock(f); unlock(g); }}"
        );
        let (_, verdict) = with_few_steps(&text);
        // While somebody goes on with effects, nobody is stuck.
        assert_eq!(matches!(verdict, Verdict::Stuck(_)), !spins.contains("x = y"), "{spins}: {verdict:?}");
    }
}

/// A counter that grows with the copies, which needs a sum.
const COUNTED: &str = "address n, free initial free = 1 \
    thread a [*] { fetch_add(n, 1); acquire(free); release(free); fetch_sub(n, 1); } thread w { await (n == 0); }";

#[test]
fn sums_and_counters_that_are_tampered_with_are_rejected() {
    let (program, certificate) = free(COUNTED);
    let set = &certificate.set;
    assert!(!set.rows.is_empty() && !set.counters.is_empty(), "{set:?}");
    let mut tried = 0;
    let mut reject = |what: &str, change: &dyn Fn(&mut WaitingSet)| {
        let mut other = certificate.clone();
        change(&mut other.set);
        assert!(check_free(&program, &other).is_err(), "{what}");
        tried += 1;
    };
    for row in 0..set.rows.len() {
        reject("another constant", &|set| set.rows[row].constant += 1);
        for index in 0..set.rows[row].locals.len() {
            reject("another weight of a state", &|set| set.rows[row].locals[index].1 += 1);
        }
        for index in 0..set.rows[row].counters.len() {
            reject("another weight of a counter", &|set| set.rows[row].counters[index].1 += 1);
        }
        for index in 0..set.rows[row].values.len() {
            reject("another weight of a value", &|set| set.rows[row].values[index].2 += 1);
        }
    }
    for index in 0..set.counters.len() {
        reject("a counter that is none", &|set| {
            set.counters.remove(index);
        });
    }
    reject("without sums", &|set| set.rows.clear());
    reject("counted to another number", &|set| set.most += 1);
    assert!(tried > 5, "{tried}");
}

/// An update that adds nothing changes nothing: who goes round with it alone waits for ever.
#[test]
fn who_adds_nothing_does_nothing() {
    let program = program(
        "program small address c, x thread a regs r init a begin
           a: r <- fetch_add(mem[c], 0); b: assume r = 0; goto a; b: assume r = 1; goto d; d: mem[x] <- 1;
         end",
    );
    assert!(matches!(asked(&program, Model::Sc).verdict, Verdict::Stuck(_)));
    let address = program.addresses[0].address;
    let (thread, template) = program.thread_ids().next().expect("it has a thread");
    let local =
        BufferedLocal { thread, label: Some(template.initial), registers: vec![0], holding: false, buffer: Vec::new() };
    let configuration = BufferConfiguration { memory: 0, locked: false, tokens: vec![(0, Tokens::Finite(1))] };
    let live = |label: &Label| if label.name == "b" { vec![RegisterId::from_index(0)] } else { Vec::new() };
    let set = WaitingSet {
        live: vec![template.labels.iter().map(live).collect()],
        most: 1,
        counters: vec![address],
        locals: vec![WaitingLocal { local, asleep: None }],
        memories: vec![Vec::new()],
        configurations: vec![configuration],
        ..WaitingSet::default()
    };
    let (robust, graphs) = (None, None);
    let forged = FreeCertificate { model: Model::Sc, graphs, ignores_timeouts: false, is_hopeful: false, robust, set };
    let failure = check_free(&program, &forged).expect_err("the thread waits for ever");
    assert!(failure.to_string().contains("does more with counter"), "{failure}");
}

#[test]
fn graphs_that_are_tampered_with_are_rejected() {
    let program = program(
        "program small\naddress x, y, k thread a { store(x, 1, relaxed); store(y, 1, relaxed); } \
         thread b { if (load(y, relaxed) == 1) { if (load(x, relaxed) == 0) { await(load(k, relaxed) == 1); } } }",
    );
    let options = HangOptions { graphs: Some(Axioms::C11), ..HangOptions::new(Model::Sc) };
    let asked = |program: &Program| {
        let found = checked::hangs(program, &options).expect("it has a meaning");
        found.expect("it is accepted").verdict
    };
    let Verdict::Stuck(stuck) = asked(&program) else { panic!("the second load need not see the first store") };
    let witness = stuck.witness();
    assert_eq!(check_stuck(&program, &witness), Ok(()));
    let reject = |what: &str, change: &dyn Fn(&mut StuckWitness, &mut StuckGraph)| {
        let (mut other, mut graph) = (witness.clone(), witness.graph.clone().expect("it is a graph"));
        change(&mut other, &mut graph);
        other.graph = Some(graph);
        assert!(check_stuck(&program, &other).is_err(), "{what}");
    };
    reject("all is read last", &|_, graph| graph.older.clear());
    reject("another load reads it", &|_, graph| graph.older[0].0 -= 1);
    reject("it reads what is no write", &|_, graph| graph.older[0].1 = Some(2));
    reject("a step that is not there", &|_, graph| graph.older.push((99, None)));
    reject("a step fewer", &|other, _| other.steps.truncate(other.steps.len() - 2));
    reject("by weaker axioms", &|_, graph| graph.axioms = Axioms::WeakC11);
    reject("on x86", &|other, _| other.model = Model::Tso);
    assert!(check_stuck(&program, &StuckWitness { graph: None, ..witness }).is_err(), "no graph");
    // With release and acquire the load sees it.
    let mut text = program.source.text.clone();
    text = text.replace("store(y, 1, relaxed)", "store(y, 1, release)").replace("load(y, relaxed)", "load(y, acquire)");
    let fixed = super::program(&text);
    assert!(check_stuck(&fixed, &stuck.witness()).is_err(), "release and acquire");
    assert!(!matches!(asked(&fixed), Verdict::Stuck(_)));
}

#[test]
fn evidence_about_timeouts_is_about_the_program_with_them() {
    let timed = program("program small\naddress x thread a { timed wait(x, 0); }");
    let stuck = checked::hangs(&timed, &HangOptions { ignore_timeouts: true, ..HangOptions::new(Model::Tso) });
    let Verdict::Stuck(stuck) = stuck.expect("it has a meaning").expect("it is accepted").verdict else {
        panic!("nobody wakes the sleeper")
    };
    let witness = StuckWitness { ignores_timeouts: false, ..stuck.witness() };
    assert!(check_stuck(&timed, &witness).is_err());
    let Verdict::Free(certificate) = asked(&timed, Model::Tso).verdict else { panic!("time runs out") };
    let other = FreeCertificate { ignores_timeouts: true, ..Arc::unwrap_or_clone(certificate) };
    assert!(check_free(&timed, &other).is_err());
}

#[test]
fn a_set_of_another_program_is_rejected() {
    let (_, certificate) = free(FREE[0]);
    let unfenced = FREE[0].replace("mfence;", "");
    let program = program(&format!("program small\n{unfenced}"));
    assert!(check_free(&program, &certificate).is_err());
}

#[test]
fn a_computation_that_lacks_a_store_or_its_end_is_rejected() {
    for text in STUCK {
        let (program, witness) = stuck(text);
        assert_eq!(check_stuck(&program, &witness), Ok(()));
        let mut nothing = witness.clone();
        nothing.steps.clear();
        assert!(check_stuck(&program, &nothing).is_err(), "{text}: without steps");
        for index in (0..witness.steps.len()).filter(|index| witness.steps[*index].kind.is_flush()) {
            let mut fewer = witness.clone();
            fewer.steps.remove(index);
            assert!(check_stuck(&program, &fewer).is_err(), "{text}: without step {index}");
        }
    }
}

#[test]
fn a_stuck_state_is_none_once_somebody_can_go_on() {
    let (_, witness) = stuck(STUCK[1]);
    for text in [STUCK[1].replace("wait(x", "timed wait(x"), STUCK[1].replace("wait(x", "idle wait(x")] {
        let program = program(&format!("program small\n{text}"));
        assert!(check_stuck(&program, &witness).is_err(), "{text}");
    }
    let (_, witness) = stuck(STUCK[0]);
    let helped = STUCK[0].replace("kick = 1; } }", "kick = 1; } kick = 1; }");
    let program = program(&format!("program small\n{helped}"));
    assert!(check_stuck(&program, &witness).is_err());
}
