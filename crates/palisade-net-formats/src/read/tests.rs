//! Readers: what they accept, what they refuse and where they point.

use super::*;
use palisade_model::net::{Count, Inhibitor, OmegaCount, PlaceId, TransitionId};

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
fn layout_means_nothing() {
    let usual = "vars x xy\nrules\nx >= 3, xy >= 2 ->\n x' = x - 3,\n xy' = xy + 4;\nxy >= 25 -> x' = x + 10, xy' = xy - 25;\n\
        x >= 1 -> xy' = xy + 0;\nx >= 9 ->\n x' = x - 9;\ninit\nx = 7, xy >= 0\ntarget\nx >= 1, xy >= 12\n";
    let problem = spec(usual).unwrap();
    let stretched = usual.replace(' ', " # a comment\n\t");
    let dense = usual.replace("' = ", "'=").replace(" - ", "-").replace(" + ", "+").replace(" >= ", ">=");
    assert_eq!(spec(&stretched).unwrap(), problem);
    assert_eq!(spec(&dense).unwrap(), problem);
    assert_eq!(problem.net.transitions[0].post, vec![(PlaceId(1), Count::from(6))]);
    assert_eq!(problem.net.transitions[1].post, vec![(PlaceId(0), Count::from(10))]);
    let transfer = usual.replace("x' = x - 3", "x' = xy - 3");
    assert!(complaint(&transfer).2.contains("transfer"), "{:?}", complaint(&transfer));
    let longer = usual.replace("xy' = xy + 4", "xy' = xy + 4 + 2 - 1");
    assert_eq!(spec(&longer).unwrap().net.transitions[0].post, vec![(PlaceId(1), Count::from(7))]);
}

fn gzip(text: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_transparent() {
    let bytes = gzip(SMALL.as_bytes());
    assert_eq!(read("small.spec.gz", &bytes, None).unwrap(), spec(SMALL).unwrap());
    let error = read("small.spec.gz", &bytes[..bytes.len() / 2], None).unwrap_err();
    assert!(error.to_string().contains("damaged gzip data"), "{error}");
}

#[test]
fn unpacking_stops_at_a_bound() {
    let million = gzip(&vec![b' '; 1_000_000]);
    assert!(million.len() < 10_000);
    assert_eq!(unpack(&million, 1_000_000).unwrap().len(), 1_000_000);
    assert!(unpack(&million, 999_999).unwrap_err().contains("more than 999999 bytes"));
    // Several archives in one file count together.
    assert!(unpack(&[gzip(b"abc"), gzip(b"abc")].concat(), 5).is_err());
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

/// What a text in some format is refused with.
fn refusal(name: &str, text: &str) -> String {
    read(name, text.as_bytes(), None).expect_err("the text is wrong").to_string()
}

fn pnml(content: &str) -> String {
    format!("<pnml><net id='n' type='ptnet'><page id='g'>\n{content}</page></net></pnml>")
}

#[test]
fn thread_transition_systems_are_refused_where_they_are_none() {
    assert!(refusal("a.tts", "2 2\n0 0 ~> 1 1\n").contains("a.tts:2:5: a broadcast"));
    assert!(refusal("a.tts", "2 2\n0 0 -> 1 2\n").contains("a.tts:2:10: 2 is too large"));
    assert!(refusal("a.tts", "2 2\n0 0 -> 1").contains("ends too early"));
    assert!(refusal("a.tts", "99999999999999999999 2\n").contains("too large"));
    let net = Document { name: "a.tts", bytes: b"2 2\n", format: None };
    for (question, complaint) in [("5|0", "no shared state 5"), ("0|", "ends too early"), ("0", "ends too early")] {
        let query = Document { name: "a.prop", bytes: question.as_bytes(), format: None };
        let error = read_with_query(net, Some(query), None).unwrap_err();
        assert!(error.to_string().contains(complaint), "{error}");
    }
}

#[test]
fn pnml_of_several_dialects() {
    let text = pnml(
        "<place id='a'><name><value>in</value></name><initialMarking><value>Default,2</value></initialMarking></place>
        <place id='b'><name><text>in</text></name></place><referencePlace id='r' ref='a'/>
        <page id='h'><transition id='t'/></page>
        <arc id='x' source='r' target='t'><inscription><text>2</text></inscription></arc>
        <arc id='y' source='t' target='b'><type value='normal'/></arc>
        <toolspecific tool='x' version='1'><place id='ghost'/></toolspecific>",
    );
    let net = read("a.pnml", text.as_bytes(), None).unwrap().net;
    assert_eq!(net.places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["in", "in#b"]);
    assert_eq!(net.initial[0], OmegaCount::Finite(Count::from(2)));
    assert_eq!(net.transitions[0].pre, vec![(PlaceId(0), Count::from(2))]);
    assert_eq!(net.transitions[0].post, vec![(PlaceId(1), Count::ONE)]);
}

#[test]
fn pnml_complaints() {
    let wrong = |content: &str| refusal("a.pnml", &pnml(content));
    let arc = |inside: &str| {
        wrong(&format!("<place id='p'/><transition id='t'/>\n<arc id='a' source='p' target='t'>{inside}</arc>"))
    };
    assert!(arc("<arctype><text>reset</text></arctype>").contains("reset arcs"));
    assert!(arc("<inscription><text>-1</text></inscription>").contains("`-1` is not a number"));
    assert!(arc("<inscription><text>0</text></inscription>").contains("weight 0"));
    assert!(wrong("<arc id='a' source='p' target='t'/>").contains("neither a place nor a transition"));
    assert!(wrong("<place id='p'/><place id='q'/><arc id='a' source='p' target='q'/>").contains("join a place and"));
    assert!(wrong("<place id='p'/><place id='p'/>").contains("used twice"));
    assert!(wrong("<place>").contains("no well-formed XML"));
    assert!(refusal("a.pnml", "<pnml/>").contains("holds no net"));
    assert!(refusal("a.pnml", "<pnml><net/><net/></pnml>").contains("more than one net"));
    assert!(refusal("a.pnml", "<pnml><net type='http://x/symmetricnet'/></pnml>").contains("not supported"));
}

#[test]
fn mcc_queries() {
    let net = pnml("<place id='p'/><place id='q'/><transition id='t'/><arc id='a' source='p' target='t'/>");
    let ask = |formula: &str| {
        let query = format!("<property-set><property><id>x</id><formula>{formula}</formula></property></property-set>");
        let net = Document { name: "a.pnml", bytes: net.as_bytes(), format: None };
        read_with_query(net, Some(Document { name: "a.xml", bytes: query.as_bytes(), format: None }), None)
    };
    let reach = |inside: &str| ask(&format!("<exists-path><finally>{inside}</finally></exists-path>"));
    let at_least = |count: u64, place: &str| {
        format!(
            "<integer-le><integer-constant>{count}</integer-constant><tokens-count><place>{place}</place></tokens-count></integer-le>"
        )
    };
    let both = reach(&format!("<conjunction>{}{}</conjunction>", at_least(2, "p"), at_least(1, "q"))).unwrap();
    assert_eq!(both.query.targets.len(), 1);
    assert_eq!(both.query.targets[0].demands, vec![(PlaceId(0), Count::from(2)), (PlaceId(1), Count::ONE)]);
    let fireable = reach("<is-fireable><transition>t</transition></is-fireable>").unwrap();
    assert_eq!(fireable.query.targets[0].demands, vec![(PlaceId(0), Count::ONE)]);
    let upper =
        "<integer-le><tokens-count><place>p</place></tokens-count><integer-constant>1</integer-constant></integer-le>";
    assert!(reach(upper).unwrap_err().to_string().contains("upper bound"));
    assert!(reach(&at_least(1, "z")).unwrap_err().to_string().contains("no place `z`"));
    assert!(reach("<negation/>").unwrap_err().to_string().contains("holds nothing"));
    assert_eq!(reach(&format!("<negation>{upper}</negation>")).unwrap().query, reach(&at_least(2, "p")).unwrap().query);
    assert!(ask("<all-paths/>").unwrap_err().to_string().contains("holds nothing"));
}

#[test]
fn lola_nets_and_formulas() {
    let text = "{ a net } PLACE SAFE 1: a, b; c.d;\nMARKING a: 2, b;\nTRANSITION t STRONG FAIR CONSUME a: 2; PRODUCE ;";
    let net = Document { name: "a.lola", bytes: text.as_bytes(), format: None };
    let ask = |formula: &str| {
        let query = Document { name: "a.formula", bytes: formula.as_bytes(), format: None };
        read_with_query(net, Some(query), None).map_err(|error| error.to_string())
    };
    let problem = ask("EF (a > 1 AND (c.d >= 1 OR 2 <= b + c.d) OR FIREABLE(t))").unwrap();
    assert_eq!(problem.net.transitions[0].pre, vec![(PlaceId(0), Count::from(2))]);
    let demands: Vec<usize> = problem.query.targets.iter().map(|target| target.demands.len()).collect();
    assert_eq!(demands, [1, 3, 2, 2, 2]);
    assert_eq!(ask("EF (NOT a <= 1)").unwrap().query, ask("EF a > 1").unwrap().query);
    assert_eq!(ask("AG (a <= 1 OR NOT FIREABLE(t))").unwrap().query, ask("EF (a > 1 AND FIREABLE(t))").unwrap().query);
    assert!(ask("EF (NOT a > 1)").unwrap_err().contains("a lower bound makes no coverability question"));
    assert!(ask("EF a <= 1").unwrap_err().contains("upper bound"));
    assert!(ask("EF a = 1").unwrap_err().contains("a.formula:1:6"));
    assert!(ask("EF z > 1").unwrap_err().contains("no place `z`"));
    assert!(refusal("a.lola", "PLACE a; MARKING b;").contains("place `b` is not declared"));
    assert!(refusal("a.lola", "PLACE a; MARKING a: x;").contains("unexpected `x` (expected a number)"));
}

#[test]
fn tina_nets() {
    let text = "net {my net} # all\ntr t1 : {a label} [0,w[ p1*2 p3?2 -> p2 p1*3K\npl p1 : x (4)\npl p3 t1 -> t1*2\nlb p1 any thing\n";
    let net = read("a.net", text.as_bytes(), None).unwrap().net;
    assert_eq!(net.name, "my net");
    let names: Vec<&str> = net.places.iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names, ["p1", "p3", "p2"]);
    assert_eq!(net.transitions[0].pre, vec![(PlaceId(0), Count::from(2)), (PlaceId(1), Count::from(4))]);
    assert_eq!(net.transitions[0].post[0].1, Count::from(3000));
    assert_eq!(net.transitions[0].post[1], (PlaceId(1), Count::from(3)));
    assert!(refusal("a.net", "tr t [1,2] p -> q").contains("time intervals"));
    assert!(refusal("a.net", "tr t p\npl p (1)").contains("a.net:1:7: the line ends too early"));
    assert!(refusal("a.net", "pr a > b").contains("priorities"));
}

/// Both ways to write a condition become the same one.
#[test]
fn conditions_of_reachability() {
    let text = "PLACE a, b, c;\nMARKING a: 2;\nTRANSITION t CONSUME a: 2, b; PRODUCE c;";
    let net = Document { name: "a.lola", bytes: text.as_bytes(), format: None };
    let formula = |formula: &str| {
        let query = Document { name: "a.formula", bytes: formula.as_bytes(), format: None };
        read_reach_question(net, query, None).map(|(_, question)| question).map_err(|error| error.to_string())
    };
    let xml = |quantifier: &str, condition: &str| {
        let path = if quantifier == "EF" { ["exists-path", "finally"] } else { ["all-paths", "globally"] };
        let [path, operator] = path;
        let text = format!(
            "<property-set><property><id>x</id><formula><{path}><{operator}>{condition}</{operator}></{path}></formula></property></property-set>"
        );
        let query = Document { name: "a.xml", bytes: text.as_bytes(), format: None };
        read_reach_question(net, query, None).map(|(_, question)| question).map_err(|error| error.to_string())
    };
    let tokens = |place: &str| format!("<tokens-count><place>{place}</place></tokens-count>");
    let constant = |number: u32| format!("<integer-constant>{number}</integer-constant>");
    let signs = [("<=", "le"), ("<", "lt"), (">=", "ge"), (">", "gt"), ("=", "eq"), ("!=", "ne")];
    for (sign, name) in signs {
        for quantifier in ["EF", "AG"] {
            let sum = format!("<integer-sum>{}{}</integer-sum>", tokens("a"), constant(1));
            let compared = format!("<integer-{name}>{sum}{}</integer-{name}>", tokens("b"));
            let (one, other) = (formula(&format!("{quantifier} (a + 1 {sign} b)")), xml(quantifier, &compared));
            assert_eq!(one.unwrap(), other.unwrap(), "{sign}");
        }
    }
    let minus = format!("<integer-difference>{}{}</integer-difference>", tokens("a"), tokens("b"));
    let difference = xml("EF", &format!("<integer-le>{minus}{}</integer-le>", constant(0))).unwrap();
    assert_eq!(difference, formula("EF (a <= b)").unwrap());
    assert_eq!(xml("EF", "<deadlock/>").unwrap().goal, palisade_model::net::Formula::Deadlock);
    assert_eq!(formula("EF DEADLOCK").unwrap(), xml("EF", "<deadlock/>").unwrap());
    let fireable = "<is-fireable><transition>t</transition></is-fireable>";
    assert_eq!(formula("AG FIREABLE(t)").unwrap().goal, formula("EF (a <= 1 OR b <= 0)").unwrap().goal);
    let disabled = palisade_model::net::Formula::All(vec![formula("EF (a <= 1 OR b <= 0)").unwrap().goal]);
    assert_eq!(xml("EF", &format!("<negation>{fireable}</negation>")).unwrap().goal, disabled);
    assert!(xml("EF", "<next/>").unwrap_err().contains("more than coverability"));
    assert!(formula("EF z <= 1").unwrap_err().contains("no place `z`"));
}

#[test]
fn built_in_questions() {
    let net = Document {
        name: "a.lola",
        bytes: b"PLACE a, b;\nMARKING a;\nTRANSITION t CONSUME a; PRODUCE b;",
        format: None,
    };
    assert_eq!(read_built_in(net, Some("deadlock")).unwrap().1.goal, palisade_model::net::Formula::Deadlock);
    assert_eq!(read_built_in_properties(net, "quasi-live").unwrap().properties[0].claim.questions().len(), 1);
    assert!(read_built_in(net, Some("quasi-live#1")).is_ok());
    assert!(read_built_in(net, Some("quasi-live#2")).unwrap_err().to_string().contains("no question `quasi-live#2`"));
    assert!(read_built_in(net, Some("three-safe")).unwrap_err().to_string().contains("`one-safe`"));
}

#[test]
fn inhibitor_arcs_are_read_in_all_their_forms() {
    let nodes = "<place id='p'/><place id='q'/><transition id='t'/><arc id='b' source='q' target='t'/>";
    let forms = [
        pnml(&format!(
            "{nodes}<arc id='a' source='p' target='t'><type value='inhibitor'/><inscription><value>2</value></inscription></arc>"
        )),
        pnml(&format!("{nodes}<arc id='a' source='p' target='t' type='inhibitor' weight='2'/>")),
        pnml(&format!(
            "{nodes}<inhibitorArc id='a' source='p' target='t'><inscription><text>2</text></inscription></inhibitorArc>"
        )),
    ];
    let tina = ("a.net", "pl p\npl q\ntr t q p?-2 ->\n".to_owned());
    for (name, text) in forms.into_iter().map(|text| ("a.pnml", text)).chain([tina]) {
        let net = read(name, text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}: {text}")).net;
        let expected = Inhibitor { transition: TransitionId(0), place: PlaceId(0), count: Count::from(2) };
        assert_eq!(net.inhibitors, vec![expected], "{text}");
        assert_eq!(net.transitions[0].pre, vec![(PlaceId(1), Count::ONE)]);
        // That it can fire is no lower bound, but a condition.
        let document = || Document { name, bytes: text.as_bytes(), format: None };
        let question = "<p><property><id>x</id><formula><exists-path><finally><is-fireable><transition>t</transition></is-fireable></finally></exists-path></formula></property></p>";
        for (query, bytes) in [("a.formula", "EF FIREABLE(t)".as_bytes()), ("a.xml", question.as_bytes())] {
            let query = Document { name: query, bytes, format: None };
            assert!(read_question(document(), Some(query), None).is_err());
            let goal = read_reach_question(document(), query, None).unwrap().1.goal;
            assert!(format!("{goal:?}").contains("-1"), "{goal:?}");
            let either = read_any_question(document(), Some(query), None).unwrap();
            assert_eq!(either.reach.unwrap().goal, goal);
        }
    }
    let backwards = pnml("<place id='p'/><transition id='t'/><arc id='a' source='t' target='p' type='inhibitor'/>");
    assert!(refusal("a.pnml", &backwards).contains("an inhibitor arc has to lead from a place to a transition"));
}
