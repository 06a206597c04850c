// A lean simulation of NewReno flows through one router with a drop-tail queue.
//
//   lean_router DURATION_S WARMUP_S SEED FLOWS RTT_MS LIMIT once|hops
//
// It measures the cost of the fastest program for only this scenario: nothing is recorded or
// configurable. `once` has one event per packet: its arrival at the router. At this time the
// program computes when the packet leaves the router, and when its ACK arrives. `hops` has one
// event at the end of each link and pipe, as in a general network simulator. The program prints
// "delivered" and "bottleneck": utilisation, mean queue length with the packet in service, and
// drops.

#include "lean.h"
#include <cstring>

constexpr double ACCESS_BPS = 2e6;
constexpr Time WIRE_BITS = 12000, ACK_BITS = 320;

struct Packet
{
    Time at;
    uint32_t flow, number;
};

// A link with a queue (`rate` in bit/ns), or a pipe that only delays packets (`lasts`). Both are
// first in, first out, with one pending event.
struct Hop
{
    double rate = 0;
    Time lasts = 0;
    uint32_t limit = ~0u;
    uint64_t drops = 0;
    Ring<Packet> held;
};

struct Router
{
    uint32_t flows, limit;
    double rate; // [bit/ns]
    Time quarter, now = 0, busy = 0;
    bool hops;
    std::vector<Tcp> tcp;
    std::vector<Time> free_at;
    Wheel wheel;
    std::vector<Hop> hop;
    std::vector<Ring<Packet>> access;
    Ring<Packet> acks;
    Events events;
    uint64_t drops = 0, passed = 0;
    Time waited = 0; // sum over all packets of the time in the queue and in service

    // Slots of the event queue: access links, then the links and pipes that all flows share, in the
    // order of the path, then the timers. Pipes of equal length share one slot.
    enum { UP, BOTTLENECK, EXIT, DOWN, RETURN, HOME, SHARED };
    size_t timers() const { return flows + SHARED; }

    Router(uint32_t n, double rtt_ms, uint32_t most, bool hop_by_hop, uint64_t seed)
        : flows(n), limit(most), rate(n * 1e-1 / 60), quarter(rtt_ms * 250000), hops(hop_by_hop),
          tcp(n), free_at(n, 0), access(hops ? 0 : n),
          events(n + SHARED + 1)
    {
        Random uniform(seed);
        for (uint32_t f = 0; f < n; f++)
            wheel.look(f, uniform() * 1e9);
        if (hops)
        {
            hop.resize(n + SHARED);
            for (uint32_t f = 0; f < n; f++)
                hop[f].rate = access_rate(f);
            for (int pipe : {UP, EXIT, DOWN, HOME})
                hop[n + pipe].lasts = quarter;
            hop[n + BOTTLENECK].rate = hop[n + RETURN].rate = rate;
            hop[n + BOTTLENECK].limit = limit;
        }
        events.set(timers(), 0);
    }

    double access_rate(uint32_t f) const
    {
        return ACCESS_BPS * 1e-9 * (1 + 0.01 * (f / (flows - 1.0) - 0.5));
    }

    void send(uint32_t f, uint32_t segment)
    {
        if (hops)
            return enter(f, {0, f, segment}, WIRE_BITS);
        const Time left = (free_at[f] > now ? free_at[f] : now) + Time(WIRE_BITS / access_rate(f));
        free_at[f] = left;
        access[f].push({left + quarter, f, segment});
        if (access[f].held == 1)
            events.set(f, left + quarter);
    }

    void acked(uint32_t f, uint32_t number)
    {
        tcp[f].ack(number, now, [&](uint32_t segment) { send(f, segment); });
    }

    void look_at_timers()
    {
        wheel.turn(now, [&](uint32_t f) {
            return tcp[f].timer(now, [&](uint32_t segment) { send(f, segment); });
        });
        events.set(timers(), now + Wheel::TICK);
    }

    // Processes the only event of a packet: its arrival at the router.
    void arrives(uint32_t f)
    {
        const Packet packet = access[f].front();
        access[f].pop();
        events.set(f, access[f].held ? access[f].front().at : NEVER);
        const Time lasts = Time(WIRE_BITS / rate);
        if (busy > now && (busy - now + lasts - 1) / lasts >= limit)
        {
            drops++;
            return;
        }
        passed++;
        waited += busy > now ? busy - now + lasts : lasts;
        busy = (busy > now ? busy : now) + lasts;
        acks.push({busy + 3 * quarter, f, tcp[f].receive(packet.number)});
        if (acks.held == 1)
            events.set(flows, acks.front().at);
    }

    void acks_back()
    {
        const Packet packet = acks.front();
        acks.pop();
        events.set(flows, acks.held ? acks.front().at : NEVER);
        acked(packet.flow, packet.number);
    }

    // Passes a packet from hop to hop. For a queue, `at` is the transmission time of the packet,
    // which begins when the previous packet has left. For a pipe, `at` is the arrival time at its
    // end.
    void enter(uint32_t h, Packet packet, Time bits)
    {
        Hop& here = hop[h];
        if (here.held.held >= here.limit)
        {
            here.drops++;
            return;
        }
        const Time lasts = here.rate > 0 ? Time(bits / here.rate) : here.lasts;
        packet.at = here.rate > 0 ? lasts : now + lasts;
        here.held.push(packet);
        if (here.held.held == 1)
            events.set(h, now + lasts);
    }

    void leaves(uint32_t h)
    {
        Hop& here = hop[h];
        const Packet packet = here.held.front();
        here.held.pop();
        const Time then = here.held.held ? here.held.front().at : NEVER;
        events.set(h, here.held.held && here.rate > 0 ? now + then : then);
        // This number of packets is present at the end of each transmission, which is slightly more
        // than the mean over time.
        if (h == flows + BOTTLENECK)
            passed++, waited += (here.held.held + 1) * Time(WIRE_BITS / rate);
        if (h == flows + EXIT)
            enter(h + 1, {0, packet.flow, tcp[packet.flow].receive(packet.number)}, ACK_BITS);
        else if (h == flows + HOME)
            acked(packet.flow, packet.number);
        else
            enter(h < flows ? flows + UP : h + 1, packet, h < flows + EXIT ? WIRE_BITS : ACK_BITS);
    }

    void run(Time until)
    {
        while (events.at() < until)
        {
            now = events.at();
            const uint32_t slot = events.next();
            if (slot == timers())
                look_at_timers();
            else if (hops)
                leaves(slot);
            else if (slot == flows)
                acks_back();
            else
                arrives(slot);
        }
    }

    uint64_t delivered() const { return received_by(tcp); }
};

int
main(int argc, char** argv)
{
    if (argc != 8)
        return fprintf(stderr, "lean_router DURATION_S WARMUP_S SEED FLOWS RTT_MS LIMIT once|hops"), 2;
    const double duration_s = atof(argv[1]), warmup_s = atof(argv[2]);
    const bool hops = !strcmp(argv[7], "hops");
    Router router(atoi(argv[4]), atof(argv[5]), atoi(argv[6]), hops, atoi(argv[3]));
    const auto dropped = [&]() {
        return hops ? router.hop[router.flows + Router::BOTTLENECK].drops : router.drops;
    };
    router.run(warmup_s * 1e9);
    const uint64_t early = router.delivered(), early_drops = dropped(), passed = router.passed;
    const Time waited = router.waited;
    router.run(duration_s * 1e9);
    const double sent = router.passed - passed, drops = dropped() - early_drops;
    printf("delivered %lu %lu\n", router.delivered(), router.delivered() - early);
    const double measured = (duration_s - warmup_s) * 1e9;
    printf("bottleneck %g %g %g\n", sent * WIRE_BITS / router.rate / measured,
           (router.waited - waited) / measured, drops / (drops + sent));
}
