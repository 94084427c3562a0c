//! Lifts the roles that a file describes and shows the listing and the program as text in the
//! native language.

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    match palisade_machine::read(&path) {
        Ok(program) => {
            let printed = palisade_syntax::print(&program, palisade_syntax::Format::Native);
            let text = printed.map_or(String::new(), |printed| printed.text);
            std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()).unwrap_or_default();
            std::io::Write::write_all(&mut std::io::stderr(), program.source.text.as_bytes()).unwrap_or_default();
        }
        Err(error) => {
            std::io::Write::write_all(&mut std::io::stderr(), error.render(false).as_bytes()).unwrap_or_default();
            std::process::exit(3);
        }
    }
}
