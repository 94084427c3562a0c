//! `palisade lsp`, by an editor that speaks to the real process.

pub(crate) mod client;
mod grammar;

use client::{Client, edited};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

fn model(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name)).unwrap()
}

/// The number of the line with a text, from 0, and the column where it begins.
fn place(text: &str, wanted: &str) -> (u32, u32) {
    let line = text.lines().position(|line| line.contains(wanted)).expect("it is there");
    let column = text.lines().nth(line).unwrap().find(wanted).unwrap();
    (u32::try_from(line).unwrap(), u32::try_from(column).unwrap())
}

/// The edits of an action, and the number of the text that they are for.
fn edits(action: &Value) -> (&Value, &Value) {
    let change = &action["edit"]["documentChanges"][0];
    (&change["edits"], &change["textDocument"]["version"])
}

const DEKKER: &str = "file:///m/simple-dekker.pal";

#[test]
fn a_violation_is_shown_step_by_step_and_repaired() {
    let text = model("simple-dekker.pal");
    let mut client = Client::new(json!({}));
    client.open(DEKKER, "palisade", &text);
    let verdict = client.until(DEKKER, 1, "fixed");
    let verdict = verdict.as_str().unwrap();
    assert!(verdict.starts_with("violated under TSO, not robust") && verdict.contains("t1 × 1, t2 × 1"), "{verdict}");

    let (version, diagnostics) = client.diagnostics(DEKKER);
    assert_eq!(version, 1);
    let ensure = place(&text, "alone: ensure others = 0;");
    let is_property = |it: &&Value| it["code"] == "property-violated" && it["range"]["start"]["line"] == ensure.0;
    let property = diagnostics.iter().find(is_property).expect("the property of the first thread");
    assert_eq!((&property["severity"], &property["source"]), (&json!(1), &json!("palisade")));
    let steps = property["relatedInformation"].as_array().unwrap();
    let told = |step: &Value| step["message"].as_str().unwrap().to_owned();
    assert!(told(&steps[0]).starts_with("1. t1 announce: flag1 ← 1"), "{}", told(&steps[0]));
    let announced = place(&text, "announce: mem[flag1]").0;
    assert_eq!(steps[0]["location"]["range"]["start"]["line"], announced);
    // A store that reaches memory stands where it was issued.
    let flush = steps.iter().find(|step| told(step).contains("flag1 ← 1 reaches memory"));
    assert!(flush.is_none_or(|step| step["location"]["range"]["start"]["line"] == announced), "{flush:?}");
    assert!(told(steps.last().unwrap()).contains("alone"), "{steps:?}");
    assert_eq!(diagnostics.iter().filter(|it| it["code"] == "not-robust").count(), 1);
    let missing: Vec<&Value> = diagnostics.iter().filter(|it| it["code"] == "missing-fence").collect();
    assert_eq!(missing.len(), 2, "{missing:?}");

    let lenses = client.about("codeLens", DEKKER);
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().map(|it| it["command"]["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    assert_eq!(titles[0], verdict);
    assert_eq!(lenses[0]["range"]["start"]["line"], place(&text, "program SimpleDekker").0);
    assert_eq!(titles[1], "violated, not under SC");
    assert_eq!(lenses[1]["range"]["start"]["line"], ensure.0);

    let actions = client.actions(DEKKER, ensure.0);
    let whole = &actions[0];
    assert_eq!((&whole["kind"], &whole["isPreferred"]), (&json!("quickfix"), &json!(true)), "{actions:?}");
    assert!(whole["title"].as_str().unwrap().contains("2 fences optimal, cost 2"), "{whole}");
    let (edits, version) = edits(whole);
    assert_eq!(version, 1);
    let repaired = edited(&text, edits);
    assert_eq!(repaired.matches("mfence").count(), 2, "{repaired}");
    client.change(DEKKER, 2, json!([{ "text": repaired }]));
    let verdict = client.until(DEKKER, 2, "fixed");
    assert!(verdict.as_str().unwrap().starts_with("holds under TSO, robust"), "{verdict}");
    assert!(client.diagnostics(DEKKER).1.is_empty(), "{:?}", client.diagnostics(DEKKER));
    assert!(client.actions(DEKKER, ensure.0).is_empty());
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn single_fences_are_offered_where_they_go() {
    let text = model("simple-dekker.pal");
    let mut client = Client::new(json!({}));
    client.open(DEKKER, "palisade", &text);
    client.until(DEKKER, 1, "fixed");
    let actions = client.actions(DEKKER, place(&text, "look: rival <- mem[flag2];").0);
    let single = actions.iter().find(|it| it["isPreferred"].is_null()).expect("one fence");
    assert_eq!(edited(&text, edits(single).0).matches("mfence").count(), 1);
    client.leave();
}

#[test]
fn errors_are_those_of_the_command() {
    let uri = "file:///m/broken.pal";
    let mut client = Client::new(json!({}));
    client.open(uri, "palisade", "program P\nthread t init a begin\n  a: mfence; gto b;\nend\n");
    client.until(uri, 1, "read");
    let (_, diagnostics) = client.diagnostics(uri);
    let first = &diagnostics[0];
    assert_eq!((&first["severity"], &first["range"]["start"]["line"]), (&json!(1), &json!(2)), "{diagnostics:?}");
    assert!(first["message"].as_str().unwrap().contains("goto"), "{first}");
    assert_eq!(client.about("codeLens", uri), json!([]));
    // Names are known all the same.
    let symbols = client.about("documentSymbol", uri);
    assert_eq!((&symbols[0]["name"], &symbols[0]["children"][0]["name"]), (&json!("t"), &json!("a")));
    assert_eq!(client.about("formatting", uri), Value::Null);
    client.leave();
}

#[test]
fn newer_text_wins() {
    let uri = "file:///m/typed.pal";
    let text = model("simple-dekker.pal");
    let mut client = Client::new(json!({ "fixes": false }));
    client.open(uri, "palisade", &text);
    // Every letter is a text; only the last one is to be answered, however far the others have
    // come.
    let mut version = 1;
    for letter in "mfence; goto look_f;\n  look_f: ".chars().rev() {
        version += 1;
        let (line, column) = place(&text, "look: rival <- mem[flag2];");
        let at = json!({ "line": line, "character": column + 6 });
        client.change(uri, version, json!([{ "range": { "start": at, "end": at }, "text": letter.to_string() }]));
    }
    client.until(uri, version, "checked");
    let (published, diagnostics) = client.diagnostics(uri);
    assert_eq!(published, version);
    // One fence of two: still not robust, and read without an error.
    assert!(diagnostics.iter().any(|it| it["code"] == "not-robust"), "{diagnostics:?}");
    let newest = client.heard.iter().filter(|it| it["method"] == "palisade/status").map(|it| &it["params"]["version"]);
    let versions: Vec<i64> = newest.map(|version| version.as_i64().unwrap()).collect();
    assert!(versions.is_sorted(), "{versions:?}");
    client.leave();
}

/// A question without an answer in any time that a test has: a limit ends it, and so does typing.
const ENDLESS: &str = "models/vyukov-queue.pal";

#[test]
fn a_long_search_shows_progress_and_ends_by_its_limit_or_by_typing() {
    let uri = "file:///m/endless.pal";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(ENDLESS)).unwrap();
    let mut client = Client::new(json!({ "timeout": 0.7, "arguments": ["--threads", "all=*"], "fixes": false }));
    client.open(uri, "palisade", &text);
    client.until(uri, 1, "checked");
    let progress: Vec<&Value> = client.heard.iter().filter(|it| it["method"] == "$/progress").collect();
    assert_eq!(progress[0]["params"]["value"]["kind"], "begin", "{progress:?}");
    assert!(client.heard.iter().any(|it| it["method"] == "window/workDoneProgress/create"));
    // Without a limit that matters, the same text is given up for another one.
    client.tell(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "palisade":
        { "timeout": 100_000, "arguments": ["--threads", "all=*"], "fixes": false, "status": true } } }),
    );
    client.until(uri, 1, "read");
    client.change(uri, 2, json!([{ "text": "program P\nthread t init a begin\n  a: nop;\nend\n" }]));
    let verdict = client.until(uri, 2, "checked");
    assert!(verdict.as_str().unwrap().starts_with("robust"), "{verdict}");
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn names_lead_to_their_declarations() {
    let uri = "file:///m/names.pal";
    let text = model("simple-dekker.pal");
    let mut client = Client::new(json!({}));
    client.open(uri, "palisade", &text);
    let (line, column) = place(&text, "decide: assert rival = 0; goto critical;");
    let target = client.at("definition", uri, (line, column + 31));
    assert_eq!(target["range"]["start"]["line"], place(&text, "critical: others").0);
    let register = client.at("definition", uri, (line, column + 16));
    assert_eq!(register["range"]["start"]["line"], place(&text, "thread t1").0);
    let (line, column) = place(&text, "look: rival <- mem[flag2];");
    let address = client.at("definition", uri, (line, column + 20));
    assert_eq!(address["range"]["start"]["line"], place(&text, "address flag1").0);
    assert_eq!(client.at("references", uri, (line, column + 20)).as_array().unwrap().len(), 4);
    assert_eq!(client.at("documentHighlight", uri, (line, column)).as_array().unwrap().len(), 1);
    let hover = |answer: Value| answer["contents"]["value"].as_str().map(str::to_owned);
    let location = hover(client.at("hover", uri, (line, column + 20))).unwrap();
    assert!(location.contains("stored by `t2`; loaded by `t1`"), "{location}");
    let label = hover(client.at("hover", uri, (line, column + 1))).unwrap();
    assert!(label.contains("label `look` of `t1`") && label.contains("rival <- mem[flag2]"), "{label}");
    let (line, column) = place(&text, "alone: ensure");
    let word = hover(client.at("hover", uri, (line, column + 8))).unwrap();
    assert!(word.contains("a property"), "{word}");
    assert_eq!(client.at("hover", uri, (0, 0)), Value::Null);
    client.leave();
}

#[test]
fn a_text_in_the_words_of_c_is_asked_as_the_editor_says() {
    let uri = "file:///m/spsc.pal";
    // An ordering that is stronger than it has to be.
    let text = model("c11/spsc-ring.pal").replacen("load(tail, relaxed)", "load(tail, seq_cst)", 1);
    let mut client = Client::new(json!({ "arguments": ["--model", "c11"] }));
    client.open(uri, "palisade", &text);
    let verdict = client.until(uri, 1, "fixed");
    assert!(verdict.as_str().unwrap().starts_with("holds under C11, robust against C11"), "{verdict}");
    let actions = client.actions(uri, place(&text, "program SpscRing").0);
    let weaken = actions.iter().find(|it| it["kind"] == "refactor.rewrite").expect("orderings can be weaker");
    assert!(!edited(&text, edits(weaken).0).contains("seq_cst"), "{weaken}");
    // And one that is too weak.
    let text = model("c11/spsc-ring.pal").replacen("tail, mine + 1, release", "tail, mine + 1, relaxed", 1);
    client.change(uri, 2, json!([{ "text": text }]));
    let verdict = client.until(uri, 2, "fixed");
    assert!(verdict.as_str().unwrap().contains("racy"), "{verdict}");
    let actions = client.actions(uri, place(&text, "program SpscRing").0);
    let repaired = edited(&text, edits(&actions[0]).0);
    assert!(repaired.contains("tail, mine + 1, release"), "{repaired}");
    let (line, column) = place(&text, "head, acquire");
    let hover = client.at("hover", uri, (line, column + 7));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("comes after everything"), "{hover}");
    client.leave();
}

#[test]
fn litmus_tests_are_texts_as_well() {
    let uri = "file:///m/SB.litmus";
    let text = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n~exists (0:EAX=0 /\\ 1:EAX=0)\n";
    let mut client = Client::new(json!({}));
    client.open(uri, "litmus", text);
    let verdict = client.until(uri, 1, "fixed");
    assert!(verdict.as_str().unwrap().contains("not robust"), "{verdict}");
    assert!(!client.diagnostics(uri).1.is_empty());
    let definition = client.at("definition", uri, (4, 5));
    assert_eq!(definition["range"]["start"]["line"], 4, "{definition}");
    // The condition names the thread in front of a register.
    let column = |word: &str| u32::try_from("~exists (0:EAX=0 /\\ 1:EAX=0)".find(word).unwrap()).unwrap() + 2;
    let columns = ["0:EAX", "1:EAX"]
        .map(|word| client.at("definition", uri, (5, column(word)))["range"]["start"]["character"].clone());
    assert_eq!(columns, [json!(5), json!(19)]);
    let actions = client.actions(uri, 0);
    assert_eq!(edited(text, edits(&actions[0]).0).matches("MFENCE").count(), 2, "{actions:?}");
    client.leave();
}

#[test]
fn columns_are_units_of_utf16_and_lines_may_end_in_two_characters() {
    let uri = "file:///m/%C3%BCmlaut%20x.pal";
    let text = "program P # 𝄞𝄞\r\naddress x, y\r\nthread t init a begin /* 𝄞 */ a: mem[x] <- 1; b: goto a;\r\nend\r\n";
    let mut client = Client::new(json!({}));
    client.open(uri, "palisade", text);
    client.until(uri, 1, "read");
    let (_, diagnostics) = client.diagnostics(uri);
    let column = "thread t init a begin /* 𝄞 */ a: mem[x] <- 1; b: ".encode_utf16().count();
    let start = &diagnostics[0]["range"]["start"];
    assert_eq!((&start["line"], &start["character"]), (&json!(2), &json!(column)), "{diagnostics:?}");
    // The `b: ` in front of it goes; one unit more than columns of characters would say.
    let (from, to) = (json!({ "line": 2, "character": column - 3 }), json!({ "line": 2, "character": column }));
    client.change(uri, 2, json!([{ "range": { "start": from, "end": to }, "text": "" }]));
    client.until(uri, 2, "checked");
    assert!(client.diagnostics(uri).1.iter().all(|it| it["severity"] != 1), "{:?}", client.diagnostics(uri));
    let text = text.replacen("b: goto", "goto", 1);
    let laid_out = edited(&text, &client.about("formatting", uri));
    assert_eq!(laid_out.matches("\r\n").count(), laid_out.matches('\n').count());
    assert!(laid_out.contains("\r\n  a: mem[x]") || laid_out.contains("𝄞 */ a: mem[x] <- 1;"), "{laid_out}");
    client.leave();
}

#[test]
fn what_is_no_text_of_ours_is_left_alone_and_nonsense_is_answered() {
    let mut client = Client::new(json!({ "arguments": ["--no-such-option"], "timeout": "long" }));
    client.open("file:///m/Cargo.toml", "toml", "[package]\n");
    client.open("untitled:Untitled-1", "palisade", "program P");
    client.until("untitled:Untitled-1", 1, "read");
    // There is no verdict about what cannot be understood, and nothing else is asked instead.
    let racy = "file:///m/racy.pal";
    client.open(racy, "palisade", &model("c11/spinlock-relaxed.pal"));
    let verdict = client.until(racy, 1, "checked");
    assert!(verdict.as_str().unwrap().starts_with("no verdict: the setting `arguments`: "), "{verdict}");
    assert!(client.heard.iter().any(|it| it["method"] == "window/showMessage"), "{:?}", client.heard);
    assert!(!client.heard.iter().any(|it| it["params"]["uri"] == "file:///m/Cargo.toml"));
    let error = |answer: Value| answer["error"]["code"].clone();
    assert_eq!(error(client.ask("textDocument/moniker", json!({}))), -32601);
    assert_eq!(error(client.ask("textDocument/hover", json!({ "textDocument": 3 }))), -32602);
    let closed = json!({ "textDocument": { "uri": "file:///nowhere.pal" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.ask("textDocument/hover", closed)["result"], Value::Null);
    // Changes of what is not open, beyond the end, and in the wrong order.
    client.change("file:///nowhere.pal", 2, json!([{ "text": "" }]));
    client.tell("textDocument/didChange", json!({ "nonsense": [] }));
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": "file:///nowhere.pal" } }));
    client.tell("$/cancelRequest", json!({ "id": 77 }));
    let (far, near) = (json!({ "line": 99, "character": 99 }), json!({ "line": 0, "character": 0 }));
    client.change("untitled:Untitled-1", 2, json!([{ "range": { "start": far, "end": near }, "text": "\u{0}}{" }]));
    client.until("untitled:Untitled-1", 2, "read");
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": "untitled:Untitled-1" } }));
    assert_eq!(client.about("codeLens", "untitled:Untitled-1"), Value::Null);
    assert!(client.diagnostics("untitled:Untitled-1").1.is_empty());
    assert_eq!(client.vanish(), Some(0));
}

/// What is chosen at the end of a search that was cut off keeps to the limits as well: it took more
/// than half a minute for twenty thousand pairs.
#[test]
fn the_search_for_fences_ends_soon_after_its_limit() {
    const MUCH_TOO_LONG: Duration = Duration::from_secs(15);
    let uri = "file:///m/stores.pal";
    let pairs: String = (0..200).map(|number| format!("  x = {};\n  let r{number} = y;\n", number % 3)).collect();
    let text = format!("program P\naddress x, y\nthread a {{\n{pairs}}}\nthread b {{\n  y = 1;\n  let r = x;\n}}\n");
    let mut client = Client::new(json!({ "timeout": 1 }));
    client.open(uri, "palisade", &text);
    client.until(uri, 1, "checked");
    let begin = Instant::now();
    client.until(uri, 1, "fixed");
    assert!(begin.elapsed() < MUCH_TOO_LONG, "{:?}", begin.elapsed());
    client.leave();
}

#[test]
fn every_prefix_of_a_text_is_answered() {
    let uri = "file:///m/prefix.pal";
    let text = model("c11/spsc-ring.pal");
    let mut client = Client::new(json!({ "fixes": false }));
    client.open(uri, "palisade", "");
    let ends: Vec<usize> = (0..=text.len()).filter(|end| text.is_char_boundary(*end)).step_by(23).collect();
    for (end, version) in ends.iter().zip(2..) {
        client.change(uri, version, json!([{ "text": text[..*end] }]));
        client.about("documentSymbol", uri);
        let line = u32::try_from(text[..*end].matches('\n').count()).unwrap();
        client.at("hover", uri, (line, 3));
    }
    let last = i32::try_from(ends.len()).unwrap() + 1;
    client.until(uri, last, "read");
    client.leave();
}

#[test]
fn the_server_waits_to_be_greeted() {
    let mut client = Client::silent();
    let answer = client.ask("textDocument/hover", json!({}));
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    client.write(b"Content-Length: 5\r\n\r\n{{{{{");
    assert_eq!(client.vanish(), Some(2));
}
