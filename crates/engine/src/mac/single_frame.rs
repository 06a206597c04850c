//! Exchanges of single frames: a data frame and its MAC ACK, after RTS and CTS if the frame is
//! long.

use super::airtime::{ACK_BYTES, RTS_BYTES};
use super::bss::Roles;
use super::contender::{Contender, DownCounters};
use super::exchange::{Content, Frame, TxStatus};
use super::frame_exchange::FrameExchange;
use super::link_rates::LinkRates;
use super::{Bss, NodeId, Phy, Rates, Station};
use crate::channel::{Channel, Quality, frame_error};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::packet::Direction;

/// State of the exchanges of single frames, including the rates of each link.
#[derive(Clone, Debug)]
pub struct SingleFrame {
    mac_bytes: u32,
    rts_threshold: Option<u32>,
    /// Whether the rate control may change the rates.
    adapts: bool,
    links: Links,
    /// Random numbers of the rate control.
    stream: Stream,
    /// Counters of the frames from the access point to each station.
    down_counters: Vec<DownCounters>,
}

/// Rates of the links from the access point to each station, and from each station to the access
/// point.
#[derive(Clone, Debug)]
struct Links {
    roles: Roles,
    down: Vec<LinkRates<FrameTiming>>,
    up: Vec<LinkRates<FrameTiming>>,
}

/// Air times of frames with one TXVECTOR.
#[derive(Clone, Copy, Debug)]
struct FrameTiming {
    rates: Rates,
    rts_air: Span,
    response_air: Span,
    /// The two most recent kinds of frames.
    known: [KnownFrame; 2],
}

/// Properties of the frames with one length and one kind of content on a link.
#[derive(Clone, Copy, Debug)]
struct KnownFrame {
    ip_bytes: u32,
    content: Content,
    /// Whether RTS and CTS precede the frame.
    protect: bool,
    air: Span,
    /// Probability that channel errors destroy the frame. [-]
    error: f64,
}

impl KnownFrame {
    /// Placeholder for a frame that has not been sent. No frame is so long.
    const UNKNOWN: KnownFrame = KnownFrame {
        ip_bytes: u32::MAX,
        content: Content::Data,
        protect: false,
        air: Span::ZERO,
        error: 0.0,
    };

    #[inline(always)]
    fn is_like(&self, frame: Frame) -> bool {
        self.ip_bytes == frame.ip_bytes && self.content == frame.content
    }
}

impl Links {
    #[inline(always)]
    fn between(&mut self, from: NodeId, to: NodeId) -> &mut LinkRates<FrameTiming> {
        match self.roles.station_of(from) {
            None => &mut self.down[self.roles.index_of(to)],
            Some(station) => &mut self.up[station],
        }
    }
}

impl FrameTiming {
    fn new(phy: &Phy, rates: Rates) -> FrameTiming {
        FrameTiming {
            rates,
            rts_air: phy.airtime(RTS_BYTES, rates.rts_bps),
            response_air: phy.airtime(ACK_BYTES, rates.response_bps),
            known: [KnownFrame::UNKNOWN; 2],
        }
    }
}

impl SingleFrame {
    /// Returns the exchanges of single frames in `bss` with its `stations`.
    pub fn new(bss: &Bss, stations: &[Station], streams: &Streams) -> SingleFrame {
        let cell = &bss.cell;
        let adapts = cell.rate_control.adapts();
        let mut stream = streams.stream("cell/rate-control");
        let mut link = |station: &Station, direction| {
            let rates = match adapts {
                true => cell.rates_up_to_nominal(station, direction),
                false => vec![cell.rates(station, direction)],
            };
            let controller = cell.rate_control.controller(rates.len());
            let timing = |rates| FrameTiming::new(&cell.phy, rates);
            let mut link = LinkRates::new(rates.into_iter().map(timing).collect(), controller);
            link.set_channel(&station.channel, direction == Direction::Down, &mut stream);
            link
        };
        let mut links =
            |direction| Vec::from_iter(stations.iter().map(|station| link(station, direction)));
        let links = Links {
            roles: bss.roles,
            down: links(Direction::Down),
            up: links(Direction::Up),
        };
        SingleFrame {
            mac_bytes: cell.frame_bytes(0),
            rts_threshold: cell.rts_threshold_bytes,
            adapts,
            links,
            stream,
            down_counters: vec![DownCounters::default(); stations.len()],
        }
    }

    /// Returns the counters of the frames from the access point to the station with index
    /// `station`, counted from 0.
    pub fn down(&self, station: usize) -> DownCounters {
        self.down_counters[station]
    }

    /// Sets the channel of the station with index `station`, counted from 0.
    pub fn set_channel(&mut self, station: usize, channel: &Channel) {
        let Links { down, up, .. } = &mut self.links;
        for (link, is_down) in [(&mut down[station], true), (&mut up[station], false)] {
            link.set_channel(channel, is_down, &mut self.stream);
            let timings = link.timings_mut();
            timings.for_each(|timing| timing.known = [KnownFrame::UNKNOWN; 2]);
        }
    }

    /// Lets the rate control choose the TXVECTOR of the frame that `contender` sends next to node
    /// `to`.
    #[inline(never)]
    fn choose(&mut self, now: Time, contender: &mut Contender, to: NodeId) {
        let link = self.links.between(contender.node, to);
        contender.tx_vector = link.choose(now, contender.retry(), &mut self.stream);
    }

    /// Reports the result of a frame to the rate control. If the rate control changes the TXVECTOR
    /// of the link, the air times of the present frame of `contender` are set again.
    #[inline(never)]
    fn adapt(&mut self, now: Time, contender: &mut Contender, status: TxStatus, phy: &Phy) {
        contender.sent_at = Some(contender.planned.rates);
        if status == TxStatus::RtsFailed {
            return;
        }
        let frame = contender.frame;
        let link = self.links.between(contender.node, frame.to);
        let before = link.tx_vector();
        let acked = u32::from(status == TxStatus::Acked);
        link.on_tx_status(now, contender.tx_vector, acked, 1 - acked);
        let after = link.choose(now, contender.retry(), &mut self.stream);
        if after != before && contender.backlogged {
            contender.tx_vector = after;
            self.set_air_times(contender, frame, phy);
        }
    }

    #[inline(always)]
    fn set_air_times(&mut self, contender: &mut Contender, frame: Frame, phy: &Phy) {
        let link = self.links.between(contender.node, frame.to);
        let timing = link.timing();
        let known = match &timing.known {
            [first, _] if first.is_like(frame) => 0,
            [_, second] if second.is_like(frame) => 1,
            _ => {
                learn(link, frame, (self.mac_bytes, self.rts_threshold), phy);
                0
            }
        };
        let timing = link.timing();
        let known = &timing.known[known];
        let planned = &mut contender.planned;
        planned.data_air = known.air;
        planned.protect = known.protect;
        planned.rts_air = timing.rts_air;
        planned.cts_air = timing.response_air;
        planned.response_air = timing.response_air;
        planned.rates = timing.rates;
        contender.error = known.error;
    }
}

/// Computes the properties of frames like `frame` on `link`, and stores them there as the most
/// recent kind of frames. `mac_bytes` is
/// the length of the MAC frame without the IP packet. RTS and CTS precede MAC frames longer than
/// `rts_threshold`. [bytes]
#[inline(never)]
fn learn(
    link: &mut LinkRates<FrameTiming>,
    frame: Frame,
    (mac_bytes, rts_threshold): (u32, Option<u32>),
    phy: &Phy,
) {
    let bytes = frame.ip_bytes + mac_bytes;
    let quality = link.quality();
    let timing = link.timing_mut();
    let rate_bps = timing.rates.data_bps;
    let known = KnownFrame {
        ip_bytes: frame.ip_bytes,
        content: frame.content,
        protect: rts_threshold.is_some_and(|threshold| bytes > threshold),
        air: phy.airtime(bytes, rate_bps),
        error: match (quality, frame.content) {
            (Quality::Given { data, .. }, Content::Data) => data,
            (Quality::Given { ack, .. }, Content::Ack) => ack,
            (Quality::Snr { db }, _) => frame_error(rate_bps, bytes, db),
        },
    };
    timing.known = [known, timing.known[0]];
}

impl FrameExchange for SingleFrame {
    type Next = Frame;

    const FORMED_AT_START: bool = false;

    #[inline(always)]
    fn load(&mut self, now: Time, contender: &mut Contender, frame: Frame, phy: &Phy) {
        if self.adapts {
            self.choose(now, contender, frame.to);
        } else if frame == contender.frame {
            return; // the air times are those of the last frame
        }
        self.set_air_times(contender, frame, phy);
        contender.frame = frame;
    }

    #[inline(always)]
    fn is_received(&mut self, contender: &mut Contender) -> bool {
        !contender.errors.chance(contender.error)
    }

    #[inline(always)]
    fn on_tx_status(&mut self, now: Time, contender: &mut Contender, status: TxStatus, phy: &Phy) {
        if let Some(station) = self.links.roles.station_of(contender.frame.to) {
            let down = &mut self.down_counters[station];
            down.attempts += 1;
            match status {
                TxStatus::Acked => down.delivered += 1,
                TxStatus::Failed | TxStatus::RtsFailed => down.failed += 1,
            }
        }
        if self.adapts {
            self.adapt(now, contender, status, phy);
        }
    }

    #[inline]
    fn on_discard(&mut self, contender: &Contender) {
        if let Some(station) = self.links.roles.station_of(contender.frame.to) {
            self.down_counters[station].discarded += 1;
        }
    }
}
