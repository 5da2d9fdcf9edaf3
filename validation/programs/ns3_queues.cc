// Flows through one queue discipline of ns-3, for validation/queues.py.
//
//   ns3_queues --discipline=pie --variant=sack --starts=NS,NS --seed=1 ...
//
// Bulk TCP flows (`starts`) or flows of constant rate (`streams`) share a link with a call. Prints one JSON object: octets
// delivered, drops and the call's delays. docs/validation.md says which settings differ from ns-3's defaults, and why.

#include "ns3_tcp.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/**
 * A device whose transmitter takes packets out of a queue discipline by itself. ns-3's traffic control has a queue of the device
 * between the two, in which a packet waits that no discipline sees any more.
 */
class ManagedDevice : public PointToPointNetDevice
{
  public:
    explicit ManagedDevice(Ptr<QueueDisc> discipline)
        : m_discipline(discipline)
    {
    }

    void NotifyConstructionCompleted() override
    {
        PointToPointNetDevice::NotifyConstructionCompleted();
        TraceConnectWithoutContext("PhyTxEnd", Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) {
                                       // Not at once: the device is not done with the packet yet.
                                       Simulator::ScheduleNow(&ManagedDevice::Free, this);
                                   }));
    }

    bool Send(Ptr<Packet> packet, const Address& to, uint16_t protocol) override
    {
        Ipv4Header header;
        packet->RemoveHeader(header);
        m_discipline->Enqueue(Create<Ipv4QueueDiscItem>(packet, to, protocol, header));
        Serve();
        return true;
    }

  private:
    void Free()
    {
        m_busy = false;
        Serve();
    }

    void Serve()
    {
        if (m_busy)
        {
            return;
        }
        if (Ptr<QueueDiscItem> item = m_discipline->Dequeue())
        {
            m_busy = true;
            item->AddHeader();
            PointToPointNetDevice::Send(item->GetPacket(), item->GetAddress(), item->GetProtocol());
        }
    }

    Ptr<QueueDisc> m_discipline;
    bool m_busy{false};
};

/** The discipline with the values of Roamsim's defaults. */
Ptr<QueueDisc>
Discipline(const std::string& name, double rateBps, uint32_t seed)
{
    const auto packets = [](const char* size) { return QueueSizeValue(QueueSize(size)); };
    if (name == "drop_tail")
    {
        return CreateObjectWithAttributes<FifoQueueDisc>("MaxSize", packets("100p"));
    }
    if (name == "red")
    {
        Config::SetDefault("ns3::RedQueueDisc::Wait", BooleanValue(false));
        Config::SetDefault("ns3::RedQueueDisc::LInterm", DoubleValue(10));
        Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(500));
        Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", DataRateValue(DataRate(static_cast<uint64_t>(rateBps))));
        return CreateObjectWithAttributes<RedQueueDisc>("MaxSize", packets("100p"));
    }
    if (name == "codel")
    {
        return CreateObjectWithAttributes<CoDelQueueDisc>("MaxSize", packets("1000p"));
    }
    if (name == "pie")
    {
        Config::SetDefault("ns3::PieQueueDisc::MaxBurstAllowance", TimeValue(MilliSeconds(150)));
        Config::SetDefault("ns3::PieQueueDisc::UseDerandomization", BooleanValue(true));
        return CreateObjectWithAttributes<PieQueueDisc>("MaxSize", packets("1000p"));
    }
    if (name == "fq_codel")
    {
        Config::SetDefault("ns3::FqCoDelQueueDisc::UseEcn", BooleanValue(false));
        Config::SetDefault("ns3::FqCoDelQueueDisc::Perturbation", UintegerValue(seed));
        auto discipline = CreateObjectWithAttributes<FqCoDelQueueDisc>("MaxSize", packets("10240p"));
        discipline->SetQuantum(1500);
        return discipline;
    }
    std::cerr << "ns3_queues: there is no discipline " << name << std::endl;
    std::exit(2);
}

/** Numbers between commas. */
std::vector<uint64_t>
Numbers(const std::string& text)
{
    std::vector<uint64_t> numbers;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
    {
        numbers.push_back(std::stoull(word));
    }
    return numbers;
}

/** Sends a datagram, and so on each interval, while it is before `stop`. */
void
SendFrom(Ptr<Socket> socket, uint32_t bytes, Time interval, Time stop)
{
    if (Simulator::Now() < stop)
    {
        auto packet = Create<Packet>(bytes);
        TimestampTag tag(Simulator::Now());
        packet->AddByteTag(tag);
        socket->Send(packet);
        Simulator::Schedule(interval, &SendFrom, socket, bytes, interval, stop);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string name = "drop_tail";
    std::string variant = "sack";
    std::string startsNs;
    std::string streamsNs;
    uint64_t thinStartNs = 0;
    uint64_t thinIntervalNs = 20'000'000;
    uint64_t streamIntervalNs = 8'000'000;
    uint32_t thinBytes = 172;
    uint32_t seed = 1;
    double rateBps = 5e6;
    double delayS = 0.02;
    double durationS = 60;
    CommandLine words(__FILE__);
    words.AddValue("discipline", "Roamsim's name of the discipline", name);
    words.AddValue("variant", "of TCP", variant);
    words.AddValue("starts", "of the bulk flows over TCP", startsNs);
    words.AddValue("streams", "begin and end of each constant rate, one after the other", streamsNs);
    words.AddValue("stream_interval", "of their datagrams, of 1000 octets", streamIntervalNs);
    words.AddValue("thin_start", "of the thin flow", thinStartNs);
    words.AddValue("thin_interval", "of its datagrams", thinIntervalNs);
    words.AddValue("thin_bytes", "of their payload", thinBytes);
    words.AddValue("rate", "bits per second of the link", rateBps);
    words.AddValue("delay", "seconds of the link", delayS);
    words.AddValue("duration", "seconds of the run", durationS);
    words.AddValue("seed", "of random numbers", seed);
    words.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    SetTcpDefaults(variant, 0.2, 1);

    NodeContainer nodes(2);
    auto discipline = Discipline(name, rateBps, seed);
    discipline->Initialize();
    auto forward = CreateObject<ManagedDevice>(discipline);
    auto backward = CreateObject<PointToPointNetDevice>();
    auto channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(Seconds(delayS)));
    NetDeviceContainer devices;
    for (Ptr<PointToPointNetDevice> device : {Ptr<PointToPointNetDevice>(forward), backward})
    {
        device->SetAddress(Mac48Address::Allocate());
        // PPP adds 2 bytes to each packet; the rate makes up for them on a full-sized segment.
        device->SetDataRate(DataRate(static_cast<uint64_t>(rateBps * 1042 / 1040)));
        device->SetQueue(CreateObjectWithAttributes<DropTailQueue<Packet>>("MaxSize", QueueSizeValue(QueueSize("1000p"))));
        device->Attach(channel);
        nodes.Get(devices.GetN())->AddDevice(device);
        devices.Add(device);
    }
    InternetStackHelper internet;
    internet.Install(nodes);
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    // The helper gives each interface traffic control, with a discipline only where the device has flow control: neither has.

    uint64_t deliveredBytes = 0;
    uint16_t port = 5000;
    const Time end = Seconds(durationS);
    const auto source = nodes.Get(0);
    for (uint64_t startNs : Numbers(startsNs))
    {
        auto sinks = PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port)).Install(nodes.Get(1));
        sinks.Get(0)->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [&](Ptr<const Packet> packet, const Address&) { deliveredBytes += packet->GetSize(); }));
        auto socket = Socket::CreateSocket(source, TcpSocketFactory::GetTypeId());
        socket->SetConnectCallback(MakeCallback(+[](Ptr<Socket> connected) { Fill(connected, 0); }),
                                   MakeNullCallback<void, Ptr<Socket>>());
        socket->SetSendCallback(MakeCallback(&Fill));
        const InetSocketAddress peer(interfaces.GetAddress(1), port++);
        Simulator::ScheduleWithContext(source->GetId(), NanoSeconds(startNs), [socket, peer]() {
            socket->Bind();
            socket->Connect(peer);
        });
    }
    std::vector<Ptr<Socket>> listening;
    const auto datagrams = [&](uint64_t startNs, uint64_t stopNs, uint64_t intervalNs, uint32_t bytes, auto receive) {
        auto sink = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback(Callback<void, Ptr<Socket>>([receive](Ptr<Socket> from) {
            while (Ptr<Packet> packet = from->Recv())
            {
                receive(packet);
            }
        }));
        auto socket = Socket::CreateSocket(source, UdpSocketFactory::GetTypeId());
        socket->Connect(InetSocketAddress(interfaces.GetAddress(1), port++));
        listening.push_back(sink);
        Simulator::ScheduleWithContext(source->GetId(),
                                       NanoSeconds(startNs),
                                       &SendFrom,
                                       socket,
                                       bytes,
                                       NanoSeconds(intervalNs),
                                       NanoSeconds(stopNs));
    };
    const auto streams = Numbers(streamsNs);
    for (size_t i = 0; i + 1 < streams.size(); i += 2)
    {
        datagrams(streams[i], streams[i + 1], streamIntervalNs, MSS_BYTES, [&](Ptr<Packet> packet) {
            deliveredBytes += packet->GetSize();
        });
    }
    std::vector<double> delaysS;
    datagrams(thinStartNs, end.GetNanoSeconds(), thinIntervalNs, thinBytes, [&](Ptr<Packet> packet) {
        TimestampTag tag;
        packet->FindFirstMatchingByteTag(tag);
        delaysS.push_back((Simulator::Now() - tag.GetTimestamp()).GetSeconds());
    });

    Simulator::Stop(end);
    Simulator::Run();
    std::sort(delaysS.begin(), delaysS.end());
    double sumS = 0;
    for (double delay : delaysS)
    {
        sumS += delay;
    }
    const auto arrived = delaysS.size();
    const auto rank = static_cast<size_t>(std::ceil(0.95 * arrived));
    std::printf("{\"delivered_bytes\": %llu, \"drops\": %u, \"mean_delay_s\": %.9f, \"p95_delay_s\": %.9f}\n",
                static_cast<unsigned long long>(deliveredBytes),
                discipline->GetStats().nTotalDroppedPackets,
                arrived ? sumS / arrived : 0,
                arrived ? delaysS[rank - 1] : 0);
    Simulator::Destroy();
    return 0;
}
