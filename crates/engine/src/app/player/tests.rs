use super::*;
use crate::kernel::time::Time;

const S: u64 = 1_000_000_000;

/// Returns a player with chunks of 4 s at 1, 2 and 4 Mb/s, and a buffer of 20 s.
fn player(adaptation: Adaptation) -> Player {
    player_with(adaptation, 20, 8)
}

/// Returns a player like [`player`] with another buffer, which starts with `startup_s` of video.
fn player_with(adaptation: Adaptation, buffer_s: u64, startup_s: u64) -> Player {
    let mut player = Player::new(&StreamSettings {
        bitrates_bps: vec![1_000_000, 2_000_000, 4_000_000],
        chunk: Span(4 * S),
        buffer: Span(buffer_s * S),
        startup: Span(startup_s * S),
        adaptation,
        request_bytes: 400,
        server_delay: Span(S / 10),
    });
    player.open(Time(0));
    player
}

/// Fetches the next chunk: the request takes 0.1 s, and so does the server. The chunk arrives
/// `transfer_s` after the request.
fn fetch(player: &mut Player, transfer_s: f64) -> (f64, u64) {
    let at = player.deadline();
    assert_eq!(player.act(at), Write::Request(400));
    assert_eq!(player.deadline(), Time::NEVER);
    player.request_arrived(at + Span(S / 10));
    player.request_arrived(at + Span(S / 5)); // a duplicate
    let serves = player.deadline();
    assert_eq!(serves, at + Span(S / 5));
    let Write::Chunk(bytes) = player.act(serves) else {
        panic!("no chunk");
    };
    let arrival = at + Span::from_seconds(transfer_s);
    assert_eq!(player.chunk_arrived(arrival), Some(bytes));
    assert_eq!(player.chunk_arrived(arrival), None);
    (at.seconds(), bytes)
}

/// Checks the times of requests, the buffer, and a stall against values that were worked by hand.
#[test]
fn the_buffer_starts_falls_stalls_and_fills() {
    let mut player = player(Adaptation::Throughput);
    // 500 kB in 2 s are 2 Mb/s; 0.9 times this allows 1 Mb/s
    assert_eq!(fetch(&mut player, 2.0), (0.0, 500_000));
    assert_eq!(
        (player.startup(), player.buffered(Time(3 * S))),
        (None, Span(4 * S))
    );
    // the video starts at 4 s with a buffer of 8 s, which is empty at 12 s
    assert_eq!(fetch(&mut player, 2.0), (2.0, 500_000));
    assert_eq!(player.startup(), Some(Span(4 * S)));
    assert_eq!(player.buffered(Time(7 * S)), Span(5 * S));
    // the third chunk arrives at 14 s, 2 s late; with 4 s of video the player still waits
    assert_eq!(fetch(&mut player, 10.0), (4.0, 500_000));
    assert_eq!(player.buffered(Time(15 * S)), Span(4 * S));
    // with the fourth chunk at 15 s the video plays again: stalled for 3 s
    assert_eq!(fetch(&mut player, 1.0), (14.0, 500_000));
    assert_eq!(player.buffered(Time(16 * S)), Span(7 * S));
    let tally = player.tally(Time(3 * S), Time(16 * S));
    assert_eq!(
        (tally.stalls, tally.stalled, tally.watched),
        (1, Span(3 * S), Span(12 * S))
    );
    assert_eq!(tally.times.len(), 3); // the first chunk arrived at 2 s
    // a stall that has not ended: the buffer of 8 s is empty at 23 s
    let tally = player.tally(Time(16 * S), Time(25 * S));
    assert_eq!((tally.stalls, tally.stalled), (1, Span(2 * S)));
}

/// Checks that the player waits until the buffer has room, and that it uses the harmonic mean of
/// the last five chunks.
#[test]
fn a_full_buffer_delays_the_next_request() {
    let mut player = player(Adaptation::Throughput);
    // 500 kB in 0.4 s are 10 Mb/s: from the second chunk on, the bitrate is 4 Mb/s
    let requests: Vec<(f64, u64)> = (0..7).map(|_| fetch(&mut player, 0.4)).collect();
    assert_eq!(requests[0], (0.0, 500_000));
    assert!(requests[1..].iter().all(|&(_, bytes)| bytes == 2_000_000));
    // the video plays from 0.8 s on, when the buffer is 8 s; at 2.0 s it is 18.8 s, and a chunk of
    // 4 s fits at 4.8 s
    assert_eq!(requests[4].0, 1.6);
    assert!((requests[5].0 - 4.8).abs() < 1e-9, "{requests:?}");
    assert!((requests[6].0 - 8.8).abs() < 1e-9, "{requests:?}");
    // four chunks at 40 Mb/s and one at 1.25 Mb/s: 5 / (4 / 40 + 1 / 1.25) = 5.56 Mb/s, of which
    // 0.9 allows 4 Mb/s; two slow chunks give 5 / (3 / 40 + 2 / 1.25) = 2.99 Mb/s
    assert_eq!(fetch(&mut player, 12.8).1, 2_000_000);
    assert_eq!(fetch(&mut player, 12.8).1, 2_000_000);
    assert_eq!(fetch(&mut player, 1.0).1, 1_000_000);
}

/// Checks BBA-0 at the edges of the reservoir and of the cushion.
#[test]
fn the_buffer_alone_sets_the_bitrate() {
    let mut player = player(Adaptation::Buffer);
    let levels: Vec<u64> = (0..8).map(|_| fetch(&mut player, 0.4).1).collect();
    // the buffer is 4, 8, 11.6, 15.2, 18.8 s, and then 16 s whenever a chunk fits. The cushion ends
    // there, since the buffer is shorter than ten chunks, and the reservoir at 5 / 12 of this:
    // 6.67 s. The map is 1 Mb/s + 3 Mb/s (b - 6.67) / 9.33: 1.43 at 8 s and 2.59 at 11.6 s
    let expected = [1, 1, 1, 2, 2, 4, 4, 4].map(|mbps| mbps * 500_000);
    assert_eq!(levels, expected);
}

/// Checks that every buffer with room for two chunks reaches the highest bitrate, and that the map
/// is that of the paper from ten chunks on.
#[test]
fn a_short_buffer_reaches_the_highest_bitrate() {
    let levels = |buffer_s: u64| -> Vec<u64> {
        let mut player = player_with(Adaptation::Buffer, buffer_s, 4);
        let sizes = (0..20).map(|_| fetch(&mut player, 0.4).1 / 500_000);
        sizes.collect()
    };
    // with room for one chunk, the buffer is empty at each request
    assert_eq!(levels(4), [1; 20]);
    for buffer_s in [8, 12, 20, 28, 36, 40] {
        assert_eq!(levels(buffer_s)[19], 4, "{buffer_s} s");
    }
    // 40 s: the reservoir ends at 15 s and the cushion at 36 s, as in the paper. The buffer at the
    // requests is 0, 4, 7.6, 11.2, 14.8, 18.4 s and so on up to 36 s. The map is 2 Mb/s at 22 s,
    // where the highest bitrate below it is still 1 Mb/s
    assert_eq!(levels(40)[..11], [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 4]);
}

#[test]
fn a_stopped_player_requests_nothing() {
    let mut player = player(Adaptation::Throughput);
    fetch(&mut player, 1.0);
    player.close();
    assert_eq!(player.deadline(), Time::NEVER);
}
