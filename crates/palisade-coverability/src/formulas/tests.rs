//! Conditions on random small nets against explicit enumeration, every answer through the checker.

use super::*;
use crate::tests::Random;
use num_bigint::{BigInt, BigUint};
use palisade_model::net::{Count, LinearBound, OmegaCount, UpperBound};
use palisade_verify::{check_reaching_run, check_unreachable};
use std::collections::BTreeSet;

/// Nets with more markings are left out.
const MOST_MARKINGS: usize = 300;

pub(super) fn number(random: &mut Random, below: usize) -> usize {
    usize::try_from(random.below(below as u64)).expect("it is less than a usize")
}

pub(super) fn net(random: &mut Random) -> Net {
    let mut net = Net::default();
    for place in 0..2 + number(random, 4) {
        let count = if number(random, 3) == 0 { 0 } else { number(random, 3) as u64 };
        net.add_place(format!("p{place}"), OmegaCount::Finite(count.into()));
    }
    let places = net.places.len();
    for transition in 0..1 + number(random, 5) {
        let mut arcs = || {
            let length = number(random, 3) + 1;
            let arc = |_| (PlaceId::from_index(number(random, places)), Count::from(1 + number(random, 8) as u64 / 6));
            (0..length).map(arc).collect::<Vec<_>>()
        };
        let (pre, post) = (arcs(), arcs());
        net.add_transition(format!("t{transition}"), pre, post);
    }
    net
}

fn goal(random: &mut Random, net: &Net, depth: usize) -> Formula {
    let parts = |random: &mut Random| -> Vec<Formula> {
        (0..1 + number(random, 3)).map(|_| goal(random, net, depth + 1)).collect()
    };
    match number(random, if depth > 2 { 6 } else { 12 }) {
        0 if depth > 0 => Formula::Constant(number(random, 2) == 0),
        1 => Formula::Deadlock,
        2 => Formula::Deadlock.contrary(net),
        0 | 3..=5 => {
            let term = |_| {
                let place = PlaceId::from_index(number(random, net.places.len()));
                (place, BigInt::from(number(random, 5)) - 2)
            };
            let terms = (0..3).map(term).collect();
            Formula::AtLeast(LinearBound::new(terms, BigInt::from(number(random, 7)) - 2))
        }
        6..=8 => Formula::All(parts(random)),
        _ => Formula::Any(parts(random)),
    }
}

/// All markings, unless they are many.
fn markings(net: &Net) -> Option<BTreeSet<Vec<u64>>> {
    let tokens = |count: &OmegaCount| match count {
        OmegaCount::Finite(count) => count.to_u64(),
        OmegaCount::Omega => None,
    };
    let initial: Vec<u64> = net.initial.iter().map(tokens).collect::<Option<_>>()?;
    let mut known = BTreeSet::from([initial.clone()]);
    let mut pending = vec![initial];
    while let Some(marking) = pending.pop() {
        for transition in &net.transitions {
            let mut after = marking.clone();
            let taken = transition.pre.iter().try_for_each(|(place, count)| {
                after[place.index()] = after[place.index()].checked_sub(count.to_u64()?)?;
                Some(())
            });
            if taken.is_none() {
                continue;
            }
            for (place, count) in &transition.post {
                after[place.index()] += count.to_u64()?;
            }
            if known.insert(after.clone()) {
                pending.push(after);
            }
        }
        if known.len() > MOST_MARKINGS {
            return None;
        }
    }
    Some(known)
}

pub(super) fn holds(net: &Net, goal: &Formula, marking: &[u64]) -> bool {
    match goal {
        Formula::Constant(value) => *value,
        Formula::AtLeast(bound) => {
            let sum: BigInt = bound.terms.iter().map(|(place, weight)| weight * marking[place.index()]).sum();
            sum >= bound.bound
        }
        Formula::Deadlock => net
            .transitions
            .iter()
            .all(|transition| transition.pre.iter().any(|(place, count)| Count::from(marking[place.index()]) < *count)),
        Formula::All(parts) => parts.iter().all(|part| holds(net, part, marking)),
        Formula::Any(parts) => parts.iter().any(|part| holds(net, part, marking)),
    }
}

pub(super) fn check(net: &Net, goal: &Formula, outcome: &ReachOutcome) {
    let checked = match outcome {
        ReachOutcome::Reachable(run) => check_reaching_run(net, goal, run),
        ReachOutcome::Unreachable(certificate) => check_unreachable(net, goal, certificate),
        ReachOutcome::Unknown(_) => Ok(()),
    };
    checked.unwrap_or_else(|failure| panic!("{failure}\n{goal:?}\n{outcome:?}\n{net:?}"));
}

/// The methods one by one and together: those that answer agree with the enumeration, and most
/// answer.
#[test]
fn all_methods_agree_with_the_enumeration() {
    let mut random = Random(7);
    let cases = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 20_000 } else { 600 };
    let mut answered = [0, 0, 0, 0, 0];
    let mut exhausted = 0;
    let mut reachable = [0, 0];
    for _ in 0..cases {
        let net = net(&mut random);
        let Some(markings) = markings(&net) else { continue };
        let goals: Vec<Formula> = (0..4).map(|_| goal(&mut random, &net, 0)).collect();
        let expected: Vec<bool> =
            goals.iter().map(|goal| markings.iter().any(|marking| holds(&net, goal, marking))).collect();
        expected.iter().for_each(|it| reachable[usize::from(*it)] += 1);
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        let machine = Machine::new(&net, &goals).expect("the numbers are small");
        for method in 0..5 {
            let mut search = Search::new(&net, &goals, &machine, &options, Instant::now());
            let share = Share { work: 20_000, ..Share::FIRST };
            let mut found = |number: usize, answer: ReachAnswer| {
                check(&net, &goals[number], &answer.outcome);
                let is_reachable = answer.outcome.is_reachable();
                assert_eq!(is_reachable, Some(expected[number]), "{}: {:?}\n{net:?}", answer.strategy, goals[number]);
                answered[method] += 1;
            };
            let stopped = match method {
                0 => search.walk(share, &mut found),
                1 => search.explore(share, &mut found),
                2 => search.equate(share, &mut found),
                3 => search.seek(Share { time: share.time * 4, work: share.work * 4 }, &mut found),
                _ => search.observe(share, &mut found),
            };
            assert_eq!(stopped, Ok(()));
            for number in (0..goals.len()).filter(|number| search.is_exhausted[*number]) {
                assert!(!expected[number], "it was sought in vain: {:?}\n{net:?}", goals[number]);
                exhausted += 1;
            }
        }
        reach_all(&net, &goals, &options, |number, answer| {
            check(&net, &goals[number], &answer.outcome);
            assert_eq!(answer.outcome.is_reachable(), Some(expected[number]), "{:?}\n{net:?}", goals[number]);
        });
    }
    let all = reachable[0] + reachable[1];
    let [walked, explored, equated, sought, observed] = answered;
    assert!(reachable[0] > all / 5 && reachable[1] > all / 5, "{reachable:?}");
    assert!(walked > reachable[1] * 3 / 4 && explored > all * 3 / 4, "{answered:?} of {reachable:?}");
    assert!(
        sought > reachable[1] * 3 / 4 && exhausted > reachable[0] * 3 / 4,
        "{sought}, {exhausted} of {reachable:?}"
    );
    assert!(equated > reachable[0] / 4 && observed > all / 4, "{answered:?} of {reachable:?}");
}

/// How large sums of tokens get, and both sides of it through the checker.
#[test]
fn bounds_are_those_of_the_enumeration() {
    let mut random = Random(11);
    let cases = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 20_000 } else { 300 };
    let mut found = [0, 0];
    for _ in 0..cases {
        let net = net(&mut random);
        let Some(markings) = markings(&net) else { continue };
        let mut sum = || {
            let term = |_| {
                let place = PlaceId::from_index(number(&mut random, net.places.len()));
                (place, BigInt::from(1 + number(&mut random, 2)))
            };
            UpperBound { terms: LinearBound::new((0..2).map(term).collect(), BigInt::ZERO).terms }
        };
        let sums = [sum(), sum()];
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        bound_all(&net, &sums, &options, |number, answer| {
            let weigh = |marking: &Vec<u64>| -> BigInt {
                sums[number].terms.iter().map(|(place, weight)| weight * marking[place.index()]).sum()
            };
            let most = markings.iter().map(weigh).max().expect("there is the initial marking");
            for side in [&answer.reached, &answer.excluded].into_iter().flatten() {
                check(&net, &sums[number].at_least(side.tokens.clone()), &side.answer.outcome);
            }
            let sides = [(&answer.reached, true), (&answer.excluded, false)];
            for (side, is_reached) in sides.into_iter().filter_map(|(side, it)| Some((side.as_ref()?, it))) {
                assert_eq!(side.tokens <= most, is_reached, "{:?} in {net:?}", sums[number]);
            }
            assert!(answer.bound().is_none_or(|bound| *bound == most), "{:?} in {net:?}", sums[number]);
            found[usize::from(answer.bound().is_some())] += 1;
        });
    }
    assert!(found[1] > cases && found[0] * 50 <= found[1], "{found:?} of bounds are known");
}

/// Weights whose ratios are simple, at a scale at which they are not.
#[test]
fn the_state_equation_is_exact_for_large_numbers() {
    let mut net = Net::default();
    let all = [48_u64, 0].map(|tokens| net.add_place(format!("p{tokens}"), OmegaCount::Finite(tokens.into())));
    net.add_transition("t", vec![(all[0], Count::from(24))], vec![(all[1], Count::from(29))]);
    for tokens in [59_u64, 1_420, 1_000_003] {
        let goals = [Formula::AtLeast(LinearBound::at_least(all[1], &tokens.into()))];
        let machine = Machine::new(&net, &goals).expect("the numbers are small");
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        let mut search = Search::new(&net, &goals, &machine, &options, Instant::now());
        let mut found = None;
        let stopped = search.equate(Share::FIRST, &mut |_, answer: ReachAnswer| found = Some(answer.outcome));
        assert_eq!(stopped, Ok(()));
        let outcome = found.unwrap_or_else(|| panic!("{tokens} tokens are not refuted"));
        assert_eq!(outcome.is_reachable(), Some(false));
        check(&net, &goals[0], &outcome);
    }
}

/// The Kanban system with so many cards in each of its four cells [Ciardo, Tilgner 1996].
fn kanban(cards: u64) -> (Net, [[PlaceId; 4]; 4]) {
    let mut net = Net::default();
    let cells = [1, 2, 3, 4].map(|cell| {
        ["cards", "machine", "back", "out"].map(|part| {
            let tokens = if part == "cards" { cards } else { 0 };
            net.add_place(format!("{part}{cell}"), OmegaCount::Finite(tokens.into()))
        })
    });
    let arcs = |places: &[PlaceId]| places.iter().map(|place| (*place, Count::ONE)).collect::<Vec<_>>();
    let mut add = |takes: &[PlaceId], puts: &[PlaceId]| {
        let name = net.next_transition_name();
        net.add_transition(name, arcs(takes), arcs(puts));
    };
    for [_, machine, back, out] in cells {
        add(&[machine], &[back]);
        add(&[back], &[machine]);
        add(&[machine], &[out]);
    }
    let [[c1, m1, _, o1], [c2, m2, _, o2], [c3, m3, _, o3], [c4, m4, _, o4]] = cells;
    add(&[c1], &[m1]);
    add(&[o1, c2, c3], &[c1, m2, m3]);
    add(&[o2, o3, c4], &[c2, c3, m4]);
    add(&[o4], &[c4]);
    (net, cells)
}

/// A net whose places are called by name.
#[derive(Default)]
struct Named {
    net: Net,
    places: FxHashMap<String, PlaceId>,
}

impl Named {
    /// The place of this name, which is made without tokens where there is none.
    fn place(&mut self, name: &str) -> PlaceId {
        let new = || self.net.add_place(name.to_owned(), OmegaCount::Finite(Count::ZERO));
        *self.places.entry(name.to_owned()).or_insert_with(new)
    }

    fn mark(&mut self, name: &str, tokens: u64) {
        let place = self.place(name);
        self.net.initial[place.index()] = OmegaCount::Finite(tokens.into());
    }

    /// Adds a transition that takes a token from each of these places and puts one to each of
    /// those.
    fn add(&mut self, takes: &[&str], puts: &[&str]) {
        let mut arcs = |names: &[&str]| {
            let mut arcs: Vec<(PlaceId, Count)> = names.iter().map(|name| (self.place(name), Count::ONE)).collect();
            arcs.sort_unstable();
            arcs
        };
        let (takes, puts) = (arcs(takes), arcs(puts));
        let name = self.net.next_transition_name();
        self.net.add_transition(name, takes, puts);
    }

    /// So many tokens in each of these places.
    fn all(&mut self, demands: &[(&str, u64)]) -> Formula {
        let mut at_least =
            |(name, tokens): &(&str, u64)| Formula::AtLeast(LinearBound::at_least(self.place(name), &(*tokens).into()));
        Formula::All(demands.iter().map(&mut at_least).collect())
    }
}

/// The cascade of mitogen-activated protein kinases [Huang, Ferrell 1996]: each of ten reactions
/// binds an enzyme, and frees it with what it was bound to or with what it makes of that.
fn cascade(molecules: u64) -> Named {
    let mut net = Named::default();
    let phosphatases = [("phosphatase1", 4), ("phosphatase2", 4), ("phosphatase3", 4)];
    let parts = [("raf", 2), ("signal", 8), ("mek", 1), ("erk", 1)];
    parts.iter().chain(&phosphatases).for_each(|(name, part)| net.mark(name, molecules / part));
    for (enzyme, from, to) in [
        ("signal", "raf", "raf-p"),
        ("phosphatase1", "raf-p", "raf"),
        ("raf-p", "mek", "mek-p"),
        ("raf-p", "mek-p", "mek-pp"),
        ("phosphatase2", "mek-pp", "mek-p"),
        ("phosphatase2", "mek-p", "mek"),
        ("mek-pp", "erk", "erk-p"),
        ("mek-pp", "erk-p", "erk-pp"),
        ("phosphatase3", "erk-pp", "erk-p"),
        ("phosphatase3", "erk-p", "erk"),
    ] {
        let bound = format!("{from} at {enzyme}");
        net.add(&[from, enzyme], &[&bound]);
        net.add(&[&bound], &[from, enzyme]);
        net.add(&[&bound], &[to, enzyme]);
    }
    net
}

/// Clients of two kinds whose requests managers grant and servers serve, those of the second kind
/// with memory. Two answers, one of each kind, are filed and then audited.
fn clients_and_servers(managers: u64) -> Named {
    let mut net = Named::default();
    let parts = [("idle a", 8), ("idle b", 4), ("manager", 1), ("server", 2), ("memory", 2)];
    parts.iter().for_each(|(name, times)| net.mark(name, times * managers));
    for (kind, needs) in [("a", &["server"][..]), ("b", &["server", "memory"])] {
        let [idle, asking, granted, busy, done, answered] =
            ["idle", "asking", "granted", "busy", "done", "answered"].map(|state| format!("{state} {kind}"));
        net.add(&[&idle], &[&asking]);
        net.add(&[&asking, "manager"], &[&granted]);
        net.add(&[&[granted.as_str()], needs].concat(), &[&busy, "manager"]);
        net.add(&[&busy], &[&[done.as_str()], needs].concat());
        net.add(&[&done], &[&answered]);
        net.add(&[&answered], &[&idle]);
    }
    net.add(&["answered a", "answered b"], &["filed", "idle a", "idle b"]);
    net.add(&["filed", "manager"], &["audited", "manager"]);
    net.add(&["audited"], &[]);
    net
}

/// Targets of many tokens are far for steps at random, and near along the state equation.
#[test]
fn walks_along_the_state_equation_reach_many_tokens() {
    let (net, cells) = kanban(200);
    let at_least = |place: PlaceId, tokens: u64| Formula::AtLeast(LinearBound::at_least(place, &tokens.into()));
    let all = |parts: &[(PlaceId, u64)]| {
        Formula::All(parts.iter().map(|(place, tokens)| at_least(*place, *tokens)).collect())
    };
    let goals = [
        all(&[(cells[0][2], 129)]),
        all(&[(cells[3][2], 150), (cells[0][2], 180)]),
        all(&[(cells[1][3], 190), (cells[2][2], 170), (cells[3][1], 200)]),
    ];
    let options = Options { deterministic: true, jobs: 1, work: Some(20_000_000), ..Options::default() };
    let mut found = 0;
    reach_all(&net, &goals, &options, |number, answer| {
        check(&net, &goals[number], &answer.outcome);
        assert_eq!(answer.outcome.is_reachable(), Some(true), "{number}: {:?}", answer.outcome);
        found += 1;
    });
    assert_eq!(found, goals.len());
}

/// Solves the state equation for conditions, and then walks; how many steps the longest of the runs
/// has.
fn steps_along_the_equation(net: &Net, goals: &[Formula]) -> BigUint {
    let machine = Machine::new(net, goals).expect("the numbers are small");
    let options = Options { deterministic: true, jobs: 1, ..Options::default() };
    let mut search = Search::new(net, goals, &machine, &options, Instant::now());
    let mut steps = BigUint::default();
    let mut take = |number: usize, answer: ReachAnswer| {
        check(net, &goals[number], &answer.outcome);
        let ReachOutcome::Reachable(run) = answer.outcome else { panic!("{number}: {:?}", answer.outcome) };
        let own: BigUint = run.firings.iter().map(|(_, times)| times.to_big()).sum();
        steps = own.max(std::mem::take(&mut steps));
    };
    assert_eq!(search.equate(Share { work: 10_000_000, ..Share::FIRST }, &mut take), Ok(()));
    assert_eq!(search.walk(Share { work: 100_000_000, ..Share::FIRST }, &mut take), Ok(()));
    assert!(search.open().is_empty());
    steps
}

/// Walks along the state equation are as long as it says.
#[test]
fn thousands_of_steps_lead_to_the_end_of_a_cascade() {
    let mut net = cascade(640);
    let goals = [
        net.all(&[("erk-pp", 640)]),
        net.all(&[("erk-pp at phosphatase3", 160)]),
        net.all(&[("erk-pp", 640), ("mek-pp", 639)]),
        net.all(&[("erk-p", 640), ("mek-p", 640), ("raf-p", 320)]),
    ];
    assert!(steps_along_the_equation(&net.net, &goals) > BigUint::from(4_000_u32));
    let mut net = clients_and_servers(640);
    let goals = [
        net.all(&[("answered a", 5_120)]),
        net.all(&[("busy b", 1_280), ("granted a", 640)]),
        net.all(&[("audited", 640), ("answered a", 4_480), ("answered b", 1_920)]),
    ];
    assert!(steps_along_the_equation(&net.net, &goals) > BigUint::from(20_000_u32));
}

/// A condition on one of many machines that do not touch each other: there are too many markings,
/// but the others need not move.
#[test]
fn what_does_not_matter_for_a_condition_stands_still() {
    let mut net = Net::default();
    let mut last = PlaceId::from_index(0);
    for machine in 0..40 {
        let places: Vec<PlaceId> = (0..6)
            .map(|place| {
                let tokens = u64::from(place == 0);
                net.add_place(format!("p{machine}x{place}"), OmegaCount::Finite(tokens.into()))
            })
            .collect();
        for step in places.windows(2) {
            let name = net.next_transition_name();
            net.add_transition(name, vec![(step[0], Count::ONE)], vec![(step[1], Count::ONE)]);
        }
        last = places[5];
    }
    let goals = [1_u64, 2].map(|tokens| Formula::AtLeast(LinearBound::at_least(last, &tokens.into())));
    let machine = Machine::new(&net, &goals).expect("the numbers are small");
    let options = Options { deterministic: true, jobs: 1, ..Options::default() };
    let mut search = Search::new(&net, &goals, &machine, &options, Instant::now());
    let mut found = Vec::new();
    let stopped = search.seek(Share::FIRST, &mut |number, answer: ReachAnswer| {
        check(&net, &goals[number], &answer.outcome);
        found.push((number, answer.outcome.is_reachable()));
    });
    assert_eq!((stopped, found), (Ok(()), vec![(0, Some(true))]));
    assert_eq!(search.is_exhausted, [false, true]);
    assert!(search.statistics().markings < 50, "{:?}", search.statistics());
}

/// A run has first what takes nothing from others, and what ends the last transition that can fire.
#[test]
fn sets_of_transitions_are_enough() {
    let place = |net: &mut Net, name: &str, tokens: u64| net.add_place(name, OmegaCount::Finite(tokens.into()));
    let arcs = |places: &[PlaceId]| places.iter().map(|place| (*place, Count::ONE)).collect::<Vec<_>>();
    let is_found = |net: &Net, goal: &Formula| {
        let goals = [goal.clone()];
        let machine = Machine::new(net, &goals).expect("the numbers are small");
        let options = Options { deterministic: true, jobs: 1, ..Options::default() };
        let mut search = Search::new(net, &goals, &machine, &options, Instant::now());
        let mut found = false;
        let stopped = search.seek(Share::FIRST, &mut |_, answer: ReachAnswer| {
            check(net, goal, &answer.outcome);
            found = answer.outcome.is_reachable() == Some(true);
        });
        assert_eq!(stopped, Ok(()));
        found
    };
    // The token is needed before it is taken.
    let mut net = Net::default();
    let [token, taken, seen] = [("token", 1), ("taken", 0), ("seen", 0)].map(|(name, it)| place(&mut net, name, it));
    net.add_transition("take", arcs(&[token]), arcs(&[taken]));
    net.add_transition("see", arcs(&[token]), arcs(&[token, seen]));
    let at_least_one = |place: PlaceId| Formula::AtLeast(LinearBound::at_least(place, &1_u64.into()));
    assert!(is_found(&net, &Formula::All(vec![at_least_one(taken), at_least_one(seen)])));
    // A switch goes to and fro until its power is taken away.
    let mut net = Net::default();
    let [on, off, power] = [("on", 1), ("off", 0), ("power", 1)].map(|(name, it)| place(&mut net, name, it));
    net.add_transition("switch-off", arcs(&[on, power]), arcs(&[off, power]));
    net.add_transition("switch-on", arcs(&[off, power]), arcs(&[on, power]));
    net.add_transition("end", arcs(&[power]), Vec::new());
    assert!(is_found(&net, &Formula::Deadlock));
}

/// Rings of many places are refuted on the folded net, and a run follows its firings.
#[test]
fn long_chains_are_folded() {
    const RINGS: usize = 5;
    const LENGTH: usize = 120;
    let mut net = Net::default();
    let place = |ring: usize, number: usize| PlaceId::from_index(ring * LENGTH + number % LENGTH);
    for number in 0..RINGS * LENGTH {
        net.add_place(format!("p{number}"), OmegaCount::Finite(u64::from(number % LENGTH == 0).into()));
    }
    for (ring, number) in (0..RINGS).flat_map(|ring| (0..LENGTH).map(move |number| (ring, number))) {
        let arc = |number| vec![(place(ring, number), Count::ONE)];
        net.add_transition(format!("t{ring}_{number}"), arc(number), arc(number + 1));
    }
    let both = |places: [(usize, usize); 2]| {
        let at = |(ring, number)| {
            Formula::AtLeast(LinearBound { terms: vec![(place(ring, number), 1.into())], bound: 1.into() })
        };
        Formula::All(places.into_iter().map(at).collect())
    };
    let goals = [both([(0, 30), (0, 90)]), both([(0, 100), (3, 80)])];
    let machine = Machine::new(&net, &goals).unwrap();
    let mut observers = Observers::new(&machine);
    let mut prover = Prover::new(&net, &machine, &mut observers, &[]);
    let mut facts = Vec::new();
    equation::learn(&goals[0], &mut facts);
    facts.iter().for_each(|fact| prover.name(fact));
    assert!(prover.contradiction(&facts, &Context::default()).is_ok_and(|found| found.is_some()));
    assert!(prover.folded.is_some_and(|folded| folded.left.len() < RINGS * LENGTH / 10));

    let options = Options { deterministic: true, jobs: 1, ..Options::default() };
    let mut answers = [None, None];
    reach_all(&net, &goals, &options, |number, answer| {
        check(&net, &goals[number], &answer.outcome);
        answers[number] = answer.outcome.is_reachable();
    });
    assert_eq!(answers, [Some(false), Some(true)]);
}
