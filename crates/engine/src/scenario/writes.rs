//! Applications that write to TCP connections at their own times: their settings in the tables of
//! connections, and checks of these settings.

use super::flow_tables::{CONNECTIONS, connections_of, made};
use super::model::*;
use super::root::RootKeys;
use super::wired::FlowTable;
use crate::app::WriteKeys;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::FileTable;
use crate::notation::units::{self, RATE, SIZE, TIME};

/// Maximum rate of writes of an application. [1/s]
const MAX_WRITES: u64 = 1_000_000;

/// Maximum number of segments of one message of an application, or of one connection. TCP numbers
/// segments with 32 bits.
pub(super) const MAX_SEGMENTS: u64 = 4_000_000_000;

/// Returns the settings of the application that writes to the connections of the table `own`;
/// `None` for other transports, and if TCP always has data to send.
pub(super) fn of_flow(
    own: &Section,
    transport: &Transport,
) -> Result<Option<Box<WriteSettings>>, Refused> {
    match transport {
        Transport::Tcp(tcp) => WriteSettings::read(&Layers(&[own]), tcp.mss_bytes),
        Transport::Udp(_) | Transport::Web(_) | Transport::Ping(_) => Ok(None),
    }
}

/// Returns the TCP settings of the connections of the table `own`, which are looked up in `layers`.
/// `segments` is the number of segments in the file. A total size sets the number of segments, and
/// an application that limits the data the default rule for the window after idle time.
pub(super) fn tcp(
    layers: &Layers,
    own: &Section,
    segments: Option<u64>,
) -> Result<TcpSettings, Refused> {
    let tcp = TcpSettings::read(layers)?;
    let writes = WriteSettings::read(&Layers(&[own]), tcp.mss_bytes)?;
    let is_default = layers.value(TcpSettings::after_idle)?.is_none();
    let is_limited = writes.as_ref().is_some_and(|writes| writes.limits_data());
    Ok(TcpSettings {
        segments: segments.or(writes.and_then(|writes| writes.total_segments())),
        after_idle: match is_default && is_limited {
            true => AfterIdle::Rfc5681,
            false => tcp.after_idle,
        },
        ..tcp
    })
}

/// Returns the TCP settings of a connection that its application paces. `layers` are the tables in
/// which the settings are looked up. The default rule for the window after idle time is that of RFC
/// 5681.
pub(super) fn paced_tcp(layers: &Layers) -> Result<TcpSettings, Refused> {
    let tcp = TcpSettings::read(layers)?;
    let after_idle = layers.value(TcpSettings::after_idle)?;
    Ok(TcpSettings {
        after_idle: after_idle.map_or(AfterIdle::Rfc5681, |_| tcp.after_idle),
        ..tcp
    })
}

/// Checks that the keys of applications in the tables of connections are complete and do not
/// contradict each other.
pub(super) fn check_tables(root: &Section, problems: &mut Problems) {
    for station in root.each(RootKeys::station) {
        for (table, _) in made(station, CONNECTIONS) {
            check_table(table, problems);
        }
    }
    for flow in root.each(RootKeys::flow) {
        // in the tables of other traffic, each of these keys is refused already
        let others = [
            flow.inside(FlowTable::udp).is_some(),
            flow.inside(FlowTable::web).is_some(),
            flow.inside(FlowTable::call).is_some(),
            flow.inside(FlowTable::ping).is_some(),
        ];
        if others.iter().all(|is_other| !is_other) {
            check_table(flow, problems);
        }
    }
}

fn check_table(table: &Section, problems: &mut Problems) {
    let [rate, size] = [WriteKeys::rate, WriteKeys::size_bytes].map(|key| table.present(key));
    let [every, on, off] =
        [WriteKeys::every, WriteKeys::on, WriteKeys::off].map(|key| table.present(key));
    let arrivals = table.given(WriteKeys::arrivals.name());
    let segments = table.given(FlowTable::segments.name());
    if let Some(every) = &every {
        if size.is_none() && !table.lacks(WriteKeys::size_bytes) {
            let fault = "missing key `size`: expected the size of a chunk, such as size = \"2 MB\"";
            every.refuse(fault, problems);
        }
        for other in [&on, &off].into_iter().flatten() {
            other.refuse("conflicts with `every`; expected one of the two", problems);
        }
    } else {
        let needs = "expected `on` and `off`, such as on = \"2 s\" and off = \"8 s\"";
        match (&on, &off) {
            (Some(on), None) if !table.lacks(WriteKeys::off) => {
                on.refuse(format!("missing key `off`: {needs}"), problems);
            }
            (None, Some(off)) if !table.lacks(WriteKeys::on) => {
                off.refuse(format!("missing key `on`: {needs}"), problems);
            }
            _ => {}
        }
    }
    if let Some(segments) = segments
        && (size.is_some() || every.is_some())
    {
        let message = "conflicts with `size`, the amount of data in bytes; expected one of the two";
        segments.refuse(message, problems);
    }
    if let Some(arrivals) = arrivals
        && every.is_none()
        && on.is_none()
    {
        let message = "has no effect, since the application has no periods; accepted with `every`, or \
                       with `on` and `off`";
        arrivals.refuse(message, problems);
    }
    if let (Some(rate), Some(size), Some(every)) = (rate, size, every) {
        let needed_ns = u128::from(size.value) * 8_000_000_000 / u128::from(rate.value);
        if needed_ns > u128::from(every.value.0) {
            let needed = units::show(u64::try_from(needed_ns).unwrap_or(u64::MAX), TIME);
            let fault = format!(
                "is shorter than the time in which the rate writes a chunk; expected at least {needed}"
            );
            every.refuse_value(fault, problems);
        }
    }
}

/// Checks that the path of each flow can carry the data that its application writes.
pub(super) fn check(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    for flow in &scenario.flows {
        if let Some(writes) = &flow.writes
            && let Some(table) = table_of(root, scenario, flow)
        {
            check_flow(table, scenario, (flow, writes), problems);
        }
    }
}

/// Returns the table that defines a TCP flow.
fn table_of<'a>(root: &'a Section, scenario: &Scenario, flow: &Flow) -> Option<&'a Section> {
    match flow.ends {
        Ends::Station { station, direction } => {
            let group = &scenario.stations[station].group;
            connections_of(root.named(RootKeys::station, group)?, direction, &flow.name)
        }
        Ends::Wired => root.named(RootKeys::flow, &flow.class),
    }
}

fn check_flow(
    table: &Section,
    scenario: &Scenario,
    (flow, writes): (&Flow, &WriteSettings),
    problems: &mut Problems,
) {
    let key = match writes.periods {
        Periods::Chunks(_) => WriteKeys::size_bytes.name(),
        Periods::Always | Periods::OnOff(..) if writes.rate_bps.is_some() => WriteKeys::rate.name(),
        Periods::Always | Periods::OnOff(..) => WriteKeys::size_bytes.name(),
    };
    let Some(entry) = table.given(key) else {
        return;
    };
    if problems.concern(&entry.path) {
        return;
    }
    let limit = MAX_SEGMENTS * u64::from(writes.mss_bytes);
    if let Some(size) = writes.size_bytes
        && size > limit
    {
        let message = format!(
            "{} is more than {MAX_SEGMENTS} segments; expected at most {}",
            entry.shown,
            units::show(limit, SIZE)
        );
        entry.refuse(message, problems);
        return;
    }
    let bits = 8 * u64::from(writes.mss_bytes);
    if let Some(rate_bps) = writes.rate_bps
        && rate_bps > MAX_WRITES * bits
    {
        let message = format!(
            "{} in segments of {} B is {} writes per second; expected at most {MAX_WRITES}",
            entry.shown,
            writes.mss_bytes,
            rate_bps / bits
        );
        entry.refuse(message, problems);
        return;
    }
    let Some(mean_bps) = writes.mean_bps() else {
        return;
    };
    if let Some(least_bps) = least_bps(scenario, flow, writes)
        && mean_bps < least_bps
    {
        let fault = format!(
            "writes no full segment in the measured time; expected at least {} bps",
            least_bps.ceil()
        );
        entry.refuse_value(fault, problems);
        return;
    }
    let Some((line_bps, line)) = line(scenario, flow) else {
        return;
    };
    let Transport::Tcp(tcp) = &flow.transport else {
        return; // not reached: only TCP flows have applications
    };
    // each segment has a header
    let length = writes.longer_by_headers(tcp.header_bytes);
    if mean_bps * length > line_bps as f64 {
        let what = match writes.periods {
            Periods::Always => String::new(),
            Periods::Chunks(every) => format!(" every {}", units::show(every.0, TIME)),
            Periods::OnOff(..) => " with these on and off periods".to_owned(),
        };
        let message = format!(
            "{}{what} is {} bit/s with headers of {} B, more than {line} carries ({}); expected at \
             most {} of payload",
            entry.shown,
            (mean_bps * length).round(),
            tcp.header_bytes,
            units::show(line_bps, RATE),
            units::show(leading_digits(line_bps as f64 / length), RATE)
        );
        entry.refuse(message, problems);
    }
}

/// Returns the rate at which the application of a flow writes one segment in the measured time;
/// `None` if the rate does not limit the application, or if the flow has chunks. [bit/s]
fn least_bps(scenario: &Scenario, flow: &Flow, writes: &WriteSettings) -> Option<f64> {
    writes.rate_bps?;
    if matches!(writes.periods, Periods::Chunks(_)) {
        return None;
    }
    let bytes = u64::from(writes.mss_bytes);
    let bytes = writes.size_bytes.map_or(bytes, |size| size.min(bytes));
    let from = flow.start.max(scenario.warmup);
    let measured_s = (scenario.duration.0.saturating_sub(from.0)) as f64 / 1e9;
    (measured_s > 0.0).then(|| bytes as f64 * 8.0 / measured_s)
}

/// Returns a rate with its first four digits, rounded down. [bit/s]
fn leading_digits(rate_bps: f64) -> u64 {
    let rate_bps = rate_bps as u64;
    let digits = rate_bps.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(3));
    rate_bps / unit * unit
}

/// Returns the lowest rate on the path of a flow's data, and the part of the path with this rate;
/// `None` if no part has a constant rate.
fn line(scenario: &Scenario, flow: &Flow) -> Option<(u64, String)> {
    let links = flow.forward.iter().map(|&link| {
        let link = &scenario.links[link as usize];
        (link.rate.bps(), format!("link `{}`", link.name))
    });
    let air = flow
        .station()
        .zip(flow.direction())
        .map(|(station, direction)| {
            let rates = scenario.rates(station, direction);
            let name = &scenario.stations[station].name;
            (Some(rates.data_bps), format!("the air to station `{name}`"))
        });
    let wire = flow.direction().map(|direction| {
        let rate = match direction {
            Direction::Up => &scenario.wire.back,
            Direction::Down => &scenario.wire.rate,
        };
        (rate.bps(), "the `wire`".to_owned())
    });
    let shared = scenario
        .bottleneck
        .as_ref()
        .filter(|own| own.redirects(flow));
    let shared = shared.map(|own| (own.rate_bps, "`vsb`".to_owned()));
    let parts = links.chain(air).chain(wire).chain(shared);
    parts
        .filter_map(|(rate_bps, name)| Some((rate_bps?, name)))
        .min_by_key(|(rate_bps, _)| *rate_bps)
}
