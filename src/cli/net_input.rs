//! Loading a net with its question for a subcommand.

use super::foreign;
use crate::coverability::{Uninhibited, without_inhibitors};
use crate::evidence::{Complement, InputFile, NetSubject, sha256};
use crate::limits::Limits;
use crate::net::{self, BUILT_IN, Document, Format, Net, Problem, Property, Quantifier, QueryFormat, ReachQuestion};
use crate::syntax::InputError;
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Options on how to read a net and its question.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct NetOptions {
    /// Format of the net; by default its extension tells.
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub(super) from: Option<Format>,
    /// The question, where it is not in the net's file: `.prop`, `.xml` (Model Checking Contest) or
    /// `.formula` (LoLA); by default the file of that kind beside the net.
    #[arg(long, value_name = "FILE")]
    pub(super) query: Option<PathBuf>,
    /// The id of the property that is meant, where the query has several.
    #[arg(long, value_name = "ID")]
    pub(super) property: Option<String>,
    /// A question that needs no file: `deadlock`, `one-safe`, `quasi-live` or `upper-bounds`.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["query", "property"], value_parser = parse_built_in)]
    pub(super) ask: Option<String>,
}

/// A net ready for a subcommand.
pub(super) struct LoadedNet {
    /// The net with its question, without inhibitor arcs.
    pub(super) problem: Problem,
    /// Bounds of the places that inhibitor arcs test.
    complements: Vec<Complement>,
    /// The question of reachability, where it is none of coverability. Then the problem has no
    /// targets.
    pub(super) reach: Option<ReachQuestion>,
    /// How the question is put, where it is a formula.
    pub(super) quantifier: Option<Quantifier>,
    /// Its file.
    net: ReadFile,
    /// The question's file, when it is not in the net's.
    query: Option<ReadFile>,
    /// The id of the property that the command line names.
    property: Option<String>,
}

impl LoadedNet {
    /// What evidence about it refers to, without names yet. Hashes the files, which takes about as
    /// long as reading them.
    pub(super) fn subject(&self) -> NetSubject {
        let query = self.query.as_ref().map(ReadFile::described);
        NetSubject::of(&self.problem, self.net.described(), query, self.property.clone())
            .with_complements(&self.complements)
    }

    /// The path of the question's file, when it is not the net's, and the property that the command
    /// line names.
    pub(super) fn question(&self) -> (Option<String>, Option<String>) {
        (self.query.as_ref().map(|query| query.path.clone()), self.property.clone())
    }

    /// The net with its question, without the files that it comes from.
    pub(super) fn into_problem(self) -> Problem {
        self.problem
    }
}

/// A net with all properties of its query, ready for a subcommand.
pub(super) struct LoadedProperties {
    /// The net, without inhibitor arcs.
    pub(super) net: Net,
    /// Bounds of the places that inhibitor arcs test.
    pub(super) complements: Vec<Complement>,
    /// The properties.
    pub(super) properties: Vec<Property>,
    /// The net's file.
    file: InputFile,
    /// The file of the properties, where they are in one.
    pub(super) query: Option<InputFile>,
}

impl LoadedProperties {
    /// What evidence about a question refers to, without names yet.
    pub(super) fn subject(&self, problem: &Problem, question: &str) -> NetSubject {
        NetSubject::of(problem, self.file.clone(), self.query.clone(), Some(question.to_owned()))
            .with_complements(&self.complements)
    }
}

/// A file as it was read.
struct ReadFile {
    path: String,
    /// The name of its format.
    format: &'static str,
    bytes: Vec<u8>,
}

impl ReadFile {
    fn described(&self) -> InputFile {
        InputFile { path: self.path.clone(), format: self.format.to_owned(), sha256: sha256(&self.bytes) }
    }
}

/// Files from so many bytes on are read under limits, and packed ones from so many: shorter ones
/// take a few milliseconds, in which nobody has to look at limits.
const LARGE: u64 = 1 << 18;
const LARGE_PACKED: u64 = 1 << 14;

/// Whether reading a file may take long.
fn is_large(path: &str) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else { return path == "-" };
    let is_packed = Path::new(path).extension().is_some_and(|extension| extension == "gz");
    let large = if is_packed { LARGE_PACKED } else { LARGE };
    !metadata.is_file() || metadata.len() >= large
}

impl NetOptions {
    /// The format of the net in a file.
    fn format(&self, path: &str) -> Result<Format, InputError> {
        self.from.or_else(|| Format::of_name(path)).ok_or_else(|| {
            let (name, message) = match path {
                "-" => ("<stdin>", "standard input has no extension that tells its format"),
                _ => (path, "the extension tells no format of nets"),
            };
            InputError::file(name, message).with_help_if(Some(foreign::advice_about_nets(path)))
        })
    }

    /// Reads a net, `-` for standard input, with its question, within limits.
    pub(super) fn read_within(&self, path: &str, limits: &Limits) -> Result<LoadedNet, InputError> {
        let query = self.query.as_ref().is_some_and(|query| is_large(&query.to_string_lossy()));
        if !is_large(path) && !query {
            return self.read(path);
        }
        let (options, own) = (self.clone(), path.to_owned());
        let stopped = |reason| InputError::Stopped { name: path.to_owned(), reason };
        limits.within(move || options.read(&own)).map_err(stopped)?
    }

    /// The files that are read: the net's, and the question's where it is in one of its own.
    pub(super) fn files(&self, path: &str) -> Vec<PathBuf> {
        let format = self.from.or_else(|| Format::of_name(path));
        let query = self.query.clone().or_else(|| question_beside(path, format?));
        [PathBuf::from(path)].into_iter().chain(query).collect()
    }

    /// Reads a net with all properties of its query, within limits.
    pub(super) fn read_properties_within(&self, path: &str, limits: &Limits) -> Result<LoadedProperties, InputError> {
        let (options, own) = (self.clone(), path.to_owned());
        let stopped = |reason| InputError::Stopped { name: path.to_owned(), reason };
        limits.within(move || options.read_properties(&own)).map_err(stopped)?
    }

    /// The properties of the query of the Model Checking Contest that lies beside a net; nothing
    /// where none does.
    pub(super) fn properties_beside(&self, path: &str) -> Result<Option<Vec<Property>>, InputError> {
        let is_pnml = self.from.or_else(|| Format::of_name(path)) == Some(Format::Pnml);
        if !is_pnml || companion(path, QueryFormat::MccXml).is_none() {
            return Ok(None);
        }
        Ok(Some(self.read_properties(path)?.properties))
    }

    fn read_properties(&self, path: &str) -> Result<LoadedProperties, InputError> {
        let format = self.format(path)?;
        let described = |path: &str, format: &'static str, bytes: Vec<u8>| {
            ReadFile { path: path.to_owned(), format, bytes }.described()
        };
        if let Some(name) = &self.ask {
            let bytes = read_bytes(path)?;
            let read =
                net::read_built_in_properties(Document { name: path, bytes: &bytes, format: Some(format) }, name)?;
            let Uninhibited { net, complements } = plain(path, read.net)?;
            return Ok(LoadedProperties {
                net,
                complements,
                properties: read.properties,
                file: described(path, format.extension(), bytes),
                query: None,
            });
        }
        let query = self.query.clone().or_else(|| companion(path, QueryFormat::MccXml));
        let query = query.map(|query| query.display().to_string());
        let query = query.filter(|query| QueryFormat::of_name(query) == Some(QueryFormat::MccXml));
        let query = query.ok_or_else(|| {
            let help = "give one with `--query FILE.xml`".to_owned();
            InputError::file(path, "the net comes without a query of the Model Checking Contest")
                .with_help_if(Some(help))
        })?;
        let (bytes, query_bytes) = (read_bytes(path)?, read_bytes(&query)?);
        let net = Document { name: path, bytes: &bytes, format: Some(format) };
        let read = net::read_properties(net, Document { name: &query, bytes: &query_bytes, format: None })?;
        let Uninhibited { net, complements } = plain(path, read.net)?;
        Ok(LoadedProperties {
            net,
            complements,
            properties: read.properties,
            file: described(path, format.extension(), bytes),
            query: Some(described(&query, QueryFormat::MccXml.extension(), query_bytes)),
        })
    }

    /// Reads a net, `-` for standard input, with its question.
    pub(super) fn read(&self, path: &str) -> Result<LoadedNet, InputError> {
        let name = if path == "-" { "<stdin>" } else { path };
        let format = self.format(path)?;
        let bytes = read_bytes(path)?;
        let query_path = self.query.clone().or_else(|| question_beside(path, format));
        let query_format = query_path.as_ref().and_then(|path| QueryFormat::of_name(&path.to_string_lossy()));
        if self.property.is_some() && query_format != Some(QueryFormat::MccXml) {
            let message = "a property is chosen, but only questions in `.xml` (Model Checking Contest) have properties";
            return Err(InputError::file(name, message));
        }
        let query = match &query_path {
            Some(query) => Some((query.display().to_string(), read_bytes(&query.to_string_lossy())?)),
            None => None,
        };
        let document = Document { name, bytes: &bytes, format: Some(format) };
        let query_document = query.as_ref().map(|(name, bytes)| Document { name, bytes, format: None });
        let property = self.property.as_deref();
        let net::ReadQuestion { problem, quantifier, reach } =
            net::read_any_question(document, query_document, property)?;
        if problem.query.targets.is_empty() && query.is_none() {
            let message = "the net comes without a question";
            let help = "give one with `--query FILE`, for example a `.formula` with `EF (p >= 1)`";
            return Err(InputError::file(name, message).with_help_if(Some(help.to_owned())));
        }
        let Problem { net, query: targets } = problem;
        let Uninhibited { net, complements } = plain(name, net)?;
        let problem = Problem { net, query: targets };
        let net = ReadFile { path: name.to_owned(), format: format.extension(), bytes };
        let query = query.map(|(path, bytes)| {
            let format = QueryFormat::of_name(&path).map_or("", QueryFormat::extension);
            ReadFile { path, format, bytes }
        });
        Ok(LoadedNet { problem, complements, reach, quantifier, net, query, property: self.property.clone() })
    }
}

/// The net without inhibitor arcs.
fn plain(name: &str, net: Net) -> Result<Uninhibited, InputError> {
    without_inhibitors(net, &Limits::none()).map_err(|why| InputError::file(name, why.to_string()))
}

/// The question's file beside a net's, if there is one: of the kind that the format has, and for
/// PNML otherwise a formula.
fn question_beside(net: &str, format: Format) -> Option<PathBuf> {
    let formula = (format == Format::Pnml).then_some(QueryFormat::Formula);
    [format.query(), formula].into_iter().flatten().find_map(|kind| companion(net, kind))
}

/// The file of this kind beside a net's, if there is one: `a.prop` or `a.prop.gz` for `a.tts` and
/// `a.tts.gz`.
fn companion(net: &str, format: QueryFormat) -> Option<PathBuf> {
    let stem = Path::new(net.strip_suffix(".gz").unwrap_or(net)).with_extension("");
    let plain = stem.with_file_name(format!("{}.{}", stem.file_name()?.to_string_lossy(), format.extension()));
    let compressed = PathBuf::from(format!("{}.gz", plain.display()));
    [plain, compressed].into_iter().find(|path| path.is_file())
}

fn read_bytes(path: &str) -> Result<Vec<u8>, InputError> {
    let failed = |error: std::io::Error| InputError::file(path, format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    Ok(bytes)
}

/// A question that needs no file, by its name.
fn parse_built_in(text: &str) -> Result<String, String> {
    let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    let known = names.contains(&text).then(|| text.to_owned());
    known.ok_or_else(|| format!("the questions are {}", names.join(", ")))
}

/// A format by the extension it is known by.
pub(super) fn parse_format(text: &str) -> Result<Format, String> {
    Format::ALL.into_iter().find(|format| format.extension() == text).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.extension()).collect();
        format!("the formats are {}", known.join(", "))
    })
}
