//! Code that is refused: each with its position in the sources, the calls that lead there, and why.

use palisade_model::text::Obstacle;
use palisade_syntax::InputError;
use std::path::Path;

/// What is said about a function of the image `refused`: of its first instruction when it is read,
/// of others where control comes to them.
fn refusal(function: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images/refused");
    let roles = folder.path().join("roles.toml");
    let text = format!("image = {:?}\n[[role]]\nfunction = \"{function}\"\n", image.display().to_string());
    std::fs::write(&roles, text).expect("the folder is writable");
    let program = match palisade_machine::read(&roles.display().to_string()) {
        Ok(program) => program,
        Err(error) => return error.render(false),
    };
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
    let obstacle = instructions.find_map(|own| program.source.origin(own.span)?.obstacle.clone());
    let Obstacle { name, position, message, help } = obstacle.expect("the code is not understood");
    InputError::File { name, position, message, help }.render(false)
}

#[test]
fn what_is_not_understood_is_refused_at_its_place() {
    for (function, line, why) in [
        ("stack_escapes", 16, "a pointer into the role's own stack frame is stored where others can read it"),
        ("mixed_sizes", 23, "stores of different sizes to the same bytes"),
        ("recursion", 30, "`recurse` calls itself"),
        ("thread_local_data", 34, "thread-local storage"),
        ("repeats", 45, "instructions that repeat"),
        ("non_temporal", 48, "`movnti"),
        ("system_call", 52, "the system is called directly"),
        ("no_memory", 56, "the address 0x10: a null pointer, or near one"),
    ] {
        let text = refusal(function);
        assert!(text.contains(&format!("refused.c:{line}:")), "{function}: {text}");
        assert!(text.contains(why), "{function}: {text}");
        assert!(text.contains(&format!("in the role `{function}`")), "{function}: {text}");
    }
}

/// Functions are called by their addresses, as far as they are followed at all.
#[test]
fn where_calls_by_address_go_is_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images/refused");
    let roles = folder.path().join("roles.toml");
    let text = format!("image = {:?}\n[[role]]\nfunction = \"indirect_call\"\n", image.display().to_string());
    std::fs::write(&roles, text).expect("the folder is writable");
    let program = palisade_machine::read(&roles.display().to_string()).expect("is read");
    assert!(program.source.text.contains("refused.c:36"), "the function's line: {}", program.source.text);
}

#[test]
fn the_calls_that_lead_there_are_named() {
    let text = refusal("recursion");
    assert!(text.contains("in recurse (refused.c:30:12)\n  called from recursion (refused.c:32:24)"), "{text}");
}

#[test]
fn files_of_roles_are_diagnosed() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images/spin-O2").display().to_string();
    let refused = |text: &str| {
        let roles = folder.path().join("roles.toml");
        std::fs::write(&roles, text.replace("IMAGE", &image)).expect("the folder is writable");
        palisade_machine::read(&roles.display().to_string()).expect_err("is refused").render(false)
    };
    for (text, why) in [
        ("image = \"IMAGE\"", "there are no roles"),
        ("image = \"IMAGE\"\n[[role]]\nfunction = \"workr\"", "`worker`"),
        ("image = \"IMAGE\"\n[[role]]\nfunction = \"worker\"\ncopies = \"many\"", "is no number of copies"),
        ("image = \"IMAGE\"\n[[role]]\nfunction = \"worker\"\nargs = [\"&lock\"]", "no object `lock`"),
        ("image = \"IMAGE\"\n[[role]]\nfunction = \"worker\"\nloops = true", "unknown field `loops`"),
        ("image = \"IMAGE\"\nimage_sha256 = \"00\"\n[[role]]\nfunction = \"worker\"", "it was built again since"),
        ("image = \"nowhere\"\n[[role]]\nfunction = \"worker\"", "the image cannot be read"),
        ("image = \"roles.toml\"\n[[role]]\nfunction = \"worker\"", "is no 64-bit ELF file"),
    ] {
        let said = refused(text);
        assert!(said.contains(why), "{text}: {said}");
    }
}
