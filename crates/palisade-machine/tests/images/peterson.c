#include <stdatomic.h>
#ifndef STORE
#define STORE memory_order_seq_cst
#endif
#ifndef LOAD
#define LOAD memory_order_seq_cst
#endif
static atomic_int wants[2], turn;
static int counter;
static void enter(int self) {
    atomic_store_explicit(&wants[self], 1, STORE);
    atomic_store_explicit(&turn, 1 - self, STORE);
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    while (atomic_load_explicit(&wants[1 - self], LOAD) && atomic_load_explicit(&turn, LOAD) == 1 - self) {
    }
}
void lock_left(void) {
    enter(0);
    counter ^= 1;
    atomic_store_explicit(&wants[0], 0, memory_order_release);
}
void lock_right(void) {
    enter(1);
    counter ^= 1;
    atomic_store_explicit(&wants[1], 0, memory_order_release);
}
