#include <stdatomic.h>
static atomic_long top, bottom;
static atomic_int slots[4];
static atomic_int taken;
void owner(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&slots[b & 3], 7, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
    b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t <= b) {
        int value = atomic_load_explicit(&slots[b & 3], memory_order_relaxed);
        if (t == b) {
            long expected = t;
            if (!atomic_compare_exchange_strong_explicit(&top, &expected, t + 1, memory_order_seq_cst, memory_order_relaxed)) {
                value = 0;
            }
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
        atomic_store_explicit(&taken, value, memory_order_relaxed);
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
}
void thief(void) {
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t < b) {
        int value = atomic_load_explicit(&slots[t & 3], memory_order_relaxed);
        long expected = t;
        if (atomic_compare_exchange_strong_explicit(&top, &expected, t + 1, memory_order_seq_cst, memory_order_relaxed)) {
            atomic_store_explicit(&taken, value, memory_order_relaxed);
        }
    }
}
