//! Counters that the file of roles narrows: what they become, and what is refused.

use palisade_model::program::{Action, Expression, InstructionId, LabelId, Program, Thread, Value};
use std::collections::BTreeMap;
use std::path::Path;

const RING: &str = "[[role]]\nfunction = \"push\"\ncopies = \"*\"\nrepeat = true\n[[role]]\nfunction = \"pop\"\ncopies = \"*\"\nrepeat = true\n";

/// The program of roles in the image of rings, or what is said against it.
fn read(level: &str, roles: &str) -> Result<Program, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/images/ring-{level}"));
    let path = folder.path().join("roles.toml");
    std::fs::write(&path, format!("image = {:?}\n{roles}", image.display().to_string())).expect("is writable");
    palisade_machine::read(&path.display().to_string()).map_err(|error| error.render(false))
}

fn refusal(roles: &str) -> String {
    read("O2", roles).expect_err("is refused")
}

/// Where values flow, the text of a program shows: cells are stored in so many bits, and no others
/// are.
#[test]
fn values_are_narrowed_wherever_they_flow() {
    let is_long = std::env::var_os("PALISADE_FULL_TESTS").is_some();
    let levels = ["O0", "O2", "O1", "O3", "Os"];
    for level in levels.into_iter().take(if is_long { 5 } else { 2 }) {
        let narrow = "narrow = [{ cells = [\"head\", \"tail\"], bits = 3 }]\n";
        let program = read(level, &format!("{narrow}{RING}")).unwrap_or_else(|error| panic!("{level}: {error}"));
        assert!(program.source.text.contains("\nnarrow head, tail to 3\n"), "{}", program.source.text);
        assert!(program.source.text.contains("\nbuild GNU C17 12.2.0"), "{}", program.source.text);
        let wide = read(level, RING).expect("is read");
        assert!(!wide.source.text.contains("narrow"));
        let counted = compare(&wide, &program);
        assert!(counted > 100, "{level}: the counters go round: {counted}");
    }
}

/// A copy on its way, in both programs.
struct Copy {
    thread: usize,
    label: LabelId,
    wide: Vec<Value>,
    narrow: Vec<Value>,
}

/// Runs both programs in step: control is the same, and the low 3 bits of memory are. The largest
/// value that was stored.
fn compare(wide: &Program, narrow: &Program) -> Value {
    let new = |thread: usize| Copy {
        thread,
        label: wide.threads[thread].initial,
        wide: wide.threads[thread].initial_registers(),
        narrow: narrow.threads[thread].initial_registers(),
    };
    let mut copies = [new(0), new(1), new(0), new(1)];
    let mut memories = [wide.initial_memory.clone(), narrow.initial_memory.clone()];
    let by_label = [&wide.threads[0], &wide.threads[1]].map(Thread::instructions_by_label);
    let (mut random, mut largest) = (7u64, 0);
    for _ in 0..100_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let copy = &mut copies[usize::try_from(random >> 62).expect("two bits")];
        let threads = [&wide.threads[copy.thread], &narrow.threads[copy.thread]];
        let open = |which: usize, registers: &[Value]| {
            let ids = by_label[copy.thread][copy.label.index()].iter().copied();
            let holds = |id: &InstructionId| match &threads[which].instruction(*id).action {
                Action::Assume(condition) => condition.holds(registers, None).expect("a value"),
                _ => true,
            };
            ids.filter(holds).collect::<Vec<_>>()
        };
        let next = open(0, &copy.wide);
        assert_eq!(next, open(1, &copy.narrow), "control differs");
        let id = next[0];
        for (which, registers) in [(0, &mut copy.wide), (1, &mut copy.narrow)] {
            let stored = step(&threads[which].instruction(id).action, registers, &mut memories[which]);
            if which == 0 {
                largest = largest.max(stored);
            }
        }
        copy.label = threads[0].instruction(id).target;
        for address in wide.addresses.iter().map(|name| name.address).filter(|_| (random >> 40).is_multiple_of(16)) {
            let of = |which: usize| memories[which].get(&address).copied().unwrap_or(0);
            assert_eq!(of(0).rem_euclid(8), of(1), "{address:#x}");
        }
    }
    largest
}

/// Takes a step; the value stored.
fn step(action: &Action, registers: &mut [Value], memory: &mut BTreeMap<Value, Value>) -> Value {
    let address = action.address().map(|it| it.evaluate_address(registers).expect("a cell"));
    let old = address.map_or(0, |address| memory.get(&address).copied().unwrap_or(0));
    let value = |it: &Expression| it.evaluate_with_old(registers, old, None).expect("a value");
    let stored = match action {
        Action::Store { value: it, .. } => Some(value(it)),
        Action::Rmw { new, .. } => Some(value(new)),
        Action::Cas { expected, new, .. } => (value(expected) == old).then(|| value(new)),
        _ => None,
    };
    let assigned = match action {
        Action::Assign { value: it, .. } => value(it),
        _ => old,
    };
    if let (Some(address), Some(stored)) = (address, stored) {
        memory.insert(address, stored);
    }
    if let Some(register) = action.written_register() {
        registers[register.index()] = assigned;
    }
    stored.unwrap_or(0)
}

#[test]
fn what_fewer_bits_cannot_tell_is_refused_at_its_line() {
    let role = |function: &str, bits: u8| {
        refusal(&format!(
            "narrow = [{{ cells = [\"count\"], bits = {bits} }}]\n[[role]]\nfunction = \"{function}\"\ncopies = 2\n"
        ))
    };
    for (function, bits, line, why) in [
        ("by_order", 2, 52, "compared by their order"),
        ("shifted", 2, 58, "needs all of its bits"),
        ("as_address", 2, 62, "an address is computed from a narrowed value"),
    ] {
        let text = role(function, bits);
        assert!(text.contains(&format!("ring.c:{line}:")), "{function}: {text}");
        assert!(text.contains(why), "{function}: {text}");
    }
    let narrowed = |bits: u8| {
        read(
            "O2",
            &format!("narrow = [{{ cells = [\"count\"], bits = {bits} }}]\n[[role]]\nfunction = \"as_address\"\n"),
        )
    };
    assert!(narrowed(3).is_ok());
}

#[test]
fn names_and_bits_are_diagnosed() {
    for (narrow, why) in [
        ("{ cells = [\"haed\"], bits = 2 }", "`head`"),
        ("{ cells = [\"head\"], bits = 0 }", "cannot be narrowed to 0"),
        ("{ cells = [\"head\"], bits = 64 }", "cannot be narrowed to 64"),
        ("{ cells = [\"head\"], bits = 2 }, { cells = [\"head\"], bits = 3 }", "two numbers of bits"),
        ("{ cells = [\"head\"], bits = 2 }, { cells = [\"tail\"], bits = 3 }", "meets one narrowed to 3 bits"),
        ("{ cells = [\"head\"] }", "missing field `bits`"),
    ] {
        let text = refusal(&format!("narrow = [{narrow}]\n{RING}"));
        assert!(text.contains(why), "{narrow}: {text}");
    }
}
