//! Who waits for ever by the orderings of the text, in any execution graph: proofs, repairs, and
//! evidence that is tampered with.

use super::program;
use crate::checked;
use palisade::evidence::{FreeCertificate, RepairClaim, RepairEvidence, RowWitness, ValidProof, WhyRobust};
use palisade::fences::{FenceOptions, Remedy};
use palisade::hangs::{HangOptions, Verdict};
use palisade::program::Program;
use palisade::semantics::Model;
use palisade::semantics::graphs::Axioms;
use palisade::verify::{check_free, check_repair};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// Not robust: the second thread may read 0 from `data`. It waits for no more than the flag.
const PASSES: &str = "address data, flag
thread a { store(data, 1, relaxed); store(flag, 1, relaxed); }
thread b { await (load(flag, relaxed) == 1); let seen = load(data, relaxed); }";

fn model() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/c11/lost-wake-up.pal")
}

fn free_in(axioms: Axioms, text: &str) -> (Program, Verdict) {
    let program = program(&format!("program small\n{text}\n"));
    let options = HangOptions { graphs: Some(axioms), ..HangOptions::new(Model::Sc) };
    let found = checked::hangs(&program, &options).expect("steps have a meaning").expect("accepted");
    (program, found.verdict)
}

fn verdict_is_free(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Free(_))
}

#[test]
fn all_executions_are_looked_through() {
    for axioms in Axioms::LANGUAGES {
        let (program, verdict) = free_in(axioms, PASSES);
        let Verdict::Free(certificate) = verdict else { panic!("{verdict:?}") };
        assert_eq!(check_free(&program, &certificate), Ok(()));
        let rejects = |program: &Program, other: FreeCertificate| check_free(program, &other).is_err();
        let own = || (*certificate).clone();
        assert!(rejects(&program, FreeCertificate { model: Model::Tso, ..own() }), "another model");
        assert!(rejects(&program, FreeCertificate { is_hopeful: true, ..own() }), "another question");
        assert!(rejects(&program, FreeCertificate { graphs: None, ..own() }), "an empty set");
        let mut more = own();
        more.set.most = 1;
        assert!(rejects(&program, more), "a set beside");
        // The same about programs that are not free, or of which it is not known.
        for other in [
            // Nobody sets the flag to 2.
            PASSES.replace("flag, relaxed) == 1", "flag, relaxed) == 2"),
            // The flag may be read before the data are there, which is a race of plain data.
            PASSES
                .replace("address data, flag", "plain data\naddress flag")
                .replace("store(data, 1, relaxed)", "data = 1")
                .replace("load(data, relaxed)", "data"),
            // There is no end of rounds.
            PASSES.replace("let seen = load(data, relaxed);", "while (load(data, relaxed) == 0) {}"),
            PASSES.replace("thread a", "thread a [*]"),
        ] {
            let (other, verdict) = free_in(axioms, &other);
            // By release/acquire the data are there when the flag is.
            let is_free = axioms == Axioms::Ra && verdict_is_free(&verdict) && other.source.text.contains("== 1");
            assert!(is_free || !verdict_is_free(&verdict), "{verdict:?}");
            assert_eq!(rejects(&other, own()), !is_free, "{}", other.source.text);
        }
    }
}

/// In C11 both threads may look before they see what the other has said; release/acquire
/// has that too.
#[test]
fn who_looks_too_early_is_repaired() {
    let read = program(&std::fs::read_to_string(model()).expect("a model"));
    let found = checked::repair_hangs_in_language(&read, Axioms::C11, &FenceOptions::default());
    let Remedy::Valid(measures, _) = &found.remedy else { panic!("{:?}", found.remedy) };
    assert_eq!(measures.len(), 2, "{measures:?}");
    let shown = found.shown.as_ref().expect("there is evidence");
    assert!(shown.is_complete, "{:?}", shown.facts);
    let text = found.text.as_ref().expect("changes").as_ref().expect("a text").program.clone();
    let evidence = &shown.evidence;
    let rejects = |change: &dyn Fn(&mut RepairEvidence)| {
        let mut forged = evidence.clone();
        change(&mut forged);
        check_repair(&read, None, &forged, &[Some(text.clone())]).is_err()
    };
    assert!(!rejects(&|_| {}), "the evidence as it is");
    let claim = |graphs| RepairClaim::Hangs { model: Model::Sc, graphs, ignores_timeouts: false };
    assert!(rejects(&|it| it.claim = claim(None)), "a model of machines");
    assert!(rejects(&|it| it.claim = claim(Some(Axioms::Ra))), "another language");
    assert!(rejects(&|it| it.claim = RepairClaim::Language(Axioms::C11)), "robustness");
    assert!(rejects(&|it| it.valid[0].set.truncate(1)), "a set with less");
    assert!(rejects(&|it| it.rows[0].measures.clear()), "a row without measures");
    assert!(rejects(&|it| it.bound[0].least = 1_000_000_u64.into()), "a higher bound");
    let in_row = |change: &dyn Fn(&mut palisade::evidence::StuckWitness)| {
        rejects(&|it| {
            let RowWitness::Stuck(witness) = &mut it.rows[0].witness else { panic!("a stuck state") };
            change(witness);
        })
    };
    assert!(in_row(&|witness| witness.graph = None), "an interleaving");
    assert!(in_row(&|witness| witness.graph.as_mut().expect("a graph").axioms = Axioms::Ra), "another language");
    assert!(in_row(&|witness| witness.graph.as_mut().expect("a graph").older.clear()), "the last writes");
    assert!(in_row(&|witness| witness.steps.truncate(1)), "fewer steps");
    let free = |change: &dyn Fn(&mut FreeCertificate)| {
        rejects(&|it| {
            let ValidProof::Free(certificate) = &mut it.valid[0].proof else { panic!("freedom") };
            change(Arc::make_mut(certificate));
        })
    };
    assert!(free(&|it| it.graphs = if it.graphs.is_some() { None } else { Some(Axioms::C11) }), "another proof");
}

/// With loops there are ever more executions: then robustness and interleavings are the proof.
#[test]
fn with_loops_robustness_is_the_proof() {
    let text = std::fs::read_to_string(model()).expect("a model");
    let text = text.replace("thread sleeper {", "thread sleeper { let i = 0; while (i < 2) { i = i + 1; }");
    let read = program(&text);
    let found = checked::repair_hangs_in_language(&read, Axioms::C11, &FenceOptions::default());
    assert!(matches!(&found.remedy, Remedy::Valid(measures, _) if measures.len() == 2), "{:?}", found.remedy);
    let evidence = &found.shown.as_ref().expect("there is evidence").evidence;
    let ValidProof::Free(certificate) = &evidence.valid[0].proof else { panic!("freedom") };
    let Some(WhyRobust::Language(_)) = &certificate.robust else { panic!("{:?}", certificate.robust) };
    let repaired = &found.text.as_ref().expect("changes").as_ref().expect("a text").program;
    assert_eq!(check_free(repaired, certificate), Ok(()));
    assert!(check_free(&read, certificate).is_err(), "the program as it was");
    let rejects = |change: &dyn Fn(&mut FreeCertificate)| {
        let mut forged = (**certificate).clone();
        change(&mut forged);
        check_free(repaired, &forged).is_err()
    };
    assert!(rejects(&|it| it.model = Model::Tso), "another model");
    assert!(rejects(&|it| it.graphs = Some(Axioms::C11)), "all graphs");
    assert!(rejects(&|it| drop(it.set.configurations.pop())), "a configuration less");
}

/// Checks, fences, evidence and jobs say the same.
#[test]
fn commands_say_who_waits_by_the_language() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("passes.pal"), format!("program passes\n{PASSES}\n")).expect("a file");
    std::fs::copy(model(), folder.path().join("lost.pal")).expect("a copy");
    let run = |line: &str, status: i32| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.current_dir(folder.path()).args(line.split(' ')).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(status), "{line}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let text = run("check --model c11 --ask hangs passes.pal --certificate proof", 0);
    assert!(text.contains("nobody waits for ever"), "{text}");
    let file = |name: &str| {
        let mut files = std::fs::read_dir(folder.path().join(name)).expect("a folder").map(|it| it.expect("an entry"));
        let is_one = |own: &std::fs::DirEntry| own.path().to_string_lossy().ends_with("free.json");
        files.find(is_one).expect("evidence").path().display().to_string()
    };
    assert!(run(&format!("verify {}", file("proof")), 0).contains("no stuck state under C11"));
    let text = run("fences --model c11 --ask hangs lost.pal --certificate repair", 0);
    assert!(text.contains("2 changes so that nobody waits for ever under C11"), "{text}");
    for question in ["check --model c11 --ask hangs passes.pal", "fences --model c11 --ask hangs lost.pal"] {
        let (command, rest) = question.split_once(' ').expect("a command");
        let (options, input) = rest.rsplit_once(' ').expect("an input");
        let mut plan = Command::new(env!("CARGO_BIN_EXE_palisade"));
        let jobs = plan.current_dir(folder.path()).args(["plan", command, input, "--each", options]).output();
        std::fs::write(folder.path().join("jobs.jsonl"), jobs.expect("it runs").stdout).expect("a file");
        run("run jobs.jsonl -o results.jsonl", 0);
        let text = run("merge jobs.jsonl results.jsonl", 0);
        assert!(text.contains("accepted"), "{question}: {text}");
    }
}
