//! The binary `oncemore`; all of it is in the library.

fn main() -> std::process::ExitCode {
    oncemore::main()
}
