//! `palisade cover` for a single question of reachability.

use super::CoverArguments;
use super::found::Found;
use crate::cli::asked;
use crate::cli::confirm::Confirmation;
use crate::cli::files::NewFile;
use crate::cli::net_input::LoadedNet;
use crate::cli::output::{print_document, print_text, remark};
use crate::cli::outputs::Outputs;
use crate::cli::{Exit, SharedOptions};
use crate::coverability::{Options, ReachAnswer, reach_all};
use crate::limits::StopReason;
use crate::net::{OmegaCount, ReachQuestion};
use crate::report::cover::{Context, reach_text};
use crate::report::documents::CoverDocument;
use crate::report::page::reach_page;
use crate::syntax::InputError;
use std::path::Path;
use std::time::{Duration, Instant};

/// Refuses what is no part of such questions.
fn admit(arguments: &CoverArguments, loaded: &LoadedNet) -> Result<(), InputError> {
    let refuse =
        |message: &str, help: &str| Err(InputError::file(&arguments.net, message).with_help_if(Some(help.to_owned())));
    if arguments.strategy != "auto" {
        return refuse("strategies are for coverability, and this asks for reachability", "leave `--strategy` out");
    }
    if loaded.problem.net.initial.contains(&OmegaCount::Omega) {
        return refuse(
            "the net has many initial markings, and reachability is asked of one",
            "write a number of tokens, or ask for coverability",
        );
    }
    Ok(())
}

/// Answers a question.
pub(super) fn run(
    arguments: &CoverArguments,
    shared: &SharedOptions,
    options: &Options,
    loaded: &LoadedNet,
    question: &ReachQuestion,
    (begin, read): (Instant, Duration),
    outputs: Outputs<'_>,
) -> Result<Exit, InputError> {
    admit(arguments, loaded)?;
    let mut answer = ReachAnswer::none(StopReason::Inconclusive);
    match options.limits.check() {
        Ok(()) => reach_all(&loaded.problem.net, std::slice::from_ref(&question.goal), options, |_, it| answer = it),
        Err(reason) => answer = ReachAnswer::none(reason),
    }
    let net = &loaded.problem.net;
    let found = Found::Reach(net, &question.goal, &answer);
    let check = || found.has_evidence().then(|| found.check());
    let confirmation = Confirmation::of(&arguments.net, arguments.verify, &options.limits, check);
    let mut certificate = None;
    if let Some(path) = &arguments.certificate
        && let Some(evidence) = found.evidence(|_| loaded.subject())
    {
        write(path, &evidence).map_err(|error| {
            InputError::file(path.display().to_string(), format!("the evidence cannot be written: {error}"))
        })?;
        certificate = Some(path.display().to_string());
    }
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        answer = ReachAnswer::none(reason);
    }
    let (query, property) = loaded.question();
    let context = Context {
        file: &arguments.net,
        problem: &loaded.problem,
        quantifier: loaded.quantifier,
        query: query.as_deref(),
        property: property.as_deref(),
        certificate: certificate.as_deref(),
        read_seconds: read.as_secs_f64(),
        seconds: begin.elapsed().as_secs_f64(),
    };
    let document = || {
        let mut document = CoverDocument::of_reach(&answer, &context);
        document.evidence = confirmation.as_ref().map(Confirmation::document);
        document
    };
    if shared.json {
        print_document(&document());
    } else {
        print_text(reach_text(&answer, &context, shared.verbose, shared.quiet));
    }
    outputs
        .finish_page(|| reach_page(&document(), &answer, &question.goal, &context, &asked::question(&arguments.net)))?;
    if let Some(alarm) = confirmation.as_ref().and_then(|confirmation| confirmation.alarm(&arguments.net)) {
        remark(alarm);
        return Ok(Exit::Rejected);
    }
    Ok(match answer.outcome.is_reachable() {
        Some(false) => Exit::Holds,
        Some(true) => Exit::Fails,
        None => Exit::Unknown,
    })
}

fn write(path: &Path, evidence: &crate::evidence::Evidence) -> std::io::Result<()> {
    let mut written = NewFile::create(path)?;
    evidence.write(&mut written)?;
    written.finish()
}
