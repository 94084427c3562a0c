//! The grammar for editors, `contrib/vscode/syntaxes`, against the words of the language.

use palisade::syntax::symbols::words;
use serde_json::Value;
use std::path::Path;

fn grammar() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/vscode/syntaxes/palisade.tmLanguage.json");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// All patterns in a value, however deep.
fn patterns(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if let (true, Some(pattern)) = (["match", "begin", "end"].contains(&name.as_str()), member.as_str()) {
                    found.push(pattern.to_owned());
                }
                patterns(member, found);
            }
        }
        Value::Array(members) => members.iter().for_each(|member| patterns(member, found)),
        _ => {}
    }
}

#[test]
fn the_grammar_for_editors_has_all_words_of_the_language() {
    let mut found = Vec::new();
    patterns(&grammar(), &mut found);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // `\b` before a word is no part of it.
    let texts = found.iter().map(|pattern| pattern.replace("\\b", " ").replace("\\s", " "));
    let texts: Vec<String> = texts.collect();
    let known: Vec<&str> = texts.iter().flat_map(|text| text.split(|c| !is_word(c))).collect();
    let missing: Vec<&str> = words().filter(|word| !known.contains(word)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!known.contains(&"banana"));
}

#[test]
fn the_grammar_for_editors_refers_to_what_it_has() {
    let grammar = grammar();
    for included in grammar["patterns"].as_array().unwrap() {
        let name = included["include"].as_str().unwrap().trim_start_matches('#');
        assert!(grammar["repository"].get(name).is_some(), "{name}");
    }
}

#[test]
fn the_extension_names_files_that_are_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/vscode");
    let manifest: Value = std::fs::read_to_string(folder.join("package.json")).unwrap().parse().unwrap();
    let contributes = &manifest["contributes"];
    let named = [&manifest["main"], &contributes["languages"][0]["configuration"], &contributes["grammars"][0]["path"]];
    for path in named {
        assert!(folder.join(path.as_str().unwrap()).is_file(), "{path}");
    }
    assert_eq!(contributes["grammars"][0]["scopeName"], grammar()["scopeName"]);
}
