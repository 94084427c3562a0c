//! An execution graph as a litmus test in C, for herd7 with `rc11.cat`.
//!
//! A copy becomes a function that makes its events in order, without branches. The k-th write of an
//! address writes k, so that a read of k reads from it, and the final value is that of the last
//! write. The condition has all values read and all final ones: the language admits them, as the
//! graph has them.

use palisade_engine::robustness::GraphViolation;
use palisade_evidence::StaleClaim;
use palisade_model::program::{Ordering, Program, Value};
use palisade_report::computation::address_text;
use palisade_semantics::graphs::{EventKind, Graph, GraphEvent};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The litmus test of a violation of a program by its language.
///
/// # Errors
///
/// When the graph accesses an address by plain and by atomic accesses: C has a type for each.
pub fn graph_litmus(stated: &Program, found: &GraphViolation) -> Result<String, String> {
    let graph = &found.execution.graph;
    let places = Places::of(stated, graph)?;
    let race = found.claim == StaleClaim::Race;
    let what = if race { "a race, which rc11.cat flags" } else { "an execution that no interleaving has" };
    let mut out = format!("C {}\n(* {what} *)\n\n{{ ", identifier(&stated.name));
    for name in places.names.values() {
        let _ = write!(out, "{name} = 0; ");
    }
    out.push_str("}\n");
    let mut condition: Vec<String> = Vec::new();
    for position in 0..found.acting.len() {
        let own = |(_, event): &(usize, &GraphEvent)| event.position == Some(position);
        let events: Vec<(usize, &GraphEvent)> = graph.events().iter().enumerate().filter(own).collect();
        let parameters = places.parameters(&events);
        let _ = writeln!(out, "\nP{position}({}) {{", parameters.join(", "));
        let mut registers = 0;
        for (number, event) in events {
            let name = places.names.get(&event.address).map_or("", String::as_str);
            let register = format!("r{registers}");
            let _ = writeln!(out, "  {};", statement(event, name, &register, places.value(number)));
            if let Some(source) = graph.source(number) {
                condition.push(format!("{position}:{register}={}", places.value(source)));
                registers += 1;
            }
        }
        out.push_str("}\n");
    }
    for (address, writes) in graph.addresses().filter(|(_, writes)| writes.len() > 1) {
        condition.push(format!("{}={}", places.names[&address], writes.len() - 1));
    }
    let _ = writeln!(out, "\nexists ({})", condition.join(" /\\ "));
    Ok(out)
}

/// The addresses of a graph by names of C, and the numbers of writes.
struct Places {
    names: BTreeMap<Value, String>,
    /// Whether an address is plain data.
    plain: BTreeMap<Value, bool>,
    /// By event, its place among the writes of its address.
    numbers: Vec<usize>,
}

impl Places {
    fn of(program: &Program, graph: &Graph) -> Result<Self, String> {
        let mut places =
            Self { names: BTreeMap::new(), plain: BTreeMap::new(), numbers: vec![0; graph.events().len()] };
        for (address, writes) in graph.addresses() {
            writes.iter().enumerate().for_each(|(number, write)| places.numbers[*write] = number);
            let mut name = identifier(&address_text(program, address));
            while places.names.values().any(|other| *other == name) {
                name.push('_');
            }
            let accesses = graph.events().iter().filter(|event| event.position.is_some() && !event.is_fence());
            let mut own = accesses.filter(|event| event.address == address).map(|event| event.ordering);
            let is_plain = own.next() == Some(Ordering::Plain);
            if own.any(|ordering| (ordering == Ordering::Plain) != is_plain) {
                return Err(format!(
                    "`{name}` is accessed both as plain data and atomically, which C types do not say"
                ));
            }
            places.plain.insert(address, is_plain);
            places.names.insert(address, name);
        }
        Ok(places)
    }

    fn value(&self, write: usize) -> usize {
        self.numbers[write]
    }

    /// The parameters of a function that makes some events.
    fn parameters(&self, events: &[(usize, &GraphEvent)]) -> Vec<String> {
        let is_accessed = |address: &Value| events.iter().any(|(_, own)| !own.is_fence() && own.address == *address);
        let named = self.names.iter().filter(|(address, _)| is_accessed(address));
        let parameter = |(address, name): (&Value, &String)| {
            let of = if self.plain[address] { "int" } else { "atomic_int" };
            format!("{of}* {name}")
        };
        named.map(parameter).collect()
    }
}

/// The statement that is an event.
fn statement(event: &GraphEvent, name: &str, register: &str, value: usize) -> String {
    let order = format!("memory_order_{}", event.ordering.word());
    match (event.kind, event.ordering) {
        (EventKind::Fence, _) => format!("atomic_thread_fence({order})"),
        (EventKind::Read, Ordering::Plain) => format!("int {register} = *{name}"),
        (EventKind::Write, Ordering::Plain) => format!("*{name} = {value}"),
        (EventKind::Read, _) => format!("int {register} = atomic_load_explicit({name}, {order})"),
        (EventKind::Write, _) => format!("atomic_store_explicit({name}, {value}, {order})"),
        (EventKind::Update, _) => format!("int {register} = atomic_exchange_explicit({name}, {value}, {order})"),
    }
}

/// A name of C.
fn identifier(text: &str) -> String {
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = name.trim_matches('_').to_owned();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("a{name}") }
}
