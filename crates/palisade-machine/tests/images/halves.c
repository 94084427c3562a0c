#include <stdatomic.h>
/* A ticket lock in one word: the next ticket in the upper half, the one that is served in the lower half. */
static union {
    atomic_uint whole;
    _Atomic unsigned short half[2];
} lock_word;
static int counter;
void worker(void) {
    unsigned both = atomic_fetch_add_explicit(&lock_word.whole, 0x10000, memory_order_relaxed);
    unsigned short mine = both >> 16;
    while (atomic_load_explicit(&lock_word.half[0], memory_order_acquire) != mine) {
        __builtin_ia32_pause();
    }
    counter ^= 1;
    atomic_fetch_add_explicit(&lock_word.half[0], 1, memory_order_release);
}
/* The same, but what is served is stored: less than the word that others change. */
void storing(void) {
    atomic_fetch_add_explicit(&lock_word.whole, 0x10000, memory_order_relaxed);
    unsigned short served = atomic_load_explicit(&lock_word.half[0], memory_order_relaxed);
    atomic_store_explicit(&lock_word.half[0], served + 1, memory_order_release);
}
