//! Sensors, which send small reports at intervals. This file determines the times at which reports
//! are created, and records the arrivals of reports.
//!
//! A report is one segment or datagram. Over TCP all reports of a sensor use one connection that is
//! already open. If a report is lost, TCP retransmits it, and later reports arrive only after the
//! retransmission.

use super::tally::{Interval, Tally};
use super::{Gaps, ReportSettings};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// The state of a sensor, and all its reports.
#[derive(Clone, Debug)]
pub struct Reports {
    settings: ReportSettings,
    stream: Stream,
    due: Time,
    /// Time at which each report was created, and time of its arrival (`None` before its arrival).
    made: Vec<(Time, Option<Time>)>,
    /// Number of reports that have arrived in order.
    in_order: usize,
}

impl Reports {
    /// Returns a sensor that has not started.
    pub fn new(settings: &ReportSettings, stream: Stream) -> Reports {
        Reports {
            settings: *settings,
            stream,
            due: Time::NEVER,
            made: Vec::new(),
            in_order: 0,
        }
    }

    /// Starts the sensor. With equal gaps the first report is created at a random time within the
    /// first gap. With exponential gaps the first report is created after one gap.
    pub fn open(&mut self, now: Time) {
        let part = match self.settings.arrivals {
            Gaps::Poisson => self.stream.exponential(),
            Gaps::Constant => self.stream.unit(),
        };
        self.due = now + self.gap(part);
    }

    /// Stops the sensor.
    pub fn close(&mut self) {
        self.due = Time::NEVER;
    }

    /// Returns the time at which the next report is created.
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Creates a report, and sets the time of the next report.
    pub fn make(&mut self, now: Time) {
        self.made.push((now, None));
        let gaps = match self.settings.arrivals {
            Gaps::Poisson => self.stream.exponential(),
            Gaps::Constant => 1.0,
        };
        self.due = now + self.gap(gaps);
    }

    /// Records the arrival of report `number`.
    pub fn arrive(&mut self, now: Time, number: u32) {
        if let Some((_, arrived)) = self.made.get_mut(number as usize) {
            arrived.get_or_insert(now);
        }
    }

    /// Records the arrival of the next `count` reports, in order.
    pub fn arrive_in_order(&mut self, now: Time, count: u32) {
        for _ in 0..count {
            self.arrive(now, self.in_order as u32);
            self.in_order += 1;
        }
    }

    fn gap(&self, gaps: f64) -> Span {
        Span((gaps * self.settings.every.0 as f64).round() as u64)
    }

    /// Returns the delays and losses of the reports of an interval.
    pub fn tally(&self, interval: &Interval) -> Tally {
        let mut tally = Tally::default();
        for &(made, arrived) in &self.made {
            let delay = arrived.map(|arrived| arrived.since(made));
            tally.add(interval, made, delay, self.settings.deadline);
        }
        tally.delays.sort_unstable();
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    fn reports(arrivals: Gaps) -> Reports {
        let settings = ReportSettings {
            arrivals,
            every: Span(1_000),
            deadline: Span(300),
        };
        Reports::new(&settings, Streams::new(1, 0).stream("sensor"))
    }

    /// Returns the measured period from `from` to 1000 ns.
    fn measured(from: u64) -> Interval {
        let [from, end] = [from, 1_000].map(Time);
        Interval::new(from, end, from, end)
    }

    #[test]
    fn equal_gaps_begin_at_a_random_part_of_one() {
        let mut sensor = reports(Gaps::Constant);
        sensor.open(Time(5));
        let first = sensor.deadline();
        assert!((5..1_005).contains(&first.0));
        sensor.make(first);
        assert_eq!(sensor.deadline(), first + Span(1_000));
        sensor.close();
        assert_eq!(sensor.deadline(), Time::NEVER);
    }

    #[test]
    fn reports_count_if_their_deadline_is_in_the_period() {
        let mut sensor = reports(Gaps::Constant);
        // report 0 is created before the period; report 1 arrives before its deadline, and report 2
        // after its deadline; report 3 is lost; the deadline of report 4 is after the period
        for at in [0, 100, 200, 300, 800] {
            sensor.make(Time(at));
        }
        for (number, at) in [(0, 10), (1, 150), (2, 501), (4, 801)] {
            sensor.arrive(Time(at), number);
        }
        let tally = sensor.tally(&measured(100));
        assert_eq!((tally.made, &tally.delays[..]), (3, &[Span(50)][..]));
        assert_eq!(tally.delivery(), Some(1.0 / 3.0));
        assert_eq!(tally.mean_s(), Some(50e-9));
        assert_eq!(tally.quantile_s(0.95), Some(50e-9));
        assert_eq!(sensor.tally(&measured(900)).delivery(), None);
    }

    #[test]
    fn over_tcp_reports_arrive_in_order() {
        let mut sensor = reports(Gaps::Poisson);
        for at in [0, 10, 20] {
            sensor.make(Time(at));
        }
        sensor.arrive_in_order(Time(15), 1);
        sensor.arrive_in_order(Time(50), 2);
        let tally = sensor.tally(&measured(0));
        assert_eq!(tally.delays, [Span(15), Span(30), Span(40)]);
    }
}
