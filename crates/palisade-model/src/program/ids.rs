//! Index newtypes over the arenas of a program.

use crate::index_type::index_type;

index_type!(
    /// A thread of a program (a template, when it has several copies).
    ThreadId(u32), "t"
);
index_type!(
    /// A label of a thread, local to it.
    LabelId(u32), "l"
);
index_type!(
    /// A register of a thread, local to it.
    RegisterId(u32), "r"
);
index_type!(
    /// An instruction of a thread, local to it.
    InstructionId(u32), "i"
);
index_type!(
    /// A named address of a program.
    AddressId(u32), "a"
);
