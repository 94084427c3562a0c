//! Reading machine code rests on premises: that code which is not understood is not come to, and
//! that addresses are computed of cells that executions have shown. That these hold is for
//! explorations to show, whatever control flow says, and for the checker to see.

use crate::checked;
use palisade::evidence::RobustCertificate;
use palisade::program::{EvaluationError, LabelId, Liveness, Program, SourceText, ThreadId};
use palisade::properties::{ProveOptions, Rung};
use palisade::robustness::{CheckOptions, FaultKind, Verdict, certificate};
use palisade::semantics::Model;
use palisade::syntax::{Format, read};
use palisade::verify::{check_property, check_robust_certificate};
use std::path::Path;
use std::process::Command;

/// Roles of functions of the image `reached`, so many copies of each.
fn roles(folder: &Path, functions: &[&str], copies: &str) -> String {
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images/reached");
    let mut text = format!("image = {:?}\n", image.display().to_string());
    for function in functions {
        text += &format!("[[role]]\nfunction = {function:?}\ncopies = {copies}\n");
    }
    let path = folder.join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    path.display().to_string()
}

fn program(functions: &[&str], copies: &str) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    palisade::machine::read(&roles(folder.path(), functions, copies)).expect("it is read")
}

fn options(values: usize) -> CheckOptions {
    CheckOptions { values, ..CheckOptions::default() }
}

/// An empty certificate for a program without attacks.
fn empty(program: &Program) -> RobustCertificate {
    let found = checked::check(program, &options(1000)).expect("all values are known");
    RobustCertificate { sc: Vec::new(), ..certificate(program, &found).expect("it is robust") }
}

#[test]
fn what_is_not_come_to_need_not_be_understood() {
    let counted = program(&["counted"], "3");
    let found = checked::check(&counted, &options(64)).expect("nobody frees");
    assert_eq!(found.verdict, Verdict::Robust);
    let unreached = found.unreached.expect("all is explored");
    let not_reached = |(thread, label): &(ThreadId, LabelId)| counted.thread(*thread).label(*label).name.as_str();
    assert!(unreached.iter().map(not_reached).any(|name| name == "reached.c:14"), "{unreached:?}");
    let rejected = check_robust_certificate(&counted, &empty(&counted)).expect_err("nothing was explored");
    assert!(rejected.to_string().contains("covers the initial"), "{rejected}");

    let beside = program(&["counted_left", "counted_right"], "1");
    assert_eq!(checked::check(&beside, &options(64)).expect("nobody frees").verdict, Verdict::NotRobust);
}

#[test]
fn what_is_come_to_is_refused_with_the_calls_that_lead_there() {
    let folder = tempfile::tempdir().expect("a folder");
    for (functions, command) in [
        (&["dropped"][..], "check"),
        (&["counted", "dropped"], "check"),
        (&["counted_left", "counted_right", "dropped"], "fences"),
        (&["counted_left", "asserted"], "prove"),
    ] {
        let path = roles(folder.path(), functions, "2");
        let mut palisade = Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = palisade.args([command, &path]).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command} {functions:?}: {text}");
        assert!(text.contains("`free` is called, which is not followed"), "{command} {functions:?}: {text}");
        assert!(text.contains("called from "), "{command} {functions:?}: {text}");
        assert!(
            text.contains("`.heap(2)` lets roles of a fixed number of copies allocate"),
            "{command} {functions:?}: {text}"
        );
    }
}

/// No thread has both a store and a load, as far as short executions show; so there are no attacks,
/// and control flow rules all of them out.
#[test]
fn without_attacks_an_exploration_is_needed_all_the_same() {
    let hidden = program(&["rarely", "hidden_left", "hidden_right"], "1");
    assert!(hidden.rests_on_exploration());
    let fault = checked::check(&hidden, &options(64)).expect_err("values are more");
    assert!(fault.is_growth(), "{fault:?}");
    let advice = fault.advice(&hidden);
    assert!(
        advice.starts_with("compute the cell that it comes from in fewer bits") && !advice.contains('['),
        "{advice}"
    );
    let fault = checked::check(&hidden, &options(200_000)).expect_err("a cell is stored to that was not known");
    assert_eq!(fault.kind, FaultKind::Evaluation(EvaluationError::DivisionByZero));
    let nothing = RobustCertificate {
        live: hidden.threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
        ..RobustCertificate::default()
    };
    let rejected = check_robust_certificate(&hidden, &nothing).expect_err("nothing was explored");
    assert!(rejected.to_string().contains("covers the initial"), "{rejected}");
    let mut written = hidden.clone();
    written.source = SourceText::new("p.pal", hidden.source.text.as_str());
    assert_eq!(check_robust_certificate(&written, &nothing), Ok(()), "a program that is written has no such premises");
}

/// What is to be said of cells that grow can be copied as it stands.
#[test]
fn narrowing_is_advised_with_names() {
    let text = "program P address ring_head thread t regs r init a begin
                a: r <- mem[ring_head]; goto b; b: mem[ring_head] <- r + r % 2 + 1; goto a; end";
    let mut grown = read(SourceText::new("p.pal", text), Format::Native).expect("it is right").program;
    let mut listing = (*grown.source).clone();
    listing.is_listing = true;
    grown.source = listing.into();
    let fault = checked::check(&grown, &options(64)).expect_err("values grow");
    let advice = fault.advice(&grown);
    assert!(advice.contains("`.narrow([\"ring_head\"], 2)`"), "{advice}");
    assert!(advice.contains("`narrow = [{ cells = [\"ring_head\"], bits = 2 }]`"), "{advice}");
}

/// Executions that are short do not come to the compare-and-swap; that its address is the one of
/// the load says which cells it has.
#[test]
fn what_is_loaded_and_rarely_changed_has_the_cells_of_the_load() {
    let changed = program(&["rarely_changed"], "2");
    let computed = changed.threads[0].instructions.iter().filter(|own| own.action.address().is_some());
    assert_eq!((computed.count(), changed.addresses.len()), (2, 2), "{}", changed.source.text);
    let found = checked::check(&changed, &options(200_000)).expect("both have both cells");
    assert_eq!(found.verdict, Verdict::Robust);
}

/// A slice leaves nothing out on which the reading rests.
#[test]
fn slices_keep_what_the_reading_rests_on() {
    let text = "program P\naddress x, y, z\n\
                thread t regs r init a begin\n  a: r <- mem[x]; goto b;\n  b: mem[y + 0 / (r = 0)] <- 1; goto c;\nend\n\
                thread u regs s init a begin\n  a: s <- mem[z]; goto b;\n  b: ensure s = 0; goto c;\nend\n\
                thread v init a begin\n  a: mem[x] <- 1; goto b;\nend\n";
    let written = read(SourceText::new("p.pal", text), Format::Native).expect("it is right").program;
    let by_values = ProveOptions { by: Some(Rung::Values), ..ProveOptions::new(Model::Sc) };
    let options = ProveOptions { by: Some(Rung::Sc), ..by_values.clone() };
    let proof = checked::prove(&written, None, &options).expect("the slice has no division");
    assert!(proof.holds());
    let evidence = proof.evidence().expect("there is a proof");
    assert!(evidence.proofs.iter().any(|proof| proof.slice.iter().any(|slice| !slice.is_empty())));
    let values = checked::prove(&written, None, &by_values).expect("values are known").evidence();
    let values = values.expect("nobody stores to z");
    let listed = crate::robustness::accepted::listed(written);
    let rejected = check_property(&listed, None, &values).expect_err("the reading rests on an exploration");
    assert!(rejected.to_string().contains("values show nothing of machine code"), "{rejected}");
    assert!(!checked::prove(&listed, None, &by_values).expect("nothing is explored").holds());
    let rejected = check_property(&listed, None, &evidence).expect_err("the reading rests on the store");
    assert!(rejected.to_string().contains("whose value the reading rests on"), "{rejected}");
    let fault = checked::prove(&listed, None, &options).expect_err("the address has no value");
    assert_eq!(fault.kind, FaultKind::Evaluation(EvaluationError::DivisionByZero));
}

/// Roles of which a verdict says little are named.
#[test]
fn roles_that_do_not_return_are_named() {
    let text = "program Roles
address x, y
thread fails { x = 1; if (y == 0) { fail; } else { fail; } }
thread spins { y = 1; loop { x = 1; } }
thread again { x = 1; }
thread may { x = 1; if (y == 0) { fail; } }
thread at_once { loop { pause; } }
";
    let source = palisade::text::SourceText::new("roles", text);
    let program = palisade::syntax::parse(source, palisade::syntax::Format::Native).expect("it is read").program;
    let said = |program: &palisade::program::Program, is_reached: &dyn Fn(&str) -> bool| -> Vec<String> {
        let reached = |thread, label| is_reached(&program.thread(thread).label(label).name);
        let warnings = palisade::syntax::roles_without_end(program, reached);
        warnings.into_iter().map(|warning| warning.message.clone()).collect()
    };
    assert!(said(&program, &|_| true).is_empty(), "threads of texts may run for ever");
    let source = palisade::text::SourceText::listing("roles", text.to_owned(), []);
    let listed = palisade::program::Program { source, ..program };
    assert_eq!(
        said(&listed, &|_| true),
        ["role `fails` fails on every path", "role `spins` never returns", "role `at_once` never returns"]
    );
}

/// What follows a loop that values never leave counts as well, where properties are asked alone
/// too.
#[test]
fn what_values_never_leave_is_named() {
    let text = "program Roles
address x, y
thread spins [2] { loop { x = 1; let seen = x; if (seen == 7) { y = 1; ensure y == 0; } } }
thread other { y = 0; }
";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("roles.pal");
    std::fs::write(&path, text).expect("the folder is writable");
    for (arguments, told) in [
        (&["check"][..], "  unreached spins: line 3"),
        (&["check", "--ask", "properties", "--model", "sc"], "  unreached spins: line 3\n"),
        (&["check", "--ask", "properties"], "  unreached spins: line 3 (under SC)\n"),
        (&["prove"], "  unreached spins: line 3 (under SC)\n"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.args(arguments).arg(&path).output().expect("the command starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(told), "{arguments:?}: {text}");
    }
    let source =
        palisade::text::SourceText::new("roles", "program P\naddress x\nthread spins { x = 1; await x == 7; }\n");
    let program = palisade::syntax::parse(source, palisade::syntax::Format::Native).expect("it is read").program;
    let ends = |program: &palisade::program::Program| {
        let labels = palisade::robustness::unreached(program, 64, &palisade::limits::Limits::none());
        let labels = labels.expect("no step is without a meaning").expect("all is explored");
        labels.iter().any(|(thread, label)| program.thread(*thread).label(*label).name == "end")
    };
    assert!(!ends(&program), "threads of texts need not end");
    let source = palisade::text::SourceText::listing("roles", program.source.text.clone(), []);
    assert!(ends(&palisade::program::Program { source, ..program }), "roles return");
}
