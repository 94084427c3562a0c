//! `palisade cover --all`: all properties of a query of the Model Checking Contest in one run.

use super::{CoverArguments, evidence_of};
use crate::cli::files::NewFile;
use crate::cli::folder::create_folder;
use crate::cli::guard;
use crate::cli::net_input::LoadedProperties;
use crate::cli::output::{print_document, print_line, remark};
use crate::cli::{Exit, SharedOptions, confirm_net};
use crate::coverability::{Answer, Options, Outcome, solve_all};
use crate::limits::Limits;
use crate::net::{Problem, Query, Question};
use crate::report::contest::{AnsweredProperty, AskedQuestion};
use crate::report::documents::{ContestContext, ContestDocument};
use crate::syntax::InputError;
use std::path::Path;
use std::time::Instant;

/// Answers all properties.
pub(super) fn run(arguments: &CoverArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let loaded = arguments.input.read_properties_within(&arguments.net, &limits)?;
    let read_seconds = begin.elapsed().as_secs_f64();
    if let Some(folder) = &arguments.certificate {
        create_folder(folder).map_err(|error| unwritten(folder, &error))?;
    }
    let options = Options {
        strategy: Some(arguments.strategy),
        limits,
        jobs: shared.jobs.map_or(0, usize::from),
        deterministic: arguments.deterministic,
        work: None,
    };
    let mut contest = Contest::new(arguments, shared, &loaded, begin);
    let queries: Vec<Query> = contest.all.iter().map(|(_, question)| question.query.clone()).collect();
    let net = loaded.net.clone();
    let size = (net.places.len(), net.transitions.len());
    contest.report_decided(false);
    let asked = solve_all(net, &queries, &options, |index, problem, answer| {
        contest.take(index, problem, &answer, &options.limits);
    });
    let context = ContestContext {
        file: &arguments.net,
        query: &loaded.query.path,
        size,
        asked,
        read_seconds,
        seconds: begin.elapsed().as_secs_f64(),
    };
    contest.report_decided(true);
    if shared.json {
        print_document(&ContestDocument::new(&contest.answers, &context));
    }
    match contest.failure {
        Some(error) => Err(error),
        None => Ok(contest.exit()),
    }
}

fn unwritten(folder: &Path, error: &std::io::Error) -> InputError {
    InputError::file(folder.display().to_string(), format!("the evidence cannot be written: {error}"))
}

/// Properties that are being answered.
struct Contest<'a> {
    arguments: &'a CoverArguments,
    shared: &'a SharedOptions,
    loaded: &'a LoadedProperties,
    begin: Instant,
    /// All questions, each with the number of its property.
    all: Vec<(usize, &'a Question)>,
    /// What became of the properties so far.
    answers: Vec<AnsweredProperty<'a>>,
    /// Which properties have their line.
    told: Vec<bool>,
    /// Whether evidence was rejected.
    is_rejected: bool,
    /// Evidence that could not be written.
    failure: Option<InputError>,
}

impl<'a> Contest<'a> {
    fn new(
        arguments: &'a CoverArguments,
        shared: &'a SharedOptions,
        loaded: &'a LoadedProperties,
        begin: Instant,
    ) -> Self {
        let properties = loaded.properties.iter().enumerate();
        let all =
            properties.flat_map(|(index, property)| property.claim.questions().into_iter().map(move |it| (index, it)));
        let open = AskedQuestion {
            coverable: None,
            reason: None,
            strategy: "auto",
            seconds: 0.0,
            certificate: None,
            accepted: None,
        };
        let answers = loaded.properties.iter().map(|property| AnsweredProperty {
            property,
            questions: vec![open.clone(); property.claim.questions().len()],
        });
        Self {
            arguments,
            shared,
            loaded,
            begin,
            all: all.collect(),
            answers: answers.collect(),
            told: vec![false; loaded.properties.len()],
            is_rejected: false,
            failure: None,
        }
    }

    /// Takes the answer to a question.
    fn take(&mut self, index: usize, problem: &Problem, answer: &Answer, limits: &Limits) {
        let (property, _) = self.all[index];
        let number = self.all[..index].iter().filter(|(other, _)| *other == property).count();
        let mut asked = AskedQuestion {
            coverable: answer.outcome.is_coverable(),
            reason: None,
            strategy: answer.strategy,
            seconds: 0.0,
            certificate: None,
            accepted: None,
        };
        if let Outcome::Unknown(reason) = &answer.outcome {
            asked.reason = Some(reason.to_string());
        } else {
            self.confirm(property, number, problem, answer, limits, &mut asked);
        }
        asked.seconds = self.begin.elapsed().as_secs_f64();
        self.answers[property].questions[number] = asked;
        self.report_decided(false);
    }

    /// Checks and writes the evidence of an answer. What is rejected, or not checked to the end where that was asked for, is no answer.
    fn confirm(
        &mut self,
        property: usize,
        number: usize,
        problem: &Problem,
        answer: &Answer,
        limits: &Limits,
        asked: &mut AskedQuestion,
    ) {
        let name = format!("{}#{}", self.loaded.properties[property].id, number + 1);
        if self.arguments.verify || cfg!(debug_assertions) {
            let (own, outcome) = (problem.clone(), answer.outcome.clone());
            let check = move || confirm_net(&own, &outcome).unwrap_or(Ok(()));
            let failure = match guard::within(&self.arguments.net, limits, check) {
                Ok(Ok(Ok(()))) => None,
                Ok(Ok(Err(failure))) => Some(failure.to_string()),
                Ok(Err(broken)) => Some(broken.to_string()),
                Err(reason) => {
                    (asked.coverable, asked.reason) = (None, Some(reason.to_string()));
                    return;
                }
            };
            asked.accepted = Some(failure.is_none());
            if let Some(failure) = failure {
                remark(format_args!(
                    "Error: {name}: the evidence for the answer is rejected, do not rely on it: {failure}\n"
                ));
                (asked.coverable, asked.reason) = (None, Some("its evidence is rejected".to_owned()));
                self.is_rejected = true;
                return;
            }
        }
        if let Some(folder) = &self.arguments.certificate {
            match self.write(folder, &name, problem, answer) {
                Ok(path) => asked.certificate = Some(path),
                Err(error) => self.failure = Some(unwritten(folder, &error)),
            }
        }
    }

    /// Writes evidence; its path.
    fn write(&self, folder: &Path, name: &str, problem: &Problem, answer: &Answer) -> std::io::Result<String> {
        let subject = self.loaded.subject(problem, name);
        let evidence = evidence_of(subject, problem, answer).expect("it is an answer");
        let plain: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '-' || c == '.' { c } else { '_' }).collect();
        let path = folder.join(format!("{plain}.json"));
        let mut file = NewFile::create(&path)?;
        evidence.write(&mut file)?;
        file.finish()?;
        Ok(path.display().to_string())
    }

    /// Prints the lines of the properties that have become known, or at the end of all.
    fn report_decided(&mut self, is_end: bool) {
        for (answer, told) in self.answers.iter().zip(&mut self.told) {
            let nothing_to_ask = answer.questions.is_empty();
            if !*told && (is_end || nothing_to_ask || answer.value().is_some()) {
                *told = true;
                if !self.shared.json {
                    print_line(answer.line());
                }
            }
        }
    }

    fn exit(&self) -> Exit {
        if self.is_rejected {
            return Exit::Rejected;
        }
        let is_known = self.answers.iter().all(|answer| answer.value().is_some());
        if is_known { Exit::Holds } else { Exit::Unknown }
    }
}
