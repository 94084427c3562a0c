//! What is said of every compilation: the table of what compilers may do, a row of it each, on an image that was built without optimisation.

use palisade::compilations::every_compilation;
use palisade::program::Program;
use palisade::verify::check_every_compilation;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn image(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images").join(name)
}

/// Writes roles of one copy each about an image beside its source.
fn roles(folder: &Path, name: &str, image_name: &str, functions: &[&str], more: &str) -> String {
    for file in [image_name, "orderings.rs"] {
        std::fs::copy(image(file), folder.join(file)).expect("it is copied");
    }
    let mut text = format!("image = {image_name:?}\n{more}");
    for function in functions {
        text += &format!("\n[[role]]\nfunction = {function:?}\ncopies = 1\n");
    }
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the folder is writable");
    path.display().to_string()
}

/// Roles in source order, and the folder that their source is in.
fn lifted(functions: &[&str]) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), "roles.toml", "orderings-O0", functions, "source_order = true\n");
    palisade::machine::read(&path).unwrap_or_else(|error| panic!("{functions:?}: {}", error.render(false)))
}

/// Engine and checker say the same; the place and the reason where they say no.
fn objection(functions: &[&str]) -> Option<String> {
    let program = lifted(functions);
    let judged = every_compilation(&program).expect("it is in source order");
    let checked = check_every_compilation(&program);
    assert_eq!(judged.is_ok(), checked.is_ok(), "{functions:?}: {judged:?}, and the checker: {checked:?}");
    judged.err().map(|objection| format!("{}: {}", objection.place, objection.reason))
}

#[test]
fn orderings_that_suffice() {
    let rows: [&[&str]; 7] = [
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
    ];
    for functions in rows {
        assert_eq!(objection(functions), None, "{functions:?}");
    }
}

#[test]
fn orderings_that_do_not() {
    let no_fence = "which is no fence but for this machine code";
    let rows: [(&[&str], &str); 16] = [
        (&["load_load", "writer"], "1 Relaxed access; this load may come after the load at"),
        (&["load_store", "writer"], "this load may come after the store at"),
        (&["store_store", "writer"], "this store may come after the store at"),
        (&["careless", "writer"], "this load may come after the load at"),
        // The relaxed load's companion may find the thread's own store.
        (&["forwarded", "writer"], "this load may come after the load at"),
        // Read-modify-writes that may vanish, on shared memory and on the thread's own, and those that others may sink below.
        (&["idle_left", "fenced_right"], no_fence),
        (&["added_left", "fenced_right"], no_fence),
        (&["own_left", "fenced_right"], no_fence),
        (&["declined_left", "fenced_right"], no_fence),
        (&["again"], no_fence),
        (&["exchanged_left", "fenced_right"], "as not all accesses are SeqCst"),
        (&["plain"], "freedom from races is not shown"),
        (&["volatile", "writer"], "it is no access by a method of an atomic"),
        (&["assembly", "writer"], "it is no access by a method of an atomic"),
        (&["parameter", "writer"], "no constant stands in the place of the ordering of `store`"),
        (&["in_macro", "writer"], "it may be in a macro"),
    ];
    for (functions, expected) in rows {
        let found = objection(functions).unwrap_or_else(|| panic!("{functions:?} are not for every compilation"));
        assert!(found.starts_with("orderings.rs:") && found.contains(expected), "{functions:?}: {found}");
    }
}

/// With optimisation, accesses stand in the functions that make them.
#[test]
fn builds_with_optimisation_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), "roles.toml", "orderings-O2", &["lock"], "source_order = true\n");
    let program = palisade::machine::read(&path).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let objection = every_compilation(&program).expect("it says so").expect_err("it was optimised");
    assert!(objection.reason.contains("as in builds with optimisation"), "{objection:?}");
    assert!(check_every_compilation(&program).is_err());
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
    assert!(every_compilation(&program).expect("it says so").is_err());
    assert!(check_every_compilation(&program).is_err());
}

/// What the listing says decides: with another word the checker says no.
#[test]
fn words_of_the_listing_are_checked() {
    let program = lifted(&["lock"]);
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
        assert!(check_every_compilation(&changed).is_err(), "{to}");
        assert!(every_compilation(&changed).is_none_or(|judged| judged.is_err()), "{to}");
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
    assert!(text.contains("  source   not for every compilation: `plain.toml` has other roles\n"), "{text}");
    std::fs::remove_file(folder.join("plain.toml")).expect("it was there");
    let text = String::from_utf8(palisade(folder, &["check", "fast.toml"]).stdout).expect("a report");
    assert!(
        text.contains("  source   not for every compilation: the build without optimisation: plain.toml"),
        "{text}"
    );
}
