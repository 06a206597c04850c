//! Tests of calls whose video adapts, over simulated links.

use std::ops::ControlFlow;

use super::super::{Watch, World};
use super::*;
use crate::app::adaptive_call::VideoTally;
use crate::scenario::{Format, Scenario, parse};

fn scenario(text: &str) -> Scenario {
    match parse(text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?} in {text}"),
    }
}

/// Returns the results of the video upstream and downstream from 20 s on. The flows of the call are
/// the last ones.
fn videos(text: &str) -> [VideoTally; 2] {
    let scenario = scenario(text);
    let mut look = |_: Time| ControlFlow::Continue(());
    let mut watch = Watch {
        look: &mut look,
        exchange: None,
    };
    let mut world = World::new(&scenario, 0).unwrap();
    world.run_to_end(&mut watch).unwrap();
    assert_eq!(crate::measure::check_conservation(&world), Ok(()));
    let index = |name: &str| {
        let mut flows = scenario.flows.iter();
        flows.position(|flow| flow.name.contains(name)).unwrap()
    };
    ["video-up", "video-down"].map(|name| {
        let application = world.flows().states()[index(name)].application().unwrap();
        let end = Time::ZERO + scenario.duration;
        application
            .video()
            .unwrap()
            .tally(Time(20_000_000_000), end)
    })
}

/// A call over a line of 3 Mb/s downstream and of the rate `up` upstream.
fn line(up: &str, others: &str) -> String {
    format!(
        "duration = \"60 s\"\nwarmup = \"20 s\"\n\
         link.line = {{ from = \"home\", to = \"net\", rate = \"{up}\", back_rate = \"3 Mbps\", \
         delay = \"10 ms\", queue = 100 }}\n\
         flow.phone = {{ from = \"home\", to = \"net\", rtt = \"40 ms\", \
         call = {{ control = \"gcc\" }} }}\n{others}"
    )
}

#[test]
fn a_call_uses_a_free_line_up_to_its_highest_rate() {
    let [up, down] = videos(&line("10 Mbps", ""));
    for video in [up, down] {
        let sent = video.sent_bps.unwrap();
        assert!((2.3e6..2.6e6).contains(&sent), "{video:?}");
        assert_eq!(
            (video.freezes, video.frozen),
            (0, crate::kernel::time::Span::ZERO)
        );
    }
}

#[test]
fn a_call_adapts_to_a_slow_line_without_freezes() {
    let [up, down] = videos(&line("1 Mbps", ""));
    // audio takes 75 kb/s of the line, headers included
    let sent = up.sent_bps.unwrap();
    assert!((0.65e6..0.93e6).contains(&sent), "{up:?}");
    assert_eq!(up.freezes, 0, "{up:?}");
    assert!(down.sent_bps.unwrap() > 2e6, "{down:?}");
}

/// An upload fills the buffer of the line: the video falls to a small part of it. A fair queue
/// leaves it its share.
#[test]
fn an_upload_starves_the_call_unless_the_queue_is_fair() {
    let upload = "flow.upload = { from = \"home\", to = \"net\", rtt = \"40 ms\", \
                  congestion = \"cubic\" }";
    let [plain, _] = videos(&line("3 Mbps", upload));
    let fair = line("3 Mbps", upload).replace("queue = 100", "queue = { fq_codel = {} }");
    let [fair, _] = videos(&fair);
    let [plain, fair] = [plain, fair].map(|video| video.sent_bps.unwrap());
    assert!(plain < 0.6 * fair, "{plain} {fair}");
    assert!(fair > 1e6, "{fair}");
}

/// Lost packets are sent again, so that 3 % of losses cause few freezes.
#[test]
fn lost_packets_are_repeated() {
    let lossy = line("10 Mbps", "").replace("queue = 100", "queue = 100, loss = 0.03");
    let [up, _] = videos(&lossy);
    assert!(up.frozen.seconds() < 0.4, "{up:?}");
    assert!(up.sent_bps.unwrap() > 2e5, "{up:?}");
}

#[test]
fn a_station_has_an_adaptive_call_over_the_air() {
    let [up, down] = videos(
        "duration = \"40 s\"\nwarmup = \"20 s\"\ncell.phy = \"802.11ac\"\n\
         wire = { rate = \"20 Mbps\", delay = \"10 ms\", queue = 100 }\n\
         station.phone.call = { control = \"gcc\", max_rate = \"1 Mbps\" }",
    );
    for video in [up, down] {
        assert!(
            (0.9e6..1.05e6).contains(&video.sent_bps.unwrap()),
            "{video:?}"
        );
        assert_eq!(video.freezes, 0);
    }
}
