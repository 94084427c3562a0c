//! Questions about a net: one target, or all properties of a query.

use super::{Answer, Asked, Questions};
use crate::cli::Exit;
use crate::cli::jobs::command::Command;
use crate::cli::net_input::NetOptions;
use crate::cli::verify::AcceptedEvidence;
use crate::evidence::{About, Evidence, NetSubject};
use crate::limits::Limits;
use crate::net::{Format, Property, QueryFormat, WhichQuestion};
use crate::report::documents::JobInput;
use crate::syntax::InputError;
use num_bigint::BigInt;
use std::collections::BTreeMap;

/// The questions of coverability that a job asks.
pub(super) struct Coverability {
    /// The digest and the format of the net, and of the question's file where there is one.
    files: Vec<(String, &'static str)>,
    /// The questions, by what evidence calls the property.
    questions: Questions<Option<String>>,
    /// The properties that the questions are parts of, where all of a query are asked about.
    properties: Option<Vec<Property>>,
    /// Of the properties that ask for bounds, by id, what evidence has shown.
    bounds: BTreeMap<String, Shown>,
    /// Whether evidence is about reachability.
    is_reach: bool,
}

/// What evidence has shown of a bound.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// The largest number that is reached.
    reached: Option<BigInt>,
    /// The smallest that is not.
    excluded: Option<BigInt>,
    /// That there is no bound.
    is_unbounded: bool,
}

impl Shown {
    /// How large the sum gets, where that is known.
    fn word(&self) -> Option<String> {
        match (&self.reached, &self.excluded) {
            _ if self.is_unbounded => Some("UNBOUNDED".to_owned()),
            (Some(reached), Some(excluded)) if *excluded == reached + 1 => Some(reached.to_string()),
            _ => None,
        }
    }

    fn take(&mut self, tokens: BigInt, is_reached: bool) -> Result<(), String> {
        let side = if is_reached { &mut self.reached } else { &mut self.excluded };
        let known = side.take();
        let best = |known: BigInt| if is_reached { known.max(tokens.clone()) } else { known.min(tokens.clone()) };
        *side = Some(known.map_or_else(|| tokens.clone(), best));
        self.stands_together()
    }

    fn take_unbounded(&mut self) -> Result<(), String> {
        self.is_unbounded = true;
        self.stands_together()
    }

    fn stands_together(&self) -> Result<(), String> {
        let is_contradicted = self.excluded.as_ref().is_some_and(|excluded| {
            self.is_unbounded || self.reached.as_ref().is_some_and(|reached| reached >= excluded)
        });
        if is_contradicted { Err("it contradicts other evidence of the same job".to_owned()) } else { Ok(()) }
    }
}

impl Coverability {
    /// What a `cover` asks.
    pub(super) fn of(command: &Command, inputs: &[JobInput]) -> Result<Self, InputError> {
        let (options, path): (NetOptions, _) = (command.arguments()?, command.path());
        let net = options.from.or_else(|| Format::of_name(&path)).map_or("", Format::extension);
        let format = |(number, input): (usize, &JobInput)| match number {
            0 => net,
            _ => QueryFormat::of_name(&input.path).map_or("", QueryFormat::extension),
        };
        // A question that needs no file is asked of the net alone.
        let inputs = if options.ask.is_some() { &inputs[..1] } else { inputs };
        let files = inputs.iter().enumerate().map(|input| (input.1.sha256.clone(), format(input))).collect();
        if !command.asks_about_all() {
            let questions = Questions::new([options.property]);
            return Ok(Self { files, questions, properties: None, bounds: BTreeMap::new(), is_reach: false });
        }
        let properties = options.read_properties_within(&path, &Limits::none())?.properties;
        let names = properties.iter().flat_map(|property| {
            (1..=property.claim.questions().len()).map(|number| Some(format!("{}#{number}", property.id)))
        });
        let questions = Questions::new(names.collect::<Vec<_>>());
        let asks_bound = |property: &&Property| property.claim.bound().is_some();
        let bounds = properties.iter().filter(asks_bound).map(|it| (it.id.clone(), Shown::default())).collect();
        Ok(Self { files, questions, properties: Some(properties), bounds, is_reach: false })
    }

    /// Takes the answer to a question, which may be about a bound.
    fn take_answer(&mut self, property: &Option<String>, is_reached: bool) -> Result<(), String> {
        let bound = property.as_deref().map(WhichQuestion::of);
        match bound {
            Some((id, WhichQuestion::AtLeast(tokens))) if self.bounds.contains_key(id) => {
                self.bounds.get_mut(id).expect("it is there").take(tokens, is_reached)
            }
            _ => self.questions.take(property, !is_reached),
        }
    }

    /// Takes that the sum of a property has no bound.
    fn take_unbounded(&mut self, property: &Option<String>) -> Result<(), String> {
        let id = property.as_deref().map(|property| WhichQuestion::of(property).0);
        id.and_then(|id| self.bounds.get_mut(id)).map_or(Ok(()), Shown::take_unbounded)
    }

    /// The properties by their ids, each with what is known of what it asks.
    fn values(&self, properties: &[Property]) -> Vec<(String, Option<String>)> {
        let mut answers = self.questions.answers().map(|answer| answer.map(|is_safe| !is_safe));
        let value = |property: &Property| {
            let own: Vec<Option<bool>> = answers.by_ref().take(property.claim.questions().len()).collect();
            let bound = self.bounds.get(&property.id).and_then(Shown::word);
            let value = property.claim.value(&own).map(|holds| if holds { "TRUE" } else { "FALSE" }.to_owned());
            (property.id.clone(), bound.or(value))
        };
        properties.iter().map(value).collect()
    }
}

impl Asked for Coverability {
    fn is_about(&self, evidence: &Evidence) -> bool {
        let About::Net(NetSubject { input, query, .. }) = evidence.about() else { return false };
        let stated: Vec<_> =
            [input].into_iter().chain(query).map(|file| (&file.sha256, file.format.as_str())).collect();
        stated.into_iter().eq(self.files.iter().map(|(digest, format)| (digest, *format)))
    }

    fn take(&mut self, evidence: &Evidence, _accepted: &AcceptedEvidence) -> Result<(), String> {
        self.is_reach |= matches!(evidence, Evidence::Reachable(..) | Evidence::Unreachable(..));
        match evidence {
            Evidence::Uncoverable(subject, _) | Evidence::Unreachable(subject, _) => {
                self.take_answer(&subject.property, false)
            }
            Evidence::Coverable(subject, _) | Evidence::Reachable(subject, _) => {
                self.take_answer(&subject.property, true)
            }
            Evidence::Unbounded(subject, _) => self.take_unbounded(&subject.property),
            _ => Ok(()),
        }
    }

    fn answer(&self) -> Answer {
        let Some(properties) = &self.properties else {
            return match self.questions.exit() {
                Exit::Holds if self.is_reach => Answer::new(Exit::Holds, "unreachable"),
                Exit::Holds => Answer::new(Exit::Holds, "uncoverable"),
                Exit::Fails if self.is_reach => Answer::new(Exit::Fails, "reachable"),
                Exit::Fails => Answer::new(Exit::Fails, "coverable"),
                _ => Answer::new(Exit::Unknown, "unknown"),
            };
        };
        let properties = self.values(properties);
        // Which of them hold is no judgement of the net.
        let is_known = properties.iter().all(|(_, value)| value.is_some());
        let (exit, verdict) = if is_known { (Exit::Holds, "answered") } else { (Exit::Unknown, "unknown") };
        Answer { properties, ..Answer::new(exit, verdict) }
    }
}
