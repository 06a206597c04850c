// Components of both lean simulations: an event queue (a tournament tree), and a minimal TCP.
//
// The tournament tree has one slot per source of events, and its root is the earliest event.
// Setting the time of a slot updates one node per level of the tree. A key consists of the time and
// the slot number, so that of two simultaneous events the one with the lower slot number is first.

#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Time = uint64_t; // [ns]
constexpr Time NEVER = ~Time(0);

struct Events
{
    static constexpr int SLOT_BITS = 18; // leaves 46 bits for times: 70,000 s in ns
    static constexpr uint32_t NOBODY = (1u << SLOT_BITS) - 1;
    size_t leaves = 1;
    std::vector<uint64_t> key;

    explicit Events(size_t slots)
    {
        while (leaves < slots)
            leaves *= 2;
        key.assign(2 * leaves, NEVER);
    }

    void set(uint32_t slot, Time when)
    {
        size_t i = leaves + slot;
        key[i] = when == NEVER ? NEVER : when << SLOT_BITS | slot;
        for (i /= 2; i > 0; i /= 2)
            key[i] = key[2 * i] < key[2 * i + 1] ? key[2 * i] : key[2 * i + 1];
    }

    uint32_t next() const { return key[1] & NOBODY; }
    Time at() const { return key[1] >> SLOT_BITS; }
};

// A ring buffer that grows to its largest number of elements.
template <typename T> struct Ring
{
    std::vector<T> cells = std::vector<T>(4);
    uint32_t first = 0, held = 0;

    void push(const T& value)
    {
        if (held == cells.size())
        {
            std::vector<T> more(2 * cells.size());
            for (uint32_t i = 0; i < held; i++)
                more[i] = (*this)[i];
            cells.swap(more);
            first = 0;
        }
        cells[(first + held++) & (cells.size() - 1)] = value;
    }
    const T& operator[](uint32_t i) const { return cells[(first + i) & (cells.size() - 1)]; }
    const T& front() const { return cells[first]; }
    void pop() { first = (first + 1) & (cells.size() - 1), held--; }
};

// A timer wheel with steps of 10 ms. Each flow is in the wheel once. When its step is reached, the
// callback returns the time of its next check.
struct Wheel
{
    static constexpr Time TICK = 10000000;
    std::vector<std::vector<uint32_t>> bucket = std::vector<std::vector<uint32_t>>(8192);
    std::vector<uint32_t> due;
    uint64_t tick = 0;

    void look(uint32_t flow, Time when)
    {
        uint64_t then = when / TICK + 1;
        then = then <= tick ? tick + 1 : then;
        bucket[(then < tick + 8191 ? then : tick + 8191) % 8192].push_back(flow);
    }

    template <typename Next> void turn(Time now, Next next)
    {
        while ((tick + 1) * TICK <= now)
        {
            tick++;
            due.clear();
            due.swap(bucket[tick % 8192]);
            for (uint32_t flow : due)
                look(flow, next(flow));
        }
    }
};

// NewReno (RFC 6582, variants impatient and careful), with both ends of the connection in one
// object. Segments are numbered from 0, and each segment is acknowledged. One round-trip time is
// measured at a time. After a timeout, transmission continues with the first missing segment.
struct Tcp
{
    uint32_t acked = 0, sent = 0, highest = 0, recover = 0, dupacks = 0, most = 10000;
    uint32_t received = 0, timed = 0;
    bool recovering = false, repaired_one = false;
    float cwnd = 2, ssthresh = 1e9f;
    double srtt = 0, var = 0;
    Time rto = 1000000000, deadline = NEVER, timed_at = NEVER;
    std::vector<bool> have = std::vector<bool>(4);

    // Processes an arriving segment at the receiver. Returns the next expected segment.
    uint32_t receive(uint32_t segment)
    {
        if (segment < received)
            return received;
        while (segment - received >= have.size())
        {
            std::vector<bool> more(2 * have.size());
            for (uint32_t s = received; s < received + have.size(); s++)
                more[s & (more.size() - 1)] = have[s & (have.size() - 1)];
            have.swap(more);
        }
        const uint32_t mask = have.size() - 1;
        have[segment & mask] = true;
        while (have[received & mask])
            have[received++ & mask] = false;
        return received;
    }

    // Processes an ACK at the sender; `send` passes a segment to the access link.
    template <typename Send> void ack(uint32_t ack, Time now, Send send)
    {
        if (ack > acked)
        {
            bool restarts = true;
            if (timed_at != NEVER && ack > timed)
                sample(now - timed_at), timed_at = NEVER;
            if (!recovering)
                cwnd += cwnd < ssthresh ? 1 : 1 / cwnd;
            else if (ack >= recover)
                recovering = false, cwnd = ssthresh;
            else
            {
                // partial ACK: the next segment is missing as well
                cwnd = cwnd - (ack - acked) + 1;
                if (cwnd < 1)
                    cwnd = 1;
                send(ack);
                restarts = !repaired_one, repaired_one = true;
            }
            acked = ack, dupacks = 0;
            sent = sent < acked ? acked : sent;
            if (restarts)
                deadline = now + rto;
        }
        else if (sent > acked && ++dupacks >= 3)
        {
            if (recovering)
                cwnd += 1;
            else if (dupacks == 3 && (acked > recover || recover == 0))
            {
                halve(), cwnd = ssthresh + 3;
                recovering = true, repaired_one = false, recover = sent, timed_at = NEVER;
                send(acked);
            }
        }
        fill(now, send);
    }

    template <typename Send> void fill(Time now, Send send)
    {
        const uint32_t window = cwnd < most ? uint32_t(cwnd) : most;
        while (sent < acked + window)
        {
            if (timed_at == NEVER && sent >= highest)
                timed = sent, timed_at = now;
            if (deadline == NEVER)
                deadline = now + rto;
            send(sent++);
            highest = sent > highest ? sent : highest;
        }
    }

    // Checks the retransmission timer, and starts the flow. Returns the time of the next check.
    template <typename Send> Time timer(Time now, Send send)
    {
        if (deadline == NEVER)
            fill(now, send);
        else if (now >= deadline)
            timeout(now, send);
        return deadline;
    }

    template <typename Send> void timeout(Time now, Send send)
    {
        halve(), cwnd = 1, recovering = false, recover = sent, dupacks = 0;
        rto = rto * 2 < 60000000000 ? rto * 2 : 60000000000;
        sent = acked, timed_at = NEVER, deadline = now + rto;
        fill(now, send);
    }

    void halve()
    {
        const float flight = (sent - acked) / 2.0f;
        ssthresh = flight > 2 ? flight : 2;
    }

    void sample(double rtt)
    {
        if (srtt == 0)
            srtt = rtt, var = rtt / 2;
        else
        {
            const double off = rtt > srtt ? rtt - srtt : srtt - rtt;
            var += (off - var) / 4, srtt += (rtt - srtt) / 8;
        }
        const double wanted = srtt + 4 * var;
        rto = wanted > 200e6 ? Time(wanted) : 200000000;
    }
};

// Returns the number of segments that the receivers of these flows have received in order.
inline uint64_t
received_by(const std::vector<Tcp>& flows)
{
    uint64_t sum = 0;
    for (const Tcp& one : flows)
        sum += one.received;
    return sum;
}

// Random numbers by xorshift64*, uniform in [0, 1).
struct Random
{
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15 + 1) {}
    double operator()()
    {
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        return (state * 0x2545F4914F6CDD1D >> 11) * 0x1p-53;
    }
};
