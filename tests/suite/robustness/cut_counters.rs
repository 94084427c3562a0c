//! Counters that are cut to some bits: which keep their class, what keeps others out, and that
//! certificates about other cuts are rejected.

use crate::checked::check;
use crate::robustness::counters::{classes, kept_out, program};
use palisade::evidence::RobustCertificate;
use palisade::program::{Counters, Form, Program};
use palisade::robustness::{CheckOptions, Verdict, certificate};
use palisade::verify::check_robust_certificate;

/// A thread that moves `x` on, cut, and does something with what it has loaded.
fn moving(cut: &str, then: &str) -> Program {
    program(&format!(
        "program p address x, y, cell[4]\nthread t regs r, s, q, z init a begin a: r <- fetch_add(mem[x], 0); b: s <- {cut}(r + 1); \
         c: mem[x] <- s; d: s <- mem[x]; e: {then}; goto a; end"
    ))
}

#[test]
fn what_commutes_with_residues_and_what_does_not() {
    for then in [
        "assert r = s",
        "z <- r = s",
        "assert u3(r + 1) = s",
        "assert u3(r) = u3(s)",
        "assert u8(r) = u8(s)",
        "assert u2(r) = u2(s)",
        "assert i3(r) = i3(s)",
        "assert r + 1 = s + 1",
        "assert u3(r - s) = 2",
        "assert i3(r - s) < 0",
        "assert (r - s) & 3",
        "assert u2(u32(r - s)) = 1",
        "assert s % 2 = 0",
        "assert (u2(r) & 1) = 0",
        "assert (r & 255) = s",
        "q <- u32(r + 1); goto f; f: assert u3(q) = s",
        "q <- mem[cell + (u2(r) & 1)]",
        "mem[x] <- u3(u32(r + 4294967295))",
    ] {
        assert_eq!(classes(&moving("u3", then)).concat(), ["x"], "{then}");
    }
    for then in [
        "assert r + 1 = s",
        "assert r - s = 1",
        "assert i3(r) = s",
        "assert u2(r) = s",
        "assert u3(r) = i3(s)",
        "assert r < s",
        "assert u4(r - s) = 1",
        "assert s % 3 = 0",
        "assert s = 5",
        "assert (r & 7) = 0",
        "mem[x] <- r + 1",
        "mem[x] <- u2(r)",
        "mem[x] <- i3(r)",
        "mem[x] <- 0",
        "mem[x] <- r - s",
        "q <- r - s; goto f; f: assert q = 1",
        "q <- u32(r + 4294967295); goto f; f: assert u3(q) = s",
        "q <- mem[cell + u2(r)]; goto f; f: q <- mem[cell + u3(r)]",
    ] {
        assert!(classes(&moving("u3", then)).is_empty(), "{then}");
    }
    // One instruction is to blame.
    let kept = kept_out(&moving("u3", "assert r + 1 = s"));
    assert_eq!(kept.first(), Some(&("x".to_owned(), "e".to_owned())), "{kept:?}");
}

/// Machine words with signs, as registers of 64 bits are: what 64 bits hold is a residue as well.
#[test]
fn words_of_any_width() {
    for (cut, bits, low) in
        [("u1", 1, 0), ("u8", 8, 0), ("u32", 32, 0), ("u63", 63, 0), ("i8", 8, -128), ("i64", 64, i128::from(i64::MIN))]
    {
        let program = moving(cut, "assert r = s");
        assert_eq!(classes(&program).concat(), ["x"], "{cut}");
        let x = program.addresses[0].address;
        let member = Counters::of(&program).member_at(x).expect("it is in a class");
        assert_eq!(member.form, Form::Residue { bits, low: Some(low) }, "{cut}");
    }
    // No value is as large as some residues.
    assert!(classes(&moving("u64", "assert r = s")).is_empty());
}

/// A ring of one element whose indices run freely.
fn ring(cut: &str) -> Program {
    program(&format!(
        "program ring address head, tail, slot\n\
         thread producer regs h, t, z init a begin a: h <- mem[head]; b: t <- mem[tail]; c: z <- {cut}(h - t); \
         d: assert z = 1; goto a; d: assert z != 1; goto e; e: mem[slot] <- 1; f: mem[head] <- {cut}(h + 1); goto a; end\n\
         thread consumer regs h, t, z init a begin a: t <- mem[tail]; b: h <- mem[head]; c: z <- h = t; \
         d: assert z; goto a; d: assert !z; goto e; e: z <- mem[slot]; g: mem[slot] <- 0; f: mem[tail] <- {cut}(t + 1); goto a; end\n"
    ))
}

/// The certificate of a ring. Residues of fewer values do not tell its ends apart.
fn robust(cut: &str) -> RobustCertificate {
    let ring = ring(cut);
    let checked = check(&ring, &CheckOptions::default()).expect("it has no faults");
    assert!(checked.verdict == Verdict::Robust && checked.abstraction.is_none(), "{cut}");
    certificate(&ring, &checked).expect("it is robust")
}

#[test]
fn certificates_know_how_far_counters_go() {
    let cuts = ["u2", "u8", "i8", "u16", "u32", "i64"];
    let certificates: Vec<RobustCertificate> = cuts.iter().map(|cut| robust(cut)).collect();
    for (cut, own) in cuts.iter().zip(&certificates) {
        assert_eq!(check_robust_certificate(&ring(cut), own).err().map(|failure| failure.to_string()), None, "{cut}");
    }
    // What is below 0 is no residue without a sign, and the greatest residues of so many bits are
    // none of fewer.
    for (cut, other) in
        [("u8", "i64"), ("u2", "i8"), ("u8", "u16"), ("u2", "u8"), ("u16", "u32"), ("i64", "u32"), ("i8", "u8")]
    {
        let at = |cut: &str| cuts.iter().position(|own| *own == cut).expect("it is among them");
        assert!(check_robust_certificate(&ring(cut), &certificates[at(other)]).is_err(), "{cut} as {other}");
    }
}

/// A sequence lock as machine code has it: flags say whether numbers are equal. Where one is told
/// that they are, and not that they are not, it is not robust.
#[test]
fn flags_may_say_either_where_residues_are_equal() {
    let lock = |guard: &str| {
        program(&format!(
            "program either address x, y, number\n\
             thread writer regs r, q init a begin a: r <- mem[number]; b: mem[number] <- u8(r + 1); c: mem[x] <- 1; d: q <- mem[y]; goto a; end\n\
             thread reader regs r, s, z, q init a begin a: r <- mem[number]; b: s <- mem[number]; c: z <- r = s; d: assert {guard}; goto e; d: assert !({guard}); goto a; \
             e: mem[y] <- 1; f: q <- mem[x]; goto a; end\n"
        ))
    };
    for guard in ["z", "!z"] {
        let lock = lock(guard);
        let checked = check(&lock, &CheckOptions::default()).expect("it has no faults");
        assert_eq!(checked.verdict, Verdict::NotRobust, "{guard}");
    }
    // The flag decides nothing that matters; that it may be either shows only where numbers are
    // looked at again.
    let quiet = program(
        "program quiet address x, y, number\n\
         thread writer regs r init a begin a: r <- mem[number]; b: mem[number] <- u8(r + 1); goto a; end\n\
         thread reader[*] regs r, s, z init a begin a: r <- mem[number]; b: mem[x] <- 1; c: mfence; d: s <- mem[number]; e: z <- u8(r) = s; f: assert z; goto a; \
         f: assert !z; goto g; g: z <- mem[y]; h: assert r = s; goto a; h: assert r != s; goto a; end\n",
    );
    let checked = check(&quiet, &CheckOptions::default()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::Robust);
}
