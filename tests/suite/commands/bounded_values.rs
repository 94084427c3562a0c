//! Loops that count up to a number are answered as they are, and advice does not change the
//! program.

use std::path::Path;
use std::process::Command;

fn run(text: &str, line: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.pal"), text).expect("it is written");
    let command = Path::new(env!("CARGO_BIN_EXE_palisade"));
    let output = Command::new(command).args(line).arg("p.pal").current_dir(folder.path()).output().expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("UTF-8"))
}

const COUNTING: &str = "program P\naddress x, y\nthread t { let i = 0; while (i < 100) { i++; } x = i; let r = y; }\n\
                        thread u { y = 7; let r = x; }\n";

#[test]
fn a_loop_that_counts_to_a_number_gets_the_values_it_needs() {
    let each = COUNTING.replace("i++; } x = i;", "i++; x = i; }");
    assert_ne!(each, COUNTING);
    for (text, command) in
        [COUNTING, &each].into_iter().flat_map(|own| ["check", "prove", "fences", "witness"].map(|it| (own, it)))
    {
        let (exit, said) = run(text, &[command]);
        assert!(!said.contains("grow") && !said.contains("--domain"), "{command}: {said}");
        assert_ne!(exit, Some(2), "{command}: {said}");
    }
    let (exit, said) = run(COUNTING, &["check"]);
    assert!(exit == Some(1) && said.starts_with("p.pal: not robust"), "{said}");
    // What the user says holds.
    let (_, said) = run(COUNTING, &["check", "--values", "70"]);
    assert!(said.contains("grows: it takes more than 70 values"), "{said}");
    assert!(said.contains("`--values 102`"), "{said}");
}

#[test]
fn a_constant_that_does_not_fit_an_option_s_domain_is_an_error() {
    let line = ["check", "-q", "--domain", "0..7", "--wrap"];
    let (exit, said) = run(COUNTING, &line);
    assert!(
        exit == Some(2) && said.contains("the constant 100 does not fit the domain 0..7, which an option gives"),
        "{said}"
    );
    let (exit, said) = run(&COUNTING.replace("100", "5"), &line);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.starts_with("p.pal: not robust, for the values of `--domain` alone\n"), "{said}");
    // Where constants do not fit, wrapping is no advice.
    let each = COUNTING.replace("i++; } x = i;", "i++; x = i; }");
    for command in ["check", "fences", "simulate"] {
        let (_, said) = run(&each, &[command, "--domain", "0..7"]);
        assert!(said.contains("the value 8 is outside the domain 0..7"), "{command}: {said}");
        assert!(said.contains("has all constants") && !said.contains("--wrap"), "{command}: {said}");
    }
    let (_, said) = run(&each.replace("100", "7").replace("i++", "i = i + 3"), &["check", "--domain", "0..7"]);
    assert!(said.contains("the value 9 is outside the domain 0..7") && said.contains("`--wrap`"), "{said}");
    // A domain of the text is the program's own.
    let own = COUNTING.replace("address", "domain 0..7 wrap\naddress").replace("100", "5");
    assert!(run(&own, &["check"]).1.starts_with("p.pal: not robust\n"));
}

#[test]
fn models_side_by_side_show_memory_first() {
    let line = ["simulate", "--model", "sc,tso"];
    let text = "program P\naddress x, y\nthread t { x = 1; let r = y; }\nthread u { y = 1; let r = x; }\n";
    let fenced = text.replace("let r = y;", "mfence; let r = y;").replace("let r = x;", "mfence; let r = x;");
    let (_, said) = run(&fenced, &line);
    assert!(said.contains("yes  yes  x = 1, y = 1\n") && !said.contains("t.r"), "{said}");
    assert!(said.contains("(without registers; -v shows them)"), "{said}");
    // Without registers all states look alike, and one of them is not reached under SC.
    let (_, said) = run(text, &line);
    assert!(said.contains("-    yes  x = 1, y = 1, t.r = 0, u.r = 0\n"), "{said}");
    let (_, said) = run(text, &["simulate", "-v", "--model", "sc,tso"]);
    assert!(said.contains("-    yes  x = 1, y = 1, t.r = 0, u.r = 0\n"), "{said}");
}
