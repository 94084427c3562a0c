#include <stdatomic.h>
/* Cells that few executions come to. */
#define set(cell, value) atomic_store_explicit(&(cell), (value), memory_order_release)
#define get(cell) atomic_load_explicit(&(cell), memory_order_acquire)
static atomic_int turn, x, y;
static atomic_uint steps, tickets;
static atomic_int slots[16];

/* Only if the two take turns to the end does the left one come to its slot. */
void left(void) {
    unsigned step = 0;
    for (int i = 0; i < 9; i++) {
        if (atomic_exchange_explicit(&turn, 1, memory_order_acq_rel) != 0) {
            return;
        }
        step = atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
    }
    set(slots[step & 15], 1);
    if (get(x)) {
        atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);
    }
}
void right(void) {
    for (int i = 0; i < 9; i++) {
        if (atomic_exchange_explicit(&turn, 0, memory_order_acq_rel) != 1) {
            return;
        }
    }
    set(x, 1);
}

/* Each copy has a slot of its own, and a fence between its store and its load. */
void crowd(void) {
    unsigned ticket = atomic_fetch_add_explicit(&tickets, 1, memory_order_relaxed);
    set(slots[ticket & 15], 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (get(x)) {
        atomic_fetch_add_explicit(&y, 1, memory_order_relaxed);
    }
}
