//! Programs of which few copies say nothing, and rules that hold of some programs alone.

use super::{asked, program, word};
use palisade::semantics::Model;

#[test]
fn nobody_is_free_who_hangs_in_crowds_alone() {
    // Whoever waits has not moved, and is forgotten by the sixth of the crowd at the earliest.
    let text = "program crowd\ndomain 0..6\naddress drawn, done\n\
                thread crowd [*] { let r = drawn; if (r < 6) { cas(drawn, r, r + 1); } }\n\
                thread herald { let r = drawn; if (r != 6) { done = 1; } }\n\
                thread waiter [*] { await (done == 1); }\n";
    for model in [Model::Sc, Model::Tso] {
        assert_ne!(word(&asked(&program(text), model)), "free", "{model:?}");
    }
}

#[test]
fn robustness_says_nothing_of_who_is_woken() {
    // Stores wait for room in every buffer, so nothing but robustness could answer.
    let text = |count: &str| {
        format!(
            "program wakes\naddress x, y, z\n\
             thread storing {{ while (*) {{ x = 1; x = 0; let r = z; }} }}\n\
             thread sleeper {{ while (y == 0) {{ wait(y, 0); }} }}\n\
             thread waking {{ xchg(y, 1); wake(y, {count}); }}\n"
        )
    };
    let with = |count| program(&text(count).replace("program wakes\n", "program wakes\ndomain 0..1\n"));
    assert_eq!(word(&asked(&with("all"), Model::Tso)), "free");
    assert!(word(&asked(&with("1"), Model::Tso)).contains("stores wait in buffers"));
}
