//! What is refused in bodies in braces, and what is said about it.

use super::{errors, warnings};

/// The errors of a statement in a thread with a register `r`, by their columns in its line.
fn of_statement(statement: &str) -> Vec<String> {
    let text = format!("program p\naddress x, y, slot[4], m\nthread t [2] {{\n  let r = 0;\n{statement}\n}}\n");
    errors(&text).iter().map(|error| error.strip_prefix("5:").unwrap_or(error).to_owned()).collect()
}

/// A procedure may have a name that elsewhere belongs to a fence or a pause; the number of a copy
/// is `self`.
#[test]
fn names_from_elsewhere() {
    let procedures = ["barrier", "fence", "smp_mb", "cpu_relax", "yield"];
    for name in procedures {
        let text = format!("program p\naddress x\nthread t {{ x = 1; {name}(); }}\nproc {name}() {{ mfence; }}\n");
        assert_eq!(warnings(&text), Vec::<String>::new(), "{name}");
    }
    for name in ["tid", "thread_id"] {
        let expected =
            format!("5: `{name}` is neither a register nor an address (the number of the copy, from 0, is `self`)");
        assert_eq!(of_statement(&format!("x = {name};")), [expected]);
    }
}

/// What people write who come from C or Rust, with what is said about it.
const HABITS: &[(&str, &str)] = &[
    (
        "x++;",
        "2: `++` is for registers, and `x` is memory (write `x = x + 1;`, a load and a store) [`fetch_add(x, 1);` is one locked instruction, as in C where `x` is atomic]",
    ),
    (
        "--x;",
        "1: `--` is for registers, and `x` is memory (write `x = x - 1;`, a load and a store) [`fetch_sub(x, 1);` is one locked instruction, as in C where `x` is atomic]",
    ),
    (
        "slot[r] -= x;",
        "9: `-=` is for registers, and `slot[r]` is memory (write `slot[r] = slot[r] - x;`, a load and a store) [`fetch_sub(slot[r], x);` is one locked instruction, as in C where `slot[r]` is atomic]",
    ),
    ("x *= 2;", "3: `*=` is for registers, and `x` is memory (write `x = x * 2;`, a load and a store)"),
    ("r = x--;", "6: there is no `--` (assign in a statement of its own: `x = x + 1;`)"),
    ("x == 1;", "3: `==` compares, and nobody uses the outcome (`=` assigns; what must hold is stated by `ensure`)"),
    (
        "r <- x;",
        "3: `<-` assigns in the older form (in braces `=` assigns, and an address stands for itself: `x = 1;`, not `mem[x]`)",
    ),
    (
        "mem[3] := 1;",
        "8: `:=` assigns in the older form (in braces `=` assigns, and an address stands for itself: `x = 1;`, not `mem[x]`)",
    ),
    ("fence();", "1: fences have the names of x86 (a full fence is `mfence;`, one for stores alone `sfence;`)"),
    (
        "atomic_thread_fence(order);",
        "1: fences have the names of x86 (a full fence is `mfence;`, one for stores alone `sfence;`)",
    ),
    ("mfence();", "1: `mfence` takes no parentheses (write `mfence;`)"),
    ("mutex_lock(m);", "1: there is no procedure `mutex_lock` (write `lock(x)`)"),
    ("lock;", "1: `lock` alone belongs to the older form (a locked section is `atomic { … }`)"),
    ("if (x == 1) y = 2;", "13: the body of `if` stands in braces, found `y` (put `{` and `}` around it)"),
    (
        "while (x == 1);",
        "15: the body of `while` stands in braces, found `;` (write `{ }` for an empty body; `await (…);` waits for a condition)",
    ),
    (
        "if (r == 1) { x = 1; } elif (r == 2) { x = 2; }",
        "24: an `if` goes on with `else if` (write `} else if (…) { … }`)",
    ),
    ("volatile int s = x;", "1: registers have no types (write `let s = …;`)"),
    ("let s = x and y;", "11: there is no `and` (write `&&`)"),
    ("if (r == 1 or x == 2) { y = 1; }", "12: there is no `or` (write `||`)"),
    ("if (not x) { y = 1; }", "5: there is no `not` (write `!`)"),
    ("for i in 0..3 { x = 1; }", "5: there are no ranges (write `for (let i = 0; i < n; i++) { … }`)"),
    ("for (int i = 0; i < 3; i++) { x = 1; }", "6: registers have no types (write `let i = …;`)"),
    (
        "for (fetch_add(x, 1); r < 3; r++) { }",
        "6: this statement cannot begin a `for` (a `for` counts in a register: `for (let i = 0; i < n; i++) { … }`)",
    ),
    ("for (x = 0; r < 3; r++) { }", "6: a `for` stores nothing in its head (store before the loop or in its body)"),
    ("do { r++; } until (r == 3);", "13: expected `while`, found `until`"),
    ("let a, b;", "6: one `let` declares one register (write `let a; let b;`)"),
    ("r = r ? 1 : 2;", "7: the character `?` means nothing here (there is no `? :`; write `if (…) { … } else { … }`)"),
    ("int i = 0;", "1: registers have no types (write `let i = …;`)"),
    ("let mut i = 0;", "5: every register can be assigned (leave `mut` out)"),
    ("let i: u32 = 0;", "6: registers have no types (leave the type out; `domain 0..255 wrap` makes all values bytes)"),
    ("return 3;", "8: a thread returns no value (`return;` stops the thread; what others are to see is stored)"),
    (
        "assert(x == 0);",
        "1: in C `assert` claims, in the older form it waits: it is ambiguous here (`ensure …;` states what must hold, `assume …;` lets nobody pass for whom it does not)",
    ),
    ("x = 1", "5: expected `;`, found `}`"),
    ("slot = 1;", "1: `slot` is an array (write `slot[i]`, with i from 0 to 3)"),
    ("slot[4] = 1;", "1: `slot` has no element 4 (its elements are slot[0] to slot[3])"),
    (
        "z = 1;",
        "1: `z` is neither a register nor an address (declare memory that threads share by `address z`, a register by `let z = …;`)",
    ),
    (
        "r = x.load();",
        "6: the character `.` means nothing here (there are no methods and no fields: the name of an address in an expression in braces is a load)",
    ),
    ("x->next = 1;", "2: there are no fields (give each field an array: `address next[4]`, and write `next[node]`)"),
    ("atomic_store(&x, 1);", "1: there is no procedure `atomic_store` (a store is `x = …;`)"),
    ("atomic_fetch_add(&x, 1);", "1: there is no procedure `atomic_fetch_add` (write `fetch_add`)"),
    (
        "compare_exchange_strong(x, 0, 1);",
        "1: there is no procedure `compare_exchange_strong` (write `cas(x, expected, new)`; it returns the value that was there)",
    ),
    ("cas(x, 0);", "1: wrong number of operands: 2, not 3 (write `cas(place, expected, new)`)"),
    ("fetch_add(r, 1);", "11: `r` is no place in memory (`*r` is what is stored at the address `r`)"),
    ("break;", "1: `break` outside of a loop"),
    ("goto there;", "6: there is no label `there` here [a `goto` stays in its block or leaves it; it enters none]"),
    (
        "await (r == 0);",
        "8: nothing in this condition is read from memory, so waiting changes nothing (`assume (…);` stops threads for which a condition does not hold)",
    ),
    ("whlie (x == 0) { }", "16: `whlie` begins no statement (did you mean `while`?)"),
    (
        "end",
        "1: the keyword `end` begins no statement (a body in braces ends with `}`; `goto end;` or `return;` stops the thread)",
    ),
    ("self = 2;", "1: `self` cannot be assigned: it has one value"),
    ("a: b: x = 1;", "4: this place has the label `a` already (one label names a place)"),
    ("let r = 2;", "5: `r` is declared already (assign to it: `r = …;`) [the first declaration is on line 4: `r`]"),
    (
        "let x = 1;",
        "5: `x` is an address, so no register can have that name (a store is `x = …;` without `let`) [the first declaration is on line 2: `x`]",
    ),
];

#[test]
fn habits_are_answered_with_what_to_write() {
    for (statement, expected) in HABITS {
        assert_eq!(of_statement(statement).first().map(String::as_str), Some(*expected), "{statement}");
    }
}

#[test]
fn what_follows_an_error_is_read() {
    let text =
        "program p\naddress x\nthread t {\n  x = $;\n  lock;\n  if (x) { y = 1 }\n  x = 1;\n}\nthread u { fence; }\n";
    let found = errors(text);
    let starts = ["4:7: the character `$`", "5:3: `lock` alone", "6:16: expected `;`", "9:12: fences have"];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (error, start) in found.iter().zip(starts) {
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn unknown_characters_hide_nothing_in_the_older_form() {
    let text =
        "program p\nthread t regs r init a begin\n  a: r <- mem[x] $ 1; goto b;\n  b: r + 1;\n  c: mfnce;\nend\n";
    let found = errors(text);
    let starts = ["3:18: the character `$`", "4:8: expected `<-`", "5:11: expected `<-`"];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (error, start) in found.iter().zip(starts) {
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn what_belongs_to_braces_is_explained_in_the_older_form() {
    let of_line = |line: &str| {
        errors(&format!("program p\nthread t regs r init a begin\n  a: r <- mem[x]; goto b;\n{line}\n  c: nop;\nend\n"))
            .remove(0)
    };
    for (line, help) in [
        ("b: r++;", "write `r <- r + 1`"),
        ("b: if (r == 0) goto c;", "statements like this one stand in a body in braces"),
        ("while (r != 0) { }", "statements like this one stand in a body in braces"),
        ("b: return;", "`goto end` stops the thread"),
        ("b: fence;", "a full fence is `mfence`"),
        ("b: lock(m);", "`lock` takes no operands; in a body in braces a lock is a procedure"),
        ("b: { r <- 1; }", "a body in braces stands right behind the thread's name"),
        ("b: nop; }", "no brace is open here"),
    ] {
        let error = of_line(line);
        assert!(error.starts_with("4:") && error.contains(help), "{line}: {error}");
    }
}

#[test]
fn names_that_are_declared_again_point_at_the_first() {
    let note = |line: usize, name: &str| format!("[the first declaration is on line {line}: `{name}`]");
    for (text, line, name) in [
        ("program p\naddress x,\n  x\nthread t { x = 1; }", 2, "x"),
        ("program p\naddress x\nthread t { x = 1; }\nthread t { x = 2; }", 3, "t"),
        ("program p\naddress x\nconst N = 1;\nconst N = 2;\nthread t { x = N; }", 3, "N"),
        ("program p\nproc f() { }\nproc f() { }\nthread t { f(); }", 2, "f"),
        ("program p\naddress x\nthread t {\n  a: x = 1;\n  a: x = 2;\n}", 4, "a"),
        ("program p\nthread t regs r,\n  r init a begin a: nop; end", 2, "r"),
    ] {
        let found = errors(text);
        assert!(found[0].ends_with(&note(line, name)), "{text}: {found:?}");
    }
}

/// What an `rmw` finds is known in its one step, and what its operand reads from memory is read
/// before.
#[test]
fn what_an_rmw_finds_is_known_in_its_step_alone() {
    for (statement, column) in [
        ("rmw(x, *(old - 1) + 1);", 10),
        ("rmw(x, slot[old]);", 13),
        ("rmw(x, mem[&slot + old]);", 20),
        ("rmw(x, old != 0 && y);", 8),
        ("rmw(x, fetch_add(y, old));", 21),
        ("rmw(x, xchg(y, old));", 16),
        ("rmw(x, cas(y, 0, u8(old)));", 21),
        ("rmw(x, rmw(slot[old], old + 1));", 17),
        ("rmw(x, next(old));", 13),
        ("rmw(x, rmw(y, old + next(old)));", 26),
    ] {
        let text =
            format!("program p\naddress x, y, slot[4]\nproc next(n) {{ return n + 1; }}\nthread t {{\n{statement}\n}}");
        let found = errors(&text);
        let expected = format!("5:{column}: `old` is known only in the one step of its `rmw`");
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{statement}: {found:?}");
    }
    for statement in [
        "rmw(x, &slot[old]);",
        "rmw(x, old & y);",
        "rmw(x, y && old);",
        "rmw(x, u8(old));",
        "rmw(x, rmw(y, old + 1) + old);",
        "let old = 1; xchg(x, slot[old]);",
    ] {
        warnings(&format!("program p\naddress x, y, slot[4]\nthread t {{\n{statement}\n}}"));
    }
}

#[test]
fn procedures_that_cannot_be_inlined() {
    let of = |text: &str| errors(&format!("program p\naddress x\n{text}")).remove(0);
    let recursive = of("proc f() { g(); }\nproc g() { f(); }\nthread t { f(); }");
    assert!(recursive.starts_with("4:12: `f` calls itself"), "{recursive}");
    let arguments = of("proc f(a, b) { x = a + b; }\nthread t { f(1); }");
    assert!(arguments.contains("`f` takes 2 arguments and gets 1 (it is declared as `proc f(a, b)`)"), "{arguments}");
    let valueless = of("proc f() { x = 1; }\nthread t { let r = f(); x = r; }");
    assert!(valueless.contains("`f` returns no value"), "{valueless}");
    let some_way = of("proc f() { if (x) { return 1; } }\nthread t { let r = f(); x = r; }");
    assert!(some_way.starts_with("3:33: `f` may come to its end without a value"), "{some_way}");
    let hidden = of("proc f() { x = r; }\nthread t { let r = x; f(); x = r; }");
    assert!(
        hidden.contains("`r` is neither a register nor an address")
            && hidden.contains("not the registers of its caller"),
        "{hidden}"
    );
    // Each call doubles what there is.
    let doubling: String =
        (0..30).map(|level| format!("proc f{}() {{ f{level}(); f{level}(); }}\n", level + 1)).collect();
    let long = of(&format!("proc f0() {{ x = 1; }}\n{doubling}thread t {{ f30(); }}"));
    assert!(long.contains("longer than 50000 instructions"), "{long}");
}

/// Texts that are wrong on every level are read once, not once more for each level.
#[test]
fn what_is_wrong_everywhere_is_read_in_linear_time() {
    for part in ["for (i = 5; i & x = 2;\nchoose {; x == 1;", "for (x = 1; x < 2; for (", "(;", "for (;", "for (; (;"] {
        let text = format!("program p\naddress x\nthread t {{\n{}\n}}", part.repeat(20_000));
        assert!(!errors(&text).is_empty(), "{part}");
    }
}

#[test]
fn chains_of_calls_come_to_an_end() {
    let chain: String = (0..20_000).map(|number| format!("proc f{}() {{ f{number}(); }}\n", number + 1)).collect();
    let text = format!("program p\naddress x\nproc f0() {{ x = 1; }}\n{chain}thread t {{ f20000(); }}");
    assert!(errors(&text)[0].contains("nested deeper than 200 levels"));
}

#[test]
fn copies_without_numbers() {
    let text = "program p\naddress flag[4]\nthread t [*] { flag[self] = 1; }\n";
    let found = errors(text).remove(0);
    assert!(found.starts_with("3:21: `self` needs a number of copies"), "{found}");
    assert!(found.contains("draw a number instead, `let me = fetch_add(drawn, 1);`"), "{found}");
    let many = errors("program p\naddress x\nthread t [65] { x = self; }\n").remove(0);
    assert!(many.contains("`self` makes a thread of each copy: 65 are too many"), "{many}");
}

#[test]
fn sections_do_not_nest() {
    let text = "program p\naddress x\nproc f() { atomic { x = 1; } }\nthread t { atomic { f(); } }\n";
    assert!(errors(text)[0].starts_with("3:12: a locked section cannot begin inside of another one"));
}

#[test]
fn outcomes_of_cas_are_no_truth_values() {
    let of = |body: &str| warnings(&format!("program p\naddress x\nthread t {{ {body} }}\n"));
    for body in ["if (cas(x, 0, 1)) { x = 2; }", "while (x == 1 || !cas(x, 0, 1)) { }", "do { } while (!cas(x, 0, 1));"]
    {
        let found = of(body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].contains("`cas(x, 0, 1) == 0` holds if it has stored"), "{found:?}");
    }
    assert_eq!(of("while (cas(x, 0, 1) != 0) { pause; }"), Vec::<String>::new());
}

#[test]
fn precedence_is_warned_of() {
    let text = "program p\naddress x, y\nthread t { let r = x; if (r & 1 == 0) { y = 1; } }\n";
    assert!(warnings(text)[0].contains("`r & 1 == 0` is `r & (1 == 0)`"), "{:?}", warnings(text));
    assert!(
        warnings("program p\naddress x\nthread t { loop { x = 1; } x = 2; }\n")[0]
            .contains("nothing leads here in `t`")
    );
}

#[test]
fn deep_and_broken_texts_are_refused() {
    for text in [
        format!("program p thread t {}", "{".repeat(100_000)),
        format!("program p thread t {{ {}", "if (x) { } else ".repeat(20_000)),
        format!("program p address x thread t {{ x = {}1; }}", "-".repeat(50_000)),
        format!("program p address x thread t {{ x = {}; }}", "1+".repeat(50_000) + "1"),
        "program p thread t {".to_owned(),
        "program p const N = 1 thread t { }".to_owned(),
        "program p proc f( thread t { }".to_owned(),
        "program p const N = M; thread t { }".to_owned(),
    ] {
        assert!(!errors(&text).is_empty());
    }
}

/// In the older form `mem[x]` is the address `x`. Here it is what is stored where the value of `x`
/// says, which a program means that stores addresses.
#[test]
fn an_address_in_brackets_is_doubted() {
    let of = |body: &str| warnings(&format!("program p\naddress x, y\nthread t {{ {body} }}\n"));
    for body in ["mem[x] = 1;", "let r = *y;"] {
        let found = of(body);
        assert!(found[0].contains("what is stored at the number that") && found.len() == 1, "{body}: {found:?}");
    }
    for body in ["x = &y; *x = 1;", "let r = x; mem[r] = 1;", "mem[x + 1] = 1;"] {
        assert_eq!(of(body), Vec::<String>::new(), "{body}");
    }
}

/// Which brace is not closed is told by where the others stand; and what holds in the end has a
/// place of its own.
#[test]
fn what_is_missing_is_said_where_it_is_missing() {
    let text =
        "program p\naddress x, y\nthread t {\n  x = 1;\n  if (y == 0) { y = 2;\n  let r = y;\n}\nthread u { y = 1; }\n";
    assert_eq!(errors(text), ["5:15: this brace is never closed"]);
    let last = "program p\naddress x\nthread t {\n  while (x == 0) {\n    pause;\n  }\n";
    assert_eq!(errors(last), ["3:10: this brace is never closed"]);
    for claim in ["ensure x == 1;", "exists (r == 1)"] {
        let text = format!("program p\naddress x\nthread t {{ let r = x; }}\n{claim}\n");
        let all = errors(&text);
        assert!(all[0].contains("stated by `finally { ensure x == 1; }`"), "{all:?}");
    }
    let copies =
        "program p\naddress x[2]\nthread p [2] {\n  x[self] = 1;\n  c: x[self] = 0;\n}\nnever p_0 at c, p_1 at c\n";
    for error in errors(copies) {
        assert!(error.ends_with("(write `p`: a place of `p` is one of any of its copies)"), "{error}");
    }
}
