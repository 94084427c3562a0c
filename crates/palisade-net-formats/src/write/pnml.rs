//! Writer of PNML place/transition nets, with units as NUPN and the question as a query of the
//! Model Checking Contest.
//!
//! One net, one page, default namespace, ids `p<N>` and `t<N>` with the names as labels, no weight
//! or token count of 2³¹ or more: what the readers in use agree on.

use super::{Written, mcc};
use palisade_model::net::{Arcs, Count, Net, OmegaCount, Problem};
use palisade_model::text::escaped;
use std::fmt::Write;

/// Counts from here on are refused by readers in use.
const TOO_LARGE: u64 = 1 << 31;

pub(super) fn write(problem: &Problem) -> Result<Written, String> {
    let net = &problem.net;
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    write_net(&mut text, net)?;
    let targets = &problem.query.targets;
    let query = if targets.is_empty() {
        None
    } else {
        targets.iter().try_for_each(|target| check(&target.demands))?;
        Some(mcc::write(&net.name, targets))
    };
    Ok(Written { net: text, query, notes: Vec::new() })
}

fn write_net(text: &mut String, net: &Net) -> Result<(), String> {
    let name = label(&net.name);
    text.push_str("<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n");
    text.push_str("  <net id=\"net\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n");
    line(text, format_args!("    <name><text>{name}</text></name>\n    <page id=\"page\">"));
    for (index, place) in net.places.iter().enumerate() {
        let name = label(&place.name);
        let marking = match &net.initial[index] {
            OmegaCount::Finite(count) if count.is_zero() => String::new(),
            OmegaCount::Finite(count) => {
                check_count(count)?;
                format!("<initialMarking><text>{count}</text></initialMarking>")
            }
            OmegaCount::Omega => return Err("a place holds ω initially".to_owned()),
        };
        line(text, format_args!("      <place id=\"p{index}\"><name><text>{name}</text></name>{marking}</place>"));
    }
    for (id, transition) in net.transition_ids() {
        let name = label(&transition.name);
        line(text, format_args!("      <transition id=\"{id}\"><name><text>{name}</text></name></transition>"));
    }
    let mut arcs = 0_usize;
    for (id, transition) in net.transition_ids() {
        check(&transition.pre)?;
        check(&transition.post)?;
        let taken = transition.pre.iter().map(|(place, count)| (place.to_string(), id.to_string(), count));
        let put = transition.post.iter().map(|(place, count)| (id.to_string(), place.to_string(), count));
        for (source, target, weight) in taken.chain(put) {
            let weight = if *weight == Count::ONE {
                "/>".to_owned()
            } else {
                format!("><inscription><text>{weight}</text></inscription></arc>")
            };
            line(text, format_args!("      <arc id=\"a{arcs}\" source=\"{source}\" target=\"{target}\"{weight}"));
            arcs += 1;
        }
    }
    if !net.units.is_empty() {
        units(text, net, arcs);
    }
    text.push_str("    </page>\n  </net>\n</pnml>\n");
    Ok(())
}

/// The units as leaves below one root, every other place a leaf of its own.
fn units(text: &mut String, net: &Net, arcs: usize) {
    let mut single = vec![true; net.places.len()];
    for place in net.units.iter().flatten() {
        single[place.index()] = false;
    }
    let leaves: Vec<String> = net
        .units
        .iter()
        .map(|unit| unit.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        .chain((0..single.len()).filter(|index| single[*index]).map(|index| format!("p{index}")))
        .collect();
    let (places, transitions, count) = (net.places.len(), net.transitions.len(), leaves.len() + 1);
    // The counters of replicated threads are not bounded, so that the whole is not claimed to be
    // unit-safe.
    let safe = !single.contains(&true);
    text.push_str("      <toolspecific tool=\"nupn\" version=\"1.1\">\n");
    line(text, format_args!("        <size places=\"{places}\" transitions=\"{transitions}\" arcs=\"{arcs}\"/>"));
    line(text, format_args!("        <structure units=\"{count}\" root=\"u0\" safe=\"{safe}\">"));
    let children: Vec<String> = (1..count).map(|index| format!("u{index}")).collect();
    let children = children.join(" ");
    line(text, format_args!("          <unit id=\"u0\"><places/><subunits>{children}</subunits></unit>"));
    for (index, leaf) in leaves.iter().enumerate() {
        let id = index + 1;
        line(text, format_args!("          <unit id=\"u{id}\"><places>{leaf}</places><subunits/></unit>"));
    }
    text.push_str("        </structure>\n      </toolspecific>\n");
}

/// A name as XML content; characters that no XML document may hold become blanks.
fn label(name: &str) -> String {
    let clean: String = name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    escaped(clean)
}

fn check(arcs: &Arcs) -> Result<(), String> {
    arcs.iter().try_for_each(|(_, count)| check_count(count))
}

fn check_count(count: &Count) -> Result<(), String> {
    if *count < Count::from(TOO_LARGE) {
        return Ok(());
    }
    Err(format!("{count} is 2^31 or more, which its readers do not take"))
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("a string takes all that is written");
}
