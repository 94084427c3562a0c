//! The weakest changes that make a program robust against a language: stronger orderings, and
//! sequentially consistent fences.

use super::offer::{Choosable, unit_of_offer};
use super::search::{End, Growth, LanguageRow, Search};
use crate::fences::catalogues::permitted;
use crate::fences::change::joined;
use crate::fences::cost::Cost;
use crate::fences::fence_error::FenceError;
use crate::fences::offered::CostUnit;
use crate::fences::options::FenceOptions;
use crate::fences::repair::{Checker, Checks, RepairError, RepairOptions, RepairedText, Shown};
use crate::robustness::{GraphViolation, StaleAnswer, StaleOptions};
use palisade_evidence::{RepairEvidence, Row, RowWitness, StaleCertificate, ValidProof, ValidSet};
use palisade_model::limits::StopReason;
use palisade_model::program::{Instruction, LabelId, Measure, NoText, Program, Sites, Thread};
use palisade_model::text::Span;
use palisade_semantics::graphs::Axioms;

/// What a change of a place costs, whatever it is: so many times what the weakest ordering costs.
/// As few places as possible are changed, and then as little as possible.
const PLACE: usize = 1000;

/// What came of the search for changes.
#[derive(Debug)]
pub struct LanguageRepaired {
    /// Whether the program can be repaired, and how.
    pub repair: LanguageRepair,
    /// Measures of which every robust form has one.
    pub rows: Vec<LanguageRow>,
    /// The repaired text, or why there is none; nothing when no measure is taken.
    pub text: Option<Result<RepairedText, NoText>>,
    /// The certificate of the repaired text, or of the program where nothing is changed.
    pub certificate: Option<StaleCertificate>,
    /// What the claims rest on, and what `verify` makes of it.
    pub shown: Option<Shown>,
    /// All sets of changes that cost as little, the one taken first; none where they are not asked
    /// for.
    pub alternatives: Vec<Vec<Measure>>,
    /// Whether these are all.
    pub alternatives_complete: bool,
    /// How many forms of the program were checked.
    pub searches: usize,
    /// How many configurations were explored for that.
    pub configurations: usize,
    /// What grew in a form that was checked.
    pub growth: Option<Growth>,
}

/// Whether a program can be made robust against a language.
#[derive(Debug)]
pub enum LanguageRepair {
    /// It can, by these measures; by none, when it is robust.
    Valid(Vec<LanguageChange>),
    /// Nothing that is permitted stops the violation of this row, which has no measures.
    Impossible(Box<LanguageRow>),
    /// It was not found out.
    Unknown(StopReason),
}

/// A measure taken.
#[derive(Debug)]
pub struct LanguageChange {
    /// The measure.
    pub measure: Measure,
    /// What it costs.
    pub cost: Cost,
    /// The violation of the program with the others alone, with that form of the program by its
    /// language.
    pub returns: Option<(GraphViolation, Program)>,
}

impl LanguageRepaired {
    /// The measures taken, of which none is about the same access as another one.
    pub fn measures(&self) -> Vec<Measure> {
        match &self.repair {
            LanguageRepair::Valid(changes) => joined(changes.iter().map(|change| change.measure)),
            LanguageRepair::Impossible(_) | LanguageRepair::Unknown(_) => Vec::new(),
        }
    }

    /// What the measures taken cost together.
    pub fn cost(&self) -> Cost {
        match &self.repair {
            LanguageRepair::Valid(changes) => changes.iter().map(|change| change.cost.clone()).sum(),
            LanguageRepair::Impossible(_) | LanguageRepair::Unknown(_) => Cost::zero(),
        }
    }

    /// The repaired text, where there is one.
    pub fn repaired_text(&self) -> Option<&RepairedText> {
        self.text.as_ref().and_then(|text| text.as_ref().ok())
    }
}

/// Repairs a program: finds the measures, takes them in its text, and has evidence for every claim
/// checked.
///
/// # Errors
///
/// When the input is at fault, or when the evidence is rejected.
///
/// # Panics
///
/// If the program has no execution graphs
/// ([`not_in_language`](palisade_semantics::graphs::not_in_language)).
pub fn repair_language(
    program: &Program,
    axioms: Axioms,
    options: &FenceOptions,
    wanted: &RepairOptions<'_>,
    checks: &dyn Checks,
) -> Result<LanguageRepaired, RepairError> {
    for pattern in options.only.iter().chain(&options.never) {
        pattern.check(program).map_err(FenceError::Pattern)?;
    }
    let limits = options.limits.clone();
    let check = StaleOptions { axioms, values: options.values, certifies: true, limits };
    let mut search = Search::new(program, offer(program, axioms, options), &check);
    let checker = Checker { limits: &options.limits, checks };
    let (cheapest, certificate) = match search.rounds()? {
        End::Robust(cheapest, certificate) => (cheapest.set, certificate),
        End::Impossible(row) => {
            if let Some(reason) = search.doubt()? {
                return Ok(told(search, LanguageRepair::Unknown(reason), None));
            }
            let (mut evidence, _) = search.evidence();
            evidence.rows.push(Row { measures: Vec::new(), witness: RowWitness::Graph(row.violation.witness()) });
            let shown = Shown::of(program, evidence, &[], true, search.searches, checker)?;
            return Ok(told(search, LanguageRepair::Impossible(row), Some(shown)));
        }
        End::Unknown(reason) => return Ok(told(search, LanguageRepair::Unknown(reason), None)),
    };
    let taken = search.named(&cheapest);
    if !taken.is_empty()
        && let Some(reason) = search.doubt()?
    {
        return Ok(told(search, LanguageRepair::Unknown(reason), None));
    }
    let (mut evidence, positions) = search.evidence();
    let is_bound = search.add_bound(&mut evidence, &positions, &cheapest);
    let set = search.offered.positions(&taken);
    let text = (!taken.is_empty()).then(|| {
        let changes = joined(taken.iter().copied());
        RepairedText::new(program, wanted.language, &changes, &wanted.path)
    });
    let mut own = Some(certificate.clone());
    let mut valid = ValidSet { set, repaired: None, proof: ValidProof::Language(certificate) };
    let mut texts = Vec::new();
    if let Some(text) = &text {
        // The certificate is about labels by number, which the text has in its own order.
        own = match text {
            Ok(text) => match search.ask_text(&text.program)? {
                StaleAnswer::Robust(certificate) => certificate,
                // A fence in the middle of a statement stands in front of it in the text.
                StaleAnswer::NotRobust(_) => {
                    return Ok(told(search, LanguageRepair::Unknown(StopReason::NoPlace), None));
                }
                StaleAnswer::Unknown(reason) => return Ok(told(search, LanguageRepair::Unknown(reason), None)),
            },
            Err(_) => None,
        };
        if let (Ok(text), Some(certificate)) = (text, &own) {
            texts.extend(search.say_by_text(&evidence, &mut valid, (text, wanted), certificate));
        }
    }
    evidence.valid.push(valid);
    let most = options.alternatives;
    let (others, are_all) = if most > 0 { search.all_cheapest(&cheapest, most)? } else { Default::default() };
    let mut alternatives = if most > 0 { vec![taken.clone()] } else { Vec::new() };
    for (other, certificate) in others {
        alternatives.push(search.named(&other));
        let set = search.offered.positions(&search.named(&other));
        evidence.valid.push(ValidSet { set, repaired: None, proof: ValidProof::Language(certificate) });
    }
    let mut shown = Shown::of(program, evidence, &texts, is_bound, search.searches, checker)?;
    if shown.facts.is_some() {
        shown.optima = alternatives.len();
    }
    let change = |(measure, cost): (Measure, Cost)| {
        let others = search.set_of(taken.iter().copied().filter(|other| *other != measure));
        let returns = search.row_against(&others).and_then(|row| search.violation_in(row, &others));
        LanguageChange { measure, cost, returns }
    };
    let changes = taken.iter().copied().zip(search.costs(&cheapest)).map(change).collect();
    let certificate = own.filter(|_| shown.facts.is_some());
    let found = told(search, LanguageRepair::Valid(changes), Some(shown));
    Ok(LanguageRepaired { text, certificate, alternatives, alternatives_complete: are_all, ..found })
}

fn told(search: Search<'_>, repair: LanguageRepair, shown: Option<Shown>) -> LanguageRepaired {
    let Search { rows, searches, configurations, growth, .. } = search;
    LanguageRepaired {
        repair,
        rows,
        text: None,
        certificate: None,
        shown,
        alternatives: Vec::new(),
        alternatives_complete: false,
        searches,
        configurations,
        growth,
    }
}

/// The unit of the costs of evidence that offers just what a repair may choose among, at its costs;
/// nothing where it offers other measures.
pub fn language_unit_of_costs(
    program: &Program,
    axioms: Axioms,
    options: &FenceOptions,
    evidence: &RepairEvidence,
) -> Option<CostUnit> {
    unit_of_offer(program, &offer(program, axioms, options), evidence)
}

/// The measures that a repair may choose among.
pub fn language_offer(program: &Program, axioms: Axioms, options: &FenceOptions) -> Vec<Measure> {
    offer(program, axioms, options).into_iter().map(|(measure, _)| measure).collect()
}

/// What is on offer: orderings stronger than those of the text, and fences where something accesses
/// memory, or where control goes several ways in front of a statement. In front of any other
/// statement a fence orders no more than one at the next place: it is on offer only if `--only` or
/// `--never` may exclude that place.
pub(crate) fn offer(program: &Program, axioms: Axioms, options: &FenceOptions) -> Vec<(Measure, Cost)> {
    let sites = Sites::of(program);
    let mut offer = Vec::new();
    if axioms == Axioms::C11 {
        for place in Choosable::all(program, &sites) {
            let stronger = place.choices.iter().copied();
            let stronger = stronger.filter(|other| *other != place.stated && other.is_at_least(place.stated));
            let own = stronger.map(|ordering| (place.measure(ordering), Cost::of_count(PLACE + place.units(ordering))));
            offer.extend(own.filter(|(measure, _)| options.permits(program, &sites, *measure)));
        }
    }
    let cost = Cost::of_count(PLACE + Choosable::FENCE);
    let is_restricted = !options.only.is_empty() || !options.never.is_empty();
    let is_on_offer = |measure: &Measure| {
        let Measure::Fence { thread, label, .. } = *measure else { return false };
        let thread = program.thread(thread);
        let is_here = |own: &&Instruction| own.source == label;
        let accesses = |own: &Instruction| own.action.address().is_some();
        let ways = thread.instructions.iter().filter(is_here).count();
        thread.instructions.iter().filter(is_here).any(accesses)
            || (is_restricted || ways > 1) && begins_a_statement(program, thread, label)
    };
    let fences = permitted(program, options).into_iter().filter(is_on_offer);
    offer.extend(fences.map(|fence| (fence, cost.clone())));
    offer.retain(|(measure, _)| !options.withheld.contains(measure));
    offer
}

/// Whether a label of a text, at which nothing accesses memory, is for certain in front of a
/// statement: in the middle of one that accesses memory the text has no place for a fence.
fn begins_a_statement(program: &Program, thread: &Thread, label: LabelId) -> bool {
    let overlap = |one: Span, other: Span| one.start < other.end && other.start < one.end;
    let here = || thread.instructions.iter().filter(|own| own.source == label);
    let mut accesses = thread.instructions.iter().filter(|own| own.action.address().is_some());
    !program.source.is_listing && !accesses.any(|access| here().any(|own| overlap(own.span, access.span)))
}
