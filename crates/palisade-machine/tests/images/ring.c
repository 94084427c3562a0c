#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* A bounded queue for any number of producers and consumers: each slot has a sequence number, and all of them count for ever. */
static atomic_size_t head, tail;
static struct {
    atomic_size_t sequence;
    atomic_int value;
} slots[2] = {{0, 0}, {1, 0}};
static atomic_int popped;
void push(void) {
    size_t at = atomic_load_explicit(&tail, memory_order_relaxed);
    for (;;) {
        size_t sequence = atomic_load_explicit(&slots[at & 1].sequence, memory_order_acquire);
        ptrdiff_t difference = (ptrdiff_t)(sequence - at);
        if (difference == 0) {
            if (atomic_compare_exchange_weak_explicit(&tail, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
                atomic_store_explicit(&slots[at & 1].value, 1, memory_order_relaxed);
                atomic_store_explicit(&slots[at & 1].sequence, at + 1, memory_order_release);
                return;
            }
        } else if (difference < 0) {
            return;
        } else {
            at = atomic_load_explicit(&tail, memory_order_relaxed);
        }
    }
}
void pop(void) {
    size_t at = atomic_load_explicit(&head, memory_order_relaxed);
    for (;;) {
        size_t sequence = atomic_load_explicit(&slots[at & 1].sequence, memory_order_acquire);
        ptrdiff_t difference = (ptrdiff_t)(sequence - (at + 1));
        if (difference == 0) {
            if (atomic_compare_exchange_weak_explicit(&head, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
                atomic_load_explicit(&slots[at & 1].value, memory_order_relaxed);
                atomic_store_explicit(&slots[at & 1].sequence, at + 2, memory_order_release);
                return;
            }
        } else if (difference < 0) {
            return;
        } else {
            at = atomic_load_explicit(&head, memory_order_relaxed);
        }
    }
}
/* A counter that is compared by its order, shifted, and an index that is not masked. */
static atomic_uint count, other, items[8];
void by_order(void) {
    unsigned mine = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    if (mine < atomic_load_explicit(&other, memory_order_relaxed)) {
        atomic_store_explicit(&other, mine, memory_order_relaxed);
    }
}
void shifted(void) {
    unsigned mine = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    atomic_store_explicit(&other, mine >> 1, memory_order_relaxed);
}
void as_address(void) {
    unsigned mine = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    atomic_store_explicit(&items[mine & 7], 1, memory_order_relaxed);
}
/* A ring for one producer and one consumer in a loop: neither waits for its own store. */
static atomic_uint written, taken, ring[2];
void produce(void) {
    unsigned at = atomic_load_explicit(&written, memory_order_relaxed);
    if (at - atomic_load_explicit(&taken, memory_order_acquire) < 2) {
        atomic_store_explicit(&ring[at & 1], 1, memory_order_relaxed);
        atomic_store_explicit(&written, at + 1, memory_order_release);
    }
}
void consume(void) {
    unsigned at = atomic_load_explicit(&taken, memory_order_relaxed);
    if (atomic_load_explicit(&written, memory_order_acquire) - at > 0) {
        atomic_store_explicit(&popped, atomic_load_explicit(&ring[at & 1], memory_order_relaxed), memory_order_relaxed);
        atomic_store_explicit(&taken, at + 1, memory_order_release);
    }
}
