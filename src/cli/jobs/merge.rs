//! `palisade merge`: one answer of what came of all jobs.

use super::asked::{Answer, asked};
use super::attacks::{self, is_part, whole};
use super::command::Command;
use super::evidence::{Accepted, accept};
use super::job::{check_inputs, read_plan};
use super::results::{Results, all_beside, files, verdict};
use crate::cli::files::TemporaryFolder;
use crate::cli::output::{print_document, print_line, remark_line};
use crate::cli::verify::NotAccepted;
use crate::cli::{Exit, SharedOptions, print_input_error};
use crate::report::counted;
use crate::report::documents::{
    EvidenceText, JobDocument, LineCounts, MergeDocument, MergedAnswer, MergedProperty, ResultDocument,
};
use crate::syntax::InputError;
use clap::Args;
use rayon::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Options of `palisade merge`. `--timeout` is that of the check of each answer's evidence.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct MergeArguments {
    /// The plan.
    #[arg(value_name = "PLAN")]
    plan: String,
    /// Files of results, or folders with them; without any, those beside the plan.
    #[arg(value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// Keep the evidence of all answers in this folder, in one for each answer.
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
}

/// Runs `palisade merge`.
pub(in crate::cli) fn run(arguments: &MergeArguments, shared: &SharedOptions) -> Exit {
    merge(arguments, shared).unwrap_or_else(|error| print_input_error(&error, shared))
}

fn merge(arguments: &MergeArguments, shared: &SharedOptions) -> Result<Exit, InputError> {
    let jobs = read_plan(&arguments.plan)?;
    let paths = match arguments.results.as_slice() {
        [] => all_beside(&arguments.plan)?,
        named => files(named)?,
    };
    let mut results = Results::of(&jobs);
    paths.iter().try_for_each(|path| results.read(path))?;
    refuse_missing(&arguments.plan, &jobs, &results)?;
    let chosen: Vec<&ResultDocument> = jobs.iter().map(|job| choose(job, &results)).collect::<Result<_, _>>()?;
    let unwritten = |error: std::io::Error| InputError::file("--certificate", format!("cannot be written: {error}"));
    let temporary = TemporaryFolder::new().map_err(unwritten)?;
    let kept = arguments.certificate.as_deref();
    let pairs: Vec<(&JobDocument, &ResultDocument)> = jobs.iter().zip(chosen).collect();
    let questions: Vec<_> = pairs.chunk_by(|(one, _), (other, _)| are_of_one_question(one, other)).collect();
    let answer = |parts: &&[(&JobDocument, &ResultDocument)]| {
        let folder = kept.unwrap_or(temporary.path()).join(&parts[0].0.job[..16]);
        let mut answer = Question { parts, folder: &folder, shared }.answer()?;
        if kept.is_none() {
            answer.certificates.clear();
        }
        Ok(answer)
    };
    let answers: Vec<MergedAnswer> = questions.par_iter().map(answer).collect::<Result<_, InputError>>()?;
    let exit = answers.iter().map(|answer| exit_of(answer.exit)).fold(Exit::Holds, Exit::worst);
    if shared.json {
        print_document(&MergeDocument::new(&arguments.plan, jobs.len(), results.lines, answers));
    } else {
        print(&answers, jobs.len(), results.lines, shared);
    }
    Ok(exit)
}

/// Whether two jobs, one after the other, are parts of one question.
fn are_of_one_question(one: &JobDocument, other: &JobDocument) -> bool {
    is_part(&one.arguments) && is_part(&other.arguments) && whole(&one.arguments) == whole(&other.arguments)
}

/// Refuses results in which those of some jobs are missing.
fn refuse_missing(plan: &str, jobs: &[JobDocument], results: &Results) -> Result<(), InputError> {
    let missing: Vec<&JobDocument> = jobs.iter().filter(|job| !results.has(job)).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let counted = counted(jobs.len(), "job");
    let message = format!(
        "{} of {counted} have no result, the first of them `palisade {}`",
        missing.len(),
        first.arguments.join(" ")
    );
    let help = format!("`palisade run {plan}` does them, each shard its own");
    Err(InputError::file(plan, message).with_help_if(Some(help)))
}

/// The result of a job that counts. An answer counts before an error, and an error before none; two
/// different answers are a contradiction.
fn choose<'a>(job: &JobDocument, results: &'a Results) -> Result<&'a ResultDocument, InputError> {
    let all = results.by_job.get(&job.job).map_or(&[][..], Vec::as_slice);
    let rank = |result: &ResultDocument| match exit_of(result.exit) {
        Exit::Rejected => 0,
        Exit::Holds | Exit::Fails => 1,
        Exit::BadInput => 2,
        Exit::Unknown => 3 + u8::from(result.evidence.is_empty()),
    };
    let (first, place) = all.iter().min_by_key(|(result, _)| rank(result)).expect("no job is missing");
    let differs = |(other, _): &&(ResultDocument, PathBuf)| {
        rank(other) == 1 && (other.exit, verdict(other)) != (first.exit, verdict(first))
    };
    match all.iter().find(differs) {
        Some((other, other_place)) if rank(first) == 1 => {
            let words = |result: &ResultDocument| verdict(result).unwrap_or("an answer").to_owned();
            let message = format!(
                "`palisade {}` is {} in {} and {} in {}",
                job.arguments.join(" "),
                words(first),
                place.display(),
                words(other),
                other_place.display()
            );
            let help = "one of them is wrong: please report this".to_owned();
            Err(InputError::file(place.display().to_string(), message).with_help_if(Some(help)))
        }
        _ => Ok(first),
    }
}

/// An exit status as a command has it. What no command has is taken for the worst.
fn exit_of(code: u8) -> Exit {
    let known = [Exit::Holds, Exit::Fails, Exit::BadInput, Exit::Unknown, Exit::Rejected];
    known.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Rejected)
}

/// A question with the results that answer it: one, or those of all parts.
struct Question<'a> {
    parts: &'a [(&'a JobDocument, &'a ResultDocument)],
    /// The folder for its evidence.
    folder: &'a Path,
    shared: &'a SharedOptions,
}

impl Question<'_> {
    /// The answer that the evidence gives.
    fn answer(&self) -> Result<MergedAnswer, InputError> {
        let (first, _) = self.parts[0];
        check_inputs(first)?;
        let results = self.parts.iter().map(|(_, result)| *result);
        let joined = is_part(&first.arguments).then(|| attacks::join(results)).flatten();
        let told = match joined {
            Some(certificate) => self.shown(&[certificate], Exit::Holds),
            None => {
                let result = self.telling();
                match exit_of(result.exit) {
                    Exit::Rejected => Told::rejected("the job itself has rejected it"),
                    Exit::BadInput => Told::said(Exit::BadInput, result),
                    exit => self.shown(&result.evidence, exit).or_said(result),
                }
            }
        };
        let Told { exit, verdict, reason, cost, properties, accepted } = told;
        Ok(MergedAnswer {
            arguments: whole(&first.arguments).to_vec(),
            jobs: self.parts.len(),
            exit: exit.code(),
            verdict,
            reason,
            cost: cost.as_ref().map(|(cost, _)| cost.clone()),
            cheapest: cost.map(|(_, is_cheapest)| is_cheapest),
            properties: properties.into_iter().map(|(id, value)| MergedProperty { id, value }).collect(),
            accepted: accepted.kinds,
            certificates: accepted.paths,
            seconds: self.parts.iter().map(|(_, result)| result.seconds).sum(),
            documents: accepted.documents,
        })
    }

    /// The answer that evidence gives, which is to be the one of a command that has ended in this
    /// way.
    fn shown(&self, evidence: &[EvidenceText], exit: Exit) -> Told {
        let (first, _) = self.parts[0];
        let asked = Command::of(&first.arguments).and_then(|command| asked(&command, &first.inputs));
        let mut asked = match asked {
            Ok(asked) => asked,
            Err(error) => return Told::rejected(&error.render(false)),
        };
        match accept(asked.as_mut(), evidence, self.folder, self.shared) {
            Ok(accepted) => {
                let Answer { exit: shown, verdict, cost, properties } = asked.answer();
                if shown != exit {
                    return Told::rejected("there is no evidence for the answer");
                }
                Told { exit, verdict: Some(verdict.to_owned()), reason: None, cost, properties, accepted }
            }
            Err(NotAccepted::Rejected(reason)) => Told::rejected(&reason),
            Err(NotAccepted::Stopped(reason)) => Told {
                exit: Exit::Unknown,
                verdict: Some("unknown".to_owned()),
                reason: Some(format!("{reason} before the evidence was checked")),
                ..Told::rejected("")
            },
        }
    }

    /// The result that tells the answer, where not every part shows its attacks infeasible: the
    /// first of those that say most.
    fn telling(&self) -> &ResultDocument {
        let open = self.parts.iter().filter(|(job, result)| !is_part(&job.arguments) || !attacks::is_shown(result));
        // One violation is enough; without one, what a part has no answer for is unknown.
        let rank = |(_, result): &&(&JobDocument, &ResultDocument)| match exit_of(result.exit) {
            Exit::Rejected => 0,
            Exit::Fails => 1,
            Exit::BadInput => 2,
            Exit::Unknown | Exit::Holds => 3,
        };
        open.min_by_key(rank).map_or(self.parts[0].1, |(_, result)| *result)
    }
}

/// What is told of a question.
struct Told {
    exit: Exit,
    verdict: Option<String>,
    reason: Option<String>,
    cost: Option<(String, bool)>,
    properties: Vec<(String, Option<String>)>,
    accepted: Accepted,
}

impl Told {
    /// That the evidence is rejected.
    fn rejected(reason: &str) -> Self {
        let reason = Some(format!("the evidence is rejected: {}", reason.trim_end()));
        Self::without_answer(Exit::Rejected, None, reason)
    }

    /// What a job says that has no answer.
    fn said(exit: Exit, result: &ResultDocument) -> Self {
        let verdict = (exit == Exit::Unknown).then(|| "unknown".to_owned());
        Self::without_answer(exit, verdict, reason(result))
    }

    fn without_answer(exit: Exit, verdict: Option<String>, reason: Option<String>) -> Self {
        Self { exit, verdict, reason, cost: None, properties: Vec::new(), accepted: Accepted::default() }
    }

    /// The same, with the job's reason why it is not known.
    fn or_said(self, result: &ResultDocument) -> Self {
        let is_open = self.exit == Exit::Unknown && self.reason.is_none();
        if is_open { Self { reason: reason(result), ..self } } else { self }
    }
}

/// Why a job has no answer, in its own words.
fn reason(result: &ResultDocument) -> Option<String> {
    let text = |value: &Value| value.as_str().map(|text| format!("the job says: {text}"));
    let of_error = || result.document.get("error").and_then(|error| error.get("message")).and_then(text);
    let answers = result.document.get("answers").and_then(Value::as_array);
    let of_answer = || answers?.iter().find_map(|answer| answer.get("reason").and_then(text));
    result.document.get("reason").and_then(text).or_else(of_answer).or_else(of_error)
}

/// Prints a line for each answer, and how many there are of each kind.
fn print(answers: &[MergedAnswer], jobs: usize, lines: LineCounts, shared: &SharedOptions) {
    for answer in answers {
        let mut line =
            format!("palisade {}: {}", answer.arguments.join(" "), answer.verdict.as_deref().unwrap_or("no answer"));
        if let Some(cost) = &answer.cost {
            let cheapest = if answer.cheapest == Some(true) { ", and none is cheaper" } else { "" };
            line.push_str(&format!(" at a cost of {cost}{cheapest}"));
        }
        if let Some(reason) = &answer.reason {
            line.push_str(&format!(", {reason}"));
        }
        if answer.jobs > 1 {
            line.push_str(&format!(" [{}]", counted(answer.jobs, "part")));
        }
        print_line(line);
        for MergedProperty { id, value } in &answer.properties {
            print_line(format_args!("  {id} {}", value.as_deref().unwrap_or("unknown")));
        }
    }
    let count = |exit: Exit| answers.iter().filter(|answer| answer.exit == exit.code()).count();
    let of_all = |answer: &&MergedAnswer| answer.exit == Exit::Holds.code() && !answer.properties.is_empty();
    let of_all = answers.iter().filter(of_all).count();
    let mut parts = vec![format!("{} hold", count(Exit::Holds) - of_all), format!("{} fail", count(Exit::Fails))];
    if of_all > 0 {
        parts.push(format!("{of_all} answered for each property"));
    }
    for (exit, word) in [(Exit::Unknown, "unknown"), (Exit::BadInput, "refused"), (Exit::Rejected, "rejected")] {
        if count(exit) > 0 {
            parts.push(format!("{} {word}", count(exit)));
        }
    }
    let accepted: usize = answers.iter().map(|answer| answer.accepted.len()).sum();
    print_line(format_args!(
        "{} from {}: {}; {} of evidence accepted",
        counted(answers.len(), "answer"),
        counted(jobs, "job"),
        parts.join(", "),
        counted(accepted, "piece")
    ));
    let LineCounts { damaged, repeated, foreign } = lines;
    if !shared.quiet && lines != LineCounts::default() {
        remark_line(format_args!(
            "lines passed over: {damaged} damaged, {repeated} repeated, {foreign} of other plans"
        ));
    }
}
