//! Expands macros, on words: `macro NAME(parameter, …) words endmacro` defines, `NAME(words, …)`
//! calls.

use super::lexer::{Kind, Token};
use crate::suggest::closest;
use crate::{Diagnostic, MAX_ERRORS};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

/// The most words that a text may have after expansion.
const MOST_WORDS: usize = 1 << 20;

/// How deeply calls may lie in bodies of macros.
const MOST_CALLS: usize = 100;

/// A definition.
struct Macro<'s> {
    parameters: Vec<Kind<'s>>,
    body: Vec<Token<'s>>,
}

/// The words of a text with its macros expanded, definitions left out.
pub(super) fn expanded<'s>(words: &[Token<'s>]) -> Result<Vec<Token<'s>>, Vec<Diagnostic>> {
    let mut expansion = Expansion { macros: FxHashMap::default(), errors: Vec::new(), words: 0 };
    let rest = expansion.definitions(words);
    let mut all = Vec::with_capacity(rest.len());
    if expansion.errors.is_empty()
        && let Err(error) = expansion.expand(&rest, &mut Vec::new(), &mut all)
    {
        expansion.errors.push(error);
    }
    expansion.errors.truncate(MAX_ERRORS);
    if expansion.errors.is_empty() { Ok(all) } else { Err(expansion.errors) }
}

struct Expansion<'s> {
    macros: FxHashMap<&'s str, Macro<'s>>,
    errors: Vec<Diagnostic>,
    /// The words made so far.
    words: usize,
}

impl<'s> Expansion<'s> {
    /// Takes the definitions out of a text.
    fn definitions(&mut self, words: &[Token<'s>]) -> Vec<Token<'s>> {
        let mut rest = Vec::with_capacity(words.len());
        let mut at = 0;
        while at < words.len() {
            let word = words[at];
            if !word.is("macro") {
                if word.is("endmacro") {
                    self.errors.push(Diagnostic::error("`endmacro` without a `macro` before it", word.span));
                }
                rest.push(word);
                at += 1;
                continue;
            }
            let length = words[at..].iter().position(|word| word.is("endmacro"));
            let Some(length) = length else {
                let error = Diagnostic::error("this macro does not end", word.span);
                self.errors.push(error.with_expected(["`endmacro`"]));
                return rest;
            };
            if let Err(error) = self.definition(&words[at + 1..at + length], word.span) {
                self.errors.push(error);
            }
            at += length + 1;
        }
        rest
    }

    /// What stands between `macro` and `endmacro`.
    fn definition(&mut self, words: &[Token<'s>], start: Span) -> Result<(), Diagnostic> {
        let after = |at: usize| words.get(at).map_or(start, |word| word.span);
        let expected = |at: usize, what: &str| {
            let found = words.get(at).map_or("`endmacro`".to_owned(), |word| format!("`{}`", word.kind));
            Diagnostic::error(format!("expected {what}, found {found}"), after(at)).with_expected([what])
        };
        let Some(Token { kind: Kind::Name(name), span, .. }) = words.first().copied() else {
            return Err(expected(0, "the macro's name"));
        };
        if !words.get(1).is_some_and(|word| word.is("(")) {
            return Err(expected(1, "`(`"));
        }
        let mut parameters = Vec::new();
        let mut at = 2;
        if words.get(at).is_some_and(|word| word.is(")")) {
            at += 1;
        } else {
            loop {
                match words.get(at).map(|word| word.kind) {
                    Some(kind @ (Kind::Name(_) | Kind::Register(_))) if parameters.contains(&kind) => {
                        return Err(Diagnostic::error(format!("there is already a parameter `{kind}`"), after(at)));
                    }
                    Some(kind @ (Kind::Name(_) | Kind::Register(_))) => parameters.push(kind),
                    _ => return Err(expected(at, "a parameter")),
                }
                at += 2;
                match words.get(at - 1) {
                    Some(word) if word.is(",") => {}
                    Some(word) if word.is(")") => break,
                    _ => return Err(expected(at - 1, "`,` or `)`")),
                }
            }
        }
        if let Some(inner) = words[at..].iter().find(|word| word.is("macro")) {
            return Err(Diagnostic::error("a macro cannot be defined inside of another one", inner.span));
        }
        if self.macros.contains_key(name) {
            return Err(Diagnostic::error(format!("the macro `{name}` is defined twice"), span));
        }
        self.macros.insert(name, Macro { parameters, body: words[at..].to_vec() });
        Ok(())
    }

    /// Expands the calls in `words`; `calls` are those being expanded, with the outermost one's
    /// place.
    fn expand(
        &mut self,
        words: &[Token<'s>],
        calls: &mut Vec<(&'s str, Span)>,
        all: &mut Vec<Token<'s>>,
    ) -> Result<(), Diagnostic> {
        let mut at = 0;
        while at < words.len() {
            let word = words[at];
            let calls_next = words.get(at + 1).is_some_and(|next| next.is("("));
            let Kind::Name(name) = word.kind else {
                self.push(word, all)?;
                at += 1;
                continue;
            };
            if !calls_next {
                self.push(word, all)?;
                at += 1;
                continue;
            }
            if !self.macros.contains_key(name) {
                let names = self.macros.keys().copied();
                let error = Diagnostic::error(format!("there is no macro `{name}`"), word.span);
                let meant = closest(name, sorted(names)).map(|meant| format!("did you mean `{meant}`?"));
                return Err(in_call(error.with_help_if(meant), word.call));
            }
            self.count(word)?;
            let (arguments, length) = arguments(&words[at + 1..], word)?;
            let place = calls.first().map_or_else(|| word.call.unwrap_or(word.span), |(_, place)| *place);
            if calls.iter().any(|(active, _)| *active == name) {
                return Err(in_call(
                    Diagnostic::error(format!("the macro `{name}` calls itself"), word.span),
                    word.call,
                ));
            }
            if calls.len() >= MOST_CALLS {
                let message = format!("more than {MOST_CALLS} calls of macros inside of each other");
                return Err(in_call(Diagnostic::error(message, word.span), word.call));
            }
            let parameters = self.macros[name].parameters.len();
            if arguments.len() != parameters {
                let message = format!("the macro `{name}` takes {}, not {}", counted(parameters), arguments.len());
                return Err(in_call(Diagnostic::error(message, word.span), word.call));
            }
            let mut given = Vec::with_capacity(arguments.len());
            for argument in arguments {
                let mut words = Vec::new();
                self.expand(argument, calls, &mut words)?;
                given.push(words);
            }
            let body = self.substituted(name, &given, place)?;
            calls.push((name, place));
            self.expand(&body, calls, all)?;
            calls.pop();
            at += 1 + length;
        }
        Ok(())
    }

    fn push(&mut self, word: Token<'s>, all: &mut Vec<Token<'s>>) -> Result<(), Diagnostic> {
        self.count(word)?;
        all.push(word);
        Ok(())
    }

    /// Counts words and calls: a call that makes no word takes its time, too.
    fn count(&mut self, word: Token<'s>) -> Result<(), Diagnostic> {
        self.words += 1;
        if self.words > MOST_WORDS {
            let message = format!("macros make more than {MOST_WORDS} words of this text");
            return Err(in_call(Diagnostic::error(message, word.span), word.call));
        }
        Ok(())
    }

    /// The body of a macro with arguments in place of its parameters, called from `place`.
    fn substituted(&self, name: &str, given: &[Vec<Token<'s>>], place: Span) -> Result<Vec<Token<'s>>, Diagnostic> {
        let Macro { parameters, body } = &self.macros[name];
        let mut words = Vec::with_capacity(body.len());
        for word in body {
            match parameters.iter().position(|parameter| *parameter == word.kind) {
                Some(index) => words.extend(given[index].iter().copied()),
                None => words.push(Token { call: Some(place), ..*word }),
            }
            if words.len() > MOST_WORDS {
                let message = format!("macros make more than {MOST_WORDS} words of this text");
                return Err(Diagnostic::error(message, place));
            }
        }
        Ok(words)
    }
}

/// The arguments of a call, whose parenthesis opens at the beginning of `words`, and how many words
/// they take with their parentheses.
fn arguments<'w, 's>(words: &'w [Token<'s>], name: Token<'s>) -> Result<(Vec<&'w [Token<'s>]>, usize), Diagnostic> {
    let mut arguments = Vec::new();
    let mut open = 0usize;
    let mut start = 1;
    for (at, word) in words.iter().enumerate() {
        if word.is("(") || word.is("[") || word.is("{") {
            open += 1;
        } else if word.is(",") && open == 1 {
            arguments.push(&words[start..at]);
            start = at + 1;
        } else if word.is(")") || word.is("]") || word.is("}") {
            open = open.saturating_sub(1);
            if open == 0 {
                if at > 1 {
                    arguments.push(&words[start..at]);
                }
                return Ok((arguments, at + 1));
            }
        }
    }
    Err(in_call(Diagnostic::error(format!("the call of `{}` does not end", name.kind), name.span), name.call))
}

/// An error at a word, which may come from a macro.
pub(super) fn in_call(error: Diagnostic, call: Option<Span>) -> Diagnostic {
    match call {
        Some(_) => error.with_note("the word comes from a macro; the place is in its definition"),
        None => error,
    }
}

fn sorted<'s>(names: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

fn counted(parameters: usize) -> String {
    if parameters == 1 { "1 argument".to_owned() } else { format!("{parameters} arguments") }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn words(text: &str) -> Result<String, Vec<Diagnostic>> {
        let all = expanded(&tokens(text)?)?;
        Ok(all.iter().map(|word| word.kind.to_string()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn calls_lie_in_arguments_and_bodies() {
        let text = "macro W() 2 endmacro macro at(p,w) [p+p+w] endmacro macro both(a,b) a = at(b,W()) endmacro";
        assert_eq!(words(&format!("{text} both(at(1,(0)),$r) W")).unwrap(), "[ 1 + 1 + ( 0 ) ] = [ $r + $r + 2 ] W");
    }

    #[test]
    fn what_macros_cannot_do() {
        let message = |text: &str| words(text).unwrap_err()[0].message.clone();
        assert_eq!(message("macro f(x) f(x) endmacro f(1)"), "the macro `f` calls itself");
        assert_eq!(message("macro f(x) x endmacro f(1,2)"), "the macro `f` takes 1 argument, not 2");
        assert_eq!(message("macro f(x) x"), "this macro does not end");
        assert_eq!(message("f(1)"), "there is no macro `f`");
        assert_eq!(message("macro f(x) macro g() endmacro"), "a macro cannot be defined inside of another one");
        assert_eq!(message("macro f() 1 endmacro f("), "the call of `f` does not end");
        let bomb = (0..40).fold("macro m0() x x endmacro ".to_owned(), |text, index| {
            text + &format!("macro m{}() m{index}() m{index}() endmacro ", index + 1)
        });
        assert!(message(&format!("{bomb} m40()")).contains("more than 1048576 words"));
        assert!(message(&format!("{} m40()", bomb.replace("x x", ""))).contains("more than 1048576 words"));
    }
}
