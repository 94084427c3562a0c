//! `palisade cover`: can a target of a net be covered?

use super::net_input::NetOptions;
use super::{Exit, SharedOptions, print_input_error};
use crate::coverability::{self, Answer, Options, Outcome};
use crate::evidence::{Evidence, NetSubject};
use crate::net::Problem;
use crate::report::cover as report;
use crate::syntax::InputError;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `palisade cover`.
#[derive(Clone, Debug, Args)]
pub(super) struct CoverArguments {
    /// The net (.spec, .tts, .pnml, .lola, .net, each also with .gz); `-` is standard input.
    #[arg(value_name = "NET")]
    net: String,
    #[command(flatten)]
    input: NetOptions,
    /// The strategy; by default a portfolio of all of them.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_strategy)]
    strategy: &'static str,
    /// Write the evidence for the answer to this file, for `palisade verify`.
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The same evidence every time and for any number of jobs.
    #[arg(long)]
    deterministic: bool,
}

/// Runs `palisade cover`.
pub(super) fn run(arguments: &CoverArguments, shared: &SharedOptions) -> Exit {
    let begin = Instant::now();
    let limits = shared.limits();
    let loaded = match arguments.input.read(&arguments.net) {
        Ok(loaded) => loaded,
        Err(error) => return print_input_error(&error, shared),
    };
    let read = begin.elapsed();
    let options = Options {
        strategy: Some(arguments.strategy),
        limits,
        jobs: shared.jobs.map_or(0, usize::from),
        deterministic: arguments.deterministic,
    };
    let answer = match options.limits.check() {
        Ok(()) => coverability::solve(&loaded.problem, &options),
        Err(reason) => Answer {
            outcome: Outcome::Unknown(reason),
            strategy: arguments.strategy,
            statistics: coverability::Statistics::default(),
        },
    };
    let mut certificate = None;
    if let Some(path) = &arguments.certificate {
        match write_evidence(path, loaded.subject, &loaded.problem, &answer) {
            Ok(written) => certificate = written.then(|| path.display().to_string()),
            Err(error) => {
                let message = format!("the evidence cannot be written: {error}");
                return print_input_error(&InputError::file(path.display().to_string(), message), shared);
            }
        }
    }
    let context = report::Context {
        file: &arguments.net,
        problem: &loaded.problem,
        certificate: certificate.as_deref(),
        read_seconds: read.as_secs_f64(),
        seconds: begin.elapsed().as_secs_f64(),
    };
    if shared.json {
        println!("{}", report::json(&answer, &context));
    } else {
        print!("{}", report::text(&answer, &context, shared.verbose, shared.quiet));
    }
    match answer.outcome {
        Outcome::Uncoverable(_) => Exit::Holds,
        Outcome::Coverable(_) => Exit::Fails,
        Outcome::Unknown(_) => Exit::Unknown,
    }
}

/// Writes the run or the certificate; says whether there was one.
fn write_evidence(path: &Path, subject: NetSubject, problem: &Problem, answer: &Answer) -> std::io::Result<bool> {
    let evidence = match &answer.outcome {
        Outcome::Coverable(run) => Evidence::Coverable(subject.naming_steps_of(problem, run), run.clone()),
        Outcome::Uncoverable(certificate) => {
            Evidence::Uncoverable(subject.naming_places_of(problem, certificate), certificate.clone())
        }
        Outcome::Unknown(_) => return Ok(false),
    };
    evidence.write(std::fs::File::create(path)?)?;
    Ok(true)
}

/// A strategy by its name.
pub(super) fn parse_strategy(text: &str) -> Result<&'static str, String> {
    coverability::strategy(text).map(coverability::Strategy::name).ok_or_else(|| {
        let names: Vec<&str> = coverability::strategies().iter().map(|strategy| strategy.name()).collect();
        format!("the strategies are {}", names.join(", "))
    })
}
