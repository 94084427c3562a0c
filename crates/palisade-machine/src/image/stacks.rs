//! Where copies of roles have their stacks, where others may access what lies on them.
//!
//! Addresses are invented, and far from each other: code may depend on their lowest twelve bits
//! alone.

/// The stacks of the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stacks {
    /// The roles in their order: the name, if there is one copy of it. Only then has it a stack
    /// that others know.
    pub(crate) roles: Vec<Option<String>>,
}

/// The first address.
const FIRST: u64 = 0x7d00_0000_0000;

/// The bytes of a stack.
const BYTES: u64 = 1 << 24;

/// The bytes that lie between where the stack pointer of a role is at first and the end.
const ABOVE: u64 = 4096 + 8;

impl Stacks {
    /// Where the stack pointer of a role is when it begins: 8 before a multiple of 16, as behind a
    /// call.
    pub(crate) fn top(role: usize) -> u64 {
        FIRST + (role as u64 + 1) * BYTES - ABOVE
    }

    /// How far an address is from where the stack pointer was at first, if it is of that stack.
    pub(crate) fn offset(top: u64, address: u64) -> Option<i64> {
        let end = top + ABOVE;
        (end - BYTES..end).contains(&address).then(|| address.cast_signed() - top.cast_signed())
    }

    /// The name of the role whose stack an address lies in, and how far from its top.
    fn role(&self, address: u64) -> Option<(&str, i64)> {
        let named = self.roles.iter().enumerate().filter_map(|(index, name)| Some((index, name.as_deref()?)));
        named.filter_map(|(index, name)| Some((name, Self::offset(Self::top(index), address)?))).next()
    }

    /// Whether an address lies in a stack that others know.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.role(address).is_some()
    }

    /// An address for people: `locker.stack-0x28`.
    pub(crate) fn name(&self, address: u64) -> Option<String> {
        let (name, offset) = self.role(address)?;
        let sign = if offset < 0 { "-" } else { "+" };
        Some(format!("{name}.stack{sign}{:#x}", offset.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_lie_apart() {
        let stacks = Stacks { roles: vec![Some("one".to_owned()), None, Some("two".to_owned())] };
        for (role, name) in [(0, "one"), (2, "two")] {
            let top = Stacks::top(role);
            assert!((top + 8).is_multiple_of(16));
            assert_eq!(stacks.name(top - 8), Some(format!("{name}.stack-0x8")));
            assert_eq!(stacks.name(top), Some(format!("{name}.stack+0x0")));
            assert_eq!(Stacks::offset(Stacks::top(1), top), None);
        }
        assert!(!stacks.has(Stacks::top(1)) && !stacks.has(Stacks::top(3)) && !stacks.has(FIRST - 1));
        assert!(stacks.has(FIRST) && stacks.has(Stacks::top(2) + ABOVE - 1) && !stacks.has(Stacks::top(2) + ABOVE));
    }
}
