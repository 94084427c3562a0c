//! Questions about a net: one target, or all properties of a query.

use super::{Answer, Asked, Questions};
use crate::cli::Exit;
use crate::cli::jobs::command::Command;
use crate::cli::net_input::NetOptions;
use crate::cli::verify::AcceptedEvidence;
use crate::evidence::{About, Evidence, NetSubject};
use crate::limits::Limits;
use crate::net::{Format, Property, QueryFormat};
use crate::report::documents::JobInput;
use crate::syntax::InputError;

/// The questions of coverability that a job asks.
pub(super) struct Coverability {
    /// The digest and the format of the net, and of the question's file where there is one.
    files: Vec<(String, &'static str)>,
    /// The questions, by what evidence calls the property.
    questions: Questions<Option<String>>,
    /// The properties that the questions are parts of, where all of a query are asked about.
    properties: Option<Vec<Property>>,
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
            return Ok(Self { files, questions: Questions::new([options.property]), properties: None });
        }
        let properties = options.read_properties_within(&path, &Limits::none())?.properties;
        let names = properties.iter().flat_map(|property| {
            (1..=property.claim.questions().len()).map(|number| Some(format!("{}#{number}", property.id)))
        });
        Ok(Self { files, questions: Questions::new(names.collect::<Vec<_>>()), properties: Some(properties) })
    }

    /// What each property comes to.
    fn values(&self, properties: &[Property]) -> Vec<Option<bool>> {
        let mut answers = self.questions.answers().map(|answer| answer.map(|is_safe| !is_safe));
        let value = |property: &Property| {
            let own: Vec<Option<bool>> = answers.by_ref().take(property.claim.questions().len()).collect();
            property.claim.value(&own)
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
        match evidence {
            Evidence::Uncoverable(subject, _) | Evidence::Unreachable(subject, _) => {
                self.questions.take(&subject.property, true)
            }
            Evidence::Coverable(subject, _) | Evidence::Reachable(subject, _) => {
                self.questions.take(&subject.property, false)
            }
            _ => Ok(()),
        }
    }

    fn answer(&self) -> Answer {
        let (exit, verdict) = match &self.properties {
            None => match self.questions.exit() {
                Exit::Holds => (Exit::Holds, "uncoverable"),
                Exit::Fails => (Exit::Fails, "coverable"),
                _ => (Exit::Unknown, "unknown"),
            },
            // Which of them hold is no judgement of the net.
            Some(properties) if self.values(properties).iter().all(Option::is_some) => (Exit::Holds, "answered"),
            Some(_) => (Exit::Unknown, "unknown"),
        };
        Answer { exit, verdict, cost: None }
    }
}
