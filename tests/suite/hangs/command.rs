//! `palisade check --ask hangs`: what it says, its exit status, its evidence.

use super::said;
use crate::documents;
use std::path::Path;

const UNFENCED: &str = "program Flags
address x, y, kick
thread a { x = 1; if (y == 1) { kick = 1; } }
thread b { y = 1; if (x == 0) { await (kick == 1); } }
";

#[test]
fn the_command_says_who_waits_for_what() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("flags.pal"), UNFENCED).expect("it is written");
    let fenced = UNFENCED.replace(" = 1; if", " = 1; mfence; if");
    std::fs::write(folder.path().join("fenced.pal"), fenced).expect("it is written");

    let (status, report) = said(folder.path(), "check --ask hangs flags.pal --certificate e");
    assert_eq!(status, 1, "{report}");
    assert!(report.starts_with("flags.pal: stuck\n"), "{report}");
    assert!(report.contains("`kick` holds 0; 1 in `kick` would let it go on"), "{report}");
    assert_eq!(said(folder.path(), "check --ask hangs flags.pal --model sc").0, 0);

    // Who waits from the beginning takes no step.
    let both = "program both\naddress f, g\nthread a { await (g == 1); f = 1; }\nthread b { await (f == 1); g = 1; }\n";
    std::fs::write(folder.path().join("both.pal"), both).expect("it is written");
    let (status, report) = said(folder.path(), "check --ask hangs both.pal");
    assert!(status == 1 && report.contains("  no step: it is so from the beginning\nnobody goes on:\n"), "{report}");

    let (status, report) = said(folder.path(), "check --ask hangs fenced.pal --certificate e");
    assert!(status == 0 && report.starts_with("fenced.pal: nobody waits for ever\n"), "{report}");

    let (status, report) = said(folder.path(), "verify e/flags.pal.stuck.json e/fenced.pal.free.json");
    assert_eq!(status, 0, "{report}");
    assert!(report.contains("has a stuck state") && report.contains("has no stuck state"), "{report}");
    // Evidence about one program shows nothing of the other.
    let (status, report) = said(folder.path(), "verify e/fenced.pal.free.json --program flags.pal");
    assert_ne!(status, 0, "{report}");
}

#[test]
fn documents_and_findings_have_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("flags.pal"), UNFENCED).expect("it is written");
    let (status, json) = said(folder.path(), "check --ask hangs flags.pal --json");
    assert_eq!(status, 1, "{json}");
    let document = documents::read(&json);
    assert!(json.contains("\"hangs\"") && json.contains("stuck"), "{document}");
    let line = "check --ask hangs flags.pal --sarif log.sarif --junit log.xml --report page.html";
    let (status, report) = said(folder.path(), line);
    assert_eq!(status, 1, "{report}");
    let sarif = documents::sarif(&folder.path().join("log.sarif"));
    assert!(sarif.to_string().contains("\"hang\""), "{sarif}");
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it is written");
    assert!(text("log.xml").contains("nobody waits for ever") && text("page.html").contains("waits for ever"));
}

#[test]
fn fences_against_hangs_are_found_shown_and_written() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("flags.pal"), UNFENCED).expect("it is written");
    let (status, report) = said(folder.path(), "fences --ask hangs flags.pal --certificate e");
    assert_eq!(status, 0, "{report}");
    assert!(report.starts_with("flags.pal: 2 changes so that nobody waits for ever under TSO, cost 2"), "{report}");
    assert!(report.contains("  evidence verified\n") && report.contains("+thread a { x = 1; mfence;"), "{report}");
    let (status, report) = said(folder.path(), "verify e/flags.pal.repair.json e/e_flags.repaired.pal.free.json");
    assert!(status == 0 && report.contains("has no stuck state under TSO with the changes"), "{report}");

    let (status, json) = said(folder.path(), "fences --ask hangs flags.pal --json");
    let document = documents::read(&json);
    assert_eq!((status, &document["for"], &document["verdict"]), (0, &"hangs".into(), &"violated".into()), "{json}");
    let (status, report) = said(folder.path(), "fences --ask hangs flags.pal --sarif log.sarif --report page.html");
    assert_eq!(status, 0, "{report}");
    assert!(documents::sarif(&folder.path().join("log.sarif")).to_string().contains("missing-fence"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("it is written");
    assert!(
        page.contains("2 changes so that nobody waits for ever under TSO, cost 2, none cheaper")
            && page.contains("<td>somebody waits for ever</td>")
            && page.contains("fences --ask hangs flags.pal --certificate")
    );

    assert_eq!(said(folder.path(), "fences --ask hangs flags.pal --apply").0, 0);
    let (status, report) = said(folder.path(), "fences --ask hangs flags.pal");
    assert!(status == 0 && report.contains("nobody waits for ever under TSO: no fence is needed"), "{report}");
    assert_eq!(said(folder.path(), "check --ask hangs flags.pal").0, 0);
}

/// What a command says of a text, and its exit status.
fn said_of(text: &str, line: &str) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.pal"), format!("program p\n{text}\n")).expect("it is written");
    said(folder.path(), line)
}

#[test]
fn who_spins_for_ever_is_found_without_being_asked() {
    let both =
        "address x, y thread a { while (y == 0) { pause; } x = 1; } thread b { while (x == 0) { pause; } y = 1; }";
    let (status, report) = said_of(both, "check p.pal");
    assert!(status == 1 && report.contains("p.pal: stuck, robust\n"), "{report}");
    // Under SC nothing is asked about robustness.
    let (status, report) = said_of(both, "check p.pal --model sc");
    assert!(status == 1 && report.contains("p.pal: stuck\n"), "{report}");
    let (status, report) =
        said_of(&both.replace("} x = 1;", "}").replace("thread a {", "thread a { x = 1;"), "check p.pal");
    assert!(status == 0 && !report.contains("stuck"), "{report}");
    // Who reads for ever waits for nothing that would let it go on.
    let (status, report) = said_of("address x thread a { loop { let r = x; } }", "check p.pal");
    assert!(status == 0 && !report.contains("stuck") && !report.contains("hangs"), "{report}");
}

#[test]
fn timeouts_are_waits_where_they_are_ignored() {
    let text = "address x thread a { timed wait(x, 0); }";
    assert_eq!(said_of(text, "check p.pal").0, 0);
    let (status, report) = said_of(text, "check p.pal --ignore-timeouts --verify");
    assert!(status == 1 && report.contains("`a` sleeps on `x`"), "{report}");
    // Fences are for the same question.
    let text = "address x, y, k thread a { x = 1; if (y == 1) { k = 1; } } \
                thread b { y = 1; if (x == 0) { timed await (k == 1); } }";
    let (status, report) = said_of(text, "fences p.pal --ask hangs");
    assert!(status == 0 && report.contains("nobody waits for ever"), "{report}");
    let (status, report) = said_of(text, "fences p.pal --ask hangs --ignore-timeouts");
    assert!(status == 0 && report.contains("2 changes so that nobody waits for ever"), "{report}");
    let (status, report) = said_of(text, "fences p.pal --ignore-timeouts");
    assert!(status == 2 && report.contains("`--ask hangs`"), "{report}");
}

#[test]
fn hangs_of_interleavings_are_those_of_a_language_where_programs_are_robust() {
    let text = |fence: &str| {
        format!(
            "address x, y, k \
             thread a {{ store(x, 1, relaxed); {fence} if (load(y, relaxed) == 1) {{ store(k, 1, relaxed); }} }} \
             thread b {{ store(y, 1, relaxed); {fence} if (load(x, relaxed) == 0) {{ await(load(k, relaxed) == 1); }} }}"
        )
    };
    let line = "check p.pal --ask hangs --model c11";
    let (status, report) = said_of(&text(""), line);
    assert!(status == 1 && report.starts_with("p.pal: stuck"), "{report}");
    let never_on_x86 = "address x, y, k thread a { store(x, 1, relaxed); store(y, 1, relaxed); } thread b {
                        if (load(y, relaxed) == 1) { if (load(x, relaxed) == 0) { await(load(k, relaxed) == 1); } } }";
    let (status, report) = said_of(never_on_x86, &format!("{line} --verify"));
    assert!(status == 1 && report.starts_with("p.pal: stuck\n"), "{report}");
    assert!(report.contains("step 5 reads what was there at first: it need not see what came later"), "{report}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.pal"), format!("program p\n{never_on_x86}\n")).expect("it is written");
    assert_eq!(said(folder.path(), &format!("{line} --certificate ev")).0, 1);
    let (status, report) = said(folder.path(), "verify ev/p.pal.stuck.json");
    assert!(status == 0 && report.contains("p.pal has a stuck state under C11"), "{report}");
    // Memory ends as no interleaving leaves it, and no access reads what one could not read there.
    let overtaken = "address x, y thread a { store(x, 1, relaxed); store(y, 2, relaxed); } \
                     thread b { store(y, 1, relaxed); store(x, 2, relaxed); } \
                     finally { ensure x == 2 || y == 2; }";
    let (status, report) = said_of(overtaken, &format!("{line} --verify"));
    assert!(status == 1 && report.contains("does not hold: `x` holds 1, `y` holds 1"), "{report}");
    let stays = "address x, y, k thread a { store(x, 1, relaxed); let r = load(y, relaxed); store(k, 1, relaxed); } \
                 thread b { store(y, 1, relaxed); let s = load(x, relaxed); await (load(k, relaxed) == 1); }";
    let (status, report) = said_of(stays, line);
    assert!(status == 0 && report.starts_with("p.pal: nobody waits for ever\n"), "{report}");
    let goes_round = stays.replace("thread a {", "thread a { let i = 0; while (i < 2) { i = i + 1; }");
    let (status, report) = said_of(&goes_round, line);
    assert!(status == 3 && report.contains("but the program has other executions"), "{report}");
    let (status, report) = said_of(&text("fence(seq_cst);"), line);
    assert!(status == 0 && report.starts_with("p.pal: nobody waits for ever\n"), "{report}");
    // An interleaving that hangs is an execution of the language.
    let both = "address x, y thread a { await(load(y, acquire) == 1); store(x, 1, release); } \
                thread b { await(load(x, acquire) == 1); store(y, 1, release); }";
    let (status, report) = said_of(both, line);
    assert!(status == 1 && report.starts_with("p.pal: stuck\n"), "{report}");
    let sleeps = "address x thread a { store(x, 1, seq_cst); wake(x, 1); } thread b { wait(x, 0); }";
    let (status, report) = said_of(sleeps, line);
    assert!(status == 2 && report.contains("C11 has no `sfence`") && report.contains("no sleepers"), "{report}");
}

#[test]
fn what_fences_cannot_do_about_hangs_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = "program both\naddress f, g\nthread a { await (g == 1); f = 1; }\nthread b { await (f == 1); g = 1; }\n";
    std::fs::write(folder.path().join("both.pal"), both).expect("it is written");
    let (status, report) = said(folder.path(), "fences --ask hangs both.pal");
    assert!(status == 1 && report.contains("no fence helps: somebody waits for ever under SC"), "{report}");
    let refused = [
        ("--with xchg", "exchanges are not offered against hangs"),
        ("--model sc", "under SC there is nothing to order"),
        ("--all", "finds the cheapest fences with which nobody waits for ever"),
    ];
    for (option, words) in refused {
        let (status, report) = said(folder.path(), &format!("fences --ask hangs both.pal {option}"));
        assert!(status == 2 && report.contains(words), "{option}: {report}");
    }
    let events = "program Quiet\ndomain 0..1\naddress x\nevent one [2] init a begin\n  a: mem[x] <- 1;\nend\n";
    std::fs::write(folder.path().join("events.pal"), events).expect("it is written");
    assert_eq!(said(folder.path(), "fences --ask hangs events.pal").0, 2);
}

/// Takes two locks by spinning in the middle of a round, so that two copies may wait for each
/// other.
const CROSSED: &str = "program Crossed
address left, right, shown
thread a { loop { shown = 1; while (xchg(left, 1) != 0) {} while (xchg(right, 1) != 0) {} right = 0; left = 0; } }
thread b { loop { shown = 1; while (xchg(right, 1) != 0) {} while (xchg(left, 1) != 0) {} left = 0; right = 0; } }
";

#[test]
fn who_only_tries_again_and_again_is_no_alarm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for model in ["arc-upgrade", "double-checked"] {
        let (_, report) = said(root, &format!("check models/{model}.pal"));
        assert!(!report.contains("stuck"), "{report}");
        // By the definition nobody changes anything any more, and whoever asks is told.
        let (status, report) = said(root, &format!("check --ask hangs models/{model}.pal"));
        assert!(status == 1 && report.starts_with(&format!("models/{model}.pal: stuck")), "{report}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("crossed.pal"), CROSSED).expect("it is written");
    let (status, report) = said(folder.path(), "check crossed.pal --certificate e");
    assert!(status == 1 && report.contains("`a` waits for ever"), "{report}");
    assert_eq!(said(folder.path(), "verify e/crossed.pal.stuck.json").0, 0);
}

/// What must hold in the end is quoted as it is written, with whether interleavings show it, and
/// fences say that they are for it.
#[test]
fn ends_are_quoted_as_they_are_written() {
    let text = |condition: &str| {
        format!(
            "address x, y, r0, r1 thread a {{ x = 1; r0 = y; }} thread b {{ y = 1; r1 = x; }} \
             finally {{ ensure {condition}; }}"
        )
    };
    for condition in [
        "!(r0 == 0 && r1 == 0)",
        "(r0 == 1) || (r1 == 1)",
        "r0 > (0 - r1)",
        "(r0 != r1 || r0 == 1)",
        "*(&r0 + 0) + r1 >= 1",
    ] {
        let (status, report) = said_of(&text(condition), "check p.pal");
        let line = format!("  finally  violated, not under SC, in the end `{condition}` (line 2) does not hold");
        assert!(status == 1 && report.contains(&line), "{report}");
        let (status, report) = said_of(&text(condition), "simulate p.pal");
        assert!(status == 1 && report.contains(&format!("  `{condition}` (line 2) fails in the end.\n")), "{report}");
    }
    let (status, report) = said_of(&text("!(r0 == 0 && r1 == 0)"), "fences --ask hangs p.pal");
    let headline = "p.pal: 2 changes so that nobody waits for ever under TSO, and `finally` holds, cost 2";
    assert!(status == 0 && report.starts_with(headline), "{report}");
    assert!(report.contains(", without it somebody waits for ever, or `finally` does not hold\n"), "{report}");
    let (status, report) = said_of(&text("r0 == 0"), "check p.pal");
    assert!(status == 1 && report.contains("  finally  violated under SC already, in the end `r0 == 0`"), "{report}");
    // What no fence stops is shown with all of them.
    let (status, report) = said_of(&text("r0 == 0"), "fences --ask hangs p.pal");
    assert!(status == 1 && report.contains("\nwith every permitted change made, this remains:\n"), "{report}");
}
