//! Loop depth of labels: an estimate of how often control passes them.

use fixedbitset::FixedBitSet;
use palisade_model::program::Thread;

/// For each label, the number of loops around it. A loop is a strongly connected part of the
/// control flow; the loops inside it are those that remain when the labels at which it is entered
/// are taken away.
pub(super) fn loop_depths(thread: &Thread) -> Vec<usize> {
    let mut successors = vec![Vec::new(); thread.labels.len()];
    for instruction in &thread.instructions {
        successors[instruction.source.index()].push(instruction.target.index());
    }
    let mut depths = vec![0; thread.labels.len()];
    let mut all = FixedBitSet::with_capacity(thread.labels.len());
    all.insert_range(..);
    let mut open = vec![all];
    while let Some(part) = open.pop() {
        for component in components(&successors, &part) {
            let is_loop =
                component.count_ones(..) > 1 || component.ones().any(|label| successors[label].contains(&label));
            if !is_loop {
                continue;
            }
            component.ones().for_each(|label| depths[label] += 1);
            let mut inner = component.clone();
            let entered = |label: usize| {
                label == thread.initial.index()
                    || (0..successors.len()).any(|from| {
                        !component.contains(from) && part.contains(from) && successors[from].contains(&label)
                    })
            };
            let entries: Vec<usize> = component.ones().filter(|label| entered(*label)).collect();
            // A loop that nothing enters is dead code: break it anywhere.
            for entry in if entries.is_empty() { component.ones().take(1).collect() } else { entries } {
                inner.set(entry, false);
            }
            open.push(inner);
        }
    }
    depths
}

/// The strongly connected components of a part of a graph.
fn components(successors: &[Vec<usize>], part: &FixedBitSet) -> Vec<FixedBitSet> {
    let reach = |from: usize| {
        let mut reached = FixedBitSet::with_capacity(successors.len());
        let mut open = vec![from];
        while let Some(label) = open.pop() {
            for next in &successors[label] {
                if part.contains(*next) && !reached.put(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    };
    let reaches: Vec<Option<FixedBitSet>> =
        (0..successors.len()).map(|label| part.contains(label).then(|| reach(label))).collect();
    let mut placed = FixedBitSet::with_capacity(successors.len());
    let mut found = Vec::new();
    for label in part.ones() {
        if placed.contains(label) {
            continue;
        }
        let mut component = FixedBitSet::with_capacity(successors.len());
        component.insert(label);
        let ahead = reaches[label].as_ref().expect("labels of the part were searched from");
        component
            .extend(ahead.ones().filter(|other| reaches[*other].as_ref().is_some_and(|back| back.contains(label))));
        placed.union_with(&component);
        found.push(component);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_model::program::SourceText;
    use palisade_syntax::{Format, read};

    #[test]
    fn nested_loops() {
        let text = "program P thread t regs r init a begin
            a: nop; goto b;
            b: nop; goto c;
            c: nop; goto c;
            c: nop; goto d;
            d: nop; goto b;
            d: nop; goto e;
            e: nop; goto f;
            end";
        let program = read(SourceText::new("p.pal", text), Format::Native).unwrap().program;
        let thread = &program.threads[0];
        let depths = loop_depths(thread);
        let of = |name: &str| depths[thread.label_named(name).unwrap().index()];
        assert_eq!([of("a"), of("b"), of("c"), of("d"), of("e")], [0, 1, 2, 1, 0]);
    }
}
