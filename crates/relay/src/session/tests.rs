//! Tests of two sessions whose links lose messages in flight, become slow, and end.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::frame::Flags;

mod links;
mod room;

/// Random numbers from an xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}

/// A program at one of the two relays, connected to a stream.
#[derive(Default)]
struct Program {
    says: Vec<u8>,
    sent: usize,
    heard: Vec<u8>,
    is_over: bool,
    is_reset: bool,
}

struct End {
    session: Session,
    programs: HashMap<StreamId, Program>,
}

const MEMORY: usize = 1 << 20;

fn session(side: Side, streams: usize) -> Session {
    let memory = Memory {
        merging: Budget::new(MEMORY),
        unacknowledged: Budget::new(MEMORY / 2),
    };
    let limits = Limits {
        streams,
        window: 1 << 18,
        timeout: Duration::from_secs(25),
    };
    Session::new(side, limits, memory, Duration::ZERO)
}

impl End {
    fn new(side: Side, streams: usize) -> End {
        End {
            session: session(side, streams),
            programs: HashMap::new(),
        }
    }

    fn message(&mut self, link: LinkId, room: usize, now: Duration) -> Option<Message> {
        let programs = &mut self.programs;
        let mut read = |id: StreamId, to: &mut Vec<u8>, most: usize| {
            let program = programs.get_mut(&id).unwrap();
            let rest = &program.says[program.sent..];
            if rest.is_empty() {
                return Read::End;
            }
            let count = rest.len().min(most);
            to.extend(&rest[..count]);
            program.sent += count;
            Read::Some(count)
        };
        self.session.next_message(link, room, now, &mut read)
    }

    /// Processes the events of the session. Creates a program for each requested stream.
    fn act(&mut self, random: &mut Random) {
        while let Some(event) = self.session.next_event() {
            match event {
                Event::Asked { stream, .. } => {
                    let says = bytes(random);
                    let program = Program {
                        says,
                        ..Program::default()
                    };
                    self.programs.insert(stream, program);
                    self.session.answer(stream, frame::OK);
                    self.session.readable(stream);
                }
                Event::Opened { stream, code } => {
                    assert_eq!(code, frame::OK);
                    self.session.readable(stream);
                }
                Event::Reset { stream, .. } => {
                    self.programs.get_mut(&stream).unwrap().is_reset = true
                }
                Event::Over(stream) => self.programs.get_mut(&stream).unwrap().is_over = true,
                Event::Data(_) | Event::Empty(_) | Event::Wish(_) => {}
            }
        }
    }

    /// Lets each program read some of the arrived data.
    fn take(&mut self, random: &mut Random) {
        let Self { session, programs } = self;
        for (&id, program) in programs {
            if program.is_over || program.is_reset {
                continue;
            }
            while let Some(next) = session.next(id) {
                let count = next.len().min(1 + random.below(40_000) as usize);
                program.heard.extend(&next[..count]);
                session.take(id, count);
                if random.below(4) == 0 {
                    break;
                }
            }
            if session.is_over(id) {
                session.ended(id);
            }
        }
    }
}

fn bytes(random: &mut Random) -> Vec<u8> {
    let scale = [1, 100, 20_000, 400_000][random.below(4) as usize];
    (0..random.below(scale))
        .map(|_| random.below(256) as u8)
        .collect()
}

/// A link between the two sessions, with the messages in flight in both directions.
struct Pair {
    id: LinkId,
    way: [VecDeque<Message>; 2],
}

struct World {
    ends: [End; 2],
    pairs: Vec<Pair>,
    joined: LinkId,
    now: Duration,
    random: Random,
}

impl World {
    fn new(seed: u64, links: usize) -> World {
        let ends = [End::new(Side::Client, 64), End::new(Side::Server, 64)];
        let mut world = World {
            ends,
            pairs: Vec::new(),
            joined: 0,
            now: Duration::ZERO,
            random: Random(seed | 1),
        };
        for _ in 0..links {
            world.join();
        }
        world
    }

    fn join(&mut self) {
        let now = self.now;
        let id = self.joined;
        self.joined += 1;
        for end in &mut self.ends {
            end.session.join(id, now);
        }
        let way = [VecDeque::new(), VecDeque::new()];
        self.pairs.push(Pair { id, way });
    }

    fn kill(&mut self, index: usize) {
        let pair = self.pairs.swap_remove(index);
        for end in &mut self.ends {
            end.session.lose(pair.id);
        }
    }

    fn open(&mut self) {
        let client = &mut self.ends[0];
        let says = bytes(&mut self.random);
        if let Some(stream) = client.session.open("target", 80, self.now) {
            let program = Program {
                says,
                ..Program::default()
            };
            client.programs.insert(stream, program);
        }
    }

    /// Sends or delivers one message of a random link.
    fn step(&mut self) {
        let index = self.random.below(self.pairs.len() as u64) as usize;
        let side = self.random.below(2) as usize;
        let room = [1, 1_448, 14_480, 65_536][self.random.below(4) as usize];
        let pair = &mut self.pairs[index];
        if self.random.below(2) == 0 {
            let message = self.ends[side].message(pair.id, room, self.now);
            pair.way[side].extend(message);
        } else if let Some(message) = pair.way[side].pop_front() {
            let other = &mut self.ends[1 - side].session;
            other.receive(pair.id, &message, self.now).unwrap();
        }
        for end in &mut self.ends {
            end.take(&mut self.random);
            end.act(&mut self.random);
        }
        self.now += Duration::from_millis(self.random.below(4));
        let client = &mut self.ends[0].session;
        match self.random.below(60) {
            0 if self
                .pairs
                .iter()
                .filter(|pair| client.carries(pair.id))
                .count()
                > 1 =>
            {
                let id = self.pairs[index].id;
                client.rest(id, self.now);
            }
            1 => {
                client.rouse();
            }
            2 => {
                let (id, does) = (self.pairs[index].id, self.random.below(2) == 0);
                client.tell_stuck(id, does);
            }
            _ => {}
        }
        if self.random.below(50) == 0 {
            for end in &mut self.ends {
                end.session.tick(self.now);
            }
        }
    }

    fn is_quiet(&self) -> bool {
        self.ends.iter().all(|end| end.session.streams() == 0)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Checks that every message arrives and all memory is released, although links lose messages,
    /// rest and end.
    #[test]
    fn nothing_is_lost_doubled_or_reordered(seed in any::<u64>(), links in 1usize..6, kills in 0u64..40) {
        let mut world = World::new(seed, links);
        for _ in 0..8 {
            world.open();
        }
        let mut left = kills;
        let mut steps = 0;
        while !world.is_quiet() {
            world.step();
            if left > 0 && world.random.below(60) == 0 {
                left -= 1;
                world.ends[0].session.rouse();
                let index = world.random.below(world.pairs.len() as u64) as usize;
                world.kill(index);
                world.join();
            }
            steps += 1;
            prop_assert!(steps < 400_000, "it hangs");
        }
        let [client, server] = &world.ends;
        prop_assert_eq!(client.programs.len(), 8);
        for (id, program) in &client.programs {
            let other = &server.programs[id];
            prop_assert!(program.is_over && other.is_over);
            prop_assert!(program.heard == other.says && other.heard == program.says);
        }
        // unacknowledged messages are released when the last link is removed
        while !world.pairs.is_empty() {
            world.kill(0);
        }
        for end in &mut world.ends {
            end.session.abandon();
            prop_assert_eq!(end.session.memory.merging.used(), 0);
            prop_assert_eq!(end.session.memory.unacknowledged.used(), 0);
            prop_assert_eq!(end.session.blocks, 0);
        }
    }

    /// Checks that a session survives random messages: it processes each or reports a violation,
    /// and uses at most the memory of its budget.
    #[test]
    fn any_message_is_borne(seed in any::<u64>()) {
        let mut random = Random(seed | 1);
        for side in [Side::Client, Side::Server] {
            let mut session = session(side, 64);
            let link = random.below(3) as LinkId;
            session.join(link, Duration::ZERO);
            session.open("target", 80, Duration::ZERO);
            for _ in 0..200 {
                if session.receive(link, &odd(&mut random), Duration::ZERO).is_err() {
                    break;
                }
                while let Some(event) = session.next_event() {
                    if let Event::Asked { stream, .. } = event {
                        session.answer(stream, random.below(3) as u8);
                    }
                }
                prop_assert!(session.memory.merging.used() <= MEMORY);
                prop_assert!(session.blocks <= MAX_BLOCKS && session.streams() <= 64);
            }
        }
    }
}

/// Returns random bytes, most of which resemble a message.
fn odd(random: &mut Random) -> Vec<u8> {
    let stream = random.below(4) as StreamId;
    let until = [0, 5, 5_000, 70_000, u64::MAX][random.below(5) as usize];
    let block = vec![1; random.below(300) as usize];
    let frame = match random.below(11) {
        0 | 1 => Frame::Open {
            stream,
            until,
            port: 80,
            host: "target",
        },
        2 => Frame::Opened {
            stream,
            until,
            code: random.below(3) as u8,
        },
        3..=5 => Frame::Data {
            stream,
            offset: random.below(3) * random.below(9_000),
            flags: Flags {
                last: random.below(9) == 0,
                spent: random.below(2) == 0,
            },
            bytes: &block,
        },
        6 => Frame::Credit {
            stream,
            until,
            epoch: random.below(2) as u32,
        },
        7 => Frame::Reset { stream, code: 1 },
        8 => Frame::GiveBack {
            stream,
            until,
            epoch: random.below(3) as u32,
        },
        9 => Frame::Acknowledge {
            counts: vec![(stream, random.below(3)); random.below(3) as usize],
        },
        _ => Frame::Ping,
    };
    let mut message = frame.message();
    if random.below(8) == 0 && !message.is_empty() {
        let at = random.below(message.len() as u64) as usize;
        message[at] = random.below(256) as u8;
    }
    message
}

#[test]
fn a_million_odd_messages_are_borne() {
    let mut random = Random(0x1a57_0b0e);
    let mut session = session(Side::Server, 64);
    let link = 1;
    session.join(link, Duration::ZERO);
    let mut violations = 0;
    for _ in 0..1_000_000 {
        if session
            .receive(link, &odd(&mut random), Duration::ZERO)
            .is_err()
        {
            violations += 1;
            session.abandon();
            session = self::session(Side::Server, 64);
            session.join(link, Duration::ZERO);
        }
        while let Some(event) = session.next_event() {
            if let Event::Asked { stream, .. } = event {
                session.answer(stream, 0);
            }
        }
        assert!(session.memory.merging.used() <= MEMORY);
    }
    assert!(violations > 1_000);
}

#[test]
fn an_unread_stream_stops_no_other() {
    let mut world = World::new(7, 2);
    for _ in 0..2 {
        world.open();
    }
    let [client, _] = &mut world.ends;
    client.programs.get_mut(&0).unwrap().says = vec![1; 2_000_000];
    client.programs.get_mut(&1).unwrap().says = vec![2; 2_000_000];
    // the program of stream 0 at the server never reads
    for _ in 0..200_000 {
        let World {
            ends,
            pairs,
            now,
            random,
            ..
        } = &mut world;
        *now += Duration::from_millis(1);
        for pair in pairs {
            for side in [0, 1] {
                pair.way[side].extend(ends[side].message(pair.id, 14_480, *now));
                while let Some(message) = pair.way[side].pop_front() {
                    let other = &mut ends[1 - side].session;
                    other.receive(pair.id, &message, *now).unwrap();
                }
            }
        }
        for end in ends.iter_mut() {
            end.act(random);
        }
        let session = &mut ends[1].session;
        while let Some(next) = session.next(1) {
            let count = next.len();
            session.take(1, count);
        }
        if session.has(1) && session.is_over(1) {
            break;
        }
    }
    let server = &world.ends[1].session;
    assert!(server.is_over(1));
    assert!(server.streams[&0].granted <= FIRST_WINDOW);
    assert!(server.streams[&1].merge.taken() == 2_000_000);
}

#[test]
fn a_window_grows_where_it_holds_its_sender_up_and_is_given_back_when_idle() {
    let mut world = World::new(3, 1);
    world.open();
    world.ends[0].programs.get_mut(&0).unwrap().says = vec![1; 3_000_000];
    let mut widest = 0;
    for _ in 0..20_000 {
        world.step();
        if let Some(stream) = world.ends[1].session.streams.get(&0) {
            widest = widest.max(stream.window);
        }
        if world.is_quiet() {
            break;
        }
    }
    assert!(world.is_quiet() && widest > 2 * FIRST_WINDOW, "{widest}");

    let mut client = session(Side::Client, 4);
    let link = 0;
    client.join(link, Duration::ZERO);
    let id = client.open("target", 80, Duration::ZERO).unwrap();
    let opened = Frame::Opened {
        stream: id,
        until: 500_000,
        code: frame::OK,
    };
    client
        .receive(link, &opened.message(), Duration::ZERO)
        .unwrap();
    client.tick(Duration::from_secs(6));
    assert_eq!(client.streams[&id].credit, IDLE_WINDOW);
    let expected = Frame::GiveBack {
        stream: id,
        until: IDLE_WINDOW,
        epoch: 1,
    };
    let messages = messages(&mut client, link, Duration::from_secs(6));
    assert!(holds(&messages, &expected));
    // this credit frame was sent before the other relay knew that credit was given back, so that
    // its epoch is too old
    let late = Frame::Credit {
        stream: id,
        until: 900_000,
        epoch: 0,
    };
    client
        .receive(link, &late.message(), Duration::from_secs(6))
        .unwrap();
    assert_eq!(client.streams[&id].credit, IDLE_WINDOW);
}

#[test]
fn a_silent_link_and_a_silent_relay_are_told() {
    let mut client = session(Side::Client, 4);
    let link = 0;
    client.join(link, Duration::ZERO);
    let second = Duration::from_secs;
    client.open("target", 80, second(1)).unwrap();
    messages(&mut client, link, second(1));
    assert!(client.silent(second(24)).is_empty());
    assert_eq!(client.silent(second(27)), [link]);
    assert!(!client.is_dead(second(25)) && client.is_dead(second(27)));
    client.abandon();
    let reset = Event::Reset {
        stream: 0,
        code: frame::FAILED,
    };
    assert_eq!(client.next_event(), Some(reset));
}

/// A [`Reader`] that finds no data.
fn nothing(_: StreamId, _: &mut Vec<u8>, _: usize) -> Read {
    Read::Nothing
}

/// Returns all messages that a session can send over a link now.
fn messages(session: &mut Session, link: LinkId, now: Duration) -> Vec<Message> {
    std::iter::from_fn(|| session.next_message(link, 1_000, now, &mut nothing)).collect()
}

fn holds(messages: &[Message], frame: &Frame) -> bool {
    messages
        .iter()
        .any(|message| Frame::read(message).as_ref() == Ok(frame))
}
