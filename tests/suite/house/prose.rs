//! The documents keep to their sizes, their lines to their width, and what they or the code refer
//! to is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The documents at the root with the most bytes that each may have.
const SIZES: [(&str, usize); 6] = [
    ("ARCHITECTURE.md", 25_000),
    ("BENCHMARKS.md", 10_000),
    ("CHANGELOG.md", 4_000),
    ("LANGUAGE.md", 30_000),
    ("README.md", 10_000),
    ("THEORY.md", 40_000),
];

/// The most bytes of the documents at the root and of the pages about evidence together.
const ALL: usize = 220_000;

/// The most bytes of CERTIFICATE.md with its page for each of the first fifteen kinds of evidence.
const CERTIFICATE: usize = 65_000;

/// The most bytes that each later kind of evidence may add.
const KIND: usize = 5_000;

/// The pages below CERTIFICATE.md that several kinds of evidence share: what they are about, and
/// how it abstracts.
const SHARED: [&str; 4] = ["attack-nets.md", "compilations.md", "counters.md", "programs.md"];

/// The most columns of a line of prose.
const COLUMNS: usize = 100;

/// The most words of a sentence, on average over a document.
const WORDS: usize = 25;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder of the repository with an extension, in order, without what is built.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() && !path.ends_with("target") {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The documents: those at the root, the pages about evidence, and the guide.
fn documents() -> Vec<PathBuf> {
    let at_root = |path: &PathBuf| path.parent() == Some(root());
    let entries = std::fs::read_dir(root()).expect("the root").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| at_root(path) && path.extension().is_some_and(|it| it == "md")).collect();
    found.extend(files("docs", "md"));
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a document outside of blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((number, line))
    })
}

#[test]
fn documents_keep_to_their_sizes() {
    let bytes = |path: &Path| read(path).len();
    for (name, most) in SIZES {
        let size = bytes(&root().join(name));
        assert!(size <= most, "{name} has {size} bytes, {most} are the most");
    }
    let is_shared = |path: &Path| SHARED.iter().any(|name| path.ends_with(name));
    let kinds = files("docs/certificate", "md").into_iter().filter(|path| !is_shared(path));
    let evidence: usize = kinds.map(|path| bytes(&path)).sum();
    let evidence = evidence + bytes(&root().join("CERTIFICATE.md"));
    let index = read(&root().join("CERTIFICATE.md"));
    let kinds = index.lines().filter(|line| line.starts_with("| ") && line.contains("` | `")).count();
    let most = CERTIFICATE + KIND * (kinds - 15);
    assert!(evidence <= most, "CERTIFICATE.md and its page for each of {kinds} kinds have {evidence} bytes");
    let guide = root().join("docs/src");
    let all: usize = documents().iter().filter(|path| !path.starts_with(&guide)).map(|path| bytes(path)).sum();
    assert!(all <= ALL, "the documents have {all} bytes");
}

#[test]
fn lines_of_prose_wrap() {
    for path in documents() {
        for (number, line) in prose(&read(&path)).filter(|(_, line)| !line.starts_with('|')) {
            let columns = line.chars().count();
            assert!(columns <= COLUMNS, "{}:{number} has {columns} columns", path.display());
        }
    }
}

#[test]
fn sentences_are_short() {
    for path in documents().into_iter().filter(|path| !path.ends_with("SUMMARY.md")) {
        let text = read(&path);
        let (mut words, mut sentences) = (0, 0);
        for (_, line) in prose(&text).filter(|(_, line)| !line.starts_with(['|', '#'])) {
            words += line.split_whitespace().count();
            sentences += line.split_whitespace().filter(|word| word.ends_with(['.', ':', ';', '?', '!', '∎'])).count();
        }
        assert!(words <= WORDS * sentences, "{}: {words} words in {sentences} sentences", path.display());
    }
}

/// The glossary stays one that people read: a page, and in order.
#[test]
fn the_glossary_is_short_and_in_order() {
    let text = read(&root().join("docs/src/glossary.md"));
    let words: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
    assert!(words.len() <= 41, "{} entries", words.len() - 1);
    let key = |word: &&str| word.replace('ω', "omega").to_lowercase();
    assert!(words[1..].is_sorted_by_key(key), "{words:?}");
}

/// The anchor of a heading, as code hosts and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> Vec<String> {
    prose(text).filter_map(|(_, line)| Some(anchor(line.trim_start_matches('#').strip_prefix(' ')?))).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for path in documents() {
        let text = read(&path);
        for (number, line) in prose(&text) {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if link.contains("://") {
                    continue;
                }
                let (file, section) = link.split_once('#').map_or((link, None), |(file, it)| (file, Some(it)));
                let folder = path.parent().expect("a folder");
                let target = if file.is_empty() { path.clone() } else { folder.join(file) };
                assert!(target.exists(), "{}:{number}: {link}", path.display());
                let is_there = |section: &str| anchors(&read(&target)).iter().any(|it| it == section);
                assert!(section.is_none_or(is_there), "{}:{number}: {link}", path.display());
                links += 1;
            }
        }
    }
    assert!(links >= 60, "{links} links");
}

/// Paths of the repository that documents name in code are there.
#[test]
fn files_that_documents_name_are_there() {
    let folders = ["benches/", "contrib/", "crates/", "docs/", "examples/", "fuzz/", "models/", "src/", "tests/"];
    let mut named = 0;
    for path in documents() {
        let text = read(&path);
        for word in text.split('`').skip(1).step_by(2).filter(|word| folders.iter().any(|it| word.starts_with(it))) {
            let is_path = word.chars().all(|c| c.is_alphanumeric() || "/_-.".contains(c));
            // A harness of the reader's own crate is none of ours.
            if is_path && word != "tests/robust.rs" {
                assert!(root().join(word).exists(), "{} names {word}", path.display());
                named += 1;
            }
        }
    }
    assert!(named >= 15, "{named} paths");
}

/// Code says `THEORY.md ("Title")` or `THEORY.md, "Title"`, and the page has the section.
#[test]
fn sections_that_are_cited_are_there() {
    let mut cited: BTreeMap<String, PathBuf> = BTreeMap::new();
    let sources = ["src", "crates", "docs"].iter().flat_map(|folder| {
        let of = |extension| files(folder, extension);
        of("rs").into_iter().chain(of("md"))
    });
    for path in sources {
        let text = read(&path);
        for rest in text.split("THEORY.md").skip(1) {
            let rest = rest.trim_start_matches([',', ' ', '(', '\n', '/', '!', ':']);
            if let Some(title) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                let title: Vec<&str> = title.split_whitespace().filter(|word| !word.starts_with("//")).collect();
                cited.insert(title.join(" "), path.clone());
            }
        }
    }
    let theory = read(&root().join("THEORY.md"));
    let titles: Vec<&str> = theory.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for (title, path) in &cited {
        assert!(titles.contains(&title.as_str()), "{} cites \"{title}\"", path.display());
    }
    assert!(cited.len() >= 15, "{cited:?}");
}

/// Sources whose lines other tests name.
const NUMBERED: [&str; 2] = ["tests/code", "crates/palisade-machine/tests/images"];

/// Comments wrap as documents do. Rows of tables do not, nor code, nor a word that is longer.
#[test]
fn comments_wrap() {
    let is_numbered = |path: &PathBuf| NUMBERED.iter().any(|folder| path.starts_with(root().join(folder)));
    let folders = ["src", "crates", "tests", "examples", "benches", "fuzz/fuzz_targets", "fuzz/src"];
    let sources = folders.iter().flat_map(|folder| files(folder, "rs")).filter(|path| !is_numbered(path));
    for path in sources {
        let text = read(&path);
        let comments = text.lines().zip(1..).filter_map(|(line, number)| {
            let words = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim();
            Some((line, words, number))
        });
        let mut in_code = false;
        for (line, words, number) in comments {
            in_code ^= words.starts_with("```");
            let may_be_long = in_code || words.starts_with('|') || !words.contains(' ');
            let columns = line.chars().count();
            assert!(may_be_long || columns <= COLUMNS, "{}:{number} has {columns} columns", path.display());
        }
    }
}
