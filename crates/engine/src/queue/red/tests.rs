//! Compares RED with calculated traces, with output of ns-2, and with a second implementation that
//! follows the published code line by line.

use proptest::prelude::*;

use super::*;
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
use crate::packet::{Ecn, PacketKind};

const SETTING: RedSetting = RedSetting {
    form: RedForm::Published,
    min_th: 2.0,
    max_th: 4.0,
    max_p: 0.1,
    weight: RedWeight::Given(0.25),
    gentle: false,
    wait: false,
    bytes: false,
    ecn: false,
    mean_packet_bytes: 500,
};

/// Egress at which a packet of 500 B takes 4 ms.
const OUTLET: Egress = Egress {
    rate_bps: 1_000_000,
    is_fixed: true,
    delay: Span(10_000_000),
};

fn stream() -> Stream {
    Streams::new(1, 0).stream("red")
}

fn red(setting: RedSetting) -> Red {
    Red::new(setting, 50, OUTLET, stream())
}

fn packet(bytes: u16) -> Packet {
    Packet {
        flow: 0,
        number: 0,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes,
        hop: 0,
        kind: PacketKind::Segment,
        ..Packet::SAMPLE
    }
}

/// Returns a backlog of `packets` packets of 500 B. An empty queue has been idle since `idle_ns`.
fn backlog(packets: u32, idle_ns: u64) -> Backlog {
    Backlog {
        packets,
        bytes: u64::from(packets) * 500,
        in_service_bytes: 500 * packets.min(1),
        idle_since: (packets == 0).then_some(Time(idle_ns)),
    }
}

fn close(value: f64, expected: f64) {
    let error = (value - expected).abs();
    assert!(error <= 1e-12 * expected.abs(), "{value} for {expected}");
}

#[test]
fn the_published_average_and_probability_follow_a_trace_worked_by_hand() {
    let mut queue = red(SETTING);
    // calculated average, count after the decision, and p_b, for weight 1/4 and queue lengths 4, 4,
    // 4, 8
    for (value, average, count, p_b) in [
        (4, 1.0, -1, None),
        (4, 1.75, -1, None),
        (4, 2.3125, 0, Some(0.1 * 0.3125 / 2.0)),
        (8, 3.734_375, 1, Some(0.1 * 1.734_375 / 2.0)),
    ] {
        let verdict = queue.admit(Time(1), &backlog(value, 0), &packet(500));
        close(queue.average, average);
        assert_eq!((verdict, queue.count), (Verdict::Enter, count));
        if let Some(p_b) = p_b {
            close(queue.base_probability(), p_b);
        }
    }
    // p_a = p_b / (1 - count p_b), but at most 1: the last two packets are certainly dropped
    close(queue.spread(0.1, 0.0), 0.1);
    close(queue.spread(0.1, 5.0), 0.2);
    close(queue.spread(0.1, 9.5), 1.0);
    close(queue.spread(0.25, 4.0), 1.0);
    // if the average reaches max_th, all packets are dropped
    assert_eq!(
        queue.admit(Time(2), &backlog(9, 0), &packet(500)),
        Verdict::Drop
    );
    close(queue.average, 5.050_781_25);
    assert_eq!(queue.count, 0);
    // 10 ms without packets are 2.5 packet times: the exponent of the idle time is a real number,
    // and the arriving packet does not count
    queue.admit(Time(30_000_000), &backlog(0, 20_000_000), &packet(500));
    close(queue.average, 5.050_781_25 * libm::pow(0.75, 2.5));
    assert_eq!(queue.count, 1, "2.46 is above min_th");
}

#[test]
fn waiting_doubles_the_distance_and_gentle_goes_on_to_one() {
    let queue = red(RedSetting {
        wait: true,
        ..SETTING
    });
    close(queue.spread(0.1, 9.0), 0.0);
    close(queue.spread(0.1, 15.0), 0.2);
    close(queue.spread(0.1, 19.0), 1.0);
    close(queue.spread(0.1, 20.0), 1.0);
    let mut gentle = red(RedSetting {
        gentle: true,
        ..SETTING
    });
    for (average, p_b) in [
        (2.0, 0.0),
        (3.0, 0.05),
        (4.0, 0.1),
        (6.0, 0.55),
        (7.9, 0.9775),
    ] {
        gentle.average = average;
        close(gentle.base_probability(), p_b);
    }
}

/// Output of ns-2.35 for packets of 500 B at 1 Mb/s, with thresholds 2 and 4, weight 0.25, without
/// `gentle` and with `wait`. The values are the time of an arrival [us], the average after the
/// arrival, and the number of waiting packets before the arrival.
const NS2_TRACE: &[(u64, f64, u32)] = &[
    (10_000, 0.0, 0),
    (10_100, 0.0, 0),
    (10_200, 0.25, 1),
    (10_300, 0.6875, 2),
    (10_400, 1.26562, 3),
    (10_500, 1.94922, 4),
    (10_600, 2.71191, 5),
    (10_700, 3.53394, 6),
    (10_800, 4.40045, 7),
    (15_000, 4.80034, 6),
    (15_100, 5.10025, 6),
    (15_200, 5.32519, 6),
    (15_300, 5.49389, 6),
    (15_400, 5.62042, 6),
    (15_500, 5.71531, 6),
    (15_600, 5.78649, 6),
    (15_700, 5.83986, 6),
    (15_800, 5.8799, 6),
    (15_900, 5.90992, 6),
    (16_000, 5.93244, 6),
    (16_100, 5.94933, 6),
    (16_200, 5.962, 6),
    (149_000, 0.00252375, 0),
    (149_100, 0.00189281, 0),
    (149_200, 0.25142, 1),
    (199_000, 0.0141583, 0),
    (199_100, 0.0106187, 0),
];

#[test]
fn the_average_is_the_one_that_ns2_prints() {
    let mut queue = red(RedSetting {
        form: RedForm::Ns2,
        wait: true,
        ..SETTING
    });
    let mut departures: Vec<u64> = Vec::new();
    for &(at, average, waiting) in NS2_TRACE {
        let at = at * 1_000;
        let inside = departures.iter().filter(|&&left| left > at).count() as u32;
        let idle_since = departures.last().copied().unwrap_or(0);
        assert_eq!(inside.saturating_sub(1), waiting, "at {at} ns");
        let verdict = queue.admit(Time(at), &backlog(inside, idle_since), &packet(500));
        // ns-2 prints six digits of the average
        let error = (queue.average - average).abs();
        assert!(error <= 5e-6 * average, "{} {average}", queue.average);
        if verdict == Verdict::Enter {
            departures.push(at.max(idle_since) + 4_000_000);
        }
    }
    assert_eq!(
        departures.len(),
        8 + 5,
        "ns-2 drops from the ninth packet to the idle time"
    );
}

#[test]
fn automatic_weights_are_those_of_ns2() {
    // the rate C is 250 packets/s; with a link delay of 10 ms, three times the sum of delay and
    // transmission time is 42 ms, so that the minimum of 100 ms applies
    let weight = |weight, delay| {
        let egress = Egress { delay, ..OUTLET };
        let setting = RedSetting { weight, ..SETTING };
        Red::new(setting, 50, egress, stream()).weight
    };
    let once = 1.0 - libm::exp(-1.0 / 250.0);
    let slow = 1.0 - libm::exp(-1.0 / (10.0 * 3.0 * 0.104 * 250.0));
    for (value, expected) in [
        (weight(RedWeight::PerSecond, Span(0)), once),
        (weight(RedWeight::Auto, Span(10_000_000)), once),
        (weight(RedWeight::Auto, Span(100_000_000)), slow),
        (weight(RedWeight::Given(0.002), Span(0)), 0.002),
    ] {
        assert!((value - expected).abs() < 1e-15, "{value} {expected}");
    }
}

#[test]
fn early_drops_come_as_often_as_published() {
    // The average is constantly 3, so that p_b = 0.05. Without `wait`, gaps between drops are
    // uniform on 1..=19 with mean 10, because the published figure counts the packet before the
    // decision. With `wait`, gaps are uniform on 20..=39 with mean 29.5. The standard deviation of
    // a gap is at most 5.8, and that of the mean of 5,000 gaps is 0.08.
    for (wait, least, most, mean) in [(false, 1, 19, 10.0), (true, 20, 39, 29.5)] {
        let mut queue = red(RedSetting { wait, ..SETTING });
        queue.average = 3.0;
        let (mut gaps, mut gap) = (Vec::new(), 0);
        while gaps.len() < 5_000 {
            gap += 1;
            if queue.admit(Time(1), &backlog(3, 0), &packet(500)) == Verdict::Drop {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps.remove(0);
        let value = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((value - mean).abs() < 0.33, "{value} for {mean}");
        let spread = (gaps.iter().min(), gaps.iter().max());
        assert_eq!(spread, (Some(&least), Some(&most)));
    }
}

#[test]
fn marks_stand_for_early_drops_alone_and_only_where_they_are_understood() {
    let mut queue = red(RedSetting {
        ecn: true,
        ..SETTING
    });
    let capable = Packet {
        ecn: Ecn::Capable,
        ..packet(500)
    };
    let mut verdicts = |average: f64, packet: &Packet| {
        queue.average = average;
        queue.count = 1_000; // the next packet is certainly dropped
        queue.admit(Time(1), &backlog(average as u32, 0), packet)
    };
    assert_eq!(verdicts(3.0, &capable), Verdict::Mark);
    assert_eq!(verdicts(3.0, &packet(500)), Verdict::Drop);
    assert_eq!(verdicts(5.0, &capable), Verdict::Drop);
}

/// A second implementation of both forms of RED, line by line as in figure 2 of the paper and in
/// red.cc. The implementation shares only the random numbers with [`Red`].
struct Plain {
    setting: RedSetting,
    weight: f64,
    avg: f64,
    count: i64,
    count_bytes: u64,
    old: bool,
    draws: Stream,
}

impl Plain {
    fn dropped(&mut self, now: u64, backlog: &Backlog, bytes: u16) -> bool {
        let s = self.setting;
        let c = 1e6 / (8.0 * f64::from(s.mean_packet_bytes));
        let unit = if s.bytes {
            f64::from(s.mean_packet_bytes)
        } else {
            1.0
        };
        let (min_th, max_th) = (s.min_th * unit, s.max_th * unit);
        let length = f64::from(bytes) / f64::from(s.mean_packet_bytes);
        let w = self.weight;
        let idle = backlog
            .idle_since
            .map(|since| c * (now - since.0) as f64 / 1e9);
        let p_b = |avg: f64| {
            if avg < max_th {
                s.max_p * (avg - min_th) / (max_th - min_th)
            } else if s.gentle {
                // ns-2 computes this value as v_c avg + v_d
                f64::min(1.0, (1.0 - s.max_p) / max_th * avg + 2.0 * s.max_p - 1.0)
            } else {
                1.0
            }
        };
        let p_a = |p: f64, count: f64| {
            let most = if s.wait { 2.0 } else { 1.0 };
            if s.wait && count * p < 1.0 {
                0.0
            } else if count * p < most {
                f64::min(1.0, p / (most - count * p))
            } else {
                1.0
            }
        };
        if s.form == RedForm::Published {
            let q = if s.bytes {
                backlog.bytes as f64
            } else {
                f64::from(backlog.packets)
            };
            self.avg = match idle {
                None => (1.0 - w) * self.avg + w * q,
                Some(m) => libm::pow(1.0 - w, m) * self.avg,
            };
            let full = if s.gentle { 2.0 * max_th } else { max_th };
            if min_th <= self.avg && self.avg < full {
                self.count += 1;
                let scale = if s.bytes { length } else { 1.0 };
                let p = p_a(p_b(self.avg) * scale, self.count as f64);
                let early = p > 0.0 && self.draws.unit() < p;
                if early {
                    self.count = 0;
                }
                early || backlog.packets >= 50
            } else if full <= self.avg {
                self.count = 0;
                true
            } else {
                self.count = -1;
                backlog.packets >= 50
            }
        } else {
            let q = if s.bytes {
                (backlog.bytes - u64::from(backlog.in_service_bytes)) as f64
            } else {
                f64::from(backlog.packets.max(1) - 1)
            };
            let m = idle.map_or(0.0, f64::floor);
            self.avg = libm::pow(1.0 - w, m + 1.0) * self.avg + w * q;
            self.count += 1;
            self.count_bytes += u64::from(bytes);
            let mut drop = false;
            if self.avg >= min_th && q > 1.0 {
                if self.old {
                    let packets = self.count_bytes / u64::from(s.mean_packet_bytes);
                    let count = if s.bytes {
                        packets as f64
                    } else {
                        self.count as f64
                    };
                    let mut p = p_a(p_b(self.avg), count);
                    if s.bytes && p < 1.0 {
                        p *= length;
                    }
                    drop = p > 0.0 && self.draws.unit() < p;
                } else {
                    self.count = 1;
                    self.count_bytes = u64::from(bytes);
                    self.old = true;
                }
            } else {
                self.old = false;
            }
            let most = 49.0 * f64::from(s.mean_packet_bytes);
            drop |= backlog.packets >= 50 || s.bytes && backlog.packets > 0 && q >= most;
            if drop {
                (self.count, self.count_bytes) = (0, 0);
            }
            drop
        }
    }
}

#[test]
fn in_byte_mode_ns2_fills_its_queue_by_packets_of_the_mean_length() {
    let setting = RedSetting {
        form: RedForm::Ns2,
        bytes: true,
        min_th: 1e5,
        max_th: 2e5,
        ..SETTING
    };
    // the limit in bytes is that of 49 packets of 500 B: 16 packets of 1500 B use 24,000 of 24,500
    // bytes
    for (waiting, verdict) in [(16, Verdict::Enter), (17, Verdict::Drop)] {
        let full = Backlog {
            packets: waiting + 1,
            bytes: 1_500 * u64::from(waiting + 1),
            in_service_bytes: 1_500,
            idle_since: None,
        };
        assert_eq!(red(setting).admit(Time(1), &full, &packet(1_500)), verdict);
    }
    let mut single = Red::new(setting, 1, OUTLET, stream());
    assert_eq!(
        single.admit(Time(1), &backlog(0, 0), &packet(1_500)),
        Verdict::Enter
    );
}

/// Generates random settings of both forms with a given weight.
fn settings() -> impl Strategy<Value = RedSetting> {
    let numbers = (0.0..10.0, 0.5..20.0, 0.01..1.0, 0.001..=1.0_f64);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (numbers, flags).prop_map(|((min_th, above, max_p, weight), flags)| RedSetting {
        form: if flags.0 {
            RedForm::Ns2
        } else {
            RedForm::Published
        },
        min_th,
        max_th: min_th + above,
        max_p,
        weight: RedWeight::Given(weight),
        gentle: flags.1,
        wait: flags.2,
        bytes: flags.3,
        ecn: false,
        mean_packet_bytes: 500,
    })
}

proptest! {
    #[test]
    fn a_second_implementation_drops_the_same_packets(
        setting in settings(),
        arrivals in prop::collection::vec((0..20_000_000_u64, 40..1500_u16), 1..400),
        burst in 1..40_u64,
    ) {
        let RedWeight::Given(weight) = setting.weight else {
            unreachable!("the strategy gives a weight");
        };
        let mut queue = red(setting);
        let mut plain = Plain {
            setting,
            weight,
            avg: 0.0,
            count: if setting.form == RedForm::Published { -1 } else { 0 },
            count_bytes: 0,
            old: false,
            draws: stream(),
        };
        let mut inside: Vec<(u64, u16)> = Vec::new();
        let (mut now, mut last_departure) = (0, 0);
        for (gap, bytes) in arrivals {
            now += gap / burst;
            inside.retain(|&(leaves, _)| leaves > now);
            let state = Backlog {
                packets: inside.len() as u32,
                bytes: inside.iter().map(|&(_, bytes)| u64::from(bytes)).sum(),
                in_service_bytes: inside.first().map_or(0, |&(_, bytes)| u32::from(bytes)),
                idle_since: inside.is_empty().then_some(Time(last_departure)),
            };
            let verdict = queue.admit(Time(now), &state, &packet(bytes));
            prop_assert_eq!(verdict == Verdict::Drop, plain.dropped(now, &state, bytes));
            let error = (queue.average - plain.avg).abs();
            prop_assert!(error <= 1e-9 * (1.0 + plain.avg), "{} {}", queue.average, plain.avg);
            prop_assert!(verdict == Verdict::Drop || state.packets < 50);
            if verdict != Verdict::Drop {
                last_departure = now.max(last_departure) + u64::from(bytes) * 8_000;
                inside.push((last_departure, bytes));
            }
        }
    }
}
