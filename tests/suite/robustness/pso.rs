//! Robustness against PSO from outside: known programs, evidence that is corrupted, what the
//! commands say and refuse, and the rung of `prove`.

use crate::checked::{check_pso, prove};
use crate::documents;
use crate::piped::palisade_reading;
use palisade::evidence::{Evidence, ProgramSubject, PropertyReason, Tokens};
use palisade::program::{Program, SourceText};
use palisade::properties::{Answer, ProveOptions, Rung};
use palisade::robustness::{DEFAULT_VALUES, NotForPso, Verdict, not_for_pso};
use palisade::semantics::{Model, Step, StepKind};
use palisade::syntax::{Format, read};
use palisade::verify::{check_program_evidence, check_property, check_pso_certificate, check_pso_witness};
use std::path::Path;

/// A message is written, and announced. PSO lets the announcement come first.
const MESSAGE: &str = "program Message address data, flag
thread writer init a begin a: mem[data] <- 1; b: BETWEEN; c: mem[flag] <- 1; end
thread reader [*] regs r, s init a begin
  a: r <- mem[flag]; b: assert r = 1; c: s <- mem[data]; d: ensure s = 1;
end";

fn message(between: &str) -> String {
    MESSAGE.replace("BETWEEN", between)
}

fn program(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("a program").program
}

#[test]
fn verdicts_of_known_programs() {
    let one_thread = "thread t init a begin a: mem[x] <- 1; b: mem[y] <- 1; end";
    let two_stores = "thread t [*] regs r init a begin a: mem[x] <- 1; b: mem[x] <- 2; c: r <- mem[x]; end";
    for (text, is_robust) in [
        (message("nop"), false),
        (message("mfence"), true),
        (message("xchg(mem[other], 1)").replace("address data", "address other, data"), true),
        (format!("program P address x, y {one_thread}"), true),
        (format!("program P address x, y {two_stores}"), true),
    ] {
        let checked = check_pso(&program(&text), 64).expect("no value grows");
        assert_eq!(checked.verdict == Verdict::Robust, is_robust, "{text}");
        if let Some(violation) = checked.violation {
            assert!(violation.instance_minimal);
            assert_eq!(violation.instance.counts(), [1, 1]);
        }
    }
}

/// What singularity does not hold for is refused by the engine, and so is evidence about it.
#[test]
fn programs_out_of_scope_are_refused() {
    let fenced = program(&message("mfence"));
    let certificate = check_pso(&fenced, 64).expect("no value grows").certificate.expect("it is robust");
    check_pso_certificate(&fenced, &certificate).expect("it is accepted");
    let section = "address data, flag".to_owned();
    let with_section = message("mfence").replace(&section, "address data, flag, z")
        + " thread locked init a begin a: lock; b: mem[z] <- 1; c: unlock; end";
    assert!(matches!(not_for_pso(&program(&message("sfence"))), Some(NotForPso::StoreFence(..))));
    assert!(matches!(not_for_pso(&program(&with_section)), Some(NotForPso::Section(..))));
    assert!(check_pso_certificate(&program(&message("sfence")), &certificate).is_err());
    assert!(check_pso_certificate(&program(&message("nop")), &certificate).is_err());
    // A thread without copies does not matter.
    let without = with_section.replace("thread locked init", "thread locked [0] init");
    assert_eq!(not_for_pso(&program(&without)), None);
}

/// Every certificate with one configuration less, or with one that stands for less, is rejected.
#[test]
fn certificates_with_less_are_rejected() {
    let program = program(&message("mfence"));
    let certificate = check_pso(&program, 64).expect("no value grows").certificate.expect("it is robust");
    let mut tried = 0;
    for index in 0..certificate.configurations.len() {
        let mut less = certificate.clone();
        let removed = less.configurations.remove(index);
        assert!(check_pso_certificate(&program, &less).is_err(), "without {removed:?}");
        for token in 0..removed.tokens.len() {
            let mut less = certificate.clone();
            less.configurations[index].tokens.remove(token);
            assert!(check_pso_certificate(&program, &less).is_err(), "{removed:?} without token {token}");
            if removed.tokens[token].2 == Tokens::Omega {
                let mut less = certificate.clone();
                less.configurations[index].tokens[token].2 = Tokens::Finite(3);
                assert!(check_pso_certificate(&program, &less).is_err(), "{removed:?}, token {token} finite");
                tried += 1;
            }
        }
    }
    assert!(tried > 0);
}

/// A robust program with attacks that come far: its configurations with an attack are needed, each
/// with its attacker and its levels.
#[test]
fn attacks_under_way_belong_to_certificates() {
    let text = "program P address x, y, z
thread a regs r init a begin a: mem[x] <- 1; b: mem[y] <- 1; c: r <- mem[z]; end
thread b [*] regs s init a begin a: s <- mem[y]; b: assert s = 1; c: mem[z] <- 1; end";
    let program = program(text);
    let certificate = check_pso(&program, 64).expect("no value grows").certificate.expect("nobody else knows x");
    let (mut attackers, mut levels) = (0, 0);
    for index in 0..certificate.configurations.len() {
        let Some(attack) = certificate.configurations[index].attack.clone() else { continue };
        if attack.attacker.is_some() {
            let mut less = certificate.clone();
            less.configurations[index].attack.as_mut().expect("it is there").attacker = None;
            assert!(check_pso_certificate(&program, &less).is_err(), "{attack:?} without its attacker");
            attackers += 1;
        }
        for level in 0..attack.levels.len() {
            let mut less = certificate.clone();
            less.configurations[index].attack.as_mut().expect("it is there").levels.remove(level);
            assert!(check_pso_certificate(&program, &less).is_err(), "{attack:?} without level {level}");
            levels += 1;
        }
    }
    assert!(attackers > 1 && levels > 2, "{attackers} attackers, {levels} levels");
}

#[test]
fn corrupted_witnesses_are_rejected() {
    let program = program(&message("nop"));
    let checked = check_pso(&program, 64).expect("no value grows");
    let witness = palisade::robustness::witness_evidence(&checked.violation.expect("it is not robust"));
    check_pso_witness(&program, &witness).expect("it is accepted");
    for step in 0..witness.steps.len() {
        let mut less = witness.clone();
        less.steps.remove(step);
        assert!(check_pso_witness(&program, &less).is_err(), "without step {step}");
    }
    for edge in 0..witness.cycle.len() {
        let mut less = witness.clone();
        less.cycle.remove(edge);
        assert!(check_pso_witness(&program, &less).is_err(), "without edge {edge}");
    }
    // The delayed store reaches memory at once.
    let mut hasty = witness.clone();
    let flush: Step = hasty.steps.pop().expect("it ends with a flush");
    assert!(matches!(flush.kind, StepKind::FlushAddress(_)));
    hasty.steps.insert(hasty.store_step + 1, flush);
    assert!(check_pso_witness(&program, &hasty).is_err());
    // It is none under TSO, nor of the program with a fence.
    assert!(palisade::verify::check_witness(&program, &witness).is_err());
    assert!(check_pso_witness(&self::program(&message("mfence")), &witness).is_err());
}

#[test]
fn evidence_survives_writing_and_is_about_its_program() {
    for text in [message("mfence"), message("nop")] {
        let program = program(&text);
        let checked = check_pso(&program, 64).expect("no value grows");
        let subject = ProgramSubject::of(&program, "native", &[]);
        let evidence = match (checked.certificate, checked.violation) {
            (Some(certificate), _) => Evidence::PsoRobust(subject, certificate),
            (_, Some(violation)) => Evidence::NotPsoRobust(subject, palisade::robustness::witness_evidence(&violation)),
            _ => panic!("there is a verdict"),
        };
        let reread = Evidence::read(evidence.to_text().as_bytes()).expect("evidence is read");
        assert_eq!(reread, evidence);
        check_program_evidence(&program, &reread).expect("evidence is accepted");
        let other = self::program(&text.replace("program Message", "program Other"));
        assert!(check_program_evidence(&other, &reread).is_err());
        // Evidence about PSO is none about TSO.
        let about_tso =
            evidence.to_text().replace("\"not-pso-robust\"", "\"not-robust\"").replace("\"pso-robust\"", "\"robust\"");
        let is_accepted = |evidence: Evidence| check_program_evidence(&program, &evidence).is_ok();
        assert!(!Evidence::read(about_tso.as_bytes()).is_ok_and(is_accepted));
    }
}

/// The rung that takes over what holds under SC, alone and among the others, with evidence.
#[test]
fn prove_takes_over_what_holds_under_sc() {
    let options = |by| ProveOptions { by, ..ProveOptions::new(Model::Pso) };
    let fenced = program(&message("mfence"));
    let proof = prove(&fenced, None, &options(Some(Rung::ScRobust))).expect("no value grows");
    assert!(matches!(proof.answers[0].answer, Answer::Holds(_)), "{proof:?}");
    assert_eq!(proof.answers[0].rung, Rung::ScRobust);
    let mut evidence = proof.evidence().expect("there is a proof");
    assert!(matches!(evidence.proofs[0].reason, PropertyReason::Pso { .. }));
    check_property(&fenced, None, &evidence).expect("it is accepted");
    let subject = ProgramSubject::of(&fenced, "native", &[]);
    let written = Evidence::Property(subject, evidence.clone());
    assert_eq!(Evidence::read(written.to_text().as_bytes()).as_ref(), Ok(&written));
    evidence.model = Model::Tso;
    assert!(check_property(&fenced, None, &evidence).is_err(), "the reason is about PSO alone");
    // Without the fence neither the premise nor the property holds.
    let unfenced = program(&message("nop"));
    let proof = prove(&unfenced, None, &options(Some(Rung::ScRobust))).expect("no value grows");
    assert!(matches!(proof.answers[0].answer, Answer::Open(_)), "{proof:?}");
    let proof = prove(&unfenced, None, &options(None)).expect("no value grows");
    assert!(matches!(proof.answers[0].answer, Answer::Violated(_)), "{proof:?}");
    // The rung says nothing about programs out of scope.
    let ordered = program(&message("sfence"));
    let proof = prove(&ordered, None, &options(Some(Rung::ScRobust))).expect("no value grows");
    assert!(matches!(proof.answers[0].answer, Answer::Open(_)), "{proof:?}");
}

fn check(text: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let arguments = [&["check", "--model", "pso", "--from", "native"], options, &["-"]].concat();
    let output = palisade_reading(&arguments, text);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn reports_say_what_the_verdict_is_about() {
    let (status, said, _) = check(&message("mfence"), &[]);
    assert_eq!(status, Some(0));
    let expected = "-: holds under PSO, robust against PSO
  threads  writer × 1, reader × *
  ensure   reader d (line 4): proved (buffers of 2 stores are enough)
  robust   proved against PSO (one exploration of all delayed stores)
";
    assert_eq!(said, expected);
    let (status, said, _) = check(&message("nop"), &[]);
    assert_eq!(status, Some(1));
    let expected = "-: violated under PSO, not robust against PSO
  threads  writer × 1, reader × *
  ensure   reader d (line 4): violated, not under SC
  robust   violated, the store at writer a (line 2) is delayed past the store at writer c (line 2)

violation: `ensure s = 1` at reader d (line 4)
instance: writer × 1, reader × 1 (none with fewer copies of the [*] threads has one)
";
    assert!(said.starts_with(expected), "{said}");
    let robustness = ["--ask", "robustness"];
    let (status, said, _) = check(&message("nop"), &robustness);
    assert_eq!(status, Some(1));
    let expected = "-: not robust against PSO
  threads  writer × 1, reader × *

violation: the store at writer a (line 2) is delayed past the store at writer c (line 2)
instance: writer × 1, reader × 1 (none with fewer copies of the [*] threads has one)
";
    assert!(said.starts_with(expected), "{said}");
    for part in ["c: flag ← 1 ", "data ← 1 into its buffer (delayed)", "c: s ← data = 0", "happens-before cycle:"]
    {
        assert!(said.contains(part), "{part}\n{said}");
    }
    for (between, verdict) in [("nop", "violated"), ("mfence", "holds")] {
        let (_, json, _) = check(&message(between), &["--json"]);
        let document = documents::read(&json);
        assert_eq!(document["verdict"], verdict);
        let answers = document["answers"].as_array().expect("answers");
        assert_eq!(answers.len(), 2, "{json}");
        for answer in answers {
            assert_eq!((&answer["model"], &answer["verdict"]), (&"pso".into(), &verdict.into()), "{json}");
            assert_eq!(answer["evidence"]["verdict"], "accepted");
        }
    }
    let (_, json, _) = check(&message("nop"), &["--json", robustness[0], robustness[1]]);
    assert_eq!(documents::read(&json)["answers"][0]["witness"]["attacker"], "writer");
}

#[test]
fn what_is_not_about_pso_is_refused() {
    for (text, options, message) in [
        (message("sfence"), &[][..], "decided for programs without `sfence`"),
        (message("lock").replace("c: mem[flag] <- 1;", "c: mem[flag] <- 1; d: unlock;"), &[], "without `lock`"),
        (message("nop"), &["--nets"], "leave `--nets` out"),
        (message("nop"), &["--one-query"], "leave `--one-query` out"),
        (
            "program P address x event e init a begin a: mem[x] <- 1; end".to_owned(),
            &[],
            "events and tasks run under SC or under TSO",
        ),
    ] {
        let (status, said, warned) = check(&text, options);
        assert_eq!(status, Some(2), "{options:?}: {said}{warned}");
        assert!(warned.contains(message), "{options:?}: {warned}");
    }
    let growing =
        "program P address x thread t [*] regs r init a begin a: r <- mem[x]; b: mem[x] <- r + 1; goto a; end";
    let (status, said, warned) = check(growing, &[]);
    assert_eq!(status, Some(3), "{said}{warned}");
    assert!(said.contains("grows: it takes more than 64 values"), "{said}{warned}");
}

/// All models are decided, each with its evidence, but those whose counts grow with the copies;
/// these are robust against PSO.
#[test]
fn models_have_their_verdicts() {
    const GROWING: [&str; 2] = ["arc-upgrade", "reader-count-lock"];
    const ROBUST: [&str; 9] = [
        "epoch-pin-fenced",
        "hazard-pointer-fenced",
        "michael-scott-queue",
        "park-unpark",
        "parker-repaired",
        "rcu-fenced",
        "rcu-qsbr",
        "reader-writer-spinlock",
        "treiber-stack",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let entries = std::fs::read_dir(folder).expect("the models are there").map(|entry| entry.expect("an entry").path());
    let mut robust = Vec::new();
    for path in entries.filter(|path| path.extension().is_some_and(|extension| extension == "pal")) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let program = program(&std::fs::read_to_string(&path).expect("it can be read"));
        match check_pso(&program, DEFAULT_VALUES).map(|checked| checked.verdict) {
            Ok(Verdict::Robust) => robust.push(name),
            Ok(Verdict::NotRobust) => {}
            Err(fault) if fault.is_growth() && GROWING.contains(&name.as_str()) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    robust.sort_unstable();
    assert_eq!(robust, ROBUST);
}
