//! The text of a test in C: whether it is one, and its text without comments.

use crate::Diagnostic;
use crate::litmus::cursor::thread_number;
use palisade_model::text::Span;

/// Whether the first word of a text, behind blanks and comments, says that the test is in C.
pub(in crate::litmus) fn is_c(text: &str) -> bool {
    let mut rest = text.trim_start();
    while rest.starts_with("(*") {
        let Ok(end) = nested_end(rest.as_bytes(), 0) else { return false };
        rest = rest[end..].trim_start();
    }
    rest.strip_prefix('C').is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Where a comment `(* … *)` that begins at a byte ends; comments nest.
fn nested_end(bytes: &[u8], start: usize) -> Result<usize, Diagnostic> {
    let (mut depth, mut at) = (0_usize, start);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"(*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*)") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
        if depth == 0 {
            return Ok(at);
        }
    }
    Err(unclosed(start, "`*)`"))
}

/// The head of a thread, `P0 (…)`, that stands right before a byte.
fn thread_before(text: &str, at: usize) -> Option<Span> {
    let before = text[..at].trim_end().strip_suffix(')')?;
    let open = before.rfind('(')?;
    let head = before[..open].trim_end();
    let name = head.rsplit(char::is_whitespace).next()?;
    thread_number(name).map(|_| Span { start: head.len() - name.len(), end: head.len() })
}

fn unclosed(start: usize, close: &str) -> Diagnostic {
    let span = Span { start, end: start + 2 };
    Diagnostic::error("this comment is never closed", span).with_expected([close])
}

/// The text with comments replaced by as many blanks, so that places stay what they are. `(* … *)`
/// is a comment outside of bodies: in a body, `(*x)` is C. `/* … */` and `// …` are comments from
/// the initial state on.
pub(in crate::litmus) fn without_comments(text: &str) -> Result<String, Diagnostic> {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let (mut at, mut depth, mut in_string) = (0, 0_usize, false);
    // Whether the initial state has begun, and whether it is over.
    let (mut begun, mut over) = (false, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if in_string {
            None
        } else if rest.starts_with(b"(*") && (depth == 0 || !over) {
            Some(nested_end(bytes, at)?)
        } else if begun && rest.starts_with(b"/*") {
            let length = rest[2..].windows(2).position(|two| two == b"*/");
            Some(at + 4 + length.ok_or_else(|| unclosed(at, "`*/`"))?)
        } else if begun && rest.starts_with(b"//") {
            Some(at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()))
        } else {
            None
        };
        if let Some(end) = end {
            out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            at = end;
            continue;
        }
        match bytes[at] {
            b'"' if !begun => in_string = !in_string,
            b'{' if !in_string => {
                if let Some(span) = thread_before(text, at).filter(|_| !begun) {
                    let error = Diagnostic::error("there is no initial state in front of the threads", span);
                    return Err(error.with_expected(["`{ }`"]));
                }
                begun = true;
                depth += 1;
            }
            b'}' if begun => {
                depth = depth.saturating_sub(1);
                over |= depth == 0;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(String::from_utf8(out).expect("whole comments were blanked, so characters stay whole"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_those_of_their_section() {
        let text = "C a\n(* b (* c *) *) \"(* d\" k=http://e\n{ (* f *) /* g */ }\nP0(int *x) { (*x)=1; // h\n /* i */ }\n(* j *) exists";
        let blanked = without_comments(text).expect("closed");
        assert_eq!(blanked.len(), text.len());
        let words: Vec<&str> = blanked.split_whitespace().collect();
        let expected = "C a \"(* d\" k=http://e { } P0(int *x) { (*x)=1; } exists";
        assert_eq!(words.join(" "), expected);
        let missing = without_comments("C a\nP0(int *x) { (*x)=1; }").expect_err("it has no initial state");
        assert_eq!(missing.message, "there is no initial state in front of the threads");
        for open in ["C a { /* }", "C a (* (* *) {}", "C a { (* }"] {
            assert!(without_comments(open).is_err(), "{open}");
        }
        assert!(is_c("\n(* C *) C SB\n{}") && !is_c("(* C *) X86 C") && !is_c("CC x") && !is_c("C"));
    }
}
