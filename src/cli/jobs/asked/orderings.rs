//! The question of `orderings`: the weakest orderings that keep a program robust, and what it
//! states.

use super::{Answer, Asked, Questions, states};
use crate::cli::Exit;
use crate::cli::fences::untaken;
use crate::cli::jobs::command::Command;
use crate::cli::verify::AcceptedEvidence;
use crate::evidence::{About, Evidence, ProgramSubject, RepairClaim, sha256};
use crate::fences::{Cost, Measure, orderings_unit_of_costs, weakened_text, weaker_orderings};
use crate::program::Program;
use crate::questions::{Properties, PropertyOptions};
use crate::semantics::graphs::Axioms;
use crate::semantics::{Model, Quantifier, Target};
use crate::syntax::{Format, InputError};
use std::collections::BTreeSet;

/// The orderings that a job asks for.
pub(super) struct WeakestOrderings {
    /// The program.
    program: Program,
    /// The language of its text.
    format: Format,
    /// What evidence may be about: the program, with what watches its joint control states or
    /// without.
    subjects: [ProgramSubject; 2],
    /// Orderings that places of the sources do not take.
    withheld: BTreeSet<Measure>,
    /// What the program states of interleavings: a target is not reached. Nothing for what nobody
    /// can ask.
    properties: Questions<Option<Target>>,
    /// Whether the final states asked about are what an `exists` asks for.
    wants_final_states: bool,
    /// The digests of the weakened texts that evidence has been accepted about.
    texts: BTreeSet<String>,
    /// What is known of the orderings.
    known: Option<Known>,
}

/// What is known of the orderings.
enum Known {
    /// The program is robust with orderings that cost so much; whether with none cheaper.
    Robust(Cost, bool),
    /// It is not, with its own.
    NotRobust,
}

impl WeakestOrderings {
    /// What an `orderings` asks.
    pub(super) fn of(command: &Command) -> Result<Self, InputError> {
        let loaded = command.load()?;
        let (withheld, _) = untaken(&command.path(), &loaded, || weaker_orderings(&loaded.program));
        let (watched, stated) = {
            let properties = Properties::new(loaded.about(), PropertyOptions::new(Model::Sc))?;
            let unasked = properties.are_some_unasked().then_some(None);
            let stated: Vec<_> = properties.targets().iter().copied().map(Some).chain(unasked).collect();
            (loaded.subject_of(properties.watched()), stated)
        };
        let quantifier = loaded.question.as_ref().map(|question| question.condition().quantifier);
        Ok(Self {
            subjects: [loaded.subject(), watched],
            withheld,
            properties: Questions::new(stated),
            wants_final_states: quantifier == Some(Quantifier::Exists),
            texts: BTreeSet::new(),
            known: None,
            format: loaded.format,
            program: loaded.program,
        })
    }

    /// Whether evidence is about the program as it is.
    fn is_unchanged(&self, stated: &ProgramSubject) -> bool {
        self.subjects.iter().any(|meant| states(stated, meant))
    }

    /// Answers a question about a property.
    fn take_property(&mut self, target: Target, is_reached: bool) -> Result<(), String> {
        let is_wanted = target == Target::FinalStates && self.wants_final_states;
        self.properties.take(&Some(target), is_wanted || !is_reached)
    }
}

impl Asked for WeakestOrderings {
    fn is_about(&self, evidence: &Evidence) -> bool {
        match evidence.about() {
            About::Program(stated) => self.is_unchanged(stated) || self.texts.contains(&stated.input.sha256),
            About::Net(_) => false,
        }
    }

    fn take(&mut self, evidence: &Evidence, accepted: &AcceptedEvidence) -> Result<(), String> {
        let About::Program(stated) = evidence.about() else { return Ok(()) };
        match evidence {
            // Of the weakened text it is shown with the orderings that it is robust.
            _ if !self.is_unchanged(stated) => Ok(()),
            Evidence::PropertyWitness(_, witness) if witness.model == Model::Sc => {
                self.take_property(witness.target, true)
            }
            Evidence::Property(..) => {
                let facts = accepted.properties.as_ref().filter(|facts| facts.model == Model::Sc);
                let mut shown = facts.into_iter().flat_map(|facts| &facts.shown);
                shown.try_for_each(|target| self.take_property(*target, false))
            }
            Evidence::Repair(_, repair) if repair.claim == RepairClaim::Language(Axioms::C11) => {
                let unit = orderings_unit_of_costs(&self.program, &self.withheld, repair);
                let (Some(facts), Some(unit)) = (&accepted.repair, unit) else { return Ok(()) };
                let text = weakened_text(&self.program, &self.withheld, repair, &self.format);
                self.texts.extend(text.map(|text| sha256(text.text().as_bytes())));
                let known = match facts.costs.iter().min() {
                    _ if facts.is_impossible => Known::NotRobust,
                    Some(cost) => Known::Robust(unit.cost(cost), *cost == facts.bound),
                    None => return Ok(()),
                };
                if self.known.replace(known).is_some() {
                    return Err("the job has evidence about orderings twice".to_owned());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn answer(&self) -> Answer {
        match &self.known {
            None => Answer::new(Exit::Unknown, "unknown"),
            Some(Known::NotRobust) => Answer::new(Exit::Fails, "not robust"),
            Some(Known::Robust(cost, is_cheapest)) => {
                let (exit, cost) = (self.properties.exit(), Some((cost.to_string(), *is_cheapest)));
                let verdict = match exit {
                    Exit::Holds => "robust",
                    Exit::Fails => "violated",
                    _ => "unknown",
                };
                Answer { cost, ..Answer::new(exit, verdict) }
            }
        }
    }
}
