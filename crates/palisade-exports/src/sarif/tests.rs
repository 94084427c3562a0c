//! What logs say of findings.

use super::sarif;
use crate::findings::{Answer, Finding, Fix, FlowStep, Kind, Region, line};
use palisade_model::program::SourceText;
use palisade_model::text::Span;
use palisade_report::account::Rule;
use serde_json::{Value, json};

fn log(findings: Vec<Finding>, file: &str) -> Value {
    let answer = Answer { file: file.to_owned(), seconds: 0.5, findings, report: String::new(), page: None };
    serde_json::from_str(&sarif("check", &[answer])).expect("it is JSON")
}

#[test]
fn a_green_run_says_what_was_proved() {
    let log = log(vec![Finding::new(Rule::NOT_ROBUST, Kind::Pass, "robust")], "a b/ü.pal");
    let run = &log["runs"][0];
    assert_eq!(run["results"][0]["kind"], "pass");
    assert_eq!(run["results"][0]["level"], "none");
    let uri = json!({ "uri": "a%20b/%C3%BC.pal", "uriBaseId": "%SRCROOT%" });
    assert_eq!(run["artifacts"][0]["location"], uri);
    assert_eq!(run["results"][0]["locations"][0]["physicalLocation"], json!({ "artifactLocation": uri }));
    assert_eq!(run["invocations"][0], json!({ "executionSuccessful": true }));
}

#[test]
fn every_rule_is_described_where_results_look_it_up() {
    let findings = Rule::ALL.map(|rule| Finding::new(rule, Kind::Fail, "m")).into();
    let log = log(findings, "/root/p.pal");
    let run = &log["runs"][0];
    for result in run["results"].as_array().expect("results") {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small one");
        let rule = &run["tool"]["driver"]["rules"][index];
        assert_eq!((&rule["id"], &rule["defaultConfiguration"]["level"]), (&result["ruleId"], &result["level"]));
    }
    assert_eq!(run["artifacts"][0]["location"], json!({ "uri": "file:///root/p.pal" }));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false, "an input was refused");
}

#[test]
fn fixes_and_steps_have_places() {
    let source = SourceText::new("p.pal", "one\ntwo\n");
    let finding = Finding {
        steps: vec![
            FlowStep { place: Some(line(2)), text: "a store".to_owned() },
            FlowStep { place: None, text: "it reaches memory".to_owned() },
        ],
        fix: Fix::between(&source, "one\nmfence;\ntwo\n", "insert"),
        ..Finding::new(Rule::MISSING_FENCE, Kind::Fail, "m").at(Region::of(&source, Span { start: 4, end: 7 }))
    };
    let result = &log(vec![finding], "p.pal")["runs"][0]["results"][0];
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(*region, json!({ "startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 4 }));
    let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let place = json!({ "startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 1 });
    assert_eq!(*replacement, json!({ "deletedRegion": place, "insertedContent": { "text": "mfence;\n" } }));
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    let line = |step: &Value| step["location"]["physicalLocation"]["region"]["startLine"].as_u64();
    assert_eq!(steps.iter().map(line).collect::<Vec<_>>(), [Some(2), Some(2)]);
}
