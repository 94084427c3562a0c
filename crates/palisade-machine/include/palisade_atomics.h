/*
 * The atomics of C and C++ as calls that say their orderings, for `palisade check --model c11`.
 *
 * A compiler puts atomics into the code, where no ordering is left to be read. With this header in
 * front of each source each of them is a call of a function below, with its orderings as numbers:
 *
 *     gcc -O0 -g -include palisade_atomics.h -c queue.c
 *
 * It covers the `__atomic_*` of GCC and Clang, `__c11_atomic_*` and `__sync_*`, and what is made of
 * these: `<stdatomic.h>` and `<atomic>`. Operators on `_Atomic` variables stay in the code, as does
 * assembly.
 */
#ifndef PALISADE_ATOMICS_H
#define PALISADE_ATOMICS_H

#ifdef __OPTIMIZE__
#error "palisade_atomics.h is about builds without optimisation: compile with -O0"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a compare-and-exchange has found, and whether it has stored. */
struct palisade_exchanged {
    unsigned long old;
    unsigned long is_done;
};

/* Not static: Clang would give a static function of C++ another name. All copies are the same. */
#define PALISADE_OWN __attribute__((noinline, weak, visibility("hidden")))

#define PALISADE_UPDATE(bytes, type, name) \
    PALISADE_OWN unsigned long palisade_atomic_##name##_##bytes(volatile void *p, unsigned long v, \
                                                                int order) { \
        (void)order; \
        return __atomic_##name((volatile type *)p, (type)v, __ATOMIC_RELAXED); \
    }

#define PALISADE_EXCHANGE(bytes, type, name, weak) \
    PALISADE_OWN struct palisade_exchanged palisade_atomic_##name##_##bytes( \
        volatile void *p, unsigned long expected, unsigned long v, int success, int failure) { \
        type old = (type)expected; \
        struct palisade_exchanged found; \
        (void)success, (void)failure; \
        found.is_done = __atomic_compare_exchange_n((volatile type *)p, &old, (type)v, weak, \
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        found.old = old; \
        return found; \
    }

#define PALISADE_SIZE(bytes, type) \
    PALISADE_OWN unsigned long palisade_atomic_load_##bytes(const volatile void *p, int order) { \
        (void)order; \
        return __atomic_load_n((const volatile type *)p, __ATOMIC_RELAXED); \
    } \
    PALISADE_OWN void palisade_atomic_store_##bytes(volatile void *p, unsigned long v, int \
        order) { \
        (void)order; \
        __atomic_store_n((volatile type *)p, (type)v, __ATOMIC_RELAXED); \
    } \
    PALISADE_UPDATE(bytes, type, exchange_n) \
    PALISADE_UPDATE(bytes, type, fetch_add) \
    PALISADE_UPDATE(bytes, type, fetch_sub) \
    PALISADE_UPDATE(bytes, type, fetch_and) \
    PALISADE_UPDATE(bytes, type, fetch_or) \
    PALISADE_UPDATE(bytes, type, fetch_xor) \
    PALISADE_UPDATE(bytes, type, fetch_nand) \
    PALISADE_EXCHANGE(bytes, type, compare_exchange, 0) \
    PALISADE_EXCHANGE(bytes, type, compare_exchange_weak, 1)

PALISADE_SIZE(1, unsigned char)
PALISADE_SIZE(2, unsigned short)
PALISADE_SIZE(4, unsigned int)
PALISADE_SIZE(8, unsigned long)

PALISADE_OWN void palisade_atomic_fence(int order) {
    if (order == __ATOMIC_SEQ_CST) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#ifdef __cplusplus
}

/* A value of a type that is copied byte by byte, and its bits. */
template <class T> inline T palisade_from(const volatile T *, unsigned long bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T> inline unsigned long palisade_bits(const T &value) {
    unsigned long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
#define PALISADE_FROM(r, bits) palisade_from((r), (bits))
#define PALISADE_BITS(v) palisade_bits(v)
#define PALISADE_BOOL bool
#else
#define PALISADE_FROM(r, bits) ((PALISADE_TYPE(r))(bits))
#define PALISADE_BITS(v) ((unsigned long)(v))
#define PALISADE_BOOL _Bool
#endif

/* The type of what a pointer points to. */
#define PALISADE_TYPE(p) __typeof__((void)0, *(p))

/* A call of the function for the size of what `p` points to. */
#define PALISADE_CALL(p, name, ...) \
    ((void)sizeof(char[sizeof(*(p)) <= 8 ? 1 : -1]), \
     sizeof(*(p)) == 1   ? palisade_atomic_##name##_1(__VA_ARGS__) \
     : sizeof(*(p)) == 2 ? palisade_atomic_##name##_2(__VA_ARGS__) \
     : sizeof(*(p)) == 4 ? palisade_atomic_##name##_4(__VA_ARGS__) \
                         : palisade_atomic_##name##_8(__VA_ARGS__))

#define PALISADE_LOAD(p, o) PALISADE_CALL(p, load, (p), (int)(o))
#define PALISADE_STORE(p, v, o) PALISADE_CALL(p, store, (p), (v), (int)(o))
#define PALISADE_OLD(p, name, v, o) PALISADE_CALL(p, name, (p), (v), (int)(o))
/* Compares and exchanges; `*e` gets what was found, where that is something else. */
#define PALISADE_COMPARED(p, e, bits_of, value_of, v, weak, s, f) \
    __extension__({ \
        __typeof__(e) palisade_e = (e); \
        struct palisade_exchanged palisade_x = \
            (weak) ? PALISADE_CALL(p, compare_exchange_weak, (p), bits_of(*palisade_e), (v), \
                (int)(s), (int)(f)) \
                   : PALISADE_CALL(p, compare_exchange, (p), bits_of(*palisade_e), (v), \
                       (int)(s), (int)(f)); \
        if (!palisade_x.is_done) *palisade_e = value_of(palisade_e, palisade_x.old); \
        (PALISADE_BOOL)palisade_x.is_done; \
    })
#define PALISADE_CAST(p, bits) __extension__({ (PALISADE_TYPE(p))(bits); })
#define PALISADE_NUMBER(v) ((unsigned long)(v))
/* What an update leaves behind, of which `op` makes the value that was found. */
#define PALISADE_NEW(p, name, v, o, op) \
    __extension__({ \
        unsigned long palisade_v = (unsigned long)(v); \
        (PALISADE_TYPE(p)) op(PALISADE_OLD(p, name, palisade_v, o), palisade_v); \
    })
#define PALISADE_ADD(a, b) ((a) + (b))
#define PALISADE_SUB(a, b) ((a) - (b))
#define PALISADE_AND(a, b) ((a) & (b))
#define PALISADE_OR(a, b) ((a) | (b))
#define PALISADE_XOR(a, b) ((a) ^ (b))
#define PALISADE_NAND(a, b) (~((a) & (b)))

#define __atomic_load_n(p, o) PALISADE_CAST(p, PALISADE_LOAD(p, o))
#define __atomic_load(p, r, o) ((void)(*(r) = PALISADE_FROM(r, PALISADE_LOAD(p, o))))
#define __atomic_store_n(p, v, o) PALISADE_STORE(p, PALISADE_NUMBER(v), o)
#define __atomic_store(p, v, o) PALISADE_STORE(p, PALISADE_BITS(*(v)), o)
#define __atomic_exchange_n(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, exchange_n, PALISADE_NUMBER(v), o))
#define __atomic_exchange(p, v, r, o) \
    ((void)(*(r) = PALISADE_FROM(r, PALISADE_OLD(p, exchange_n, PALISADE_BITS(*(v)), o))))
#define __atomic_compare_exchange_n(p, e, v, weak, s, f) \
    PALISADE_COMPARED(p, e, PALISADE_NUMBER, PALISADE_CAST, PALISADE_NUMBER(v), weak, s, f)
#define __atomic_compare_exchange(p, e, v, weak, s, f) \
    PALISADE_COMPARED(p, e, PALISADE_BITS, PALISADE_FROM, PALISADE_BITS(*(v)), weak, s, f)
#define __atomic_fetch_add(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, fetch_add, PALISADE_NUMBER(v), o))
#define __atomic_fetch_sub(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, fetch_sub, PALISADE_NUMBER(v), o))
#define __atomic_fetch_and(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, fetch_and, PALISADE_NUMBER(v), o))
#define __atomic_fetch_or(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, fetch_or, PALISADE_NUMBER(v), o))
#define __atomic_fetch_xor(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, fetch_xor, PALISADE_NUMBER(v), o))
#define __atomic_fetch_nand(p, v, o) \
    PALISADE_CAST(p, PALISADE_OLD(p, fetch_nand, PALISADE_NUMBER(v), o))
#define __atomic_add_fetch(p, v, o) PALISADE_NEW(p, fetch_add, v, o, PALISADE_ADD)
#define __atomic_sub_fetch(p, v, o) PALISADE_NEW(p, fetch_sub, v, o, PALISADE_SUB)
#define __atomic_and_fetch(p, v, o) PALISADE_NEW(p, fetch_and, v, o, PALISADE_AND)
#define __atomic_or_fetch(p, v, o) PALISADE_NEW(p, fetch_or, v, o, PALISADE_OR)
#define __atomic_xor_fetch(p, v, o) PALISADE_NEW(p, fetch_xor, v, o, PALISADE_XOR)
#define __atomic_nand_fetch(p, v, o) PALISADE_NEW(p, fetch_nand, v, o, PALISADE_NAND)
#define __atomic_test_and_set(p, o) ((PALISADE_BOOL)palisade_atomic_exchange_n_1((p), 1, (int)(o)))
#define __atomic_clear(p, o) palisade_atomic_store_1((p), 0, (int)(o))
#define __atomic_thread_fence(o) palisade_atomic_fence((int)(o))

#ifdef __clang__
/* Of pointers these count in elements. */
#define PALISADE_NO_POINTER(p, value) \
    ((void)sizeof(char[__builtin_classify_type((PALISADE_TYPE(p))0) == 5 ? -1 : 1]), (value))
#define __c11_atomic_load(p, o) __atomic_load_n(p, o)
#define __c11_atomic_store(p, v, o) __atomic_store_n(p, v, o)
#define __c11_atomic_exchange(p, v, o) __atomic_exchange_n(p, v, o)
#define __c11_atomic_compare_exchange_strong(p, e, v, s, f) \
    __atomic_compare_exchange_n(p, e, v, 0, s, f)
#define __c11_atomic_compare_exchange_weak(p, e, v, s, f) \
    __atomic_compare_exchange_n(p, e, v, 1, s, f)
#define __c11_atomic_fetch_add(p, v, o) PALISADE_NO_POINTER(p, __atomic_fetch_add(p, v, o))
#define __c11_atomic_fetch_sub(p, v, o) PALISADE_NO_POINTER(p, __atomic_fetch_sub(p, v, o))
#define __c11_atomic_fetch_and(p, v, o) __atomic_fetch_and(p, v, o)
#define __c11_atomic_fetch_or(p, v, o) __atomic_fetch_or(p, v, o)
#define __c11_atomic_fetch_xor(p, v, o) __atomic_fetch_xor(p, v, o)
#define __c11_atomic_thread_fence(o) __atomic_thread_fence(o)
#endif

#define __sync_synchronize() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __sync_fetch_and_add(p, v, ...) __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_sub(p, v, ...) __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_or(p, v, ...) __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_and(p, v, ...) __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_xor(p, v, ...) __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST)
#define __sync_add_and_fetch(p, v, ...) __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST)
#define __sync_sub_and_fetch(p, v, ...) __atomic_sub_fetch(p, v, __ATOMIC_SEQ_CST)
#define __sync_lock_test_and_set(p, v, ...) __atomic_exchange_n(p, v, __ATOMIC_ACQUIRE)
#define __sync_lock_release(p, ...) __atomic_store_n(p, 0, __ATOMIC_RELEASE)
#define __sync_val_compare_and_swap(p, e, v, ...) \
    PALISADE_CAST(p, PALISADE_CALL(p, compare_exchange, (p), PALISADE_NUMBER(e), \
        PALISADE_NUMBER(v), \
                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST).old)
#define __sync_bool_compare_and_swap(p, e, v, ...) \
    ((PALISADE_BOOL)PALISADE_CALL(p, compare_exchange, (p), PALISADE_NUMBER(e), \
        PALISADE_NUMBER(v), \
                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST).is_done)

#endif
