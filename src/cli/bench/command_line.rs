//! Other tools' command lines.

use std::process::Command;

/// What these characters mean only a shell knows.
const FOR_THE_SHELL: &[char] = &['$', '`', '|', '&', ';', '<', '>', '(', ')', '*', '?', '[', '~', '#', '!', '\n'];

/// The process of a command line, given with places for paths and with the paths in them. A shell
/// is started only where the line needs one: it takes a millisecond of its own, as long as many a
/// small net.
pub(super) fn command_line(template: &str, filled: &str) -> Command {
    if let Some(words) = words(template, filled)
        && let [program, arguments @ ..] = words.as_slice()
        && is_program(program)
    {
        let mut command = Command::new(program);
        command.args(arguments);
        return command;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", filled]);
    shell
}

/// Whether a shell may know a word as the first one of a command. What is quoted is not looked at.
pub(super) fn is_command(word: &str) -> bool {
    if !word.chars().all(|character| character.is_ascii_alphanumeric() || "_-+./".contains(character)) {
        return true;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", "command -v -- \"$1\" >/dev/null", "sh", word]);
    shell.status().is_ok_and(|status| status.success())
}

/// The words of a line that means the same without a shell.
fn words(template: &str, filled: &str) -> Option<Vec<String>> {
    let plain = !template.contains(FOR_THE_SHELL);
    // An assignment before the program is the shell's as well.
    shlex::split(filled).filter(|words| plain && words.first().is_some_and(|first| !first.contains('=')))
}

/// Whether the word names a file, not something that is built into shells.
fn is_program(word: &str) -> bool {
    word.contains('/')
        || std::env::var_os("PATH")
            .is_some_and(|folders| std::env::split_paths(&folders).any(|folder| folder.join(word).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_signs_of_the_shell_are_split() {
        let path = r"'/a b/it'\''s $1;.spec'";
        let split = |line: &str| words(line, &line.replace("{}", path)).map(|words| words.join("|"));
        assert_eq!(split("tool -x 1 {} \"two words\"").as_deref(), Some("tool|-x|1|/a b/it's $1;.spec|two words"));
        for line in [
            "tool {}; tool b",
            "tool $HOME",
            "tool \"$HOME\"",
            "tool *.spec",
            "A=1 tool {}",
            "tool 'open",
            "",
            "# tool",
        ] {
            assert_eq!(split(line), None, "{line}");
        }
    }

    #[test]
    fn commands_are_those_that_a_shell_finds() {
        for (word, is_known) in [
            ("/bin/echo", true),
            ("sort", true),
            ("cd", true),
            ("\"a", true),
            ("no-such-tool", false),
            ("./no-such-tool", false),
        ] {
            assert_eq!(is_command(word), is_known, "{word}");
        }
    }

    #[test]
    fn what_is_built_in_goes_to_the_shell() {
        let program = |line: &str| command_line(line, line).get_program().to_owned();
        assert_eq!(program("/bin/echo a"), "/bin/echo");
        assert_eq!(program("sort a"), "sort");
        assert_eq!(program("exit 3"), "sh");
        assert_eq!(program("sort a | sort"), "sh");
    }
}
