// The bench scenarios in ns-3, for benches/compare.py.
//
//   ns3_bench bulk
//   ns3_bench signalling
//   ns3_bench dumbbell FLOWS [cubic | bbr]
//   ns3_bench cell STATIONS SECONDS
//   ns3_bench wimax STATIONS SECONDS
//
// Prints one JSON object. `cpu_s` is the process's CPU time around Simulator::Run alone; the world is built
// before, and torn down after. What ns-3 could do slowly by choice is switched off: no trace source is
// connected, no queue discipline is installed, timestamps are off, and in the dumbbell a router finds a route by
// hashing (all routing protocols of ns-3 search linearly among the router's interfaces). docs/performance.md
// lists it all.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"
#include "ns3/wimax-module.h"

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t BULK_MSS_BYTES = 1000;
constexpr uint32_t MESSAGE_BYTES = 200;
constexpr uint16_t PORT = 5000;

/** TCP whose back-off ends at one second: ns-3 has 60 s built in and no attribute for it. */
class CappedTcpSocket : public TcpSocketBase
{
  protected:
    // The base class doubles m_rto and re-arms with the result, so the cap is applied to its half before.
    void ReTxTimeout() override
    {
        if (m_rto.Get() > MilliSeconds(500))
        {
            m_rto = MilliSeconds(500);
        }
        TcpSocketBase::ReTxTimeout();
    }

    Ptr<TcpSocketBase> Fork() override
    {
        return CopyObject<CappedTcpSocket>(Ptr<CappedTcpSocket>(this));
    }
};

/** Routes by exact destination, with a default: one hash look-up a packet. */
class HashRouting : public Ipv4RoutingProtocol
{
  public:
    void SetDefault(Ptr<Ipv4Route> route)
    {
        m_default = route;
    }

    void Add(Ipv4Address destination, Ptr<Ipv4Route> route)
    {
        m_routes[destination.Get()] = route;
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>,
                               const Ipv4Header& header,
                               Ptr<NetDevice>,
                               Socket::SocketErrno& error) override
    {
        auto route = Find(header.GetDestination());
        error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
        return route;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback&) override
    {
        const auto interface = m_ipv4->GetInterfaceForDevice(device);
        if (m_ipv4->IsDestinationAddress(header.GetDestination(), interface))
        {
            deliver(packet, header, interface);
            return true;
        }
        auto route = Find(header.GetDestination());
        if (route)
        {
            forward(route, packet, header);
        }
        return route != nullptr;
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    Ptr<Ipv4Route> Find(Ipv4Address destination) const
    {
        const auto found = m_routes.find(destination.Get());
        return found == m_routes.end() ? m_default : found->second;
    }

    Ptr<Ipv4> m_ipv4;
    Ptr<Ipv4Route> m_default;
    std::unordered_map<uint32_t, Ptr<Ipv4Route>> m_routes;
};

class HashRoutingHelper : public Ipv4RoutingHelper
{
  public:
    HashRoutingHelper* Copy() const override
    {
        return new HashRoutingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override
    {
        return CreateObject<HashRouting>();
    }
};

Ptr<HashRouting>
RoutingOf(Ptr<Node> node)
{
    return DynamicCast<HashRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
}

double
CpuSeconds()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double
WallSeconds()
{
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void
SetTcpDefaults(uint32_t mssBytes)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    // SACK and PRR recovery, the defaults of ns-3, stay on: without them it needs more CPU for each segment
    // delivered, for it then sends many a segment twice.
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mssBytes));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 * 1024 * 1024));
}

PointToPointHelper
MakeLink(const std::string& rate, const std::string& delay, uint32_t queuePackets)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    // Without it no queue discipline is put before the device: its drop-tail queue is the only one.
    link.DisableFlowControl();
    link.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queuePackets)));
    return link;
}

Ptr<RateErrorModel>
AddLoss(Ptr<NetDevice> receiver, double probability)
{
    auto loss = CreateObject<RateErrorModel>();
    loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    loss->SetRate(probability);
    receiver->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    return loss;
}

/** A bulk flow that starts at `start`; returns its sink. */
Ptr<PacketSink>
AddBulkFlow(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, Time start)
{
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    source.SetAttribute("SendSize", UintegerValue(BULK_MSS_BYTES));
    source.Install(from).Start(start);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    auto applications = sink.Install(to);
    applications.Start(Seconds(0));
    return DynamicCast<PacketSink>(applications.Get(0));
}

/** Runs until `end` and prints what it cost and what it did. */
void
RunAndPrint(Time end, uint32_t unitBytes, double trafficS, const std::vector<Ptr<PacketSink>>& sinks)
{
    Simulator::Stop(end);
    const double wall = WallSeconds();
    const double cpu = CpuSeconds();
    Simulator::Run();
    const double cpuS = CpuSeconds() - cpu;
    const double wallS = WallSeconds() - wall;
    uint64_t deliveredBytes = 0;
    for (const auto& sink : sinks)
    {
        deliveredBytes += sink->GetTotalRx();
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"cpu_s\": " << cpuS << ", \"wall_s\": " << wallS
              << ", \"events\": " << Simulator::GetEventCount()
              << ", \"delivered_bytes\": " << deliveredBytes
              << ", \"delivered_units\": " << deliveredBytes / unitBytes
              << ", \"goodput_bps\": " << 8.0 * static_cast<double>(deliveredBytes) / trafficS
              << ", \"max_rss_bytes\": " << usage.ru_maxrss * 1024 << "}" << std::endl;
    Simulator::Destroy();
}

void
Bulk()
{
    SetTcpDefaults(BULK_MSS_BYTES);
    NodeContainer nodes(2);
    auto devices = MakeLink("10Mbps", "20ms", 100).Install(nodes);
    AddLoss(devices.Get(1), 0.01);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    auto sink = AddBulkFlow(nodes.Get(0), nodes.Get(1), interfaces.GetAddress(1), PORT, Seconds(0));
    RunAndPrint(Seconds(300), BULK_MSS_BYTES, 300, {sink});
}

void
SendMessage(Ptr<Socket> socket, Time stop)
{
    if (Simulator::Now() < stop)
    {
        socket->Send(Create<Packet>(MESSAGE_BYTES));
        Simulator::Schedule(MilliSeconds(500), &SendMessage, socket, stop);
    }
}

void
Signalling()
{
    SetTcpDefaults(1280);
    NodeContainer nodes(2);
    auto devices = MakeLink("100Mbps", "20ms", 100).Install(nodes);
    for (uint32_t i = 0; i < 2; ++i)
    {
        auto loss = AddLoss(devices.Get(i), 0.3);
        loss->Disable();
        Simulator::Schedule(Seconds(5), &ErrorModel::Enable, loss);
    }
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);

    auto tcp = nodes.Get(0)->GetObject<TcpL4Protocol>();
    auto socket = CreateObject<CappedTcpSocket>();
    socket->SetNode(nodes.Get(0));
    socket->SetTcp(tcp);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(CreateObject<TcpNewReno>());
    socket->SetRecoveryAlgorithm(CreateObject<TcpPrrRecovery>());
    socket->SetAttribute("TcpNoDelay", BooleanValue(true));
    tcp->AddSocket(socket);

    PacketSinkHelper helper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    auto applications = helper.Install(nodes.Get(1));
    auto sink = DynamicCast<PacketSink>(applications.Get(0));
    const InetSocketAddress peer(interfaces.GetAddress(1), PORT);
    Simulator::ScheduleWithContext(nodes.Get(0)->GetId(), Seconds(4), [socket, peer]() {
        socket->Bind();
        socket->Connect(peer);
    });
    Simulator::ScheduleWithContext(nodes.Get(0)->GetId(), Seconds(5), [socket]() {
        SendMessage(socket, Seconds(4005));
    });
    RunAndPrint(Seconds(4005), MESSAGE_BYTES, 4000, {sink});
}

void
Dumbbell(uint32_t flows, const std::string& control)
{
    SetTcpDefaults(BULK_MSS_BYTES);
    if (control == "cubic")
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    }
    else if (control == "bbr")
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpBbr::GetTypeId()));
    }
    NodeContainer routers(2);
    NodeContainer sources(flows);
    NodeContainer sinks(flows);
    InternetStackHelper stack;
    stack.SetRoutingHelper(HashRoutingHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(routers);
    stack.Install(sources);
    stack.Install(sinks);
    // A router checks only the address of the interface a packet came in by, not all of its own.
    for (uint32_t i = 0; i < 2; ++i)
    {
        routers.Get(i)->GetObject<Ipv4>()->SetAttribute("StrongEndSystemModel", BooleanValue(true));
    }

    auto bottleneck = MakeLink("100Mbps", "10ms", 300);
    auto access = MakeLink("1Gbps", "1ms", 300);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    struct Hop
    {
        NetDeviceContainer devices;
        Ipv4InterfaceContainer interfaces;

        /** The route out of end `out` (0 or 1) to `destination`. */
        Ptr<Ipv4Route> Route(uint32_t out, Ipv4Address destination) const
        {
            auto route = Create<Ipv4Route>();
            route->SetDestination(destination);
            route->SetSource(interfaces.GetAddress(out));
            route->SetGateway(interfaces.GetAddress(1 - out));
            route->SetOutputDevice(devices.Get(out));
            return route;
        }
    };
    auto connect = [&](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b) {
        Hop hop{link.Install(a, b), {}};
        hop.interfaces = addresses.Assign(hop.devices);
        addresses.NewNetwork();
        return hop;
    };
    const auto left = routers.Get(0);
    const auto right = routers.Get(1);
    const auto middle = connect(bottleneck, left, right);
    std::vector<Ptr<PacketSink>> applications;
    for (uint32_t i = 0; i < flows; ++i)
    {
        const auto source = sources.Get(i);
        const auto sink = sinks.Get(i);
        const auto first = connect(access, source, left);
        const auto last = connect(access, right, sink);
        const auto sourceAddress = first.interfaces.GetAddress(0);
        const auto sinkAddress = last.interfaces.GetAddress(1);
        RoutingOf(source)->SetDefault(first.Route(0, sinkAddress));
        RoutingOf(left)->Add(sinkAddress, middle.Route(0, sinkAddress));
        RoutingOf(right)->Add(sinkAddress, last.Route(0, sinkAddress));
        RoutingOf(sink)->SetDefault(last.Route(1, sourceAddress));
        RoutingOf(right)->Add(sourceAddress, middle.Route(1, sourceAddress));
        RoutingOf(left)->Add(sourceAddress, first.Route(1, sourceAddress));
        // Starts are spread over the first second.
        applications.push_back(
            AddBulkFlow(source, sink, sinkAddress, PORT, MicroSeconds(uint64_t{1000000} * i / flows)));
    }
    RunAndPrint(Seconds(60), BULK_MSS_BYTES, 60, applications);
}

/** Stations of 802.11g that always have something to send to the access point, UDP, all at one place. */
void
Cell(uint32_t stations, uint32_t seconds)
{
    constexpr uint32_t payloadBytes = 1472;
    constexpr uint64_t offeredBps = 36'000'000;
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("100p")));
    NodeContainer accessPoint(1);
    NodeContainer all(accessPoint);
    NodeContainer others(stations);
    all.Add(others);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-40));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211g);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("ErpOfdmRate54Mbps"),
                                 "ControlMode",
                                 StringValue("ErpOfdmRate24Mbps"));
    WifiMacHelper mac;
    const SsidValue ssid(Ssid("cell"));
    mac.SetType("ns3::ApWifiMac", "Ssid", ssid, "QosSupported", BooleanValue(false));
    auto accessPointDevice = wifi.Install(phy, mac, accessPoint);
    mac.SetType("ns3::StaWifiMac", "Ssid", ssid, "QosSupported", BooleanValue(false));
    auto devices = wifi.Install(phy, mac, others);
    MobilityHelper().Install(all);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(all);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    const auto address = addresses.Assign(accessPointDevice).GetAddress(0);
    addresses.Assign(devices);
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    auto sinks = sink.Install(accessPoint);
    for (uint32_t i = 0; i < stations; ++i)
    {
        OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(address, PORT));
        source.SetConstantRate(DataRate(offeredBps / stations), payloadBytes);
        source.Install(others.Get(i)).Start(Seconds(0.01 * i));
    }
    RunAndPrint(Seconds(seconds), payloadBytes, seconds, {DynamicCast<PacketSink>(sinks.Get(0))});
}

/**
 * A cell of 802.16: each station sends to the base station by unsolicited grants, and gets as much by best effort, UDP.
 * Stations have five seconds to enter.
 */
void
Wimax(uint32_t stations, uint32_t seconds)
{
    constexpr uint32_t payloadBytes = 1000;
    constexpr double entryS = 5;
    constexpr double frameS = 0.01;
    constexpr double intervalS = 0.012;
    NodeContainer baseStation(1);
    NodeContainer others(stations);
    WimaxHelper wimax;
    const auto phy = WimaxHelper::SIMPLE_PHY_TYPE_OFDM;
    const auto scheduler = WimaxHelper::SCHED_TYPE_SIMPLE;
    auto baseDevice =
        wimax.Install(baseStation, WimaxHelper::DEVICE_TYPE_BASE_STATION, phy, scheduler, frameS);
    auto devices =
        wimax.Install(others, WimaxHelper::DEVICE_TYPE_SUBSCRIBER_STATION, phy, scheduler, frameS);
    MobilityHelper mobility;
    mobility.Install(baseStation);
    mobility.Install(others);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(baseStation);
    stack.Install(others);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    const auto baseAddress = addresses.Assign(baseDevice).GetAddress(0);
    const auto stationAddresses = addresses.Assign(devices);
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < stations; ++i)
    {
        auto device = DynamicCast<SubscriberStationNetDevice>(devices.Get(i));
        device->SetModulationType(WimaxPhy::MODULATION_TYPE_QAM64_34);
        for (const bool up : {true, false})
        {
            const auto from = up ? others.Get(i) : baseStation.Get(0);
            const auto to = up ? baseStation.Get(0) : others.Get(i);
            const auto address = up ? baseAddress : stationAddresses.GetAddress(i);
            const auto port = static_cast<uint16_t>(PORT + i);
            PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(address, port));
            sinks.push_back(DynamicCast<PacketSink>(sink.Install(to).Get(0)));
            UdpClientHelper client(address, port);
            client.SetAttribute("Interval", TimeValue(Seconds(intervalS)));
            client.SetAttribute("PacketSize", UintegerValue(payloadBytes));
            client.SetAttribute("MaxPackets", UintegerValue(1'000'000'000));
            client.Install(from).Start(Seconds(entryS + intervalS * i / stations));
            const Ipv4Address anywhere("0.0.0.0");
            const Ipv4Mask exactly("255.255.255.255");
            IpcsClassifierRecord
                classifier(anywhere, Ipv4Mask("0.0.0.0"), address, exactly, 0, 65000, port, port, 17, 1);
            device->AddServiceFlow(wimax.CreateServiceFlow(
                up ? ServiceFlow::SF_DIRECTION_UP : ServiceFlow::SF_DIRECTION_DOWN,
                up ? ServiceFlow::SF_TYPE_UGS : ServiceFlow::SF_TYPE_BE,
                classifier));
        }
    }
    RunAndPrint(Seconds(entryS + seconds), payloadBytes, seconds, sinks);
}

} // namespace

int
main(int argc, char* argv[])
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    const std::string control = argc > 3 ? argv[3] : "";
    if (scenario == "bulk" && argc == 2)
    {
        Bulk();
    }
    else if (scenario == "signalling" && argc == 2)
    {
        Signalling();
    }
    else if (scenario == "dumbbell" && (argc == 3 || (argc == 4 && (control == "cubic" || control == "bbr"))) &&
             std::atoi(argv[2]) > 0)
    {
        Dumbbell(static_cast<uint32_t>(std::atoi(argv[2])), control);
    }
    else if (scenario == "cell" && argc == 4 && std::atoi(argv[2]) > 0 && std::atoi(argv[3]) > 0)
    {
        Cell(static_cast<uint32_t>(std::atoi(argv[2])), static_cast<uint32_t>(std::atoi(argv[3])));
    }
    else if (scenario == "wimax" && argc == 4 && std::atoi(argv[2]) > 0 && std::atoi(argv[3]) > 0)
    {
        Wimax(static_cast<uint32_t>(std::atoi(argv[2])), static_cast<uint32_t>(std::atoi(argv[3])));
    }
    else
    {
        std::cerr << "usage: ns3_bench bulk | signalling | dumbbell FLOWS [cubic | bbr] | cell STATIONS SECONDS"
                     " | wimax STATIONS SECONDS"
                  << std::endl;
        return 2;
    }
    return 0;
}
