//! Metrics of a relay.

use serde::Serialize;

use crate::client::Client;
use crate::pool::Pool;
use crate::probe::answerer::ProbeCounters;
use crate::server::Server;
use crate::session::{Counted, Memory};

/// Handshakes by their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Handshakes {
    pub(crate) good: u64,
    /// Made with another key.
    pub(crate) strangers: u64,
    /// Broken before their end.
    pub(crate) broken: u64,
    /// Closed because there were too many.
    pub(crate) too_many: u64,
}

/// A relay at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Metrics {
    /// Clients, or 1 at a client that is connected.
    sessions: usize,
    connections: usize,
    /// Connections that are not needed.
    connections_resting: usize,
    /// Number of connections for which the rules ask.
    connections_asked: u32,
    /// Mean smoothed round-trip time of the connections. [s]
    rtt_s: Option<f64>,
    streams_open: usize,
    #[serde(flatten)]
    counted: Counted,
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
    /// Whether T is the round-trip time of the probes.
    probes_in_use: bool,
    /// Mean round-trip time of the last interval, if T is that of the probes. [s]
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
            metrics.counted = metrics.counted + pool.session.borrow().counted();
        }
        if !rtts_s.is_empty() {
            metrics.rtt_s = Some(rtts_s.iter().sum::<f64>() / rtts_s.len() as f64);
        }
        metrics
    }
}

/// Returns the metrics of a server.
pub(crate) fn of_server(server: &Server) -> Metrics {
    server.forget_the_dead();
    let pools = server.pools.borrow();
    let live: Vec<&Pool> = pools.values().map(|pool| &**pool).collect();
    let mut metrics = Metrics::of(&live, &server.memory, Some(server.handshakes.get()));
    metrics.server_probes = Some(server.answerer.borrow().answers);
    metrics.counted = metrics.counted + server.gone.get();
    metrics
}

/// Returns the metrics of a client.
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
    metrics.counted = metrics.counted + client.gone.get();
    metrics
}
