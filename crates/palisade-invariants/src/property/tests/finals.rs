//! Final states against those of the machine.

use super::super::slice::least_liveness;
use super::*;
use palisade_semantics::{Condition, Constant, Location, Observable, Proposition, Quantifier};

/// A random question about registers and addresses.
fn random_question(program: &Program, random: &mut Randomness) -> Question {
    let atom = |random: &mut Randomness| {
        let observable = if random.percent(60) {
            let thread = ThreadId::from_index(random.below(program.threads.len()));
            Observable::Register { thread, register: RegisterId::from_index(random.below(2)) }
        } else {
            Observable::Address([1, 2][random.below(2)])
        };
        let value = [0, 1, 2][random.below(3)];
        Proposition::Equals(Location::whole(observable, "it"), Constant { value, text: value.to_string() })
    };
    let proposition = Proposition::And(vec![atom(random), atom(random)]);
    let proposition = if random.percent(30) { Proposition::Not(Box::new(proposition)) } else { proposition };
    let quantifier = [Quantifier::Exists, Quantifier::NotExists, Quantifier::ForAll][random.below(3)];
    let filter = random.percent(15).then(|| atom(random));
    Question { filter, condition: Some(Condition { quantifier, proposition }), locations: Vec::new() }
}

/// Whether a machine has a final state that answers the question.
fn oracle(program: &Program, machine: &Machine<'_>, question: &Question, states: &HashSet<State>) -> bool {
    let ended = |state: &&State| {
        state.buffers_are_empty() && (0..machine.copies().len()).all(|position| machine.has_ended(state, position))
    };
    let finals: Vec<State> = states.iter().filter(ended).cloned().collect();
    let instance = Instance::of(program).expect("fixed copies");
    let exists = Question {
        condition: question.condition.clone().map(|own| Condition { quantifier: Quantifier::Exists, ..own }),
        ..question.clone()
    };
    let answer = exists.answer(program, &instance, &finals, palisade_semantics::Counting::Executions);
    match question.condition().quantifier {
        Quantifier::ForAll => answer.others > 0,
        _ => answer.satisfying > 0,
    }
}

#[test]
fn the_steps_reach_the_final_states_of_the_program() {
    let (mut answered, mut not_answered, mut sliced_away) = (0, 0, 0);
    for seed in seeds(200) {
        let program = with_properties(seed, false);
        let mut random = Randomness::new(seed);
        let question = random_question(&program, &mut random);
        for model in MODELS {
            let Some((states, _)) = all_states(&program, model) else { continue };
            let instance = Instance::of(&program).expect("fixed copies");
            let expected = oracle(&program, &Machine::new(&program, &instance, model), &question, &states);
            let goal = goal(&program, Some(&question), &[Target::FinalStates]).expect("final states can be asked for");
            let mut slice: Vec<Vec<InstructionId>> = vec![Vec::new(); program.threads.len()];
            for (id, thread) in program.thread_ids() {
                for (instruction, own) in thread.instruction_ids() {
                    // What blocks must stay for the answers to be the same.
                    if matches!(own.action, Action::Assume(_)) {
                        continue;
                    }
                    slice[id.index()].push(instruction);
                    if sliced(&program, &slice, &[], &goal.observed, None).is_err() {
                        slice[id.index()].pop();
                    }
                }
            }
            sliced_away += slice.iter().map(Vec::len).sum::<usize>();
            let sliced = sliced(&program, &slice, &[], &goal.observed, None).expect("allowed");
            for program in [&program, &sliced] {
                let live = program.thread_ids().map(|(id, thread)| {
                    let mut observed = vec![false; thread.registers.len()];
                    for observable in &goal.observed {
                        if let Observable::Register { thread, register } = observable
                            && *thread == id
                        {
                            observed[register.index()] = true;
                        }
                    }
                    let live = least_liveness(thread, &observed);
                    let at = |label: usize| -> Vec<RegisterId> {
                        let own = (0..thread.registers.len()).filter(|register| live.is_live(label, *register));
                        own.map(RegisterId::from_index).collect()
                    };
                    (0..thread.labels.len()).map(at).collect()
                });
                let live: Vec<_> = live.collect();
                for (_, buffering) in RELATIONS.into_iter().filter(|(of, _)| *of == model) {
                    let silent = most_silent(program, buffering);
                    let found = reach(program, buffering, &goal, live.clone(), silent).expect("few configurations");
                    if let Err(failure) = &found {
                        assert_eq!(failure.obligation, Obligation::Safe, "{failure}");
                    }
                    assert_eq!(found.is_err(), expected, "seed {seed} under {buffering:?}: {question:?}\n{program:?}");
                }
            }
            *(if expected { &mut answered } else { &mut not_answered }) += 1;
        }
    }
    assert!(answered > 100 && not_answered > 100 && sliced_away > 200, "{answered} {not_answered} {sliced_away}");
}
