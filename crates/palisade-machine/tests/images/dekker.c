#include <stdatomic.h>
static atomic_int x, y, z, seen_by_left, seen_by_right;
#ifndef BETWEEN
#define BETWEEN atomic_fetch_or_explicit(&z, 0, memory_order_acq_rel)
#endif
void left(void) {
    atomic_store_explicit(&x, 1, memory_order_release);
    BETWEEN;
    atomic_store_explicit(&seen_by_left, atomic_load_explicit(&y, memory_order_acquire), memory_order_relaxed);
}
void right(void) {
    atomic_store_explicit(&y, 1, memory_order_release);
    BETWEEN;
    atomic_store_explicit(&seen_by_right, atomic_load_explicit(&x, memory_order_acquire), memory_order_relaxed);
}
