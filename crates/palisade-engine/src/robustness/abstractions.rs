//! Programs that know less of their counters: residues, no tickets, values that stop, distances up
//! to a horizon, low bits.
//!
//! A program that knows its counters modulo m ([`modulo`]) does whatever the program does, for
//! these counters and for wider ones; so do programs without their tickets, those whose values stop
//! at an end, and those in which what is far behind is one value. Where such a program is robust,
//! so is the program, and what it never reaches, the program never reaches; where it is not,
//! nothing is known. Each has premises on values that are no counters, or are far behind: these are
//! left to the reader of the certificate, which has to accept it before it counts.

use super::certificate::{certificate, interleavings};
use super::check::{
    Abstraction, AttackOutcome, Check, CheckOptions, Counts, Far, Low, Modulo, Observer, Silent, Stopping, Turns,
    Values, check_quickly, concluded, list, proved_within,
};
use super::far::horizons;
use crate::decide::schedule::{BALANCES, FAR, FEW_RESIDUES, LOW_BITS, MANY_RESIDUES};
use palisade_evidence::{CountEvidence, LowBitsEvidence, RobustCertificate};
use palisade_exploration::instrumented::explore_sc_until;
use palisade_exploration::instrumented::system::Growth;
use palisade_model::limits::Budget;
use palisade_model::program::{
    Copies, Count, Counted, Counters, InstructionId, LowBits, Program, Thread, ThreadId, TicketPair, Tickets, Value,
    modulo, saturated,
};
use palisade_verify::{check_interleavings, check_robust_certificate};
use std::collections::BTreeSet;

/// Few values: searches with these are short.
const FEW: [Value; 4] = [2, 4, 8, 16];

/// Residues say more than tickets, which are tried before more values than this.
const SOME: Value = 64;

/// So many numbers of low bits are tried.
const MOST_NUMBERS_OF_BITS: usize = 3;

/// More values than this are not tried.
const MOST: u64 = 1 << 12;

/// A program that does all that another one does, and knows less of its counters.
struct Candidate {
    program: Program,
    values: Values,
    /// The nodes of a search in it.
    nodes: u64,
    known: Known,
}

/// What a program knows of the counters of another one.
#[derive(Clone, Debug)]
enum Known {
    /// All there is.
    Everything,
    /// Residues, in a domain with these ends.
    Residues(Value, Value),
    /// No tickets of these pairs.
    Turns(Vec<TicketPair>),
    /// Values of addresses up to these ends.
    Ends(Vec<(Value, Value)>),
    /// Few values of these counts.
    Counts(Vec<Count>),
    /// What is not farther behind addresses than these distances.
    Distances(Vec<(Value, Value)>),
    /// The low bits of what grows, and then less.
    Low(LowBits, Box<Known>),
}

impl Known {
    /// A certificate about the candidate as one about the program.
    fn said_in(&self, certificate: RobustCertificate) -> RobustCertificate {
        match self.clone() {
            Self::Everything => certificate,
            Self::Residues(low, high) => RobustCertificate { modulo: Some((low, high)), ..certificate },
            Self::Turns(pairs) => {
                let tickets = pairs.iter().map(|pair| (pair.dispenser, pair.served)).collect();
                RobustCertificate { tickets, ..certificate }
            }
            Self::Ends(ends) => RobustCertificate { ends, ..certificate },
            Self::Counts(counts) => {
                let counts = counts.into_iter().map(evidence).collect();
                RobustCertificate { counts, ..certificate }
            }
            Self::Distances(far) => RobustCertificate { far, ..certificate },
            Self::Low(LowBits { bits, cells, assigned }, rest) => {
                let low = Some(LowBitsEvidence { bits, cells, assigned });
                RobustCertificate { low, ..rest.said_in(certificate) }
            }
        }
    }

    /// How a certificate shows a program robust; nothing where it knows everything.
    fn abstraction(self, certificate: RobustCertificate) -> Option<Abstraction> {
        Some(match self {
            Self::Everything => return None,
            Self::Residues(low, high) => Abstraction::Modulo(Modulo { low, high, certificate }),
            Self::Turns(pairs) => Abstraction::Turns(Turns { pairs, certificate }),
            Self::Ends(ends) => Abstraction::Stopping(Stopping { ends, certificate }),
            Self::Counts(counts) => Abstraction::Counting(Counts { counts, certificate }),
            Self::Distances(behind) => Abstraction::Far(Far { behind, certificate }),
            Self::Low(low, _) => Abstraction::Low(Low { low, certificate }),
        })
    }
}

/// The candidates in the order in which they are tried: those of which a proof says more, or takes
/// less, first. Who knows less of values does not know what is waited for, so their reads try
/// again.
fn candidates(program: &Program) -> impl Iterator<Item = Candidate> + '_ {
    let sizes = if may_be_residues(program) { sizes(program) } else { Vec::new() };
    let (few, many): (Vec<_>, Vec<_>) = sizes.into_iter().partition(|(size, _)| *size <= SOME);
    let residues = |sizes: Vec<_>| sizes.into_iter().filter_map(|size| by_residues(program, size));
    let others: [fn(&Program) -> Vec<Candidate>; 4] = [in_turns, stopping, with_balances, up_to_horizons];
    let all = residues(few).chain(others.into_iter().flat_map(|others| others(program))).chain(residues(many));
    all.map(|candidate| Candidate { program: candidate.program.spinning(), ..candidate })
}

/// The candidates for programs in which values grow that are no counters.
fn candidates_of_low_bits(program: &Program) -> impl Iterator<Item = Candidate> + '_ {
    let spinning = program.spinning();
    let all = low_bits(&spinning, MOST_NUMBERS_OF_BITS);
    // Besides, the program counts what copies hold, say.
    let without_rounds = LowBits::of_rounds(&spinning).map(|(low, program)| {
        let also = |candidate: Candidate| {
            let known = Known::Low(low.clone(), candidate.known.into());
            Candidate { known, ..candidate }
        };
        candidates(&program).map(also).collect::<Vec<_>>()
    });
    all.into_iter().chain(without_rounds.into_iter().flatten())
}

/// The candidates that know low bits alone, for so many numbers of bits.
fn low_bits(spinning: &Program, tried: usize) -> Vec<Candidate> {
    let own = |(low, program)| {
        let known = Known::Low(low, Known::Everything.into());
        Candidate { program, values: Values::Own, nodes: LOW_BITS, known }
    };
    LowBits::all_of(spinning, tried).map(own).collect()
}

/// Whether a program has counters that may be known by residues. What is cut to some bits is no
/// member of a class where it is compared with what is not; residues are equal all the same.
fn may_be_residues(program: &Program) -> bool {
    !Counters::of(program).is_empty()
        || Counters::cut_in(program) && modulo(program, 0, FEW[FEW.len() - 1] - 1).is_some()
}

/// Whether a program has counters of any kind.
pub(crate) fn has_counters(program: &Program) -> bool {
    may_be_residues(program)
        || Tickets::of(program).is_some()
        || saturated(program).is_some()
        || !Counted::all_of(program).is_empty()
        || LowBits::all_of(program, 1).next().is_some()
        || LowBits::of_rounds(program).is_some()
}

/// The check of a program that is robust without all values of its counters, if such a proof is
/// found.
pub(crate) fn abstracted<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Option<Check<'p>> {
    if !options.counters || options.nets || options.one_query {
        return None;
    }
    candidates(program).find_map(|candidate| robust(program, options, observer, candidate))
}

/// The check of a program that is robust with the low bits of what grows, if such a proof is found.
pub(crate) fn with_low_bits<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Option<Check<'p>> {
    if !options.counters || options.nets || options.one_query {
        return None;
    }
    candidates_of_low_bits(program).find_map(|candidate| robust(program, options, observer, candidate))
}

/// The same with as few bits as tell what the program does: what takes little work.
pub(crate) fn with_fewest_bits<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Option<Check<'p>> {
    if !options.counters || options.nets || options.one_query {
        return None;
    }
    low_bits(&program.spinning(), 1).into_iter().find_map(|candidate| robust(program, options, observer, candidate))
}

/// The check of a program that is robust as a candidate is.
fn robust<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
    candidate: Candidate,
) -> Option<Check<'p>> {
    let Candidate { program: narrow, values, nodes, known } = candidate;
    let proved = proved_within(&narrow, options, nodes, values)?;
    let certificate = known.said_in(certificate(&narrow, &proved)?);
    check_robust_certificate(program, &certificate).ok()?;
    let abstraction = known.abstraction(certificate)?;
    Some(concluded(program, options, observer, (abstraction, proved)))
}

/// Why a program is robust, if that is found among so many configurations: by control flow, without
/// all values of its counters, or with them.
pub(crate) fn robust_within(program: &Program, options: &CheckOptions, most: u64) -> Option<RobustCertificate> {
    let reports = list(program, options).ok()?;
    let is_pruned = reports.iter().all(|report| report.outcome == AttackOutcome::Pruned);
    let checked = if is_pruned && !program.rests_on_exploration() {
        check_quickly(program, options).ok()?
    } else {
        let within = |candidate: &Candidate| candidate.nodes <= most;
        let mut known = candidates(program).chain(candidates_of_low_bits(program)).filter(within);
        let found = known.find_map(|candidate| robust(program, options, &Silent, candidate));
        found.or_else(|| proved_within(program, options, MANY_RESIDUES.min(most), Values::Own))?
    };
    certificate(program, &checked)
}

/// A set of interleavings of a program with counters, found among so many configurations, which
/// shows that none of them comes to certain instructions, each a `fail`. It is closed up to turns,
/// or knows less of counters.
pub(crate) fn interleavings_without(
    program: &Program,
    fails: &BTreeSet<(ThreadId, InstructionId)>,
    options: &CheckOptions,
    most: u64,
) -> Option<RobustCertificate> {
    // Any number of copies are at any distance from each other.
    let is_finite = !program.is_parameterized() || program.domain.is_some();
    let exact = (is_finite && !Counters::of(program).is_empty()).then(|| {
        let known = Known::Everything;
        let exact = Candidate { program: program.clone(), values: Values::Own, nodes: FEW_RESIDUES.min(most), known };
        closed_without(program, fails, options, exact)
    });
    // What knows everything says of one domain what others say of more.
    if matches!(exact, Some(Closed::Reached)) {
        return None;
    }
    let within = |candidate: &Candidate| candidate.nodes <= most;
    let answers =
        candidates(program).filter(within).map(|candidate| closed_without(program, fails, options, candidate));
    let low = candidates_of_low_bits(program).filter(within);
    let low = low.map(|candidate| closed_without(program, fails, options, candidate));
    answers.chain(exact).chain(low).find_map(|answer| match answer {
        Closed::Without(certificate) => Some(*certificate),
        _ => None,
    })
}

/// What the interleavings of a candidate say.
enum Closed {
    /// They come to none of the instructions, and nor do the program's.
    Without(Box<RobustCertificate>),
    /// Nothing.
    Unknown,
    /// Those of the program come to one of the instructions.
    Reached,
}

fn closed_without(
    program: &Program,
    fails: &BTreeSet<(ThreadId, InstructionId)>,
    options: &CheckOptions,
    candidate: Candidate,
) -> Closed {
    let Candidate { program: narrow, values, nodes, known } = candidate;
    let (system, counting) = values.system(&narrow, Growth::Fault(options.values));
    let mut system = system.counting(counting.as_ref());
    let labels = fails.iter().map(|(thread, id)| (*thread, program.thread(*thread).instruction(*id).source));
    let labels: Vec<_> = labels.collect();
    let budget = Budget::within(&options.limits).with_work(nodes);
    let comes_there = |reached: &super::Reached| labels.iter().any(|(thread, label)| reached.contains(*thread, *label));
    let explored = explore_sc_until(&mut system, &budget, |system| comes_there(system.reached()));
    let is_sound = counting.is_none_or(|counting| !counting.is_broken());
    match explored {
        Ok(_) if is_sound && comes_there(system.reached()) => match known {
            Known::Everything => Closed::Reached,
            _ => Closed::Unknown,
        },
        Ok(sc) if is_sound => {
            let certificate = known.said_in(interleavings(&system, &sc));
            match check_interleavings(program, fails, &certificate) {
                Ok(()) => Closed::Without(certificate.into()),
                Err(_) => Closed::Unknown,
            }
        }
        _ => Closed::Unknown,
    }
}

/// How many values to try, with the nodes of the search.
fn sizes(program: &Program) -> Vec<(Value, u64)> {
    let mut sizes: Vec<(Value, u64)> = FEW.iter().map(|size| (*size, FEW_RESIDUES)).collect();
    let copies = |thread: &Thread| match thread.copies {
        Copies::Exactly(count) => Some(count),
        Copies::Any => None,
    };
    let total = program.threads.iter().map(copies).try_fold(0_u64, |sum, own| sum.checked_add(own?));
    // Each copy can be at a value of its own.
    if let Some(total) = total.filter(|total| *total < MOST) {
        let enough = (total + 1).next_power_of_two();
        let enough = Value::try_from(enough).expect("few copies");
        sizes.retain(|(size, _)| *size < enough);
        sizes.push((enough, MANY_RESIDUES));
    }
    sizes
}

/// The program that knows residues of so many values, where these tell what its domain does.
fn by_residues(program: &Program, (size, nodes): (Value, u64)) -> Option<Candidate> {
    let low = if program.domain.is_some_and(|domain| domain.low < 0) { -size / 2 } else { 0 };
    let high = low + size - 1;
    let size = u128::from(size.unsigned_abs());
    let is_multiple = program
        .domain
        .is_none_or(|own| own.wrap && own.contains(low) && own.contains(high) && own.size().is_multiple_of(size));
    if !is_multiple {
        return None;
    }
    let known = Known::Residues(low, high);
    Some(Candidate { program: modulo(program, low, high)?, values: Values::Own, nodes, known })
}

/// The program without its tickets.
fn in_turns(program: &Program) -> Vec<Candidate> {
    let candidate = |tickets: Tickets| {
        let (program, known) = (tickets.erased.clone(), Known::Turns(tickets.pairs.clone()));
        Candidate { program, values: Values::WithoutTickets(tickets.into()), nodes: MANY_RESIDUES, known }
    };
    Tickets::of(program).map(candidate).into_iter().collect()
}

/// The program whose counters stop at an end.
fn stopping(program: &Program) -> Vec<Candidate> {
    let candidate = |own: palisade_model::program::Saturated| Candidate {
        program: own.program,
        values: Values::Own,
        nodes: MANY_RESIDUES,
        known: Known::Ends(own.ends),
    };
    saturated(program).map(candidate).into_iter().collect()
}

/// The programs that tell few values of counts apart.
fn with_balances(program: &Program) -> Vec<Candidate> {
    let candidate = |own: Counted| {
        let counts = own.balances.iter().map(|balances| balances.count.clone()).collect();
        let known = Known::Counts(counts);
        Candidate { program: own.program, values: Values::Balanced(own.balances.into()), nodes: BALANCES, known }
    };
    Counted::all_of(program).into_iter().map(candidate).collect()
}

/// A count as evidence says it.
fn evidence(count: Count) -> CountEvidence {
    let Count { cell: address, few, most, owned } = count;
    CountEvidence { address, few, most, owned }
}

/// The programs in which counters beyond a horizon are not told apart.
fn up_to_horizons(program: &Program) -> Vec<Candidate> {
    let horizons = horizons(program).into_iter();
    let candidates = horizons.map(|horizon| Candidate {
        program: horizon.loosened,
        values: Values::Counted(horizon.counting),
        nodes: FAR,
        known: Known::Distances(horizon.behind),
    });
    candidates.collect()
}
