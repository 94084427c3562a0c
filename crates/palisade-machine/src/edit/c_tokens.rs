//! The tokens of C and C++ sources, as far as changes of them need them.

/// A token: a word, or one character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
}

/// The tokens, without comments, strings, and lines of the preprocessor.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut is_line_start) = (0, true);
    while at < bytes.len() {
        let rest = &text[at..];
        let byte = bytes[at];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if byte == b'#' && is_line_start {
            directive(rest)
        } else if byte == b'"' || byte == b'\'' {
            literal(rest)
        } else {
            0
        };
        if skipped > 0 {
            at += skipped;
            continue;
        }
        if byte.is_ascii_whitespace() {
            is_line_start |= byte == b'\n';
            at += 1;
            continue;
        }
        is_line_start = false;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let length = if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
        tokens.push(Token { start: at, text: &rest[..length] });
        at += length;
    }
    tokens
}

/// The length of a line of the preprocessor, with the lines that continue it.
fn directive(rest: &str) -> usize {
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            // The end of the line is no part of it.
            return length - usize::from(line.ends_with('\n'));
        }
    }
    length
}

/// The length of a string or a character.
fn literal(rest: &str) -> usize {
    let quote = rest.as_bytes()[0];
    let mut at = 1;
    while let Some(byte) = rest.as_bytes().get(at) {
        match *byte {
            b'\\' => at += 2,
            byte if byte == quote || byte == b'\n' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}
