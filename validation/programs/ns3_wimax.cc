// One cell of 802.16 (WirelessMAN-OFDM) in ns-3. Stations enter it, then send UDP to the base station or receive UDP from it.
// The last line of its output is a JSON object: the octets of UDP payload delivered after the warm-up, the seconds measured,
// the mean delay, and when the first and the last station had registered and had service flows.
//
//   ns3_wimax --stations=N --kind=up|polled|down --payload=BYTES --interval=SECONDS --frame=SECONDS --warmup=SECONDS
//             --duration=SECONDS --seed=N
//
// Each station has one service flow: UGS with `up`, rtPS with `polled`, best effort with `down`.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wimax-module.h"

#include <iostream>
#include <map>

using namespace ns3;

int main(int argc, char* argv[]) {
    std::string kind = "up";
    uint32_t stations = 1, payload = 1000, seed = 1;
    double interval = 0.02, warmup = 5, duration = 10, frame = 0.01;
    CommandLine cmd;
    cmd.AddValue("stations", "number of stations", stations);
    cmd.AddValue("kind", "up, polled or down", kind);
    cmd.AddValue("payload", "octets of UDP payload", payload);
    cmd.AddValue("interval", "seconds between datagrams", interval);
    cmd.AddValue("frame", "seconds of a frame", frame);
    cmd.AddValue("warmup", "seconds", warmup);
    cmd.AddValue("duration", "seconds", duration);
    cmd.AddValue("seed", "number", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer bs(1), ss(stations);
    WimaxHelper wimax;
    NetDeviceContainer bsDevice = wimax.Install(bs, WimaxHelper::DEVICE_TYPE_BASE_STATION, WimaxHelper::SIMPLE_PHY_TYPE_OFDM,
                                                WimaxHelper::SCHED_TYPE_SIMPLE, frame);
    NetDeviceContainer ssDevices = wimax.Install(ss, WimaxHelper::DEVICE_TYPE_SUBSCRIBER_STATION,
                                                 WimaxHelper::SIMPLE_PHY_TYPE_OFDM, WimaxHelper::SCHED_TYPE_SIMPLE, frame);
    for (uint32_t i = 0; i < stations; i++) {
        DynamicCast<SubscriberStationNetDevice>(ssDevices.Get(i))->SetModulationType(WimaxPhy::MODULATION_TYPE_QAM64_34);
    }
    MobilityHelper mobility;
    mobility.Install(bs);
    mobility.Install(ss);
    InternetStackHelper internet;
    internet.Install(bs);
    internet.Install(ss);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    Ipv4InterfaceContainer bsInterface = addresses.Assign(bsDevice), ssInterfaces = addresses.Assign(ssDevices);

    const bool down = kind == "down";
    const bool polled = kind == "polled";
    const ServiceFlow::SchedulingType type = down     ? ServiceFlow::SF_TYPE_BE
                                             : polled ? ServiceFlow::SF_TYPE_RTPS
                                                      : ServiceFlow::SF_TYPE_UGS;
    uint64_t bytes = 0, datagrams = 0;
    double delays = 0;
    std::map<uint32_t, double> entered;
    for (uint32_t i = 0; i < stations; i++) {
        const uint16_t port = 5000 + i;
        Ptr<Node> from = down ? bs.Get(0) : ss.Get(i), to = down ? ss.Get(i) : bs.Get(0);
        Ipv4Address address = down ? ssInterfaces.GetAddress(i) : bsInterface.GetAddress(0);
        UdpServerHelper server(port);
        ApplicationContainer sink = server.Install(to);
        sink.Get(0)->TraceConnectWithoutContext(
            "Rx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> packet) {
                SeqTsHeader header;
                packet->Copy()->RemoveHeader(header);
                if (header.GetTs() >= Seconds(warmup) && header.GetTs() < Seconds(warmup + duration)) {
                    bytes += packet->GetSize();
                    datagrams += 1;
                    delays += (Simulator::Now() - header.GetTs()).GetSeconds();
                }
            }));
        UdpClientHelper client(address, port);
        client.SetAttribute("Interval", TimeValue(Seconds(interval)));
        client.SetAttribute("PacketSize", UintegerValue(payload));
        client.SetAttribute("MaxPackets", UintegerValue(1'000'000'000));
        client.Install(from).Start(Seconds(warmup - 1 + interval * i / stations));
        IpcsClassifierRecord classifier(Ipv4Address("0.0.0.0"), Ipv4Mask("0.0.0.0"), address, Ipv4Mask("255.255.255.255"), 0,
                                        65000, port, port, 17, 1);
        ServiceFlow flow = wimax.CreateServiceFlow(down ? ServiceFlow::SF_DIRECTION_DOWN : ServiceFlow::SF_DIRECTION_UP, type,
                                                   classifier);
        if (polled) {
            // Else each grant is of the size of an SDU, 49 octets, whatever was asked for.
            flow.SetSduSize(0);
        }
        DynamicCast<SubscriberStationNetDevice>(ssDevices.Get(i))->AddServiceFlow(flow);
    }
    std::function<void()> look = [&] {
        for (uint32_t i = 0; i < stations; i++) {
            Ptr<SubscriberStationNetDevice> device = DynamicCast<SubscriberStationNetDevice>(ssDevices.Get(i));
            if (device->IsRegistered() && device->GetAreServiceFlowsAllocated() && !entered.count(i)) {
                entered[i] = Simulator::Now().GetSeconds();
            }
        }
        if (entered.size() < stations) {
            Simulator::Schedule(MilliSeconds(1), look);
        }
    };
    Simulator::Schedule(MilliSeconds(1), look);
    Simulator::Stop(Seconds(warmup + duration + 1));
    Simulator::Run();
    double first = 1e9, last = 0;
    for (const auto& [station, at] : entered) {
        first = std::min(first, at);
        last = std::max(last, at);
    }
    std::cout << "{\"delivered_bytes\": " << bytes << ", \"seconds\": " << duration << ", \"mean_delay_s\": "
              << (datagrams ? delays / datagrams : 0) << ", \"entered\": " << entered.size() << ", \"first_entry_s\": " << first
              << ", \"last_entry_s\": " << last << "}\n";
    Simulator::Destroy();
    return 0;
}
