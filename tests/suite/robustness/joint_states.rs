//! Joint control states: what `never` means, by a search that looks at whole states, and by threads
//! that watch.

use crate::environment::is_long_run;
use palisade::limits::Limits;
use palisade::program::{Copies, JointState, LabelId, NoMonitor, Place, Program, SourceText, ThreadId};
use palisade::semantics::random::{Randomness, Shape, program as random_program};
use palisade::semantics::{FinalStates, Instance, Machine, Model, State, final_states, is_reached};
use palisade::syntax::{Format, print, read};
use palisade::text::Span;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

fn native(text: &str) -> Program {
    let read = read(SourceText::new("t.pal", text), Format::Native);
    read.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

fn explored(program: &Program, model: Model) -> FinalStates {
    let instance = Instance::of(program).expect("fixed copies");
    final_states(program, &instance, model, 8, &Limits::none()).expect("the program has a meaning")
}

/// The joint states that some state reaches, by taking every step there is.
fn by_every_step(program: &Program, model: Model) -> BTreeSet<usize> {
    let instance = Instance::of(program).expect("fixed copies");
    let machine = Machine::new(program, &instance, model);
    let mut known: HashSet<State> = HashSet::from([machine.initial_state()]);
    let mut open: Vec<State> = known.iter().cloned().collect();
    let mut found = BTreeSet::new();
    while let Some(state) = open.pop() {
        let reached = |joint: &JointState| is_reached(joint, &machine, &state);
        found.extend(program.never.iter().enumerate().filter(|(_, joint)| reached(joint)).map(|(index, _)| index));
        for position in 0..machine.copies().len() {
            let mut events = Vec::new();
            machine.events(&state, position, &mut events).expect("the program has a meaning");
            for event in events {
                let next = machine.successor(&state, &event);
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    found
}

/// The joint states that the monitored program violates; nothing where it cannot be monitored.
fn by_monitors(program: &Program, model: Model) -> Option<BTreeSet<usize>> {
    let monitored = program.monitored().ok()?;
    assert_eq!(monitored.threads.len(), program.threads.len() + program.never.len());
    let found = explored(&monitored, model);
    Some(found.violations.keys().map(|(copy, _)| copy.thread.index() - program.threads.len()).collect())
}

/// Two or three places of a program, some of them the same.
pub(crate) fn random_joint(program: &Program, random: &mut Randomness) -> Option<JointState> {
    let count = 2 + random.below(2);
    let place = |random: &mut Randomness| {
        let thread = random.below(program.threads.len());
        let label = random.below(program.threads[thread].labels.len());
        Place { thread: ThreadId::from_index(thread), label: LabelId::from_index(label) }
    };
    let places: Vec<Place> = (0..count).map(|_| place(random)).collect();
    let fits = |joint: &JointState| {
        program.thread_ids().all(|(id, thread)| match thread.copies {
            Copies::Exactly(copies) => joint.copies_of(id) <= copies,
            Copies::Any => true,
        })
    };
    JointState::new(places, Span::default()).filter(fits)
}

/// On random programs the search, every step there is, and the monitors tell the same; computations
/// end in what they show.
#[test]
fn three_ways_to_look_agree() {
    let shape = Shape { labels: 4, total_labels: 7, overtaken: 90, sections: 10, ..Shape::default() };
    let counts: Vec<[usize; 3]> = (0..if is_long_run() { 20_000 } else { 20u64 })
        .into_par_iter()
        .map(|seed| {
            let mut program = random_program(seed, &shape);
            let mut random = Randomness::new(seed);
            program.never = (0..3).filter_map(|_| random_joint(&program, &mut random)).collect();
            let mut count = [0; 3];
            for model in MODELS {
                let searched = explored(&program, model).joint;
                let found: BTreeSet<usize> = searched.keys().copied().collect();
                assert_eq!(found, by_every_step(&program, model), "seed {seed}, {model:?}");
                let instance = Instance::of(&program).expect("fixed copies");
                let machine = Machine::new(&program, &instance, model);
                for (index, computation) in &searched {
                    assert!(is_reached(&program.never[*index], &machine, &computation.last), "seed {seed}, {model:?}");
                }
                match by_monitors(&program, model) {
                    Some(watched) => assert_eq!(found, watched, "seed {seed}, {model:?}"),
                    None => count[2] += 1,
                }
                count[0] += found.len();
                count[1] += program.never.len() - found.len();
            }
            count
        })
        .collect();
    let sum = |which: usize| counts.iter().map(|count| count[which]).sum::<usize>();
    let [reached, never, unwatched] = [0, 1, 2].map(sum);
    println!("{reached} reached, {never} not, {unwatched} programs not monitored");
    assert!(reached > 60 && never > 3 && 3 * unwatched < 2 * counts.len(), "{reached} {never} {unwatched}");
}

const STORE_BUFFERING: &str = "program SB
    thread t1 regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; c: assert r = 0; cs: nop; end
    thread t2 regs r init a begin a: mem[y] <- 1; b: r <- mem[x]; c: assert r = 0; cs: nop; end\n";

#[test]
fn labels_at_once() {
    let verdicts = |never: &str| {
        let program = native(&format!("{STORE_BUFFERING}{never}"));
        MODELS.map(|model| {
            let found = explored(&program, model);
            assert_eq!(by_monitors(&program, model), Some(found.joint.keys().copied().collect()), "{never}");
            found.joint.len()
        })
    };
    assert_eq!(verdicts("never t1 at cs, t2 at cs"), [0, 1, 1]);
    assert_eq!(verdicts("never t1 at end, t2 at a"), [1, 1, 1]);
    assert_eq!(verdicts("never t1 at cs, t2 at cs never t1 at cs, t2 at b"), [1, 2, 2]);
    assert_eq!(verdicts("never t1 at b"), [1, 1, 1]);
}

/// A shortest computation to store buffering's forbidden state: two stores issued, two loads, two
/// conditions.
#[test]
fn computations_are_short() {
    let program = native(&format!("{STORE_BUFFERING}never t1 at cs, t2 at cs"));
    let found = explored(&program, Model::Tso);
    assert!(found.joint[&0].shortest);
    assert_eq!(found.joint[&0].events.len(), 6);
    let first = native(&format!("{STORE_BUFFERING}never t1 at a, t2 at a"));
    assert_eq!(explored(&first, Model::Tso).joint[&0].events.len(), 0);
}

/// Different copies stand at equal places.
#[test]
fn copies_are_different() {
    let text = |copies: u64| {
        native(&format!(
            "program p thread t [{copies}] regs r init a begin
               a: r <- cas(mem[l], 0, 1); b: assert r = 0; cs: nop; d: mem[l] <- 0; goto end end
             never t at cs, t at cs   never t at b, t at cs"
        ))
    };
    let reached = |program: &Program| explored(program, Model::Tso).joint.keys().copied().collect::<Vec<_>>();
    assert_eq!(reached(&text(1)), [0; 0]);
    assert_eq!(reached(&text(2)), [1]);
    assert_eq!(by_monitors(&text(2), Model::Tso), Some(BTreeSet::from([1])));
    let warned = read(SourceText::new("t", print(&text(1), Format::Native).expect("native").text), Format::Native);
    let messages: Vec<String> = warned.expect("a program").warnings.iter().map(|it| it.message.clone()).collect();
    assert_eq!(messages, vec!["this asks for 2 copies of `t`, of which there are 1"; 2]);
}

/// What the language says of joint states, it prints and reads again; `never` and `at` are names
/// elsewhere.
#[test]
fn never_is_written_and_read() {
    let text = "program p domain 0..1 never at at never, at at end
        thread at [2] regs never init never begin never: never <- mem[at_]; at: assert never = 1; end
        never at at at";
    let program = native(text);
    assert_eq!(program.never.len(), 2);
    let printed = print(&program, Format::Native).expect("native").text;
    assert!(printed.ends_with("\nnever at at never, at at end\nnever at at at\n"), "{printed}");
    assert_eq!(native(&printed).never.len(), 2);
    let left_out = print(&program, Format::Trencher).expect("it can be said").warnings;
    assert!(left_out.iter().any(|it| it.message == "the property `never at at at` is left out"), "{left_out:?}");
}

#[test]
fn wrong_places_get_an_error() {
    let cases = [
        ("never t1 at cd, t2 at cs", "the thread `t1` has no label `cd`", Some("did you mean `cs`?")),
        ("never t3 at cs", "there is no thread named `t3`", Some("did you mean `t1`?")),
        ("never t1 cs", "expected `at`, found `cs`", None),
        ("nevr t1 at cs", "unexpected `nevr`", Some("did you mean `never`?")),
        ("never", "expected the thread's name, found the end of the text", None),
        ("never t1 at", "expected a label or `end`, found the end of the text", None),
    ];
    for (never, message, help) in cases {
        let text = format!("{STORE_BUFFERING}{never}");
        let errors = read(SourceText::new("t.pal", text), Format::Native).expect_err(never);
        assert_eq!((errors[0].message.as_str(), errors[0].help.as_deref()), (message, help), "{never}");
    }
}

/// A copy that freezes inside of a section would keep the monitor away. Cells stay clear of
/// computed addresses.
#[test]
fn what_monitors_cannot_watch() {
    let inside = native(
        "program p thread t [2] init a begin a: lock; b: nop; c: unlock; d: nop; goto end end never t at b, t at d",
    );
    assert!(matches!(inside.monitored(), Err(NoMonitor::HoldsLock { .. })));
    assert_eq!(explored(&inside, Model::Tso).joint.len(), 1);
    let zero = native("program p domain 0..0 thread t init a begin a: nop; end never t at a");
    assert_eq!(zero.monitored().err(), Some(NoMonitor::OnlyZero));
    let computed = native(
        "program p thread t regs r = 1099511627776 init a begin
           a: mem[r] <- 1; b: mem[r + 1] <- 1; c: mfence; d: nop; end
         thread u init a begin a: nop; b: nop; end
         never t at d, u at b   never t at a, u at b",
    );
    for model in MODELS {
        assert_eq!(by_monitors(&computed, model), Some(BTreeSet::from([0, 1])));
    }
    let other = native("program p thread t regs r = 1099511627776 init a begin a: mem[r] <- 1; b: mfence; c: mem[r + 1] <- 1; d: mfence; end
         thread u regs s init a begin a: s <- mem[z]; b: assert s = 1; c: nop; end never t at d, u at c");
    assert_eq!(by_monitors(&other, Model::Tso), Some(BTreeSet::new()));
}
