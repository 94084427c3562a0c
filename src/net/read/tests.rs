//! Readers: what they accept, what they refuse and where they point.

use super::*;
use crate::net::{Count, OmegaCount, PlaceId};

const SMALL: &str = "# a lock\nvars free held work\nrules\n free >= 1, work >= 2 -> free' = free - 1, held' = held+1;\n\
    true -> work' = work + 3;\n held >= 1 -> ;\ninit\n free = 1, held = 0, work >= 4\ntarget\n held >= 2\n free >= 1,\n \
    held >= 1\ninvariants free = 1, held = 1\n";

fn spec(text: &str) -> Result<Problem, ReadError> {
    read("small.spec", text.as_bytes(), None)
}

/// The first complaint: line, column, message.
fn complaint(text: &str) -> (usize, usize, String) {
    let error = spec(text).expect_err("the text is wrong");
    let position = error.position(&error.diagnostics[0]);
    (position.line, position.column, error.diagnostics[0].message.clone())
}

#[test]
fn spec_with_read_arcs_alternatives_and_units() {
    let problem = spec(SMALL).unwrap();
    let net = &problem.net;
    assert_eq!(net.name, "small");
    let two = Count::from(2);
    assert_eq!(net.transitions[0].pre, vec![(PlaceId(0), Count::ONE), (PlaceId(2), two.clone())]);
    assert_eq!(net.transitions[0].post, vec![(PlaceId(1), Count::ONE), (PlaceId(2), two)]);
    assert_eq!(net.transitions[1].pre, vec![]);
    assert_eq!(net.transitions[1].post, vec![(PlaceId(2), Count::from(3))]);
    assert_eq!(net.transitions[2].pre, net.transitions[2].post);
    assert_eq!(net.initial[2], OmegaCount::Omega);
    assert_eq!(problem.query.targets.len(), 2);
    assert_eq!(problem.query.targets[1].demands.len(), 2);
    assert_eq!(net.units, vec![vec![PlaceId(0), PlaceId(1)]]);
}

#[test]
fn gzip_is_transparent() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(SMALL.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    assert_eq!(read("small.spec.gz", &bytes, None).unwrap(), spec(SMALL).unwrap());
    let error = read("small.spec.gz", &bytes[..bytes.len() / 2], None).unwrap_err();
    assert!(error.to_string().contains("damaged gzip data"), "{error}");
}

#[test]
fn counts_beyond_machine_words_are_exact() {
    let text = "vars a rules a >= 36893488147419103232 -> a' = a - 36893488147419103231; init a = 18446744073709551616 target a >= 1";
    let problem = spec(text).unwrap();
    assert_eq!(problem.net.transitions[0].post, vec![(PlaceId(0), Count::ONE)]);
    assert_eq!(problem.net.initial[0].to_string(), "18446744073709551616");
}

#[test]
fn spec_complaints_point_at_the_place() {
    let wrong = |rules: &str| complaint(&format!("vars a b\nrules\n{rules}\ninit a = 1, b = 0\ntarget a >= 1"));
    assert_eq!(wrong("c >= 1 -> ;").2, "place `c` is not declared under `vars`");
    assert_eq!(wrong("a >= 1 -> a' = a - 2;").0, 3);
    assert!(wrong("a >= 1 -> a' = a - 2;").2.contains("may become negative"));
    assert!(wrong("true -> a' = a - 1;").2.contains("may become negative"));
    assert!(wrong("a = 0 -> ;").2.contains("test for zero"));
    assert!(wrong("a >= 1 -> b' = 0;").2.contains("reset"));
    assert!(wrong("a >= 1 -> b' = b + a + 0;").2.contains("transfer"));
    assert!(wrong("a >= 1 -> b' = a;").2.contains("transfer"));
    assert!(wrong("a >= 1 -> b' = b + 1, b' = b + 1;").2.contains("updated twice"));
    assert_eq!(wrong("a >= 1 -> b' = b + 1"), (4, 1, "unexpected `init`".to_owned()));
    assert_eq!(wrong("a <= 1 -> ;"), (3, 3, "unexpected `<=`".to_owned()));
    assert_eq!(wrong("a >= é -> ;"), (3, 6, "unexpected `é`".to_owned()));
    assert!(complaint("vars a init rules init a = 0 target a >= 1").2.contains("keyword"));
    assert!(complaint("vars a a rules init a = 0 target a >= 1").2.contains("twice"));
    assert!(complaint("vars a b rules init a = 0 target a >= 1").2.contains("`b` is missing"));
    assert!(complaint("vars a rules init a = 0 target a = 1").2.contains("upper bound"));
    assert!(complaint("vars a rules init a = 0 target").2.contains("ends too early"));
    assert!(complaint("").2.contains("ends too early"));
}

#[test]
fn unknown_extensions_and_bytes_are_refused() {
    assert!(read("net.xyz", b"", None).unwrap_err().to_string().contains("not known"));
    assert!(read("net.spec", b"vars \xff", None).unwrap_err().to_string().contains("UTF-8"));
}
