//! Evidence of results: about the job's own question, and accepted where it is merged.

use super::command::Command;
use crate::cli::files::write_together;
use crate::cli::folder::create_folder;
use crate::cli::verify::accepted_kind;
use crate::cli::{Exit, SharedOptions};
use crate::evidence::{About, Evidence, NetSubject, ProgramSubject, sha256};
use crate::report::documents::{EvidenceText, JobDocument};
use std::io;
use std::path::{Path, PathBuf};

/// What evidence shows where the answer is no.
const NEGATIVE: [&str; 7] =
    ["not-robust", "not-tso-robust", "not-pso-robust", "not-concurrency-robust", "race", "coverable", "reachable"];

/// What evidence shows where a property is violated, or a final state is as `exists` asks for.
const REACHED: &str = "property-witness";

/// Evidence that was accepted.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    /// The kinds.
    pub(super) kinds: Vec<String>,
    /// The files.
    pub(super) paths: Vec<String>,
}

/// Writes the files of a result into a folder, where evidence finds what belongs to it.
pub(super) fn write(folder: &Path, texts: &[EvidenceText]) -> io::Result<()> {
    create_folder(folder)?;
    let mut files = Vec::new();
    for text in texts {
        // A name that leads elsewhere is none that `run` has written.
        let is_name = Path::new(&text.name).file_name().is_some_and(|name| name == text.name.as_str());
        if !is_name {
            return Err(io::Error::other(format!("`{}` is no name of a file", text.name)));
        }
        files.push((folder.join(&text.name), &text.text));
    }
    write_together(&files)
}

/// Checks the evidence of a result that was written into a folder; why it does not count.
pub(super) fn accept(
    job: &JobDocument,
    command: &Command,
    exit: u8,
    texts: &[EvidenceText],
    folder: &Path,
    shared: &SharedOptions,
) -> Result<Accepted, String> {
    let mut accepted = Accepted::default();
    for text in texts {
        // Other texts are repaired programs, which evidence has the digests of.
        if Path::new(&text.name).extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let path: PathBuf = folder.join(&text.name);
        let path = path.display().to_string();
        let evidence = Evidence::read(text.text.as_bytes()).map_err(|malformed| format!("malformed: {malformed}"))?;
        is_about(&evidence, job, command, texts)?;
        accepted.kinds.push(accepted_kind(&path, shared)?.to_owned());
        accepted.paths.push(path);
    }
    fits(command, exit, &accepted.kinds)?;
    Ok(accepted)
}

/// Whether evidence is about what the job asks: its inputs, with the copies and the domain of its options. Evidence of `fences` may be about the repaired text, which is
/// among its files.
fn is_about(evidence: &Evidence, job: &JobDocument, command: &Command, texts: &[EvidenceText]) -> Result<(), String> {
    let is_repaired =
        |digest: &str| command.name == "fences" && texts.iter().any(|text| sha256(text.text.as_bytes()) == digest);
    let digest = |index: usize| job.inputs.get(index).map(|input| input.sha256.as_str());
    let is_so = match evidence.about() {
        About::Program(subject) => {
            let stated = subject.input.sha256.as_str();
            (digest(0) == Some(stated) || is_repaired(stated)) && is_meant(subject, command)
        }
        About::Net(NetSubject { input, query, .. }) => {
            let query = query.as_ref().map(|query| query.sha256.as_str());
            digest(0) == Some(&input.sha256) && (query.is_none() || query == digest(1))
        }
    };
    if is_so { Ok(()) } else { Err("it is about something else than the job".to_owned()) }
}

/// Whether a subject has the copies and the domain that a command line means.
fn is_meant(subject: &ProgramSubject, command: &Command) -> bool {
    let Some(loaded) = command.program() else { return false };
    let meant = loaded.subject();
    // Evidence about joint control states is about a program with threads more, which watch.
    let threads = meant.threads.iter().zip(&subject.threads);
    let is_same = threads.fold(true, |so_far, (one, other)| {
        so_far && (&one.name, one.copies, one.origin) == (&other.name, other.copies, other.origin)
    });
    is_same && meant.threads.len() <= subject.threads.len() && meant.domain == subject.domain
}

/// Whether the kinds of evidence show what the exit status says.
fn fits(command: &Command, exit: u8, kinds: &[String]) -> Result<(), String> {
    let has = |of: &[&str]| kinds.iter().any(|kind| of.contains(&kind.as_str()));
    let is_shown = match command.name.as_str() {
        _ if exit != Exit::Holds.code() && exit != Exit::Fails.code() => true,
        "fences" => true,
        _ if command.asks_about_all() => !kinds.is_empty(),
        "cover" if exit == Exit::Holds.code() => has(&["uncoverable", "unreachable"]),
        _ if exit == Exit::Fails.code() => has(&NEGATIVE) || (has(&[REACHED]) && !command.asks_what_exists()),
        _ => {
            let of_robustness = command.evidence_of_robustness();
            !has(&NEGATIVE)
                && (!has(&[REACHED]) || command.asks_what_exists())
                && of_robustness.is_none_or(|wanted| kinds.iter().any(|kind| wanted.contains(kind)))
                && (!kinds.is_empty() || !command.states_properties())
        }
    };
    if is_shown { Ok(()) } else { Err("there is no evidence for the answer".to_owned()) }
}
