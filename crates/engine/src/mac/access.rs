//! Access parameters of the access categories of a node: AIFSN, contention window and TXOP.

use super::aggregation::AggregationKeys;
use super::ppdu_keys::{EdcaDefaults, PpduKeys};
use super::presets::{per_preset, time_of};
use super::{Category, Phy, PhyKind, Preset};
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json, S, US, count, duration, inner};
use crate::table;

/// Accepted values of AIFSN, as messages print them. 2 is DIFS, the smallest value at a station. 15
/// is the largest value that 802.11e can announce.
pub(crate) const AIFSN_EXPECTED: &str =
    "a whole number from 2 to 15, and 1, which is PIFS, for the access point only";

/// Declares a table of contention keys, given the values that apply if a key is absent. Kinds,
/// ranges and documentation of the keys are the same in all categories.
macro_rules! contention {
    (
        $(#[doc = $doc:literal])+
        $name:ident in $table:literal: $aifsn:ident($($aifsn_is:tt)*), $cwmin:ident($($cwmin_is:tt)*),
        $cwmax:ident($($cwmax_is:tt)*), $packets:ident($($packets_are:tt)*), $limit:ident($($limit_is:tt)*)
        $(; $($more:tt)+)?
    ) => {
        table! {
            $(#[doc = $doc])+
            pub struct $name: Copy in $table {
                /// Arbitration interframe space number (AIFSN). 2 is DIFS. 1 is PIFS, which only the access point may use.
                aifsn: Option<u32> = count(1..=15).but(AIFSN_EXPECTED).$aifsn($($aifsn_is)*);
                /// Smallest contention window in slots. The backoff is uniform on [0, CW].
                cwmin: Option<u32> = count(0..=32_767).$cwmin($($cwmin_is)*);
                /// Largest contention window in slots.
                cwmax: Option<u32> = count(0..=32_767).$cwmax($($cwmax_is)*);
                /// Largest number of frames in a transmission opportunity (TXOP). The node that wins the medium sends up to this many frames, SIFS apart.
                txop_packets: Option<u32> = count(1..=65_535).$packets($($packets_are)*);
                /// Duration of the longest transmission opportunity (TXOP), from the start of its first frame to the end of its last MAC ACK.
                txop_limit: Option<Span> = duration(US..=10 * S).or("none").$limit($($limit_is)*);
                $($($more)+)?
            }
        }
    };
}

contention! {
    /// Contention of a node, which is that of category best effort.
    Contention in "contention":
    by_preset(|| per_preset(|preset| preset.aifsn.to_string())),
    by_preset(|| per_preset(|preset| preset.cwmin.to_string())),
    by_preset(|| per_preset(|preset| preset.cwmax.to_string())),
    depends("1 frame, or no limit in frames if there is a txop_limit"),
    by_preset(|| per_preset(|preset| preset.txop_limit.map_or("none".to_owned(), time_of)))
}

contention! {
    /// Access category voice, which wins internal collisions with all others.
    Voice in "voice":
    depends("the value in [cell.voice], else 2"),
    depends("the value in [cell.voice], else (c + 1) / 4 - 1, where c is the cwmin of best effort"),
    depends("the value in [cell.voice], else (c + 1) / 2 - 1, where c is the cwmin of best effort"),
    depends("the value in [cell.voice], else 1 frame, or no limit in frames if there is a txop_limit"),
    depends("the value in [cell.voice], else \"none\"; in 802.11n, ac and ax 2.08 ms with the default of edca");
    /// Aggregation of 802.11n, ac and ax in this category: the keys that differ from the aggregation of the node. Unless this table sets mpdus, there are no aggregates of MPDUs, whatever is set for the node.
    key aggregation: AggregationKeys = inner().depends("the aggregation of the node with mpdus = 1, because Linux starts no block acknowledgement session for voice");
}

contention! {
    /// Access category video, which yields to voice in internal collisions.
    Video in "video":
    depends("the value in [cell.video], else 2"),
    depends("the value in [cell.video], else (c + 1) / 2 - 1, where c is the cwmin of best effort"),
    depends("the value in [cell.video], else the cwmin of best effort"),
    depends("the value in [cell.video], else 1 frame, or no limit in frames if there is a txop_limit"),
    depends("the value in [cell.video], else \"none\"; in 802.11n, ac and ax 4.096 ms with the default of edca");
    /// Aggregation of 802.11n, ac and ax in this category: the keys that differ from the aggregation of the node.
    key aggregation: AggregationKeys = inner().depends("the aggregation of the node");
}

contention! {
    /// Access category background, which yields to all others in internal collisions.
    Background in "background":
    depends("the value in [cell.background], else 7"),
    depends("the value in [cell.background], else the cwmin of best effort"),
    depends("the value in [cell.background], else the cwmax of best effort"),
    depends("the value in [cell.background], else 1 frame, or no limit in frames if there is a txop_limit"),
    depends("the value in [cell.background], else \"none\"; in 802.11n, ac and ax 2.528 ms with the default of edca");
    /// Aggregation of 802.11n, ac and ax in this category: the keys that differ from the aggregation of the node.
    key aggregation: AggregationKeys = inner().depends("the aggregation of the node");
}

/// Access parameters of one access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Arbitration interframe space number; 2 is DIFS, 1 is PIFS.
    pub aifsn: u32,
    /// Smallest contention window. The backoff is uniform on [0, CW].
    pub cwmin: u32,
    /// Largest contention window.
    pub cwmax: u32,
    /// Largest number of frames in a TXOP, at least 1; `None`: no limit in frames.
    pub txop_packets: Option<u32>,
    /// Limit of the duration of a TXOP, from the start of its first frame to the end of its last
    /// MAC ACK. The first frame is always allowed. `None`: no limit in time.
    pub txop_limit: Option<Span>,
}

/// Default access parameters of one node. A parameter has its default if no table sets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessDefaults {
    pub(super) phy: PhyKind,
    edca: EdcaDefaults,
    at_ap: bool,
}

impl Access {
    /// Returns access parameters with one frame per TXOP.
    pub const fn contention(aifsn: u32, cwmin: u32, cwmax: u32) -> Access {
        Access {
            aifsn,
            cwmin,
            cwmax,
            txop_packets: Some(1),
            txop_limit: None,
        }
    }

    /// Returns these parameters with `txop_limit` as the limit of the duration of a TXOP, and with
    /// any number of frames per TXOP. `None`: one frame per TXOP, and no limit of the duration.
    const fn up_to(self, txop_limit: Option<Span>) -> Access {
        Access {
            txop_packets: if txop_limit.is_some() { None } else { Some(1) },
            txop_limit,
            ..self
        }
    }

    /// Returns the tables that contain the access parameters of `category`, in order of precedence.
    /// For best effort these are all tables in `node`: the tables of the node and of the cell. For
    /// another category they are the tables in `node` that have the name of the category.
    pub(crate) fn tables<'a>(node: &[&'a Section], category: Category) -> Vec<&'a Section> {
        match category {
            Category::BestEffort => node.to_vec(),
            Category::Background | Category::Video | Category::Voice => {
                let inside = node.iter().filter_map(|table| table.table(category.name()));
                inside.collect()
            }
        }
    }

    /// Returns the access parameters of `category` at the node. `node` contains the tables of the
    /// node, in order of precedence.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn read(
        node: &[&Section],
        defaults: AccessDefaults,
        category: Category,
    ) -> Result<Access, Refused> {
        let best_effort = set_over(node, defaults.best_effort())?;
        match category {
            Category::BestEffort => Ok(best_effort),
            Category::Background | Category::Video | Category::Voice => {
                let defaults = defaults.other(category, best_effort);
                set_over(&Access::tables(node, category), defaults)
            }
        }
    }

    pub(super) fn json(&self) -> Json {
        FileTable::json(&Contention {
            aifsn: Some(self.aifsn),
            cwmin: Some(self.cwmin),
            cwmax: Some(self.cwmax),
            txop_packets: self.txop_packets,
            txop_limit: self.txop_limit,
        })
    }
}

impl AccessDefaults {
    /// Returns the default access parameters of a cell: those at the access point if `at_ap`, else
    /// those at the stations.
    pub(crate) fn of(cell: &Layers, at_ap: bool) -> Result<AccessDefaults, Refused> {
        Ok(AccessDefaults {
            phy: cell.need(Phy::kind)?,
            edca: cell.need(PpduKeys::edca)?,
            at_ap,
        })
    }

    fn best_effort(self) -> Access {
        let preset = Preset::of(self.phy);
        let usual = Access::contention(preset.aifsn, preset.cwmin, preset.cwmax);
        match (self.phy.generation(), self.edca) {
            (None, _) => usual,
            (_, EdcaDefaults::Standard) => usual.up_to(preset.txop_limit),
            (_, EdcaDefaults::Hostapd) if self.at_ap => Access { cwmax: 63, ..usual },
            (_, EdcaDefaults::Hostapd) => usual,
        }
    }

    /// Returns the default access parameters of a category, given the parameters of best effort.
    fn other(self, category: Category, best_effort: Access) -> Access {
        let usual = derived(category, best_effort);
        let ms = |us| Some(Span(us * US));
        let aifsn = if self.at_ap { 1 } else { 2 };
        match (self.phy.generation(), self.edca, category) {
            (None, ..) | (_, _, Category::BestEffort) => usual,
            (_, EdcaDefaults::Standard, Category::Background) => {
                usual.up_to(Preset::of(self.phy).txop_limit)
            }
            (_, EdcaDefaults::Standard, Category::Video) => usual.up_to(ms(4_096)),
            (_, EdcaDefaults::Standard, Category::Voice) => usual.up_to(ms(2_080)),
            (_, EdcaDefaults::Hostapd, Category::Background) => Access::contention(7, 15, 1_023),
            (_, EdcaDefaults::Hostapd, Category::Video) => {
                Access::contention(aifsn, 7, 15).up_to(ms(3_008))
            }
            (_, EdcaDefaults::Hostapd, Category::Voice) => {
                Access::contention(aifsn, 3, 7).up_to(ms(1_504))
            }
        }
    }
}

/// Returns the access parameters that the tables set. A parameter that no table sets is copied from
/// `defaults`. The keys have the same names in all categories.
fn set_over(tables: &[&Section], defaults: Access) -> Result<Access, Refused> {
    let layers = Layers(tables);
    let txop_limit = layers.value(Contention::txop_limit)?;
    let txop_limit = txop_limit.unwrap_or(defaults.txop_limit);
    let number = |key, usual| Ok(layers.value(key)?.flatten().unwrap_or(usual));
    Ok(Access {
        aifsn: number(Contention::aifsn, defaults.aifsn)?,
        cwmin: number(Contention::cwmin, defaults.cwmin)?,
        cwmax: number(Contention::cwmax, defaults.cwmax)?,
        txop_packets: match layers.value(Contention::txop_packets)?.flatten() {
            None if txop_limit.is_none() => Some(1),
            given => given,
        },
        txop_limit,
    })
}

/// Returns the default access parameters of a category, given the parameters of best effort (IEEE
/// 802.11-2016, Table 9-137). aCWmin and aCWmax are the contention windows of best effort.
fn derived(category: Category, best_effort: Access) -> Access {
    let Access { cwmin, cwmax, .. } = best_effort;
    let part = |n: u32| (cwmin.saturating_add(1) / n).saturating_sub(1);
    match category {
        Category::Background => Access::contention(7, cwmin, cwmax),
        Category::BestEffort => best_effort,
        Category::Video => Access::contention(2, part(2), cwmin),
        Category::Voice => Access::contention(2, part(4), part(2)),
    }
}
