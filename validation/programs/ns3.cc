// One bulk flow over one link in ns-3, for validation/compare.py.
//
//   ns3 KEY=VALUE...
//
// The keys are those of validation/runs.py. Prints one JSON object. docs/validation.md says which settings
// differ from ns-3's defaults, and why.

#include "ns3_tcp.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <list>
#include <map>
#include <sstream>
#include <string>

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 5000;

/** TCP that counts the expiries of its retransmission timer. */
class CountingTcpSocket : public TcpSocketBase
{
  public:
    uint32_t m_timeouts{0};

  protected:
    // The timer also runs out when everything has been acknowledged; the base class then does nothing.
    void ReTxTimeout() override
    {
        if (m_state < SYN_SENT || m_txBuffer->HeadSequence() < m_tcb->m_highTxMark)
        {
            ++m_timeouts;
        }
        TcpSocketBase::ReTxTimeout();
    }

    Ptr<TcpSocketBase> Fork() override
    {
        return CopyObject<CountingTcpSocket>(Ptr<CountingTcpSocket>(this));
    }
};

/** Loses everything that arrives from `from` until `until`. */
class OutageErrorModel : public ErrorModel
{
  public:
    OutageErrorModel(Time from, Time until)
        : m_from(from),
          m_until(until)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        return m_from <= Simulator::Now() && Simulator::Now() < m_until;
    }

    void DoReset() override
    {
    }

    Time m_from;
    Time m_until;
};

/** The settings of a run: KEY=VALUE. */
class Settings
{
  public:
    Settings(int argc, char* argv[])
    {
        for (int i = 1; i < argc; ++i)
        {
            const std::string word = argv[i];
            const auto equals = word.find('=');
            if (equals == std::string::npos || !m_values.count(word.substr(0, equals)))
            {
                std::cerr << "ns3: " << word << " is no KEY=VALUE of a run" << std::endl;
                std::exit(2);
            }
            m_values[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }

    std::string Text(const std::string& key) const
    {
        return m_values.at(key);
    }

    double Number(const std::string& key) const
    {
        return std::stod(m_values.at(key));
    }

  private:
    std::map<std::string, std::string> m_values{
        {"variant", "newreno"},
        {"ack_every", "1"},
        {"min_rto_s", "0.2"},
        {"loss", "0"},
        {"rate_bps", "10000000"},
        {"delay_s", "0.02"},
        {"queue_packets", "100"},
        {"ssthresh", "0"},
        {"outage_s", "0"},
        {"outage_for_s", "0"},
        {"drop", ""},
        {"duration_s", "100"},
        {"seed", "1"},
        {"after_s", "-1"},
        {"mark_bytes", "-1"},
    };
};

void
SetDefaults(const Settings& run)
{
    const std::string variant = run.Text("variant");
    // Runs of one seed are independent streams; small seeds of their own would all begin with values near zero.
    RngSeedManager::SetRun(static_cast<uint64_t>(run.Number("seed")));
    SetTcpDefaults(variant, run.Number("min_rto_s"), static_cast<uint32_t>(run.Number("ack_every")));
    if (run.Number("ssthresh") > 0)
    {
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(static_cast<uint32_t>(run.Number("ssthresh")) * MSS_BYTES));
    }
}

void
Impair(const Settings& run, NetDeviceContainer devices)
{
    const auto set = [&devices](uint32_t receiver, Ptr<ErrorModel> loss) {
        devices.Get(receiver)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    };
    if (!run.Text("drop").empty())
    {
        // Numbers 0 and 1 are the SYN and the ACK that ends the handshake; the first segment with data is 2.
        std::list<uint32_t> numbers;
        std::istringstream text(run.Text("drop"));
        for (std::string number; std::getline(text, number, ',');)
        {
            numbers.push_back(static_cast<uint32_t>(std::stoul(number)) + 1);
        }
        auto loss = CreateObject<ReceiveListErrorModel>();
        loss->SetList(numbers);
        set(1, loss);
    }
    else if (run.Number("loss") > 0)
    {
        auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(run.Number("loss"));
        set(1, loss);
    }
    if (run.Number("outage_for_s") > 0)
    {
        // What is sent during the outage arrives a delay later.
        const Time from = Seconds(run.Number("outage_s") + run.Number("delay_s"));
        const Time until = from + Seconds(run.Number("outage_for_s"));
        set(0, Create<OutageErrorModel>(from, until));
        set(1, Create<OutageErrorModel>(from, until));
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    const Settings run(argc, argv);
    SetDefaults(run);

    NodeContainer nodes(2);
    PointToPointHelper link;
    // PPP adds 2 bytes to each packet; the rate makes up for them on a full-sized segment.
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(run.Number("rate_bps") * 1042 / 1040))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(run.Number("delay_s"))));
    // Without it no queue discipline is put before the device: its drop-tail queue is the only one.
    link.DisableFlowControl();
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(run.Text("queue_packets") + "p")));
    auto devices = link.Install(nodes);
    Impair(run, devices);
    InternetStackHelper().Install(nodes);
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);

    auto tcp = nodes.Get(0)->GetObject<TcpL4Protocol>();
    auto socket = CreateObject<CountingTcpSocket>();
    socket->SetNode(nodes.Get(0));
    socket->SetTcp(tcp);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(CongestionControl(run.Text("variant")));
    socket->SetRecoveryAlgorithm(CreateObject<TcpClassicRecovery>());
    tcp->AddSocket(socket);
    uint64_t retransmissions = 0;
    socket->TraceConnectWithoutContext(
        "Retransmission",
        Callback<void, Ptr<const Packet>, const TcpHeader&, const Address&, const Address&, Ptr<const TcpSocketBase>>(
            [&retransmissions](Ptr<const Packet>,
                               const TcpHeader&,
                               const Address&,
                               const Address&,
                               Ptr<const TcpSocketBase>) { ++retransmissions; }));

    PacketSinkHelper helper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    auto applications = helper.Install(nodes.Get(1));
    applications.Start(Seconds(0));
    auto sink = DynamicCast<PacketSink>(applications.Get(0));
    const double afterS = run.Number("after_s");
    const double markBytes = run.Number("mark_bytes");
    double firstAfterS = -1;
    double markedS = -1;
    sink->TraceConnectWithoutContext(
        "Rx",
        Callback<void, Ptr<const Packet>, const Address&>([&](Ptr<const Packet>, const Address&) {
            const double now = Simulator::Now().GetSeconds();
            if (firstAfterS < 0 && afterS >= 0 && now >= afterS)
            {
                firstAfterS = now;
            }
            if (markedS < 0 && markBytes >= 0 && static_cast<double>(sink->GetTotalRx()) >= markBytes)
            {
                markedS = now;
            }
        }));

    const InetSocketAddress peer(interfaces.GetAddress(1), PORT);
    socket->SetConnectCallback(MakeCallback(+[](Ptr<Socket> connected) { Fill(connected, 0); }),
                               MakeNullCallback<void, Ptr<Socket>>());
    socket->SetSendCallback(MakeCallback(&Fill));
    Simulator::ScheduleWithContext(nodes.Get(0)->GetId(), Seconds(0), [socket, peer]() {
        socket->Bind();
        socket->Connect(peer);
    });

    Simulator::Stop(Seconds(run.Number("duration_s")));
    Simulator::Run();
    std::printf("{\"delivered_bytes\": %llu, \"timeouts\": %u, \"retransmissions\": %llu, \"first_after_s\": %.9f, "
                "\"marked_s\": %.9f}\n",
                static_cast<unsigned long long>(sink->GetTotalRx()),
                socket->m_timeouts,
                static_cast<unsigned long long>(retransmissions),
                firstAfterS,
                markedS);
    Simulator::Destroy();
    return 0;
}
