//! Exchanges of single frames: a data frame and its MAC ACK, after RTS and CTS if the frame is long.

use super::contender::{Contender, DownCounters};
use super::exchange::{Frame, FrameExchange, TxStatus};
use super::link_rates::LinkRates;
use super::numbering::{AP, node_of, station_of};
use super::{Cell, Phy, RateControl, Station};
use crate::channel::Channel;
use crate::kernel::time::Time;

/// Exchanges of single frames, with the rates of each link.
#[derive(Clone, Debug)]
pub struct SingleFrame {
    mac_bytes: u32,
    rts_threshold: Option<u32>,
    /// Whether rates fall back.
    falls_back: bool,
    /// Rates to each station, and from each.
    down: Vec<LinkRates>,
    up: Vec<LinkRates>,
    /// Counters of the access point's frames to each station.
    down_counters: Vec<DownCounters>,
}

impl SingleFrame {
    /// Returns the exchanges of `cell` with its `stations`.
    pub fn new(cell: &Cell, stations: &[Station]) -> SingleFrame {
        let falls_back = cell.rate_control == RateControl::Arf;
        let link = |from, to, quality| {
            let ladder = if falls_back {
                cell.rates_up_to_nominal(stations, from, to)
            } else {
                vec![cell.rates(stations, from, to)]
            };
            LinkRates::new(&cell.phy, ladder, falls_back, quality)
        };
        let numbered = || (0..).map(node_of).zip(stations);
        let down = numbered().map(|(node, s)| link(AP, node, s.channel.quality_down()));
        let up = numbered().map(|(node, s)| link(node, AP, s.channel.quality_up()));
        SingleFrame {
            mac_bytes: cell.frame_bytes(0),
            rts_threshold: cell.rts_threshold_bytes,
            falls_back,
            down: down.collect(),
            up: up.collect(),
            down_counters: vec![DownCounters::default(); stations.len()],
        }
    }

    /// Returns the counters of the access point's frames to station number `station`, counted from 0.
    pub fn down(&self, station: usize) -> DownCounters {
        self.down_counters[station]
    }

    /// Sets the channel of station number `station`, counted from 0.
    pub fn set_channel(&mut self, station: usize, channel: &Channel) {
        self.down[station].set_quality(channel.quality_down());
        self.up[station].set_quality(channel.quality_up());
    }

    #[inline(always)]
    fn link(&mut self, from: u32, to: u32) -> &mut LinkRates {
        match station_of(from) {
            None => &mut self.down[to as usize - 1],
            Some(station) => &mut self.up[station],
        }
    }

    /// Lets the rate of the link of `contender` fall back or rise, and loads its frame again if the rate changes.
    #[inline(never)]
    fn adapt(&mut self, contender: &mut Contender, status: TxStatus, phy: &Phy) {
        contender.sent_at = Some(contender.rates);
        let frame = contender.frame;
        let link = self.link(contender.node, frame.to);
        let acked = status == TxStatus::Acked;
        if status != TxStatus::RtsFailed && link.heard(acked, phy) && contender.backlogged {
            self.load(contender, frame, phy);
        }
    }
}

impl FrameExchange for SingleFrame {
    type Next = Frame;

    const FORMED_AT_START: bool = false;

    #[inline(always)]
    fn load(&mut self, contender: &mut Contender, frame: Frame, phy: &Phy) {
        let bytes = frame.ip_bytes + self.mac_bytes;
        let threshold = self.rts_threshold;
        let link = self.link(contender.node, frame.to);
        (contender.data_air, contender.error) = link.judge(frame, bytes, phy);
        contender.protect = threshold.is_some_and(|threshold| bytes > threshold);
        let present = link.present();
        contender.rts_air = present.rts_air;
        contender.cts_air = present.response_air;
        contender.response_air = present.response_air;
        contender.rates = present.rates;
        contender.frame = frame;
    }

    #[inline(always)]
    fn is_received(&mut self, contender: &mut Contender) -> bool {
        !contender.errors.chance(contender.error)
    }

    #[inline(always)]
    fn on_tx_status(&mut self, _now: Time, contender: &mut Contender, status: TxStatus, phy: &Phy) {
        if contender.node == AP {
            let down = &mut self.down_counters[contender.frame.to as usize - 1];
            down.attempts += 1;
            match status {
                TxStatus::Acked => down.delivered += 1,
                TxStatus::Failed | TxStatus::RtsFailed => down.failed += 1,
            }
        }
        if self.falls_back {
            self.adapt(contender, status, phy);
        }
    }

    #[inline]
    fn on_discard(&mut self, contender: &Contender) {
        if contender.node == AP {
            self.down_counters[contender.frame.to as usize - 1].discarded += 1;
        }
    }
}
