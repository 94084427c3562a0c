//! What holds of the readers of nets and of questions about them.

use palisade::net::{Document, Format, Problem, QueryFormat, ReadError, read_with_query, write};

/// Between a net and its question, on a line of its own.
const SEPARATOR: &[u8] = b"\n%%\n";

/// Nets with more places and transitions than this are not written and read again.
const SMALL: usize = 300;

/// The net that questions are about.
const LOLA: &[u8] = b"PLACE p, q, 7, EF, x; MARKING p: 2, x; TRANSITION t CONSUME p: 1; PRODUCE q: 1;";

/// The same for questions in XML.
const PNML: &[u8] = b"<pnml><net id='n' type='ptnet'><page id='g'><place id='p'><name><text>first</text></name>\
    <initialMarking><text>2</text></initialMarking></place><place id='q'/><transition id='t'/>\
    <arc id='a' source='p' target='t'/><arc id='b' source='t' target='q'/></page></net></pnml>";

pub(super) fn spec(input: &[u8]) {
    net(input, Format::Spec);
}

pub(super) fn tts(input: &[u8]) {
    net(input, Format::Tts);
}

pub(super) fn lola(input: &[u8]) {
    net(input, Format::Lola);
}

pub(super) fn tina(input: &[u8]) {
    net(input, Format::Tina);
}

pub(super) fn pnml(input: &[u8]) {
    net(input, Format::Pnml);
}

pub(super) fn formula(input: &[u8]) {
    let net = Document { name: "input", bytes: LOLA, format: Some(Format::Lola) };
    let query = Document { name: "question", bytes: input, format: Some(QueryFormat::Formula) };
    answered(read_with_query(net, Some(query), None), Format::Lola);
}

pub(super) fn mcc(input: &[u8]) {
    let net = Document { name: "input", bytes: PNML, format: Some(Format::Pnml) };
    let query = Document { name: "question", bytes: input, format: Some(QueryFormat::MccXml) };
    answered(read_with_query(net, Some(query), None), Format::Pnml);
    answered(read_with_query(net, Some(query), Some("a")), Format::Pnml);
}

/// What holds of any bytes that a reader takes for a net's text, with those of its question behind
/// the separator.
fn net(input: &[u8], format: Format) {
    let split = input.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (net, query) = match split.filter(|_| format.query().is_some()) {
        Some(at) => (&input[..at], Some(&input[at + SEPARATOR.len()..])),
        None => (input, None),
    };
    let net = Document { name: "input", bytes: net, format: Some(format) };
    let query = query.map(|bytes| Document { name: "question", bytes, format: format.query() });
    answered(read_with_query(net, query, None), format);
}

/// A refusal names places inside the text; a net survives writing.
fn answered(read: Result<Problem, ReadError>, format: Format) {
    match read {
        Ok(problem) if problem.net.places.len() + problem.net.transitions.len() <= SMALL => {
            survives_writing(&problem, format);
        }
        Ok(_) => {}
        Err(error) => {
            assert!(!error.diagnostics.is_empty() && !error.to_string().is_empty());
            for diagnostic in &error.diagnostics {
                let (start, end) = (diagnostic.span.start, diagnostic.span.end);
                assert!(start <= end && end <= error.source.text.len(), "{diagnostic:?}");
                assert!(error.source.text.is_char_boundary(start), "{diagnostic:?}");
            }
        }
    }
}

/// What is written in any format is read as the same net and question, ω and names apart where the
/// format has none; what is written of that is read as exactly that.
fn survives_writing(problem: &Problem, own: Format) {
    for format in Format::ALL {
        let Ok(written) = write(problem, format) else {
            // A format's own nets can be written in it, but for what no writer can: no target, or
            // more tokens than a tool takes.
            continue;
        };
        if format == Format::Dot {
            continue;
        }
        let query = written.query.as_ref().map(String::as_bytes);
        let again = reread(written.net.as_bytes(), query, format);
        let mut expected = problem.clone();
        if !matches!(format, Format::Spec | Format::Tts) {
            expected.net = expected.net.with_spawns();
        }
        assert_eq!(anonymous(&again), anonymous(&expected), "{own:?} {format:?}\n{}", written.net);
        let written = write(&again, format).unwrap_or_else(|error| panic!("{error}\n{}", written.net));
        let twice = reread(written.net.as_bytes(), written.query.as_ref().map(String::as_bytes), format);
        assert_eq!(twice, again, "{own:?} {format:?}\n{}", written.net);
    }
}

fn reread(net: &[u8], query: Option<&[u8]>, format: Format) -> Problem {
    let document = Document { name: "input", bytes: net, format: Some(format) };
    let query = query.map(|bytes| Document { name: "question", bytes, format: format.query() });
    match read_with_query(document, query, None) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}\n{}", String::from_utf8_lossy(net)),
    }
}

/// The problem without names and units, with its targets in order.
fn anonymous(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    problem.net.name.clear();
    problem.net.units.clear();
    problem.net.places.iter_mut().for_each(|place| place.name = "".into());
    problem.net.transitions.iter_mut().for_each(|transition| transition.name = "".into());
    problem.query.targets.sort();
    problem.query.targets.dedup();
    problem
}
