//! Litmus tests in C: each is as the x86 test that it stands for, and what is not understood is
//! refused at its place.

mod edits;
mod kernel;
mod renderings;

use crate::checked::check;
use palisade::limits::Limits;
use palisade::program::SourceText;
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{Counting, Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::litmus::{self, LitmusTest};
use palisade::syntax::render;
use std::fmt::Write;

fn read(text: &str) -> Result<LitmusTest, String> {
    let source = SourceText::new("t.litmus", text);
    litmus::read(source.clone()).map_err(|errors| errors.iter().map(|error| render(error, &source, false)).collect())
}

fn test(text: &str) -> LitmusTest {
    read(text).unwrap_or_else(|why| panic!("{text}\n{why}"))
}

/// A test in C whose threads know the locations x, y and z.
fn c_text(kind: &str, bodies: &[&str], condition: &str) -> String {
    let mut text = String::from("C t\n{ }\n");
    for (number, body) in bodies.iter().enumerate() {
        let _ = writeln!(text, "P{number} ({kind}* x, {kind}* y, {kind}* z) {{ {body} }}");
    }
    text + condition + "\n"
}

/// A test in the X86 syntax.
fn table_text(columns: &[&[&str]], condition: &str) -> String {
    let heads: Vec<String> = (0..columns.len()).map(|index| format!("P{index}")).collect();
    let height = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let row = |row: usize| -> String {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(row).copied().unwrap_or("")).collect();
        format!("{} ;\n", cells.join(" | "))
    };
    let rows: String = (0..height).map(row).collect();
    format!("X86 t\n{{ }}\n{} ;\n{rows}{condition}\n", heads.join(" | "))
}

fn is_robust(test: &LitmusTest) -> bool {
    match check(&test.program, &CheckOptions::default()).expect("values are few").verdict {
        Verdict::Robust => true,
        Verdict::NotRobust => false,
        Verdict::Unknown(reason) => panic!("no answer: {reason}"),
    }
}

fn holds(test: &LitmusTest, model: Model) -> bool {
    let instance = Instance::of(&test.program).expect("one copy each");
    let states = final_states(&test.program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values exist");
    test.question.answer(&test.program, &instance, &states.completed, Counting::Rows).holds
}

/// The verdict, and the answers under SC and TSO.
fn answers(test: &LitmusTest) -> (bool, bool, bool) {
    (is_robust(test), holds(test, Model::Sc), holds(test, Model::Tso))
}

fn load(register: &str, place: &str) -> String {
    format!("int {register} = atomic_load_explicit({place}, memory_order_relaxed);")
}

fn store(place: &str, value: u32) -> String {
    format!("atomic_store_explicit({place}, {value}, memory_order_relaxed);")
}

/// A test's name, its bodies in C, its columns, and the conditions of both.
type Twin = (&'static str, Vec<String>, Vec<Vec<&'static str>>, &'static str, &'static str);

/// The classic shapes, with a relaxed store or load for each move.
#[test]
fn classic_tests_are_as_their_twins() {
    let [x1, y1, x2, y2] = [store("x", 1), store("y", 1), store("x", 2), store("y", 2)];
    let [ax, ay, bx, by] = [load("r0", "x"), load("r0", "y"), load("r1", "x"), load("r1", "y")];
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    let join = |parts: &[&str]| parts.join(" ");
    let twins: Vec<Twin> = vec![
        (
            "SB",
            vec![join(&[&x1, &ay]), join(&[&y1, &ax])],
            vec![vec!["MOV [x],$1", "MOV EAX,[y]"], vec!["MOV [y],$1", "MOV EAX,[x]"]],
            "exists (0:r0=0 /\\ 1:r0=0)",
            "exists (0:EAX=0 /\\ 1:EAX=0)",
        ),
        (
            "SB+mfences",
            vec![join(&[&x1, fence, &ay]), join(&[&y1, fence, &ax])],
            vec![vec!["MOV [x],$1", "MFENCE", "MOV EAX,[y]"], vec!["MOV [y],$1", "MFENCE", "MOV EAX,[x]"]],
            "exists (0:r0=0 /\\ 1:r0=0)",
            "exists (0:EAX=0 /\\ 1:EAX=0)",
        ),
        (
            "MP",
            vec![join(&[&x1, &y1]), join(&[&ay, &bx])],
            vec![vec!["MOV [x],$1", "MOV [y],$1"], vec!["MOV EAX,[y]", "MOV EBX,[x]"]],
            "exists (1:r0=1 /\\ 1:r1=0)",
            "exists (1:EAX=1 /\\ 1:EBX=0)",
        ),
        (
            "LB",
            vec![join(&[&ax, &y1]), join(&[&ay, &x1])],
            vec![vec!["MOV EAX,[x]", "MOV [y],$1"], vec!["MOV EAX,[y]", "MOV [x],$1"]],
            "exists (0:r0=1 /\\ 1:r0=1)",
            "exists (0:EAX=1 /\\ 1:EAX=1)",
        ),
        (
            "IRIW",
            vec![x1.clone(), y1.clone(), join(&[&ax, &by]), join(&[&ay, &bx])],
            vec![
                vec!["MOV [x],$1"],
                vec!["MOV [y],$1"],
                vec!["MOV EAX,[x]", "MOV EBX,[y]"],
                vec!["MOV EAX,[y]", "MOV EBX,[x]"],
            ],
            "exists (2:r0=1 /\\ 2:r1=0 /\\ 3:r0=1 /\\ 3:r1=0)",
            "exists (2:EAX=1 /\\ 2:EBX=0 /\\ 3:EAX=1 /\\ 3:EBX=0)",
        ),
        (
            "R",
            vec![join(&[&x1, &y1]), join(&[&y2, &ax])],
            vec![vec!["MOV [x],$1", "MOV [y],$1"], vec!["MOV [y],$2", "MOV EAX,[x]"]],
            "exists (y=2 /\\ 1:r0=0)",
            "exists (y=2 /\\ 1:EAX=0)",
        ),
        (
            "2+2W",
            vec![join(&[&x1, &y2]), join(&[&y1, &x2])],
            vec![vec!["MOV [x],$1", "MOV [y],$2"], vec!["MOV [y],$1", "MOV [x],$2"]],
            "exists (x=1 /\\ y=1)",
            "exists (x=1 /\\ y=1)",
        ),
        (
            "SB with stores that are sequentially consistent",
            vec![join(&["atomic_store(x, 1);", &ay]), join(&["atomic_store(y, 1);", &ax])],
            vec![
                vec!["MOV EBX,$1", "XCHG [x],EBX", "MOV EAX,[y]"],
                vec!["MOV EBX,$1", "XCHG [y],EBX", "MOV EAX,[x]"],
            ],
            "exists (0:r0=0 /\\ 1:r0=0)",
            "exists (0:EAX=0 /\\ 1:EAX=0)",
        ),
        (
            "SB with an exchange in one thread",
            vec![
                join(&["int r1 = atomic_exchange_explicit(x, 1, memory_order_relaxed);", &ay]),
                join(&[&y1, &ax]),
            ],
            vec![vec!["MOV EBX,$1", "XCHG [x],EBX", "MOV EAX,[y]"], vec!["MOV [y],$1", "MOV EAX,[x]"]],
            "exists (0:r0=0 /\\ 0:r1=0 /\\ 1:r0=0)",
            "exists (0:EAX=0 /\\ 0:EBX=0 /\\ 1:EAX=0)",
        ),
        (
            "message passing with a branch",
            vec![join(&[&x1, &y1]), "int r0 = 0; int r1 = 5; r0 = atomic_load(y); if (r0 == 1) { r1 = atomic_load(x); }".into()],
            vec![
                vec!["MOV [x],$1", "MOV [y],$1"],
                vec!["MOV EBX,$5", "MOV EAX,[y]", "CMP EAX,$1", "JNE L", "MOV EBX,[x]", "L: NOP"],
            ],
            "~exists (1:r0=1 /\\ 1:r1=0)",
            "~exists (1:EAX=1 /\\ 1:EBX=0)",
        ),
        (
            "a lock",
            vec!["while (atomic_exchange(x, 1)) ; *y = 1; int r0 = *z; atomic_store_explicit(x, 0, memory_order_release);".into(), 
                 "while (atomic_exchange(x, 1)) ; *z = 1; int r0 = *y; atomic_store_explicit(x, 0, memory_order_release);".into()],
            vec![
                vec!["L: MOV EBX,$1", "XCHG [x],EBX", "CMP EBX,$0", "JNE L", "MOV [y],$1", "MOV EAX,[z]", "MOV [x],$0"],
                vec!["L: MOV EBX,$1", "XCHG [x],EBX", "CMP EBX,$0", "JNE L", "MOV [z],$1", "MOV EAX,[y]", "MOV [x],$0"],
            ],
            "forall (0:r0=1 \\/ 1:r0=1)",
            "forall (0:EAX=1 \\/ 1:EAX=1)",
        ),
    ];
    for (name, bodies, columns, of_c, of_x86) in twins {
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let columns: Vec<&[&str]> = columns.iter().map(Vec::as_slice).collect();
        // The lock's data are plain.
        let kind = if name == "a lock" { "int" } else { "atomic_int" };
        let c = test(&c_text(kind, &bodies, of_c));
        assert!(c.architecture.is_none());
        assert_eq!(answers(&c), answers(&test(&table_text(&columns, of_x86))), "{name}");
    }
}

/// Store buffering with something between the store and the load of each thread: broken exactly
/// when that something does not empty the buffer on x86.
#[test]
fn calls_are_fences_where_x86_has_them() {
    for (between, drains) in [
        (";", false),
        ("atomic_thread_fence(memory_order_seq_cst);", true),
        ("atomic_thread_fence(memory_order_acq_rel);", false),
        ("atomic_thread_fence(memory_order_relaxed);", false),
        ("atomic_signal_fence(memory_order_seq_cst);", false),
        ("atomic_store(z, 1);", true),
        ("atomic_store_explicit(z, 1, memory_order_seq_cst);", true),
        ("atomic_store_explicit(z, 1, memory_order_release);", false),
        ("atomic_init(z, 1);", false),
        ("atomic_load(z);", false),
        ("atomic_exchange_explicit(z, 1, memory_order_relaxed);", true),
        ("atomic_fetch_add(z, 1);", true),
        ("atomic_fetch_sub_explicit(z, 1, memory_order_acquire);", true),
        ("atomic_fetch_or_explicit(z, 1, memory_order_release);", true),
        ("atomic_fetch_and(z, 0);", true),
        ("atomic_fetch_xor(z, 0);", true),
        ("int e = 7; atomic_compare_exchange_strong(z, &e, 1);", true),
        (
            "int e = 0; if (atomic_compare_exchange_weak_explicit(z, &e, 1, memory_order_relaxed, memory_order_relaxed)) { }",
            true,
        ),
        ("smp_mb();", true),
        ("mb();", true),
        ("smp_rmb();", false),
        ("smp_wmb();", false),
        ("barrier();", false),
        ("smp_mb__before_atomic();", false),
        ("smp_mb__after_atomic();", false),
        ("smp_mb__after_spinlock();", false),
        ("atomic_inc(z); smp_mb__after_atomic();", true),
        ("smp_mb__before_atomic(); atomic_inc(z);", true),
        ("atomic_read(z); smp_mb__after_atomic();", false),
        ("int r1 = xchg(z, 1);", true),
        ("cpu_relax();", false),
        ("spin_lock(z);", true),
        ("spin_trylock(z);", true),
        ("spin_is_locked(z);", false),
        ("spin_unlock(z);", false),
        ("rcu_read_lock(); rcu_read_unlock();", false),
        ("rcu_dereference(*z);", false),
        ("rcu_assign_pointer(*z, 1);", false),
        ("synchronize_rcu();", true),
        ("do { barrier(); } while (0);", false),
        ("WRITE_ONCE(*z, 1);", false),
        ("smp_store_release(z, 1);", false),
        ("smp_store_mb(*z, 1);", true),
        ("READ_ONCE(*z);", false),
        ("smp_load_acquire(z);", false),
        ("xchg_relaxed(z, 1);", true),
        ("cmpxchg(z, 5, 1);", true),
        ("cmpxchg_acquire(z, 0, 1);", true),
        ("atomic_set(z, 1);", false),
        ("atomic_read(z);", false),
        ("atomic_inc(z);", true),
        ("atomic_dec(z);", true),
        ("atomic_add(2, z);", true),
        ("atomic_sub(2, z);", true),
        ("atomic_or(2, z);", true),
        ("atomic_add_return_relaxed(1, z);", true),
        ("atomic_dec_return(z);", true),
        ("atomic_fetch_add(1, z);", true),
        ("atomic_fetch_inc_release(z);", true),
        ("atomic_xchg(z, 1);", true),
        ("atomic_cmpxchg(z, 0, 1);", true),
        ("if (atomic_dec_and_test(z)) { }", true),
        ("if (atomic_sub_and_test(1, z)) { }", true),
    ] {
        let first = format!("WRITE_ONCE(*x, 1); {between} int r0 = READ_ONCE(*y);");
        let second = format!("WRITE_ONCE(*y, 1); {between} int r0 = READ_ONCE(*x);");
        let test = test(&c_text("int", &[&first, &second], "exists (0:r0=0 /\\ 1:r0=0)"));
        assert_eq!(is_robust(&test), drains, "{between}");
        assert_eq!(holds(&test, Model::Tso), !drains, "{between}");
    }
}

/// What one thread computes alone.
#[test]
fn values_are_those_of_c() {
    for (kind, body, condition) in [
        ("int", "int r0 = -1; unsigned r1 = r0; long r2 = r1;", "0:r0=-1 /\\ 0:r1=4294967295 /\\ 0:r2=4294967295"),
        ("int", "int r0 = 2147483647; r0 = r0 + 1;", "0:r0=-2147483648"),
        ("int", "unsigned int r0 = 0; r0--; int r1 = r0 > 1;", "0:r0=4294967295 /\\ 0:r1=1"),
        ("int", "int r0 = -1; unsigned r1 = 1; int r2 = r0 < r1; int r3 = r0 < 1;", "0:r2=0 /\\ 0:r3=1"),
        ("uint8_t", "*x = 300; int r0 = *x + *x; *x = *x - 45;", "0:r0=88 /\\ x=255"),
        ("uint8_t", "atomic_fetch_sub(x, 1); int r0 = atomic_fetch_add(x, 2);", "0:r0=255 /\\ x=1"),
        (
            "atomic_int",
            "atomic_store(x, 2147483647); int r0 = atomic_fetch_add(x, 1); int r1 = *x;",
            "0:r0=2147483647 /\\ 0:r1=-2147483648",
        ),
        ("int", "int r0 = (2 + 3) * 4 - 7 / 2 % 2 << 1;", "0:r0=38"),
        (
            "int",
            "int r0 = 0x1F & ~3 | 0100 ^ 1; int r1 = !r0; int r2 = (uint8_t)(r0 + 200);",
            "0:r0=93 /\\ 0:r1=0 /\\ 0:r2=37",
        ),
        ("int", "int r0 = 3; r0 += 4; r0 <<= 1; r0++; r0 ^= 1;", "0:r0=14"),
        (
            "int",
            "int r0 = atomic_add_return(5, x); int r1 = atomic_fetch_sub(2, x); int r2 = atomic_inc_return(x);",
            "0:r0=5 /\\ 0:r1=5 /\\ 0:r2=4",
        ),
        (
            "int",
            "int r0 = atomic_inc_and_test(x); int r1 = atomic_dec_and_test(x); int r2 = atomic_sub_return(1, x);",
            "0:r0=0 /\\ 0:r1=1 /\\ 0:r2=-1",
        ),
        (
            "int",
            "int e = 0; int r0 = atomic_compare_exchange_strong(x, &e, 4); int r1 = e; int r2 = atomic_compare_exchange_strong(x, &e, 5);",
            "0:r0=1 /\\ 0:r1=0 /\\ 0:r2=0 /\\ 0:e=4 /\\ x=4",
        ),
        ("int", "int e = 3; e = atomic_compare_exchange_strong(x, &e, 4);", "0:e=0 /\\ x=0"),
        ("int", "int e = 0; e = atomic_compare_exchange_strong(x, &e, 4);", "0:e=1 /\\ x=4"),
        ("int", "int e = 3; while (!atomic_compare_exchange_weak(x, &e, e + 1)) { }", "0:e=0 /\\ x=1"),
        (
            "int",
            "int r0 = cmpxchg(x, 0, 2); int r1 = cmpxchg(x, 0, 3); int r2 = xchg(x, 4);",
            "0:r0=0 /\\ 0:r1=2 /\\ 0:r2=2 /\\ x=4",
        ),
        (
            "int",
            "int r0 = 0; while (1) { r0 = r0 + 1; if (r0 == 2) continue; if (r0 > 3) { break; } else *x = r0; }",
            "0:r0=4 /\\ x=3",
        ),
        ("int", "int r0 = 1; if (r0 == 0) *x = 1; else if (r0 == 1) { *x = 2; } else *x = 3; return; *x = 9;", "x=2"),
        ("int", "int r0 = 0 && *x, r1 = 1 || *x;", "0:r0=0 /\\ 0:r1=1"),
        (
            "unsigned long",
            "*x = -1; unsigned long r0 = *x + 2; int r1 = *x == 18446744073709551615u;",
            "0:r0=1 /\\ 0:r1=1",
        ),
        ("int", "*(x) = 1; (*y) = *x /* two */ + 2; // three\n", "x=1 /\\ y=3"),
    ] {
        let test = test(&c_text(kind, &[body], &format!("forall ({condition})")));
        assert!(holds(&test, Model::Tso) && holds(&test, Model::Sc), "{body}: {condition}");
    }
}

/// The initial state gives locations, arrays and parameters their values and types.
#[test]
fn initial_states() {
    let text = "C init (a comment in parentheses)\n(* of the test *)\n\"quoted { text\"\nSource=http://example.org\n\
        { int a[3] = {1, 2, 3}; atomic_uint y = 4294967295; 0:r1 = 7; P1:r1 = -1; x = 0x10; /* C's */ }\n\
        P0 (int* a, atomic_uint* y, int r1) { int r0 = a[2] + *(&a[1]); WRITE_ONCE(a[0], r1); unsigned r2 = atomic_load(y); }\n\
        P1 (volatile int* x, short r1, int r2) { int r0 = *x; }\n\
        locations [x; a[1]]\n\
        forall (0:r0=5 /\\ a[0]=7 /\\ 0:r2=4294967295 /\\ 1:r0=16 /\\ 1:r1=-1 /\\ 1:r2=0 /\\ *x=16)\n<< other }\n";
    let test = test(text);
    assert_eq!((test.name.as_str(), test.description.as_str()), ("init", "quoted { text"));
    assert_eq!(test.information, [("Source".to_owned(), "http://example.org".to_owned())]);
    assert!(holds(&test, Model::Tso));
}

/// What is refused: the body, a part of the message, and the text to which the message points.
#[test]
fn mistakes_are_refused_at_their_places() {
    for (body, message, at) in [
        ("int r0 = atomic_load_explicit(x, memory_order_release);", "a load cannot have", "memory_order_release"),
        ("atomic_store_explicit(x, 1, memory_order_acquire);", "a store cannot have", "memory_order_acquire"),
        ("atomic_store_explicit(x, 1, memory_order_consume);", "a store cannot have", "memory_order_consume"),
        ("atomic_thread_fence(mo_sc);", "no memory order", "mo_sc"),
        ("int r0 = 1; int r1 = *r0;", "no address", "*r0"),
        ("int r0 = x;", "an address", "x"),
        ("int r0 = atomic_load(*x);", "address is expected", "*"),
        ("call_rcu(x, y);", "`call_rcu` is not understood", "call_rcu"),
        ("int r0 = atomic_laod(x);", "did you mean `atomic_load`", "atomic_laod"),
        ("int r0 = frobnicate(x);", "`frobnicate` is not understood", "frobnicate"),
        ("int r1 = r0;", "there is no `r0`", "r0"),
        ("int r0; int r0;", "declared already", "r0"),
        ("int x;", "name of a location", "x"),
        ("{ int r0; } { long r0; }", "another type", "r0"),
        ("if (*x) { int r0; } r0 = 1;", "there is no `r0`", "r0"),
        ("int r0 = atomic_store(x, 1);", "has no value", "atomic_store(x, 1)"),
        ("for (;;) { }", "write it with `while`", "for"),
        ("goto end;", "not understood", "goto"),
        ("int r0 = *x ? 1 : 2;", "`?` is not understood", "?"),
        ("*x += 1;", "atomic_fetch_add", "+="),
        ("int r0 = x[1];", "has no element 1", "x[1]"),
        ("int r0 = 0; int r1 = x[r0];", "a number that the text shows", "r0"),
        ("int r0 = 1 << *x;", "a shift of 32 bits", "*x"),
        ("unsigned long r0 = 1; int r1 = r0 < 2;", "have no order", "r0 < 2"),
        ("int r0 = 0; atomic_compare_exchange_strong(x, r0, 1);", "not the address", "r0"),
        ("long r0 = 0; atomic_compare_exchange_strong(x, &r0, 1);", "not the address", "&r0"),
        ("int old = 1; atomic_fetch_add(x, old);", "another name", "old"),
        ("int r0 = atomic_add_return(*y, x);", "needs its number twice", "*y"),
        ("break;", "outside of a loop", "break"),
        ("float r0 = 1;", "not a type", "float"),
        ("int r0 = 1 $ 2;", "unexpected character", "$"),
        ("WRITE_ONCE(*x, 1)", "unexpected `}`", "}"),
        ("int r0 = *q;", "there is no `q`", "q"),
        ("int r0 = READ_ONCE(*q);", "make it a parameter of the thread: `int *q`", "q"),
        ("again: WRITE_ONCE(*x, 1);", "labels are not understood", "again"),
        ("set_bit(1, x);", "write `atomic_or`", "set_bit"),
    ] {
        let text = c_text("int", &[body], "");
        let source = SourceText::new("t", text.as_str());
        let errors = litmus::read(source.clone()).expect_err(body);
        let shown: String = errors.iter().map(|error| render(error, &source, false)).collect();
        assert!(shown.contains(message), "{body}: {shown}");
        let pointed = source.slice(errors[0].span);
        assert!(pointed.starts_with(at), "{body}: points at `{pointed}`: {shown}");
    }
    for (text, message) in [
        ("C t\n{ int x; }\nP0 (long* x) { }", "declared twice, differently"),
        ("C t\n{ 0:r0 = 1; }\nP0 (int* x) { int r0; }", "no parameter has this name"),
        ("C t\n{ x=1; x=2; }\nP0 (int* x) { }", "initial value already"),
        ("C t\n{ uint8_t x=256; }\nP0 (uint8_t* x) { }", "does not fit in 8 bits"),
        ("C t\n{ }\nP0 (int* x) { }\nexists (0:r0=1)", "no variable `r0`"),
        ("C t\n{ }\nP0 (int* x) { }\nexists (1:r0=1)", "there is no thread P1"),
        ("C t\n{ }\nP0 (int* x) { }\nP0 (int* x) { }", "two threads"),
        ("C t\n{ }\nP0 (int* x) { ", "never closed"),
        ("C t\n{ }\nP0 { }", "followed by its parameters"),
        ("C t\n{ }\nP0 (rwlock_t* x) { }", "not a type"),
        ("C t\n{ }\nexists (x=1)", "no threads"),
        ("C t\nP0 (int* x) ", "no initial state"),
        ("C t\n{ x=1; } /* ", "comment is never closed"),
        ("C t\n{ self=1; }\nP0 (int* x) { }", "`self`"),
        ("C t\nP0 (int* x) { WRITE_ONCE(*x, 1); }", "no initial state in front of the threads"),
        ("SB\n{ }\nP0 (int* x) { WRITE_ONCE(*x, 1); }", "tests for `SB` cannot be read"),
        ("C t\n{ }\nP0 (int* x) { int r0 = *x; }\nexists (r0=1)", "name the thread: `0:r0`"),
        ("C t\n{ }\nP0 (int* x) { }\nexists (x=1 && x=2)", "write `/\\`"),
        ("C t\n{ }\nP0 (int* x) { }\nexists (x=1 || x=2)", "write `\\/`"),
    ] {
        let why = read(text).map(|_| ()).expect_err(text);
        assert!(why.contains(message), "{text}: {why}");
    }
}

/// A plain write of an atomic object is a locked exchange, with a warning.
#[test]
fn plain_writes_of_atomic_objects() {
    let test =
        test(&c_text("atomic_int", &["*x = 1; int r0 = *y;", "*y = 1; int r0 = *x;"], "exists (0:r0=0 /\\ 1:r0=0)"));
    assert_eq!(test.warnings.len(), 2);
    assert!(is_robust(&test));
}

/// Tests of the kernel leave declarations out at times.
#[test]
fn variables_that_nobody_declares_are_integers() {
    let bodies = |declaration: &str| {
        let body = |from: &str, to: &str| {
            format!(
                "{declaration} atomic_store_explicit({to}, 1, memory_order_relaxed); if (1) {{ r0 = atomic_load_explicit({from}, memory_order_relaxed); }}"
            )
        };
        [body("x", "y"), body("y", "x")]
    };
    let of = |declaration: &str| {
        let [one, other] = bodies(declaration);
        test(&c_text("atomic_int", &[&one, &other], "exists (0:r0=0 /\\ 1:r0=0)"))
    };
    assert_eq!(answers(&of("")), answers(&of("int r0;")));
    assert_eq!(answers(&of("")), (false, false, true));
}
