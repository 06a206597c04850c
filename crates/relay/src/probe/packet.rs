//! Wire format of probes, version 1: one UDP datagram of 34 bytes, numbers big-endian.
//!
//! | offset | field | type | meaning |
//! |---|---|---|---|
//! | 0 | version | u8 | 1 |
//! | 1 | kind | u8 | 1: request, 2: answer |
//! | 2 | session | 8 bytes | name of the session, derived from the key |
//! | 10 | sequence | u32 | counts the requests of a session from 0 |
//! | 14 | rtt | u32 | round-trip time that the client has measured by probes; 0: none [us] |
//! | 18 | tag | 16 bytes | the first half of HMAC-BLAKE2s over all bytes before the tag |
//!
//! `psk` is the key that both relays share, and `name` is the session's name of 32 digits. The
//! client sends the name in the encrypted handshake ([`Hello`](crate::hello::Hello)).
//!
//! ```text
//! session = HMAC(psk, "lasthop relay probe 1 session " + name), its first 8 bytes
//! key     = HMAC(psk, "lasthop relay probe 1 key " + name)
//! ```
//!
//! An answer contains the sequence and rtt of its request, and has the same length. A datagram with
//! another length, version, session or tag gets no answer. A request that was answered before gets
//! no second answer.

use crate::noise::{Key, Mac, NoiseError};

/// Version of this wire format.
const VERSION: u8 = 1;
/// Length of a probe and of its answer. [bytes]
pub(crate) const LENGTH: usize = 34;
/// Length of the bytes that the tag authenticates. [bytes]
const COVERED: usize = 18;

/// Identifier of a session in its probes.
pub(crate) type SessionTag = [u8; 8];
/// Datagram of a probe or its answer.
pub(crate) type Datagram = [u8; LENGTH];

/// Type of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Datagram from a client.
    Request = 1,
    /// Datagram from a server.
    Answer = 2,
}

/// Contents of a probe or its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probe {
    pub(crate) kind: Kind,
    pub(crate) sequence: u32,
    /// Round-trip time that the client has measured, or 0 without a measurement. [us]
    pub(crate) rtt_us: u32,
}

/// Session identifier and key of the probes of a session.
pub(crate) struct ProbeKey {
    pub(crate) session: SessionTag,
    mac: Mac,
}

impl ProbeKey {
    /// Derives the session identifier and the key of the probes from the pre-shared key and the
    /// name of the session.
    pub(crate) fn new(key: &Key, name: &str) -> Result<ProbeKey, NoiseError> {
        let label = |purpose: &str| format!("lasthop relay probe {VERSION} {purpose} {name}");
        let mut of_both = Mac::of(key)?;
        let named = of_both.tag(label("session").as_bytes());
        let mut session = SessionTag::default();
        session.copy_from_slice(&named[..size_of::<SessionTag>()]);
        let key = of_both.tag(label("key").as_bytes());
        Ok(ProbeKey {
            session,
            mac: Mac::new(key)?,
        })
    }

    /// Encodes a probe as a datagram.
    pub(crate) fn write(&mut self, probe: Probe) -> Datagram {
        let mut datagram = [0; LENGTH];
        datagram[0] = VERSION;
        datagram[1] = probe.kind as u8;
        datagram[2..10].copy_from_slice(&self.session);
        datagram[10..14].copy_from_slice(&probe.sequence.to_be_bytes());
        datagram[14..18].copy_from_slice(&probe.rtt_us.to_be_bytes());
        let tag = self.mac.tag(&datagram[..COVERED]);
        datagram[COVERED..].copy_from_slice(&tag[..LENGTH - COVERED]);
        datagram
    }

    /// Decodes the probe in a datagram of this session. Returns `None` if the tag is wrong.
    pub(crate) fn read(&mut self, datagram: &Datagram) -> Option<Probe> {
        let (covered, tag) = datagram.split_at(COVERED);
        let right = self.mac.tag(covered);
        // all bytes are compared, so that the duration does not reveal the number of correct bytes
        let differences = tag.iter().zip(right).fold(0, |all, (a, b)| all | (a ^ b));
        if differences != 0 || session_of(datagram) != Some(self.session) {
            return None;
        }
        let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|byte| datagram[at + byte]));
        Some(Probe {
            kind: match datagram[1] {
                1 => Kind::Request,
                2 => Kind::Answer,
                _ => return None,
            },
            sequence: word(10),
            rtt_us: word(14),
        })
    }
}

/// Returns the received bytes as a datagram, if their length and version are correct.
pub(crate) fn datagram(received: &[u8]) -> Option<&Datagram> {
    let datagram: &Datagram = received.try_into().ok()?;
    (datagram[0] == VERSION).then_some(datagram)
}

/// Returns the session identifier in a datagram.
pub(crate) fn session_of(datagram: &Datagram) -> Option<SessionTag> {
    datagram[2..10].try_into().ok()
}

/// Record of which of the last 64 sequence numbers were received (RFC 4303, section 3.4.3).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplayWindow {
    /// Highest sequence number plus 1.
    next: u64,
    /// Bit i: whether the sequence number `next - 1 - i` was received.
    received: u64,
}

impl ReplayWindow {
    /// Records a sequence number. Returns whether the number is new. A number more than 63 below
    /// the highest number counts as received.
    pub(crate) fn admit(&mut self, sequence: u32) -> bool {
        let sequence = u64::from(sequence);
        if sequence >= self.next {
            let ahead = sequence + 1 - self.next;
            let before = u32::try_from(ahead).ok();
            let shifted = before.and_then(|ahead| self.received.checked_shl(ahead));
            self.received = shifted.unwrap_or(0) | 1;
            self.next = sequence + 1;
            return true;
        }
        let Some(bit) = u32::try_from(self.next - 1 - sequence)
            .ok()
            .and_then(|below| 1_u64.checked_shl(below))
        else {
            return false;
        };
        let is_new = self.received & bit == 0;
        self.received |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    const NAME: &str = "00112233445566778899aabbccddeeff";

    fn key(first: u8) -> ProbeKey {
        let bytes: [u8; 32] = std::array::from_fn(|index| first + index as u8);
        let key = Key::read(&STANDARD.encode(bytes)).unwrap();
        ProbeKey::new(&key, NAME).unwrap()
    }

    const REQUEST: Probe = Probe {
        kind: Kind::Request,
        sequence: 7,
        rtt_us: 150_000,
    };

    /// The expected bytes were computed by an independent Python program, with `hmac.digest(psk,
    /// label, hashlib.blake2s)` and `psk = bytes(range(32))`.
    #[test]
    fn a_request_has_the_documented_bytes() {
        let hex: String = key(0)
            .write(REQUEST)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            concat!(
                "0101",
                "f31b5a1bc4f285f9",
                "00000007",
                "000249f0",
                "78967bdf73328f33fb6a08ae7b329eb1"
            )
        );
    }

    #[test]
    fn a_probe_is_read_as_it_was_written_and_by_its_key_alone() {
        let datagram = key(0).write(REQUEST);
        assert_eq!(key(0).read(&datagram), Some(REQUEST));
        assert_eq!(key(1).read(&datagram), None);
        let answer = Probe {
            kind: Kind::Answer,
            ..REQUEST
        };
        assert_eq!(key(0).write(answer).len(), datagram.len());
        assert_eq!(key(0).read(&key(0).write(answer)), Some(answer));
    }

    #[test]
    fn a_flipped_bit_anywhere_is_noticed() {
        let datagram = key(0).write(REQUEST);
        for bit in 0..8 * LENGTH {
            let mut other = datagram;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key(0).read(&other), None, "{bit}");
        }
    }

    proptest! {
        #[test]
        fn noise_is_no_probe(noise in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Some(datagram) = datagram(&noise) {
                prop_assert_eq!(key(0).read(datagram), None);
            }
        }

        /// Compares the window with a set of all received numbers.
        #[test]
        fn each_number_is_admitted_once(numbers in proptest::collection::vec(0_u32..200, 0..200)) {
            let mut window = ReplayWindow::default();
            let mut admitted = std::collections::BTreeSet::new();
            for number in numbers {
                let highest = admitted.last().copied().unwrap_or(0);
                let is_new = !admitted.contains(&number) && number + 64 > highest;
                prop_assert_eq!(window.admit(number), is_new);
                if is_new {
                    admitted.insert(number);
                }
            }
        }
    }

    #[test]
    fn the_window_reaches_to_the_last_number() {
        let mut window = ReplayWindow::default();
        assert!(window.admit(u32::MAX));
        assert!(!window.admit(u32::MAX));
        assert!(!window.admit(0));
        assert!(window.admit(u32::MAX - 63));
    }
}
