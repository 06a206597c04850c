//! What a relay tells of itself.

use serde::Serialize;

use crate::client::Client;
use crate::pool::Pool;
use crate::probe::answerer::ProbeCounters;
use crate::server::Server;
use crate::session::{Counted, Memory};

/// How handshakes have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Handshakes {
    pub(crate) good: u64,
    /// By who has another key.
    pub(crate) strangers: u64,
    /// Before their end.
    pub(crate) broken: u64,
    /// Closed, as there were too many.
    pub(crate) too_many: u64,
}

/// A relay at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Metrics {
    /// Clients, or 1 at a client that is connected.
    sessions: usize,
    connections: usize,
    /// Connections that are there and not needed.
    connections_resting: usize,
    /// How many the rules ask for.
    connections_asked: u32,
    /// Mean smoothed round-trip time of the connections. [s]
    rtt_s: Option<f64>,
    streams_open: usize,
    streams_total: u64,
    streams_refused: u64,
    streams_denied: u64,
    streams_reset: u64,
    sent_bytes: u64,
    taken_bytes: u64,
    messages_again: u64,
    connections_total: u64,
    connections_lost: u64,
    merging_bytes: usize,
    kept_bytes: usize,
    /// At a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    handshakes: Option<Handshakes>,
    /// At a server: datagrams at the port of the probes.
    #[serde(rename = "probes", skip_serializing_if = "Option::is_none")]
    server_probes: Option<ProbeCounters>,
    /// At a client that probes.
    #[serde(flatten)]
    client_probes: Option<ClientProbes>,
}

/// Probes of a client.
#[derive(Clone, Copy, Debug, Serialize)]
struct ClientProbes {
    /// Whether T is theirs.
    probes_in_use: bool,
    /// Mean round-trip time of the last interval, if T is theirs. [s]
    probe_rtt_s: Option<f64>,
    probes_sent: u64,
    probes_answered: u64,
}

impl Metrics {
    fn of(pools: &[&Pool], memory: &Memory, handshakes: Option<Handshakes>) -> Metrics {
        let mut metrics = Metrics {
            merging_bytes: memory.merging.used(),
            kept_bytes: memory.unacknowledged.used(),
            handshakes,
            ..Metrics::default()
        };
        let mut rtts_s = Vec::new();
        for pool in pools {
            rtts_s.extend(pool.rtts_s());
            metrics.sessions += usize::from(pool.is_connected());
            metrics.connections += pool.carrying().len();
            metrics.connections_resting += pool.resting();
            metrics.connections_asked += pool.asked();
            metrics.streams_open += pool.session.borrow().streams();
            metrics.add(pool.session.borrow().counted());
        }
        if !rtts_s.is_empty() {
            metrics.rtt_s = Some(rtts_s.iter().sum::<f64>() / rtts_s.len() as f64);
        }
        metrics
    }

    fn add(&mut self, counted: Counted) {
        self.streams_total += counted.streams;
        self.streams_refused += counted.refused;
        self.streams_denied += counted.denied;
        self.streams_reset += counted.resets;
        self.sent_bytes += counted.sent_bytes;
        self.taken_bytes += counted.taken_bytes;
        self.messages_again += counted.again;
        self.connections_total += counted.links;
        self.connections_lost += counted.lost_links;
    }
}

/// A server's.
pub(crate) fn of_server(server: &Server) -> Metrics {
    server.forget_the_dead();
    let pools = server.pools.borrow();
    let live: Vec<&Pool> = pools.values().map(|pool| &**pool).collect();
    let mut metrics = Metrics::of(&live, &server.memory, Some(server.handshakes.get()));
    metrics.server_probes = Some(server.answerer.borrow().answers);
    metrics.add(server.gone.get());
    metrics
}

/// A client's.
pub(crate) fn of_client(client: &Client) -> Metrics {
    let pool = client.pool.borrow();
    let mut metrics = Metrics::of(&[&pool], &client.memory, None);
    let (rtt, probes) = (pool.probed_rtt(), client.probes.get());
    metrics.client_probes = client.settings.probe.then(|| ClientProbes {
        probes_in_use: rtt.is_some(),
        probe_rtt_s: rtt.map(|rtt| rtt.as_secs_f64()),
        probes_sent: probes.sent,
        probes_answered: probes.answered,
    });
    metrics.add(client.gone.get());
    metrics
}
