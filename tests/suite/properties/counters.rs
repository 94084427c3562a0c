//! Properties of programs with counters: models in integers and with real widths, for any number of
//! copies, and what evidence about them must not do.

use crate::checked::prove;
use crate::evidence::form::about_properties;
use palisade::evidence::{PropertyEvidence, PropertyReason, RobustCertificate};
use palisade::program::{Program, SourceText};
use palisade::properties::{Answer, Proof, ProveOptions, Rung};
use palisade::semantics::Model;
use palisade::syntax::{Format, read};
use palisade::verify::check_property;
use std::path::Path;

fn program(text: &str) -> Program {
    read(SourceText::new("counters.pal", text), Format::Native).expect("the text is a program").program
}

/// The text of a model.
fn text(model: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(model);
    std::fs::read_to_string(path).expect("the model is there")
}

/// A model with any number of copies or so many, in integers or in a domain that wraps.
fn model(name: &str, copies: &str, domain: Option<&str>) -> Program {
    let mut program = program(&text(name));
    if !copies.is_empty() {
        program.override_copies(&[copies.parse().expect("copies")]).expect("there is such a thread");
    }
    match domain {
        Some(domain) => program.override_domain(Some(domain.parse().expect("a domain")), true).expect("it contains 0"),
        None => program.domain = None,
    }
    program
}

/// What all rungs, or one of them, say of the properties of a program, whose steps have values.
fn said(program: &Program, model: Model, by: Option<Rung>) -> Proof {
    let options = ProveOptions { by, ..ProveOptions::new(model) };
    prove(program, None, &options).expect("every step has a value, and none grows")
}

/// The evidence that all properties of a program hold, by what counters tell.
fn held(program: &Program, model: Model) -> PropertyEvidence {
    let proof = said(program, model, Some(Rung::Counters));
    assert!(proof.holds(), "{model:?} {:?}", proof.answers);
    proof.evidence().expect("they hold")
}

/// The sets of interleavings of evidence by counters.
fn interleavings(evidence: &PropertyEvidence) -> impl Iterator<Item = &RobustCertificate> {
    evidence.proofs.iter().map(|proof| match &proof.reason {
        PropertyReason::Counters { sc, .. } => &**sc,
        other => panic!("{other:?}"),
    })
}

/// Tickets are erased, counters stop, and what is far behind is one value, under SC and, as the
/// models are robust, under TSO.
#[test]
fn models_in_integers_for_any_number() {
    type Says = fn(&RobustCertificate) -> bool;
    let models: [(&str, Says); 3] = [
        ("ticket-lock.pal", |own| own.tickets.len() == 1),
        ("linux-spinlock.pal", |own| own.ends.len() == 1),
        ("seqlock.pal", |own| own.far.len() == 1),
    ];
    for (name, says) in models {
        let program = model(name, "", None);
        for memory in [Model::Sc, Model::Tso] {
            let proof = said(&program, memory, None);
            assert!(
                proof.holds() && proof.answers.iter().all(|answer| answer.rung == Rung::Counters),
                "{name} {memory:?}"
            );
            let evidence = proof.evidence().expect("they hold");
            assert!(interleavings(&evidence).any(says), "{name} {memory:?}");
        }
    }
}

/// With as many residues as there are copies tickets differ, and so they do in every wider domain.
#[test]
fn tickets_of_real_width() {
    for domain in ["0..255", "0..65535", "0..4294967295"] {
        for memory in [Model::Sc, Model::Tso] {
            let lock = model("ticket-lock.pal", "worker=3", Some(domain));
            let proof = said(&lock, memory, None);
            assert!(proof.holds(), "{domain} {memory:?}");
        }
    }
    for memory in [Model::Sc, Model::Tso] {
        let own = held(&model("ticket-lock.pal", "worker=200", Some("0..255")), memory);
        assert!(interleavings(&own).all(|own| own.tickets.len() == 1));
    }
}

/// A counter that all copies move and whose parity they look at: two residues are enough, for any
/// number of copies.
const PARITY: &str = "program Parity
address count, x, y
thread worker [*] regs mine, seen init draw begin
  draw: mine <- fetch_add(mem[count], 2);
  kept: ensure mine % 2 = 0; goto draw;
end
";

#[test]
fn residues_are_enough_for_every_width() {
    for domain in [None, Some("0..255"), Some("0..65535")] {
        let mut program = program(PARITY);
        if let Some(domain) = domain {
            program.override_domain(Some(domain.parse().expect("a domain")), true).expect("it contains 0");
        }
        for memory in [Model::Sc, Model::Tso] {
            for own in interleavings(&held(&program, memory)) {
                assert!(own.modulo.is_some(), "{domain:?} {memory:?}");
            }
        }
    }
}

/// Targets that are reached: an `ensure` and a `fail`, among the first values of counters, and far
/// from these.
#[test]
fn what_is_reached_is_not_proved() {
    let ticket_lock = text("ticket-lock.pal").replace("domain 0..1 wrap", "");
    let odd =
        PARITY.replace("kept: ensure mine % 2 = 0; goto draw;", "kept: assert mine % 2 = 0; goto odd;\n  odd: fail;");
    let changes = [
        (ticket_lock.replace("ensure r = l", "ensure r = 0"), "the words are not 0"),
        (ticket_lock.replace("ensure r = l", "ensure mine != 70"), "the seventieth ticket"),
        (ticket_lock.replace("assert serving = mine;", "nop;"), "nobody waits"),
        (PARITY.replace("kept: ensure mine % 2 = 0", "kept: ensure mine < 100"), "it grows"),
        (odd, "it comes there at once"),
    ];
    for (text, what) in changes {
        let program = program(&text);
        for memory in [Model::Sc, Model::Tso] {
            let options = ProveOptions { by: Some(Rung::Counters), ..ProveOptions::new(memory) };
            let proof = prove(&program, None, &options).expect("every step has a value");
            let is_open = |answer: &palisade::properties::TargetAnswer| matches!(answer.answer, Answer::Open(_));
            assert!(proof.answers.iter().all(is_open), "{what} {memory:?}");
        }
    }
}

/// Evidence whose last proof has another set of interleavings.
fn with_interleavings(whole: &PropertyEvidence, change: impl Fn(&mut RobustCertificate)) -> PropertyEvidence {
    let mut changed = whole.clone();
    match changed.proofs.last_mut().map(|proof| &mut proof.reason) {
        Some(PropertyReason::Counters { sc, .. }) => change(sc),
        other => panic!("{other:?}"),
    }
    changed
}

#[test]
fn changed_evidence_is_rejected() {
    let lock = model("ticket-lock.pal", "", None);
    let parity = program(PARITY);
    let sequence = model("seqlock.pal", "", None);
    for (name, program) in [("tickets", &lock), ("residues", &parity), ("far", &sequence)] {
        let (sc, tso) = (held(program, Model::Sc), held(program, Model::Tso));
        let is_accepted = |evidence: &PropertyEvidence| check_property(program, None, evidence).is_ok();
        assert!(is_accepted(&sc) && is_accepted(&tso), "{name}");
        // A proof for another model.
        for (evidence, models) in [(&sc, [Model::Tso, Model::Pso]), (&tso, [Model::Sc, Model::Pso])] {
            for model in models {
                assert!(!is_accepted(&PropertyEvidence { model, ..evidence.clone() }), "{name} {model:?}");
            }
        }
        let rejects = |what: &str, change: &dyn Fn(&mut RobustCertificate)| {
            for whole in [&sc, &tso] {
                assert!(!is_accepted(&with_interleavings(whole, change)), "{name}: {what}");
            }
        };
        if name != "residues" {
            rejects("all values are known", &|own| (own.tickets, own.far) = (Vec::new(), Vec::new()));
        }
        rejects("nothing is reached", &|own| own.sc.clear());
        for left_out in [0, 1, 2] {
            rejects("a configuration is missing", &|own| {
                let number = own.sc.len() * left_out / 3;
                own.sc.remove(number);
            });
        }
        rejects("it speaks of attacks", &|own| {
            let attacks = tso.proofs.iter().find_map(|proof| match &proof.reason {
                PropertyReason::Counters { certificate, .. } => certificate.as_ref().map(|own| own.attacks.clone()),
                _ => None,
            });
            own.attacks = attacks.expect("there are attacks");
            own.delayed = vec![palisade::evidence::DelayedSet {
                thread: palisade::program::ThreadId::from_index(0),
                store: palisade::program::InstructionId::from_index(0),
                configurations: Vec::new(),
            }];
        });
        rejects("there is one residue", &|own| own.modulo = Some((0, 0)));
        rejects("there are three", &|own| own.modulo = Some((0, 2)));
    }
    // In a domain tickets come around among many copies, and so does what is far behind.
    for (name, program) in [("ticket-lock.pal", &lock), ("seqlock.pal", &sequence)] {
        let narrow = model(name, "", Some("0..255"));
        for memory in [Model::Sc, Model::Tso] {
            assert!(check_property(&narrow, None, &held(program, memory)).is_err(), "{name} {memory:?}");
        }
    }
    // Residues say the same of every width, but for those that are no multiples.
    let whole = held(&parity, Model::Tso);
    for (domain, is_fine) in [("0..1", false), ("0..3", true), ("0..4", false), ("0..255", true), ("-4..3", true)] {
        let mut other = parity.clone();
        other.override_domain(Some(domain.parse().expect("a domain")), true).expect("it contains 0");
        let accepted = check_property(&other, None, &whole).is_ok();
        assert!(!accepted || is_fine, "{domain}");
    }
}

#[test]
fn every_change_of_evidence_is_rejected() {
    let lock = text("ticket-lock.pal").replace("domain 0..1 wrap", "");
    let options = ProveOptions { by: Some(Rung::Counters), ..ProveOptions::new(Model::Sc) };
    let good = about_properties("without tickets", &lock, Format::Native, &options);
    assert!(good.change_everything() > 100);
}
