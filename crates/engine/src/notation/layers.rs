//! Settings that several tables may give: the nearest one that does wins.

use super::decode::{Entry, Section};
use crate::kernel::time::Span;

/// Sections to look a key up in, nearest first. An access key of a station, for example, is looked
/// up in the station and then in the cell.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a>(pub(crate) &'a [&'a Section]);

impl<'a> Layers<'a> {
    pub(crate) fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.0.iter().find_map(|section| section.entry(key))
    }

    pub(crate) fn count(&self, key: &str) -> Option<u32> {
        u32::try_from(self.entry(key)?.count()?).ok()
    }

    pub(crate) fn duration(&self, key: &str) -> Option<Span> {
        self.entry(key)?.duration()
    }

    pub(crate) fn rate(&self, key: &str) -> Option<u64> {
        self.entry(key)?.rate()
    }

    pub(crate) fn size(&self, key: &str) -> Option<u32> {
        self.entry(key)?.size()
    }
}
