#include <stdatomic.h>
static atomic_int x, y, z, seen_by_left, seen_by_right;
/* The result of fetch_or is used, so that compilers make it of a load and a loop around cmpxchg. */
static void between(void) {
    if (atomic_fetch_or_explicit(&z, 4, memory_order_acq_rel) == 77) {
        __builtin_trap();
    }
}
void left(void) {
    atomic_store_explicit(&x, 1, memory_order_release);
    between();
    atomic_store_explicit(&seen_by_left, atomic_load_explicit(&y, memory_order_acquire), memory_order_relaxed);
}
void right(void) {
    atomic_store_explicit(&y, 1, memory_order_release);
    between();
    atomic_store_explicit(&seen_by_right, atomic_load_explicit(&x, memory_order_acquire), memory_order_relaxed);
}
/* The same loop by hand, but what was read decides whether it is entered: no fence where it declines. */
void declining_left(void) {
    atomic_store_explicit(&x, 1, memory_order_release);
    int seen = atomic_load_explicit(&z, memory_order_relaxed);
    while (seen == 7 && !atomic_compare_exchange_weak_explicit(&z, &seen, 8, memory_order_seq_cst, memory_order_relaxed)) {
    }
    atomic_store_explicit(&seen_by_left, atomic_load_explicit(&y, memory_order_acquire), memory_order_relaxed);
}
