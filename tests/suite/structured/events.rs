//! Events and tasks with bodies in braces.

use super::{errors, program};
use palisade::program::{Action, Program, Role};

const BRACES: &str = "program Search\ndomain 0..3\naddress busy, query, list[2]\n\nevent onText [*] when busy == 0 {\n  busy = 1;\n  \
                      let q = *;\n  query = q;\n  post any search();\n}\n\nevent onStop [2] when list[1] != 2 { spawn search(); }\n\n\
                      task search {\n  let s = query;\n  post main show(s, 1);\n}\n\ntask show(s, place) {\n  list[place] = s;\n  busy = 0;\n}\n";

const LINES: &str = "program Search\ndomain 0..3\naddress busy, query, list[2]\n\n\
                     event onText [*] when mem[busy] = 0 regs q begin\n  a: mem[busy] <- 1;\n  b: q <- *;\n  c: mem[query] <- q;\n  \
                     d: post any search();\nend\n\nevent onStop [2] when mem[list + 1] != 2 begin\n  a: spawn search();\nend\n\n\
                     task search regs s begin\n  a: s <- mem[query];\n  b: post main show(s, 1);\nend\n\n\
                     task show(s, place) begin\n  a: mem[list + place] <- s;\n  b: mem[busy] <- 0;\nend\n";

/// What a program does, without the names of labels and places in the text.
fn meaning(program: &Program) -> Vec<(String, String, Vec<Action>)> {
    let role = |role: &Role| match role {
        Role::Event { guard: Some(guard) } => format!("{:?} {:?} {:?}", guard.address, guard.operator, guard.value),
        other => format!("{other:?}"),
    };
    let one = |thread: &palisade::program::Thread| {
        let actions = thread.instructions.iter().map(|instruction| instruction.action.clone()).collect();
        (format!("{} {}", thread.name, thread.copies), role(&thread.role), actions)
    };
    program.threads.iter().map(one).collect()
}

#[test]
fn both_forms_mean_the_same() {
    assert_eq!(meaning(&program(BRACES)), meaning(&program(LINES)));
    // Threads that say `self` become several, and tasks keep their names.
    let mixed = BRACES.replace("event onText", "thread boss [3] { query = self; }\n\nevent onText");
    let program = program(&mixed);
    let posted: Vec<&str> = program
        .threads
        .iter()
        .flat_map(|thread| &thread.instructions)
        .filter_map(|instruction| match &instruction.action {
            Action::Post { task, .. } => Some(program.thread(*task).name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(posted, ["search", "search", "show"]);
}

#[test]
fn what_events_and_tasks_cannot_have() {
    for (from, to, words) in [
        (
            "when busy == 0",
            "when busy",
            "a guard compares the content of one address with a constant (write `when x == 0`)",
        ),
        ("when busy == 0", "when busy == query", "a guard compares"),
        ("when busy == 0", "when buzy == 0", "`buzy` is neither a register nor an address"),
        ("event onText [*]", "event onText(q) [*]", "an event has no parameters"),
        ("task search", "task search [2]", "a task has no copies"),
        ("task search", "task search when busy == 0", "only an event has a guard"),
        ("post any search()", "post any serch()", "there is no task named `serch`"),
        ("post any search()", "post any search(1)", "the task `search` takes no argument, not 1"),
        ("post any search()", "post all search()", "tasks run on `main` or on `any`, not on `all`"),
        ("post any search()", "post any onStop()", "`onStop` is an event"),
        ("query = q;", "query = self;", "`self` is the number of a thread's copy, and this is an event"),
        ("task show(s, place)", "task show(s, s)", "the parameter `s` is declared twice"),
    ] {
        let text = BRACES.replacen(from, to, 1);
        assert_ne!(text, BRACES, "{from}");
        let found = errors(&text);
        assert!(found[0].contains(words), "{to}: {found:?}");
    }
}
