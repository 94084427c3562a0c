//! `palisade run`: does the jobs of a plan.
//!
//! Each job is a process of its own. So a job that ends badly ends no other one, and limits of
//! memory are those of the job.

use super::job::{check_inputs, read_plan};
use super::results::{KIND, Results, beside};
use super::shard::Shard;
use crate::cli::bench::process::{End, Watched, watch};
use crate::cli::files::TemporaryFolder;
use crate::cli::lines::Lines;
use crate::cli::output::{print_document, print_line, remark_line};
use crate::cli::{Exit, SharedOptions, print_input_error};
use crate::limits::Limits;
use crate::report::counted;
use crate::report::documents::{EvidenceText, JobDocument, ResultDocument, RunDocument, UnfinishedJob};
use crate::syntax::InputError;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Options of `palisade run`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct RunArguments {
    /// The plan.
    #[arg(value_name = "PLAN")]
    plan: String,
    /// Do every N-th job only, from the I-th on: `3/8`.
    #[arg(long, value_name = "I/N", conflicts_with = "from_env")]
    shard: Option<Shard>,
    /// Do the jobs that fall to the task as which Slurm, HyperQueue, Kubernetes or GNU parallel has
    /// started this process. Where they do not say how many tasks there are, `PALISADE_SHARDS`
    /// does.
    #[arg(long)]
    from_env: bool,
    /// Append results to this file; without it, to one beside the plan, of a name for each shard.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do jobs again whose answer was `unknown`.
    #[arg(long)]
    again: bool,
}

/// Runs `palisade run`.
pub(in crate::cli) fn run(arguments: &RunArguments, shared: &SharedOptions) -> Exit {
    do_jobs(arguments, shared).unwrap_or_else(|error| print_input_error(&error, shared))
}

fn do_jobs(arguments: &RunArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let begin = Instant::now();
    let shard = match arguments.shard {
        Some(shard) => shard,
        None if arguments.from_env => Shard::from_environment(|name| std::env::var(name).ok())?,
        None => Shard::ALL,
    };
    let own: Vec<JobDocument> = read_plan(&arguments.plan)?.into_iter().filter(|job| shard.has(job.number)).collect();
    let path = arguments.output.clone().unwrap_or_else(|| beside(&arguments.plan, shard.name().as_deref()));
    let mut known = Results::of(&own);
    if path.is_file() {
        known.read(&path)?;
    }
    let is_done = |job: &&JobDocument| {
        let is_unknown = |(result, _): &(ResultDocument, PathBuf)| result.exit == Exit::Unknown.code();
        known.has(job) && !(arguments.again && known.by_job[&job.job].iter().all(is_unknown))
    };
    let open: Vec<&JobDocument> = own.iter().filter(|job| !is_done(job)).collect();
    let worker = Worker {
        shared,
        limits: shared.limits(),
        lines: Mutex::new(Lines::open(&path)?),
        next: AtomicUsize::new(0),
        tally: Mutex::default(),
    };
    worker.do_all(&open);
    let Tally { done, mut unfinished, failure } = worker.tally.into_inner().expect("no worker panics");
    if let Some(error) = failure {
        return Err(error);
    }
    unfinished.sort_by_key(|(number, _)| *number);
    let unfinished: Vec<UnfinishedJob> = unfinished.into_iter().map(|(_, job)| job).collect();
    let is_whole = done == open.len();
    let results = path.display().to_string();
    if shared.json {
        print_document(&RunDocument {
            jobs: own.len(),
            done_before: own.len() - open.len(),
            done,
            unfinished: &unfinished,
            seconds: begin.elapsed().as_secs_f64(),
            ..RunDocument::new(&arguments.plan, &results)
        });
    } else {
        for job in &unfinished {
            remark_line(format_args!("palisade {}: {}", job.arguments.join(" "), job.reason));
        }
        if !shared.quiet {
            let before = own.len() - open.len();
            print_line(format_args!("{results}: {}, {done} done now, {before} before", counted(own.len(), "job")));
        }
    }
    Ok(if is_whole { Exit::Holds } else { Exit::Unknown })
}

/// What has become of the jobs so far.
#[derive(Default)]
struct Tally {
    /// How many were done.
    done: usize,
    /// Those that came to no end, with their numbers.
    unfinished: Vec<(usize, UnfinishedJob)>,
    /// Why no more jobs can be done.
    failure: Option<InputError>,
}

/// Does jobs, several at once.
struct Worker<'a> {
    shared: &'a SharedOptions,
    /// When to stop.
    limits: Limits,
    /// The file of results.
    lines: Mutex<Lines>,
    /// The next job.
    next: AtomicUsize,
    tally: Mutex<Tally>,
}

impl Worker<'_> {
    /// Does all jobs, as many at once as there are processors, or as the options say.
    fn do_all(&self, jobs: &[&JobDocument]) {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let at_once = self.shared.jobs.map_or_else(processors, usize::from).min(jobs.len());
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
                        if self.limits.check().is_err() || !self.take(job) {
                            return;
                        }
                    }
                });
            }
        });
    }

    /// Does a job and keeps its result; whether to go on.
    fn take(&self, job: &JobDocument) -> bool {
        let done = check_inputs(job).map_err(|error| error.render(false).trim_end().to_owned());
        let done = done.and_then(|()| self.result(job));
        let mut tally = self.tally.lock().expect("no worker panics");
        match done {
            Ok(result) => match self.lines.lock().expect("no worker panics").append(&result) {
                Ok(()) => tally.done += 1,
                Err(error) => tally.failure = Some(error),
            },
            Err(reason) => {
                let (name, arguments) = (job.job.clone(), job.arguments.clone());
                tally.unfinished.push((job.number, UnfinishedJob { job: name, arguments, reason }));
            }
        }
        tally.failure.is_none()
    }

    /// Runs the command of a job to its end; its result, or why there is none.
    fn result(&self, job: &JobDocument) -> Result<ResultDocument, String> {
        let folder = TemporaryFolder::new().map_err(|error| format!("no folder for evidence can be made: {error}"))?;
        let program = std::env::current_exe().map_err(|error| format!("the program is not found: {error}"))?;
        let mut command = Command::new(program);
        let is_of_many = |word: &String| word == "--all" || word.starts_with("--ask");
        let is_file =
            job.arguments.first().is_some_and(|name| name == "cover") && !job.arguments.iter().any(is_of_many);
        let certificate = if is_file { folder.path().join("answer.json") } else { folder.path().to_owned() };
        command.args(&job.arguments).args(["--json", "--jobs=1", "--certificate"]).arg(certificate);
        let ended = watch(command, None, None, &self.limits).map_err(|error| format!("cannot be started: {error}"))?;
        let exit = status(&ended)?;
        let document = serde_json::from_str(&ended.output)
            .map_err(|error| format!("exit status {exit}, and no document: {error}: {}", ended.complaint.trim_end()))?;
        let [schema, tool, version] = [KIND, "palisade", env!("CARGO_PKG_VERSION")].map(str::to_owned);
        let seconds = ended.elapsed.as_secs_f64();
        let evidence = texts_in(folder.path()).map_err(|error| format!("its evidence cannot be read: {error}"))?;
        Ok(ResultDocument { schema, tool, version, job: job.job.clone(), exit, document, evidence, seconds })
    }
}

/// The exit status of a command that has answered.
fn status(ended: &Watched) -> Result<u8, String> {
    match ended.end {
        End::Exited(status) => match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(code @ 0..=4) => Ok(code),
            Some(code) => Err(format!("ended with status {code}: {}", ended.complaint.trim_end())),
            None => Err(format!("was ended from outside: {status}")),
        },
        End::Timeout | End::Memory | End::Interrupted => Err("interrupted".to_owned()),
    }
}

/// The files in a folder, in the order of their names.
fn texts_in(folder: &Path) -> std::io::Result<Vec<EvidenceText>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        texts.push(EvidenceText { name, text: std::fs::read_to_string(entry.path())? });
    }
    texts.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(texts)
}
