//! What tokens and comments look like in a format: tables over bytes, made when the program is
//! compiled.

/// A set of bytes.
#[derive(Clone, Copy)]
pub(super) struct Bytes([bool; 256]);

impl Bytes {
    /// Every byte.
    pub(super) const ALL: Self = Self([true; 256]);
    /// What `u8::is_ascii_whitespace` says.
    pub(super) const BLANKS: Self = Self::of(b" \t\n\x0C\r");
    /// The decimal digits.
    pub(super) const DIGITS: Self = Self::of(b"0123456789");
    /// The letters of ASCII.
    pub(super) const LETTERS: Self = Self::of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

    /// These bytes.
    pub(super) const fn of(bytes: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut index = 0;
        while index < bytes.len() {
            set[bytes[index] as usize] = true;
            index += 1;
        }
        Self(set)
    }

    /// The bytes of either set.
    pub(super) const fn or(mut self, other: Self) -> Self {
        let mut byte = 0;
        while byte < 256 {
            self.0[byte] |= other.0[byte];
            byte += 1;
        }
        self
    }

    /// The bytes of this set that are not in the other.
    pub(super) const fn except(mut self, other: Self) -> Self {
        let mut byte = 0;
        while byte < 256 {
            self.0[byte] &= !other.0[byte];
            byte += 1;
        }
        self
    }
}

/// The signs of a format.
pub(super) struct Signs {
    /// Operators of one byte or two, longer ones before their prefixes.
    pub(super) operators: &'static [&'static str],
    /// Comments: how they open, and the byte that closes them (`b'\n'`: the end of the line).
    pub(super) comments: &'static [(&'static str, u8)],
    /// The bytes that may start a word.
    pub(super) starts_word: Bytes,
    /// The bytes that may go on with a word.
    pub(super) continues_word: Bytes,
    /// Whether line breaks are tokens (the operator `"\n"`).
    pub(super) lines: bool,
}

/// A comment at the start of a text.
pub(super) enum Comment {
    /// There is none.
    None,
    /// One of so many bytes.
    Of(usize),
    /// One that opens with this sign and does not end.
    Open(&'static str),
}

/// The signs of a format with tables of what each byte can be, so that the loops over bytes call
/// nothing.
pub(super) struct Lexicon {
    signs: Signs,
    classes: [u8; 256],
    /// For each byte, the number of the first operator that it starts; the number of operators when
    /// there is none.
    operators_from: [u8; 256],
}

impl Lexicon {
    /// A blank between tokens.
    pub(super) const BLANK: u8 = 1;
    /// The first byte of a word.
    pub(super) const STARTS_WORD: u8 = 2;
    /// A further byte of a word.
    pub(super) const CONTINUES_WORD: u8 = 4;
    /// A digit.
    pub(super) const DIGIT: u8 = 8;
    /// The first byte of what opens a comment.
    pub(super) const STARTS_COMMENT: u8 = 16;
    /// The first byte of an operator that is longer than one byte.
    pub(super) const STARTS_LONGER: u8 = 32;

    /// The tables of these signs.
    pub(super) const fn new(signs: Signs) -> Self {
        let mut comments = Bytes::of(b"");
        let mut index = 0;
        while index < signs.comments.len() {
            comments.0[signs.comments[index].0.as_bytes()[0] as usize] = true;
            index += 1;
        }
        let mut longer = Bytes::of(b"");
        let mut index = 0;
        while index < signs.operators.len() {
            if signs.operators[index].len() > 1 {
                longer.0[signs.operators[index].as_bytes()[0] as usize] = true;
            }
            index += 1;
        }
        let line_break = Bytes::of(if signs.lines { b"\n" } else { b"" });
        let members = [
            (Bytes::BLANKS.except(line_break), Self::BLANK),
            (signs.starts_word, Self::STARTS_WORD),
            (signs.continues_word, Self::CONTINUES_WORD),
            (Bytes::DIGITS, Self::DIGIT),
            (comments, Self::STARTS_COMMENT),
            (longer, Self::STARTS_LONGER),
        ];
        let mut classes = [0; 256];
        let mut index = 0;
        while index < members.len() {
            let (bytes, class) = members[index];
            let mut byte = 0;
            while byte < 256 {
                if bytes.0[byte] {
                    classes[byte] |= class;
                }
                byte += 1;
            }
            index += 1;
        }
        let operators_from = first_with_each_byte(signs.operators);
        Self { signs, classes, operators_from }
    }

    /// The classes of a byte, each a bit.
    #[inline]
    pub(super) fn class(&self, byte: u8) -> u8 {
        self.classes[usize::from(byte)]
    }

    /// The operator that comes first, if one does.
    #[inline]
    pub(super) fn operator(&self, bytes: &[u8]) -> Option<&'static str> {
        let from = self.operators_from[usize::from(*bytes.first()?)];
        let comes_first = |operator: &str| match operator.as_bytes() {
            // A call to compare so little would be most of the work.
            [only] => bytes.first() == Some(only),
            [one, other] => bytes.first() == Some(one) && bytes.get(1) == Some(other),
            _ => false,
        };
        self.signs.operators.get(usize::from(from)..)?.iter().copied().find(|operator| comes_first(operator))
    }

    /// The comment that comes first. A line break that ends one is left for the formats in which it
    /// counts.
    #[inline(never)]
    pub(super) fn comment(&self, bytes: &[u8]) -> Comment {
        let Some((open, close)) = self.signs.comments.iter().find(|(open, _)| bytes.starts_with(open.as_bytes()))
        else {
            return Comment::None;
        };
        let line = *close == b'\n';
        match bytes[open.len()..].iter().position(|byte| byte == close) {
            Some(body) if line && self.signs.lines => Comment::Of(open.len() + body),
            Some(body) => Comment::Of(open.len() + body + 1),
            // The last line of a text needs no line break.
            None if line => Comment::Of(bytes.len()),
            None => Comment::Open(open),
        }
    }
}

/// For each byte, the number of the first of the texts that starts with it; the number of texts
/// when none does.
const fn first_with_each_byte(texts: &[&str]) -> [u8; 256] {
    assert!(texts.len() < 256, "operators are few");
    let mut index = 0;
    while index < texts.len() {
        assert!(matches!(texts[index].len(), 1 | 2), "operators are short");
        index += 1;
    }
    let mut first = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        while (first[byte] as usize) < texts.len() && texts[first[byte] as usize].as_bytes()[0] as usize != byte {
            first[byte] += 1;
        }
        byte += 1;
    }
    first
}
