//! Fences after which nobody waits for ever: as few as there can be, for known programs and for
//! random ones.

use super::program;
use crate::checked::repair_hangs;
use crate::environment::seeds;
use itertools::Itertools;
use palisade::evidence::{RepairClaim, RepairEvidence, RowWitness, ValidProof};
use palisade::fences::{Cost, Measure, Remedied, Remedy, with_measures};
use palisade::program::{Action, Program, ThreadId};
use palisade::properties::placement::PlacementOptions;
use palisade::semantics::hang_oracle::{HangEffort, hangs};
use palisade::semantics::random::Randomness;
use palisade::semantics::{Instance, Model};
use palisade::verify::{check_repair, check_repaired_text};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Whether some state of a fixed number of copies is stuck, by enumeration; nothing where that
/// takes too long.
fn is_stuck(program: &Program, model: Model) -> Option<bool> {
    let effort = HangEffort { capacity: 3, states: 20_000, ..HangEffort::default() };
    let found = hangs(program, &Instance::of(program)?, model, effort).ok()?;
    found.closed.then_some(!found.stuck.is_empty())
}

/// A set of fewer measures with which nobody waits for ever, by enumeration.
fn fewer(program: &Program, measures: &[Measure], count: usize, model: Model) -> Option<Vec<Measure>> {
    let sets = (0..count).flat_map(|size| measures.iter().copied().combinations(size));
    let is_free = |set: &Vec<Measure>| is_stuck(&with_measures(program, set), model) == Some(false);
    sets.into_iter().find(is_free)
}

/// The measures on offer, as the evidence lists them.
fn offered(found: &Remedied) -> &RepairEvidence {
    &found.shown.as_ref().expect("there is evidence").evidence
}

#[test]
fn models_are_repaired_by_as_few_fences_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/hangs");
    let mut repaired = 0;
    for entry in std::fs::read_dir(&folder).expect("the models that wait") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a model");
        let Some(expected) = text.lines().find_map(|line| line.strip_prefix("# expect fences: ")) else { continue };
        let read = program(&text);
        let found = repair_hangs(&read, &PlacementOptions::new(Model::Tso), false);
        let Remedy::Valid(measures, _) = &found.remedy else { panic!("{}: {:?}", path.display(), found.remedy) };
        assert_eq!(measures.len().to_string(), expected, "{}: {measures:?}", path.display());
        assert!(found.shown.as_ref().is_some_and(|shown| shown.is_complete), "{}", path.display());
        // The text says the program with the fences, and nobody waits for ever in it.
        let text = found.text.as_ref().expect("a change").as_ref().expect("a text");
        assert_eq!(is_stuck(&text.program, Model::Tso).unwrap_or(false), false, "{}", path.display());
        repaired += 1;
    }
    assert!(repaired >= 10, "{repaired}");
}

/// A random program in which threads publish, look, and wait or kick; other steps stand in between.
fn publishers(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let filling = |random: &mut Randomness| -> String {
        let steps = ["", "", "", "z = 1; ", "let r = z; ", "mfence; ", "w = 1; ", "let s = w; "];
        let chosen: Vec<&str> = (0..2).map(|_| steps[random.below(steps.len())]).collect();
        // A register is declared once in a block.
        format!("{{ {} }} {{ {} }} ", chosen[0], chosen[1])
    };
    let mut text = "program publishers\ndomain 0..1\naddress x, y, kick, z, w\n".to_owned();
    let kicks = ["kick = 1;", "release(kick);", "xchg(kick, 1);"][random.below(3)];
    let waits = if kicks.contains("release") { "acquire(kick);" } else { "await (kick == 1);" };
    let publish = if random.percent(20) { "x = 0; x = 1; " } else { "x = 1; " };
    let (one, two) = (filling(&mut random), filling(&mut random));
    text += &format!("thread a {{ {publish}{one}if (y == 1) {{ {two}{kicks} }} }}\n");
    let announce = ["y = 1; ", "y = 1; ", "xchg(y, 1); "][random.below(3)];
    let (one, two) = (filling(&mut random), filling(&mut random));
    text += &format!("thread b {{ {one}{announce}{two}if (x == 0) {{ {waits} }} }}\n");
    if random.percent(30) {
        text += "thread c { z = 1; if (w == 1) { z = 0; } }\n";
    }
    program(&text)
}

#[test]
fn random_programs_need_as_many_fences_as_enumeration_says() {
    for model in [Model::Tso, Model::Pso] {
        let asked: Vec<u64> = seeds(3, 2_000).collect();
        let compared: usize = asked
            .par_iter()
            .map(|seed| {
                let program = publishers(*seed);
                let options = PlacementOptions { fence: Cost::one(), ..PlacementOptions::new(model) };
                let found = repair_hangs(&program, &options, false);
                let offered: Vec<Measure> = offered(&found).measures.iter().map(|(measure, _)| *measure).collect();
                match &found.remedy {
                    Remedy::Valid(measures, _) => {
                        let chosen: Vec<Measure> = measures.iter().map(|(measure, _)| *measure).collect();
                        let changed = with_measures(&program, &chosen);
                        assert_eq!(is_stuck(&changed, model), Some(false), "seed {seed}: {chosen:?}");
                        let better = fewer(&program, &offered, chosen.len(), model);
                        assert_eq!(better, None, "seed {seed}: {chosen:?} under {model:?}");
                        chosen.len().min(1)
                    }
                    Remedy::Impossible(_) => {
                        assert_eq!(is_stuck(&program, Model::Sc), Some(true), "seed {seed} under {model:?}");
                        0
                    }
                    Remedy::Unknown(why) => panic!("seed {seed}: {why}"),
                }
            })
            .sum();
        assert!(compared * 3 >= asked.len(), "{compared} of {} programs need fences under {model:?}", asked.len());
    }
}

#[test]
fn where_interleavings_are_stuck_no_fence_helps() {
    let read = program(
        "program both\naddress f, g\nthread a { await (g == 1); f = 1; }\nthread b { await (f == 1); g = 1; }\n",
    );
    let found = repair_hangs(&read, &PlacementOptions::new(Model::Tso), false);
    assert!(matches!(found.remedy, Remedy::Impossible(_)), "{:?}", found.remedy);
    assert!(found.shown.is_some_and(|shown| shown.facts.is_some_and(|facts| facts.is_impossible)));
}

const FLAGS: &str = "program Flags
address x, y, kick
thread a { x = 1; if (y == 1) { kick = 1; } }
thread b { y = 1; if (x == 0) { await (kick == 1); } }
";

#[test]
fn evidence_that_is_tampered_with_is_rejected() {
    let read = program(FLAGS);
    let found = repair_hangs(&read, &PlacementOptions::new(Model::Tso), false);
    let evidence = offered(&found).clone();
    let texts = [found.text.as_ref().and_then(|text| text.as_ref().ok()).map(|text| text.program.clone())];
    let rejects = |forged: &RepairEvidence| check_repair(&read, None, forged, &texts).is_err();
    assert!(!rejects(&evidence), "the evidence as it is");
    assert_eq!(evidence.rows.len(), 2, "one fence in each thread");

    let other = |change: &dyn Fn(&mut RepairEvidence)| {
        let mut forged = evidence.clone();
        change(&mut forged);
        forged
    };
    let forged = [
        other(&|it| it.claim = RepairClaim::Hangs { model: Model::Pso, graphs: None, ignores_timeouts: false }),
        other(&|it| it.claim = RepairClaim::Hangs { model: Model::Sc, graphs: None, ignores_timeouts: false }),
        other(&|it| it.claim = RepairClaim::Hangs { model: Model::Tso, graphs: None, ignores_timeouts: true }),
        other(&|it| it.claim = RepairClaim::Robust),
        other(&|it| it.valid[0].set.truncate(1)),
        other(&|it| it.rows[0].measures.truncate(1)),
        other(&|it| it.rows[0].measures.clear()),
        other(&|it| it.rows[0].measures = it.rows[1].measures.clone()),
        other(&|it| {
            if let RowWitness::Stuck(witness) = &mut it.rows[0].witness {
                witness.steps.pop();
            }
        }),
        other(&|it| {
            if let ValidProof::Free(certificate) = &mut it.valid[0].proof {
                Arc::make_mut(certificate).set.configurations.pop();
            }
        }),
        other(&|it| it.bound[0].least = 3_u64.into()),
        // With an exchange on offer more fences need not mean fewer stuck states.
        other(&|it| {
            let mut instructions = read.threads[0].instruction_ids();
            let store = instructions.find(|(_, own)| matches!(own.action, Action::Store { .. })).expect("a store").0;
            it.measures.push((Measure::Exchange { thread: ThreadId::from_index(0), store }, None));
        }),
    ];
    for (number, forged) in forged.iter().enumerate() {
        assert!(rejects(forged), "forgery {number} is accepted");
    }
}

#[test]
fn where_time_runs_out_fences_are_for_who_ignores_that() {
    let read = program(&FLAGS.replace("await (kick", "timed await (kick"));
    let options = PlacementOptions::new(Model::Tso);
    let set = |found: &Remedied| match &found.remedy {
        Remedy::Valid(measures, _) => measures.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(set(&repair_hangs(&read, &options, false)), 0, "what is lost is a delay");
    let found = repair_hangs(&read, &options, true);
    assert_eq!(set(&found), 2, "one fence in each thread");
    let evidence = offered(&found).clone();
    let texts = [found.text.as_ref().and_then(|text| text.as_ref().ok()).map(|text| text.program.clone())];
    assert_eq!(check_repair(&read, None, &evidence, &texts).map(|_| ()), Ok(()));
    let claim = RepairClaim::Hangs { model: Model::Tso, graphs: None, ignores_timeouts: false };
    assert!(check_repair(&read, None, &RepairEvidence { claim, ..evidence }, &texts).is_err(), "another claim");
}

/// A repaired text must say who may wait for ever as the program does: with other marks anything is
/// free of hangs.
#[test]
fn a_repaired_text_with_other_marks_is_rejected() {
    let read = program(FLAGS);
    let found = repair_hangs(&read, &PlacementOptions::new(Model::Tso), false);
    let evidence = offered(&found);
    let text = found.text.as_ref().expect("a change").as_ref().expect("a text").text().to_owned();
    let says = |text: &str| {
        let marked = program(text);
        check_repaired_text(&read, evidence, &evidence.valid[0].set, &marked).is_ok()
    };
    assert!(says(&text), "the text as it is");
    for (plain, marked) in
        [("await (kick", "idle await (kick"), ("await (kick", "timed await (kick"), ("thread b", "daemon thread b")]
    {
        assert!(text.contains(plain) && !says(&text.replace(plain, marked)), "{marked}");
    }
}
