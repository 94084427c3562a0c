//! Upper bounds: how large sums of tokens get, with a run to the bound and a proof that there is no
//! more, or with a run that goes on where there is no bound.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

/// Five tokens go from `a` to `b` in pairs, and one by one to `c`; `d` counts what comes to `b`
/// without end.
const NET: &str = "PLACE a, b, c, d;
MARKING a: 5;
TRANSITION pair CONSUME a: 2; PRODUCE b: 2, d: 1;
TRANSITION back CONSUME b: 2; PRODUCE a: 2;
TRANSITION one CONSUME a: 1; PRODUCE c: 1;
";

/// The bounds of sums of its places, as a query of the contest asks for them.
fn query() -> String {
    let bounds = [("first", "a"), ("paired", "b"), ("both", "bc"), ("all", "abc")];
    let property = |(id, places): (&str, &str)| {
        let places: String = places.chars().map(|place| format!("<place>{place}</place>")).collect();
        format!("<property><id>{id}</id><formula><place-bound>{places}</place-bound></formula></property>\n")
    };
    let ef =
        "<property><id>ef</id><formula><exists-path><finally><deadlock/></finally></exists-path></formula></property>";
    format!("<property-set>\n{}{ef}</property-set>\n", bounds.map(property).concat())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("pairs.lola"), NET).expect("it is written");
    std::fs::write(folder.path().join("pairs.xml"), query()).expect("it is written");
    folder
}

#[test]
fn bounds_have_their_lines_and_evidence_for_both_sides() {
    let folder = folder();
    let arguments = ["cover", "pairs.lola", "--query", "pairs.xml", "--all", "--certificate", "evidence", "--verify"];
    let run = palisade(folder.path(), &arguments);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    for (id, value) in [("first", "5"), ("paired", "4"), ("both", "5"), ("all", "5"), ("ef", "TRUE")] {
        assert!(text.contains(&format!("FORMULA {id} {value} TECHNIQUES ")), "{text}");
    }
    let mut files = 0;
    for file in std::fs::read_dir(folder.path().join("evidence")).expect("evidence") {
        let path = file.expect("a file").path();
        let path = path.to_string_lossy();
        let verified = palisade(folder.path(), &["verify", &path]);
        assert_eq!(verified.status.code(), Some(0), "{path}: {verified:?}");
        files += 1;
        // One number further it shows nothing.
        let text = std::fs::read_to_string(&*path).expect("evidence");
        for (own, other) in [("paired>=4", "paired>=5"), ("paired>=5", "paired>=4")] {
            if text.contains(own) {
                std::fs::write(&*path, text.replace(own, other)).expect("it is written");
                let verified = palisade(folder.path(), &["verify", &path]);
                assert_eq!(verified.status.code(), Some(4), "{path}: {verified:?}");
            }
        }
    }
    assert_eq!(files, 2 * 4 + 1, "two for each bound");
}

#[test]
fn every_place_is_asked_for_its_bound_without_a_file() {
    let folder = folder();
    let arguments = ["cover", "pairs.lola", "--ask", "upper-bounds", "--json", "--verify", "--certificate", "evidence"];
    let run = palisade(folder.path(), &arguments);
    assert_eq!(run.status.code(), Some(0), "one has no bound, which is an answer: {run:?}");
    let document = documents::read(&run.stdout);
    let properties = document["properties"].as_array().expect("properties");
    let bounds: Vec<_> = properties.iter().map(|it| (it["id"].as_str(), it["bound"]["tokens"].as_u64())).collect();
    let expected = [("a", Some(5)), ("b", Some(4)), ("c", Some(5)), ("d", None)];
    let names = expected.map(|(place, _)| format!("upper-bounds:{place}"));
    let expected: Vec<_> = names.iter().zip(expected).map(|(id, (_, bound))| (Some(id.as_str()), bound)).collect();
    assert_eq!(bounds, expected, "{document}");
    for property in properties {
        let bound = &property["bound"];
        let sides: &[&str] = if bound["tokens"].is_null() { &["unbounded"] } else { &["least", "most"] };
        sides.iter().for_each(|side| assert_eq!(bound[side]["question"]["accepted"], true, "{property}"));
    }
    // The run that goes on is evidence for that, and for no sum that it does not increase.
    let path = properties[3]["bound"]["unbounded"]["question"]["certificate"].as_str().expect("evidence");
    let verify = || palisade(folder.path(), &["verify", path]);
    let verified = verify();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let text = std::fs::read_to_string(folder.path().join(path)).expect("evidence");
    assert!(text.contains("\"kind\":\"unbounded\""), "{text}");
    for other in ["upper-bounds:a>=1", "upper-bounds:b>=1"] {
        let start = text.find("upper-bounds:d>=").expect("the question");
        let end = start + text[start..].find('"').expect("its end");
        let changed = format!("{}{other}{}", &text[..start], &text[end..]);
        std::fs::write(folder.path().join(path), changed).expect("it is written");
        let verified = verify();
        assert_eq!(verified.status.code(), Some(4), "{verified:?}");
    }
    let run = palisade(folder.path(), &["cover", "pairs.lola", "--ask", "upper-bounds"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(text.contains("FORMULA upper-bounds:d UNBOUNDED TECHNIQUES EXPLICIT"), "{text}");
}
