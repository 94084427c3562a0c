//! Litmus tests of the Linux kernel: locks, read sections and grace periods, addresses as values.

use super::{holds, is_robust, read, test};
use palisade::semantics::Model;

/// A test with a condition, and whether it holds under SC and TSO.
fn check(text: &str, expected: [bool; 2]) {
    let test = test(text);
    let answers = [Model::Sc, Model::Tso].map(|model| holds(&test, model));
    assert_eq!(answers, expected, "{text}");
}

/// A read section sees all of what a grace period stands between, or nothing: no matter where the
/// rest of each thread stands.
#[test]
fn no_section_reaches_across_a_grace_period() {
    let with = |first: &str, second: &str, condition: &str| {
        format!(
            "C RCU\n(* Result: Never *)\n{{\n  int x = 0;\n  int y = 0;\n}}\n\
             void P0(int *x, int *y)\n{{\n  {first}\n}}\n\
             void P1(int *x, int *y)\n{{\n  {second}\n}}\nexists ({condition})\n"
        )
    };
    let section = "rcu_read_lock(); int r0 = READ_ONCE(*x); int r1 = READ_ONCE(*y); rcu_read_unlock();";
    let backwards = "rcu_read_lock(); WRITE_ONCE(*y, 1); int r0 = READ_ONCE(*x); rcu_read_unlock();";
    let grace = "WRITE_ONCE(*x, 1); synchronize_rcu(); WRITE_ONCE(*y, 1);";
    let none = "WRITE_ONCE(*x, 1); smp_mb(); WRITE_ONCE(*y, 1);";
    // The section begins before the grace period, whose end it sees.
    check(&with(section, grace, "0:r0=0 /\\ 0:r1=1"), [false, false]);
    check(&with(section, none, "0:r0=0 /\\ 0:r1=1"), [true, true]);
    // It may see the grace period's beginning alone, or nothing, or all.
    for seen in ["0:r0=1 /\\ 0:r1=0", "0:r0=0 /\\ 0:r1=0", "0:r0=1 /\\ 0:r1=1"] {
        check(&with(section, grace, seen), [true, true]);
    }
    // Store buffering, with a full fence on one side alone.
    let waits = "WRITE_ONCE(*x, 1); synchronize_rcu(); int r0 = READ_ONCE(*y);";
    check(&with(backwards, waits, "0:r0=0 /\\ 1:r0=0"), [false, false]);
    let fenced = "WRITE_ONCE(*x, 1); smp_mb(); int r0 = READ_ONCE(*y);";
    check(&with(backwards, fenced, "0:r0=0 /\\ 1:r0=0"), [false, true]);
    // Outside of a section nothing waits for the thread.
    let outside = "WRITE_ONCE(*y, 1); int r0 = READ_ONCE(*x);";
    check(&with(outside, waits, "0:r0=0 /\\ 1:r0=0"), [false, true]);
    // A thread with sections passes a quiescent state wherever it stands.
    let elsewhere = "rcu_read_lock(); rcu_read_unlock(); WRITE_ONCE(*y, 1); int r0 = READ_ONCE(*x);";
    check(&with(elsewhere, waits, "0:r0=0 /\\ 1:r0=0"), [false, false]);
    // Each `srcu_struct` has sections of its own.
    let srcu = |of: &str| {
        format!(
            "C SRCU\n{{ }}\nP0(int *x, int *y, struct srcu_struct *s, struct srcu_struct *t)\n{{\n  int r3 = srcu_read_lock(s); int r0 = READ_ONCE(*x); int r1 = READ_ONCE(*y); srcu_read_unlock(s, r3);\n}}\n\
             P1(int *x, int *y, struct srcu_struct *s, struct srcu_struct *t)\n{{\n  WRITE_ONCE(*x, 1); synchronize_srcu({of}); WRITE_ONCE(*y, 1);\n}}\nexists (0:r0=0 /\\ 0:r1=1)\n"
        )
    };
    check(&srcu("s"), [false, false]);
    check(&srcu("t"), [true, true]);
}

/// Threads that wait for each other's sections are quiescent while they wait.
#[test]
fn grace_periods_do_not_wait_for_each_other() {
    let thread = |number: usize| {
        format!(
            "P{number}(int *x) {{ rcu_read_lock(); int r0 = READ_ONCE(*x); rcu_read_unlock(); synchronize_rcu(); int r1 = 1; }}\n"
        )
    };
    let text = format!("C t\n{{ }}\n{}{}exists (0:r1=1 /\\ 1:r1=1)\n", thread(0), thread(1));
    check(&text, [true, true]);
    check(&text.replace("exists", "~exists"), [false, false]);
}

#[test]
fn spinlocks_exclude_each_other_and_are_given_back_by_a_store() {
    let text = |take: &str, give: &str| {
        let thread = |number: usize, own: &str, other: &str| {
            format!(
                "P{number}(int *x, int *y, spinlock_t *s) {{ {take} WRITE_ONCE(*{own}, 1); int r0 = READ_ONCE(*{other}); {give} }}\n"
            )
        };
        format!("C t\n{{ }}\n{}{}exists (0:r0=0 /\\ 1:r0=0)\n", thread(0, "x", "y"), thread(1, "y", "x"))
    };
    check(&text("", ""), [false, true]);
    check(&text("spin_lock(s);", "spin_unlock(s);"), [false, false]);
    check(&text("raw_spin_lock_irq(s);", "raw_spin_unlock_irq(s);"), [false, false]);
    check(&text("int r1 = spin_trylock(s);", "if (r1) { spin_unlock(s); }"), [false, true]);
    assert!(is_robust(&test(&text("spin_lock(s);", "spin_unlock(s);"))));
    // A load behind the store that gives the lock back may overtake it.
    let behind = "C t\n{ }\nP0(int *x, spinlock_t *s) { spin_lock(s); spin_unlock(s); int r0 = READ_ONCE(*x); }\n\
                  P1(int *x, spinlock_t *s) { WRITE_ONCE(*x, 1); smp_mb(); int r0 = spin_is_locked(s); }\n\
                  exists (0:r0=0 /\\ 1:r0=1)\n";
    check(behind, [false, true]);
    let both = "C t\n{ }\nP0(int *x, int *y, spinlock_t *s) { spin_lock(s); spin_unlock(s); int r0 = READ_ONCE(*x); }\n\
                P1(int *x, int *y, spinlock_t *s) { spin_lock(s); WRITE_ONCE(*x, 1); WRITE_ONCE(*y, 1); spin_unlock(s); }\n\
                P2(int *x, int *y, spinlock_t *s) { int r0 = READ_ONCE(*y); int r1 = READ_ONCE(*x); }\n\
                exists (2:r0=1 /\\ 2:r1=0)\n";
    check(both, [false, false]);
}

#[test]
fn addresses_are_values() {
    // Publish an object by its address.
    let publish = |store: &str| {
        format!(
            "C t\n{{ int *p = &a; int a = 5; int b = 6; }}\n\
             P0(int **p, int *b) {{ WRITE_ONCE(*b, 1); {store} }}\n\
             P1(int **p) {{ int *r1 = rcu_dereference(*p); int r2 = READ_ONCE(*r1); }}\n\
             exists (1:r1=b /\\ 1:r2=6)\n"
        )
    };
    check(&publish("rcu_assign_pointer(*p, b);"), [false, false]);
    check(&publish("rcu_assign_pointer(*p, b);").replace("1:r2=6", "1:r2=1"), [true, true]);
    check(&publish("smp_store_release(p, b);").replace("1:r1=b /\\ 1:r2=6", "1:r1=a /\\ 1:r2=5"), [true, true]);
    // Numbers are no addresses, however small: 1 is not the first location.
    let numbers = "C t\n{ x=y; }\nP0(intptr_t *x, intptr_t *y) { intptr_t r3 = y; intptr_t r1 = READ_ONCE(*x); intptr_t r2 = (r1 == r3); \
                   WRITE_ONCE(*y, 1); intptr_t r4 = READ_ONCE(*(intptr_t *)r1); intptr_t r5 = (r4 == r1); }\n\
                   forall (0:r1=y /\\ 0:r2=1 /\\ 0:r4=1 /\\ 0:r5=0)\n";
    check(numbers, [true, true]);
    // An address of an address.
    let chain = "C t\n{ int a = 7; int *p = &a; int **q = &p; }\n\
                 P0(int ***q) { int **r1 = READ_ONCE(*q); int *r2 = READ_ONCE(*r1); int r3 = READ_ONCE(*r2); int r4 = (r2 == *r1); }\n\
                 forall (0:r2=a /\\ 0:r3=7 /\\ 0:r4=1)\n";
    check(chain, [true, true]);
    // Store buffering through addresses.
    let buffering = "C t\n{ int *p = &x; int *q = &y; }\n\
                     P0(int **p, int **q) { int *r1 = READ_ONCE(*p); WRITE_ONCE(*r1, 1); int *r2 = READ_ONCE(*q); int r0 = READ_ONCE(*r2); }\n\
                     P1(int *x, int *y) { WRITE_ONCE(*y, 1); int r0 = READ_ONCE(*x); }\nexists (0:r0=0 /\\ 1:r0=0)\n";
    check(buffering, [false, true]);
}

#[test]
fn forms_of_the_kernel_are_read() {
    let text = "C t\n{ atomic_t v = ATOMIC_INIT(2); }\n\
                static void P0(atomic_t *v, int *x) { int r0; do { r0 = atomic_dec_return(v); } while (r0 > 0); r1 = READ_ONCE(*x); WRITE_ONCE(*x, r1); }\n\
                forall (v=0 /\\ 0:r0=0 /\\ 0:r1=0)\n";
    check(text, [true, true]);
    let null = "C t\n{ int x; int *p = &x; }\nP0(int **p) { int *r1 = READ_ONCE(*p); int r0 = 0; if (r1 != NULL) r0 = 1; }\n\
                forall (0:r0=1)\n";
    check(null, [true, true]);
}

#[test]
fn what_has_no_meaning_is_refused_with_its_reason() {
    let body = |body: &str| {
        format!(
            "C t\n{{ int *p = &x; }}\nP0(int *x, int *y, int **p, struct srcu_struct *s) {{ {body} }}\nP1(int *y) {{ synchronize_rcu(); }}\n"
        )
    };
    for (written, message) in [
        ("rcu_read_lock();", "never ends"),
        ("rcu_read_unlock();", "no read section is open"),
        ("rcu_read_lock(); synchronize_rcu(); rcu_read_unlock();", "waits for the read section that it stands in"),
        ("rcu_read_lock(); if (*x) { rcu_read_unlock(); } else { rcu_read_unlock(); }", "begins and ends in one block"),
        ("rcu_read_lock(); return; rcu_read_unlock();", "left here without its end"),
        ("while (1) { synchronize_rcu(); }", "a grace period in a loop"),
        ("rcu_read_lock(); rcu_read_unlock(); int r0 = *x + *y;", "between the accesses of this statement"),
        ("rcu_read_lock(); rcu_read_unlock(); while (READ_ONCE(*x)) { }", "between the accesses of this statement"),
        ("call_rcu(x, y);", "callbacks are not understood"),
        ("smp_memb();", "has no instruction for"),
        ("spin_unlock_wait(x);", "from kernel to kernel"),
        ("srcu_down_read(s);", "`srcu_read_lock`"),
        ("int r1 = x;", "no number of so few bits"),
        ("int *r1 = 5;", "this number is no address"),
        ("WRITE_ONCE(*p, 1);", "this number is no address"),
        ("int *r1 = x; int *r2 = r1 + 1;", "addresses are compared here"),
        ("long *r1 = (long *)x; long r2 = *r1;", "of an object of another size"),
        ("intptr_t r1 = (intptr_t)x; long *r2 = (long *)r1;", "whose type has another size"),
        ("int r1 = 1; int r2 = *(int *)r1;", "this number is no address"),
        ("do { } until (1);", "ends a `do`"),
    ] {
        let why = read(&body(written)).map(|_| ()).expect_err(written);
        assert!(why.contains(message), "{written}: {why}");
    }
    for (text, message) in [
        ("C t\n{ int x=y; }\nP0 (int* x) { }", "`x` holds no address"),
        ("C t\n{ }\nP0 (int* x) { int r0 = 0; }\nexists (0:r0=nowhere)", "there is no location `nowhere`"),
    ] {
        let why = read(text).map(|_| ()).expect_err(text);
        assert!(why.contains(message), "{text}: {why}");
    }
}
