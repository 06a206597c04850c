// ns-3: seven download stations in one 802.11b cell (paper 003, Table 2).
//
//   cell DURATION_S WARMUP_S RUN [--edca --apCwmin=31 ... --stationTxop=0]
//       [--stations=7 --flows=1 --queue=100] [--minRto=200]
//
// With --edca the cell uses 802.11e, with the given parameters of category best effort at the
// access point and at the stations.
//
// The program prints one line: "delivered", the number of segments in the whole run, and the number
// after the warm-up. No trace source is connected, and logging is off. The senders are at the
// access point, which is equivalent to a wire without delay and with an unlimited rate, and has no
// cost. Comments explain settings that differ from ns-3's defaults.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1460;
constexpr uint32_t WINDOW = 4;

// Access parameters of 802.11e. [slots, slots, slots, us]
struct Access
{
    uint32_t cwmin{31};
    uint32_t cwmax{1023};
    uint32_t aifsn{2};
    uint32_t txop{0};

    void Options(CommandLine& cmd, const std::string& who)
    {
        cmd.AddValue(who + "Cwmin", "smallest contention window", cwmin);
        cmd.AddValue(who + "Cwmax", "largest contention window", cwmax);
        cmd.AddValue(who + "Aifsn", "arbitration interframe space number", aifsn);
        cmd.AddValue(who + "Txop", "TXOP limit, a multiple of 32", txop);
    }

    void Apply(WifiMacHelper& mac) const
    {
        mac.SetEdca(AC_BE,
                    "MinCws",
                    StringValue(std::to_string(cwmin)),
                    "MaxCws",
                    StringValue(std::to_string(cwmax)),
                    "Aifsns",
                    StringValue(std::to_string(aifsn)),
                    "TxopLimits",
                    StringValue(std::to_string(txop) + "us"));
    }

    // Sets the parameters that the access point announces to its stations. Without this, stations
    // would use the access point's own parameters.
    void Advertise(WifiMacHelper& mac) const
    {
        const auto value = [](uint32_t number, const std::string& unit = "") {
            return StringValue("BE " + std::to_string(number) + unit);
        };
        mac.SetType("ns3::ApWifiMac",
                    "CwMinsForSta",
                    value(cwmin),
                    "CwMaxsForSta",
                    value(cwmax),
                    "AifsnsForSta",
                    value(aifsn),
                    "TxopLimitsForSta",
                    value(txop, "us"));
    }
};

// Delays the processing of a received packet until the MAC ACK is sent. Without this delay the TCP
// ACK would enter the queue while the medium still counts as idle, and would be sent without
// backoff.
bool
ReceiveLater(Ptr<Ipv4L3Protocol> ip,
             Ptr<NetDevice> device,
             Ptr<const Packet> packet,
             uint16_t protocol,
             const Address& from)
{
    Simulator::Schedule(MicroSeconds(20), [=]() {
        ip->Receive(device, packet, protocol, from, device->GetAddress(), NetDevice::PACKET_HOST);
    });
    return true;
}

} // namespace

int
main(int argc, char* argv[])
{
    double duration = 0;
    double warmup = 0;
    uint32_t run = 1;
    bool edca = false;
    uint32_t stations = 7;
    uint32_t flows = 1;
    uint32_t queue = 100;
    uint32_t minRto = 0;
    Access apAccess;
    Access stationAccess;
    CommandLine cmd;
    cmd.AddNonOption("duration", "seconds to simulate, warm-up included", duration);
    cmd.AddNonOption("warmup", "seconds not counted", warmup);
    cmd.AddNonOption("run", "number of the replication", run);
    cmd.AddValue("edca", "802.11e", edca);
    cmd.AddValue("stations", "stations", stations);
    cmd.AddValue("flows", "downloads of each station", flows);
    cmd.AddValue("queue", "packets that a queue holds", queue);
    cmd.AddValue("minRto", "least timeout [ms]; 0: 200, in 802.11e 1000", minRto);
    apAccess.Options(cmd, "ap");
    stationAccess.Options(cmd, "station");
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run);
    if (minRto == 0)
    {
        minRto = edca ? 1000 : 200;
    }

    // TCP: a window of four segments, and an ACK for each segment. Without options, a segment has
    // 1500 bytes and an ACK 40 bytes. With --edca the smallest timeout is 1 s, because some access
    // parameters cause long queues. SACK adds no bytes without a loss. Without SACK, ns-3 repeats
    // the fast retransmit indefinitely after a spurious timeout.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(edca));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(minRto)));
    // A drop-tail queue of 100 packets that does not discard packets by their age.
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));

    NodeContainer nodes;
    nodes.Create(stations + 1);
    const Ptr<Node> ap = nodes.Get(0);

    // All nodes receive all frames with equal power, so no frame survives a collision. Without the
    // preamble detection threshold, EIFS starts at the end of a collision.
    YansWifiPhyHelper phy;
    const auto channel = CreateObject<YansWifiChannel>();
    const auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-50);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    phy.SetChannel(channel);
    phy.DisablePreambleDetectionModel();

    // In an infrastructure cell, MAC ACKs are sent at 2 Mb/s; in an ad-hoc cell they would be sent
    // at 11 Mb/s. Stations find the cell by probing. After that, beacons are so rare that they use
    // hardly any air time or events.
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("DsssRate11Mbps"),
                                 "ControlMode",
                                 StringValue("DsssRate2Mbps"));
    WifiMacHelper mac;
    if (edca)
    {
        stationAccess.Advertise(mac);
        apAccess.Apply(mac);
    }
    mac.SetType("ns3::ApWifiMac",
                "QosSupported",
                BooleanValue(edca),
                "BeaconInterval",
                TimeValue(MicroSeconds(1024 * 50000)));
    auto devices = wifi.Install(phy, mac, ap);
    if (edca)
    {
        stationAccess.Apply(mac);
    }
    mac.SetType("ns3::StaWifiMac",
                "QosSupported",
                BooleanValue(edca),
                "ActiveProbing",
                BooleanValue(true));
    for (uint32_t i = 1; i <= stations; ++i)
    {
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
    }

    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.0.0");
    const auto interfaces = address.Assign(devices);
    // Assigning addresses installs FqCoDel, which is removed: the queue of the access point is
    // plain.
    TrafficControlHelper().Uninstall(devices);
    // There is no ARP. Association clears the neighbour caches, so they are filled after it.
    Simulator::Schedule(MilliSeconds(900), [] { NeighborCacheHelper().PopulateNeighborCache(); });

    // Stations process received packets later. With --edca the access point does so, too, because
    // its queue is often empty if it wins every contention.
    for (uint32_t i = edca ? 0 : 1; i <= stations; ++i)
    {
        const auto ip = nodes.Get(i)->GetObject<Ipv4L3Protocol>();
        devices.Get(i)->SetReceiveCallback(
            [ip](Ptr<NetDevice> device, Ptr<const Packet> p, uint16_t protocol, const Address& from) {
                return ReceiveLater(ip, device, p, protocol, from);
            });
    }

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 1; i <= stations; ++i)
    {
        const InetSocketAddress remote(interfaces.GetAddress(i), 9);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 9));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(i)).Get(0)));
        for (uint32_t k = 0; k < flows; ++k)
        {
            BulkSendHelper source("ns3::TcpSocketFactory", remote);
            source.SetAttribute("SendSize", UintegerValue(SEGMENT));
            source.Install(ap).Start(Seconds(1)); // stations are associated by then
        }
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
    Simulator::Schedule(Seconds(warmup), [&]() { early = delivered(); });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    std::cout << "delivered " << delivered() << ' ' << delivered() - early << '\n';
    Simulator::Destroy();
    return 0;
}
