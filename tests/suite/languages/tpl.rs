//! TPL: what its statements mean, and the diagnostics for texts that mean nothing.

use crate::environment::corpus;
use palisade::program::{Expression, Measure, Operation, Ordering, Program};
use palisade::syntax::edit::{EditError, apply};
use palisade::syntax::{Diagnostic, Format, parse, print, read};
use palisade::text::SourceText;
use std::path::{Path, PathBuf};

fn parsed(text: &str) -> Result<Program, Vec<Diagnostic>> {
    read(SourceText::new("t.tpl", text), Format::Tpl).map(|parsed| parsed.program)
}

/// A thread with this body.
fn body(text: &str) -> Program {
    let text = format!("max_value 4;\nglobal x, y = 2;\nna d;\nfn t {{ local r, s; {text} }}");
    parsed(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// The lines of a body in the native language.
fn lines(text: &str) -> Vec<String> {
    let printed = print(&body(text), Format::Native).expect("the native language says it all").text;
    let lines = printed.lines().filter_map(|line| line.strip_prefix("  "));
    lines.map(|line| line.split(": ").nth(1).and_then(|rest| rest.split(';').next()).unwrap_or("").to_owned()).collect()
}

#[test]
fn statements_are_operations_of_the_native_language() {
    for (statement, line) in [
        ("r = x.load();", "r <- load(mem[x], relaxed)"),
        ("r = x.load(acq);", "r <- load(mem[x], acquire)"),
        ("x.store(r + 1);", "store(mem[x], r + 1, relaxed)"),
        ("x.store(1, rel);", "store(mem[x], 1, release)"),
        ("r = d.naload();", "r <- load(mem[d], plain)"),
        ("d.nastore(1);", "store(mem[d], 1, plain)"),
        ("FADD(x, 1);", "fetch_add(mem[x], 1, relaxed)"),
        ("r = FADD(x, 1, acq, rel);", "r <- fetch_add(mem[x], 1, acq_rel)"),
        ("r = FADD(x, 1, rlx, rel);", "r <- fetch_add(mem[x], 1, release)"),
        ("r = exchange(x, 1, acq, rlx);", "r <- xchg(mem[x], 1, acquire)"),
        ("r = CAS(x, s, 1, acq, rel);", "r <- cas(mem[x], s, 1, acq_rel)"),
        ("r = CAS(x, 0, 1, rlx, rel);", "r <- cas(mem[x], 0, 1, release)"),
        ("fence(acq);", "fence(acquire)"),
        ("fence(seq_cst);", "fence(seq_cst)"),
        ("fence;", "fence(seq_cst)"),
        ("unlock(x);", "store(mem[x], 0, release)"),
        ("assert(r == 0);", "ensure r = 0"),
        ("assume(r != 0);", "assert r != 0"),
    ] {
        assert_eq!(lines(statement), [line], "{statement}");
    }
    assert_eq!(lines("BCAS(x, s, 1, acq, rel);"), ["x' <- await_cas(mem[x], s, 1, acq_rel)"]);
    assert_eq!(lines("lock(x);"), ["x' <- await_cas(mem[x], 0, 1, acquire, relaxed)"]);
    assert_eq!(lines("wait(x, 2, acq);"), ["x' <- await(mem[x], old = 2, acquire)"]);
    assert_eq!(lines("r = wait(x, 2, s);"), ["r <- await(mem[x], old = 2 || old = s, relaxed)"]);
}

#[test]
fn control_flow_goes_where_it_says() {
    let choices = lines("oneof({ x.store(1); } { y.store(1); });");
    assert_eq!(choices.iter().filter(|line| line.starts_with("store")).count(), 2, "{choices:?}");
    let jumps = body("again: twice: r = r + 1; if (r < 3) goto again; else goto twice; while (true) { skip; }");
    assert!(jumps.threads[0].label_named("again").is_some());
    assert_eq!(jumps.domain.map(|domain| (domain.low, domain.high, domain.wrap)), Some((0, 4, true)));
    assert_eq!(jumps.initial_memory.values().copied().collect::<Vec<_>>(), [2]);
}

#[test]
fn texts_that_mean_nothing_are_refused() {
    let wrong = |text: &str| parsed(text).expect_err(text).remove(0);
    for (text, message) in [
        ("", "the program has no thread"),
        ("global x; fn t { x.store(1, acq); }", "a store cannot be `acq`"),
        ("global x; fn t { local r; r = x.load(rel); }", "a load cannot be `rel`"),
        ("global x; fn t { fence(rlx); }", "a fence cannot be `rlx`"),
        ("global x; fn t { local a; x = a; }", "`x` is a location, not a local"),
        ("na x; fn t { local a; a = x + 1; }", "`x` is a location, not a local"),
        ("global x; fn t { x.store(1, seq); }", "`seq` is no ordering"),
        ("global x; fn t { waits(x, 1); }", "`waits` begins no statement"),
        ("global x, x; fn t { }", "`x` is declared twice"),
        ("global x; fn t { local r; r = wait(x, r); }", "the local that gets the value"),
        ("global x; fn t { x.stor(1); }", "unexpected `stor`"),
        ("global x; fn t { x.store(1) }", "unexpected `}`"),
        ("global x; fn t { r = 1; }", "`r`"),
        ("global $x; fn t { }", "unexpected character `$`"),
    ] {
        let error = wrong(text);
        assert!(error.message.contains(message), "{text}: {error:?}");
    }
    let errors = parsed("global x; fn t { oops; } fn u { fence(no); }").expect_err("both are wrong");
    assert_eq!(errors.len(), 2);
}

#[test]
fn fences_are_put_into_texts() {
    let text = "global x, y;\nfn t {\n\tlocal r;\n\tx.store(1);\n\tr = y.load();\n}\n";
    let program = parsed(text).expect("it is read");
    let (thread, own) = program.thread_ids().next().expect("there is a thread");
    let label = own.instructions[1].source;
    let changed = apply(&program, Format::Tpl, &[Measure::Fence { thread, label }]).expect("there is room");
    assert_eq!(changed, "global x, y;\nfn t {\n\tlocal r;\n\tx.store(1);\n\tfence(seq_cst);\n\tr = y.load();\n}\n");
    let store = own.instruction_ids().next().expect("it stores").0;
    let refused = apply(&program, Format::Tpl, &[Measure::Exchange { thread, store }]).expect_err("no such store");
    assert!(refused.to_string().contains("put a fence behind it"), "{refused}");
}

/// A statement in place of a block has no room for another one beside it.
#[test]
fn bodies_without_braces_take_no_fences() {
    for body in ["if (r) x.store(1);", "while (r == 0) r = x.load();", "oneof (x.store(1); skip;)"] {
        let text = format!("global x;\nfn t {{\n\tlocal r;\n\tr = x.load();\n\t{body}\n\tr = x.load();\n}}\n");
        let program = parsed(&text).expect("it is read");
        let (thread, own) = program.thread_ids().next().expect("there is a thread");
        let accesses: Vec<_> = own.instructions.iter().filter(|it| it.action.address().is_some()).collect();
        let [first, inside, last] = accesses.as_slice() else { panic!("{own:?}") };
        let fenced = |label| apply(&program, Format::Tpl, &[Measure::Fence { thread, label }]);
        assert!(matches!(fenced(inside.source), Err(EditError::NoBraces(_))), "{:?}", fenced(inside.source));
        for access in [first, last] {
            let changed = fenced(access.source).expect("there is room");
            assert!(changed.contains("\tfence(seq_cst);\n\tr = x.load();"), "{changed}");
            parsed(&changed).expect("it is read again");
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the corpus") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "tpl") {
            found.push(path);
        }
    }
}

/// Rocker's examples are read, and are the same programs when they are printed and read again.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn every_example_is_read() {
    let mut all = Vec::new();
    files(&corpus().join("rocker"), &mut all);
    assert!(all.len() >= 182, "the corpus is whole");
    for file in all {
        let text = std::fs::read_to_string(&file).expect("a file of the corpus");
        let name = file.display().to_string();
        let program = parsed(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let once = print(&program, Format::Native).expect("the native language says it all").text;
        let again = parse(SourceText::new("again.pal", once.clone()), Format::Native);
        let again = again.unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{once}")).program;
        assert_eq!(print(&again, Format::Native).expect("it was printed before").text, once, "{name}");
        let waits = |program: &Program| {
            let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
            let waiting = |operation: Operation| operation.until().map(|until| (operation.ordering(), until.clone()));
            let found = instructions.filter_map(|own| own.operation()).filter_map(waiting);
            found.collect::<Vec<(Ordering, Expression)>>()
        };
        assert_eq!(waits(&program), waits(&again), "{name}");
    }
}
