#include <stdatomic.h>

/* Code that is not understood is an error where control comes there, and nothing where it does not. */

void free(void *memory);
__attribute__((noinline)) void free(void *memory) { __asm__ volatile("" ::"r"(memory) : "memory"); }

static atomic_int count = 1;
static atomic_int x, y;

static void share(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }
static void drop(void) {
    if (atomic_fetch_sub_explicit(&count, 1, memory_order_acq_rel) == 1) {
        free((void *)&count);
    }
}

/* The count begins with 1, so that nobody frees. */
void counted(void) {
    share();
    drop();
}

/* One more is dropped than was shared. */
void dropped(void) { drop(); }

/* What is asserted holds; but then one more is dropped. */
void asserted(void) {
    if (atomic_load_explicit(&x, memory_order_relaxed) == 2) {
        __builtin_trap();
    }
    drop();
}

/* The same as above beside store buffering. */
void counted_left(void) {
    share();
    atomic_store_explicit(&x, 1, memory_order_release);
    (void)atomic_load_explicit(&y, memory_order_acquire);
    drop();
}
void counted_right(void) {
    share();
    atomic_store_explicit(&y, 1, memory_order_release);
    (void)atomic_load_explicit(&x, memory_order_acquire);
    drop();
}

/* One of a hundred thousand choices stores where no short execution has shown a store: then what the others take for a constant changes, and
   they come to store buffering. No thread has both a store and a load but there. */
static struct {
    atomic_int shown, hidden, left, right;
} cells;
unsigned long palisade_harness_any(unsigned long low, unsigned long high);
__attribute__((noinline)) unsigned long palisade_harness_any(unsigned long low, unsigned long high) {
    __asm__ volatile("" ::"r"(high));
    return low;
}
void rarely(void) {
    unsigned long all = 0;
    for (int index = 0; index < 5; index++) {
        all = 10 * all + palisade_harness_any(0, 9);
    }
    atomic_store_explicit(&cells.shown + (all == 73142), 1, memory_order_relaxed);
}
void hidden_left(void) {
    if (atomic_load_explicit(&cells.hidden, memory_order_relaxed)) {
        atomic_store_explicit(&cells.left, 1, memory_order_relaxed);
        if (!atomic_load_explicit(&cells.right, memory_order_relaxed)) {
            __builtin_trap();
        }
    }
}
void hidden_right(void) {
    if (atomic_load_explicit(&cells.hidden, memory_order_relaxed)) {
        atomic_store_explicit(&cells.right, 1, memory_order_relaxed);
        if (!atomic_load_explicit(&cells.left, memory_order_relaxed)) {
            __builtin_trap();
        }
    }
}

/* As rarely, what everybody loads from is changed. */
static atomic_int slots[2];
void rarely_changed(void) {
    atomic_int *slot = &slots[palisade_harness_any(0, 1)];
    int value = atomic_load_explicit(slot, memory_order_relaxed);
    unsigned long all = 0;
    for (int index = 0; index < 5; index++) {
        all = 10 * all + palisade_harness_any(0, 9);
    }
    if (all == 73142) {
        while (!atomic_compare_exchange_weak_explicit(slot, &value, value | 4, memory_order_acq_rel, memory_order_relaxed)) {
        }
    }
}
