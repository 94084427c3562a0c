//! Orderings in the words of C and Rust: what texts say, what x86 makes of it, and what is printed.

use palisade::program::{Action, Expression, Operation, Ordering, Program};
use palisade::semantics::oracle::robust;
use palisade::semantics::{Bounds, Instance};
use palisade::syntax::{Diagnostic, Format, Parsed, print, read};
use palisade::text::SourceText;

fn parsed(text: &str, format: Format) -> Result<Parsed, Vec<Diagnostic>> {
    read(SourceText::new("t.x", text), format)
}

fn program(text: &str) -> Program {
    parsed(text, Format::Native).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

/// The operations of a program, thread by thread.
fn operations(program: &Program) -> Vec<Operation> {
    let instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    instructions.filter_map(palisade::program::Instruction::operation).collect()
}

/// The orderings of a program's operations; of an update, both.
fn orderings(program: &Program) -> Vec<(Ordering, Option<Ordering>)> {
    let both = |operation: Operation| match operation {
        Operation::Update { success, failure, .. } => (success, Some(failure)),
        other => (other.ordering(), None),
    };
    operations(program).into_iter().map(both).collect()
}

fn printed(program: &Program) -> String {
    print(program, Format::Native).expect("the native language says it all").text
}

/// A thread with these lines.
fn lines(lines: &str) -> Program {
    program(&format!("program p address x, d[2] plain e thread t regs r, s init a begin {lines} end"))
}

/// A thread with this body.
fn body(text: &str) -> Program {
    program(&format!("program p address x, d[2] plain e thread t {{ let r; let s; {text} }}"))
}

const O: Ordering = Ordering::Relaxed;

#[test]
fn both_forms_say_the_same() {
    use Ordering::{AcqRel, Acquire, Plain, Release, SeqCst};
    for (line, statement, expected) in [
        ("r <- load(mem[x], acquire)", "r = load(x, acquire);", (Acquire, None)),
        ("r <- load(mem[d + 1], relaxed)", "r = load(d[1], relaxed);", (O, None)),
        ("store(mem[x], r + 1, release)", "store(x, r + 1, release);", (Release, None)),
        ("store(mem[x], 1, plain)", "store(x, 1, plain);", (Plain, None)),
        ("mem[e] <- 1", "e = 1;", (Plain, None)),
        ("r <- mem[e]", "r = e;", (Plain, None)),
        ("r <- load(mem[e], acquire)", "r = load(e, acquire);", (Acquire, None)),
        ("r <- cas(mem[x], 0, 1, acq_rel)", "r = cas(x, 0, 1, acq_rel);", (AcqRel, Some(Acquire))),
        ("r <- cas(mem[x], 0, 1, release)", "r = cas(x, 0, 1, release);", (Release, Some(O))),
        ("r <- cas(mem[x], 0, 1, acquire, relaxed)", "r = cas(x, 0, 1, acquire, relaxed);", (Acquire, Some(O))),
        ("r <- xchg(mem[x], 1, acquire)", "r = xchg(x, 1, acquire);", (Acquire, Some(Acquire))),
        ("r <- fetch_add(mem[x], 1, relaxed)", "r = fetch_add(x, 1, relaxed);", (O, Some(O))),
        ("fence(acquire)", "fence(acquire);", (Acquire, None)),
        ("fence(seq_cst)", "fence(seq_cst);", (SeqCst, None)),
    ] {
        let of_line = lines(&format!("a: {line};"));
        let of_statement = body(statement);
        assert_eq!(orderings(&of_line), [expected], "{line}");
        assert_eq!(orderings(&of_statement), [expected], "{statement}");
        let text = printed(&of_line);
        assert_eq!(orderings(&program(&text)), [expected], "{text}");
        assert_eq!(printed(&program(&text)), text);
    }
}

/// Where a program states one ordering, all other accesses and fences are sequentially consistent,
/// as in C; where it states none, it states nothing.
#[test]
fn what_says_nothing_is_sequentially_consistent_beside_what_says_something() {
    let rest = "b: mem[x] <- 1; c: r <- mem[x]; d: mfence; e: r <- fetch_add(mem[x], 1)";
    let stated = lines(&format!("a: r <- load(mem[x], relaxed); {rest};"));
    let sc = Ordering::SeqCst;
    assert_eq!(orderings(&stated), [(O, None), (sc, None), (sc, None), (sc, None), (sc, Some(sc))]);
    assert!(matches!(stated.threads[0].instructions[1].action, Action::Rmw { register: None, .. }));
    let nothing = lines(&format!("a: r <- mem[x]; {rest};"));
    assert!(!nothing.states_orderings());
    assert!(nothing.threads[0].instructions.iter().all(|instruction| instruction.stated.is_none()));
    assert!(matches!(nothing.threads[0].instructions[1].action, Action::Store { .. }));
    assert_eq!(orderings(&nothing)[1], (sc, None));
}

/// Two threads that store to one address and load the other one.
fn store_buffering(between: [&str; 2], ordering: &str) -> Program {
    let thread = |name: &str, from: &str, to: &str, between: &str| {
        format!("thread {name} {{ store({from}, 1, {ordering}); {between} let r = load({to}, relaxed); }}")
    };
    let (one, other) = (thread("t", "x", "y", between[0]), thread("u", "y", "x", between[1]));
    program(&format!("program sb address x, y {one} {other}"))
}

#[test]
fn questions_about_x86_see_the_mapping() {
    let is_robust = |program: &Program| {
        let instance = Instance::of(program).expect("fixed copies");
        robust(program, &instance, &Bounds::default()).expect("a program without loops").is_robust()
    };
    for (between, ordering, expected) in [
        (["", ""], "relaxed", false),
        (["", ""], "release", false),
        (["", ""], "seq_cst", true),
        (["fence(acq_rel);", "fence(acq_rel);"], "relaxed", false),
        (["fence(seq_cst);", "fence(release);"], "relaxed", false),
        (["fence(seq_cst);", "fence(seq_cst);"], "relaxed", true),
    ] {
        assert_eq!(is_robust(&store_buffering(between, ordering)), expected, "{between:?} {ordering}");
    }
}

/// What an instruction of a program waits for, and the text that is printed.
fn waits(program: &Program) -> (Option<Expression>, String) {
    let found = operations(program).iter().find_map(|operation| operation.until().cloned());
    (found, printed(program))
}

#[test]
fn what_waits_is_one_event() {
    for (statement, line) in [
        ("await load(x, acquire) == 5;", "await(mem[x], old = 5, acquire)"),
        ("await !(load(x, acquire) == 5);", "await(mem[x], old != 5, acquire)"),
        ("await load(x, acquire) != s;", "await(mem[x], old != s, acquire)"),
        ("await cas(x, 0, 1, acquire) == 0;", "await_cas(mem[x], 0, 1, acquire)"),
    ] {
        let own = body(statement);
        let (until, text) = waits(&own);
        assert!(until.is_some() && text.contains(line), "{statement}: {text}");
        let again = program(&text);
        assert_eq!(waits(&again), (until, text.clone()), "{text}");
        // On x86 it is the loop that it was: the access, going on and going back.
        assert_eq!(own.threads[0].instructions.len(), again.threads[0].instructions.len());
        assert_eq!(own.threads[0].instructions[0].action, again.threads[0].instructions[0].action);
    }
    // What stores when it fails does not wait, nor what reads twice.
    for statement in ["await xchg(x, 1, acquire) == 0;", "await load(x, acquire) == load(d[0], acquire);"] {
        assert_eq!(waits(&body(statement)).0, None, "{statement}");
    }
    let (until, text) = waits(&body("await x == 5;"));
    assert!(until.is_some() && text.contains("await(mem[x], old = 5)"), "{text}");
}

#[test]
fn a_weak_compare_exchange_may_fail_for_no_reason() {
    let own = body("r = weak_cas(x, 0, 1, acquire, relaxed);");
    let thread = &own.threads[0];
    let failing = thread.instructions[0].spurious().expect("it is weak");
    let outcome = thread.instructions.iter().find(|instruction| instruction.source == failing).expect("it goes on");
    assert!(matches!(&outcome.action, Action::Assign { value: Expression::Constant(0), .. }));
    let text = printed(&own);
    assert!(text.contains("weak_cas(mem[x], 0, 1, acquire, relaxed) else "), "{text}");
    assert_eq!(printed(&program(&text)), text);
}

/// The first thing that is wrong with a body: its message, what was expected, and what helps.
fn refusal(statement: &str) -> (String, Vec<String>, String) {
    let text = format!("program p address x thread t {{ let r; {statement} }}");
    let errors = parsed(&text, Format::Native).expect_err(statement);
    let error = errors.into_iter().next().expect("it is refused");
    (error.message.clone(), error.expected.clone(), error.help.clone().unwrap_or_default())
}

#[test]
fn wrong_orderings_are_refused_with_advice() {
    for (statement, message, help) in [
        ("store(x, 1, acquire);", "a store cannot be `acquire`", "`release`; the load on the other side"),
        ("r = load(x, release);", "a load cannot be `release`", "`acquire`; the store on the other side"),
        ("r = load(x, acq_rel);", "a load cannot be `acq_rel`", "`acquire` orders"),
        ("store(x, 1, acq_rel);", "a store cannot be `acq_rel`", "`release` orders"),
        ("r = cas(x, 0, 1, acquire, release);", "the load of one that fails cannot be `release`", "`acquire`"),
        ("r = fetch_add(x, 1, plain);", "an update cannot be `plain`", "`relaxed` is the weakest"),
        ("fence(relaxed);", "a fence cannot be `relaxed`", "leave it out"),
        ("r = load(x, Acquire);", "`Acquire` is no ordering", "write `acquire`"),
        ("store(x, 1, memory_order_release);", "`memory_order_release` is no ordering", "write `release`"),
        ("store(x, 1, relaxd);", "`relaxd` is no ordering", "did you mean `relaxed`?"),
        ("store(x, 1);", "the ordering is missing", "write `store(place, value, ordering)`"),
        ("r = load(x);", "the ordering is missing", "write `load(place, ordering)`"),
        ("r = store(x, 1, release);", "a store has no value", "a statement of its own"),
        ("r = fetch_add(x, 1, acquire, relaxed);", "wrong number of operands: 4, not 2", "fetch_add(place, number)"),
    ] {
        let (found, _, advice) = refusal(statement);
        assert_eq!(found, message, "{statement}");
        assert!(advice.contains(help), "{statement}: {advice}");
    }
    assert_eq!(refusal("store(x, 1, acquire);").1, ["`plain`", "`relaxed`", "`release`", "`seq_cst`"]);
}

/// What other languages have and this one lacks: one error each, at its place and with advice.
#[test]
fn what_is_of_other_languages_is_one_error() {
    for (text, message, help) in [
        ("address x thread t { asm(\"mfence\"); }", "a string means nothing here", "there is no inline assembly"),
        ("volatile x thread t { x = 1; }", "unexpected `volatile`", "`volatile` makes no access atomic"),
    ] {
        let errors = parsed(&format!("program p {text}"), Format::Native).err().expect("it is refused");
        let [error] = errors.as_slice() else { panic!("{text}: {errors:?}") };
        assert!(error.message.starts_with(message), "{error:?}");
        assert!(error.help.as_ref().is_some_and(|own| own.starts_with(help)), "{error:?}");
    }
}

#[test]
fn consume_is_read_as_acquire_and_said() {
    let text = "program p address x thread t { let r = load(x, consume); }";
    let read = parsed(text, Format::Native).expect("it is read");
    assert_eq!(orderings(&read.program), [(Ordering::Acquire, None)]);
    assert_eq!(read.warnings[0].message, "`consume` is read as `acquire`, as compilers read it");
}

fn c_test(body: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let text = format!("C t\n{{}}\nP0 (atomic_int* x, int* d) {{ {body} }}\nexists (x=0)\n");
    parsed(&text, Format::Litmus)
}

#[test]
fn litmus_tests_in_c_keep_their_orders() {
    use Ordering::{AcqRel, Acquire, Plain, Release, SeqCst};
    for (body, expected) in [
        ("int r = atomic_load_explicit(x, memory_order_acquire);", (Acquire, None)),
        ("int r = atomic_load(x);", (SeqCst, None)),
        ("atomic_store_explicit(x, 1, memory_order_release);", (Release, None)),
        ("atomic_store(x, 1);", (SeqCst, None)),
        ("*d = 1;", (Plain, None)),
        ("int r = *d;", (Plain, None)),
        ("*x = 1;", (SeqCst, None)),
        ("atomic_thread_fence(memory_order_acq_rel);", (AcqRel, None)),
        ("atomic_thread_fence(memory_order_seq_cst);", (SeqCst, None)),
        ("int r = atomic_fetch_add_explicit(x, 1, memory_order_relaxed);", (O, Some(O))),
        ("int r = atomic_exchange_explicit(x, 1, memory_order_acq_rel);", (AcqRel, Some(Acquire))),
        ("WRITE_ONCE(*d, 1);", (O, None)),
        ("int r = READ_ONCE(*d);", (O, None)),
        ("smp_store_release(d, 1);", (Release, None)),
        ("int r = smp_load_acquire(d);", (Acquire, None)),
        ("smp_mb();", (SeqCst, None)),
        ("smp_rmb();", (Acquire, None)),
        ("smp_wmb();", (Release, None)),
        ("int r = cmpxchg_acquire(d, 0, 1);", (Acquire, Some(O))),
        ("atomic_inc(d);", (O, Some(O))),
        ("int r = atomic_inc_return_release(d);", (Release, Some(O))),
        ("if (atomic_inc_return(d)) { }", (SeqCst, Some(SeqCst))),
    ] {
        let read = c_test(body).unwrap_or_else(|errors| panic!("{body}: {errors:?}")).program;
        assert_eq!(orderings(&read), [expected], "{body}");
        let text = printed(&read);
        assert_eq!(orderings(&program(&text)), [expected], "{text}");
    }
    // A full barrier of the kernel has fences around it.
    let full = c_test("int r = atomic_inc_return(d);").expect("it is read").program;
    assert_eq!(orderings(&full), [(SeqCst, Some(SeqCst)), (SeqCst, None), (SeqCst, None)]);
    let weak = "int e = 0; int r = atomic_compare_exchange_weak_explicit(x, &e, 1, memory_order_acquire, \
                memory_order_relaxed);";
    let read = c_test(weak).expect("it is read").program;
    assert!(read.threads[0].instructions.iter().any(|instruction| instruction.spurious().is_some()));
    assert_eq!(orderings(&read), [(Ordering::Acquire, Some(O))]);
}

#[test]
fn c_that_orders_nothing_is_refused_with_advice() {
    for (body, message, help) in [
        ("asm volatile(\"\" ::: \"memory\");", "inline assembly is not understood", "write what it does in C"),
        ("volatile int r = 1;", "`volatile` makes no access atomic", "leave it out"),
        ("atomic_store_explicit(x, 1, memory_order_acquire);", "a store cannot have the order", ""),
    ] {
        let errors = c_test(body).expect_err(body);
        assert!(errors[0].message.contains(message), "{errors:?}");
        assert!(errors[0].help.as_deref().unwrap_or_default().contains(help), "{errors:?}");
    }
}

#[test]
fn volatile_parameters_of_c_are_plain_and_said() {
    for (parameter, is_said) in [
        ("volatile int* x", true),
        ("const volatile int* x", true),
        ("volatile atomic_int* x", false),
        ("int* x", false),
    ] {
        let text = format!("C t\n{{}}\nP0 ({parameter}, int* volatile y) {{ int r = *x; }}\nexists (x=0)\n");
        let read = parsed(&text, Format::Litmus).expect(parameter);
        let warnings: Vec<&Diagnostic> =
            read.warnings.iter().filter(|warning| warning.message.contains("volatile")).collect();
        assert_eq!(warnings.len(), usize::from(is_said), "{parameter}: {:?}", read.warnings);
        for warning in warnings {
            assert!(warning.message.starts_with("`volatile` makes no access atomic, and orders nothing"));
            assert_eq!(&text[warning.span.start..warning.span.end], "volatile");
            assert!(warning.help.as_deref().is_some_and(|help| help.starts_with("declare the object atomic")));
            assert_eq!(orderings(&read.program), [(Ordering::Plain, None)]);
        }
    }
}
