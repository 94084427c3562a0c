//! Which orderings of a robust program can be weaker, one by one and together.

use super::offer::{Choosable, unit_of_offer};
use super::search::{Answer, End, Growth, LanguageRow, Search};
use crate::fences::catalogue::MeasureSet;
use crate::fences::cost::Cost;
use crate::fences::offered::CostUnit;
use crate::fences::repair::{Checker, Checks, RepairError, RepairOptions, RepairedText, Shown};
use crate::robustness::{GraphViolation, StaleAnswer, StaleOptions};
use palisade_evidence::{RepairEvidence, Row, RowWitness, StaleCertificate, ValidProof, ValidSet};
use palisade_model::limits::StopReason;
use palisade_model::program::{InstructionId, Language, Measure, NoText, Ordering, Program, Sites, ThreadId};
use std::collections::BTreeSet;

/// What is asked about orderings, and how.
#[derive(Clone, Debug)]
pub struct OrderingsOptions<'a> {
    /// How forms of the program are checked. Certificates are asked for in any case.
    pub check: StaleOptions,
    /// Where the weakened text is wanted: how it is written and read again.
    pub text: Option<RepairOptions<'a>>,
    /// Orderings that cannot be given to their places: such a place keeps its own.
    pub withheld: BTreeSet<Measure>,
}

/// What is found about the orderings of a program.
#[derive(Debug)]
pub struct OrderingsShown {
    /// The answer.
    pub orderings: Orderings,
    /// Why orderings are needed: measures of which every robust form has one.
    pub rows: Vec<LanguageRow>,
    /// What the answer rests on, and what `verify` makes of it.
    pub shown: Option<Shown>,
    /// The text with the weakest orderings, or why there is none; nothing where it is not wanted,
    /// or nothing is weaker.
    pub text: Option<Result<RepairedText, NoText>>,
    /// Why the program of that text is robust; of the program itself where nothing is weaker.
    pub certificate: Option<StaleCertificate>,
    /// How many forms of the program were checked.
    pub searches: usize,
    /// How many configurations were explored for that.
    pub configurations: usize,
    /// What grew in a form that was checked.
    pub growth: Option<Growth>,
}

/// Which orderings can be weaker.
#[derive(Debug)]
pub enum Orderings {
    /// The program is robust with its own orderings, and with weaker ones as these say.
    Weakest(Vec<OrderedPlace>),
    /// It is not robust with its own orderings: this row has no measures.
    NotRobust(Box<LanguageRow>),
    /// Not known.
    Unknown(StopReason),
}

/// An access or a fence that has some ordering.
#[derive(Clone, Debug)]
pub struct OrderedPlace {
    /// Its thread, the first one where several have the same text.
    pub thread: ThreadId,
    /// The access or the fence.
    pub access: InstructionId,
    /// Whether it is about an update that does not store.
    pub failing: bool,
    /// Whether it is a fence. One that is relaxed is none.
    pub is_fence: bool,
    /// The ordering of the text.
    pub stated: Ordering,
    /// The weakest orderings that it may have while all others stay as they are.
    pub alone: Vec<Ordering>,
    /// Orderings of which it is not known whether it may have them alone.
    pub open: Vec<Ordering>,
    /// The ordering that it has where as many as possible are as weak as possible.
    pub together: Ordering,
    /// Why it may not be weaker alone, for the strongest orderings that it may not have.
    pub needed_alone: Vec<Needed>,
    /// Why it may not be weaker than `together` where the others are as weak as they are together.
    pub needed: Vec<Needed>,
}

impl OrderingsShown {
    /// The orderings that places have together, where these are weaker than their own.
    pub fn measures(&self) -> Vec<Measure> {
        let Orderings::Weakest(places) = &self.orderings else { return Vec::new() };
        let weaker = places.iter().filter(|place| place.together != place.stated);
        let measure = |place: &OrderedPlace| {
            let OrderedPlace { thread, access, failing, together: ordering, .. } = *place;
            Measure::Ordered { thread, access, failing, ordering }
        };
        weaker.map(measure).collect()
    }
}

impl OrderedPlace {
    /// Whether it can be weaker, alone or with others.
    pub fn is_weakened(&self) -> bool {
        self.together != self.stated || self.alone != [self.stated]
    }
}

/// Why an ordering is not enough.
#[derive(Clone, Debug)]
pub struct Needed {
    /// The ordering.
    pub ordering: Ordering,
    /// The row, by its position, that forbids it.
    pub row: usize,
    /// What it leads to.
    pub violation: GraphViolation,
    /// The program with that ordering, by its language.
    pub stated: Program,
}

/// The measures that give an access or a fence a weaker ordering than it has.
pub fn weaker_orderings(program: &Program) -> Vec<Measure> {
    let places = weakenable(program);
    places.iter().flat_map(|place| place.weaker().map(|ordering| place.measure(ordering))).collect()
}

/// The unit of the costs of evidence that offers just the orderings that places may have; nothing
/// where it offers others.
pub fn orderings_unit_of_costs(
    program: &Program,
    withheld: &BTreeSet<Measure>,
    evidence: &RepairEvidence,
) -> Option<CostUnit> {
    unit_of_offer(program, &offer(&judged(program, withheld)), evidence)
}

/// The accesses and fences that are judged: those that may have a weaker ordering, but for withheld
/// ones.
fn judged(program: &Program, withheld: &BTreeSet<Measure>) -> Vec<Choosable> {
    let mut places = weakenable(program);
    places.retain(|place| !place.weaker().any(|ordering| withheld.contains(&place.measure(ordering))));
    places
}

/// Their orderings, up to those of the text. None of them is `relaxed`.
fn offer(places: &[Choosable]) -> Vec<(Measure, Cost)> {
    let of_place = |place: &Choosable| {
        let kept = place.weaker().chain([place.stated]).filter(|ordering| *ordering != Ordering::Relaxed);
        kept.map(|ordering| (place.measure(ordering), place.cost(ordering))).collect::<Vec<_>>()
    };
    places.iter().flat_map(of_place).collect()
}

/// The orderings that places have with some measures.
fn given(places: &[Choosable], taken: &[Measure]) -> Vec<Ordering> {
    let of = |place: &Choosable| {
        let own = place.choices.iter().filter(|ordering| taken.contains(&place.measure(**ordering)));
        own.fold(Ordering::Relaxed, |joined, ordering| joined.join(*ordering))
    };
    places.iter().map(of).collect()
}

/// The changes that give places these orderings.
fn weakened(places: &[Choosable], orderings: &[Ordering]) -> Vec<Measure> {
    let others = places.iter().zip(orderings).filter(|(place, ordering)| place.stated != **ordering);
    others.map(|(place, ordering)| place.measure(*ordering)).collect()
}

/// The text with the orderings of the first valid set of some evidence.
pub fn weakened_text(
    program: &Program,
    withheld: &BTreeSet<Measure>,
    evidence: &RepairEvidence,
    language: &dyn Language,
) -> Option<RepairedText> {
    let taken = evidence.valid.first()?.set.iter().map(|position| Some(evidence.measures.get(*position)?.0));
    let places = judged(program, withheld);
    let changes = weakened(&places, &given(&places, &taken.collect::<Option<Vec<_>>>()?));
    RepairedText::new(program, language, &changes, &program.source.name).ok()
}

/// The accesses and fences that may have a weaker ordering.
fn weakenable(program: &Program) -> Vec<Choosable> {
    let mut places = Choosable::all(program, &Sites::of(program));
    places.retain(|place| place.weaker().next().is_some());
    places
}

/// Asks which orderings of a program can be weaker without a loss of robustness.
///
/// # Errors
///
/// When the input is at fault, or when the evidence is rejected.
///
/// # Panics
///
/// If the program has no execution graphs
/// ([`not_in_language`](palisade_semantics::graphs::not_in_language)).
pub fn orderings(
    program: &Program,
    options: &OrderingsOptions<'_>,
    checks: &dyn Checks,
) -> Result<OrderingsShown, RepairError> {
    let check = StaleOptions { certifies: true, ..options.check.clone() };
    Asking::new(program, &check, &options.withheld).answer(options, Checker { limits: &check.limits, checks })
}

/// The question, with what is known of it.
struct Asking<'a> {
    program: &'a Program,
    places: Vec<Choosable>,
    search: Search<'a>,
}

impl<'a> Asking<'a> {
    fn new(program: &'a Program, check: &'a StaleOptions, withheld: &BTreeSet<Measure>) -> Self {
        let places = judged(program, withheld);
        let search = Search::new(program, offer(&places), check);
        Self { program, places, search }
    }

    /// The set of the measures with which places have orderings.
    fn set(&self, orderings: &[Ordering]) -> MeasureSet {
        self.search.set_of(self.places.iter().zip(orderings).map(|(place, ordering)| place.measure(*ordering)))
    }

    /// The orderings that places have with a set.
    fn orderings(&self, set: &MeasureSet) -> Vec<Ordering> {
        given(&self.places, &self.search.named(set))
    }

    fn answer(mut self, options: &OrderingsOptions<'_>, checker: Checker<'_>) -> Result<OrderingsShown, RepairError> {
        let (cheapest, certificate) = match self.search.rounds()? {
            End::Robust(cheapest, certificate) => (cheapest.set, certificate),
            End::Impossible(row) => {
                if let Some(reason) = self.search.doubt()? {
                    return Ok(self.told(Orderings::Unknown(reason), None));
                }
                let (mut evidence, _) = self.search.evidence();
                let witness = RowWitness::Graph(row.violation.witness());
                evidence.rows.push(Row { measures: Vec::new(), witness });
                let shown = Shown::of(self.program, evidence, &[], true, 0, checker)?;
                return Ok(self.told(Orderings::NotRobust(row), Some(shown)));
            }
            End::Unknown(reason) => return Ok(self.told(Orderings::Unknown(reason), None)),
        };
        let together = self.orderings(&cheapest);
        let mut others = Vec::new();
        let mut found = Vec::new();
        for number in 0..self.places.len() {
            found.push(self.judge(number, &together, &mut others)?);
        }
        let weakened = weakened(&self.places, &together);
        let wanted = options.text.as_ref().filter(|_| !weakened.is_empty());
        let text = wanted.map(|own| RepairedText::new(self.program, own.language, &weakened, &own.path));
        let (mut evidence, positions) = self.search.evidence();
        let is_bound = self.search.add_bound(&mut evidence, &positions, &cheapest);
        let set = |set: &MeasureSet| self.search.offered.positions(&self.search.named(set));
        let valid =
            |set: Vec<usize>, certificate| ValidSet { set, repaired: None, proof: ValidProof::Language(certificate) };
        let mut own = valid(set(&cheapest), certificate.clone());
        let others: Vec<ValidSet> = others.into_iter().map(|(other, shown)| valid(set(&other), shown)).collect();
        let certificate = match &text {
            Some(Ok(text)) => self.certificate_of(text)?,
            _ if weakened.is_empty() => Some(certificate),
            _ => None,
        };
        let mut texts = Vec::new();
        if let (Some(Ok(text)), Some(certificate), Some(wanted)) = (&text, &certificate, wanted) {
            texts.extend(self.search.say_by_text(&evidence, &mut own, (text, wanted), certificate));
        }
        evidence.valid.push(own);
        evidence.valid.extend(others);
        let shown = Shown::of(self.program, evidence, &texts, is_bound, 0, checker)?;
        Ok(OrderingsShown { text, certificate, ..self.told(Orderings::Weakest(found), Some(shown)) })
    }

    fn told(self, orderings: Orderings, shown: Option<Shown>) -> OrderingsShown {
        let Search { rows, searches, configurations, growth, .. } = self.search;
        OrderingsShown { orderings, rows, shown, text: None, certificate: None, searches, configurations, growth }
    }

    /// The certificate of a weakened text, in which instructions and labels have numbers of their
    /// own.
    fn certificate_of(&mut self, text: &RepairedText) -> Result<Option<StaleCertificate>, RepairError> {
        Ok(match self.search.ask_text(&text.program)? {
            StaleAnswer::Robust(certificate) => certificate,
            StaleAnswer::NotRobust(_) => {
                return Err(RepairError::Broken("the weakened text is not the program that was checked".to_owned()));
            }
            StaleAnswer::Unknown(_) => None,
        })
    }

    /// What is found about one place; certificates of forms that `together` says nothing about go
    /// to `others`.
    fn judge(
        &mut self,
        number: usize,
        together: &[Ordering],
        others: &mut Vec<(MeasureSet, StaleCertificate)>,
    ) -> Result<OrderedPlace, RepairError> {
        let place = self.places[number];
        let stated: Vec<Ordering> = self.places.iter().map(|place| place.stated).collect();
        let own = together[number];
        let (mut valid, mut open, mut forbidden) = (vec![own], Vec::new(), Vec::new());
        for ordering in place.weaker() {
            if valid.iter().any(|known| ordering.is_at_least(*known)) {
                continue;
            }
            let mut orderings = stated.clone();
            orderings[number] = ordering;
            let set = self.set(&orderings);
            match self.search.ask(&set)? {
                Answer::Robust(certificate) => {
                    valid.push(ordering);
                    others.push((set, certificate));
                }
                Answer::Row(row) => forbidden.push((ordering, row, set)),
                Answer::Unknown(_) => open.push(ordering),
                Answer::Impossible(_) => unreachable!("with its own orderings the program is robust"),
            }
        }
        let is_least =
            |ordering: &Ordering| !valid.iter().any(|other| other != ordering && ordering.is_at_least(*other));
        let alone: Vec<Ordering> = valid.iter().copied().filter(is_least).collect();
        let needed_alone = self.strongest(forbidden);
        let mut lower = Vec::new();
        for ordering in place.weaker().filter(|ordering| *ordering != own && own.is_at_least(*ordering)) {
            let mut orderings = together.to_vec();
            orderings[number] = ordering;
            let set = self.set(&orderings);
            let row = self.search.row_against(&set).expect("what is cheaper than the cheapest touches not all rows");
            lower.push((ordering, row, set));
        }
        let Choosable { thread, access, failing, is_fence, stated, .. } = place;
        let needed = self.strongest(lower);
        Ok(OrderedPlace { thread, access, failing, is_fence, stated, alone, open, together: own, needed_alone, needed })
    }

    /// Of orderings that rows forbid, the strongest ones, with their violations.
    fn strongest(&self, forbidden: Vec<(Ordering, usize, MeasureSet)>) -> Vec<Needed> {
        let all: Vec<Ordering> = forbidden.iter().map(|(ordering, ..)| *ordering).collect();
        let is_strongest =
            |ordering: Ordering| !all.iter().any(|other| *other != ordering && other.is_at_least(ordering));
        let strongest = forbidden.into_iter().filter(|(ordering, ..)| is_strongest(*ordering));
        let needed = strongest.map(|(ordering, row, set)| {
            let found = self.search.violation_in(row, &set);
            let (violation, stated) = found.expect("a violation is one of every weaker form");
            Needed { ordering, row, violation, stated }
        });
        needed.collect()
    }
}
