//! Mnemonics: which instructions are understood.

use crate::x86::{Arithmetic, BitChange, ConditionCode, FlagTest, Operation, Scan};

/// The condition with the given suffix: `e`, `nz`, `le`, …
fn condition_named(suffix: &str) -> Option<ConditionCode> {
    use FlagTest::{Below, BelowOrEqual, Equal, Less, LessOrEqual, Overflow, Sign};
    let (test, negated) = match suffix {
        "e" | "z" => (Equal, false),
        "ne" | "nz" => (Equal, true),
        "l" | "nge" | "lt" => (Less, false),
        "ge" | "nl" => (Less, true),
        "le" | "ng" => (LessOrEqual, false),
        "g" | "nle" | "gt" => (LessOrEqual, true),
        "b" | "c" | "nae" => (Below, false),
        "ae" | "nb" | "nc" => (Below, true),
        "be" | "na" => (BelowOrEqual, false),
        "a" | "nbe" => (BelowOrEqual, true),
        "s" => (Sign, false),
        "ns" => (Sign, true),
        "o" => (Overflow, false),
        "no" => (Overflow, true),
        _ => return None,
    };
    Some(ConditionCode { test, negated })
}

/// Instructions that may carry a suffix for the size.
const SIZED: [(&str, Operation); 37] = [
    ("mov", Operation::Move),
    ("xchg", Operation::Exchange),
    ("xadd", Operation::ExchangeAdd),
    ("cmpxchg", Operation::CompareExchange),
    ("inc", Operation::Increment),
    ("dec", Operation::Decrement),
    ("add", Operation::Arithmetic(Arithmetic::Add)),
    ("sub", Operation::Arithmetic(Arithmetic::Subtract)),
    ("and", Operation::Arithmetic(Arithmetic::And)),
    ("or", Operation::Arithmetic(Arithmetic::Or)),
    ("xor", Operation::Arithmetic(Arithmetic::Xor)),
    ("cmp", Operation::Compare),
    ("test", Operation::Test),
    ("shl", Operation::ShiftLeft),
    ("shr", Operation::ShiftRight { signed: false }),
    ("sar", Operation::ShiftRight { signed: true }),
    ("rol", Operation::RotateLeft),
    ("ror", Operation::RotateRight),
    ("adc", Operation::WithCarry { subtract: false }),
    ("sbb", Operation::WithCarry { subtract: true }),
    ("neg", Operation::Negate),
    ("not", Operation::Complement),
    ("imul", Operation::Multiply),
    ("mul", Operation::MultiplyUnsigned),
    ("div", Operation::Divide { signed: false }),
    ("idiv", Operation::Divide { signed: true }),
    ("bsf", Operation::Scan(Scan::Lowest)),
    ("bsr", Operation::Scan(Scan::Highest)),
    ("tzcnt", Operation::Scan(Scan::ZerosBelow)),
    ("lzcnt", Operation::Scan(Scan::ZerosAbove)),
    ("popcnt", Operation::CountOnes),
    ("bswap", Operation::SwapBytes),
    ("bt", Operation::BitTest(BitChange::Keep)),
    ("bts", Operation::BitTest(BitChange::Set)),
    ("btr", Operation::BitTest(BitChange::Clear)),
    ("btc", Operation::BitTest(BitChange::Flip)),
    ("nop", Operation::Nop),
];

/// The instructions without a size.
const UNSIZED: [(&str, Operation); 7] = [
    ("jmp", Operation::Jump),
    ("mfence", Operation::MemoryFence),
    ("sfence", Operation::StoreFence),
    ("lfence", Operation::LoadFence),
    ("endbr64", Operation::Nop),
    ("ret", Operation::Return),
    ("retq", Operation::Return),
];

/// What is understood, for messages.
pub(super) const UNDERSTOOD: &str = "understood are mov, movabs, xchg, xadd, cmpxchg, inc, dec, add, sub, and, or, xor, cmp, test, shl, shr, sar, rol, ror, adc, sbb, neg, not, mul, imul, div, idiv, bt, bts, btr, btc, \
     bsf, bsr, tzcnt, lzcnt, popcnt, bswap, jmp, conditional jumps, cmov, set, mfence, sfence, lfence, nop, endbr64 and ret, with lock where the machine allows it";

/// The operation of a mnemonic, in any case, with the bits its suffix gives.
pub(super) fn operation(mnemonic: &str) -> Option<(Operation, Option<u8>)> {
    let name = mnemonic.to_ascii_lowercase();
    let listed = |table: &[(&str, Operation)], name: &str| {
        table.iter().find(|(listed, _)| *listed == name).map(|(_, operation)| *operation)
    };
    if let Some(operation) = listed(&SIZED, &name).or_else(|| listed(&UNSIZED, &name)) {
        return Some((operation, None));
    }
    if matches!(name.as_str(), "movabs" | "movabsq") {
        return Some((Operation::Move, Some(64)));
    }
    if let Some(code) = name.strip_prefix('j').and_then(condition_named) {
        return Some((Operation::ConditionalJump(code), None));
    }
    if let Some(code) = name.strip_prefix("set").and_then(condition_named) {
        return Some((Operation::Set(code), Some(8)));
    }
    if let Some(code) = name.strip_prefix("cmov").and_then(condition_named) {
        return Some((Operation::ConditionalMove(code), None));
    }
    let bits = match name.bytes().last()? {
        b'b' => 8,
        b'w' => 16,
        b'l' => 32,
        b'q' => 64,
        _ => return None,
    };
    let stem = &name[..name.len() - 1];
    let conditional_move = || {
        let code = stem.strip_prefix("cmov").and_then(condition_named)?;
        Some(Operation::ConditionalMove(code))
    };
    listed(&SIZED, stem).or_else(conditional_move).map(|operation| (operation, Some(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_sizes_unless_they_belong_to_the_name() {
        assert_eq!(operation("movl"), Some((Operation::Move, Some(32))));
        assert_eq!(operation("shl"), Some((Operation::ShiftLeft, None)));
        assert_eq!(operation("shll"), Some((Operation::ShiftLeft, Some(32))));
        assert_eq!(operation("SUB"), Some((Operation::Arithmetic(Arithmetic::Subtract), None)));
        assert_eq!(operation("subb"), Some((Operation::Arithmetic(Arithmetic::Subtract), Some(8))));
        let less = ConditionCode { test: FlagTest::Less, negated: false };
        assert_eq!(operation("cmovl"), Some((Operation::ConditionalMove(less), None)));
        assert_eq!(operation("cmovlq"), Some((Operation::ConditionalMove(less), Some(64))));
        assert_eq!(operation("movabs"), Some((Operation::Move, Some(64))));
        assert_eq!(operation("setnb").map(|(operation, _)| operation), operation_of_set("ae"));
        for unknown in ["lea", "movzbl", "jp", "clflush", "movnti", "q", ""] {
            assert_eq!(operation(unknown), None, "{unknown}");
        }
    }

    fn operation_of_set(suffix: &str) -> Option<Operation> {
        condition_named(suffix).map(Operation::Set)
    }
}
