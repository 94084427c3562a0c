//! Evidence about event-driven programs under TSO: written, read, and corrupted.

use crate::checked::check_tasks;
use palisade::evidence::{Evidence, MainState, ProgramSubject, TaskPhase, TaskToken, Tokens};
use palisade::program::{Program, SourceText};
use palisade::semantics::tasks::TaskStep;
use palisade::syntax::{Format, read};
use palisade::verify::{check_program_evidence, check_task_certificate, check_task_witness};

const PAIR: &str = "program Pair address x, y
event e [*] regs r init a begin a: mem[x] <- 1; b: mfence; c: r <- mem[y]; d: post any t(r); end
task t(n) regs r init a begin a: mem[y] <- n; b: mfence; c: r <- mem[x]; d: post main u(); end
task u() init a begin a: mem[x] <- 0; end";

fn program(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("a program").program
}

/// Every certificate with one configuration less, or with one part of a configuration changed so
/// that it stands for less, is rejected.
#[test]
fn certificates_with_less_are_rejected() {
    let program = program(PAIR);
    let certificate = check_tasks(&program, 64).expect("no value grows").certificate.expect("it is robust");
    let (mut tried, mut phases) = (0, [0; 3]);
    for index in 0..certificate.configurations.len() {
        let mut less = certificate.clone();
        let removed = less.configurations.remove(index);
        phases[match removed.phase {
            TaskPhase::Sc => 0,
            TaskPhase::Delayed { .. } => 1,
            TaskPhase::Helped { .. } => 2,
        }] += 1;
        assert!(check_task_certificate(&program, &less).is_err(), "without {removed:?}");
        for token in 0..removed.tokens.len() {
            let mut less = certificate.clone();
            less.configurations[index].tokens.remove(token);
            assert!(check_task_certificate(&program, &less).is_err(), "{removed:?} without token {token}");
            tried += 1;
            if removed.tokens[token].1 == Tokens::Omega {
                let mut less = certificate.clone();
                less.configurations[index].tokens[token].1 = Tokens::Finite(3);
                assert!(check_task_certificate(&program, &less).is_err(), "{removed:?}, token {token} finite");
            }
        }
    }
    assert!(tried > 50 && phases[0] > 0, "{tried} {phases:?}");
}

/// What is not well formed is rejected as well.
#[test]
fn malformed_certificates_are_rejected() {
    let program = program(PAIR);
    let certificate = check_tasks(&program, 64).expect("no value grows").certificate.expect("it is robust");
    let mut wrong = Vec::new();
    let mut change = |change: &dyn Fn(&mut palisade::evidence::TaskCertificate)| {
        let mut changed = certificate.clone();
        change(&mut changed);
        wrong.push(changed);
    };
    change(&|it| it.configurations[0].memory = 1000);
    change(&|it| it.configurations[0].main = MainState::Runs(1000));
    change(&|it| it.configurations[0].tokens.push((TaskToken::Own(1000, false), Tokens::Finite(1))));
    change(&|it| it.configurations[0].tokens.push((TaskToken::Own(0, false), Tokens::Finite(0))));
    change(&|it| {
        it.configurations[0].tokens.push((TaskToken::Pending(0, true), Tokens::Finite(1)));
        it.configurations[0].tokens.push((TaskToken::Pending(0, true), Tokens::Finite(1)));
    });
    change(&|it| it.live.clear());
    change(&|it| it.locals.clear());
    for certificate in wrong {
        assert!(check_task_certificate(&program, &certificate).is_err(), "{certificate:?}");
    }
}

#[test]
fn a_certificate_of_another_program_is_rejected() {
    let certificate = check_tasks(&program(PAIR), 64).expect("no value grows").certificate.expect("it is robust");
    let unfenced = program(&PAIR.replace("b: mfence", "b: nop"));
    assert!(check_task_certificate(&unfenced, &certificate).is_err());
    let plain = program(&PAIR.replace("address x, y", "address x, y posts plain"));
    assert!(check_task_certificate(&plain, &certificate).is_err());
}

#[test]
fn corrupted_computations_are_rejected() {
    let unfenced = program(&PAIR.replace("b: mfence", "b: nop"));
    let witness = check_tasks(&unfenced, 64).expect("no value grows").witness.expect("it is not robust");
    let cycle = check_task_witness(&unfenced, &witness).expect("the computation is one").steps;
    for (index, step) in witness.steps.iter().enumerate() {
        let mut changed = witness.clone();
        changed.steps.remove(index);
        let is_needed = matches!(step, TaskStep::Occur { .. } | TaskStep::Flush { .. } | TaskStep::FlushMain);
        if is_needed || cycle.contains(&index) {
            assert!(check_task_witness(&unfenced, &changed).is_err(), "without step {index} of {:?}", witness.steps);
        }
    }
    let mut changed = witness.clone();
    changed.instance[1] = 1;
    assert!(check_task_witness(&unfenced, &changed).is_err(), "tasks have no copies");
    changed = witness.clone();
    changed.instance[0] = 0;
    assert!(check_task_witness(&unfenced, &changed).is_err(), "the event occurs");
    assert!(check_task_witness(&program(PAIR), &witness).is_err(), "fences wait");
}

#[test]
fn evidence_survives_writing_and_is_about_its_program() {
    for text in [PAIR.to_owned(), PAIR.replace("b: mfence", "b: nop")] {
        let program = program(&text);
        let checked = check_tasks(&program, 64).expect("no value grows");
        let subject = ProgramSubject::of(&program, "native", &[]);
        let evidence = match (checked.certificate, checked.witness) {
            (Some(certificate), _) => Evidence::TsoRobust(subject, certificate),
            (_, Some(witness)) => Evidence::NotTsoRobust(subject, witness),
            _ => panic!("there is a verdict"),
        };
        let reread = Evidence::read(evidence.to_text().as_bytes()).expect("evidence is read");
        assert_eq!(reread, evidence);
        check_program_evidence(&program, &reread).expect("evidence is accepted");
        let other = self::program(&text.replace("program Pair", "program Other"));
        assert!(check_program_evidence(&other, &reread).is_err());
        let written = evidence.to_text();
        for (word, by) in
            [("tso-robust", "robust"), ("\"tasks\"", "\"robust\""), ("\"do\"", "\"undo\""), ("\"sc\"", "\"sd\"")]
        {
            if written.contains(word) {
                assert!(Evidence::read(written.replace(word, by).as_bytes()).is_err(), "{word} as {by}");
            }
        }
    }
}
