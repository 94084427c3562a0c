#include <stdatomic.h>
#include <stddef.h>
static atomic_int word;
static union { atomic_uint whole; _Atomic unsigned short half[2]; } mixed;
static int *volatile published;
static volatile int zero;
static void (*volatile handler)(void);
static __thread atomic_int own;
static char bytes[64];
typedef long long two __attribute__((vector_size(16)));
static volatile two pair;

/* The address of a local variable is stored where others can read it. */
void stack_escapes(void) {
    int local = 1;
    published = &local;
    while (atomic_load(&word) == 0) {
    }
}
/* 32 and 16 bits of the same bytes. */
void mixed_sizes(void) {
    atomic_fetch_add(&mixed.whole, 1);
    atomic_store_explicit(&mixed.half[0], 0, memory_order_release);
}
/* A function that calls itself. */
__attribute__((noinline)) static int recurse(int depth) {
    if (atomic_load(&word) == depth) {
        return depth;
    }
    return recurse(depth + 1) + 1;
}
void recursion(void) { atomic_store(&word, recurse(0)); }
/* Data of the thread's own. */
void thread_local_data(void) { atomic_fetch_add(&own, 1); }
/* Where control goes is data that changes. */
static void nothing(void) { atomic_store(&word, 2); }
void indirect_call(void) {
    handler = nothing;
    handler();
}
/* An instruction that repeats. */
void repeats(void) {
    size_t count = sizeof bytes;
    char *to = bytes;
    __asm__ volatile("rep stosb" : "+c"(count), "+D"(to) : "a"(0) : "memory");
}
/* A store that goes around the caches. */
void non_temporal(void) { __asm__ volatile("movnti %0, %1" : : "r"(1), "m"(word) : "memory"); }
/* 16 bytes of shared memory at once. */
void sixteen_bytes(void) { pair = (two){1, 2}; }
/* The system is called. */
void system_call(void) { __asm__ volatile("syscall" : : "a"(39) : "rcx", "r11", "memory"); }
/* Bytes across two cells. */
void unaligned(void) { __asm__ volatile("movl $1, 2+%0" : "=m"(word) : : "memory"); }
/* An address where there is no memory. */
void no_memory(void) { *(volatile int *)0x10 = 1; }
