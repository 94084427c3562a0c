//! Files of results: a line for each job that was done.

use crate::cli::folder::files_in;
use crate::report::documents::{JobDocument, LineCounts, ResultDocument};
use crate::syntax::InputError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The kind of results.
pub(super) const KIND: &str = "palisade/result/1";

/// What names of files of results end in.
const ENDING: &str = ".results.jsonl";

/// The file of results of a plan, or of a share of it: beside the plan, `jobs.3-of-8.results.jsonl`
/// for `jobs.jsonl`.
pub(super) fn beside(plan: &str, share: Option<&str>) -> PathBuf {
    let path = Path::new(plan);
    let share = share.map(|share| format!(".{share}")).unwrap_or_default();
    path.with_file_name(format!("{}{share}{ENDING}", stem(path)))
}

fn stem(plan: &Path) -> String {
    plan.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files of results beside a plan.
pub(super) fn all_beside(plan: &str) -> Result<Vec<PathBuf>, InputError> {
    let path = Path::new(plan);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let begin = format!("{}.", stem(path));
    let failed = |error| InputError::file(folder.display().to_string(), format!("cannot be read: {error}"));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        // The share between them has no dot: `jobs.more.results.jsonl` is of the plan
        // `jobs.more.jsonl` or of the share `more`.
        if name.starts_with(&begin) && name.ends_with(ENDING) {
            found.push(path.with_file_name(name));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The files that arguments stand for: a folder for the files of results in it.
pub(super) fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, InputError> {
    let mut files = Vec::new();
    for argument in arguments {
        if argument.is_dir() {
            let failed = |(path, error): (PathBuf, std::io::Error)| {
                InputError::file(path.display().to_string(), format!("cannot be read: {error}"))
            };
            let found = files_in(argument).map_err(failed)?;
            files.extend(found.into_iter().filter(|path| path.to_string_lossy().ends_with(ENDING)));
        } else {
            files.push(argument.clone());
        }
    }
    Ok(files)
}

/// Results by job, each with the file it stands in.
#[derive(Default)]
pub(super) struct Results {
    /// The results of each job of the plan, in the order in which they were read.
    pub(super) by_job: BTreeMap<String, Vec<(ResultDocument, PathBuf)>>,
    /// What was passed over.
    pub(super) lines: LineCounts,
}

impl Results {
    /// No results yet of a plan.
    pub(super) fn of(jobs: &[JobDocument]) -> Self {
        Self { by_job: jobs.iter().map(|job| (job.job.clone(), Vec::new())).collect(), ..Self::default() }
    }

    /// Reads a file. Lines that are no results are passed over, as those are that a worker has not
    /// finished; so are results of other jobs.
    pub(super) fn read(&mut self, path: &Path) -> Result<(), InputError> {
        let failed = |error| InputError::file(path.display().to_string(), format!("cannot be read: {error}"));
        let text = std::fs::read(path).map_err(failed)?;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
            let Ok(result) = serde_json::from_slice::<ResultDocument>(line) else {
                self.lines.damaged += 1;
                continue;
            };
            match self.by_job.get_mut(&result.job).filter(|_| result.schema == KIND) {
                Some(known) if known.iter().any(|(other, _)| is_same(other, &result)) => self.lines.repeated += 1,
                Some(known) => known.push((result, path.to_owned())),
                None => self.lines.foreign += 1,
            }
        }
        Ok(())
    }

    /// Whether a job was done.
    pub(super) fn has(&self, job: &JobDocument) -> bool {
        self.by_job.get(&job.job).is_some_and(|results| !results.is_empty())
    }
}

/// The verdict that a document states, where it states one.
pub(super) fn verdict(result: &ResultDocument) -> Option<&str> {
    let own = |key: &str| result.document.get(key).and_then(serde_json::Value::as_str);
    own("headline").or_else(|| own("verdict"))
}

/// Whether two results of a job say the same with the same evidence. Times differ.
fn is_same(one: &ResultDocument, other: &ResultDocument) -> bool {
    one.exit == other.exit && verdict(one) == verdict(other) && one.evidence == other.evidence
}
