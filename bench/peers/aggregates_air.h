// Models of frame reception for aggregates.cc, and counters of PPDUs.

#pragma once

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <string>

using namespace ns3;

namespace
{

// An error model without errors by noise or interference. It also decodes all headers: a station
// that cannot decode a header would not wait for EIFS.
class Clear : public ErrorRateModel
{
  private:
    double DoGetChunkSuccessRate(WifiMode,
                                 const WifiTxVector&,
                                 double,
                                 uint64_t,
                                 uint8_t,
                                 WifiPpduField,
                                 uint16_t) const override
    {
        return 1;
    }
};

// An error model in which no PPDU is received that overlaps another PPDU. ns-3 decides separately
// for each MPDU. If a short frame collides with the preamble of a long aggregate, ns-3 would
// receive the MPDUs after the end of the short frame. PPDUs that collide begin simultaneously, or 3
// us apart: a station after a collision counts its slots from another time than the others, and it
// takes 4 us to sense a preamble.
class Collisions : public ErrorModel
{
  public:
    void Hear(Ptr<WifiPhy> phy)
    {
        phy->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Collisions::Begin, this));
        phy->SetPostReceptionErrorModel(this);
        phy->SetErrorRateModel(Create<Clear>());
    }

  private:
    void Begin(WifiConstPsduMap psdus, WifiTxVector vector, double)
    {
        const auto end = Simulator::Now() +
                         WifiPhy::CalculateTxDuration(psdus, vector, WIFI_PHY_BAND_5GHZ);
        m_collided = Simulator::Now() < m_end;
        m_end = Max(m_end, end);
    }

    bool DoCorrupt(Ptr<Packet>) override
    {
        return m_collided;
    }

    void DoReset() override
    {
        m_collided = false;
    }

    Time m_end;
    bool m_collided{false};
};

// Counts PPDUs by their kind, and PPDUs that were not received by the reason.
class Watch
{
  public:
    explicit Watch(const NetDeviceContainer& devices)
    {
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            const auto phy = DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy();
            phy->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Watch::Sent, this));
            phy->TraceConnectWithoutContext("PhyRxPpduDrop", MakeCallback(&Watch::Lost, this));
        }
    }

    void Print() const
    {
        for (const auto& [kind, seen] : m_sent)
        {
            std::cout << "sent " << kind << ' ' << seen.ppdus << ' ' << seen.mpdus << ' '
                      << seen.longest.GetMicroSeconds() << '\n';
        }
        for (const auto& [reason, times] : m_lost)
        {
            std::cout << "lost " << reason << ' ' << times << '\n';
        }
    }

  private:
    struct Seen
    {
        uint64_t ppdus{0};
        uint64_t mpdus{0};
        Time longest;
    };

    void Sent(WifiConstPsduMap psdus, WifiTxVector vector, double)
    {
        const auto psdu = psdus.begin()->second;
        const std::string kind = psdu->GetHeader(0).GetTypeString();
        auto& seen = m_sent[kind];
        ++seen.ppdus;
        seen.mpdus += psdu->GetNMpdus();
        seen.longest = Max(seen.longest,
                           WifiPhy::CalculateTxDuration(psdus, vector, WIFI_PHY_BAND_5GHZ));
    }

    void Lost(Ptr<const WifiPpdu>, WifiPhyRxfailureReason reason)
    {
        ++m_lost[reason];
    }

    std::map<std::string, Seen> m_sent;
    std::map<WifiPhyRxfailureReason, uint64_t> m_lost;
};

} // namespace
