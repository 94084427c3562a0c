//! What is written is read back as the same net with the same question.

use super::*;
use crate::{Document, read_with_query};
use palisade_model::net::{Arcs, Count, Net, OmegaCount, PlaceId, Query, QueryFormat, Target};
use proptest::prelude::*;

/// Names that formats quote, replace or mistake for their own words.
const AWKWARD: [&str; 12] =
    ["a", "init", "two words", "é", "p0", "{q}", "1", "\\", "<&\">", "MARKING", "EF", "semi;colon"];

fn problems() -> impl Strategy<Value = Problem> {
    (1_usize..6, 0_usize..6, 1_usize..4).prop_flat_map(|(places, transitions, targets)| {
        let arcs = move |most: usize| {
            proptest::collection::vec((0..places, 1_u64..4), 0..=most).prop_map(|arcs| {
                arcs.into_iter().map(|(place, count)| (PlaceId::from_index(place), count.into())).collect::<Arcs>()
            })
        };
        let place = (0..AWKWARD.len(), prop_oneof![Just(None), (0_u64..4).prop_map(Some)]);
        (
            proptest::collection::vec(place, places),
            proptest::collection::vec((0..AWKWARD.len(), arcs(3), arcs(3)), transitions),
            proptest::collection::vec(arcs(3), targets),
        )
            .prop_map(|(places, transitions, targets)| {
                let mut net = Net { name: "random".to_owned(), ..Net::default() };
                for (index, (name, initial)) in places.into_iter().enumerate() {
                    let name = if index == 0 { AWKWARD[name].to_owned() } else { format!("{}{index}", AWKWARD[name]) };
                    let initial = initial.map_or(OmegaCount::Omega, |count| OmegaCount::Finite(count.into()));
                    net.add_place(name, initial);
                }
                for (index, (name, pre, post)) in transitions.into_iter().enumerate() {
                    net.add_transition(format!("{}-{index}", AWKWARD[name]), pre, post);
                }
                let mut targets: Vec<Target> = targets.into_iter().map(Target::new).collect();
                targets.sort();
                targets.dedup();
                Problem { net, query: Query { targets } }
            })
    })
}

fn read_back(written: &Written, format: Format) -> Problem {
    let net = Document { name: "random", bytes: written.net.as_bytes(), format: Some(format) };
    let query: Option<Document<'_, QueryFormat>> = written.query.as_ref().map(|text| Document {
        name: "question",
        bytes: text.as_bytes(),
        format: format.query(),
    });
    read_with_query(net, query, None).unwrap_or_else(|error| panic!("{error}\n{}", written.net))
}

/// The problem with places and transitions named by their numbers.
fn anonymous(mut problem: Problem) -> Problem {
    for (index, place) in problem.net.places.iter_mut().enumerate() {
        place.name = format!("p{index}").into();
    }
    for (index, transition) in problem.net.transitions.iter_mut().enumerate() {
        transition.name = format!("t{index}").into();
    }
    problem
}

/// So many problems for each format; more in a long run.
fn cases() -> u32 {
    if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 20_000 } else { 300 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn spec_round_trip(problem in problems()) {
        let mut back = read_back(&write(&problem, Format::Spec).unwrap(), Format::Spec);
        // A target that demands nothing is written as `p >= 0`.
        back.query.targets.sort();
        prop_assert_eq!(anonymous(back), anonymous(problem));
    }

    #[test]
    fn pnml_round_trip(problem in problems()) {
        let (expected, notes) = with_spawns(&problem);
        let written = write(&problem, Format::Pnml).unwrap();
        prop_assert_eq!(&written.notes, &notes);
        prop_assert_eq!(read_back(&written, Format::Pnml), expected);
    }

    #[test]
    fn lola_round_trip(problem in problems()) {
        let back = read_back(&write(&problem, Format::Lola).unwrap(), Format::Lola);
        prop_assert_eq!(anonymous(back), anonymous(with_spawns(&problem).0));
    }

    #[test]
    fn tina_round_trip(problem in problems()) {
        let written = write(&problem, Format::Tina).unwrap();
        let (expected, notes) = with_spawns(&problem);
        prop_assert_eq!(&written.notes, &notes);
        prop_assert_eq!(read_back(&written, Format::Tina), expected);
    }

    #[test]
    fn pictures_name_everything(problem in problems()) {
        let picture = write(&problem, Format::Dot).unwrap().net;
        for place in problem.net.place_ids() {
            let declared = format!("{place} [shape=circle");
            prop_assert!(picture.contains(&declared));
        }
    }

    /// Readers say what is wrong with damaged texts; they do not panic.
    #[test]
    fn damaged_texts_are_refused_or_read(problem in problems(), at in any::<prop::sample::Index>(), with in "[ -~é\n]{0,3}") {
        for format in [Format::Spec, Format::Pnml, Format::Lola, Format::Tina] {
            let text = write(&problem, format).unwrap().net;
            let mut start = at.index(text.len());
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + 2).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            let damaged = format!("{}{with}{}", &text[..start], &text[end..]);
            let document = Document { name: "damaged", bytes: damaged.as_bytes(), format: Some(format) };
            if let Err(error) = read_with_query(document, None, None) {
                prop_assert!(!error.diagnostics.is_empty());
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

const LOCK: &str = "3 3\n0 0 -> 1 1\n1 1 -> 0 0\n0 0 +> 0 2\n0 2 -> 0 2\n";

#[test]
fn thread_transition_systems_round_trip() {
    let net = Document { name: "lock.tts", bytes: LOCK.as_bytes(), format: None };
    let query = Document { name: "lock.prop", bytes: b"1|1,1\n0|2", format: None };
    let problem = read_with_query(net, Some(query), None).unwrap();
    assert_eq!(problem.net.units.len(), 1);
    assert_eq!(problem.query.targets[0].demands[1].1, Count::from(2));
    let written = write(&problem, Format::Tts).unwrap();
    assert_eq!(written.net, LOCK);
    assert_eq!(written.query.as_deref(), Some("1|1,1\n0|2\n"));
    assert_eq!(read_back(&written, Format::Tts).net, {
        let mut net = problem.net.clone();
        net.name = "random".to_owned();
        net
    });
}

#[test]
fn units_survive_pnml() {
    let net = Document { name: "lock.tts", bytes: LOCK.as_bytes(), format: None };
    let problem = read_with_query(net, None, None).unwrap();
    let back = read_back(&write(&problem, Format::Pnml).unwrap(), Format::Pnml);
    assert_eq!(back.net.units, problem.net.units);
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let mut net = Net::default();
    net.add_place("a", OmegaCount::Finite(Count::from(1 << 40)));
    let problem = Problem { net, query: Query::default() };
    let refusal = |format| write(&problem, format).unwrap_err().to_string();
    assert!(refusal(Format::Spec).contains("needs a target"));
    assert!(refusal(Format::Pnml).contains("2^31"));
    assert!(refusal(Format::Tts).contains("no unit"));
}
