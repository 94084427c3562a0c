//! Redundant fences agree with exhaustive search over the sets of fences that may go.

use crate::checked::check;
use crate::environment::seeds;
use palisade::fences::{FenceOptions, Measure, Redundancy, Silent, Unfinished, fences_removed, redundant};
use palisade::program::{InstructionId, Program, ThreadId};
use palisade::robustness::{Attack, AttackOutcome, CheckOptions, Verdict};
use palisade::semantics::random::{Shape, program};

/// The attacks feasible in a program.
fn feasible(program: &Program) -> Option<Vec<Attack>> {
    let options = CheckOptions { all: true, values: 12, ..CheckOptions::default() };
    let checked = check(program, &options).ok()?;
    let feasible = |report: &&palisade::robustness::AttackReport| report.outcome == AttackOutcome::Feasible;
    Some(checked.attacks.iter().filter(feasible).map(|report| report.attack).collect())
}

fn place_of(measure: Measure) -> (ThreadId, InstructionId) {
    match measure {
        Measure::Kept { thread, fence } => (thread, fence),
        _ => panic!("only fences that are there are judged"),
    }
}

/// Nets alone judge the same fences redundant.
fn compare_nets(program: &Program, options: &FenceOptions, searched: &Redundancy) {
    match redundant(program, &FenceOptions { nets: true, ..options.clone() }, &Silent) {
        Ok(Ok(on_nets)) => {
            let can_go = |found: &Redundancy| -> Vec<(Measure, bool)> {
                found.fences.iter().map(|(fence, attack)| (*fence, attack.is_none())).collect()
            };
            assert_eq!(can_go(&on_nets), can_go(searched), "{program:#?}");
            assert_eq!(on_nets.removable, searched.removable, "{program:#?}");
        }
        Ok(Err(Unfinished::Growth(_))) => {}
        other => panic!("{other:?} of {program:#?}"),
    }
}

/// Checks of the changed programs alone judge the same fences redundant. Of the largest sets that
/// can go they may find another one.
fn compare_checks(program: &Program, options: &FenceOptions, searched: &Redundancy) {
    let checked = match redundant(program, &FenceOptions { checks: true, ..options.clone() }, &Silent) {
        Ok(Ok(checked)) => checked,
        other => panic!("{other:?} of {program:#?}"),
    };
    let can_go = |found: &Redundancy| -> Vec<(Measure, bool)> {
        found.fences.iter().map(|(fence, attack)| (*fence, attack.is_none())).collect()
    };
    assert_eq!(can_go(&checked), can_go(searched), "{program:#?}");
    assert_eq!(checked.removable.len(), searched.removable.len(), "{program:#?}");
    assert_eq!(checked.needed.len(), searched.needed.len(), "{program:#?}");
    assert_eq!(checked.without_largest, searched.without_largest, "{program:#?}");
}

/// Compares one program; whether it has a fence that can go and one that cannot.
fn compare(program: &Program) -> bool {
    let options = FenceOptions { values: 12, ..FenceOptions::default() };
    let Ok(found) = redundant(program, &options, &Silent) else { return false };
    let found = match found {
        Ok(found) => found,
        Err(Unfinished::Growth(_)) => return false,
        Err(Unfinished::Limit(reason)) => panic!("there is no limit: {reason}"),
    };
    compare_nets(program, &options, &found);
    compare_checks(program, &options, &found);
    let Some(before) = feasible(program) else { return false };
    let can_go = |fences: &[Measure]| {
        feasible(&fences_removed(program, fences.iter().map(|fence| place_of(*fence)))).as_ref() == Some(&before)
    };
    for (fence, attack) in &found.fences {
        assert_eq!(attack.is_none(), can_go(&[*fence]), "{program:#?}");
        if let Some(attack) = attack {
            let after = feasible(&fences_removed(program, [place_of(*fence)])).expect("it has a meaning");
            assert!(after.contains(attack) && !before.contains(attack));
        }
    }
    assert!(can_go(&found.removable));
    assert_eq!(found.without_largest == Verdict::Robust, before.is_empty());
    let all: Vec<Measure> = found.fences.iter().map(|(fence, _)| *fence).collect();
    for bits in 0..1usize << all.len() {
        if usize::try_from(bits.count_ones()).expect("few fences") > found.removable.len() {
            let set: Vec<Measure> = (0..all.len()).filter(|bit| bits >> bit & 1 == 1).map(|bit| all[bit]).collect();
            assert!(!can_go(&set), "more fences can go: {program:#?}");
        }
    }
    for needed in &found.needed {
        let more: Vec<Measure> = found.removable.iter().copied().chain([needed.measure]).collect();
        let after = feasible(&fences_removed(program, more.iter().map(|fence| place_of(*fence))));
        assert!(after.expect("it has a meaning").contains(&needed.attack));
    }
    !found.removable.is_empty() && found.removable.len() < all.len()
}

#[test]
fn random_programs_with_many_fences() {
    let shape = Shape { fences: 30, rmws: 3, sections: 3, labels: 6, total_labels: 9, ..Shape::default() };
    let compared = seeds(400, 4000).filter(|seed| compare(&program(*seed, &shape))).count();
    assert!(compared >= 2, "only {compared} programs have fences of both kinds");
}
