// TCP in ns-3 as all comparisons use it: the settings of every connection, and a source that always has data to send.
// docs/validation.md says which settings differ from ns-3's defaults, and why.

#pragma once

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <cstdlib>
#include <iostream>
#include <string>

constexpr uint32_t MSS_BYTES = 1000;

inline ns3::Ptr<ns3::TcpCongestionOps>
CongestionControl(const std::string& variant)
{
    using namespace ns3;
    if (variant == "newreno" || variant == "sack")
    {
        return CreateObject<TcpNewReno>();
    }
    if (variant == "vegas")
    {
        return CreateObject<TcpVegas>();
    }
    if (variant == "cubic")
    {
        return CreateObject<TcpCubic>();
    }
    std::cerr << "ns3: there is no variant " << variant << std::endl;
    std::exit(2);
}

inline void
SetTcpDefaults(const std::string& variant, double minRtoS, uint32_t ackEvery)
{
    using namespace ns3;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(CongestionControl(variant)->GetInstanceTypeId()));
    // Classic recovery halves the window at once, as RFC 6582 and RFC 6675 do; ns-3's default is proportional rate
    // reduction (RFC 6937).
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(variant == "sack" || variant == "cubic"));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(minRtoS)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(Seconds(3)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(3)));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000000));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(ackEvery));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6291000));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6291000));
    Config::SetDefault("ns3::TcpVegas::Alpha", UintegerValue(2));
    Config::SetDefault("ns3::TcpVegas::Beta", UintegerValue(4));
    Config::SetDefault("ns3::TcpVegas::Gamma", UintegerValue(1));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
}

/** Keeps the socket's buffer full. */
inline void
Fill(ns3::Ptr<ns3::Socket> socket, uint32_t)
{
    while (socket->GetTxAvailable() >= MSS_BYTES && socket->Send(ns3::Create<ns3::Packet>(MSS_BYTES)) > 0)
    {
    }
}
