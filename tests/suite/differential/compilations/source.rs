//! Threads as sources have them: accesses with orderings and plain ones, straight ahead and behind
//! conditions.

use super::super::dice::Dice;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};

/// How an access is ordered; plain ones are no atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Plain,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// A value that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    Register(String),
}

/// What an access does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load(String),
    Store(Value),
    /// Adds a number, and loads what was there.
    Add(String, u64),
    /// Takes an address from 0 to 1, and loads what was there.
    Take(String),
    Fence,
}

/// An access to shared memory, or a fence, which has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) kind: Kind,
    pub(super) address: &'static str,
    pub(super) order: Order,
}

/// A piece of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Access(Access),
    /// A register takes a value that is known without memory.
    Copy(String, Value),
    /// What follows is done if the register holds the number.
    If(String, u64, Vec<Item>),
    /// A read-modify-write that compilers have left out, or made a load; its ordering still counts.
    Vanished(Order, &'static str),
}

/// A program.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) threads: Vec<Vec<Item>>,
}

/// Addresses of atomics, and of other data.
pub(super) const ATOMICS: [&str; 3] = ["x", "y", "z"];
pub(super) const DATA: [&str; 2] = ["d", "e"];

impl Order {
    pub(super) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    pub(super) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Register(register) => write!(f, "{register}"),
        }
    }
}

impl Access {
    /// Whether later accesses stay behind it. Stores acquire nothing.
    pub(super) fn acquires(&self) -> bool {
        self.order.acquires() && !matches!(self.kind, Kind::Store(_))
    }

    /// Whether earlier accesses stay before it. Loads release nothing.
    pub(super) fn releases(&self) -> bool {
        self.order.releases() && !matches!(self.kind, Kind::Load(_))
    }

    /// What the listing says of it.
    fn word(&self) -> String {
        let order = if self.order == Order::Plain { "plain".to_owned() } else { format!("{:?}", self.order) };
        match &self.kind {
            Kind::Load(_) => format!("load:{order}"),
            Kind::Store(_) => format!("store:{order}"),
            Kind::Add(..) => format!("rmw:{order}"),
            Kind::Take(_) if self.order == Order::SeqCst => format!("cas:{order}/{order}"),
            Kind::Take(_) => format!("cas:{order}/Relaxed"),
            Kind::Fence => "fence:SeqCst".to_owned(),
        }
    }

    /// Its instruction.
    fn instruction(&self) -> String {
        let at = self.address;
        match &self.kind {
            Kind::Load(register) => format!("{register} <- mem[{at}]"),
            Kind::Store(value) if self.order == Order::SeqCst => format!("xchg(mem[{at}], {value})"),
            Kind::Store(value) => format!("mem[{at}] <- {value}"),
            Kind::Add(register, number) => format!("{register} <- fetch_add(mem[{at}], {number})"),
            Kind::Take(register) => format!("{register} <- cas(mem[{at}], 0, 1)"),
            Kind::Fence => "mfence".to_owned(),
        }
    }
}

/// A thread while it is drawn.
struct Drawing<'d> {
    dice: &'d mut Dice,
    registers: usize,
    /// Whether all atomics are sequentially consistent.
    is_strong: bool,
}

impl Source {
    /// Two or three threads that guard data by locks, hand it over by messages, or do as they
    /// please; with orderings that mostly suffice.
    pub(super) fn random(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let (threads, is_strong) = (2 + dice.place(2), dice.below(5) == 0);
        let thread = |dice: &mut Dice| {
            let mut drawing = Drawing { dice, registers: 0, is_strong };
            let mut items = drawing.template();
            if drawing.dice.below(3) == 0 {
                items.extend(drawing.template());
            }
            items
        };
        Self { threads: (0..threads).map(|_| thread(&mut dice)).collect() }
    }
}

impl Drawing<'_> {
    fn register(&mut self) -> String {
        self.registers += 1;
        format!("r{}", self.registers)
    }

    /// The ordering that is meant, or now and then another one.
    fn order(&mut self, meant: Order) -> Order {
        match self.dice.below(12) {
            _ if self.is_strong => Order::SeqCst,
            0 => Order::Relaxed,
            1 => Order::SeqCst,
            _ => meant,
        }
    }

    fn access(&mut self, kind: Kind, address: &'static str, meant: Order) -> Item {
        let order = if meant == Order::Plain { meant } else { self.order(meant) };
        Item::Access(Access { kind, address, order })
    }

    fn template(&mut self) -> Vec<Item> {
        match self.dice.below(7) {
            0 | 1 => {
                let mut items = self.data();
                let flag = ATOMICS[self.dice.place(2)];
                items.push(self.access(Kind::Store(Value::Number(1)), flag, Order::Release));
                items
            }
            2 | 3 => {
                let (flag, register) = (ATOMICS[self.dice.place(2)], self.register());
                let load = self.access(Kind::Load(register.clone()), flag, Order::Acquire);
                vec![load, Item::If(register, 1, self.data())]
            }
            4 | 5 => {
                let register = self.register();
                let take = self.access(Kind::Take(register.clone()), "z", Order::Acquire);
                let mut inside = self.data();
                inside.push(self.access(Kind::Store(Value::Number(0)), "z", Order::Release));
                vec![take, Item::If(register, 0, inside)]
            }
            _ => (0..=self.dice.below(3)).map(|_| self.atomic()).collect(),
        }
    }

    /// Some accesses to data, and rarely to an atomic.
    fn data(&mut self) -> Vec<Item> {
        let one = |own: &mut Self| {
            let address = if own.dice.below(20) == 0 { "x" } else { DATA[own.dice.place(2)] };
            match own.dice.below(10) {
                0 => own.atomic(),
                1..5 => {
                    let register = own.register();
                    own.access(Kind::Load(register), address, Order::Plain)
                }
                _ => {
                    let number = 1 + own.dice.below(2);
                    own.access(Kind::Store(Value::Number(number)), address, Order::Plain)
                }
            }
        };
        (0..=self.dice.below(3)).map(|_| one(self)).collect()
    }

    fn atomic(&mut self) -> Item {
        let address = ATOMICS[self.dice.place(ATOMICS.len())];
        let register = self.register();
        match self.dice.below(9) {
            0 => Item::Access(Access { kind: Kind::Fence, address: "", order: Order::SeqCst }),
            1 => {
                // Of half of them nobody uses what was there.
                let register = if self.dice.below(2) == 0 { register } else { register.replace('r', "u") };
                let number = self.dice.below(2);
                let order = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel][self.dice.place(4)];
                self.access(Kind::Add(register, number), address, order)
            }
            2..6 => {
                let number = 1 + self.dice.below(2);
                self.access(Kind::Store(Value::Number(number)), address, Order::Release)
            }
            _ => self.access(Kind::Load(register), address, Order::Acquire),
        }
    }
}

/// A program as text, and what the listing says of each of its instructions, thread by thread.
pub(super) fn lower(source: &Source) -> (String, Vec<Vec<String>>) {
    let mut text = format!("program p\naddress {}, {}\n", ATOMICS.join(", "), DATA.join(", "));
    let mut words = Vec::new();
    for (number, items) in source.threads.iter().enumerate() {
        let mut lines = Lines::default();
        lines.items(items);
        let registers: Vec<String> = lines.registers.iter().cloned().collect();
        let _ = writeln!(text, "thread t{number} regs {} init l0 begin\n{}end", registers.join(", "), lines.text);
        words.push(lines.words);
    }
    (text, words)
}

/// The lines of a thread.
#[derive(Default)]
struct Lines {
    text: String,
    words: Vec<String>,
    registers: BTreeSet<String>,
    labels: usize,
}

impl Lines {
    fn line(&mut self, label: usize, instruction: &str, target: usize, word: String) {
        let _ = writeln!(self.text, "l{label}: {instruction}; goto l{target};");
        self.words.push(word);
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    /// Writes items from the last label on.
    fn items(&mut self, items: &[Item]) {
        for item in items {
            let here = self.labels;
            match item {
                Item::Access(access) => {
                    if let Kind::Load(register) | Kind::Add(register, _) | Kind::Take(register) = &access.kind {
                        self.registers.insert(register.clone());
                    }
                    let next = self.label();
                    self.line(here, &access.instruction(), next, access.word());
                }
                Item::Copy(register, value) => {
                    self.registers.insert(register.clone());
                    let next = self.label();
                    self.line(here, &format!("{register} <- {value}"), next, String::new());
                }
                Item::If(register, number, inside) => {
                    let first = self.label();
                    self.line(here, &format!("assert {register} = {number}"), first, String::new());
                    self.items(inside);
                    let last = self.labels;
                    let behind = self.label();
                    self.line(last, "nop", behind, String::new());
                    self.line(here, &format!("assert {register} != {number}"), behind, String::new());
                }
                Item::Vanished(..) => {}
            }
        }
    }
}
