#include <stdatomic.h>

/* Instructions that are understood of known numbers alone; what they compute is stored. */
static atomic_ulong results[14];

static void store(int index, unsigned long value) { atomic_store_explicit(&results[index], value, memory_order_relaxed); }

void numbers(void) {
    unsigned long low, high, place;
    unsigned int small_low, small_high, small_place;
    __asm__ volatile("mulq %3" : "=a"(low), "=d"(high) : "0"(0x9e3779b97f4a7c15ul), "r"(0xf123456789abcdeful) : "cc");
    store(0, low);
    store(1, high);
    __asm__ volatile("mull %3" : "=a"(small_low), "=d"(small_high) : "0"(0xdeadbeefu), "r"(0xcafebabeu) : "cc");
    store(2, small_low);
    store(3, small_high);
    __asm__ volatile("divq %4" : "=a"(low), "=d"(high) : "0"(0x123456789abcdef0ul), "1"(41ul), "r"(67ul) : "cc");
    store(4, low);
    store(5, high);
    __asm__ volatile("divl %4" : "=a"(small_low), "=d"(small_high) : "0"(0x9abcdef0u), "1"(7u), "r"(0x80000001u) : "cc");
    store(6, small_low);
    store(7, small_high);
    __asm__ volatile("bsrq %1, %0" : "=r"(place) : "r"(0x8000123000000ul) : "cc");
    store(8, place);
    __asm__ volatile("bsfq %1, %0" : "=r"(place) : "r"(0x7f00000000000000ul) : "cc");
    store(9, place);
    __asm__ volatile("bsrl %1, %0" : "=r"(small_place) : "r"(0x80000001u) : "cc");
    store(10, small_place);
    __asm__ volatile("bsfl %1, %0" : "=r"(small_place) : "r"(0x80000000u) : "cc");
    store(11, small_place);
    __asm__ volatile("rep bsfq %1, %0" : "=r"(place) : "r"(0x4000012301000ul) : "cc");
    store(12, place);
    __asm__ volatile("mulq %3" : "=a"(low), "=d"(high) : "0"(~1ul), "r"(~2ul) : "cc");
    store(13, high);
}
int main(void) { numbers(); }
