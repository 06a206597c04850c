//! Applications with their own times: sensors, applications that write to a TCP connection,
//! players of adaptive video, and calls whose video adapts.

use crate::app::adaptive_call::AdaptiveVideo;
use crate::app::player::Player;
use crate::app::sensor::Reports;
use crate::app::writes::{Write, Writes};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::scenario::{Flow, TcpSettings, Transport};

/// An application that determines when its flow has data.
pub(crate) enum Application {
    /// A sensor, whose reports are one segment or datagram each.
    Reports(Reports),
    /// An application that writes to a TCP connection.
    Writes(Writes),
    /// The player of an adaptive video, and the TCP settings of the connection with its requests.
    Player(Box<Player>, Box<TcpSettings>),
    /// The video of a call whose rate adapts.
    Video(Box<AdaptiveVideo>),
}

impl Application {
    /// Returns the application of a flow before its start; `None` if the flow has none.
    pub(super) fn new(flow: &Flow, streams: &Streams) -> Option<Box<Application>> {
        let stream = |part: &str| streams.stream(&format!("{}/{part}", flow.name));
        let reports = flow.reports.as_ref();
        let reports =
            reports.map(|settings| Application::Reports(Reports::new(settings, stream("reports"))));
        let writes = || {
            let settings = flow.writes.as_ref()?;
            Some(Application::Writes(Writes::new(settings, stream("writes"))))
        };
        let player = || match (&flow.stream, &flow.transport) {
            (Some(stream), Transport::Tcp(tcp)) => {
                let player = Box::new(Player::new(stream));
                Some(Application::Player(player, Box::new(tcp.clone())))
            }
            _ => None,
        };
        let video = || match &flow.transport {
            Transport::Udp(udp) => {
                let video = AdaptiveVideo::new(udp.control?, udp.header_bytes, stream("frames"));
                Some(Application::Video(Box::new(video)))
            }
            Transport::Tcp(_) | Transport::Web(_) | Transport::Ping(_) => None,
        };
        let own = reports.or_else(writes).or_else(player).or_else(video);
        own.map(Box::new)
    }

    /// Returns the reports of a sensor.
    pub(crate) fn reports(&self) -> Option<&Reports> {
        match self {
            Application::Reports(reports) => Some(reports),
            Application::Writes(_) | Application::Player(..) | Application::Video(_) => None,
        }
    }

    /// Returns the application that writes to a TCP connection.
    pub(crate) fn writes(&self) -> Option<&Writes> {
        match self {
            Application::Reports(_) | Application::Player(..) | Application::Video(_) => None,
            Application::Writes(writes) => Some(writes),
        }
    }

    /// Returns the player of an adaptive video.
    pub(crate) fn player(&self) -> Option<&Player> {
        match self {
            Application::Reports(_) | Application::Writes(_) | Application::Video(_) => None,
            Application::Player(player, _) => Some(player),
        }
    }

    /// Returns the adaptive video of a call.
    pub(crate) fn video(&self) -> Option<&AdaptiveVideo> {
        match self {
            Application::Reports(_) | Application::Writes(_) | Application::Player(..) => None,
            Application::Video(video) => Some(video),
        }
    }

    /// Returns whether the connection stays open after the application has stopped, so that data
    /// that was written before is still sent.
    pub(super) fn keeps_connection(&self) -> bool {
        matches!(self, Application::Reports(_))
    }

    pub(super) fn open(&mut self, now: Time) {
        match self {
            Application::Reports(reports) => reports.open(now),
            Application::Writes(writes) => writes.open(now),
            Application::Player(player, _) => player.open(now),
            Application::Video(video) => video.open(now),
        }
    }

    pub(super) fn close(&mut self) {
        match self {
            Application::Reports(reports) => reports.close(),
            Application::Writes(writes) => writes.close(),
            Application::Player(player, _) => player.close(),
            Application::Video(video) => video.close(),
        }
    }

    /// Returns the time of the next report or write.
    pub(super) fn deadline(&self) -> Time {
        match self {
            Application::Reports(reports) => reports.deadline(),
            Application::Writes(writes) => writes.deadline(),
            Application::Player(player, _) => player.deadline(),
            Application::Video(video) => video.deadline(),
        }
    }

    /// Performs the action that is due now. A report is one segment.
    pub(super) fn act(&mut self, now: Time) -> Write {
        match self {
            Application::Reports(reports) => {
                reports.make(now);
                Write::Segments(1)
            }
            Application::Writes(writes) => writes.act(now),
            Application::Player(player, _) => player.act(now),
            Application::Video(video) => video.act(now),
        }
    }

    /// Records the arrival of the next `count` segments, in order.
    pub(super) fn arrive_in_order(&mut self, now: Time, count: u32) {
        match self {
            Application::Reports(reports) => reports.arrive_in_order(now, count),
            Application::Writes(writes) => writes.arrive_in_order(now, count),
            // a player waits for complete chunks, and datagrams of video are not in order
            Application::Player(..) | Application::Video(_) => {}
        }
    }
}
