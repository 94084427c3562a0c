//! Index newtypes over the arenas of a program.

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of the element at `index` of its arena.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("arenas stay below 2^32 elements"))
            }

            /// The position in the arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

index_type!(
    /// A thread of a program (a template, when it has several copies).
    ThreadId, "t"
);
index_type!(
    /// A label of a thread, local to it.
    LabelId, "l"
);
index_type!(
    /// A register of a thread, local to it.
    RegisterId, "r"
);
index_type!(
    /// An instruction of a thread, local to it.
    InstructionId, "i"
);
index_type!(
    /// A named address of a program.
    AddressId, "a"
);
