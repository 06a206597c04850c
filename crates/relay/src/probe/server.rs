//! Task of a server that answers probes.

use std::rc::Rc;

use tokio::net::UdpSocket;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until};

use super::BATCH;
use super::socket::{answer, receive};
use crate::server::Server;

/// Answers probes. Never returns.
pub(crate) async fn run(server: Rc<Server>, socket: UdpSocket) {
    let began = Instant::now();
    let (mut since, mut count) = (began, 0); // `count` is the number of datagrams since `since`
    while socket.readable().await.is_ok() {
        if since.elapsed() >= BATCH.1 {
            (since, count) = (Instant::now(), 0);
        }
        let before = count;
        while count < BATCH.0
            && let Ok(received) = receive(&socket)
        {
            count += 1;
            let Some(from) = received.from() else {
                continue;
            };
            let mut answerer = server.answerer.borrow_mut();
            let Some((datagram, pool, rtt)) =
                answerer.answer(received.bytes(), from, began.elapsed())
            else {
                continue;
            };
            if pool.is_dead() {
                continue;
            }
            let _ = answer(&socket, &received, &datagram);
            if let Some(rtt) = rtt {
                pool.probe(rtt);
            }
        }
        match count {
            // no datagram was read, because reading failed
            _ if count == before => sleep(BATCH.1).await,
            count if count < BATCH.0 => yield_now().await,
            _ => sleep_until(since + BATCH.1).await,
        }
    }
}
