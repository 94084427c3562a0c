//! Single instructions, by their effects on a machine that runs alone, and whole tests by their
//! questions.

use super::{LitmusTest, read};
use crate::render;
use palisade_model::program::{SourceText, Value};
use palisade_semantics::{Instance, Machine, Model, Observable};

fn test(text: &str) -> LitmusTest {
    let source = SourceText::new("t.litmus", text);
    read(source.clone()).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|error| render(error, &source, false)).collect::<String>())
    })
}

fn errors(text: &str) -> String {
    let source = SourceText::new("t.litmus", text);
    match read(source.clone()) {
        Ok(_) => String::new(),
        Err(errors) => errors.iter().map(|error| render(error, &source, false)).collect(),
    }
}

/// What the locations of a test with deterministic threads hold at the end, as shown.
fn run(text: &str) -> Vec<String> {
    let test = test(text);
    let instance = Instance::of(&test.program).expect("single copies");
    let machine = Machine::new(&test.program, &instance, Model::Sc);
    let mut state = machine.initial_state();
    let mut events = Vec::new();
    for position in 0..machine.copies().len() {
        loop {
            events.clear();
            machine.events(&state, position, &mut events).expect("values exist");
            let Some(event) = events.first() else { break };
            machine.take(&mut state, event);
        }
    }
    let value = |observable| -> Value {
        match observable {
            Observable::Register { thread, register } => state.threads()[thread.index()].registers[register.index()],
            Observable::Address(address) => state.memory(address),
        }
    };
    test.question
        .locations
        .iter()
        .map(|location| format!("{location}={}", location.shown(value(location.observable), &test.program)))
        .collect()
}

/// Runs instructions of one thread of an `X86_64` test and shows some locations.
fn run_64(initial: &str, instructions: &[&str], shown: &str) -> String {
    let rows: String = instructions.iter().map(|instruction| format!("{instruction};\n")).collect();
    run(&format!("X86_64 t\n{{ {initial} }}\nP0;\n{rows}locations [{shown}]\nexists (true)")).join(" ")
}

fn run_32(initial: &str, instructions: &[&str], shown: &str) -> String {
    let rows: String = instructions.iter().map(|instruction| format!("{instruction};\n")).collect();
    run(&format!("X86 t\n{{ {initial} }}\nP0;\n{rows}locations [{shown}]\nexists (true)")).join(" ")
}

#[test]
fn narrow_writes_keep_or_clear_the_rest() {
    assert_eq!(run_64("0:rax=-1", &["movl $7,%eax"], "0:rax;"), "0:rax=7");
    assert_eq!(run_64("0:rax=-1", &["movb $0,%al"], "0:rax;"), "0:rax=-256");
    assert_eq!(run_64("0:rax=-1", &["movb $0,%ah"], "0:rax;"), "0:rax=-65281");
    assert_eq!(run_64("0:rax=-1", &["movw $1,%ax"], "0:rax;"), "0:rax=-65535");
    assert_eq!(run_64("0:rax=-1", &["movl %eax,%eax"], "0:rax;0:eax;"), "0:rax=4294967295 0:eax=-1");
    assert_eq!(run_64("int x=-1;", &["movl (x),%eax"], "0:rax;x;"), "0:rax=4294967295 [x]=-1");
    assert_eq!(run_64("uint8_t x=255; 0:rax=0x100", &["movb (x),%al"], "0:rax;x;"), "0:rax=511 [x]=255");
    assert_eq!(run_32("", &["MOV EAX,$-1", "MOV [x],EAX"], "0:EAX;x;"), "0:EAX=-1 [x]=-1");
}

#[test]
fn arithmetic_is_the_machines() {
    assert_eq!(run_32("x=2147483647", &["INC [x]"], "x;"), "[x]=-2147483648");
    assert_eq!(run_64("uint64_t x=0xffffffffffffffff", &["lock incq (x)"], "x;"), "[x]=0");
    assert_eq!(run_64("0:rax=0xf0", &["andl $0x3c,%eax", "orl $1,%eax", "xorl $2,%eax"], "0:rax;"), "0:rax=51");
    assert_eq!(run_64("0:rax=3", &["shl $4,%rax"], "0:rax;"), "0:rax=48");
    assert_eq!(run_64("0:rax=3; 0:rcx=33", &["shll %cl,%eax"], "0:rax;"), "0:rax=6");
    assert_eq!(run_64("0:rax=5; x=3", &["subl (x),%eax", "addl %eax,(x)"], "0:rax;x;"), "0:rax=2 [x]=5");
    assert_eq!(run_64("0:rax=5; 0:rbx=6", &["xchg %rax,%rbx"], "0:rax;0:rbx;"), "0:rax=6 0:rbx=5");
}

#[test]
fn locked_instructions_return_what_they_found() {
    assert_eq!(run_64("x=5; 0:rax=2", &["lock xaddl %eax,(x)"], "0:rax;x;"), "0:rax=5 [x]=7");
    assert_eq!(run_64("x=5; 0:rax=2", &["xaddl %eax,(x)"], "0:rax;x;"), "0:rax=5 [x]=7");
    assert_eq!(run_64("x=5; 0:rax=2", &["xchgl %eax,(x)"], "0:rax;x;"), "0:rax=5 [x]=2");
    for lock in ["", "lock "] {
        let compare = format!("{lock}cmpxchgl %ebx,(x)");
        let code = [compare.as_str(), "sete %cl"];
        let shown = "0:rax;x;0:rcx;";
        assert_eq!(run_64("x=5; 0:rax=5; 0:rbx=9", &code, shown), "0:rax=5 [x]=9 0:rcx=1");
        assert_eq!(run_64("x=5; 0:rax=4; 0:rbx=9", &code, shown), "0:rax=5 [x]=5 0:rcx=0");
        // A comparison that succeeds leaves the whole accumulator alone.
        let high = format!("x=5; 0:rax={}; 0:rbx=9", (1_i64 << 40) + 5);
        assert_eq!(run_64(&high, &[compare.as_str(), "movq %rax,%rax"], "0:rax;x;"), "0:rax=1099511627781 [x]=9");
        let other = format!("x=5; 0:rax={}; 0:rbx=9", (1_i64 << 40) + 4);
        assert_eq!(run_64(&other, &[compare.as_str(), "movq %rax,%rax"], "0:rax;x;"), "0:rax=5 [x]=5");
    }
    assert_eq!(run_32("x=5; 0:EAX=2", &["LOCK XADD [x],EAX"], "0:EAX;x;"), "0:EAX=5 [x]=7");
}

/// Every condition after every comparison of a few numbers, against the machine's definition of the
/// flags.
#[test]
fn conditions_follow_the_flags() {
    let numbers: [i64; 7] = [0, 1, 2, 127, 128, 200, 255];
    let codes = ["e", "ne", "l", "ge", "le", "g", "b", "ae", "be", "a", "s", "ns", "o", "no"];
    for operation in ["cmpb", "subb", "addb", "testb", "xorb", "decb", "incb"] {
        let mut failures = Vec::new();
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
            let operand = if operation.starts_with("dec") || operation.starts_with("inc") { "" } else { "%bl," };
            let mut rows = vec![format!("{operation} {operand}%al")];
            // The numbers of the registers do not matter, so one register per condition.
            let seen =
                ["cl", "dl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"];
            rows.extend(codes.iter().zip(seen).map(|(code, register)| format!("set{code} %{register}")));
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let shown: String = seen.iter().map(|register| format!("0:{register};")).collect();
            let found = run_64(&format!("0:rax={a}; 0:rbx={b}"), &rows, &shown);
            let found: Vec<bool> = found.split(' ').map(|cell| cell.ends_with("=1")).collect();
            let expected = machine_conditions(operation, a, b);
            if found != expected {
                failures.push(format!("{operation} {a} {b}: {found:?} for {expected:?}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

/// The conditions in the order of the test above, from the flags of 8-bit arithmetic.
fn machine_conditions(operation: &str, a: i64, b: i64) -> Vec<bool> {
    let signed = |value: i64| if value >= 128 { value - 256 } else { value };
    let (unsigned, exact, carry) = match operation {
        "addb" => (a + b, signed(a) + signed(b), a + b > 255),
        "incb" => (a + 1, signed(a) + 1, false),
        "decb" => (a - 1, signed(a) - 1, false),
        "testb" => (a & b, signed(a & b), false),
        "xorb" => (a ^ b, signed(a ^ b), false),
        _ => (a - b, signed(a) - signed(b), a < b),
    };
    let result = unsigned.rem_euclid(256);
    let (zero, sign, overflow) = (result == 0, result >= 128, exact != signed(result));
    let less = sign != overflow;
    vec![
        zero,
        !zero,
        less,
        !less,
        less || zero,
        !(less || zero),
        carry,
        !carry,
        carry || zero,
        !(carry || zero),
        sign,
        !sign,
        overflow,
        !overflow,
    ]
}

/// What order of assignments and what parts of registers are easily got wrong.
#[test]
fn operands_may_be_the_same_register() {
    assert_eq!(run_64("0:rax=1", &["xaddq %rax,%rax"], "0:rax;"), "0:rax=2");
    assert_eq!(run_64("0:rax=1; 0:rcx=2", &["cmpxchgq %rcx,%rax"], "0:rax;"), "0:rax=2");
    assert_eq!(run_64("0:rax=1; 0:rcx=2", &["cmpxchgb %cl,%al"], "0:rax;"), "0:rax=2");
    // A comparison of 32 bits that fails leaves all of its destination alone.
    let found = run_64("0:rdx=-1; 0:rax=1; 0:rcx=2", &["cmpxchgl %ecx,%edx"], "0:rdx;0:rax;");
    assert_eq!(found, "0:rdx=-1 0:rax=4294967295");
    for shift in ["shll $0,%edx", "shll $32,%edx", "shll %cl,%edx"] {
        assert_eq!(run_64("0:rdx=-1; 0:rcx=0", &[shift], "0:rdx;"), "0:rdx=4294967295", "{shift}");
    }
    assert_eq!(run_64("0:rax=0x1234", &["xchgb %al,%ah"], "0:rax;"), "0:rax=13330");
}

#[test]
fn constants_are_as_wide_as_the_operation() {
    assert_eq!(run_64("", &["movq $0x123456789,%rax"], "0:rax;"), "0:rax=4886718345");
    assert_eq!(run_64("", &["movabs $0xffffffffffffffff,%rax"], "0:rax;"), "0:rax=-1");
    assert_eq!(run_64("0:rax=1", &["addq $-1,%rax"], "0:rax;"), "0:rax=0");
    assert_eq!(run_64("", &["movl $0xffffffff,%eax"], "0:rax;"), "0:rax=4294967295");
}

#[test]
fn control_flow() {
    let code = ["movl $3,%ecx", "L: incl (x)", "decl %ecx", "jne L", "jmp E", "movl $9,(x)", "E: nop"];
    assert_eq!(run_64("", &code, "x;0:rcx;"), "[x]=3 0:rcx=0");
    let code = ["cmpl $1,%eax", "cmove %ebx,%edx", "cmovne %eax,%ebx", "ret", "movl $7,(x)"];
    assert_eq!(run_64("0:rax=1; 0:rbx=8; x=0", &code, "0:rdx;0:rbx;x;"), "0:rdx=8 0:rbx=8 [x]=0");
    let code = ["subl $1,%eax", "incl %ebx", "jb L", "movl $1,(x)", "L:"];
    assert_eq!(run_64("0:rax=0; x=0", &code, "x;"), "[x]=0", "inc leaves the carry alone");
}

#[test]
fn addresses_are_values() {
    let initial = "x=1; y=2; 0:rdi=x; 0:rsi=y;";
    assert_eq!(run_64(initial, &["movl (%rdi),%eax", "movl %eax,(%rsi)"], "0:rax;y;0:rdi;"), "0:rax=1 [y]=1 0:rdi=x");
    let initial = "uint64_t p=x; x=7;";
    assert_eq!(run_64(initial, &["movq (p),%rdi", "movl (%rdi),%eax"], "0:rax;p;0:rdi;"), "0:rax=7 [p]=x 0:rdi=x");
    let initial = "int t[4]={1,2,3,4}; 0:rdi=t; 0:rcx=2;";
    let code = ["movl 4(%rdi),%eax", "movl (%rdi,%rcx,4),%ebx", "movl $9,(t+12)", "addq $4,%rdi", "movl %ebx,(%rdi)"];
    assert_eq!(run_64(initial, &code, "0:rax;0:rbx;t[3];t[1];"), "0:rax=2 0:rbx=3 [t[3]]=9 [t[1]]=3");
    assert_eq!(run_64("x=4", &["movq $x,%rdi", "addl $1,(%rdi)"], "x;"), "[x]=5");
}

#[test]
fn the_automaton_is_small() {
    let test = test(
        "X86 rnd\n{ x=0; y=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV EAX,[y] ;\n MOV EAX,[x] | INC [x] ;\n CMP EAX,$0  | LOCK ADD [y],$2 ;\n JLE L0       |             ;\n MOV [x],$2  |             ;\n L0:         |             ;\nexists (0:EAX=0)",
    );
    let [first, second] = &test.program.threads[..] else { panic!("two threads") };
    assert_eq!(first.instructions.len(), 5, "a store, a load, two assumptions, a store");
    assert_eq!(first.registers.len(), 1, "no flag is left");
    assert_eq!(second.instructions.len(), 4);
    assert_eq!(second.registers.len(), 2, "EAX and what INC has read");
}

#[test]
fn what_is_not_understood_is_refused_where_it_stands() {
    let table =
        |row: &str| format!("X86_64 t\n{{ uint64_t x; uint64_t y; }}\nP0 | P1 ;\nmovq $1,(x) | {row} ;\nexists (x=1)");
    for (row, said) in [
        ("clflush (x)", "`clflush` is not understood"),
        ("lea (x),%rax", "`lea` is not understood"),
        ("jp L", "`jp` is not understood"),
        ("movl $1,(x)", "32 bits of `x`, whose cells have 64"),
        ("jmp L", "no label `L`"),
        ("movq (x),(y)", "at most one operand"),
        ("lock movq $1,(x)", "cannot be locked"),
        ("lock incq %rax", "cannot be locked"),
        ("movq $1,x", "`x` is no register"),
        ("movq $1,$2", "cannot be written"),
        ("movq $1", "has 1 operands"),
        ("shll $2,%eax; | seto %al", "undefined"),
        ("movl %rax,%ebx", "64 bits, the operation 32"),
        ("movq $1,(x+8)", "no cell 8 bytes into"),
        ("movq (%eax),%rbx", "whole registers"),
        ("movq (%rax),%rbx", "no cell of 64 bits"),
        ("nop | nop", "more cells"),
        ("L: nop; | L: nop", "there twice"),
        ("lock; | nop", "an instruction"),
        ("movl $8589934592,%eax", "does not fit in the 32 bits"),
        ("movl $-2147483649,%eax", "does not fit in the 32 bits"),
        ("movb $256,%al", "does not fit in the 8 bits"),
        ("addw $65536,%ax", "does not fit in the 16 bits"),
        ("addq $0xffffffff,%rax", "sign-extended"),
        ("movq $2147483648,(x)", "sign-extended"),
        ("movq $-9223372036854775809,%rax", "does not fit in 64 bits"),
        ("shll $256,%eax", "count"),
        ("movabs $1,(x)", "moves a constant to a register"),
        ("cmpq (x),$1", "is a register or in memory"),
        ("cmpxchgq $1,(x)", "the source of this instruction is a register"),
        ("xchgq $1,(x)", "cannot be written"),
        ("cmove %al,%bl", "no conditional move of 8 bits"),
        ("movb %ah,%sil", "high byte"),
        ("movb %r9b,%ah", "high byte"),
        ("movq (%rdi,%rsp,1),%rax", "cannot be an index"),
    ] {
        let found = errors(&table(row));
        assert!(found.contains(said), "{row}: {found}");
        assert!(found.contains("t.litmus:4:") || found.contains("t.litmus:5:"), "{row}: {found}");
    }
    for (text, said) in [
        ("", "no initial state"),
        ("AArch64 t\n{}\nP0;\nnop;", "`AArch64`"),
        ("X86 t\n{", "never closed"),
        ("X86\n{}", "no name"),
        ("X86 t\n{}\n", "thread's name"),
        ("X86 t\n{ 0:EAX=1; }\nP0;\nMOV RAX,$1;", "32-bit"),
        ("X86 t\n{}\nP0;\nNOP;\nexists (1:EAX=0)", "no thread P1"),
        ("X86 t\n{}\nP0;\nNOP;\nexists (0:EAX=0", "`)`"),
        ("X86_64 t\n{}\nP0;\nNOP;\nexists (0:ah=0)", "high byte"),
        ("X86_64 t\n{ 0:rax=5; 0:eax=-1; }\nP0;\nNOP;\nexists (0:rax=0)", "`0:rax` has an initial value already"),
        ("X86_64 t\n{ 0:rax=5; 1:rax=1; 0:rax=5; }\nP0;\nNOP;\nexists (0:rax=0)", "has an initial value already"),
        ("X86_64 t\n{ x=1; y=1; [x]=2; }\nP0;\nNOP;\nexists (x=0)", "`x` has an initial value already"),
        ("X86_64 t\n{ 0:eax=4294967296; }\nP0;\nNOP;\nexists (x=0)", "does not fit in 32 bits"),
        ("X86_64 t\n{ x=1; }\nP0;\nNOP;\nexists (x=4294967296)", "does not fit in 32 bits"),
        ("X86_64 t\n{}\nP0;\nNOP;\nexists (0:al=256)", "does not fit in 8 bits"),
        ("X86_64 t\n{ uint8_t x=-129; }\nP0;\nNOP;\nexists (x=0)", "does not fit in 8 bits"),
        ("X86 t\n{ (* }\nP0;\nNOP;\nexists (0:EAX=0)", "never closed"),
    ] {
        let found = errors(text);
        assert!(found.contains(said), "{text}: {found}");
    }
}

#[test]
fn conditions_and_kinds() {
    let text = "X86 amd6 (six) \"a doc\"\nCom=Rf Fr\n{x = 0; P1:EAX = 0};\n P0 | P1;\n mov [x], 1 | mov EAX, [x];\n\
                locations [x; 1:EAX;]\nfilter x=1\nfinal (P1:EAX = 1 /\\ not (x=0 \\/ [x]=2) /\\ true);\nwith\ntso: ~exists;\n\
                default: exists;\n<<\nshow 0\n>>";
    let test = test(text);
    assert_eq!(test.description, "a doc");
    assert_eq!(test.information, [("Com".to_owned(), "Rf Fr".to_owned())]);
    assert_eq!(test.kinds.len(), 2);
    assert_eq!(test.question.locations.len(), 2);
    assert_eq!(test.question.filter.map(|filter| filter.to_string()), Some("[x]=1".into()));
    let condition = test.question.condition.expect("there is one").to_string();
    assert_eq!(condition, "exists (1:EAX=1 /\\ not ([x]=0 \\/ [x]=2) /\\ true)");
    assert!(test.warnings.is_empty());
}
