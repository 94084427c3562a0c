//! The computation as a Mermaid sequence diagram: threads, the attacker's buffer, memory.

use palisade_engine::robustness::Violation;
use palisade_model::program::Program;
use palisade_report::computation::address_text;
use palisade_semantics::Effect;
use std::fmt::Write;

/// The diagram.
pub fn mermaid(program: &Program, violation: &Violation) -> String {
    let mut out = String::from("sequenceDiagram\n");
    let name = |copy| violation.instance.copy_name(program, copy);
    let copies = &violation.acting;
    let id = |copy| format!("T{}", copies.iter().position(|it| *it == copy).expect("the copy acts"));
    // Memory stands next to the attacker's buffer, the other threads beyond it.
    let _ = writeln!(out, "  participant {} as {}", id(violation.attacker), escaped(&name(violation.attacker)));
    let _ = writeln!(out, "  participant B as buffer of {}", escaped(&name(violation.attacker)));
    let _ = writeln!(out, "  participant M as memory");
    for copy in copies.iter().filter(|copy| **copy != violation.attacker) {
        let _ = writeln!(out, "  participant {} as {}", id(*copy), escaped(&name(*copy)));
    }
    for (index, event) in violation.replay.events.iter().enumerate() {
        let copy = event.step.copy;
        let delays = copy == violation.attacker && index >= violation.issue;
        let thread = id(copy);
        let at = |address| escaped(&address_text(program, address));
        let line = match event.effect {
            Effect::Load { address, value, early: false, .. } => format!("M-->>{thread}: {} = {value}", at(address)),
            Effect::Load { address, value, .. } => format!("B-->>{thread}: {} = {value} (early)", at(address)),
            Effect::Issue { address, value } if delays => format!("{thread}->>B: {} ← {value} (delayed)", at(address)),
            Effect::Issue { .. } | Effect::Local { .. } | Effect::Violation | Effect::Failure => continue,
            Effect::Store { address, value } if delays => format!("B->>M: {} ← {value}", at(address)),
            Effect::Store { address, value } => format!("{thread}->>M: {} ← {value}", at(address)),
            Effect::Rmw { address, old, new: Some(new), .. } => {
                format!("{thread}->>M: {} {old} ⇒ {new} (locked)", at(address))
            }
            Effect::Rmw { address, old, .. } => format!("M-->>{thread}: {} = {old} (locked)", at(address)),
            Effect::Fence => format!("Note over {thread}: mfence"),
            Effect::StoreFence => format!("Note over {thread}: sfence"),
            Effect::Lock => format!("Note over {thread}: lock"),
            Effect::Unlock => format!("Note over {thread}: unlock"),
        };
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// Mermaid reads `#` and `;` as more than text.
pub(super) fn escaped(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        match character {
            '#' => out.push_str("#35;"),
            ';' => out.push_str("#59;"),
            _ => out.push(character),
        }
    }
    out
}
