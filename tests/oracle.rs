//! The brute-force oracle on known shapes and on random programs.

use palisade::semantics::oracle::{Answer, robust};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{Bounds, Instance, Model, is_cyclic, replay};

#[test]
fn violations_of_random_programs_replay() {
    let bounds = Bounds::default();
    let shape = Shape::default();
    let mut violated = 0;
    for seed in 0..3000 {
        let program = random::program(seed, &shape);
        let instance = Instance::of(&program).expect("random programs fix their copies");
        match robust(&program, &instance, &bounds).expect("random programs are loop-free and have all values") {
            Answer::Robust { truncated } => assert!(!truncated),
            Answer::Violated { computation, trace } => {
                violated += 1;
                let replayed = replay(&program, &instance, Model::Tso, &computation).expect("it is a computation");
                assert_eq!(replayed.trace, trace);
                assert!(is_cyclic(&replayed.trace));
            }
        }
    }
    println!("{violated} of 3000 random programs are not robust");
    assert!(violated > 100);
}
