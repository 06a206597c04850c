//! Durations of PPDUs compared with a second, independent implementation. The second implementation was checked against
//! ns-3 3.44 (`ns3`) and against a chip maker's driver.

use lasthop_engine::kernel::time::Span;
use lasthop_engine::mac::ppdu::{Coding, Departures, Generation, Modulation};

const TABLE: &str = include_str!("ppdu.csv");

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

#[test]
fn durations_are_those_of_a_second_implementation() {
    let mut wrong = Vec::new();
    for line in TABLE.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let modulation = Modulation {
            generation: match cells[0] {
                "ht" => Generation::Ht,
                "vht" => Generation::Vht,
                _ => Generation::He,
            },
            width_mhz: number(cells[1]) as u32,
            mcs: number(cells[2]) as u32 % if cells[0] == "ht" { 8 } else { 12 },
            streams: number(cells[3]) as u32,
            guard_interval: Span(number(cells[4])),
            ltf: Span(number(cells[5])),
            coding: match cells[6] {
                "bcc" => Coding::Bcc,
                _ => Coding::Ldpc,
            },
            signal_extension: cells[7] == "2.4",
            padding: Span(1_000 * number(cells[8])),
            departures: match cells[10] {
                "true" => Departures::NS3,
                _ => Departures::default(),
            },
        };
        let took = modulation.duration(number(cells[9]) as u32);
        if !modulation.departures.bcc_throughout && !modulation.is_allowed() {
            wrong.push(format!("not allowed: {line}"));
        } else if took != Span(number(cells[11])) {
            wrong.push(format!("{} ns: {line}", took.0));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of 600:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
