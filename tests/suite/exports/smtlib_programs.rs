//! The SMT-LIB 2 scripts of program certificates, decided by an outside solver where one is
//! installed.

use crate::checked::check;
use crate::environment::is_long_run;
use crate::solver::Solver;
use palisade::evidence::{AttackReason, RobustCertificate, Tokens};
use palisade::program::{Action, Copies, Expression, Program, SourceText};
use palisade::report::smtlib::{closed_as_they_stand, program_scripts};
use palisade::robustness::{CheckOptions, Verdict, certificate};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::syntax::{Format, read};
use palisade::verify::{attack_net, check_robust_certificate};

/// The certificate of a robust program, with sets that are closed as they stand.
fn certified(program: &Program) -> Option<RobustCertificate> {
    let checked = check(program, &CheckOptions { counters: false, ..CheckOptions::default() }).ok()?;
    let certificate = (checked.verdict == Verdict::Robust).then(|| certificate(program, &checked))??;
    assert_eq!(check_robust_certificate(program, &certificate), Ok(()), "{program:?}");
    Some(certificate)
}

/// Random robust programs that need a search, with their certificates; every other one with any
/// number of copies.
fn searched(first_seed: u64) -> impl Iterator<Item = (Program, RobustCertificate)> {
    let shape = Shape { fences: 20, total_labels: 7, sections: 30, domains: 30, ..Shape::default() };
    (first_seed..).filter_map(move |seed| {
        let mut program = random::program(seed, &shape);
        if seed % 2 == 0 {
            program.threads[0].copies = Copies::Any;
        }
        let certificate = certified(&program)?;
        let is_searched = certificate.attacks.iter().any(|attack| attack.reason == AttackReason::Infeasible);
        is_searched.then_some((program, certificate))
    })
}

/// A certificate changed in one place, or shown for a program changed in one place.
fn corrupted(
    program: &Program,
    certificate: &RobustCertificate,
    random: &mut Randomness,
) -> Option<(Program, RobustCertificate)> {
    let (mut program, mut certificate) = (program.clone(), certificate.clone());
    let lowered = |count: &mut Tokens| *count = Tokens::Finite(1);
    let pick = |length: usize, random: &mut Randomness| (length > 0).then(|| random.below(length));
    match random.below(9) {
        0 => drop(certificate.sc.remove(pick(certificate.sc.len(), random)?)),
        1 => {
            let set = pick(certificate.delayed.len(), random)?;
            let set = &mut certificate.delayed[set].configurations;
            set.remove(pick(set.len(), random)?);
        }
        2 => {
            let set = pick(certificate.helped.len(), random)?;
            let set = &mut certificate.helped[set].configurations;
            set.remove(pick(set.len(), random)?);
        }
        3 => {
            let element = pick(certificate.sc.len(), random)?;
            let tokens = &mut certificate.sc[element].tokens;
            match pick(tokens.len(), random)? {
                token if tokens[token].1 == Tokens::Omega => lowered(&mut tokens[token].1),
                token => drop(tokens.remove(token)),
            }
        }
        4 => {
            let set = pick(certificate.helped.len(), random)?;
            let set = &mut certificate.helped[set].configurations;
            let element = pick(set.len(), random)?;
            let token = pick(set[element].tokens.len(), random)?;
            set[element].tokens.remove(token);
        }
        5 => {
            let attack = pick(certificate.attacks.len(), random)?;
            match &mut certificate.attacks[attack].reason {
                AttackReason::Pruned { reachable } => drop(reachable.remove(pick(reachable.len(), random)?)),
                reason => *reason = AttackReason::Pruned { reachable: Vec::new() },
            }
        }
        6 => {
            let thread = pick(certificate.live.len(), random)?;
            let label = pick(certificate.live[thread].len(), random)?;
            let registers = &mut certificate.live[thread][label];
            registers.remove(pick(registers.len(), random)?);
        }
        _ => {
            let thread = pick(program.threads.len(), random)?;
            let instruction = pick(program.threads[thread].instructions.len(), random)?;
            let constant = Expression::Constant(1 + i64::try_from(random.below(2)).expect("a small number"));
            match &mut program.threads[thread].instructions[instruction].action {
                action @ Action::Fence => *action = Action::Nop,
                Action::Load { address, .. } => *address = constant,
                Action::Store { address, value } if random.below(2) == 0 => {
                    (*address, *value) = (constant.clone(), constant);
                }
                Action::Store { value, .. } => *value = constant,
                Action::Cas { new, .. } | Action::Rmw { new, .. } => *new = constant,
                _ => return None,
            }
        }
    }
    Some((program, certificate))
}

/// The solver proves all scripts of a certificate exactly when the checker accepts it.
#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn an_outside_solver_agrees_with_the_checker() {
    let solver = Solver::installed();
    let mut random = Randomness::new(43);
    let (mut accepted, mut rejected, mut still_right) = (0, 0, 0);
    for (program, certificate) in searched(0) {
        if accepted >= 15 && rejected >= 25 {
            break;
        }
        let changed = (0..2).filter_map(|_| corrupted(&program, &certificate, &mut random));
        for (program, certificate) in changed.chain([(program.clone(), certificate.clone())]).collect::<Vec<_>>() {
            let verdict = check_robust_certificate(&program, &certificate);
            let scripts = program_scripts(&program, &certificate);
            let proved = scripts.map_or(Some(false), |scripts| solver.proves(&scripts));
            assert_eq!(proved, Some(verdict.is_ok()), "{verdict:?} {program:?} {certificate:?}");
            still_right += usize::from(verdict.is_ok());
            rejected += usize::from(verdict.is_err());
        }
        accepted += 1;
    }
    assert!(still_right >= accepted);
}

/// Attacks that are answered on their nets have the scripts of these nets.
#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn an_outside_solver_proves_attacks_on_their_nets() {
    let solver = Solver::installed();
    let options = CheckOptions { prune: false, nets: true, ..CheckOptions::default() };
    let mut proved = 0;
    for seed in 0.. {
        let mut program = random::program(seed, &Shape { fences: 25, total_labels: 7, ..Shape::default() });
        if seed % 2 == 0 {
            program.threads[0].copies = Copies::Any;
        }
        let Ok(checked) = check(&program, &options) else { continue };
        let Some(certificate) = certificate(&program, &checked) else { continue };
        let scripts = program_scripts(&program, &certificate).expect("the checker lists the nets");
        let on_nets = scripts.iter().filter(|script| script.obligation.starts_with("attack-")).count();
        if on_nets > 0 {
            assert_eq!(solver.proves(&scripts), Some(true), "seed {seed}");
            proved += on_nets;
        }
        if proved >= 60 {
            return;
        }
    }
}

/// The nets in the scripts are those that the checker lists, place by place.
#[test]
fn nets_of_attacks_are_the_checkers() {
    let text = "program Net
thread t [*] regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
";
    let program = read(SourceText::new("net.pal", text), Format::Native).unwrap().program;
    let options = CheckOptions { nets: true, ..CheckOptions::default() };
    let certificate = certificate(&program, &check(&program, &options).unwrap()).unwrap();
    let attack = &certificate.attacks[0];
    assert!(matches!(attack.reason, AttackReason::Net(_)));
    let (problem, _) = attack_net(&program, &certificate.live, (attack.thread, attack.store, attack.load)).unwrap();
    let scripts = program_scripts(&program, &certificate).unwrap();
    let inductive = scripts.iter().find(|script| script.obligation == "attack-1.inductive").unwrap();
    for (number, place) in problem.net.places.iter().enumerate() {
        let declared = format!("(declare-const m{number} Int) ; {}\n", place.name);
        assert!(inductive.text.contains(&declared), "{declared} is not in {}", inductive.text);
    }
    assert_eq!(inductive.text.matches("(assert (=> (= fired ").count(), problem.net.transitions.len());
}

/// Arithmetic, wrapping, sections, choice and growing old values, where a wrong value would show as
/// a wrong step.
const VALUES: &[&str] = &[
    "program Wrapping
domain -4..3 wrap
thread a regs r, s init l0 begin
  l0: mem[x] <- 3; goto l1;
  l1: mfence; goto l2;
  l2: r <- mem[y]; goto l3;
  l3: s <- (r * 3 - 7) / 2 % 3; goto l4;
  l4: mem[x] <- s + 2; goto l5;
  l5: r <- mem[x]; goto l2;
end
thread b [2] regs r init l0 begin
  l0: r <- fetch_add(mem[y], 3); goto l1;
  l1: assert r < 2 && 6 / (r - 2) != 0; goto l2;
  l2: r <- xchg(mem[z + (r & 1)], ~r); goto l0;
end
",
    "program Sections
domain 0..2 wrap
thread a [*] regs r init l0 begin
  l0: lock; goto l1;
  l1: r <- mem[x]; goto l2;
  l2: mem[x] <- r + 1; goto l3;
  l3: r <- *; goto l4;
  l4: mem[y + r % 2] <- r << 1; goto l5;
  l5: unlock; goto l6;
  l6: r <- cas(mem[x], r | 1, 0); goto l7;
  l7: mem[z] <- 1; goto l8;
  l8: r <- mem[z]; goto l0;
end
",
];

#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn values_are_computed_as_the_checker_does() {
    let solver = Solver::installed();
    for text in VALUES {
        let program = read(SourceText::new("p.pal", *text), Format::Native).expect("it is well formed").program;
        let certificate = certified(&program).expect("it is robust");
        let scripts = program_scripts(&program, &certificate).expect("there are no nets");
        assert_eq!(solver.proves(&scripts), Some(true), "{text}");
        // Another value somewhere: the sets are not closed any more, or the values leave what they
        // list.
        for memory in 1..certificate.memories.len() {
            let mut changed = certificate.clone();
            changed.memories.truncate(memory);
            let last = changed.memories[memory - 1].clone();
            changed.memories.resize(certificate.memories.len(), last);
            assert!(check_robust_certificate(&program, &changed).is_err());
            let scripts = program_scripts(&program, &changed).expect("there are no nets");
            assert_eq!(solver.proves(&scripts), Some(false), "{text} {memory}");
            if memory == 6 {
                break;
            }
        }
    }
}

/// What a script says, without a solver.
#[test]
fn scripts_spell_out_program_and_certificate() {
    let text = "program Own
thread t [*] regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[x + r]; goto l2;
end
";
    let program = read(SourceText::new("own.pal", text), Format::Native).unwrap().program;
    let scripts = program_scripts(&program, &certified(&program).unwrap()).unwrap();
    let obligations: Vec<&str> = scripts.iter().map(|script| script.obligation.as_str()).collect();
    assert_eq!(obligations, ["tables", "initial", "inductive", "safe"]);
    let inductive = &scripts[2].text;
    for part in [
        "; address 1, x",
        "; state 0: t at l0 with [0]",
        "; state 0: t i0 l0: mem[x] <- 1; goto l1;",
        "(= stage 0)",
        "(listed (+ 1 0))",
        "(declare-const n0_ Int)",
        "(set-logic QF_LIA)",
    ] {
        assert!(inductive.contains(part), "{part} in {inductive}");
    }
    assert!(scripts.iter().all(|script| script.text.ends_with("(check-sat)\n")));
}

/// Certificates that know counters modulo a number, up to turns, or up to an end: the solver proves
/// what they say of the program that they are about, and no more where a part is left out.
#[needs::command("z3 --version", "cvc5 --version")]
#[test]
fn an_outside_solver_proves_what_counters_show() {
    let solver = Solver::installed();
    let model = |name: &str, copies: &str, domain: Option<&str>| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
        let text = std::fs::read_to_string(path).expect("the model is there");
        // Of remainders a solver thinks for minutes.
        let parity = "if (before % 2 != 0) { continue; }";
        assert_eq!(text.contains(parity), name == "seqlock.pal");
        let text = if is_long_run() { text } else { text.replace(parity, "") };
        let mut program = read(SourceText::new("model.pal", text), Format::Native).expect("it is a program").program;
        let copies: Vec<_> = copies.split(',').map(|own| own.parse().expect("copies")).collect();
        program.override_copies(&copies).expect("it has these threads");
        program.domain = None;
        if let Some(domain) = domain {
            program.override_domain(Some(domain.parse().expect("a domain")), true).expect("it contains 0");
        }
        program
    };
    for (program, what) in [
        (model("seqlock.pal", "writer=*,reader=*", Some("0..65535")), "modulo"),
        (model("ticket-lock.pal", "worker=3", None), "modulo"),
        (model("linux-spinlock.pal", "worker=*", None), "ends"),
    ] {
        let checked = check(&program, &CheckOptions::default()).expect("it has no faults");
        let certificate = certificate(&program, &checked).expect("it is robust");
        assert_eq!(if certificate.ends.is_empty() { "modulo" } else { "ends" }, what);
        let closed = closed_as_they_stand(&program, &certificate).expect("it is accepted");
        let (plain, mut closed) = closed.expect("few turns");
        let scripts = program_scripts(&plain, &closed).expect("there are no nets");
        assert_eq!(solver.proves(&scripts), Some(true), "{}", program.name);
        closed.sc.pop();
        let scripts = program_scripts(&plain, &closed).expect("there are no nets");
        assert_eq!(solver.proves(&scripts), Some(false), "{}", program.name);
    }
}
