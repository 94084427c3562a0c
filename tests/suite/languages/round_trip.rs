//! Programs survive printing: what is printed and read again is the same program, or means the
//! same.

use crate::environment::{corpus, is_long_run};
use palisade::program::{
    Action, AddressId, AddressName, BinaryOperator, Copies, Domain, DomainOrigin, Expression, Instruction, Label,
    LabelId, Posts, Program, Register, RegisterId, Role, SourceText, Span, Thread, UnaryOperator,
};
use palisade::semantics::oracle::robust;
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{Bounds, Instance};
use palisade::syntax::{Format, parse, print, render};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything about a program but places in a text.
fn without_places(program: &Program) -> Program {
    let mut program = program.clone();
    program.source = SourceText::new("", "");
    let none = Span::default();
    program.addresses.iter_mut().for_each(|address| address.span = none);
    for thread in &mut program.threads {
        thread.span = none;
        thread.labels.iter_mut().for_each(|label| label.span = none);
        thread.registers.iter_mut().for_each(|register| register.span = none);
        thread.instructions.iter_mut().for_each(|instruction| instruction.span = none);
    }
    program.never.iter_mut().for_each(|joint| joint.span = none);
    program
}

/// Everything about a program but places and names.
fn without_names(program: &Program) -> Program {
    let mut program = without_places(program);
    program.name.clear();
    program.addresses.iter_mut().for_each(|address| address.name.clear());
    for thread in &mut program.threads {
        thread.name.clear();
        thread.labels.iter_mut().for_each(|label| label.name = "".into());
        thread.registers.iter_mut().for_each(|register| register.name.clear());
    }
    program
}

fn assert_same(left: &Program, right: &Program, context: &str) {
    assert_eq!(format!("{left:#?}"), format!("{right:#?}"), "{context}");
}

/// The program that a printed text is read as.
fn reread(program: &Program, format: Format) -> (String, Program) {
    let text = match print(program, format) {
        Ok(printed) => printed.text,
        Err(errors) => panic!("{}", errors[0].message),
    };
    let source = SourceText::new(format!("{}.x", program.name), text.clone());
    match parse(source.clone(), format) {
        Ok(parsed) => (text, parsed.program),
        Err(errors) => panic!("{}{text}", render(&errors[0], &source, false)),
    }
}

fn corpus_programs() -> Vec<PathBuf> {
    let corpus = corpus();
    let folders = ["trencher", "trencher/memorax", "families"];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(corpus.join(folder)).expect("a corpus folder"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    files.sort();
    files
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn corpus_programs_survive_both_formats() {
    for file in corpus_programs() {
        let context = file.display().to_string();
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let program =
            parse(SourceText::new(context.clone(), text), Format::Trencher).expect("the file is right").program;
        let (text, again) = reread(&program, Format::Trencher);
        assert_same(&without_places(&again), &without_places(&program), &format!("{context}\n{text}"));
        let (text, native) = reread(&program, Format::Native);
        assert_same(&without_names(&native), &without_names(&program), &format!("{context}\n{text}"));
        let (text, back) = reread(&native, Format::Trencher);
        assert_same(&without_names(&back), &without_names(&program), &format!("{context}\n{text}"));
    }
}

#[test]
fn names_that_a_format_does_not_allow() {
    let text = "thread 1st-thread initial end\ntransition end fail local old 1\ntransition fail 12 local mem + old old\n\
                transition 12 q'1 check == mem 2\ntransition q'1 stop noop\nend";
    let program = parse(SourceText::new("a program.txt", text), Format::Trencher).expect("the text is right").program;
    let (text, native) = reread(&program, Format::Native);
    assert_same(&without_names(&native), &without_names(&program), &text);
    let thread = &native.threads[0];
    let labels: Vec<&str> = thread.labels.iter().map(|label| label.name.as_str()).collect();
    assert_eq!(labels, ["end_", "fail_", "_12", "q'1", "stop"]);
    assert_eq!(thread.registers.iter().map(|register| register.name.as_str()).collect::<Vec<_>>(), ["old", "mem_"]);
    assert_eq!((native.name.as_str(), thread.name.as_str()), ("a_program", "_1st_thread"));
}

#[test]
fn what_trencher_cannot_express_is_refused() {
    let refused = |text: &str| {
        let source = SourceText::new("t.pal", text);
        let program = parse(source.clone(), Format::Native).expect("the text is right").program;
        let errors = print(&program, Format::Trencher).expect_err("refused");
        errors.iter().map(|error| format!("{}: {}", source.slice(error.span), error.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        refused("program p initial x = 1 thread t [*] init a begin a: mem[x] <- 1 end"),
        [
            ": memory starts at 0 in this format, but `x` starts at 1",
            "t: `t` has any number of copies, which this format cannot express"
        ]
    );
    assert_eq!(
        refused("program p domain 0..3 wrap thread t regs r init a begin a: r <- r + 1; b: r <- r % 2; end"),
        [
            "a: r <- r + 1;: arithmetic that wraps into a domain cannot be expressed",
            "b: r <- r % 2;: arithmetic that wraps into a domain cannot be expressed",
            "b: r <- r % 2;: the remainder of a division cannot be expressed",
        ]
    );
    assert_eq!(
        refused("program p thread t init a begin a: lock; b: xchg(mem[x], 1); goto c c: unlock end"),
        ["b: xchg(mem[x], 1); goto c: a locked instruction that may be reached inside a section cannot be expressed"]
    );
}

#[test]
fn what_is_left_out_is_said() {
    let text = "program p domain 0..3 thread t [2] regs r init a begin a: ensure r = 0; b: r <- *; c: fail; end\nthread u [0] init a begin end";
    let program = parse(SourceText::new("t.pal", text), Format::Native).expect("the text is right").program;
    let printed = print(&program, Format::Trencher).expect("it can be expressed");
    assert_eq!(printed.warnings.len(), 4, "{:?}", printed.warnings);
    let again = parse(SourceText::new("t.txt", printed.text), Format::Trencher).expect("the text is right").program;
    assert_eq!(again.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(), ["t", "t_2"]);
    assert_eq!(again.threads[0].instructions.len(), 6);
}

/// Locked instructions become sections; the verdict of the brute-force oracle must not change by
/// that.
#[test]
fn sections_mean_what_locked_instructions_mean() {
    let shape = Shape { rmws: 60, sections: 0, ..Shape::default() };
    let verdict = |program: &Program| {
        let instance = Instance::of(program).expect("the copies are fixed");
        robust(program, &instance, &Bounds::default()).expect("random programs are loop-free").is_robust()
    };
    let mut compared = 0;
    for seed in 0..400 {
        let mut program = random::program(seed, &shape);
        if program.initial_memory.values().any(|value| *value != 0) {
            continue;
        }
        program.domain = None;
        let Ok(printed) = print(&program, Format::Trencher) else { continue };
        let source = SourceText::new("t.txt", printed.text);
        let again = parse(source.clone(), Format::Trencher).expect("the text is right").program;
        assert_eq!(verdict(&again), verdict(&program), "seed {seed}\n{}", source.text);
        let (text, native) = reread(&program, Format::Native);
        assert_eq!(verdict(&native), verdict(&program), "seed {seed}\n{text}");
        compared += 1;
    }
    assert!(compared >= 100, "only {compared} programs could be compared");
}

/// Addresses 0 to 2, of which the second is an array.
const ADDRESSES: [(&str, i64, u32); 3] = [("x", 1, 1), ("slot", 2, 4), ("y′", 6, 1)];

fn expressions(old: bool) -> impl Strategy<Value = Expression> + Clone {
    let constant = prop_oneof![-3_i64..10, Just(i64::MIN), Just(i64::MAX)].prop_map(Expression::Constant);
    let register = (0_usize..2).prop_map(|index| Expression::Register(RegisterId::from_index(index)));
    let address = (0..ADDRESSES.len())
        .prop_map(|index| Expression::Address { id: AddressId::from_index(index), value: ADDRESSES[index].1 });
    let leaf = if old {
        prop_oneof![constant, register, address, Just(Expression::Old)].boxed()
    } else {
        prop_oneof![constant, register, address].boxed()
    };
    leaf.prop_recursive(5, 24, 2, |inner| {
        let unary = prop_oneof![
            Just(UnaryOperator::Not),
            Just(UnaryOperator::Negate),
            Just(UnaryOperator::Complement),
            (1_u8..=64, any::<bool>()).prop_map(|(bits, signed)| UnaryOperator::Truncate { bits, signed }),
        ];
        prop_oneof![
            (unary, inner.clone()).prop_map(|(operator, operand)| Expression::unary(operator, operand)),
            (prop::sample::select(&BinaryOperator::ALL[..]), inner.clone(), inner)
                .prop_map(|(operator, left, right)| Expression::binary(operator, left, right)),
        ]
    })
}

fn actions() -> impl Strategy<Value = Action> {
    let register = || (0_usize..2).prop_map(RegisterId::from_index);
    let any = || expressions(false);
    prop_oneof![
        (register(), any()).prop_map(|(register, address)| Action::Load { register, address }),
        (any(), any()).prop_map(|(address, value)| Action::Store { address, value }),
        (register(), any()).prop_map(|(register, value)| Action::Assign { register, value }),
        register().prop_map(|register| Action::Havoc { register }),
        any().prop_map(Action::Assume),
        any().prop_map(Action::Ensure),
        (prop::option::of(register()), any(), any(), any())
            .prop_map(|(register, address, expected, new)| Action::Cas { register, address, expected, new }),
        (prop::option::of(register()), any(), expressions(true)).prop_map(|(register, address, new)| Action::Rmw {
            register,
            address,
            new
        }),
        prop::sample::select(vec![
            Action::Fence,
            Action::StoreFence,
            Action::Nop,
            Action::Lock,
            Action::Unlock,
            Action::Fail,
        ]),
    ]
}

/// Threads in the form in which they are read: labels numbered in order of appearance.
fn threads() -> impl Strategy<Value = Thread> {
    let copies = prop_oneof![Just(Copies::Any), (0_u64..4).prop_map(Copies::Exactly)];
    let cost = prop::option::weighted(0.2, 0.25_f64..100.0);
    let lines = prop::collection::vec((0_usize..5, 0_usize..6, actions(), cost), 0..8);
    (copies, lines, any::<prop::sample::Index>(), prop::option::weighted(0.2, -5_i64..5)).prop_map(
        |(copies, lines, start, initial_value)| {
            let names = ["a", "b0", "b1", "l′0", "goto_", "end"];
            let mut labels: Vec<Label> = Vec::new();
            let mut label = |index: usize| match labels.iter().position(|label| label.name == names[index]) {
                Some(position) => LabelId::from_index(position),
                None => {
                    labels.push(Label::new(names[index], Span::default()));
                    LabelId::from_index(labels.len() - 1)
                }
            };
            let mut instructions: Vec<Instruction> = Vec::new();
            let mut costs = Vec::new();
            for (source, target, action, cost) in lines {
                let (source, target) = (label(source), label(target));
                costs.push((source, cost));
                instructions.push(Instruction::new(source, target, action, Span::default()));
            }
            if instructions.is_empty() {
                label(0);
            }
            for (source, cost) in costs {
                labels[source.index()].fence_cost = cost;
            }
            // The label `end` is no place to start.
            let starts: Vec<usize> = (0..labels.len()).filter(|index| labels[*index].name != "end").collect();
            let initial = LabelId::from_index(starts[start.index(starts.len())]);
            let register = |name: &str, initial| Register {
                name: name.into(),
                initial,
                is_initialised: initial != 0,
                span: Span::default(),
            };
            let registers = vec![register("r", initial_value.unwrap_or(0)), register("u8", 0)];
            Thread {
                role: Role::Thread,
                name: String::new(),
                span: Span::default(),
                copies,
                is_daemon: false,
                registers,
                labels,
                initial,
                instructions,
            }
        },
    )
}

fn programs() -> impl Strategy<Value = Program> {
    let domain = prop::option::of((-9_i64..=0, 0_i64..=9, any::<bool>()));
    let memory = prop::collection::btree_map(-1_i64..9, 1_i64..4, 0..3);
    (domain, memory, 0_i64..3, prop::collection::vec(threads(), 1..4)).prop_map(
        |(domain, memory, shift, mut threads)| {
            for (index, thread) in threads.iter_mut().enumerate() {
                thread.name = format!("t{index}");
                // Addresses may be numbered from elsewhere.
                for instruction in &mut thread.instructions {
                    let moved = |expression: &mut Expression| move_addresses(expression, shift);
                    expressions_of(&mut instruction.action).into_iter().for_each(moved);
                }
            }
            let address = |(name, address, length): (&str, i64, u32)| AddressName {
                name: name.into(),
                address: address + shift,
                length,
                span: Span::default(),
            };
            Program {
                name: "p".into(),
                domain: domain.map(|(low, high, wrap)| Domain { low, high, wrap, origin: DomainOrigin::File }),
                addresses: ADDRESSES.into_iter().map(address).collect(),
                initial_memory: memory.into_iter().collect::<BTreeMap<_, _>>(),
                threads,
                never: Vec::new(),
                finally: Vec::new(),
                accepted: Vec::new(),
                posts: Posts::default(),
                source: SourceText::new("", ""),
            }
        },
    )
}

fn expressions_of(action: &mut Action) -> Vec<&mut Expression> {
    match action {
        Action::Load { address, .. } => vec![address],
        Action::Store { address, value } => vec![address, value],
        Action::Assign { value, .. } => vec![value],
        Action::Assume(condition) | Action::Ensure(condition) => vec![condition],
        Action::Cas { address, expected, new, .. } => vec![address, expected, new],
        Action::Rmw { address, new, .. } => vec![address, new],
        _ => vec![],
    }
}

fn move_addresses(expression: &mut Expression, shift: i64) {
    match expression {
        Expression::Address { value, .. } => *value += shift,
        Expression::Unary(_, operand) => move_addresses(Arc::make_mut(operand), shift),
        Expression::Binary(_, left, right) => {
            move_addresses(Arc::make_mut(left), shift);
            move_addresses(Arc::make_mut(right), shift);
        }
        _ => {}
    }
}

/// So many programs or texts; more in a long run.
fn cases() -> u32 {
    if is_long_run() { 20_000 } else { 400 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_survive_the_native_language(program in programs()) {
        let (text, again) = reread(&program, Format::Native);
        assert_same(&without_places(&again), &program, &text);
    }

    #[test]
    fn what_trencher_can_express_survives(program in programs()) {
        if let Ok(printed) = print(&program, Format::Trencher) {
            let again = parse(SourceText::new("p.txt", printed.text), Format::Trencher).expect("the text is right").program;
            let (text, twice) = reread(&again, Format::Trencher);
            assert_same(&without_places(&twice), &without_places(&again), &text);
        }
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC{0,60}", words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..60)) {
        for text in [text, words.join(" "), words.join("\n")] {
            for format in [Format::Native, Format::Trencher] {
                let source = SourceText::new("x", text.as_str());
                if let Err(errors) = palisade::syntax::read(source.clone(), format) {
                    prop_assert!(!errors.is_empty());
                    for error in errors {
                        prop_assert!(error.span.end <= text.len(), "{error:?}");
                        render(&error, &source, true);
                    }
                }
            }
        }
    }
}

const WORDS: [&str; 49] = [
    "sfence;",
    "program",
    "p",
    "thread",
    "t",
    "regs",
    "r",
    "init",
    "a",
    "begin",
    "a:",
    "nop;",
    "goto",
    "b;",
    "end",
    "mem[x]",
    "<-",
    "1;",
    "(",
    ")",
    "[*]",
    "@cost(2)",
    "domain",
    "0..3",
    "wrap",
    "address",
    "x",
    "=",
    "initial",
    "cas",
    ",",
    "-",
    "*",
    "old",
    "q0",
    "q1",
    "transition",
    "write",
    "read",
    "local",
    "check",
    "==",
    "lock",
    "unlock",
    "mfence",
    "5",
    "assert",
    "/*",
    "#",
];
