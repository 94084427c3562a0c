//! `palisade verify`: checks evidence against the inputs it is about.

use super::files::write_together;
use super::folder::create_folder;
use super::guard;
use super::load::machine_code;
use super::output::{Documents, print_line, remark_line};
use super::proved::{self, Proved};
use super::{Exit, SharedOptions};
use crate::evidence::{
    About, Evidence, InputFile, MAX_EVIDENCE_BYTES, NetSubject, ProgramSubject, PropertyEvidence, RepairClaim,
    RepairEvidence, StaleClaim,
};
use crate::limits::StopReason;
use crate::net;
use crate::program::{NoMonitor, Program};
use crate::report::documents::{
    self, EvidenceVerdict, PropertiesDocument, RepairDocument, SubjectDocument, VerifyDocument,
};
use crate::report::models::model_name;
use crate::report::smtlib;
use crate::report::subject::Subject;
use crate::report::targets::ShownProperties;
use crate::semantics::Question;
use crate::semantics::graphs::Axioms;
use crate::syntax::{self, Format, InputError, Parsed};
use crate::verify::{
    CheckFailure, Obligation, PropertyFacts, RepairFacts, check_content, check_every_compilation, check_net_evidence,
    check_program_evidence, check_property_evidence, check_reach_evidence, check_repair_evidence, is_in_source_order,
    without_inhibitors,
};
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Options of `palisade verify`.
#[derive(Clone, Debug, Args)]
pub(super) struct VerifyOptions {
    /// Evidence files; `-` for standard input.
    #[arg(required = true, value_name = "EVIDENCE")]
    evidence: Vec<String>,
    /// The program (or net) the evidence is about; by default the path that the evidence states.
    #[arg(long, alias = "net", value_name = "FILE")]
    program: Option<PathBuf>,
    /// The file with the question, for nets whose question is in a file of its own.
    #[arg(long, value_name = "FILE")]
    query: Option<PathBuf>,
    /// Write the obligations of accepted certificates as SMT-LIB 2 scripts into this folder.
    #[arg(long, value_name = "DIR")]
    smtlib: Option<PathBuf>,
    /// Have evidence about nets checked by `palisade-proved` too, which is proved sound in Coq.
    #[arg(long)]
    proved: bool,
}

/// Evidence that was accepted.
pub(super) struct AcceptedEvidence {
    /// Its kind.
    pub(super) kind: &'static str,
    /// What a proof of properties shows.
    pub(super) properties: Option<PropertyFacts>,
    /// What evidence about a repair shows.
    pub(super) repair: Option<RepairFacts>,
    /// The text of the document that `verify` prints about it.
    pub(super) document: String,
}

/// Why evidence was not accepted.
pub(super) enum NotAccepted {
    /// It does not show what it claims, or cannot be read.
    Rejected(String),
    /// A limit was reached.
    Stopped(StopReason),
}

impl From<String> for NotAccepted {
    fn from(reason: String) -> Self {
        Self::Rejected(reason)
    }
}

/// Checks the evidence in a file against the input that it states, under limits. The document calls
/// the file by `name`.
pub(super) fn accepted(path: &str, name: &str, shared: &SharedOptions) -> Result<AcceptedEvidence, NotAccepted> {
    let options = VerifyOptions { evidence: Vec::new(), program: None, query: None, smtlib: None, proved: false };
    let begin = Instant::now();
    let checked = within_limits(&options, shared, path);
    let document = checked.document(name, begin.elapsed());
    match checked {
        Checked::Accepted { kind, shown, .. } => {
            let (properties, repair) = match shown {
                Shown::Properties(_, facts) => (facts, None),
                Shown::Repair(facts) => (None, Some(facts)),
                Shown::Kind
                | Shown::Hope(_)
                | Shown::End(_)
                | Shown::Language(..)
                | Shown::Compilations(_)
                | Shown::Proved(_) => (None, None),
            };
            Ok(AcceptedEvidence { kind, properties, repair, document })
        }
        Checked::Rejected { reason } | Checked::Unreadable { reason } => Err(NotAccepted::Rejected(reason)),
        Checked::Stopped { reason } => Err(NotAccepted::Stopped(reason)),
    }
}

/// How one file fared.
enum Checked {
    Accepted { kind: &'static str, subject: Box<Subject>, shown: Shown },
    Rejected { reason: String },
    Unreadable { reason: String },
    Stopped { reason: StopReason },
}

/// What accepted evidence shows beyond its kind.
enum Shown {
    /// Nothing more.
    Kind,
    /// Whether some way lets each copy go on that waits.
    Hope(bool),
    /// Whether nobody is stuck, and what is to hold in the end does.
    End(bool),
    /// About a net, and the proved checker accepts it, in these words.
    Proved(String),
    /// About a language: its word, and what is so.
    Language(&'static str, String),
    /// About a repair.
    Repair(RepairFacts),
    /// About properties; of a proof also what the checker says.
    Properties(ShownProperties, Option<PropertyFacts>),
    /// About a build without optimisation that is robust: why that need not hold of every
    /// compilation of its sources, if it need not.
    Compilations(Option<String>),
}

impl From<CheckFailure> for Checked {
    fn from(failure: CheckFailure) -> Self {
        Self::Rejected { reason: failure.to_string() }
    }
}

/// Runs the subcommand.
pub(super) fn run(options: &VerifyOptions, shared: &SharedOptions) -> Exit {
    let mut exit = Exit::Holds;
    let mut documents = Documents::new(options.evidence.len() > 1);
    for path in &options.evidence {
        let start = Instant::now();
        let outcome = within_limits(options, shared, path);
        exit = exit.worst(outcome.exit());
        if shared.json {
            documents.add(outcome.document(path, start.elapsed()));
        } else {
            outcome.print(path);
        }
    }
    if shared.json {
        documents.print();
    }
    exit
}

impl Checked {
    fn exit(&self) -> Exit {
        match self {
            Self::Accepted { .. } => Exit::Holds,
            Self::Rejected { .. } => Exit::Rejected,
            Self::Unreadable { .. } => Exit::BadInput,
            Self::Stopped { .. } => Exit::Unknown,
        }
    }

    /// The text of its document.
    fn document(&self, path: &str, elapsed: Duration) -> String {
        let mut document = VerifyDocument::new(path, EvidenceVerdict::Accepted, elapsed.as_secs_f64());
        match self {
            Self::Accepted { kind, subject, shown } => {
                document.kind = Some(kind);
                document.input = Some(subject.path());
                document.subject = SubjectDocument::new(subject);
                match shown {
                    Shown::Kind | Shown::Hope(_) | Shown::End(_) => {}
                    Shown::Language(word, _) => document.language = Some(word),
                    Shown::Proved(words) => document.proved = Some(words.clone()),
                    Shown::Repair(facts) => document.repair = Some(RepairDocument::new(facts)),
                    Shown::Compilations(objection) => document.every_compilation = Some(objection.is_none()),
                    Shown::Properties(shown, _) => document.properties = Some(PropertiesDocument::new(shown)),
                }
            }
            Self::Rejected { reason } => {
                document.verdict = EvidenceVerdict::Rejected;
                document.reason = Some(reason.clone());
            }
            Self::Unreadable { reason } => {
                return documents::refusal(&InputError::file(path, reason.as_str()));
            }
            Self::Stopped { reason } => {
                document.verdict = EvidenceVerdict::Unknown;
                document.reason = Some(reason.to_string());
            }
        }
        documents::text(&document)
    }

    fn print(&self, path: &str) {
        match self {
            Self::Accepted { kind, subject, shown } => {
                let (input, words) = (subject.path(), subject.words());
                let said = match shown {
                    Shown::Kind if *kind == "race" => format!("{input} has a triangular race"),
                    Shown::Hope(true) => format!("{input} lets whoever waits go on"),
                    Shown::Hope(false) => format!("{input} lets somebody wait whom no way lets go on"),
                    Shown::End(true) => format!("{input} has no stuck state, and `finally` holds"),
                    Shown::End(false) => format!("{input} has a stuck state, or one against `finally`"),
                    Shown::Kind if *kind == "free" => format!("{input} has no stuck state"),
                    Shown::Kind if *kind == "stuck" => format!("{input} has a stuck state"),
                    Shown::Kind if *kind == "pso-robust" => format!("{input} is robust against PSO"),
                    Shown::Kind if *kind == "not-pso-robust" => format!("{input} is not robust against PSO"),
                    Shown::Kind | Shown::Proved(_) => format!("{input} is {}", kind.replacen("not-", "not ", 1)),
                    Shown::Language(_, words) => format!("{input} {words}"),
                    Shown::Repair(facts) => format!("{input} {}", repair_words(facts)),
                    Shown::Properties(shown, _) => shown.words(input),
                    Shown::Compilations(None) => {
                        format!("{input} is {kind}, and so is every compilation of its sources")
                    }
                    Shown::Compilations(Some(why)) => {
                        format!("{input} is {kind}, not shown for every compilation: {why}")
                    }
                };
                print_line(format_args!("{path}: accepted: {said} [{words}]"));
                if let Shown::Proved(words) = shown {
                    print_line(format_args!("  palisade-proved: {words}\n  {}", proved::TRUSTED));
                }
            }
            Self::Rejected { reason } => print_line(format_args!("{path}: rejected: {reason}")),
            Self::Unreadable { reason } => remark_line(format_args!("Error: {path}: {reason}")),
            Self::Stopped { reason } => print_line(format_args!("{path}: unknown: {reason}")),
        }
    }
}

/// What evidence about a repair shows, in words.
fn repair_words(facts: &RepairFacts) -> String {
    let bound = &facts.bound;
    let (made, is_so) = match &facts.claim {
        RepairClaim::Robust => ("be made robust".to_owned(), "is robust".to_owned()),
        RepairClaim::Language(axioms) => {
            let name = axioms.name();
            (format!("be made robust against {name}"), format!("is robust against {name}"))
        }
        RepairClaim::Properties { model, targets } => {
            let model = model_name(*model);
            let properties = if targets.len() == 1 { "its property" } else { &format!("{} properties", targets.len()) };
            (format!("be kept from violating {properties} under {model}"), format!("keeps {properties} under {model}"))
        }
        RepairClaim::Hangs { model, graphs, ignores_timeouts } => {
            let model = graphs.map_or(model_name(*model), Axioms::name);
            let model = format!("{model}{}", if *ignores_timeouts { " if no time runs out" } else { "" });
            (format!("be kept from stuck states under {model}"), format!("has no stuck state under {model}"))
        }
    };
    let valid = match facts.costs.len() {
        0 if facts.is_impossible => return format!("cannot {made} by the changes on offer"),
        0 => return format!("can {made} by no changes on offer that cost less than {bound}"),
        1 => format!("{is_so} with the changes in the evidence"),
        count => format!("{is_so} with each of the {count} sets of changes in the evidence"),
    };
    if facts.is_optimal() { format!("{valid}, and with none cheaper among those on offer there") } else { valid }
}

/// Checks one file on a thread of its own, and stops waiting for it when a limit is reached.
fn within_limits(options: &VerifyOptions, shared: &SharedOptions, path: &str) -> Checked {
    let (options, file) = (options.clone(), path.to_owned());
    match guard::within(path, &shared.limits(), move || check_file(&options, &file)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(broken)) => Checked::Rejected { reason: broken.to_string() },
        Err(reason) => Checked::Stopped { reason },
    }
}

/// Reads and checks one file.
fn check_file(options: &VerifyOptions, path: &str) -> Checked {
    let text = match read_evidence(path) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    let evidence = match Evidence::read(&text) {
        Ok(evidence) => evidence,
        Err(malformed) => return Checked::Rejected { reason: format!("malformed evidence: {malformed}") },
    };
    drop(text);
    let checked = match evidence.about() {
        About::Program(subject) => check_about_program(options, path, &evidence, subject),
        About::Net(subject) => check_about_net(options, path, &evidence, subject),
    };
    match checked {
        Ok((subject, shown)) => Checked::Accepted { kind: evidence.kind(), subject: Box::new(subject), shown },
        Err(outcome) => outcome,
    }
}

/// Checks evidence about a program; what it is about, and what it shows.
fn check_about_program(
    options: &VerifyOptions,
    path: &str,
    evidence: &Evidence,
    stated: &ProgramSubject,
) -> Result<(Subject, Shown), Checked> {
    if options.proved {
        return Err(Checked::Unreadable { reason: "`--proved` checks evidence about nets".to_owned() });
    }
    let place = place_of(&stated.input, options.program.as_deref(), path);
    let (written, question) = load_program(&place, stated)?;
    let mut program = written.clone();
    // Evidence about joint control states is about the program with threads that watch them.
    let is_about_properties = matches!(evidence, Evidence::Property(..) | Evidence::PropertyWitness(..));
    let watching = program.threads.len() + program.never.len();
    if is_about_properties && !program.never.is_empty() && stated.threads.len() == watching {
        let unwatched = |error: NoMonitor| Checked::Rejected { reason: error.to_string() };
        program = program.monitored().map_err(unwatched)?;
    }
    let shown = match evidence {
        Evidence::Repair(_, repaired) => {
            let texts = load_repaired(stated, repaired, path)?;
            Shown::Repair(check_repair_evidence(&program, question.as_ref(), evidence, &texts)?)
        }
        Evidence::Property(..) | Evidence::PropertyWitness(..) => {
            let facts = check_property_evidence(&program, question.as_ref(), evidence)?;
            let shown = match (evidence, &facts) {
                (Evidence::PropertyWitness(_, witness), _) => {
                    ShownProperties::violated(&written, witness.model, witness.target)
                }
                (_, Some(facts)) => ShownProperties::proved(&written, facts),
                (_, None) => return Err(Checked::Rejected { reason: "the evidence shows nothing".to_owned() }),
            };
            Shown::Properties(shown, facts)
        }
        _ => {
            check_program_evidence(&program, evidence)?;
            let of_language =
                |axioms: Axioms, words: &str| Shown::Language(axioms.word(), format!("{words} {}", axioms.name()));
            let end = |words: &'static str| if program.finally.is_empty() { "" } else { words };
            match evidence {
                Evidence::Robust(_, certificate) if is_in_source_order(&program) => {
                    let checked = check_every_compilation(&program, certificate);
                    Shown::Compilations(checked.err().map(|failure| failure.detail))
                }
                Evidence::LanguageRobust(_, certificate) => of_language(certificate.axioms, "is robust against"),
                Evidence::NotLanguageRobust(_, witness) => match witness.claim {
                    StaleClaim::BeyondSc => of_language(witness.axioms, "is not robust against"),
                    StaleClaim::Race => of_language(witness.axioms, "has a race of plain data, by"),
                },
                Evidence::Free(_, certificate) if certificate.is_hopeful => Shown::Hope(true),
                Evidence::Free(_, certificate) if let Some(axioms) = certificate.language() => {
                    of_language(axioms, &format!("has no stuck state{} under", end(", and none against `finally`,")))
                }
                Evidence::Stuck(_, witness) if let Some(graph) = &witness.graph => {
                    of_language(graph.axioms, &format!("has a stuck state{} under", end(", or one against `finally`,")))
                }
                Evidence::Stuck(_, witness) if witness.hopeless.is_some() => Shown::Hope(false),
                Evidence::Free(..) | Evidence::Stuck(..) if !program.finally.is_empty() => {
                    Shown::End(matches!(evidence, Evidence::Free(..)))
                }
                _ => Shown::Kind,
            }
        }
    };
    if let Some(folder) = &options.smtlib {
        match evidence {
            Evidence::Robust(_, certificate) => {
                let Some((plain, certificate)) = smtlib::closed_as_they_stand(&program, certificate)? else {
                    let reason = "accepted, but there are no scripts for sets without tickets, for nets up to turns of \
                                  counters, or for more turns than can be written out (`check --no-counters` finds others)";
                    return Err(Checked::Unreadable { reason: reason.to_owned() });
                };
                write_scripts(folder, path, &smtlib::program_scripts(&plain, &certificate)?)?;
            }
            Evidence::Property(_, PropertyEvidence { plain_posts: Some(_), .. }) => {
                let reason = "accepted, but there are no scripts for robustness with plain posts";
                return Err(Checked::Unreadable { reason: reason.to_owned() });
            }
            Evidence::Property(_, property) => {
                if let Ok(queued) = program.queued()
                    && program.is_event_driven()
                {
                    program = queued.program;
                }
                write_scripts(folder, path, &smtlib::property_scripts(&program, property)?)?;
            }
            _ => {}
        }
    }
    let (path, source) = (place.display().to_string(), written.source);
    // What watches joint control states comes behind the threads of the text, and is not told.
    let mut stated = stated.clone();
    stated.threads.truncate(written.threads.len());
    Ok((Subject::Program { stated, path, source }, shown))
}

/// Checks evidence about a net; what it is about, and what it shows.
fn check_about_net(
    options: &VerifyOptions,
    path: &str,
    evidence: &Evidence,
    stated: &NetSubject,
) -> Result<(Subject, Shown), Checked> {
    let place = place_of(&stated.input, options.program.as_deref(), path);
    let query = match (&stated.query, &options.query) {
        (Some(query), given) => Some(place_of(query, given.as_deref(), path)),
        (None, None) => None,
        (None, Some(given)) => {
            let other = format!("the evidence is about the question in the net's file, not in `{}`", given.display());
            return Err(Checked::Rejected { reason: format!("{}: {other}", Obligation::Subject) });
        }
    };
    if matches!(evidence, Evidence::Unreachable(..) | Evidence::Reachable(..) | Evidence::Unbounded(..)) {
        if options.proved {
            let reason = "`--proved` checks evidence about coverability, and this is about reachability".to_owned();
            return Err(Checked::Unreadable { reason });
        }
        let ((read, question), net, bytes) = load_net(&place, query.as_deref(), stated, read_reach)?;
        check_reach_evidence(&read, &question.goal, &net, bytes.as_deref(), evidence)?;
        let query = query.map(|query| query.display().to_string());
        let subject = Subject::Net { stated: stated.clone(), path: place.display().to_string(), query };
        return Ok((subject, Shown::Kind));
    }
    let (problem, net, question) = load_net(&place, query.as_deref(), stated, net::read_with_query)?;
    check_net_evidence(&problem, &net, question.as_deref(), evidence)?;
    if let (Evidence::Uncoverable(_, certificate), Some(folder)) = (evidence, &options.smtlib) {
        let problem =
            net::Problem { net: without_inhibitors(&problem.net, &stated.complements)?, query: problem.query };
        write_scripts(folder, path, &smtlib::net_scripts(&problem, certificate))?;
    }
    if options.proved && !stated.complements.is_empty() {
        let reason = "`--proved` checks no evidence about nets with inhibitor arcs".to_owned();
        return Err(Checked::Unreadable { reason });
    }
    let shown = if options.proved {
        match proved::run(path, &place, query.as_deref()) {
            Proved::Accepted(words) => Shown::Proved(words),
            Proved::Rejected(reason) => return Err(Checked::Rejected { reason: format!("palisade-proved: {reason}") }),
            Proved::Unchecked(reason) => return Err(Checked::Unreadable { reason }),
        }
    } else {
        Shown::Kind
    };
    let query = query.map(|query| query.display().to_string());
    Ok((Subject::Net { stated: stated.clone(), path: place.display().to_string(), query }, shown))
}

/// Writes the obligations of a checked certificate.
fn write_scripts(folder: &Path, path: &str, scripts: &[smtlib::Script]) -> Result<(), Checked> {
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let file = |script: &smtlib::Script| folder.join(format!("{stem}.{}.smt2", script.obligation));
    let files: Vec<(PathBuf, &str)> = scripts.iter().map(|script| (file(script), script.text.as_str())).collect();
    create_folder(folder)
        .and_then(|()| write_together(&files))
        .map_err(|error| Checked::Unreadable { reason: format!("{} cannot be written to: {error}", folder.display()) })
}

/// Reads an evidence file: not more than evidence may have, and nothing of what cannot be evidence.
fn read_evidence(path: &str) -> Result<Vec<u8>, Checked> {
    const BEGINNING: u64 = 4096;
    let unreadable = |error: std::io::Error| Checked::Unreadable { reason: format!("cannot be read: {error}") };
    let rejected = |reason: &str| Checked::Rejected { reason: format!("malformed evidence: {reason}") };
    let mut file: Box<dyn Read> = if path == "-" {
        Box::new(std::io::stdin())
    } else {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Checked::Unreadable { reason: "is a directory".to_owned() });
        }
        if metadata.len() > MAX_EVIDENCE_BYTES {
            return Err(rejected(&format!("longer than {MAX_EVIDENCE_BYTES} bytes")));
        }
        Box::new(file)
    };
    let mut text = Vec::new();
    file.by_ref().take(BEGINNING).read_to_end(&mut text).map_err(unreadable)?;
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        None if text.is_empty() => return Err(rejected("the file is empty")),
        _ => return Err(rejected("the file does not begin with a JSON object")),
    }
    file.take(MAX_EVIDENCE_BYTES).read_to_end(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Where the input is: where the user says; else where the evidence says, seen from here or from
/// the evidence; else beside the evidence.
fn place_of(input: &InputFile, given: Option<&Path>, evidence: &str) -> PathBuf {
    if let Some(given) = given {
        return given.to_owned();
    }
    let stated = PathBuf::from(&input.path);
    let folder = Path::new(evidence).parent().unwrap_or(Path::new(""));
    let beside = stated.file_name().map(|name| folder.join(name));
    let candidates = [Some(stated.clone()), Some(folder.join(&stated)), beside];
    candidates.into_iter().flatten().find(|candidate| candidate.is_file()).unwrap_or(stated)
}

/// Reads the program with its question, changed as the evidence says options have changed it.
fn load_program(place: &Path, subject: &ProgramSubject) -> Result<(Program, Option<Question>), Checked> {
    let Some(path) = place.to_str() else {
        return Err(Checked::Unreadable { reason: "the input's path is not UTF-8".to_owned() });
    };
    let unreadable =
        |error: InputError| Checked::Unreadable { reason: format!("its input: {}", error.render(false).trim_end()) };
    let rejected = |reason: String| Checked::Rejected { reason };
    let format = Format::named(&subject.input.format)
        .ok_or_else(|| rejected(format!("the input format `{}` is not known", subject.input.format)))?;
    let refused = |what: &str| rejected(format!("the input cannot be read as a {} program{what}", format.name()));
    let Parsed { mut program, question, .. } = if format == Format::Machine {
        // The content is the listing of what was lifted, which names image, snapshot and roles by
        // digest.
        let lifted = machine_code(path).map_err(unreadable)?;
        check_content(&subject.input, path, lifted.program.source.text.as_bytes())?;
        lifted
    } else {
        let source = syntax::read_text(path).map_err(unreadable)?;
        check_content(&subject.input, path, source.text.as_bytes())?;
        syntax::parse(source, format).map_err(|_| refused(""))?
    };
    subject.apply_options(&mut program);
    syntax::check(&mut program).map_err(|_| refused(" with these options"))?;
    Ok((program, question))
}

/// Reads the repaired texts that evidence names, with the changes that options have made to the
/// program.
fn load_repaired(
    subject: &ProgramSubject,
    repair: &RepairEvidence,
    path: &str,
) -> Result<Vec<Option<Program>>, Checked> {
    let load = |input: &InputFile| {
        let subject = ProgramSubject { input: input.clone(), ..subject.clone() };
        load_program(&place_of(input, None, path), &subject).map(|(program, _)| program)
    };
    repair.valid.iter().map(|valid| valid.repaired.as_ref().map(load).transpose()).collect()
}

/// Reads a net with a question of reachability, from a file or one that needs none.
fn read_reach(
    net: net::Document<'_, net::Format>,
    query: Option<net::Document<'_, net::QueryFormat>>,
    property: Option<&str>,
) -> Result<(net::Net, net::ReachQuestion), net::ReadError> {
    match query {
        Some(query) => net::read_reach_question(net, query, property),
        None => net::read_built_in(net, property),
    }
}

/// A net with its question, the contents of its file, and those of the question's.
type ReadNet<T> = (T, Vec<u8>, Option<Vec<u8>>);

/// Reads the net with its question.
fn load_net<T>(
    place: &Path,
    query: Option<&Path>,
    subject: &NetSubject,
    parse: impl Fn(
        net::Document<'_, net::Format>,
        Option<net::Document<'_, net::QueryFormat>>,
        Option<&str>,
    ) -> Result<T, net::ReadError>,
) -> Result<ReadNet<T>, Checked> {
    let read = |path: &Path| {
        let unreadable = |error| Checked::Unreadable { reason: format!("its input {}: {error}", path.display()) };
        std::fs::read(path).map_err(unreadable)
    };
    let rejected = |reason: String| Checked::Rejected { reason };
    let unknown = |format: &str| rejected(format!("the input format `{format}` is not known"));
    let bytes = read(place)?;
    let name = place.to_string_lossy();
    check_content(&subject.input, &name, &bytes)?;
    let query_bytes = query.map(read).transpose()?;
    let format = net::Format::ALL.into_iter().find(|format| format.extension() == subject.input.format);
    let document = net::Document {
        name: &name,
        bytes: &bytes,
        format: Some(format.ok_or_else(|| unknown(&subject.input.format))?),
    };
    let query_name = query.unwrap_or(Path::new("")).to_string_lossy();
    let query_document = match (&subject.query, &query_bytes) {
        (Some(input), Some(bytes)) => {
            check_content(input, &query_name, bytes)?;
            let format = net::QueryFormat::ALL.into_iter().find(|format| format.extension() == input.format);
            let format = Some(format.ok_or_else(|| unknown(&input.format))?);
            Some(net::Document { name: &query_name, bytes, format })
        }
        _ => None,
    };
    let problem = parse(document, query_document, subject.property.as_deref())
        .map_err(|error| rejected(format!("the input cannot be read: {error}")))?;
    Ok((problem, bytes, query_bytes))
}
