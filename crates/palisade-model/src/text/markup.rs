//! Texts inside of XML and HTML.

use std::fmt::Display;

/// A text in which nothing is markup.
pub fn escaped(text: impl Display) -> String {
    let mut escaped = String::new();
    for character in text.to_string().chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
