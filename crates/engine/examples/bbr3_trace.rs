//! Prints the trace of the first BBR v3 connection of a scenario file: `bbr3_trace FILE [KEY=VALUE]...`.
//! The first replication of the file is simulated. `bench/README.md` describes the trace.

use std::ops::ControlFlow;
use std::process::ExitCode;

use lasthop_engine::run;
use lasthop_engine::scenario::{Format, parse};
use lasthop_engine::tcp::take_bbr3_trace;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default();
    let mut settings: Vec<_> = arguments
        .filter_map(|text| {
            let (key, value) = text.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        })
        .collect();
    settings.push(("replications".to_owned(), "1".to_owned()));
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("cannot read {path}");
        return ExitCode::from(2);
    };
    let scenario = match parse(&text, Format::Toml, &path, &settings) {
        Ok(scenario) => scenario,
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            return ExitCode::from(2);
        }
    };
    take_bbr3_trace();
    if let Err(error) = run(&scenario, 1, &|_| ControlFlow::Continue(())) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    take_bbr3_trace().iter().for_each(|line| println!("{line}"));
    ExitCode::SUCCESS
}
