use palisade_model::text::SourceText;
use palisade_syntax::{Format, parse, print, read, render};
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let format = Format::of_path(std::path::Path::new(&path)).unwrap();
        let source = SourceText::new(&path, text);
        match read(source.clone(), format) {
            Ok(parsed) => {
                for warning in &parsed.warnings {
                    eprintln!("{}", render(warning, &source, false));
                }
                let once = print(&parsed.program, Format::Native).unwrap().text;
                if std::env::var("QUIET").is_err() {
                    println!("{once}");
                }
                let again = SourceText::new("again.pal", once.clone());
                match parse(again.clone(), Format::Native) {
                    Ok(p2) => {
                        let twice = print(&p2.program, Format::Native).unwrap().text;
                        if once != twice {
                            println!("DIFFERS {path}\n{twice}");
                        }
                    }
                    Err(errors) => {
                        for e in errors {
                            println!("AGAIN {path} {}", render(&e, &again, false));
                        }
                    }
                }
            }
            Err(errors) => {
                for e in errors {
                    println!("ERR {path}: {}", render(&e, &source, false));
                }
            }
        }
    }
}
