//! The JSON of a network with a conflict graph in the normalised scenario.

use serde_json::{Value, json};

use super::super::model::LinkSettings;
use super::super::normalised::carry;
use super::*;
use crate::mac::graph::Pace;

impl Csma {
    /// Returns the network in the form of the normalised scenario, from which the models take their
    /// parameters.
    pub(in super::super) fn to_json(&self, wired: &[LinkSettings]) -> Value {
        let link = |link: &CsmaLink| {
            let names = |links: &BTreeSet<usize>| -> Vec<&str> {
                let names = links.iter().map(|&link| self.links[link].name.as_str());
                names.collect()
            };
            json!({
                "name": link.name,
                "conflicts": names(&link.conflicts),
                "disturbs": names(&link.disturbs),
                "from": link.ends.as_ref().map(|[from, _]| from),
                "to": link.ends.as_ref().map(|[_, to]| to),
                "r": link.r,
                "error": link.error,
            })
        };
        let node = |(name, node): &(String, CsmaNode)| json!({"name": name, "x_m": node.x.metres(), "y_m": node.y.metres()});
        let timing = |pace: Pace| {
            json!({
                "slot_s": pace.slot.map(Span::seconds),
                "difs_s": pace.difs.seconds(),
                "eifs_s": pace.eifs.seconds(),
            })
        };
        let (access, access_intensity, dcf, pace) = match self.access {
            CsmaAccess::Adaptive(pace) => ("adaptive", None, None, Some(timing(pace))),
            CsmaAccess::Legacy {
                access_intensity,
                pace,
            } => ("legacy", Some(access_intensity), None, Some(timing(pace))),
            CsmaAccess::Dcf { pace, cwmin, cwmax } => {
                let mut dcf = timing(pace);
                dcf["cwmin"] = cwmin.into();
                dcf["cwmax"] = cwmax.into();
                ("dcf", None, Some(dcf), None)
            }
        };
        let (connections, k, fairness) = match self.connections {
            Connections::Rtt { k } => ("rtt", Some(k), None),
            Connections::Utility { k, fairness } => ("utility", Some(k), Some(fairness)),
            Connections::Marks { k } => ("marks", Some(k), None),
            Connections::One => ("one", None, None),
        };
        json!({
            "links": self.links.iter().map(link).collect::<Vec<_>>(),
            "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
            "transmission_range_m": self.transmission_range_m,
            "sensing_range_m": self.sensing_range_m,
            "interference_range_m": self.interference_range_m,
            "connected": self.connected,
            "flows": self.flows.iter().map(|flow| self.flow(flow, wired)).collect::<Vec<_>>(),
            "access": access,
            "access_intensity": access_intensity,
            "dcf": dcf,
            "pace": pace,
            "service_rate_pps": self.air.service_rate_pps,
            "overhead_s": self.air.overhead.seconds(),
            "backoff": self.air.backoff.name(),
            "transmission": self.air.transmission.name(),
            "attempts": self.air.attempts,
            "beta": self.beta,
            "r_per_packet": self.price.r_per_packet,
            "r_max": self.price.r_max,
            "r_interval_s": self.price.interval.seconds(),
            "queue_unit": self.price.queue_unit.name(),
            "aqm": self.price.aqm,
            "queue_packets": self.queue_packets,
            "dummy": self.dummy,
            "acks": self.acks.name(),
            "connections": connections,
            "connections_interval_s": self.users.interval.seconds(),
            "rounding": self.users.rounding.name(),
            "smoothing": self.users.smoothing,
            "k_per_s": k,
            "fairness": fairness,
        })
    }

    fn flow(&self, flow: &CsmaFlow, wired: &[LinkSettings]) -> Value {
        let name = |hop: &Hop| match hop {
            Hop::Wireless(link) => self.links[*link].name.as_str(),
            Hop::Wired(link) => wired[*link].name.as_str(),
        };
        let mut json = json!({
            "name": flow.name,
            "class": flow.class,
            "route": flow.route.iter().map(name).collect::<Vec<_>>(),
            "weight": flow.weight,
            "marginal_utility": flow.marginal_utility.as_ref().map(Marginals::points),
            "start_s": flow.start.seconds(),
            "start_spread_s": flow.start_spread.seconds(),
            "stop_s": flow.stop.map(Span::seconds),
        });
        carry(&mut json, &flow.transport);
        json
    }
}
