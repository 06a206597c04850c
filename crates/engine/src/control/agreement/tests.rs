use super::*;
use crate::control::WceRule;
use crate::kernel::streams::Streams;

/// A WLAN as a fluid: a FIFO of so many bytes whose capacity changes, behind a bottleneck that is never idle.
struct Fluid {
    capacity_bps: fn(f64) -> f64,
    buffer_bytes: f64,
    /// Round-trip time without a queue. [s]
    base_s: f64,
    /// What a station adds to its answers, at a time; infinite if it does not answer. [s]
    adds_s: Box<dyn Fn(u32, f64) -> f64>,
    stations: u32,
}

/// An instant of a run: time [s], C [bit/s], queueing delay [s].
struct Instant {
    at_s: f64,
    rate_bps: f64,
    queue_s: f64,
}

fn settings(max_bps: u64) -> WceSettings {
    WceSettings::new(WceRule::Agreement, max_bps, WceSettings::INTERVAL)
}

impl Fluid {
    fn of(capacity_bps: fn(f64) -> f64, stations: u32) -> Fluid {
        Fluid {
            capacity_bps,
            buffer_bytes: 200.0 * 1514.0,
            base_s: 1e-3,
            adds_s: Box::new(|_, _| 0.0),
            stations,
        }
    }

    fn run(&self, seconds: f64) -> (Vec<Instant>, Agreement) {
        let mut one = Agreement::new(settings(24_000_000), Streams::new(1, 0).stream("pings"));
        let active: Vec<u32> = (0..self.stations).collect();
        let (mut queue_bytes, mut passed, mut next) = (0.0, 0.0, 0.0);
        let mut under_way: Vec<(f64, f64, u32)> = Vec::new();
        let mut draws = Streams::new(1, 0).stream("losses");
        let mut seen = Vec::new();
        let step_s = 1e-3;
        for k in 0..(seconds / step_s) as u64 {
            let at_s = k as f64 * step_s;
            let now = Time((at_s * 1e9) as u64);
            let capacity_bps = (self.capacity_bps)(at_s);
            let rate_bps = one.capacity_bps() as f64;
            passed += rate_bps / 8.0 * step_s;
            queue_bytes += (rate_bps - capacity_bps) / 8.0 * step_s;
            let overflows = queue_bytes > self.buffer_bytes;
            queue_bytes = queue_bytes.clamp(0.0, self.buffer_bytes);
            let queue_s = queue_bytes * 8.0 / capacity_bps;
            let mut asks = Vec::new();
            if at_s >= next {
                next += 0.1;
                asks = one.tick(now, &active, passed as u64);
            }
            let (due, rest): (Vec<_>, Vec<_>) =
                under_way.into_iter().partition(|ping| ping.0 <= at_s);
            under_way = rest;
            for (_, sent_s, number) in due {
                let rtt = Span::from_seconds(at_s - sent_s);
                let answered = one.answer(now, number as u16, Some(rtt), passed as u64);
                asks.extend(answered.map(|(_, asks)| asks).unwrap_or_default());
            }
            for ask in asks {
                let adds_s = (self.adds_s)(ask.station, at_s);
                let is_lost = overflows && draws.chance(1.0 - capacity_bps / rate_bps);
                if adds_s.is_finite() && !is_lost {
                    under_way.push((at_s + self.base_s + queue_s + adds_s, at_s, ask.number));
                }
            }
            seen.push(Instant {
                at_s,
                rate_bps: one.capacity_bps() as f64,
                queue_s,
            });
        }
        (seen, one)
    }
}

fn during(seen: &[Instant], from_s: f64, to_s: f64) -> impl Iterator<Item = &Instant> + Clone {
    seen.iter()
        .filter(move |one| (from_s..to_s).contains(&one.at_s))
}

/// Least and largest C. [Mbit/s]
fn range(seen: &[Instant], from_s: f64, to_s: f64) -> (f64, f64) {
    let rates = during(seen, from_s, to_s).map(|one| one.rate_bps / 1e6);
    (
        rates.clone().fold(f64::MAX, f64::min),
        rates.fold(0.0, f64::max),
    )
}

fn mean_rate(seen: &[Instant], from_s: f64, to_s: f64) -> f64 {
    let rates: Vec<f64> = during(seen, from_s, to_s)
        .map(|one| one.rate_bps / 1e6)
        .collect();
    rates.iter().sum::<f64>() / rates.len() as f64
}

fn drop_and_rise(at_s: f64) -> f64 {
    if (20.0..35.0).contains(&at_s) {
        6e6
    } else {
        20e6
    }
}

#[test]
fn it_follows_a_capacity_that_falls_and_rises() {
    for stations in [1, 2, 3, 5, 20] {
        for packets in [75.0, 200.0, 300.0] {
            let fluid = Fluid {
                buffer_bytes: packets * 1514.0,
                ..Fluid::of(drop_and_rise, stations)
            };
            let (seen, _) = fluid.run(50.0);
            let said = format!("{stations} stations, {packets} packets");
            let (least, _) = range(&seen, 20.0, 35.0);
            let mut queues: Vec<f64> = during(&seen, 20.0, 25.0).map(|one| one.queue_s).collect();
            queues.sort_by(f64::total_cmp);
            let median = queues[queues.len() / 2];
            // a FIFO of 200 packets of 1514 bytes lasts 0.4 s at 6 Mbit/s
            let drained_s = 24.0 + (packets - 200.0_f64).max(0.0) / 100.0;
            let (low, high) = (range(&seen, drained_s, 35.0), range(&seen, 41.0, 50.0));
            assert!(least > 3.8, "{said}: {least}");
            assert!(low.0 > 4.7 && low.1 < 6.6, "{said}: {low:?}");
            assert!(high.0 > 17.4 && high.1 < 22.0, "{said}: {high:?}");
            assert!(packets > 200.0 || median <= 0.224, "{said}: {median}");
        }
    }
}

/// A name, and what is added to an answer at a time. [s]
type Kind = (&'static str, fn(f64) -> f64);

#[test]
fn a_minority_that_is_late_moves_nothing() {
    for (stations, bad) in [(20, 1), (20, 2), (20, 5), (20, 9), (3, 1), (5, 2), (2, 1)] {
        let (honest, _) = Fluid::of(|_| 20e6, stations).run(40.0);
        let honest = mean_rate(&honest, 10.0, 40.0);
        let kinds: [Kind; 7] = [
            ("50 ms", |_| 0.05),
            ("300 ms", |_| 0.3),
            ("2 s", |_| 2.0),
            ("silent", |_| f64::INFINITY),
            ("flapping", |at| if at % 6.0 < 3.0 { 0.3 } else { 0.0 }),
            ("flapping fast", |at| if at % 1.0 < 0.5 { 0.3 } else { 0.0 }),
            ("asleep", |at| 0.1024 - at % 0.1024),
        ];
        for (kind, adds) in kinds {
            let adds_s = Box::new(move |station, at| {
                if station < bad && at > 5.0 {
                    adds(at)
                } else {
                    0.0
                }
            });
            let (seen, _) = Fluid {
                adds_s,
                ..Fluid::of(|_| 20e6, stations)
            }
            .run(40.0);
            let mean = mean_rate(&seen, 10.0, 40.0);
            assert!(
                mean > 0.98 * honest,
                "{bad} of {stations} {kind}: {mean} of {honest}"
            );
        }
    }
}
