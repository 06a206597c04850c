//! Prints the result of a scenario file, without Python: `summary FILE [JOBS [KEY=VALUE]...]`.

use std::ops::ControlFlow;
use std::process::ExitCode;

use lasthop_engine::run;
use lasthop_engine::scenario::{Format, parse};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default();
    let jobs = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let setting = |text: String| {
        let (path, value) = text.split_once('=')?;
        Some((path.to_owned(), value.to_owned()))
    };
    let settings: Vec<_> = arguments.filter_map(setting).collect();
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
    match run(&scenario, jobs, &|_| ControlFlow::Continue(())) {
        Ok(result) => {
            print!("{}", result.summary_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
