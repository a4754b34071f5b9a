//! `cargo run -p xtask -- tidy | docs`: checks the tree's style, writes the generated pages.
#![expect(clippy::print_stdout, reason = "a chore talks to whoever runs it")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let root = xtask::root();
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => {
            let offences = xtask::tidy::offences(&root);
            for offence in &offences {
                println!("{offence}");
            }
            if offences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Some("docs") => match xtask::docs::write(&root) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("{error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            println!("usage: cargo run -p xtask -- tidy | docs");
            ExitCode::from(2)
        }
    }
}
