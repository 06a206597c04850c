//! Metrics of a relay.

use serde::Serialize;

use crate::client::Client;
use crate::pool::Pool;
use crate::probe::answerer::ProbeCounters;
use crate::server::Server;
use crate::session::{Counted, Memory};

/// Number of handshakes, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Handshakes {
    pub(crate) good: u64,
    /// Number of handshakes with a client that has another key.
    pub(crate) strangers: u64,
    /// Number of handshakes whose connection closed before the end.
    pub(crate) broken: u64,
    /// Number of handshakes closed because too many handshakes were in progress.
    pub(crate) too_many: u64,
}

/// Values of all metrics of a relay at one time.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Metrics {
    /// Number of clients of a server. At a client, 1 while it is connected to the server, otherwise 0.
    sessions: usize,
    connections: usize,
    /// Number of resting connections, which carry no data because they are not needed.
    connections_resting: usize,
    /// Number of connections that the rules of both relays request.
    connections_asked: u32,
    /// Mean smoothed round-trip time of the connections, or `None` without connections. [s]
    rtt_s: Option<f64>,
    streams_open: usize,
    #[serde(flatten)]
    counted: Counted,
    merging_bytes: usize,
    kept_bytes: usize,
    /// Outcomes of handshakes; `None` at a client.
    #[serde(skip_serializing_if = "Option::is_none")]
    handshakes: Option<Handshakes>,
    /// Counters of the datagrams at the UDP port for probes; `None` at a client.
    #[serde(rename = "probes", skip_serializing_if = "Option::is_none")]
    server_probes: Option<ProbeCounters>,
    /// Metrics of a client that measures the round-trip time by probes; `None` at other relays.
    #[serde(flatten)]
    client_probes: Option<ClientProbes>,
}

/// Metrics of the probes of a client.
#[derive(Clone, Copy, Debug, Serialize)]
struct ClientProbes {
    /// Whether the rule for the number of connections uses the round-trip time of the probes.
    probes_in_use: bool,
    /// Mean round-trip time of the probes in the last interval, or `None` if they are not answered. [s]
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
