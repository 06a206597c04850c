//! Task of a client that sends probes to its server and reads the answers.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::{Instant, sleep, sleep_until};

use super::BATCH;
use super::packet::{LENGTH, ProbeKey};
use super::prober::{Prober, State};
use super::socket::open;
use crate::client::Client;
use crate::pool::Pool;

/// Pause after an attempt at which no probe could be sent, for example for lack of a connection.
const PAUSE: Duration = Duration::from_millis(500);

/// Number of probes and answers of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientProbeCounters {
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    /// Last report: whether probes are answered. `None` before the first report.
    reported: Option<bool>,
}

/// Measures the round-trip time of the current session. Never returns.
pub(crate) async fn run(client: Rc<Client>) {
    let interval = Duration::from_secs_f64(client.settings.terms.rule.interval_s);
    loop {
        let pool = client.pool.borrow().clone();
        let Ok(key) = ProbeKey::new(&client.key, &client.session.borrow()) else {
            return;
        };
        let was_silent = client.probes.get().reported == Some(false);
        let mut prober = Prober::new(key, interval, was_silent);
        while !pool.is_dead() {
            if let Some(to) = pool.peer()
                && let Ok(socket) = open(client.settings.from, to)
            {
                measure(&client, &pool, to, &socket, &mut prober).await;
            }
            prober.pause();
            sleep(PAUSE).await;
        }
        sleep(PAUSE).await;
    }
}

/// Measures the round-trip time while the session has connections to one server address.
async fn measure(
    client: &Client,
    pool: &Rc<Pool>,
    to: SocketAddr,
    socket: &UdpSocket,
    prober: &mut Prober,
) {
    let random = RandomState::new();
    let mut number = 0_u64;
    let mut next = Instant::now();
    loop {
        tokio::select! {
            () = sleep_until(next) => {
                if pool.is_dead() || pool.peer() != Some(to) {
                    return;
                }
                if pool.is_idle() {
                    prober.pause();
                    next = Instant::now() + PAUSE;
                    continue;
                }
                let now = pool.now();
                prober.update_state(pool.probed_rtt().is_some(), now);
                report(client, prober.state());
                if socket.try_send(&prober.request(pool.probed_rtt(), now)).is_ok() {
                    count(client, |probes| probes.sent += 1);
                }
                number += 1;
                next = Instant::now() + prober.pause_before_next(random.hash_one(number) as u32);
            }
            ready = socket.readable() => {
                if ready.is_err() || receive(client, pool, socket, prober) {
                    sleep(BATCH.1).await;
                }
            }
        }
    }
}

/// Reads a batch of answers. Returns whether the caller must pause: after a full batch, because more
/// answers may be waiting, and after a failure to read.
fn receive(client: &Client, pool: &Rc<Pool>, socket: &UdpSocket, prober: &mut Prober) -> bool {
    let mut bytes = [0; LENGTH + 1];
    let mut read = 0;
    while read < BATCH.0
        && let Ok(length) = socket.try_recv(&mut bytes)
    {
        read += 1;
        if let Some(rtt) = prober.answer(&bytes[..length], pool.now()) {
            pool.probe(rtt);
            count(client, |probes| probes.answered += 1);
        }
    }
    report(client, prober.state());
    read == 0 || read == BATCH.0
}

fn count(client: &Client, add: impl FnOnce(&mut ClientProbeCounters)) {
    let mut probes = client.probes.get();
    add(&mut probes);
    client.probes.set(probes);
}

/// Reports once when the server begins to answer the probes, and once when it no longer answers.
fn report(client: &Client, state: State) {
    let answered = match state {
        State::Waiting { .. } => return,
        State::Answered => true,
        State::Silent => false,
    };
    let before = client.probes.get().reported;
    count(client, |probes| probes.reported = Some(answered));
    let name = client.name();
    match (before, answered) {
        (Some(before), now) if before == now => {}
        (None, true) => client.note(format!("{name} answers UDP probes, which measure T")),
        (_, true) => client.note(format!("{name} answers UDP probes again, which measure T")),
        (_, false) => client.note(format!(
            "{name} does not answer UDP probes: T is that of the TCP connections; trying again"
        )),
    }
}
