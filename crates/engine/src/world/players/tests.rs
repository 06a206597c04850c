//! Tests of pages and adaptive video of a station: transfer times that were worked by hand, and a
//! second computation of the buffer.

use std::ops::ControlFlow;

use super::super::{Watch, World};
use super::*;
use crate::kernel::time::Span;
use crate::packet::Direction;
use crate::scenario::{Format, Scenario, parse};

fn scenario(text: &str) -> Scenario {
    match parse(text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?} in {text}"),
    }
}

/// Returns the world at the end of a run.
fn world(scenario: &Scenario) -> World<'_> {
    let mut look = |_: Time| ControlFlow::Continue(());
    let mut watch = Watch {
        look: &mut look,
        exchange: None,
    };
    let mut world = World::new(scenario, 0).unwrap();
    world.run_to_end(&mut watch).unwrap();
    assert_eq!(crate::measure::check_conservation(&world), Ok(()));
    world
}

/// A cell without backoffs, and a wire of 8 Mb/s (1 us per byte) with a delay of 10 ms. `station` is
/// the traffic of the only station.
fn idle_cell(station: &str) -> Scenario {
    scenario(&format!(
        "duration = \"4 s\"\nwarmup = \"0 s\"\n\
         cell = {{ phy = \"802.11g\", cwmin = 0, ap.cwmin = 0, ap_queue = 1000 }}\n\
         wire = {{ rate = \"8 Mbps\", delay = \"10 ms\", queue = 1000 }}\n\
         tcp = {{ delayed_ack = false, mss = \"1000 B\", header = \"40 B\", window = 500 }}\n\
         [station.a]\n{station}\n"
    ))
}

/// SIFS and MAC ACK of 802.11g at 24 Mb/s. [s]
const MAC_ACK_S: f64 = 44e-6;

/// Time for which a packet waits that becomes ready at the end of a data frame: SIFS, MAC ACK and
/// DIFS. [s]
const WAIT_S: f64 = MAC_ACK_S + 28e-6;

/// Returns the time in which a packet of `bytes` bytes passes the idle medium: the data frame. [s]
fn air_s(scenario: &Scenario, bytes: u32, direction: Direction) -> f64 {
    let exchange = (scenario.only_bss().cell).exchange(bytes, scenario.rates(0, direction));
    exchange.seconds() - MAC_ACK_S
}

#[test]
fn a_page_takes_its_transfers_over_the_wire_and_the_air() {
    let scenario = idle_cell(
        "tcp = { handshake = true, initial_window = 2 }\nweb = { connections = 0.1, \
         arrivals = \"constant\", request = \"300 B\", response = \"1 kB\", server_delay = \"3 ms\" }",
    );
    let world = world(&scenario);
    let web = &world.flows().webs().sources()[0];
    // over the wire alone it takes 44.46 ms, see the test of a lone transaction between wired nodes
    let up_s = air_s(&scenario, 40, Direction::Up) + air_s(&scenario, 340, Direction::Up);
    let down_s = air_s(&scenario, 40, Direction::Down) + air_s(&scenario, 1040, Direction::Down);
    // the request waits for the end of the exchange of the SYN-ACK
    let expected_s = 44.46e-3 + up_s + down_s + WAIT_S;
    let measured_s = web.completions().mean_s().unwrap();
    assert_eq!(web.totals(), (1, 1));
    assert!(
        (measured_s - expected_s).abs() < 1e-9,
        "{measured_s} {expected_s}"
    );
}

#[test]
fn a_chunk_takes_its_transfers_over_the_wire_and_the_air() {
    let scenario = idle_cell(
        "stream = { bitrates = [\"1 Mbps\"], chunk = \"1 s\", buffer = \"100 s\", \
         server_delay = \"3 ms\", initial_window = 500, after_idle = \"keep\", handshake = false }",
    );
    let world = world(&scenario);
    let application = world.flows().states()[0].application().unwrap();
    let chunks = application.player().unwrap().chunks();
    assert!(chunks.len() > 10);
    // request of 440 B, server, 125 segments of 1040 B, the last of which passes the air
    let wire_s = 0.44e-3 + 10e-3 + 3e-3 + 125.0 * 1.04e-3 + 10e-3;
    let (up, down) = (Direction::Up, Direction::Down);
    let first_s = air_s(&scenario, 440, up) + wire_s + air_s(&scenario, 1040, down);
    // later requests wait for the ACK of the last segment, and for two exchanges to end
    let later_s = first_s + air_s(&scenario, 40, up) + 2.0 * WAIT_S;
    for (index, chunk) in chunks.iter().enumerate() {
        let expected_s = if index == 0 { first_s } else { later_s };
        let measured_s = chunk.arrived.since(chunk.requested).seconds();
        assert!(
            (measured_s - expected_s).abs() < 1e-9,
            "chunk {index}: {measured_s} {expected_s}"
        );
    }
}

/// Checks the buffer, the stalls and the bitrates of a stream with competing downloads and losses
/// against a computation in steps of a millisecond. It uses only the times at which chunks arrived,
/// and the definition in `docs/concepts/video.md`.
#[test]
fn the_player_agrees_with_a_second_computation_in_small_steps() {
    for adaptation in ["throughput", "buffer"] {
        let text = format!(
            "duration = \"60 s\"\nwarmup = \"0 s\"\ncell.phy = \"802.11g\"\n\
             wire = {{ rate = \"6 Mbps\", delay = \"10 ms\", queue = 60, loss = 0.001 }}\n\
             [station.a]\nstream = {{ bitrates = [\"500 kbps\", \"1 Mbps\", \"2 Mbps\", \"4 Mbps\"], \
             chunk = \"2 s\", buffer = \"12 s\", startup = \"3 s\", adaptation = \"{adaptation}\" }}\n\
             [station.b]\ndownload = {{ connections = 4, start = \"20 s\", stop = \"45 s\" }}\n"
        );
        let scenario = scenario(&text);
        let world = world(&scenario);
        let application = world.flows().states()[0].application().unwrap();
        let player = application.player().unwrap();
        check_in_steps(player, adaptation);
    }
}

fn check_in_steps(player: &Player, adaptation: &str) {
    let rates = [0.5e6, 1e6, 2e6, 4e6];
    let (chunk, most, startup) = (2.0, 12.0, 3.0);
    let chunks: Vec<(f64, f64, f64)> = (player.chunks().iter())
        .map(|own| {
            let (requested, arrived) = (own.requested.seconds(), own.arrived.seconds());
            (requested, arrived, own.bitrate_bps as f64)
        })
        .collect();
    assert!(chunks.len() > 15, "{}", chunks.len());
    let (mut buffer, mut plays, mut stalled, mut stalls) = (0.0, false, 0.0, 0);
    let (mut began, mut next) = (None, 0);
    let step = 1e-3;
    for k in 0..60_000 {
        let now = f64::from(k) * step;
        while next < chunks.len() && chunks[next].1 <= now {
            buffer += chunk;
            next += 1;
            if !plays && buffer >= startup {
                plays = true;
                began.get_or_insert(now);
            }
        }
        let shown = player.tally(Time(0), Time((now * 1e9) as u64)).stalled;
        assert!(
            (shown.seconds() - stalled).abs() < 0.05,
            "{now}: {stalled} {shown:?}"
        );
        if plays {
            buffer -= step;
            if buffer < 0.0 {
                (buffer, plays) = (0.0, false);
                stalls += 1;
            }
        } else if began.is_some() {
            stalled += step;
        }
    }
    let tally = player.tally(Time(0), Time(60_000_000_000));
    assert_eq!(tally.stalls, stalls, "{adaptation}");
    let started = player.startup().map(Span::seconds).unwrap_or_default();
    assert!((started - began.unwrap_or_default()).abs() <= step);
    // bitrates and times of requests
    let mut level = 0_usize;
    let mut history: Vec<f64> = Vec::new();
    for (index, &(requested, arrived, bitrate)) in chunks.iter().enumerate() {
        let queued = buffer_at(&chunks[..index], requested, startup, chunk);
        if index > 0 {
            let free = chunks[index - 1].1;
            let full = buffer_at(&chunks[..index], free, startup, chunk).0 + chunk - most;
            let expected = free + if queued.1 { full.max(0.0) } else { 0.0 };
            assert!(
                (requested - expected).abs() < 1e-6,
                "chunk {index}: {requested} {expected}"
            );
            level = match adaptation {
                "throughput" => {
                    let last = &history[history.len().saturating_sub(5)..];
                    let mean = last.len() as f64 / last.iter().map(|rate| 1.0 / rate).sum::<f64>();
                    rates
                        .iter()
                        .rposition(|&rate| rate <= 0.9 * mean)
                        .unwrap_or(0)
                }
                _ => by_buffer(&rates, level, queued.0, (most, chunk)),
            };
        }
        assert_eq!(bitrate, rates[level], "chunk {index} of {adaptation}");
        history.push(bitrate * chunk / (arrived - requested));
    }
}

/// Returns the buffer at `now`, and whether the video plays, from the arrivals of chunks.
fn buffer_at(chunks: &[(f64, f64, f64)], now: f64, startup: f64, chunk: f64) -> (f64, bool) {
    let (mut buffer, mut plays, mut since) = (0.0_f64, false, 0.0);
    for &(_, arrived, _) in chunks {
        if plays {
            buffer -= arrived - since;
            if buffer < 0.0 {
                (buffer, plays) = (0.0, false);
            }
        }
        since = arrived;
        buffer += chunk;
        plays |= buffer >= startup;
    }
    if plays {
        buffer = (buffer - (now - since)).max(0.0);
    }
    (buffer, plays)
}

/// Returns the next level of BBA-0. All times are in seconds.
fn by_buffer(rates: &[f64], level: usize, queued: f64, (most, chunk): (f64, f64)) -> usize {
    let top = rates.len() - 1;
    let full = f64::min(0.9 * most, most - chunk);
    let reservoir = 0.375 / 0.9 * full;
    if queued <= reservoir {
        return 0;
    }
    if queued >= full - 1e-9 {
        return top;
    }
    let f = rates[0] + (rates[top] - rates[0]) * (queued - reservoir) / (full - reservoir);
    let (plus, minus) = (rates[(level + 1).min(top)], rates[level.saturating_sub(1)]);
    if f >= plus {
        rates.iter().rposition(|&rate| rate < f).unwrap_or(0)
    } else if f <= minus {
        rates.iter().position(|&rate| rate > f).unwrap_or(top)
    } else {
        level
    }
}
