//! Verdicts on the shipped models, and on the public corpus where `PALISADE_CORPUS` says where it
//! is.

use criterion::{Criterion, criterion_group, criterion_main};
use palisade::program::{Copies, Program};
use palisade::questions::{About, confirm};
use palisade::robustness::{CheckOptions, check};
use palisade::syntax::{self, Format};
use std::hint::black_box;
use std::path::{Path, PathBuf};

fn read(path: &Path) -> Program {
    let format = Format::of_path(path).expect("the file's extension tells its format");
    let source = syntax::read_text(&path.display().to_string()).expect("the file can be read");
    let mut program = syntax::parse(source, format).expect("the file parses").program;
    syntax::check(&mut program).expect("the program is in order");
    program
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

fn bench_files(criterion: &mut Criterion, group: &str, files: &[PathBuf], any: bool) {
    let mut group = criterion.benchmark_group(group);
    group.sample_size(10);
    for path in files {
        let mut program = read(path);
        if any {
            program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
        }
        let options = CheckOptions { all: !any, ..CheckOptions::default() };
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Ok(checked) = check(&program, &options)
            && let Some(Err(failure)) = confirm(&About::new(&program), &checked)
        {
            panic!("{name}: {failure}");
        }
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(check(black_box(&program), &options).map(|checked| checked.verdict)));
        });
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    let models = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../models"), "pal");
    bench_files(criterion, "models", &models, false);
    if let Some(corpus) = std::env::var_os("PALISADE_CORPUS").map(PathBuf::from) {
        bench_files(criterion, "families", &files(&corpus.join("families"), "txt"), false);
        bench_files(criterion, "trencher, any number", &files(&corpus.join("trencher"), "txt"), true);
    }
}

criterion_group!(verdicts, benches);
criterion_main!(verdicts);
