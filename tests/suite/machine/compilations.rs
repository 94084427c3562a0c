//! What is said of every compilation: the table of what compilers may do, a row of it each, on an
//! image that was built without optimisation.

use crate::checked::check;
use palisade::compilations::every_compilation;
use palisade::evidence::RobustCertificate;
use palisade::program::Program;
use palisade::robustness::CheckOptions;
use palisade::verify::check_every_compilation;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn image(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images").join(name)
}

/// Writes roles of one copy each about an image beside its source; a function with a `*` is one of
/// any number.
fn roles(folder: &Path, name: &str, image_name: &str, functions: &[&str], more: &str) -> String {
    let source = image_name.split_once('-').map_or(image_name, |(source, _)| source).to_owned() + ".rs";
    for file in [image_name, &source] {
        std::fs::copy(image(file), folder.join(file)).expect("it is copied");
    }
    let mut text = format!("image = {image_name:?}\n{more}");
    for function in functions {
        let (function, copies) = function.strip_suffix('*').map_or((*function, "1"), |function| (function, "\"*\""));
        text += &format!("\n[[role]]\nfunction = {function:?}\ncopies = {copies}\n");
    }
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the folder is writable");
    path.display().to_string()
}

/// Roles in source order, and the folder that their source is in.
fn lifted(image_name: &str, functions: &[&str]) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), "roles.toml", image_name, functions, "source_order = true\n");
    palisade::machine::read(&path).unwrap_or_else(|error| panic!("{functions:?}: {}", error.render(false)))
}

/// The certificate of a robust program.
fn certificate(program: &Program) -> RobustCertificate {
    let checked = check(program, &CheckOptions::default()).expect("each step has a meaning");
    palisade::robustness::certificate(program, &checked).expect("it is robust")
}

/// Engine and checker say the same; the place and the reason where they say no. Orderings do not
/// depend on a verdict, which programs without a certificate have not.
fn objection(image_name: &str, functions: &[&str]) -> Option<String> {
    let program = lifted(image_name, functions);
    let checked = check(&program, &CheckOptions::default()).expect("each step has a meaning");
    let certificate = palisade::robustness::certificate(&program, &checked).unwrap_or_default();
    let judged = every_compilation(&program, &certificate).expect("it is in source order");
    let checked = check_every_compilation(&program, &certificate);
    assert_eq!(judged.is_ok(), checked.is_ok(), "{functions:?}: {judged:?}, and the checker: {checked:?}");
    judged.err().map(|objection| format!("{}: {}", objection.place, objection.reason))
}

#[test]
fn orderings_that_suffice() {
    let rows: [&[&str]; 8] = [
        // Behind a compare-and-swap that succeeds all is ordered, whatever a declined one is.
        &["lock"],
        // The relaxed load of the lock's own word stays before the compare-and-swap.
        &["spin"],
        &["message", "receive"],
        &["load_release", "writer"],
        &["fenced_store", "writer"],
        // Fences order relaxed accesses as well.
        &["fenced_left", "fenced_right"],
        &["strong_left", "strong_right"],
        &["plain"],
    ];
    for functions in rows {
        assert_eq!(objection("orderings-O0", functions), None, "{functions:?}");
    }
}

#[test]
fn orderings_that_do_not() {
    let no_fence = "which is no fence but for this machine code";
    let rows: [(&[&str], &str); 15] = [
        (&["load_load", "writer"], "1 Relaxed access; by its ordering, this load may come after the load at"),
        (&["load_store", "writer"], "this load may come after the store at"),
        (&["store_store", "writer"], "this store may come after the store at"),
        (&["careless", "writer"], "this load may come after the load at"),
        // The relaxed load's companion may find the thread's own store.
        (&["forwarded", "writer"], "this load may come after the load at"),
        // Read-modify-writes that may vanish, on shared memory and on the thread's own, and those
        // that others may sink below.
        (&["idle_left", "fenced_right"], no_fence),
        (&["added_left", "fenced_right"], no_fence),
        (&["own_left", "fenced_right"], no_fence),
        (&["declined_left", "fenced_right"], no_fence),
        (&["again"], no_fence),
        (&["exchanged_left", "fenced_right"], "as not all accesses are SeqCst"),
        (&["volatile", "writer"], "this access without atomics may happen at once with the one at orderings.rs:"),
        (&["assembly", "writer"], "it is no access by a method of an atomic"),
        (&["parameter", "writer"], "no constant stands in the place of the ordering of `store`"),
        (&["in_macro", "writer"], "it may be in a macro"),
    ];
    for (functions, expected) in rows {
        let found = objection("orderings-O0", functions)
            .unwrap_or_else(|| panic!("{functions:?} are not for every compilation"));
        assert!(found.starts_with("orderings.rs:") && found.contains(expected), "{functions:?}: {found}");
    }
}

/// Data without atomics of which engine and checker say that it does not race, and that orderings
/// keep it where it is.
#[test]
fn plain_data_without_races() {
    let rows: [&[&str]; 6] = [
        &["guarded*"],
        &["sends", "receives"],
        &["sends_fenced", "receives_fenced"],
        &["sends_and_counts", "receives"],
        &["sends_by_release", "receives"],
        &["left", "right"],
    ];
    for functions in rows {
        assert_eq!(objection("plain-O0", functions), None, "{functions:?}");
    }
}

#[test]
fn plain_data_with_races() {
    let at_once = "this access without atomics may happen at once with the one at plain.rs:";
    let rows: [(&[&str], &str); 13] = [
        (&["guarded", "careless"], at_once),
        (&["careless", "volatile"], at_once),
        (&["careless*"], "this access without atomics may happen in two threads at once"),
        (&["sends", "receives_early"], at_once),
        (&["sends*", "receives"], "this access without atomics may happen in two threads at once"),
        (&["sends", "receives*"], "this access without atomics may happen in two threads at once"),
        (&["sends", "resets"], at_once),
        (&["left", "hasty_right"], at_once),
        // No interleaving has a race, and yet compilers make one.
        (&["sends_relaxed", "receives"], "this access without atomics may come after the store at plain.rs:"),
        (&["sends", "receives_relaxed"], "this load may come after the access without atomics at plain.rs:"),
        (
            &["sends_by_swap", "receives"],
            "this access without atomics may come after the read-modify-write at plain.rs:",
        ),
        (&["relaxed_guarded", "guarded"], "this load may come after the access without atomics at plain.rs:"),
        (&["relaxed_guarded*"], "this load may come after the access without atomics at plain.rs:"),
    ];
    for (functions, expected) in rows {
        let found =
            objection("plain-O0", functions).unwrap_or_else(|| panic!("{functions:?} are not for every compilation"));
        assert!(found.starts_with("plain.rs:") && found.contains(expected), "{functions:?}: {found}");
    }
}

/// A certificate without interleavings shows no freedom from races, and nor does one with others.
#[test]
fn races_are_sought_in_what_is_closed() {
    let program = lifted("plain-O0", &["guarded*"]);
    let whole = certificate(&program);
    assert_eq!(check_every_compilation(&program, &whole), Ok(()));
    let none = RobustCertificate::default();
    let mut part = whole.clone();
    part.sc.truncate(whole.sc.len() / 2);
    for damaged in [none, part] {
        assert!(check_every_compilation(&program, &damaged).is_err());
    }
}

/// With optimisation, accesses stand in the functions that make them.
#[test]
fn builds_with_optimisation_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), "roles.toml", "orderings-O2", &["lock"], "source_order = true\n");
    let program = palisade::machine::read(&path).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let certificate = certificate(&program);
    let objection = every_compilation(&program, &certificate).expect("it says so").expect_err("it was optimised");
    assert!(objection.reason.contains("as in builds with optimisation"), "{objection:?}");
    assert!(check_every_compilation(&program, &certificate).is_err());
}

/// C has no reader of orderings.
#[test]
fn nothing_is_said_of_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "image = {:?}\nsource_order = true\n\n[[role]]\nfunction = \"worker\"\ncopies = \"*\"\nrepeat = true\n",
        image("spin-O0").display().to_string()
    );
    let path = folder.path().join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    let program = palisade::machine::read(&path.display().to_string()).expect("it is read");
    let certificate = certificate(&program);
    assert!(every_compilation(&program, &certificate).expect("it says so").is_err());
    assert!(check_every_compilation(&program, &certificate).is_err());
}

/// What the listing says decides: with another word the checker says no.
#[test]
fn words_of_the_listing_are_checked() {
    let program = lifted("orderings-O0", &["lock"]);
    let certificate = certificate(&program);
    for (from, to) in [
        ("store:Release", "store:Relaxed"),
        ("cas:Acquire/Relaxed", "cas:Release/Relaxed"),
        ("load:Acquire", "load:Unknown"),
        ("load:Acquire", "store:Acquire"),
        ("load:Acquire", "load:acquire"),
        ("load:Acquire", "?"),
        ("orderings read", "what was read"),
    ] {
        // Words keep their lengths, so that spans stay.
        let text = program.source.text.replace(from, &format!("{to:<width$}", width = from.len())[..from.len()]);
        assert_ne!(text, program.source.text, "{from}");
        let changed = Program { source: palisade::text::SourceText::listing("roles", text, []), ..program.clone() };
        assert!(check_every_compilation(&changed, &certificate).is_err(), "{to}");
        assert!(every_compilation(&changed, &certificate).is_none_or(|judged| judged.is_err()), "{to}");
    }
}

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it starts")
}

#[test]
fn reports_documents_and_evidence_say_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    roles(folder, "plain.toml", "orderings-O0", &["lock"], "source_order = true\n");
    roles(folder, "fast.toml", "orderings-O2", &["lock"], "unoptimised = \"plain.toml\"\n");
    let output = palisade(folder, &["check", "fast.toml", "--certificate", "out"]);
    let text = String::from_utf8(output.stdout).expect("a report");
    assert!(
        text.contains("  source   also for every compilation (orderings suffice; source order checked)\n"),
        "{text}"
    );
    let output = palisade(folder, &["verify", "out/fast.toml.robust.json", "out/plain.toml.robust.json"]);
    let text = String::from_utf8(output.stdout).expect("a report");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("plain.toml is robust, and so is every compilation of its sources"), "{text}");
    let output = palisade(folder, &["check", "fast.toml", "--json"]);
    let document = crate::documents::read(&output.stdout);
    assert_eq!(document["claim"]["source"], serde_json::json!({ "every_compilation": true }), "{document}");
    let output = palisade(folder, &["verify", "out/plain.toml.robust.json", "--json"]);
    let document = crate::documents::read(&output.stdout);
    assert_eq!(document["every_compilation"], true, "{document}");
    // Another source than the one that was read.
    let source = std::fs::read_to_string(folder.join("orderings.rs")).expect("it is there");
    std::fs::write(folder.join("orderings.rs"), source + "// more\n").expect("the folder is writable");
    let output = palisade(folder, &["verify", "out/plain.toml.robust.json"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    // The other build is of other roles, or not to be had.
    roles(folder, "plain.toml", "orderings-O0", &["spin"], "source_order = true\n");
    let text = String::from_utf8(palisade(folder, &["check", "fast.toml"]).stdout).expect("a report");
    assert!(text.contains("  source   not shown for every compilation: `plain.toml` has other roles\n"), "{text}");
    std::fs::remove_file(folder.join("plain.toml")).expect("it was there");
    let text = String::from_utf8(palisade(folder, &["check", "fast.toml"]).stdout).expect("a report");
    assert!(
        text.contains("  source   not shown for every compilation: the build without optimisation: plain.toml"),
        "{text}"
    );
}

/// Where values ran out, nobody knows.
#[test]
fn what_ran_out_is_not_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    roles(folder, "plain.toml", "orderings-O0", &["plain"], "source_order = true\n");
    roles(folder, "fast.toml", "orderings-O2", &["plain"], "unoptimised = \"plain.toml\"\n");
    let mut unknown = 0;
    for values in 1..=4 {
        let output = palisade(folder, &["check", "fast.toml", "--values", &values.to_string()]);
        let text = String::from_utf8(output.stdout).expect("a report");
        if let Some(line) = text.lines().find(|line| line.contains("more than") && line.contains("source ")) {
            assert!(line.contains("for every compilation: not known: the build without optimisation"), "{text}");
            unknown += 1;
            let values = ["check", "fast.toml", "--json", "--values", &values.to_string()];
            let document = crate::documents::read(palisade(folder, &values).stdout);
            assert_eq!(document["claim"]["source"]["every_compilation"], serde_json::Value::Null, "{document}");
        }
    }
    assert!(unknown > 0, "with few values the build without optimisation has no answer");
}
