//! Memorax's language: what its statements mean, and the diagnostics for texts that mean nothing.

use palisade::limits::Limits;
use palisade::program::{Action, Copies, Program};
use palisade::semantics::{FinalStates, Instance, Model, final_states};
use palisade::syntax::{Diagnostic, Format, Parsed, print, read, render};
use palisade::text::SourceText;

fn parsed(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    read(SourceText::new("t.rmm", text), Format::Memorax)
}

fn program(text: &str) -> Program {
    parsed(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

fn explored(program: &Program, model: Model) -> FinalStates {
    let instance = Instance::of(program).expect("fixed copies");
    let found = final_states(program, &instance, model, 6, &Limits::none()).expect("the program has a meaning");
    assert!(!found.joint.is_empty() || !found.buffers_filled, "the search is closed");
    found
}

/// Whether the forbidden states are reached under SC, TSO and PSO.
fn reached(text: &str) -> [bool; 3] {
    let program = program(text);
    [Model::Sc, Model::Tso, Model::Pso].map(|model| !explored(&program, model).joint.is_empty())
}

const ALWAYS: [bool; 3] = [true; 3];
const NEVER: [bool; 3] = [false; 3];

/// One process after some declarations, asked whether it comes to `B`.
fn comes_to(globals: &str, own: &str, text: &str) -> [bool; 3] {
    let data = if globals.is_empty() { String::new() } else { format!("data {globals}") };
    reached(&format!("forbidden B {data} process {own} text {text}; B: nop"))
}

#[test]
fn a_row_asks_for_all_labels_at_once() {
    let both = |row: &str| {
        reached(&format!(
            "forbidden {row} data x = 0 : [0:1]
             process text A: read: x = 0; B: write: x := 1; C: nop
             process text A: read: x = 1; B: nop"
        ))
    };
    assert_eq!(both("A A"), ALWAYS);
    assert_eq!(both("C B"), ALWAYS);
    assert_eq!(both("B B"), NEVER);
    assert_eq!(both("B *"), ALWAYS);
    assert_eq!(both("B B; A B"), NEVER);
    assert_eq!(both("B B; C A"), ALWAYS);
}

/// A label is reached when the statement before is done, with the store still in the buffer.
#[test]
fn buffers_need_not_be_empty() {
    let sb = |write: &str, behind: &str| {
        reached(&format!(
            "forbidden E E data x = 0 : [0:1] y = 0 : [0:1]
             process text {write}: x := 1{behind}; read: y = 0; E: nop
             process text {write}: y := 1{behind}; read: x = 0; E: nop"
        ))
    };
    assert_eq!(sb("write", ""), [false, true, true]);
    assert_eq!(sb("locked write", ""), NEVER);
    assert_eq!(sb("write", "; fence"), NEVER);
    assert_eq!(sb("slocked write", ""), [false, true, true]);
    assert_eq!(sb("syncwr", ""), [false, true, true]);
}

/// `slocked write` and `ssfence` order stores, `locked write` the store and everything after it,
/// and none what comes before.
#[test]
fn stores_pass_each_other_under_pso() {
    let mp = |first: &str, between: &str, second: &str| {
        reached(&format!(
            "forbidden * E data x = 0 : [0:1] y = 0 : [0:1]
             process text {first}: x := 1{between}; {second}: y := 1
             process text read: y = 1; read: x = 0; E: nop"
        ))
    };
    assert_eq!(mp("write", "", "write"), [false, false, true]);
    assert_eq!(mp("slocked write", "", "write"), NEVER);
    assert_eq!(mp("write", "; ssfence", "write"), NEVER);
    assert_eq!(mp("locked write", "", "write"), NEVER);
    assert_eq!(mp("write", "", "locked write"), [false, false, true]);
    assert_eq!(mp("write", "; llfence", "write"), [false, false, true]);
}

/// `x[k]` is the variable of the k-th other process.
#[test]
fn variables_of_others_are_counted_without_oneself() {
    let text = |row: &str| {
        reached(&format!(
            "forbidden {row}
             process data v = 0 : [0:9] text write: v[my] := 1; S: nop
             process data v = 0 : [0:9] registers $a = 0 $b = 0
             text write: v[my] := 2; read: $a := v[0]; read: $b := v[1]; if $a = 1 && $b = 3 then B: nop
             process data v = 0 : [0:9] text write: v[my] := 3; read: v[1] = 2; C: nop"
        ))
    };
    assert_eq!(text("* B *"), ALWAYS);
    assert_eq!(text("* * C"), ALWAYS);
    let program = program(
        "forbidden * * * process(3) data v = 0 : [0:9] text A: write: v[my] := 1; read: v[1] = 1
         process text A: nop"
            .replace("* * *", "A A A A")
            .as_str(),
    );
    let names: Vec<&str> = program.addresses.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["v_P0", "v_P1", "v_P2"]);
    let shown = print(&program, Format::Native).expect("the native language says it all").text;
    for (own, other) in [(0, 2), (1, 2), (2, 1)] {
        let lines = [format!("mem[v_P{own}] <- 1"), format!("seen <- mem[v_P{other}]")];
        assert!(lines.iter().all(|line| shown.contains(line)), "{shown}");
    }
}

/// Copies that differ in nothing are copies of one thread, and a row asks for so many of them.
#[test]
fn copies_without_variables_are_copies_of_a_thread() {
    let text = "forbidden C C * data x = 0 : [0:1]
        process(2) text A: cas(x, 0, 1); C: nop; write: x := 0
        process text A: read: x = 1";
    let program = program(text);
    let copies: Vec<Copies> = program.threads.iter().map(|thread| thread.copies).collect();
    assert_eq!(copies, [Copies::Exactly(2), Copies::Exactly(1)]);
    assert_eq!(program.never[0].groups().map(|(_, count)| count).collect::<Vec<_>>(), [2]);
    assert_eq!(reached(text), NEVER);
    assert_eq!(reached(&text.replace("C C *", "A C *")), ALWAYS);
    assert_eq!(reached(&text.replace("cas(x, 0, 1)", "read: x = 0; write: x := 1")), ALWAYS);
}

/// What does not fit a domain cannot be executed: no error, no wrap-around.
#[test]
fn domains_block() {
    assert_eq!(comes_to("x = 0 : [0:1]", "", "write: x := 2"), NEVER);
    assert_eq!(comes_to("x = 0 : [0:2]", "", "write: x := 2"), ALWAYS);
    assert_eq!(comes_to("x = 0 : Z", "", "write: x := 2"), ALWAYS);
    assert_eq!(comes_to("x = 0 : [0:1]", "registers $r = 1 : [0:1]", "write: x := $r + 1"), NEVER);
    assert_eq!(comes_to("x = 0 : [0:1]", "registers $r = 1 : [0:1]", "write: x := $r - 1"), ALWAYS);
    assert_eq!(comes_to("", "registers $r = 1 : [0:1]", "$r := $r + 1"), NEVER);
    assert_eq!(comes_to("", "registers $r = 1 : [0:2]", "$r := $r + 1; assume: $r = 2"), ALWAYS);
    assert_eq!(comes_to("x = 2 : [0:2]", "registers $r = 1 : [0:1]", "read: $r := x"), NEVER);
    assert_eq!(comes_to("x = 1 : [0:2]", "registers $r = 0 : [0:1]", "read: $r := x; assume: $r = 1"), ALWAYS);
    assert_eq!(comes_to("x = 0 : [0:1]", "", "cas(x, 0, 2)"), NEVER);
    assert_eq!(comes_to("x = 0 : [0:1]", "", "cas(x, 2, 1)"), NEVER);
    assert_eq!(comes_to("x = 0 : [0:1]", "", "cas(x, 0, 1); read: x = 1"), ALWAYS);
    let blocked = "locked { read: $r := x; $r := $r - 1; write: x := $r }";
    assert_eq!(comes_to("x = 0 : [0:1]", "registers $r = 0 : [0:1]", blocked), NEVER);
    assert_eq!(comes_to("x = 1 : [0:1]", "registers $r = 0 : [0:1]", blocked), ALWAYS);
}

#[test]
fn values_at_the_start() {
    assert_eq!(comes_to("x = * : [0:3]", "", "read: x = 3"), ALWAYS);
    assert_eq!(comes_to("x = * : [0:3]", "", "read: x = 4"), NEVER);
    assert_eq!(comes_to("x = * : [2:3] y = * : [-1:0]", "", "read: x = 3; read: y = -1; read: x = 3"), ALWAYS);
    assert_eq!(comes_to("x = * : [0:3]", "", "read: x = 3; read: x = 2"), NEVER);
    assert_eq!(comes_to("", "registers $r = * : [1:3]", "assume: $r = 3"), ALWAYS);
    assert_eq!(comes_to("", "registers $r = * : [1:3]", "assume: $r = 0"), NEVER);
    assert_eq!(comes_to("", "registers $r = * $s = 5", "$r := $s; assume: $r = 5"), ALWAYS);
    // All processes begin with the same value.
    let two = "forbidden E E data x = * : [0:1] process text read: x = 0; E: nop process text read: x = 1; E: nop";
    assert_eq!(reached(two), NEVER);
}

#[test]
fn pointers_count_global_variables() {
    let globals = "x = 0 : [0:1] y = 1 : [0:1] z = 2 : [0:2]";
    assert_eq!(comes_to(globals, "registers $p = 1 : [0:5]", "read: [$p] = 1; read: [$p + 1] = 2"), ALWAYS);
    assert_eq!(comes_to(globals, "registers $p = 3 : [0:5]", "read: [$p] = 0"), NEVER);
    assert_eq!(comes_to(globals, "registers $p = 0 : [0:5]", "write: [$p - 1] := 0"), NEVER);
    assert_eq!(comes_to(globals, "registers $p = 2 : [0:5]", "write: [$p] := 2; read: z = 2"), ALWAYS);
    // The domain is that of the variable pointed to.
    assert_eq!(comes_to(globals, "registers $p = 1 : [0:5]", "write: [$p] := 2"), NEVER);
    assert_eq!(comes_to(globals, "", "write: [2] := 2; read: [1 + 1] = 2"), ALWAYS);
    assert_eq!(comes_to(globals, "", "write: [3] := 0"), NEVER);
}

#[test]
fn control_flow() {
    let registers = "registers $r = 0 : [0:9] $s = 0 : [0:9]";
    assert_eq!(comes_to("", registers, "while $r < 3 do { $r := $r + 1; $s := $s + 2 }; assume: $s = 6"), ALWAYS);
    assert_eq!(comes_to("", registers, "if $r = 1 then $s := 1 else $s := 2; assume: $s = 2"), ALWAYS);
    assert_eq!(comes_to("", registers, "if $r = 0 then if $s = 1 then nop else $s := 4; assume: $s = 4"), ALWAYS);
    assert_eq!(comes_to("", registers, "if $r = 0 then goto X; $s := 1; X: assume: $s = 0"), ALWAYS);
    assert_eq!(comes_to("", registers, "either { $s := 1 or $s := 2 }; assume: $s = 1; assume: $s != 2"), ALWAYS);
    assert_eq!(
        comes_to("x = 0 : [0:1]", registers, "either { read: x = 1; $s := 1 or read: x = 0 }; assume: $s = 0"),
        ALWAYS
    );
    assert_eq!(comes_to("", registers, "assume: $r = 1 || $r = 0 && not $s = 1"), ALWAYS);
    assert_eq!(comes_to("", registers, "assume: not [$r = 0 || $s = 1]"), NEVER);
    assert_eq!(comes_to("", registers, "assume: $r - 1 - 1 = -2 && -(-3) = 3"), ALWAYS);
    assert_eq!(comes_to("", registers, "assume: $r - (1 - 1) = 0 && 1 <= 1 && 2 >= 1 && 1 != 2 && true"), ALWAYS);
}

/// A choice is made by the first statement that can be executed, so nobody gets stuck in the wrong
/// alternative.
#[test]
fn waiting_is_no_end() {
    let text = "forbidden E data x = 0 : [0:1]
        process text E: either { read: x = 1 or cas(x, 1, 0) or locked { read: x = 1; write: x := 0 } }
        process text write: x := 1"
        .replace("forbidden E", "forbidden E *");
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let found = explored(&program(&text), model);
        assert!(found.stuck.is_empty() && !found.completed.is_empty(), "{model:?}");
    }
}

#[test]
fn locked_blocks_are_one_step() {
    let swap = |block: &str| {
        reached(&format!(
            "forbidden C C data x = 0 : [0:1]
             process(2) registers $r = 1 : [0:1] $s = 0 : [0:1] text A: {block}; if $s = 1 then goto A; C: nop"
        ))
    };
    assert_eq!(swap("locked { read: $s := x; write: x := $r }"), NEVER);
    assert_eq!(swap("locked { read: $s := x; write: x := 1 - $s; $s := $s }"), ALWAYS);
    assert_eq!(swap("{ read: $s := x; write: x := $r }"), ALWAYS);
    assert_eq!(swap("locked { { read: x = 0 }; locked { write: x := 1 } }"), NEVER);
    assert_eq!(swap("locked { assume: $r = 0; read: x = 0 or read: x = 0; write: x := 1 }"), NEVER);
    let actions = |text: &str| -> Vec<Action> {
        let text = format!("forbidden A data x = 0 : [0:1] process registers $r = 0 : [0:1] text A: {text}");
        program(&text).threads[0].instructions.iter().map(|instruction| instruction.action.clone()).collect()
    };
    let has = |text: &str, is: fn(&Action) -> bool| actions(text).iter().any(is);
    assert!(has("locked { read: x = 0; write: x := 1 }", |action| matches!(action, Action::Cas { .. })));
    assert!(has("locked { read: $r := x; write: x := 1 - $r }", |action| matches!(action, Action::Rmw { .. })));
    assert!(has("locked { read: $r := x; write: x := $r + 1 }", |action| matches!(action, Action::Lock)));
    assert!(!has("locked { read: x = 0 }", |action| matches!(action, Action::Lock)));
}

/// A block that only reads does not wait for the buffer.
#[test]
fn locked_reads_flush_nothing() {
    let sb = |write: &str, block: &str| {
        format!(
            "forbidden E E data x = 0 : [0:1] y = 0 : [0:1] z = 0 : [0:1]
             process text {write}: x := 1; locked {{ {block} }}; E: nop
             process text {write}: y := 1; locked {{ read: x = 0 }}; E: nop"
        )
    };
    assert_eq!(reached(&sb("write", "read: y = 0")), [false, true, true]);
    assert_eq!(reached(&sb("write", "read: z = 0; read: y = 0")), [false, true, true]);
    assert_eq!(reached(&sb("locked write", "read: x = 1; read: y = 0")), NEVER);
    let errors = parsed(&sb("write", "read: x = 1; read: y = 0")).unwrap_err();
    assert_eq!(errors[0].message, "this reads several variables at one moment, while stores may be buffered");
}

/// Macros make whole processes.
#[test]
fn processes_from_macros() {
    let text = "forbidden C C data m = 0 : [0:3]
        macro peer(mine, theirs) process registers $r = mine : [0:3] text write: m := mine; read: m = theirs; C: nop endmacro
        peer(1, 2) peer(2, 1)";
    // Whoever's store comes last, the other one's value is gone.
    assert_eq!(reached(text), NEVER);
    assert_eq!(reached(&text.replace("C C", "C *")), ALWAYS);
    assert_eq!(reached(&text.replace("C C", "C *").replace("peer(2, 1)", "peer(3, 1)")), NEVER);
}

/// The message, the text underlined and the help of the first error.
fn complaint(text: &str) -> String {
    let error = parsed(text).expect_err(text).remove(0);
    let help = error.help.as_ref().map_or(String::new(), |help| format!(" [{help}]"));
    format!("{}: `{}`{help}", error.message, &text[error.span.start..error.span.end])
}

#[test]
fn bad_texts_get_an_error_at_their_place() {
    let cases = [
        ("", "expected `forbidden`, found the end of the text: ``"),
        ("forbiden A", "expected `forbidden`, found `forbiden`: `forbiden` [did you mean `forbidden`?]"),
        ("forbidden", "expected a label or `*`, found the end of the text: ``"),
        ("forbidden A", "expected `process`, found the end of the text: ``"),
        (
            "forbidden A process txt A: nop",
            "expected `data`, `registers` or `text`, found `txt`: `txt` [did you mean `text`?]",
        ),
        (
            "forbidden A process text A: wrte: x := 1",
            "expected a statement, found `wrte`: `wrte` [did you mean `write`?]",
        ),
        ("forbidden A process text A: nop;", "expected a statement, found the end of the text: ``"),
        (
            "forbidden A process text A: { nop; }",
            "expected a statement, found `}`: `}` [`;` stands between statements: none after the last one]",
        ),
        ("forbidden A process text A: nop nop", "expected `;` or `process`, found the keyword `nop`: `nop`"),
        ("forbidden A A process text A: nop", "this row has 2 entries, but there are 1 processes: `A A`"),
        ("forbidden * process text A: nop", "this row names no label, so that it forbids every state: `*`"),
        ("forbidden CT process text CS: nop", "the process P0 has no label `CT`: `CT` [did you mean `CS`?]"),
        ("forbidden A process text A: goto B", "this process has no label `B`: `B` [the only label is `A`]"),
        ("forbidden A process text A: nop; A: nop", "there is already a label `A` in this process: `A`"),
        ("forbidden A process text A: read: flg = 1", "there is no global variable `flg`: `flg`"),
        (
            "forbidden A data flag = 0 process text A: read: flg = 1",
            "there is no global variable `flg`: `flg` [did you mean `flag`?]",
        ),
        (
            "forbidden A process data f = 0 text A: read: f = 1",
            "there is no global variable `f`: `f` [the own variable of a process is `f[my]`, that of another one `f[0]`]",
        ),
        (
            "forbidden A data f = 0 process text A: read: f[my] = 1",
            "process 0 has no variable `f` of its own: `f[my]` [the global variable is `f`]",
        ),
        (
            "forbidden A process data f = 0 text A: read: f[0] = 1",
            "there is no other process with the number 0: `f[0]`",
        ),
        ("forbidden A process text A: $r := 1", "this process has no register `$r`: `$r`"),
        (
            "forbidden A process registers $q1 = 0 text A: $q2 := 1",
            "this process has no register `$q2`: `$q2` [did you mean `$q1`?]",
        ),
        (
            "forbidden A data x = 0 process text A: if x = 0 then nop",
            "conditions see registers only, not `x`: `x` [read it first: `read: $r := …`]",
        ),
        (
            "forbidden A data x = 0 y = 0 process text A: write: x := y",
            "expressions see registers only, not `y`: `y` [read it first: `read: $r := …`]",
        ),
        ("forbidden A data x = 3 : [0:1] process text A: nop", "`x` starts at 3, outside of its domain [0:1]: `x`"),
        ("forbidden A data x = 0 : [1:0] process text A: nop", "no value lies between 1 and 0: `[1:0]`"),
        (
            "forbidden A data x = 0, y = 0 process text A: nop",
            "expected another declaration, found `,`: `,` [declarations follow each other without commas]",
        ),
        ("forbidden A data x = 0 x = 1 process text A: nop", "`x` is declared twice: `x`"),
        (
            "forbidden A process registers $r = * text A: assume: $r = 1",
            "`$r` may start at too many values to choose among: `$r` [give it a domain, `[0:3]`, or a value]",
        ),
        (
            "forbidden A data x = * process text A: read: x = 1",
            "this variable may start at too many values to choose among: `x` [give it a domain, `[0:3]`, or a value]",
        ),
        ("forbidden A process(0) text A: nop", "there is at least one process: `0`"),
        (
            "forbidden A data x = 0 process text A: read: x := 1",
            "expected `=`, found `:=`: `:=` [a value is compared with `=`]",
        ),
        (
            "forbidden A data x = 0 process text A: write: x = 1",
            "expected `:=`, found `=`: `=` [a value is assigned with `:=`]",
        ),
        ("forbidden A data x = 0 process text A: locked { fence }", "a fence cannot stand in a locked block: `fence`"),
        ("forbidden A process text A: locked { goto A }", "a jump cannot stand in a locked block: `goto A`"),
        ("forbidden A process text A: locked { B: nop }", "a label cannot stand in a locked block: `B`"),
        (
            "forbidden if process text A: nop",
            "expected a label or `*`, found the keyword `if`: `if` [`if` is a keyword and cannot be a name]",
        ),
        ("forbidden A /* process", "this comment does not end: `/*`"),
        ("forbidden A process text A: !", "`!` is no word of this language: `!` [negation is `not`]"),
        (
            "forbidden A process text A: assume: 99999999999999999999 = 1",
            "this number does not fit 64 bits: `99999999999999999999`",
        ),
        (
            "forbidden A macro work(a, b) read: a = b endmacro data x = 0 process text A: work(x)",
            "the macro `work` takes 2 arguments, not 1: `work`",
        ),
        (
            "forbidden A macro work(a) nop endmacro process text A: wrok(x)",
            "there is no macro `wrok`: `wrok` [did you mean `work`?]",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected, "{text}");
    }
}

/// What is wrong in a macro is shown in its definition.
#[test]
fn errors_in_macros_are_shown_where_they_stand() {
    let text = "forbidden A\nmacro f(a)\n  read: a =\nendmacro\ndata x = 0\nprocess text A: f(x); nop\n";
    let error = parsed(text).unwrap_err().remove(0);
    assert_eq!(error.message, "expected a register or a number, found `;`");
    let inside = "forbidden A\nmacro f(a)\n  raed: a = 1\nendmacro\ndata x = 0\nprocess text A: f(x); nop\n";
    let error = parsed(inside).unwrap_err().remove(0);
    let shown = render(&error, &SourceText::new("t.rmm", inside), false);
    assert!(shown.contains("t.rmm:3:3") && shown.contains("comes from a macro"), "{shown}");
}

/// Several errors are reported at once, one for each process.
#[test]
fn the_reader_goes_on_at_the_next_process() {
    let text = "forbidden A A process text A: nop; ; nop process text A: raed: x = 1 process text A: goto";
    let errors = parsed(text).unwrap_err();
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let expected = [
        "expected a statement, found `;`",
        "expected a statement, found `raed`",
        "expected a label, found the end of the text",
    ];
    assert_eq!(messages, expected);
}

/// Words that mean nothing here are remarked on once.
#[test]
fn remarks() {
    let text = "forbidden A data x = 0 process text A: syncrd: x = 0; llfence; syncwr: x := 1; llfence; syncrd: x = 1";
    let warnings = parsed(text).expect("it is a program").warnings;
    let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = [
        "`syncrd` is read as `read`",
        "`llfence` does nothing here: loads are in order under SC, TSO and PSO",
        "`syncwr` is read as `write`",
    ];
    assert_eq!(messages, expected);
}
