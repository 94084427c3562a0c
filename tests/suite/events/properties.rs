//! Properties of events and tasks, and of threads that start threads: proved for any number,
//! violated with a computation, and as brute force says.

use crate::checked::prove_events;
use crate::documents;
use palisade::evidence::Evidence;
use palisade::limits::Limits;
use palisade::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, Label, LabelId, Posts, Program, RegisterId, SourceText,
    Span,
};
use palisade::properties::{Answer, ProveOptions, Why};
use palisade::semantics::random::event_program_of;
use palisade::semantics::tasks::{TaskEffect, TaskMachine, TaskModel, task_computation, task_final_states};
use palisade::semantics::{Model, Target};
use palisade::syntax::{Format, read};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// One task at a time goes past the lock; one that comes too late posts itself again.
const EXCLUSIVE: &str = "program Exclusive
address taken, inside
event onClick [*] begin a: post any work(); end
task work() regs r, s begin
  a: r <- cas(mem[taken], 0, 1);
  b: assume r = 0; goto c;
  b: assume r != 0; goto again;
  again: post any work(); goto end;
  c: s <- mem[inside];
  alone: ensure s = 0;
  e: mem[inside] <- 1;
  f: mem[inside] <- 0;
  g: mem[taken] <- 0;
end
";

/// Store buffering between background tasks, observed.
const BUFFERING: &str = "program Both
address x, y, done
event le [*] begin a: post any left(); end
event re [*] begin a: post any right(); end
task left() regs r begin
  a: mem[x] <- 1;
  b: r <- mem[y];
  c: mem[done] <- r + 1;
end
task right() regs r, s begin
  a: mem[y] <- 1;
  b: r <- mem[x];
  c: s <- mem[done];
  either: ensure s = 0 || r + s > 1;
end
";

/// What runs on the main thread is not interrupted there; a task is posted any number of times.
const IN_TURN: &str = "program InTurn
address inside
event tick [*] regs r begin
  a: r <- mem[inside];
  alone: ensure r = 0;
  b: mem[inside] <- 1;
  c: post main step(1);
  d: mem[inside] <- 0; goto a;
  d: mem[inside] <- 0; goto end;
end
task step(n) regs r begin
  a: r <- mem[inside];
  apart: ensure r = 0 && n = 1;
end
";

/// A pool that grows without end: each worker sees what its creator has written.
const POOL: &str = "program Pool
domain 0..3
address ready, x, y
thread boss init a begin
  a: mem[ready] <- 1;
  b: spawn left(1); goto c;
  c: spawn right(); goto b;
end
task left(n) regs r begin
  seen: r <- mem[ready];
  after: ensure r = n;
  a: mem[x] <- 1;
  b: r <- mem[y];
end
task right() regs r begin
  a: mem[y] <- 1;
  b: r <- mem[x];
end
";

fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_palisade")).args(line.split(' ')).current_dir(folder).output();
    let output = output.expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("it ends"), text(output.stdout), text(output.stderr))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).expect("it is written"));
    folder
}

#[test]
fn any_number_of_events_recursion_and_posts_in_loops() {
    let broken = EXCLUSIVE.replace("r <- cas(mem[taken], 0, 1)", "r <- mem[taken]");
    let folder = folder(&[("exclusive.pal", EXCLUSIVE), ("in-turn.pal", IN_TURN), ("broken.pal", &broken)]);
    for file in ["exclusive.pal", "in-turn.pal"] {
        for model in ["sc", "tso"] {
            let (exit, text, errors) = run(folder.path(), &format!("prove --verify --model {model} {file}"));
            assert_eq!(exit, 0, "{file} {model}: {text}{errors}");
        }
    }
    let (exit, text, _) = run(folder.path(), "prove --model sc broken.pal");
    assert_eq!(exit, 1, "{text}");
    assert!(text.contains("events   onClick × *; posts drain"), "{text}");
    assert!(text.contains("work of onClick#1") && text.contains("violation: `ensure s = 0` at work alone"), "{text}");
}

#[test]
fn what_tso_violates_and_fences_save() {
    let fenced = BUFFERING.replace("  b: r <- mem[", "  f: mfence;\n  b: r <- mem[");
    let files = [("both.pal", BUFFERING), ("fenced.pal", &fenced)];
    let folder = folder(&files);
    let (exit, text, errors) = run(folder.path(), "prove --verify --certificate evidence both.pal");
    assert_eq!(exit, 1, "{text}{errors}");
    assert!(text.contains("right either") && text.contains("violated, not under SC"), "{text}");
    let (exit, text, errors) = run(folder.path(), "prove --verify --model sc both.pal");
    assert_eq!(exit, 0, "{text}{errors}");
    let (exit, text, errors) = run(folder.path(), "prove --verify --certificate evidence fenced.pal");
    assert_eq!(exit, 0, "{text}{errors}");
    let mut accepted = 0;
    for entry in std::fs::read_dir(folder.path().join("evidence")).expect("evidence was written") {
        let path = entry.expect("an entry").path();
        let name = format!("evidence/{}", path.file_name().expect("a name").to_string_lossy());
        let (exit, text, errors) = run(folder.path(), &format!("verify {name}"));
        assert_eq!(exit, 0, "{name}: {text}{errors}");
        accepted += 1;
    }
    assert_eq!(accepted, 2);
    // Evidence about the fenced program says nothing of another text.
    std::fs::write(folder.path().join("fenced.pal"), BUFFERING).expect("it is written");
    let proof = folder.path().join("evidence");
    for entry in std::fs::read_dir(proof).expect("evidence was written") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if name.starts_with("fenced") {
            assert_ne!(run(folder.path(), &format!("verify evidence/{name}")).0, 0, "{name}");
        }
    }
    let (_, json, _) = run(folder.path(), "prove --json both.pal");
    let document = documents::read(json.as_bytes());
    assert_eq!(document["answers"][0]["thread"], "right", "{json}");
    // The computation is one of events and tasks, not of the threads that say them.
    let witness = &document["answers"][0]["witness"];
    assert_eq!(witness["instance"], serde_json::json!({"le": 1, "re": 1}), "{json}");
    let steps = witness["steps"].as_array().expect("steps");
    assert!(steps.iter().all(|step| step["invocation"].is_string()), "{json}");
    assert!(steps.iter().any(|step| step["action"].as_str().is_some_and(|action| action.ends_with("(delayed)"))));
    assert!(
        steps.last().is_some_and(|last| last["action"] == "violates a property" && last["line"].is_u64()),
        "{json}"
    );
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let plain = BUFFERING.replace("address x", "posts plain address x");
    let folder = folder(&[("plain.pal", &plain), ("both.pal", BUFFERING)]);
    let refused = |line: &str, words: &str| {
        let (exit, text, errors) = run(folder.path(), line);
        assert!(exit > 1 && errors.contains(words), "{line}: {exit} {text}{errors}");
    };
    refused("prove --model pso both.pal", "events and tasks run under SC or under TSO");
    refused("prove --posts drain --certificate evidence plain.pal", "`--posts` says something else than the text");
    let (exit, text, errors) = run(folder.path(), "prove --verify --model sc plain.pal");
    assert_eq!(exit, 0, "{text}{errors}");
    assert_eq!(run(folder.path(), "prove --posts drain plain.pal").0, 1);
    // What is violated where posts drain is violated where they are plain.
    let (exit, text, errors) = run(folder.path(), "prove --verify --certificate evidence plain.pal");
    assert_eq!(exit, 1, "{text}{errors}");
    let (exit, text, errors) = run(folder.path(), "verify evidence/plain.pal.property-witness-1.json");
    assert_eq!(exit, 0, "{text}{errors}");
}

/// A handler hands over what it has written, and tells by a fence that it is there.
const HANDED: &str = "program Handed
posts plain
address x
event tick [*] begin a: mem[x] <- 1; f: mfence; b: post any use(); end
task use() regs r begin a: r <- mem[x]; there: ensure r = 1; end
";

/// What holds where posts drain holds with plain posts of a program that is robust; else there is
/// no answer, unless all values obey.
#[test]
fn plain_posts() {
    let unfenced = HANDED.replace(" f: mfence;", "");
    let small = unfenced.replace("ensure r = 1", "ensure r < 2");
    let files = [("handed.pal", HANDED), ("unfenced.pal", unfenced.as_str()), ("small.pal", &small)];
    let folder = folder(&files);
    let (exit, text, errors) = run(folder.path(), "prove --verify --certificate evidence handed.pal");
    assert!(exit == 0 && text.contains("posts    plain; the program is robust with them"), "{exit} {text}{errors}");
    let proof = "evidence/handed.pal.property.json";
    let (exit, text, errors) = run(folder.path(), &format!("verify {proof}"));
    assert!(exit == 0 && text.contains("the only property of handed.pal"), "{exit} {text}{errors}");
    let (exit, text, _) = run(folder.path(), &format!("verify --smtlib scripts {proof}"));
    assert_eq!(exit, 2, "{text}");
    let (_, json, _) = run(folder.path(), "prove --json handed.pal");
    assert_eq!(documents::read(json.as_bytes())["answers"][0]["notes"][0][0], "posts", "{json}");
    // Without its reason the evidence shows posts that drain.
    let path = folder.path().join(proof);
    let mut evidence = Evidence::read(&std::fs::read(&path).expect("it is there")).expect("it is in order");
    let Evidence::Property(_, property) = &mut evidence else { panic!("it is a proof") };
    assert!(property.plain_posts.take().is_some(), "the proof has its reason");
    std::fs::write(&path, evidence.to_text()).expect("it is written");
    let (exit, text, errors) = run(folder.path(), &format!("verify {proof}"));
    assert!(exit == 4 && text.contains("nothing shows that the program is robust with them"), "{exit} {text}{errors}");

    let (exit, text, errors) = run(folder.path(), "prove unfenced.pal");
    assert!(exit == 3 && text.contains("it holds where posts drain; they are plain"), "{exit} {text}{errors}");
    assert_eq!(run(folder.path(), "prove --posts drain unfenced.pal").0, 0);
    let (exit, text, errors) = run(folder.path(), "prove --verify --certificate evidence small.pal");
    assert!(exit == 0 && text.contains("proved (for all values, in any order)"), "{exit} {text}{errors}");
    assert_eq!(run(folder.path(), "verify evidence/small.pal.property.json").0, 0);
}

/// Threads that start threads, without number, through every command.
#[test]
fn threads_that_start_threads() {
    let few = POOL.replace("goto b;", "goto end;");
    let folder = folder(&[("pool.pal", POOL), ("few.pal", &few)]);
    let (exit, text, errors) = run(folder.path(), "check --verify pool.pal");
    assert_eq!(exit, 1, "{text}{errors}");
    assert!(text.starts_with("pool.pal: holds under TSO, not robust against TSO\n"), "{text}");
    let (exit, text, errors) = run(folder.path(), "witness pool.pal");
    assert!(exit == 1 && text.contains("left of boss") && text.contains("right of boss"), "{text}{errors}");
    let (exit, text, errors) = run(folder.path(), "fences --certificate evidence pool.pal");
    assert!(exit == 0 && text.contains("2 changes for robustness against TSO"), "{exit} {text}{errors}");
    let (exit, text, errors) = run(folder.path(), "check --verify evidence/pool.repaired.pal");
    assert_eq!(exit, 0, "{text}{errors}");
    let (exit, text, errors) = run(folder.path(), "simulate --model tso few.pal");
    assert!(exit == 0 && text.contains("ready = 1, x = 1, y = 1"), "{text}{errors}");
    for model in ["sc", "tso"] {
        let (exit, text, errors) = run(folder.path(), &format!("prove --verify --model {model} pool.pal"));
        assert_eq!(exit, 0, "{text}{errors}");
    }
}

/// Handlers that hand over what they have written, by plain posts: with or without a fence, a
/// second store before or after the post, to whom, beside what other event, and what the task makes
/// sure of.
fn handovers() -> Vec<Program> {
    let mut all = Vec::new();
    for fence in ["", "f: mfence; "] {
        for stores in [["", ""], ["s: mem[y] <- 1; ", ""], ["", "s: mem[y] <- 1; "]] {
            for (executor, count) in [("main", 1), ("any", 1), ("main", 2), ("any", 2)] {
                for other in ["", "c: mem[x] <- 1;", "c: q <- mem[y]; d: s <- mem[x]; so: ensure q <= s;"] {
                    for property in ["r = 1", "r >= s", "r = 1 || s = 0", "s = 1"] {
                        let [before, after] = stores;
                        let text = format!(
                            "program Handover posts plain address x, y
                             event tick [{count}] begin a: mem[x] <- 1; {fence}{before}b: post {executor} use(); {after} end
                             event other [1] regs q, s begin {other} end
                             task use() regs r, s begin a: s <- mem[y]; b: r <- mem[x]; there: ensure {property}; end"
                        );
                        let source = SourceText::new("handover.pal", text);
                        all.push(read(source, Format::Native).expect("it is a program").program);
                    }
                }
            }
        }
    }
    all
}

/// What is proved with plain posts is what all their computations keep; what is left open they
/// violate at times.
#[test]
fn plain_posts_are_what_all_computations_say() {
    let (mut holds, mut violated, mut open, mut lost) = (0, 0, 0, 0);
    for program in handovers() {
        let all = task_final_states(&program, TaskModel::Tso, &Limits::none()).expect("it is small");
        let queued = program.queued().expect("there are 0 and 1");
        let proof = prove_events(&program, &queued.program, &ProveOptions::new(Model::Tso)).expect("no value grows");
        for answer in &proof.answers {
            let Target::Instruction { thread, instruction } = answer.target else { panic!("it is a property") };
            let expected = all.violations.contains_key(&(thread, instruction));
            let text = &program.source.text;
            match &answer.answer {
                Answer::Holds(_) => {
                    assert!(!expected, "{text}");
                    holds += 1;
                }
                Answer::Violated(_) => {
                    assert!(expected, "{text}");
                    violated += 1;
                }
                Answer::Open(Why::PlainPosts) => {
                    open += 1;
                    lost += usize::from(expected);
                }
                Answer::Open(why) => panic!("{why:?}: {text}"),
            }
        }
    }
    assert!(holds > 100 && violated > 20 && lost > 10 && open > lost, "{holds} {violated} {open} {lost}");
}

/// Properties at the ends: what a register holds there, or that nobody comes there.
fn with_properties(seed: u64) -> Program {
    let mut program = event_program_of(seed);
    for thread in &mut program.threads {
        let ends = thread.instructions_by_label().iter().position(<[_]>::is_empty).map(LabelId::from_index);
        let (Some(source), false) = (ends, thread.registers.is_empty()) else { continue };
        let register = Expression::Register(RegisterId::from_index(thread.registers.len() - 1));
        let holds = Expression::binary(BinaryOperator::Equal, register, Expression::Constant(0));
        let action = if seed.is_multiple_of(9) { Action::Fail } else { Action::Ensure(holds) };
        thread.labels.push(Label::new("asked", Span::default()));
        let target = LabelId::from_index(thread.labels.len() - 1);
        thread.instructions.push(Instruction::new(source, target, action, Span::default()));
    }
    program
}

/// The engine's answers, with their evidence accepted, are those of all computations of events and
/// tasks.
#[test]
fn answers_are_what_all_computations_say() {
    let (mut holds, mut violated, mut open) = (0, 0, 0);
    let amount = if crate::environment::is_long_run() { 3000 } else { 60 };
    for seed in 70_000..70_000 + amount {
        let mut program = with_properties(seed);
        for (posts, model) in [(Posts::Drain, Model::Sc), (Posts::Drain, Model::Tso), (Posts::Plain, Model::Tso)] {
            program.posts = posts;
            let events = if model == Model::Sc { TaskModel::Sc } else { TaskModel::Tso };
            let limits = Limits::none().with_timeout(Duration::from_millis(400));
            let Ok(all) = task_final_states(&program, events, &limits) else { continue };
            let queued = program.queued().expect("there are 0 and 1");
            let limits = Limits::none().with_timeout(Duration::from_secs(5));
            let options = ProveOptions { limits, shorten: false, ..ProveOptions::new(model) };
            let proof = prove_events(&program, &queued.program, &options).expect("no value grows");
            for answer in &proof.answers {
                let Target::Instruction { thread, instruction } = answer.target else { panic!("it is a property") };
                let expected = all.violations.contains_key(&(thread, instruction));
                match &answer.answer {
                    Answer::Open(_) => open += 1,
                    Answer::Holds(_) => {
                        assert!(!expected, "seed {seed} {model:?}: {:?}", answer.target);
                        holds += 1;
                    }
                    Answer::Violated(violation) => {
                        assert!(expected, "seed {seed} {model:?}: {:?}", answer.target);
                        violated += 1;
                        let mut instance = program.clone();
                        for (template, count) in instance.threads.iter_mut().zip(violation.instance.counts()) {
                            if !template.is_task() {
                                template.copies = Copies::Exactly(*count);
                            }
                        }
                        let steps = task_computation(&instance, &queued, &violation.instance, &violation.events);
                        let machine = TaskMachine::new(&instance, model);
                        let mut state = machine.initial_state();
                        let steps = steps.expect("it stands for a computation of events and tasks");
                        let last =
                            steps.iter().map(|step| machine.apply(&mut state, *step).expect("it can be taken")).last();
                        assert_eq!(last, Some(TaskEffect::Violation), "seed {seed}");
                    }
                }
            }
        }
    }
    assert!(holds > 60 && violated > 60 && open * 5 < holds + violated, "{holds} {violated} {open}");
}
