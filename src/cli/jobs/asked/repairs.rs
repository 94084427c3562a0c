//! The question of `fences`: a cheapest repair.

use super::{Answer, Asked, states};
use crate::cli::Exit;
use crate::cli::fences::{FencesArguments, hang_options, language_hang_options, placement_options, untaken};
use crate::cli::jobs::command::Command;
use crate::cli::verify::AcceptedEvidence;
use crate::cli::words::Ask;
use crate::evidence::{About, Evidence, ProgramSubject, RepairClaim, RepairEvidence};
use crate::fences::{Cost, CostUnit, FenceOptions, language_offer, language_unit_of_costs, unit_of_costs};
use crate::limits::Limits;
use crate::program::{NoMonitor, Program};
use crate::properties::placement::{self, PlacementOptions};
use crate::properties::targets;
use crate::semantics::graphs::Axioms;
use crate::semantics::{Model, Target};
use crate::syntax::InputError;
use crate::verify::RepairFacts;
use std::collections::BTreeSet;

/// What a repair is to bring about, and by what.
enum Goal {
    /// Robustness.
    Robust(FenceOptions),
    /// Robustness against a language.
    Language(Axioms, FenceOptions),
    /// These targets are not reached.
    Properties(PlacementOptions, Vec<Target>),
    /// Nobody waits for ever; whether timeouts are ignored.
    Hangs(PlacementOptions, bool),
    /// Nobody waits for ever by a language.
    LanguageHangs(Axioms, FenceOptions, bool),
}

/// What is known of the repair.
enum Known {
    /// It costs so much; whether none is cheaper.
    Repaired(Cost, bool),
    /// There is none.
    Impossible,
    /// Nothing has to be changed.
    Unneeded,
}

/// The repair that a job asks for.
pub(super) struct Repair {
    /// The program, with all delays.
    program: Program,
    /// What evidence about the program is about.
    subject: ProgramSubject,
    /// The same with what watches joint control states.
    watched: Option<ProgramSubject>,
    /// What is asked.
    goal: Goal,
    /// The digests of the repaired texts that evidence has been accepted about.
    texts: BTreeSet<String>,
    /// What is known.
    known: Option<Known>,
}

impl Repair {
    /// What a `fences` asks.
    pub(super) fn of(command: &Command) -> Result<Self, InputError> {
        let arguments: FencesArguments = command.arguments()?;
        let mut loaded = command.load()?;
        // Fences are for all delays.
        loaded.program.accepted.clear();
        let goal = if let (Some(axioms), Ask::Hangs) = (arguments.language(), arguments.ask) {
            let options = language_hang_options(&arguments, axioms, &loaded, &Limits::none())?;
            Goal::LanguageHangs(axioms, options, arguments.ignore_timeouts)
        } else if let Some(axioms) = arguments.language() {
            let mut options = arguments.fence_options(&loaded, &Limits::none())?;
            let offer = || language_offer(&loaded.program, axioms, &options);
            let (withheld, _) = untaken(&command.path(), &loaded, offer);
            options.withheld = withheld;
            Goal::Language(axioms, options)
        } else if arguments.is_for_properties() {
            let options = placement_options(&arguments, &loaded, &Limits::none())?;
            let refused = |error: NoMonitor| InputError::file(command.path(), error.to_string());
            let mut targets = targets(&loaded.program.monitored().map_err(refused)?, loaded.question.as_ref());
            targets.sort_unstable();
            Goal::Properties(options, targets)
        } else if arguments.ask == Ask::Hangs {
            Goal::Hangs(hang_options(&arguments, &loaded, &Limits::none())?, arguments.ignore_timeouts)
        } else {
            Goal::Robust(arguments.fence_options(&loaded, &Limits::none())?)
        };
        let watched = loaded.program.monitored().ok().map(|watched| loaded.subject_of(&watched));
        Ok(Self {
            subject: loaded.subject(),
            watched,
            program: loaded.program,
            goal,
            texts: BTreeSet::new(),
            known: None,
        })
    }

    /// The unit of the costs of evidence about what is asked, among the measures that the options
    /// permit; nothing where it is about something else.
    fn unit(&self, repair: &RepairEvidence) -> Option<CostUnit> {
        let unit = match (&self.goal, &repair.claim) {
            (Goal::Robust(options), RepairClaim::Robust) => unit_of_costs(&self.program, options, repair),
            (Goal::Language(axioms, options), RepairClaim::Language(own)) if own == axioms => {
                Ok(language_unit_of_costs(&self.program, *axioms, options, repair))
            }
            (Goal::Properties(options, asked), RepairClaim::Properties { model, targets })
                if *model == options.model && targets == asked =>
            {
                placement::unit_of_costs(&self.program, options, repair)
            }
            (Goal::Hangs(options, ignoring), RepairClaim::Hangs { model, graphs: None, ignores_timeouts })
                if (*model, *ignores_timeouts) == (options.model, *ignoring) =>
            {
                placement::unit_of_costs(&self.program, options, repair)
            }
            (Goal::LanguageHangs(axioms, options, ignoring), RepairClaim::Hangs { graphs, ignores_timeouts, .. })
                if (*graphs, *ignores_timeouts) == (Some(*axioms), *ignoring) =>
            {
                Ok(language_unit_of_costs(&self.program, *axioms, options, repair))
            }
            _ => return None,
        };
        unit.ok().flatten()
    }

    /// What accepted evidence about a repair says of what is asked.
    fn of_repair(&self, repair: &RepairEvidence, facts: &RepairFacts) -> Option<Known> {
        let unit = self.unit(repair)?;
        if facts.is_impossible {
            return Some(Known::Impossible);
        }
        let cost = facts.costs.first()?;
        Some(Known::Repaired(unit.cost(cost), facts.is_optimal()))
    }

    /// Whether evidence is about the program as it is.
    fn is_unchanged(&self, stated: &ProgramSubject) -> bool {
        states(stated, &self.subject) || self.watched.as_ref().is_some_and(|watched| states(stated, watched))
    }
}

impl Asked for Repair {
    fn is_about(&self, evidence: &Evidence) -> bool {
        match evidence.about() {
            About::Program(stated) => self.is_unchanged(stated) || self.texts.contains(&stated.input.sha256),
            About::Net(_) => false,
        }
    }

    fn take(&mut self, evidence: &Evidence, accepted: &AcceptedEvidence) -> Result<(), String> {
        let About::Program(stated) = evidence.about() else { return Ok(()) };
        let known = match (evidence, &self.goal) {
            _ if !self.is_unchanged(stated) => None,
            (Evidence::Repair(_, repair), _) => {
                self.texts
                    .extend(repair.valid.iter().filter_map(|valid| Some(valid.repaired.as_ref()?.sha256.clone())));
                accepted.repair.as_ref().and_then(|facts| self.of_repair(repair, facts))
            }
            (Evidence::Robust(..) | Evidence::TsoRobust(..), Goal::Robust(_)) => Some(Known::Unneeded),
            (Evidence::LanguageRobust(_, certificate), Goal::Language(axioms, _)) => {
                (certificate.axioms == *axioms).then_some(Known::Unneeded)
            }
            (Evidence::Property(..), Goal::Properties(options, asked)) => {
                let facts = accepted.properties.as_ref();
                let facts = facts.filter(|facts| facts.model == options.model);
                let shows_all = facts.is_some_and(|facts| asked.iter().all(|target| facts.shown.contains(target)));
                shows_all.then_some(Known::Unneeded)
            }
            // What happens under SC no fence prevents.
            (Evidence::PropertyWitness(_, witness), Goal::Properties(_, asked)) => {
                let is_so = witness.model == Model::Sc && asked.contains(&witness.target);
                is_so.then_some(Known::Impossible)
            }
            (Evidence::Free(_, free), Goal::Hangs(options, ignoring)) => {
                let is_so = (free.model, free.ignores_timeouts) == (options.model, *ignoring) && !free.is_hopeful;
                (is_so && free.language().is_none()).then_some(Known::Unneeded)
            }
            (Evidence::Free(_, free), Goal::LanguageHangs(axioms, _, ignoring)) => {
                let is_so = (free.language(), free.ignores_timeouts) == (Some(*axioms), *ignoring);
                is_so.then_some(Known::Unneeded)
            }
            _ => None,
        };
        self.known = match (self.known.take(), known) {
            (None, known) | (known, None) => known,
            (Some(one), Some(other)) if exit(&one) == exit(&other) => Some(one),
            _ => return Err("it contradicts other evidence of the same job".to_owned()),
        };
        Ok(())
    }

    fn answer(&self) -> Answer {
        let Some(known) = &self.known else { return Answer::new(Exit::Unknown, "unknown") };
        let (verdict, cost) = match (known, &self.goal) {
            (Known::Repaired(cost, is_cheapest), _) => ("repaired", Some((cost.to_string(), *is_cheapest))),
            (Known::Impossible, _) => ("impossible", None),
            (Known::Unneeded, Goal::Robust(_) | Goal::Language(..)) => ("robust", None),
            (Known::Unneeded, Goal::Properties(..) | Goal::Hangs(..) | Goal::LanguageHangs(..)) => ("holds", None),
        };
        Answer { cost, ..Answer::new(exit(known), verdict) }
    }
}

/// How a command ends that finds this.
fn exit(known: &Known) -> Exit {
    match known {
        Known::Repaired(..) | Known::Unneeded => Exit::Holds,
        Known::Impossible => Exit::Fails,
    }
}
