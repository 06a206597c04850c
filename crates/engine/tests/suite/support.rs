//! Scenarios for tests, built in code.
#![allow(dead_code, reason = "the examples use a part of it")]

use lasthop_engine::kernel::time::Span;
use lasthop_engine::notation::setting::FileTable;
use lasthop_engine::scenario::*;

pub const MS: u64 = 1_000_000;

/// Returns a scenario of 802.11b with the frame sizes of paper 003, Table 2.
pub fn dot11b(stations: usize, seconds: u64) -> Scenario {
    let node = Node {
        control_rate_bps: 2_000_000,
        best_effort: Access::contention(2, 31, 1023),
        background: Access::contention(2, 31, 1023),
        video: Access::contention(2, 31, 1023),
        voice: Access::contention(2, 31, 1023),
        attempts_short: 7,
        attempts_long: 4,
        queue: QueueSetting::drop_tail(1000),
        aggregation: None,
    };
    let phy = Phy {
        kind: PhyKind::Dot11b,
        slot: Span(20_000),
        sifs: Span(10_000),
        preamble: Span(192_000),
        eifs_rate_bps: 1_000_000,
        signal_extension: Span::ZERO,
    };
    let station = |index: usize| Station {
        name: format!("sta-{}", index + 1),
        group: "sta".into(),
        rate_bps: 11_000_000,
        downlink_rate_bps: 11_000_000,
        phy: PhyKind::Dot11b,
        modulation: None,
        mcs_by_snr: false,
        node: node.clone(),
        channel: Channel::default(),
        channel_changes: Vec::new(),
        power_save: None,
        echo: Echo::default(),
        echo_changes: Vec::new(),
    };
    Scenario {
        name: "test".into(),
        duration: Span(seconds * 1000 * MS),
        warmup: Span(seconds * 100 * MS),
        replications: 1,
        seed: 1,
        bss: vec![Bss::only(
            Cell {
                phy,
                mac_header_bytes: 30,
                llc_bytes: 8,
                rts_threshold_bytes: None,
                ack_timeout: None,
                collider_wait: ColliderWait::Aifs,
                countdown: CountdownRule::Dcf,
                cf_end: false,
                ap: node.clone(),
                ap_queue_order: QueueOrder::Fifo,
                ppdus: None,
                rate_control: RateControl::Fixed,
                sharing_classes: Vec::new(),
                power_save: PowerSave::usual().expect("defaults"),
            },
            stations,
        )],
        wire: Wire {
            rate: LinkRate::Unlimited,
            back: LinkRate::Unlimited,
            delay: Span(0),
            queue: QueueSetting::drop_tail(1000),
            back_queue: QueueSetting::drop_tail(1000),
            loss: Loss::NONE,
        },
        bottleneck: None,
        stations: (0..stations).map(station).collect(),
        links: Vec::new(),
        flows: Vec::new(),
        csma: None,
        record: Record::default(),
        tcp: TcpSettings::usual().expect("defaults"),
        tcp_defaults: TcpDefaults::default(),
        udp: UdpSettings::usual().expect("defaults"),
        programs: Vec::new(),
    }
}

pub fn tcp(window_packets: u32) -> TcpSettings {
    TcpSettings {
        handshake: false,
        congestion: CongestionAlgorithm::NewReno,
        external: None,
        compound: CompoundSettings::usual().expect("published values"),
        cubic_linux: CubicLinuxSettings::usual().expect("the kernel's"),
        dctcp: DctcpSettings::usual().expect("Linux's"),
        prague: PragueSettings::usual().expect("Linux's"),
        bbr: BbrSettings::usual().expect("Linux's"),
        bbr3: Bbr3Settings::usual().expect("the draft's"),
        hystart: false,
        byte_counting: false,
        pacing: false,
        tso: false,
        ecn: false,
        abe: false,
        sack: false,
        rack: false,
        prr: false,
        undo: false,
        window_packets,
        initial_cwnd_packets: 2,
        delayed_ack: false,
        ack_delay: Span(100 * MS),
        ack_processing: Span(0),
        mss_bytes: 1460,
        header_bytes: 40,
        min_rto: Span(200 * MS),
        initial_rto: Span(1000 * MS),
        rto_halves_again: false,
        after_idle: AfterIdle::Keep,
        segments: None,
    }
}

/// Adds a flow to the scenario. A number in the flow's name makes the name unique.
pub fn add_flow(
    scenario: &mut Scenario,
    station: usize,
    direction: Direction,
    transport: Transport,
) {
    let name = format!(
        "{}/{}",
        scenario.stations[station].name,
        scenario.flows.len() + 1
    );
    scenario
        .flows
        .push(Flow::of_station(name, station, direction, transport));
}

pub fn greedy() -> Transport {
    Transport::Udp(UdpSettings {
        arrivals: Arrivals::Greedy,
        rate_bps: 0,
        payload_bytes: 1472,
        header_bytes: 28,
        burst: 1,
        control: None,
    })
}

/// Returns a scenario with the given number of stations, one download each.
pub fn downloads(stations: usize, window: u32, seconds: u64) -> Scenario {
    let mut scenario = dot11b(stations, seconds);
    for station in 0..stations {
        add_flow(
            &mut scenario,
            station,
            Direction::Down,
            Transport::Tcp(tcp(window)),
        );
    }
    scenario
}
