//! The form of evidence as CERTIFICATE.md says it: good evidence of every kind with one node
//! changed to another JSON type, or one member dropped, added, renamed or said twice, is rejected.

use crate::checked::{check, prove, solve};
use crate::documents;
use crate::environment::sample;
use palisade::coverability::{Options, Outcome};
use palisade::evidence::{AttackReason, Evidence, InputFile, NetCertificate, NetSubject, ProgramSubject, sha256};
use palisade::fences::{FenceOptions, RepairOptions, Silent, WithinLimits, repair};
use palisade::net::{self, Document, Format as NetFormat, Problem};
use palisade::program::{Program, SourceText};
use palisade::properties::{ProveOptions, Rung};
use palisade::robustness::{CheckOptions, Verdict, certificate, witness_evidence};
use palisade::semantics::{Model, Question};
use palisade::syntax::{self, Format};
use palisade::verify::{check_net_evidence, check_program_evidence, check_property_evidence, check_repair_evidence};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A JSON text, its members in their order; numbers as they are written.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Null,
    Truth(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Truth(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }
    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Json::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Truth(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(object) => serializer.collect_map(object.iter().map(|(name, value)| (name, value))),
        }
    }
}

/// The members of an object.
type Members = Vec<(String, Json)>;

fn text(value: &str) -> Json {
    Json::Text(value.to_owned())
}

/// Everything that a node must not be in place of what it is: the other types, what is nearly the
/// same in another one, and the same object with its members changed.
fn changes(node: &Json) -> Vec<Json> {
    let number = |value: f64| Json::Number(serde_json::Number::from_f64(value).expect("a plain number"));
    let mut others = vec![
        Json::Null,
        Json::Truth(true),
        Json::Number(7.into()),
        number(0.5),
        text("other"),
        text("1"),
        Json::List(vec![]),
        Json::Object(vec![]),
    ];
    others.retain(|other| std::mem::discriminant(other) != std::mem::discriminant(node));
    if !matches!(node, Json::List(_)) {
        others.push(Json::List(vec![node.clone()]));
    }
    others.push(Json::Object(vec![("0".to_owned(), node.clone())]));
    match node {
        Json::Number(value) => {
            others.push(text(&value.to_string()));
            others.push(number(value.as_f64().expect("a small number")));
            others.push(number(0.5));
            others.push(Json::Truth(*value == 1.into()));
        }
        // As serde reads variants that hold nothing.
        Json::Text(word) => others.push(Json::Object(vec![(word.clone(), Json::Null)])),
        Json::Object(members) => {
            // As serde reads structs.
            others.push(Json::List(members.iter().map(|(_, value)| value.clone()).collect()));
            let pairs = members.iter().map(|(name, value)| Json::List(vec![text(name), value.clone()]));
            others.push(Json::List(pairs.collect()));
            let with = |change: &dyn Fn(&mut Members)| {
                let mut members = members.clone();
                change(&mut members);
                Json::Object(members)
            };
            for position in 0..members.len() {
                others.push(with(&|members| drop(members.remove(position))));
                others.push(with(&|members| members.push(members[position].clone())));
                others.push(with(&|members| members[position].0.push('s')));
            }
            // Among the members added are parts of a document of another kind.
            for added in [
                "other",
                "program",
                "net",
                "robust",
                "witness",
                "repair",
                "violation",
                "closed",
                "race",
                "free",
                "stuck",
                "proof",
                "run",
                "query",
                "property",
            ] {
                if members.iter().all(|(name, _)| name != added) {
                    others.push(with(&|members| members.push((added.to_owned(), Json::Null))));
                }
            }
        }
        Json::List(elements) => {
            let members = elements.iter().enumerate().map(|(index, element)| (index.to_string(), element.clone()));
            others.push(Json::Object(members.collect()));
        }
        Json::Null | Json::Truth(_) => {}
    }
    others
}

/// The paths of the nodes; of many lists in a row, those in the first few.
fn paths(node: &Json, here: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    all.push(here.clone());
    let children: Vec<&Json> = match node {
        Json::List(elements) => {
            let alike = elements.iter().all(|element| matches!(element, Json::List(_)));
            elements.iter().take(if alike { 8 } else { usize::MAX }).collect()
        }
        Json::Object(members) => members.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    for (position, child) in children.into_iter().enumerate() {
        here.push(position);
        paths(child, here, all);
        here.pop();
    }
}

fn at<'a>(node: &'a mut Json, path: &[usize]) -> &'a mut Json {
    path.iter().fold(node, |node, position| match node {
        Json::List(elements) => &mut elements[*position],
        Json::Object(members) => &mut members[*position].1,
        _ => panic!("{node:?} has no parts"),
    })
}

/// Whether a path leads to the reason of an attack.
fn is_reason(document: &Json, path: &[usize]) -> bool {
    let [way @ .., list, _, 3] = path else { return false };
    let inside = way.iter().try_fold(document, |node, position| match node {
        Json::Object(members) => members.get(*position).map(|(_, inside)| inside),
        Json::List(elements) => elements.get(*position),
        _ => None,
    });
    matches!(inside, Some(Json::Object(members)) if members.get(*list).is_some_and(|(name, _)| name == "attacks"))
}

/// Whether a path leads to the cost of a measure.
fn is_cost(document: &Json, path: &[usize]) -> bool {
    let Json::Object(members) = document else { return false };
    let [part, list, _, 3] = path else { return false };
    let Some((part, Json::Object(inside))) = members.get(*part) else { return false };
    part == "repair" && inside.get(*list).is_some_and(|(list, _)| list == "measures")
}

/// Good evidence with what it is about.
pub(crate) struct Good {
    pub(crate) name: String,
    pub(crate) evidence: Evidence,
    pub(crate) accepts: Box<dyn Fn(&Evidence) -> bool>,
}

impl Good {
    fn is_accepted(&self, text: &str) -> bool {
        Evidence::read(text.as_bytes()).is_ok_and(|evidence| (self.accepts)(&evidence))
    }

    /// Sees every change of every third node rejected, in a long run of every node; how many there
    /// were.
    pub(crate) fn change_everything(&self) -> usize {
        let original = self.evidence.to_text();
        assert!(self.is_accepted(&original), "{}: {original}", self.name);
        let mut tree: Json = documents::evidence(&original);
        let written = serde_json::to_string(&tree).expect("it can be written");
        assert_eq!(written, original.trim_end(), "the tree is the text");
        let mut all = Vec::new();
        paths(&tree, &mut Vec::new(), &mut all);
        let mut count = 0;
        for path in sample(all, 3) {
            let node = at(&mut tree, &path).clone();
            // An attack with a cut may be infeasible by the sets as well, which is what null says.
            // A measure that no set has and no row needs may have any cost, or none.
            let is_right = |change: &Json| {
                let to_null = *change == Json::Null && is_reason(&tree, &path);
                to_null || (matches!(change, Json::Number(_)) && node == Json::Null && is_cost(&tree, &path))
            };
            let wrong: Vec<Json> =
                changes(&node).into_iter().filter(|change| *change != node && !is_right(change)).collect();
            for change in wrong {
                *at(&mut tree, &path) = change.clone();
                let changed = serde_json::to_string(&tree).expect("it can be written");
                assert!(!self.is_accepted(&changed), "{}: {node:?} became {change:?}: {changed}", self.name);
                count += 1;
            }
            *at(&mut tree, &path) = node;
        }
        count
    }
}

pub(crate) fn program(text: &str) -> Program {
    syntax::read(SourceText::new("test.pal", text), Format::Native).expect("the program is in order").program
}

/// Evidence for the verdict on a program.
fn about_program(name: &str, text: &str, options: &CheckOptions) -> Good {
    let program = program(text);
    let checked = check(&program, options).expect("no fault");
    let subject = ProgramSubject::of(&program, "native", &[]);
    let evidence = match &checked.violation {
        Some(violation) => Evidence::NotRobust(subject, witness_evidence(violation)),
        None => {
            assert_eq!(checked.verdict, Verdict::Robust, "{name}");
            Evidence::Robust(subject, certificate(&program, &checked).expect("a certificate"))
        }
    };
    let accepts = Box::new(move |evidence: &Evidence| check_program_evidence(&program, evidence).is_ok());
    Good { name: name.to_owned(), evidence, accepts }
}

/// Evidence about the properties of a program: the proof, or a violation.
pub(crate) fn about_properties(name: &str, text: &str, format: Format, options: &ProveOptions) -> Good {
    let parsed = syntax::read(SourceText::new("test", text), format).expect("the program is in order");
    let (program, question): (Program, Option<Question>) = (parsed.program, parsed.question);
    let proof = prove(&program, question.as_ref(), options).expect("no fault");
    let subject = ProgramSubject::of(&program, format.name(), &[]);
    let evidence = match proof.violations().next() {
        Some(violation) => Evidence::PropertyWitness(subject, violation.witness()),
        None => Evidence::Property(subject, proof.evidence().unwrap_or_else(|| panic!("{name}: {:?}", proof.answers))),
    };
    let accepts =
        Box::new(move |evidence: &Evidence| check_property_evidence(&program, question.as_ref(), evidence).is_ok());
    Good { name: name.to_owned(), evidence, accepts }
}

/// Evidence for the answer of a strategy about a net.
fn about_net(name: &str, text: &str, strategy: &'static str) -> Good {
    let document = Document { name: "net.spec", bytes: text.as_bytes(), format: Some(NetFormat::Spec) };
    let problem: Problem = net::read_with_query(document, None, None).expect("the net is in order");
    let input = InputFile { path: "net.spec".into(), format: "spec".into(), sha256: sha256(text.as_bytes()) };
    let subject = NetSubject::of(&problem, input, None, None);
    let options = Options { strategy: Some(strategy), jobs: 1, ..Options::default() };
    let evidence = match solve(&problem, &options).outcome {
        Outcome::Uncoverable(proof) => Evidence::Uncoverable(subject.naming_places_of(&problem, &proof), proof),
        Outcome::Coverable(run) => Evidence::Coverable(subject.naming_steps_of(&problem, &run), run),
        Outcome::Unknown(reason) => panic!("{name}: {reason}"),
    };
    let bytes = text.as_bytes().to_vec();
    let accepts = Box::new(move |evidence: &Evidence| check_net_evidence(&problem, &bytes, None, evidence).is_ok());
    Good { name: name.to_owned(), evidence, accepts }
}

/// Sets of all phases, cuts, sections, buffers and levels; copies given and any number; a domain.
const ROBUST: &str = "program Robust
domain 0..1 wrap
thread a regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: mem[y] <- 1; goto l2;
  l2: r <- mem[z]; goto l3;
  l3: mfence; goto l4;
  l4: r <- mem[x]; goto l5;
  l5: mem[w] <- r; goto l6;
end
thread b [2] regs s init l0 begin
  l0: lock; goto l1;
  l1: s <- mem[x]; goto l2;
  l2: s <- mem[y]; goto l3;
  l3: unlock; goto l4;
end
thread c [*] regs init l0 begin
  l0: mem[z] <- 1; goto l1;
end
";

/// A violation with a choice; the attacker's stores reach memory at the end.
const OPEN: &str = "program Open
domain 0..2
thread a regs r, s init l0 begin
  l0: s <- *; goto l1;
  l1: assume s; goto l2;
  l2: mem[x] <- s; goto l3;
  l3: r <- mem[y]; goto l4;
end
thread b regs r init l0 begin
  l0: mem[y] <- 1; goto l1;
  l1: mfence; goto l2;
  l2: r <- mem[x]; goto l3;
end
";

#[test]
fn changed_certificates_of_programs_are_rejected() {
    let good = about_program("sets", ROBUST, &CheckOptions::default());
    let text = good.evidence.to_text();
    for part in ["\"delayed\":[{", "\"helped\":[{", "\"*\"", "\"load\"", "\"wrap\":true", "\"store\"]"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(good.change_everything() > 100);
}

#[test]
fn changed_proofs_about_nets_of_attacks_are_rejected() {
    let options = CheckOptions { nets: true, ..CheckOptions::default() };
    let small = "program Small
thread a [*] regs r init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: r <- mem[y]; goto l2;
end
thread b regs r init l0 begin
  l0: r <- mem[y]; goto l1;
end
";
    for (name, program) in sample(vec![("small", small), ("nets", ROBUST)], 2) {
        let good = about_program(name, program, &options);
        let Evidence::Robust(_, certificate) = &good.evidence else { panic!("it is robust") };
        assert!(certificate.attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_))), "{name}");
        assert!(good.change_everything() > 100, "{name}");
    }
}

#[test]
fn changed_witnesses_are_rejected() {
    let good = about_program("witness", OPEN, &CheckOptions::default());
    assert!(good.evidence.to_text().contains("\"witness\""));
    assert!(good.change_everything() > 100);
}

/// Two threads that enter one at a time, as long as their stores reach memory before they look; the
/// fences are put in.
pub(crate) fn entering(fence: &str, copies: &str) -> String {
    let thread = |name: &str, own: &str, other: &str| {
        format!(
            "thread {name} regs r, n init a begin
  a: mem[{own}] <- 1; goto b;
  b: {fence}; goto c;
  c: r <- mem[{other}]; goto d;
  d: assume r = 0; goto e;
  e: n <- fetch_add(mem[inside], 1); goto f;
  f: ensure n = 0; goto g;
  g: n <- fetch_add(mem[inside], -1); goto h;
end
"
        )
    };
    let idle = format!("thread idle {copies} regs r init a begin a: r <- mem[x]; goto a; end\n");
    format!("program Enter\n{}{}{idle}", thread("p", "x", "y"), thread("q", "y", "x"))
}

/// Proofs by each reason, with slices, ω and buffers; and violations under TSO and PSO.
#[test]
fn changed_evidence_about_properties_is_rejected() {
    let by = |model, rung| ProveOptions { by: Some(rung), ..ProveOptions::new(model) };
    let publish = "program Publish
thread writer regs init a begin
  a: mem[x] <- 1; goto b;
  b: sfence; goto c;
  c: mem[y] <- 1; goto d;
end
thread reader regs r, s init a begin
  a: r <- mem[y]; goto b;
  b: s <- mem[x]; goto c;
  c: ensure r = 0 || s = 1; goto d;
end
";
    let small = "program Small
thread t [*] regs r init a begin
  a: mem[x] <- 1; goto b;
  b: r <- mem[x]; goto c;
  c: ensure r <= 1; goto a;
end
";
    let fenced = entering("mfence", "[2]");
    let progress = "program Progress
thread worker regs done, new, old init a begin
  a: mem[x] <- done; goto b;
  b: done <- 3 - done; goto c;
  c: new <- mem[y]; goto d;
  d: ensure new >= old; goto e;
  e: old <- new; goto a;
end
thread watcher regs seen init a begin
  a: mem[y] <- 1; goto b;
  b: seen <- mem[x]; goto c;
  c: mem[y] <- seen + 1; goto d;
end
";
    for (name, text, options, part) in [
        ("buffers", &*fenced, by(Model::Tso, Rung::Buffers), "\"buffers\""),
        ("snapshots", progress, by(Model::Tso, Rung::Snapshots), "\"snapshots\""),
        ("robust", &fenced, by(Model::Tso, Rung::ScRobust), "\"certificate\""),
        ("values", small, by(Model::Pso, Rung::Values), "\"values\""),
        (
            "any number",
            &entering("mfence", "[*]"),
            ProveOptions { slice: false, ..by(Model::Tso, Rung::Buffers) },
            "\"*\"",
        ),
        ("marks", publish, by(Model::Pso, Rung::Buffers), "\"mark\""),
        ("violated under TSO", &entering("nop", "[0]"), ProveOptions::new(Model::Tso), "\"violation\""),
        ("violated under PSO", &publish.replace("sfence", "nop"), ProveOptions::new(Model::Pso), ",null,"),
    ] {
        let good = about_properties(name, text, Format::Native, &options);
        let written = good.evidence.to_text();
        assert!(written.contains(part), "{name}: {part} is not in {written}");
        assert!(good.change_everything() > 100, "{name}");
    }
}

/// A repair with sets, rows and a bound.
#[test]
fn changed_repairs_are_rejected() {
    let text = entering("nop", "[0]");
    let program = program(&text);
    let wanted = RepairOptions { language: &Format::Native, path: "repaired.pal".into(), redundant: false };
    let found = repair(&program, &FenceOptions::default(), &wanted, &Silent, &WithinLimits).expect("it has a meaning");
    let shown = found.shown.as_ref().expect("there is evidence");
    let texts: Vec<Option<Program>> =
        shown.evidence.valid.iter().map(|_| found.repaired_text().map(|text| text.program.clone())).collect();
    let evidence = Evidence::Repair(ProgramSubject::of(&program, "native", &[]), shown.evidence.clone());
    let facts = check_repair_evidence(&program, None, &evidence, &texts).expect("it is accepted");
    assert!(facts.is_optimal());
    // Another bound that is shown as well is not what was shown.
    let accepts = Box::new(move |evidence: &Evidence| {
        check_repair_evidence(&program, None, evidence, &texts).is_ok_and(|own| own == facts)
    });
    let good = Good { name: "repair".to_owned(), evidence, accepts };
    assert!(good.change_everything() > 100);
}

/// A lock that any number of threads take, twice for one of them.
const LOCK: &str = "vars free held waiting done
rules
 free >= 1, waiting >= 1 -> free' = free - 1, waiting' = waiting - 1, held' = held + 1;
 held >= 1 -> held' = held - 1, free' = free + 1, done' = done + 1;
init free = 1, held = 0, waiting >= 1, done = 0
target ";

#[test]
fn changed_proofs_and_runs_of_nets_are_rejected() {
    let kinds = [("karp-miller", "downward"), ("backward", "upward"), ("state-equation", "separator")];
    for (strategy, kind) in kinds {
        let good = about_net(kind, &format!("{LOCK}held >= 2\n"), strategy);
        let text = good.evidence.to_text();
        assert!(text.contains(&format!("\"{kind}\"")), "{strategy}: {text}");
        assert!(good.change_everything() > 100, "{kind}");
    }
    for (name, target) in [("run", "done >= 3, held >= 1"), ("long run", "waiting >= 36893488147419103232, held >= 1")]
    {
        let good = about_net(name, &format!("{LOCK}{target}\n"), "auto");
        assert!(good.evidence.to_text().contains("\"run\""));
        assert!(good.change_everything() > 100, "{name}");
    }
}

/// Numbers have one form each: JSON numbers while they fit 64 bits, then decimal digits in a
/// string.
#[test]
fn numbers_have_one_form() {
    let good = about_net("run", &format!("{LOCK}waiting >= 36893488147419103232, done >= 3\n"), "auto");
    let original = good.evidence.to_text();
    assert!(good.is_accepted(&original));
    let replaced = |from: &str, to: &str| {
        assert!(original.contains(from), "{from} is not in {original}");
        original.replacen(from, to, 1)
    };
    let digits = "36893488147419103235";
    for (from, to) in [
        (format!("\"{digits}\""), digits.to_owned()),
        (format!("\"{digits}\""), format!("\"0{digits}\"")),
        (format!("\"{digits}\""), format!("\"+{digits}\"")),
        (format!("\"{digits}\""), format!("\" {digits}\"")),
        ("[0,1]".to_owned(), "[0,\"1\"]".to_owned()),
        ("[0,1]".to_owned(), "[0,1.0]".to_owned()),
        ("[0,1]".to_owned(), "[0,1e0]".to_owned()),
        ("[0,1]".to_owned(), "[-0,1]".to_owned()),
        ("[0,1]".to_owned(), "[0,1,0]".to_owned()),
    ] {
        assert!(!good.is_accepted(&replaced(&from, &to)), "{from} became {to}");
    }
}

/// What CERTIFICATE.md asks of lists: order, range, and nothing that is not meant.
#[test]
fn lists_that_say_the_same_in_another_way_are_rejected() {
    let good = about_program("sets", ROBUST, &CheckOptions::default());
    let Evidence::Robust(subject, certificate) = &good.evidence else { panic!("it is robust") };
    let rejected = |change: &dyn Fn(&mut palisade::evidence::RobustCertificate)| {
        let mut changed = certificate.clone();
        change(&mut changed);
        let text = Evidence::Robust(subject.clone(), changed).to_text();
        assert!(!good.is_accepted(&text), "{text}");
    };
    let is_cut = |attack: &palisade::evidence::AttackEvidence| matches!(attack.reason, AttackReason::Pruned { .. });
    let cut = certificate.attacks.iter().position(is_cut).expect("an attack is pruned");
    for label in [0, 99] {
        rejected(&|certificate| {
            let AttackReason::Pruned { reachable } = &mut certificate.attacks[cut].reason else { return };
            reachable.push(palisade::program::LabelId::from_index(label));
        });
    }
    rejected(&|certificate| {
        let labels = certificate.live.iter_mut().flatten();
        let registers = labels.into_iter().find(|registers| !registers.is_empty()).expect("a live register");
        registers.push(registers[0]);
    });

    let good = about_net("run", &format!("{LOCK}done >= 3\n"), "auto");
    let Evidence::Coverable(subject, run) = &good.evidence else { panic!("it is coverable") };
    let mut nothing = run.clone();
    nothing.initial_choice[0].1 = 0.into();
    assert!(!good.is_accepted(&Evidence::Coverable(subject.clone(), nothing).to_text()));
    for change in [
        |subject: &mut NetSubject| drop(subject.places.pop()),
        |subject: &mut NetSubject| drop(subject.transitions.pop()),
        |subject: &mut NetSubject| subject.places.push(subject.places[0].clone()),
        |subject: &mut NetSubject| subject.transitions.reverse(),
        |subject: &mut NetSubject| subject.property = Some("other".to_owned()),
    ] {
        let mut changed = subject.clone();
        change(&mut changed);
        assert!(!good.is_accepted(&Evidence::Coverable(changed, run.clone()).to_text()));
    }
    let good = about_net("proof", &format!("{LOCK}held >= 2\n"), "backward");
    let Evidence::Uncoverable(_, NetCertificate::Upward { .. }) = good.evidence else { panic!("it is upward") };
}

/// Evidence in which every thread is left out is about nothing.
#[test]
fn evidence_about_no_thread_is_rejected() {
    let mut program = program(ROBUST);
    program.threads.iter_mut().for_each(|thread| thread.copies = palisade::program::Copies::Exactly(0));
    let live = match about_program("sets", ROBUST, &CheckOptions::default()).evidence {
        Evidence::Robust(_, certificate) => certificate.live,
        _ => panic!("it is robust"),
    };
    let nothing = palisade::evidence::RobustCertificate { live, ..Default::default() };
    let evidence = Evidence::Robust(ProgramSubject::of(&program, "native", &[]), nothing);
    let failure = check_program_evidence(&program, &evidence).expect_err("it is about nothing");
    assert!(failure.to_string().contains("no thread has copies"), "{failure}");
}
