//! Settings of wired links.

use super::alternatives;
use super::losses::{Loss, LossTable};
use super::rate::{LinkRate, RateTable};
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{FileTable, Json, S, Setting, duration, name, shorthand};
use crate::queue::{QueueSetting, queue};
use crate::table;

table! {
    /// A wired link between two nodes, in both directions. A node exists if a link names it. The node `servers` is the far end of a cell's wire.
    pub struct LinkSettings in "link" {
        /// Unique name.
        keyless name: String = String::new();
        /// Node at one end.
        from: String = name().required();
        /// Node at the other end.
        to: String = name().required();
        /// Rate from `from` to `to`. "unlimited" means no serialisation time. A table can set a trace of opportunities to send.
        rate: LinkRate = shorthand(RateTable::constant).or("unlimited").default("unlimited"), by forward_rate;
        /// Rate from `to` to `from`.
        key back_rate: LinkRate = shorthand(RateTable::constant).or("unlimited").depends("rate");
        /// One-way propagation time.
        delay: Span = duration(0..=100 * S).default("0 ms");
        /// Upper limit of each of the two random delays of a packet. Only links of hosts have such delays; packets keep their order.
        hidden jitter: Span = Span::ZERO;
        /// Queue in front of the link, used only with a rate.
        made queue: QueueSetting = queue_setting;
        /// Queue in front of the link, from `from` to `to`. The queue is used only if the link has a rate.
        key queue: QueueSetting = queue().default(1_000);
        /// Queue in front of the link, from `to` to `from`. The queue is used only if the link has a rate.
        key back_queue: QueueSetting = queue().default(1_000);
        /// Probability that a TCP segment or datagram is lost on the link. `{ every = N }` loses every N-th segment or datagram instead. Requests and replies of ping are lost too. ACKs are never lost.
        loss: Loss = shorthand(LossTable::probability).default(0.0), by losses;
        /// Whether the link belongs to the host of a flow. Results do not contain such links.
        keyless of_host: bool = false;
    }
}

/// Returns the queue setting of a link or a wire.
fn queue_setting(layers: &Layers) -> Result<QueueSetting, Refused> {
    QueueSetting::nearest(layers, LinkSettings::queue)
}

/// Returns the setting of the queue of a wire towards the servers.
fn back_queue_setting(layers: &Layers) -> Result<QueueSetting, Refused> {
    for table in layers.0 {
        if let Some(queue) = QueueSetting::at(table, Wire::back_queue)? {
            return Ok(queue);
        }
    }
    queue_setting(layers)
}

/// Returns the rate of a link, or of a wire towards the access point.
fn forward_rate(layers: &Layers) -> Result<LinkRate, Refused> {
    let rate = LinkRate::nearest(layers, LinkSettings::rate)?;
    rate.ok_or_else(|| layers.lack(LinkSettings::rate))
}

/// Returns the rate of a wire towards the servers.
fn back_rate(layers: &Layers) -> Result<LinkRate, Refused> {
    match LinkRate::nearest(layers, LinkSettings::back_rate)? {
        Some(rate) => Ok(rate),
        None => forward_rate(layers),
    }
}

/// Returns the losses of a link or a wire.
fn losses(layers: &Layers) -> Result<Loss, Refused> {
    let loss = alternatives::nearest(layers, LinkSettings::loss)?;
    loss.ok_or_else(|| layers.lack(LinkSettings::loss))
}

impl LinkSettings {
    /// Returns a link without delay and losses.
    pub fn ideal(name: &str, from: &str, to: &str) -> LinkSettings {
        LinkSettings {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            rate: LinkRate::Unlimited,
            delay: Span::ZERO,
            jitter: Span::ZERO,
            queue: QueueSetting::drop_tail(1_000),
            loss: Loss::NONE,
            of_host: false,
        }
    }

    /// Checks that the settings in the table of a link are consistent.
    pub(crate) fn check(link: &Section, problems: &mut Problems) {
        LinkRate::check(link, LinkSettings::rate, problems);
        LinkRate::check(link, LinkSettings::back_rate, problems);
        QueueSetting::check(link, LinkSettings::queue, problems);
        QueueSetting::check(link, LinkSettings::back_queue, problems);
        alternatives::check(link, LinkSettings::loss, "rule", problems);
    }

    /// Returns the opposite direction of the link, with the given rate and queue.
    pub fn back(&self, rate: LinkRate, queue: QueueSetting) -> LinkSettings {
        LinkSettings {
            name: format!("{}/back", self.name),
            from: self.to.clone(),
            to: self.from.clone(),
            rate,
            queue,
            ..self.clone()
        }
    }

    /// Returns the link as JSON for the normalised scenario.
    pub(crate) fn to_json(&self) -> Json {
        let mut json = with_queue_and_period(self.json(), &self.queue, self.loss);
        if let Some(trace) = self.rate.trace() {
            json["trace"] = trace.json();
        }
        if self.jitter > Span::ZERO {
            json["jitter_s"] = self.jitter.seconds().into();
        }
        json
    }
}

table! {
    /// The wired link between the access point and the servers.
    pub struct Wire in "wire" {
        /// Rate towards the access point. "unlimited" means no serialisation time. A table can set a trace of opportunities to send.
        rate: LinkRate = shorthand(RateTable::constant).or("unlimited").default("unlimited"), by forward_rate;
        /// Rate towards the servers.
        made back: LinkRate = back_rate;
        /// Rate towards the servers.
        key back_rate: LinkRate = shorthand(RateTable::constant).or("unlimited").depends("rate");
        /// One-way propagation time.
        delay: Span = duration(0..=100 * S).default("0 ms");
        /// Queue in front of the wire towards the access point, used only with a rate.
        made queue: QueueSetting = queue_setting;
        /// Queue at each end of the wire. With back_queue, the queue is only that towards the access point. The queue is used only if the link has a rate.
        key queue: QueueSetting = queue().default(1_000);
        /// Queue in front of the wire towards the servers, used only with a rate.
        made back_queue: QueueSetting = back_queue_setting;
        /// Queue in front of the wire towards the servers. The queue is used only if the link has a rate.
        key back_queue: QueueSetting = queue().depends("queue");
        /// Probability that a TCP segment or datagram is lost on the wire. `{ every = N }` loses every N-th segment or datagram of each direction instead. Requests and replies of ping are lost too. ACKs are never lost.
        loss: Loss = shorthand(LossTable::probability).default(0.0), by losses;
    }
}

impl Wire {
    /// Checks that the settings in the table of a wire are consistent.
    pub(crate) fn check(wire: &Section, problems: &mut Problems) {
        LinkRate::check(wire, Wire::rate, problems);
        LinkRate::check(wire, Wire::back_rate, problems);
        QueueSetting::check(wire, Wire::queue, problems);
        QueueSetting::check(wire, Wire::back_queue, problems);
        alternatives::check(wire, Wire::loss, "rule", problems);
    }

    /// Returns the wire as JSON for the normalised scenario.
    pub(crate) fn to_json(&self) -> Json {
        let mut json = with_queue_and_period(self.json(), &self.queue, self.loss);
        if self.back != self.rate {
            json["back_rate_bps"] = self.back.bps().into();
        }
        if self.back_queue != self.queue {
            json["back_queue_packets"] = self.back_queue.most_packets().into();
            json["back_queue"] = self.back_queue.to_json();
        }
        for (key, rate) in [("trace", &self.rate), ("back_trace", &self.back)] {
            if let Some(trace) = rate.trace() {
                json[key] = trace.json();
            }
        }
        json
    }
}

fn with_queue_and_period(mut json: Json, queue: &QueueSetting, loss: Loss) -> Json {
    json["queue_packets"] = queue.most_packets().into();
    json["queue"] = queue.to_json();
    if let Loss::Every(period) = loss {
        json["loss_every"] = period.into();
    }
    json
}
