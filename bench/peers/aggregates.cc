// ns-3: a cell of 802.11n, ac or ax whose nodes aggregate.
//
//   aggregates DURATION_S WARMUP_S RUN --phy=ax --stations=5 --traffic=tcp --down --up
//
// Each station has a downlink flow, an uplink flow, or both. UDP is greedy: when a datagram is
// acknowledged, its source sends the next datagram. TCP is limited only by its window. No queue
// overflows, and frames are lost only in collisions.
//
// The program prints "delivered", the number of segments in the whole run, and the number after the
// warm-up. For each station it prints "station", bytes down and bytes up after the warm-up. With
// --survive, ns-3's own model of reception is used, and only the trace source that paces UDP is
// connected. With --watch, PPDUs are counted. Comments explain settings that differ from ns-3's
// defaults.

#include "aggregates_air.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1460;
constexpr uint32_t DATAGRAM = 1472;
// Number of datagrams that are queued for each receiver. It exceeds the window of a block
// acknowledgement.
constexpr uint32_t BACKLOG = 600;

// Parameters of a generation of 802.11.
struct Generation
{
    WifiStandard standard;
    std::string channel;
    std::string mode;
    uint32_t streams;
    uint32_t ampduBytes;
    uint32_t window;
};

const std::map<std::string, Generation> GENERATIONS{
    {"n", {WIFI_STANDARD_80211n, "{36, 20, BAND_5GHZ, 0}", "HtMcs15", 2, 65535, 64}},
    {"ac", {WIFI_STANDARD_80211ac, "{42, 80, BAND_5GHZ, 0}", "VhtMcs9", 1, 1048575, 64}},
    {"ax", {WIFI_STANDARD_80211ax, "{42, 80, BAND_5GHZ, 0}", "HeMcs11", 2, 6500631, 256}},
};

// Delays the processing of a received packet until the response is sent. Without this delay the TCP
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

Ptr<WifiNetDevice>
Wifi(const NetDeviceContainer& devices, uint32_t node)
{
    return DynamicCast<WifiNetDevice>(devices.Get(node));
}

// Sends a new datagram for each datagram that has been acknowledged.
class GreedySource
{
  public:
    GreedySource(Ptr<Node> from,
                 Ptr<WifiNetDevice> device,
                 InetSocketAddress to,
                 Mac48Address receiver)
        : m_socket(Socket::CreateSocket(from, UdpSocketFactory::GetTypeId())),
          m_receiver(receiver)
    {
        m_socket->Bind();
        m_socket->Connect(to);
        device->GetMac()->TraceConnectWithoutContext(
            "AckedMpdu",
            MakeCallback(&GreedySource::Acknowledged, this));
        Simulator::Schedule(Seconds(1), [this]() {
            for (uint32_t i = 0; i < BACKLOG; ++i)
            {
                Send();
            }
        });
    }

  private:
    void Acknowledged(Ptr<const WifiMpdu> mpdu)
    {
        const auto& header = mpdu->GetHeader();
        if (header.IsQosData() && header.GetAddr1() == m_receiver)
        {
            Send();
        }
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(DATAGRAM));
    }

    Ptr<Socket> m_socket;
    Mac48Address m_receiver;
};

} // namespace

int
main(int argc, char* argv[])
{
    double duration = 0;
    double warmup = 0;
    uint32_t run = 1;
    std::string name = "ax";
    uint32_t stations = 1;
    std::string traffic = "udp";
    bool down = false;
    bool up = false;
    uint32_t window = 512;
    uint32_t txop = 0;
    double rss = -40;
    bool watch = false;
    bool bar = true;
    bool survive = false;
    CommandLine cmd;
    cmd.AddNonOption("duration", "seconds to simulate, warm-up included", duration);
    cmd.AddNonOption("warmup", "seconds not counted", warmup);
    cmd.AddNonOption("run", "number of the replication", run);
    cmd.AddValue("phy", "n, ac or ax", name);
    cmd.AddValue("stations", "number of stations", stations);
    cmd.AddValue("traffic", "udp or tcp", traffic);
    cmd.AddValue("down", "a flow to each station", down);
    cmd.AddValue("up", "a flow from each station", up);
    cmd.AddValue("window", "window of TCP in segments", window);
    cmd.AddValue("txop", "TXOP limit of everybody in us, a multiple of 32", txop);
    cmd.AddValue("bar", "a BlockAckReq follows an aggregate without response", bar);
    cmd.AddValue("survive", "ns-3's own model of what is received", survive);
    cmd.AddValue("rss", "strength of whatever is received in dBm", rss);
    cmd.AddValue("watch", "count PPDUs", watch);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run);
    const auto& generation = GENERATIONS.at(name);
    const bool tcp = traffic == "tcp";

    // TCP: the buffer is half a segment larger than the window, since window scaling rounds the
    // window down. Without timestamps, a segment has 1500 bytes and an ACK 40 bytes.
    const uint32_t buffer = window * SEGMENT + SEGMENT / 2;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * buffer));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    // Drop-tail queues that never overflow, and that do not discard packets by their age.
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("100000p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(bar));
    Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(generation.window));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize", UintegerValue(generation.ampduBytes));

    NodeContainer nodes;
    nodes.Create(stations + 1);

    // All nodes receive all frames with equal power. The power is sufficient for 1024-QAM: at -50
    // dBm, one MPDU in a hundred would be lost at MCS 11. Without the preamble detection threshold,
    // EIFS starts at the end of a collision.
    YansWifiPhyHelper phy;
    const auto channel = CreateObject<YansWifiChannel>();
    const auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(rss);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    phy.SetChannel(channel);
    phy.DisablePreambleDetectionModel();
    phy.Set("ChannelSettings", StringValue(generation.channel));
    phy.Set("Antennas", UintegerValue(generation.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(generation.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(generation.streams));

    // Stations find the cell by probing. After that, beacons are so rare that they use hardly any
    // air time or events.
    WifiHelper wifi;
    wifi.SetStandard(generation.standard);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(generation.mode),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    if (name == "ax")
    {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(800)));
    }
    else
    {
        wifi.ConfigHtOptions("ShortGuardIntervalSupported", BooleanValue(true));
    }
    const std::string limit = std::to_string(txop) + "us";
    WifiMacHelper mac;
    mac.SetEdca(AC_BE,
                "MinCws",
                StringValue("15"),
                "MaxCws",
                StringValue("1023"),
                "Aifsns",
                StringValue("3"),
                "TxopLimits",
                StringValue(limit));
    mac.SetType("ns3::ApWifiMac",
                "BeaconInterval",
                TimeValue(MicroSeconds(1024 * 50000)),
                "CwMinsForSta",
                StringValue("BE 15"),
                "CwMaxsForSta",
                StringValue("BE 1023"),
                "AifsnsForSta",
                StringValue("BE 3"),
                "TxopLimitsForSta",
                StringValue("BE " + limit));
    auto devices = wifi.Install(phy, mac, nodes.Get(0));
    mac.SetType("ns3::StaWifiMac", "ActiveProbing", BooleanValue(true));
    for (uint32_t i = 1; i <= stations; ++i)
    {
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
    }

    const auto collisions = Create<Collisions>();
    for (uint32_t i = 0; !survive && i <= stations; ++i)
    {
        collisions->Hear(Wifi(devices, i)->GetPhy());
    }

    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    const auto interfaces = address.Assign(devices);
    // Assigning addresses installs FqCoDel, which is removed: the queues are plain.
    TrafficControlHelper().Uninstall(devices);
    // There is no ARP. Association clears the neighbour caches, so they are filled after it.
    Simulator::Schedule(MilliSeconds(900), [] { NeighborCacheHelper().PopulateNeighborCache(); });
    for (uint32_t i = 0; i <= stations; ++i)
    {
        const auto ip = nodes.Get(i)->GetObject<Ipv4L3Protocol>();
        devices.Get(i)->SetReceiveCallback(
            [ip](Ptr<NetDevice> device, Ptr<const Packet> p, uint16_t protocol, const Address& from) {
                return ReceiveLater(ip, device, p, protocol, from);
            });
    }

    // Flow 2 i is the downlink flow to station i + 1, and flow 2 i + 1 its uplink flow.
    std::vector<Ptr<PacketSink>> sinks(2 * stations);
    std::vector<std::unique_ptr<GreedySource>> sources;
    const std::string factory = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    for (uint32_t flow = 0; flow < 2 * stations; ++flow)
    {
        const bool upwards = flow % 2 == 1;
        if (!(upwards ? up : down))
        {
            continue;
        }
        const uint32_t station = flow / 2 + 1;
        const uint32_t from = upwards ? station : 0;
        const uint32_t to = upwards ? 0 : station;
        const uint16_t port = 9 + flow;
        const InetSocketAddress remote(interfaces.GetAddress(to), port);
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks[flow] = DynamicCast<PacketSink>(sink.Install(nodes.Get(to)).Get(0));
        if (tcp)
        {
            BulkSendHelper source(factory, remote);
            source.SetAttribute("SendSize", UintegerValue(SEGMENT));
            source.Install(nodes.Get(from)).Start(Seconds(1)); // stations are associated by then
        }
        else
        {
            sources.push_back(
                std::make_unique<GreedySource>(nodes.Get(from),
                                               Wifi(devices, from),
                                               remote,
                                               Wifi(devices, to)->GetMac()->GetAddress()));
        }
    }

    const auto received = [&sinks]() {
        std::vector<uint64_t> bytes;
        for (const auto& sink : sinks)
        {
            bytes.push_back(sink ? sink->GetTotalRx() : 0);
        }
        return bytes;
    };
    std::vector<uint64_t> early;
    std::unique_ptr<Watch> counts;
    Simulator::Schedule(Seconds(warmup), [&]() {
        early = received();
        if (watch)
        {
            counts = std::make_unique<Watch>(devices);
        }
    });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const auto late = received();
    uint64_t inAll = 0;
    uint64_t afterWarmup = 0;
    for (uint32_t flow = 0; flow < late.size(); ++flow)
    {
        inAll += late[flow];
        afterWarmup += late[flow] - early[flow];
    }
    const uint32_t payload = tcp ? SEGMENT : DATAGRAM;
    std::cout << "delivered " << inAll / payload << ' ' << afterWarmup / payload << '\n';
    for (uint32_t flow = 0; flow < late.size(); flow += 2)
    {
        std::cout << "station " << late[flow] - early[flow] << ' '
                  << late[flow + 1] - early[flow + 1] << '\n';
    }
    if (counts)
    {
        counts->Print();
    }
    Simulator::Destroy();
    return 0;
}
