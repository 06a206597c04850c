//! Measures of web traffic. All connections of a web source form one class.

use super::item::{Item, Value, share};
use super::period::Period;
use crate::quantities::*;
use crate::world::FlowCounters;

impl Period<'_> {
    /// Returns the increase of a counter in the measured period, summed over the responses of web
    /// source `web`. `count` reads the counter of a flow.
    fn over_responses(&self, web: u32, count: fn(&FlowCounters) -> u64) -> u64 {
        let web = &self.world.flows().webs().sources()[web as usize];
        self.over(web.responses(), count)
    }

    /// Returns the goodput of the responses of web source `web`: their payload divided by the
    /// length of the period. `flow` is the index of the web source's flow. [bit/s]
    pub(super) fn web_goodput_bps(&self, flow: usize, web: u32) -> f64 {
        let segments = self.over_responses(web, |c| c.delivered) as f64;
        let short = self.over_responses(web, |c| c.short_bytes) as f64;
        (segments * self.world.payload_bits(flow) - short * 8.0) / self.length_s()
    }

    /// Returns the median of the completion times of web source `web`.
    pub(super) fn median_completion(&self, web: u32) -> Value {
        let web = &self.world.flows().webs().sources()[web as usize];
        COMPLETION_P50.of(web.completions().quantile_s(0.5))
    }

    pub(super) fn web_item(&self, name: &str, web: u32, goodput_bps: f64, total_bps: f64) -> Item {
        let web = &self.world.flows().webs().sources()[web as usize];
        let values = [
            GOODPUT.of(goodput_bps),
            GOODPUT_SHARE.of(share(goodput_bps, total_bps)),
            self.loss(web.responses()),
            CONNECTIONS_FINISHED.of(web.completions().count() as f64),
            CONNECTIONS_REFUSED.of(web.refused() as f64),
            COMPLETION.of(web.completions().mean_s()),
            COMPLETION_P95.of(web.completions().quantile_s(0.95)),
            UNFINISHED.of(web.unfinished() as f64),
        ];
        Item::new(name, values)
    }
}
