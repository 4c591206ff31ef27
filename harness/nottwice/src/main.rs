//! The `nottwice` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let exit = nottwice::main(std::env::args_os());
    ExitCode::from(u8::try_from(exit as i32).unwrap_or(u8::MAX))
}
