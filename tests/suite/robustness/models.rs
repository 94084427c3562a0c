//! The shipped models: the verdicts their headers expect, the smallest violating instances, and the
//! evidence for both.

use crate::checked::check;
use crate::environment::sample;
use palisade::cli::ProgramOptions;
use palisade::fences::{CostFunction, FenceOptions, Measure, Repair, Silent, place, redundant_besides};
use palisade::limits::Limits;
use palisade::program::{Action, Copies, CopiesOverride, Program, Thread};
use palisade::robustness::{AttackOutcome, Check, CheckOptions, Verdict};
use palisade::semantics::{Instance, Model, final_states};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// What a model's header says (models/README.md explains it).
pub(crate) struct Header {
    pub(crate) name: String,
    path: PathBuf,
    fixed: Expectation,
    any: Expectation,
    smallest: Option<u64>,
    fences: Option<u64>,
    /// Whether all properties hold under SC.
    sc: Option<bool>,
    /// Whether they hold under TSO.
    tso: Option<bool>,
    /// What `prove` says of the properties.
    pub(crate) proofs: Vec<Expected<bool>>,
    /// How many fences the properties need, and how many store fences.
    pub(crate) placements: Vec<Expected<(usize, usize)>>,
}

/// The name of a memory model in a header.
fn model_word(model: Model) -> &'static str {
    match model {
        Model::Sc => "sc",
        Model::Tso => "tso",
        Model::Pso => "pso",
    }
}

/// A cell of the table with what is said for the first numbers of copies, and for others.
fn cell(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.map(|part| if part.is_empty() { "–".to_owned() } else { part }).collect();
    if parts.is_empty() { "–".to_owned() } else { parts.join("; ") }
}

/// What is expected for some numbers of copies under some memory models.
pub(crate) struct Expected<T> {
    pub(crate) threads: Vec<CopiesOverride>,
    pub(crate) answers: Vec<(Model, T)>,
}

impl<T> Expected<T> {
    /// Reads `sc ANSWER, tso ANSWER`.
    fn read(threads: &str, value: &str, answer: impl Fn(&str) -> Option<T>) -> Self {
        let one = |part: &str| {
            let (model, word) = part.split_once(' ')?;
            let model = match model {
                "sc" => Model::Sc,
                "tso" => Model::Tso,
                "pso" => Model::Pso,
                _ => return None,
            };
            Some((model, answer(word)?))
        };
        let answers = value.split(", ").map(|part| one(part).unwrap_or_else(|| panic!("`{part}` is not an answer")));
        Self { threads: copies(threads), answers: answers.collect() }
    }
}

/// The copies that a header line names.
fn copies(threads: &str) -> Vec<CopiesOverride> {
    threads.split_terminator(',').map(|thread| thread.parse().expect("copies of a thread")).collect()
}

/// `2` fences, or `2 + 1` with a store fence.
fn fence_counts(word: &str) -> Option<(usize, usize)> {
    let (full, store) = word.split_once(" + ").unwrap_or((word, "0"));
    Some((full.parse().ok()?, store.parse().ok()?))
}

/// The verdict expected for some numbers of copies.
struct Expectation {
    threads: Vec<CopiesOverride>,
    robust: bool,
}

impl Header {
    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).expect("the model can be read");
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("models have plain names").to_owned();
        let (mut fixed, mut any, mut smallest, mut fences) = (None, None, None, None);
        let (mut sc, mut tso) = (None, None);
        let (mut proofs, mut placements) = (Vec::new(), Vec::new());
        for line in text.lines().take_while(|line| line.is_empty() || line.starts_with('#')) {
            let Some((what, value)) = line.strip_prefix("# expect ").and_then(|line| line.split_once(": ")) else {
                assert!(!line.starts_with("# expect"), "{name}: malformed line `{line}`");
                continue;
            };
            let number = || Some(value.parse().unwrap_or_else(|_| panic!("{name}: `{value}` is not a number")));
            let (kind, threads) = what.split_once(' ').unwrap_or((what, ""));
            let verdict = || {
                let robust = match value {
                    "robust" => true,
                    "not-robust" => false,
                    other => panic!("{name}: `{other}` is not a verdict"),
                };
                Some(Expectation { threads: copies(threads), robust })
            };
            let holds = || match value {
                "holds" => Some(true),
                "fails" => Some(false),
                other => panic!("{name}: a property holds or fails, not `{other}`"),
            };
            let proved = |word: &str| match word {
                "holds" => Some(true),
                "violated" => Some(false),
                _ => None,
            };
            let filled = match kind {
                "fixed" => std::mem::replace(&mut fixed, verdict()).is_some(),
                "any" => std::mem::replace(&mut any, verdict()).is_some(),
                "smallest" => std::mem::replace(&mut smallest, number()).is_some(),
                "fences" => std::mem::replace(&mut fences, number()).is_some(),
                "sc" => std::mem::replace(&mut sc, holds()).is_some(),
                "tso" => std::mem::replace(&mut tso, holds()).is_some(),
                "prove" => {
                    proofs.push(Expected::read(threads, value, proved));
                    false
                }
                "property-fences" => {
                    placements.push(Expected::read(threads, value, fence_counts));
                    false
                }
                other => panic!("{name}: unknown expectation `{other}`"),
            };
            assert!(!filled, "{name}: `{kind}` is expected twice");
        }
        let fixed = fixed.unwrap_or_else(|| panic!("{name}: no verdict is expected for fixed copies"));
        let any = any.unwrap_or_else(|| panic!("{name}: no verdict is expected for any number of copies"));
        Self { name, path, fixed, any, smallest, fences, sc, tso, proofs, placements }
    }

    /// For the first and for any numbers of copies, whether the model is robust.
    pub(crate) fn expected(&self) -> [(&[CopiesOverride], bool); 2] {
        [&self.fixed, &self.any].map(|expected| (expected.threads.as_slice(), expected.robust))
    }

    /// The models under which the properties are proved, for the first and for further numbers of
    /// copies.
    fn proved(&self) -> String {
        let of = |expected: &Expected<bool>| -> Vec<&str> {
            expected.answers.iter().filter(|(_, holds)| *holds).map(|(model, _)| model_word(*model)).collect()
        };
        cell(self.proofs.iter().map(|expected| of(expected).join(" ")))
    }

    /// How many fences the properties need under each model, for the first and for further numbers
    /// of copies.
    fn placed(&self) -> String {
        let one = |(model, (full, store)): &(Model, (usize, usize))| match store {
            0 => format!("{} {full}", model_word(*model)),
            _ => format!("{} {full} + {store}", model_word(*model)),
        };
        cell(self.placements.iter().map(|it| it.answers.iter().map(one).collect::<Vec<_>>().join(", ")))
    }

    pub(crate) fn program(&self, threads: &[CopiesOverride]) -> Program {
        let path = self.path.to_str().expect("models have plain paths");
        let options = ProgramOptions { threads: threads.to_vec(), ..ProgramOptions::default() };
        let loaded = options.read(path).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let warnings: Vec<_> = loaded.warnings.iter().map(|warning| &warning.message).collect();
        assert!(warnings.is_empty(), "{}: {warnings:?}", self.name);
        loaded.program
    }
}

pub(crate) fn models() -> Vec<Header> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let entries = std::fs::read_dir(folder).expect("the models' folder can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the entry can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pal"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 49, "models are missing: {}", paths.len());
    paths.into_iter().map(Header::read).collect()
}

/// Checks a program, which has an answer.
fn answer<'p>(name: &str, program: &'p Program) -> Check<'p> {
    let checked = check(program, &CheckOptions::default()).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
    if let Verdict::Unknown(reason) = &checked.verdict {
        panic!("{name}: unknown, since {reason}");
    }
    checked
}

fn verdict(name: &str, program: &Program) -> Verdict {
    answer(name, program).verdict
}

/// The program with so many copies of each thread.
fn with_copies(program: &Program, copies: &[u64]) -> Program {
    let mut program = program.clone();
    for (thread, count) in program.threads.iter_mut().zip(copies) {
        thread.copies = Copies::Exactly(*count);
    }
    program
}

/// All numbers of copies with the given total over replicated threads, other threads as they are.
fn instances(program: &Program, total: u64) -> Vec<Vec<u64>> {
    let mut found = vec![(Vec::new(), total)];
    for thread in &program.threads {
        found = found
            .into_iter()
            .flat_map(|(copies, left)| {
                let choices = match thread.copies {
                    Copies::Exactly(count) => vec![(count, left)],
                    Copies::Any => (0..=left).map(|count| (count, left - count)).collect(),
                };
                choices.into_iter().map(move |(count, left)| ([copies.as_slice(), &[count]].concat(), left))
            })
            .collect();
    }
    found.into_iter().filter(|(_, left)| *left == 0).map(|(copies, _)| copies).collect()
}

fn fixed_total(program: &Program) -> u64 {
    let fixed = |copies| if let Copies::Exactly(count) = copies { count } else { 0 };
    program.threads.iter().map(|thread| fixed(thread.copies)).sum()
}

#[test]
fn fixed_copies() {
    models().par_iter().for_each(|model| {
        let program = model.program(&model.fixed.threads);
        assert!(!program.is_parameterized(), "{}: the copies are not fixed", model.name);
        let robust = verdict(&model.name, &program) == Verdict::Robust;
        assert_eq!(robust, model.fixed.robust, "{}: robust for fixed copies", model.name);
    });
}

#[test]
fn any_number_of_copies() {
    models().par_iter().for_each(|model| {
        let name = &model.name;
        let program = model.program(&model.any.threads);
        assert!(program.is_parameterized(), "{name}: no number is left open");
        let checked = answer(name, &program);
        assert_eq!(checked.verdict == Verdict::Robust, model.any.robust, "{name}: robust for any number");
        let Some(violation) = checked.violation else {
            assert_eq!(model.smallest, None, "{name}");
            return;
        };
        let copies = violation.instance.counts();
        assert!(violation.instance_minimal, "{name}: no smaller instance was excluded");
        assert_eq!(model.smallest, Some(copies.iter().sum::<u64>()), "{name}: smallest instance");
        let instance = with_copies(&program, copies);
        assert_eq!(verdict(name, &instance), Verdict::NotRobust, "{name}: {copies:?}");
    });
}

#[test]
fn smaller_instances_are_robust() {
    models().par_iter().for_each(|model| {
        let Some(smallest) = model.smallest else { return };
        let program = model.program(&model.any.threads);
        let fixed = fixed_total(&program);
        for total in fixed..smallest {
            for copies in instances(&program, total - fixed) {
                let instance = with_copies(&program, &copies);
                if instance.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
                    continue;
                }
                assert_eq!(verdict(&model.name, &instance), Verdict::Robust, "{}: {copies:?}", model.name);
            }
        }
    });
}

/// What the algorithms are for: under SC, and under TSO with small buffers.
#[test]
fn properties() {
    const CAPACITY: usize = 2;
    sample(models(), 6).par_iter().for_each(|model| {
        let program = model.program(&model.fixed.threads);
        let instance = Instance::of(&program).expect("the copies are fixed");
        for (memory, expected) in [(Model::Sc, model.sc), (Model::Tso, model.tso)] {
            let Some(expected) = expected else { continue };
            let found = final_states(&program, &instance, memory, CAPACITY, &Limits::none());
            let found = found.unwrap_or_else(|error| panic!("{}: {error}", model.name));
            let right = found.violations.is_empty() && found.joint.is_empty();
            assert_eq!(right, expected, "{}: every `ensure` holds under {memory:?}", model.name);
        }
    });
}

/// A robust program needs no fence, one that is not needs some; robust for any number is robust for
/// fixed ones.
#[test]
fn expectations_are_consistent() {
    for model in &models() {
        let Header { name, fixed, any, smallest, fences, .. } = model;
        assert!(fixed.robust || !any.robust, "{name}");
        assert_eq!(smallest.is_some(), !any.robust, "{name}: `smallest` belongs to programs that are not robust");
        assert_eq!(fences.map_or(fixed.robust, |fences| fences == 0), fixed.robust, "{name}: `fences`");
        let (Some(sc), Some(tso)) = (model.sc, model.tso) else { continue };
        assert!(sc || !tso, "{name}: what fails under SC fails under TSO");
        assert!(sc == tso || !fixed.robust, "{name}: robust programs behave as under SC");
        // What `simulate` sees and what `prove` says are about the same.
        for (memory, holds) in model.proofs.iter().filter(|it| it.threads == fixed.threads).flat_map(|it| &it.answers) {
            let seen = [(Model::Sc, sc), (Model::Tso, tso)].into_iter().find(|(seen, _)| seen == memory);
            assert!(seen.is_none_or(|(_, seen)| seen == *holds), "{name}: {memory:?}");
        }
    }
}

/// The least number of fences; and of the fences that a model has already, the redundant ones.
#[test]
fn optimal_fences() {
    models().par_iter().filter(|model| !model.fixed.robust).for_each(|model| {
        let name = &model.name;
        let program = model.program(&model.fixed.threads);
        let options = FenceOptions { cost: CostFunction::Uniform, ..FenceOptions::default() };
        let Ok(Repair::Valid(placement)) = place(&program, &options, &Silent) else { panic!("{name}: no valid set") };
        assert!(placement.confirmed && placement.proof.is_some(), "{name}");
        assert_eq!(u64::try_from(placement.measures.len()).ok(), model.fences, "{name}: the least number of fences");
        let taken: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
        let judged = redundant_besides(&program, &taken, &options, &Silent).ok().and_then(Result::ok);
        let judged = judged.unwrap_or_else(|| panic!("{name}: its own fences are not judged"));
        let own = |thread: &Thread| thread.instructions.iter().filter(|found| found.action == Action::Fence).count();
        assert_eq!(judged.fences.len(), program.threads.iter().map(own).sum::<usize>(), "{name}");
    });
}

/// Fenced models are the programs they repair plus fences.
#[test]
fn fences_repair() {
    let models = models();
    for fenced in &models {
        let Some(original) = fenced.name.strip_suffix("-fenced") else { continue };
        let original = models.iter().find(|model| model.name == original).expect("there is an unfenced model");
        assert!(fenced.fixed.robust && !original.fixed.robust, "{}", fenced.name);
        let count = |model: &Header| {
            let program = model.program(&model.fixed.threads);
            let actions = program.threads.iter().flat_map(|thread| &thread.instructions);
            let (fences, others): (Vec<_>, Vec<_>) =
                actions.partition(|instruction| instruction.action == Action::Fence);
            (fences.len(), others.len())
        };
        let ((no_fence, before), (fences, after)) = (count(original), count(fenced));
        assert_eq!((no_fence, before), (0, after), "{}", fenced.name);
        assert_eq!(u64::try_from(fences).ok(), original.fences, "{}: the least number of fences", fenced.name);
    }
}

/// The table in the folder's README says what the headers say.
#[test]
fn the_table_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/README.md");
    let readme = std::fs::read_to_string(folder).expect("the README can be read");
    let rows: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| ["))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let models = models();
    assert_eq!(rows.len(), models.len(), "one row per model");
    let word = |robust| if robust { "robust" } else { "not-robust" };
    for model in &models {
        let name = &model.name;
        let link = format!("[{name}]({name}.pal)");
        let row = rows.iter().find(|row| row[0] == link).unwrap_or_else(|| panic!("{name} has no row"));
        let smallest = model.smallest.map_or("–".to_owned(), |smallest| smallest.to_string());
        let fences = model.fences.map_or("–".to_owned(), |fences| fences.to_string());
        let holds = |holds: Option<bool>| holds.map_or("–", |holds| if holds { "holds" } else { "fails" });
        let (fixed, any) = (word(model.fixed.robust), word(model.any.robust));
        let (proved, placed) = (model.proved(), model.placed());
        let expected = [fixed, any, &smallest, &fences, holds(model.sc), holds(model.tso), &proved, &placed];
        assert_eq!(row[2..], expected, "{name}");
    }
}

/// The attacks that control flow leaves open are what a search has to decide: some robust models
/// need one.
#[test]
fn some_proofs_need_a_search() {
    let searched = |model: &Header| {
        let program = model.program(&model.any.threads);
        let checked = check(&program, &CheckOptions::default()).expect("models have no faults");
        checked.attacks.iter().any(|report| report.outcome == AttackOutcome::Infeasible)
    };
    let locks = ["test-and-set", "mcs-lock", "clh-lock", "cilk-the-fenced", "chase-lev-fenced", "treiber-stack"];
    for model in models().iter().filter(|model| locks.contains(&model.name.as_str())) {
        assert!(searched(model), "{}: control flow decides it", model.name);
    }
}
