//! Rings in integers: what is proved of them up to laps, for fixed copies with their store buffers
//! and for any number, and what breaks them.

use crate::checked::{check, prove};
use palisade::evidence::PropertyReason;
use palisade::program::{Program, SourceText};
use palisade::properties::{Answer, Proof, ProveOptions};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::Model;
use palisade::syntax::{Format, read};
use std::path::Path;

/// A model's text.
fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
    std::fs::read_to_string(path).expect("the model is there")
}

/// The program of a text, with the copies that are given.
fn program(text: String, threads: &[&str]) -> Program {
    let mut program = read(SourceText::new("ring.pal", text), Format::Native).expect("the text is a program").program;
    let copies: Vec<_> = threads.iter().map(|own| own.parse().expect("copies")).collect();
    program.override_copies(&copies).expect("the program has these threads");
    program
}

fn proved(program: &Program, model: Model) -> Proof {
    prove(program, None, &ProveOptions::new(model)).expect("rings grow no further than laps")
}

fn holds(proof: &Proof) -> bool {
    proof.answers.iter().all(|answer| matches!(answer.answer, Answer::Holds(_)))
}

/// The copies of a smallest violation.
fn violated_by(program: &Program, model: Model) -> Vec<u64> {
    let proof = proved(program, model);
    let violation = proof.violations().next().expect("it is violated");
    violation.instance.counts().to_vec()
}

#[test]
fn a_ring_in_integers_is_proved_with_its_buffers() {
    let ring = program(text("spsc-ring.pal"), &[]);
    for model in [Model::Sc, Model::Tso] {
        let proof = proved(&ring, model);
        assert!(holds(&proof), "{model:?}: {:?}", proof.answers);
        // It is not robust, so interleavings do not decide.
        let by_buffers = matches!(proof.proofs[0].reason, PropertyReason::Buffers(_));
        assert_eq!(by_buffers, model == Model::Tso, "{model:?}");
    }
    // A store to the slot that may be seen after the index.
    assert_eq!(violated_by(&ring, Model::Pso), [1, 1]);
}

#[test]
fn rings_that_are_too_short_or_published_too_early_are_violated() {
    let longer = text("spsc-ring.pal").replace("!= 4", "!= 5");
    assert_eq!(violated_by(&program(longer, &[]), Model::Tso), [1, 1]);
    let store = "    slot[mine & 3] = mine;\n    mine = mine + 1;\n    tail = mine;";
    let early = "    tail = mine + 1;\n    slot[mine & 3] = mine;\n    mine = mine + 1;";
    let early = text("spsc-ring.pal").replace(store, early);
    assert_eq!(violated_by(&program(early, &[]), Model::Sc), [1, 1]);
}

#[test]
fn vyukovs_queue_is_proved_for_any_number() {
    let queue = program(text("vyukov-queue.pal"), &[]);
    let proof = proved(&queue, Model::Tso);
    assert!(holds(&proof), "{:?}", proof.answers);
    let PropertyReason::Counters { sc, .. } = &proof.proofs[0].reason else { panic!("{:?}", proof.proofs[0].reason) };
    assert!(!sc.far.is_empty() && sc.modulo.is_none(), "old positions are one value");
    let checked = check(&queue, &CheckOptions::default()).expect("no fault");
    assert_eq!(checked.verdict, Verdict::Robust);
}

/// Broken queues are violated by few copies: what is published too early shows in the second slot,
/// whose element does not begin as its position.
#[test]
fn broken_queues_are_violated_by_few_copies() {
    let publish = "  element[pos & 1] = pos;\n  sequence[pos & 1] = pos + 1;";
    let early = "  sequence[pos & 1] = pos + 1;\n  element[pos & 1] = pos;";
    let read = "  let taken = element[pos & 1];\n  ensure taken == pos;  # none is lost, none comes twice\n  sequence[pos & 1] = pos + 2;";
    let freed = "  sequence[pos & 1] = pos + 2;\n  let taken = element[pos & 1];\n  ensure taken == pos;";
    let queue = text("vyukov-queue.pal");
    assert!(queue.contains(publish) && queue.contains(read), "{queue}");
    let wrong = [
        ("published before the element is there", queue.replace(publish, early)),
        ("freed before the element is read", queue.replace(read, freed)),
        ("one slot", text("vyukov-queue-1.pal")),
    ];
    for (what, wrong) in wrong {
        let copies = violated_by(&program(wrong, &[]), Model::Sc);
        assert!(copies.iter().sum::<u64>() <= 4, "{what}: {copies:?}");
    }
}

#[test]
fn a_channel_and_a_slab_are_proved_for_any_number() {
    for name in ["bounded-channel.pal", "slab-slot.pal"] {
        let program = program(text(name), &[]);
        let proof = proved(&program, Model::Tso);
        assert!(holds(&proof), "{name}: {:?}", proof.answers);
        let checked = check(&program, &CheckOptions::default()).expect("no fault");
        assert_eq!(checked.verdict, Verdict::Robust, "{name}");
    }
}

#[test]
fn broken_channels_and_slabs_are_violated_by_two_copies() {
    let wrong = [
        ("bounded-channel.pal", "!= first + 2", "!= first + 3"),
        ("bounded-channel.pal", "buffer[first & 1]", "buffer[last & 1]"),
        (
            "slab-slot.pal",
            "        element = word + 2;\n        slot = word + 2;",
            "        slot = word + 2;\n        element = word + 2;",
        ),
        (
            "slab-slot.pal",
            "        let taken = element;\n        ensure taken == key;\n        slot = key + 2;",
            "        slot = key + 2;\n        let taken = element;\n        ensure taken == key;",
        ),
    ];
    for (name, old, new) in wrong {
        let right = text(name);
        assert!(right.contains(old), "{name}: {old}");
        assert_eq!(violated_by(&program(right.replace(old, new), &[]), Model::Sc), [1, 1], "{name}: {new}");
    }
}
