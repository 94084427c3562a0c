//! Waiting, sleeping and waking: what both forms and C say of it, what is printed and refused.

use crate::checked;
use palisade::hangs::{HangOptions, Verdict};
use palisade::limits::Limits;
use palisade::program::{Action, Patience, Program, Queue};
use palisade::semantics::{Instance, Model, State, final_states};
use palisade::syntax::{Diagnostic, Format, print, read};
use palisade::text::SourceText;

fn parsed(text: &str, format: Format) -> Result<Program, Vec<Diagnostic>> {
    read(SourceText::new("t.x", text), format).map(|parsed| parsed.program)
}

fn program(text: &str) -> Program {
    parsed(text, Format::Native).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

fn printed(program: &Program) -> String {
    print(program, Format::Native).expect("the native language says it all").text
}

#[test]
fn both_forms_say_the_same() {
    for (statement, lines) in [
        ("await (x == 1);", "await(mem[x], old = 1)"),
        ("await (x);", "await(mem[x], old)"),
        ("lock(m);", "await_cas(mem[m], 0, 1)"),
        ("unlock(m);", "xchg(mem[m], 0)"),
        ("acquire(x);", "acquire(mem[x])"),
        ("release(x);", "fetch_add(mem[x], 1)"),
        ("wait(x, 2);", "sleep mem[x] if = 2"),
        ("wake(x, 1);", "wake mem[x] 1"),
        ("wake(x, all);", "wake mem[x] all"),
        ("cond_wait(x, m);", "sleep mem[x] releasing mem[m]; goto L1_2"),
        ("notify_one(x);", "wake mem[x] 1"),
        ("notify_all(x);", "wake mem[x] all"),
        ("park;", "await_cas(mem[t'token], 1, 0)"),
        ("park();", "await_cas(mem[t'token], 1, 0)"),
        ("unpark(t);", "xchg(mem[t'token], 1)"),
        ("idle wait(x, 0);", "idle sleep mem[x] if = 0"),
        ("timed await (x == 0);", "timed x' <- await(mem[x], old = 0)"),
        ("idle lock(m);", "idle m' <- await_cas(mem[m], 0, 1)"),
    ] {
        let own = program(&format!("program p address x, m daemon thread t {{ {statement} }}"));
        let text = printed(&own);
        assert!(text.contains(lines), "{statement}: {text}");
        let again = program(&text);
        assert_eq!(printed(&again), text, "{statement}");
        let [own, again] = [own, again].map(|program| program.threads.into_iter().next().expect("a thread"));
        assert!(own.is_daemon && again.is_daemon, "{statement}");
        let parts = |thread: &palisade::program::Thread| -> Vec<_> {
            let parts = |own: &palisade::program::Instruction| {
                (own.action.clone(), own.until().cloned(), own.queue().cloned(), own.patience())
            };
            thread.instructions.iter().map(parts).collect()
        };
        assert_eq!(parts(&own), parts(&again), "{statement}");
    }
}

#[test]
fn sleeping_is_an_update_that_changes_nothing() {
    let own = program("program p address x, m thread t { wait(x, 1); timed cond_wait(x, m); wake(x, 1); }");
    let instructions = &own.threads[0].instructions;
    assert!(matches!(&instructions[0].action, Action::Cas { expected, new, .. } if expected == new));
    assert!(instructions[0].sleeps().is_some() && own.has_sleepers() && own.says_waits());
    assert_eq!(instructions[1].patience(), Patience::Timed);
    let queues: Vec<_> = instructions.iter().filter_map(|own| own.queue()).collect();
    assert!(matches!(queues[..], [Queue::Sleep { .. }, Queue::Sleep { .. }, Queue::Wake { all: false, .. }]));
}

#[test]
fn procedures_go_before_words() {
    let own = program("program p address x thread t { lock(x); } proc lock(l) { while (xchg(l, 1) != 0) { pause; } }");
    assert!(printed(&own).contains("xchg(mem[x], 1)"));
    assert!(!own.says_waits());
}

#[test]
fn each_copy_that_parks_has_a_token() {
    let own = program("program p address x thread t [2] { park; } thread u { unpark(t[1]); unpark(t[x]); }");
    let names: Vec<&str> = own.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["t_0", "t_1", "u"]);
    let text = printed(&own);
    assert!(text.contains("address x, t'token[2]"), "{text}");
    assert!(text.contains("await_cas(mem[t'token + 1], 1, 0)"), "{text}");
}

#[test]
fn what_is_wrong_is_said_once() {
    for (text, message, help) in [
        ("thread t { wake(x, 2); }", "a wake-up wakes one sleeper or all", "to wake two, wake one twice"),
        ("thread t { wait(x); }", "wrong number of operands: 1, not 2", "write `wait(place, value)`"),
        ("thread t { let r = wait(x, 0); }", "`wait` has no value", "statement of its own"),
        ("thread t { idle x = 1; }", "`idle` is said of what waits", "mark the `await`"),
        ("thread t { idle wake(x, 1); }", "`idle` is said of a statement that waits", "mark the `await`"),
        ("thread t [*] { park; }", "which token?", "`[3]`"),
        ("thread t { unpark(x); }", "this is no thread with a body in braces", ""),
        ("thread t [2] { park; } thread u { unpark(t); }", "which copy is to be unparked?", "write `unpark(t[i])`"),
        ("thread t [2] { park; } thread u { unpark(t[2]); }", "`t` has no such copy", "t[0] to t[1]"),
        ("thread t { park; } thread u { unpark(t[0]); }", "which copy is to be unparked?", "write `unpark(t)`"),
        ("thread t { futex_wait(x, 0); }", "there is no procedure `futex_wait`", "write `wait(x, value)`"),
        ("daemon event e { x = 1; }", "`daemon` stands before a thread", "`daemon thread name"),
        ("thread t regs init a begin a: wake mem[x] 3; end", "a wake-up wakes one sleeper or all", "wake one twice"),
        ("thread t regs init a begin a: sleep mem[x] if = 1 releasing mem[m]; end", "not both", "compare before"),
        ("thread t regs init a begin a: idle mem[x] <- 1; end", "`idle` is said of what waits", "`sleep` wait"),
        ("thread t regs init a begin a: acquire(mem[x]); end", "what is read needs a register", "`r <- …`"),
        (
            "thread t regs r init a begin a: r <- await(mem[x], old = 1); goto b; a: mem[m] <- r; goto b; end",
            "a try that fails leaves its value behind",
            "another register",
        ),
        (
            "thread t regs r init a begin a: r <- await(mem[r], old = 1); goto b; end",
            "a try that fails leaves its value behind",
            "another register",
        ),
    ] {
        let errors = parsed(&format!("program p address x, m {text}"), Format::Native).expect_err(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:#?}");
        assert!(errors[0].message.contains(message), "{text}: {errors:#?}");
        let said = errors[0].help.clone().unwrap_or_default();
        assert!(said.contains(help), "{text}: {errors:#?}");
    }
}

#[test]
fn c_says_it_by_the_names_that_people_use() {
    let test = |body: &str| {
        let text =
            format!("C t\n{{ }}\nP0(atomic_int *x, pthread_mutex_t *m, pthread_cond_t *c) {{ {body} }}\nexists (x=0)");
        parsed(&text, Format::Litmus)
    };
    for (body, lines) in [
        ("futex_wait(x, 1);", "sleep mem[x] if = 1"),
        ("futex_wake(x, 1);", "wake mem[x] 1"),
        ("futex_wake(x, INT_MAX);", "wake mem[x] all"),
        ("pthread_mutex_lock(m);", "await_cas(mem[m], 0, 1, acquire, relaxed)"),
        ("pthread_mutex_unlock(m);", "xchg(mem[m], 0, release)"),
        ("pthread_cond_wait(c, m);", "sleep mem[c] releasing mem[m]"),
        ("pthread_cond_signal(c);", "wake mem[c] 1"),
        ("pthread_cond_broadcast(c);", "wake mem[c] all"),
        ("sem_wait(x);", "acquire(mem[x]"),
        ("sem_post(x);", "fetch_add(mem[x], 1"),
        ("pthread_spin_lock(x);", "await_cas(mem[x], 0, 1, acquire, relaxed)"),
        ("pthread_rwlock_wrlock(x);", "await_cas(mem[x], 0, -1, acquire, relaxed)"),
        ("pthread_rwlock_unlock(x);", "rmw(mem[x], old - (old > 0) + (old < 0), release)"),
        ("int r = pthread_mutex_trylock(m);", "cas(mem[m], 0, 1, acquire, relaxed)"),
        ("int r = sem_trywait(x);", "rmw(mem[x], old - (old > 0), acquire)"),
    ] {
        let text = printed(&test(body).unwrap_or_else(|errors| panic!("{body}: {errors:#?}")));
        assert!(text.contains(lines), "{body}: {text}");
    }
    let errors = test("pthread_cond_timedwait(c, m);").expect_err("it is not understood");
    assert!(
        errors.len() == 1 && errors[0].help.as_ref().is_some_and(|help| help.contains("`futex_wait`")),
        "{errors:?}"
    );
}

#[test]
fn readers_and_writers_exclude_each_other() {
    let test = |reader: &str, condition: &str| {
        let text = format!(
            "C rw\n{{ }}\nP0(pthread_rwlock_t *l, int *x) {{ pthread_rwlock_wrlock(l); *x = 7; *x = 8; pthread_rwlock_unlock(l); }}\n\
             P1(pthread_rwlock_t *l, int *x) {{ {reader} int r = *x; pthread_rwlock_unlock(l); }}\n\
             P2(pthread_rwlock_t *l, int *x) {{ {reader} int r = *x; pthread_rwlock_unlock(l); }}\n{condition}"
        );
        parsed(&text, Format::Litmus).unwrap_or_else(|errors| panic!("{errors:#?}"))
    };
    for call in ["pthread_rwlock_rdlock(l);", "pthread_rwlock_wrlock(l);"] {
        let read = test(call, "exists (1:r=7)");
        let instance = Instance::of(&read).expect("the copies are fixed");
        for model in [Model::Sc, Model::Tso] {
            let found = final_states(&read, &instance, model, 4, &Limits::none()).expect("few states");
            // Everybody comes to an end, with the lock given back, and nobody has seen a half.
            let lock = read.addresses.iter().find(|own| own.name == "l").expect("it is named").address;
            assert!(found.completed.iter().all(|state| state.memory(lock) == 0) && !found.completed.is_empty());
            let saw = |state: &State| state.threads()[1].registers.contains(&7);
            assert!(!found.completed.iter().any(saw), "{call} under {model:?}");
            let hangs = checked::hangs(&read, &HangOptions::new(model)).expect("it has a meaning").expect("accepted");
            assert!(matches!(hangs.verdict, Verdict::Free(_)), "{call} under {model:?}");
        }
    }
}
