//! Metrics of a relay.

use serde::Serialize;

use crate::client::Client;
use crate::pool::Pool;
use crate::probe::answerer::ProbeCounters;
use crate::server::Server;
use crate::session::{Counted, Memory};

/// Number of handshakes by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Handshakes {
    pub(crate) good: u64,
    /// Handshakes with another key.
    pub(crate) strangers: u64,
    /// Handshakes that broke before their end.
    pub(crate) broken: u64,
    /// Handshakes that were closed because there were too many.
    pub(crate) too_many: u64,
}

/// Metrics of a relay at one instant.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Metrics {
    /// Number of clients at a server; at a client, 1 while it is connected.
    sessions: usize,
    connections: usize,
    /// Number of connections that carry no streams because they are not needed.
    connections_resting: usize,
    /// Number of connections that the rules ask for.
    connections_asked: u32,
    /// Mean smoothed round-trip time of the connections. [s]
    rtt_s: Option<f64>,
    streams_open: usize,
    #[serde(flatten)]
    counted: Counted,
    merging_bytes: usize,
    kept_bytes: usize,
    /// Handshakes, at a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    handshakes: Option<Handshakes>,
    /// Datagrams at the port of the probes, at a server.
    #[serde(rename = "probes", skip_serializing_if = "Option::is_none")]
    server_probes: Option<ProbeCounters>,
    /// Probes, at a client that probes.
    #[serde(flatten)]
    client_probes: Option<ClientProbes>,
}

/// Metrics of a client's probes.
#[derive(Clone, Copy, Debug, Serialize)]
struct ClientProbes {
    /// Whether T is the round-trip time of the probes.
    probes_in_use: bool,
    /// Mean round-trip time of the last interval, if T is measured by probes. [s]
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
