//! Channels that change while frames wait and while one is on the air.

use super::{AP, Dcf};
use crate::channel::Channel;

impl Dcf {
    /// The channel of station number `station`, counted from 0, is `channel` from now on: for frames
    /// that wait too, and for one on the air, which is judged at its end.
    pub fn change_channel(&mut self, station: usize, channel: &Channel) {
        if self.forms {
            return; // it asks when an exchange begins, and when it ends
        }
        self.down[station].set_quality(channel.quality_down());
        self.up[station].set_quality(channel.quality_up());
        let node = station as u32 + 1;
        for contender in 0..self.contenders.len() {
            let state = &self.contenders[contender];
            let concerned = state.node == node || state.node == AP && state.frame.to == node;
            if state.backlogged && concerned {
                let frame = state.frame;
                self.load(contender as u32, frame);
            }
        }
    }
}
