//! Any number of copies: instances with few copies, and copies counted up to k.

use super::asking::{Answered, Asking, Explored, Seen};
use super::{Method, Verdict, Why};
use palisade_exploration::buffered::Order;
use palisade_exploration::hangs::Search;
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::Halt;
use palisade_model::program::{Copies, Program, Thread};
use palisade_semantics::{Instance, Model};

/// The most copies of a replicated thread in an instance that is explored.
const MOST_COPIES: u64 = 5;

/// Up to so many are copies counted.
const MOST_COUNTED: u64 = 2;

/// Configurations of one exploration in the first round, and by how much each round multiplies
/// them.
const FIRST: u64 = 4_000;
const GROWTH: u64 = 8;

/// How many rounds have a bound. The last of them explores up to a quarter of a million
/// configurations.
const ROUNDS: u32 = 3;

/// Looks for a stuck instance and for a proof for all of them, in turns with growing budgets.
pub(super) fn any_number(asking: &mut Asking<'_>) -> Result<Answered, Halt<Fault>> {
    let mut instances: Vec<Instance> = instances(asking.program);
    let mut counted: Vec<u64> = (0..=MOST_COUNTED).collect();
    let mut last = None;
    // The fewest copies of an instance that is not looked through.
    let mut fewest = fixed_copies(asking.program) + MOST_COPIES + 1;
    for round in 0..ROUNDS {
        let nodes = Some((FIRST * GROWTH.pow(round)).min(asking.options.most.unwrap_or(u64::MAX)));
        let mut later = Vec::new();
        for instance in instances {
            match explore_instance(asking, &instance, nodes)? {
                Some(Explored::Stuck(stuck)) => return Ok((Verdict::Stuck(stuck), Seen::default())),
                Some(Explored::Open(Why::Stopped(_))) => later.push(instance),
                Some(_) => fewest = fewest.min(copies(&instance)),
                None => {}
            }
        }
        instances = later;
        let mut larger = Vec::new();
        for most in counted {
            asking.by = Method::Counts(most);
            match prove(asking, most, nodes)? {
                Proving::Shown(answered) => return Ok(answered),
                Proving::Open(Why::Stopped(_)) => larger.push(most),
                Proving::Open(why) => last = Some(why),
            }
        }
        counted = larger;
        if instances.is_empty() && counted.is_empty() {
            break;
        }
    }
    let why = last.unwrap_or_else(|| {
        let fewest = instances.iter().map(copies).fold(fewest, u64::min);
        let most = FIRST * GROWTH.pow(ROUNDS - 1);
        Why::CountsTooMany(most.min(asking.options.most.unwrap_or(u64::MAX)), fewest.saturating_sub(1))
    });
    Ok((Verdict::Unknown(why), Seen::default()))
}

/// How many copies the threads have together whose number is fixed.
fn fixed_copies(program: &Program) -> u64 {
    let of_thread = |thread: &Thread| if let Copies::Exactly(count) = thread.copies { count } else { 0 };
    program.threads.iter().map(of_thread).sum()
}

/// How many copies an instance has.
fn copies(instance: &Instance) -> u64 {
    instance.counts().iter().sum()
}

/// The instances with up to so many copies of each replicated thread, each number by itself; fewer
/// copies first.
fn instances(program: &Program) -> Vec<Instance> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    for thread in &program.threads {
        let counts = match thread.copies {
            Copies::Exactly(count) => count..=count,
            Copies::Any => 0..=MOST_COPIES,
        };
        all = all
            .iter()
            .flat_map(|counts_before| counts.clone().map(|count| [&counts_before[..], &[count]].concat()))
            .collect();
    }
    all.sort_by_key(|counts| counts.iter().sum::<u64>());
    all.into_iter().map(Instance::new).collect()
}

/// One instance; nothing where it was looked through and is not stuck.
fn explore_instance<'p>(
    asking: &mut Asking<'_>,
    instance: &Instance,
    nodes: Option<u64>,
) -> Result<Option<Explored<'p>>, Halt<Fault>> {
    let mut fixed = asking.program.clone();
    for (thread, count) in fixed.threads.iter_mut().zip(instance.counts()) {
        thread.copies = Copies::Exactly(*count);
    }
    let mut orders = vec![Order::Sc];
    orders.extend(Some(Order::from(asking.options.model)).filter(|order| *order != Order::Sc));
    let mut open = None;
    for order in orders {
        let capacity = asking.options.buffer.min(4);
        asking.by = if order == Order::Sc { Method::Sc } else { Method::Buffers };
        let shape = asking.shape(order, capacity, 0);
        match asking.explore(&fixed, Some(instance), shape, nodes) {
            Ok(Explored::Stuck(stuck)) => return Ok(Some(Explored::Stuck(stuck))),
            Ok(Explored::Open(why)) => open = Some(Explored::Open(why)),
            Ok(Explored::Free(_)) => {}
            Err(Halt::Fault(fault)) if fault.is_growth() => {
                return Ok(Some(Explored::Open(Why::Grows(fault.describe(asking.program)))));
            }
            Err(halt) => return Err(halt),
        }
    }
    Ok(open)
}

/// How an attempt to prove ended.
enum Proving {
    Shown(Answered),
    Open(Why),
}

/// Copies counted up to a number: with buffers, or interleavings of a robust program.
fn prove(asking: &mut Asking<'_>, most: u64, nodes: Option<u64>) -> Result<Proving, Halt<Fault>> {
    let model = asking.options.model;
    let sc = match counted(asking, Order::Sc, most, nodes)? {
        Ok(sc) => sc,
        Err(why) => return Ok(Proving::Open(why)),
    };
    if model == Model::Sc {
        return Ok(Proving::Shown(asking.free(sc, None)?));
    }
    let why = match counted(asking, model.into(), most, nodes)? {
        Ok(found) => return Ok(Proving::Shown(asking.free(found, None)?)),
        Err(why) => why,
    };
    match asking.robust(nodes)? {
        Some(robust) => Ok(Proving::Shown(asking.free(sc, Some(robust))?)),
        None => Ok(Proving::Open(why)),
    }
}

/// A closed set without a stuck configuration, with values as they are or with counters; why there
/// is none.
fn counted<'a>(
    asking: &mut Asking<'a>,
    order: Order,
    most: u64,
    nodes: Option<u64>,
) -> Result<Result<Search<'a>, Why>, Halt<Fault>> {
    let program = asking.program;
    let shape = asking.shape(order, asking.options.buffer.min(4), most);
    let why = match asking.explore(program, None, shape, nodes) {
        Ok(Explored::Free(found)) => return Ok(Ok(found)),
        Ok(Explored::Open(why)) => why,
        Ok(Explored::Stuck(_)) => unreachable!("an exploration of no instance shows no computation"),
        Err(Halt::Fault(fault)) if fault.is_growth() => Why::Grows(fault.describe(program)),
        Err(halt) => return Err(halt),
    };
    Ok(asking.explore_counting(shape, nodes)?.ok_or(why))
}
