#include <stdatomic.h>
#include <stddef.h>
/* The system's call, whose meaning the reader knows by its name. */
__attribute__((noipa)) long syscall(long number, ...) {
    __asm__ volatile("" ::: "memory");
    return number;
}
static atomic_uint work, sleeping, signal, never, tries;
static void wait(atomic_uint *word, unsigned value) { syscall(202, word, 128, value, NULL); }
static void wake(atomic_uint *word) { syscall(202, word, 129, 1); }
/* Publishes, and then looks who sleeps. */
static void look(void) {
    if (atomic_load_explicit(&sleeping, memory_order_seq_cst)) {
        atomic_store_explicit(&signal, 1, memory_order_release);
        wake(&signal);
    }
}
void publish(void) {
    atomic_store_explicit(&work, 1, memory_order_release);
    look();
}
void publish_fenced(void) {
    atomic_store_explicit(&work, 1, memory_order_seq_cst);
    look();
}
/* Announces that it sleeps, and then looks for work. */
void sleeper(void) {
    atomic_store_explicit(&sleeping, 1, memory_order_seq_cst);
    while (!atomic_load_explicit(&work, memory_order_acquire)) {
        while (!atomic_exchange_explicit(&signal, 0, memory_order_acquire)) {
            wait(&signal, 0);
        }
    }
}
/* Spins for work, which nothing but a publisher ends. */
void spinner(void) {
    while (!atomic_load_explicit(&work, memory_order_acquire)) {
        __builtin_ia32_pause();
    }
}
/* Nobody changes the word. */
void waits_for_nothing(void) { wait(&never, 0); }
void waits_a_second(void) {
    long second[2] = {1, 0};
    syscall(202, &never, 128, 0, second);
}
/* A lock that is tried forty times before its owner is waited for. */
void locks(void) {
    for (;;) {
        for (int left = 40; left > 0; left--) {
            if (!atomic_load_explicit(&tries, memory_order_relaxed)) {
                break;
            }
            __builtin_ia32_pause();
        }
        unsigned free = 0;
        if (atomic_compare_exchange_strong(&tries, &free, 1)) {
            break;
        }
        if (free != 2 && !atomic_exchange(&tries, 2)) {
            break;
        }
        wait(&tries, 2);
    }
    if (atomic_exchange(&tries, 0) == 2) {
        wake(&tries);
    }
}
