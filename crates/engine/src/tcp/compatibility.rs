//! Checks that the settings of TCP connections are compatible.
//!
//! DCTCP and Prague require ECN. RACK and proportional rate reduction require SACK, and undo
//! requires RACK. SACK is refused with Tahoe, which retransmits all segments after a loss. HyStart++
//! is refused with Linux's CUBIC, which contains HyStart. BBR requires SACK, RACK-TLP and pacing,
//! `tso` requires pacing, and `abe` requires ECN.
//!
//! Two settings that are not compatible may come from two tables, such as `[tcp]` and the table of
//! a flow. The problem is then that of the setting in the inner table: the outer table may be right
//! for all other flows.

use super::congestion::{Abe, CongestionAlgorithm};
use super::settings::{TcpSettings, can_sack};
use crate::notation::decode::Entry;
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::setting::KeyOf;

/// A flag whose value is not compatible with other settings.
struct Conflict<'r> {
    key: KeyOf<bool>,
    /// Settings with which the flag is not compatible.
    with: &'r [&'static str],
    /// Reason, as a phrase after the value of the flag.
    reason: String,
    /// Accepted values.
    expected: &'r str,
    /// Whether the message names the table of the flow if only the outer table has these settings.
    names_flow: bool,
}

impl TcpSettings {
    /// Checks that the settings of connections are compatible. A problem of a value that several
    /// tables share is reported once.
    pub(crate) fn check(layers: Layers, problems: &mut Problems) {
        let congestion = layers
            .located(TcpSettings::congestion)
            .map(|setting| setting.value);
        if let Some(control) = congestion {
            check_required(layers, control, problems);
        }
        // `on` ignores defaults: a default depends on the values of the file, so it cannot
        // contradict them
        let on = |key| {
            let setting = layers.located(key);
            setting.is_some_and(|setting| setting.value && setting.given)
        };
        let is_bbr = congestion.is_some_and(CongestionAlgorithm::sets_recovery_window);
        let sack = layers.located(TcpSettings::sack).filter(|sack| sack.value);
        let lacks_sack = !is_bbr && !sack.is_some_and(|sack| sack.given || can_sack(congestion));
        let control = TcpSettings::congestion.name();
        let of_sack = [TcpSettings::sack.name(), control];
        let mut refuse = |key, is_wrong: bool, with: &[&'static str], reason: &str, expected| {
            if is_wrong && on(key) {
                let conflict = Conflict {
                    key,
                    with,
                    reason: reason.to_owned(),
                    expected,
                    // flows with BBR are paced, and flows may have `ecn` of their own
                    names_flow: reason == UNPACED || reason == UNMARKED,
                };
                conflict.report(layers, problems);
            }
        };
        refuse(
            TcpSettings::sack,
            congestion == Some(CongestionAlgorithm::Tahoe),
            &[control],
            "contradicts the congestion control \"tahoe\", which sends everything again after a loss",
            "false",
        );
        refuse(
            TcpSettings::hystart,
            congestion == Some(CongestionAlgorithm::CubicLinux),
            &[control],
            "adds HyStart++ to the congestion control \"cubic_linux\", which has HyStart",
            "false",
        );
        let name = congestion.map_or("bbr", |congestion| congestion.name());
        refuse(
            TcpSettings::hystart,
            is_bbr,
            &[control],
            &format!(
                "adds HyStart++ to the congestion control \"{name}\", which has no slow start"
            ),
            "false",
        );
        refuse(
            TcpSettings::tso,
            !is_bbr && !on(TcpSettings::pacing),
            &[TcpSettings::pacing.name(), control],
            UNPACED,
            "false, or pacing = true",
        );
        refuse(
            TcpSettings::abe,
            !on(TcpSettings::ecn),
            &[TcpSettings::ecn.name()],
            UNMARKED,
            "false, or ecn = true",
        );
        refuse(
            TcpSettings::abe,
            congestion.is_some_and(|control| Abe::of(control).is_none()),
            &[control],
            "requires a congestion control for which RFC 8511 has a factor",
            "false, or congestion = \"reno\", \"newreno\", \"cubic\" or \"cubic_linux\"",
        );
        for key in [TcpSettings::rack, TcpSettings::prr] {
            let reason = "requires selective acknowledgements";
            refuse(key, lacks_sack, &of_sack, reason, "false, or sack = true");
        }
        refuse(
            TcpSettings::undo,
            !is_bbr && !on(TcpSettings::rack),
            &[TcpSettings::rack.name(), control],
            "requires RACK",
            "false, or rack = true",
        );
    }
}

/// Refuses flags that are false if the congestion control requires them.
fn check_required(layers: Layers, control: CongestionAlgorithm, problems: &mut Problems) {
    let flags = [
        (TcpSettings::ecn, control.needs_ecn(), "reacts to marks"),
        (TcpSettings::sack, control.sets_recovery_window(), BBR),
        (TcpSettings::rack, control.sets_recovery_window(), BBR),
        (TcpSettings::pacing, control.sets_recovery_window(), BBR),
    ];
    for (key, _, why) in flags.into_iter().filter(|(_, is_required, _)| *is_required) {
        if layers
            .located(key)
            .is_some_and(|flag| flag.given && !flag.value)
        {
            let conflict = Conflict {
                key,
                with: &[TcpSettings::congestion.name()],
                reason: format!(
                    "contradicts the congestion control \"{}\", which {why}",
                    control.name()
                ),
                expected: "true",
                names_flow: false,
            };
            conflict.report(layers, problems);
        }
    }
}

/// Reasons for conflicts of flags that only some flows of a file may have.
const UNPACED: &str = "requires pacing";
const UNMARKED: &str = "requires ECN marks";

/// Settings that BBR requires.
const BBR: &str = "requires SACK, RACK-TLP and pacing";

impl Conflict<'_> {
    /// Reports the conflict as a problem of that of its settings that is in the innermost table.
    fn report(self, layers: Layers, problems: &mut Problems) {
        let Some(flag) = layers.located(self.key) else {
            return;
        };
        let has_flag = |path: &str| flag.path == path;
        let inner: Vec<_> = (layers.0.iter())
            .take_while(|table| !has_flag(&table.path(self.key.name())))
            .collect();
        let mut others = inner.iter().flat_map(|table| {
            let given = self.with.iter().filter_map(|key| table.given(key));
            given.map(|entry| (&table.path, entry))
        });
        let refuse = |entry: &Entry, message: String, problems: &mut Problems| {
            if !problems.concern(&entry.path) {
                problems.add(entry.origin, &entry.path, message);
            }
        };
        let (value, reason, expected) = (flag.value, self.reason, self.expected);
        if let Some((table, other)) = others.next() {
            let message = format!(
                "{} conflicts with `{} = {value}`, which {reason}; expected {} = {} in `{table}`, or \
                 another value here",
                other.shown,
                flag.path,
                self.key.name(),
                !value,
            );
            return refuse(other, message, problems);
        }
        let place = match inner.first().filter(|_| self.names_flow) {
            Some(table) => format!(", which connections of `{}` do not have", table.path),
            None => String::new(),
        };
        refuse(
            &flag,
            format!("{value} {reason}{place}; expected {expected}"),
            problems,
        );
    }
}
