// htsim: NewReno flows through one router with a drop-tail queue.
//
//   htsim DURATION_S WARMUP_S SEED FLOWS RTT_MS LIMIT measure|bare
//
// The program prints "delivered", the number of segments in the whole run, and the number after the
// warm-up. With `measure` it also prints "bottleneck", utilisation, mean queue length with the
// packet in service, and fraction of packets dropped, all after the warm-up. No logger is
// connected. In htsim, a link consists of a queue with a rate, and a pipe with a delay.
//
// Differs from the other simulators in: the smallest timeout is 250 ms and the initial timeout 3 s
// (constants of TcpSrc), and timeouts are checked every 10 ms; a SYN precedes the first segment;
// the links of the targets are only pipes, without a rate; there is no RED, since RandomQueue
// computes no average.

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

int
main(int argc, char** argv)
{
    if (argc != 8)
    {
        fprintf(stderr, "htsim DURATION_S WARMUP_S SEED FLOWS RTT_MS LIMIT measure|bare\n");
        return 2;
    }
    const double duration_s = atof(argv[1]);
    const simtime_picosec warmup = timeFromSec(atof(argv[2]));
    srand(atoi(argv[3]));
    srandom(atoi(argv[3]));
    const int flows = atoi(argv[4]);
    const simtime_picosec quarter = timeFromMs(atof(argv[5]) / 4);
    const int limit = atoi(argv[6]);
    const bool measure = std::string(argv[7]) == "measure";
    // TCP and pipes log to std::cout, whose output is discarded.
    std::cout.setstate(std::ios::failbit);

    EventList events;
    events.setEndtime(timeFromSec(duration_s));
    // Segments are numbered in packets. A segment has 1500 bytes on the wire, and an ACK 40 bytes.
    Packet::set_packet_size(1500);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    const linkspeed_bps rate = flows * (100e6 / 60);
    Queue bottleneck(rate, memFromPkt(limit), events, NULL);
    Queue back(rate, memFromPkt(1000.0 * flows / 60), events, NULL);

    const auto link = [&events](double bps) {
        return new Queue(linkspeed_bps(bps), memFromPkt(1000000), events, NULL);
    };
    // Each direction of a host's two links has a quarter of the round-trip time. The rates are
    // evenly spaced over 1 %.
    const auto pipe = [&events, quarter]() { return new Pipe(quarter, events); };
    std::vector<TcpSink*> sinks;
    for (int i = 0; i < flows; i++)
    {
        const double access_bps = 2e6 * (1 + 0.01 * (i / (flows - 1.0) - 0.5));
        auto* source = new TcpSrc(NULL, NULL, events);
        auto* sink = new TcpSink();
        source->_cwnd = 2 * source->_mss;
        source->_ssthresh = 0xffffffff;
        auto* out = new Route();
        for (PacketSink* hop : std::initializer_list<PacketSink*>{
                 link(access_bps), pipe(), &bottleneck, pipe(), sink})
        {
            out->push_back(hop);
        }
        auto* way_back = new Route();
        for (PacketSink* hop : std::initializer_list<PacketSink*>{
                 pipe(), &back, link(access_bps), pipe(), source})
        {
            way_back->push_back(hop);
        }
        timers.registerTcp(*source);
        source->connect(*out, *way_back, *sink, simtime_picosec(drand() * timeFromSec(1)));
        sinks.push_back(sink);
    }

    const auto delivered = [&sinks]() {
        uint64_t bytes = 0;
        for (auto* sink : sinks)
        {
            bytes += sink->cumulative_ack();
        }
        return bytes / 1500;
    };
    while (EventList::now() < warmup && EventList::doNextEvent())
    {
    }
    const uint64_t early = delivered();
    const auto drops = bottleneck.num_drops();
    double packet_seconds = 0;
    if (measure)
    {
        simtime_picosec since = EventList::now();
        double waiting = bottleneck.queuesize() / 1500.0;
        while (EventList::doNextEvent())
        {
            packet_seconds += waiting * timeAsSec(EventList::now() - since);
            since = EventList::now();
            waiting = bottleneck.queuesize() / 1500.0;
        }
    }
    else
    {
        while (EventList::doNextEvent())
        {
        }
    }
    const double after = delivered() - early;
    printf("delivered %lu %lu\n", delivered(), delivered() - early);
    if (measure)
    {
        const double measured_s = duration_s - timeAsSec(warmup);
        const double dropped = bottleneck.num_drops() - drops;
        printf("bottleneck %g %g %g\n",
               after * 1500 * 8 / rate / measured_s,
               packet_seconds / measured_s,
               dropped / (dropped + after));
    }
    return 0;
}
