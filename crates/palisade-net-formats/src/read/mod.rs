//! Readers of the field's net and query formats, gzip transparently.

mod build;
mod formula;
mod lexer;
mod lexicon;
mod lola;
mod mcc;
mod mcc_condition;
mod names;
mod nodes;
mod pnml;
mod pnml_usual;
mod spec;
mod tina;
mod tts;
mod usual;
mod xml;

pub(crate) use lola::{FORMULA_KEYWORDS, KEYWORDS as LOLA_KEYWORDS};
pub(crate) use spec::is_keyword as is_spec_keyword;

use flate2::read::MultiGzDecoder;
use nodes::Ids;
use palisade_model::net::{
    BUILT_IN, Format, Net, Problem, Property, Quantifier, Query, QueryFormat, ReachQuestion, ReadError, WhichQuestion,
};
use palisade_model::text::{Diagnostic, SourceText, Span};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::io::Read;
use std::str::Utf8Error;

/// A document to be read: its name for people, its bytes, possibly compressed with gzip, and its
/// format where the extension of the name does not tell it.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a, F> {
    /// The path, or `<stdin>`.
    pub name: &'a str,
    /// The content.
    pub bytes: &'a [u8],
    /// The format, where it is not the one the name tells.
    pub format: Option<F>,
}

/// Reads a net with its question from bytes, which may be compressed with gzip. The format follows
/// from the name's extension when it is not given. Formats without a question of their own leave it
/// without targets.
pub fn read(name: &str, bytes: &[u8], format: Option<Format>) -> Result<Problem, ReadError> {
    read_with_query(Document { name, bytes, format }, None, None)
}

/// Reads a net with a question from a document of its own, which replaces the one in the net's
/// document. Of a document with several properties, `property` tells the id of the one that is
/// meant.
pub fn read_with_query(
    net: Document<'_, Format>,
    query: Option<Document<'_, QueryFormat>>,
    property: Option<&str>,
) -> Result<Problem, ReadError> {
    read_question(net, query, property).map(|(problem, _)| problem)
}

/// Like [`read_with_query`], with how the question is put where it is a formula.
pub fn read_question(
    net: Document<'_, Format>,
    query: Option<Document<'_, QueryFormat>>,
    property: Option<&str>,
) -> Result<(Problem, Option<Quantifier>), ReadError> {
    read_asked(net, query, property, false).map(|read| (read.problem, read.quantifier))
}

/// A net with its question.
#[derive(Clone, Debug)]
pub struct ReadQuestion {
    /// The net with the targets of a question of coverability.
    pub problem: Problem,
    /// How the question is put, where it is a formula.
    pub quantifier: Option<Quantifier>,
    /// The question of reachability, where it is none of coverability.
    pub reach: Option<ReachQuestion>,
}

/// Like [`read_question`]; what is no question of coverability may be one of reachability.
pub fn read_any_question(
    net: Document<'_, Format>,
    query: Option<Document<'_, QueryFormat>>,
    property: Option<&str>,
) -> Result<ReadQuestion, ReadError> {
    read_asked(net, query, property, true)
}

/// What a formula asks.
enum Asked {
    Cover(Query, Quantifier),
    Reach(ReachQuestion),
}

fn read_asked(
    net: Document<'_, Format>,
    query: Option<Document<'_, QueryFormat>>,
    property: Option<&str>,
    may_reach: bool,
) -> Result<ReadQuestion, ReadError> {
    let (problem, ids) = read_net(net)?;
    let mut read = ReadQuestion { problem, quantifier: None, reach: None };
    let Some(query) = query else { return Ok(read) };
    let net = &read.problem.net;
    let text = decode(query.name, query.bytes)?;
    let fail = |diagnostics| ReadError { source: SourceText::new(query.name, text.as_ref()), diagnostics };
    let Some(format) = query.format.or_else(|| QueryFormat::of_name(query.name)) else {
        let message = format!("the format of the query `{}` is not known from its extension", query.name);
        let known = QueryFormat::ALL.iter().map(|format| format!("`.{}`", format.extension()));
        return Err(fail(vec![Diagnostic::error(message, Span::default()).with_expected(known)]));
    };
    let asked = match format {
        QueryFormat::Prop => {
            read.problem.query = tts::read_targets(&text, net).map_err(fail)?;
            return Ok(read);
        }
        QueryFormat::Formula => {
            let asked = lola::read_formula(&text, net, ids.as_ref()).map(|(query, asked)| Asked::Cover(query, asked));
            asked.or_else(|complaints| match lola::read_reach_formula(&text, net, ids.as_ref()) {
                Ok(question) if may_reach => Ok(Asked::Reach(question)),
                _ => Err(complaints),
            })
        }
        QueryFormat::MccXml => {
            let ids = ids.unwrap_or_else(|| ids_by_name(net));
            mcc::read(&text, property, net, &ids, may_reach)
        }
    };
    match asked.map_err(fail)? {
        Asked::Cover(query, quantifier) => (read.problem.query, read.quantifier) = (query, Some(quantifier)),
        Asked::Reach(question) => {
            read.quantifier = Some(question.quantifier);
            read.reach = Some(question);
        }
    }
    Ok(read)
}

/// Reads a net with a question of reachability, in a query of the Model Checking Contest or a
/// formula.
pub fn read_reach_question(
    net: Document<'_, Format>,
    query: Document<'_, QueryFormat>,
    property: Option<&str>,
) -> Result<(Net, ReachQuestion), ReadError> {
    let (problem, ids) = read_net(net)?;
    let source = SourceText::new(query.name, decode(query.name, query.bytes)?);
    let ids = ids.unwrap_or_else(|| ids_by_name(&problem.net));
    let format = query.format.or_else(|| QueryFormat::of_name(query.name));
    let read = match format {
        Some(QueryFormat::Formula) => lola::read_reach_formula(&source.text, &problem.net, Some(&ids)),
        _ => mcc::read_reach(&source.text, property, &problem.net, &ids),
    };
    match read {
        Ok(question) => Ok((problem.net, question)),
        Err(diagnostics) => Err(ReadError { source, diagnostics }),
    }
}

/// Reads a net with a question that needs no file, called as evidence calls it: `quasi-live#3`,
/// `upper-bounds:p>=2`.
pub fn read_built_in(net: Document<'_, Format>, property: Option<&str>) -> Result<(Net, ReachQuestion), ReadError> {
    let (problem, _) = read_net(net)?;
    let (id, which) = WhichQuestion::of(property.unwrap_or_default());
    let question = Property::built_in_of_id(id, &problem.net).and_then(|found| found.claim.reach_question(&which));
    question.map(|question| (problem.net, question)).ok_or_else(|| no_built_in(property.unwrap_or_default()))
}

/// Reads a net with the properties of this name, which need no file.
pub fn read_built_in_properties(net: Document<'_, Format>, name: &str) -> Result<ReadProperties, ReadError> {
    let (Problem { net, .. }, _) = read_net(net)?;
    match Property::built_in(name, &net) {
        Some(properties) => Ok(ReadProperties { net, properties }),
        None => Err(no_built_in(name)),
    }
}

fn no_built_in(property: &str) -> ReadError {
    let complaint = Diagnostic::error(format!("there is no question `{property}`"), Span::default());
    let known = BUILT_IN.iter().map(|(name, _)| format!("`{name}`"));
    ReadError { source: SourceText::new(property, ""), diagnostics: vec![complaint.with_expected(known)] }
}

/// What a file of properties asks about a net.
#[derive(Clone, Debug)]
pub struct ReadProperties {
    /// The net, without a question.
    pub net: Net,
    /// The properties, in order.
    pub properties: Vec<Property>,
}

/// Reads a net with all properties of a query of the Model Checking Contest, each as far as it is
/// about reachable markings.
pub fn read_properties(
    net: Document<'_, Format>,
    query: Document<'_, QueryFormat>,
) -> Result<ReadProperties, ReadError> {
    let (problem, ids) = read_net(net)?;
    let source = SourceText::new(query.name, decode(query.name, query.bytes)?);
    let ids = ids.unwrap_or_else(|| ids_by_name(&problem.net));
    match mcc::read_all(&source.text, &problem.net, &ids) {
        Ok(properties) => Ok(ReadProperties { net: problem.net, properties }),
        Err(diagnostics) => Err(ReadError { source, diagnostics }),
    }
}

fn read_net(net: Document<'_, Format>) -> Result<(Problem, Option<Ids>), ReadError> {
    let Document { name, bytes, format } = net;
    let text = decode(name, bytes)?;
    let fail = |diagnostics| ReadError { source: SourceText::new(name, text.as_ref()), diagnostics };
    let unknown = |message: String| fail(vec![Diagnostic::error(message, Span::default()).with_expected(readable())]);
    let Some(format) = format.or_else(|| Format::of_name(name)) else {
        return Err(unknown(format!("the format of `{name}` is not known from its extension")));
    };
    let stem = stem(name);
    let problem = match format {
        Format::Spec => spec::read(stem, &text),
        Format::Tts => tts::read(stem, &text),
        Format::Lola => lola::read(stem, &text),
        Format::Tina => tina::read(stem, &text),
        Format::Pnml => return pnml::read(stem, &text).map(|(problem, ids)| (problem, Some(ids))).map_err(fail),
        Format::Dot => return Err(unknown("pictures for Graphviz are written, not read".to_owned())),
    };
    Ok((problem.map_err(fail)?, None))
}

/// The extensions that can be read, as expected alternatives.
fn readable() -> impl Iterator<Item = String> {
    Format::ALL.into_iter().filter(|format| *format != Format::Dot).map(|format| format!("`.{}`", format.extension()))
}

/// Nodes are called by their names in the formats without ids.
fn ids_by_name(net: &Net) -> Ids {
    Ids {
        places: net.place_ids().map(|id| (net.places[id.index()].name.clone(), id)).collect(),
        transitions: net.transition_ids().map(|(id, transition)| (transition.name.clone(), id)).collect(),
        namesakes: FxHashSet::default(),
    }
}

/// What some editors write in front of a text in UTF-8; it means nothing.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The longest text that is unpacked. What unpacks to more is likelier made to fill the memory than
/// to be read.
const LONGEST_UNPACKED: u64 = 1 << 32;

/// The text of a file, decompressed when it starts as gzip does.
fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, ReadError> {
    let fail = |text: String, span: Span, message: String| ReadError {
        source: SourceText::new(name, text),
        diagnostics: vec![Diagnostic::error(message, span)],
    };
    let not_text = |bytes: &[u8], error: Utf8Error| {
        let start = error.valid_up_to();
        let text = String::from_utf8_lossy(bytes).into_owned();
        fail(text, Span { start, end: start + '\u{fffd}'.len_utf8() }, "the text is not UTF-8".to_owned())
    };
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        let plain = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        return str::from_utf8(plain).map(Cow::from).map_err(|error| not_text(plain, error));
    }
    let mut plain = unpack(bytes, LONGEST_UNPACKED).map_err(|message| fail(String::new(), Span::default(), message))?;
    if plain.starts_with(BYTE_ORDER_MARK) {
        plain.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(plain).map(Cow::from).map_err(|error| not_text(error.as_bytes(), error.utf8_error()))
}

/// Decompresses what gzip has made, up to this many bytes. Apart from its caller, as the decoder
/// takes some ten pages of the stack, which most texts do without.
#[inline(never)]
fn unpack(bytes: &[u8], longest: u64) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(longest + 1).read_to_end(&mut plain);
    match read {
        Ok(length) if length as u64 > longest => {
            Err(format!("the gzip data holds more than {longest} bytes; unpack it if that is meant"))
        }
        Ok(_) => Ok(plain),
        Err(error) => Err(format!("damaged gzip data: {error}")),
    }
}

/// The file's name without folders and extensions.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let file = file.strip_suffix(".gz").unwrap_or(file);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

#[cfg(test)]
mod broken_input;
#[cfg(test)]
mod tests;
