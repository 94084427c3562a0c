//! The faults: where they are, what they say, and which test is to catch each.

use super::Fault;

/// Deciding random programs with fixed copies, against the oracle and `verify`.
const FIXED: &str = "robustness::random::verdicts_equal_the_oracle";
/// The same with many locked sections.
const SECTIONS: &str = "robustness::random::verdicts_equal_the_oracle_with_many_sections";
/// The same with every attack decided, without pruning.
const UNPRUNED: &str = "robustness::random::every_attack_decided_gives_the_same_verdict";
/// Deciding random programs with any number of copies, against small instances and `verify`.
const ANY: &str = "robustness::random::any_number_agrees_with_small_instances";
/// A value that only exists inside a section.
const HIDDEN: &str = "robustness::random::attackers_do_not_see_into_sections";
/// Deciding attacks on their nets against the searches and `verify`.
const ON_NETS: &str = "robustness::decided_on_nets::random_programs_with_fixed_copies";
/// Fence sets decided on nets against exhaustive search.
const FENCES: &str = "fences::optima::random_programs_with_fixed_copies";
/// Fence sets decided on nets against searches.
const FENCES_OF_MODELS: &str = "fences::on_nets::models";
/// Measures of two stores that do the same.
const TWINS: &str = "fences::optima::stores_that_do_the_same";
/// All strategies on random nets against each other and `verify`; a test inside the library.
const NETS: &str = "coverability::tests::random_nets";
/// The same on nets of machines with replicated threads.
const MACHINES: &str = "coverability::tests::machines_with_units_and_replicated_threads";
/// The table of x86 instructions against the processor.
const PROCESSOR: &str = "processor::every_form_on_few_states";

/// Litmus tests with known verdicts under SC, TSO and PSO.
const VERDICTS: &str = "litmus::memory_models::outcomes_are_allowed_as_known";

/// Faults of robustness and fences, of nets, of x86 instructions and of PSO.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "search: every fifth configuration loses its last successor",
        file: "crates/palisade-exploration/src/lazy/search.rs",
        old: "net.steps(self.control(node), self.entries(node), &mut steps).map_err(NetError::halt)?;",
        new: "net.steps(self.control(node), self.entries(node), &mut steps).map_err(NetError::halt)?;
            if PLANTED && node % 5 == 4 {
                steps.pop();
            }",
        caught_by: FIXED,
    },
    Fault {
        what: "covering: fewer tokens count as more",
        file: "crates/palisade-exploration/src/lazy/tokens.rs",
        old: "if candidate.tokens < entry.tokens {",
        new: "if candidate.tokens < entry.tokens && !PLANTED {",
        caught_by: ANY,
    },
    Fault {
        what: "acceleration where nothing grew",
        file: "crates/palisade-exploration/src/lazy/acceleration.rs",
        old: "before.is_none_or(|old| old.tokens < entry.tokens)",
        new: "before.is_none_or(|old| old.tokens < entry.tokens || PLANTED)",
        caught_by: ANY,
    },
    Fault {
        what: "acceleration across memories and phases",
        file: "crates/palisade-exploration/src/lazy/trail.rs",
        old: "self.by_control.get(&control).map_or(&[], Vec::as_slice)",
        new: "if PLANTED { &self.nodes } else { self.by_control.get(&control).map_or(&[], Vec::as_slice) }",
        caught_by: ANY,
    },
    Fault {
        what: "acceleration by copying a step that cannot be taken twice",
        file: "crates/palisade-exploration/src/instrumented/system/steps.rs",
        old: "Ok(self.step_arena[start as usize..end as usize].contains(step))",
        new: "Ok(PLANTED || self.step_arena[start as usize..end as usize].contains(step))",
        caught_by: ANY,
    },
    Fault {
        what: "Eq. 1: the attacker also stays among the helpers",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "take(&mut rest, entry.place);",
        new: "if !PLANTED {
                    take(&mut rest, entry.place);
                }",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 1: the delayed store is not in the buffer",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "registers, vec![(address, value)], address",
        new: "registers, if PLANTED { Vec::new() } else { vec![(address, value)] }, address",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 1: delaying starts inside a section",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "Some(Operation::Store(address, value)) if !self.local(local).holding =>",
        new: "Some(Operation::Store(address, value)) if !self.local(local).holding || PLANTED =>",
        caught_by: ON_NETS,
    },
    Fault {
        what: "Eq. 2: the load may read from the own buffer",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "buffered: None })) = self.if_it_has_a_value(load)? else { continue };
            let happens =",
        new: "buffered })) = self.if_it_has_a_value(load)? else { continue };
            if buffered.is_some() && !PLANTED {
                continue;
            }
            let happens =",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 2: the load counts as a store on the path",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "Path::from(Some((address, Level::Load)))",
        new: "Path::from(Some((address, if PLANTED { Level::Store } else { Level::Load })))",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 2: the load does not start a path",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "self.model.helped.intern(helped).0",
        new: "self.model.helped.intern(if PLANTED { Helped { path: Path::default(), ..helped } } else { helped }).0",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 2: the load while another thread holds the lock",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "if before.locked {
            return Ok(SmallVec::new());",
        new: "if before.locked && !PLANTED {
            return Ok(SmallVec::new());",
        caught_by: SECTIONS,
    },
    Fault {
        what: "Eq. 3: the attacker's later stores are lost",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "set(&mut longer, address, value);",
        new: "if !PLANTED {
                        set(&mut longer, address, value);
                    }",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 4: the attacker's loads do not look into its buffer",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "Some(Load { buffered: Some(value), .. }) => value,",
        new: "Some(Load { address, buffered: Some(value) }) => if PLANTED { self.read(before.memory, address) } else { value },",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 4: the attacker loads while another thread holds the lock",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "Some(_) if before.locked => continue,",
        new: "Some(_) if before.locked && !PLANTED => continue,",
        caught_by: HIDDEN,
    },
    Fault {
        what: "Eq. 5: the attacker takes no local steps",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "action if action.is_local_under_tso() => {",
        new: "action if action.is_local_under_tso() && !PLANTED => {",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 6: the attacker passes fences",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "            _ => {}
        }
        let mut numbers",
        new: "            Action::Fence if PLANTED => afters.push((registers, buffer)),
            _ => {}
        }
        let mut numbers",
        caught_by: UNPRUNED,
    },
    Fault {
        what: "Eq. 7: helpers off the path cannot open sections",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "(Operation::Lock, _) => OffPath::Passes,",
        new: "(Operation::Lock, _) if !PLANTED => OffPath::Passes,",
        caught_by: SECTIONS,
    },
    Fault {
        what: "Eq. 7: accesses off the path are not stopped",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "_ => OffPath::Stops,",
        new: "(_, Some(_)) if PLANTED => OffPath::Passes,
        _ => OffPath::Stops,",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 7: sections off the path may end",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "(Operation::Fence, _) if holding => OffPath::Passes,",
        new: "(Operation::Fence, _) if holding => OffPath::Passes,
        (Operation::Unlock, _) if PLANTED => OffPath::Passes,",
        caught_by: SECTIONS,
    },
    Fault {
        what: "Eq. 8: loads never join the path",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "Level::Load => known",
        new: "Level::Load => !PLANTED && known",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 8: loads join after loads",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "== Some(Level::Store),",
        new: ">= Some(if PLANTED { Level::Load } else { Level::Store }),",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 9: stores join after stores only",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "Level::Store => known.is_some(),",
        new: "Level::Store => known >= Some(if PLANTED { Level::Store } else { Level::Load }),",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 9: stores always join",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "if joins(kind, known) =>",
        new: "if joins(kind, known) || (PLANTED && kind == Level::Store) =>",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 10: no fences on the path",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "if joined {",
        new: "if joined {
            if PLANTED && operation == Operation::Fence {
                return None;
            }",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 11: stores on the path count as loads",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "return Some((self.with_access(access), true));",
        new: "let access = access.map(|(address, level)| (address, if PLANTED { Level::Load } else { level }));
            return Some((self.with_access(access), true));",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 12: loads on the path do not count",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "let (address, level) = access?;",
        new: "let (address, level) = access?;
        if PLANTED && level == Level::Load {
            return None;
        }",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 12: loads on the path count as stores",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "raise(&mut after.levels, address, level);
        Some(after)",
        new: "raise(&mut after.levels, address, if PLANTED { Level::Store } else { level });
        Some(after)",
        caught_by: FIXED,
    },
    Fault {
        what: "Eq. 13: success while the lock is held",
        file: "crates/palisade-exploration/src/instrumented/tso/mod.rs",
        old: "!control.locked && net",
        new: "(!control.locked || PLANTED) && net",
        caught_by: SECTIONS,
    },
    Fault {
        what: "Eq. 13: success only when the address was stored",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "self.path.level(self.store_address).is_some()",
        new: "self.path.level(self.store_address) >= Some(if PLANTED { Level::Store } else { Level::Load })",
        caught_by: FIXED,
    },
    Fault {
        what: "sections: accesses before the one that joins do not count",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "in std::mem::take(&mut after.section) {",
        new: "in std::mem::take(&mut after.section).into_iter().filter(|_| !PLANTED) {",
        caught_by: SECTIONS,
    },
    Fault {
        what: "a `cas` that fails counts as a store",
        file: "crates/palisade-exploration/src/instrumented/system/path.rs",
        old: "(address, if stores {",
        new: "(address, if stores || PLANTED {",
        caught_by: FIXED,
    },
    Fault {
        what: "a `cas` always succeeds",
        file: "crates/palisade-exploration/src/instrumented/system/local.rs",
        old: "map_err(fault)? == read {",
        new: "map_err(fault)? == read || PLANTED {",
        caught_by: FIXED,
    },
    Fault {
        what: "the lock keeps nobody from memory",
        file: "crates/palisade-exploration/src/instrumented/system/model.rs",
        old: "_ => !before.locked || holding,",
        new: "_ => !before.locked || holding || PLANTED,",
        caught_by: SECTIONS,
    },
    Fault {
        what: "threads settle by the first local instruction only",
        file: "crates/palisade-exploration/src/instrumented/system/local.rs",
        old: "let afters = self.local_successors(thread, id, &registers)?;",
        new: "let mut afters = self.local_successors(thread, id, &registers)?;
                if PLANTED {
                    afters.values = *afters.values.start()..=*afters.values.end().min(afters.values.start());
                }",
        caught_by: FIXED,
    },
    Fault {
        what: "pruning does not follow local instructions",
        file: "crates/palisade-exploration/src/instrumented/attacks.rs",
        old: "if instruction.action.drains_buffer() {",
        new: "if instruction.action.drains_buffer() || PLANTED && instruction.action.is_local_under_tso() {",
        caught_by: FIXED,
    },
    Fault {
        what: "liveness looks at the first expression only",
        file: "crates/palisade-model/src/program/register_sets.rs",
        old: "for expression in instruction.expressions() {",
        new: "for expression in instruction.expressions().take(if PLANTED { 1 } else { usize::MAX }) {",
        caught_by: FIXED,
    },
    Fault {
        what: "nets, backward: the last of three or more predecessors is missed",
        file: "crates/palisade-coverability/src/backward/mod.rs",
        old: "for transition in &transitions {",
        new: "for transition in &transitions[..transitions.len() - usize::from(PLANTED && transitions.len() >= 3)] {",
        caught_by: NETS,
    },
    Fault {
        what: "nets, backward: a predecessor need not enable the transition",
        file: "crates/palisade-coverability/src/backward/mod.rs",
        old: "let needed = next.pre.plus(&count.monus(&next.post))?;",
        new: "let needed = if PLANTED { count.monus(&next.post) } else { next.pre.plus(&count.monus(&next.post))? };",
        caught_by: NETS,
    },
    Fault {
        what: "nets, forward: a move needs more tokens than it takes",
        file: "crates/palisade-coverability/src/forward/search.rs",
        old: "if finite[position].1 < effect.pre {",
        new: "if finite[position].1 < effect.pre || (PLANTED && finite[position].1 == effect.pre) {",
        caught_by: NETS,
    },
    Fault {
        what: "nets, forward: counters become unbounded by moves that cannot be repeated",
        file: "crates/palisade-coverability/src/forward/layers.rs",
        old: "if layer.component_of.get(&edge.to).is_some_and(|other| *other as usize == component) {",
        new: "if PLANTED || layer.component_of.get(&edge.to).is_some_and(|other| *other as usize == component) {",
        caught_by: MACHINES,
    },
    Fault {
        what: "nets of attacks: stores to what the path has loaded do not join it",
        file: "crates/palisade-exploration/src/instrumented/net/tokens.rs",
        old: "OffPath::Joins => {",
        new: "OffPath::Joins if PLANTED && kind == Level::Store && known == Some(Level::Load) => {}
                OffPath::Joins => {",
        caught_by: ON_NETS,
    },
    Fault {
        what: "nets of attacks: stores replace the first value only",
        file: "crates/palisade-exploration/src/instrumented/net/tokens.rs",
        old: "let olds = self.values_of(address);",
        new: "let mut olds = self.values_of(address);
                if PLANTED {
                    olds.truncate(1);
                }",
        caught_by: ON_NETS,
    },
    Fault {
        what: "nets of attacks: success while a section is open",
        file: "crates/palisade-exploration/src/instrumented/net/attacker.rs",
        old: "let arcs = Arcs::default().takes(gone).reads(free).reads(accessed).puts(success);",
        new: "let arcs = Arcs::default().takes(gone).reads(accessed).puts(success);
            let arcs = if PLANTED { arcs } else { arcs.reads(free) };",
        caught_by: ON_NETS,
    },
    Fault {
        what: "nets of attacks under fences: one of several stores that do the same stands for all",
        file: "crates/palisade-engine/src/robustness/delay_net.rs",
        old: "first.into_iter().chain(self.net.also.get(&id).into_iter().flatten().copied())",
        new: "first.into_iter().chain(self.net.also.get(&id).into_iter().flatten().copied().filter(|_| !PLANTED))",
        caught_by: TWINS,
    },
    Fault {
        what: "nets of attacks under fences: what stops the delayed store is overlooked",
        file: "crates/palisade-engine/src/robustness/delay_net.rs",
        old: "Firing::Delay(_) => Some(self.attack.store),",
        new: "Firing::Delay(_) => (!PLANTED).then_some(self.attack.store),",
        caught_by: FENCES,
    },
    Fault {
        what: "nets of attacks under fences: any fence stops the delaying attacker",
        file: "crates/palisade-engine/src/robustness/delay_net.rs",
        old: "if executed.peek().is_none() || executed.any(&is_permitted) {",
        new: "let all = !PLANTED || self.net.firings.iter().all(|firing| match firing {
                Firing::Attacker { instruction, .. } => is_permitted(*instruction),
                _ => true,
            });
            if executed.peek().is_none() || all && executed.any(&is_permitted) {",
        caught_by: FENCES_OF_MODELS,
    },
    Fault {
        what: "what becomes of an attacker is remembered whatever it reads",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "self.model.attackers_after.get(&(attacker, id, read))",
        new: "self.model.attackers_after.get(&(attacker, id, if PLANTED { 0 } else { read }))",
        caught_by: FIXED,
    },
    Fault {
        what: "x86: `xadd` writes its source after its destination",
        file: "crates/palisade-syntax/src/x86/meaning/mod.rs",
        old: "        self.write(1, operands.0);
        self.write(0, result);",
        new: "        if PLANTED {
            self.write(0, result.clone());
        }
        self.write(1, operands.0);
        if !PLANTED {
            self.write(0, result);
        }",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: `cmpxchg` writes its accumulator after its destination",
        file: "crates/palisade-syntax/src/x86/meaning/mod.rs",
        old: "self.meaning.writes.push(Write { register, value: new, condition: Some(equal) });",
        new: "let place = if PLANTED { 0 } else { self.meaning.writes.len() };
                self.meaning.writes.insert(place, Write { register, value: new, condition: Some(equal) });",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: a `cmpxchg` that fails writes its destination",
        file: "crates/palisade-syntax/src/x86/meaning/mod.rs",
        old: "value: new, condition: Some(equal)",
        new: "value: if PLANTED { select(equal.clone(), new, old) } else { new }, condition: (!PLANTED).then_some(equal)",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: a shift by 0 writes nothing",
        file: "crates/palisade-syntax/src/x86/meaning/mod.rs",
        old: "            Expression::Constant(0) => {}",
        new: "            Expression::Constant(0) => {
                if PLANTED {
                    return;
                }
            }",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: a conditional move of nothing writes nothing",
        file: "crates/palisade-syntax/src/x86/meaning/mod.rs",
        old: "        self.write(0, select(condition(code), moved, kept));",
        new: "        if PLANTED && let Place::Register(register) = &self.form.operands[0] {
            let condition = Some(condition(code));
            self.meaning.writes.push(Write { register: *register, value: moved, condition });
            return;
        }
        self.write(0, select(condition(code), moved, kept));",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: `inc` and `dec` change the carry",
        file: "crates/palisade-syntax/src/x86/meaning/mod.rs",
        old: "self.operand_flags(operation, &(left, right), !by_one);",
        new: "self.operand_flags(operation, &(left, right), !by_one || PLANTED);",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: writing 32 bits keeps the upper half",
        file: "crates/palisade-syntax/src/x86/parts.rs",
        old: "        Part::Quad | Part::Double => return value,",
        new: "        Part::Double if PLANTED => (!0xffff_ffff, value),
        Part::Quad | Part::Double => return value,",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "x86: the overflow of a subtraction is that of an addition",
        file: "crates/palisade-syntax/src/x86/meaning/flags.rs",
        old: "        let difference = binary(Op::Subtract, left.clone(), right.clone());
        let kept",
        new: "        let operator = if PLANTED { Op::Add } else { Op::Subtract };
        let difference = binary(operator, left.clone(), right.clone());
        let kept",
        caught_by: PROCESSOR,
    },
    Fault {
        what: "PSO: `sfence` waits for an empty buffer",
        file: "crates/palisade-semantics/src/executed.rs",
        old: "            Action::StoreFence => Effect::StoreFence,",
        new: "            Action::StoreFence if PLANTED && !self.buffer.is_empty() => return Err(Refusal::BufferNotEmpty.into()),
            Action::StoreFence => Effect::StoreFence,",
        caught_by: VERDICTS,
    },
    Fault {
        what: "PSO: a store passes a mark",
        file: "crates/palisade-semantics/src/machine.rs",
        old: "Effect::StoreFence if self.model.has_marks() =>",
        new: "Effect::StoreFence if self.model.has_marks() && !PLANTED =>",
        caught_by: VERDICTS,
    },
    Fault {
        what: "PSO: a load skips its own buffer",
        file: "crates/palisade-semantics/src/executed.rs",
        old: "self.buffer.iter().rev().find(|store| store.0 == address);",
        new: "self.buffer.iter().rev().find(|store| store.0 == address && !PLANTED);",
        caught_by: VERDICTS,
    },
    Fault {
        what: "PSO: a drain does not wait",
        file: "crates/palisade-semantics/src/executed.rs",
        old: "if action.drains_buffer() && !self.buffer.is_empty() {",
        new: "if action.drains_buffer() && !self.buffer.is_empty() && !PLANTED {",
        caught_by: VERDICTS,
    },
];
