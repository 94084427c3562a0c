//! Broken and doubtful input, as careless and hostile users have it: each case is either read as
//! what it can only mean or refused at the place that is wrong, with what was expected there.

use super::*;

/// A net, the file of its question, the property asked for, and the first line of the refusal.
struct Case {
    net: (&'static str, String),
    query: Option<(&'static str, String)>,
    property: Option<&'static str>,
    refusal: &'static str,
}

fn outcome(case: &Case) -> Result<Problem, String> {
    let net = Document { name: case.net.0, bytes: case.net.1.as_bytes(), format: None };
    let query = case.query.as_ref().map(|(name, text)| Document { name, bytes: text.as_bytes(), format: None });
    read_with_query(net, query, case.property).map_err(|error| {
        assert!(!error.diagnostics.is_empty());
        error.to_string().lines().next().unwrap_or("").to_owned()
    })
}

fn check(cases: impl IntoIterator<Item = Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let refusal = outcome(&case).map_or_else(|refusal| refusal, |_| "it was read".to_owned());
        if refusal != case.refusal {
            wrong.push(format!("{refusal}\n  not {}", case.refusal));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nets that are refused for what is in their own file.
fn nets(cases: &[(&'static str, &str, &'static str)]) {
    check(cases.iter().map(|(name, text, refusal)| Case {
        net: (name, (*text).to_owned()),
        query: None,
        property: None,
        refusal,
    }));
}

#[test]
fn spec() {
    nets(&[
        ("a.spec", "", "a.spec:1:1: the text ends too early (expected `vars`)"),
        (
            "a.spec",
            "vars a rules\0 init",
            "a.spec:1:13: unexpected control character U+0000 (expected a place or `true` or `init`)",
        ),
        (
            "a.spec",
            "vars a rules a\0 >= 1 -> a' = a - 1; init a = 1 target a >= 1",
            "a.spec:1:15: unexpected control character U+0000 (expected `>=` or `=` or `in`)",
        ),
        (
            "a.spec",
            "vars a b rules init a = 1.5, b = 0 target b >= 1",
            "a.spec:1:26: unexpected `.` (expected `target`)",
        ),
        (
            "a.spec",
            "vars a b rules init a = 1_000, b = 0 target b >= 1",
            "a.spec:1:26: unexpected `_000` (expected `target`)",
        ),
        ("a.spec", "vars a rules init a = -1 target a >= 1", "a.spec:1:23: unexpected `-` (expected a number)"),
        ("a.spec", "vars a rules init a = NaN target a >= 1", "a.spec:1:23: unexpected `NaN` (expected a number)"),
        ("a.spec", "vars a rules init a = 0", "a.spec:1:24: the text ends too early (expected `target`)"),
        (
            "a.spec",
            "vars a rules a >= 1 -> ; target a >= 1",
            "a.spec:1:26: unexpected `target` (expected a place or `true` or `init`)",
        ),
        (
            "a.spec",
            "vars a rules init a in [5, 2] target a >= 1",
            "a.spec:1:28: the range is empty: its end lies below its start",
        ),
        (
            "a.spec",
            "vars a b rules a >= 1 -> a' = a - b; init a = 0, b = 0 target a >= 1",
            "a.spec:1:35: unexpected `b` (expected a number)",
        ),
        (
            "a.spec",
            "vars a rules init a = 0 target a >= 1 target a >= 2",
            "a.spec:1:39: unexpected `target` (expected a place)",
        ),
    ]);
}

#[test]
fn thread_transition_systems() {
    nets(&[
        ("a.tts", "", "a.tts:1:1: the text ends too early (expected the number of shared states)"),
        ("a.tts", "2", "a.tts:1:2: the text ends too early (expected the number of local states)"),
        ("a.tts", "2.5 2", "a.tts:1:2: unexpected `.` (expected the number of local states)"),
        (
            "a.tts",
            "3999999 3999999",
            "a.tts:1:9: 3999999 is too large for the number of local states (expected a number below 1)",
        ),
        ("a.tts", "2 2\n-1 0 -> 1 1", "a.tts:2:1: unexpected `-` (expected a shared state)"),
        (
            "a.tts",
            "2 2\n0 0 -> 1 99999999999999999999999",
            "a.tts:2:10: 99999999999999999999999 is too large for a local state (expected a number below 2)",
        ),
        ("a.tts", "2 2\n0 0 -> 1 1 5", "a.tts:2:12: 5 is too large for a shared state (expected a number below 2)"),
    ]);
    let asked = |question: &str, refusal| Case {
        net: ("a.tts", "2 2\n0 0 -> 1 1\n".to_owned()),
        query: Some(("a.prop", question.to_owned())),
        property: None,
        refusal,
    };
    check([
        asked("", "a.prop:1:1: the text ends too early (expected a shared state)"),
        asked("1|2", "a.prop:1:3: the net has no local state 2 (no place `l2`)"),
        asked("1 1", "a.prop:1:3: unexpected `1` (expected `|`)"),
        asked("-1|1", "a.prop:1:1: unexpected `-` (expected a shared state)"),
        asked("1|1,", "a.prop:1:5: the text ends too early (expected a local state)"),
        asked("1|1|1", "a.prop:1:4: unexpected `|` (expected `,` or a shared state or the end of the text)"),
        asked("<property-set/>", "a.prop:1:1: unexpected `<` (expected a shared state)"),
        asked(
            "99999999999999999999999|1",
            "a.prop:1:1: the net has no shared state 99999999999999999999999 (no place `s99999999999999999999999`)",
        ),
    ]);
}

#[test]
fn lola() {
    nets(&[
        ("a.lola", "PLACE p; MARKING p: -1;", "a.lola:1:21: unexpected `-1` (expected a number)"),
        ("a.lola", "PLACE p; MARKING p: NaN;", "a.lola:1:21: unexpected `NaN` (expected a number)"),
        ("a.lola", "PLACE p, p; MARKING;", "a.lola:1:10: place `p` is declared twice"),
        (
            "a.lola",
            "PLACE p; TRANSITION t CONSUME; PRODUCE;",
            "a.lola:1:10: unexpected `TRANSITION` (expected a place)",
        ),
        (
            "a.lola",
            "PLACE p; MARKING; TRANSITION t CONSUME; PRODUCE; TRANSITION t CONSUME; PRODUCE;",
            "a.lola:1:61: transition `t` is declared twice",
        ),
        (
            "a.lola",
            "PLACE p; MARKING p;\n{ TRANSITION t CONSUME p; PRODUCE;",
            "a.lola:2:1: the comment does not end (expected `TRANSITION` or the end of the text)",
        ),
        ("a.lola", "SORT x = [1, 2]; PLACE p;", "a.lola:1:1: unexpected `SORT` (expected `PLACE`)"),
    ]);
}

#[test]
fn formulas() {
    let asked = |formula: &str, refusal| Case {
        net: ("a.lola", "PLACE p, q, 7; MARKING p; TRANSITION t CONSUME p; PRODUCE q;".to_owned()),
        query: Some(("a.formula", formula.to_owned())),
        property: None,
        refusal,
    };
    check([
        asked("", "a.formula:1:1: the text ends too early (expected `EF` or `AG` or `REACHABLE` or `INVARIANT`)"),
        asked(
            "EG q >= 1",
            "a.formula:1:1: `EG` is not supported here: the formula asks more than coverability (expected `EF` or `AG` or `REACHABLE` or `INVARIANT`)",
        ),
        asked(
            "AG q >= 1",
            "a.formula:1:6: a lower bound makes no coverability question under `AG` or a negation (expected places on the smaller side only)",
        ),
        asked(
            "EF DEADLOCK",
            "a.formula:1:4: `DEADLOCK` is not supported here: the formula asks more than coverability (expected bounds with `AND`, `OR` and `NOT`)",
        ),
        asked(
            "EF (NOT (q >= 1))",
            "a.formula:1:12: a lower bound makes no coverability question under `AG` or a negation (expected places on the smaller side only)",
        ),
        asked(
            "EF EF q >= 1",
            "a.formula:1:4: `EF` is not supported here: the formula asks more than coverability (expected bounds with `AND`, `OR` and `NOT`)",
        ),
        asked("EF q >= -1", "a.formula:1:9: unexpected `-1` (expected a number)"),
        asked("EF q >=", "a.formula:1:8: the text ends too early (expected a place or a number)"),
        asked("EF FIREABLE(", "a.formula:1:13: the text ends too early (expected a transition)"),
        asked("EF FIREABLE(u)", "a.formula:1:13: the net has no transition `u`"),
        asked("EF 3 *", "a.formula:1:7: the text ends too early (expected a place)"),
        asked("EF {q >= 1", "a.formula:1:4: the name in braces does not end"),
        asked("EF {two words} >= 1", "a.formula:1:4: the net has no place `two words`"),
        asked(
            "EF 7 >= 1",
            "a.formula:1:4: numbers are compared, but the net has a place of this name (expected the place's name in braces)",
        ),
        asked(
            "EF p >= 2 OR p >= 1",
            "a.formula:1:11: it is not clear whether `EF` reaches beyond this `OR` (expected `EF ( … )` around the whole formula)",
        ),
        asked(
            "EF q >= 1; EF p >= 1;",
            "a.formula:1:12: unexpected `EF` (expected `AND` or `OR` or the end of the text)",
        ),
        asked(
            &format!("EF {}", "(".repeat(100_000)),
            "a.formula:1:504: the formula is nested more than 500 levels deep",
        ),
    ]);
}

#[test]
fn tina() {
    nets(&[
        ("a.net", "pl p (-1)", "a.net:1:7: unexpected `-` (expected a number)"),
        ("a.net", "pl p (NaN)", "a.net:1:7: unexpected `NaN` (expected a number)"),
        ("a.net", "pl p (1X)", "a.net:1:7: unexpected `1X` (expected a number)"),
        ("a.net", "pl p (1\ntr t p -> q", "a.net:1:8: the line ends too early (expected `)`)"),
        ("a.net", "tr t p -> q?1", "a.net:1:12: unexpected `?` (expected a place)"),
        ("a.net", "tr t p!1 -> q", "a.net:1:7: stopwatch arcs are not supported"),
        ("a.net", "tr t p -> q -> r", "a.net:1:13: unexpected `->` (expected a place)"),
        ("a.net", "net {open\npl p (1)", "a.net:1:5: the text in braces does not end"),
        ("a.net", "nt n 1 {open\ntr t -> q", "a.net:1:8: the text in braces does not end"),
        ("a.net", "xx p", "a.net:1:1: unexpected `xx` (expected `net` or `tr` or `pl`)"),
    ]);
}

/// A net from `p`, marked, to `q` with something added to its parts.
fn pnml(place: &str, transition: &str, arc: &str, more: &str) -> String {
    format!(
        "<pnml><net id='n' type='ptnet'><page id='g'>\n<place id='p'><initialMarking><text>1</text></initialMarking></place>\n\
         <place id='q'{place}\n<transition id='t'{transition}\n<arc id='a' source='p' target='t'{arc}\n\
         <arc id='b' source='t' target='q'/>\n{more}</page></net></pnml>"
    )
}

#[test]
fn pnml_nets() {
    let net = |text: String, refusal| Case { net: ("a.pnml", text), query: None, property: None, refusal };
    let place = |more: &str, refusal| net(pnml(more, "/>", "/>", ""), refusal);
    let transition = |more: &str, refusal| net(pnml("/>", more, "/>", ""), refusal);
    let arc = |more: &str, refusal| net(pnml("/>", "/>", more, ""), refusal);
    let more = |more: &str, refusal| net(pnml("/>", "/>", "/>", more), refusal);
    let marked =
        |text: &str, refusal| place(&format!("><initialMarking><text>{text}</text></initialMarking></place>"), refusal);
    check([
        net(String::new(), "a.pnml:1:1: no well-formed XML: the document does not have a root node"),
        net("<html/>".to_owned(), "a.pnml:1:1: the document holds no net (expected `<net>`)"),
        net("<x:pnml/>".to_owned(), "a.pnml:1:2: no well-formed XML: an unknown namespace prefix 'x' at 1:2"),
        marked("-1", "a.pnml:3:31: `-1` is not a number of tokens (expected a natural number)"),
        marked("1.0", "a.pnml:3:31: `1.0` is not a number of tokens (expected a natural number)"),
        marked("NaN", "a.pnml:3:31: `NaN` is not a number of tokens (expected a natural number)"),
        marked(
            "100000000000000000000_000",
            "a.pnml:3:31: `100000000000000000000_000` is not a number of tokens (expected a natural number)",
        ),
        marked("Black,0,Red,2", "a.pnml:3:31: `Black,0,Red,2` is not a number of tokens (expected a natural number)"),
        marked("1</text></initialMarking><initialMarking><text>2", "a.pnml:3:62: `<initialMarking>` is given twice"),
        place(
            "><capacity><value>1</value></capacity></place>",
            "a.pnml:3:1: a capacity is not supported: this is no place/transition net",
        ),
        place(" invariant='&lt; 5'/>", "a.pnml:3:1: time is not supported: this is no place/transition net"),
        transition(" urgent='true'/>", "a.pnml:4:1: time is not supported: this is no place/transition net"),
        transition(
            "><delay><interval><cn>1</cn><cn>2</cn></interval></delay></transition>",
            "a.pnml:4:1: time is not supported: this is no place/transition net",
        ),
        transition(
            "><priority><value>1</value></priority></transition><transition id='u'><priority><value>2</value></priority></transition>",
            "a.pnml:4:70: priorities are not supported: this is no place/transition net",
        ),
        arc(
            " type='timed' inscription='[5,7]'/>",
            "a.pnml:5:1: time is not supported: this is no place/transition net",
        ),
        arc(" type='transport'/>", "a.pnml:5:1: transport arcs are not supported"),
        arc(
            "><inscription><text>x</text></inscription></arc>",
            "a.pnml:5:48: `x` is not a number of tokens (expected a natural number)",
        ),
        more(
            "<transportArc id='i' source='q' target='t'/>",
            "a.pnml:7:1: arcs of the kind `<transportArc>` are not supported",
        ),
        more("<arc id='a' source='p' target='t'/>", "a.pnml:7:1: the id `a` is used twice"),
        more(
            "<arc id='c' source='a' target='t'/>",
            "a.pnml:7:1: the arc's source `a` is neither a place nor a transition",
        ),
        more("<arc id='c' target='t'/>", "a.pnml:7:1: an arc without `source`"),
        more("<referencePlace id='r' ref='z'/>", "a.pnml:7:1: `r` refers to `z`, which leads to no place"),
        more("<referencePlace id='r' ref='t'/>", "a.pnml:7:1: `r` refers to `t`, which leads to no place"),
        more(
            "<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/>",
            "a.pnml:7:1: `r` refers to `s`, which leads to no place",
        ),
    ]);
}

#[test]
fn mcc_queries() {
    let property =
        |id: &str, formula: &str| format!("<property><id>{id}</id>\n<formula>{formula}</formula></property>");
    let reach = |inside: &str| format!("<exists-path><finally>{inside}</finally></exists-path>");
    let file = |text: &str, property, refusal| Case {
        net: ("a.pnml", pnml("/>", "/>", "/>", "<referencePlace id='r' ref='q'/>")),
        query: Some(("a.xml", format!("<property-set>{text}</property-set>"))),
        property,
        refusal,
    };
    let asked = |inside: &str, refusal| file(&property("x", &reach(inside)), None, refusal);
    let at_least = |number: &str, places: &str| {
        format!(
            "<integer-le><integer-constant>{number}</integer-constant><tokens-count>{places}</tokens-count></integer-le>"
        )
    };
    let place = "<place>q</place>";
    let pair = property("x", "<a/>") + &property("y", "<a/>");
    check([
        file("", None, "a.xml:1:1: the file holds no property (expected `<property>`)"),
        file(
            &pair,
            None,
            "a.xml:1:1: the file holds 2 properties: choose one with `--property ID` (expected `x` or `y`)",
        ),
        file(&pair, Some("z"), "a.xml:1:1: there is no property `z` in this file (expected `x` or `y`)"),
        file(&pair.replace("<id>y", "<id>x"), Some("x"), "a.xml:2:35: the property id `x` is used twice"),
        file(&property("x", ""), None, "a.xml:2:1: `<formula>` holds nothing (expected at least one element)"),
        file(
            &property("x", "<all-path/>"),
            None,
            "a.xml:2:10: `<all-path>` is not known here (expected `<exists-path>` or `<all-paths>`)",
        ),
        file(
            &property("x", "<exists-path><globally/></exists-path>"),
            None,
            "a.xml:2:23: `<globally>` is not supported here: the formula asks more than coverability (expected `<finally>`)",
        ),
        asked(
            "<deadlock/>",
            "a.xml:2:32: `<deadlock>` is not supported here: the formula asks more than coverability (expected `<conjunction>` or `<disjunction>` or `<negation>` or `<integer-le>` or `<is-fireable>`)",
        ),
        asked("<conjunction/>", "a.xml:2:32: `<conjunction>` holds nothing (expected at least one element)"),
        asked("<is-fireable/>", "a.xml:2:32: `<is-fireable>` holds nothing (expected at least one element)"),
        asked("<is-fireable><transition>u</transition></is-fireable>", "a.xml:2:45: the net has no transition `u`"),
        asked(
            "<is-fireable><place>p</place></is-fireable>",
            "a.xml:2:45: unexpected `<place>` (expected `<transition>`)",
        ),
        asked("<true/> or", "a.xml:2:39: text between the elements of `<finally>`"),
        asked(&at_least("1", ""), "a.xml:2:82: `<tokens-count>` holds nothing (expected at least one element)"),
        asked(&at_least("1", "<place>z</place>"), "a.xml:2:96: the net has no place `z`"),
        asked(&at_least("NaN", place), "a.xml:2:44: `NaN` is not a number of tokens (expected a natural number)"),
        asked(&at_least("-1", place), "a.xml:2:44: `-1` is not a number of tokens (expected a natural number)"),
        asked(
            &at_least("99999999999999999999999", "<place>p</place><place>q</place>"),
            "a.xml:2:32: the formula has too many alternatives",
        ),
        asked(
            "<integer-le><integer-constant>1</integer-constant><integer-constant>x</integer-constant></integer-le>",
            "a.xml:2:82: `x` is not a number of tokens (expected a natural number)",
        ),
        asked(
            &"<conjunction>".repeat(50_000),
            "a.xml:2:650032: no well-formed XML: expected 'conjunction' tag, not 'finally' at 2:650032",
        ),
        asked(
            &format!("{}<true/>{}", "<conjunction>".repeat(50_000), "</conjunction>".repeat(50_000)),
            "a.xml:2:6545: the formula is nested more than 500 levels deep",
        ),
    ]);
}

/// What can mean one thing only is read as that.
#[test]
fn doubtful_but_right() {
    let read = |net: (&'static str, &str), query: Option<(&'static str, &str)>| {
        let query = query.map(|(name, text)| (name, text.to_owned()));
        outcome(&Case { net: (net.0, net.1.to_owned()), query, property: None, refusal: "" })
            .unwrap_or_else(|refusal| panic!("{refusal}"))
    };
    let cases = [
        ("a.spec", "vars a b\nrules\na >= 1 ->\na' = a - 1;\ninit a = 1, b = 0\ntarget b >= 1\n", None),
        ("a.tts", "2 2\n0 0 -> 1 1\n", Some(("a.prop", "1|1\n0|0,0\n"))),
        ("a.lola", "PLACE p;\nMARKING p;\n", Some(("a.formula", "EF p >= 1\n"))),
        ("a.net", "net n\npl p (1)\ntr t p -> q\n", Some(("a.formula", "EF q >= 1\n"))),
        ("a.pnml", "<pnml>\n<net id='n'>\n<place id='p'/></net></pnml>\n", None),
    ];
    for (name, net, query) in cases {
        let plain = read((name, net), query);
        for (from, to) in [("\n", "\r\n"), ("", "\u{feff}")] {
            let changed = |text: &str| if from.is_empty() { format!("{to}{text}") } else { text.replace(from, to) };
            let question = query.map(|(name, text)| (name, changed(text)));
            let question = question.as_ref().map(|(name, text)| (*name, text.as_str()));
            assert_eq!(read((name, &changed(net)), question), plain, "{name}");
        }
    }
    let padded = read(("a.tts", "2 2\n00 00 -> 01 01\n"), Some(("a.prop", "01|01")));
    assert_eq!(padded, read(("a.tts", "2 2\n0 0 -> 1 1\n"), Some(("a.prop", "1|1"))));
    let reference = pnml("/>", "/>", "/>", "<referencePlace id='r' ref='q'/><arc id='c' source='t' target='r'/>");
    let doubled = read(("a.pnml", &reference), None).net;
    assert_eq!(doubled.transitions[0].post[0].1.to_string(), "2");
    let attributes = pnml(" initialMarking='3'/>", "/>", " type='timed' inscription='[0,inf)' weight='2'/>", "");
    let net = read(("a.pnml", &attributes), None).net;
    assert_eq!(net.transitions[0].pre[0].1.to_string(), "2");
    assert_eq!(net.initial[1].to_string(), "3");
    assert!(read(("a.lola", "PLACE ; MARKING ;"), Some(("a.formula", "EF TRUE"))).net.places.is_empty());
    let note = read(("a.net", "nt n 1 {several\ntr lines -> q\n}\npl q (1)\n"), None).net;
    assert!(note.transitions.is_empty());
}
