//! The labels that a verdict names as not reached: against brute force, on every way to a verdict,
//! and in the reports; and errors of the program where control flow alone gives the verdict.

use crate::checked::check;
use crate::documents;
use palisade::program::{Copies, LabelId, Program, SourceText, ThreadId};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{Instance, Machine, Model, State};
use palisade::syntax::{Format, read};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::process::{Command, Output};

type Labels = BTreeSet<(ThreadId, LabelId)>;

fn native(text: &str) -> Program {
    read(SourceText::new("test.pal", text), Format::Native).expect("the text is right").program
}

/// The labels that some interleaving reaches, by going through all of them, instruction by
/// instruction.
fn reached_by_hand(program: &Program) -> Labels {
    let instance = Instance::of(program).expect("the copies are fixed");
    let machine = Machine::new(program, &instance, Model::Sc);
    let mut labels = Labels::new();
    let mut seen: HashSet<State> = HashSet::new();
    let mut open = vec![machine.initial_state()];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        for (position, copy) in machine.copies().iter().enumerate() {
            labels.extend(state.threads()[position].label.map(|label| (copy.thread, label)));
            let mut events = Vec::new();
            machine.events(&state, position, &mut events).expect("no value fails");
            open.extend(events.iter().map(|event| machine.successor(&state, event)));
        }
    }
    labels
}

fn all_labels(program: &Program) -> Labels {
    let of_thread = |(id, thread): (ThreadId, &palisade::program::Thread)| {
        (0..thread.labels.len()).map(move |label| (id, LabelId::from_index(label))).collect::<Vec<_>>()
    };
    program.thread_ids().flat_map(of_thread).collect()
}

fn with_copies(program: &Program, copies: Copies) -> Program {
    let mut program = program.clone();
    for thread in &mut program.threads {
        thread.copies = copies;
    }
    program
}

/// A label behind a condition that never holds, somewhere in a random program.
fn with_dead_end(seed: u64) -> Program {
    let mut program = random::program(seed, &Shape { labels: 4, total_labels: 7, branches: 35, ..Shape::default() });
    let blocked = palisade::program::Action::Assume(palisade::program::Expression::Constant(0));
    let thread = usize::try_from(seed).expect("small seeds") % program.threads.len();
    let instructions = &mut program.threads[thread].instructions;
    // Mostly at the end, where it leaves more of the program alive.
    let index = match seed % 4 {
        0 => usize::try_from(seed / 7).expect("small seeds") % instructions.len(),
        _ => instructions.len() - 1,
    };
    if seed % 4 < 3 {
        instructions[index].action = blocked;
    }
    program
}

/// Whatever gives the verdict – one search, nets, control flow, a violation – the labels named are
/// those that brute force does not find.
#[test]
fn brute_force_agrees() {
    let counts = (0..600_u64).into_par_iter().map(|seed| {
        let program = with_dead_end(seed);
        let expected: Labels = all_labels(&program).difference(&reached_by_hand(&program)).copied().collect();
        let mut seen = [0; 3];
        for options in [
            CheckOptions::default(),
            CheckOptions { prune: false, all: true, ..CheckOptions::default() },
            CheckOptions { nets: true, ..CheckOptions::default() },
        ] {
            let checked = check(&program, &options).expect("random programs have no faults");
            let named = checked.unreached.expect("small programs are explored to the end");
            assert_eq!(named.iter().copied().collect::<Labels>(), expected, "seed {seed}: {options:?}");
            seen[0] += usize::from(!named.is_empty() && checked.verdict == Verdict::Robust);
            seen[1] += usize::from(!named.is_empty() && checked.verdict == Verdict::NotRobust);
            let is_pruned = checked.attacks.iter().all(|attack| attack.outcome == AttackOutcome::Pruned);
            seen[2] += usize::from(!named.is_empty() && is_pruned);
        }
        seen
    });
    let counts = counts.reduce(|| [0; 3], |one, other| [0, 1, 2].map(|kind| one[kind] + other[kind]));
    assert!(counts[0] > 100 && counts[1] > 10 && counts[2] > 100, "{counts:?}");
}

/// What any number of copies does not reach, no number of them does.
#[test]
fn any_number_agrees_with_instances() {
    let named: usize = (0..120_u64)
        .into_par_iter()
        .map(|seed| {
            let program = with_dead_end(seed);
            let any = with_copies(&program, Copies::Any);
            // Values may grow with the number of copies.
            let Ok(checked) = check(&any, &CheckOptions::default()) else { return 0 };
            let Some(unreached) = checked.unreached else { return 0 };
            for copies in 1..=2 {
                let reached = reached_by_hand(&with_copies(&program, Copies::Exactly(copies)));
                let wrong = unreached.iter().find(|label| reached.contains(label));
                assert_eq!(wrong, None, "seed {seed}, {copies} copies");
            }
            usize::from(!unreached.is_empty())
        })
        .sum();
    assert!(named > 15, "{named}");
}

const DEAD: &str = "program Vacuous
address x, y
thread t1 regs r, s init a begin
  a: mem[x] <- 1;
  b: r <- mem[x];
  c: assert r & 1 = 0; goto d;
  d: mem[y] <- 1;
  e: s <- mem[x];
  f: mem[x] <- s;
  g: s <- mem[y];
  h: nop;
end
thread t2 regs r init a begin
  a: mem[y] <- 2;
  b: r <- mem[x];
end
";

fn palisade(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder.path()).args(arguments).output().expect("the command runs")
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The dead labels are in every report that gives a verdict.
#[test]
fn reports_name_dead_labels() {
    let robust = DEAD.replace("b: r <- mem[x];\nend", "b: nop;\nend");
    let folder = folder_with(&[("dead.pal", DEAD), ("robust.pal", &robust)]);
    let short = "unreached t1: d, e, f and 2 more";
    let text = out(&palisade(&folder, &["check", "robust.pal"]));
    assert!(text.starts_with("robust.pal: robust\n") && text.contains(&format!("  {short}\n")), "{text}");
    let text = out(&palisade(&folder, &["check", "dead.pal", "-v"]));
    assert!(text.contains("  unreached t1: d, e, f, g"), "{text}");
    for arguments in [&["check", "--nets", "robust.pal"][..], &["check", "--threads", "all=*", "robust.pal"]] {
        let text = out(&palisade(&folder, arguments));
        assert!(text.contains("  unreached t1: d, e, f and"), "{arguments:?}: {text}");
    }
    let text = out(&palisade(&folder, &["fences", "dead.pal"]));
    assert!(text.contains("  unreached t1: d, e, f"), "{text}");
    // Two threads that both enter only under TSO, and one more that never does.
    let broken = "program p address x, y
        thread t1 regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; c: mem[x] <- r; end
        thread t2 regs r init a begin a: mem[y] <- 1; b: r <- mem[x]; c: assert r = 7; d: mem[x] <- r; end";
    let folder = folder_with(&[("broken.pal", broken)]);
    let text = out(&palisade(&folder, &["check", "broken.pal"]));
    assert!(text.contains("broken.pal: not robust\n") && text.contains("  unreached t2: d (under SC)\n"), "{text}");
    let text = out(&palisade(&folder, &["fences", "broken.pal"]));
    assert!(text.contains("  repaired robust\n  unreached t2: d\n"), "{text}");
    let folder = folder_with(&[("dead.pal", DEAD), ("robust.pal", &robust)]);

    let document = documents::read(&palisade(&folder, &["check", "--json", "robust.pal"]).stdout);
    assert_eq!(document["answers"][0]["unreached"][0], serde_json::json!({ "thread": "t1", "label": "d", "line": 7 }));

    // One line each, where there are many programs.
    let many: Vec<String> = (0..10).map(|index| format!("p{index}.pal")).collect();
    let files: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), robust.as_str())).collect();
    let text = out(&palisade(&folder_with(&files), &["check", "."]));
    assert!(text.contains("p3.pal: robust, unreached t1: d, e, f and"), "{text}");
}

/// Where nothing tells, nothing is named, and `-v` and JSON say so.
#[test]
fn what_is_not_determined_is_not_claimed() {
    // Control flow gives the verdict; the values are more than an exploration takes.
    let growing =
        "program p thread t regs r init a begin a: r <- mem[x]; b: r <- r + 1; c: mem[x] <- r; d: mfence; goto a;
        e: nop; goto a end";
    let folder = folder_with(&[("growing.pal", growing)]);
    let run = palisade(&folder, &["check", "growing.pal", "-v"]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert!(out(&run).contains("  unreached not determined\n"), "{run:?}");
    assert!(!out(&palisade(&folder, &["check", "growing.pal"])).contains("unreached"));
    let document = documents::read(&palisade(&folder, &["check", "--json", "growing.pal"]).stdout);
    assert_eq!(
        (&document["verdict"], &document["answers"][0]["unreached"]),
        (&"holds".into(), &serde_json::Value::Null)
    );
}

/// A value outside the domain is an error when a reachable step computes it, also where control
/// flow rules every attack out; and none where no step reaches it.
#[test]
fn errors_are_found_where_control_flow_gives_the_verdict() {
    let text = "program p domain 0..3 thread t regs r init a begin
        a: mem[x] <- 3; b: mfence; c: r <- mem[x]; d: mem[x] <- r + 1; end";
    let unreachable = text.replace("d: mem[x]", "d: assert r = 0; e: mem[x]");
    let folder = folder_with(&[("stored.pal", text), ("unreachable.pal", &unreachable)]);
    for command in ["check", "fences"] {
        let run = palisade(&folder, &[command, "stored.pal"]);
        let complaint = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{command}: {run:?}");
        assert!(complaint.contains("the value 4 is outside the domain 0..3"), "{command}: {complaint}");
        let run = palisade(&folder, &[command, "unreachable.pal"]);
        assert_eq!(run.status.code(), Some(0), "{command}: {run:?}");
    }
    // The same program with an attack to decide.
    let asked = palisade(&folder, &["check", "--no-prune", "stored.pal"]);
    assert_eq!(asked.status.code(), Some(2), "{asked:?}");
}

/// A loop-free program's net may take values that the program does not: nothing grows, and a search
/// answers.
#[test]
fn nets_with_too_many_values_leave_the_answer_to_a_search() {
    // Thread by thread, each store adds to what any other has stored.
    let adds = (0..8).map(|index| format!("a{index}: r <- mem[x]; b{index}: mem[x] <- r + {}; ", 1 << index));
    let adds: String = adds.collect();
    let text =
        format!("program p thread t1 regs r init a0 begin {adds} end thread t2 regs r init a begin a: r <- mem[x] end");
    let folder = folder_with(&[("adds.pal", &text)]);
    let run = palisade(&folder, &["check", "--nets", "adds.pal"]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let note = "  note     the net takes more than 64 values of ";
    assert!(out(&run).contains(note) && out(&run).contains("; a search answers in its place\n"), "{run:?}");
    assert!(!String::from_utf8_lossy(&run.stderr).contains("grow"), "{run:?}");
    let program = native(&text);
    let checked = check(&program, &CheckOptions { nets: true, all: true, ..CheckOptions::default() });
    let checked = checked.expect("nothing grows");
    assert_eq!(checked.verdict, Verdict::Robust);
    let asked = checked.attacks.iter().filter(|attack| attack.outcome != AttackOutcome::Pruned);
    assert!(asked.clone().count() > 20 && asked.clone().all(|attack| attack.strategy == "enumerate"));
    let by_search = check(&program, &CheckOptions { all: true, ..CheckOptions::default() }).expect("nothing grows");
    assert_eq!(checked.verdict, by_search.verdict);
}

/// What a thread does not come to is not told where it could only fail there.
#[test]
fn failures_that_do_not_happen_are_not_told() {
    let text = "program P
thread t regs r init a begin
  a: r <- mem[x]; goto b;
  b: assume r = 0; goto c;
  b: assume r = 1; goto d;
  d: r <- 2; goto e;
  e: fail; goto c;
  b: assume r = 2; goto f;
  f: mem[x] <- 1; goto c;
end
";
    let folder = folder_with(&[("p.pal", text)]);
    let said = out(&palisade(&folder, &["check", "--ask", "robustness", "-v", "p.pal"]));
    assert!(said.contains("  unreached t: f\n"), "{said}");
    let document = documents::read(&palisade(&folder, &["check", "--ask", "robustness", "--json", "p.pal"]).stdout);
    let unreached = &document["answers"][0]["unreached"];
    assert_eq!((unreached.as_array().map(Vec::len), &unreached[0]["label"]), (Some(1), &"f".into()), "{document}");
}
