//! Tests of links that send acknowledgements for other links, rest, or take over messages.

use super::*;

#[test]
fn one_message_acknowledges_what_has_come_over_all_links() {
    let mut server = session(Side::Server, 4);
    let open = |stream| Frame::Open {
        stream,
        until: 9,
        port: 1,
        host: "a",
    };
    for link in [3, 8] {
        server.join(link, Duration::ZERO);
        messages(&mut server, link, Duration::ZERO);
        let message = open(link).message();
        server.receive(link, &message, Duration::ZERO).unwrap();
    }
    let due = server.deadline().unwrap();
    let early = messages(&mut server, 3, due - Duration::from_millis(1));
    let counts = vec![(3, 1), (8, 1)];
    let all = Frame::Acknowledge { counts };
    assert!(!holds(&early, &all));
    assert!(holds(&messages(&mut server, 3, due), &all));
    assert_eq!(server.deadline(), None);
    // an acknowledgement sent over a lost link may be lost, so that it is repeated
    server.lose(3);
    let counts = vec![(8, 1)];
    assert!(holds(
        &messages(&mut server, 8, due),
        &Frame::Acknowledge { counts }
    ));
}

#[test]
fn a_link_that_rests_carries_nothing_until_it_is_roused() {
    let mut client = session(Side::Client, 4);
    let mut server = session(Side::Server, 4);
    let second = Duration::from_secs;
    for link in [0, 1] {
        client.join(link, Duration::ZERO);
        server.join(link, Duration::ZERO);
    }
    for link in [1, 0] {
        client.rest(link, second(1 + u64::from(link)));
        for message in messages(&mut client, link, second(2)) {
            server.receive(link, &message, second(2)).unwrap();
        }
        assert!(!client.carries(link) && !server.carries(link));
    }
    client.open("target", 80, second(2)).unwrap();
    assert!(messages(&mut client, 0, second(2)).is_empty());
    assert_eq!(client.rested(second(30), second(28)), [0]);
    // of two resting links, the link that began to rest last is used again first
    assert!(client.rouse() && client.carries(1) && !client.carries(0));
    let messages = messages(&mut client, 1, second(3));
    assert!(holds(&messages, &Frame::Rest { rests: false }));
    assert!(messages.len() > 1, "and it carries");
    assert!(client.rouse() && !client.rouse());
}

/// Returns a server session with stream 0 and link 0.
fn with_a_stream() -> Session {
    let mut server = session(Side::Server, 4);
    server.join(0, Duration::ZERO);
    let open = Frame::Open {
        stream: 0,
        until: 9,
        port: 1,
        host: "a",
    };
    server.receive(0, &open.message(), Duration::ZERO).unwrap();
    server.answer(0, frame::OK);
    server
}

#[test]
fn a_stream_that_waits_for_a_slower_link_has_more_credit() {
    let mut server = with_a_stream();
    let before = server.streams[&0].granted;
    // all bytes except the first have arrived, and the credit is used up
    let bytes = vec![7; before as usize - 1];
    let data = Frame::Data {
        stream: 0,
        offset: 1,
        flags: Flags {
            last: false,
            spent: true,
        },
        bytes: &bytes,
    };
    server.receive(0, &data.message(), Duration::ZERO).unwrap();
    messages(&mut server, 0, Duration::ZERO);
    assert_eq!(server.streams[&0].granted, 2 * before);
    // the credit frame is repeated over another link until the credit is used, in case the first
    // link is stuck
    server.join(1, Duration::ZERO);
    let mut repeats = |at: u64| {
        let now = Duration::from_secs(at);
        server.tick(now);
        let is_credit = |message: &Message| {
            let frame = Frame::read(message).unwrap();
            matches!(frame, Frame::Credit { until, .. } if until == 2 * before)
        };
        let messages = messages(&mut server, 1, now);
        messages.iter().filter(|each| is_credit(each)).count()
    };
    assert_eq!([1, 2, 3, 4, 5, 6].map(&mut repeats), [0, 1, 0, 0, 1, 0]);
    let bytes = vec![7; 9];
    let data = Frame::Data {
        stream: 0,
        offset: before,
        flags: Flags {
            last: false,
            spent: false,
        },
        bytes: &bytes,
    };
    server
        .receive(1, &data.message(), Duration::from_secs(60))
        .unwrap();
    server.tick(Duration::from_secs(600));
    let messages = messages(&mut server, 1, Duration::from_secs(600));
    assert!(
        !messages
            .iter()
            .any(|each| matches!(Frame::read(each), Ok(Frame::Credit { .. })))
    );
}

#[test]
fn a_stream_that_waits_for_links_gives_no_credit_back() {
    let given_back = |has_data: bool| {
        let mut client = session(Side::Client, 4);
        client.join(0, Duration::ZERO);
        let id = client.open("target", 80, Duration::ZERO).unwrap();
        let opened = Frame::Opened {
            stream: id,
            until: 1 << 18,
            code: frame::OK,
        };
        client
            .receive(0, &opened.message(), Duration::ZERO)
            .unwrap();
        if has_data {
            client.readable(id);
        }
        client.tick(Duration::from_secs(60));
        let mut messages = std::iter::from_fn(|| client.waiting.pop_front());
        messages.any(|each| matches!(Frame::read(&each.message), Ok(Frame::GiveBack { .. })))
    };
    assert!(given_back(false));
    assert!(!given_back(true), "it has data, and the links have no room");
}

#[test]
fn what_a_stuck_link_holds_goes_over_another() {
    let mut client = session(Side::Client, 4);
    for link in [0, 1] {
        client.join(link, Duration::ZERO);
    }
    client.open("target", 80, Duration::ZERO).unwrap();
    messages(&mut client, 0, Duration::ZERO);
    let opened = Frame::Opened {
        stream: 0,
        until: 0,
        code: frame::OK,
    };
    client
        .receive(1, &opened.message(), Duration::ZERO)
        .unwrap();
    let copies = |client: &mut Session, stuck: &[LinkId]| {
        for link in [0, 1] {
            client.tell_stuck(link, stuck.contains(&link));
        }
        client.tick(Duration::from_secs(60));
        let messages = [0, 1].map(|link| messages(client, link, Duration::from_secs(60)));
        let is_open = |message: &&Message| matches!(Frame::read(message), Ok(Frame::Open { .. }));
        messages.map(|messages| messages.iter().filter(is_open).count())
    };
    assert_eq!(
        copies(&mut client, &[]),
        [0, 0],
        "it is slow, and gets through"
    );
    assert_eq!(copies(&mut client, &[0, 1]), [0, 0], "no other takes it");
    assert_eq!(copies(&mut client, &[0]), [0, 1]);
    assert_eq!(copies(&mut client, &[0]), [0, 0], "once is enough");
}

#[test]
fn credit_that_is_given_back_late_stops_no_stream() {
    let mut server = with_a_stream();
    messages(&mut server, 0, Duration::ZERO);
    // after a pause, the client sends 3000 bytes of data over a fast link, and returns its other credit by a frame over
    // a slow link; the data arrive before this frame
    let data = Frame::Data {
        stream: 0,
        offset: 0,
        flags: Flags {
            last: false,
            spent: true,
        },
        bytes: &[7; 3_000],
    };
    server.receive(0, &data.message(), Duration::ZERO).unwrap();
    while let Some(next) = server.next(0) {
        let count = next.len();
        server.take(0, count);
    }
    messages(&mut server, 0, Duration::ZERO);
    let back = Frame::GiveBack {
        stream: 0,
        until: 3_000,
        epoch: 1,
    };
    server.receive(0, &back.message(), Duration::ZERO).unwrap();
    let messages = messages(&mut server, 0, Duration::ZERO);
    let is_new = |message: &Message| {
        let frame = Frame::read(message).unwrap();
        matches!(frame, Frame::Credit { until, epoch: 1, .. } if until > 3_000)
    };
    assert!(messages.iter().any(is_new), "{messages:?}");
}
