//! Proofs about the nets of attacks: the checker's net is the search's, and what CERTIFICATE.md
//! says it is; proofs about it are accepted, forged ones are not.

use crate::checked::{check, solve};
use crate::environment::{is_long_run, seeds};
use palisade::cli::ProgramOptions;
use palisade::coverability::{Options, Outcome};
use palisade::evidence::{
    AttackEvidence, AttackNetProof, AttackReason, Fact, NetCertificate, OmegaMarking, Refutation, RobustCertificate,
};
use palisade::limits::Limits;
use palisade::net::{Arcs, Count, OmegaCount, PlaceId, Problem};
use palisade::program::{Copies, LabelId, Liveness, Program, RegisterId, SourceText};
use palisade::robustness::{self, Attack, CheckOptions, attacks};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::syntax::{self, Format};
use palisade::verify::{self, CheckFailure, Obligation, check_robust_certificate};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn live(program: &Program) -> Vec<Vec<Vec<RegisterId>>> {
    let of = |thread: &palisade::program::Thread| {
        let liveness = Liveness::of(thread);
        (0..thread.labels.len()).map(|label| liveness.at(LabelId::from_index(label)).collect()).collect()
    };
    program.threads.iter().map(of).collect()
}

/// The checker's net of an attack.
fn derived(program: &Program, attack: &Attack) -> Result<(Problem, Vec<Fact>), CheckFailure> {
    verify::attack_net(program, &live(program), (attack.thread, attack.store, attack.load))
}

/// The program with any number of copies of every thread.
fn any_number(mut program: Program) -> Program {
    program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
    program
}

fn model_paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let files = std::fs::read_dir(folder).expect("the models' folder can be read").map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|own| own == "pal")).collect();
    paths.sort();
    paths
}

fn model(path: &Path) -> Program {
    let read = ProgramOptions::default().read(path.to_str().expect("models have plain paths"));
    read.unwrap_or_else(|error| panic!("{}", error.render(false))).program
}

fn program(text: &str) -> Program {
    syntax::read(SourceText::new("test.pal", text), Format::Native).expect("the program is in order").program
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What a net looks like when its places and transitions have no names and no order: how often each
/// *colour* occurs among its places after some rounds of colour refinement, which tells apart
/// nearly all nets that are not isomorphic.
fn look(problem: &Problem) -> (usize, usize, BTreeMap<u64, usize>) {
    let net = &problem.net;
    let is_target = |place: PlaceId| problem.query.targets.iter().any(|own| own.demands == [(place, Count::ONE)]);
    let initial = |place: PlaceId| hash(&(net.initial[place.index()].to_string(), is_target(place)));
    let mut colours: Vec<u64> = net.place_ids().map(initial).collect();
    for _ in 0..5 {
        // Sums, as there is no order among arcs.
        let mut around = vec![0u64; colours.len()];
        for transition in &net.transitions {
            let side = |arcs: &Arcs| {
                let arc = |(place, count): &(PlaceId, Count)| hash(&(colours[place.index()], count));
                arcs.iter().map(arc).fold(0, u64::wrapping_add)
            };
            let own = (side(&transition.pre), side(&transition.post));
            for (arcs, is_pre) in [(&transition.pre, true), (&transition.post, false)] {
                for (place, _) in arcs {
                    let sum = &mut around[place.index()];
                    *sum = sum.wrapping_add(hash(&(own, is_pre)));
                }
            }
        }
        colours.iter_mut().zip(around).for_each(|(colour, around)| *colour = hash(&(*colour, around)));
    }
    let mut occurrences = BTreeMap::new();
    colours.into_iter().for_each(|colour| *occurrences.entry(colour).or_insert(0) += 1);
    (net.places.len(), net.transitions.len(), occurrences)
}

/// Compares the nets of every so many attacks; says of how many. Those of programs whose values
/// grow are left out.
fn compare(name: &str, program: &Program, step: usize) -> usize {
    let mut compared = 0;
    for attack in attacks(program).into_iter().step_by(step) {
        let Ok(theirs) = robustness::attack_net(program, &attack, 16, &Limits::none()) else { break };
        let (ours, _) = derived(program, &attack).unwrap_or_else(|failure| panic!("{name}, {attack:?}: {failure}"));
        assert!(look(&ours) == look(&theirs), "{name}, {attack:?}: {ours:?} and {theirs:?}");
        compared += 1;
    }
    compared
}

#[test]
fn models_have_the_same_nets() {
    let compare = |path: &PathBuf| {
        let (name, program) = (path.display().to_string(), model(path));
        let step = if is_long_run() { 1 } else { 15 };
        compare(&name, &program, step) + compare(&name, &any_number(program), 4 * step)
    };
    let compared: usize = model_paths().par_iter().map(compare).sum();
    assert!(compared > 100, "{compared} attacks");
}

#[test]
fn random_programs_have_the_same_nets() {
    let shapes = [
        Shape { sections: 40, rmws: 20, ..Shape::default() },
        Shape { indirect: 40, domains: 60, addresses: 3, ..Shape::default() },
        Shape { labels: 7, total_labels: 20, branches: 30, addresses: 3, sections: 30, ..Shape::default() },
    ];
    let compare = |seed: u64| {
        let program = random::program(seed, &shapes[usize::try_from(seed % 3).expect("a small number")]);
        let name = format!("seed {seed}");
        compare(&name, &program, 1) + compare(&name, &any_number(program), 1)
    };
    let compared: usize = seeds(150, 600).into_par_iter().map(compare).sum();
    assert!(compared > 600, "{compared} attacks");
}

/// A net's transitions by the names of the places they take from and put into, those that are only
/// read last.
fn in_words(problem: &Problem) -> Vec<String> {
    let words = |arcs: &Arcs, wanted: &dyn Fn(&PlaceId) -> bool| {
        let wanted = arcs.iter().map(|(place, _)| place).filter(|place| wanted(place));
        let mut names: Vec<&str> = wanted.map(|place| problem.net.places[place.index()].name.as_str()).collect();
        names.sort_unstable();
        names.join(" + ")
    };
    let is_in = |arcs: &Arcs, place: &PlaceId| arcs.iter().any(|(own, _)| own == place);
    let transition = |own: &palisade::net::Transition| {
        let (takes, puts) =
            (words(&own.pre, &|place| !is_in(&own.post, place)), words(&own.post, &|place| !is_in(&own.pre, place)));
        format!("{takes} -> {puts} | {}", words(&own.pre, &|place| is_in(&own.post, place)))
    };
    let mut all: Vec<String> = problem.net.transitions.iter().map(transition).collect();
    all.sort();
    all
}

fn marked(problem: &Problem) -> Vec<String> {
    let is_marked = |place: &PlaceId| problem.net.initial[place.index()] != OmegaCount::Finite(Count::ZERO);
    let words = |place: PlaceId| {
        let (name, count) = (&problem.net.places[place.index()].name, &problem.net.initial[place.index()]);
        format!("{count} {name}")
    };
    let mut all: Vec<String> = problem.net.place_ids().filter(is_marked).map(words).collect();
    all.sort();
    all
}

#[test]
fn the_net_of_a_single_thread() {
    let program = program("program p thread t regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; end");
    let (problem, _) = derived(&program, &attacks(&program)[0]).expect("the net is finite");
    let initially = [
        "1 before the load",
        "1 nobody delays",
        "1 path without x",
        "1 path without y",
        "1 section -",
        "1 t@a(r=0)",
        "1 unlocked",
        "1 x = 0",
        "1 y = 0",
    ];
    assert_eq!(marked(&problem), initially);
    let transitions = [
        "attacker t@b(r=0), buffer x = 1, delayed store to x + before the load + path without y \
         -> after the load + attacker gone, delayed store to x + path y loaded | unlocked",
        "nobody delays + t@a(r=0) -> attacker t@b(r=0), buffer x = 1, delayed store to x | before the load",
        "t@a(r=0) + x = 0 -> t@b(r=0) + x = 1 | before the load + unlocked",
        "t@a(r=0) -> t@b(r=0) | before the load + unlocked + x = 1",
        "t@b(r=0) ->  | before the load + unlocked + y = 0",
    ];
    assert_eq!(in_words(&problem), transitions);
    assert_eq!(problem.net.places.len(), 16);
}

#[test]
fn the_net_with_a_section() {
    let program = program(
        "program p
         thread t [2] regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; end
         thread u [*] init a begin a: lock; b: mem[z] <- 1; c: mem[y] <- 1; d: unlock; end",
    );
    let (problem, _) = derived(&program, &attacks(&program)[0]).expect("the net is finite");
    let initially = marked(&problem);
    assert!(initially.contains(&"2 t@a(r=0)".to_owned()) && initially.contains(&"ω u@a()".to_owned()), "{initially:?}");
    let transitions = in_words(&problem);
    for expected in [
        // Before the load.
        "u@a() + unlocked -> locked + u@b() with the lock | before the load",
        "u@b() with the lock + z = 0 -> u@c() with the lock + z = 1 | before the load",
        "locked + u@d() with the lock -> unlocked | before the load",
        // After it, off the path.
        "u@a() + unlocked -> locked + u@b() with the lock | after the load",
        "section - + u@b() with the lock + z = 0 -> section z stored + u@c() with the lock + z = 1 \
         | after the load + path without z",
        // Joining: what the section has stored goes on the path, too.
        "path without z + path y loaded + section z stored + u@c() with the lock + y = 0 \
         -> path y stored + path z stored + section - + u@d() with the lock on the path + y = 1 | after the load",
        "t@b(r=0) ->  | after the load + path y stored + section - + unlocked + y = 1",
        // On the path.
        "locked + u@d() with the lock on the path -> unlocked | ",
        "path y loaded + u@c() with the lock on the path + y = 0 \
         -> path y stored + u@d() with the lock on the path + y = 1 | ",
    ] {
        assert!(transitions.contains(&expected.to_owned()), "{expected}\nis not in\n{}", transitions.join("\n"));
    }
    // A section that is not on the path does not end, and a load of what the path has only loaded
    // does not join.
    let none = |what: &dyn Fn(&str) -> bool| assert!(!transitions.iter().any(|own| what(own)), "{transitions:?}");
    none(&|own| own.starts_with("locked + u@d() with the lock ->") && own.contains("after the load"));
    none(&|own| own.contains("t@b(r=0) ->") && own.contains("path y loaded"));
}

/// A certificate that gives these reasons for the attacks, and has no sets.
fn with_reasons(program: &Program, proofs: &[AttackNetProof]) -> RobustCertificate {
    let evidence = |(attack, proof): (Attack, &AttackNetProof)| {
        let Attack { thread, store, load } = attack;
        AttackEvidence { thread, store, load, reason: AttackReason::Net(proof.clone()) }
    };
    let attacks = attacks(program).into_iter().zip(proofs).map(evidence).collect();
    RobustCertificate { live: live(program), attacks, ..RobustCertificate::default() }
}

/// The proof, with the facts that its places stand for.
fn about(facts: &[Fact], proof: NetCertificate) -> AttackNetProof {
    let (places, certificate) = proof.by_position();
    AttackNetProof { places: places.iter().map(|place| facts[place.index()].clone()).collect(), certificate }
}

fn rejected_for(program: &Program, proofs: &[AttackNetProof]) -> Option<Obligation> {
    check_robust_certificate(program, &with_reasons(program, proofs)).err().map(|failure| failure.obligation)
}

#[test]
fn proofs_by_hand() {
    let text = |between: &str| {
        format!(
            "program p
             thread t regs r init a begin a: mem[x] <- 1; b: {between}; c: r <- mem[y]; end
             thread u regs r init a begin a: mem[y] <- 1; b: {between}; c: r <- mem[x]; end"
        )
    };
    let (fenced, unfenced) = (program(&text("mfence")), program(&text("nop")));
    let never = |places: &[Fact], siphon: &[usize]| AttackNetProof {
        places: places.to_vec(),
        certificate: NetCertificate::Separator {
            siphon: siphon.iter().copied().map(PlaceId::from_index).collect(),
            refutations: vec![Refutation::default()],
        },
    };
    let proof = never(&[Fact::Success], &[0]);
    let twice = |proof: &AttackNetProof| [proof.clone(), proof.clone()];
    assert_eq!(rejected_for(&fenced, &twice(&proof)), None);
    assert_eq!(rejected_for(&unfenced, &twice(&proof)), Some(Obligation::Inductive));

    let memory = Fact::Memory(1, 0);
    let forged = [
        (never(&[], &[0]), Obligation::Form),
        (never(&[Fact::Success, Fact::Success], &[0]), Obligation::Form),
        (never(&[Fact::Success, memory.clone()], &[0, 2]), Obligation::Form),
        (never(&[memory.clone(), Fact::Success], &[1, 0]), Obligation::Form),
        (never(&[Fact::Success, Fact::Memory(1, 7)], &[0]), Obligation::Form),
        (never(&[Fact::Success, Fact::Gone(1)], &[0]), Obligation::Form),
        (never(&[memory.clone(), Fact::Success], &[0]), Obligation::Initial),
        (never(&[memory.clone(), Fact::Success], &[0, 1]), Obligation::Initial),
        (never(&[Fact::Success], &[]), Obligation::Safe),
    ];
    for (forged, obligation) in forged {
        assert_eq!(rejected_for(&fenced, &twice(&forged)), Some(obligation), "{forged:?}");
        assert_eq!(rejected_for(&fenced, &[proof.clone(), forged.clone()]), Some(obligation), "{forged:?}");
    }
    // The order of the list is free.
    assert_eq!(rejected_for(&fenced, &twice(&never(&[memory, Fact::Success], &[1]))), None);
}

/// Any downward-closed set over the net's places, which is all that it is.
fn some_set(facts: &[Fact], random: &mut Randomness) -> AttackNetProof {
    let marking = |random: &mut Randomness| -> OmegaMarking {
        let places = (0..facts.len()).filter(|place| facts[*place] != Fact::Success && random.below(8) > 0);
        places.map(|place| (PlaceId::from_index(place), OmegaCount::Omega)).collect()
    };
    let everywhere = (0..facts.len()).filter(|place| facts[*place] != Fact::Success);
    let mut markings = vec![everywhere.map(|place| (PlaceId::from_index(place), OmegaCount::Omega)).collect()];
    markings.extend((0..random.below(4)).map(|_| marking(random)));
    about(facts, NetCertificate::Downward { markings })
}

/// Answers all attacks of a program on the checker's nets, as the search does; shows proofs that
/// are right and proofs that are not to the checker. How many attacks are infeasible and feasible.
fn answer(seed: u64, program: &Program) -> (usize, usize) {
    let options = CheckOptions { all: true, prune: false, ..CheckOptions::default() };
    let Ok(checked) = check(program, &options) else { return (0, 0) };
    let mut random = Randomness::new(seed);
    let (mut proofs, mut feasible) = (Vec::new(), Vec::new());
    for (number, report) in checked.attacks.iter().enumerate() {
        // Values may grow in nets where those that are reachable do not.
        if robustness::attack_net(program, &report.attack, 16, &Limits::none()).is_err() {
            return (0, 0);
        }
        let (problem, facts) = derived(program, &report.attack).expect("the net is finite");
        let answer = solve(&problem, &Options { jobs: 1, ..Options::default() });
        let expected = match answer.outcome {
            Outcome::Uncoverable(proof) => {
                proofs.push(about(&facts, proof));
                robustness::AttackOutcome::Infeasible
            }
            Outcome::Coverable(_) => {
                proofs.push(some_set(&facts, &mut random));
                feasible.push((number, facts));
                robustness::AttackOutcome::Feasible
            }
            Outcome::Unknown(reason) => panic!("seed {seed}: {reason:?}"),
        };
        assert_eq!(report.outcome, expected, "seed {seed}, {:?}", report.attack);
    }
    if feasible.is_empty() {
        assert_eq!(rejected_for(program, &proofs), None, "{program:?}");
    }
    for (number, facts) in &feasible {
        let others = proofs.clone();
        let sets = (0..4).map(|_| some_set(facts, &mut random));
        for forged in others.into_iter().chain(sets).collect::<Vec<_>>() {
            proofs[*number] = forged;
            assert!(rejected_for(program, &proofs).is_some(), "{program:?}");
        }
    }
    (proofs.len() - feasible.len(), feasible.len())
}

#[test]
fn right_proofs_are_accepted_and_no_feasible_attack_has_one() {
    let shapes = [
        Shape { fences: 15, labels: 4, total_labels: 8, sections: 30, ..Shape::default() },
        Shape { fences: 0, rmws: 0, sections: 10, ..Shape::default() },
    ];
    let ask = |seed: u64| {
        let program = random::program(seed, &shapes[usize::try_from(seed / 2 % 2).expect("a small number")]);
        answer(seed, &if seed.is_multiple_of(2) { program } else { any_number(program) })
    };
    let sum = |one: (usize, usize), other: (usize, usize)| (one.0 + other.0, one.1 + other.1);
    let (infeasible, feasible) = seeds(140, 1_400).into_par_iter().map(ask).reduce(|| (0, 0), sum);
    assert!(infeasible > 60 && feasible > 15, "{infeasible} infeasible, {feasible} feasible");
}

#[test]
fn nets_that_do_not_close_are_given_up() {
    let program = program(
        "program p
         thread t regs p = 100, r init a begin
           a: mem[p] <- 1; goto b;
           a: r <- mem[p]; goto b;
           b: p <- p + 1; goto a;
         end",
    );
    let failure = derived(&program, &attacks(&program)[0]).expect_err("the buffer grows");
    assert_eq!(failure.obligation, Obligation::Form);
}
