// ns-3: sixty NewReno flows with SACK through one router.
//
//   dumbbell DURATION_S WARMUP_S RUN --rtt=MS --queue=droptail|red [--measure]
//       [--flows=60 --limit=15]
//
// The program prints "delivered", the number of segments in the whole run, and the number after the
// warm-up. With --measure it also prints "bottleneck", utilisation, mean queue length with the
// packet in service, and fraction of packets dropped, all after the warm-up. This requires trace
// sinks. Comments explain settings that differ from ns-3's defaults.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// Rate of the bottleneck per flow. [bit/s]
constexpr double FLOW_BPS = 100e6 / 60;
// Payload of a segment, which has 1500 bytes on the wire with the headers of PPP, IP and TCP.
constexpr uint32_t SEGMENT = 1458;
// Window that never limits a flow.
constexpr uint32_t WINDOW = 1000 * SEGMENT;

// Counters of the bottleneck since the warm-up.
struct Monitor
{
    uint64_t accepted{0};
    uint64_t dropped{0};
    uint64_t bytes{0};
    int64_t held{0};
    double packetSeconds{0};
    Time since;

    void Integrate()
    {
        packetSeconds += held * (Simulator::Now() - since).GetSeconds();
        since = Simulator::Now();
    }

    void Enter()
    {
        Integrate();
        ++held;
        ++accepted;
    }

    void Leave(Ptr<const Packet> packet)
    {
        Integrate();
        --held;
        bytes += packet->GetSize();
    }

    void Reset()
    {
        Integrate();
        accepted = dropped = bytes = 0;
        packetSeconds = 0;
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    double duration = 0;
    double warmup = 0;
    uint32_t run = 1;
    uint32_t rtt = 10;
    std::string queue = "droptail";
    bool measure = false;
    uint32_t flows = 60;
    uint32_t limit = 15;
    CommandLine cmd;
    cmd.AddNonOption("duration", "seconds to simulate, warm-up included", duration);
    cmd.AddNonOption("warmup", "seconds not counted", warmup);
    cmd.AddNonOption("run", "number of the replication", run);
    cmd.AddValue("rtt", "round-trip propagation time in milliseconds", rtt);
    cmd.AddValue("queue", "droptail or red", queue);
    cmd.AddValue("flows", "flows, and the rate of the bottleneck with them", flows);
    cmd.AddValue("limit", "packets at the bottleneck, that in service included", limit);
    cmd.AddValue("measure", "watch the bottleneck", measure);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run);
    const double bottleneckBps = flows * FLOW_BPS;
    const bool red = queue == "red";

    // TCP: an ACK for each segment, and recovery by SACK without rate reduction. ns-3's default of
    // the smallest timeout is 1 s. Without SACK, ns-3 repeats the fast retransmit indefinitely
    // after a spurious timeout: at 200 ms, four of ten segments were duplicates.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    const auto left = CreateObject<Node>();
    const auto right = CreateObject<Node>();
    NodeContainer sources;
    NodeContainer targets;
    sources.Create(flows);
    targets.Create(flows);

    // The fastest routing of ns-3. Global and static routes are searched in a list for every
    // packet.
    Ipv4NixVectorHelper nix;
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.SetRoutingHelper(nix);
    internet.InstallAll();

    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    const auto connect = [&](Ptr<Node> a, Ptr<Node> b, double bps, double delay_ms, uint32_t limit) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
        link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(delay_ms * 1e3)));
        link.SetQueue("ns3::DropTailQueue",
                      "MaxSize",
                      QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, limit)));
        const auto devices = link.Install(a, b);
        const auto interfaces = address.Assign(devices);
        address.NewNetwork();
        // Assigning addresses installs FqCoDel, which is removed.
        TrafficControlHelper().Uninstall(devices);
        return std::make_pair(devices, interfaces);
    };

    // The packet in service is no longer in the queue of the device, so the limit is one packet
    // less. RED is a queue discipline above the device, and the queue of the device then contains a
    // single packet.
    const auto [bottleneck, unused] = connect(left, right, bottleneckBps, 0, red ? 1 : limit - 1);
    // The queue of the reverse path loses no packets, like all other queues.
    const auto back = DynamicCast<PointToPointNetDevice>(bottleneck.Get(1));
    back->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, 1000 * flows / 60));
    if (red)
    {
        // ns-2's defaults where ns-3's defaults differ: the largest probability is 1/50. A weight
        // of 0 means the automatic weight of ns-2, for which RED needs the rate.
        TrafficControlHelper control;
        control.SetRootQueueDisc("ns3::RedQueueDisc",
                                 "MinTh",
                                 DoubleValue(50),
                                 "MaxTh",
                                 DoubleValue(100),
                                 "LInterm",
                                 DoubleValue(10),
                                 "QW",
                                 DoubleValue(0),
                                 "LinkBandwidth",
                                 DataRateValue(DataRate(100'000'000)),
                                 "LinkDelay",
                                 TimeValue(Time(0)),
                                 "MaxSize",
                                 QueueSizeValue(QueueSize("2082p")));
        control.Install(bottleneck.Get(0));
    }

    // Each direction of a host's two links has a quarter of the round-trip time. The rates are
    // evenly spaced over 1 %.
    const double quarter_ms = rtt / 4.0;
    const auto start = CreateObject<UniformRandomVariable>();
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < flows; ++i)
    {
        const double rate = 2e6 * (1 + 0.01 * (i / (flows - 1.0) - 0.5));
        connect(sources.Get(i), left, rate, quarter_ms, 1'000'000);
        const auto exit = connect(right, targets.Get(i), 100e9, quarter_ms, 1'000'000);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 9));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(targets.Get(i)).Get(0)));
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(exit.second.GetAddress(1), 9));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        source.Install(sources.Get(i)).Start(Seconds(start->GetValue(0, 1)));
    }

    Monitor monitor;
    const auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
    if (measure)
    {
        const Callback<void, Ptr<const Packet>> enter([&monitor](Ptr<const Packet>) {
            monitor.Enter();
        });
        const Callback<void, Ptr<const Packet>> drop([&monitor](Ptr<const Packet>) {
            ++monitor.dropped;
        });
        const Callback<void, Ptr<const QueueDiscItem>> enterDisc([&monitor](auto) {
            monitor.Enter();
        });
        const Callback<void, Ptr<const QueueDiscItem>> dropDisc([&monitor](auto) {
            ++monitor.dropped;
        });
        if (red)
        {
            const auto disc =
                left->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice(device);
            disc->TraceConnectWithoutContext("Enqueue", enterDisc);
            disc->TraceConnectWithoutContext("Drop", dropDisc);
        }
        else
        {
            device->GetQueue()->TraceConnectWithoutContext("Enqueue", enter);
            // The layer above knows that the queue of the device is full, and drops the packet in
            // its place.
            left->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", drop);
        }
        device->TraceConnectWithoutContext("PhyTxEnd",
                                           Callback<void, Ptr<const Packet>>(
                                               [&monitor](Ptr<const Packet> packet) {
                                                   monitor.Leave(packet);
                                               }));
    }

    const auto delivered = [&sinks]() {
        uint64_t bytes = 0;
        for (const auto& sink : sinks)
        {
            bytes += sink->GetTotalRx();
        }
        return bytes / SEGMENT;
    };
    uint64_t early = 0;
    Simulator::Schedule(Seconds(warmup), [&]() {
        early = delivered();
        monitor.Reset();
    });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    std::cout << "delivered " << delivered() << ' ' << delivered() - early << '\n';
    if (measure)
    {
        monitor.Integrate();
        const double measured = duration - warmup;
        const double arrivals = monitor.accepted + monitor.dropped;
        std::cout << "bottleneck " << 8 * monitor.bytes / bottleneckBps / measured << ' '
                  << monitor.packetSeconds / measured << ' ' << monitor.dropped / arrivals << '\n';
    }
    Simulator::Destroy();
    return 0;
}
