//! Comments at the beginning of a written net.

use super::names::one_line;
use palisade_model::net::Format;

/// The text of a net in a format, with lines of comment in front; behind the first line of an XML
/// document or a graph, which says what it is.
pub fn with_comment(net: &str, format: Format, comment: &[String]) -> String {
    let (head, rest) = match format {
        Format::Pnml | Format::Dot => net.split_at(net.find('\n').map_or(0, |end| end + 1)),
        _ => ("", net),
    };
    let line = |text: &String| {
        let text = one_line(text);
        match format {
            // No comment in XML has two hyphens side by side, or one at its end.
            Format::Pnml => format!("<!-- {} -->\n", apart(text)),
            Format::Lola => format!("{{ {} }}\n", text.replace(['{', '}'], " ")),
            Format::Dot => format!("// {text}\n"),
            Format::Spec | Format::Tina | Format::Tts => format!("# {text}\n"),
        }
    };
    let comment: String = comment.iter().map(line).collect();
    [head, &comment, rest].concat()
}

/// The text with a blank between two hyphens wherever they stand side by side.
fn apart(mut text: String) -> String {
    while text.contains("--") {
        text = text.replace("--", "- -");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, read_with_query, write};
    use palisade_model::net::{Count, Net, OmegaCount, Problem, Query, Target};

    /// Readers pass over comments, whatever stands in them.
    #[test]
    fn comments_are_read_over() {
        let mut net = Net { name: "one".to_owned(), ..Net::default() };
        let place = net.add_place("p", OmegaCount::Finite(Count::ONE));
        net.add_transition("t", vec![(place, Count::ONE)], Vec::new());
        let query = Query { targets: vec![Target::new([(place, Count::ONE)].into_iter().collect())] };
        let problem = Problem { net, query };
        for format in [Format::Pnml, Format::Spec, Format::Lola, Format::Tina] {
            let written = write(&problem, format).expect("every format has such nets");
            let comment = ["a {b} -- c --->".to_owned(), "/* # // */\nx".to_owned()];
            let commented = with_comment(&written.net, format, &comment);
            assert_ne!(commented, written.net);
            let read = |text: &str| {
                let query = written.query.as_ref();
                let query = query.map(|text| Document { name: "q", bytes: text.as_bytes(), format: format.query() });
                let net = Document { name: "n", bytes: text.as_bytes(), format: Some(format) };
                read_with_query(net, query, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
            };
            assert_eq!(read(&commented), read(&written.net), "{format:?}");
        }
    }
}
