//! Violations in the user's words: lines as they are written, conditions with their answer, no
//! names that readers made.

use std::process::Command;

/// A lock whose users do not lock: both properties fail.
const BROKEN: &str = "program Words
const FREE = 0;
address lock_word, inside

proc enter(l) {
  pause;
  while (l != FREE) { pause; }
  l = 1;
}

thread worker [2] {
  let rounds = 0;
  enter(lock_word);
  rounds = rounds + 1;
  if (rounds == 1) { ensure inside == FREE; }
  critical: inside = 1;
  inside = FREE;
  lock_word = FREE;
}

never worker at critical, worker at critical
";

/// What a command prints about the program, with words in front of its path.
fn printed(program: &str, words: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("words.pal"), program).expect("it is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let run = command.args(words).arg("words.pal").current_dir(folder.path()).output().expect("the program runs");
    String::from_utf8(run.stdout).expect("UTF-8")
}

/// A label may stand in front of a statement that loads first. A thread whose copies are threads of
/// their own has no other number.
#[test]
fn labels_and_threads_have_the_names_of_the_text() {
    let text = "program O\naddress inside, y\nthread t [2] { let k = fetch_add(y, self); here: ensure inside == 0; cs: nop; }\n\
                never t at cs, t at cs\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("o.pal"), text).expect("it is written");
    let said = |line: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.args(line.split(' ')).current_dir(folder.path()).output().expect("it runs");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8")
    };
    let only = said("check --only here o.pal");
    assert!(only.contains("ensure   t_0, t_1 (line 3): proved"), "{only}");
    assert!(said("check --only nowhere o.pal").contains("`here`, `t_0.here`"));
    assert!(said("check --threads t=3 o.pal").contains("`t` says `self`"));
}

#[test]
fn steps_stand_beside_their_lines() {
    let text = printed(BROKEN, &["check", "--all"]);
    for line in [
        "  ensure   worker (line 15): violated, under SC already",
        "violation: `ensure inside == FREE` at worker (line 15)",
        "reads lock_word = 0",
        "7: while (l != FREE) { pause; } (called on line 13)",
        "lock_word ← 1 into its buffer (delayed)",
        "8: l = 1; (called on line 13)",
        "critical: inside ← 1",
        "violates `ensure inside == FREE`",
        "  (steps in registers are left out: `-v` shows them)",
        "the store at worker (line 8, called on line 13) is delayed past the load at worker (line 15)",
        "worker#2 critical writes inside = 1 before",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    for made in ["L13", "L15", "inside'", "l'", "rounds ←", "never1", "stands1", "look1"] {
        assert!(!text.contains(made), "`{made}` is in\n{text}");
    }
    assert!(text.matches("stands at critical").count() == 2, "{text}");
}

#[test]
fn steps_in_registers_are_shown_on_request() {
    let text = printed(BROKEN, &["check", "--all", "-v"]);
    for line in ["rounds ← 1", "rounds == 1: yes", "l != FREE: no", "ensure inside == FREE", "14: rounds = rounds + 1;"]
    {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    assert!(!text.contains("steps in registers") && !text.contains("assert"), "{text}");
}

/// Copies that say `self` are threads of their own, whose answers about one line are one line.
#[test]
fn equal_answers_are_grouped() {
    let program = "program Two\naddress x\nthread t [3] { x = self; ensure x <= 2; }\n";
    let text = printed(program, &["check"]);
    assert!(text.contains("  ensure   t_0, t_1, t_2 (line 3): proved"), "{text}");
    assert_eq!(text.matches("ensure").count(), 1, "{text}");
}

#[test]
fn the_page_folds_what_the_table_leaves_out() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("words.pal"), BROKEN).expect("it is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let words = ["check", "--all", "words.pal", "--report", "words.html"];
    command.args(words).current_dir(folder.path()).output().expect("the program runs");
    let page = std::fs::read_to_string(folder.path().join("words.html")).expect("the page");
    assert!(page.contains("<div class=\"beside\">") && page.contains("<tr class=\"own\" data-step="), "{page}");
    let (shown, _) = page.split_once("id=\"document\"").expect("the page ends with its document");
    assert!(shown.contains("stands at critical") && !shown.contains("look1"), "{shown}");
}

/// A long line holds many statements: a step stands beside its own.
#[test]
fn long_lines_show_the_statement_alone() {
    let thread = |name: &str, own: &str, other: &str| {
        format!(
            "thread {name} {{ {own} = 1; let seen = {other}; if (seen == 0) {{ done = 1; done = 0; }} {own} = 0; }}\n"
        )
    };
    let program =
        format!("program Long\naddress x, y, done\n{}{}", thread("left", "x", "y"), thread("right", "y", "x"));
    let text = printed(&program, &["check"]);
    assert!(text.contains("│ 3: x = 1") && text.contains("│ 4: let seen = x") && !text.contains('…'), "{text}");
}

#[test]
fn final_states_have_what_the_text_names() {
    let text = "program T\naddress x, y\nthread a { x = 1; if (y == 0) { ensure fetch_add(x, 1) < 5; } let r = y; }\n\
                thread b { y = 1; let s = x + y; }\n";
    let said = printed(text, &["simulate"]);
    assert!(said.contains("\n    x = 2, y = 1, a.r = 0, b.s = 1\n") && !said.contains('\''), "{said}");
    assert!(printed(text, &["simulate", "-v"]).contains("a.y' = "));
    // A register that the text calls so is shown.
    let named = "program T address x thread t regs r' init a begin a: r' <- mem[x]; end";
    assert!(printed(named, &["simulate"]).contains("t.r' = 0"));
}

#[test]
fn rows_of_fences_have_no_names_of_readers() {
    let text = "program T\naddress x, y\nthread a { x = 1; if (y == 0) { y = 2; } }\nthread b { y = 1; if (x == 0) { x = 2; } }\n";
    for words in [&["fences", "-v"][..], &["fences", "-v", "--ask", "properties"], &["fences", "-v", "--ask", "races"]]
    {
        let said = printed(text, words);
        assert!(!said.contains("L3") && !said.contains("L4"), "{words:?}: {said}");
    }
}

/// What a command prints about a litmus test.
fn of_litmus(text: &str, words: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.litmus"), text).expect("it is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let words = words.split(' ').chain(["t.litmus"]);
    let run = command.args(words).current_dir(folder.path()).output().expect("the program runs");
    String::from_utf8([run.stdout, run.stderr].concat()).expect("UTF-8")
}

/// Addresses as values have the names of the locations.
#[test]
fn addresses_as_values_have_names() {
    let text = "C t\n{ int x; int y; int *p = &x; }\n\
                P0(int **p, int *y) { WRITE_ONCE(*p, y); int r0 = READ_ONCE(*y); }\n\
                P1(int **p, int *y) { WRITE_ONCE(*y, 1); int *r0 = READ_ONCE(*p); }\nexists (0:r0=0 /\\ 1:r0=x)\n";
    for words in ["check", "check --model c11"] {
        let out = of_litmus(text, words);
        assert!(out.contains("p ← &y") && out.contains("p = &x") && !out.contains("409"), "{out}");
    }
}

/// Tests with grace periods are not asked who waits for ever, which is said once.
#[test]
fn of_grace_periods_one_line_says_what_is_not_asked() {
    let text = "C t\n{}\nP0(int *x) { WRITE_ONCE(*x, 1); synchronize_rcu(); }\n\
                P1(int *x) { rcu_read_lock(); int r0 = READ_ONCE(*x); rcu_read_unlock(); }\nexists (1:r0=1)\n";
    for words in ["check", "check --model c11", "check --model ra"] {
        let out = of_litmus(text, words);
        assert!(out.contains("not asked, as threads wait for grace periods"), "{out}");
        assert_eq!(out.matches("\n  hangs").count(), 1, "{out}");
    }
    assert!(of_litmus(text, "check --ask hangs").contains("not asked of a test that waits for grace periods"));
}

/// Who may wait for ever is named where nobody else does.
#[test]
fn who_may_wait_is_named() {
    let text = "program P\naddress x\ndaemon thread server { loop { await (x == 1); x = 0; } }\nthread t { pause; }\n";
    let out = printed(text, &["check", "--ask", "hangs"]);
    assert!(out.contains("  may wait `server`: that this waits for ever is no hang"), "{out}");
    assert!(!printed(&text.replace("daemon ", ""), &["check", "--ask", "hangs"]).contains("may wait"));
}

/// A domain that is proposed has the constants of the program, and is none where wrapping changes
/// comparisons.
#[test]
fn a_domain_that_is_proposed_can_be_taken() {
    let text = "program P\naddress x, y\n\
                thread t { loop { let r = x; let s = y; x = r + s + 1; ensure s != 7; } }\n\
                thread u { loop { let s = x; y = s * 2; let z = y & 256; } }\n";
    let said = |text: &str, words: &[&str]| printed(text, &[&["check", "--timeout", "20s"], words].concat());
    let out = said(text, &[]);
    assert!(out.contains("`--domain 0..511 --wrap`"), "{out}");
    let taken = printed(text, &["check", "--timeout", "1s", "--domain", "0..511", "--wrap"]);
    assert!(taken.starts_with("words.pal: "), "{taken}");
    let negative = said(&text.replace("256", "-9"), &[]);
    assert!(negative.contains("`--domain -16..15 --wrap`"), "{negative}");
    let indexed = text.replace("x, y\n", "x, y, slot[4]\n").replace("let z = y & 256;", "slot[s] = 1;");
    let ordered = text.replace("let z = y & 256;", "if (s < y) { pause; }");
    for text in [indexed, ordered] {
        let out = said(&text, &[]);
        assert!(out.contains("bound what grows") && !out.contains("--wrap"), "{out}");
    }
}
