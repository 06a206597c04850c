// ns-3: seven download stations in one 802.11b cell (paper 003, Table 2).
//
//   cell DURATION_S WARMUP_S SEED
//
// Prints one line: "delivered", segments in the whole run, segments after the
// warm-up. No trace source is connected, no log is on. The senders sit on the
// access point, which is the wire of zero delay and unlimited rate at no cost.
// Settings that differ from ns-3's defaults say why.

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

constexpr uint32_t STATIONS = 7;
constexpr uint32_t SEGMENT = 1460;
constexpr uint32_t WINDOW = 4;

// A station handles what it received only while it sends its MAC ACK. At zero
// delay the TCP ACK would enter the queue in the instant in which the medium
// still counts as idle, and would be sent without any backoff.
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
    if (argc != 4)
    {
        std::cerr << "usage: cell DURATION_S WARMUP_S SEED\n";
        return 2;
    }
    const double duration = std::stod(argv[1]);
    const double warmup = std::stod(argv[2]);
    RngSeedManager::SetSeed(std::stoul(argv[3]));

    // TCP: window of four segments, an ACK for each, no options, so that a segment
    // has 1500 bytes and an ACK 40. The least timeout is 1 s otherwise.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    // A drop-tail queue of 100 packets that does not discard by age.
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("100p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));

    NodeContainer nodes;
    nodes.Create(STATIONS + 1);
    const Ptr<Node> ap = nodes.Get(0);

    // Everybody hears everybody equally loud, so no frame survives a collision;
    // without the preamble threshold the end of a collision starts EIFS.
    YansWifiPhyHelper phy;
    const auto channel = CreateObject<YansWifiChannel>();
    const auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-50);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    phy.SetChannel(channel);
    phy.DisablePreambleDetectionModel();

    // An infrastructure cell, so that MAC ACKs go at 2 Mb/s: an independent one
    // would answer at 11. Stations find it by probing; after that the beacons are
    // so rare that they cost neither air time nor events.
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("DsssRate11Mbps"),
                                 "ControlMode",
                                 StringValue("DsssRate2Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac",
                "QosSupported",
                BooleanValue(false),
                "BeaconInterval",
                TimeValue(MicroSeconds(1024 * 50000)));
    auto devices = wifi.Install(phy, mac, ap);
    mac.SetType("ns3::StaWifiMac",
                "QosSupported",
                BooleanValue(false),
                "ActiveProbing",
                BooleanValue(true));
    for (uint32_t i = 1; i <= STATIONS; ++i)
    {
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
    }

    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    const auto interfaces = address.Assign(devices);
    // Addresses install FqCoDel; the queue of the access point is a plain one.
    TrafficControlHelper().Uninstall(devices);
    // No ARP; association clears the caches, so fill them after it.
    Simulator::Schedule(MilliSeconds(900), [] { NeighborCacheHelper().PopulateNeighborCache(); });

    for (uint32_t i = 1; i <= STATIONS; ++i)
    {
        const auto ip = nodes.Get(i)->GetObject<Ipv4L3Protocol>();
        devices.Get(i)->SetReceiveCallback(
            [ip](Ptr<NetDevice> device, Ptr<const Packet> p, uint16_t protocol, const Address& from) {
                return ReceiveLater(ip, device, p, protocol, from);
            });
    }

    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 1; i <= STATIONS; ++i)
    {
        const InetSocketAddress remote(interfaces.GetAddress(i), 9);
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 9));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(i)).Get(0)));
        BulkSendHelper source("ns3::TcpSocketFactory", remote);
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        source.Install(ap).Start(Seconds(1)); // associated by then
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
