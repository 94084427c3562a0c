#include <stdatomic.h>
#include <stddef.h>
/* Algorithms that the models have as well, written as one would in C. Roles begin again when they return, as the models' threads do. */
#ifdef FENCE
#define fence() atomic_thread_fence(memory_order_seq_cst)
#else
#define fence() ((void)0)
#endif
#define get(cell) atomic_load_explicit(&(cell), memory_order_acquire)
#define set(cell, value) atomic_store_explicit(&(cell), (value), memory_order_release)
#define swap(cell, value) atomic_exchange_explicit(&(cell), (value), memory_order_acq_rel)
#define pause() __builtin_ia32_pause()

static atomic_int flag1, flag2, turn = 1, inside;

/* The critical section of two threads: nobody else is inside. */
static void alone(void) {
    if (get(inside)) {
        __builtin_trap();
    }
    set(inside, 1);
    set(inside, 0);
}

/* The critical section of any number: two words that agree whenever nobody is inside. */
static atomic_int lock_word, left, right;
static void agree(void) {
    int l = get(left);
    set(left, 1 - l);
    int r = get(right);
    if (r != l) {
        __builtin_trap();
    }
    set(right, 1 - r);
}
static void acquire(atomic_int *lock) {
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) {
        pause();
    }
}

static void simple_dekker(atomic_int *mine, atomic_int *other) {
    set(*mine, 1);
    fence();
    if (!get(*other)) {
        alone();
    }
    set(*mine, 0);
}
void simple_dekker_t1(void) { simple_dekker(&flag1, &flag2); }
void simple_dekker_t2(void) { simple_dekker(&flag2, &flag1); }

static void dekker(atomic_int *mine, atomic_int *other, int me) {
    set(*mine, 1);
    fence();
    while (get(*other)) {
        if (get(turn) != me) {
            set(*mine, 0);
            fence();
            while (get(turn) != me) {
            }
            set(*mine, 1);
            fence();
        }
    }
    alone();
    set(turn, 3 - me);
    set(*mine, 0);
}
void dekker_t1(void) { dekker(&flag1, &flag2, 1); }
void dekker_t2(void) { dekker(&flag2, &flag1, 2); }

static void peterson(atomic_int *mine, atomic_int *other, int me) {
    set(*mine, 1);
    set(turn, 3 - me);
    fence();
    while (get(*other) && get(turn) != me) {
    }
    alone();
    set(*mine, 0);
}
void peterson_t1(void) { peterson(&flag1, &flag2, 1); }
void peterson_t2(void) { peterson(&flag2, &flag1, 2); }

void burns_t1(void) {
    set(flag1, 1);
    fence();
    while (get(flag2)) {
    }
    alone();
    set(flag1, 0);
}
void burns_t2(void) {
    do {
        do {
            set(flag2, 0);
            fence();
        } while (get(flag1));
        set(flag2, 1);
        fence();
    } while (get(flag1));
    alone();
    set(flag2, 0);
}

/* A flag is 0 outside, 1 before the door, 3 in the doorway, 2 waiting inside for others, 4 with the door closed behind. */
static void szymanski(atomic_int *mine, atomic_int *other) {
    set(*mine, 1);
    fence();
    while (get(*other) > 2) {
    }
    set(*mine, 3);
    fence();
    if (get(*other) == 1) {
        set(*mine, 2);
        fence();
        while (get(*other) != 4) {
        }
    }
    set(*mine, 4);
    fence();
}
void szymanski_t1(void) {
    szymanski(&flag1, &flag2);
    alone();
    for (int rival = get(flag2); rival == 2 || rival == 3; rival = get(flag2)) {
    }
    set(flag1, 0);
}
void szymanski_t2(void) {
    szymanski(&flag2, &flag1);
    while (get(flag1) > 1) {
    }
    alone();
    set(flag2, 0);
}

void test_and_set_worker(void) {
    acquire(&lock_word);
    agree();
    set(lock_word, 0);
}

void test_and_test_and_set_worker(void) {
    do {
        while (get(lock_word)) {
            pause();
        }
    } while (swap(lock_word, 1));
    agree();
    set(lock_word, 0);
}

static atomic_uint next_ticket, now_serving;
void ticket_lock_worker(void) {
    unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (get(now_serving) != mine) {
        pause();
    }
    agree();
    set(now_serving, get(now_serving) + 1);
}

static atomic_uint sequence;
void seqlock_writer(void) {
    acquire(&lock_word);
    unsigned number = get(sequence);
    set(sequence, number + 1);
    agree();
    set(sequence, number + 2);
    set(lock_word, 0);
}
void seqlock_reader(void) {
    unsigned before = get(sequence);
    if (before & 1) {
        return;
    }
    int l = get(left), r = get(right);
    if (get(sequence) == before && l != r) {
        __builtin_trap();
    }
}

/* The lowest bit says that a writer is inside, the rest counts readers. */
static atomic_int readers;
void reader_writer_spinlock_writer(void) {
    int none = 0;
    while (!atomic_compare_exchange_strong_explicit(&readers, &none, 1, memory_order_acquire, memory_order_relaxed)) {
        none = 0;
        pause();
    }
    agree();
    atomic_fetch_sub_explicit(&readers, 1, memory_order_release);
}
void reader_writer_spinlock_reader(void) {
    atomic_fetch_add_explicit(&readers, 2, memory_order_acquire);
    while (get(readers) & 1) {
        pause();
    }
    if (get(left) != get(right)) {
        __builtin_trap();
    }
    atomic_fetch_sub_explicit(&readers, 2, memory_order_release);
}

static atomic_int object;
static atomic_int *_Atomic instance;
void double_checked_user(void) {
    atomic_int *reference = get(instance);
    if (!reference) {
        acquire(&lock_word);
        if (!get(instance)) {
            set(object, 1);
            set(instance, &object);
        }
        set(lock_word, 0);
        reference = get(instance);
    }
    if (get(*reference) != 1) {
        __builtin_trap();
    }
}

static atomic_int owner_inside, revoked;
void biased_lock_owner(void) {
    set(owner_inside, 1);
    fence();
    if (!get(revoked)) {
        agree();
        set(owner_inside, 0);
    } else {
        set(owner_inside, 0);
        acquire(&lock_word);
        agree();
        set(lock_word, 0);
    }
}
void biased_lock_revoker(void) {
    acquire(&lock_word);
    set(revoked, 1);
    fence();
    while (get(owner_inside)) {
    }
    agree();
    set(revoked, 0);
    set(lock_word, 0);
}

/* 0 without a permit, 1 with one, -1 while the owner sleeps. Both roles run once. */
static atomic_int condition, word;
void park_unpark_owner(void) {
    while (!get(condition)) {
        if (atomic_fetch_sub_explicit(&word, 1, memory_order_acquire) == 1) {
            continue;
        }
        for (;;) {
            while (get(word) == -1) {
            }
            int permit = 1;
            if (atomic_compare_exchange_strong_explicit(&word, &permit, 0, memory_order_acquire, memory_order_acquire)) {
                break;
            }
        }
    }
}
void park_unpark_unparker(void) {
    set(condition, 1);
    swap(word, 1);
}

/* Two threads get a node, 1 or 2, and any others return. */
static atomic_int given_out, tail;
static struct node {
    atomic_int successor, blocked;
} nodes[3];
void mcs_lock_worker(void) {
    int mine = get(given_out);
    do {
        if (mine >= 2) {
            return;
        }
    } while (!atomic_compare_exchange_weak_explicit(&given_out, &mine, mine + 1, memory_order_acquire, memory_order_acquire));
    for (struct node *own = &nodes[++mine];;) {
        set(own->successor, 0);
        int other = swap(tail, mine);
        if (other) {
            set(own->blocked, 1);
            set(nodes[other].successor, mine);
            while (get(own->blocked)) {
                pause();
            }
        }
        agree();
        other = get(own->successor);
        if (!other) {
            int last = mine;
            if (atomic_compare_exchange_strong_explicit(&tail, &last, 0, memory_order_release, memory_order_relaxed)) {
                continue;
            }
            while (!(other = get(own->successor))) {
            }
        }
        set(nodes[other].blocked, 0);
    }
}
