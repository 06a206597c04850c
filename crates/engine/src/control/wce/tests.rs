use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

fn settings() -> WceSettings {
    WceSettings::new(WceRule::Paper, WceSettings::MAX_BPS, WceSettings::INTERVAL)
}

/// Returns an estimator that has just started, with C = `bps`.
fn at(bps: u64) -> Wce {
    let mut wce = Wce::new(settings()).unwrap();
    wce.capacity_bps = bps;
    wce
}

fn seen(at_ms: u64, rtt_ms: impl Into<Option<u64>>) -> Observation {
    Observation {
        at: Time(at_ms * MS),
        rtt: rtt_ms.into().map(|ms| Span(ms * MS)),
    }
}

/// Passes round-trip times to the estimator, one per interval, from time `from_ms` on.
fn feed(wce: &mut Wce, from_ms: u64, rtts_ms: impl IntoIterator<Item = u64>) -> u64 {
    let mut now = from_ms;
    for rtt in rtts_ms {
        wce.step(seen(now, rtt));
        now += 100;
    }
    now
}

#[test]
fn each_range_of_round_trip_times_has_its_step() {
    for (rtt_ms, step, bps) in [
        (1, Step::SpeedUp, 3_060_000),
        (5, Step::SpeedUp, 3_060_000),
        (6, Step::Increase, 3_010_000),
        (40, Step::Increase, 3_010_000),
        (41, Step::Decrease, 2_960_000),
        (200, Step::Decrease, 2_960_000),
        (201, Step::BackOff, 2_400_000),
        (3000, Step::BackOff, 2_400_000),
    ] {
        let mut wce = at(3_000_000);
        assert_eq!(wce.step(seen(5000, rtt_ms)), step, "{rtt_ms} ms");
        assert_eq!(wce.capacity_bps(), bps, "{rtt_ms} ms");
    }
}

#[test]
fn it_begins_at_its_cap_and_stays_between_its_bounds() {
    let mut wce = Wce::new(settings()).unwrap();
    assert_eq!(wce.capacity_bps(), 6_000_000);
    wce.step(seen(1000, 1));
    assert_eq!(wce.capacity_bps(), 6_000_000);
    let mut wce = at(210_000);
    wce.step(seen(1000, 300));
    assert_eq!(wce.capacity_bps(), 200_000);
    wce.step(seen(1100, 60));
    assert_eq!(wce.capacity_bps(), 200_000);
}

#[test]
fn silence_holds_however_long_it_lasts() {
    let mut wce = at(3_000_000);
    for k in 0..10_000 {
        assert_eq!(wce.step(seen(1000 + 100 * k, None)), Step::Hold);
    }
    assert_eq!(wce.capacity_bps(), 3_000_000);
    assert_eq!(wce.base_rtt(), None);
}

#[test]
fn an_answer_after_the_timeout_is_none() {
    let mut wce = at(3_000_000);
    assert_eq!(wce.step(seen(5000, 3001)), Step::Hold);
    assert_eq!(wce.capacity_bps(), 3_000_000);
}

#[test]
fn answers_that_lay_unread_through_a_stall_hold() {
    let mut wce = at(3_000_000);
    wce.step(seen(1000, 10));
    let before = wce.capacity_bps();
    // the program that sends the pings is stalled for 900 ms; then it reads nine replies, whose
    // round-trip times appear long because of the stall
    for sent in 0..9 {
        let looks = 1900 - (1010 + 100 * sent);
        assert_eq!(wce.step(seen(1900, looks)), Step::Hold, "sent {sent}");
    }
    assert_eq!(wce.capacity_bps(), before);
    // a ping sent after the stall is used
    assert_eq!(wce.step(seen(2000, 60)), Step::Decrease);
}

#[test]
fn lost_pings_that_are_reported_are_no_stall() {
    let mut wce = at(3_000_000);
    for k in 0..20 {
        wce.step(seen(1000 + 100 * k, None));
    }
    assert_eq!(wce.step(seen(3000, 60)), Step::Decrease);
}

#[test]
fn it_backs_off_once_for_each_round_trip() {
    let mut wce = at(3_000_000);
    let steps: Vec<Step> = (0..7)
        .map(|k| wce.step(seen(1000 + 100 * k, 300)))
        .collect();
    use Step::{BackOff, Decrease};
    let expected = [
        BackOff, Decrease, Decrease, BackOff, Decrease, Decrease, BackOff,
    ];
    assert_eq!(steps, expected);
}

/// Passes the round-trip time `rtt_ms` to the estimator until it accepts this time as the base.
/// Returns the duration. [s]
fn believe(wce: &mut Wce, from_ms: u64, rtt_ms: u64) -> f64 {
    let mut now = from_ms;
    while wce.step(seen(now, rtt_ms)) != Step::Return {
        now += 100;
        assert!(now < from_ms + 100_000, "never");
    }
    (now - from_ms) as f64 / 1e3
}

#[test]
fn a_base_above_the_low_threshold_moves_all_three() {
    let mut wce = at(3_000_000);
    believe(&mut wce, 1000, 25);
    assert_eq!(wce.base_rtt(), Some(Span(25 * MS)));
    let expected = Thresholds {
        low: Span(25 * MS),
        threshold: Span(60 * MS),
        high: Span(220 * MS),
    };
    assert_eq!(wce.thresholds(), expected);
    // the first ping with a shorter round-trip time lowers the base again
    wce.step(seen(60_000, None));
    feed(&mut wce, 60_100, [3]);
    assert_eq!(wce.thresholds(), settings().thresholds);
}

#[test]
fn a_longer_path_is_believed_in_22_seconds_and_c_returns() {
    for rtt_ms in [15, 35, 60, 300] {
        let mut wce = at(3_000_000);
        feed(&mut wce, 1000, [3]);
        let took_s = believe(&mut wce, 1100, rtt_ms);
        assert!(took_s < 22.4, "{rtt_ms} ms: {took_s} s");
        assert_eq!(wce.base_rtt(), Some(Span(rtt_ms * MS)));
        assert_eq!(wce.capacity_bps(), 3_000_000, "{rtt_ms} ms");
    }
    // the rise of the base takes longest if C begins at its maximum
    let mut wce = at(6_000_000);
    let took_s = believe(&mut wce, 1000, 25);
    assert!((21.5..22.4).contains(&took_s), "{took_s} s");
}

#[test]
fn in_doubt_c_falls_until_a_ping_is_quick() {
    let mut wce = at(3_000_000);
    let mut now = feed(&mut wce, 1000, [30; 63]);
    assert_eq!(wce.capacity_bps(), 3_000_000 + 63 * 10_000);
    now = feed(&mut wce, now, [30; 10]);
    assert_eq!(wce.capacity_bps(), 3_630_000 - 10 * 40_000);
    feed(&mut wce, now, [13]);
    assert_eq!(wce.capacity_bps(), 3_230_000 + 10_000);
    assert_eq!(wce.thresholds(), settings().thresholds);
}

#[test]
fn without_the_extension_the_thresholds_stay() {
    let mut wce = Wce::new(WceSettings {
        follows_base: false,
        ..settings()
    })
    .unwrap();
    feed(&mut wce, 1000, [25; 64]);
    assert_eq!(wce.thresholds(), settings().thresholds);
}

#[test]
fn an_exponential_step_is_never_smaller_than_a_linear_one() {
    let mut low = at(300_000); // 2 % of C is less than a linear step
    low.step(seen(1_000, 3));
    assert_eq!(low.capacity_bps(), 300_000 + settings().increase_bps);

    let mut high = Wce::new(WceSettings {
        decrease_bps: 2_000_000,
        ..settings()
    })
    .unwrap();
    high.step(seen(1_000, 300));
    assert_eq!(high.capacity_bps(), 4_000_000); // a back-off alone would lower C by only a fifth, to 4.8 Mbit/s
}

#[test]
fn settings_that_make_no_estimator_are_refused() {
    let good = settings();
    let thresholds = |low, threshold, high| Thresholds {
        low: Span(low * MS),
        threshold: Span(threshold * MS),
        high: Span(high * MS),
    };
    let cases = [
        (
            WceSettings { min_bps: 0, ..good },
            WceSettingsError::Minimum,
        ),
        (
            WceSettings {
                max_bps: 100_000,
                ..good
            },
            WceSettingsError::Maximum,
        ),
        (
            WceSettings {
                interval: Span::ZERO,
                ..good
            },
            WceSettingsError::Interval,
        ),
        (
            WceSettings {
                thresholds: thresholds(5, 5, 9),
                ..good
            },
            WceSettingsError::Thresholds,
        ),
        (
            WceSettings {
                thresholds: thresholds(5, 40, 3000),
                ..good
            },
            WceSettingsError::Timeout,
        ),
        (
            WceSettings {
                increase_bps: 0,
                ..good
            },
            WceSettingsError::Steps,
        ),
        (
            WceSettings {
                decrease_bps: 1,
                ..good
            },
            WceSettingsError::Steps,
        ),
        (
            WceSettings {
                speed_up: 1.0,
                ..good
            },
            WceSettingsError::SpeedUp,
        ),
        (
            WceSettings {
                speed_up: f64::NAN,
                ..good
            },
            WceSettingsError::SpeedUp,
        ),
        (
            WceSettings {
                back_off: 1.0,
                ..good
            },
            WceSettingsError::BackOff,
        ),
        (
            WceSettings {
                back_off: f64::NAN,
                ..good
            },
            WceSettingsError::BackOff,
        ),
    ];
    for (bad, error) in cases {
        assert_eq!(Wce::new(bad), Err(error));
    }
    assert!(Wce::new(good).is_ok());
}

/// A fluid model of a WLAN: a queue that is always fed at rate C.
struct Fluid {
    capacity_bps: f64,
    /// Round-trip time of a ping through the empty queue.
    empty_s: f64,
    queue_bits: f64,
    /// Maximum length of the queue.
    limit_bits: f64,
    /// Pings in flight: send time and round-trip time.
    pings: VecDeque<(f64, f64)>,
    now: f64,
}

impl Fluid {
    fn new(capacity_bps: f64, limit_packets: f64) -> Fluid {
        Fluid {
            capacity_bps,
            empty_s: 0.003,
            queue_bits: 0.0,
            limit_bits: limit_packets * 1500.0 * 8.0,
            pings: VecDeque::new(),
            now: 0.0,
        }
    }

    /// Runs for `seconds` with `wce`. Returns the mean of C and the longest round-trip time.
    fn run(&mut self, wce: &mut Wce, seconds: f64) -> (f64, f64) {
        const TICK: f64 = 0.001;
        let (mut sum, mut longest) = (0.0, 0.0_f64);
        let ticks = (seconds / TICK) as u32;
        for tick in 0..ticks {
            self.now += TICK;
            let surplus = wce.capacity_bps() as f64 - self.capacity_bps;
            self.queue_bits = (self.queue_bits + surplus * TICK).clamp(0.0, self.limit_bits);
            if tick % 100 == 0 {
                let rtt = self.empty_s + self.queue_bits / self.capacity_bps;
                longest = longest.max(rtt);
                self.pings.push_back((self.now, rtt));
            }
            while let Some(&(sent, rtt)) = self.pings.front()
                && sent + rtt <= self.now
            {
                self.pings.pop_front();
                wce.step(Observation {
                    at: Time::ZERO + Span::from_seconds(self.now),
                    rtt: Some(Span::from_seconds(rtt)),
                });
            }
            sum += wce.capacity_bps() as f64;
        }
        (sum / f64::from(ticks), longest)
    }
}

#[test]
fn the_default_settings_have_the_documented_margin() {
    let margin = |bps| settings().cycle(bps).margin;
    assert!(
        (margin(5_400_000) - 3.7).abs() < 0.05,
        "{}",
        margin(5_400_000)
    );
    assert!(
        (margin(1_000_000) - 3.3).abs() < 0.05,
        "{}",
        margin(1_000_000)
    );
}

#[test]
fn the_swing_around_a_fluid_wlan_is_the_computed_one() {
    for capacity in [1_000_000, 2_400_000, 5_400_000] {
        let mut wce = at(capacity);
        let mut wlan = Fluid::new(capacity as f64, 75.0);
        let cycle = settings().cycle(capacity);
        wlan.run(&mut wce, 30.0);
        let (mean, longest) = wlan.run(&mut wce, 120.0);
        let queueing = longest - wlan.empty_s;
        // the formula has linear steps only; the exponential step up, while round-trip times are
        // below 5 ms, makes the queue somewhat longer
        assert!(
            queueing < 1.25 * cycle.queueing_s && queueing > 0.8 * cycle.queueing_s,
            "{capacity}: {queueing} against {cycle:?}"
        );
        let ratio = mean / capacity as f64;
        assert!((0.95..=1.0).contains(&ratio), "{capacity}: {ratio}");
    }
}

#[test]
fn from_a_rate_far_too_high_it_falls_into_the_same_swing() {
    // a slow station joins, so that C is far above the capacity; the buffer of the access point has
    // room for 75 or 500 packets (500 packets are one second at 6 Mbit/s)
    for limit in [75.0, 500.0] {
        let mut wce = at(6_000_000);
        let mut wlan = Fluid::new(2_400_000.0, limit);
        wlan.run(&mut wce, 40.0);
        let (mean, longest) = wlan.run(&mut wce, 60.0);
        assert!((0.95..=1.0).contains(&(mean / 2_400_000.0)), "{mean}");
        assert!(longest < 0.08, "{longest}");
    }
}

/// Checks that the thresholds do not move while C is so large that a standing queue remains. The
/// thresholds exist to detect such a queue.
fn stands_nowhere(max_bps: u64, capacity_bps: f64, limit_packets: f64, empty_s: f64) {
    let settings = WceSettings::new(WceRule::Paper, max_bps, WceSettings::INTERVAL);
    let mut wce = Wce::new(settings).unwrap();
    let mut wlan = Fluid::new(capacity_bps, limit_packets);
    wlan.empty_s = empty_s;
    let case = format!("{max_bps} {capacity_bps} {limit_packets} {empty_s}");
    let above = Span::from_seconds(empty_s) - settings.thresholds.low;
    let most = settings.thresholds.threshold + above + Span(MS);
    for _ in 0..1200 {
        wlan.run(&mut wce, 0.1);
        let now = wce.thresholds().threshold;
        assert!(now <= most, "{case}: {now:?} at {} s", wlan.now);
    }
    // in the end C is below the capacity, if the buffer has room for a queue above the threshold of
    // 40 ms
    let (mean, _) = wlan.run(&mut wce, 60.0);
    let holds_s = limit_packets * 12_000.0 / capacity_bps;
    let capacity = capacity_bps.min(max_bps as f64);
    if holds_s > 0.04 {
        assert!(mean <= 1.02 * capacity, "{case}: {mean}");
    }
    assert!(mean >= 0.8 * capacity, "{case}: {mean}");
}

#[test]
fn no_queue_that_stands_moves_the_thresholds() {
    for (max_bps, capacity_bps, packets) in [
        (6_000_000, 2.4e6, 37.0),
        (6_000_000, 2.4e6, 30.0),
        (6_000_000, 3.4e6, 50.0),
        (40_000_000, 15e6, 200.0),
        (24_000_000, 10e6, 150.0),
        // buffers just above the threshold, in which the queue oscillates between half full and
        // full
        (6_000_000, 2.4e6, 8.0),
        (6_000_000, 5.4e6, 18.0),
        (6_000_000, 5.4e6, 20.0),
        (6_000_000, 5.4e6, 21.0),
    ] {
        stands_nowhere(max_bps, capacity_bps, packets, 0.003);
    }
}

#[derive(Clone, Debug)]
enum Seen {
    Nothing,
    Answer(u64),
}

fn observations() -> impl Strategy<Value = Vec<(u64, Seen)>> {
    let answer = prop_oneof![
        1 => Just(Seen::Nothing),
        4 => (0u64..400 * MS).prop_map(Seen::Answer),
        1 => any::<u64>().prop_map(Seen::Answer),
    ];
    prop::collection::vec((0u64..800 * MS, answer), 0..300)
}

fn run(wce: &mut Wce, observations: &[(u64, Seen)]) -> Vec<(Step, u64)> {
    let mut now = Time(1_000 * MS);
    let steps = observations.iter().map(|(gap, seen)| {
        now += Span(*gap);
        let rtt = match seen {
            Seen::Nothing => None,
            Seen::Answer(rtt) => Some(Span(*rtt)),
        };
        let before = wce.capacity_bps();
        let step = wce.step(Observation { at: now, rtt });
        if rtt.is_none() {
            assert_eq!((step, wce.capacity_bps()), (Step::Hold, before));
        }
        (step, wce.capacity_bps())
    });
    steps.collect()
}

proptest! {
    #[test]
    fn c_stays_between_its_bounds_and_moves_the_way_its_step_says(seen in observations()) {
        let mut wce = Wce::new(settings()).unwrap();
        let mut before = wce.capacity_bps();
        for (step, bps) in run(&mut wce, &seen) {
            prop_assert!((200_000..=6_000_000).contains(&bps));
            match step {
                Step::Hold => prop_assert_eq!(bps, before),
                Step::SpeedUp | Step::Increase => prop_assert!(bps > before || bps == 6_000_000),
                Step::Decrease | Step::BackOff => prop_assert!(bps < before || bps == 200_000),
                Step::Measure => prop_assert!(false, "this rule measures nothing"),
                Step::Return => prop_assert!(bps >= before),
            }
            before = bps;
        }
    }

    #[test]
    fn the_same_observations_give_the_same_steps(seen in observations()) {
        let fresh = || Wce::new(settings()).unwrap();
        let (mut first, mut second) = (fresh(), fresh());
        prop_assert_eq!(run(&mut first, &seen), run(&mut second, &seen));
        prop_assert_eq!(first, second);
    }

    /// Two pings are sent at the same time. The slower reply never leads to a larger C than the
    /// faster reply, whatever happened before.
    #[test]
    fn a_longer_round_trip_never_gives_a_larger_c(
        seen in observations(),
        short in 0u64..1000 * MS,
        longer in 0u64..1000 * MS,
    ) {
        let mut wce = Wce::new(settings()).unwrap();
        run(&mut wce, &seen);
        let (short, long) = (short.min(longer), short.max(longer));
        // the two pings leave well after the last exponential step down, and without a stall in
        // between
        let sent = wce.observed.unwrap_or(Time::ZERO) + Span(400 * MS);
        wce.observed = None;
        let answered = |rtt: u64| {
            let mut wce = wce.clone();
            wce.step(Observation { at: sent + Span(rtt), rtt: Some(Span(rtt)) });
            wce.capacity_bps()
        };
        prop_assert!(answered(long) <= answered(short));
    }

    #[test]
    fn no_queue_of_any_wlan_moves_the_thresholds(
        max_bps in 1_000_000u64..100_000_000,
        part in 0.07f64..1.2,
        holds_s in 0.001f64..1.0,
        empty_s in 0.001f64..0.03,
    ) {
        let capacity_bps = max_bps as f64 * part;
        stands_nowhere(max_bps, capacity_bps, holds_s * capacity_bps / 12_000.0, empty_s);
    }

    /// The path becomes longer while the queue oscillates.
    #[test]
    fn a_longer_path_is_believed_in_30_seconds(
        part in 0.1f64..1.2,
        longer_s in 0.02f64..0.15,
        before_s in 20.0f64..60.0,
    ) {
        let mut wce = Wce::new(settings()).unwrap();
        let mut wlan = Fluid::new(6e6 * part, 75.0);
        wlan.run(&mut wce, before_s);
        wlan.empty_s = longer_s;
        let mut waited_s = 0.0;
        while wce.base_rtt().is_none_or(|base| base < Span::from_seconds(longer_s)) {
            wlan.run(&mut wce, 0.1);
            waited_s += 0.1;
            prop_assert!(waited_s < 30.0);
        }
        prop_assert!(wce.base_rtt() <= Some(Span::from_seconds(longer_s + 0.001)));
    }
}
