//! Threads with bodies in braces: the automata that they mean, what is refused with which words,
//! fences put into their texts.

mod automata;
mod diagnostics;
mod edits;
mod events;
mod random;

use palisade::program::{Program, SourceText};
use palisade::syntax::{Diagnostic, Format, parse, print, read, render};

/// The program of a text.
fn program(text: &str) -> Program {
    let source = SourceText::new("test.pal", text);
    match parse(source.clone(), Format::Native) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{}", errors.iter().map(|error| render(error, &source, false)).collect::<String>()),
    }
}

/// The threads of a text as automata, from the first on.
fn automata(text: &str) -> String {
    let printed = print(&program(text), Format::Native).expect("the native language says it all").text;
    let start = printed.find("\nthread").expect("there is a thread");
    printed[start + 1..].to_owned()
}

/// The automaton of a thread with a body, over a few addresses.
fn automaton(body: &str) -> String {
    let text = automata(&format!("program p\naddress x, y, slot[4]\nthread t {{\n{body}\n}}\n"));
    let (head, lines) = text.split_once('\n').expect("lines follow");
    let lines: Vec<&str> = lines.lines().map(str::trim).take_while(|line| *line != "end").collect();
    let registers = head.strip_prefix("thread t").expect("the thread").trim_end_matches(" begin").trim();
    format!("{registers}\n{}", lines.join("\n"))
}

/// Diagnostics with their places, help and notes.
fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    let source = SourceText::new("test.pal", text);
    let show = |diagnostic: &Diagnostic| {
        let place = source.position(diagnostic.span.start);
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        let notes: String = diagnostic.notes.iter().map(|note| format!(" [{note}]")).collect();
        format!("{}:{}: {}{help}{notes}", place.line, place.column, diagnostic.message)
    };
    diagnostics.iter().map(show).collect()
}

/// The errors of a text.
fn errors(text: &str) -> Vec<String> {
    let source = SourceText::new("test.pal", text);
    shown(text, &read(source, Format::Native).expect_err("the text is wrong"))
}

/// The warnings of a text.
fn warnings(text: &str) -> Vec<String> {
    let source = SourceText::new("test.pal", text);
    match read(source, Format::Native) {
        Ok(parsed) => shown(text, &parsed.warnings),
        Err(found) => panic!("{:?}", shown(text, &found)),
    }
}
