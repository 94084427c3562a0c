//! The checker's steps, with all its reductions, reach exactly the targets that the program
//! reaches; and a slice that it allows hides none.

use super::*;

/// Whatever is live, and with the silent stores left out where that is allowed, the targets reached
/// are those of the oracle.
#[test]
fn the_steps_reach_what_the_program_reaches() {
    let (mut compared, mut violated, mut apart, mut silenced) = (0, 0, 0, 0);
    for seed in seeds(80) {
        let program = with_properties(seed, true);
        let targets = all_targets(&program);
        let mut reached = Vec::new();
        for (model, buffering) in RELATIONS {
            let Some((_, oracle)) = all_states(&program, model) else { continue };
            let silent = most_silent(&program, buffering);
            silenced += usize::from(!silent.is_empty());
            for (live, silent) in [(everything_live(&program), Vec::new()), (least_live(&program), silent.clone())] {
                for target in &targets {
                    let found = is_reached(&program, buffering, &[*target], live.clone(), silent.clone());
                    assert_eq!(
                        found,
                        Some(oracle.contains(target)),
                        "seed {seed} under {buffering:?}, {target:?}, silent {silent:?}\n{program:?}"
                    );
                    compared += 1;
                    violated += usize::from(found == Some(true));
                }
            }
            reached.push(oracle);
        }
        apart += usize::from(reached.windows(2).any(|pair| pair[0] != pair[1]));
    }
    assert!(compared > 600 && violated > 150 && apart > 3 && silenced > 60, "{compared} {violated} {apart} {silenced}");
}

/// A slice as large as the checker allows: instructions are added in a random order while it
/// agrees.
fn largest_slice(program: &Program, targets: &[Target], random: &mut Randomness) -> Vec<Vec<InstructionId>> {
    let mut slice: Vec<Vec<InstructionId>> = vec![Vec::new(); program.threads.len()];
    let mut all: Vec<(usize, InstructionId)> = program
        .thread_ids()
        .flat_map(|(id, thread)| thread.instruction_ids().map(move |(instruction, _)| (id.index(), instruction)))
        .collect();
    while !all.is_empty() {
        let (thread, instruction) = all.swap_remove(random.below(all.len()));
        let mut larger = slice.clone();
        larger[thread].push(instruction);
        larger[thread].sort();
        if sliced(program, &larger, targets, &Observed::new(), None).is_ok() {
            slice = larger;
        }
    }
    slice
}

/// What the sliced program does not reach, the program does not reach.
#[test]
fn slices_hide_no_violation() {
    let (mut sliced_away, mut violated, mut safe) = (0, 0, 0);
    for seed in seeds(120) {
        let program = with_properties(seed, true);
        let mut random = Randomness::new(seed);
        for (model, buffering) in RELATIONS {
            let Some((_, oracle)) = all_states(&program, model) else { continue };
            for target in all_targets(&program) {
                let slice = largest_slice(&program, &[target], &mut random);
                sliced_away += slice.iter().map(Vec::len).sum::<usize>();
                let sliced = sliced(&program, &slice, &[target], &Observed::new(), None).expect("allowed");
                let silent = most_silent(&sliced, buffering);
                let goal = goal(&sliced, None, std::slice::from_ref(&target)).expect("it has the target");
                match reach(&sliced, buffering, &goal, least_live(&sliced), silent) {
                    Some(Ok(_)) => {
                        safe += 1;
                        assert!(
                            !oracle.contains(&target),
                            "seed {seed} under {buffering:?}: {target:?} in {slice:?}\n{program:?}"
                        );
                    }
                    // A value that is none, behind an `assert` that was left out, is an objection
                    // as well.
                    Some(Err(_)) => violated += 1,
                    None => {}
                }
            }
        }
    }
    assert!(sliced_away > 500 && violated > 50 && safe > 50, "{sliced_away} {violated} {safe}");
}

/// With loops, and buffers that are unbounded for the checker alone: what the program reaches with
/// few stores in a buffer, the steps reach.
#[test]
fn with_loops_the_steps_reach_what_is_reached_with_few_stores() {
    let (mut compared, mut closed) = (0, 0);
    for seed in seeds(200) {
        let shape = Shape { loops: 25, copies: 2, total_labels: 6, domains: 100, ..Shape::default() };
        let mut program = program(seed, &shape);
        let mut random = Randomness::new(seed);
        for thread in &mut program.threads {
            let at = random.below(thread.instructions.len());
            insert_after(thread, at, Action::Ensure(condition(&mut random)));
        }
        let targets = all_targets(&program);
        for (model, buffering) in RELATIONS {
            let instance = Instance::of(&program).expect("fixed copies");
            let machine = Machine::new(&program, &instance, model).with_capacity(2);
            let Some((_, oracle)) = all_states_of(&machine) else { continue };
            let silent = most_silent(&program, buffering);
            for target in &targets {
                let found = is_reached(&program, buffering, &[*target], least_live(&program), silent.clone());
                compared += 1;
                closed += usize::from(found == Some(false));
                if found == Some(false) {
                    assert!(!oracle.contains(target), "seed {seed} under {buffering:?}, {target:?}\n{program:?}");
                }
            }
        }
    }
    assert!(compared > 90 && closed > 30, "{compared} {closed}");
}
