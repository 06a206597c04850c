//! Tests that the settings of plugins are freed with their scenario, so that parsing files
//! repeatedly does not use more and more memory.

use std::sync::atomic::{AtomicUsize, Ordering};

use lasthop_engine::kernel::streams::Stream;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::notation::layers::Layers;
use lasthop_engine::notation::problem::Refused;
use lasthop_engine::notation::setting::{FileTable, Json};
use lasthop_engine::notation::table::Table;
use lasthop_engine::packet::Packet;
use lasthop_engine::plugin::{
    Backlog, Egress, ExternalControl, NewAck, Policy, Registry, Verdict, Window, WindowAlgorithm,
};
use lasthop_engine::scenario::Format;
use parts_from_outside::{Lottery, LotteryQueue, Scalable};

/// Number of settings that exist at present.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// Number of settings that were parsed so far.
static READ: AtomicUsize = AtomicUsize::new(0);

/// Settings of type `T` whose instances are counted in `LIVE` and `READ`.
struct Counted<T>(T);

impl<T: FileTable> FileTable for Counted<T> {
    fn table() -> &'static Table {
        T::table()
    }

    fn read(layers: &Layers) -> Result<Counted<T>, Refused> {
        let settings = T::read(layers)?;
        READ.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(1, Ordering::Relaxed);
        Ok(Counted(settings))
    }

    fn json(&self) -> Json {
        self.0.json()
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Debug)]
struct Queue(LotteryQueue);

impl Policy for Queue {
    const NAME: &'static str = LotteryQueue::NAME;
    const DOC: &'static str = LotteryQueue::DOC;
    type Settings = Counted<Lottery>;

    fn new(settings: &Counted<Lottery>, limit: u32, egress: Egress, stream: Stream) -> Queue {
        Queue(LotteryQueue::new(&settings.0, limit, egress, stream))
    }

    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        self.0.admit(now, backlog, packet)
    }
}

#[derive(Clone, Debug)]
struct Scaled(Scalable);

impl WindowAlgorithm for Scaled {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        self.0.on_ack(window, ack);
    }

    fn decrease(&mut self, window: &Window, flight: u32) -> f64 {
        self.0.decrease(window, flight)
    }
}

impl ExternalControl for Scaled {
    const NAME: &'static str = Scalable::NAME;
    type Settings = Counted<Scalable>;

    fn new(settings: &Counted<Scalable>) -> Scaled {
        Scaled(settings.0)
    }
}

const FILE: &str = r#"
duration = "2 s"
replications = 1
dumbbell = { bottleneck = "5 Mbps", rtt = "20 ms", flows = 3 }
queue.lottery.p = 0.01
tcp = { congestion = "scalable", scalable.gain = 0.02 }
"#;

#[test]
fn settings_of_parts_go_with_their_scenario() {
    let parse = |text: &str| {
        let parts = Registry::new().discipline::<Queue>().congestion::<Scaled>();
        parts.parse(text, Format::Toml, "x.toml", &[])
    };
    for _ in 0..50 {
        let scenario = parse(FILE).expect("no problem");
        let of_one = LIVE.load(Ordering::Relaxed);
        let copy = scenario.clone();
        assert_eq!(LIVE.load(Ordering::Relaxed), of_one, "a copy shares them");
        drop(scenario);
        assert_eq!(LIVE.load(Ordering::Relaxed), of_one);
        drop(copy);
        assert_eq!(LIVE.load(Ordering::Relaxed), 0);
    }
    let run = |text| {
        let scenario = parse(text).expect("no problem");
        lasthop_engine::run(&scenario, 1, &|_| std::ops::ControlFlow::Continue(()))
    };
    run(FILE).expect("it runs");
    assert!(parse(&FILE.replace("gain = 0.02", "gain = 2")).is_err());
    assert!(READ.load(Ordering::Relaxed) > 100);
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
}
