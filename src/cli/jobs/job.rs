//! Jobs, and the plan that lists them.

use super::command::Command;
use crate::evidence::sha256;
use crate::report::documents::{JobDocument, JobInput};
use crate::syntax::InputError;
use std::collections::BTreeSet;

/// The version of the program, which is part of what a job is known by.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The kind of jobs.
const KIND: &str = "palisade/job/1";

/// The jobs of a list of command lines, each job once.
pub(super) fn jobs(lines: Vec<(Vec<String>, Vec<JobInput>)>) -> Vec<JobDocument> {
    let mut known = BTreeSet::new();
    let mut jobs = Vec::new();
    for (arguments, inputs) in lines {
        let job = identity(&arguments, &inputs);
        if known.insert(job.clone()) {
            let [schema, tool, version] = [KIND, "palisade", VERSION].map(str::to_owned);
            let number = jobs.len() + 1;
            jobs.push(JobDocument { schema, tool, version, job, number, of: 0, arguments, inputs });
        }
    }
    let of = jobs.len();
    jobs.iter_mut().for_each(|job| job.of = of);
    jobs
}

/// What a job is known by.
fn identity(arguments: &[String], inputs: &[JobInput]) -> String {
    sha256(serde_json::json!([VERSION, arguments, inputs]).to_string().as_bytes())
}

/// Reads a plan, which has to be whole and written by this version of the program.
pub(super) fn read_plan(path: &str) -> Result<Vec<JobDocument>, InputError> {
    let failed = |message: String| InputError::file(path, message);
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let mut jobs: Vec<JobDocument> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let job: JobDocument =
            serde_json::from_str(line).map_err(|error| failed(format!("line {number} is no job: {error}")))?;
        if job.schema != KIND {
            return Err(failed(format!("line {number} is no job, but of the kind `{}`", job.schema)));
        }
        if job.version != VERSION {
            let help = "the same version has to plan, run and merge".to_owned();
            let message = format!("version {} wrote the plan, and this is version {VERSION}", job.version);
            return Err(failed(message).with_help_if(Some(help)));
        }
        if job.job != identity(&job.arguments, &job.inputs) {
            return Err(failed(format!("line {number} is another job than its hash says")));
        }
        jobs.push(job);
    }
    let count = jobs.len();
    let is_whole = jobs.iter().zip(1..).all(|(job, number)| job.number == number && job.of == count);
    if is_whole && count > 0 {
        return Ok(jobs);
    }
    let help = "write it anew with `palisade plan`".to_owned();
    Err(failed("the plan is not whole: jobs are left out, or are from another plan".to_owned())
        .with_help_if(Some(help)))
}

/// Refuses a job whose inputs are not what they were when it was planned.
pub(super) fn check_inputs(job: &JobDocument) -> Result<(), InputError> {
    let inputs = Command::of(&job.arguments)?.inputs()?;
    match job.inputs.iter().find(|input| !inputs.contains(input)) {
        Some(changed) => {
            let help = "write the plan anew, and run it again: results of other inputs do not count".to_owned();
            Err(InputError::file(&changed.path, "is not what it was when the job was planned").with_help_if(Some(help)))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> (Vec<String>, Vec<JobInput>) {
        let input = JobInput { path: "p".to_owned(), sha256: "0".to_owned() };
        (text.split(' ').map(str::to_owned).collect(), vec![input])
    }

    /// The error about a plan of these lines.
    fn refused(lines: &[String]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.jsonl");
        std::fs::write(&path, lines.join("\n")).expect("it is written");
        let read = read_plan(path.to_str().expect("UTF-8"));
        read.err().map(|error| error.render(false)).unwrap_or_default()
    }

    #[test]
    fn plans_are_whole_or_refused() {
        let jobs = jobs(vec![line("check a"), line("check b"), line("check a"), line("check c")]);
        assert_eq!(jobs.iter().map(|job| (job.number, job.of)).collect::<Vec<_>>(), [(1, 3), (2, 3), (3, 3)]);
        let text = |job: &JobDocument| serde_json::to_string(job).expect("plain data");
        let lines: Vec<String> = jobs.iter().map(text).collect();
        assert_eq!(refused(&lines), "");
        assert!(refused(&lines[..2]).contains("not whole"));
        assert!(refused(&[lines[0].clone(), lines[2].clone(), lines[1].clone()]).contains("not whole"));
        assert!(refused(&[]).contains("not whole"));
        assert!(refused(&[lines[0].clone(), lines[1][..40].to_owned()]).contains("line 2 is no job"));
        assert!(
            refused(&lines.iter().map(|line| line.replace("check", "prove")).collect::<Vec<_>>())
                .contains("another job")
        );
        let older = JobDocument { version: "0.0.1".to_owned(), ..jobs[0].clone() };
        assert!(refused(&[text(&older)]).contains("version 0.0.1"));
    }
}
