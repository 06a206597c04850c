//! Messages between two relays. A message contains one frame, whose numbers are big-endian.
//!
//! | kind | frame | fields |
//! |---|---|---|
//! | 1 | open | stream u32, until u64, port u16, host as text |
//! | 2 | opened | stream u32, until u64, code u8 |
//! | 3 | data | stream u32, offset u64, flags u8 (1: the last, 2: no credit is left), bytes |
//! | 4 | credit | stream u32, until u64, epoch u32 |
//! | 5 | reset | stream u32, code u8 |
//! | 6 | give back | stream u32, until u64, epoch u32 |
//! | 16 | acknowledgement | list of connections: identifier u32, number of received frames u64 |
//! | 17 | ping | |
//! | 18 | wish | connections u32 |
//! | 19 | drain | |
//! | 20 | rest | rests u8 |
//!
//! The sender stores a frame of a kind below 16 until the frame is acknowledged. If the connection
//! of the frame is lost, the sender retransmits the frame over another connection. A frame of a
//! kind from 16 on is sent once, over any connection that is ready. The client assigns the
//! identifiers of connections in the handshake. Probes are not frames but UDP datagrams (`probe/packet.rs`).

use std::mem;

use thiserror::Error;

/// Identifier of a stream, unique in its session.
pub type StreamId = u32;

/// Longest message before encryption. [bytes]
pub const MAX_BYTES: usize = 65_519;

/// Length of a data frame without its data. [bytes]
pub const DATA_HEAD: usize = 14;

/// Kind number of a data frame.
const DATA: u8 = 3;

/// First kind number of frames that are sent only once.
const PASSING: u8 = 16;

/// Maximum length of a host name (RFC 1035). [bytes]
pub const MAX_HOST: usize = 255;

/// Code for success, as reply to a request to open a stream.
pub const OK: u8 = 0;
/// Code for a failure that no other code describes.
pub const FAILED: u8 = 1;
/// Code for a target that the server does not allow.
pub const NOT_ALLOWED: u8 = 2;
/// Code for a network that cannot be reached.
pub const NETWORK_UNREACHABLE: u8 = 3;
/// Code for a host that is unknown or cannot be reached.
pub const HOST_UNREACHABLE: u8 = 4;
/// Code for a target that refuses the connection.
pub const REFUSED: u8 = 5;
/// Code for a target that does not reply in time.
pub const TIMED_OUT: u8 = 6;

/// Code for a stream that the server refuses for lack of memory or because of the maximum number of
/// streams. SOCKS does not define this code.
pub const NO_ROOM: u8 = 128;

/// Returns the meaning of a code as text.
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

/// Error for a message that is not a valid frame.
#[derive(Debug, Error, PartialEq)]
#[error("{0}")]
pub struct NoFrame(&'static str);

/// Encoding of one type of frame field.
trait Field<'a>: Sized {
    /// Reads the field at the start of `rest`, and removes it from `rest`.
    fn read(rest: &mut &'a [u8]) -> Result<Self, NoFrame>;

    /// Appends the encoded field to a message.
    fn write(&self, message: &mut Vec<u8>);
}

macro_rules! number_fields {
    ($($number:ty),*) => {$(
        impl Field<'_> for $number {
            fn read(rest: &mut &[u8]) -> Result<$number, NoFrame> {
                let (number, others) = rest
                    .split_first_chunk()
                    .ok_or(NoFrame("a frame that breaks off"))?;
                *rest = others;
                Ok(<$number>::from_be_bytes(*number))
            }

            fn write(&self, message: &mut Vec<u8>) {
                message.extend(self.to_be_bytes());
            }
        }
    )*};
}
number_fields!(u8, u16, u32, u64);

impl Field<'_> for bool {
    fn read(rest: &mut &[u8]) -> Result<bool, NoFrame> {
        match u8::read(rest)? {
            flag @ (0 | 1) => Ok(flag == 1),
            _ => Err(NoFrame("neither rest nor work")),
        }
    }

    fn write(&self, message: &mut Vec<u8>) {
        message.push(u8::from(*self));
    }
}

impl<'a> Field<'a> for &'a [u8] {
    fn read(rest: &mut &'a [u8]) -> Result<&'a [u8], NoFrame> {
        Ok(mem::take(rest))
    }

    fn write(&self, message: &mut Vec<u8>) {
        message.extend(*self);
    }
}

/// Encoding of a host as text.
impl<'a> Field<'a> for &'a str {
    fn read(rest: &mut &'a [u8]) -> Result<&'a str, NoFrame> {
        let host = std::str::from_utf8(mem::take(rest));
        let host = host.map_err(|_| NoFrame("a host that is no text"))?;
        if host.is_empty() || host.len() > MAX_HOST {
            return Err(NoFrame("a host without a name, or with a long one"));
        }
        Ok(host)
    }

    fn write(&self, message: &mut Vec<u8>) {
        message.extend(self.as_bytes());
    }
}

impl Field<'_> for Vec<(u32, u64)> {
    fn read(rest: &mut &[u8]) -> Result<Vec<(u32, u64)>, NoFrame> {
        let mut counts = Vec::new();
        while !rest.is_empty() {
            counts.push((u32::read(rest)?, u64::read(rest)?));
        }
        Ok(counts)
    }

    fn write(&self, message: &mut Vec<u8>) {
        for (link, count) in self {
            link.write(message);
            count.write(message);
        }
    }
}

/// Flags of a data frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flags {
    /// Whether the block is the last block of the stream.
    pub last: bool,
    /// Whether the sender has used up its credit.
    pub spent: bool,
}

impl Flags {
    fn bits(self) -> u8 {
        u8::from(self.last) | u8::from(self.spent) << 1
    }
}

impl Field<'_> for Flags {
    fn read(rest: &mut &[u8]) -> Result<Flags, NoFrame> {
        match u8::read(rest)? {
            flags @ 0..=3 => Ok(Flags {
                last: flags & 1 != 0,
                spent: flags & 2 != 0,
            }),
            _ => Err(NoFrame("flags that are unknown")),
        }
    }

    fn write(&self, message: &mut Vec<u8>) {
        message.push(self.bits());
    }
}

/// Defines the frames. Each definition has the kind number, the name, and the fields in the order
/// of the message.
macro_rules! frames {
    (
        $($(#[$doc:meta])* $kind:literal $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        })*
        $(; $(#[$plain_doc:meta])* $plain_kind:literal $plain:ident)*
    ) => {
        /// A frame.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Frame<'a> {
            $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type,)* },)*
            $($(#[$plain_doc])* $plain,)*
        }

        impl Frame<'_> {
            /// Parses the frame in a message.
            pub fn read(message: &[u8]) -> Result<Frame<'_>, NoFrame> {
                let (&kind, mut rest) = message.split_first().ok_or(NoFrame("an empty message"))?;
                let frame = match kind {
                    $($kind => Frame::$name { $($field: Field::read(&mut rest)?,)* },)*
                    $($plain_kind => Frame::$plain,)*
                    _ => return Err(NoFrame("a frame of an unknown kind")),
                };
                match rest.is_empty() {
                    true => Ok(frame),
                    false => Err(NoFrame("bytes after a frame")),
                }
            }

            /// Encodes the frame as a message.
            pub fn message(&self) -> Vec<u8> {
                let mut message = Vec::new();
                match self {
                    $(Frame::$name { $($field,)* } => {
                        message.push($kind);
                        $($field.write(&mut message);)*
                    })*
                    $(Frame::$plain => message.push($plain_kind),)*
                }
                message
            }
        }
    };
}

frames! {
    /// Requests a connection to a host, and grants credit up to an offset.
    1 Open {
        /// Stream for the connection to the host.
        stream: StreamId,
        /// Offset in the stream up to which the receiver of this frame may send.
        until: u64,
        /// Port of the host.
        port: u16,
        /// Name or address of the host.
        host: &'a str,
    }
    /// Reports that the stream is connected, or that connecting failed.
    2 Opened {
        /// Stream that was opened.
        stream: StreamId,
        /// Offset in the stream up to which the receiver of this frame may send.
        until: u64,
        /// [`OK`], or a code of SOCKS (RFC 1928).
        code: u8,
    }
    /// A block of data.
    3 Data {
        /// Stream of the block.
        stream: StreamId,
        /// Offset of the block in the stream.
        offset: u64,
        /// Whether the block is the last one, and whether its sender has credit left.
        flags: Flags,
        /// Bytes of the block.
        bytes: &'a [u8],
    }
    /// Grants credit: the receiver of this frame may send up to an offset.
    4 Credit {
        /// Stream to which the credit belongs.
        stream: StreamId,
        /// Offset in the stream up to which the receiver of this frame may send.
        until: u64,
        /// Value of `epoch` in the last `GiveBack` frame of the stream that the sender of this frame has received. A
        /// credit frame with an older value is ignored.
        epoch: u32,
    }
    /// Resets a stream in both directions.
    5 Reset {
        /// Stream that is reset.
        stream: StreamId,
        /// Reason, as a code of SOCKS.
        code: u8,
    }
    /// Gives unused credit back: the sender of this frame gives up the credit above an offset.
    6 GiveBack {
        /// Stream to which the credit belongs.
        stream: StreamId,
        /// Offset above which the credit is given back.
        until: u64,
        /// Number of times that the sender has given credit of this stream back, including this time.
        epoch: u32,
    }
    /// Acknowledges stored frames: reports how many stored frames have arrived over each connection.
    16 Acknowledge {
        /// Identifiers of connections, each with the number of stored frames that have arrived since
        /// the connection began.
        counts: Vec<(u32, u64)>,
    }
    /// Reports the number of connections that the sender's rule asks for.
    18 Wish {
        /// Number of connections that the rule asks for.
        connections: u32,
    }
    /// Asks the other relay to send no data over this connection, or to send data over it again.
    20 Rest {
        /// Whether data must not be sent over this connection (true), or may be sent over it again (false).
        rests: bool,
    }
    ;
    /// Requests an acknowledgement over the same connection.
    17 Ping;
    /// Announces that only acknowledgements follow over this connection.
    19 Drain
}

/// Returns the start of a data frame, to which the data are appended.
pub fn data_head(stream: StreamId, offset: u64, flags: Flags) -> [u8; DATA_HEAD] {
    let mut head = [DATA; DATA_HEAD];
    head[1..5].copy_from_slice(&stream.to_be_bytes());
    head[5..13].copy_from_slice(&offset.to_be_bytes());
    head[13] = flags.bits();
    head
}

/// Returns whether a message is a data frame.
pub fn is_data(message: &[u8]) -> bool {
    message.first() == Some(&DATA)
}

/// Returns whether a message is stored until it is acknowledged.
pub fn is_kept(message: &[u8]) -> bool {
    message.first().is_some_and(|&kind| kind < PASSING)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_FLAGS: Flags = Flags {
        last: false,
        spent: false,
    };

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
                flags: Flags {
                    last: true,
                    spent: false,
                },
                bytes: b"",
            },
            Frame::Data {
                stream: 1,
                offset: u64::MAX,
                flags: Flags {
                    last: false,
                    spent: true,
                },
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
    fn bytes_that_are_no_frame_are_refused() {
        let message = |bytes: &[u8]| Frame::read(bytes).unwrap_err().to_string();
        assert_eq!(message(b""), "an empty message");
        assert_eq!(message(&[9]), "a frame of an unknown kind");
        assert_eq!(message(&[3, 0, 0]), "a frame that breaks off");
        let mut odd = data_head(1, 0, NO_FLAGS);
        assert_eq!(message(&odd[..13]), "a frame that breaks off");
        odd[13] = 4;
        assert_eq!(message(&odd), "flags that are unknown");
    }
}
