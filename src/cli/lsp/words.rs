//! What the words of the languages mean, each in a sentence.

/// Words of the native language, of C, of Rust and of kernels, each with what it means.
const MEANINGS: &[(&[&str], &str)] = &[
    // Orderings.
    (
        &["plain", "nonatomic"],
        "data that no atomic accesses: two accesses at once, one of them a store, are a data race.",
    ),
    (
        &["relaxed", "rlx"],
        "the access is atomic and orders nothing else: what is before and behind it may be seen in another order.",
    ),
    (
        &["acquire", "acq", "consume"],
        "what is behind this load comes after everything that was before the release which it reads from.",
    ),
    (&["release", "rel"], "what is before this store comes before everything behind an acquire that reads from it."),
    (&["acq_rel", "acqrel"], "acquires with its load and releases with its store."),
    (
        &["seq_cst", "seqcst", "sc"],
        "acquires, releases, and all such accesses have one order that every thread agrees on; on x86 its stores are `xchg`.",
    ),
    // Fences.
    (
        &["mfence", "mb", "smp_mb", "sync_synchronize"],
        "a full fence: waits until the store buffer is empty, so that no earlier store is delayed past a later load.",
    ),
    (
        &["sfence", "wmb", "smp_wmb"],
        "stores before it reach memory before stores behind it; under TSO they do so anyway.",
    ),
    (&["lfence", "rmb", "smp_rmb"], "loads before it come before loads behind it; on x86 they do so anyway."),
    (
        &["fence", "atomic_thread_fence"],
        "a fence with an ordering; on x86 `seq_cst` alone is an instruction, `mfence`.",
    ),
    // Accesses.
    (
        &["load", "atomic_load", "atomic_load_explicit", "read_once"],
        "loads from memory: the youngest store to the location in the own store buffer, or what memory holds.",
    ),
    (
        &["store", "atomic_store", "atomic_store_explicit", "write_once"],
        "stores to memory: on x86 through the store buffer, in order.",
    ),
    (&["smp_load_acquire"], "a load that acquires; on x86 a plain load."),
    (&["smp_store_release"], "a store that releases; on x86 a plain store, which a later load may overtake."),
    (&["smp_store_mb"], "a store with a full fence behind it."),
    (&["mem"], "memory: `mem[x]` is what is stored at the address `x`."),
    (
        &["cas", "cmpxchg", "atomic_compare_exchange_strong"],
        "stores the new value if the location holds the expected one, in one step with an empty store buffer; gives what was there.",
    ),
    (&["weak_cas", "atomic_compare_exchange_weak"], "as `cas`, and may fail for no reason."),
    (
        &["xchg", "atomic_exchange"],
        "stores a value and gives the one that was there, in one step with an empty store buffer.",
    ),
    (
        &["fetch_add", "xadd", "atomic_fetch_add"],
        "adds to a location and gives what was there, in one step with an empty store buffer.",
    ),
    (
        &["fetch_sub", "fetch_and", "fetch_or", "fetch_xor"],
        "changes a location and gives what was there, in one step with an empty store buffer.",
    ),
    (&["rmw"], "stores a value reckoned from `old`, what was there, in one step with an empty store buffer."),
    (&["old"], "in an update or an `await`, the value that was loaded."),
    // Items.
    (&["program"], "gives the program its name."),
    (&["domain"], "the range of all values, which must contain 0; `wrap` takes results back into it."),
    (&["address"], "declares locations in memory, and arrays of them."),
    (&["initial"], "what locations hold at the start, 0 where nothing is said."),
    (&["thread"], "a thread; `[3]` are three copies of it, `[*]` any number."),
    (&["event"], "the handler of an event, which may occur whenever the main thread is idle."),
    (&["task"], "what a `post` runs once."),
    (&["posts"], "whether a post waits until the store buffer is empty (`drain`) or does nothing to it (`plain`)."),
    (&["never"], "a property: these copies never stand at their labels at once."),
    (&["daemon"], "this thread may wait for ever."),
    (&["finally"], "what must hold of memory when each thread has ended or may wait for ever."),
    (&["const"], "a name for a number."),
    (&["proc"], "a procedure, whose calls stand for its text."),
    (&["regs"], "declares the registers of the thread, 0 at the start where nothing is said."),
    (&["init"], "the label at which the thread starts."),
    (&["begin"], "the lines of the thread begin."),
    (&["end"], "the lines of the thread end; `goto end` stops it."),
    (&["goto"], "goes on at a label of the thread."),
    // Instructions and statements.
    (&["assert", "assume"], "waits: goes on only where the expression is not 0. What must hold is stated by `ensure`."),
    (&["ensure"], "a property: violated where the expression is 0."),
    (&["fail"], "a property: violated where it is reached."),
    (&["nop", "pause"], "does nothing."),
    (
        &["lock"],
        "opens a section in which no other thread accesses memory, with an empty store buffer; `lock(m)` takes a lock.",
    ),
    (&["unlock"], "closes a locked section; `unlock(m)` gives a lock back."),
    (&["atomic"], "a locked section: no other thread accesses memory in it."),
    (&["let"], "declares a register, to the end of its block."),
    (&["if", "else"], "goes one of two ways."),
    (&["while", "loop", "for", "do"], "a loop."),
    (&["break"], "leaves the loop."),
    (&["continue"], "goes to the next round of the loop."),
    (&["return"], "ends the procedure or the thread."),
    (&["choose", "or"], "goes any one of several ways."),
    (&["self"], "the number of the copy, from 0."),
    (&["true"], "1."),
    (&["false"], "0."),
    // Waiting.
    (&["await"], "waits until the value is not 0, and has no event before."),
    (&["idle"], "what waits here may wait for ever."),
    (&["timed"], "what waits here gives up at some time."),
    (&["park"], "waits for the token of the own thread, and takes it."),
    (&["unpark"], "gives a thread its token."),
    (&["post", "spawn"], "a task is to run once: on the main thread, or on one of its own."),
    // Kernels.
    (&["rcu_read_lock", "rcu_read_unlock"], "begins or ends a section for which `synchronize_rcu` waits."),
    (&["synchronize_rcu"], "waits until every section that had begun before has ended."),
    (&["spin_lock"], "takes a spinlock: waits until it is free."),
    (&["spin_unlock"], "gives a spinlock back, by a store that releases."),
];

/// What a word means; letters count as one in both cases, and C's `memory_order_` is left out.
pub(super) fn meaning(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let word = word.trim_start_matches('_');
    let word = word.strip_prefix("memory_order_").unwrap_or(word);
    MEANINGS.iter().find(|(words, _)| words.contains(&word)).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::symbols::words;

    #[test]
    fn every_word_of_the_language_has_a_meaning() {
        let without: Vec<&str> = words().filter(|word| meaning(word).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
        assert_eq!(meaning("memory_order_acquire"), meaning("Acquire"));
        assert!(meaning("__ATOMIC_SEQ_CST").is_none() && meaning("banana").is_none());
    }

    #[test]
    fn no_word_has_two_meanings() {
        let mut all: Vec<&str> = MEANINGS.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
