//! Statements put into a text as a person would put them there.

/// Where, and as which text, a statement is put before the statement or the closing brace at a
/// byte: on a line of its own if that begins its line.
pub(crate) fn inserted(text: &str, at: usize, statement: &str) -> (usize, String) {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let blanks = &text[start..at];
    if !blanks.chars().all(char::is_whitespace) {
        return (at, format!("{statement} "));
    }
    let end = if text[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
    if text[at..].starts_with('}') {
        let inside = indentation_inside(&text[..start], blanks);
        return (start, format!("{inside}{statement}{end}"));
    }
    (at, format!("{statement}{end}{blanks}"))
}

/// The blanks before the statements of a block, of which the text ends before the line of the
/// closing brace.
fn indentation_inside(before: &str, brace: &str) -> String {
    let above = before.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let blanks = &above[..above.len() - above.trim_start().len()];
    if blanks.len() > brace.len() { blanks.to_owned() } else { format!("{brace}  ") }
}

#[cfg(test)]
mod tests {
    use super::inserted;

    fn with(text: &str, before: &str) -> String {
        let at = text.find(before).expect("it is there");
        let (at, statement) = inserted(text, at, "mfence;");
        format!("{}{statement}{}", &text[..at], &text[at..])
    }

    #[test]
    fn on_a_line_of_its_own_where_others_are() {
        assert_eq!(with("{\n\tx = 1;\n\ty = 2;\n}", "y"), "{\n\tx = 1;\n\tmfence;\n\ty = 2;\n}");
        assert_eq!(with("{\r\n  x = 1;\r\n  }", "}"), "{\r\n  x = 1;\r\n    mfence;\r\n  }");
        assert_eq!(with("while (x) {\n    y = 1;\n}", "}"), "while (x) {\n    y = 1;\n    mfence;\n}");
        assert_eq!(with("{ x = 1; y = 2; }", "y"), "{ x = 1; mfence; y = 2; }");
        assert_eq!(with("{ x = 1; }", "}"), "{ x = 1; mfence; }");
    }
}
