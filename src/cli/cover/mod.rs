//! `palisade cover`: can a target of a net be covered?

mod bounds;
mod contest;
mod found;
mod notes;
mod reach;

use super::asked;
use super::batch::print_unwritten;
use super::confirm::{Confirmation, net_check};
use super::files::{NewFile, write_together};
use super::net_input::{LoadedNet, NetOptions};
use super::output::{print_document, remark};
use super::outputs::{OutputOptions, PageOption};
use super::pending::writing;
use super::{Exit, SharedOptions, print_input_error, print_line, print_text};
use crate::coverability::{self, Answer, Options, Outcome};
use crate::evidence::{Evidence, NetSubject};
use crate::limits::Limits;
use crate::net::{self, Problem, Quantifier};
use crate::report::cover as report;
use crate::report::documents::{CoverDocument, WrittenDocument};
use crate::report::page::cover_page;
use crate::syntax::InputError;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `palisade cover`.
#[derive(Clone, Debug, Args)]
pub(super) struct CoverArguments {
    /// The net (.spec, .tts, .pnml, .lola, .net, each also with .gz); `-` is standard input.
    #[arg(value_name = "NET")]
    pub(super) net: String,
    #[command(flatten)]
    pub(super) input: NetOptions,
    #[command(flatten)]
    pub(super) page: PageOption,
    /// The strategy; by default a portfolio of all of them.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = strategies(), conflicts_with = "ask")]
    pub(super) strategy: &'static str,
    /// Write the net in the format that this file's extension tells (.spec, .tts, .pnml, .lola,
    /// .net, .dot), its question beside it, and do not search.
    #[arg(long, value_name = "FILE", conflicts_with = "ask")]
    write: Option<PathBuf>,
    /// Answer all properties of the question's file (Model Checking Contest) in one run, a line
    /// `FORMULA ID TRUE TECHNIQUES …` for each. Evidence goes to a folder then, a file for each
    /// question.
    #[arg(long, conflicts_with_all = ["write", "property", "strategy", "ask"])]
    all: bool,
    /// Write the evidence for the answer to this file, for `palisade verify`; with `--all` and
    /// `--ask` the evidence for each question to a file in this folder.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) certificate: Option<PathBuf>,
    /// Check the evidence of the answer before reporting it, as `palisade verify` does.
    #[arg(long, help_heading = "Output")]
    pub(super) verify: bool,
    /// The same evidence every time and for any number of jobs.
    #[arg(long)]
    pub(super) deterministic: bool,
}

/// Runs `palisade cover`.
pub(super) fn run(arguments: &CoverArguments, shared: &SharedOptions) -> Exit {
    if arguments.all || arguments.input.ask.is_some() {
        return contest::run(arguments, shared).unwrap_or_else(|error| print_input_error(&error, shared));
    }
    let page = OutputOptions::from(&arguments.page);
    let outputs = match page.open() {
        Ok(outputs) => outputs,
        Err(error) => return print_input_error(&error, shared),
    };
    let begin = Instant::now();
    let limits = shared.limits();
    let loaded = match arguments.input.read_within(&arguments.net, &limits) {
        Ok(loaded) => loaded,
        Err(error) => return print_input_error(&error, shared),
    };
    if let Some(question) = &loaded.reach {
        let help = "a question of reachability is answered, not written".to_owned();
        if arguments.write.is_some() {
            let error = InputError::file(&arguments.net, "the question is none of coverability");
            return print_input_error(&error.with_help_if(Some(help)), shared);
        }
        let options = options(arguments, shared, limits);
        let answered = reach::run(arguments, shared, &options, &loaded, question, (begin, begin.elapsed()), outputs);
        return answered.unwrap_or_else(|error| print_input_error(&error, shared));
    }
    if let Some(path) = &arguments.write {
        return match write_net(path, &arguments.net, &loaded, shared) {
            Ok(()) => Exit::Holds,
            Err(error) => print_input_error(&error, shared),
        };
    }
    let read = begin.elapsed();
    let quantifier = loaded.quantifier;
    // The files' bytes, which are much of the memory, are let go before the search; evidence needs
    // their hashes alone.
    let subject = arguments.certificate.is_some().then(|| loaded.subject());
    let (query, property) = loaded.question();
    // The net is left to the end of the process, which is near: freeing it node by node takes time
    // of its own.
    let problem: &'static Problem = Box::leak(Box::new(loaded.into_problem()));
    let options = options(arguments, shared, limits);
    let answer = match options.limits.check() {
        Ok(()) => coverability::solve(problem, &options),
        Err(reason) => Answer::none(reason, arguments.strategy),
    };
    // And so is what was found about it.
    let mut answer: &'static Answer = Box::leak(Box::new(answer));
    let check = || net_check(problem, &answer.outcome);
    let confirmation = Confirmation::of(&arguments.net, arguments.verify, &options.limits, check);
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        answer = Box::leak(Box::new(Answer {
            outcome: Outcome::Unknown(reason),
            without_evidence: answer.is_coverable(),
            ..answer.clone()
        }));
    }
    let mut certificate = None;
    if let (Some(path), Some(subject)) = (&arguments.certificate, subject) {
        match write_evidence(path, subject, problem, answer) {
            Ok(written) => certificate = written.then(|| path.display().to_string()),
            Err(error) => {
                let message = format!("the evidence cannot be written: {error}");
                let error = InputError::file(path.display().to_string(), message);
                let help = "`--certificate` names the file to write, in a folder that is there".to_owned();
                return print_input_error(&error.with_help_if(Some(help)), shared);
            }
        }
    }
    let context = report::Context {
        file: &arguments.net,
        problem,
        quantifier,
        query: query.as_deref(),
        property: property.as_deref(),
        certificate: certificate.as_deref(),
        read_seconds: read.as_secs_f64(),
        seconds: begin.elapsed().as_secs_f64(),
    };
    let wants_document = shared.json || page.asks_for_a_page();
    let mut document = wants_document.then(|| CoverDocument::new(answer, &context));
    let alarm = confirmation.as_ref().and_then(|confirmation| confirmation.alarm(&arguments.net));
    if let (Some(document), Some(confirmation)) = (&mut document, &confirmation) {
        document.evidence = Some(confirmation.document());
    }
    match &document {
        Some(document) if shared.json => print_document(document),
        _ => print_text(report::text(answer, &context, shared.verbose, shared.quiet)),
    }
    if let Some(document) = &document
        && let Err(error) =
            outputs.finish_page(|| cover_page(document, answer, &context, &asked::question(&arguments.net)))
    {
        return print_unwritten(&error, shared);
    }
    if let Some(alarm) = alarm {
        remark(alarm);
        return Exit::Rejected;
    }
    match answer.is_coverable() {
        Some(false) => Exit::Holds,
        Some(true) => Exit::Fails,
        None => Exit::Unknown,
    }
}

/// How to search.
fn options(arguments: &CoverArguments, shared: &SharedOptions, limits: Limits) -> Options {
    Options {
        strategy: Some(arguments.strategy),
        limits,
        jobs: shared.jobs.map_or(0, usize::from),
        deterministic: arguments.deterministic,
        work: None,
    }
}

/// Writes the net and its question, and says where they are.
fn write_net(path: &Path, file: &str, loaded: &LoadedNet, shared: &SharedOptions) -> Result<(), InputError> {
    let name = path.display().to_string();
    let format = net::Format::of_name(&name).filter(|_| path.extension().is_some_and(|extension| extension != "gz"));
    let format = format.ok_or_else(|| InputError::file(&name, "the extension does not tell a format to write"))?;
    let mut written =
        net::write(&loaded.problem, format).map_err(|error| InputError::file(&name, error.to_string()))?;
    if loaded.quantifier == Some(Quantifier::Always) {
        written.notes.push("the question is written as `EF` of what `AG` forbids".to_owned());
    }
    let failed = |error: std::io::Error| InputError::file(&name, format!("cannot be written: {error}"));
    let files = written.files(path, format);
    let (query, _) = loaded.question();
    let sources = [Some(file.to_owned()), query].into_iter().flatten();
    let sources: Vec<PathBuf> = sources.filter_map(|source| Path::new(&source).canonicalize().ok()).collect();
    if let Some((lost, _)) = files.iter().find(|(path, _)| path.canonicalize().is_ok_and(|it| sources.contains(&it))) {
        let message = format!("`{}` would be replaced, which was read", lost.display());
        let help = "give the net another name, or write it to another folder".to_owned();
        return Err(InputError::file(&name, message).with_help_if(Some(help)));
    }
    write_together(&files).map_err(failed)?;
    let paths: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    if shared.json {
        print_document(&WrittenDocument::new(file, &paths, &written.notes));
    } else if !shared.quiet {
        print_line(format_args!("written: {}", paths.join(", ")));
        written.notes.iter().for_each(|note| print_line(format_args!("note: {note}")));
    }
    Ok(())
}

/// Writes the run or the certificate; says whether there was one.
fn write_evidence(path: &Path, subject: NetSubject, problem: &Problem, answer: &Answer) -> std::io::Result<bool> {
    let Some(evidence) = evidence_of(subject, problem, answer) else { return Ok(false) };
    let _writing = writing();
    let mut written = NewFile::create(path)?;
    evidence.write(&mut written)?;
    written.finish()?;
    Ok(true)
}

/// The evidence of an answer, if it is one.
pub(super) fn evidence_of(subject: NetSubject, problem: &Problem, answer: &Answer) -> Option<Evidence> {
    match &answer.outcome {
        Outcome::Coverable(run) => Some(Evidence::Coverable(subject.naming_steps_of(problem, run), run.clone())),
        Outcome::Uncoverable(certificate) => {
            Some(Evidence::Uncoverable(subject.naming_places_of(problem, certificate), certificate.clone()))
        }
        Outcome::Unknown(_) => None,
    }
}

/// The strategies by their names.
pub(super) fn strategies() -> impl TypedValueParser<Value = &'static str> {
    let names = coverability::strategies().iter().map(|strategy| strategy.name());
    PossibleValuesParser::new(names).map(|name| coverability::strategy(&name).expect("it is one of the names").name())
}
