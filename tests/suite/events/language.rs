//! The native language's events, tasks and posts: what means what, and what is refused with which
//! words.

use palisade::program::{Action, BinaryOperator, Copies, Executor, Posts, Program, Role, SourceText};
use palisade::syntax::{Diagnostic, Format, parse, print, read, render};

fn program(text: &str) -> Program {
    let source = SourceText::new("test.pal", text);
    match parse(source.clone(), Format::Native) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{}", errors.iter().map(|error| render(error, &source, false)).collect::<String>()),
    }
}

fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    let source = SourceText::new("test.pal", text);
    let show = |diagnostic: &Diagnostic| {
        let place = source.position(diagnostic.span.start);
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}:{}: {}{help}", place.line, place.column, diagnostic.message)
    };
    diagnostics.iter().map(show).collect()
}

fn errors(text: &str) -> Vec<String> {
    let source = SourceText::new("test.pal", text);
    let errors = read(source, Format::Native).expect_err("the text is wrong");
    shown(text, &errors)
}

fn warnings(text: &str) -> Vec<String> {
    let source = SourceText::new("test.pal", text);
    let parsed = read(source.clone(), Format::Native);
    let parsed = parsed.unwrap_or_else(|errors| panic!("{}", render(&errors[0], &source, false)));
    shown(text, &parsed.warnings)
}

const NEWS: &str = "program News domain 0..3 address list, history, shown posts plain
event search [2] when mem[shown + 0] <= 1 regs key init l0 begin
  l0: key <- *;
  l1: post any fetch(key, key + 1);
  l2: post any remember();
end
event show begin a: post main display(2); end
task fetch(key, extra) regs r = 1 init b begin
  a: nop; goto end;
  b: post main display(key & extra); goto a;
end
task display(result) begin l0: mem[list] <- result; end
task remember begin end
thread t [*] init a begin a: spawn display(1); end";

#[test]
fn events_tasks_and_posts() {
    let program = program(NEWS);
    assert_eq!(program.posts, Posts::Plain);
    let [search, show, fetch, display, remember, thread] = program.threads.as_slice() else { panic!("six templates") };
    let Role::Event { guard: Some(guard) } = &search.role else { panic!("an event with a guard") };
    assert_eq!((guard.read_address(), guard.operator), (Ok(3), BinaryOperator::LessOrEqual));
    assert_eq!([0, 1, 2].map(|value| guard.admits(value, program.domain)), [Ok(true), Ok(true), Ok(false)]);
    assert_eq!((search.copies, show.copies), (Copies::Exactly(2), Copies::Any));
    assert_eq!(show.role, Role::Event { guard: None });
    assert_eq!((fetch.parameters(), fetch.registers.len(), fetch.copies), (2, 3, Copies::Exactly(0)));
    assert_eq!(fetch.label(fetch.initial).name, "b");
    assert_eq!(display.label(display.initial).name, "l0");
    assert!(remember.instructions.is_empty());
    assert!(thread.is_thread() && program.is_event_driven());
    let posts: Vec<(Executor, &str, usize)> = program
        .threads
        .iter()
        .flat_map(|thread| &thread.instructions)
        .filter_map(|instruction| match &instruction.action {
            Action::Post { executor, task, arguments } => {
                Some((*executor, program.thread(*task).name.as_str(), arguments.len()))
            }
            _ => None,
        })
        .collect();
    let (main, any) = (Executor::Main, Executor::Any);
    let expected =
        [(any, "fetch", 2), (any, "remember", 0), (main, "display", 1), (main, "display", 1), (any, "display", 1)];
    assert_eq!(posts, expected);
}

#[test]
fn what_is_printed_is_read_as_the_same_program() {
    let printed = print(&program(NEWS), Format::Native).expect("the language says it all").text;
    assert_eq!(print(&program(&printed), Format::Native).expect("the language says it all").text, printed);
    for line in [
        "posts plain",
        "event search [2] when mem[shown + 0] <= 1 regs key init l0 begin",
        "  l1: post any fetch(key, key + 1); goto l2;",
        "event show [*] init a begin",
        "task fetch(key, extra) regs r = 1 init b begin",
        "task remember() init end_ begin",
        "  a: post any display(1); goto end;",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line} is not in\n{printed}");
    }
}

#[test]
fn the_words_remain_names() {
    let text = "program task address event, when, main, any, posts, spawn
        thread drain regs r, post, task init when begin
          when: post <- 1; post: mem[event] <- post; task: task <- mem[main]; goto spawn;
          spawn: mem[any] <- task; goto event; event: nop;
        end";
    let program = program(text);
    assert!(!program.is_event_driven());
    assert_eq!(program.threads[0].instructions.len(), 5);
}

fn with_task(instruction: &str) -> String {
    format!(
        "program p address x\nevent e regs q begin a:\n{instruction} end\ntask send(v, w) begin a: mem[x] <- v + w; end\ntask done begin end\nthread t init a begin a: nop; end"
    )
}

#[test]
fn posts_that_mean_nothing() {
    let refused = |instruction: &str| errors(&with_task(instruction));
    assert_eq!(refused("post any sned(1, 2);"), ["3:10: there is no task named `sned` (did you mean `send`?)"]);
    assert_eq!(
        refused("post any e();"),
        [
            "3:10: `e` is an event, which only the outside world starts (put what both are to do into a task, and post that)"
        ]
    );
    assert_eq!(
        refused("post main t;"),
        ["3:11: `t` is a thread, whose copies run from the start (to start it by a post, declare it as `task t`)"]
    );
    assert_eq!(
        refused("post any send(1);"),
        ["3:1: the task `send` takes 2 arguments, not 1 (write `post any send(…, …)`)"]
    );
    assert_eq!(refused("spawn done(q);"), ["3:1: the task `done` takes no argument, not 1 (write `spawn done()`)"]);
    assert_eq!(
        refused("post mian done;"),
        ["3:6: tasks run on `main` or on `any`, not on `mian` (did you mean `main`?)"]
    );
    assert_eq!(
        refused("post pool done;"),
        ["3:6: tasks run on `main` or on `any`, not on `pool` (`post any done` runs it on a thread of its own)"]
    );
    assert_eq!(
        refused("post done();"),
        ["3:10: expected the task's name, found `(` \
          (say where `done` runs: `post main done()`, or `post any done()` on a thread of its own)"]
    );
    assert_eq!(
        refused("post main();"),
        ["3:10: expected the task's name, found `(` (`main` says where a task runs: `post main task()`)"]
    );
    assert_eq!(refused("post any main();"), ["3:10: there is no task named `main` (the tasks are `send`, `done`)"]);
    assert_eq!(
        refused("post any send(r, 1);"),
        ["3:15: `r` is neither a register of this event nor an address (the only register is `q`)"]
    );
    assert_eq!(
        refused("lock; b: post any done; goto c; c: unlock;"),
        ["3:7: `done` is posted inside a locked section (post it before `lock` or after `unlock`)"]
    );
}

#[test]
fn templates_that_cannot_be() {
    assert_eq!(
        errors("program p event e(q) begin a: mem[x] <- q; end"),
        ["1:18: an event has no parameters: nobody is there to give them \
          (a choice stands for an input: `regs q`, and `q <- *` in the handler)"]
    );
    assert_eq!(
        errors("program p\nevent e when q = 0 regs q begin a: nop; end"),
        [
            "2:14: a guard reads no registers: `q` has no value before the handler starts (a guard reads memory: `when mem[x] = 0`)"
        ]
    );
    assert_eq!(
        errors("program p\nevent e when 0 = mem[x] begin a: nop; end"),
        ["2:14: a guard compares the content of one address with a constant (write `when mem[x] = 0`)"]
    );
    assert_eq!(
        errors("program p\nevent e when mem[x] = 1 / 0 begin a: mem[x] <- 1; end"),
        ["2:9: this guard has no value: division by zero"]
    );
    assert_eq!(
        errors(
            "program p\nthread t init a begin a: nop; end\ntask t begin a: nop; end\nevent e begin a: nop; end task e begin end"
        ),
        ["3:6: there is already a thread named `t`", "4:32: there is already an event named `e`"]
    );
    assert_eq!(
        errors("program p event e begin a: post any main(); end task main begin end"),
        ["1:54: `main` says where tasks run and cannot be the name of one \
          (choose another name, `main_`, and write `post main main_()`)"]
    );
    assert_eq!(
        errors("program p event e begin a: post any t; end task t [2] when mem[x] = 1 begin end"),
        [
            "1:51: a task has no copies (it runs once for every post of it)",
            "1:55: only an event has a guard (a task can wait: `r <- mem[x]; assume r = 0`, which blocks its thread)"
        ]
    );
    assert_eq!(
        errors("program p task t begin a: nop; end"),
        ["1:9: nothing runs: the program has tasks, and neither an event nor a thread \
          (an event starts tasks: `event e { post any …(); }`)"]
    );
    assert_eq!(
        errors("program p posts drian posts plain event e begin a: nop; end"),
        [
            "1:17: posts are `drain` or `plain`, not `drian` (did you mean `drain`?)",
            "1:29: what posts do to store buffers is declared twice"
        ]
    );
    assert_eq!(errors("program p evnet e begin a: nop; end")[0], "1:11: unexpected `evnet` (did you mean `event`?)");
}

#[test]
fn what_is_odd() {
    assert_eq!(
        warnings("program p event e begin a: nop; end task t begin a: post any u; end task u begin end"),
        ["1:42: the task `t` is never posted", "1:74: the task `u` is never posted"]
    );
    assert_eq!(
        warnings("program p address x, y\nevent e when mem[x] = 2 begin a: mem[x] <- 1; b: mem[y] <- 2; end"),
        ["2:9: the event `e` never occurs: its guard cannot hold"]
    );
    assert_eq!(
        warnings("program p event e begin a: post main t; goto a; end task t begin end"),
        ["1:25: nothing posted here can run: `e` never returns, so the main thread stays busy"]
    );
    assert_eq!(
        warnings(
            "program p address x\nevent e regs r begin a: lock; b: r <- mem[x]; c: assume r = 0; goto end;\n\
             c: assume r = 1; goto d; d: unlock; goto end; end\nevent f begin a: lock; b: unlock; end"
        ),
        ["2:47: `e` can end here while it holds the lock, and keeps it for ever (`unlock` before the end)"]
    );
    assert_eq!(
        warnings("program p event e begin a: post any t(1); goto a; end task t(v) begin a: mem[x] <- v; end").len(),
        0
    );
}
