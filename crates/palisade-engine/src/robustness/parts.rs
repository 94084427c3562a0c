//! The attacks of one program in parts, each decided by itself, on machines of their own perhaps,
//! and the one certificate of all parts.
//!
//! The sets of a certificate are closed, and so is the union of the sets of several parts: each
//! part explores the same configurations under SC, and for a store the same ones while it is
//! delayed. Nothing rests on that, since the checker reads the certificate that comes out like any
//! other.

use super::certificate::reasons;
use super::check::{AttackOutcome, Check, CheckOptions, Observer, Verdict, check_range, list};
use palisade_evidence::{
    DelayedConfiguration, DelayedSet, HelpedConfiguration, HelpedSet, LocalState, RobustCertificate, ScConfiguration,
};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::lazy::Interner;
use palisade_model::limits::StopReason;
use palisade_model::program::{Program, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// What was found about some of the attacks of a program.
#[derive(Debug)]
pub struct Part<'p> {
    /// The answers. The verdict is not [`Verdict::Robust`], which no part shows.
    pub check: Check<'p>,
    /// Why none of the attacks is feasible, where that was shown.
    pub evidence: Option<RobustCertificate>,
}

/// Decides some of the attacks, those in a range of all in order. The verdict is about no program,
/// and so it is `unknown` where none of them is feasible: then the part has evidence, which
/// [`combine`] puts together with that of the other parts.
///
/// # Errors
///
/// As [`check`](super::check()).
pub fn check_part<'p>(
    program: &'p Program,
    range: Range<usize>,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Result<Part<'p>, Fault> {
    let mut check = check_range(program, range, options, observer)?;
    if check.verdict != Verdict::Robust {
        return Ok(Part { check, evidence: None });
    }
    let evidence = reasons(program, &check);
    check.verdict = Verdict::Unknown(StopReason::Part);
    Ok(Part { check, evidence: Some(evidence) })
}

/// Cuts the attacks of a program, in their order, into ranges with so many attacks each that
/// control flow leaves open; at least one range.
///
/// # Errors
///
/// When a limit of the options is reached.
pub fn parts(program: &Program, options: &CheckOptions, size: usize) -> Result<Vec<Range<usize>>, StopReason> {
    let reports = list(program, options)?;
    let (mut ranges, mut start, mut open) = (Vec::new(), 0, 0);
    for (index, report) in reports.iter().enumerate() {
        if report.outcome == AttackOutcome::NotAsked {
            if open == size.max(1) {
                ranges.push(start..index);
                (start, open) = (index, 0);
            }
            open += 1;
        }
    }
    ranges.push(start..reports.len());
    Ok(ranges)
}

/// The certificate of a program from the evidence of all its parts, in order, of which one at a
/// time is held. It is for the checker to say that it holds.
pub fn combine(parts: impl IntoIterator<Item = RobustCertificate>) -> RobustCertificate {
    let mut union = Union::default();
    for part in parts {
        union.add(part);
    }
    union.finish()
}

/// The parts that were put together so far: configurations each once, in the order in which they
/// came.
#[derive(Default)]
struct Union {
    live: Vec<Vec<Vec<palisade_model::program::RegisterId>>>,
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
    sc: Interner<ScConfiguration>,
    /// By thread and store.
    delayed: BTreeMap<(usize, usize), (DelayedSet, Interner<DelayedConfiguration>)>,
    /// By thread.
    helped: BTreeMap<usize, (HelpedSet, Interner<HelpedConfiguration>)>,
    attacks: Vec<palisade_evidence::AttackEvidence>,
}

impl Union {
    fn add(&mut self, part: RobustCertificate) {
        // Parts are about the program with its own values.
        let RobustCertificate {
            modulo: _,
            low: _,
            tickets: _,
            ends: _,
            counts: _,
            far: _,
            live,
            locals,
            memories,
            sc,
            delayed,
            helped,
            attacks,
        } = part;
        // What is live follows from the program alone.
        self.live = live;
        let locals: Vec<u32> = locals.into_iter().map(|local| self.locals.intern(local).0).collect();
        let memories: Vec<u32> = memories.into_iter().map(|memory| self.memories.intern(memory).0).collect();
        // Numbers that a part has no entry for are kept, for the checker to refuse.
        let local = |number: u32| locals.get(number as usize).copied().unwrap_or(u32::MAX);
        let memory = |number: u32| memories.get(number as usize).copied().unwrap_or(u32::MAX);
        for mut configuration in sc {
            configuration.memory = memory(configuration.memory);
            configuration.tokens.iter_mut().for_each(|(place, _)| *place = local(*place));
            configuration.tokens.sort_unstable_by_key(|(place, _)| *place);
            self.sc.intern(configuration);
        }
        for mut set in delayed {
            let configurations = std::mem::take(&mut set.configurations);
            let place = (set.thread.index(), set.store.index());
            let (_, union) = self.delayed.entry(place).or_insert_with(|| (set, Interner::default()));
            for mut configuration in configurations {
                configuration.memory = memory(configuration.memory);
                configuration.tokens.iter_mut().for_each(|(place, _)| *place = local(*place));
                configuration.tokens.sort_unstable_by_key(|(place, _)| *place);
                union.intern(configuration);
            }
        }
        for mut set in helped {
            let configurations = std::mem::take(&mut set.configurations);
            let (_, union) = self.helped.entry(set.thread.index()).or_insert_with(|| (set, Interner::default()));
            for mut configuration in configurations {
                configuration.memory = memory(configuration.memory);
                configuration.tokens.iter_mut().for_each(|(place, ..)| *place = local(*place));
                configuration.tokens.sort_unstable_by_key(|(place, joined, _)| (*place, *joined));
                union.intern(configuration);
            }
        }
        self.attacks.extend(attacks);
    }

    fn finish(self) -> RobustCertificate {
        let delayed = self.delayed.into_values();
        let helped = self.helped.into_values();
        RobustCertificate {
            modulo: None,
            low: None,
            tickets: Vec::new(),
            ends: Vec::new(),
            counts: Vec::new(),
            far: Vec::new(),
            live: self.live,
            locals: self.locals.into_values(),
            memories: self.memories.into_values(),
            sc: self.sc.into_values(),
            delayed: delayed.map(|(set, union)| DelayedSet { configurations: union.into_values(), ..set }).collect(),
            helped: helped.map(|(set, union)| HelpedSet { configurations: union.into_values(), ..set }).collect(),
            attacks: self.attacks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Silent, attacks};
    use super::*;
    use palisade_verify::check_robust_certificate;

    /// Two threads that store and load through fences and plainly, so that some attacks are pruned
    /// and some are not.
    const PROGRAM: &str = "program Parts
thread one [*] regs r init a begin
  a: mem[x] <- 1; goto b;
  b: r <- mem[x]; goto c;
  c: mem[y] <- 1; goto d;
  d: r <- mem[y]; goto e;
  e: mfence; goto f;
  f: r <- mem[z]; goto g;
end
thread two regs r init a begin
  a: mem[z] <- 1; goto b;
  b: r <- mem[z]; goto c;
  c: mem[w] <- 1; goto a;
end
";

    fn program(text: &str) -> Program {
        let source = palisade_model::program::SourceText::new("parts.pal", text);
        palisade_syntax::parse(source, palisade_syntax::Format::Native).expect("it is a program").program
    }

    #[test]
    fn parts_of_any_size_make_a_certificate_that_is_accepted() {
        let program = program(PROGRAM);
        for options in [CheckOptions::default(), CheckOptions { nets: true, ..CheckOptions::default() }] {
            for size in 1..6 {
                let ranges = parts(&program, &options, size).expect("there are no limits");
                assert_eq!(ranges.last().map(|range| range.end), Some(attacks(&program).len()));
                let part = |range| check_part(&program, range, &options, &Silent).expect("no step is at fault");
                let found: Vec<_> = ranges.into_iter().map(part).collect();
                assert!(found.iter().all(|part| part.check.verdict == Verdict::Unknown(StopReason::Part)));
                let whole = combine(found.into_iter().map(|part| part.evidence.expect("none is feasible")));
                check_robust_certificate(&program, &whole).expect("it is accepted");
            }
        }
    }

    #[test]
    fn parts_that_do_not_cover_all_attacks_are_rejected() {
        let program = program(PROGRAM);
        let options = CheckOptions::default();
        let ranges = parts(&program, &options, 1).expect("there are no limits");
        assert!(ranges.len() > 2, "{ranges:?}");
        for left_out in 0..ranges.len() {
            let kept =
                ranges.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, range)| range.clone());
            let part = |range| check_part(&program, range, &options, &Silent).expect("no step is at fault");
            let evidence = kept.map(|range| part(range).evidence.expect("none is feasible"));
            assert!(check_robust_certificate(&program, &combine(evidence)).is_err(), "without part {left_out}");
        }
    }

    #[test]
    fn a_feasible_attack_has_its_violation_in_its_own_part() {
        let broken = PROGRAM.replace("d: r <- mem[y]", "d: r <- mem[z]").replace("b: r <- mem[z]", "b: r <- mem[y]");
        let program = program(&broken);
        let options = CheckOptions::default();
        let ranges = parts(&program, &options, 1).expect("there are no limits");
        let part = |range| check_part(&program, range, &options, &Silent).expect("no step is at fault");
        let found: Vec<_> = ranges.into_iter().map(part).collect();
        let violated = found.iter().filter(|part| part.check.verdict == Verdict::NotRobust).count();
        assert!((1..found.len()).contains(&violated), "{violated} of {}", found.len());
        for part in found {
            assert_eq!(part.check.violation.is_some(), part.evidence.is_none());
            let feasible = part.check.attacks.iter().any(|report| report.outcome == AttackOutcome::Feasible);
            assert_eq!(feasible, part.check.violation.is_some());
        }
    }
}
