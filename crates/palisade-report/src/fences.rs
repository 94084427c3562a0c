//! The result of `palisade fences` as text.

use super::claim;
use super::context::{Context, domain_line};
use super::needed::Needed;
use super::proposal::{PROPOSED, Proposal};
use super::verdict::outcome_words;
use super::verdict::{VerdictWord, before_the_repair};
use super::{alternatives, counted, source_place, unreached, widths};
use palisade_engine::fences::{Measure, Placement, Redundancy, Repair, Repaired, Returning, Unfinished};
use palisade_engine::robustness::{Attack, Verdict};
use palisade_model::program::{Action, Instruction, Program, Sites, Thread};
use std::fmt::Write;

/// What was found, and what was done about it.
#[derive(Debug)]
pub struct Result<'a> {
    /// Whether the program can be repaired, and how, with the evidence.
    pub found: &'a Repaired,
    /// Whether the user wants all optimal sets.
    pub all: bool,
    /// Why the text itself cannot be changed.
    pub no_diff: Option<&'a str>,
    /// Of machine code, the changes of its sources.
    pub proposal: Option<&'a Proposal>,
    /// Where the repaired text was written.
    pub written: Option<&'a str>,
    /// Which of the changes the properties need; nothing where the program has none, or is robust
    /// as it is.
    pub needed: Option<&'a Needed>,
}

impl Result<'_> {
    /// The unified diff from the program's text, or its sources, to the repaired one; empty when
    /// nothing is to be changed.
    pub fn diff(&self) -> &str {
        let proposed = self.proposal.map(|proposal| proposal.diff.as_str());
        proposed.or_else(|| self.found.repaired_text().map(|text| text.diff.as_str())).unwrap_or_default()
    }

    /// Whether what is shown beside the repaired program's robustness has all its evidence.
    pub(super) fn is_complete(&self) -> bool {
        self.found.shown.as_ref().is_some_and(|shown| shown.is_complete)
    }
}

/// What is said where no fence is needed.
const AS_IT_IS: &str = "robust as it is";

/// What else the program has to answer where it was asked for robustness.
pub fn not_asked(program: &Program) -> Option<&'static str> {
    let states = |own: &Instruction| matches!(own.action, Action::Ensure(_) | Action::Fail);
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    let has_properties = !program.never.is_empty() || instructions.any(states);
    let waits = program.says_waits() && !program.has_grace_periods();
    match (has_properties, waits || !program.finally.is_empty()) {
        (true, true) => Some("properties (`--ask properties`) and hangs (`--ask hangs`)"),
        (true, false) => Some("properties (`--ask properties`)"),
        (false, true) => Some("hangs (`--ask hangs`)"),
        (false, false) => None,
    }
}

/// Whether the program has to answer who waits for ever: it locks, sleeps or wakes, or says what is
/// to hold in the end.
pub(crate) fn hangs_are_meant(program: &Program) -> bool {
    let takes =
        |own: &Instruction| own.until().is_some() && matches!(own.action, Action::Cas { .. } | Action::Rmw { .. });
    let mut all = program.threads.iter().flat_map(|thread| &thread.instructions);
    !program.finally.is_empty() || !program.has_grace_periods() && all.any(|own| own.queue().is_some() || takes(own))
}

/// Whether somebody may wait for ever, which is no property: the program says who waits, or its
/// machine code spins.
fn may_hang(program: &Program) -> bool {
    let spins = || program.source.is_listing && program.threads.iter().any(Thread::may_spin);
    !program.has_grace_periods() && (program.says_waits() || spins())
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let copies: Vec<String> =
        program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
    let headline = match &result.found.repair {
        Repair::Valid(placement) if placement.measures.is_empty() => match before_the_repair(placement) {
            VerdictWord::Unknown => "no valid set is known".to_owned(),
            _ => AS_IT_IS.to_owned(),
        },
        Repair::Valid(placement) => {
            let kind = if placement.proof.is_some() { "optimal" } else { "valid, not known to be optimal" };
            format!("{} {kind}, cost {}", changes(&placement.measures), placement.cost)
        }
        Repair::Impossible(_) => "no valid set under the restrictions".to_owned(),
        Repair::Unknown { reason, .. } => format!("no valid set is known: {}", reason.describe(program)),
    };
    let _ = writeln!(out, "{}: {headline}", context.file);
    let _ = writeln!(out, "  threads  {}", copies.join(", "));
    out.push_str(&domain_line(program));
    let known = result.found.certificate.as_ref().and_then(|own| widths::known(program, own));
    if let Some((kind, words)) = known {
        let _ = writeln!(out, "  {kind:<8} {words}");
    }
    out.push_str(&claim::lines(program, verbosity));
    if headline == AS_IT_IS
        && let Some(what) = not_asked(program)
    {
        let _ = writeln!(out, "  not asked here: {what}");
    }
    match &result.found.repair {
        Repair::Valid(placement) => placement_text(&mut out, placement, program, result, verbosity),
        Repair::Impossible(attack) => {
            let _ = writeln!(out, "  whatever is changed, {} stays feasible", attack_words(program, *attack));
            if !result.is_complete() {
                let _ = writeln!(out, "  {UNCHECKED}");
            }
        }
        Repair::Unknown { reason, feasible } => {
            for attack in feasible {
                let _ = writeln!(out, "  feasible {}", attack_words(program, *attack));
            }
            advice_text(&mut out, reason, program);
        }
    }
    match &result.found.redundancy {
        Some(Ok(redundancy)) => {
            let shown = result.found.redundancy_shown.as_ref();
            redundancy_text(&mut out, redundancy, program, shown.is_none_or(|shown| shown.is_complete));
        }
        Some(Err(reason)) => {
            let _ = writeln!(out, "  fences there already: not judged ({})", reason.describe(program));
        }
        None => {}
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let Some(path) = result.written {
        let _ = writeln!(out, "  written  {path}");
    }
    if let Some(why) = result.no_diff {
        let _ = writeln!(out, "  no diff  {why}");
    }
    if !result.diff().is_empty() {
        if result.proposal.is_some() {
            out.push_str(PROPOSED);
        }
        let _ = writeln!(out);
        out.push_str(result.diff());
    }
    out
}

/// The labels that the robust program does not reach; nothing where there are none, or where that
/// is not known and little is to be said.
fn unreached_words(placement: &Placement, result: &Result<'_>, verbosity: u8) -> Option<String> {
    let (program, labels) = (&result.found.program, result.found.unreached.as_deref());
    match labels {
        _ if !placement.confirmed => None,
        Some(labels) if verbosity > 0 => unreached::words(program, labels),
        Some(labels) => unreached::line(program, labels),
        None if verbosity > 0 => Some(unreached::NOT_DETERMINED.to_owned()),
        None => None,
    }
}

/// How many lines the fences take in the text, where that is another number.
fn lines_differ(placement: &Placement, result: &Result<'_>) -> Option<usize> {
    let lines = |sign: char| result.diff().lines().filter(|line| line.starts_with(sign)).count();
    // Each name of the file has one of these signs as well.
    let added = lines('+').saturating_sub(lines('-'));
    let is_of_fences = placement.measures.iter().all(|(measure, _)| matches!(measure, Measure::Fence { .. }));
    let has_lines = !result.found.program.source.is_litmus && result.proposal.is_none() && is_of_fences;
    (has_lines && added > 0 && added != placement.measures.len()).then_some(added)
}

fn placement_text(out: &mut String, placement: &Placement, program: &Program, result: &Result<'_>, verbosity: u8) {
    for (measure, cost) in &placement.measures {
        let _ = writeln!(out, "  {:<8} {}, cost {cost}", kind(*measure), measure_words(program, *measure));
        if let Some(words) = source_words(program, *measure) {
            let _ = writeln!(out, "           {words}");
        }
        if let Some(returning) = placement.returning.iter().find(|returning| returning.measure == *measure) {
            let _ = writeln!(
                out,
                "           without it, the delay of {} comes back",
                attack_words(program, returning.attack)
            );
        }
        if let Some(words) = result.needed.and_then(|needed| needed.words(program, *measure)) {
            let _ = writeln!(out, "           {words}");
        }
    }
    if !placement.measures.is_empty()
        && let Some(proof) = &placement.proof
    {
        let _ = writeln!(out, "  bound    a valid set costs at least {}:", proof.bound);
        for (attack, row, weight) in &proof.weights {
            let names: Vec<String> = row.iter().map(|measure| measure_name(program, *measure)).collect();
            let _ =
                writeln!(out, "           {weight} for {}: {}", attack_words(program, *attack), alternatives(names));
        }
        if proof.bound < placement.cost {
            let _ = writeln!(
                out,
                "           an exact search of {} shows that it costs at least {}",
                counted(proof.branchings, "branching"),
                placement.cost
            );
        }
    }
    if let Some(reason) = &placement.stop {
        let so = match placement.proof {
            None => "this is the best valid set found",
            Some(_) => "the set is valid by control flow, whatever the values",
        };
        let _ = writeln!(out, "  reason   {}; {so}", reason.describe(program));
        if placement.proof.is_none() {
            advice_text(out, reason, program);
        }
    }
    if result.all {
        let checked = result.found.shown.as_ref().map_or(0, |shown| shown.optima);
        let first = if checked < placement.alternatives.len() {
            format!("; {checked} of them re-checked")
        } else {
            String::new()
        };
        let _ = match (placement.alternatives.len(), placement.alternatives_complete) {
            (0, _) => writeln!(out, "  optima   none known: the set found is valid, but may not be optimal"),
            (count, true) => writeln!(out, "  optima   {count}{first}"),
            (count, false) => writeln!(out, "  optima   {count} known; there may be more{first}"),
        };
        for set in &placement.alternatives {
            let names: Vec<String> = set.iter().map(|measure| measure_name(program, *measure)).collect();
            let _ =
                writeln!(out, "           {}", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") });
        }
    }
    if !placement.measures.is_empty() {
        let words = if placement.confirmed { "robust" } else { "not re-checked to the end" };
        let _ = writeln!(out, "  repaired {words}");
        if let Some(lines) = lines_differ(placement, result) {
            let _ = writeln!(
                out,
                "  lines    {lines} in the text: copies of a thread share them, and a loop may need one at either end"
            );
        }
        if placement.confirmed && placement.proof.is_some() && !result.is_complete() {
            let _ = writeln!(out, "  {UNCHECKED}");
        }
        if let Some(needed) = result.needed {
            let _ = writeln!(out, "  needed   {}", needed.summary(program, placement.measures.len()));
            if may_hang(program) {
                let _ = writeln!(out, "  not asked here: hangs (`--ask hangs`)");
            }
        }
    } else if !placement.confirmed && before_the_repair(placement) == VerdictWord::Robust {
        let _ = writeln!(out, "  {UNCHECKED}");
    }
    if let Some(labels) = unreached_words(placement, result, verbosity) {
        let _ = writeln!(out, "  unreached {labels}");
    }
    if verbosity > 0 {
        let _ = writeln!(
            out,
            "  explored {} for {}, {} of them decided by control flow",
            counted(placement.markings, "configuration"),
            counted(placement.candidates, "candidate"),
            placement.candidates - placement.searches.min(placement.candidates)
        );
        for (attack, outcome) in &placement.attacks {
            let _ = writeln!(out, "  {}: {}", attack_words(program, *attack), outcome_words(*outcome, 1));
            let eliminations = placement.eliminations.iter().filter(|elimination| elimination.attack == *attack);
            for elimination in eliminations {
                for set in &elimination.sets {
                    let names: Vec<String> = set.iter().map(|measure| measure_name(program, *measure)).collect();
                    let _ = writeln!(out, "           eliminated by {}", names.join(", "));
                }
                if !elimination.complete {
                    let _ = writeln!(out, "           and by other sets");
                }
            }
        }
    }
}

fn advice_text(out: &mut String, reason: &Unfinished, program: &Program) {
    if let Some(advice) = reason.advice(program) {
        let _ = writeln!(out, "  help     {advice}");
    }
}

/// The sentence about a claim without evidence, where the run reached a limit first or values grow.
const UNCHECKED: &str = "evidence not all of this was re-checked to the end";

fn redundancy_text(out: &mut String, redundancy: &Redundancy, program: &Program, is_complete: bool) {
    let _ = writeln!(out, "  fences there already: {}", redundancy.fences.len());
    for (fence, attack) in &redundancy.fences {
        let words = match attack {
            Some(attack) => format!("needed: without it, the delay of {} comes back", attack_words(program, *attack)),
            None => "can go".to_owned(),
        };
        let _ = writeln!(out, "    {} {words}", measure_words(program, *fence));
    }
    let names: Vec<String> = redundancy.removable.iter().map(|fence| measure_name(program, *fence)).collect();
    if !names.is_empty() {
        let _ = writeln!(out, "  can go together, at most: {}", names.join(", "));
    }
    let _ = match &redundancy.without_largest {
        Verdict::Robust if is_complete => Ok(()),
        Verdict::Robust => writeln!(out, "    not all of this was re-checked to the end"),
        Verdict::NotRobust => writeln!(out, "    the program is not robust, with these fences or without"),
        Verdict::Unknown(reason) => writeln!(out, "    not re-checked to the end: {reason}"),
    };
    // Where nothing can go, what each fence is needed for is said above.
    let rest = if names.is_empty() { &[] } else { &redundancy.needed[..] };
    for Returning { measure, attack } in rest {
        let name = measure_name(program, *measure);
        let _ = writeln!(out, "    {name} is then needed against {}", attack_words(program, *attack));
    }
}

/// `2 fences, 1 store fence and 1 exchange`.
pub(super) fn changes<T>(measures: &[(Measure, T)]) -> String {
    let exchanges = measures.iter().filter(|(measure, _)| matches!(measure, Measure::Exchange { .. })).count();
    let store_fences = measures.iter().filter(|(measure, _)| matches!(measure, Measure::StoreFence { .. })).count();
    let fences = measures.len() - exchanges - store_fences;
    let count = |number: usize, one: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {one}s")),
    };
    let parts: Vec<String> = [count(fences, "fence"), count(store_fences, "store fence"), count(exchanges, "exchange")]
        .into_iter()
        .flatten()
        .collect();
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// The word for a kind of measure.
pub fn kind(measure: Measure) -> &'static str {
    match measure {
        Measure::Fence { .. } | Measure::Kept { .. } => "fence",
        Measure::StoreFence { .. } => "sfence",
        Measure::Exchange { .. } => "xchg",
        Measure::Ordered { .. } => "ordering",
    }
}

/// `t1 l0`, or `t1 (line 3)` where the text has no name; an exchange is `xchg t1 l0`, a store fence
/// `sfence t1 l0`.
pub(super) fn measure_name(program: &Program, measure: Measure) -> String {
    let thread = program.thread(measure.thread());
    let written = thread.label(measure.label(program)).written();
    let name = written.map_or_else(|| measure_words(program, measure), |label| format!("{} {label}", thread.name));
    match measure {
        Measure::Exchange { .. } => format!("xchg {name}"),
        Measure::StoreFence { .. } => format!("sfence {name}"),
        Measure::Fence { .. } | Measure::Kept { .. } => name,
        Measure::Ordered { ordering, failing, .. } => {
            format!("{ordering}{} {name}", if failing { " on failure" } else { "" })
        }
    }
}

/// `t1 l0 (line 3)`.
pub fn measure_words(program: &Program, measure: Measure) -> String {
    let thread = program.thread(measure.thread());
    format!("{}{}", thread.name, program.at(thread.label(measure.label(program)), measure.span(program)))
}

/// What a change is against a language, in words.
pub fn change_words(program: &Program, measure: Measure) -> String {
    match measure {
        Measure::Ordered { thread, access, failing, ordering } => {
            let fails = if failing { " on failure" } else { "" };
            let origin = program.source.origin(measure.span(program));
            let at = origin.map_or_else(|| program.place(thread, access), |origin| origin.place.clone());
            format!("{ordering}{fails} at {at}")
        }
        measure => format!("fence(seq_cst) before {}", measure_words(program, measure)),
    }
}

/// Of machine code, the line of the source where a measure is to be taken, and how often it was
/// copied.
fn source_words(program: &Program, measure: Measure) -> Option<String> {
    let words = source_place::words(program, measure.span(program))?;
    match measure.parts(&Sites::of(program)).len() {
        1 => Some(words),
        copies => Some(format!("{words}  ({copies} times in the code)")),
    }
}

/// `the store at t1 l0 (line 3) past the load at t1 l1 (line 4)`.
fn attack_words(program: &Program, attack: Attack) -> String {
    format!(
        "the store at {} past the load at {}",
        program.place(attack.thread, attack.store),
        program.place(attack.thread, attack.load)
    )
}
