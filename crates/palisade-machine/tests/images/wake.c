#include <stdatomic.h>
#include <stdbool.h>
static atomic_bool done;
static atomic_uint state;
static atomic_int woken;
void waiter(void) {
    atomic_store_explicit(&state, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&done, memory_order_acquire)) {
        while (!atomic_load_explicit(&woken, memory_order_acquire)) {
            __builtin_ia32_pause();
        }
    }
}
/* Changes the state from waiting to woken; declines where nobody waits. */
static bool wake(void) {
    unsigned seen = atomic_load_explicit(&state, memory_order_relaxed);
    do {
        if (seen != 1) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&state, &seen, 2, memory_order_acq_rel, memory_order_relaxed));
    return true;
}
void waker(void) {
    atomic_store_explicit(&done, true, memory_order_relaxed);
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (wake()) {
        atomic_store_explicit(&woken, 1, memory_order_release);
    }
}
