//! What each statement means: the automaton of a body.

use super::{automata, automaton, program};
use palisade::program::Copies;

#[test]
fn the_ticket_lock() {
    let text = "program Ticket\ndomain 0..3 wrap\naddress next, serving, inside\n\nthread worker [*] {\n  let t = fetch_add(next, 1);\n  \
                while (serving != t) { pause; }\n  ensure inside = 0;\n  inside = 1; inside = 0;\n  serving = t + 1;\n}\n";
    let expected = "thread worker [*] regs t, serving', inside' init L6 begin\n  \
                    L6: t <- fetch_add(mem[next], 1); goto L7;\n  L7: serving' <- mem[serving]; goto L7_2;\n  \
                    L7_2: assert serving' != t; goto L7;\n  L7_2: assert serving' = t; goto L8;\n  \
                    L8: inside' <- mem[inside]; goto L8_2;\n  L8_2: ensure inside' = 0; goto L9;\n  \
                    L9: mem[inside] <- 1; goto L9_2;\n  L9_2: mem[inside] <- 0; goto L10;\n  \
                    L10: mem[serving] <- t + 1; goto end;\nend\n";
    assert_eq!(automata(text), expected);
}

#[test]
fn loads_from_left_to_right() {
    let expected = "regs r, x', y' init L4\nL4: x' <- mem[x]; goto L4_2;\nL4_2: y' <- mem[y]; goto L4_3;\n\
                    L4_3: r <- x' + 2 * y'; goto L5;\nL5: x' <- mem[x]; goto L5_2;\nL5_2: mem[slot + x'] <- r; goto end;";
    assert_eq!(automaton("let r = x + 2 * y;\nslot[x] = r;"), expected);
    // One load goes straight to its register; two of one address are two loads.
    assert_eq!(automaton("let r = x;"), "regs r init L4\nL4: r <- mem[x]; goto end;");
    let twice = automaton("y = x + x;");
    assert!(twice.contains("L4: x' <- mem[x]") && twice.contains("L4_2: x'_2 <- mem[x]"), "{twice}");
    assert!(twice.ends_with("L4_3: mem[y] <- x' + x'_2; goto end;"), "{twice}");
}

#[test]
fn what_a_guard_guards_is_read_behind_it() {
    let expected = "regs x', y' init L4\nL4: x' <- mem[x]; goto L4_2;\nL4_2: assert x' = 0; goto L4_3;\n\
                    L4_2: assert x' != 0; goto end;\nL4_3: y' <- mem[y]; goto L4_4;\nL4_4: assert y' = 0; goto L5;\n\
                    L4_4: assert y' != 0; goto end;\nL5: mem[x] <- 1; goto end;";
    assert_eq!(automaton("if (x == 0 && y == 0) {\nx = 1;\n}"), expected);
    let or = "regs r, x', y', holds' init L4\nL4: x' <- mem[x]; goto L4_2;\nL4_2: assert x'; goto L4_4;\n\
              L4_2: assert !x'; goto L4_3;\nL4_3: y' <- mem[y]; goto L4_7;\nL4_4: holds' <- 1; goto L4_6;\n\
              L4_5: holds' <- 0; goto L4_6;\nL4_6: r <- holds'; goto end;\nL4_7: assert y'; goto L4_4;\n\
              L4_7: assert !y'; goto L4_5;";
    assert_eq!(automaton("let r = x || y;"), or);
    // Registers alone need no guard.
    let plain = automaton("let r = x;\nif (r == 0 && r != 2) { y = 1; }");
    assert!(plain.contains("L5: assert r = 0 && r != 2; goto L5_2;"), "{plain}");
    assert!(plain.contains("L5: assert !(r = 0 && r != 2); goto end;"), "{plain}");
}

#[test]
fn loops() {
    let expected = "regs x', y' init L5\nL5: x' <- mem[x]; goto L5_2;\nL5_2: assert x' = 1; goto end;\nL5_2: assert x' != 1; goto L6;\n\
                    L6: x' <- mem[x]; goto L6_2;\nL6_2: assert x' = 2; goto L5;\nL6_2: assert x' != 2; goto L7;\n\
                    L7: y' <- await(mem[y], old = 3); goto L8;\n\
                    L8: mem[y] <- 1; goto L5;";
    let body = "loop {\nif (x == 1) { break; }\nif (x == 2) { continue; }\nawait (y == 3);\ny = 1;\n}";
    assert_eq!(automaton(body), expected);
    assert_eq!(automaton("loop { }"), "init L4\nL4: nop; goto L4;");
    // A loop without end is a loop, however it is written.
    for body in ["while (true) { x = 1; }", "while (1) { x = 1; }", "loop { x = 1; }", "spin: x = 1; goto spin;"] {
        assert!(automaton(body).ends_with("mem[x] <- 1; goto L4;") || body.starts_with("spin"), "{}", automaton(body));
    }
    assert_eq!(automaton("spin: x = 1; goto spin;"), "init spin\nspin: mem[x] <- 1; goto spin;");
}

#[test]
fn loops_of_c() {
    let counted = "regs i init L4\nL4: i <- 0; goto L4_2;\nL4_2: assert i < 2; goto L5;\nL4_2: assert i >= 2; goto end;\n\
                   L4_3: i <- i + 1; goto L4_2;\nL5: mem[x] <- i; goto L4_3;";
    for step in ["i++", "++i", "i += 1", "i = i + 1"] {
        assert_eq!(automaton(&format!("for (let i = 0; i < 2; {step}) {{\nx = i;\n}}")), counted);
    }
    let asked_behind = "regs y' init L5\nL5: mem[x] <- 1; goto L6;\nL6: y' <- mem[y]; goto L6_2;\nL6_2: assert y'; goto L5;\n\
                        L6_2: assert !y'; goto end;";
    assert_eq!(automaton("do {\nx = 1;\n} while (y);"), asked_behind);
    // `continue` goes to what comes behind the body.
    let skipped = automaton("for (let i = 0; i < 2; i++) {\nif (x) { continue; }\ny = 1;\n}");
    assert!(skipped.contains("L5_2: assert x'; goto L4_3;"), "{skipped}");
    let skipped = automaton("do {\nif (x) { continue; }\ny = 1;\n} while (y);");
    assert!(skipped.contains("L5_2: assert x'; goto L7;"), "{skipped}");
    assert_eq!(automaton("for (;;) { x = 1; }"), automaton("loop { x = 1; }"));
    // What is counted with is seen in the loop alone, and what is added is computed as a whole.
    let twice = automaton("for (let i = 0; i < 2; i++) { }\nfor (let i = 0; i < 3; i -= 1 - 2) { }");
    assert!(twice.contains("assert i < 3") && twice.contains("i <- i - (1 - 2)"), "{twice}");
}

#[test]
fn branches_and_choices() {
    let expected = "regs r init L4\nL4: r <- mem[x]; goto L5;\nL5: assert r = 0; goto L5_2;\nL5: assert r != 0; goto L6;\n\
                    L5_2: mem[y] <- 1; goto L8;\nL6: assert r < 2; goto L6_2;\nL6: assert r >= 2; goto L7;\n\
                    L6_2: mem[y] <- 2; goto L8;\nL7: mem[y] <- 3; goto L8;\nL8: mfence; goto end;";
    let body = "let r = x;\nif (r == 0) { y = 1; }\nelse if (r < 2) { y = 2; }\nelse { y = 3; }\nmfence;";
    assert_eq!(automaton(body), expected);
    let choice =
        "init L4\nL4: nop; goto L4_2;\nL4: nop; goto L5;\nL4_2: mem[x] <- 1; goto end;\nL5: mem[y] <- 1; goto end;";
    assert_eq!(automaton("choose { x = 1; }\nor { y = 1; }"), choice);
    let any = automaton("let r = *;\nif (*) { x = r; }");
    assert_eq!(
        any,
        "regs r init L4\nL4: r <- *; goto L5;\nL5: nop; goto L5_2;\nL5: nop; goto end;\nL5_2: mem[x] <- r; goto end;"
    );
}

#[test]
fn locked_updates() {
    let body = "fetch_add(x, 1);\nfetch_sub(x, 1);\nfetch_or(slot[1], 4);\nfetch_and(x, 3);\nfetch_xor(&x, 1);\n\
                let r = cas(x, 0, 1);\nxchg(*r, y);\nrmw(x, old * 2);";
    let lines = automaton(body);
    let actions: Vec<&str> =
        lines.lines().skip(1).map(|line| &line[line.find(' ').unwrap_or(0) + 1..line.find(';').unwrap()]).collect();
    let expected = [
        "fetch_add(mem[x], 1)",
        "rmw(mem[x], old - 1)",
        "rmw(mem[slot + 1], old | 4)",
        "rmw(mem[x], old & 3)",
        "rmw(mem[x], old ^ 1)",
        "r <- cas(mem[x], 0, 1)",
        "y' <- mem[y]",
        "xchg(mem[r], y')",
        "rmw(mem[x], old * 2)",
    ];
    assert_eq!(actions, expected);
    let spin = automaton("while (xchg(x, 1) != 0) { }");
    assert_eq!(
        spin,
        "regs x' init L4\nL4: x' <- xchg(mem[x], 1); goto L4_2;\nL4_2: assert x' != 0; goto L4;\nL4_2: assert x' = 0; goto end;"
    );
}

#[test]
fn sections_end_on_every_way_out() {
    let expected = "regs x' init L5\nL5: lock; goto L5_2;\nL5_2: x' <- mem[x]; goto L5_3;\nL5_3: assert x' = 0; goto L5_4;\n\
                    L5_3: assert x' != 0; goto L6;\nL5_4: unlock; goto end;\nL6: mem[x] <- 0; goto L6_2;\nL6_2: unlock; goto L5;";
    assert_eq!(automaton("loop {\natomic { if (x == 0) { break; }\nx = 0; }\n}"), expected);
}

#[test]
fn declarations_with_known_values_are_values_at_the_start() {
    let program = program(
        "program p\nconst N = 2;\naddress x\nthread t {\n  let i = N;\n  let j;\n  x = i + j;\n  let k = 3;\n  x = k;\n}\n",
    );
    let registers: Vec<_> = program.threads[0].registers.iter().map(|it| (it.name.as_str(), it.initial)).collect();
    assert_eq!(registers, [("i", 2), ("j", 0), ("k", 0)]);
    assert_eq!(program.threads[0].instructions.len(), 3);
}

#[test]
fn procedures_are_inlined_with_registers_of_their_own() {
    let text = "program p\naddress m, n, x\nproc lock(l) {\n  spin: while (xchg(l, 1) != 0) { pause; }\n}\nproc unlock(l) { l = 0; }\n\
                proc twice(v) {\n  let r = v + v;\n  return r;\n}\nthread t {\n  lock(m);\n  x = twice(x + 1);\n  unlock(m);\n  lock(n);\n}\n";
    let expected = [
        "thread t regs l', twice', x', twice_v, twice_r init L12_spin begin",
        "L12_spin: l' <- xchg(mem[m], 1); goto L12_L4;",
        "L12_L4: assert l' != 0; goto L12_spin;",
        "L12_L4: assert l' = 0; goto L13;",
        "L13: x' <- mem[x]; goto L13_2;",
        "L13_2: twice_v <- x' + 1; goto L13_3;",
        "L13_3: twice_r <- twice_v + twice_v; goto L13_L9;",
        "L13_L9: twice' <- twice_r; goto L13_4;",
    ];
    let shown = automata(text);
    for (line, expected) in shown.lines().zip(expected) {
        assert_eq!(line.trim(), expected, "{shown}");
    }
    assert!(shown.contains("L15_spin: l' <- xchg(mem[n], 1)"), "{shown}");
}

#[test]
fn copies_that_say_self_are_threads() {
    let text = "program p\nconst N = 3;\naddress flag[N], x\nthread t [N] {\n  flag[self] = 1;\n  cs: x = flag[(self + 1) % N];\n}\nnever t at cs, t at cs\n";
    let program = program(text);
    let threads: Vec<_> = program.threads.iter().map(|thread| (thread.name.as_str(), thread.copies)).collect();
    assert_eq!(threads, ["t_0", "t_1", "t_2"].map(|name| (name, Copies::Exactly(1))));
    // Two of three copies: each pair of them.
    assert_eq!(program.never.len(), 3);
    let shown = automata(text);
    assert!(shown.contains("mem[flag + 2] <- 1") && shown.contains("flag' <- mem[flag]"), "{shown}");
}

#[test]
fn calls_among_the_arguments_of_a_call_come_first() {
    let text = "program p\naddress x, y\nproc least(a, b) {\n  if (a < b) { return a; }\n  return b;\n}\nthread t {\n  x = least(x + 1, least(y + 1, 2));\n}\n";
    let shown = automata(text);
    let place = |what: &str| shown.rfind(what).unwrap_or_else(|| panic!("{what}: {shown}"));
    assert_eq!(shown.matches("least_a <- ").count(), 2, "{shown}");
    assert!(place("least'_2 <- ") < place("least_a <- x' + 1"), "{shown}");
}
