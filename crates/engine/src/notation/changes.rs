//! Changes during a run: named tables, each with the instant from which it holds.

use super::decode::Section;
use super::key::KeyOf;
use super::problem::Problems;
use super::units::{self, TIME};
use crate::kernel::time::Span;

/// The instants of changes to one thing, as far as they have been checked.
pub(crate) struct Instants<'a> {
    duration: Option<Span>,
    seen: Vec<(Span, &'a str)>,
}

impl<'a> Instants<'a> {
    /// None yet, in a run of this `duration` where that is known.
    pub(crate) fn within(duration: Option<Span>) -> Instants<'a> {
        let seen = Vec::new();
        Instants { duration, seen }
    }

    /// Checks the instant of a `change`: before the end, and no other change's.
    pub(crate) fn check(&mut self, change: &'a Section, at: KeyOf<Span>, problems: &mut Problems) {
        let Some(at) = change.said(at) else {
            return;
        };
        if let Some(duration) = self.duration.filter(|&duration| at.value >= duration) {
            let message = format!(
                "{} is not before the end; expected less than the duration of {}",
                at.shown,
                units::show(duration.0, TIME)
            );
            problems.add(at.origin, &at.path, message);
        }
        if let Some((_, other)) = self.seen.iter().find(|(other, _)| *other == at.value) {
            let message = format!(
                "{} is also the time of `{other}`; expected different times",
                at.shown
            );
            problems.add(at.origin, &at.path, message);
        }
        self.seen.push((at.value, &change.path));
    }
}
