//! `palisade-proved`, the checker that Coq has proved: it accepts the evidence that Palisade
//! writes, and no other.

use super::proofs::proofs;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The folder with the checker, which is built once.
static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proofs");
    let folder = format!("BUILD={}", build.display());
    let output =
        Command::new("make").args(["-s", "-C"]).arg(proofs()).args([&folder, "checker"]).output().expect("make");
    assert!(output.status.success(), "{output:?}");
    build
});

/// Runs the checker in a folder.
pub(super) fn proved(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BUILT.join("palisade-proved")).args(arguments).current_dir(folder).output().expect("it runs")
}

fn assert_accepted(output: &Output, claim: &str) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(said.contains(&format!("accepted: {claim}")), "{said}");
}

/// Has `palisade cover` write evidence.
pub(super) fn cover(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.arg("cover").args(arguments).current_dir(folder).output().expect("it runs");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
}

/// A lock that any number of threads take.
const LOCK: &str = "vars free held waiting\nrules\n free >= 1, waiting >= 1 ->\n  free' = free - 1,\n  \
    waiting' = waiting - 1,\n  held' = held + 1;\n held >= 1 -> held' = held - 1, free' = free + 1;\n\
    init free = 1, held = 0, waiting >= 1\ntarget ";

#[needs::command("ocamlopt -version")]
#[test]
fn verify_asks_it() {
    let mut path = OsString::from(&*BUILT);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    for (target, claim) in [("held >= 2", "no reachable marking covers a target"), ("held >= 1", "some reachable")] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("lock.spec");
        std::fs::write(&file, format!("{LOCK}{target}\n")).expect("it is written");
        cover(folder.path(), &["lock.spec", "--certificate", "lock.json"]);
        let verify = |path: &std::ffi::OsStr| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
            command.args(["verify", "--proved", "lock.json"]).current_dir(folder.path()).env("PATH", path);
            command.output().expect("it runs")
        };
        let accepted = verify(&path);
        let said = String::from_utf8_lossy(&accepted.stdout).into_owned();
        assert_eq!(accepted.status.code(), Some(0), "{accepted:?}");
        assert!(said.contains(&format!("palisade-proved: accepted: {claim}")), "{said}");
        assert!(said.contains("trusted: Coq's kernel"), "{said}");
        let missing = verify(std::ffi::OsStr::new(""));
        assert_eq!(missing.status.code(), Some(2), "{missing:?}");
        // Evidence about another net.
        let text = std::fs::read_to_string(&file).expect("the net");
        std::fs::write(&file, text.replace("free = 1", "free = 2")).expect("it is written");
        assert_eq!(proved(folder.path(), &["lock.json", "lock.spec"]).status.code(), Some(4));
    }
}

/// The lock's net in PNML, where one thread waits; two arcs between the same nodes count together.
fn pnml(place: &str, arc: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
         <place id=\"free\"><name><text>is free</text></name><initialMarking><text>2</text></initialMarking></place>\
         <place id=\"held\">{place}</place><transition id=\"take\"/>\
         <arc id=\"a\" source=\"free\" target=\"take\"/><arc id=\"b\" source=\"free\" target=\"take\"/>\
         <arc id=\"c\" source=\"take\" target=\"held\">{arc}</arc></page></net></pnml>"
    )
}

#[needs::command("ocamlopt -version")]
#[test]
fn it_reads_pnml_and_questions_of_the_contest() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    let count = |ids: &[&str]| {
        let places: String = ids.iter().map(|id| format!("<place>{id}</place>")).collect();
        format!("<tokens-count>{places}</tokens-count>")
    };
    let constant = |number: u64| format!("<integer-constant>{number}</integer-constant>");
    let below = |low: String, high: String| format!("<integer-le>{low}{high}</integer-le>");
    let exists = |what: String| format!("<exists-path><finally>{what}</finally></exists-path>");
    let always = |what: String| format!("<all-paths><globally>{what}</globally></all-paths>");
    let (some, no) = ("some reachable marking", "no reachable marking");
    let questions = [
        (exists(below(constant(1), count(&["held"]))), some),
        (exists(below(constant(4), count(&["held", "free", "held", "held"]))), no),
        (exists(below(constant(3), count(&["held", "free", "held", "held"]))), some),
        (always(below(count(&["held", "free"]), constant(2))), no),
        (always(format!("<negation>{}</negation>", below(constant(2), count(&["held"])))), no),
        (
            exists(format!(
                "<conjunction><is-fireable><transition>take</transition></is-fireable>{}</conjunction>",
                below(constant(1), count(&["held"]))
            )),
            no,
        ),
    ];
    write("lock.pnml", &pnml("", ""));
    for (number, (formula, claim)) in questions.iter().enumerate() {
        let other = "<property><id>other</id><formula><true/></formula></property>";
        write(
            "lock.xml",
            &format!(
                "<property-set xmlns=\"http://mcc.lip6.fr/\">{other}<property><id>p{number}</id>\
                 <description>as &lt;asked&gt;</description><formula>{formula}</formula></property></property-set>"
            ),
        );
        let property = format!("p{number}");
        cover(
            folder.path(),
            &["lock.pnml", "--query", "lock.xml", "--property", &property, "--certificate", "lock.json"],
        );
        assert_accepted(&proved(folder.path(), &["lock.json", "lock.pnml", "lock.xml"]), claim);
    }
    // What this reader does not know it does not read, whoever else may.
    for (place, arc) in [("<capacity>1</capacity>", ""), ("", "<type value=\"reset\"/>")] {
        write("other.pnml", &pnml(place, arc));
        let text = std::fs::read_to_string(folder.path().join("lock.json")).expect("the evidence");
        let bytes = std::fs::read(folder.path().join("other.pnml")).expect("the net");
        let from = text.find("sha256\":\"").expect("a hash") + 9;
        let text = format!("{}{}{}", &text[..from], palisade::evidence::sha256(&bytes), &text[from + 64..]);
        write("other.json", &text);
        assert_eq!(proved(folder.path(), &["other.json", "other.pnml", "lock.xml"]).status.code(), Some(3));
    }
}

/// Each thread stores and reads the other's location, maybe with a fence in between.
fn buffering(fence: &str) -> String {
    let thread = |name: &str, own: &str, other: &str| {
        format!("fn {name} {{\n\tlocal r;\n\t{own}.store(1);\n{fence}\tr = {other}.load();\n}}\n")
    };
    format!("max_value 2;\nglobal x, y;\n{}{}", thread("a", "x", "y"), thread("b", "y", "x"))
}

#[needs::command("ocamlopt -version")]
#[test]
fn it_decides_robustness_by_nets_and_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    for (fence, verdict) in [("", "not robust"), ("\tfence(sc);\n", "robust")] {
        std::fs::write(folder.path().join("sb.tpl"), buffering(fence)).expect("it is written");
        for (options, model) in
            [(&["ra"][..], "release/acquire"), (&["tso"], "x86-TSO"), (&["tso", "any"], "x86-TSO"), (&[], "C11")]
        {
            if model == "C11" && !fence.is_empty() {
                continue;
            }
            let net = proved(folder.path(), &[&["net", "sb.tpl"], options].concat());
            assert_eq!(net.status.code(), Some(0), "{net:?}");
            std::fs::write(folder.path().join("net.spec"), &net.stdout).expect("it is written");
            cover(folder.path(), &["net.spec", "--certificate", "net.json"]);
            let arguments = [&["robust", "net.json", "sb.tpl"], options].concat();
            let claim = format!("the program as read from sb.tpl is {verdict} against {model}");
            assert_accepted(&proved(folder.path(), &arguments), &claim);
            // The same evidence about the other program.
            let other = if fence.is_empty() { buffering("\tfence(sc);\n") } else { buffering("") };
            std::fs::write(folder.path().join("other.tpl"), other).expect("it is written");
            let arguments = [&["robust", "net.json", "other.tpl"], options].concat();
            assert_ne!(proved(folder.path(), &arguments).status.code(), Some(0));
        }
    }
}

/// A flag that says when plain data may be read: under a lock or, without one, once it is set.
fn plain_data(guarded: bool) -> String {
    let (enter, leave) = if guarded { ("lock(l);", "unlock(l);") } else { ("", "l.store(1, rlx);") };
    let reads = if guarded { "lock(l);" } else { "wait(l, 1, rlx);" };
    format!(
        "max_value 2;\nglobal l;\nna data;\nfn a {{\n\t{enter}\n\tdata.nastore(1);\n\t{leave}\n}}\n\
         fn b {{\n\tlocal r;\n\t{reads}\n\tr = data.naload();\n}}\n"
    )
}

#[needs::command("ocamlopt -version")]
#[test]
fn accesses_that_are_not_atomic_are_relaxed() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |text: &str| std::fs::write(folder.path().join("p.tpl"), text).expect("it is written");
    for (guarded, any, claim) in [
        (true, &["any"][..], "robust against C11, for any number of its threads"),
        (false, &[], "not robust against C11"),
    ] {
        write(&plain_data(guarded));
        let net = proved(folder.path(), &[&["net", "p.tpl"], any].concat());
        assert_eq!(net.status.code(), Some(0), "{net:?}");
        std::fs::write(folder.path().join("net.spec"), &net.stdout).expect("it is written");
        cover(folder.path(), &["net.spec", "--certificate", "net.json"]);
        let output = proved(folder.path(), &[&["robust", "net.json", "p.tpl"], any].concat());
        let what = "(non-atomic accesses count as relaxed ones; races are not looked for)";
        assert_accepted(&output, &format!("the program as read from p.tpl is {claim} {what}"));
    }
    for (atomic, mixed) in [("nastore(1)", "store(1)"), ("naload()", "load()"), ("lock(l)", "lock(data)")] {
        write(&plain_data(true).replace(atomic, mixed));
        assert_eq!(proved(folder.path(), &["net", "p.tpl"]).status.code(), Some(4), "{mixed}");
    }
    write(&plain_data(true).replace("na data", "global data"));
    assert_eq!(proved(folder.path(), &["net", "p.tpl"]).status.code(), Some(4));
}
