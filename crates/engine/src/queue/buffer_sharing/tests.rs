//! Tests which packets virtual buffer sharing with algorithm `partition` counts.

use super::*;
use crate::kernel::streams::Streams;

/// Returns a queue with two partitions of 12 and 6 packets. The third flow has no class.
fn partition() -> SharedBuffer {
    let setting = SharingSetting {
        occupancy: 0.6,
        share_of: ShareOf::Queue,
        algorithm: SharingAlgorithm::Partition,
        tol: 0.0,
        update: None,
    };
    let class = |flow: u32, share: f64| SharingClass {
        name: flow.to_string(),
        share,
        target: share,
        flows: vec![flow],
    };
    let classes = [class(0, 2.0 / 3.0), class(1, 1.0 / 3.0)];
    let draws = Streams::new(1, 0).stream("not used");
    SharedBuffer::new(setting, 30, &classes, 3, draws)
}

#[test]
fn a_partition_counts_the_packets_of_its_class_alone() {
    for others in [0, 17] {
        let mut queue = partition();
        queue.last_arrival = vec![Some(Time(1)); 2];
        for (class, room) in [(0, 12), (1, 6)] {
            for held in 0..room {
                queue.control(Time(1), others + held);
                assert_eq!(queue.controller.blocking()[class], 0.0, "{held} of {room}");
                queue.counters[class].enter(Time(1));
            }
            queue.control(Time(1), others + room);
            assert_eq!(queue.controller.blocking()[class], 1.0, "{room} of {room}");
        }
    }
}
