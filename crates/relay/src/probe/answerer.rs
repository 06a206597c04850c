//! Answers to probes at a server: each probe of a known session is answered once, with a limited rate per address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use super::packet::{
    Datagram, Kind, Probe, ProbeKey, ReplayWindow, SessionTag, datagram, session_of,
};
use crate::callers::subscriber;

/// Token bucket for answers to one IPv4 address or one IPv6 /64 network: rate [1/s] and size.
const ANSWER_LIMIT: (f64, f64) = (100.0, 100.0);
/// Maximum number of addresses with a token bucket. If the maximum is reached, full token buckets are removed, because
/// they do not limit any address at present.
const MAX_ADDRESSES: usize = 256;

/// Number of datagrams at the UDP port for probes, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ProbeCounters {
    pub(crate) answered: u64,
    /// Datagrams without a known session, with a wrong tag, or in another format.
    pub(crate) forged: u64,
    /// Probes whose sequence number was received before, or is too old to check.
    pub(crate) repeated: u64,
    /// Authentic probes above the rate limit.
    pub(crate) too_many: u64,
}

/// A session, with the key of its probes.
struct Session<S> {
    key: ProbeKey,
    window: ReplayWindow,
    /// Owner of the session: the pool of its client.
    owner: S,
}

/// State of the answers: sessions, token buckets and counters.
pub(crate) struct Answerer<S> {
    sessions: HashMap<SessionTag, Session<S>>,
    /// Token bucket of each address: remaining answers, and time of the last update.
    buckets: HashMap<IpAddr, (f64, Duration)>,
    pub(crate) answers: ProbeCounters,
}

impl<S> Answerer<S> {
    /// Returns a state without sessions.
    pub(crate) fn new() -> Answerer<S> {
        Answerer {
            sessions: HashMap::new(),
            buckets: HashMap::new(),
            answers: ProbeCounters::default(),
        }
    }

    /// Adds a session, whose probes are answered from now on.
    pub(crate) fn admit(&mut self, key: ProbeKey, owner: S) {
        let window = ReplayWindow::default();
        let session = Session { key, window, owner };
        self.sessions.insert(session.key.session, session);
    }

    /// Removes the sessions whose owner `is_kept` does not accept.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&S) -> bool) {
        self.sessions.retain(|_, session| is_kept(&session.owner));
    }

    /// Returns the answer to a datagram, the owner of its session, and the round-trip time that the client has
    /// measured. Returns `None` if the datagram gets no answer. A forged datagram costs the server one look-up of the
    /// session. If the session is known, it also costs the computation of one HMAC.
    pub(crate) fn answer(
        &mut self,
        received: &[u8],
        from: IpAddr,
        now: Duration,
    ) -> Option<(Datagram, &S, Option<Duration>)> {
        let Some((probe, session)) = read(&mut self.sessions, received) else {
            self.answers.forged += 1;
            return None;
        };
        if !session.window.admit(probe.sequence) {
            self.answers.repeated += 1;
            return None;
        }
        if !may_answer(&mut self.buckets, subscriber(from), now) {
            self.answers.too_many += 1;
            return None;
        }
        self.answers.answered += 1;
        let answer = session.key.write(Probe {
            kind: Kind::Answer,
            ..probe
        });
        let rtt = Duration::from_micros(probe.rtt_us.into());
        Some((answer, &session.owner, (!rtt.is_zero()).then_some(rtt)))
    }
}

/// Returns the request in a datagram and its session, if the request is authentic.
fn read<'a, S>(
    sessions: &'a mut HashMap<SessionTag, Session<S>>,
    received: &[u8],
) -> Option<(Probe, &'a mut Session<S>)> {
    let datagram = datagram(received)?;
    let session = sessions.get_mut(&session_of(datagram)?)?;
    let probe = session.key.read(datagram)?;
    (probe.kind == Kind::Request).then_some((probe, session))
}

/// Removes a token from the token bucket of an address. Returns whether there was a token. Only senders of authentic
/// probes get a bucket.
fn may_answer(
    buckets: &mut HashMap<IpAddr, (f64, Duration)>,
    address: IpAddr,
    now: Duration,
) -> bool {
    let (per_s, most) = ANSWER_LIMIT;
    let refilled = |(tokens, since): (f64, Duration)| {
        (tokens + per_s * now.saturating_sub(since).as_secs_f64()).min(most)
    };
    if buckets.len() >= MAX_ADDRESSES && !buckets.contains_key(&address) {
        buckets.retain(|_, &mut bucket| refilled(bucket) < most);
        if buckets.len() >= MAX_ADDRESSES {
            return false;
        }
    }
    let tokens = buckets
        .get(&address)
        .map_or(most, |&bucket| refilled(bucket));
    let may = tokens >= 1.0;
    buckets.insert(address, (if may { tokens - 1.0 } else { tokens }, now));
    may
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Key, new_key};
    use crate::probe::packet::LENGTH;

    const NOW: Duration = Duration::from_secs(100);
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn keys() -> (ProbeKey, ProbeKey) {
        let key = Key::read(&new_key().unwrap()).unwrap();
        let made = || ProbeKey::new(&key, "name").unwrap();
        (made(), made())
    }

    fn request(sequence: u32) -> Probe {
        Probe {
            kind: Kind::Request,
            sequence,
            rtt_us: 40_000,
        }
    }

    #[test]
    fn a_request_is_answered_once_and_in_its_length() {
        let (server, mut client) = keys();
        let mut answerer = Answerer::new();
        answerer.admit(server, "owner");
        let asked = client.write(request(5));
        let (answer, owner, rtt) = answerer.answer(&asked, HERE, NOW).unwrap();
        assert_eq!(
            (*owner, rtt),
            ("owner", Some(Duration::from_millis(40))),
            "the round-trip time of the client"
        );
        assert_eq!(answer.len(), asked.len());
        let read = client.read(&answer).unwrap();
        assert_eq!((read.kind, read.sequence), (Kind::Answer, 5));
        assert!(answerer.answer(&asked, HERE, NOW).is_none());
        assert!(answerer.answer(&answer, HERE, NOW).is_none(), "reflected");
        let counted = ProbeCounters {
            answered: 1,
            repeated: 1,
            forged: 1,
            too_many: 0,
        };
        assert_eq!(answerer.answers, counted);
        answerer.retain(|_| false);
        let next = client.write(request(6));
        assert!(answerer.answer(&next, HERE, NOW).is_none(), "it is over");
    }

    #[test]
    fn forged_datagrams_are_neither_answered_nor_remembered() {
        let (server, mut client) = keys();
        let mut answerer = Answerer::new();
        answerer.admit(server, ());
        let mut bits = 0x2545_f491_4f6c_dd1d_u64;
        for number in 0..2_000_u32 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let mut forged = client.write(request(number)).to_vec();
            match number % 4 {
                0 => forged[bits as usize % LENGTH] ^= (bits >> 32) as u8 | 1,
                1 => forged.truncate(bits as usize % LENGTH),
                2 => forged.push(0),
                _ => forged = bits.to_be_bytes().repeat(5)[..LENGTH].to_vec(),
            }
            let from = IpAddr::from(number.to_be_bytes());
            assert!(answerer.answer(&forged, from, NOW).is_none(), "{number}");
        }
        assert_eq!(answerer.answers.forged, 2_000);
        assert!(answerer.buckets.is_empty());
        let good = client.write(request(0));
        assert!(answerer.answer(&good, HERE, NOW).is_some(), "not replaced");
    }

    #[test]
    fn an_address_has_a_hundred_answers_per_second() {
        let (server, mut client) = keys();
        let mut answerer = Answerer::new();
        answerer.admit(server, ());
        let mut answered = |numbers: std::ops::Range<u32>, from: IpAddr, now| {
            numbers
                .filter(|&number| {
                    let asked = client.write(request(number));
                    answerer.answer(&asked, from, now).is_some()
                })
                .count()
        };
        assert_eq!(answered(0..250, HERE, NOW), 100);
        let other = IpAddr::from([192, 0, 2, 1]);
        assert_eq!(answered(250..260, other, NOW), 10);
        assert_eq!(
            answered(260..400, HERE, NOW + Duration::from_millis(500)),
            50
        );
    }

    #[test]
    fn the_table_of_addresses_is_bounded() {
        let (server, mut client) = keys();
        let mut answerer = Answerer::new();
        answerer.admit(server, ());
        for number in 0..1_000_u32 {
            let asked = client.write(request(number));
            let from = IpAddr::from((0x0a00_0000 + number).to_be_bytes());
            answerer.answer(&asked, from, NOW);
        }
        assert_eq!(answerer.buckets.len(), MAX_ADDRESSES);
        let asked = client.write(request(1_000));
        let later = NOW + Duration::from_secs(1);
        let from = IpAddr::from([192, 0, 2, 1]);
        assert!(answerer.answer(&asked, from, later).is_some());
    }
}
