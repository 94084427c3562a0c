//! `palisade orderings` and `palisade fences --model c11`: what is said, written and shown by
//! evidence.

use crate::documents;
use std::path::Path;
use std::process::Command;

/// A ring in which everything is as strong as may be.
const STRONG: &str = "program Strong
address ready
plain data

thread sender {
  data = 1;
  store(ready, 1, seq_cst);
  fence(seq_cst);
}

thread receiver [*] {
  await load(ready, seq_cst) == 1;
  let seen = data;
  ensure seen == 1;
}
";

/// Store buffering with relaxed accesses; the copies have one text.
const STORE_BUFFERING: &str = "program StoreBuffering
address wants[2]

thread worker [2] {
  let other = 1 - self;
  store(wants[self], 1, relaxed);
  let seen = load(wants[other], relaxed);
}
";

/// Message passing in which nothing is ordered.
const RELAXED: &str = "program Relaxed
address ready
plain data

thread sender {
  data = 1;
  store(ready, 1, relaxed);
}

thread receiver [*] {
  await load(ready, relaxed) == 1;
  let seen = data;
}
";

/// A fence or the orderings of both accesses will do: which is kept, the other need not be.
const EITHER: &str = "program Either
address x, ready

thread sender {
  store(x, 1, relaxed);
  fence(release);
  store(ready, 1, release);
}

thread receiver {
  await load(ready, acquire) == 1;
  let seen = load(x, relaxed);
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let x86 = "program X\naddress x\nthread t { x = 1; }\n";
    for (name, text) in [
        ("strong.pal", STRONG),
        ("sb.pal", STORE_BUFFERING),
        ("relaxed.pal", RELAXED),
        ("either.pal", EITHER),
        ("x86.pal", x86),
    ] {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    }
    folder
}

/// The exit status, standard output and standard error.
fn said(folder: &Path, line: &str) -> (i32, String, String) {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(line.split(' ')).current_dir(folder).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

/// All evidence of a folder is accepted; what `verify` says of it.
fn verified(folder: &Path, evidence: &str) -> String {
    let files = std::fs::read_dir(folder.join(evidence)).expect("a folder");
    let mut files: Vec<String> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| path.strip_prefix(folder).expect("it is in the folder").display().to_string())
        .collect();
    files.sort();
    let (status, out, err) = said(folder, &format!("verify {}", files.join(" ")));
    assert_eq!(status, 0, "{out}{err}");
    out
}

#[test]
fn what_is_too_strong_is_weakened() {
    let folder = folder();
    let (status, out, err) = said(folder.path(), "orderings strong.pal");
    assert_eq!(status, 0, "{out}{err}");
    for words in [
        "strong.pal: robust against C11, and 3 of its 3 orderings can be weaker",
        "   7  seq_cst   release  release   store(ready, 1, seq_cst)",
        "   8  seq_cst   none     none      fence(seq_cst)",
        "  12  seq_cst   acquire  acquire   load(ready, seq_cst)",
        "line 7, relaxed: sender (line 6) and receiver (line 13) access data without an order: a race",
        "proved",
        "evidence verified",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    // Its violations in full, as text and as a document.
    let (_, out, _) = said(folder.path(), "orderings --graphs strong.pal");
    assert_eq!(out.matches("edges between threads").count(), 2, "{out}");
    let (_, out, _) = said(folder.path(), "orderings --json strong.pal");
    let document = documents::read(out.as_bytes());
    assert_eq!(document["verdict"], "robust");
    assert_eq!(document["optimal"], true);
    let together: Vec<&str> = document["places"]
        .as_array()
        .expect("places")
        .iter()
        .map(|place| place["together"].as_str().expect("an ordering"))
        .collect();
    assert_eq!(together, ["release", "none", "acquire"]);
    // The text is changed, and nothing is left to weaken in it.
    let (status, out, err) = said(folder.path(), "orderings --apply --certificate evidence strong.pal");
    assert_eq!(status, 0, "{out}{err}");
    let text = std::fs::read_to_string(folder.path().join("strong.pal")).expect("it is there");
    assert!(text.contains("  store(ready, 1, release);\n}") && text.contains("load(ready, acquire)"), "{text}");
    let out = verified(folder.path(), "evidence");
    assert!(out.contains("is robust against C11 with the changes in the evidence, and with none cheaper"), "{out}");
    let (status, out, _) = said(folder.path(), "orderings strong.pal");
    assert_eq!(status, 0);
    assert!(out.contains("none of its 2 orderings can be weaker"), "{out}");
}

#[test]
fn what_can_be_weaker_alone_need_not_be_together() {
    let folder = folder();
    let (status, out, _) = said(folder.path(), "orderings --json either.pal");
    assert_eq!(status, 0, "{out}");
    let document = documents::read(out.as_bytes());
    let words = |place: usize, what: &str| document["places"][place][what].clone();
    assert_eq!((words(0, "alone"), words(0, "together")), (serde_json::json!(["none"]), "none".into()));
    assert_eq!((words(1, "alone"), words(1, "together")), (serde_json::json!(["relaxed"]), "release".into()));
    let needed = &document["places"][1]["needed"][0];
    assert_eq!((&needed["ordering"], &needed["shown"]), (&"relaxed".into(), &true.into()));
    let (_, out, _) = said(folder.path(), "orderings either.pal");
    assert!(out.contains("line 7, relaxed, besides the others: "), "{out}");
}

/// What can be weaker is written for code hosts with the change as a fix, and why the rest cannot.
#[test]
fn orderings_are_written_for_other_tools() {
    let folder = folder();
    let (status, _, err) = said(folder.path(), "orderings strong.pal --sarif found.sarif --report page.html");
    assert_eq!(status, 0, "{err}");
    let log = documents::sarif(&folder.path().join("found.sarif"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let own: Vec<(&str, &str)> = results
        .iter()
        .map(|result| (result["ruleId"].as_str().expect("a rule"), result["kind"].as_str().unwrap_or("fail")))
        .collect();
    let weaker = ("ordering-stronger-than-needed", "fail");
    assert_eq!(own, [("orderings-too-weak", "pass"), ("property-violated", "pass"), weaker, weaker, weaker]);
    assert_eq!(
        results[2]["message"]["text"],
        "seq_cst of `store(ready, 1, seq_cst)` can be release; with relaxed sender (line 6) and receiver (line 13) \
         access data without an order: a race"
    );
    let change = &results[2]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(change["insertedContent"]["text"], "  store(ready, 1, release);\n");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("it was written");
    for words in ["3 of its 3 orderings can be weaker", "can be release", "line 7</a>, relaxed: ", "class=\"added\""] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // Where nothing can be weaker each place has its violation.
    assert_eq!(said(folder.path(), "orderings strong.pal --apply").0, 0);
    assert_eq!(said(folder.path(), "orderings strong.pal --sarif found.sarif").0, 0);
    let log = documents::sarif(&folder.path().join("found.sarif"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(results.iter().all(|result| result["kind"] == "pass"), "{results:?}");
    let steps = &results[2]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert!(steps.as_array().is_some_and(|steps| steps.len() > 2), "{results:?}");
    assert_eq!(said(folder.path(), "orderings sb.pal --sarif found.sarif").0, 1);
    let log = documents::sarif(&folder.path().join("found.sarif"));
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "orderings-too-weak");
}

/// All sets of changes that cost as little are listed and shown, and no other one.
#[test]
fn all_cheapest_changes_are_listed() {
    let folder = folder();
    let flags = "program Flags
address x, y
plain data
thread sender { data = 1; store(x, 1, relaxed); store(y, 1, relaxed); }
thread receiver { await load(y, acquire) == 1; let seen = load(x, acquire); let got = data; }
";
    std::fs::write(folder.path().join("flags.pal"), flags).expect("it is written");
    let (status, out, err) = said(folder.path(), "fences --model c11 --all --certificate evidence flags.pal");
    assert_eq!(status, 0, "{out}{err}");
    let (_, json, _) = said(folder.path(), "fences --model c11 --all --json flags.pal");
    let document = documents::read(json.as_bytes());
    let listed = document["alternatives"].as_array().expect("sets");
    assert_eq!(document["alternatives_complete"], true);
    assert_eq!(document["alternatives_checked"], listed.len());
    assert!(out.contains(&format!("  optima   {}\n", listed.len())), "{out}");
    assert!(verified(folder.path(), "evidence").contains("and with none cheaper"));
    // Each by itself makes the program robust, and those listed are all: every other set of as many
    // places is not robust.
    let (_, json, _) = said(folder.path(), "fences --model c11 --json flags.pal");
    assert!(documents::read(json.as_bytes()).get("alternatives").is_none());
}

#[test]
fn what_is_not_robust_has_no_weaker_orderings() {
    let folder = folder();
    let (status, out, _) = said(folder.path(), "orderings --certificate evidence sb.pal");
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("not robust against C11 with its own orderings") && out.contains("violation: "), "{out}");
    let out = verified(folder.path(), "evidence");
    assert!(out.contains("cannot be made robust against C11 by the changes on offer"), "{out}");
    let (status, _, err) = said(folder.path(), "orderings x86.pal");
    assert_eq!(status, 2);
    assert!(err.contains("states no orderings"), "{err}");
}

#[test]
fn orderings_and_fences_repair_a_program() {
    let folder = folder();
    let (status, out, err) = said(folder.path(), "fences --model c11 --certificate evidence relaxed.pal");
    assert_eq!(status, 0, "{out}{err}");
    for words in [
        "relaxed.pal: 2 changes for robustness against C11, no fewer and none weaker",
        "release at sender",
        "acquire at receiver",
        "without it sender (line 6) and receiver (line 12) access data without an order: a race",
        "-  store(ready, 1, relaxed);",
        "+  store(ready, 1, release);",
        "evidence verified",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let out = verified(folder.path(), "evidence");
    assert!(out.contains("is robust against C11 with the changes in the evidence, and with none cheaper"), "{out}");
    // One fence in a text of which there are two copies; orderings would be two.
    let (status, out, err) = said(folder.path(), "fences --model c11 --apply sb.pal");
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("1 change for robustness against C11") && out.contains("fence(seq_cst) before"), "{out}");
    let (status, out, _) = said(folder.path(), "check --model c11 sb.pal");
    assert_eq!(status, 0, "{out}");
    let (status, out, _) = said(folder.path(), "fences --model c11 --json sb.pal");
    assert_eq!((status, &documents::read(out.as_bytes())["verdict"]), (0, &"robust".into()));
    // Where nothing may be changed there is no repair.
    let (status, out, _) = said(folder.path(), "fences --model c11 --only sender.nowhere relaxed.pal");
    assert_eq!(status, 2, "{out}");
    let (status, out, _) = said(folder.path(), "fences --model c11 --only sender.* relaxed.pal");
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("nothing that is permitted makes it robust against C11"), "{out}");
    let (status, _, err) = said(folder.path(), "fences --model c11 --redundant relaxed.pal");
    assert_eq!(status, 2);
    assert!(err.contains("`palisade orderings` says which orderings can be weaker"), "{err}");
}

/// A graph as a litmus test in C is one that the language admits, and the test read again is no
/// more robust.
#[test]
fn violations_are_litmus_tests_in_c() {
    let folder = folder();
    for (file, words) in [
        ("sb.pal", "int r0 = atomic_load_explicit(wants_1, memory_order_relaxed);"),
        ("relaxed.pal", "  *data = 1;\n  atomic_store_explicit(ready, 1, memory_order_relaxed);"),
    ] {
        let (status, out, err) = said(folder.path(), &format!("witness --model c11 --litmus -o test.litmus {file}"));
        assert_eq!(status, 1, "{out}{err}");
        let text = std::fs::read_to_string(folder.path().join("test.litmus")).expect("it is written");
        assert!(text.contains(words) && text.contains("\nexists ("), "{text}");
        let (status, out, err) = said(folder.path(), "check --model c11 --ask robustness test.litmus");
        assert_eq!(status, 1, "{out}{err}\n{text}");
    }
    let (status, out, _) = said(folder.path(), "witness --model c11 sb.pal");
    assert_eq!(status, 1);
    assert!(out.contains("cycle that no interleaving has"), "{out}");
    let (status, _, err) = said(folder.path(), "witness --model c11 --svg sb.pal");
    assert_eq!(status, 2);
    assert!(err.contains("execution graphs are shown as tables and as litmus tests in C"), "{err}");
}

/// An exchange and an addition have no ordering for when they fail, whatever the text says of them.
#[test]
fn updates_that_always_store_can_be_weaker() {
    let text = "program Ticket
domain 0..3 wrap
address next, serving
plain data
thread worker [2] {
  loop {
    let ticket = fetch_add(next, 1, seq_cst);
    await load(serving, seq_cst) == ticket;
    data = 1 - data;
    store(serving, ticket + 1, seq_cst);
  }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ticket.pal"), text).expect("it is written");
    let (status, out, err) = said(folder.path(), "orderings ticket.pal --certificate evidence");
    assert!(status == 0 && out.starts_with("ticket.pal: robust against C11, and 3 of its 3 orderings"), "{out}{err}");
    assert!(verified(folder.path(), "evidence").contains("none cheaper among those on offer there"));
}

/// A weak compare-exchange may fail for no reason, which no interleaving shows.
#[test]
fn what_weak_exchanges_may_break_is_unknown() {
    let folder = tempfile::tempdir().expect("a folder");
    for (call, status, words) in [
        ("weak_cas(x, 0, 1, acquire) == 1", 3, "unknown where a weak compare-exchange fails"),
        ("cas(x, 0, 1, acquire) == 0", 0, ", under SC: proved ("),
    ] {
        let text = format!("program D\naddress x\nthread t {{ let b = {call}; ensure b; }}\n");
        std::fs::write(folder.path().join("d.pal"), text).expect("it is written");
        let (code, out, err) = said(folder.path(), "orderings d.pal");
        assert!(code == status && out.contains(words), "{call}: {code} {out}{err}");
    }
}

/// A fence in front of a branch serves both ways.
#[test]
fn fences_stand_where_control_goes_two_ways() {
    let partner = |name: &str, own: &str| {
        format!("thread {name} {{ store({own}, 1, relaxed); fence(seq_cst); let b = load(x, relaxed); }}\n")
    };
    let text = format!(
        "program Ways\ndomain 0..1\naddress x, y, z\n{}{}thread t {{\n  let b = 0;\n  let c = *;\n  \
         store(x, 1, relaxed);\n  if (c) {{\n    b = load(y, relaxed);\n  }} else {{\n    b = load(z, relaxed);\n  }}\n}}\n",
        partner("l", "y"),
        partner("r", "z")
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ways.pal"), text).expect("it is written");
    for model in ["c11", "ra"] {
        let line = format!("fences --model {model} ways.pal --certificate {model}");
        let (status, out, err) = said(folder.path(), &line);
        assert!(status == 0 && out.contains("1 change for robustness"), "{out}{err}");
        assert!(out.contains("fence(seq_cst)") && out.contains("(line 10)"), "{out}");
        verified(folder.path(), model);
    }
}

/// Inside of a statement the text has no place for a fence: the one behind it serves.
#[test]
fn no_fence_stands_inside_of_a_statement() {
    let text = "program F\naddress x, y\nthread a {\n  let r = 0;\n  await cas(y, 0, 1, acquire) == 0;\n  \
                r = load(x, acquire);\n}\nthread b {\n  let r = 0;\n  store(x, 1, release);\n  fence(seq_cst);\n  \
                r = load(y, acquire);\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("f.pal"), text).expect("it is written");
    let (status, out, err) = said(folder.path(), "fences --model c11 f.pal --apply");
    assert!(status == 0 && out.starts_with("f.pal: 1 change for robustness against C11, no fewer"), "{out}{err}");
    let (status, out, _) = said(folder.path(), "check --model c11 --ask robustness f.pal");
    assert!(status == 0, "{out}");
    let text = "program G\naddress x, y\nthread a { let r = fetch_add(x, 1, relaxed) + load(y, relaxed); }\n\
                thread b { store(y, 1, relaxed); fence(seq_cst); let r = load(x, relaxed); }\n";
    std::fs::write(folder.path().join("g.pal"), text).expect("it is written");
    for line in ["fences --model c11 g.pal", "fences --model c11 g.pal --diff"] {
        let (status, out, err) = said(folder.path(), line);
        assert!(status == 3 && out.contains("in the middle of a statement"), "{line}: {status} {out}{err}");
    }
}

/// Threads have fences in C as well: these are not the kernel's.
#[test]
fn a_fence_of_c_is_not_the_kernels() {
    let text = "C fenced\n{}\nP0(atomic_int* x, atomic_int* y) { atomic_store_explicit(x, 1, memory_order_relaxed); \
                atomic_thread_fence(memory_order_seq_cst); int r0 = atomic_load_explicit(y, memory_order_relaxed); }\n\
                P1(atomic_int* x, atomic_int* y) { atomic_store_explicit(y, 1, memory_order_relaxed); \
                atomic_thread_fence(memory_order_seq_cst); int r0 = atomic_load_explicit(x, memory_order_relaxed); }\n\
                exists (0:r0=0 /\\ 1:r0=0)\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("f.litmus"), text).expect("it is written");
    let (_, out, _) = said(folder.path(), "check --model c11 f.litmus");
    assert!(out.contains("Never") && !out.contains("kernel"), "{out}");
}

/// What machines may do besides is said of the weaker orderings as of the stated ones.
#[test]
fn weaker_orderings_say_what_holds_of_machines() {
    let text = "program LB\naddress x, y\nthread p { let a = load(x, acquire); store(y, 1, release); }\n\
                thread q { let b = load(y, acquire); store(x, 1, release); }\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lb.pal"), text).expect("it is written");
    let (status, out, _) = said(folder.path(), "orderings lb.pal");
    assert!(status == 0 && out.contains("  machines holds on x86, ARMv8, RISC-V and POWER"), "{out}");
    assert!(out.contains("  weaker   holds for RC11 and on x86; elsewhere load buffering is not excluded"), "{out}");
}

/// The kernel's orderings are names of calls. What it has no call for is not offered, nor what
/// grace periods and locks are made of.
#[test]
fn calls_of_the_kernel_change_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    let said = |line: &str| said(folder.path(), line);
    let threads = |between: &str, read: &str| {
        format!(
            "P0(int *x, int *y)\n{{\n\tWRITE_ONCE(*x, 1);\n\tint r0 = READ_ONCE(*y);\n}}\n\
             P1(int *x, int *y)\n{{\n\tWRITE_ONCE(*y, 1);\n\t{between}\n\tint r0 = {read};\n}}\n"
        )
    };
    write("sb.litmus", &format!("C SB\n{{}}\n{}exists (0:r0=0 /\\ 1:r0=0)\n", threads("smp_wmb();", "READ_ONCE(*x)")));
    let (status, out, error) = said("fences --model c11 --diff sb.litmus");
    assert!(status == 0 && out.contains("-\tsmp_wmb();\n+\tsmp_mb();\n"), "{out} {error}");
    assert_eq!(out.matches("+\tsmp_mb();").count(), 2, "{out}");
    assert_eq!(said("fences --model c11 --apply sb.litmus").0, 0);
    assert_eq!(said("check --model c11 sb.litmus").0, 0);
    let fenced = threads("smp_mb();", "smp_load_acquire(x)").replace("int r0 = READ", "smp_mb();\n\tint r0 = READ");
    write("acq.litmus", &format!("C Acq\n{{}}\n{fenced}exists (0:r0=0 /\\ 1:r0=0)\n"));
    let (status, out, error) = said("orderings --diff acq.litmus");
    assert_eq!(status, 0, "{out} {error}");
    assert!(out.contains("-\tint r0 = smp_load_acquire(x);\n+\tint r0 = READ_ONCE(*x);\n"), "{out}");
    let (_, out, _) = said("orderings acq.litmus");
    assert!(out.contains("kept     line 12: the kernel has no call like `smp_mb()` for each ordering"), "{out}");
    let grace = "C RCU\n{}\nP0(int *x, int *y)\n{\n\tWRITE_ONCE(*x, 1);\n\tsynchronize_rcu();\n\tWRITE_ONCE(*y, 1);\n}\n\
                 P1(int *x, int *y)\n{\n\trcu_read_lock();\n\tint r0 = READ_ONCE(*y);\n\tint r1 = READ_ONCE(*x);\n\
                 \trcu_read_unlock();\n}\nexists (1:r0=1 /\\ 1:r1=0)\n";
    write("rcu.litmus", grace);
    let (status, out, error) = said("orderings rcu.litmus");
    assert!(status == 0 && out.contains("and no ordering is to be weakened"), "{out} {error}");
}
