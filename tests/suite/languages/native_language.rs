//! The native language: what means what, and what is refused with which words.

use palisade::program::{Action, BinaryOperator, Copies, DomainOrigin, Expression, Program, SourceText};
use palisade::syntax::{Diagnostic, Format, parse, read, render};

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
    shown(text, &read(source, Format::Native).expect("the text is right").warnings)
}

/// The first action of the first thread, in a thread with registers r and s.
fn action(instruction: &str) -> Action {
    let text = format!("program p thread t regs r, s init a begin a: {instruction} end");
    program(&text).threads[0].instructions[0].action.clone()
}

fn value(expression: &str, registers: &[i64]) -> i64 {
    let Action::Assign { value, .. } = action(&format!("r <- {expression};")) else { panic!("an assignment") };
    value.evaluate(registers, None).expect("the value exists")
}

#[test]
fn dekker_as_printed() {
    let printed = "program Dekker\n\nthread t1 regs r1 init l0 begin\n\nl0: mem[x] ← 1; goto l1;\nl1: r1 ← mem[y]; goto l2;\n\
                   end\n\nthread t2 regs r2 init l′0 begin\n\nl′0: mem[y] ← 1; goto l′1;\nl′1: r2 ← mem[x]; goto l′2;\nend\n";
    let typed = "program Dekker\nthread t_1 regs r_1 init l_0 begin /* one */ l_0: mem[x] <- 1; goto l_1;\n\
                 l_1: r_1 := mem[y]; goto l_2; end\nthread t_2 regs r_2 init l_0' begin\nl_0': mem[y] <- 1; goto l_1';\n\
                 l_1': r_2 <- mem[x]; goto l_2';\nend";
    let programs = [program(printed), program(typed)];
    for program in &programs {
        assert_eq!(program.name, "Dekker");
        assert_eq!(
            program.addresses.iter().map(|entry| (entry.name.as_str(), entry.address)).collect::<Vec<_>>(),
            [("x", 1), ("y", 2)]
        );
        let [first, second] = program.threads.as_slice() else { panic!("two threads") };
        assert_eq!(first.copies, Copies::Exactly(1));
        assert_eq!(first.instructions.len(), 2);
        assert_eq!(second.labels.len(), 3);
        assert_eq!(first.instructions[0].source, first.initial);
        assert_eq!(first.instructions[0].target, first.instructions[1].source);
    }
    assert_eq!(programs[0].threads[1].labels[2].name, "l′2");
}

#[test]
fn declarations() {
    let program = program(
        "program p\ndomain -4..3 wrap\naddress x, y = 2, slot[4], z = 4\ninitial x = 1, slot[3] = -2\ninitial mem[9] = x + 1\n\
         thread a [*] regs r s init l begin l: r <- mem[w]; end\nthread b [3] init l begin l: nop; goto l end",
    );
    let domain = program.domain.expect("a domain is declared");
    assert_eq!((domain.low, domain.high, domain.wrap, domain.origin), (-4, 3, true, DomainOrigin::File));
    let addresses: Vec<_> =
        program.addresses.iter().map(|entry| (entry.name.as_str(), entry.address, entry.length)).collect();
    assert_eq!(addresses, [("x", 1, 1), ("y", 2, 1), ("slot", 5, 4), ("z", 4, 1), ("w", 9, 1)]);
    assert_eq!(program.initial_memory.iter().collect::<Vec<_>>(), [(&1, &1), (&8, &-2), (&9, &2)]);
    assert_eq!((program.threads[0].copies, program.threads[1].copies), (Copies::Any, Copies::Exactly(3)));
}

#[test]
fn instructions() {
    assert!(matches!(action("r <- mem[r + 1];"), Action::Load { .. }));
    assert!(matches!(action("mem[x] <- r; goto a;"), Action::Store { .. }));
    assert_eq!(action("mfence;"), Action::Fence);
    assert_eq!(action("nop"), Action::Nop);
    assert_eq!(action("lock; goto a;"), Action::Lock);
    assert_eq!(action("unlock"), Action::Unlock);
    assert_eq!(action("fail;"), Action::Fail);
    assert!(matches!(action("assert r = 0;"), Action::Assume(_)));
    assert!(matches!(action("assume r == 0;"), Action::Assume(_)));
    assert!(matches!(action("ensure r != 0;"), Action::Ensure(_)));
    assert!(matches!(action("r <- *; goto a;"), Action::Havoc { .. }));
    assert!(matches!(action("r <- cas(mem[x], 0, s);"), Action::Cas { register: Some(_), .. }));
    assert!(matches!(action("cas(mem[x], 0, s);"), Action::Cas { register: None, .. }));
    let Action::Rmw { register: None, new, .. } = action("xchg(mem[x], s + 1);") else { panic!("an exchange") };
    assert_eq!(new.evaluate_with_old(&[0, 4], 9, None), Ok(5));
    let Action::Rmw { register: Some(_), new, .. } = action("r <- fetch_add(mem[x], s);") else {
        panic!("an addition")
    };
    assert_eq!(new.evaluate_with_old(&[0, 4], 9, None), Ok(13));
    let Action::Rmw { new, .. } = action("rmw(mem[x], old * 2 | s);") else { panic!("an update") };
    assert_eq!(new.evaluate_with_old(&[0, 1], 9, None), Ok(19));
    assert_eq!(action("fetch_add(mem[x], s);"), action("rmw(mem[x], old + s);"));
}

#[test]
fn precedence_is_that_of_c() {
    assert_eq!(value("1 + 2 * 3 - 4 / 2", &[0, 0]), 5);
    assert_eq!(value("10 - 4 - 3", &[0, 0]), 3);
    assert_eq!(value("1 << 2 + 1", &[0, 0]), 8);
    assert_eq!(value("6 & 3 == 3", &[0, 0]), 0);
    assert_eq!(value("1 | 2 ^ 3 & 2", &[0, 0]), 1);
    assert_eq!(value("1 || 0 && 0", &[0, 0]), 1);
    assert_eq!(value("!r + 1", &[0, 0]), 2);
    assert_eq!(value("-r * -2 - -1", &[3, 0]), 7);
    assert_eq!(value("2 < 3 != 0 ≤ 1", &[0, 0]), 0);
    assert_eq!(value("~0x0f & 0xff", &[0, 0]), 0xf0);
    assert_eq!(value("u8(r) - i8(r)", &[255, 0]), 256);
    assert_eq!(value("-9223372036854775808", &[0, 0]), i64::MIN);
    assert_eq!(action("r <- -5;"), action("r <- (-5);"));
    assert_ne!(action("r <- -5;"), action("r <- -(5);"));
}

#[test]
fn jumps_may_be_left_out() {
    let program =
        program("program p thread t init a begin\na: nop\nb: assert 1; goto a;\nb: assert 0; goto end\nc: nop;\nend");
    let thread = &program.threads[0];
    let lines: Vec<_> = thread
        .instructions
        .iter()
        .map(|line| (thread.label(line.source).name.as_str(), thread.label(line.target).name.as_str()))
        .collect();
    assert_eq!(lines, [("a", "b"), ("b", "a"), ("b", "end"), ("c", "end")]);
}

#[test]
fn spans_and_costs() {
    let text = "program p thread t regs r init a begin\n @cost(2.5) a: r <- mem[x]; goto a; @cost(1) b: nop\nend";
    let program = program(text);
    let thread = &program.threads[0];
    assert_eq!(program.source.slice(thread.instructions[0].span), "a: r <- mem[x]; goto a;");
    assert_eq!(program.source.slice(thread.instructions[1].span), "b: nop");
    assert_eq!(thread.labels[0].fence_cost, Some(2.5));
    assert_eq!(program.source.slice(thread.registers[0].span), "r");
}

#[test]
fn an_address_in_an_expression_is_its_number() {
    let text = "program p address x = 7 thread t regs r init a begin a: r <- x; b: mem[r] <- y; c: r <- mem[y]; end";
    let program = program(text);
    let Action::Assign { value: Expression::Address { value: 7, .. }, .. } = program.threads[0].instructions[0].action
    else {
        panic!("the number of x")
    };
    let Action::Store { value: Expression::Address { value: 1, .. }, .. } = program.threads[0].instructions[1].action
    else {
        panic!("the number of y")
    };
    let Action::Assign { value, .. } = action("r <- s + 1") else { panic!("an assignment") };
    assert!(matches!(value, Expression::Binary(BinaryOperator::Add, ..)));
}

#[test]
fn misspelt_words() {
    assert_eq!(errors("progam p")[0], "1:1: expected `program`, found `progam` (did you mean `program`?)");
    assert_eq!(
        errors("program p\nthraed t init a begin a: nop end\nthread u reg r init a begin end"),
        ["2:1: unexpected `thraed` (did you mean `thread`?)", "3:10: unexpected `reg` (did you mean `regs`?)"]
    );
    let body = |lines: &str| errors(&format!("program p thread t regs r1, flag init a begin\n{lines}\nend"));
    assert_eq!(body("a: mfnce; goto b;")[0], "2:9: expected `<-`, found `;` (is `mfnce` meant to be `mfence`?)");
    assert_eq!(body("a: assrt r1 = 0;")[0], "2:10: expected `<-`, found `r1` (is `assrt` meant to be `assert`?)");
    assert_eq!(body("a: nop; gto a;")[0], "2:13: expected `:`, found `a` (is `gto` meant to be `goto`?)");
    assert_eq!(body("a: r2 <- 1;")[0], "2:4: `r2` is not a register of this thread (did you mean `r1`?)");
    assert_eq!(
        body("a: r1 <- flg + 1;")[0],
        "2:10: `flg` is neither a register of this thread nor an address (did you mean `flag`?)"
    );
    assert_eq!(
        errors("program p thread t init start begin stat: nop; goto stat; end"),
        ["1:25: the thread starts at `start`, but has no label of that name (did you mean `stat`?)"]
    );
    assert_eq!(body("a: r1 = 0;")[0], "2:7: expected `<-`, found `=` (a value is assigned with `<-`)");
    assert_eq!(body("a: r1 <- memm[x];")[0], "2:10: `memm[…]` is not an expression (did you mean `mem`?)");
    assert_eq!(body("a: lock: nop;")[0], "2:8: unexpected `:`");
    assert_eq!(
        body("a: r1 <- xhcg(mem[x], (1 + 2), 3);")[0],
        "2:21: expected an operator or `)`, found `,` (did you mean `xchg`?)"
    );
}

#[test]
fn several_errors_at_once() {
    let text = "program p\nthread t regs r init a begin\n  a: r <- ; goto b;\n  b: mem[x] 1; goto end;\n  c: nop; goto d;\n\
                  d: assert (r = 0;\nend\nthread u init a begin a: nop goto end end end\n";
    assert_eq!(
        errors(text),
        [
            "3:11: unexpected `;`",
            "4:13: expected `<-`, found `1`",
            "6:17: expected an operator or `)`, found `;`",
            "8:43: unexpected keyword `end`",
        ]
    );
}

#[test]
fn duplicates_and_contradictions() {
    assert_eq!(
        errors("program p thread t init a begin a: nop end\nthread t init a begin a: nop end"),
        ["2:8: there is already a thread named `t`"]
    );
    assert_eq!(
        errors("program p\naddress x, y, x\nthread t regs r, s, r, y init a begin a: nop end"),
        [
            "2:12: `y` is an address and also a register of the thread `t`",
            "2:15: the address `x` is declared twice",
            "3:21: the register `r` is declared twice",
        ]
    );
    assert_eq!(
        errors("program p address x = 3, y[3] = 1 thread t init a begin a: nop end"),
        ["1:26: `x` and `y` have an address in common"]
    );
    assert_eq!(
        errors("program p domain 1..4\ninitial x = 1, x = 2 thread t init a begin a: r <- mem[x] end"),
        [
            "1:18: the domain does not contain 0, the value everything starts with",
            "2:16: this address has an initial value already",
            "2:47: `r` is not a register of this thread (declare it: `regs r`)"
        ]
    );
    assert_eq!(
        errors("program p thread t init a begin @cost(0) a: nop goto a @price(1) a: nop goto a end"),
        ["1:39: a cost is a number greater than 0", "1:57: unknown annotation `@price`"]
    );
    assert_eq!(
        errors("program p thread t init a begin a: assert 1; a: assert 0; goto a end"),
        ["1:33: where does this go on? The next line has the label `a` too"]
    );
}

#[test]
fn what_is_no_program() {
    assert_eq!(errors(""), ["1:1: there is no program in this text"]);
    assert_eq!(errors(" /* nothing */ # here\n"), ["1:1: there is no program in this text"]);
    assert_eq!(errors("program p"), ["1:9: the program has no thread"]);
    assert_eq!(errors("program p thread t init a begin a: nop")[0], "1:39: unexpected end of the text");
    assert_eq!(errors("thread t init a begin end")[0], "1:1: expected `program`, found the keyword `thread`");
}

#[test]
fn memory_is_read_by_loads_alone() {
    let help = "load it into a register first: `r <- mem[…]` is an instruction of its own";
    let text = "program p thread t regs r init a begin a: assert mem[x] = 0; end";
    assert_eq!(errors(text), [format!("1:50: memory cannot be read inside an expression ({help})")]);
}

#[test]
fn deep_nesting_is_refused() {
    let text = |inner: String| format!("program p thread t regs r init a begin a: r <- {inner}; end");
    let parentheses = text(format!("{}r{}", "(".repeat(100_000), ")".repeat(100_000)));
    assert_eq!(errors(&parentheses), ["1:256: brackets are nested deeper than 208 levels"]);
    for inner in [format!("{}r", "!".repeat(100_000)), vec!["r"; 100_000].join(" + ")] {
        let found = errors(&text(inner));
        assert!(found[0].contains("more than 200 operators inside each other"), "{found:?}");
    }
    assert_eq!(program(&text(vec!["r"; 200].join(" + "))).threads.len(), 1);
    assert_eq!(program(&text(format!("{}r{}", "(".repeat(199), ")".repeat(199)))).threads.len(), 1);
}

#[test]
fn suspicious_addresses_are_warned_of() {
    assert_eq!(
        warnings("program p address flag thread t regs r init a begin a: r <- mem[flga]; goto a end"),
        ["1:65: `flga` is not declared and becomes an address of its own (did you mean `flag`?)"]
    );
    assert_eq!(
        warnings(
            "program p thread t regs r init a begin a: r <- mem[s]; goto a end thread u regs s init a begin a: s <- 1 goto a end"
        ),
        ["1:52: `s` is taken for an address here, but it is a register of `u` (a register belongs to one thread)"]
    );
    assert_eq!(
        warnings("program p initial flg = 1 thread t regs r init a begin a: r <- mem[flag]; goto a end"),
        ["1:19: `flg` gets an initial value but is never accessed by its name (did you mean `flag`?)"]
    );
}
