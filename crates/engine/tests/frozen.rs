//! Tests that compare results with frozen files: results of scenarios, normalised scenarios, messages about wrong
//! files, and the JSON schema. `frozen/README.md` says what to do when a frozen file changes.
//!
//! Environment variables: `LASTHOP_FREEZE=1` writes the files again and prints the differences. `LASTHOP_FROZEN_JOBS=2`
//! runs replications on two threads. `LASTHOP_FROZEN_ONLY=csma` runs only the scenarios with `csma` in their names.
//! `LASTHOP_FROZEN_OUT=DIR` writes complete results to `DIR`, to compare them with the results of another commit.

#[path = "frozen/blocks.rs"]
mod blocks;
#[path = "frozen/coverage.rs"]
mod coverage;
#[path = "frozen/defaults.rs"]
mod defaults;
#[path = "frozen/results.rs"]
mod results;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use blocks::{Block, path, read, text, wrong};
use defaults::Defaults;
use lasthop_enforce::{EXTENSION, NEEDS_GATEWAY, Tables, to_json, to_json_text};
use lasthop_engine::scenario::{Files, Format, Problem, Scenario};
use serde_json::Value;

/// Name and text of each block of a frozen file.
type Texts = Vec<(String, String)>;

/// Largest length of a normalised scenario that is stored as text. A longer scenario is stored as a hash. [bytes]
const LONGEST: usize = 10_000;

/// Largest number of differences printed. [-]
const MAX_LISTED: usize = 20;

/// Returns the files that scenarios refer to, such as traces.
fn files() -> Files {
    let times = b"3\n3\n8\n8\n8\n21\n40\n".to_vec();
    Files::from([("lte.down".to_owned(), Ok(times))])
}

fn parse(block: &Block) -> Result<Scenario, Vec<Problem>> {
    parse_with(block, &[]).map(|(scenario, _)| scenario)
}

fn parse_with(
    block: &Block,
    more: &[(String, String)],
) -> Result<(Scenario, Tables), Vec<Problem>> {
    let (format, source) = form(block);
    let settings = [block.settings().as_slice(), more].concat();
    let bytes = block.text.as_bytes();
    EXTENSION.parse_with_scenario(bytes, format, source, &settings, &files())
}

/// Returns the scenario of a block as JSON, with its extension tables.
fn whole(block: &Block) -> Result<Value, Vec<Problem>> {
    let (scenario, tables) = parse_with(block, &[])?;
    let json = to_json(&scenario, &tables);
    assert_eq!(to_json_text(&scenario, &tables), json.to_string());
    Ok(json)
}

/// Returns the gateway settings of a block as JSON.
fn gateway(block: &Block) -> Result<Value, Vec<Problem>> {
    let (format, source) = form(block);
    let (bytes, settings) = (block.text.as_bytes(), block.settings());
    let tables = EXTENSION.parse(NEEDS_GATEWAY, bytes, format, source, &settings, &files())?;
    Ok(tables.gateway.expect("a gateway is needed").to_json())
}

fn form(block: &Block) -> (Format, &'static str) {
    if block.words.contains("json") {
        (Format::Json, "x.json")
    } else {
        (Format::Toml, "x.toml")
    }
}

fn is_gateway(block: &Block) -> bool {
    block.words.contains("gateway")
}

fn freezes() -> bool {
    std::env::var_os("LASTHOP_FREEZE").is_some()
}

fn asked(block: &Block) -> bool {
    std::env::var("LASTHOP_FROZEN_ONLY").map_or(true, |part| block.name.contains(&part))
}

/// Returns the result of `work` for each of the `blocks`, in their order. The work is divided among all processors.
fn each<T: Send>(blocks: &[Block], work: impl Fn(&Block) -> Option<T> + Sync) -> Vec<(String, T)> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, block)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    blocks.get(index).map(|block| (index, block))
                } {
                    if let (true, Some(text)) = (asked(block), work(block)) {
                        let mut made = made.lock().expect("no thread panics with it");
                        made.insert(index, (block.name.clone(), text));
                    }
                }
            });
        }
    });
    let made = made.into_inner().expect("no thread panicked");
    made.into_values().collect()
}

/// Compares `now` with the content of the frozen `file`, or writes the file if `LASTHOP_FREEZE` is set.
fn same(file: &str, now: &Texts) {
    let before = read(file);
    let before: BTreeMap<&str, &str> = before
        .iter()
        .map(|block| (block.name.as_str(), block.text.as_str()))
        .collect();
    let names: BTreeSet<&str> = now.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), now.len(), "a name stands twice");
    let mut moved = Vec::new();
    for (name, text) in now {
        match before.get(name.as_str()) {
            Some(frozen) if frozen.trim_end() == text.trim_end() => {}
            Some(frozen) => moved.push(format!("{name}:\n{}", difference(frozen, text))),
            None => moved.push(format!("{name}: new\n")),
        }
    }
    let all = std::env::var_os("LASTHOP_FROZEN_ONLY").is_none();
    for name in before.keys().filter(|_| all) {
        if !names.contains(name) {
            moved.push(format!("{name}: gone\n"));
        }
    }
    let listed: String = moved.iter().take(MAX_LISTED).map(String::as_str).collect();
    let message = format!("{file}: {} of {} moved\n{listed}", moved.len(), now.len());
    if freezes() {
        assert!(all, "LASTHOP_FREEZE freezes all");
        let mut content = String::from("# Written by LASTHOP_FREEZE=1, see README.md.\n");
        for (name, text) in now {
            let _ = writeln!(content, "=== {name}\n{}", text.trim_end());
        }
        std::fs::write(path(file), content).expect("the file can be written");
        let _ = std::io::stderr().write_all(message.as_bytes()); // the test harness would hide the output of `eprint!`
    } else {
        assert!(moved.is_empty(), "{message}");
    }
}

/// Returns the lines that differ between `before` and `now`.
fn difference(before: &str, now: &str) -> String {
    let lost = before
        .lines()
        .filter(|line| !now.lines().any(|other| other == *line));
    let came = now
        .lines()
        .filter(|line| !before.lines().any(|other| other == *line));
    let lines = lost
        .map(|line| ("-", line))
        .chain(came.map(|line| ("+", line)));
    let mut listed = String::new();
    for (sign, line) in lines.take(MAX_LISTED) {
        let _ = writeln!(listed, "  {sign} {line}");
    }
    listed
}

/// Returns the problems as text, each with its hint and the setting that caused it.
fn said(problems: &[Problem]) -> String {
    let mut lines = String::new();
    for problem in problems {
        let _ = writeln!(lines, "{problem}");
        if let Some(hint) = &problem.hint {
            let _ = writeln!(lines, "hint: {hint}");
        }
        if let Some(setting) = &problem.setting {
            let _ = writeln!(lines, "set: {setting}");
        }
    }
    lines
}

/// Returns JSON as text, with one line for each value of the top level. A list has one line for each element.
fn by_lines(json: &Value) -> String {
    let mut lines = String::new();
    for (key, value) in json.as_object().expect("an object") {
        write_lines(key, value, &mut lines);
    }
    if lines.len() > LONGEST {
        return format!("hash {:016x}", results::hash(lines.as_bytes()));
    }
    lines
}

fn write_lines(path: &str, value: &Value, lines: &mut String) {
    match value {
        Value::Array(elements) if elements.iter().any(Value::is_object) => {
            for element in elements {
                let _ = writeln!(lines, "{path}[] {element}");
            }
        }
        Value::Object(inner) if inner.values().any(Value::is_array) => {
            for (key, value) in inner {
                write_lines(&format!("{path}.{key}"), value, lines);
            }
        }
        Value::Array(_)
        | Value::Object(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => {
            let _ = writeln!(lines, "{path} {value}");
        }
    }
}

#[test]
fn results() {
    results_of("results.txt", parse);
}

/// Tests effects that occur only in long runs: a large window, a fourth loss in a row, a setting that changes late.
#[test]
#[ignore = "ten times as long as the others"]
fn results_of_longer_runs() {
    results_of("longer.txt", |block| {
        let duration_s = 10.0 * parse(block)?.duration.seconds();
        let longer = ("duration".to_owned(), format!("{duration_s} s"));
        parse_with(block, &[longer]).map(|(scenario, _)| scenario)
    });
}

fn results_of(file: &str, parse: impl Fn(&Block) -> Result<Scenario, Vec<Problem>> + Sync) {
    let counted = results::Counted::read();
    let jobs = std::env::var("LASTHOP_FROZEN_JOBS").ok();
    let jobs = jobs.and_then(|text| text.parse().ok()).unwrap_or(1);
    let out = std::env::var("LASTHOP_FROZEN_OUT").ok();
    let now = each(&read("scenarios.txt"), |block| {
        // a gateway file may lack a scenario to simulate
        let scenario = match parse(block) {
            Ok(scenario) => scenario,
            Err(_) if is_gateway(block) => return None,
            Err(problems) => panic!("{}:\n{}", block.name, said(&problems)),
        };
        let result = results::run(&scenario, jobs);
        if let (Some(folder), Ok(result)) = (&out, &result) {
            let whole = results::whole(result);
            std::fs::write(format!("{folder}/{}.json", block.name), whole).expect("a folder");
        }
        Some(match result {
            Ok(result) => results::hashes(&scenario, &result, &counted),
            Err(error) => format!("error {error}"),
        })
    });
    same(file, &now);
}

#[test]
fn normalised() {
    let scenarios = each(&read("scenarios.txt"), |block| {
        let (kind, json) = match is_gateway(block) {
            true => ("gateway", gateway(block)),
            false => ("scenario", whole(block)),
        };
        match json {
            Ok(json) => Some((kind, json)),
            Err(problems) => panic!("{}:\n{}", block.name, said(&problems)),
        }
    });
    let mut defaults = Defaults::read();
    if freezes() {
        let all: Vec<(&str, &Value)> = scenarios
            .iter()
            .map(|(_, (kind, json))| (*kind, json))
            .collect();
        defaults.freeze(&all);
    }
    let now: Texts = scenarios
        .into_iter()
        .map(|(name, (kind, json))| {
            let difference = defaults.difference(kind, &json);
            assert_eq!(defaults.expand(kind, &difference), json, "{name}");
            (name, by_lines(&difference))
        })
        .collect();
    same("normalised.txt", &now);
}

/// Tests the messages about faults in a file. Files with some of these faults are still accepted.
#[test]
fn refusals() {
    let now = each(&wrong(&read("scenarios.txt")), |block| {
        let outcome = |parsed: Result<Value, Vec<Problem>>| match parsed {
            Ok(json) => format!(
                "accepted {:016x}",
                results::hash(json.to_string().as_bytes())
            ),
            Err(problems) => said(&problems),
        };
        let mut text = String::new();
        for (order, rest) in &block.orders {
            let _ = writeln!(text, "> {order} {rest}");
        }
        text.push_str(&outcome(whole(block)));
        if is_gateway(block) {
            let _ = write!(text, "\nas a gateway:\n{}", outcome(gateway(block)));
        }
        Some(text)
    });
    same("refusals.txt", &now);
}

#[test]
fn schema_as_it_was() {
    let now = format!("{:#}\n", EXTENSION.schema());
    if freezes() {
        std::fs::write(path("schema.json"), &now).expect("the file can be written");
    }
    let before = text("schema.json");
    assert!(before == now, "schema.json\n{}", difference(&before, &now));
}

/// Checks that every key, table and word of the scenario grammar occurs in at least two frozen scenarios.
#[test]
fn every_word_of_the_grammar_occurs() {
    let scenarios = read("scenarios.txt");
    let texts: Vec<&str> = (scenarios.iter())
        .filter(|block| !block.words.contains("json"))
        .map(|block| block.text.as_str())
        .collect();
    let rare = coverage::rare(&EXTENSION.schema(), &texts, 2);
    assert!(rare.is_empty(), "less than twice: {rare:#?}");
}
