// A lean simulation of downloads in one 802.11b cell (paper 003, Table 2).
//
//   lean_cell DURATION_S WARMUP_S SEED STATIONS FLOWS_PER_STATION QUEUE
//
// It measures the cost of the fastest program for only this scenario: nothing is recorded or
// configurable, and all nodes hear all frames. The medium is one object. A backoff is stored as the
// absolute number of the idle slot in which it ends, so that a busy medium requires no updates. An
// event is a frame on the air or a collision. The program prints "delivered".
//
// Differs from IEEE 802.11 in: a node draws its backoff only when it has a packet to send, so that
// no backoff ends while the queue is empty.

#include "lean.h"

// 802.11b with a long preamble. Durations are in ns, for MAC frames of 1538 and 78 bytes at 11
// Mb/s, and a MAC ACK of 14 bytes at 2 Mb/s.
constexpr Time SLOT = 20000, SIFS = 10000, DIFS = 50000, PREAMBLE = 192000;
constexpr Time MAC_ACK = PREAMBLE + 56000, EIFS = SIFS + PREAMBLE + 112000 + DIFS;
constexpr Time DATA = PREAMBLE + 1538 * 8000 / 11, TCP_ACK = PREAMBLE + 78 * 8000 / 11;
constexpr uint32_t CW_MIN = 31, CW_MAX = 1023, ATTEMPTS = 7;

struct Packet
{
    uint32_t flow, number;
};

struct Node
{
    Ring<Packet> queue;
    uint32_t cw = CW_MIN, attempts = 0;
};

struct Cell
{
    uint32_t stations, flows, limit;
    std::vector<Tcp> tcp;
    std::vector<Node> node; // the access point is the last node
    Events contenders; // by the idle slot in which the backoff ends
    Random uniform;
    Time now = 0;
    Wheel wheel;
    uint64_t slot = 0; // number of idle slots so far
    std::vector<uint32_t> winners;

    Cell(uint32_t n, uint32_t each, uint32_t most, uint64_t seed)
        : stations(n), flows(n * each), limit(most), tcp(flows), node(n + 1), contenders(n + 1),
          uniform(seed)
    {
        for (uint32_t f = 0; f < flows; f++)
        {
            tcp[f].most = 4;
            wheel.look(f, 0);
        }
    }

    void contend(uint32_t who)
    {
        contenders.set(who, slot + uint64_t(uniform() * (node[who].cw + 1)));
    }

    void enter(uint32_t who, Packet packet)
    {
        Ring<Packet>& queue = node[who].queue;
        if (who == stations && queue.held >= limit)
            return;
        queue.push(packet);
        if (queue.held == 1)
            contend(who);
    }

    // The TCP senders are at the access point.
    void send(uint32_t flow, uint32_t segment) { enter(stations, {flow, segment}); }

    // Removes the frame of a node after it was received or discarded, and begins with the next
    // frame.
    void next_frame(uint32_t who)
    {
        Node& one = node[who];
        one.queue.pop();
        one.cw = CW_MIN, one.attempts = 0;
        if (one.queue.held)
            contend(who);
        else
            contenders.set(who, NEVER);
    }

    void received(uint32_t who)
    {
        const Packet packet = node[who].queue.front();
        next_frame(who);
        if (who == stations)
            enter(packet.flow % stations, {packet.flow, tcp[packet.flow].receive(packet.number)});
        else
            tcp[packet.flow].ack(
                packet.number, now, [&](uint32_t segment) { send(packet.flow, segment); });
    }

    void lost(uint32_t who)
    {
        Node& one = node[who];
        if (++one.attempts == ATTEMPTS)
            return next_frame(who);
        one.cw = 2 * one.cw + 1 < CW_MAX ? 2 * one.cw + 1 : CW_MAX;
        contend(who);
    }

    void run(Time until)
    {
        while (now < until)
        {
            wheel.turn(now, [&](uint32_t f) {
                return tcp[f].timer(now, [&](uint32_t segment) { send(f, segment); });
            });
            const uint64_t first = contenders.at();
            if (contenders.next() == Events::NOBODY)
            {
                now += Wheel::TICK;
                continue;
            }
            now += (first - slot) * SLOT;
            slot = first;
            winners.clear();
            while (contenders.at() == first)
            {
                winners.push_back(contenders.next());
                contenders.set(winners.back(), NEVER);
            }
            // The slot in which a frame begins also counts for the backoffs of the other nodes.
            slot++;
            Time air = 0;
            for (uint32_t who : winners)
                air = who == stations ? DATA : air > TCP_ACK ? air : TCP_ACK;
            if (winners.size() == 1)
            {
                now += air + SIFS + MAC_ACK + DIFS;
                received(winners[0]);
            }
            else
            {
                now += air + EIFS;
                for (uint32_t who : winners)
                    lost(who);
            }
        }
    }

    uint64_t delivered() const { return received_by(tcp); }
};

int
main(int argc, char** argv)
{
    if (argc != 7)
        return fprintf(stderr, "lean_cell DURATION_S WARMUP_S SEED STATIONS FLOWS_EACH QUEUE"), 2;
    Cell cell(atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), atoi(argv[3]));
    cell.run(atof(argv[2]) * 1e9);
    const uint64_t early = cell.delivered();
    cell.run(atof(argv[1]) * 1e9);
    printf("delivered %lu %lu\n", cell.delivered(), cell.delivered() - early);
}
