//! A repair in full: the measures, the text changed and checked again, and evidence for every
//! claim.
//!
//! * [`place`] finds the measures; [`RepairedText`] takes them in the program's own text;
//! * a check of the text read again gives the certificate that the repaired program is robust;
//! * `proof` collects what shows that nothing cheaper is valid: for each row a violation of the
//!   program with all permitted measures but those of the row, which the search for the row leaves
//!   behind; `few_copies` finds it where that search was one with ω;
//! * `remedy` does all this row by row where programs are only checked; `events` is about
//!   robustness of events and tasks, and [`hangs`](crate::hangs) about stuck states;
//! * [`verify`](palisade_verify) checks all of it before it is returned.

mod checks;
mod events;
mod few_copies;
mod proof;
pub(crate) mod remedy;
mod text;

pub(crate) use checks::Checker;
pub use checks::{Checks, Unchecked, WithinLimits};
pub use events::repair_events;
pub use remedy::{Remedied, Remedy};
pub use text::RepairedText;

use super::cases::Case;
use super::change::with_measures;
use super::cost::Cost;
use super::fence_error::FenceError;
use super::offered::priced;
use super::options::FenceOptions;
use super::place::{Confirmed, Found, Placement, Repair, Returning, confirm, place_among};
use super::progress::Observer;
use super::redundant::{Redundancy, redundant_besides};
use super::unfinished::Unfinished;
use crate::robustness::Verdict;
use palisade_evidence::{InputFile, RepairEvidence, RobustCertificate, ValidProof, ValidSet, sha256};
use palisade_exploration::instrumented::{Fault, ThreadLabel};
use palisade_model::program::{Language, Measure, NoText, Program};
use palisade_verify::{CheckFailure, RepairFacts, check_repair, check_repaired_text, check_robust_certificate};
use proof::{Offer, valid_set};
use rayon::prelude::*;
use std::sync::Arc;
use thiserror::Error;

/// What to repair, besides [`FenceOptions`].
#[derive(Clone, Debug)]
pub struct RepairOptions<'a> {
    /// The language of the program's text.
    pub language: &'a dyn Language,
    /// The name under which the repaired text is read again: where evidence about it will find it.
    pub path: String,
    /// Also judge the fences that the program has already.
    pub redundant: bool,
}

impl RepairOptions<'_> {
    /// A repaired text as a file.
    pub(crate) fn input(&self, text: &Program) -> InputFile {
        InputFile {
            path: self.path.clone(),
            format: self.language.name().to_owned(),
            sha256: sha256(text.source.text.as_bytes()),
        }
    }
}

/// A repair in full.
#[derive(Debug)]
pub struct Repaired {
    /// Whether the program can be repaired, and how.
    pub repair: Repair,
    /// The repaired text, or why there is none; nothing when no measure is taken.
    pub text: Option<Result<RepairedText, NoText>>,
    /// The certificate of the repaired text (of the program, when nothing is changed or there is no
    /// text), when it is robust. `verify` has accepted it.
    pub certificate: Option<Arc<RobustCertificate>>,
    /// What the claims rest on, and what `verify` makes of it.
    pub shown: Option<Shown>,
    /// What was found about the fences that the program has, when that was asked for.
    pub redundancy: Option<Result<Redundancy, Unfinished>>,
    /// What that rests on, when the program is robust with its fences.
    pub redundancy_shown: Option<Shown>,
    /// The repaired program.
    pub program: Program,
    /// The labels of it that no interleaving reaches, when it is robust and an exploration tells.
    pub unreached: Option<Vec<ThreadLabel>>,
}

/// Evidence that `verify` has accepted.
#[derive(Debug)]
pub struct Shown {
    /// The evidence.
    pub evidence: RepairEvidence,
    /// What it shows; nothing where a limit was reached before it was checked.
    pub facts: Option<RepairFacts>,
    /// Whether every claim has its evidence. Where a limit was reached first, or values grow, some
    /// may have none.
    pub is_complete: bool,
    /// How many violations were sought for rows whose own search had left none behind.
    pub sought: usize,
    /// How many of the optima listed have a certificate.
    pub optima: usize,
}

/// Why there is no repair.
#[derive(Debug, Error)]
pub enum RepairError {
    /// The input is at fault.
    #[error(transparent)]
    Fences(#[from] FenceError),
    /// A fault of Palisade: `verify` rejects its evidence.
    #[error("the evidence for the repair is rejected: {0}")]
    Rejected(#[from] CheckFailure),
    /// A fault of Palisade: the checker broke off.
    #[error("{0}")]
    Broken(String),
}

impl From<Fault> for RepairError {
    fn from(fault: Fault) -> Self {
        Self::Fences(FenceError::Fault(fault))
    }
}

/// Repairs a program: finds the measures, takes them in its text, and has evidence for every claim
/// checked.
pub fn repair(
    program: &Program,
    options: &FenceOptions,
    wanted: &RepairOptions<'_>,
    observer: &dyn Observer,
    checks: &dyn Checks,
) -> Result<Repaired, RepairError> {
    let checker = Checker { limits: &options.limits, checks };
    let options = &FenceOptions { confirm: false, ..options.clone() };
    let Found { repair: mut found, on_offer, unstopped } = place_among(program, options, observer)?;
    let measures: Vec<Measure> = match &found {
        Repair::Valid(placement) => placement.measures.iter().map(|(measure, _)| *measure).collect(),
        _ => Vec::new(),
    };
    let redundancy = wanted.redundant.then(|| redundant_besides(program, &measures, options, observer)).transpose()?;
    observer.confirming();
    let text = (!measures.is_empty()).then(|| RepairedText::new(program, wanted.language, &measures, &wanted.path));
    let mut unreached = None;
    let (certificate, shown) = match &mut found {
        Repair::Valid(placement) => {
            let text = text.as_ref().and_then(|text| text.as_ref().ok());
            let offer = Offer::new(program, options, &[], priced(program, options, on_offer));
            let valid = show_valid(program, options, wanted, placement, &offer, text, checker)?;
            unreached = valid.unreached;
            (valid.certificate, Some(valid.shown))
        }
        Repair::Impossible(attack) => {
            let offer = Offer::new(program, options, &[], priced(program, options, on_offer));
            let mut evidence = offer.evidence();
            evidence.rows.extend(offer.row(*attack, &[], unstopped.as_ref())?);
            let is_complete = !evidence.rows.is_empty();
            (None, Some(Shown::of(program, evidence, &[], is_complete, offer.sought(), checker)?))
        }
        Repair::Unknown { .. } => (None, None),
    };
    let redundancy_shown = match &redundancy {
        Some(Ok(redundancy)) => show_redundancy(program, options, &measures, redundancy, checker)?,
        _ => None,
    };
    let own = text.as_ref().and_then(|text| text.as_ref().ok()).map(|text| text.program.clone());
    let program = own.unwrap_or_else(|| with_measures(program, &measures));
    Ok(Repaired { repair: found, text, certificate, shown, redundancy, redundancy_shown, program, unreached })
}

impl Repaired {
    /// The measures taken.
    pub fn measures(&self) -> Vec<Measure> {
        match &self.repair {
            Repair::Valid(placement) => placement.measures.iter().map(|(measure, _)| *measure).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether nothing has to be changed.
    pub fn is_robust_already(&self) -> bool {
        matches!(&self.repair, Repair::Valid(placement) if placement.measures.is_empty())
    }

    /// The repaired text, when there is one.
    pub fn repaired_text(&self) -> Option<&RepairedText> {
        self.text.as_ref().and_then(|text| text.as_ref().ok())
    }
}

impl Shown {
    pub(in crate::fences) fn of(
        program: &Program,
        evidence: RepairEvidence,
        texts: &[Option<Program>],
        is_complete: bool,
        sought: usize,
        checker: Checker<'_>,
    ) -> Result<Self, RepairError> {
        let evidence = Arc::new(evidence);
        let (program, own, texts) = (program.clone(), evidence.clone(), texts.to_vec());
        let facts = checker.check(move || check_repair(&program, None, &own, &texts))?;
        let is_complete = is_complete && facts.is_some();
        Ok(Self { evidence: Arc::unwrap_or_clone(evidence), facts, is_complete, sought, optima: 0 })
    }
}

/// What shows a set valid, and none cheaper.
struct ShownValid {
    /// The certificate of the repaired program, when it was checked.
    certificate: Option<Arc<RobustCertificate>>,
    /// The rest.
    shown: Shown,
    /// The labels that the repaired program does not reach, where an exploration tells.
    unreached: Option<Vec<ThreadLabel>>,
}

/// Checks the repaired program, and collects what shows that nothing cheaper is valid.
fn show_valid(
    program: &Program,
    options: &FenceOptions,
    wanted: &RepairOptions<'_>,
    placement: &mut Placement,
    offer: &Offer<'_>,
    text: Option<&RepairedText>,
    checker: Checker<'_>,
) -> Result<ShownValid, RepairError> {
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    let text = text.map(|text| &text.program);
    let changed = offer.program_with(|measure| measures.contains(&measure));
    let Confirmed { verdict, mut certificate, unreached } = confirm(text.unwrap_or(&changed), options)?;
    assert_ne!(verdict, Verdict::NotRobust, "a valid set makes the program robust [ESOP13, Theorem 7]");
    placement.confirmed = certificate.is_some();
    let mut evidence = offer.evidence();
    let mut texts = Vec::new();
    if let Some(certificate) = &certificate {
        let set = offer.positions(&measures);
        let says_the_same = |text: &&Program| check_repaired_text(program, &evidence, &set, text).is_ok();
        if let Some(text) = text.filter(says_the_same) {
            let input = wanted.input(text);
            let proof = ValidProof::Robust(certificate.clone());
            evidence.valid.push(ValidSet { set, repaired: Some(input), proof });
            texts.push(Some(text.clone()));
        } else if text.is_none() {
            // The changed program is the one that the checker makes.
            evidence.valid.push(valid_set(set, certificate.clone()));
        } else {
            // Where a text says an exchange as a section, it is robust as it stands; so is the
            // program that the checker makes.
            let (robust, own) = (text.unwrap_or(&changed).clone(), certificate.clone());
            placement.confirmed = checker.check(move || check_robust_certificate(&robust, &own))?.is_some();
            let own = confirm(&offer.program_with(|measure| measures.contains(&measure)), options)?;
            evidence.valid.extend(own.certificate.map(|own| valid_set(set, own)));
        }
    }
    let mut is_complete = !evidence.valid.is_empty();
    if is_complete && placement.proof.is_some() {
        evidence.valid.extend(further_optima(options, placement, &measures, offer)?);
    }
    if let Some(proof) = &placement.proof {
        let returning = placement.returning.iter().filter_map(|returning| proof.row_of(returning, &measures));
        is_complete &= offer.add_bound(&mut evidence, proof, &returning.collect::<Vec<_>>())?;
    }
    let own = offer.positions(&measures);
    let others = evidence.valid.iter().filter(|valid| valid.set != own).count();
    let mut shown = Shown::of(program, evidence, &texts, is_complete, offer.sought(), checker)?;
    if shown.facts.is_some() {
        shown.optima = others + usize::from(placement.alternatives.contains(&measures));
    }
    if !placement.confirmed || shown.facts.is_none() {
        // Nobody has checked it.
        placement.confirmed = false;
        certificate = None;
    }
    Ok(ShownValid { certificate, shown, unreached })
}

/// Optima besides the one taken that are checked at most.
const FURTHER_OPTIMA: usize = 100;

/// The other optima that were asked for, the first of them with certificates.
fn further_optima(
    options: &FenceOptions,
    placement: &Placement,
    taken: &[Measure],
    offer: &Offer<'_>,
) -> Result<Vec<ValidSet>, FenceError> {
    let others: Vec<&Vec<Measure>> =
        placement.alternatives.iter().filter(|set| set.as_slice() != taken).take(FURTHER_OPTIMA).collect();
    let confirmed: Vec<Result<Option<ValidSet>, FenceError>> = others
        .par_iter()
        .map(|set| {
            let own = confirm(&offer.program_with(|measure| set.contains(&measure)), options)?;
            assert_ne!(own.verdict, Verdict::NotRobust, "a valid set makes the program robust [ESOP13, Theorem 7]");
            Ok(own.certificate.map(|certificate| valid_set(offer.positions(set), certificate)))
        })
        .collect();
    let found: Result<Vec<Option<ValidSet>>, FenceError> = confirmed.into_iter().collect();
    Ok(found?.into_iter().flatten().collect())
}

/// Evidence for what was found about the fences of a program with measures taken: which can go
/// together and alone, and what comes back without the others.
fn show_redundancy(
    program: &Program,
    options: &FenceOptions,
    taken: &[Measure],
    redundancy: &Redundancy,
    checker: Checker<'_>,
) -> Result<Option<Shown>, RepairError> {
    let Some(certificate) = &redundancy.certificate else { return Ok(None) };
    let fences: Vec<Measure> = redundancy.fences.iter().map(|(fence, _)| *fence).collect();
    let measures = fences.iter().map(|fence| (*fence, Some(Cost::one()))).collect();
    let offer = Offer::new(program, options, taken, measures);
    let mut evidence = offer.evidence();
    let without =
        |gone: &[Measure]| -> Vec<Measure> { fences.iter().copied().filter(|fence| !gone.contains(fence)).collect() };
    evidence.valid.push(valid_set(offer.positions(&without(&redundancy.removable)), certificate.clone()));
    let mut is_complete = true;
    // What can go with others can go alone.
    let can_go = redundancy.fences.iter().filter(|(_, attack)| attack.is_none()).map(|(fence, _)| *fence);
    for fence in can_go.filter(|fence| !redundancy.removable.contains(fence)) {
        let Confirmed { certificate, .. } = confirm(&offer.program_with(|measure| measure != fence), options)?;
        is_complete &= certificate.is_some();
        let set = offer.positions(&without(&[fence]));
        evidence.valid.extend(certificate.map(|certificate| valid_set(set, certificate)));
    }
    if let Some(proof) = &redundancy.proof {
        let kept = without(&redundancy.removable);
        let needed = redundancy.needed.iter().filter_map(|needed| proof.row_of(needed, &kept));
        let alone = redundancy.fences.iter().filter_map(|(fence, attack)| {
            let returning = Returning { measure: *fence, attack: (*attack)? };
            proof.row_of(&returning, &fences)
        });
        is_complete &= offer.add_bound(&mut evidence, proof, &needed.chain(alone).collect::<Vec<_>>())?;
    }
    Ok(Some(Shown::of(program, evidence, &[], is_complete, offer.sought(), checker)?))
}
