//! What two relays say to each other: one frame a message, numbers big-endian.
//!
//! | kind | frame | fields behind it |
//! |---|---|---|
//! | 1 | open | stream u32, until u64, port u16, host as text |
//! | 2 | opened | stream u32, until u64, code u8 |
//! | 3 | data | stream u32, offset u64, flags u8 (1: the last, 2: no credit is left), bytes |
//! | 4 | credit | stream u32, until u64, epoch u32 |
//! | 5 | reset | stream u32, code u8 |
//! | 6 | give back | stream u32, until u64, epoch u32 |
//! | 16 | acknowledgement | for each of some connections: its number u32, count u64 |
//! | 17 | ping | |
//! | 18 | wish | connections u32 |
//! | 19 | drain | |
//! | 20 | rest | whether u8 |
//!
//! Frames below 16 are kept by their sender until they are acknowledged, and sent again on another
//! connection when theirs dies; those from 16 on are said once, and over whichever connection is ready.
//! A connection's number is what the client has called it in the handshake.
//! Probes are UDP datagrams of their own (`probe/packet.rs`).

use thiserror::Error;

/// A stream of a session.
pub type StreamId = u32;

/// Longest message before encryption. [bytes]
pub const MOST_BYTES: usize = 65_519;

/// What stands in front of a block of data. [bytes]
pub const DATA_HEAD: usize = 14;

/// First kind that is said once.
const PASSING: u8 = 16;

/// Longest name of a host (RFC 1035).
pub const MOST_HOST: usize = 255;

/// One frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<'a> {
    /// Connect to a host; data may come up to an offset.
    Open {
        /// Which.
        stream: StreamId,
        /// Offset up to which the other side may send.
        until: u64,
        /// Where to.
        port: u16,
        /// A name or an address.
        host: &'a str,
    },
    /// It is connected, or why it is not.
    Opened {
        /// Which.
        stream: StreamId,
        /// Offset up to which the other side may send.
        until: u64,
        /// [`OK`], or a code of SOCKS (RFC 1928).
        code: u8,
    },
    /// A block.
    Data {
        /// Which.
        stream: StreamId,
        /// Where in the stream it begins.
        offset: u64,
        /// Whether the stream ends behind it.
        last: bool,
        /// Whether its sender has no credit left.
        spent: bool,
        /// The block.
        bytes: &'a [u8],
    },
    /// The other side may send up to an offset.
    Credit {
        /// Which.
        stream: StreamId,
        /// The offset.
        until: u64,
        /// How often credit was given back before.
        epoch: u32,
    },
    /// A stream breaks off, both ways.
    Reset {
        /// Which.
        stream: StreamId,
        /// Why, as SOCKS has it.
        code: u8,
    },
    /// Credit that is not used, from an offset on.
    GiveBack {
        /// Which.
        stream: StreamId,
        /// The offset.
        until: u64,
        /// How often, with this time.
        epoch: u32,
    },
    /// So many kept frames have come over connections.
    Acknowledge {
        /// Numbers of connections, and how many have come since each began.
        counts: Vec<(u32, u64)>,
    },
    /// Answered by an acknowledgement over the same connection.
    Ping,
    /// How many connections the rule of the other side asks for.
    Wish {
        /// The number.
        connections: u32,
    },
    /// No more comes over this connection but acknowledgements.
    Drain,
    /// Until told otherwise this connection is to carry no streams.
    Rest {
        /// Whether it is to rest, or to carry again.
        rests: bool,
    },
}

/// Code of what went well.
pub const OK: u8 = 0;
/// Code of any other failure.
pub const FAILED: u8 = 1;
/// Code of what is not allowed.
pub const NOT_ALLOWED: u8 = 2;
/// Code of a network that cannot be reached.
pub const NETWORK_UNREACHABLE: u8 = 3;
/// Code of a host that cannot be reached, or is unknown.
pub const HOST_UNREACHABLE: u8 = 4;
/// Code of a port at which nobody listens.
pub const REFUSED: u8 = 5;
/// Code of what has not answered in time.
pub const TIMED_OUT: u8 = 6;

/// Code of a stream for which the server has no room. SOCKS has none for it.
pub const NO_ROOM: u8 = 128;

/// What a code says.
pub fn why(code: u8) -> &'static str {
    match code {
        OK => "connected",
        NOT_ALLOWED => "the server lets nobody connect there (--to)",
        NETWORK_UNREACHABLE => "its network cannot be reached",
        HOST_UNREACHABLE => "no host of that name can be reached",
        REFUSED => "nobody listens there",
        TIMED_OUT => "no answer",
        NO_ROOM => "the server has no room for another stream (--streams, --memory)",
        _ => "failed",
    }
}

/// Bytes that are no frame.
#[derive(Debug, Error, PartialEq)]
#[error("{0}")]
pub struct NoFrame(&'static str);

impl Frame<'_> {
    /// The frame that a message holds.
    pub fn read(message: &[u8]) -> Result<Frame<'_>, NoFrame> {
        let (&kind, rest) = message.split_first().ok_or(NoFrame("an empty message"))?;
        let mut rest = Rest(rest);
        let frame = match kind {
            1 => {
                let (stream, until, port) = (rest.u32()?, rest.u64()?, rest.u16()?);
                let host = std::str::from_utf8(rest.all());
                let host = host.map_err(|_| NoFrame("a host that is no text"))?;
                if host.is_empty() || host.len() > MOST_HOST {
                    return Err(NoFrame("a host without a name, or with a long one"));
                }
                Frame::Open {
                    stream,
                    until,
                    port,
                    host,
                }
            }
            2 => Frame::Opened {
                stream: rest.u32()?,
                until: rest.u64()?,
                code: rest.u8()?,
            },
            3 => {
                let (stream, offset, flags) = (rest.u32()?, rest.u64()?, rest.u8()?);
                if flags > 3 {
                    return Err(NoFrame("flags that are unknown"));
                }
                Frame::Data {
                    stream,
                    offset,
                    last: flags & 1 != 0,
                    spent: flags & 2 != 0,
                    bytes: rest.all(),
                }
            }
            4 => Frame::Credit {
                stream: rest.u32()?,
                until: rest.u64()?,
                epoch: rest.u32()?,
            },
            5 => Frame::Reset {
                stream: rest.u32()?,
                code: rest.u8()?,
            },
            6 => Frame::GiveBack {
                stream: rest.u32()?,
                until: rest.u64()?,
                epoch: rest.u32()?,
            },
            16 => {
                let mut counts = Vec::new();
                while !rest.0.is_empty() {
                    counts.push((rest.u32()?, rest.u64()?));
                }
                Frame::Acknowledge { counts }
            }
            17 => Frame::Ping,
            18 => Frame::Wish {
                connections: rest.u32()?,
            },
            19 => Frame::Drain,
            20 => match rest.u8()? {
                flag @ (0 | 1) => Frame::Rest { rests: flag == 1 },
                _ => return Err(NoFrame("neither rest nor work")),
            },
            _ => return Err(NoFrame("a frame of an unknown kind")),
        };
        match rest.0.is_empty() {
            true => Ok(frame),
            false => Err(NoFrame("bytes after a frame")),
        }
    }

    /// The message that holds it.
    pub fn message(&self) -> Vec<u8> {
        let mut to = Vec::new();
        match *self {
            Frame::Open {
                stream,
                until,
                port,
                host,
            } => {
                to.push(1);
                to.extend(stream.to_be_bytes());
                to.extend(until.to_be_bytes());
                to.extend(port.to_be_bytes());
                to.extend(host.as_bytes());
            }
            Frame::Opened {
                stream,
                until,
                code,
            } => {
                to.push(2);
                to.extend(stream.to_be_bytes());
                to.extend(until.to_be_bytes());
                to.push(code);
            }
            Frame::Data {
                stream,
                offset,
                last,
                spent,
                bytes,
            } => {
                to.extend(data_head(stream, offset, last, spent));
                to.extend(bytes);
            }
            Frame::Credit {
                stream,
                until,
                epoch,
            } => numbers(&mut to, 4, stream, until, epoch),
            Frame::Reset { stream, code } => {
                to.push(5);
                to.extend(stream.to_be_bytes());
                to.push(code);
            }
            Frame::GiveBack {
                stream,
                until,
                epoch,
            } => numbers(&mut to, 6, stream, until, epoch),
            Frame::Acknowledge { ref counts } => {
                to.push(16);
                for (link, count) in counts {
                    to.extend(link.to_be_bytes());
                    to.extend(count.to_be_bytes());
                }
            }
            Frame::Ping => to.push(17),
            Frame::Wish { connections } => {
                to.push(18);
                to.extend(connections.to_be_bytes());
            }
            Frame::Drain => to.push(19),
            Frame::Rest { rests } => to.extend([20, u8::from(rests)]),
        }
        to
    }
}

fn numbers(to: &mut Vec<u8>, kind: u8, stream: StreamId, until: u64, epoch: u32) {
    to.push(kind);
    to.extend(stream.to_be_bytes());
    to.extend(until.to_be_bytes());
    to.extend(epoch.to_be_bytes());
}

/// What stands in front of a block of data.
pub fn data_head(stream: StreamId, offset: u64, last: bool, spent: bool) -> [u8; DATA_HEAD] {
    let mut head = [0; DATA_HEAD];
    head[0] = 3;
    head[1..5].copy_from_slice(&stream.to_be_bytes());
    head[5..13].copy_from_slice(&offset.to_be_bytes());
    head[13] = u8::from(last) | u8::from(spent) << 1;
    head
}

/// Whether a message is a block of a stream.
pub fn is_data(message: &[u8]) -> bool {
    message.first() == Some(&3)
}

/// Whether a message is kept until it is acknowledged.
pub fn is_kept(message: &[u8]) -> bool {
    message.first().is_some_and(|&kind| kind < PASSING)
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], NoFrame> {
        let (first, rest) = self
            .0
            .split_first_chunk()
            .ok_or(NoFrame("a frame that breaks off"))?;
        self.0 = rest;
        Ok(*first)
    }

    fn u8(&mut self) -> Result<u8, NoFrame> {
        Ok(u8::from_be_bytes(self.take()?))
    }

    fn u16(&mut self) -> Result<u16, NoFrame> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, NoFrame> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, NoFrame> {
        Ok(u64::from_be_bytes(self.take()?))
    }

    fn all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let frames = [
            Frame::Open {
                stream: 7,
                until: 1 << 40,
                port: 443,
                host: "example.org",
            },
            Frame::Opened {
                stream: 7,
                until: 65_536,
                code: REFUSED,
            },
            Frame::Data {
                stream: u32::MAX,
                offset: 9,
                last: true,
                spent: false,
                bytes: b"",
            },
            Frame::Data {
                stream: 1,
                offset: u64::MAX,
                last: false,
                spent: true,
                bytes: b"abc",
            },
            Frame::Credit {
                stream: 1,
                until: 2,
                epoch: 3,
            },
            Frame::Reset { stream: 1, code: 1 },
            Frame::GiveBack {
                stream: 1,
                until: 2,
                epoch: 3,
            },
            Frame::Acknowledge {
                counts: vec![(0, 5), (7, 1 << 40)],
            },
            Frame::Ping,
            Frame::Wish { connections: 16 },
            Frame::Drain,
            Frame::Rest { rests: true },
        ];
        for frame in frames {
            let message = frame.message();
            assert_eq!(Frame::read(&message), Ok(frame.clone()));
            if !matches!(frame, Frame::Data { .. } | Frame::Open { .. }) {
                let longer = [message.as_slice(), b"x"].concat();
                assert!(Frame::read(&longer).is_err(), "{frame:?} and a byte");
                assert!(Frame::read(&message[..message.len() - 1]).is_err());
            }
        }
    }

    #[test]
    fn what_is_no_frame_is_told() {
        let told = |bytes: &[u8]| Frame::read(bytes).unwrap_err().to_string();
        assert_eq!(told(b""), "an empty message");
        assert_eq!(told(&[9]), "a frame of an unknown kind");
        assert_eq!(told(&[3, 0, 0]), "a frame that breaks off");
        assert_eq!(
            told(&data_head(1, 0, false, false)[..13]),
            "a frame that breaks off"
        );
        let mut odd = data_head(1, 0, false, false);
        odd[13] = 4;
        assert_eq!(told(&odd), "flags that are unknown");
    }
}
