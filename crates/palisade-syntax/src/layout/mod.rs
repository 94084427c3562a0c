//! Lays native texts out afresh: indentation, blanks between tokens, comments at the ends of lines
//! below each other.
//!
//! Where lines break is the author's choice and stays, as do all comments; more than one blank line
//! becomes one. The tokens are those of the text, so that it means the same; laid out once more it
//! stays as it is.

mod items;
mod spacing;

use self::items::{Item, Kind, items};
use crate::native::token::{Keyword, Symbol, Token};
use crate::{Diagnostic, Format, parse};
use palisade_model::text::SourceText;
use std::sync::Arc;

/// The blanks before what is one level deeper.
const LEVEL: &str = "  ";

/// A native text laid out afresh, or what is wrong in it.
pub fn laid_out(source: &Arc<SourceText>) -> Result<String, Vec<Diagnostic>> {
    parse(source.clone(), Format::Native)?;
    let mut writer = Writer { items: items(&source.text), lines: Vec::new(), depth: 0 };
    writer.write();
    Ok(writer.finish())
}

/// A line of the new text.
#[derive(Default)]
struct Line {
    /// How many levels deep it begins.
    depth: usize,
    code: String,
    /// The comment at its end.
    comment: String,
}

struct Writer<'s> {
    items: Vec<Item<'s>>,
    lines: Vec<Line>,
    /// How many braces and threads are open.
    depth: usize,
}

impl Writer<'_> {
    fn write(&mut self) {
        for index in 0..self.items.len() {
            let item = self.items[index];
            let closes = self.closes(index);
            if closes {
                self.depth = self.depth.saturating_sub(1);
            }
            if index == 0 || item.newlines > 0 {
                let continues = !closes && self.continues(index);
                if item.newlines > 1 && index > 0 {
                    self.lines.push(Line::default());
                }
                self.lines.push(Line { depth: self.depth + 2 * usize::from(continues), ..Line::default() });
            }
            let is_spaced = index > 0 && item.newlines == 0 && spacing::is_spaced(&self.items, index);
            let line = self.lines.last_mut().expect("the first item opens a line");
            if item.kind == Kind::LineComment && !line.code.is_empty() {
                item.text.clone_into(&mut line.comment);
            } else {
                if is_spaced {
                    line.code.push(' ');
                }
                line.code.push_str(item.text);
            }
            if self.opens(index) {
                self.depth += 1;
            }
        }
    }

    /// The token of an item.
    fn token(&self, index: usize) -> Option<Token<'_>> {
        match self.items.get(index)?.kind {
            Kind::Token(token) => Some(token),
            _ => None,
        }
    }

    fn opens(&self, index: usize) -> bool {
        matches!(self.token(index), Some(Token::Symbol(Symbol::OpenBrace) | Token::Keyword(Keyword::Begin)))
    }

    fn closes(&self, index: usize) -> bool {
        match self.token(index) {
            Some(Token::Symbol(Symbol::CloseBrace)) => true,
            Some(Token::Keyword(Keyword::End)) => {
                let before = self.before(index).and_then(|before| self.token(before));
                !matches!(before, Some(Token::Keyword(Keyword::Goto) | Token::Name("at")))
            }
            _ => false,
        }
    }

    /// The token before an item.
    fn before(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|before| self.token(*before).is_some())
    }

    /// Whether an item that begins a line goes on with what the line before began.
    fn continues(&self, index: usize) -> bool {
        let Some(before) = self.before(index).and_then(|before| self.token(before)) else { return false };
        let next = (index..self.items.len()).find(|next| self.token(*next).is_some());
        let Some(next) = next else { return false };
        let ends = matches!(
            before,
            Token::Symbol(Symbol::Semicolon | Symbol::OpenBrace | Symbol::CloseBrace | Symbol::Colon)
                | Token::Keyword(Keyword::Begin | Keyword::End)
        );
        !ends && !self.begins_something(next)
    }

    /// Whether a token begins an item of the program or a line of a thread.
    fn begins_something(&self, index: usize) -> bool {
        let following = self.token(index + 1);
        match self.token(index) {
            Some(Token::Keyword(
                Keyword::Program
                | Keyword::Domain
                | Keyword::Address
                | Keyword::Initial
                | Keyword::Thread
                | Keyword::Begin
                | Keyword::End,
            )) => true,
            Some(Token::Symbol(Symbol::At)) => true,
            Some(Token::Name("never")) => self.depth == 0 && matches!(following, Some(Token::Name(_))),
            Some(Token::Name("const" | "proc" | "finally")) => self.depth == 0,
            Some(Token::Name(_)) => following == Some(Token::Symbol(Symbol::Colon)),
            _ => false,
        }
    }

    /// The lines as a text, comments below each other where lines with comments follow each other.
    fn finish(self) -> String {
        let mut text = String::new();
        let mut start = 0;
        while start < self.lines.len() {
            let is_commented = |line: &Line| !line.comment.is_empty();
            let length = self.lines[start..].iter().take_while(|line| is_commented(line)).count();
            let group = &self.lines[start..start + length.max(1)];
            let column = group.iter().map(Line::width).max().unwrap_or(0) + 2;
            for line in group {
                if !line.code.is_empty() {
                    text.push_str(&LEVEL.repeat(line.depth));
                    text.push_str(&line.code);
                }
                if is_commented(line) {
                    text.push_str(&" ".repeat(column - line.width()));
                    text.push_str(&line.comment);
                }
                text.push('\n');
            }
            start += group.len();
        }
        text
    }
}

impl Line {
    /// How wide its code is, in characters; of code on several lines the last.
    fn width(&self) -> usize {
        match self.code.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => LEVEL.len() * self.depth + self.code.chars().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::laid_out;
    use palisade_model::text::SourceText;

    fn formatted(text: &str) -> String {
        let once = laid_out(&SourceText::new("p.pal", text)).expect("the text is right");
        let twice = laid_out(&SourceText::new("p.pal", once.as_str())).expect("it stays right");
        assert_eq!(once, twice);
        once
    }

    #[test]
    fn both_forms() {
        let text = "# head\nprogram  p\n\n\n\ndomain -4 .. 3 wrap\nconst N=3;\naddress x,y , slot[ N ]  # three\ninitial x=-1 # one\n\
                    proc lock ( l ) {\nspin: while( xchg( l,1 )!=0 ){pause;}\n}\n\
                    thread t[*]{\nlet r=slot [ x+1 ]*-2; // c\nif(r==0&&! y){x=1;\n} else {\nawait(\ny==0);\n}\n/* a\n   b */ x=& y;\n}\n\
                    thread u[2] regs r,s=1 init a begin\na:r<-mem[ x ];goto b;\n@cost( 2.5 )b: r←cas(mem[x],0,- 1) ; goto end\nend\nnever t at spin ,u at b\n";
        let expected = "# head\nprogram p\n\ndomain -4..3 wrap\nconst N = 3;\naddress x, y, slot[N]  # three\ninitial x = -1         # one\n\
                        proc lock(l) {\n  spin: while (xchg(l, 1) != 0) { pause; }\n}\n\
                        thread t [*] {\n  let r = slot[x + 1] * -2;  // c\n  if (r == 0 && !y) { x = 1;\n  } else {\n    await (\n        y == 0);\n  }\n  /* a\n   b */ x = &y;\n}\n\
                        thread u [2] regs r, s = 1 init a begin\n  a: r <- mem[x]; goto b;\n  @cost(2.5) b: r ← cas(mem[x], 0, -1); goto end\nend\nnever t at spin, u at b\n";
        let text = text.replace("never t at spin ,u at b", "never u at b ,u at b");
        let expected = expected.replace("never t at spin, u at b", "never u at b, u at b");
        assert_eq!(formatted(&text), expected);
    }
}
