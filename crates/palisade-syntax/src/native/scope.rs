//! The addresses of a program: declared ones, and names that are addresses because they stand
//! inside `mem[…]`.

use super::again::again;
use super::ast::{ExpressionKind, Item, Name, Place, RawAddress, RawExpression, RawInstruction, RawThread};
use super::braced::Structured;
use super::numbers;
use crate::Diagnostic;
use crate::suggest::{closest, did_you_mean};
use palisade_model::program::{AddressId, AddressName, Expression, SourceText, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most addresses an array may have.
const MAX_ARRAY: i128 = 1 << 20;

/// After so many findings the reader stops.
const MAX_FOUND: usize = 100;

/// The addresses of a program by name.
pub(crate) struct Addresses<'s> {
    /// All of them, in order of appearance.
    pub(crate) all: Vec<AddressName>,
    ids: FxHashMap<&'s str, AddressId>,
    /// Those that are declared as data.
    plain: FxHashSet<AddressId>,
    /// The tokens of threads that park, by the names of the threads.
    pub(super) tokens: FxHashMap<&'s str, AddressId>,
}

/// An address before it has a number.
struct Unnumbered<'a, 's> {
    name: Name<'s>,
    length: u32,
    fixed: Option<Value>,
    /// Declared, or only met in the text.
    declared: bool,
    /// Declared as data.
    is_plain: bool,
    /// How often it stands inside `mem[…]`.
    uses: usize,
    /// The thread in whose text it stands first.
    user: Option<&'a RawThread<'s>>,
}

impl<'s> Addresses<'s> {
    /// Addresses that have their numbers, with their names.
    pub(crate) fn numbered(named: impl Iterator<Item = (&'s str, AddressName)>) -> Self {
        let mut addresses = Self {
            all: Vec::new(),
            ids: FxHashMap::default(),
            plain: FxHashSet::default(),
            tokens: FxHashMap::default(),
        };
        for (name, address) in named {
            addresses.ids.insert(name, AddressId::from_index(addresses.all.len()));
            addresses.all.push(address);
        }
        addresses
    }

    /// Collects and numbers the addresses of a text. Errors and warnings go to `found`.
    pub(crate) fn collect(
        items: &[Item<'s>],
        structured: &Structured<'s>,
        source: &SourceText,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut collector = Collector { entries: Vec::new(), by_name: FxHashMap::default() };
        for declaration in items.iter().flat_map(Item::addresses) {
            collector.declare(declaration, source, found);
        }
        let threads = || items.iter().filter_map(Item::thread);
        for thread in threads() {
            let registers: FxHashSet<&str> = thread.register_names().map(|name| name.text).collect();
            let inside = &mut |name: Name<'s>| {
                if !registers.contains(name.text) {
                    let entry = collector.meet(name);
                    entry.uses += 1;
                    entry.user.get_or_insert(thread);
                }
            };
            for line in thread.lines.iter().flatten() {
                line.instruction.names_inside_memory(inside);
            }
            thread.names_in_guard(inside);
        }
        for initial in items.iter().flat_map(Item::initials) {
            match &initial.place {
                Place::Named { name, .. } => {
                    collector.meet(*name);
                }
                Place::Memory(address) => address.names(&mut |name| {
                    collector.meet(name);
                }),
            }
        }
        structured.names(&mut |name| {
            if let Some(entry) = collector.by_name.get(name.text) {
                collector.entries[*entry].uses += 1;
            }
        });
        let mut registers: FxHashMap<&str, &RawThread<'s>> = FxHashMap::default();
        for thread in threads() {
            for register in thread.register_names() {
                registers.entry(register.text).or_insert(thread);
            }
        }
        collector.judge(&registers, found);
        if !structured.computes_addresses() {
            found.extend(numbers::warnings(items));
        }
        let mut addresses = collector.number(found);
        addresses.add_tokens(structured);
        addresses
    }

    /// The address of a name.
    pub(crate) fn named(&self, name: &str) -> Option<AddressId> {
        self.ids.get(name).copied()
    }

    /// Whether an address expression names addresses, and these are data.
    pub(crate) fn is_plain(&self, address: &Expression) -> bool {
        let mut named = Vec::new();
        address.for_each_address(&mut |id| named.push(id));
        !self.plain.is_empty() && !named.is_empty() && named.iter().all(|id| self.plain.contains(id))
    }

    /// All names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|address| address.name.as_str())
    }
}

struct Collector<'a, 's> {
    entries: Vec<Unnumbered<'a, 's>>,
    by_name: FxHashMap<&'s str, usize>,
}

impl<'a, 's> Collector<'a, 's> {
    fn declare(&mut self, declaration: &RawAddress<'s>, source: &SourceText, found: &mut Vec<Diagnostic>) {
        let RawAddress { name, length, number, is_plain } = declaration;
        if let Some(first) = self.by_name.get(name.text) {
            let message = format!("the address `{}` is declared twice", name.text);
            found.push(again(message, name.span, self.entries[*first].name.span, source));
            return;
        }
        let length = match length {
            None => 1,
            Some(length) => match u32::try_from(length.value) {
                Ok(value) if value > 0 && length.value <= MAX_ARRAY => value,
                _ => {
                    let message = format!("an array cannot have {} addresses", length.value);
                    let note = format!("between 1 and {MAX_ARRAY} are possible");
                    found.push(Diagnostic::error(message, length.span).with_note(note));
                    1
                }
            },
        };
        let fixed = number.and_then(|number| {
            let last = number.value + i128::from(length) - 1;
            match (Value::try_from(number.value), Value::try_from(last)) {
                (Ok(value), Ok(_)) => Some(value),
                _ => {
                    found.push(Diagnostic::error("the address does not fit 64 bits", number.span));
                    None
                }
            }
        });
        self.by_name.insert(name.text, self.entries.len());
        self.entries.push(Unnumbered {
            name: *name,
            length,
            fixed,
            declared: true,
            is_plain: *is_plain,
            uses: 0,
            user: None,
        });
    }

    /// The address of a name that stands where only addresses do.
    fn meet(&mut self, name: Name<'s>) -> &mut Unnumbered<'a, 's> {
        let index = *self.by_name.entry(name.text).or_insert_with(|| {
            let (length, fixed, declared, is_plain, uses, user) = (1, None, false, false, 0, None);
            self.entries.push(Unnumbered { name, length, fixed, declared, is_plain, uses, user });
            self.entries.len() - 1
        });
        &mut self.entries[index]
    }

    /// Warns of addresses that may be misspelt or may be meant to be registers.
    fn judge(&self, registers: &FxHashMap<&str, &RawThread<'s>>, found: &mut Vec<Diagnostic>) {
        let any_declared = self.entries.iter().any(|entry| entry.declared);
        for entry in &self.entries {
            if found.len() >= MAX_FOUND {
                return;
            }
            let Name { text, span } = entry.name;
            let others = |wanted: fn(&Unnumbered<'a, 's>) -> bool| {
                self.entries.iter().filter(move |entry| wanted(entry)).map(|entry| entry.name.text)
            };
            if let Some(thread) = registers.get(text) {
                let owner = thread.name.text;
                found.push(if entry.declared {
                    Diagnostic::error(
                        format!("`{text}` is an address and also a register of the {} `{owner}`", thread.head.word()),
                        span,
                    )
                } else {
                    let message = format!("`{text}` is taken for an address here, but it is a register of `{owner}`");
                    Diagnostic::warning(message, span).with_help("a register belongs to one thread")
                });
            } else if any_declared && !entry.declared {
                let message = format!("`{text}` is not declared and becomes an address of its own");
                let help = did_you_mean(text, others(|entry| entry.declared));
                found.push(Diagnostic::warning(message, span).with_help_if(help));
            } else if !entry.declared && entry.uses == 0 {
                let message = format!("`{text}` gets an initial value but is never accessed by its name");
                let help = did_you_mean(text, others(|entry| entry.uses > 0));
                found.push(Diagnostic::warning(message, span).with_help_if(help));
            } else if let Some(thread) = entry.user
                && !entry.declared
                && entry.uses == 1
                && text.chars().count() > 2
                && let Some(register) = closest(text, thread.register_names().map(|register| register.text))
            {
                let message = format!("`{text}` becomes an address of its own, accessed only here");
                let help = format!("did you mean the register `{register}`?");
                found.push(Diagnostic::warning(message, span).with_help(help));
            }
        }
    }

    /// Gives every address a number: the fixed ones theirs, the others from 1 in order of
    /// appearance.
    fn number(self, found: &mut Vec<Diagnostic>) -> Addresses<'s> {
        let fixed = self.entries.iter().filter_map(|entry| {
            let first = i128::from(entry.fixed?);
            Some((first, first + i128::from(entry.length) - 1, entry.name))
        });
        let mut fixed: Vec<(i128, i128, Name<'s>)> = fixed.collect();
        fixed.sort_by_key(|(first, ..)| *first);
        for pair in fixed.windows(2) {
            let [(_, last, one), (first, _, other)] = pair else { continue };
            if first <= last {
                let (one, other) = if one.span < other.span { (one, other) } else { (other, one) };
                let message = format!("`{}` and `{}` have an address in common", one.text, other.text);
                found.push(Diagnostic::error(message, other.span));
            }
        }
        let mut obstacles = fixed.iter().map(|(first, last, _)| (*first, *last)).peekable();
        let mut next: i128 = 1;
        let mut all = Vec::with_capacity(self.entries.len());
        let (mut ids, mut plain) = (FxHashMap::default(), FxHashSet::default());
        for entry in self.entries {
            let address = entry.fixed.unwrap_or_else(|| {
                let length = i128::from(entry.length);
                while let Some((_, last)) = obstacles.next_if(|(first, _)| *first < next + length) {
                    next = next.max(last + 1);
                }
                let address = next;
                next += length;
                Value::try_from(address).expect("arrays are short, so that their sum fits 64 bits")
            });
            ids.insert(entry.name.text, AddressId::from_index(all.len()));
            if entry.is_plain {
                plain.insert(AddressId::from_index(all.len()));
            }
            let name = entry.name.text.to_owned();
            all.push(AddressName { name, address, length: entry.length, span: entry.name.span });
        }
        Addresses { all, ids, plain, tokens: FxHashMap::default() }
    }
}

impl<'s> Item<'s> {
    /// The addresses it declares.
    pub(super) fn addresses(&self) -> &[RawAddress<'s>] {
        if let Self::Addresses(addresses) = self { addresses } else { &[] }
    }

    /// The initial values it gives.
    pub(super) fn initials(&self) -> &[super::ast::RawInitial<'s>] {
        if let Self::Initial(initials) = self { initials } else { &[] }
    }

    /// The thread, event or task that it is.
    pub(super) fn thread(&self) -> Option<&RawThread<'s>> {
        if let Self::Thread(thread) = self { Some(thread) } else { None }
    }
}

impl<'s> RawThread<'s> {
    /// Its parameters and registers.
    pub(super) fn register_names(&self) -> impl Iterator<Item = &Name<'s>> {
        let parameters = self.parameters.iter().flat_map(|(names, _)| names);
        parameters.chain(self.registers.iter().map(|register| &register.name))
    }

    /// Calls `visit` with every name inside a `mem[…]` of the guard.
    pub(super) fn names_in_guard(&self, visit: &mut impl FnMut(Name<'s>)) {
        if let Some((condition, _)) = &self.guard {
            condition.names_inside_memory(visit);
        }
    }
}

impl<'s> RawInstruction<'s> {
    /// Calls `visit` with every name inside a `mem[…]`.
    pub(super) fn names_inside_memory(&self, visit: &mut impl FnMut(Name<'s>)) {
        match self {
            Self::Store { address, .. } | Self::Locked { address, .. } | Self::Wake { address, .. } => {
                address.names(visit)
            }
            Self::Sleep { address, released, .. } => {
                address.names(visit);
                released.iter().for_each(|released| released.names(visit));
            }
            Self::Assign { value: RawExpression { kind: ExpressionKind::Memory(address), .. }, .. } => {
                address.names(visit);
            }
            Self::Assign { .. }
            | Self::Havoc { .. }
            | Self::Assume(_)
            | Self::Ensure(_)
            | Self::Fence { .. }
            | Self::Plain(_)
            | Self::Post { .. } => {}
        }
    }
}

impl<'s> RawExpression<'s> {
    /// Calls `visit` with every name inside a `mem[…]`.
    fn names_inside_memory(&self, visit: &mut impl FnMut(Name<'s>)) {
        match &self.kind {
            ExpressionKind::Memory(address) => address.names(visit),
            ExpressionKind::Call(_, operand)
            | ExpressionKind::Index(_, operand)
            | ExpressionKind::Unary(_, operand)
            | ExpressionKind::AddressOf(operand) => {
                operand.names_inside_memory(visit);
            }
            ExpressionKind::Apply(_, operands) => {
                operands.iter().for_each(|operand| operand.names_inside_memory(visit));
            }
            ExpressionKind::Binary(_, left, right) => {
                left.names_inside_memory(visit);
                right.names_inside_memory(visit);
            }
            ExpressionKind::CompareExchange(it) => {
                it.place.names_inside_memory(visit);
                it.new.names_inside_memory(visit);
            }
            ExpressionKind::Literal(_)
            | ExpressionKind::Constant(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Any
            | ExpressionKind::TooDeep => {}
        }
    }

    /// Calls `visit` with every name that stands for a value.
    pub(crate) fn names(&self, visit: &mut impl FnMut(Name<'s>)) {
        match &self.kind {
            ExpressionKind::Name(text) => visit(Name { text, span: self.span }),
            ExpressionKind::Call(_, operand)
            | ExpressionKind::Memory(operand)
            | ExpressionKind::Unary(_, operand)
            | ExpressionKind::AddressOf(operand) => operand.names(visit),
            ExpressionKind::Apply(_, operands) => operands.iter().for_each(|operand| operand.names(visit)),
            ExpressionKind::Index(name, operand) => {
                visit(*name);
                operand.names(visit);
            }
            ExpressionKind::Binary(_, left, right) => {
                left.names(visit);
                right.names(visit);
            }
            ExpressionKind::CompareExchange(it) => {
                it.place.names(visit);
                visit(it.expected);
                it.new.names(visit);
            }
            ExpressionKind::Literal(_)
            | ExpressionKind::Constant(_)
            | ExpressionKind::Any
            | ExpressionKind::TooDeep => {}
        }
    }
}
