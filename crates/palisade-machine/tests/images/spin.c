#include <stdatomic.h>
static atomic_int lock_word;
static int counter;
static void lock(atomic_int *l) {
    while (atomic_exchange_explicit(l, 1, memory_order_acquire)) {
        while (atomic_load_explicit(l, memory_order_relaxed)) __builtin_ia32_pause();
    }
}
static void unlock(atomic_int *l) { atomic_store_explicit(l, 0, memory_order_release); }
void worker(void) {
    lock(&lock_word);
    counter ^= 1;
    unlock(&lock_word);
}
int main(void) { worker(); return 0; }
