//! A question that the house does not know, in this one file: it is decided, its evidence is
//! checked in the process and by `palisade verify`, and it is told as text, JSON, SARIF, JUnit and
//! a page.
//!
//! The question is whether two copies of a thread are ever at one label. A `never` for each label
//! asks it.

use palisade::evidence::Evidence;
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::properties::{Proof, ProveOptions, prove};
use palisade::questions::{About, Asked, Question, ask, check_evidence};
use palisade::report::account::{
    Account, Answer, CheckDocument, Extent, Level, Proof as Shows, Rule, Run, Shown, Standing, Told, report,
};
use palisade::report::computation::ComputationReport;
use palisade::report::context::Context;
use palisade::report::findings::findings;
use palisade::report::junit::junit;
use palisade::report::page::told_page;
use palisade::report::sarif::sarif;
use palisade::report::subject::program_words;
use palisade::robustness::Fault;
use palisade::semantics::Model;
use palisade::syntax::{Format, read};
use std::process::Command;

/// The rule that the question brings.
static CROWDED: Rule = Rule {
    id: "crowded-label",
    name: "CrowdedLabel",
    level: Level::Warning,
    short: "Two copies are at one label",
    full: "Two copies of a thread stand before the same instruction at the same time.",
};

/// The question about a program.
struct Apart {
    /// The program with a `never` for each label.
    asked: Program,
    /// The same with threads that watch.
    watched: Program,
}

impl Apart {
    /// The question about the program of a text, of which a thread has these labels.
    fn of(text: &str, thread: &str, labels: &[&str]) -> (Self, String) {
        let never = |label: &&str| format!("never {thread} at {label}, {thread} at {label}\n");
        let text = text.to_owned() + &labels.iter().map(never).collect::<String>();
        let asked = read(SourceText::new("apart.pal", text.clone()), Format::Native).expect("a program").program;
        let watched = asked.monitored().expect("no lock is held");
        (Self { asked, watched }, text)
    }
}

impl Question for Apart {
    type Found = Proof;

    fn about(&self) -> About<'_> {
        About::new(&self.watched)
    }

    fn asked(&self) -> Vec<Account<'_>> {
        vec![Account::new("apart", &CROWDED, "no two copies are at one label", program_words(&self.asked, &[]))]
    }

    fn decide(&self, limits: &Limits) -> Result<Proof, Fault> {
        prove(&self.watched, None, &ProveOptions { limits: limits.clone(), ..ProveOptions::new(Model::Sc) })
    }

    fn tell<'a>(&'a self, found: &'a Proof, accounts: &mut [Account<'a>]) {
        let account = &mut accounts[0];
        account.explored = found.states;
        let Some(violation) = found.violations().next() else {
            if found.holds() {
                "apart".clone_into(&mut account.verdict);
                account.answer = Answer::Holds(Shows::default());
            }
            return;
        };
        "crowded".clone_into(&mut account.verdict);
        "two copies meet at a label".clone_into(&mut account.message);
        account.answer = Answer::Violated(Shown {
            headline: "violation: two copies are at one label".to_owned(),
            above: Vec::new(),
            run: Run::Threads(ComputationReport::of_property(&self.watched, violation)),
            below: Vec::new(),
            cycle: None,
            instance: Vec::new(),
            instance_minimal: None,
            shortest: violation.shortest,
            attacker: None,
            related: Vec::new(),
        });
    }
}

/// Everything that is made of the answer about a program.
struct Made {
    standing: Standing,
    text: String,
    json: String,
    sarif: String,
    junit: String,
    page: String,
    evidence: Vec<Evidence>,
}

fn made(asked: &dyn Asked) -> Made {
    let about = asked.about();
    let evidence: Vec<Evidence> = asked.evidence().into_iter().map(|(_, evidence)| evidence).collect();
    for own in &evidence {
        check_evidence(about.program, about.condition, own).expect("the checker accepts it");
    }
    let context = Context {
        file: "apart.pal",
        program: about.program,
        warnings: &[],
        seconds: 0.0,
        certificates: &[],
        changed: &[],
        compilations: None,
    };
    let told = Told { context, nothing: "nothing", accounts: asked.accounts() };
    let answers = [findings(&told)];
    Made {
        standing: told.standing(),
        text: report(&told, Extent::default()),
        json: palisade::report::documents::text(&CheckDocument::new(&told)),
        sarif: sarif("check", &answers),
        junit: junit("check", &answers),
        page: told_page(&told, "palisade check apart.pal"),
        evidence,
    }
}

/// Whether `palisade verify` accepts the evidence.
fn is_verified(text: &str, evidence: &Evidence) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, path) = (folder.path().join("apart.pal"), folder.path().join("evidence.json"));
    std::fs::write(&program, text).expect("it is written");
    std::fs::write(&path, evidence.to_text()).expect("it is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.arg("verify").arg(&path).arg("--program").arg(&program).output().expect("it runs");
    output.status.success()
}

const PROGRAM: &str = "program Apart
address lock_word
thread worker [COPIES] regs r init a begin
  a: r <- cas(mem[lock_word], 0, 1); goto b;
  b: assert r = 0; goto c;
  c: mem[lock_word] <- 0; goto d;
end
";

#[test]
fn a_question_of_one_file_reaches_everything() {
    let (question, text) = Apart::of(&PROGRAM.replace("COPIES", "2"), "worker", &["a"]);
    let asked = ask(question, &Limits::none());
    let found = made(&*asked);
    assert_eq!(found.standing, Standing::Violated);
    assert!(found.text.starts_with("apart.pal: crowded\n") && found.text.contains("\nviolation: two copies are"));
    let document = crate::documents::read(&found.json);
    assert_eq!((&document["verdict"], &document["answers"][0]["ask"]), (&"violated".into(), &"apart".into()));
    assert!(found.sarif.contains("\"ruleId\": \"crowded-label\"") && found.sarif.contains("\"CrowdedLabel\""));
    assert!(found.junit.contains("<failure message=\"two copies meet at a label"), "{}", found.junit);
    assert!(found.page.contains("<header class=\"bad\">") && found.page.contains("crowded"), "{}", found.page);
    assert!(!found.evidence.is_empty() && found.evidence.iter().all(|own| is_verified(&text, own)));
}

#[test]
fn its_proof_reaches_everything_as_well() {
    let (question, text) = Apart::of(&PROGRAM.replace("COPIES", "2"), "worker", &["c"]);
    let asked = ask(question, &Limits::none());
    let found = made(&*asked);
    assert_eq!(found.standing, Standing::Holds);
    assert!(found.text.starts_with("apart.pal: apart\n"), "{}", found.text);
    assert_eq!(crate::documents::read(&found.json)["verdict"], "holds");
    assert!(found.junit.contains("failures=\"0\" errors=\"0\""), "{}", found.junit);
    assert!(found.page.contains("<header class=\"good\">"), "{}", found.page);
    assert!(!found.evidence.is_empty() && found.evidence.iter().all(|own| is_verified(&text, own)));
}
