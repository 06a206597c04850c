//! Tests of the distribution of scarce memory, and of streams refused for lack of memory.

use super::*;

const MIB: usize = 1 << 20;
/// Amount of data that the kernel buffers of an unread socket accept. [bytes]
const UNREAD: u64 = 200_000;

/// Returns a server session with link 0, at most `streams` streams, and a budget of `merging` bytes for received data.
fn server(streams: usize, merging: usize) -> Session {
    let memory = Memory {
        merging: Budget::new(merging),
        unacknowledged: Budget::new(16 * MIB),
    };
    let limits = Limits {
        streams,
        window: 4 << 20,
        timeout: Duration::from_secs(25),
    };
    let mut server = Session::new(Side::Server, limits, memory, Duration::ZERO);
    server.join(0, Duration::ZERO);
    server
}

fn open(server: &mut Session, stream: StreamId) {
    let open = Frame::Open {
        stream,
        until: 9,
        port: 1,
        host: "a",
    };
    server.receive(0, &open.message(), Duration::ZERO).unwrap();
    server.answer(stream, frame::OK);
}

/// Sends as much data as the credit allows, one window per round trip. The program reads `most`
/// bytes and then stops reading.
fn upload(server: &mut Session, stream: StreamId, most: u64) {
    let block = vec![7; MAX_BLOCK];
    while server.streams[&stream].granted > server.streams[&stream].merge.highest() {
        let until = server.streams[&stream].granted;
        let mut offset = server.streams[&stream].merge.highest();
        while offset < until {
            let length = (until - offset).min(block.len() as u64);
            let data = Frame::Data {
                stream,
                offset,
                flags: Flags {
                    last: false,
                    spent: offset + length == until,
                },
                bytes: &block[..length as usize],
            };
            server.receive(0, &data.message(), Duration::ZERO).unwrap();
            offset += length;
        }
        while let Some(next) = server.next(stream) {
            let left = most.saturating_sub(server.streams[&stream].merge.taken());
            let count = next.len().min(left as usize);
            if count == 0 {
                break;
            }
            server.take(stream, count);
        }
        // discards the messages that the server sends, including credit frames
        let _ = messages(server, 0, Duration::ZERO);
        server.links.get_mut(&0).unwrap().unacknowledged.clear();
    }
}

#[test]
fn streams_that_are_read_get_credit_before_those_that_are_not() {
    const STREAMS: StreamId = 400;
    // 400 streams with a third of the default budget (32 MiB) behave as 1,200 streams with the whole budget
    let mut server = server(2_048, 32 * MIB / 3);
    for stream in 0..STREAMS {
        open(&mut server, stream);
        upload(&mut server, stream, UNREAD);
    }
    open(&mut server, STREAMS);
    upload(&mut server, STREAMS, 4_000_000);
    let window = server.streams[&STREAMS].window;
    assert!(window > 400_000, "{window}");
}

#[test]
fn each_stream_that_may_be_open_has_room_whatever_others_hold() {
    // a memory of 24 KiB per stream, of which 16 KiB are the budget for merging
    let (streams, merging) = (64, 64 * 16_384);
    let mut server = server(streams, merging);
    open(&mut server, 0);
    upload(&mut server, 0, 1 << 20);
    for stream in 1..streams as StreamId {
        open(&mut server, stream);
    }
    assert_eq!((server.streams(), server.counted().refused), (streams, 0));
    assert_eq!(server.lack(), None);
}

#[test]
fn a_refusal_says_what_is_lacking() {
    let (mut few, mut small) = (server(2, MIB), server(64, 20_000));
    for server in [&mut few, &mut small] {
        for stream in 0..5 {
            open(server, stream);
        }
    }
    assert_eq!((few.streams(), few.counted().refused), (2, 3));
    assert_eq!(few.lack(), Some(Lack::Streams(2)));
    assert_eq!((small.streams(), small.counted().refused), (4, 1));
    assert_eq!(small.lack(), Some(Lack::Memory));
    let refused = Frame::Opened {
        stream: 4,
        until: 0,
        code: frame::NO_ROOM,
    };
    let messages = messages(&mut small, 0, Duration::ZERO);
    assert!(holds(&messages, &refused));

    let mut client = session(Side::Client, 4);
    client.join(0, Duration::ZERO);
    let id = client.open("target", 80, Duration::ZERO).unwrap();
    let refused = Frame::Opened {
        stream: id,
        until: 0,
        code: frame::NO_ROOM,
    };
    client
        .receive(0, &refused.message(), Duration::ZERO)
        .unwrap();
    assert_eq!(
        (client.counted().refused, client.lack()),
        (1, Some(Lack::Server))
    );
}
