//! Access parameters of a node and category, from the tables that may give them.

use super::model::{Access, Category};
use super::presets::Preset;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;

/// Tables to look a category's keys up in, nearest first: those of the node and of the cell
/// themselves for best effort, else their tables of that name.
pub(super) fn tables<'a>(node: &[&'a Section], category: Category) -> Vec<&'a Section> {
    match category {
        Category::BestEffort => node.to_vec(),
        other => node.iter().filter_map(|t| t.table(other.name())).collect(),
    }
}

/// Access parameters of `category` at the node with the tables `node`, nearest first.
pub(super) fn access(node: &[&Section], preset: &Preset, category: Category) -> Access {
    let standard = Access::contention(2, preset.cwmin, preset.cwmax);
    let best_effort = over(node, standard);
    match category {
        Category::BestEffort => best_effort,
        other => over(&tables(node, other), derived(other, best_effort)),
    }
}

/// What the tables give, the rest as in `defaults`.
fn over(tables: &[&Section], defaults: Access) -> Access {
    let layers = Layers(tables);
    let txop_limit = layers.duration("txop_limit");
    Access {
        aifsn: layers.count("aifsn").unwrap_or(defaults.aifsn),
        cwmin: layers.count("cwmin").unwrap_or(defaults.cwmin),
        cwmax: layers.count("cwmax").unwrap_or(defaults.cwmax),
        txop_packets: match layers.count("txop_packets") {
            None if txop_limit.is_none() => Some(1),
            given => given,
        },
        txop_limit,
    }
}

/// A category's defaults, given best effort's parameters (IEEE 802.11-2016, Table 9-137, with
/// aCWmin and aCWmax the windows of best effort).
fn derived(category: Category, best_effort: Access) -> Access {
    let Access {
        aifsn,
        cwmin,
        cwmax,
        ..
    } = best_effort;
    let part = |n: u32| (cwmin.saturating_add(1) / n).saturating_sub(1);
    match category {
        Category::Background => Access::contention(7, cwmin, cwmax),
        Category::BestEffort => Access::contention(aifsn, cwmin, cwmax),
        Category::Video => Access::contention(2, part(2), cwmin),
        Category::Voice => Access::contention(2, part(4), part(2)),
    }
}
