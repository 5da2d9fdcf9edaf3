// One cell of 802.11 in ns-3: saturated stations, TCP through the access point, or two stations that do not hear each other.
// The last line of its output is a JSON object: the octets of UDP or TCP payload delivered after the warm-up, and the seconds
// measured.
//
//   ns3_wifi --standard=b|g --stations=N --kind=up|down|tcp-up|tcp-down|hidden --payload=BYTES --rts=0|1
//            --warmup=SECONDS --duration=SECONDS --seed=N

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <iostream>

using namespace ns3;

int main(int argc, char* argv[]) {
    std::string standard = "b", kind = "up";
    uint32_t stations = 1, payload = 1472, seed = 1;
    bool rts = false;
    double warmup = 3, duration = 20;
    CommandLine cmd;
    cmd.AddValue("standard", "b or g", standard);
    cmd.AddValue("stations", "number of stations", stations);
    cmd.AddValue("kind", "up, down, tcp-up, tcp-down, hidden", kind);
    cmd.AddValue("payload", "octets of UDP payload, or of a TCP segment", payload);
    cmd.AddValue("rts", "RTS and CTS before every frame", rts);
    cmd.AddValue("warmup", "seconds", warmup);
    cmd.AddValue("duration", "seconds", duration);
    cmd.AddValue("seed", "number", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    const bool g = standard == "g", tcp = kind.rfind("tcp", 0) == 0, hidden = kind == "hidden";
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("100p")));
    // What waits longer is not dropped.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 16));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 16));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));

    NodeContainer ap(1), sta(stations), all(ap, sta);
    Ptr<MatrixPropagationLossModel> loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(50);
    YansWifiChannelHelper channel;
    Ptr<YansWifiChannel> air = CreateObject<YansWifiChannel>();
    air->SetPropagationLossModel(loss);
    Ptr<ConstantSpeedPropagationDelayModel> delay = CreateObject<ConstantSpeedPropagationDelayModel>();
    air->SetPropagationDelayModel(delay);
    YansWifiPhyHelper phy;
    phy.SetChannel(air);
    // Without it a collision of equals is no frame that had begun, and nobody waits for EIFS after it.
    phy.DisablePreambleDetectionModel();
    WifiHelper wifi;
    wifi.SetStandard(g ? WIFI_STANDARD_80211g : WIFI_STANDARD_80211b);
    const std::string data = g ? "ErpOfdmRate54Mbps" : "DsssRate11Mbps", control = g ? "ErpOfdmRate24Mbps" : "DsssRate2Mbps";
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(data), "ControlMode",
                                 StringValue(control), "RtsCtsThreshold", UintegerValue(rts ? 0 : 65535));
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")), "QosSupported", BooleanValue(false));
    NetDeviceContainer apDevice = wifi.Install(phy, mac, ap);
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("cell")), "QosSupported", BooleanValue(false));
    NetDeviceContainer staDevices = wifi.Install(phy, mac, sta);
    // At one place: propagation takes no time.
    MobilityHelper mobility;
    mobility.Install(all);
    if (hidden) {
        loss->SetLoss(sta.Get(0)->GetObject<MobilityModel>(), sta.Get(1)->GetObject<MobilityModel>(), 300);
    }
    InternetStackHelper internet;
    internet.Install(all);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer apInterface = addresses.Assign(apDevice);
    Ipv4InterfaceContainer staInterfaces = addresses.Assign(staDevices);

    const bool down = kind == "down" || kind == "tcp-down";
    const std::string factory = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < stations; i++) {
        Ptr<Node> from = down ? ap.Get(0) : sta.Get(i), to = down ? sta.Get(i) : ap.Get(0);
        Ipv4Address address = down ? staInterfaces.GetAddress(i) : apInterface.GetAddress(0);
        const uint16_t port = 5000 + i;
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(to));
        ApplicationContainer source;
        if (tcp) {
            BulkSendHelper bulk(factory, InetSocketAddress(address, port));
            bulk.SetAttribute("SendSize", UintegerValue(payload));
            source = bulk.Install(from);
        } else {
            // More than the cell carries.
            OnOffHelper constant(factory, InetSocketAddress(address, port));
            constant.SetConstantRate(DataRate((g ? 80'000'000 : 16'000'000) / stations), payload);
            source = constant.Install(from);
        }
        source.Start(Seconds(1 + 0.01 * i));
    }
    uint64_t before = 0, after = 0;
    auto delivered = [&sinks] {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < sinks.GetN(); i++) {
            bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        }
        return bytes;
    };
    Simulator::Schedule(Seconds(warmup), [&] { before = delivered(); });
    Simulator::Schedule(Seconds(warmup + duration), [&] {
        after = delivered();
        Simulator::Stop();
    });
    Simulator::Run();
    std::cout << "{\"delivered_bytes\": " << after - before << ", \"seconds\": " << duration << "}\n";
    Simulator::Destroy();
    return 0;
}
