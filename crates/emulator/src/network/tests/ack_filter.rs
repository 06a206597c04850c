use super::*;

#[test]
fn the_ack_filter_reads_tcp_headers() {
    let own = parsed(
        "duration = \"4 s\"\nwarmup = \"0 s\"\n[link.line]\nfrom = \"net\"\nto = \"home\"\n\
         rate = \"60 Mbps\"\nback_rate = \"40 kbps\"\ndelay = \"10 ms\"\n\
         back_queue.cake = { ack_filter = \"aggressive\", rtt = \"10 s\" }\n\
         [flow.down]\nfrom = \"net\"\nto = \"home\"\n",
    );
    let mut network = network(&own);
    let (source, sink) = ((SOURCES + 1, 40_000), (SINKS + 1, FIRST_PORT));
    let ack = |number: u8, flags: u8| {
        let mut packet = packets::tcp(sink, source, 40);
        packet[31] = number;
        packet[33] = flags;
        packet
    };
    const ACK: u8 = 0x10;
    const FIN: u8 = 0x01;
    // the first ACK is in service, and the others wait: ACK 4 makes ACK 3 superfluous, and ACK 5 makes
    // ACK 4 superfluous; those with FIN stay. The long `rtt` avoids drops of COBALT.
    for (number, flags) in [
        (1, ACK),
        (2, ACK | FIN),
        (3, ACK),
        (4, ACK),
        (5, ACK | FIN),
        (6, ACK),
    ] {
        send(&mut network, 0, 2, &ack(number, flags));
    }
    let delivered = run(&mut network, Time(200_000_000));
    let numbers: Vec<_> = delivered
        .iter()
        .map(|delivery| delivery.bytes[31])
        .collect();
    assert_eq!(numbers, [1, 2, 5, 6]);
    assert_eq!((network.lost, network.foreign), (2, 0));
}
