//! Faults in how memory from the heap is read.

use super::Fault;

const ORACLE: &str = "machine::heap::blocks_come_and_go_as_an_oracle_says";
const RULES: &str = "machine::heap::each_rule_of_the_heap_shows";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "heap: what was in a block stays there when it is freed",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "        if by_itself || by_others {",
        new: "        if (by_itself || by_others) && !PLANTED {",
        caught_by: RULES,
    },
    Fault {
        what: "heap: nobody gets a block that he has freed himself",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "        for base in &own {",
        new: "        for base in own.iter().filter(|_| !PLANTED) {",
        caught_by: RULES,
    },
    Fault {
        what: "heap: nobody gets a block that others have freed",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "        for base in others.union(",
        new: "        for base in if PLANTED { BTreeSet::new() } else { others.clone() }.union(",
        caught_by: ORACLE,
    },
    Fault {
        what: "heap: taking a new block waits for older stores",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "            self.lowerer.assign(new_ones(class), Expression::Constant(number + 1));",
        new: "            if PLANTED {\n                self.lowerer.act(Action::Fence);\n            }\n            \
              self.lowerer.assign(new_ones(class), Expression::Constant(number + 1));",
        caught_by: RULES,
    },
    Fault {
        what: "heap: a block is freed twice unseen",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "        self.look(life.clone(), place, MemoryFault::DoubleFree);",
        new: "        if !PLANTED {\n            self.look(life.clone(), place, MemoryFault::DoubleFree);\n        }",
        caught_by: ORACLE,
    },
    Fault {
        what: "heap: a block that was freed is accessed unseen",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "        for class in classes {",
        new: "        for class in classes.into_iter().filter(|_| !PLANTED) {",
        caught_by: ORACLE,
    },
    Fault {
        what: "heap: whoever frees a block keeps it",
        file: "crates/palisade-machine/src/lift/emit/heap.rs",
        old: "        if by_others {\n            store(self, Heap::FREE);",
        new: "        if by_others && !PLANTED {\n            store(self, Heap::FREE);",
        caught_by: ORACLE,
    },
    Fault {
        what: "heap: memory that nothing has written is computed with",
        file: "crates/palisade-machine/src/lift/poison.rs",
        old: "                    Action::Load { .. } => accesses[id.index()].may_find,",
        new: "                    Action::Load { .. } => accesses[id.index()].may_find && !PLANTED,",
        caught_by: RULES,
    },
];
