//! What users leave out of the question about machine code: delays that they accept, loads that are
//! hints. Answers, documents and evidence say what that leaves of the claim.

use crate::{checked, documents};
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict, certificate};
use palisade::semantics::{Instance, LOOP_CAPACITY, Model, final_states};
use palisade::verify::check_robust_certificate;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn image(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images").join(name)
}

/// Writes a file of roles of one copy each, with lines before them.
fn roles(folder: &Path, image_name: &str, functions: &[&str], repeat: bool, before: &str) -> String {
    let mut text = format!("image = {:?}\n{before}\n", image(image_name).display().to_string());
    for function in functions {
        text += &format!("[[role]]\nfunction = {function:?}\nrepeat = {repeat}\n");
    }
    let path = folder.join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    path.display().to_string()
}

fn read(image_name: &str, functions: &[&str], before: &str) -> Result<Program, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), image_name, functions, false, before);
    palisade::machine::read(&path).map_err(|error| error.render(false))
}

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const RING: &[&str] = &["produce", "consume"];
const NARROW: &str = "narrow = [{ cells = [\"written\", \"taken\"], bits = 3 }]";

/// The delays that the answers about the ring name, one after the other, until there is none.
fn harmless_delays(folder: &Path) -> Vec<(String, String)> {
    let mut accepted: Vec<(String, String)> = Vec::new();
    loop {
        roles(folder, "ring-O2", RING, true, &format!("{NARROW}\n{}", accept(&accepted)));
        let output = palisade(folder, &["check", "roles.toml", "--json"]);
        let document = documents::read(&output.stdout);
        if document["verdict"] == "holds" {
            return accepted;
        }
        let attacks = document["answers"][0]["attacks"].as_array().unwrap_or_else(|| panic!("{document}"));
        let attack = attacks.iter().find(|attack| attack["outcome"] == "feasible").expect("one is feasible");
        let place =
            |access: &str| attack[access]["label"].as_str().expect("a label").split('#').next().map(str::to_owned);
        accepted.push((place("store").expect("a place"), place("load").expect("a place")));
        assert!(accepted.len() < 10, "{accepted:?}");
    }
}

fn accept(delays: &[(String, String)]) -> String {
    let delay = |(store, load): &(String, String)| format!("{{ store = {store:?}, load = {load:?} }}");
    format!("accept = [{}]", delays.iter().map(delay).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_ring_is_robust_but_for_the_delays_that_are_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let delays = harmless_delays(folder.path());
    assert!(!delays.is_empty());
    let output = palisade(folder.path(), &["check", "roles.toml", "--certificate", "out"]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.starts_with("roles.toml: robust but for "), "{shown}");
    assert!(shown.contains("  leaves   that an execution which no interleaving explains has one of"), "{shown}");
    let document = documents::read(&palisade(folder.path(), &["check", "roles.toml", "--json"]).stdout);
    let accepted = document["claim"]["accepted"].as_array().unwrap_or_else(|| panic!("{document}"));
    assert!(accepted.len() >= delays.len(), "{document}");
    // The evidence says what was left out, and says nothing of more than the roles leave out.
    let evidence = folder.path().join("out/roles.toml.robust.json");
    let verified = palisade(folder.path(), &["verify", "out/roles.toml.robust.json"]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));
    assert!(text(&verified).contains("but for the accepted delay"), "{}", text(&verified));
    let written = std::fs::read_to_string(&evidence).expect("it was written");
    let mut forged: serde_json::Value = documents::evidence(&written);
    let subject = forged.as_object_mut().expect("an object");
    let header = subject.values_mut().find(|value| value.get("accepted").is_some()).expect("it says what was left out");
    let own = header["accepted"].clone();
    for other in [json!([]), json!([["ring.c:1", "ring.c:1"]])] {
        let all: Vec<_> = [&own, &other].into_iter().filter_map(|list| list.as_array()).flatten().cloned().collect();
        header_of(&mut forged)["accepted"] = if other == json!([]) { other } else { all.into() };
        std::fs::write(&evidence, forged.to_string()).expect("it is writable");
        let verified = palisade(folder.path(), &["verify", "out/roles.toml.robust.json"]);
        assert_eq!(verified.status.code(), Some(4), "{}", text(&verified));
    }
}

/// The part of a document that says what was left out.
fn header_of(document: &mut serde_json::Value) -> &mut serde_json::Value {
    let mut parts = document.as_object_mut().expect("an object").values_mut();
    parts.find(|value| value.get("accepted").is_some()).expect("it is there")
}

#[test]
fn accepted_delays_are_of_accesses_that_there_are() {
    for (delay, why) in [
        (("ring.c:1", "ring.c:2"), "no role has a store at `ring.c:1`"),
        (("traps.c:12", "ring.c:2"), "no role has a load at `ring.c:2`"),
    ] {
        let before = accept(&[(delay.0.to_owned(), delay.1.to_owned())]);
        let refused = read("traps", &["plain_left", "plain_right"], &before).expect_err("it is refused");
        assert!(refused.contains(why), "{refused}");
    }
    let before = accept(&[("traps.c:12".to_owned(), "traps.c:12".to_owned())]);
    let refused = read("traps", &["plain_left", "plain_right"], &before).expect_err("it is refused");
    assert!(refused.contains("nothing is left to ask"), "{refused}");
}

fn verdict(program: &Program) -> Verdict {
    let options = CheckOptions::default();
    checked::check(program, &options).expect("all values are known").verdict
}

/// Without optimisation, the load that guesses what `cmpxchg` checks stays a load, and is a false
/// alarm. As a hint it is none.
#[test]
fn a_guess_that_is_checked_is_a_hint() {
    let plain = read("guess-O0", &["left", "right"], "").expect("it is read");
    assert_eq!(verdict(&plain), Verdict::NotRobust);
    let folder = tempfile::tempdir().expect("a folder");
    roles(folder.path(), "guess-O0", &["left", "right"], false, GUESS);
    let output = palisade(folder.path(), &["check", "roles.toml", "--certificate", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("with any value for the hint at guess.c:"), "{}", text(&output));
    assert!(text(&output).contains("in which hints find any value of their cell"), "{}", text(&output));
    let output = palisade(folder.path(), &["verify", "out/roles.toml.robust.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("no domain, with any value for the hint at guess.c:5]"), "{}", text(&output));
    let document = documents::read(&palisade(folder.path(), &["check", "roles.toml", "--json"]).stdout);
    assert_eq!(document["claim"]["hints"], json!(["guess.c:5"]), "{document}");
    // That the cell takes no other values is for an exploration to show.
    let answers = document["answers"].as_array().expect("answers");
    let robustness = answers.iter().find(|answer| answer["ask"] == "robustness").expect("it is asked");
    let attacks = robustness["attacks"].as_array().expect("attacks");
    assert!(!attacks.is_empty() && attacks.iter().all(|attack| attack["outcome"] == "infeasible"), "{document}");
    let verified = palisade(folder.path(), &["verify", "out/roles.toml.robust.json", "--json"]);
    assert_eq!(documents::read(&verified.stdout)["claim"]["hints"], json!(["guess.c:5"]));
    // A page and a log say it, too.
    let written = ["--report", "page.html", "--sarif", "log.sarif"];
    palisade(folder.path(), &[&["check", "roles.toml"], written.as_slice()].concat());
    for file in ["page.html", "log.sarif"] {
        let written = std::fs::read_to_string(folder.path().join(file)).expect("it was written");
        assert!(written.contains("with any value for the hint at guess.c:5"), "{file}: {written}");
    }
}

const GUESS: &str = "hint = [\"guess.c:5\"]";

/// Whatever the code does under TSO, code with hints that is robust does under SC.
#[test]
fn hints_admit_whatever_the_code_does() {
    let mut robust = 0;
    for (name, functions) in [
        ("guess-O0", ["left", "right"]),
        ("guess-O2", ["declining_left", "right"]),
        ("traps", ["plain_left", "plain_right"]),
        ("traps", ["without_call_left", "without_call_right"]),
        ("peterson-weak-O2", ["lock_left", "lock_right"]),
        ("wake-O2", ["waiter", "waker"]),
        ("deque-O2", ["owner", "thief"]),
    ] {
        let plain = read(name, &functions, "").unwrap_or_else(|error| panic!("{name}: {error}"));
        let states = |program: &Program, model| {
            let instance = Instance::of(program).expect("the copies are fixed");
            let limits = Limits::none();
            final_states(program, &instance, model, LOOP_CAPACITY, &limits).expect("it ends").completed
        };
        let under_tso: Vec<_> = states(&plain, Model::Tso).into_iter().collect();
        let loads = plain.threads.iter().flat_map(|thread| &thread.instructions).filter_map(|own| {
            let is_load = matches!(own.action, palisade::program::Action::Load { .. });
            plain.source.origin(own.span).filter(|_| is_load).map(|origin| origin.place.clone())
        });
        let places: std::collections::BTreeSet<String> = loads.collect();
        let each = places.iter().map(|place| vec![place]);
        for hints in each.chain([places.iter().collect()]) {
            let Ok(weakened) = read(name, &functions, &format!("hint = {hints:?}")) else { continue };
            let options = CheckOptions::default();
            if !checked::check(&weakened, &options).is_ok_and(|check| check.verdict == Verdict::Robust) {
                continue;
            }
            robust += 1;
            let under_sc = states(&weakened, Model::Sc);
            let memory = |state: &palisade::semantics::State| state.nonzero_memory().to_vec();
            let memories: std::collections::BTreeSet<_> = under_sc.iter().map(memory).collect();
            assert!(under_tso.iter().all(|state| memories.contains(&memory(state))), "{name} {hints:?}");
        }
    }
    assert!(robust >= 4, "{robust}");
}

/// Control flow rules all attacks out of these programs, were it not that they rest on what an
/// exploration shows: which values the cell of a hint takes, which cells computed addresses are of.
/// The checker takes no word for it either.
#[test]
fn control_flow_alone_is_no_evidence() {
    for (name, functions, before) in [("guess-O0", ["left", "right"], GUESS), ("rare", ["crowd", "right"], "")] {
        let program = read(name, &functions, before).expect("it is read");
        assert!(program.rests_on_exploration(), "{name}");
        let mut no_listing = program.clone();
        no_listing.source = SourceText::new("p.pal", program.source.text.as_str());
        let by_control_flow = checked::check(&no_listing, &CheckOptions::default()).expect("all values are known");
        assert!(by_control_flow.attacks.iter().all(|attack| attack.outcome == AttackOutcome::Pruned), "{name}");
        let evidence = certificate(&no_listing, &by_control_flow).expect("it is robust");
        assert_eq!(check_robust_certificate(&no_listing, &evidence), Ok(()), "{name}");
        let rejected = check_robust_certificate(&program, &evidence).expect_err("control flow says nothing");
        assert!(rejected.to_string().contains("control flow says nothing"), "{name}: {rejected}");
        let explored = checked::check(&program, &CheckOptions::default()).expect("all values are known");
        assert!(explored.attacks.iter().all(|attack| attack.outcome == AttackOutcome::Infeasible), "{name}");
    }
}

/// Without attacks nothing would be explored.
#[test]
fn hints_leave_something_to_ask() {
    let refused = read("traps", &["plain_left", "plain_right"], "hint = [\"traps.c:12\"]");
    let refused = refused.map(|program| program.source.text.clone()).expect_err("it is refused");
    assert!(refused.contains("beside the hints no role stores and loads"), "{refused}");
}

#[test]
fn hints_are_loads_that_there_are() {
    let refused = read("traps", &["plain_left", "plain_right"], "hint = [\"traps.c:1\"]").expect_err("it is refused");
    assert!(refused.contains("no role has a load at `traps.c:1`"), "{refused}");
}
