//! Answers say what they are not about: who goes on for ever, what was not asked, other models.

use std::process::Command;

/// What a command says of files, in the folder that they are in, with its exit status.
fn run(files: &[(&str, &str)], line: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    }
    let (mut code, mut said) = (None, String::new());
    for line in line.split("; ") {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.args(line.split(' ')).current_dir(folder.path()).output().expect("it runs");
        code = output.status.code();
        said = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    }
    (code, said)
}

/// A sleeper that nobody wakes, beside a copy that goes on for ever.
const GOES_ON: &str = "program P\naddress x, s\n\
                       thread w [2] { if (fetch_add(x, 1) == 0) { wait(s, 0); } loop { xchg(s, 1); xchg(s, 2); } }\n";

#[test]
fn who_goes_on_for_ever_hides_who_waits() {
    let (_, said) = run(&[("p.pal", GOES_ON)], "check p.pal");
    assert!(said.starts_with("p.pal: no stuck state, robust\n"), "{said}");
    assert!(
        said.contains("`w` never ends: who waits for ever while it goes on is not seen; `--ask hopeless`"),
        "{said}"
    );
    let (code, said) = run(&[("p.pal", GOES_ON)], "check --ask hopeless p.pal");
    assert!(code == Some(1) && said.contains("waits for ever"), "{said}");
    let (_, said) = run(&[("p.pal", &GOES_ON.replace("loop", "while (*)"))], "check p.pal");
    assert!(!said.contains("never ends"), "{said}");
}

/// Store buffering ten times over, with a property that fails under SC already.
fn many_attacks() -> String {
    let threads = (0..6).map(|number| {
        let other = (number + 1) % 6;
        format!(
            "thread t{number} {{ x{number} = 1; mfence; let r = x{other}; x{number} = 2; mfence; let s = x{other}; }}\n"
        )
    });
    let threads: String = threads.collect();
    format!("program P\naddress x0, x1, x2, x3, x4, x5\n{threads}thread u {{ ensure x0 == 0; }}\n")
}

#[test]
fn parts_of_a_program_do_not_hide_its_properties() {
    let text = many_attacks().replace("mfence; ", "");
    let files = [("p.pal", text.as_str())];
    let (code, said) = run(&files, "plan check p.pal --attacks 2 -o j.jsonl; run j.jsonl; merge j.jsonl");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("palisade check p.pal --ask=robustness: "), "{said}");
    assert!(said.contains("palisade check p.pal --ask=properties: violated"), "{said}");
}

#[test]
fn triangular_races_have_no_other_model() {
    for model in ["sc", "pso"] {
        let (code, said) = run(&[("p.pal", GOES_ON)], &format!("check --ask races --model {model} p.pal"));
        assert!(code == Some(2) && said.contains("triangular races are about TSO alone"), "{said}");
    }
}

/// `LB` of the kernel: `smp_wmb` orders stores alone, so ARM may do it.
const KERNEL: &str = "C LB\n{ }\nP0(int *x, int *y) { int r0 = READ_ONCE(*x); smp_wmb(); WRITE_ONCE(*y, 1); }\n\
                      P1(int *x, int *y) { int r0 = READ_ONCE(*y); smp_wmb(); WRITE_ONCE(*x, 1); }\n\
                      exists (0:r0=1 /\\ 1:r0=1)\n";

#[test]
fn what_is_said_of_c11_is_not_said_of_the_kernel() {
    let (_, said) = run(&[("k.litmus", KERNEL)], "check --model c11 k.litmus");
    assert!(said.contains("  claim    for what C11 has nearest to the kernel's functions; not for"), "{said}");
    assert!(said.contains("  machines not said: "), "{said}");
    let plain = KERNEL.replace("READ_ONCE(*", "atomic_load_explicit(").replace("smp_wmb(); ", "");
    let plain = plain.replace("x);", "x, memory_order_relaxed);").replace("y);", "y, memory_order_relaxed);");
    let plain = plain.replace("WRITE_ONCE(*y, 1)", "atomic_store_explicit(y, 1, memory_order_relaxed)");
    let plain = plain.replace("WRITE_ONCE(*x, 1)", "atomic_store_explicit(x, 1, memory_order_relaxed)");
    // Of many files, one line each says the same.
    let (_, said) = run(&[("a.litmus", &plain), ("b.litmus", &plain)], "check --model c11 a.litmus b.litmus");
    assert_eq!(said.matches("elsewhere load buffering is not excluded").count(), 2, "{said}");
}

#[test]
fn locks_of_litmus_tests_may_hang() {
    let text = "C dead\n{ }\nP0(spinlock_t *a, spinlock_t *b) { spin_lock(a); spin_lock(b); \
                spin_unlock(b); spin_unlock(a); }\n\
                P1(spinlock_t *a, spinlock_t *b) { spin_lock(b); spin_lock(a); \
                spin_unlock(a); spin_unlock(b); }\nexists (a=2)\n";
    let (code, said) = run(&[("d.litmus", text)], "check d.litmus");
    assert!(code == Some(1) && said.contains("stuck under SC already"), "{said}");
}

#[test]
fn what_does_not_hold_in_the_end_is_no_hang() {
    let text = "program P\naddress n\nthread w [2] { let r = n; n = r + 1; }\nfinally { ensure n == 2; }\n";
    let (_, said) = run(&[("p.pal", text)], "check p.pal");
    assert!(said.contains("  finally  violated under SC already, in the end `n == 2` (line 4)"), "{said}");
    let (_, said) = run(&[("p.pal", text)], "fences --ask hangs p.pal");
    assert!(said.starts_with("p.pal: no fence helps: in the end `finally` does not hold, under SC"), "{said}");
    let (_, said) = run(&[("p.pal", text)], "check --timeout 0 p.pal");
    assert!(!said.contains("pairs"), "{said}");
}

/// What watches joint control states is ours: no report tells of it.
#[test]
fn what_watches_joint_states_is_not_told() {
    let text = "program N\naddress x, y\nnever a at cs, b at cs\nthread a { x = 1; if (y == 0) { cs: nop; } }\n\
                thread b { y = 1; if (x == 0) { cs: nop; } }\n";
    for line in [
        "check n.pal --ask properties",
        "check n.pal --ask properties --json",
        "check n.pal --ask properties --sarif /dev/stdout",
        "check n.pal --ask properties --certificate e; verify e/n.pal.property-witness-1.json",
    ] {
        let (_, said) = run(&[("n.pal", text)], line);
        assert!(!said.contains("never1") && said.contains("a at cs, b at cs"), "{line}: {said}");
    }
}

/// What is to hold in the end is a property, whatever the model is.
#[test]
fn what_holds_in_the_end_of_a_language_is_asked_with_properties() {
    let text = "program P\naddress x\nthread a { store(x, 1, relaxed); }\nfinally { ensure x == 2; }\n";
    for line in ["check p.pal --model c11 --ask properties", "prove p.pal --model c11", "check p.pal --model c11"] {
        let (code, said) = run(&[("p.pal", text)], line);
        assert!(code == Some(1) && said.starts_with("p.pal: `finally` violated"), "{line}: {said}");
    }
    let jobs = "plan prove p.pal --each=--model=c11 -o j.jsonl; run j.jsonl; merge j.jsonl --certificate e";
    let (code, said) = run(&[("p.pal", text)], jobs);
    assert!(code == Some(1) && said.starts_with("palisade prove p.pal --model=c11: violated"), "{said}");
    let verified = "check p.pal --ask hangs --certificate e; verify e/p.pal.stuck.json";
    let (code, said) = run(&[("p.pal", text)], verified);
    assert!(code == Some(0) && said.contains("has a stuck state, or one against `finally`"), "{said}");
    let (code, said) = run(&[("p.pal", &text.replace("== 2", "== 1"))], "prove p.pal --model c11");
    assert!(code == Some(0) && said.contains("`finally` holds"), "{said}");
}

/// An instruction that a `|` is missing before would be in another thread.
#[test]
fn rows_of_a_litmus_test_have_a_cell_for_each_thread() {
    let text = "X86 T\n{ x=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[x] ;\n MFENCE ;\nexists (1:EAX=0)\n";
    let (code, said) = run(&[("t.litmus", text)], "check t.litmus");
    assert!(code == Some(2) && said.contains("this row has fewer cells than there are threads (2)"), "{said}");
    let (code, said) = run(&[("t.litmus", &text.replace("MFENCE ;", "MFENCE | ;"))], "check t.litmus");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn attacks_that_are_not_there_are_no_question() {
    let text = many_attacks();
    let (code, said) = run(&[("p.pal", &text)], "check p.pal --ask robustness --attacks 3-900");
    assert!(code == Some(2) && said.contains("there is no attack 900; the program has "), "{said}");
}

/// Who takes locks is asked whether somebody waits for ever, whatever the model is.
#[test]
fn deadlocks_are_told_of_a_language() {
    let text = "program P\naddress l, m\nthread a { lock(l); lock(m); unlock(m); unlock(l); }\n\
                thread b { lock(m); lock(l); unlock(l); unlock(m); }\n";
    let (code, said) = run(&[("p.pal", text)], "check p.pal --model ra");
    assert!(code == Some(1) && said.starts_with("p.pal: stuck, robust against release/acquire\n"), "{said}");
    let (code, said) = run(&[("p.pal", text)], "plan check p.pal --each=--model=ra -o j; run j; merge j");
    assert!(code == Some(1) && said.contains("--model=ra: violated"), "{said}");
}

/// A filter that no final state meets makes everything hold.
#[test]
fn what_holds_behind_a_filter_says_so() {
    let text = "C f\n{}\nP0(int *x) { WRITE_ONCE(*x, 1); }\nP1(int *x) { int r = READ_ONCE(*x); }\n";
    let said = |filter: &str| {
        let text = format!("{text}{filter}forall (1:r=0 \\/ 1:r=1)\n");
        run(&[("f.litmus", &text)], "check f.litmus").1
    };
    assert!(said("filter (1:r=5)\n").contains("  filter   no final state meets it"));
    assert!(!said("filter (1:r=1)\n").contains("  filter "));
    assert!(!said("").contains("filter") && !said("").contains("comes to an end"));
    let text =
        "C f\n{}\nP0(int *x) { while (READ_ONCE(*x) == 0) ; }\nP1(int *y) { int r = READ_ONCE(*y); }\nforall (1:r=9)\n";
    let (_, said) = run(&[("f.litmus", text)], "check f.litmus");
    assert!(said.contains("  note     no run comes to an end, so this was asked of none"), "{said}");
}

#[test]
fn who_waits_in_events_is_not_asked() {
    let text = "program P\naddress x, y\nevent e [1] { await (x == 1); y = 1; }\n";
    let (_, said) = run(&[("p.pal", text)], "check p.pal");
    assert!(said.contains("  hangs    not asked: who waits for ever is told of threads"), "{said}");
}
