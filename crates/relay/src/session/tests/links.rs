//! What links do for each other: acknowledge, rest, take over, wait.

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
        said(&mut server, link, Duration::ZERO);
        let message = open(link).message();
        server.receive(link, &message, Duration::ZERO).unwrap();
    }
    let due = server.deadline().unwrap();
    let early = said(&mut server, 3, due - Duration::from_millis(1));
    let counts = vec![(3, 1), (8, 1)];
    let all = Frame::Acknowledge { counts };
    assert!(!holds(&early, &all));
    assert!(holds(&said(&mut server, 3, due), &all));
    assert_eq!(server.deadline(), None);
    // whatever a link carried that is lost may not have come: it is said again
    server.lose(3);
    let counts = vec![(8, 1)];
    assert!(holds(
        &said(&mut server, 8, due),
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
        for message in said(&mut client, link, second(2)) {
            server.receive(link, &message, second(2)).unwrap();
        }
        assert!(!client.carries(link) && !server.carries(link));
    }
    client.open("target", 80, second(2)).unwrap();
    assert!(said(&mut client, 0, second(2)).is_empty());
    assert_eq!(client.rested(second(30), second(28)), [0]);
    // the last that was put to rest comes first
    assert!(client.rouse() && client.carries(1) && !client.carries(0));
    let messages = said(&mut client, 1, second(3));
    assert!(holds(&messages, &Frame::Rest { rests: false }));
    assert!(messages.len() > 1, "and it carries");
    assert!(client.rouse() && !client.rouse());
}

#[test]
fn a_stream_that_waits_for_a_slower_link_has_more_credit() {
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
    let before = server.streams[&0].granted;
    // all but the first byte has come, and there is no credit left
    let bytes = vec![7; before as usize - 1];
    let data = Frame::Data {
        stream: 0,
        offset: 1,
        last: false,
        spent: true,
        bytes: &bytes,
    };
    server.receive(0, &data.message(), Duration::ZERO).unwrap();
    said(&mut server, 0, Duration::ZERO);
    assert_eq!(server.streams[&0].granted, 2 * before);
}

#[test]
fn what_a_stuck_link_holds_goes_over_another() {
    let mut client = session(Side::Client, 4);
    for link in [0, 1] {
        client.join(link, Duration::ZERO);
    }
    client.open("target", 80, Duration::ZERO).unwrap();
    said(&mut client, 0, Duration::ZERO);
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
        let messages = [0, 1].map(|link| said(client, link, Duration::from_secs(60)));
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
