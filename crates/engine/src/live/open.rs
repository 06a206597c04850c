//! Flows for packets that belong to no flow of a scenario: packets of programs on a host or
//! station, and packets of the connections of web sources.

use crate::scenario::{Direction, Ends, Flow, Scenario, Transport};

/// A host or station of the network on which programs run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the host or station. The flows of its programs are called NAME/program.
    pub name: String,
    /// Position of the host or station in the network.
    pub at: At,
}

/// Position of a host or station in the network. The position also determines the peer of its
/// connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The station with this index. Its peers are the servers.
    Station(usize),
    /// The source of the wired flow with this index. Its peer is the sink of the flow.
    Source(usize),
}

/// Transport protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carrier {
    /// TCP.
    Tcp,
    /// UDP, or any protocol other than TCP.
    Udp,
}

/// Number of connections that have a flow of their own, per host or station and per transport
/// protocol. Further connections share these flows.
pub const CONNECTIONS: usize = 64;
/// Number of flows per connection: one for each direction.
const DIRECTIONS: usize = 2;

/// Returns all flows of a scenario in order of flow number, including flows over a conflict graph.
pub fn flows(scenario: &Scenario) -> Vec<Flow> {
    let flows = scenario.flows.iter().cloned();
    flows.chain(scenario.users()).collect()
}

/// Returns the indices of the flows that are web sources.
pub fn web_sources(scenario: &Scenario) -> impl Iterator<Item = usize> {
    let flows = scenario.flows.iter().enumerate();
    flows.filter_map(|(index, flow)| matches!(flow.transport, Transport::Web(_)).then_some(index))
}

/// Returns `scenario` with additional flows. The flows of the connections of `places` precede the
/// flows of the connections of web sources.
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
                let flow = |leaves| of_place(scenario, &place, leaves, transport.clone());
                opened.flows.extend([true, false].map(flow));
            }
        }
    }
    opened
}

/// Returns a flow whose data are sent by `place` if `leaves` is true; if false, the data are sent
/// to `place`.
fn of_place(scenario: &Scenario, place: &Place, leaves: bool, transport: Transport) -> Flow {
    let name = format!("{}/program", place.name);
    match place.at {
        At::Station(station) => {
            let direction = match leaves {
                true => Direction::Up,
                false => Direction::Down,
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

/// Returns the index of a flow of the connection with index `connection` at the place with index
/// `place`. If `leaves` is true, the place sends the data of the flow; if false, it receives the
/// data. The indices of web sources follow those of the places.
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
    (scenario.flows.len() + before * DIRECTIONS + usize::from(!leaves)) as u32
}
