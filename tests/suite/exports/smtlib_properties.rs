//! The SMT-LIB 2 scripts of proofs about properties, decided by an outside solver where one is
//! installed.

use crate::checked::prove;
use crate::properties::enriched::entering;
use crate::solver::Solver;
use palisade::evidence::{PropertyEvidence, PropertyReason, Tokens};
use palisade::program::{Action, Copies, Program, SourceText};
use palisade::properties::{Proof, ProveOptions, Rung};
use palisade::report::smtlib::{Script, property_scripts};
use palisade::semantics::Model;
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::syntax::{Format, read};
use palisade::verify::check_property;

/// The evidence for the properties of a program by one rung, where these hold.
fn proved(program: &Program, model: Model, by: Rung) -> Option<PropertyEvidence> {
    let options = ProveOptions { by: Some(by), buffer: 8, most: 50_000, ..ProveOptions::new(model) };
    prove(program, None, &options).ok().filter(Proof::holds)?.evidence()
}

/// Random programs whose properties hold, with the evidence; some with any number of copies.
fn random_proofs() -> impl Iterator<Item = (Program, PropertyEvidence)> {
    let shape = Shape {
        labels: 4,
        total_labels: 7,
        addresses: 2,
        rmws: 8,
        fences: 15,
        sections: 6,
        store_fences: 6,
        stores_first: 70,
        properties: 8,
        ..Shape::default()
    };
    (0..).filter_map(move |seed| {
        let mut program = random::program(seed, &shape);
        if seed % 3 == 0 {
            program.threads[0].copies = Copies::Any;
        }
        let (model, by) = match seed % 5 {
            0 => (Model::Sc, Rung::Sc),
            1 => (Model::Tso, Rung::ScRobust),
            2 => (Model::Tso, Rung::Buffers),
            3 => (Model::Tso, Rung::Enriched),
            _ => (Model::Pso, Rung::Buffers),
        };
        let evidence = proved(&program, model, by)?;
        Some((program, evidence))
    })
}

/// Evidence with one element or one token less, or a program with another instruction.
fn corrupted(
    program: &Program,
    evidence: &PropertyEvidence,
    random: &mut Randomness,
) -> Option<(Program, PropertyEvidence)> {
    let (mut program, mut evidence) = (program.clone(), evidence.clone());
    let proof = random.below(evidence.proofs.len());
    let is_enriched = matches!(evidence.proofs[proof].reason, PropertyReason::Enriched { .. });
    let (PropertyReason::Buffers(set)
    | PropertyReason::Robust { sc: set, .. }
    | PropertyReason::Enriched { sc: set, .. }) = &mut evidence.proofs[proof].reason
    else {
        return None;
    };
    let element = random.below(set.configurations.len());
    match random.below(4) {
        0 => drop(set.configurations.remove(element)),
        1 => {
            let tokens = &mut set.configurations[element].tokens;
            let token = (!tokens.is_empty()).then(|| random.below(tokens.len()))?;
            match tokens[token].1 {
                Tokens::Omega => tokens[token].1 = Tokens::Finite(1),
                Tokens::Finite(_) => drop(tokens.remove(token)),
            }
        }
        // An enriched program with a fence less has other labels, of which the evidence knows
        // nothing.
        _ if is_enriched => return None,
        _ => {
            let thread = random.below(program.threads.len());
            let instructions = &mut program.threads[thread].instructions;
            let instruction = (!instructions.is_empty()).then(|| random.below(instructions.len()))?;
            // What drains buffers is in no slice, and what it becomes leaves liveness and slices as
            // they are.
            match &mut instructions[instruction].action {
                action @ (Action::Fence | Action::StoreFence) => *action = Action::Nop,
                _ => return None,
            }
        }
    }
    Some((program, evidence))
}

/// Whether every proof has scripts. A set that is closed up to shifts of counters alone has none,
/// and a damaged one is none without them.
fn tells_all(scripts: &[Script], evidence: &PropertyEvidence) -> bool {
    let is_told = |number: usize| scripts.iter().any(|it| it.obligation.starts_with(&format!("proof-{number}.")));
    (1..=evidence.proofs.len()).all(is_told)
}

/// The solver proves all scripts of a proof exactly when the checker accepts it.
#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn an_outside_solver_agrees_with_the_checker() {
    let solver = Solver::installed();
    let mut random = Randomness::new(47);
    let (mut accepted, mut rejected) = (0, 0);
    for (program, evidence) in random_proofs() {
        if accepted >= 60 && rejected >= 40 {
            break;
        }
        let changed: Vec<_> = (0..4).filter_map(|_| corrupted(&program, &evidence, &mut random)).collect();
        for (program, evidence) in changed.into_iter().chain([(program, evidence)]) {
            let verdict = check_property(&program, None, &evidence);
            // The nets of attacks are the checker's, which may find none in a program that has
            // changed.
            let proved = match property_scripts(&program, &evidence) {
                Ok(scripts) if !tells_all(&scripts, &evidence) => continue,
                Ok(scripts) => solver.proves(&scripts),
                Err(_) => Some(false),
            };
            assert_eq!(proved, Some(verdict.is_ok()), "{verdict:?}\n{program:?}\n{evidence:?}");
            accepted += usize::from(verdict.is_ok());
            rejected += usize::from(verdict.is_err());
        }
    }
}

/// What is proved by an enriched program, the solver proves of the one that the checker makes.
#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn an_outside_solver_proves_enriched_programs() {
    for others in ["1", "*"] {
        let program = entering(others, "told = 0 || entered = 1");
        let evidence = proved(&program, Model::Tso, Rung::Enriched).expect("it holds");
        let has_loads = |reason: &PropertyReason| matches!(reason, PropertyReason::Enriched { loads, .. } if loads.iter().any(|own| !own.is_empty()));
        assert!(evidence.proofs.iter().all(|proof| has_loads(&proof.reason)), "{evidence:?}");
        let scripts = property_scripts(&program, &evidence).expect("no attack is answered on a net");
        assert!(scripts.iter().any(|script| script.obligation == "proof-1.robust.inductive"));
        assert_eq!(Solver::installed().proves(&scripts), Some(true), "{others}");
    }
}

/// What stands in the scripts of a small proof.
#[test]
fn scripts_spell_out_program_and_evidence() {
    let text = "program Small address x
thread t [*] regs r init a begin
  a: mem[x] <- 1;
  b: r <- mem[x];
  c: ensure r = 1;
  f: mfence; goto a;
end
";
    let program = read(SourceText::new("small.pal", text), Format::Native).expect("it is a program").program;
    let evidence = proved(&program, Model::Tso, Rung::Buffers).expect("it holds");
    let scripts = property_scripts(&program, &evidence).expect("no attack is answered on a net");
    let names: Vec<&str> = scripts.iter().map(|script| script.obligation.as_str()).collect();
    assert_eq!(names, ["proof-1.initial", "proof-1.inductive", "proof-1.safe"]);
    let all: String = scripts.iter().map(|script| script.text.as_str()).collect();
    for part in [
        "(set-logic QF_LIA)\n",
        "(declare-const m0 Int) ; x\n",
        "; t f: instruction 3\n",
        ": a store reaches x\n",
        "(declare-const n0 Int) ; t a [0] []\n",
    ] {
        assert!(all.contains(part), "{part} is not in\n{all}");
    }
    assert_eq!(all.matches("(check-sat)\n").count(), 3);
    let by_values = proved(&program, Model::Tso, Rung::Values);
    assert!(by_values.is_none_or(|evidence| property_scripts(&program, &evidence).is_ok_and(|own| own.is_empty())));
}
