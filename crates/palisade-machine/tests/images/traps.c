#include <stdatomic.h>
#include <stddef.h>
/* What readers of machine code fall for: each pair of roles is store buffering, with something between store and load. */
#define set(cell, value) atomic_store_explicit(&(cell), (value), memory_order_release)
#define get(cell) atomic_load_explicit(&(cell), memory_order_acquire)
static atomic_int x, y, z, seen_by_left, seen_by_right;
#define PAIR(name, between)                                                                                             \
    void name##_left(void) { set(x, 1); between; set(seen_by_left, get(y)); }                                           \
    void name##_right(void) { set(y, 1); between; set(seen_by_right, get(x)); }

/* Nothing. */
PAIR(plain, (void)0)

/* Locked instructions on the stack, below the stack pointer and on a local variable: fences. */
PAIR(below_the_stack, __asm__ volatile("lock orl $0, -64(%%rsp)" ::: "memory", "cc"))
static inline void locked_local(void) {
    long local = 0;
    __asm__ volatile("lock notq %0" : "+m"(local)::"memory");
}
PAIR(on_a_local, locked_local())
/* The same without the lock: an access to private memory, no fence. */
static inline void unlocked_local(void) {
    long local = 0;
    __asm__ volatile("notq %0" : "+m"(local)::"memory");
}
PAIR(unlocked_local, unlocked_local())

/* A comparison that fails: a locked load, and a fence. */
static inline void failing(void) {
    int expected = 77;
    atomic_compare_exchange_strong_explicit(&z, &expected, 78, memory_order_relaxed, memory_order_relaxed);
}
PAIR(failing, failing())

/* The system is called where somebody waits, and nobody ever does. */
__attribute__((noinline)) long syscall(long number, void *word, int operation, int value) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(word), "S"(operation), "d"(value) : "rcx", "r11", "memory");
    return result;
}
static inline void wake(void) {
    if (get(z) == 2) {
        syscall(202, &z, 1, 1);
    }
}
PAIR(without_call, wake())
PAIR(with_call, syscall(202, &z, 1, 1))

/* Each copy spins a hundred times before it waits in earnest. */
static atomic_int lock_word;
static int counter;
void spinning(void) {
    int spins = 100;
    while (get(lock_word) && --spins) {
        __builtin_ia32_pause();
    }
    while (atomic_exchange_explicit(&lock_word, 1, memory_order_acquire)) {
    }
    counter ^= 1;
    set(lock_word, 0);
}
/* Each copy lets time pass between two attempts, twice as long after each failure. */
void backing_off(void) {
    unsigned step = 0;
    while (atomic_exchange_explicit(&lock_word, 1, memory_order_acquire)) {
        for (unsigned i = 0; i < 1u << step; i++) {
            __builtin_ia32_pause();
        }
        step += step < 7;
    }
    counter ^= 1;
    set(lock_word, 0);
}

/* A function of two names. */
void one_name(void) { set(x, 1); set(seen_by_left, get(y)); }
void another_name(void) __attribute__((alias("one_name")));

/* Cleaning up when an exception passes: only a call that throws comes there. */
void _Unwind_Resume(void *exception) { (void)exception; for (;;) set(z, 9); }
void __gcc_personality_v0(void) {}
static void release(int *taken) {
    if (*taken) {
        set(lock_word, 0);
    }
}
__attribute__((noipa)) static void may_throw(void) { counter ^= 1; __asm__ volatile("" ::: "memory"); }
void cleaning_up(void) {
    __attribute__((cleanup(release))) int taken = 0;
    while (atomic_exchange_explicit(&lock_word, 1, memory_order_acquire)) {
    }
    taken = 1;
    may_throw();
}

/* What goes around the caches or repeats. */
static char from[64], to[64];
void repeats(void) {
    size_t count = sizeof from;
    char *source = from, *target = to;
    __asm__ volatile("rep movsb" : "+c"(count), "+S"(source), "+D"(target)::"memory");
}
void flushes(void) { __asm__ volatile("clflush %0" : "+m"(x)); }
void goes_around(void) { __asm__ volatile("movnti %1, %0" : "=m"(x) : "r"(1)); }

/* A pointer that leads to the stack or to shared memory, depending on what was read. */
void either(void) {
    int local = 0;
    int *volatile chosen = &local;
    if (get(z)) {
        chosen = &counter;
    }
    *chosen = 1;
}

/* Functions that are called by their addresses, which are data that changes. */
static void first(void) { set(x, 1); set(seen_by_left, get(y)); }
static void second(void) { set(y, 1); set(seen_by_right, get(x)); }
static void (*const table[2])(void) = {first, second};
static void (*_Atomic handler)(void) = first;
void turning(void) { atomic_store_explicit(&handler, second, memory_order_release); }
void handling(void) { atomic_load_explicit(&handler, memory_order_acquire)(); }
void by_table(void) { table[get(z) & 1](); }
void counting(void);
void counted(void) { counting(); by_table(); }
void counting(void) { atomic_fetch_add_explicit(&z, 1, memory_order_relaxed); }
/* A table of jumps. */
void switching(void) {
    switch (get(z)) {
    case 0: set(x, 1); break;
    case 1: set(x, 2); break;
    case 2: set(y, 3); break;
    case 3: set(y, 4); set(seen_by_left, get(x)); break;
    case 4: set(x, 5); break;
    default: set(x, 6); break;
    }
}
