//! What must hold in the end: `finally`.

use super::{asked, program, word};
use palisade::evidence::StuckWitness;
use palisade::hangs::Verdict;
use palisade::program::Program;
use palisade::semantics::Model;
use palisade::syntax::{Format, parse, print};
use palisade::text::SourceText;
use palisade::verify::{check_free, check_stuck};

/// Programs with what they are under SC and under TSO.
const KNOWN: [(&str, &str, &str); 9] = [
    // An update that is lost.
    ("address n thread a [2] { let r = n; n = r + 1; } finally { ensure n == 2; }", "stuck", "stuck"),
    ("address n thread a [2] { fetch_add(n, 1); } finally { ensure n == 2; }", "free", "free"),
    // Both look too early.
    (
        "address x, y, seen thread a { x = 1; if (y == 0) { fetch_add(seen, 1); } } \
         thread b { y = 1; if (x == 0) { fetch_add(seen, 1); } } finally { ensure seen < 2; }",
        "free",
        "stuck",
    ),
    // What is taken is given back, by any number of copies.
    ("address s initial s = 1 thread a [*] { acquire(s); release(s); } finally { ensure s == 1; }", "free", "free"),
    (
        "address s initial s = 1 thread a [*] { acquire(s); if (*) { release(s); } } finally { ensure s == 1; }",
        "stuck",
        "stuck",
    ),
    // Who may wait for ever keeps nobody from the end, and who must not is told first.
    ("address x daemon thread a { await (x == 1); } finally { ensure x == 0; }", "free", "free"),
    ("address x daemon thread a { await (x == 1); } finally { ensure x == 1; }", "stuck", "stuck"),
    // Arrays, numbers, and what automata say.
    (
        "address s[2] thread a { s[1] = 3; } finally { ensure s[1] == 3 && mem[1] == 0; ensure u1(s[1]); }",
        "free",
        "free",
    ),
    ("address x thread a regs r init l begin l: mem[x] <- 1; end finally { ensure mem[x] = 1; }", "free", "free"),
];

fn with_domain(text: &str) -> Program {
    let domain = if text.contains("if (*)") { "domain 0..1\n" } else { "" };
    program(&format!("program small\n{domain}{text}"))
}

#[test]
fn ends_have_their_answers() {
    for (text, sc, tso) in KNOWN {
        let program = with_domain(text);
        for (model, expected) in [(Model::Sc, sc), (Model::Tso, tso)] {
            let found = asked(&program, model);
            assert_eq!(word(&found), expected, "{model:?}: {text}");
            if let Verdict::Stuck(stuck) = found.verdict {
                assert!(!stuck.broken.is_empty() && stuck.waiters.iter().all(|own| own.is_idle), "{text}");
            }
        }
    }
    // Somebody hangs, so it is no end.
    let program = with_domain("address x thread a { await (x == 1); } finally { ensure x == 1; }");
    let Verdict::Stuck(stuck) = asked(&program, Model::Sc).verdict else { panic!("nobody stores") };
    assert!(stuck.broken.is_empty());
}

#[test]
fn claims_are_printed_and_read_again() {
    for (text, ..) in KNOWN {
        let program = with_domain(text);
        let printed = print(&program, Format::Native).expect("the language has all").text;
        let again = parse(SourceText::new("again.pal", printed.clone()), Format::Native).expect(&printed).program;
        let claims = |program: &Program| -> Vec<_> {
            program.finally.iter().map(|claim| (claim.condition.clone(), claim.reads.clone())).collect()
        };
        assert_eq!(claims(&program), claims(&again), "{printed}");
        assert_eq!(print(&again, Format::Native).expect("the language has all").text, printed);
    }
    // Other languages leave it out, and say so.
    let program = with_domain("address x thread a { x = 1; } finally { ensure x == 1; }");
    for format in [Format::Litmus, Format::Trencher] {
        let written = print(&program, format).expect("they have stores");
        assert!(written.warnings.iter().any(|own| own.message.contains("`finally` with `x = 1` is left out")));
    }
}

#[test]
fn evidence_is_about_what_the_text_claims() {
    let text = |claim: &str| format!("program small\naddress x thread a {{ x = 1; }} finally {{ ensure {claim}; }}");
    let (right, wrong) = (program(&text("x == 1")), program(&text("x == 2")));
    let Verdict::Free(certificate) = asked(&right, Model::Tso).verdict else { panic!("x is 1") };
    assert_eq!(check_free(&right, &certificate), Ok(()));
    assert!(check_free(&wrong, &certificate).is_err());
    let Verdict::Stuck(stuck) = asked(&wrong, Model::Tso).verdict else { panic!("x is 1") };
    let witness = stuck.witness();
    assert_eq!(check_stuck(&wrong, &witness), Ok(()));
    assert!(check_stuck(&right, &witness).is_err());
    // Before the end nothing is claimed.
    let shorter = StuckWitness { steps: witness.steps[..witness.steps.len() - 1].to_vec(), ..witness };
    assert!(check_stuck(&wrong, &shorter).is_err());
}

#[test]
fn what_is_wrong_is_said_once() {
    for (text, message, help) in [
        ("thread t { x = 1; } finally { }", "`finally` states nothing", "`ensure x == 1;`"),
        ("thread t { x = 1; } finally { x = 2; }", "states what holds, and does nothing", "`ensure x == 1;`"),
        ("thread t { x = 1; } finally { ensure y == 1; }", "`y` is no address", "only memory is read"),
        ("thread t { x = 1; } finally { ensure s == 1; }", "`s` is an array", "with i from 0 to 1"),
        ("thread t { x = 1; } finally { ensure s[2] == 1; }", "`s` has no element 2", "s[0] to s[1]"),
        ("thread t { x = 1; } finally { ensure s[x] == 1; }", "only numbers and constants", ""),
        ("thread t { x = 1; } finally { ensure cas(x, 1, 2) == 1; }", "in the end memory is only read", ""),
        ("thread t { x = 1; } finally { here: ensure x == 1; }", "nothing goes to what is stated", ""),
        ("thread t { x = 1; } finally { ensure x == 1; } finally { ensure x == 1; }", "declared twice", ""),
        ("event e { x = 1; } finally { ensure x == 1; }", "is about threads alone", "`ensure` of a task"),
        ("thread t { x = 1; } finally { ensure x == 1", "expected", ""),
    ] {
        let text = format!("program p address x, s[2] {text}");
        let errors = parse(SourceText::new("p.pal", text.clone()), Format::Native).expect_err(&text);
        assert!(errors[0].message.contains(message) || message == "expected", "{text}: {errors:#?}");
        assert!(errors[0].help.clone().unwrap_or_default().contains(help), "{text}: {errors:#?}");
        assert!(errors.len() == 1 || message == "expected", "{text}: {errors:#?}");
    }
    // Elsewhere it is a name.
    program("program p address finally thread t { finally = 1; } finally { ensure finally == 1; }");
}

/// What is stated about the end is a property of the text: whoever asks for these asks it too.
#[test]
fn those_who_ask_for_properties_ask_what_holds_in_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |own: &str| format!("program p\naddress n\nthread a [2] {{ {own} }}\nfinally {{ ensure n == 2; }}\n");
    std::fs::write(folder.path().join("lost.pal"), text("let v = n; n = v + 1;")).expect("it is written");
    std::fs::write(folder.path().join("kept.pal"), text("fetch_add(n, 1);")).expect("it is written");
    for command in [&["prove"][..], &["check", "--ask", "properties"], &["check"]] {
        for (file, code) in [("lost.pal", 1), ("kept.pal", 0)] {
            let mut palisade = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
            let output = palisade.args(command).arg(file).current_dir(folder.path()).output().expect("it starts");
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(code), "{command:?} {file}: {text}");
            assert!(text.contains("`finally`"), "{command:?} {file}: {text}");
        }
    }
}

/// No fences are called enough while the end is not asked, and none is called superfluous.
#[test]
fn fences_for_other_properties_leave_the_end_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "program p\naddress x, y, seen\nthread a { x = 1; if (y == 0) { fetch_add(seen, 1); } ensure seen < 9; }\n\
                thread b { y = 1; if (x == 0) { fetch_add(seen, 1); } }\nfinally { ensure seen < 2; }\n";
    std::fs::write(folder.path().join("late.pal"), text).expect("it is written");
    let fences = |options: &[&str]| {
        let mut palisade = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = palisade.args(["fences", "late.pal"]).args(options).current_dir(folder.path()).output();
        let output = output.expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, text) = fences(&["--ask", "properties"]);
    assert!(code == Some(2) && text.contains("`fences --ask hangs` finds fences for that"), "{text}");
    let (code, text) = fences(&[]);
    assert!(code == Some(0) && text.contains("not decided: `--ask hangs` asks what `finally` states"), "{text}");
    let (code, text) = fences(&["--ask", "hangs"]);
    assert!(code == Some(0) && text.starts_with("late.pal: 2 changes"), "{text}");
}
