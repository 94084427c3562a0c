//! PNML that is written opens in pm4py, with the same numbers of places, transitions and arcs.

use palisade::net::{Count, Format, Net, OmegaCount, PlaceId, Problem, Query, Target, write};
use palisade::semantics::random::Randomness;
use std::process::Command;

/// Prints the three numbers for each file given.
const SCRIPT: &str = "
import sys, pm4py
for path in sys.argv[1:]:
    net = pm4py.read_pnml(path)[0]
    print(len(net.places), len(net.transitions), len(net.arcs))
";

/// A net without ω, which PNML cannot say.
fn random_net(random: &mut Randomness) -> Net {
    let mut net = Net::default();
    let places = 2 + random.below(20);
    for place in 0..places {
        net.add_place(format!("place <{place}> & \"more\""), OmegaCount::Finite((random.below(3) as u64).into()));
    }
    for transition in 0..=random.below(30) {
        let mut arcs = || -> Vec<(PlaceId, Count)> {
            let arc = |random: &mut Randomness| {
                (PlaceId::from_index(random.below(places)), (1 + random.below(3) as u64).into())
            };
            (0..random.below(4)).map(|_| arc(random)).collect()
        };
        let (pre, post) = (arcs(), arcs());
        net.add_transition(format!("t{transition}"), pre, post);
    }
    net
}

#[needs::command("python3 -c 'import pm4py'")]
#[test]
fn the_same_numbers_of_places_transitions_and_arcs() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Randomness::new(5);
    let (mut paths, mut expected) = (Vec::new(), String::new());
    for number in 0..30 {
        let net = random_net(&mut random);
        let arcs: usize = net.transitions.iter().map(|one| one.pre.len() + one.post.len()).sum();
        expected += &format!("{} {} {arcs}\n", net.places.len(), net.transitions.len());
        let target = Target::new(vec![(PlaceId::from_index(0), Count::ONE)]);
        let written = write(&Problem { net, query: Query { targets: vec![target] } }, Format::Pnml).unwrap();
        let path = folder.path().join(format!("{number}.pnml"));
        std::fs::write(&path, written.net).unwrap();
        paths.push(path);
    }
    let output = Command::new("python3").args(["-W", "ignore", "-c", SCRIPT]).args(&paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
