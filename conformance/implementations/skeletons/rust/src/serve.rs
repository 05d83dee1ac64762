//! The two ways in which a driver is started: once for each request, or once for many.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::Value as Json;

use crate::protocol::{Driver, Refusal, answer};

/// The exit status of an operation that the driver does not know.
const UNKNOWN_OPERATION: u8 = 3;

/// Answer as the arguments of the process say: `driver REQUEST ANSWER`, or `driver --serve`.
pub fn run(driver: &impl Driver) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--serve"] => serve(driver, io::stdin().lock(), io::stdout().lock()).map(|()| ExitCode::SUCCESS),
        [request, answers] => one_request(driver, request, answers),
        _ => {
            eprintln!("usage: driver REQUEST ANSWER, or: driver --serve");
            return ExitCode::from(2);
        }
    };
    ended.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

/// One request in a file, its answer in another.
fn one_request(driver: &impl Driver, request: &str, answers: &str) -> io::Result<ExitCode> {
    let request: Json = serde_json::from_slice(&std::fs::read(request)?)?;
    let mut out = File::create(answers)?;
    let known = answer(driver, &request, &mut |line| write_line(&mut out, &line))?;
    Ok(if known { ExitCode::SUCCESS } else { ExitCode::from(UNKNOWN_OPERATION) })
}

/// One request a line, its answer lines behind it, until the requests end.
fn serve(driver: &impl Driver, requests: impl BufRead, mut out: impl Write) -> io::Result<()> {
    for request in requests.lines() {
        let request: Json = serde_json::from_str(&request?)?;
        if !answer(driver, &request, &mut |line| write_line(&mut out, &line))? {
            write_line(&mut out, &Refusal::UnknownOperation.to_json())?;
        }
    }
    Ok(())
}

/// A line, written out at once: what follows may crash, and must not take this answer along.
fn write_line(out: &mut impl Write, line: &Json) -> io::Result<()> {
    writeln!(out, "{line}")?;
    out.flush()
}
