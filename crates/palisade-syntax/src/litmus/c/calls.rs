//! The calls of C11's `<stdatomic.h>` and of the Linux kernel, with their orderings;
//! [`Operation`](palisade_model::program::Operation) says what these are on x86.
//!
//! The kernel's orders are read as those of C11 that are nearest: `smp_mb` is a sequentially
//! consistent fence, `smp_rmb` acquires and `smp_wmb` releases, an update without a suffix that
//! returns a value is sequentially consistent, and one that returns none is relaxed. [`barriers`]
//! has the other full barriers.
//!
//! [`barriers`]: super::barriers

use super::arithmetic::combined;
use super::body::{Dialects, Place, Read, Reader};
use super::lexer::Token;
use super::types::{INT, Pointee, Typed, cut};
use crate::Diagnostic;
use crate::litmus::initial::CellType;
use crate::native::ast::{CompareExchange, ExpressionKind, Name, Orderings, RawExpression};
use crate::native::braced::StatementKind;
use crate::native::token::FENCE;
use crate::suggest::did_you_mean;
use palisade_model::program::{BinaryOperator, Ordering};
use palisade_model::text::Span;

/// What a call is.
#[derive(Debug)]
pub(super) enum Called<'s> {
    /// A store, a fence or nothing.
    Statement(StatementKind<'s>),
    /// A load.
    Load(Typed<'s>),
    /// A locked update.
    Update {
        /// The update, with what it reads as its value.
        raw: RawExpression<'s>,
        /// The type of that.
        cell: CellType,
        /// What the call returns.
        outcome: Returned<'s>,
    },
}

/// What an update returns.
#[derive(Debug)]
pub(super) enum Returned<'s> {
    /// What it reads.
    Old,
    /// What it writes: what it reads, an operator and a value.
    New(BinaryOperator, Typed<'s>),
    /// Whether it reads this.
    Is(Typed<'s>),
}

impl<'s> Returned<'s> {
    /// What an update returns that reads a value.
    pub(super) fn value(self, old: Typed<'s>) -> Read<Typed<'s>> {
        match self {
            Self::Old => Ok(old),
            Self::New(operator, value) => Ok(Typed::arithmetic(operator, old, value)),
            Self::Is(value) => combined(BinaryOperator::Equal, old, value),
        }
    }
}

/// An operand that gives an ordering.
pub(super) fn word<'s>(ordering: Ordering, span: Span) -> RawExpression<'s> {
    RawExpression::new(ExpressionKind::Name(ordering.word()), span)
}

/// A load with an ordering.
pub(super) fn load(place: Place<'_>, ordering: Ordering, span: Span) -> Typed<'_> {
    let (cell, points) = (place.cell(), place.object.further());
    Typed { points, ..Typed::held(update("load", vec![place.raw, word(ordering, span)], span), cell) }
}

/// A store with an ordering, as a statement.
pub(super) fn store<'s>(
    place: Place<'s>,
    value: RawExpression<'s>,
    ordering: Ordering,
    span: Span,
) -> StatementKind<'s> {
    StatementKind::Effect(update("store", vec![place.raw, value, word(ordering, span)], span))
}

/// A fence with an ordering, as a statement.
pub(super) fn fence<'s>(ordering: Ordering, span: Span) -> Called<'s> {
    Called::Statement(StatementKind::Effect(update(FENCE, vec![word(ordering, span)], span)))
}

/// A locked update of the native language.
pub(super) fn update<'s>(name: &'static str, operands: Vec<RawExpression<'s>>, span: Span) -> RawExpression<'s> {
    RawExpression::new(ExpressionKind::Apply(Name { text: name, span }, operands), span)
}

/// An update by an operator.
struct Update<'s> {
    operator: BinaryOperator,
    value: Typed<'s>,
    outcome: Returned<'s>,
    order: Ordering,
}

/// The orders of loads.
const LOADS: [&str; 4] = ["relaxed", "consume", "acquire", "seq_cst"];

/// The orders of C11.
const ORDERS: [&str; 6] = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];

/// What to do about an update that may not store.
const BY_CMPXCHG: &str = "write it with `atomic_read` and `atomic_cmpxchg`, which stores if nothing has changed";

/// Calls about which nothing can be said, by how their names begin, and what to do.
const REFUSED: [(&str, &str); 17] = [
    (
        "spin_unlock_wait",
        "its meaning has changed from kernel to kernel: write `while (spin_is_locked(l)) { }`, or leave it out",
    ),
    ("srcu_", "`srcu_read_lock`, `srcu_read_unlock` and `synchronize_srcu` are understood"),
    ("call_rcu", "callbacks are not understood: write the thread that runs it, behind a `synchronize_rcu()`"),
    ("rcu_", "`rcu_read_lock`, `rcu_read_unlock`, `rcu_dereference` and `rcu_assign_pointer` are understood"),
    ("smp_memb", "the kernel's model has a fence of all processors for it, which x86 has no instruction for"),
    ("mutex_", "write `spin_lock` and `spin_unlock`"),
    ("spin_lock_irqsave", "interrupts are not understood: write `spin_lock`"),
    ("spin_unlock_irqrestore", "interrupts are not understood: write `spin_unlock`"),
    ("atomic_add_unless", BY_CMPXCHG),
    ("atomic_inc_not_zero", BY_CMPXCHG),
    ("atomic_try_cmpxchg", "write it with `atomic_cmpxchg`, which returns the value that was there"),
    ("set_bit", "write `atomic_or`"),
    ("clear_bit", "write `atomic_and`"),
    ("BUG_ON", "ask for it behind the threads: `exists` and what must not be"),
    ("lock_", "write `spin_lock` and `spin_unlock`"),
    ("atomic_flag_", "use an `atomic_int` and `atomic_exchange`"),
    ("write_", "readers and writers of one lock are not understood: write `spin_lock` and `spin_unlock`"),
];

/// The names that are understood, for suggestions.
const KNOWN: [&str; 39] = [
    "atomic_load",
    "atomic_load_explicit",
    "atomic_store",
    "atomic_store_explicit",
    "atomic_exchange",
    "atomic_exchange_explicit",
    "atomic_fetch_add",
    "atomic_fetch_add_explicit",
    "atomic_fetch_sub_explicit",
    "atomic_fetch_or_explicit",
    "atomic_fetch_and_explicit",
    "atomic_fetch_xor_explicit",
    "atomic_compare_exchange_strong",
    "atomic_compare_exchange_strong_explicit",
    "atomic_compare_exchange_weak_explicit",
    "atomic_thread_fence",
    "READ_ONCE",
    "WRITE_ONCE",
    "smp_mb",
    "smp_rmb",
    "smp_wmb",
    "smp_load_acquire",
    "smp_store_release",
    "smp_store_mb",
    "spin_lock",
    "spin_unlock",
    "rcu_read_lock",
    "rcu_read_unlock",
    "rcu_dereference",
    "rcu_assign_pointer",
    "synchronize_rcu",
    "xchg",
    "cmpxchg",
    "atomic_read",
    "atomic_set",
    "atomic_add_return",
    "atomic_inc_return",
    "atomic_xchg",
    "atomic_cmpxchg",
];

/// The operator of a word in a call's name, and whether it is always by 1.
fn operation(word: &str) -> Option<(BinaryOperator, bool)> {
    Some(match word {
        "add" => (BinaryOperator::Add, false),
        "sub" => (BinaryOperator::Subtract, false),
        "and" => (BinaryOperator::BitAnd, false),
        "or" => (BinaryOperator::BitOr, false),
        "xor" => (BinaryOperator::BitXor, false),
        "inc" => (BinaryOperator::Add, true),
        "dec" => (BinaryOperator::Subtract, true),
        _ => return None,
    })
}

impl<'s> Reader<'_, 's> {
    /// A call, the name of which comes next.
    pub(super) fn call(&mut self) -> Read<Called<'s>> {
        let name = self.name("a call")?;
        self.expect("(")?;
        let dialects = self.dialects;
        self.dialects = Dialects::default();
        let called = if let Some(called) = self.of_posix(name)? {
            called
        } else if let Some(called) = self.of_locks(name)? {
            self.dialects.kernel = true;
            called
        } else if let Some(called) = self.of_rcu(name)? {
            self.dialects.kernel = true;
            called
        } else if let Some(called) = self.of_c11(name)? {
            self.dialects.c11 = true;
            called
        } else {
            let called = self.of_kernel(name)?;
            self.dialects.kernel = true;
            called
        };
        self.dialects.c11 |= dialects.c11;
        self.dialects.kernel |= dialects.kernel;
        let Some(called) = Some(called).filter(|_| self.take(")")) else {
            let error = self.unexpected("`)`");
            return Err(error.with_note(format!("this is a call of `{}`", name.text)));
        };
        self.accesses += 1;
        Ok(called)
    }

    /// A call of C11; nothing if it is none.
    fn of_c11(&mut self, name: Name<'s>) -> Read<Option<Called<'s>>> {
        let explicit = name.text.strip_suffix("_explicit");
        let Some(action) = explicit.unwrap_or(name.text).strip_prefix("atomic_") else { return Ok(None) };
        let is_explicit = explicit.is_some();
        let called = match action {
            "thread_fence" | "signal_fence" if !is_explicit => {
                let order = self.order(&ORDERS, "a fence")?;
                if action == "signal_fence" || order == Ordering::Relaxed {
                    Called::Statement(StatementKind::Empty)
                } else {
                    fence(order, name.span.to(self.here()))
                }
            }
            "load" => {
                let place = self.location()?;
                let order = self.order_of(is_explicit, &LOADS, "a load")?;
                Called::Load(load(place, order, name.span.to(self.here())))
            }
            "store" => {
                let (place, value) = self.location_and_value()?;
                let order = self.order_of(is_explicit, &["relaxed", "release", "seq_cst"], "a store")?;
                Called::Statement(store(place, value, order, name.span.to(self.here())))
            }
            "init" if !is_explicit => {
                let (place, value) = self.location_and_value()?;
                Called::Statement(store(place, value, Ordering::Plain, name.span.to(self.here())))
            }
            "exchange" => {
                let (place, value) = self.location_and_value()?;
                let order = self.order_of(is_explicit, &ORDERS, "an exchange")?;
                self.exchange(place, value, order, name)
            }
            "compare_exchange_strong" | "compare_exchange_weak" => self.compare_exchange(name, is_explicit)?,
            _ => {
                let Some((operator, false)) = action.strip_prefix("fetch_").and_then(operation) else {
                    return Ok(None);
                };
                // The kernel's function of the same name has the value first.
                if !is_explicit && !self.is_location() {
                    return Ok(None);
                }
                let place = self.location()?;
                self.expect(",")?;
                let value = self.value(place.object)?;
                let order = self.order_of(is_explicit, &ORDERS, "an update")?;
                self.fetch(place, Update { operator, value, outcome: Returned::Old, order }, name)?
            }
        };
        Ok(Some(called))
    }

    /// A call of the Linux kernel.
    fn of_kernel(&mut self, name: Name<'s>) -> Read<Called<'s>> {
        let suffixes = [Ordering::Relaxed, Ordering::Acquire, Ordering::Release].into_iter();
        let with_suffix = |order: Ordering| Some((name.text.strip_suffix(order.word())?.strip_suffix('_')?, order));
        let suffixed = suffixes.clone().find_map(with_suffix);
        let order = suffixed.map(|(_, order)| order);
        let here = |reader: &Self| name.span.to(reader.here());
        Ok(match name.text {
            // `srcu_read_unlock` has such a fence on x86.
            "smp_mb" | "mb" | "smp_mb__after_srcu_read_unlock" => fence(Ordering::SeqCst, here(self)),
            "smp_rmb" | "smp_acquire__after_ctrl_dep" => fence(Ordering::Acquire, here(self)),
            "smp_wmb" => fence(Ordering::Release, here(self)),
            "smp_mb__before_atomic" | "smp_mb__after_atomic" | "smp_mb__after_spinlock" => {
                self.barrier_beside(name.text, here(self))
            }
            // What stands before or behind a locked instruction is no instruction of x86.
            "smp_mb__after_unlock_lock" | "smp_mb__before_spinlock" => fence(Ordering::AcqRel, here(self)),
            "barrier" | "cpu_relax" | "smp_read_barrier_depends" => Called::Statement(StatementKind::Empty),
            "READ_ONCE" | "rcu_dereference" | "rcu_dereference_raw" | "lockless_dereference" => {
                let place = self.lvalue()?;
                Called::Load(load(place, Ordering::Relaxed, here(self)))
            }
            "smp_load_acquire" | "atomic_read" | "atomic_read_acquire" => {
                let place = self.location()?;
                let ordering = if name.text == "atomic_read" { Ordering::Relaxed } else { Ordering::Acquire };
                Called::Load(load(place, ordering, here(self)))
            }
            "WRITE_ONCE" | "smp_store_mb" | "rcu_assign_pointer" => {
                let place = self.lvalue()?;
                self.expect(",")?;
                let value = self.value(place.object)?.raw;
                let ordering = match name.text {
                    "smp_store_mb" => Ordering::SeqCst,
                    "rcu_assign_pointer" => Ordering::Release,
                    _ => Ordering::Relaxed,
                };
                Called::Statement(store(place, value, ordering, here(self)))
            }
            "smp_store_release" | "atomic_set" | "atomic_set_release" => {
                let (place, value) = self.location_and_value()?;
                let ordering = if name.text == "atomic_set" { Ordering::Relaxed } else { Ordering::Release };
                Called::Statement(store(place, value, ordering, here(self)))
            }
            _ => match suffixed.map_or(name.text, |(base, _)| base) {
                "xchg" | "atomic_xchg" => {
                    self.note_full_update(name.text);
                    let (place, value) = self.location_and_value()?;
                    self.exchange(place, value, order.unwrap_or(Ordering::SeqCst), name)
                }
                "cmpxchg" | "atomic_cmpxchg" => {
                    let (place, expected) = self.location_and_value()?;
                    self.expect(",")?;
                    let new = self.value(place.object)?.raw;
                    let order = word(order.unwrap_or(Ordering::SeqCst), name.span);
                    // The kernel's updates that fail order nothing.
                    let failure = word(Ordering::Relaxed, name.span);
                    let cell = place.cell();
                    let raw = update("cas", vec![place.raw, expected, new, order, failure], here(self));
                    Called::Update { raw, cell, outcome: Returned::Old }
                }
                base => match base.strip_prefix("atomic_") {
                    Some(action) => self.kernel_update(name, action, order)?,
                    None => return Err(unknown(name)),
                },
            },
        })
    }

    /// `atomic_add(1, x)`, `atomic_fetch_inc(x)`, `atomic_sub_return(1, x)`,
    /// `atomic_dec_and_test(x)`.
    fn kernel_update(&mut self, name: Name<'s>, action: &str, order: Option<Ordering>) -> Read<Called<'s>> {
        let parts = [action.strip_prefix("fetch_"), action.strip_suffix("_return"), action.strip_suffix("_and_test")];
        let word = parts.into_iter().flatten().next().unwrap_or(action);
        let Some((operator, by_one)) = operation(word) else { return Err(unknown(name)) };
        self.note_full_update(name.text);
        let returns = parts.iter().any(Option::is_some);
        let order = order.unwrap_or(if returns { Ordering::SeqCst } else { Ordering::Relaxed });
        let is_bitwise = !matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract);
        if is_bitwise && (parts[1].is_some() || parts[2].is_some()) {
            return Err(unknown(name));
        }
        let start = self.at;
        let (accesses, cell_of_number) = (self.accesses, INT);
        let written = if by_one {
            None
        } else {
            let value = self.nested(Self::expression)?;
            self.expect(",")?;
            Some(value)
        };
        let place = self.location()?;
        let end = self.at;
        let number = |value: Option<Typed<'s>>| {
            value.unwrap_or_else(|| Typed::known(1, cell_of_number, name.span)).converted(place.cell())
        };
        let value = number(written);
        let outcome = if parts[1].is_none() && parts[2].is_none() {
            Returned::Old
        } else {
            if self.accesses != accesses {
                let message = format!("`{}` needs its number twice, and memory is read in it", name.text);
                return Err(Diagnostic::error(message, value.raw.span).with_help("read it into a variable before"));
            }
            self.at = start;
            let again = if by_one { None } else { Some(self.nested(Self::expression)?) };
            self.at = end;
            let again = number(again);
            match (parts[2].is_some(), operator) {
                (false, _) => Returned::New(operator, again),
                (true, BinaryOperator::Subtract) => Returned::Is(again),
                (true, _) => {
                    let zero = Typed::known(0, place.cell(), name.span);
                    Returned::Is(combined(BinaryOperator::Subtract, zero, again)?.converted(place.cell()))
                }
            }
        };
        self.fetch(place, Update { operator, value, outcome, order }, name)
    }

    fn exchange(&mut self, place: Place<'s>, value: RawExpression<'s>, order: Ordering, name: Name<'s>) -> Called<'s> {
        let cell = place.cell();
        let raw = update("xchg", vec![place.raw, value, word(order, name.span)], name.span.to(self.here()));
        Called::Update { raw, cell, outcome: Returned::Old }
    }

    /// An update by an operator; sums are cut to the location's type.
    fn fetch(&mut self, place: Place<'s>, with: Update<'s>, name: Name<'s>) -> Read<Called<'s>> {
        let Update { operator, value, outcome, order } = with;
        let span = name.span.to(self.here());
        let mut clash = None;
        value.raw.names(&mut |inside| clash = clash.or((inside.text == "old").then_some(inside)));
        if let Some(inside) = clash {
            return Err(Diagnostic::error("`old` is what the update reads, in the native language", inside.span)
                .with_help("give it another name"));
        }
        let old = RawExpression::new(ExpressionKind::Name("old"), name.span);
        let mut new = RawExpression::binary(operator, old, value.raw);
        new.span = span;
        new.extent = span;
        if matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract) {
            new = cut(new, place.cell());
        }
        let cell = place.cell();
        let raw = update("rmw", vec![place.raw, new, word(order, name.span)], span);
        Ok(Called::Update { raw, cell, outcome })
    }

    /// `x, &expected, new` and the orders.
    fn compare_exchange(&mut self, name: Name<'s>, is_explicit: bool) -> Read<Called<'s>> {
        let place = self.location()?;
        self.expect(",")?;
        let start = self.here();
        let is_address = self.take("&");
        let expected = self.name("`&expected`, the address of a variable")?;
        let local = self.variable(expected.text).filter(|local| is_address && local.cell == place.cell());
        if local.is_none() {
            let span = start.to(expected.span);
            return Err(Diagnostic::error("this is not the address of a variable of the location's type", span)
                .with_help("keep the expected value in a variable: `int expected = 0;` and `&expected`"));
        }
        self.expect(",")?;
        let new = self.value(place.object)?.raw;
        let success = self.order_of(is_explicit, &ORDERS, "a compare-exchange")?;
        let failure = self.order_of(is_explicit, &LOADS, "the load of one that fails")?;
        let span = name.span.to(self.here());
        let kind = ExpressionKind::CompareExchange(Box::new(CompareExchange {
            place: place.raw,
            expected,
            new,
            orderings: Orderings { success, failure: Some(failure) },
            is_weak: name.text.contains("_weak"),
        }));
        Ok(Called::Update { raw: RawExpression::new(kind, span), cell: INT, outcome: Returned::Old })
    }

    /// Whether the next operand is a location's address.
    fn is_location(&self) -> bool {
        match self.peek() {
            Some(Token::Name(name)) => {
                self.address(name).is_some() || self.variable(name).is_some_and(|local| local.points.is_some())
            }
            Some(Token::Symbol("&")) => true,
            _ => false,
        }
    }

    /// A location by its address: `x`, `&x[1]`.
    pub(super) fn location(&mut self) -> Read<Place<'s>> {
        let start = self.here();
        if self.sees("*") {
            // What is stored at `*p` may be an address, of which the place behind is meant.
            let before = (self.at, self.accesses);
            let is_address = self.nested(Self::lvalue).is_ok_and(|place| place.object.stars > 0);
            (self.at, self.accesses) = before;
            if !is_address {
                return Err(Diagnostic::error("the address is expected here, not what is stored there", start)
                    .with_help("leave out the `*`"));
            }
        }
        self.pointed(start)
    }

    fn location_and_value(&mut self) -> Read<(Place<'s>, RawExpression<'s>)> {
        let place = self.location()?;
        self.expect(",")?;
        let value = self.value(place.object)?.raw;
        Ok((place, value))
    }

    fn value(&mut self, object: Pointee) -> Read<Typed<'s>> {
        let value = self.nested(Self::expression)?;
        self.fitted(value, object.cell(), object.further())
    }

    /// `, memory_order_…` of a call that has it; else the strongest.
    fn order_of(&mut self, is_explicit: bool, allowed: &[&str], what: &str) -> Read<Ordering> {
        if !is_explicit {
            return Ok(Ordering::SeqCst);
        }
        self.expect(",")?;
        self.order(allowed, what)
    }

    fn order(&mut self, allowed: &[&str], what: &str) -> Read<Ordering> {
        let name = self.name("a memory order")?;
        let named = |orders: &[&str]| orders.iter().map(|order| format!("`memory_order_{order}`")).collect::<Vec<_>>();
        let order = name.text.strip_prefix("memory_order_").filter(|order| ORDERS.contains(order));
        let Some(order) = order else {
            return Err(Diagnostic::error(format!("`{}` is no memory order", name.text), name.span)
                .with_expected(named(allowed)));
        };
        if !allowed.contains(&order) {
            return Err(Diagnostic::error(format!("{what} cannot have the order `{}`", name.text), name.span)
                .with_expected(named(allowed)));
        }
        if order == "consume" {
            let message = "`memory_order_consume` is read as `memory_order_acquire`, as compilers read it";
            self.warnings.push(Diagnostic::warning(message, name.span));
        }
        Ok(Ordering::named(order).unwrap_or(Ordering::Acquire))
    }
}

fn unknown(name: Name<'_>) -> Diagnostic {
    let refused = REFUSED.iter().find(|(begin, _)| name.text.starts_with(begin)).map(|(_, help)| (*help).to_owned());
    let help = refused
        .or_else(|| did_you_mean(name.text, KNOWN))
        .unwrap_or_else(|| "many calls of <stdatomic.h>, of the Linux kernel and of POSIX are understood".to_owned());
    Diagnostic::error(format!("`{}` is not understood", name.text), name.span).with_help(help)
}
