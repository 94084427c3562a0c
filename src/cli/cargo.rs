//! `cargo palisade`: builds the tests of a package, lets their harnesses write snapshots, and
//! checks the roles.
//!
//! Tests are built in the release profile with tables of lines, linked to fixed addresses, and
//! without tables of jumps, which the reader of machine code does not follow. Each test binary is
//! then run with a folder for snapshots; each snapshot, with a file of roles beside it, is given to
//! `palisade check`.

use super::Exit;
use super::asked::quoted;
use super::files::NewFile;
use super::folder::create_folder;
use super::output::{print_text, remark_line};
use crate::evidence::sha256;
use crate::syntax::did_you_mean_or_list;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// What `cargo palisade --help` prints.
const HELP: &str = "\
Check the harnesses of a package: tests that end in `Harness::check` (crate palisade-harness)

Usage: cargo palisade [--test NAME] [--package NAME] [--profile dev|release] [--model c11|ra] [--every-compilation]
                      [--fences | --orderings] [--diff | --apply] [FILTER [--exact]]
                      [-- OPTIONS OF palisade check, fences or orderings]

  --test NAME       only this file of tests; all of them otherwise, and unit tests that have harnesses
  --package NAME    a package of the workspace
  --profile NAME    release, unless you say otherwise
  --model c11|ra    ask about the sources against C11 or release/acquire, on all processors: their orderings are read in a
                    build without optimisation. Without it the machine code is asked about, on x86
  --every-compilation
                    build a second time without optimisation, and say whether the verdict holds of every compilation
  --fences          the cheapest fences that make each harness robust, as places in the sources; with `--model c11` the
                    fewest and weakest changes of orderings, and fences
  --orderings       the weakest orderings of the sources that keep each harness robust against C11
  --diff            one of these, the fences unless you say otherwise, as a patch of the sources
  --apply           the same, and write the patch into the sources, build, and check again; sources of dependencies stay
  --no-check        build and write the snapshots, and stop
  FILTER            only tests whose names contain this
  --exact           with FILTER: only the test of this name, with its modules, as `cargo test` lists it

What is checked is the machine code that this build makes. Snapshots stay in target/palisade until
the next build; they hold what the tests had in memory.
";

/// The target for which tests are built: named, so that the flags below hold for tests alone and
/// not for build scripts.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The variable that names the folder for snapshots, which `palisade-harness` looks at.
const SNAPSHOT_VARIABLE: &str = "PALISADE_SNAPSHOT";

/// Flags for the compiler.
const FLAGS: &str = "-C jump-tables=no -C relocation-model=static -C target-feature=+crt-static";

/// The command line, understood.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    /// `--test`.
    tests: Vec<String>,
    /// `--package`.
    package: Option<String>,
    /// `--profile`.
    profile: Option<String>,
    /// `--model`, where it is one of the language.
    language: Option<String>,
    /// `--every-compilation`.
    every_compilation: bool,
    /// What is asked.
    question: Question,
    /// `--diff` or `--apply`, as a word of the subcommand that is asked.
    change: Option<&'static str>,
    /// The filter.
    filter: Option<String>,
    /// Whether the filter is a whole name.
    is_exact: bool,
    /// What stands behind `--`.
    options: Vec<String>,
    /// `--help`.
    help: bool,
}

/// Which build of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    /// In the profile that is asked for.
    AsAsked,
    /// The same without optimisation.
    Unoptimised,
    /// The same, for the orderings of the sources.
    ForOrderings,
}

/// The folder, beside the snapshots of a file of tests, for those of its build without
/// optimisation.
const UNOPTIMISED: &str = "unoptimised";

/// That for the snapshots from which orderings are read.
const ORDERINGS: &str = "orderings";

/// What is asked about the harnesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Question {
    /// Whether they are robust.
    #[default]
    Check,
    /// The weakest orderings.
    Orderings,
    /// The cheapest fences, or changes of orderings.
    Fences,
    /// Nothing: snapshots alone.
    Nothing,
}

/// Runs the command line of this process.
pub fn cargo() -> std::process::ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // As a subcommand of cargo, its name comes first.
    if arguments.first().is_some_and(|first| first == "palisade") {
        arguments.remove(0);
    }
    let exit = match understood(&arguments) {
        Ok(request) if request.help => {
            print_text(HELP);
            Exit::Holds
        }
        Ok(request) => check_package(&request).unwrap_or_else(|message| {
            remark_line(format_args!("Error: {message}"));
            Exit::BadInput
        }),
        Err(message) => {
            remark_line(format_args!("Error: {message}\n  Help: `cargo palisade --help` lists the options"));
            Exit::BadInput
        }
    };
    exit.into()
}

fn understood(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut words = arguments.iter().cloned();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        match word.as_str() {
            "--" => {
                request.options = words.collect();
                break;
            }
            "--test" => request.tests.push(value()?),
            "--package" | "-p" => request.package = Some(value()?),
            "--profile" => request.profile = Some(value()?),
            "--model" => match value()?.as_str() {
                "tso" => {}
                language @ ("c11" | "ra") => request.language = Some(language.to_owned()),
                other => return Err(format!("`--model` is `tso`, `c11` or `ra`, and not `{other}`")),
            },
            "--every-compilation" => request.every_compilation = true,
            "--orderings" => request.ask(Question::Orderings)?,
            "--fences" => request.ask(Question::Fences)?,
            "--diff" => request.change("--diff")?,
            "--apply" => request.change("--apply")?,
            "--no-check" => request.ask(Question::Nothing)?,
            "--exact" => request.is_exact = true,
            "--help" | "-h" => request.help = true,
            option if option.starts_with('-') => {
                return Err(format!(
                    "`{option}` is not known; options of `palisade check` follow behind `--`, as in `cargo palisade -- {option}`"
                ));
            }
            _ if request.filter.is_none() => request.filter = Some(word),
            other => return Err(format!("there are two filters, `{other}` is the second")),
        }
    }
    if request.is_exact && request.filter.is_none() {
        return Err("`--exact` is said with FILTER, the name of a test".to_owned());
    }
    match (request.change, request.question) {
        (Some(_), Question::Check) => request.question = Question::Fences,
        (Some(change), Question::Nothing) => return Err(format!("`--no-check` and `{change}` exclude each other")),
        _ => {}
    }
    if request.question == Question::Orderings {
        if request.language.as_deref() == Some("ra") {
            return Err("`--orderings` is about C11".to_owned());
        }
        request.language.get_or_insert_with(|| "c11".to_owned());
    }
    if request.language.is_some() && request.every_compilation {
        return Err("`--model c11` is about every compilation; `--every-compilation` is about x86".to_owned());
    }
    Ok(request)
}

impl Request {
    /// Asks for something else than a check.
    fn ask(&mut self, question: Question) -> Result<(), String> {
        if self.question != Question::Check {
            return Err("`--orderings`, `--fences` and `--no-check` exclude each other".to_owned());
        }
        self.question = question;
        Ok(())
    }

    /// Wants changes of the sources.
    fn change(&mut self, how: &'static str) -> Result<(), String> {
        match self.change.replace(how) {
            Some(other) if other != how => Err("`--diff` and `--apply` exclude each other".to_owned()),
            _ => Ok(()),
        }
    }

    /// The command for the shell that builds again and writes the snapshots.
    fn build_again(&self) -> std::io::Result<String> {
        let folder = std::env::current_dir()?.display().to_string();
        let mut words =
            vec![std::env::current_exe()?.display().to_string(), "palisade".to_owned(), "--no-check".to_owned()];
        words.extend(self.tests.iter().flat_map(|test| ["--test".to_owned(), test.clone()]));
        words.extend(self.package.iter().flat_map(|package| ["--package".to_owned(), package.clone()]));
        words.extend(self.profile.iter().flat_map(|profile| ["--profile".to_owned(), profile.clone()]));
        words.extend(self.language.iter().flat_map(|model| ["--model".to_owned(), model.clone()]));
        words.extend(self.every_compilation.then(|| "--every-compilation".to_owned()));
        words.extend(self.filter.clone());
        words.extend(self.is_exact.then(|| "--exact".to_owned()));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        Ok(format!("cd {} && {}", quoted(&folder), words.join(" ")))
    }
}

fn check_package(request: &Request) -> Result<Exit, String> {
    let kind = if request.language.is_some() { Build::ForOrderings } else { Build::AsAsked };
    let binaries = build(request, kind)?;
    let (files, have_failed) = snapshots_of(request, kind, &binaries)?;
    if request.every_compilation {
        snapshots_of(request, Build::Unoptimised, &build(request, Build::Unoptimised)?)?;
    }
    // Of tests that fail before they come to `check` nothing more is said.
    let of_tests = if have_failed { Exit::BadInput } else { Exit::Holds };
    if files.is_empty() {
        return Err(match &request.filter {
            Some(filter) => {
                let how = if request.is_exact { "is" } else { "contains" };
                let names = names_of_tests(&binaries);
                let help = if binaries.iter().any(|binary| name_of(binary) == *filter) {
                    Some(format!("`--test {filter}` names the file of tests"))
                } else {
                    did_you_mean_or_list(filter, "test", names.iter().map(String::as_str))
                };
                let help = help.map_or(String::new(), |help| format!("\n  Help: {help}"));
                format!("no test whose name {how} `{filter}` has come to `Harness::check`{help}")
            }
            None => "no test has come to `Harness::check`: `palisade-harness` has an example".to_owned(),
        });
    }
    let model = request.language.as_deref().map_or(Vec::new(), |model| vec!["--model", model]);
    let words: Vec<&str> = match request.question {
        Question::Nothing => return Ok(Exit::Holds),
        Question::Check => {
            let words = [&["check"], model.as_slice()].concat();
            return Ok(of_tests.worst(palisade(&words, &request.options, &files)?));
        }
        Question::Orderings => ["orderings"].into_iter().chain(request.change).collect(),
        Question::Fences => ["fences"].into_iter().chain(model).chain(request.change).collect(),
    };
    let mut worst = of_tests;
    for file in files {
        worst = worst.worst(palisade(&words, &request.options, &[file])?);
    }
    Ok(worst)
}

/// Runs the tests of binaries; the files of roles beside their snapshots, and whether tests
/// have failed.
fn snapshots_of(request: &Request, kind: Build, binaries: &[PathBuf]) -> Result<(Vec<PathBuf>, bool), String> {
    if binaries.is_empty() {
        return Err("the package has no tests with harnesses, neither in `tests/` nor beside its code".to_owned());
    }
    let (mut files, mut taken, mut failures) = (Vec::new(), BTreeSet::new(), Vec::new());
    for binary in binaries {
        let (found, failure) = snapshots(request, kind, binary, &folder_of(binary, &mut taken))?;
        files.extend(found);
        failures.extend(failure);
    }
    if files.is_empty() && !failures.is_empty() {
        return Err(failures.concat());
    }
    failures.iter().for_each(|failure| remark_line(format_args!("Error: {failure}")));
    Ok((files, !failures.is_empty()))
}

/// Runs a subcommand of `palisade` on files of roles.
fn palisade(subcommand: &[&str], options: &[String], files: &[PathBuf]) -> Result<Exit, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let palisade = own.with_file_name("palisade");
    let mut command = Command::new(&palisade);
    command.args(subcommand).args(options).args(files);
    let status = command.status().map_err(|error| format!("`{}` cannot be started: {error}", palisade.display()))?;
    Exit::of(status).ok_or_else(|| format!("`{}` has ended with {status}", palisade.display()))
}

/// Builds the tests; their binaries.
fn build(request: &Request, kind: Build) -> Result<Vec<PathBuf>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics", "--target", TARGET]);
    command.args(["--profile", request.profile.as_deref().unwrap_or("release")]);
    command.args(["--target-dir", "target/palisade/build"]);
    match request.tests.as_slice() {
        [] => command.arg("--tests"),
        tests => command.args(tests.iter().flat_map(|test| ["--test", test])),
    };
    if let Some(package) = &request.package {
        command.args(["--package", package]);
    }
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    command.env("RUSTFLAGS", format!("{flags} {FLAGS}"));
    // Positions in the sources and names of fields, which a release build would leave out.
    for profile in ["RELEASE", "DEV"] {
        command.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "full");
        command.env(format!("CARGO_PROFILE_{profile}_STRIP"), "none");
        if kind != Build::AsAsked {
            // All else stays as it is asked for, assertions of debugging builds among it: these are
            // other sources.
            command.env(format!("CARGO_PROFILE_{profile}_OPT_LEVEL"), "0");
            command.env(format!("CARGO_PROFILE_{profile}_LTO"), "off");
        }
    }
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err("the tests cannot be built".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_test = message.get("profile")?.get("test")?.as_bool()?;
        let path = PathBuf::from(message.get("executable")?.as_str()?);
        let kinds = message.get("target")?.get("kind")?.as_array()?;
        let is_file_of_tests = kinds.iter().any(|kind| kind == "test");
        (is_test && (is_file_of_tests || has_harness(&path))).then_some(path)
    };
    Ok(text.lines().filter_map(executable).collect())
}

/// Whether the unit tests of a library or a program have harnesses: then their binary names the
/// variable that asks for snapshots.
fn has_harness(binary: &Path) -> bool {
    let name = SNAPSHOT_VARIABLE.as_bytes();
    std::fs::read(binary).is_ok_and(|content| content.windows(name.len()).any(|own| own == name))
}

/// The names of the tests of binaries.
fn names_of_tests(binaries: &[PathBuf]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for binary in binaries {
        let Ok(output) = Command::new(binary).args(["--list", "--format", "terse"]).output() else { continue };
        let text = String::from_utf8_lossy(&output.stdout);
        names.extend(text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)));
    }
    names
}

/// The name of a file of tests: that of its binary without the number that cargo has given it.
fn name_of(binary: &Path) -> String {
    let stem = binary.file_stem().unwrap_or_default().to_string_lossy();
    stem.rsplit_once('-').map_or(&*stem, |(name, _)| name).to_owned()
}

/// The folder for the snapshots of a binary, named as its file of tests; with the number that cargo
/// has given it where another package has such a file as well.
fn folder_of(binary: &Path, taken: &mut BTreeSet<String>) -> PathBuf {
    let name = name_of(binary);
    let stem = binary.file_stem().unwrap_or_default();
    let is_new = taken.insert(name.clone());
    Path::new("target/palisade").join(if is_new { Path::new(&name) } else { Path::new(stem) })
}

/// Runs the tests of a binary; the files of roles beside their snapshots, and what is to be said of
/// tests that fail.
fn snapshots(
    request: &Request,
    kind: Build,
    binary: &Path,
    folder: &Path,
) -> Result<(Vec<PathBuf>, Option<String>), String> {
    let folder = &match kind {
        Build::AsAsked => folder.to_owned(),
        Build::Unoptimised => folder.join(UNOPTIMISED),
        Build::ForOrderings => folder.join(ORDERINGS),
    };
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let content = std::fs::read(binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    let heading = format!("image = {:?}\nimage_sha256 = \"{}\"\n", binary.display().to_string(), sha256(&content));
    create_folder(folder).map_err(failed)?;
    let kept = if request.filter.is_some() { Some(heading.as_str()) } else { None };
    let kept = clear(folder, kept).map_err(failed)?;
    let mut command = Command::new(binary);
    command.env(SNAPSHOT_VARIABLE, folder.canonicalize().map_err(failed)?).args(&request.filter);
    command.args(request.is_exact.then_some("--exact"));
    // What other tests do meanwhile would be in the snapshots.
    command.env("RUST_TEST_THREADS", "1");
    // The debug information that a panic's backtrace loads would be in those of later tests.
    command.env("RUST_BACKTRACE", "0").env_remove("RUST_LIB_BACKTRACE");
    let output = command.output().map_err(|error| format!("{}: {error}", binary.display()))?;
    let failure = (!output.status.success()).then(|| {
        let text = String::from_utf8_lossy(&output.stdout);
        format!(
            "tests of {} fail, before they come to `check` or behind it, where no role runs:\n{text}",
            binary.display()
        )
    });
    let again = request.build_again().map_err(|error| error.to_string())?;
    let mut roles = Vec::new();
    for snapshot in snapshots_in(folder).map_err(failed)? {
        if kept.get(&snapshot).is_some_and(|before| modified(&snapshot).is_ok_and(|now| now == *before)) {
            continue;
        }
        let path = snapshot.with_extension("toml");
        let name = snapshot.file_name().unwrap_or_default().to_string_lossy();
        let mut text = format!("{heading}snapshot = {name:?}\nbuild = {again:?}\n");
        match kind {
            Build::Unoptimised => text.push_str("source_order = true\n"),
            Build::ForOrderings => text.push_str("orderings = true\n"),
            Build::AsAsked if request.every_compilation => {
                let beside = Path::new(UNOPTIMISED).join(path.file_name().unwrap_or_default());
                text.push_str(&format!("unoptimised = {:?}\n", beside.display().to_string()));
            }
            Build::AsAsked => {}
        }
        let written = NewFile::create(&path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.finish()
        });
        written.map_err(|error| format!("{}: {error}", path.display()))?;
        roles.push(path);
    }
    Ok((roles, failure))
}

/// Removes the files of roles in a folder with their snapshots, but for those that begin so: they
/// are of the same build. When the snapshots that stay were taken.
fn clear(folder: &Path, kept: Option<&str>) -> std::io::Result<BTreeMap<PathBuf, SystemTime>> {
    let mut stay = BTreeMap::new();
    for snapshot in snapshots_in(folder)? {
        let roles = snapshot.with_extension("toml");
        let is_of_this_build = |heading| std::fs::read_to_string(&roles).is_ok_and(|text| text.starts_with(heading));
        if kept.is_some_and(is_of_this_build) {
            stay.insert(snapshot.clone(), modified(&snapshot)?);
            continue;
        }
        std::fs::remove_file(&snapshot)?;
        if roles.exists() {
            std::fs::remove_file(&roles)?;
        }
    }
    Ok(stay)
}

/// The snapshots in a folder, by name.
fn snapshots_in(folder: &Path) -> std::io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        found.extend(path.extension().is_some_and(|extension| extension == "snapshot").then_some(path.clone()));
    }
    Ok(found)
}

fn modified(path: &Path) -> std::io::Result<SystemTime> {
    std::fs::metadata(path)?.modified()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_the_names_of_tests() {
        let mut taken = BTreeSet::new();
        let folder = |name: &str, taken: &mut _| folder_of(Path::new(name), taken).display().to_string();
        assert_eq!(folder("deps/robust-49473ecb8510cb41", &mut taken), "target/palisade/robust");
        assert_eq!(folder("deps/robust-0000000000000000", &mut taken), "target/palisade/robust-0000000000000000");
    }

    #[test]
    fn command_lines() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let request = understood(&words("--test robust queue -- -v")).expect("good usage");
        assert_eq!(request.tests, ["robust"]);
        assert_eq!(request.filter.as_deref(), Some("queue"));
        assert_eq!(request.options, ["-v"]);
        assert_eq!(request.question, Question::Check);
        let request = understood(&words("--diff queue")).expect("good usage");
        assert_eq!((request.question, request.change), (Question::Fences, Some("--diff")));
        assert!(request.build_again().expect("there is a folder").ends_with("palisade --no-check queue"));
        let request = understood(&words("queue::pushes --exact")).expect("good usage");
        assert!(
            request.build_again().expect("there is a folder").ends_with("palisade --no-check queue::pushes --exact")
        );
        assert!(understood(&words("--exact")).is_err());
        let request = understood(&words("--orderings --apply")).expect("good usage");
        assert_eq!((request.question, request.change), (Question::Orderings, Some("--apply")));
        assert_eq!(request.language.as_deref(), Some("c11"));
        assert!(understood(&words("--diff --apply")).is_err() && understood(&words("--no-check --diff")).is_err());
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert!(understood(&words("--tests x")).is_err());
        assert!(understood(&words("a b")).is_err());
    }
}
