//! The text in braces of a random program.

use super::generator::{ADDRESSES, Condition, Place, Program, REGISTERS, Statement, Value};

/// The text.
pub(super) fn of(program: &Program) -> String {
    let mut text = "program Random\ndomain 0..1 wrap\naddress x, y, z, slot[2]\n\nproc p(place, value) {\n".to_owned();
    for register in REGISTERS {
        text.push_str(&format!("  let {register} = 0;\n"));
    }
    block(&program.procedure, 1, &mut text);
    text.push_str("}\n\nproc q(a, b) {\n  x = a;\n  if (y == b) { return a + 1; }\n  return b;\n}\n");
    for (thread, name) in program.threads.iter().zip(["t", "u"]) {
        let copies = if thread.copies == 1 { String::new() } else { format!(" [{}]", thread.copies) };
        text.push_str(&format!("\nthread {name}{copies} {{\n  let r = 0;\n  let s;\n"));
        if thread.copies > 1 {
            // Both copies say `self`, whatever else they do.
            text.push_str("  z = self;\n");
        }
        block(&thread.body, 1, &mut text);
        text.push_str("}\n");
    }
    text
}

fn block(statements: &[Statement], depth: usize, text: &mut String) {
    for statement in statements {
        text.push_str(&"  ".repeat(depth));
        one(statement, depth, text);
        text.push('\n');
    }
}

fn braces(head: &str, statements: &[Statement], depth: usize, text: &mut String) {
    text.push_str(head);
    text.push_str("{\n");
    block(statements, depth + 1, text);
    text.push_str(&"  ".repeat(depth));
    text.push('}');
}

fn one(statement: &Statement, depth: usize, text: &mut String) {
    let simple = match statement {
        Statement::Store(to, what) => format!("{} = {};", place(to), value(what)),
        Statement::Set(register, what) => format!("{} = {};", REGISTERS[*register], value(what)),
        Statement::Increase(register, Value::Number(1)) => format!("{}++;", REGISTERS[*register]),
        Statement::Increase(register, what) => format!("{} += {};", REGISTERS[*register], value(what)),
        Statement::Effect(update) => format!("{};", value(update)),
        Statement::Await(until) => format!("await ({});", condition(until)),
        Statement::Break => "break;".to_owned(),
        Statement::Continue => "continue;".to_owned(),
        Statement::Return => "return;".to_owned(),
        Statement::Fence => "mfence;".to_owned(),
        Statement::Pause => "pause;".to_owned(),
        Statement::Ensure(what) => format!("ensure {};", condition(what)),
        Statement::Call(to, what) => format!("p({}, {});", place(to), argument(what)),
        Statement::If(what, then, otherwise) => {
            braces(&format!("if ({}) ", condition(what)), then, depth, text);
            if let Some(otherwise) = otherwise {
                braces(" else ", otherwise, depth, text);
            }
            return;
        }
        Statement::While(what, body) => return braces(&format!("while ({}) ", condition(what)), body, depth, text),
        Statement::DoWhile(body, what) => {
            braces("do ", body, depth, text);
            format!(" while ({});", condition(what))
        }
        Statement::For(start, what, step, body) => {
            let start =
                start.as_ref().map_or(String::new(), |(to, what)| format!("{} = {}", REGISTERS[*to], value(what)));
            let what = what.as_ref().map_or(String::new(), condition);
            let step =
                step.as_ref().map_or(String::new(), |(to, what)| format!("{} += {}", REGISTERS[*to], value(what)));
            return braces(&format!("for ({start}; {what}; {step}) "), body, depth, text);
        }
        Statement::Once(body) => return braces("for (let k = 0; k < 1; k++) ", body, depth, text),
        Statement::Loop(body) => return braces("loop ", body, depth, text),
        Statement::Atomic(body) => return braces("atomic ", body, depth, text),
        Statement::Choose(blocks) => {
            for (index, each) in blocks.iter().enumerate() {
                braces(if index == 0 { "choose " } else { " or " }, each, depth, text);
            }
            return;
        }
    };
    text.push_str(&simple);
}

fn place(place: &Place) -> String {
    match place {
        Place::Address(address) => ADDRESSES[*address].to_owned(),
        Place::Element(index) => format!("slot[{}]", value(index)),
        Place::Parameter => "place".to_owned(),
    }
}

/// A load as an argument would hand over the place.
fn argument(what: &Value) -> String {
    if let Value::Load(_) = what { format!("0 + {}", value(what)) } else { value(what) }
}

fn value(value_: &Value) -> String {
    match value_ {
        Value::Number(number) => number.to_string(),
        Value::Itself => "self".to_owned(),
        Value::Register(register) => REGISTERS[*register].to_owned(),
        Value::Argument => "value".to_owned(),
        Value::Load(from) => place(from),
        Value::Sum(left, right) => format!("({} + {})", value(left), value(right)),
        Value::Xchg(to, new) => format!("xchg({}, {})", place(to), value(new)),
        Value::Cas(to, expected, new) => format!("cas({}, {}, {})", place(to), value(expected), value(new)),
        Value::Add(to, summand) => format!("fetch_add({}, {})", place(to), value(summand)),
        Value::Call(first, second) => format!("q({}, {})", argument(first), argument(second)),
        Value::Truth(what) => format!("({})", condition(what)),
    }
}

fn condition(what: &Condition) -> String {
    match what {
        Condition::Compare(left, operator, right) => format!("{} {operator} {}", value(left), value(right)),
        Condition::And(left, right) => format!("({}) && ({})", condition(left), condition(right)),
        Condition::Or(left, right) => format!("({}) || ({})", condition(left), condition(right)),
        Condition::Not(inside) => format!("!({})", condition(inside)),
        Condition::Any => "*".to_owned(),
    }
}
