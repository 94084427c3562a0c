//! `palisade check --model c11` and `--model ra`: what is said, refused and shown, and its
//! evidence.

use crate::documents;
use std::path::Path;
use std::process::Command;

/// Message passing, with the ordering of the store.
fn message(store: &str, property: &str) -> String {
    format!(
        "program MessagePassing
address flag
plain data

thread sender {{
  data = 1;
  store(flag, 1, {store});
}}

thread receiver {{
  await load(flag, acquire) == 1;
  let seen = data;
  {property}
}}
"
    )
}

/// Store buffering by orderings that do not keep a store before a later load.
const STORE_BUFFERING: &str = "program StoreBuffering
address x, y
thread one { store(x, 1, release); let r = load(y, acquire); }
thread two { store(y, 1, release); let s = load(x, acquire); }
";

/// A reader that sees the second of two relaxed stores alone.
const RELAXED: &str = "program Relaxed
address x, y
thread writer { store(x, 1, relaxed); store(y, 1, relaxed); }
thread reader { let r = load(y, acquire); let s = load(x, relaxed); ensure r <= 1; }
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("kept.pal", message("release", "ensure seen == 1;")),
        ("racy.pal", message("relaxed", "ensure seen == 1;")),
        ("wrong.pal", message("release", "ensure seen == 0;")),
        ("sb.pal", STORE_BUFFERING.to_owned()),
        ("relaxed.pal", RELAXED.to_owned()),
        ("fence.pal", STORE_BUFFERING.replace("; let", "; fence(seq_cst); let")),
        (
            "sleep.pal",
            "program S\naddress x\nthread t { wait(x, 0); }\nthread u { store(x, 1, release); wake(x, all); }\n"
                .to_owned(),
        ),
        ("x86.pal", "program X\naddress x\nthread t { x = 1; }\n".to_owned()),
        (
            "weak.pal",
            "program W\naddress x\nthread t [2] { let r = weak_cas(x, 0, 1, relaxed); ensure r <= 1; }\n".to_owned(),
        ),
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

#[test]
fn a_violation_is_shown_with_its_graph() {
    let folder = folder();
    let (status, out, _) = said(folder.path(), "check --model c11 sb.pal");
    assert_eq!(status, 1, "{out}");
    for words in [
        "sb.pal: not robust against C11",
        "which two (line 4) has overwritten",
        "x ← 1 (release)",
        "edges between threads",
        "cycle that no interleaving has:",
        "(fr)",
        "(po)",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (status, out, _) = said(folder.path(), "check --model c11 fence.pal");
    assert_eq!((status, out.lines().next()), (0, Some("fence.pal: robust against C11")));
    assert!(out.contains("holds on x86, ARMv8, RISC-V and POWER by the standard mappings [IMM19]"), "{out}");
    let (status, out, _) = said(folder.path(), "check --model c11 racy.pal");
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("racy, which is undefined behaviour") && out.contains("hb  none"), "{out}");
    // A document has the same, with the numbers of steps.
    let (_, out, _) = said(folder.path(), "check --model c11 --json sb.pal");
    let document = documents::read(out.as_bytes());
    let (answer, witness) = (&document["answers"][0], &document["answers"][0]["witness"]);
    assert_eq!((&answer["model"], &answer["verdict"]), (&"c11".into(), &"violated".into()));
    let relations: Vec<&str> =
        witness["cycle"].as_array().expect("a cycle").iter().filter_map(|edge| edge["relation"].as_str()).collect();
    assert_eq!(relations, ["fr", "po", "fr", "po"]);
    let steps = witness["steps"].as_array().expect("steps");
    for edge in witness["edges"].as_array().expect("edges") {
        let row = edge["to"].as_u64().expect("a row");
        let step = steps.iter().find(|step| step["row"] == row).expect("a step of that row");
        assert!(step["ordering"].is_string(), "{edge} {step}");
    }
}

/// Its outcome is one of C11, and of no interleaving.
const STORE_BUFFERING_IN_C: &str = "C SB
{}
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\\ 1:r0=0)
";

/// A stale read of it is one of C11, and none of x86.
const MESSAGE_PASSING_IN_C: &str = "C MP
{}
P0(atomic_int* x, atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(f, 1, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* f, atomic_int* z) {
  int r0 = atomic_load_explicit(f, memory_order_relaxed);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (true)
";

/// A property holds under C11 where it holds for interleavings and the program is robust. Else
/// nothing is green.
#[test]
fn properties_are_carried_over_where_the_program_is_robust() {
    let folder = folder();
    let verdict = |line: &str| {
        let (status, out, _) = said(folder.path(), line);
        let document = documents::read(out.as_bytes());
        let answers = document["answers"].as_array().expect("answers").iter();
        let told = answers.map(|it| format!("{} {}", it["ask"], it["verdict"]).replace('"', ""));
        (status, told.collect::<Vec<_>>().join(", "))
    };
    for (line, status, told) in [
        ("kept.pal", 0, "properties holds, robustness holds"),
        ("kept.pal --ask properties", 0, "properties holds"),
        ("kept.pal --ask robustness", 0, "robustness holds"),
        ("wrong.pal", 1, "properties violated, robustness holds"),
        ("racy.pal", 1, "properties unknown, robustness violated"),
        ("racy.pal --ask properties", 3, "properties unknown"),
        ("relaxed.pal", 1, "properties unknown, robustness violated"),
        ("relaxed.pal --ask properties", 3, "properties unknown"),
        // Interleavings in which a weak compare-exchange never fails for no reason show not all.
        ("weak.pal --ask properties", 3, "properties unknown"),
        ("relaxed.pal --timeout 0s", 3, "properties unknown, robustness unknown"),
    ] {
        let asked = verdict(&format!("check --model c11 --json --verify {line}"));
        assert_eq!(asked, (status, told.to_owned()), "{line}");
    }
    // The words of a litmus test are about all executions as well.
    std::fs::write(folder.path().join("sb.litmus"), STORE_BUFFERING_IN_C).expect("it is written");
    for line in ["check --model c11 sb.litmus", "prove --model c11 sb.litmus", "check --model ra sb.litmus"] {
        let (_, out, _) = said(folder.path(), line);
        assert!(out.starts_with("sb.litmus: Sometimes under "), "{line}: {out}");
    }
    let reads = STORE_BUFFERING_IN_C
        .replace("relaxed);\n  int r0", "relaxed);\n  atomic_thread_fence(memory_order_seq_cst);\n  int r0");
    let never = reads.replacen(
        "  atomic_thread_fence(memory_order_seq_cst);\n",
        "  atomic_thread_fence(memory_order_acq_rel);\n",
        1,
    );
    std::fs::write(folder.path().join("sb.litmus"), &never).expect("it is written");
    let (_, out, _) = said(folder.path(), "check --model c11 sb.litmus");
    assert!(out.starts_with("sb.litmus: Sometimes under C11"), "{out}");
    // An execution that x86 does not have ends so as well, be it shown to its end or not.
    for (behind, is_whole) in [("", true), ("  atomic_store_explicit(z, 1, memory_order_relaxed);\n", false)] {
        let text = MESSAGE_PASSING_IN_C.replace("}\nexists", &format!("{behind}}}\nexists"));
        for (asked, status, told) in [
            ("exists (1:r0=1 /\\ 1:r1=0)", 0, "Sometimes, not under SC"),
            ("~exists (1:r0=1 /\\ 1:r1=0)", 1, "violated, Sometimes, not under SC"),
            ("forall (1:r0=0 \\/ 1:r1=1)", 1, "violated, not Always, not under SC"),
            ("filter (1:r1=1) exists (1:r0=1 /\\ 1:r1=0)", 3, "unknown, no interleaving has it"),
            ("exists (1:r0=2)", 3, "unknown, no interleaving has it, but the program has other executions"),
        ] {
            std::fs::write(folder.path().join("mp.litmus"), text.replace("exists (true)", asked)).expect("written");
            let (code, out, _) = said(folder.path(), "check --model c11 --ask properties --verify mp.litmus");
            assert!(code == status && out.contains(told), "{asked}: {code} {out}");
            assert!(status == 3 || out.contains("then each thread goes on to its end") != is_whole, "{asked}: {out}");
        }
    }
    // Release/acquire takes the relaxed store for one that releases.
    let asked = verdict("check --model ra --json --verify racy.pal");
    assert_eq!(asked, (0, "properties holds, robustness holds".to_owned()));
}

/// What is violated stands before what is not known.
#[test]
fn a_race_is_said_first() {
    let folder = folder();
    let (status, out, _) = said(folder.path(), "check --model c11 racy.pal");
    assert_eq!(status, 1, "{out}");
    assert!(out.starts_with("racy.pal: racy, which is undefined behaviour, unknown under C11\n"), "{out}");
}

/// A list of many answers says of which programs it is open who waits for ever, and how to ask for
/// more about the same.
#[test]
fn many_answers_leave_nothing_out() {
    let folder = folder();
    let waits = "program W\naddress x\nthread t { await load(x, acquire) == 1; }\nthread u { store(x, 1, release); }\n";
    let names: Vec<String> = (0..8).map(|number| format!("w{number}.pal")).collect();
    for name in &names {
        std::fs::write(folder.path().join(name), waits).expect("it is written");
    }
    let (status, out, _) = said(folder.path(), &format!("check --model c11 sb.pal {}", names.join(" ")));
    assert_eq!(status, 1, "{out}");
    let line = "w7.pal: robust against C11, hangs not asked [t × 1, u × 1; no domain]\n";
    assert!(out.contains(line), "{out}");
    let last = "9 programs: 8 hold, 1 violated, hangs open in 8; \
                `palisade check --model c11 FILE` shows how one is violated\n";
    assert!(out.ends_with(last), "{out}");
}

/// Where values grow, it is said what grows, also of changes and of orderings.
#[test]
fn what_grows_is_said_of_changes() {
    let folder = folder();
    let counts = "program C\naddress x, y\nthread t [*] { loop { let n = load(x, relaxed); store(x, n + n % 2 + 1, relaxed); } }\n";
    std::fs::write(folder.path().join("counts.pal"), counts).expect("it is written");
    for command in ["fences --model c11", "orderings"] {
        let (status, out, error) = said(folder.path(), &format!("{command} counts.pal"));
        assert_eq!(status, 3, "{command}: {out}{error}");
        assert!(
            out.contains("unknown: register `n` of thread `t` grows: it takes more than 64 values"),
            "{command}: {out}"
        );
        assert!(out.contains("  help     declare the values it may take"), "{command}: {out}");
    }
}

/// What C11 has nearest to the kernel's full barriers: store buffering with something between the
/// store and the load of each thread.
#[test]
fn full_barriers_of_the_kernel_are_sequentially_consistent_fences() {
    let folder = folder();
    for (between, is_full) in [
        ("smp_mb();", true),
        ("smp_mb__after_srcu_read_unlock();", true),
        ("atomic_inc(z); smp_mb__after_atomic();", true),
        ("int r1 = atomic_cmpxchg(z, 5, 1); smp_mb__after_atomic();", true),
        ("smp_mb__before_atomic(); atomic_inc(z);", true),
        ("spin_lock(z); smp_mb__after_spinlock(); spin_unlock(z);", true),
        ("int r1 = xchg(z, 1);", true),
        ("r1 = atomic_inc_return(z);", true),
        ("atomic_fetch_add(1, z);", true),
        // A barrier beside nothing, and what orders less.
        ("smp_mb__after_atomic();", false),
        ("int r1 = atomic_read(z); smp_mb__after_atomic();", false),
        ("if (1) atomic_inc(z); smp_mb__after_atomic();", false),
        ("smp_mb__before_atomic(); int r1 = READ_ONCE(*z);", false),
        ("atomic_inc(z); smp_mb__after_spinlock();", false),
        ("int r1 = xchg_acquire(z, 1);", false),
        ("int r1 = READ_ONCE(*z) + xchg(z, 1);", false),
        ("atomic_inc(z);", false),
        ("int r1 = cmpxchg(z, 5, 1);", false),
        ("smp_rmb();", false),
        ("smp_wmb();", false),
    ] {
        let thread = |number: usize, to: &str, from: &str| {
            let head = format!("P{number} (int *x, int *y, atomic_t *z{number})");
            let between = between.replace('z', &format!("z{number}"));
            format!("{head} {{ WRITE_ONCE(*{to}, 1); {between} int r0 = READ_ONCE(*{from}); }}\n")
        };
        let threads = thread(0, "x", "y") + &thread(1, "y", "x");
        let text = format!("C SB\n{{}}\n{threads}exists (0:r0=0 /\\ 1:r0=0)\n");
        std::fs::write(folder.path().join("sb.litmus"), text).expect("it is written");
        let (_, out, error) = said(folder.path(), "check --model c11 --verify --ask properties sb.litmus");
        let word = if is_full { "sb.litmus: Never under C11" } else { "sb.litmus: Sometimes under C11" };
        assert!(out.starts_with(word), "{between}: {out} {error}");
    }
    // On x86 the fences change nothing: a store behind the update in its statement is still
    // delayed, and a load before it still comes before the store.
    for (statement, value) in [
        ("WRITE_ONCE(*x, atomic_inc_return(z)); int r0 = READ_ONCE(*y);", 0),
        ("WRITE_ONCE(*x, atomic_inc_return(z)); smp_mb__after_atomic(); int r0 = READ_ONCE(*y);", 0),
        ("WRITE_ONCE(*x, 1); int r0 = READ_ONCE(*y) + atomic_inc_return(z);", 1),
        ("WRITE_ONCE(*x, 1); smp_mb__before_atomic(); int r0 = READ_ONCE(*y) + atomic_inc_return(z);", 1),
    ] {
        let text = format!(
            "C SB\n{{}}\nP0 (int *x, int *y, atomic_t *z) {{ {statement} }}\n\
             P1 (int *x, int *y) {{ WRITE_ONCE(*y, 1); smp_mb(); int r1 = READ_ONCE(*x); }}\n\
             exists (0:r0={value} /\\ 1:r1=0)\n"
        );
        std::fs::write(folder.path().join("sb.litmus"), text).expect("it is written");
        let (_, out, error) = said(folder.path(), "check --verify --ask properties sb.litmus");
        assert!(out.starts_with("sb.litmus: Sometimes under TSO"), "{statement}: {out} {error}");
    }
}

/// What fails by the store buffers of x86 fails in the language: executions there are its own.
#[test]
fn what_x86_shows_is_told_of_the_language() {
    let folder = folder();
    let sb = "program SB
address x, y, inside
thread one { store(x, 1, release); if (load(y, acquire) == 0) { let n = fetch_add(inside, 1, relaxed); ensure n == 0; } }
thread two { store(y, 1, release); if (load(x, acquire) == 0) { let n = fetch_add(inside, 1, relaxed); ensure n == 0; } }
";
    let lost = "program Lost
address ready, asleep, token
thread waker { store(ready, 1, release); if (load(asleep, acquire) == 1) { store(token, 1, release); } }
thread sleeper { store(asleep, 1, release); if (load(ready, acquire) == 0) { await load(token, acquire) == 1; } }
";
    for (name, text) in [("sb.pal", sb), ("lost.pal", lost)] {
        std::fs::write(folder.path().join(name), text).expect("it is written");
        let fenced = text.replace("1, release); if", "1, release); fence(seq_cst); if");
        std::fs::write(folder.path().join(format!("fenced-{name}")), fenced).expect("it is written");
    }
    for (line, status, words) in [
        ("check --model c11 sb.pal", 1, "  ensure   one (line 3): violated, on x86 already"),
        ("check --model ra --ask properties sb.pal", 1, "  ensure   two (line 4): violated, on x86 already"),
        ("check --model c11 --ask hangs lost.pal", 1, "stuck: `sleeper` waits for ever (line 4)"),
        ("check --model c11 lost.pal", 1, "  hangs    not asked: `--ask hangs`"),
        ("check --model c11 fenced-sb.pal", 0, "proved (in all interleavings), and all executions are interleavings"),
        ("check --model c11 --ask hangs fenced-lost.pal", 0, "fenced-lost.pal: nobody waits for ever"),
        // Of what x86 never does it says nothing.
        ("check --model c11 --ask properties relaxed.pal", 3, "unknown, all interleavings keep it, but"),
    ] {
        let (code, out, error) = said(folder.path(), line);
        assert!(code == status && out.contains(words), "{line}: {code} {out} {error}");
    }
    // The evidence is about x86, and answers a job about the language.
    for (file, options, words) in [
        ("sb.pal", "--model c11 --ask properties", "sb.pal --model c11 --ask properties: violated"),
        ("lost.pal", "--model c11 --ask hangs", "lost.pal --model c11 --ask hangs: stuck"),
    ] {
        let line = format!("plan check {file} --each PALISADE_OPTIONS -o jobs.jsonl");
        let words_of = line.split(' ').map(|word| if word == "PALISADE_OPTIONS" { options } else { word });
        let mut plan = Command::new(env!("CARGO_BIN_EXE_palisade"));
        assert!(plan.args(words_of).current_dir(folder.path()).output().expect("it runs").status.success());
        assert_eq!(said(folder.path(), "run jobs.jsonl --output results.jsonl").0, 0);
        let (status, out, error) = said(folder.path(), "merge jobs.jsonl results.jsonl");
        assert!(status == 1 && out.contains(words), "{file}: {status} {out} {error}");
        std::fs::remove_file(folder.path().join("results.jsonl")).expect("it was written");
    }
}

#[test]
fn what_is_not_about_a_language_is_refused() {
    let folder = folder();
    for (line, words) in [
        ("check --model c11 x86.pal", "states no orderings"),
        ("check --model c11 sleep.pal", "and no sleepers"),
        ("check --model ra sleep.pal", "and no sleepers"),
        ("check --model c11 --ask races sb.pal", "are not asked about a language"),
        ("check --model c11 --attacks 1-1 sb.pal", "leave `--attacks` out"),
    ] {
        let (status, out, error) = said(folder.path(), line);
        assert!(status == 2 && error.contains(words), "{line}: {status} {out} {error}");
    }
}

/// Jobs ask about a language, and their answers are merged from the evidence: properties follow
/// from two pieces of it.
#[test]
fn jobs_ask_about_a_language() {
    let folder = folder();
    let plan = |files: &[&str], each: &str, to: &str| {
        let mut plan = Command::new(env!("CARGO_BIN_EXE_palisade"));
        plan.args(["plan", "check"]).args(files).args(["--each", each, "-o", to]).current_dir(folder.path());
        assert!(plan.output().expect("it runs").status.success());
    };
    plan(&["fence.pal", "sb.pal", "racy.pal"], "--model c11 --ask robustness", "jobs.jsonl");
    assert_eq!(said(folder.path(), "run jobs.jsonl").0, 0);
    let (status, out, error) = said(folder.path(), "merge jobs.jsonl");
    assert_eq!(status, 1, "{out} {error}");
    for words in ["fence.pal", "sb.pal", "racy.pal", "not robust"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    // What interleavings keep, a robust program keeps, but where a weak exchange may fail for no
    // reason.
    let weak = "program Weak
address lock
thread worker [2] {
  let seen = weak_cas(lock, 0, 1, acquire, relaxed);
  ensure lock == 1 || lock == 0;
}
";
    std::fs::write(folder.path().join("weak.pal"), weak).expect("it is written");
    for (file, options, exit, words) in [
        ("kept.pal", "--model c11", 0, "kept.pal --model c11: holds"),
        ("kept.pal", "--model c11 --ask properties", 0, "--ask properties: holds"),
        ("kept.pal", "--model c11 --ask hangs", 0, "--ask hangs: free"),
        ("weak.pal", "--model c11 --ask properties", 3, "--ask properties: unknown"),
    ] {
        assert_eq!(said(folder.path(), &format!("check {file} {options}")).0, exit, "{file} {options}");
        plan(&[file], options, "more.jsonl");
        assert_eq!(said(folder.path(), "run more.jsonl --output more.results.jsonl").0, 0);
        let (status, out, error) = said(folder.path(), "merge more.jsonl more.results.jsonl");
        assert!(status == exit && out.contains(words), "{file} {options}: {status} {out} {error}");
        std::fs::remove_file(folder.path().join("more.results.jsonl")).expect("it was written");
    }
}

/// Evidence is accepted as it was written, and rejected where it claims something else.
#[test]
fn evidence_is_written_and_checked() {
    let folder = folder();
    let line = "check --model c11 --certificate evidence fence.pal sb.pal racy.pal kept.pal";
    assert_eq!(said(folder.path(), line).0, 1);
    let evidence = |name: &str| folder.path().join("evidence").join(name);
    for (name, words) in [
        ("fence.pal.c11-robust.json", "fence.pal is robust against C11"),
        ("sb.pal.c11-violation.json", "sb.pal is not robust against C11"),
        ("racy.pal.c11-race.json", "racy.pal has a race of plain data, by C11"),
        ("kept.pal.c11-robust.json", "kept.pal is robust against C11"),
        ("kept.pal.property.json", "holds under SC"),
    ] {
        let (status, out, _) = said(folder.path(), &format!("verify evidence/{name}"));
        assert!(status == 0 && out.contains(words), "{name}: {out}");
    }
    // Of a robust program the proof is none for release/acquire, nor is a violation of one a
    // violation of a stronger one.
    for (name, from, to) in [
        ("fence.pal.c11-robust.json", "\"c11\"", "\"ra\""),
        ("racy.pal.c11-race.json", "\"c11\"", "\"ra\""),
        ("sb.pal.c11-violation.json", "\"beyond-sc\"", "\"race\""),
    ] {
        let text = std::fs::read_to_string(evidence(name)).expect("it was written");
        assert!(text.contains(from), "{name} has no {from}: {text}");
        std::fs::write(evidence(name), text.replacen(from, to, 1)).expect("it is written");
        let (status, out, _) = said(folder.path(), &format!("verify evidence/{name}"));
        assert!(status == 4 && out.contains("rejected"), "{name}: {status} {out}");
    }
}

/// What `fences` finds is written for code hosts, with the change of each ordering as a fix, and as
/// a page.
#[test]
fn repairs_are_written_for_other_tools() {
    let folder = folder();
    let (status, _, error) = said(folder.path(), "fences --model c11 --sarif found.sarif --report page.html racy.pal");
    assert_eq!(status, 0, "{error}");
    let log = documents::sarif(&folder.path().join("found.sarif"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["ruleId"], "orderings-too-weak");
    let message = results[0]["message"]["text"].as_str().expect("a message");
    assert!(message.starts_with("change 1 of 1: release at sender (line 7); without it "), "{message}");
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
    let change = &results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let inserted = change["insertedContent"]["text"].as_str().expect("a text");
    assert!(inserted.contains("release") && !inserted.contains("relaxed"), "{inserted}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("it was written");
    assert!(
        page.contains("1 change for robustness against C11") && page.contains("Why nothing less will do"),
        "{page}"
    );

    // Of a fence the rule is another one, and of a program that is robust nothing is found.
    assert_eq!(said(folder.path(), "fences --model ra --sarif found.sarif sb.pal").0, 0);
    let log = documents::sarif(&folder.path().join("found.sarif"));
    let rules: Vec<_> =
        log["runs"][0]["results"].as_array().expect("results").iter().map(|own| &own["ruleId"]).collect();
    assert_eq!(rules, ["missing-fence", "missing-fence"]);
    assert_eq!(said(folder.path(), "fences --model c11 --sarif found.sarif fence.pal").0, 0);
    let log = documents::sarif(&folder.path().join("found.sarif"));
    let all = log["runs"][0]["results"].as_array().expect("results");
    assert!(all.iter().all(|own| own["kind"] == "pass"), "{all:?}");
}
