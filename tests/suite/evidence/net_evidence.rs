//! Net evidence on random nets: sound evidence is accepted, corrupted evidence rejected, each kind
//! of corruption a thousand times.
//!
//! What must be rejected is decided without the checker. The coverability set and the backward
//! basis of each net are computed here, by the textbook:
//!
//! - every downward-closed invariant contains the coverability set, so that a set without one of
//!   its maximal elements, or with that element lowered somewhere (a count or an ω), is no
//!   certificate;
//! - the backward basis generates the least upward-closed set that is a certificate, so that a set
//!   without one of its elements, or with that element raised, is none;
//! - a coverable target has no certificate of any kind, whatever another net's certificate says;
//! - a run is followed here with plain numbers.

use crate::checked::solve;
use crate::environment::is_long_run;
use palisade::coverability::{Options, Outcome};
use palisade::evidence::{
    Evidence, InputFile, MarkingSet, NetCertificate, NetRun, NetSubject, OmegaMarking, ReachCertificate, RunStep,
    TokenMarking, sha256,
};
use palisade::net::{Count, Net, OmegaCount, PlaceId, Problem, Query, Target, TransitionId};
use palisade::semantics::random::Randomness;
use palisade::verify::{check_net_certificate, check_net_evidence, check_net_run};
use std::sync::Arc;

/// Every kind of corruption is met so often.
fn enough() -> usize {
    if is_long_run() { 1000 } else { 250 }
}

/// ω in the dense markings of this file.
const OMEGA: u64 = u64::MAX;

type Dense = Vec<u64>;

/// A random number below a bound.
fn number(random: &mut Randomness, bound: usize) -> u64 {
    random.below(bound) as u64
}

/// A net of a few places and transitions with small weights, one or two places initially ω now and
/// then, one target.
fn random_problem(random: &mut Randomness) -> Problem {
    let places = 2 + random.below(4);
    let mut net = Net::default();
    for place in 0..places {
        let initial = match random.below(6) {
            0 | 1 => OmegaCount::Finite(Count::ONE),
            2 => OmegaCount::Finite((1 + number(random, 3)).into()),
            3 if random.below(3) == 0 => OmegaCount::Omega,
            _ => OmegaCount::Finite(Count::ZERO),
        };
        net.add_place(format!("p{place}"), initial);
    }
    for transition in 0..2 + random.below(5) {
        let mut arcs = |most: usize| {
            let arc = |random: &mut Randomness| {
                (PlaceId::from_index(random.below(places)), Count::from(1 + number(random, 4) / 3))
            };
            (0..random.below(most + 1)).map(|_| arc(random)).collect::<Vec<_>>()
        };
        let (pre, post) = (arcs(3), arcs(3));
        net.add_transition(format!("t{transition}"), pre, post);
    }
    let demands = (0..=random.below(2))
        .map(|_| (PlaceId::from_index(random.below(places)), Count::from(1 + number(random, 3))))
        .collect();
    Problem { net, query: Query { targets: vec![Target::new(demands)] } }
}

fn dense_arcs(problem: &Problem, arcs: &[(PlaceId, Count)]) -> Dense {
    let mut dense = vec![0; problem.net.places.len()];
    for (place, count) in arcs {
        dense[place.index()] = count.to_u64().unwrap();
    }
    dense
}

fn dense_count(count: &OmegaCount) -> u64 {
    match count {
        OmegaCount::Finite(count) => count.to_u64().unwrap(),
        OmegaCount::Omega => OMEGA,
    }
}

fn below(smaller: &Dense, larger: &Dense) -> bool {
    smaller.iter().zip(larger).all(|(a, b)| a <= b)
}

fn transitions(problem: &Problem) -> Vec<(Dense, Dense)> {
    let dense = |arcs: &Vec<_>| dense_arcs(problem, arcs);
    problem.net.transitions.iter().map(|transition| (dense(&transition.pre), dense(&transition.post))).collect()
}

/// The maximal elements of the coverability set [KM69], or nothing when the tree grows too large
/// for a test.
fn coverability_set(problem: &Problem) -> Option<Vec<Dense>> {
    let transitions = transitions(problem);
    let root: Dense = problem.net.initial.iter().map(dense_count).collect();
    let mut nodes: Vec<Dense> = Vec::new();
    let mut branches: Vec<Vec<Dense>> = vec![vec![root]];
    while let Some(branch) = branches.pop() {
        let marking = branch.last().unwrap().clone();
        if branch[..branch.len() - 1].contains(&marking) {
            continue;
        }
        nodes.push(marking.clone());
        if nodes.len() > 3000 {
            return None;
        }
        for (pre, post) in &transitions {
            if !below(pre, &marking) {
                continue;
            }
            let shift = |((own, pre), post): ((&u64, &u64), &u64)| if *own == OMEGA { OMEGA } else { own - pre + post };
            let mut next: Dense = marking.iter().zip(pre).zip(post).map(shift).collect();
            for ancestor in branch.iter().rev() {
                if below(ancestor, &next) {
                    let lift = |(own, old): (&u64, &u64)| if own > old { OMEGA } else { *own };
                    next = next.iter().zip(ancestor).map(lift).collect();
                }
            }
            branches.push(branch.iter().cloned().chain([next]).collect());
        }
    }
    Some(extremes(nodes, &below))
}

/// The minimal elements of the set from which a target can be covered, or nothing when they grow
/// too many for a test.
fn backward_basis(problem: &Problem) -> Option<Vec<Dense>> {
    let transitions = transitions(problem);
    let targets = problem.query.targets.iter().map(|target| dense_arcs(problem, &target.demands)).collect();
    let above = |larger: &Dense, smaller: &Dense| below(smaller, larger);
    let mut basis = extremes(targets, &above);
    loop {
        let mut all = basis.clone();
        for marking in &basis {
            for (pre, post) in &transitions {
                let before = |((own, pre), post): ((&u64, &u64), &u64)| own.saturating_sub(*post) + pre;
                all.push(marking.iter().zip(pre).zip(post).map(before).collect());
            }
        }
        let next = extremes(all, &above);
        if next == basis {
            return Some(basis);
        }
        if next.len() > 200 {
            return None;
        }
        basis = next;
    }
}

/// The elements below no other one, sorted.
fn extremes(mut all: Vec<Dense>, below: &dyn Fn(&Dense, &Dense) -> bool) -> Vec<Dense> {
    all.sort();
    all.dedup();
    all.iter().filter(|own| !all.iter().any(|other| other != *own && below(own, other))).cloned().collect()
}

fn covers_target(problem: &Problem, marking: &Dense) -> bool {
    problem.query.targets.iter().any(|target| below(&dense_arcs(problem, &target.demands), marking))
}

fn sparse(marking: &Dense) -> OmegaMarking {
    let count = |count: u64| if count == OMEGA { OmegaCount::Omega } else { OmegaCount::Finite(count.into()) };
    (0..).zip(marking).filter(|(_, own)| **own > 0).map(|(place, own)| (PlaceId(place), count(*own))).collect()
}

fn sparse_finite(marking: &Dense) -> TokenMarking {
    (0..).zip(marking).filter(|(_, own)| **own > 0).map(|(place, own)| (PlaceId(place), (*own).into())).collect()
}

fn downward(markings: &[Dense]) -> NetCertificate {
    NetCertificate::Downward { markings: markings.iter().map(sparse).collect() }
}

fn upward(basis: &[Dense]) -> NetCertificate {
    let basis = basis.iter().map(sparse_finite).collect();
    NetCertificate::Upward { basis, invariant: palisade::evidence::Invariant::default() }
}

/// Random problems with the answer that the coverability set gives.
fn problems(seed: u64) -> impl Iterator<Item = (Problem, Vec<Dense>, bool)> {
    let mut random = Randomness::new(seed);
    std::iter::repeat_with(move || random_problem(&mut random)).filter_map(|problem| {
        let set = coverability_set(&problem)?;
        let coverable = set.iter().any(|marking| covers_target(&problem, marking));
        Some((problem, set, coverable))
    })
}

#[test]
fn downward_sets_with_an_element_dropped_or_lowered() {
    let mut random = Randomness::new(1);
    let (mut dropped, mut count_changed, mut omega_removed) = (0, 0, 0);
    for (problem, set, coverable) in problems(2) {
        if dropped >= enough() && count_changed >= enough() && omega_removed >= enough() {
            return;
        }
        if coverable {
            assert!(check_net_certificate(&problem, &downward(&set)).is_err(), "{problem:?}");
            continue;
        }
        assert_eq!(check_net_certificate(&problem, &downward(&set)), Ok(()), "{problem:?}");
        let index = random.below(set.len());
        let mut fewer = set.clone();
        fewer.remove(index);
        assert!(check_net_certificate(&problem, &downward(&fewer)).is_err(), "{problem:?} {fewer:?}");
        dropped += 1;
        for place in 0..set[index].len() {
            let mut lower = set.clone();
            let count = &mut lower[index][place];
            match *count {
                0 => continue,
                OMEGA => {
                    *count = number(&mut random, 50);
                    omega_removed += 1;
                }
                _ => {
                    *count -= 1;
                    count_changed += 1;
                }
            }
            assert!(check_net_certificate(&problem, &downward(&lower)).is_err(), "{problem:?} {lower:?}");
        }
    }
}

#[test]
fn upward_sets_with_an_element_dropped_or_raised() {
    let mut random = Randomness::new(3);
    let (mut dropped, mut count_changed) = (0, 0);
    for (problem, _, coverable) in problems(4) {
        if dropped >= enough() && count_changed >= enough() {
            return;
        }
        let Some(basis) = backward_basis(&problem) else { continue };
        let accepted = check_net_certificate(&problem, &upward(&basis)).is_ok();
        assert_eq!(accepted, !coverable, "{problem:?} {basis:?}");
        let index = random.below(basis.len());
        let mut fewer = basis.clone();
        fewer.remove(index);
        assert!(check_net_certificate(&problem, &upward(&fewer)).is_err(), "{problem:?} {fewer:?}");
        dropped += 1;
        let mut raised = basis.clone();
        let place = random.below(raised[index].len());
        raised[index][place] += 1 + number(&mut random, 3);
        assert!(check_net_certificate(&problem, &upward(&raised)).is_err(), "{problem:?} {raised:?}");
        count_changed += 1;
    }
}

/// The engine's answers are right and their evidence is accepted; certificates of one net are shown
/// for another one whose target can be covered, and for the same net with a target that can be.
#[test]
fn certificates_of_other_nets_and_targets() {
    let mut random = Randomness::new(5);
    let mut certificates: Vec<NetCertificate> = Vec::new();
    let (mut others, mut moved) = (0, 0);
    for (problem, set, coverable) in problems(6) {
        if others >= enough() && moved >= enough() {
            return;
        }
        match solve(&problem, &Options { jobs: 1, ..Options::default() }).outcome {
            Outcome::Uncoverable(certificate) => {
                assert!(!coverable, "{problem:?}");
                assert_eq!(check_net_certificate(&problem, &certificate), Ok(()), "{problem:?} {certificate:?}");
                let reachable = &set[random.below(set.len())];
                let mut other_target = problem.clone();
                let limited = reachable.iter().map(|count| (*count).min(4)).collect();
                other_target.query.targets = vec![Target::new(sparse_finite(&limited))];
                assert!(check_net_certificate(&other_target, &certificate).is_err(), "{other_target:?}");
                moved += 1;
                certificates.push(certificate);
            }
            Outcome::Coverable(run) => {
                assert!(coverable, "{problem:?}");
                assert_eq!(check_net_run(&problem, &run), Ok(()), "{problem:?}");
            }
            Outcome::Unknown(_) => {}
        }
        if coverable && !certificates.is_empty() {
            for _ in 0..3 {
                let certificate = &certificates[random.below(certificates.len())];
                assert!(check_net_certificate(&problem, certificate).is_err(), "{problem:?} {certificate:?}");
                others += 1;
            }
        }
    }
}

/// Whether the run can be fired and covers a target, with plain numbers.
fn covers(problem: &Problem, run: &NetRun) -> bool {
    let finite = |count: &u64| if *count == OMEGA { 0 } else { *count };
    let mut marking: Dense = problem.net.initial.iter().map(dense_count).map(|count| finite(&count)).collect();
    for (place, count) in &run.initial_choice {
        marking[place.index()] = count.to_u64().unwrap();
    }
    let transitions = transitions(problem);
    for id in run.spelled_out(1_000_000).expect("a short run") {
        let (pre, post) = &transitions[id.index()];
        if !below(pre, &marking) {
            return false;
        }
        marking = marking.iter().zip(pre).zip(post).map(|((own, pre), post)| own - pre + post).collect();
    }
    covers_target(problem, &marking)
}

#[test]
fn runs_with_firings_dropped_swapped_and_recounted() {
    let mut random = Randomness::new(7);
    let mut rejected = [0; 6];
    for (problem, _, coverable) in problems(8) {
        if rejected.iter().all(|count| *count >= enough()) {
            return;
        }
        if !coverable {
            continue;
        }
        let Outcome::Coverable(run) = solve(&problem, &Options { jobs: 1, ..Options::default() }).outcome else {
            continue;
        };
        assert!(check_net_run(&problem, &run).is_ok() && covers(&problem, &run), "{problem:?} {run:?}");
        let length = run.firings.len();
        for (kind, counter) in rejected.iter_mut().enumerate() {
            let mut corrupted = run.clone();
            match kind {
                0 if length > 0 => {
                    corrupted.firings.remove(random.below(length));
                }
                1 if length > 1 => corrupted.firings.swap(0, 1 + random.below(length - 1)),
                2 if length > 0 => {
                    let index = random.below(length);
                    corrupted.firings[index].1 = (1 + number(&mut random, 4)).into();
                }
                3 if length > 0 => {
                    let index = random.below(length);
                    let other = TransitionId::from_index(random.below(problem.net.transitions.len()));
                    corrupted.firings[index].0 = other.into();
                }
                4 if length > 0 => repeat_part(&mut random, &mut corrupted.firings),
                5 if length > 0 => {
                    repeat_part(&mut random, &mut corrupted.firings);
                    repeat_part(&mut random, &mut corrupted.firings);
                }
                _ => continue,
            }
            let valid = covers(&problem, &corrupted);
            assert_eq!(check_net_run(&problem, &corrupted).is_ok(), valid, "{problem:?} {corrupted:?}");
            *counter += usize::from(!valid);
        }
    }
}

/// Makes a part of a run a sequence that is repeated a few times.
fn repeat_part(random: &mut Randomness, firings: &mut Vec<(RunStep, Count)>) {
    let first = random.below(firings.len());
    let last = first + random.below(firings.len() - first);
    let part: Vec<(RunStep, Count)> = firings.drain(first..=last).collect();
    let times = 1 + number(random, 3);
    firings.insert(first, (RunStep::Sequence(part), times.into()));
}

/// Evidence about a problem whose "file" is its debug text.
fn evidence(problem: &Problem) -> Option<Evidence> {
    let content = format!("{problem:?}");
    let sha256 = sha256(content.as_bytes());
    let input = InputFile { path: "net.spec".to_owned(), format: "spec".to_owned(), sha256 };
    let subject = NetSubject::of(problem, input, None, None);
    match solve(problem, &Options { jobs: 1, ..Options::default() }).outcome {
        Outcome::Uncoverable(certificate) => {
            Some(Evidence::Uncoverable(subject.naming_places_of(problem, &certificate), certificate))
        }
        Outcome::Coverable(run) => Some(Evidence::Coverable(subject.naming_steps_of(problem, &run), run)),
        Outcome::Unknown(_) => None,
    }
}

#[test]
fn texts_round_trip_and_truncated_ones_are_refused() {
    let mut random = Randomness::new(9);
    let (mut truncated, mut other_input) = (0, 0);
    for (problem, _, _) in problems(10) {
        if truncated >= enough() && other_input >= enough() {
            return;
        }
        let Some(evidence) = evidence(&problem) else { continue };
        let text = evidence.to_text();
        let read = Evidence::read(text.as_bytes()).unwrap();
        assert_eq!(read, evidence);
        let content = format!("{problem:?}");
        assert_eq!(check_net_evidence(&problem, content.as_bytes(), None, &read), Ok(()));
        assert!(check_net_evidence(&problem, format!("{content} ").as_bytes(), None, &read).is_err());
        other_input += 1;
        // The last byte is the end of the line; without it the document is still whole.
        let length = random.below(text.len() - 1);
        assert!(Evidence::read(&text.as_bytes()[..length]).is_err(), "{text} cut after {length} bytes");
        truncated += 1;
    }
}

#[test]
fn texts_that_are_no_evidence() {
    let (problem, ..) = problems(11).find(|(.., coverable)| !coverable).unwrap();
    let text = evidence(&problem).unwrap().to_text();
    let refused = |text: &str| Evidence::read(text.as_bytes()).is_err();
    assert!(!refused(&text));
    for bad in ["", " ", "null", "[]", "{}", "{\"format\":\"palisade/evidence\"}", "\u{0}", "{\"a\":1e999}"] {
        assert!(refused(bad), "{bad}");
    }
    assert!(refused(&"[".repeat(1 << 20)));
    assert!(refused(&format!("{{\"format\":{}", "{\"a\":".repeat(1 << 16))));
    assert!(refused(&text.replacen("\"version\":1", "\"version\":2", 1)));
    assert!(refused(&text.replacen("\"version\":1", "\"version\":1,\"version\":1", 1)));
    assert!(refused(&text.replacen("\"version\":1", "\"version\":1,\"comment\":\"\"", 1)));
    assert!(refused(&text.replacen("palisade/evidence", "evidence", 1)));
    assert!(refused(&text.replacen("\"kind\":\"uncoverable\"", "\"kind\":\"coverable\"", 1)));
    assert!(refused(&text.replacen("\"place_count\":", "\"place_count\":-", 1)));
    assert!(refused(&text.replacen("\"place_count\":", "\"place_count\":99999999999999999999", 1)));
    assert!(refused(&format!("{text}{text}")));
}

/// A closed set of many markings is packed, and read as what it was.
#[test]
fn many_markings_are_packed() {
    let mut randomness = Randomness::new(7);
    let rows: Vec<Vec<u32>> = (0..30_000)
        .map(|_| (0..38).map(|place: u32| u32::try_from(randomness.below(2 << (place % 5))).expect("small")).collect())
        .collect();
    let set = MarkingSet::of((0..38).map(|place| PlaceId(3 * place)).collect(), &rows);
    let input = InputFile { path: "net.pnml".to_owned(), format: "pnml".to_owned(), sha256: "0".repeat(64) };
    let subject = NetSubject {
        input,
        query: None,
        property: Some("deadlock#1".to_owned()),
        complements: Vec::new(),
        place_count: 114,
        transition_count: 1,
        places: Vec::new(),
        transitions: Vec::new(),
    };
    let evidence = Evidence::Unreachable(subject, ReachCertificate::Closed(Arc::new(set.clone())));
    let text = evidence.to_text();
    assert!(text.contains("\"packed\"") && text.len() < 31 * rows.len() * 2, "{} bytes", text.len());
    match Evidence::read(text.as_bytes()) {
        Ok(Evidence::Unreachable(_, ReachCertificate::Closed(read))) => assert_eq!(*read, set),
        other => panic!("{:?}", other.map(|evidence| evidence.kind())),
    }
    let widths = "\"widths\":[1,2,3,4,5,1,";
    assert!(text.contains(widths), "{}", &text[..2000]);
    let marking = text.split("\"markings\":[\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a marking");
    let edited = |old: &str, new: &str| Evidence::read(text.replacen(old, new, 1).as_bytes());
    for (old, new) in [
        (widths, "\"widths\":[0,2,3,4,5,1,"),
        (widths, "\"widths\":[33,2,3,4,5,1,"),
        (widths, "\"widths\":[2,3,4,5,1,"),
        (widths, "\"widths\":[5,2,3,4,5,1,"),
        (marking, &marking[1..]),
        (marking, &format!("0{marking}")),
        (marking, &format!("f{}", &marking[1..])),
        (marking, &format!("{}G", &marking[1..])),
        (marking, &format!("{}A", &marking[1..])),
    ] {
        assert!(edited(old, new).is_err(), "{old} as {new}");
    }
}
