//! Many inputs at once: folders and lists expanded, the work spread over the worker threads, the
//! answers in the order of the inputs.

use super::folder::files_in;
use super::load::exit_of;
use super::output::{Documents, print_text, remark};
use super::outputs::OutputOptions;
use super::{Exit, SharedOptions, pending, print_input_error, watchdog};
use crate::report::findings::{Answer, refusal_findings};
use crate::report::{counted, documents};
use crate::syntax::{Format, InputError};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// With more programs than this, each gets one line unless the user wants more.
const MOST_FULL_REPORTS: usize = 8;

/// What a command says about one program.
pub(super) struct Spoken {
    pub(super) exit: Exit,
    /// How an `exists` is answered, which claims nothing.
    pub(super) often: Option<&'static str>,
    /// For standard output.
    pub(super) report: String,
    /// For standard error.
    pub(super) remarks: String,
    /// For `--json`, the text of the document.
    pub(super) document: Option<String>,
    /// What was found, where a file for other machines asks for it.
    pub(super) answer: Option<Answer>,
    /// Whether it leaves open who waits for ever.
    pub(super) leaves_hangs: bool,
}

impl Spoken {
    /// What is printed.
    pub(super) fn new(exit: Exit, report: String, remarks: String) -> Self {
        Self { exit, often: None, report, remarks, document: None, answer: None, leaves_hangs: false }
    }

    /// With a document in place of the report.
    pub(super) fn with_document(self, document: String) -> Self {
        Self { document: Some(document), ..self }
    }

    /// Adds what was found. Where evidence was rejected, nothing is known.
    pub(super) fn add_answer(&mut self, mut answer: Answer) {
        if self.exit == Exit::Rejected {
            answer.doubt("the evidence for this answer was rejected, do not rely on it");
        }
        self.answer = Some(answer);
    }

    /// Why a program was refused, or not read to its end.
    pub(super) fn refused(file: &str, error: &InputError, shared: &SharedOptions) -> Self {
        let answer = Answer {
            file: file.to_owned(),
            seconds: 0.0,
            findings: refusal_findings(file, error),
            report: error.render(false),
            page: None,
        };
        let spoken = Self {
            exit: exit_of(error),
            often: None,
            report: String::new(),
            remarks: String::new(),
            document: None,
            answer: Some(answer),
            leaves_hangs: false,
        };
        match error {
            _ if shared.json => Self { document: Some(documents::refusal(error)), ..spoken },
            InputError::Stopped { .. } => Self { report: error.render(false), ..spoken },
            _ => Self { remarks: error.render(shared.colours_stderr()), ..spoken },
        }
    }
}

/// How much to say about one program.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// One line has to do.
    pub(super) brief: bool,
    /// There is no other program.
    pub(super) is_only_one: bool,
}

/// What a command answers about many inputs.
pub(super) struct Batch<'a> {
    /// Its name.
    pub(super) command: &'static str,
    /// The arguments that stand for the inputs.
    pub(super) files: &'a [String],
    /// The format of the inputs, where the command line says so.
    pub(super) from: Option<Format>,
    /// What the answer is about those for which it is yes, and about those for which it is no.
    pub(super) words: (&'static str, &'static str),
    /// The command that shows how a program is violated, which has one line where there are many.
    pub(super) shows: Option<String>,
    /// What to write besides.
    pub(super) outputs: &'a OutputOptions,
}

/// Answers the programs that the arguments stand for, prints what there is to say and writes what
/// is asked for. The worst exit status.
pub(super) fn answer_all(
    batch: &Batch<'_>,
    shared: &SharedOptions,
    answer: impl Fn(&str, Extent) -> Spoken + Sync,
) -> Exit {
    let Batch { command, files, from, words, ref shows, outputs } = *batch;
    let outputs = match outputs.open() {
        Ok(outputs) => outputs,
        Err(error) => return print_input_error(&error, shared),
    };
    let inputs = match Inputs::expand(files, from) {
        Ok(inputs) => inputs,
        Err(error) if shared.json => {
            let mut documents = Documents::new(Inputs::are_several(files));
            documents.add(documents::refusal(&error));
            documents.print();
            return Exit::BadInput;
        }
        Err(error) => return print_input_error(&error, shared),
    };
    if inputs.several && batch.outputs.asks_for_a_page() {
        let error = InputError::file("--report", "a page is about one program");
        let help = "name one, or write `--junit FILE` or `--sarif FILE` for many".to_owned();
        return print_input_error(&error.with_help_if(Some(help)), shared);
    }
    let extent = Extent {
        brief: inputs.paths.len() > MOST_FULL_REPORTS && shared.verbose == 0,
        is_only_one: inputs.paths.len() == 1,
    };
    let mut worst = Exit::Holds;
    let (mut exits, mut open_hangs) = (Vec::new(), 0);
    let mut answers = Vec::new();
    let mut documents = Documents::new(inputs.several);
    watchdog::watch_inputs(&inputs.paths, inputs.several, shared);
    inputs.for_each(
        shared,
        |file| {
            let _open = pending::begin(file);
            answer(file, extent)
        },
        |file, spoken| {
            pending::answered(file, spoken.exit, spoken.document.as_ref());
            worst = worst.worst(spoken.exit);
            exits.push((spoken.exit, spoken.often));
            open_hangs += usize::from(spoken.leaves_hangs);
            answers.extend(spoken.answer);
            remark(spoken.remarks);
            print_text(spoken.report);
            spoken.document.into_iter().for_each(|document| documents.add(document));
        },
    );
    if shared.json {
        documents.print();
    } else if inputs.several {
        print_text(summary(&exits, open_hangs, words, shows.as_deref().filter(|_| extent.brief)));
    }
    match outputs.finish(command, &answers) {
        Ok(()) => worst,
        Err(error) => worst.worst(print_unwritten(&error, shared)),
    }
}

/// Says that a file could not be written behind answers that are printed already.
pub(super) fn print_unwritten(error: &InputError, shared: &SharedOptions) -> Exit {
    remark(error.render(shared.colours_stderr()));
    Exit::BadInput
}

/// How many programs there were of each kind, and how more is told of those that had one line.
/// Where nothing is violated or unknown, and an `exists` is answered, its word counts.
fn summary(exits: &[(Exit, Option<&str>)], open_hangs: usize, words: (&str, &str), shows: Option<&str>) -> String {
    let count = |exit| exits.iter().filter(|(found, _)| *found == exit).count();
    let holding = |often| exits.iter().filter(|found| **found == (Exit::Holds, often)).count();
    let good = match (words.0, holding(None)) {
        ("hold", 1) => "holds",
        (good, _) => good,
    };
    let mut parts = vec![format!("{} {good}", holding(None)), format!("{} {}", count(Exit::Fails), words.1)];
    if holding(None) == 0 && holding(None) < count(Exit::Holds) {
        parts.remove(0);
    }
    for often in ["Never", "Sometimes"] {
        if holding(Some(often)) > 0 {
            parts.push(format!("{} {often}", holding(Some(often))));
        }
    }
    for (exit, word) in [(Exit::Unknown, "unknown"), (Exit::BadInput, "refused")] {
        if count(exit) > 0 {
            parts.push(format!("{} {word}", count(exit)));
        }
    }
    if open_hangs > 0 {
        parts.push(format!("hangs open in {open_hangs}"));
    }
    let shows = shows.filter(|_| count(Exit::Fails) > 0);
    let more = shows.map_or(String::new(), |shows| format!("; `{shows}` shows how one is violated"));
    format!("{}: {}{more}\n", counted(exits.len(), "program"), parts.join(", "))
}

/// The inputs that the arguments stand for, and whether there may be several.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    /// Paths of files, or `-`.
    pub(super) paths: Vec<String>,
    /// Whether the arguments ask for several: more than one argument, a folder, or a list.
    pub(super) several: bool,
}

impl Inputs {
    /// Whether arguments ask for several inputs.
    pub(super) fn are_several(arguments: &[String]) -> bool {
        let several = |argument: &String| argument.starts_with('@') || Path::new(argument).is_dir();
        arguments.len() > 1 || arguments.iter().any(several)
    }

    /// Expands arguments. A folder stands for the programs in it, deeply, in the order of their
    /// names: those with the extension of the format asked for, otherwise `.pal` and `.litmus`.
    /// `@LIST` stands for the paths on the lines of a file.
    pub(super) fn expand(arguments: &[String], from: Option<Format>) -> Result<Self, InputError> {
        let mut paths = Vec::new();
        for argument in arguments {
            if let Some(list) = argument.strip_prefix('@') {
                let text = std::fs::read_to_string(list).map_err(|error| unreadable(list, &error))?;
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                paths.extend(lines.map(str::to_owned));
            } else if Path::new(argument).is_dir() {
                let before = paths.len();
                programs_in(Path::new(argument), from, &mut paths)?;
                if paths.len() == before {
                    let help = "without --from, programs are files that end in .pal or .litmus";
                    return Err(InputError::file(argument, "the folder contains no programs")
                        .with_help_if(Some(help.to_owned())));
                }
            } else {
                paths.push(argument.clone());
            }
        }
        Ok(Self { paths, several: Self::are_several(arguments) })
    }

    /// Does the work for every input, on as many threads as there are workers, and hands the
    /// results over in the order of the inputs, each as soon as those before it are there.
    pub(super) fn for_each<T: Send>(
        &self,
        shared: &SharedOptions,
        work: impl Fn(&str) -> T + Sync,
        mut finish: impl FnMut(&str, T),
    ) {
        if let [only] = self.paths.as_slice() {
            finish(only, work(only));
            return;
        }
        let progress = self.progress(shared);
        let (sender, receiver) = mpsc::channel();
        let next = AtomicUsize::new(0);
        let take_turns = |sender: mpsc::Sender<(usize, T)>| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = self.paths.get(index) else { return };
                // The receiver is gone only when the main thread is ending already.
                if sender.send((index, work(path))).is_err() {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            let take_turns = &take_turns;
            scope.spawn(move || {
                rayon::scope(|workers| {
                    for _ in 0..rayon::current_num_threads() {
                        let sender = sender.clone();
                        workers.spawn(move |_| take_turns(sender));
                    }
                    drop(sender);
                });
            });
            let mut waiting = BTreeMap::new();
            let mut due = 0;
            for (index, result) in receiver {
                progress.inc(1);
                waiting.insert(index, result);
                while let Some(result) = waiting.remove(&due) {
                    progress.suspend(|| finish(&self.paths[due], result));
                    due += 1;
                }
            }
        });
        progress.finish_and_clear();
    }

    /// A bar on standard error, when that is a terminal and there is something to wait for.
    fn progress(&self, shared: &SharedOptions) -> ProgressBar {
        if shared.quiet {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(self.paths.len() as u64);
        let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} {eta}");
        bar.with_style(style.expect("the template is well formed"))
    }
}

fn unreadable(path: &str, error: &std::io::Error) -> InputError {
    InputError::file(path, format!("cannot be read: {error}"))
}

fn programs_in(folder: &Path, from: Option<Format>, paths: &mut Vec<String>) -> Result<(), InputError> {
    let files = files_in(folder).map_err(|(path, error)| unreadable(&path.display().to_string(), &error))?;
    let is_wanted = |path: &PathBuf| {
        let format = Format::of_path(path);
        match from {
            Some(_) => format == from,
            None => matches!(format, Some(Format::Native | Format::Litmus)),
        }
    };
    paths.extend(files.iter().filter(|path| is_wanted(path)).map(|path| path.display().to_string()));
    Ok(())
}
