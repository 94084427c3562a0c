//! Reader of thread transition systems (`.tts`) and their target states (`.prop`).
//!
//! `N M` declares shared states `0..N` and local states `0..M`; `s l -> s' l'` moves a thread and
//! the shared state together, `s l +> s' l'` starts a further thread at `l'` while the mover stays.
//! Initially the shared state is 0 and any number of threads is at local state 0. The shared states
//! are a unit of the net, the local states count threads.

use super::lexer::{Kind, Lexer};
use super::lexicon::{Bytes, Lexicon, Signs};
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Problem, Query, Target};
use palisade_model::text::Diagnostic;
use rustc_hash::FxHashMap;

static LEXICON: Lexicon = Lexicon::new(Signs {
    operators: &["->", "+>", "~>", "|", ","],
    comments: &[("#", b'\n'), ("//", b'\n')],
    starts_word: Bytes::LETTERS,
    continues_word: Bytes::LETTERS.or(Bytes::DIGITS),
    lines: false,
});

/// A net of so many places is refused: the header is then more likely wrong than meant.
const MOST_STATES: usize = 4_000_000;

/// Reads a thread transition system, without a target.
pub(super) fn read(name: &str, text: &str) -> Result<Problem, Vec<Diagnostic>> {
    system(name, text).map_err(|complaint| vec![complaint])
}

fn system(name: &str, text: &str) -> Result<Problem, Diagnostic> {
    let mut lexer = Lexer::new(text, &LEXICON);
    let shared = state(&mut lexer, "the number of shared states", MOST_STATES)?;
    let local = state(&mut lexer, "the number of local states", MOST_STATES - shared)?;
    let mut net = Net { name: name.to_owned(), ..Net::default() };
    for index in 0..shared {
        let initial = if index == 0 { Count::ONE } else { Count::ZERO };
        net.add_place(format!("s{index}"), OmegaCount::Finite(initial));
    }
    for index in 0..local {
        let initial = if index == 0 { OmegaCount::Omega } else { OmegaCount::Finite(Count::ZERO) };
        net.add_place(format!("l{index}"), initial);
    }
    let place_of_local = |index: usize| PlaceId::from_index(shared + index);
    while lexer.peek().kind != Kind::End {
        let shared_from = PlaceId::from_index(state(&mut lexer, "a shared state", shared)?);
        let local_from = place_of_local(state(&mut lexer, "a local state", local)?);
        let arrow = lexer.peek();
        let spawns = match arrow.kind {
            Kind::Operator("->") => false,
            Kind::Operator("+>") => true,
            Kind::Operator("~>") => {
                let message = "a broadcast (`~>`) is not supported: this is no place/transition net";
                return Err(Diagnostic::error(message, arrow.span).with_expected(["`->`", "`+>`"]));
            }
            _ => return Err(lexer.unexpected(&["`->`", "`+>`"])),
        };
        lexer.advance();
        let shared_to = PlaceId::from_index(state(&mut lexer, "a shared state", shared)?);
        let local_to = place_of_local(state(&mut lexer, "a local state", local)?);
        let mut post: Arcs = vec![(shared_to, Count::ONE), (local_to, Count::ONE)];
        if spawns {
            post.push((local_from, Count::ONE));
        }
        let pre = vec![(shared_from, Count::ONE), (local_from, Count::ONE)];
        net.add_transition(net.next_transition_name(), pre, post);
    }
    if shared > 0 {
        net.add_unit_if_sound((0..shared).map(PlaceId::from_index).collect());
    }
    Ok(Problem { net, query: Query::default() })
}

/// Reads target states `s|l,l,…`, one per line, as a question about a net read from a `.tts` (or
/// its like in another format, with places `s<N>` and `l<N>`).
pub(super) fn read_targets(text: &str, net: &Net) -> Result<Query, Vec<Diagnostic>> {
    targets(text, net).map_err(|complaint| vec![complaint])
}

fn targets(text: &str, net: &Net) -> Result<Query, Diagnostic> {
    let mut lexer = Lexer::new(text, &LEXICON);
    let places = net.place_ids().map(|id| (net.places[id.index()].name.as_str(), id)).collect();
    let mut query = Query::default();
    loop {
        let mut demands = vec![(named(&mut lexer, "s", "shared", &places)?, Count::ONE)];
        lexer.operator("|", &["`|`"])?;
        loop {
            demands.push((named(&mut lexer, "l", "local", &places)?, Count::ONE));
            if !lexer.take_operator(",") {
                break;
            }
        }
        query.targets.push(Target::new(demands));
        match lexer.peek().kind {
            Kind::End => return Ok(query),
            Kind::Number => {}
            _ => return Err(lexer.unexpected(&["`,`", "a shared state", "the end of the text"])),
        }
    }
}

fn named(
    lexer: &mut Lexer<'_>,
    prefix: &str,
    what: &str,
    places: &FxHashMap<&str, PlaceId>,
) -> Result<PlaceId, Diagnostic> {
    let number = lexer.number(&[&format!("a {what} state")])?;
    let digits = number.trim_start_matches('0');
    let name = format!("{prefix}{}", if digits.is_empty() { "0" } else { digits });
    places.get(name.as_str()).copied().ok_or_else(|| {
        let message = format!("the net has no {what} state {number} (no place `{name}`)");
        Diagnostic::error(message, lexer.span_of(number))
    })
}

fn state(lexer: &mut Lexer<'_>, what: &str, bound: usize) -> Result<usize, Diagnostic> {
    let number = lexer.number(&[what])?;
    match number.parse::<usize>() {
        Ok(state) if state < bound => Ok(state),
        _ => Err(Diagnostic::error(format!("{number} is too large for {what}"), lexer.span_of(number))
            .with_expected([format!("a number below {bound}")])),
    }
}
