//! Web traffic: the start times of connections, and the request and the response of each
//! connection.
//!
//! Reference: J. Cao, W. S. Cleveland, Y. Gao, K. Jeffay, F. D. Smith, M. C. Weigle, "Stochastic
//! models for generating synthetic HTTP source traffic", IEEE INFOCOM 2004 (PackMime-HTTP). The
//! parameters of the distributions are those of PackMime in ns-2.35; see [`packmime`].
//!
//! A web source represents many clients and many servers. New connections start at a given mean
//! rate. Each connection has one request, a processing time of the server, and one response, as in
//! HTTP/1.0. The gaps between connections, the lengths and the processing time are random or
//! constant.
//!
//! Differs from PackMime in ns-2 in two points. There are no persistent connections (HTTP/1.1). The
//! lengths and the processing time of the server are drawn at the start of the connection, so that
//! the random numbers do not depend on the network.

mod long_memory;
mod packmime;

use self::packmime::{Arrivals, Requests, Responses, server_delay_s};
use super::{WebArrivals, WebSettings};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};

/// The request and the response of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Length of the request, at least 1. [bytes]
    pub request_bytes: u32,
    /// Processing time of the server: time from the arrival of the request to the start of the
    /// response.
    pub server_delay: Span,
    /// Length of the response, at least 1. [bytes]
    pub response_bytes: u32,
}

/// The gaps between the starts of connections.
#[derive(Clone, Debug)]
enum Gaps {
    Packmime(Box<Arrivals>),
    Poisson(Stream),
    Constant,
}

/// Rule for the values of a property of connections, such as the length of the request. The values
/// are constant, or drawn from a distribution of PackMime.
#[derive(Clone, Debug)]
enum Draw<D> {
    Fixed(u32),
    Packmime(D),
}

/// A web source: the start times of its connections, and their requests and responses.
#[derive(Clone, Debug)]
pub struct WebSource {
    mean_gap_ns: f64,
    gaps: Gaps,
    requests: Draw<Box<Requests>>,
    responses: Draw<Responses>,
    server_delay: Option<Span>,
    delays: Stream,
    due: Time,
}

impl WebSource {
    /// Returns a source that has not started. `name` is the name of the source's flow.
    pub fn new(settings: &WebSettings, name: &str, streams: &Streams) -> WebSource {
        let rate = settings.connections_per_s;
        let stream = |part: &str| streams.stream(&format!("{name}/{part}"));
        WebSource {
            mean_gap_ns: 1e9 / rate,
            gaps: match settings.arrivals {
                WebArrivals::Packmime => {
                    Gaps::Packmime(Box::new(Arrivals::new(rate, stream("gaps"))))
                }
                WebArrivals::Poisson => Gaps::Poisson(stream("gaps")),
                WebArrivals::Constant => Gaps::Constant,
            },
            requests: match settings.request_bytes {
                Some(bytes) => Draw::Fixed(bytes),
                None => Draw::Packmime(Box::new(Requests::new(rate, stream("requests")))),
            },
            responses: match settings.response_bytes {
                Some(bytes) => Draw::Fixed(bytes),
                None => Draw::Packmime(Responses::new(rate, stream("responses"))),
            },
            server_delay: settings.server_delay,
            delays: stream("server"),
            due: Time::NEVER,
        }
    }

    /// Starts the source. The first connection starts immediately.
    pub fn open(&mut self, now: Time) {
        self.due = now;
    }

    /// Stops the source: no new connections start.
    pub fn close(&mut self) {
        self.due = Time::NEVER;
    }

    /// Returns the start time of the next connection.
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Returns the request and the response of the connection that starts now, and sets the start
    /// time of the next connection.
    pub fn connect(&mut self) -> Transaction {
        let gap_ns = match &mut self.gaps {
            Gaps::Packmime(arrivals) => arrivals.gap_s() * 1e9,
            Gaps::Poisson(stream) => stream.exponential() * self.mean_gap_ns,
            Gaps::Constant => self.mean_gap_ns,
        };
        self.due += Span(gap_ns.round() as u64);
        Transaction {
            request_bytes: match &mut self.requests {
                Draw::Fixed(bytes) => *bytes,
                Draw::Packmime(requests) => requests.bytes(),
            },
            server_delay: match self.server_delay {
                Some(delay) => delay,
                None => Span::from_seconds(server_delay_s(&mut self.delays)),
            },
            response_bytes: match &mut self.responses {
                Draw::Fixed(bytes) => *bytes,
                Draw::Packmime(responses) => responses.bytes(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Format, Transport, parse};

    fn settings(web: &str) -> WebSettings {
        let text = format!(
            "duration = \"1 s\"\ndumbbell = {{ bottleneck = \"1 Mbps\" }}\nflow.x.web = {web}"
        );
        let scenario = parse(&text, Format::Toml, "x.toml", &[]).unwrap();
        match &scenario.flows[0].transport {
            Transport::Web(settings) => settings.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn source(arrivals: &str) -> WebSource {
        let fixed = "request = \"300 B\", response = \"9 kB\", server_delay = \"5 ns\"";
        let web = format!("{{ connections = 50, arrivals = \"{arrivals}\", {fixed} }}");
        WebSource::new(&settings(&web), "x", &Streams::new(1, 0))
    }

    /// Returns the start times of the first `count` connections.
    fn starts(source: &mut WebSource, count: usize) -> Vec<u64> {
        source.open(Time(7));
        let mut next = || {
            let at = source.deadline().0;
            source.connect();
            at
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn a_constant_source_connects_at_once_and_then_evenly() {
        let mut source = source("constant");
        assert_eq!(starts(&mut source, 3), [7, 20_000_007, 40_000_007]);
        let fixed = Transaction {
            request_bytes: 300,
            server_delay: Span(5),
            response_bytes: 9_000,
        };
        assert_eq!(source.connect(), fixed);
        source.close();
        assert_eq!(source.deadline(), Time::NEVER);
    }

    #[test]
    fn a_poisson_source_keeps_its_mean_rate() {
        let starts = starts(&mut source("poisson"), 100_001);
        // 100,000 gaps of 20 ms: the standard error of their mean is 0.32 %
        let mean_ns = (starts[100_000] - starts[0]) as f64 / 1e5;
        assert!((mean_ns / 2e7 - 1.0).abs() < 3.0 * 0.0032, "{mean_ns}");
    }

    /// Checks that the draws of one quantity do not change those of another: gaps, lengths and
    /// processing times have separate random streams.
    #[test]
    fn what_is_asked_does_not_depend_on_when() {
        let transactions = |arrivals: &str| {
            let web = settings(&format!(
                "{{ connections = 50, arrivals = \"{arrivals}\" }}"
            ));
            let mut source = WebSource::new(&web, "x", &Streams::new(1, 0));
            (0..50).map(|_| source.connect()).collect::<Vec<_>>()
        };
        let packmime = transactions("packmime");
        assert_eq!(packmime, transactions("constant"));
        assert_ne!(packmime[0], packmime[1]);
    }
}
