//! Edits of the source text: the text read again is the intended program, and the rest of it is as
//! it was.

use crate::environment::corpus;
use palisade::fences::{Measure, with_measures};
use palisade::program::{Action, LabelId, Program, SourceText, ThreadId};
use palisade::semantics::random::{self, Shape};
use palisade::syntax::edit::{EditError, apply, insert_fence};
use palisade::syntax::{Format, parse, print, render};

fn read(text: &str, format: Format) -> Program {
    let source = SourceText::new("program.x", text);
    match parse(source.clone(), format) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{}{text}", render(&errors[0], &source, false)),
    }
}

/// The instructions of every thread with the names of their labels, as a sorted list; fresh labels
/// are marked alike.
fn lines(program: &Program, original: &Program) -> Vec<String> {
    let mut all = Vec::new();
    for (id, thread) in program.thread_ids() {
        let known = original.thread(id);
        let name = |label: LabelId| {
            let name = &thread.label(label).name;
            if known.label_named(name).is_some() {
                return name.to_string();
            }
            // A fresh label is the target of the one fence that leads to it.
            let fence = thread.instructions.iter().find(|line| line.target == label && line.action == Action::Fence);
            format!("after the fence at {}", fence.map_or("nothing", |line| &thread.label(line.source).name))
        };
        all.push(format!("{} starts at {}", thread.name, name(thread.initial)));
        for line in &thread.instructions {
            all.push(format!("{}: {} {:?} {}", thread.name, name(line.source), line.action, name(line.target)));
        }
    }
    all.sort();
    all
}

/// Fences at every label one by one, and at all of them at once, are what the program change says.
fn assert_fences(text: &str, format: Format) {
    let program = read(text, format);
    let mut all = Vec::new();
    for (thread, template) in program.thread_ids() {
        for (index, lines) in template.instructions_by_label().iter().enumerate() {
            let label = LabelId::from_index(index);
            if lines.is_empty() {
                assert!(matches!(insert_fence(&program, format, thread, label), Err(EditError::NoInstruction(_))));
            } else {
                all.push((thread, label));
            }
        }
    }
    let sets = all.iter().map(|place| vec![*place]).chain([all.clone()]);
    for set in sets {
        let changes: Vec<Measure> = set.iter().map(|&(thread, label)| Measure::Fence { thread, label }).collect();
        let edited = apply(&program, format, &changes).expect("the text can be edited");
        let measures: Vec<Measure> = set.iter().map(|&(thread, label)| Measure::Fence { thread, label }).collect();
        let expected = with_measures(&program, &measures);
        assert_eq!(lines(&read(&edited, format), &program), lines(&expected, &program), "{edited}");
    }
}

const NATIVE: &str = "program p # a comment\nthread t regs r, s init a begin\n  a: mem[x] <- 1 /* one */;   # first\n\n\
    \t@cost(2.5) b: r <- mem[y]; goto c; c: assert r = 0; goto a;\n  c: assert r != 0\n  b: nop; // again\n  c: s <- 2; goto b;\n\
    \x20 d′: mem[x + s] <- r + 1\nend\n";

#[test]
fn fences_in_native_texts() {
    assert_fences(NATIVE, Format::Native);
    let program = read(NATIVE, Format::Native);
    let label = program.threads[0].label_named("b").expect("a label");
    let edited = insert_fence(&program, Format::Native, ThreadId::from_index(0), label).expect("it can be edited");
    let expected = NATIVE
        .replace("@cost(2.5) b: r <-", "@cost(2.5) b: mfence; goto b_f;\n\tb_f: r <-")
        .replace("  c: assert r != 0\n  b: nop;", "  c: assert r != 0; goto b;\n  b_f: nop;");
    assert_eq!(edited, expected);
}

#[test]
fn exchanges_in_native_texts() {
    let program = read(NATIVE, Format::Native);
    let thread = ThreadId::from_index(0);
    let stores: Vec<_> = program.threads[0]
        .instruction_ids()
        .filter(|(_, line)| matches!(line.action, Action::Store { .. }))
        .map(|(store, _)| store)
        .collect();
    let changes: Vec<Measure> = stores.iter().map(|&store| Measure::Exchange { thread, store }).collect();
    let edited = apply(&program, Format::Native, &changes).expect("it can be edited");
    let expected = NATIVE
        .replace("mem[x] <- 1 /* one */;", "xchg(mem[x], 1) /* one */;")
        .replace("mem[x + s] <- r + 1", "xchg(mem[x + s], r + 1)");
    assert_eq!(edited, expected);
    let measures: Vec<Measure> = stores.iter().map(|&store| Measure::Exchange { thread, store }).collect();
    assert_eq!(lines(&read(&edited, Format::Native), &program), lines(&with_measures(&program, &measures), &program));
    let load = program.threads[0].instruction_ids().find(|(_, line)| matches!(line.action, Action::Load { .. }));
    let (store, _) = load.expect("a load");
    assert_eq!(
        apply(&program, Format::Native, &[Measure::Exchange { thread, store }]),
        Err(EditError::NoStore("b".into()))
    );
}

const TRENCHER: &str = "# a comment\nthread t\r\ninitial q0\r\n\ttransition\tq0\tq1\twrite\t1\t0 # set\r\n\ttransition q1 q0 read r + 1\n 0\r\n\
    transition q0 q2 check r\nend\n";

#[test]
fn fences_and_exchanges_in_trencher_texts() {
    assert_fences(TRENCHER, Format::Trencher);
    let program = read(TRENCHER, Format::Trencher);
    let (thread, label) = (ThreadId::from_index(0), program.threads[0].initial);
    let store = program.threads[0].instruction_ids().next().expect("a store").0;
    let changes = [Measure::Fence { thread, label }, Measure::Exchange { thread, store }];
    let edited = apply(&program, Format::Trencher, &changes).expect("it can be edited");
    let expected = TRENCHER
        .replace(
            "transition\tq0\tq1\twrite\t1\t0 # set",
            "transition\tq0\tq0_f\tmfence\r\n\ttransition\tq0_f\tq0_x\tlock\r\n\ttransition\tq0_x\tq0_x_2\twrite\t1\t0\r\n\
             \ttransition\tq0_x_2\tq1\tunlock # set",
        )
        .replace("transition q0 q2 check", "transition q0_f q2 check");
    assert_eq!(edited, expected);
    let section = "thread t initial a transition a b lock transition b c write 1 0 transition c d unlock end";
    let program = read(section, Format::Trencher);
    let store = program.threads[0].instruction_ids().nth(1).expect("a store").0;
    let refused = apply(&program, Format::Trencher, &[Measure::Exchange { thread, store }]);
    assert_eq!(refused, Err(EditError::InsideSection("b".into())));
}

#[test]
fn fences_in_random_programs() {
    for seed in 0..60 {
        let program = random::program(seed, &Shape::default());
        for format in [Format::Native, Format::Trencher] {
            if let Ok(printed) = print(&program, format) {
                assert_fences(&printed.text, format);
            }
        }
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn fences_in_the_corpus() {
    for folder in ["trencher", "trencher/memorax"] {
        for entry in std::fs::read_dir(corpus().join(folder)).expect("a corpus folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "txt") {
                assert_fences(&std::fs::read_to_string(&path).expect("the file can be read"), Format::Trencher);
            }
        }
    }
}
