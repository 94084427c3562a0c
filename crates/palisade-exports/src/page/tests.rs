//! Pages are whole, escape what they show, and load nothing.

use super::*;
use palisade_model::program::SourceText;
use palisade_report::account::Mark;

#[test]
fn nothing_of_the_input_becomes_markup() {
    let mut page = Page::new("<b>&\"'", News::Bad, "<i>");
    page.fact("for", "</dl><script>");
    page.section("A < B", &paragraph("</p><script>alert(1)</script>"));
    let html = page.finish("{\"text\":\"</script><script>\"}");
    assert_eq!(html.matches("<script").count(), 2, "the data and the script of the page: {html}");
    assert_eq!(html.matches("</script>").count(), 2);
    assert!(!html.contains("<b>") && !html.contains("<i>") && html.contains("&lt;/dl&gt;"), "{html}");
}

#[test]
fn what_stands_between_backquotes_is_code() {
    assert_eq!(worded("`a < b` of `x`"), "<code>a &lt; b</code> of <code>x</code>");
    assert_eq!((worded("a ` b").as_str(), worded("plain").as_str()), ("a ` b", "plain"));
}

#[test]
fn the_page_loads_nothing() {
    let html = Page::new("a", News::Good, "robust").finish("{}");
    for word in ["http:", "https:", "src=", "@import", "url(", "<link"] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn long_sources_fold_where_nothing_is_marked() {
    let text: String = (1..=300).map(|line| format!("line {line}\n")).collect();
    let source = SourceText::new("a", text);
    let mut marked = Marked::new(&source);
    marked.mark(150, Mark::Delayed, "");
    marked.mark(150, Mark::Delayed, "");
    let html = marked.html();
    assert_eq!(html.matches("<details").count(), 2, "{html}");
    assert_eq!(html.matches("class=\"line").count(), 300, "every line is there");
    assert_eq!(html.matches("delayed store").count(), 2, "in the legend and at the line: {html}");
}
