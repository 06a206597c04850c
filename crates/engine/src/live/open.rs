//! Flows for packets that are of no flow of a scenario: those of programs at a place, and of the connections of web
//! sources.

use crate::scenario::{CsmaFlow, Direction, Ends, Flow, Scenario, Transport};

/// Whose packets are carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is called; its flows are called NAME/program.
    pub name: String,
    /// Where it is.
    pub at: At,
}

/// Where a place is, and so what it talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The station with this index talks to the servers.
    Station(usize),
    /// The source of the flow with this index, which is between wired nodes, talks to its sink.
    Source(usize),
}

/// What carries a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carrier {
    /// TCP.
    Tcp,
    /// UDP, and whatever else there is.
    Udp,
}

/// Connections of each place that have flows of their own, by carrier; more of them share flows.
pub const CONNECTIONS: usize = 64;
/// Flows of a connection: its data from the place, its data to the place.
const WAYS: usize = 2;

/// Flows of a scenario by number, those over a conflict graph among them.
pub fn flows(scenario: &Scenario) -> Vec<Flow> {
    let users = scenario.csma.iter().flat_map(|csma| &csma.flows);
    let own = scenario.flows.iter().cloned();
    own.chain(users.map(CsmaFlow::to_flow)).collect()
}

/// Indices of the flows that are web sources.
pub fn web_sources(scenario: &Scenario) -> impl Iterator<Item = usize> {
    let flows = scenario.flows.iter().enumerate();
    flows.filter_map(|(index, flow)| matches!(flow.transport, Transport::Web(_)).then_some(index))
}

/// A scenario that has flows for the connections of `places` behind its own, and for those of its web sources
/// behind these.
pub fn open(scenario: &Scenario, places: &[Place]) -> Scenario {
    let mut opened = scenario.clone();
    let webs = web_sources(scenario).map(|index| Place {
        name: scenario.flows[index].name.clone(),
        at: At::Source(index),
    });
    for place in places.iter().cloned().chain(webs) {
        for carrier in [Carrier::Tcp, Carrier::Udp] {
            let transport = match carrier {
                Carrier::Tcp => Transport::Tcp(scenario.tcp.clone()),
                Carrier::Udp => Transport::Udp(scenario.udp),
            };
            for _ in 0..CONNECTIONS {
                let ways = [true, false]
                    .map(|leaves| of_place(scenario, &place, leaves, transport.clone()));
                opened.flows.extend(ways);
            }
        }
    }
    opened
}

/// The flow that carries data from a place, or to it.
fn of_place(scenario: &Scenario, place: &Place, leaves: bool, transport: Transport) -> Flow {
    let name = format!("{}/program", place.name);
    match place.at {
        At::Station(station) => {
            let direction = if leaves {
                Direction::Up
            } else {
                Direction::Down
            };
            Flow::of_station(name, station, direction, transport)
        }
        At::Source(index) => {
            let like = &scenario.flows[index];
            let (out, home) = (like.forward.clone(), like.back.clone());
            let (forward, back) = if leaves { (out, home) } else { (home, out) };
            Flow {
                ends: Ends::Wired,
                forward,
                back,
                ..Flow::of_station(name, 0, Direction::Up, transport)
            }
        }
    }
}

/// The flow of connection number `connection` of the place number `place` whose data leaves the place, or comes
/// to it; behind the places come the web sources.
pub fn flow_of(
    scenario: &Scenario,
    place: usize,
    carrier: Carrier,
    connection: usize,
    leaves: bool,
) -> u32 {
    let carrier = match carrier {
        Carrier::Tcp => 0,
        Carrier::Udp => 1,
    };
    let before = (place * 2 + carrier) * CONNECTIONS + connection % CONNECTIONS;
    (scenario.flows.len() + before * WAYS + usize::from(!leaves)) as u32
}
