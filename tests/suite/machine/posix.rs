//! Machine code that calls POSIX's locks, condition variables and semaphores.

use crate::checked;
use palisade::hangs::{HangOptions, Verdict as Waits};
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::robustness::{CheckOptions, StaleVerdict, Verdict, load_buffering};
use palisade::semantics::Model;
use palisade::semantics::graphs::Axioms;
use std::path::Path;
use std::process::Command;

/// Roles that lock, wait and wake.
const ROLES: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#define NOW(place) (*(volatile int *)&(place))
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t items;
static int ready, x, y, r;
static pthread_mutex_t *chosen = &a;
void left(void) { pthread_mutex_lock(&a); pthread_mutex_lock(&b); x = 1; pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); }
void right(void) { pthread_mutex_lock(&b); pthread_mutex_lock(&a); x = 2; pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); }
void left_again(void) { left(); }
void waiter(void) { pthread_mutex_lock(&a); while (!NOW(ready)) pthread_cond_wait(&changed, &a); pthread_mutex_unlock(&a); }
void waker(void) { pthread_mutex_lock(&a); ready = 1; pthread_mutex_unlock(&a); pthread_cond_signal(&changed); }
void wakes_all(void) { pthread_mutex_lock(&a); ready = 1; pthread_cond_broadcast(&changed); pthread_mutex_unlock(&a); }
void wakes_unlocked(void) { NOW(ready) = 1; pthread_cond_signal(&changed); }
void waits_for_a_time(void) {
  struct timespec time = {0, 0};
  pthread_mutex_lock(&a);
  while (!NOW(ready)) if (pthread_cond_timedwait(&changed, &a, &time) == ETIMEDOUT) break;
  pthread_mutex_unlock(&a);
}
void forgets(void) { pthread_mutex_lock(&a); if (ready) return; ready = 1; pthread_mutex_unlock(&a); }
void consumer(void) { sem_wait(&items); if (x != 1) __builtin_trap(); }
void producer(void) { x = 1; sem_post(&items); }
void polls(void) { while (sem_trywait(&items)) if (errno != EAGAIN) __builtin_trap(); if (x != 1) __builtin_trap(); }
void reader(void) { pthread_rwlock_rdlock(&rw); if (NOW(x) != NOW(y)) __builtin_trap(); pthread_rwlock_unlock(&rw); }
void writer(void) { pthread_rwlock_wrlock(&rw); x = 1; y = 1; pthread_rwlock_unlock(&rw); }
void writes_unlocked(void) { NOW(x) = 1; NOW(y) = 1; }
void tries(void) { if (pthread_mutex_trylock(&a)) return; x = 1; if (NOW(x) != 1) __builtin_trap(); x = 0; pthread_mutex_unlock(&a); }
void tries_in_vain(void) { if (pthread_mutex_trylock(&a) == EBUSY) __builtin_trap(); pthread_mutex_unlock(&a); }
void sb_locked_left(void) { NOW(x) = 1; pthread_mutex_lock(&a); pthread_mutex_unlock(&a); r = NOW(y); }
void sb_locked_right(void) { NOW(y) = 1; pthread_mutex_lock(&b); pthread_mutex_unlock(&b); r = NOW(x); }
void sb_tried_left(void) { NOW(x) = 1; if (sem_trywait(&items)) r = NOW(y); }
void sb_tried_right(void) { NOW(y) = 1; if (sem_trywait(&items)) r = NOW(x); }
void locks_recursive(void) { pthread_mutex_lock(&recursive); pthread_mutex_unlock(&recursive); }
void locks_some(int which) { pthread_mutex_lock(NOW(ready) ? &a : chosen + which); }
void fences_the_stack(void) { NOW(x) = 1; __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc"); r = NOW(y); }
void fences_as_well(void) { NOW(y) = 1; __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc"); r = NOW(x); }
void follows(int *pointer) { *pointer = 1; }
void uses_barrier(pthread_barrier_t *barrier) { pthread_barrier_wait(barrier); }
int main(void) { return 0; }
"#;

/// Roles for the orderings of C.
const ORDERED: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n, ready, data;
void counts(void) { pthread_mutex_lock(&a); n = n + 1; pthread_mutex_unlock(&a); }
void stores(void) { pthread_mutex_lock(&a); n = 1; pthread_mutex_unlock(&a); }
void locks_another(void) { pthread_mutex_lock(&b); n = n + 1; pthread_mutex_unlock(&b); }
void peeks(void) { if (n == 7) data = 1; }
void tries(void) { if (pthread_mutex_trylock(&a) == 0) { n = 1; pthread_mutex_unlock(&a); } }
void tries_in_vain(void) { if (pthread_mutex_trylock(&a)) n = 1; else pthread_mutex_unlock(&a); }
void waiter(void) { pthread_mutex_lock(&a); while (!ready) pthread_cond_wait(&changed, &a); n = data; pthread_mutex_unlock(&a); }
void waker(void) { pthread_mutex_lock(&a); data = 1; ready = 1; pthread_mutex_unlock(&a); pthread_cond_signal(&changed); }
void stores_behind(void) { waker(); data = 2; }
int main(void) { return 0; }
"#;

#[needs::command("gcc --version")]
#[test]
fn locks_of_posix_order_data() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/include/palisade_atomics.h");
    let folder = compiled(ORDERED, &["-O0", "-include", &header.display().to_string()]);
    for (roles, expected) in [
        ("counts 2", "robust"),
        ("stores *", "robust"),
        ("counts 1, tries 1", "robust"),
        ("waiter 1, waker 1", "robust"),
        ("waiter *, waker 1", "robust"),
        ("counts 1, locks_another 1", "racy"),
        ("counts 1, peeks 1", "racy"),
        ("counts 1, tries_in_vain 1", "racy"),
        ("waiter 1, stores_behind 1", "racy"),
    ] {
        let program = lifted_with(folder.path(), "orderings = true", roles);
        let program = program.unwrap_or_else(|error| panic!("{roles}: {error}"));
        let found = checked::check_language(&program, Axioms::C11, &Limits::none());
        let found = match found.expect("every step has a meaning").verdict {
            StaleVerdict::Robust => "robust",
            StaleVerdict::Racy => "racy",
            other => panic!("{roles}: {other:?}"),
        };
        assert_eq!(found, expected, "{roles}");
        // A lock that is tried in vain reads nothing that a later write could overtake.
        assert!(roles != "stores *" || load_buffering(&program).is_none(), "{roles}");
    }
    let optimised = compiled(ORDERED, &["-O2"]);
    let error = lifted_with(optimised.path(), "orderings = true", "counts 2").expect_err("it is refused");
    assert!(error.contains("orderings are read in builds without optimisation, and this one has `-O2`"), "{error}");
}

/// What the library does that the stubs stand for.
const OF_THE_LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#define WORD(object) (*(unsigned *)&(object))
#define KIND(object) (((int *)&(object))[4])
#define SHOW(expression) printf("%s = %ld\n", #expression, (long)(expression))
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, checks = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t items;
static struct timespec past;
int main(void) {
  SHOW(KIND(plain)); SHOW(KIND(adaptive)); SHOW(KIND(recursive)); SHOW(KIND(checks));
  SHOW(WORD(plain)); SHOW(pthread_mutex_lock(&plain)); SHOW(WORD(plain) != 0);
  SHOW(pthread_mutex_trylock(&plain)); SHOW(pthread_mutex_timedlock(&plain, &past));
  SHOW(pthread_cond_timedwait(&changed, &plain, &past));
  SHOW(pthread_mutex_unlock(&plain)); SHOW(WORD(plain)); SHOW(pthread_mutex_trylock(&plain));
  SHOW(WORD(rw)); SHOW(pthread_rwlock_rdlock(&rw)); SHOW(pthread_rwlock_tryrdlock(&rw)); SHOW(pthread_rwlock_trywrlock(&rw));
  SHOW(pthread_rwlock_timedwrlock(&rw, &past)); SHOW(pthread_rwlock_unlock(&rw)); SHOW(pthread_rwlock_unlock(&rw));
  SHOW(pthread_rwlock_wrlock(&rw)); SHOW(pthread_rwlock_tryrdlock(&rw)); SHOW(pthread_rwlock_unlock(&rw));
  SHOW(sem_init(&items, 0, 1)); SHOW(WORD(items)); SHOW(sem_trywait(&items)); SHOW(sem_trywait(&items)); SHOW(errno);
  SHOW(sem_timedwait(&items, &past)); SHOW(errno); SHOW(sem_post(&items)); SHOW(WORD(items));
  return 0;
}
"#;

fn compiled(source: &str, options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("roles.c"), source).expect("the folder is writable");
    let always = ["-g", "-fno-inline", "roles.c", "-o", "roles", "-lpthread"];
    let built = Command::new("gcc").args(options).args(always).current_dir(folder.path()).output().expect("gcc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder
}

/// Roles, each `function copies`, with `r` behind the copies of those that repeat.
fn lifted(folder: &Path, roles: &str) -> Result<Program, String> {
    lifted_with(folder, "", roles)
}

/// The same, with what else the file of roles says.
fn lifted_with(folder: &Path, heading: &str, roles: &str) -> Result<Program, String> {
    let mut text = format!("image = \"roles\"\n{heading}\n");
    for (function, copies) in roles.split(", ").map(|role| role.split_once(' ').expect("a number of copies")) {
        let (copies, repeats) = (copies.trim_end_matches('r'), copies.ends_with('r'));
        let copies = if copies == "*" { "\"*\"" } else { copies };
        text += &format!("[[role]]\nfunction = \"{function}\"\ncopies = {copies}\nrepeat = {repeats}\n");
    }
    let path = folder.join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    palisade::machine::read(&path.display().to_string()).map_err(|error| error.render(false))
}

/// Whether copies wait for ever, whether a property fails and whether the roles are robust, with
/// evidence that is accepted.
fn answers(program: &Program) -> [&'static str; 3] {
    let found = checked::hangs(program, &HangOptions::new(Model::Tso)).expect("every step has a meaning");
    let waits = match found.unwrap_or_else(|failure| panic!("the evidence is rejected: {failure}")).verdict {
        Waits::Free(_) => "free",
        Waits::Stuck(_) => "stuck",
        Waits::Unknown(why) => panic!("{}", why.words()),
    };
    let options = palisade::properties::ProveOptions::new(Model::Tso);
    let proof = checked::prove(program, None, &options).expect("every step has a meaning");
    let fails = if proof.holds() { "holds" } else { "fails" };
    let check = checked::check(program, &CheckOptions::default()).expect("every step has a meaning");
    [waits, fails, if check.verdict == Verdict::Robust { "robust" } else { "not robust" }]
}

#[needs::command("gcc --version")]
#[test]
fn locks_of_posix_have_answers() {
    for options in [&["-O2"][..], &["-O0"], &["-O2", "-static"]] {
        let folder = compiled(ROLES, options);
        for (roles, expected) in [
            ("left 2", ["free", "holds", "robust"]),
            ("left *r", ["free", "holds", "robust"]),
            ("left 1, right 1", ["stuck", "holds", "robust"]),
            ("left 1, left_again 1", ["free", "holds", "robust"]),
            ("waiter 1, waker 1", ["free", "holds", "robust"]),
            ("waiter 2, waker 1", ["stuck", "holds", "robust"]),
            ("waiter 2, wakes_all 1", ["free", "holds", "robust"]),
            ("waiter 1, wakes_unlocked 1", ["stuck", "holds", "robust"]),
            ("waits_for_a_time 2, wakes_unlocked 1", ["free", "holds", "robust"]),
            ("forgets 2", ["free", "holds", "robust"]),
            ("forgets 3", ["stuck", "holds", "robust"]),
            ("consumer 1, producer 1", ["free", "holds", "robust"]),
            ("consumer 2, producer 1", ["stuck", "holds", "robust"]),
            ("polls 1, producer 1", ["free", "holds", "robust"]),
            ("reader 2, writer 2", ["free", "holds", "robust"]),
            ("reader 1, writes_unlocked 1", ["free", "fails", "robust"]),
            ("tries 2", ["free", "holds", "robust"]),
            ("fences_the_stack 1, fences_as_well 1", ["free", "holds", "robust"]),
            ("tries_in_vain 1", ["free", "holds", "robust"]),
            ("tries_in_vain 2", ["free", "fails", "robust"]),
            ("sb_locked_left 1, sb_locked_right 1", ["free", "holds", "robust"]),
            // A try that fails orders nothing.
            ("sb_tried_left 1, sb_tried_right 1", ["free", "holds", "not robust"]),
        ] {
            let program = lifted(folder.path(), roles).unwrap_or_else(|error| panic!("{roles}: {error}"));
            assert_eq!(answers(&program), expected, "{options:?}: {roles}");
            let has_locks = !roles.contains("fences");
            assert_eq!(program.source.text.contains("posix locks\n"), has_locks, "{roles}");
        }
    }
}

#[needs::command("gcc --version")]
#[test]
fn locks_that_are_not_understood_are_refused() {
    let folder = compiled(ROLES, &["-O2"]);
    for (roles, why) in [
        ("locks_recursive 1", "this mutex is recursive, checks errors, or outlives its owner"),
        ("follows 1", "this accesses the address 0x0: a null pointer, or near one"),
        ("follows -1", "this is no number of copies"),
        ("uses_barrier 1", "`pthread_barrier_wait` is called, which is not followed"),
    ] {
        let error = lifted(folder.path(), roles).expect_err("it is refused");
        assert!(error.contains(why), "{roles}: {error}");
    }
}

/// What is said of the library, asked of the library.
#[needs::command("gcc --version")]
#[test]
fn the_library_does_what_is_said_of_it() {
    let folder = compiled(OF_THE_LIBRARY, &["-O1"]);
    let run = Command::new(folder.path().join("roles")).output().expect("it starts");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let found: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(" = ")).collect();
    let expected = [
        ("KIND(plain)", "0"),
        ("KIND(adaptive)", "3"),
        ("KIND(recursive)", "1"),
        ("KIND(checks)", "2"),
        ("WORD(plain)", "0"),
        ("pthread_mutex_lock(&plain)", "0"),
        ("WORD(plain) != 0", "1"),
        ("pthread_mutex_trylock(&plain)", "16"),
        ("pthread_mutex_timedlock(&plain, &past)", "110"),
        ("pthread_cond_timedwait(&changed, &plain, &past)", "110"),
        ("pthread_mutex_unlock(&plain)", "0"),
        ("WORD(plain)", "0"),
        ("pthread_mutex_trylock(&plain)", "0"),
        ("WORD(rw)", "0"),
        ("pthread_rwlock_rdlock(&rw)", "0"),
        ("pthread_rwlock_tryrdlock(&rw)", "0"),
        ("pthread_rwlock_trywrlock(&rw)", "16"),
        ("pthread_rwlock_timedwrlock(&rw, &past)", "110"),
        ("pthread_rwlock_unlock(&rw)", "0"),
        ("pthread_rwlock_unlock(&rw)", "0"),
        ("pthread_rwlock_wrlock(&rw)", "0"),
        ("pthread_rwlock_tryrdlock(&rw)", "16"),
        ("pthread_rwlock_unlock(&rw)", "0"),
        ("sem_init(&items, 0, 1)", "0"),
        ("WORD(items)", "1"),
        ("sem_trywait(&items)", "0"),
        ("sem_trywait(&items)", "-1"),
        ("errno", "11"),
        ("sem_timedwait(&items, &past)", "-1"),
        ("errno", "110"),
        ("sem_post(&items)", "0"),
        ("WORD(items)", "1"),
    ];
    assert_eq!(found, expected);
}

/// Locks and condition variables of C++.
const OF_CPP: &str = r#"
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
std::mutex m;
std::shared_mutex shared;
std::condition_variable changed;
bool ready;
int n;
extern "C" {
void waiter() { std::unique_lock<std::mutex> lock(m); changed.wait(lock, [] { return ready; }); n = 2; }
void waker() { { std::lock_guard<std::mutex> lock(m); ready = true; } changed.notify_one(); }
void wakes_unlocked() { ready = true; changed.notify_all(); }
void reads() { std::shared_lock<std::shared_mutex> lock(shared); if (n > 5) __builtin_trap(); }
void writes() { std::unique_lock<std::shared_mutex> lock(shared); n = 1; }
void both() { std::scoped_lock lock(m, shared); n = 4; }
void both_again() { std::scoped_lock lock(shared, m); n = 5; }
void one_by_one() { std::lock_guard<std::mutex> one(m); std::lock_guard<std::shared_mutex> other(shared); n = 6; }
void other_first() { std::lock_guard<std::shared_mutex> one(shared); std::lock_guard<std::mutex> other(m); n = 7; }
}
int main() {}
"#;

#[needs::command("g++ --version")]
#[test]
fn locks_of_cpp_have_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("roles.cc"), OF_CPP).expect("the folder is writable");
    let arguments = ["-std=c++17", "-O2", "-g", "roles.cc", "-o", "roles", "-lpthread"];
    let built = Command::new("g++").args(arguments).current_dir(folder.path()).output().expect("g++ starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for (roles, expected) in [
        ("waiter 1, waker 1", "free"),
        ("waiter 2, waker 1", "stuck"),
        ("waiter 1, wakes_unlocked 1", "stuck"),
        ("reads 2, writes 2r", "free"),
        ("both 1, both_again 1", "free"),
        ("one_by_one 1, other_first 1", "stuck"),
    ] {
        let program = lifted(folder.path(), roles).unwrap_or_else(|error| panic!("{roles}: {error}"));
        assert_eq!(answers(&program)[0], expected, "{roles}");
        let names: Vec<&str> = program.addresses.iter().map(|address| address.name.as_str()).collect();
        let known = ["m", "shared", "changed", "ready", "n"];
        assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
    }
}
