//! Evidence of results: about the job's own questions, and accepted where it is merged.

use super::asked::Asked;
use crate::cli::SharedOptions;
use crate::cli::files::write_together;
use crate::cli::folder::create_folder;
use crate::cli::verify::{NotAccepted, accepted};
use crate::evidence::Evidence;
use crate::report::documents::EvidenceText;
use serde_json::Value;
use std::io;
use std::path::Path;

/// Evidence that was accepted.
#[derive(Clone, Debug, Default)]
pub(super) struct Accepted {
    /// The kinds.
    pub(super) kinds: Vec<String>,
    /// The files.
    pub(super) paths: Vec<String>,
    /// What the checker says of them.
    pub(super) documents: Vec<Value>,
}

/// Writes the files of a result into a folder, where evidence finds what belongs to it.
fn write(folder: &Path, texts: &[EvidenceText]) -> io::Result<()> {
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

/// Writes the evidence of a result into a folder, checks it there, and takes what it says of the
/// questions of a job.
pub(super) fn accept(
    asked: &mut dyn Asked,
    texts: &[EvidenceText],
    folder: &Path,
    shared: &SharedOptions,
) -> Result<Accepted, NotAccepted> {
    write(folder, texts).map_err(|error| format!("it cannot be written: {error}"))?;
    // Other texts are repaired programs, which evidence has the digests of.
    let is_evidence = |text: &&EvidenceText| Path::new(&text.name).extension().is_some_and(|it| it == "json");
    let read = |text: &EvidenceText| match Evidence::read(text.text.as_bytes()) {
        Ok(evidence) => Ok((evidence, text.name.clone())),
        Err(malformed) => Err(format!("malformed: {malformed}")),
    };
    let mut pieces = texts.iter().filter(is_evidence).map(read).collect::<Result<Vec<_>, _>>()?;
    // Evidence about a repair says which texts are repaired ones.
    pieces.sort_by_key(|(evidence, _)| !matches!(evidence, Evidence::Repair(..)));
    let mut all = Accepted::default();
    for (evidence, name) in pieces {
        if !asked.is_about(&evidence) {
            return Err("it is about something else than the job".to_owned().into());
        }
        let path = folder.join(&name).display().to_string();
        let own = accepted(&path, &name, shared)?;
        asked.take(&evidence, &own)?;
        all.kinds.push(own.kind.to_owned());
        all.paths.push(path);
        let mut document: Value = serde_json::from_str(&own.document).expect("documents are JSON");
        // Repaired texts lie beside the evidence, wherever that was put.
        if let Some(name) = document["input"].as_str().and_then(|input| Path::new(input).strip_prefix(folder).ok()) {
            document["input"] = name.display().to_string().into();
        }
        all.documents.push(document);
    }
    Ok(all)
}
