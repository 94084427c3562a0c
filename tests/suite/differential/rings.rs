//! Programs with rings: counters that number slots, and slots that hold counters. Verdicts up to
//! laps are those value by value, with few copies those of the oracle, and their evidence is
//! accepted.

use super::counters::compare;
use super::dice::Dice;
use super::instances::robust_with_few_copies;
use super::property_counters::{compare as compare_properties, with_properties};
use super::{Amount, Compared, compare_generated, of_class};
use crate::checked::unconfirmed_check;
use crate::environment::is_long_run;
use palisade::limits::Limits;
use palisade::program::{Counters, Program, SourceText};
use palisade::questions::{About, confirm};
use palisade::robustness::{Abstraction, CheckOptions, Verdict};
use palisade::syntax::{Format, read};
use std::time::Duration;

/// What a thread does at a place. `S` is a slot that a counter numbers, `N` how many slots there
/// are.
const STEPS: [&str; 20] = [
    "a <- mem[top];",
    "a <- mem[top];",
    "b <- mem[bottom];",
    "b <- mem[bottom];",
    "a <- fetch_add(mem[top], 1);",
    "b <- fetch_add(mem[bottom], 1);",
    "q <- cas(mem[top], a, a + 1); q <- 0;",
    "mem[bottom] <- b + 1;",
    "mem[Sa] <- a + 1;",
    "mem[Sb] <- b + N;",
    "mem[Sb] <- b;",
    "b <- mem[Sa];",
    "a <- mem[Sb];",
    "q <- cas(mem[Sa], b, b + N); q <- 0;",
    "b <- fetch_add(mem[Sa], N);",
    "mem[element + (a & 1)] <- 1;",
    "q <- mem[element + (b & 1)];",
    "mem[x] <- 1; q <- mem[y];",
    "mem[y] <- 1; q <- mem[x];",
    "mfence;",
];

/// What a thread asks at a place.
const CONDITIONS: [&str; 8] =
    ["a = b", "a != b", "b = a + 1", "a - b = N", "!(b - a = 1)", "q = 0", "a = b || q = 1", "a + 1 = b + N"];

/// Conditions of programs in integers.
const ORDERS: [&str; 3] = ["a < b", "b - a > 1", "(a & -N) = (b & -N)"];

/// A ring of so many slots that a thread's counters number, in a domain or in integers.
struct Ring {
    slots: usize,
    is_whole: bool,
}

impl Ring {
    /// A piece of text about this ring.
    fn text(&self, piece: &str) -> String {
        let slot = |counter: char| match self.slots {
            1 => "slot".to_owned(),
            3 => format!("slot + {counter} % 3"),
            slots => format!("slot + ({counter} & {})", slots - 1),
        };
        piece.replace("Sa", &slot('a')).replace("Sb", &slot('b')).replace('N', &self.slots.to_string())
    }

    fn condition(&self, dice: &mut Dice) -> String {
        let piece = if self.is_whole && dice.below(3) == 0 { dice.one_of(&ORDERS) } else { dice.one_of(&CONDITIONS) };
        self.text(piece)
    }

    /// A thread that does some of this again and again.
    fn thread(&self, dice: &mut Dice, name: &str, copies: &str) -> String {
        let length = 3 + dice.below(4);
        let mut body = String::new();
        for number in 0..length {
            let next = number + 1;
            if dice.below(4) == 0 {
                let condition = self.condition(dice);
                body += &format!("  l{number}: assert {condition}; goto l{next};\n");
                if dice.below(4) > 0 {
                    body += &format!("  l{number}: assert !({condition}); goto l{};\n", dice.below(length));
                }
                continue;
            }
            let step = self.text(dice.one_of(&STEPS));
            match step.split_once("; ") {
                Some((first, second)) => {
                    body += &format!("  l{number}: {first}; goto m{number};\n  m{number}: {second} goto l{next};\n");
                }
                None => body += &format!("  l{number}: {step} goto l{next};\n"),
            }
        }
        let end = dice.one_of(&["l0", "l0", "end"]);
        format!("thread {name} [{copies}] regs a, b, q init l0 begin\n{body}  l{length}: nop; goto {end};\nend\n")
    }
}

/// A program with a ring of 1, 2 or 4 slots, or 3 in a domain; with a domain of so many laps, or in
/// integers.
fn with_ring(seed: u64, laps: Option<usize>, copies: &[&str]) -> Program {
    let mut dice = Dice(seed);
    let slots = if laps.is_some() { [1, 2, 2, 3, 4] } else { [1, 2, 2, 2, 4] }[dice.place(5)];
    let ring = Ring { slots, is_whole: laps.is_none() };
    // Masks of elements see two values.
    let size = laps.map(|laps| if slots % 2 == 1 { 2 * laps * slots } else { laps * slots });
    let domain = size.map_or(String::new(), |size| format!("domain 0..{} wrap\n", size - 1));
    let first: Vec<String> = (1..slots).map(|slot| format!("slot[{slot}] = {slot}")).collect();
    let initial = if slots > 1 { format!("initial {}\n", first.join(", ")) } else { String::new() };
    let slot = if slots > 1 { format!("slot[{slots}]") } else { "slot".to_owned() };
    let one = ring.thread(&mut dice, "many", dice_copies(seed, copies));
    let other = if dice.below(3) == 0 { String::new() } else { ring.thread(&mut dice, "other", "1") };
    let text = format!("program Ring\n{domain}address top, bottom, x, y, {slot}, element[2]\n{initial}{one}\n{other}");
    read(SourceText::new("ring.pal", text.clone()), Format::Native)
        .unwrap_or_else(|_| panic!("not a program: {text}"))
        .program
}

fn dice_copies<'c>(seed: u64, copies: &[&'c str]) -> &'c str {
    copies[usize::try_from(seed / 7).expect("seeds are small") % copies.len()]
}

/// Whether a ring's slots are in a class.
fn has_ring(program: &Program) -> bool {
    let counters = Counters::of(program);
    program.addresses.iter().any(|own| own.name == "slot" && counters.class_of_cell(own.address).is_some())
}

/// The class of what was compared, where slots hold counters.
fn of_rings(program: &Program, compared: Compared) -> Compared {
    compared.map(|class| if has_ring(program) { class } else { "no ring" })
}

#[test]
fn verdicts_of_rings_with_fixed_copies_are_those_value_by_value() {
    let amount = Amount { default: 48, long: 10_000 };
    let generate = |seed| with_ring(seed, Some(2 + usize::from(seed % 5 == 0)), &["1", "2"]);
    let counts = compare_generated("rings, fixed", 7_600_000, amount, generate, |own| of_rings(own, compare(own)));
    assert!(of_class(&counts, "robust") > 1 && of_class(&counts, "not robust") > 1, "{counts:?}");
}

#[test]
fn verdicts_of_rings_for_any_number_of_copies_are_those_value_by_value() {
    let amount = Amount { default: 40, long: 5_000 };
    let generate = |seed| with_ring(seed, Some(2), &["*"]);
    let counts = compare_generated("rings, any number", 7_700_000, amount, generate, |own| of_rings(own, compare(own)));
    assert!(of_class(&counts, "robust") > 1 && of_class(&counts, "not robust") > 1, "{counts:?}");
}

fn compare_in_integers(program: &Program) -> Compared {
    if !has_ring(program) {
        return Ok("no ring");
    }
    let seconds = if is_long_run() { 20 } else { 2 };
    let limits = Limits::none().with_timeout(Duration::from_secs(seconds));
    let options = CheckOptions { limits, values: 12, ..CheckOptions::default() };
    let Ok(checked) = unconfirmed_check(program, &options) else { return Ok("a fault") };
    if let Some(Err(failure)) = confirm(&About::new(program), &checked) {
        return Err(format!("{:?}, but the evidence is rejected: {failure}", checked.verdict));
    }
    let class = match (&checked.verdict, &checked.abstraction) {
        (Verdict::NotRobust, _) => return Ok("not robust"),
        (Verdict::Unknown(_), _) => return Ok("no verdict"),
        (Verdict::Robust, Some(Abstraction::Far(_))) => "robust where far is one value",
        (Verdict::Robust, Some(Abstraction::Modulo(_))) => "robust by residues",
        (Verdict::Robust, _) => "robust",
    };
    robust_with_few_copies(program, 3, &options).map_err(|but| format!("{class}, but {but}"))?;
    Ok(class)
}

#[test]
fn verdicts_of_rings_in_integers_are_those_of_few_copies() {
    let amount = Amount { default: 30, long: 10_000 };
    let generate = |seed| with_ring(seed, None, &["*", "*", "2"]);
    let counts = compare_generated("rings, integers", 7_800_000, amount, generate, compare_in_integers);
    assert!(
        of_class(&counts, "robust where far is one value") > 0 && of_class(&counts, "not robust") > 0,
        "{counts:?}"
    );
}

#[test]
fn what_is_proved_of_rings_is_reached_by_no_search() {
    let amount = Amount { default: 40, long: 6_000 };
    let generate = |seed: u64| {
        let laps = [None, Some(2), Some(3)][usize::try_from(seed % 3).expect("below 3")];
        with_properties(with_ring(seed, laps, &["1", "2", "*"]), seed)
    };
    let compare = |own: &Program| of_rings(own, compare_properties(own));
    let counts = compare_generated("rings, properties", 7_900_000, amount, generate, compare);
    assert!(of_class(&counts, "not proved") > 3, "{counts:?}");
}
