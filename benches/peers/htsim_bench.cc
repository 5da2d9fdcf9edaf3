// The bench scenarios in htsim, for benches/compare.py.
//
//   htsim_bench bulk
//   htsim_bench dumbbell FLOWS
//   htsim_bench wide FLOWS
//
// Prints one JSON object. `cpu_s` is the process's CPU time around the loop that runs the events; the world is built
// before. No logger is attached, and what htsim writes about each timeout goes nowhere.
//
// htsim knows no headers: a packet has one size, which its sequence numbers count too. It is here a segment with its 40
// bytes of headers, so that the wires carry what those of the other simulators do.

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <iostream>
#include <random>
#include <string>

namespace
{

constexpr uint64_t SEGMENT_BYTES = 1000;
constexpr uint64_t PACKET_BYTES = SEGMENT_BYTES + 40;
constexpr uint64_t MBPS = 1'000'000;
constexpr simtime_picosec MICROSECOND = 1'000'000;
constexpr simtime_picosec MILLISECOND = 1000 * MICROSECOND;
constexpr simtime_picosec SECOND = 1000 * MILLISECOND;
// Alarms of TCP are looked for this often, as in htsim's own simulation of TCP in a data centre.
constexpr simtime_picosec SCAN_PERIOD = 10 * MILLISECOND;

double
Seconds(clockid_t clock)
{
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/** The most memory that the process has had. What getrusage tells holds that of the program that started this one. */
uint64_t
PeakBytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        if (line.rfind("VmHWM:", 0) == 0)
        {
            return 1024 * std::stoull(line.substr(6));
        }
    }
    return 0;
}

/** One direction of a link: a queue that is served at the link's rate, then the delay. */
class Wire
{
  public:
    Wire(EventList& events, uint64_t rateBps, simtime_picosec delay, uint64_t queuePackets)
        // The packet in service counts in htsim's queue, and its limit is in bytes.
        : m_queue(rateBps, static_cast<mem_b>((queuePackets + 1) * PACKET_BYTES), events, nullptr),
          m_pipe(delay, events)
    {
    }

    void Join(Route& route)
    {
        route.push_back(&m_queue);
        route.push_back(&m_pipe);
    }

  private:
    Queue m_queue;
    Pipe m_pipe;
};

/** Loses packets independently. */
class Loss : public PacketSink
{
  public:
    explicit Loss(double probability)
        : m_lost(probability)
    {
    }

    void receivePacket(Packet& packet) override
    {
        if (m_lost(m_random))
        {
            packet.free();
        }
        else
        {
            packet.sendOn();
        }
    }

    const std::string& nodename() override
    {
        return m_name;
    }

  private:
    std::mt19937_64 m_random{1};
    std::bernoulli_distribution m_lost;
    std::string m_name = "loss";
};

/** A bulk flow, with its ends and its way there and back. */
class Flow
{
  public:
    explicit Flow(EventList& events)
        : source(nullptr, nullptr, events)
    {
    }

    void Start(TcpRtxTimerScanner& alarms, simtime_picosec start)
    {
        there.push_back(&sink);
        back.push_back(&source);
        source.set_cwnd(10 * PACKET_BYTES);
        source.set_ssthresh(UINT32_MAX);
        alarms.registerTcp(source);
        source.connect(there, back, sink, start);
    }

    /** The SYN is one byte of the sequence. */
    uint64_t DeliveredSegments() const
    {
        return sink._cumulative_ack == 0 ? 0 : (sink._cumulative_ack - 1) / PACKET_BYTES;
    }

    TcpSrc source;
    TcpSink sink;
    Route there;
    Route back;
};

/** Runs until no event is left before the end, and prints what it cost and what it did. */
void
RunAndPrint(EventList& eventList, const std::deque<Flow>& flows, double trafficS)
{
    std::cout.setstate(std::ios::failbit);
    uint64_t events = 0;
    const double wall = Seconds(CLOCK_MONOTONIC);
    const double cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (eventList.doNextEvent())
    {
        ++events;
    }
    const double cpuS = Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    const double wallS = Seconds(CLOCK_MONOTONIC) - wall;
    uint64_t segments = 0;
    for (const auto& flow : flows)
    {
        segments += flow.DeliveredSegments();
    }
    const uint64_t bytes = segments * SEGMENT_BYTES;
    std::printf("{\"cpu_s\": %.6f, \"wall_s\": %.6f, \"events\": %llu, \"delivered_bytes\": %llu, "
                "\"delivered_units\": %llu, \"goodput_bps\": %.0f, \"max_rss_bytes\": %llu}\n",
                cpuS,
                wallS,
                static_cast<unsigned long long>(events),
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(segments),
                8.0 * static_cast<double>(bytes) / trafficS,
                static_cast<unsigned long long>(PeakBytes()));
}

void
Bulk(EventList& events)
{
    constexpr uint64_t seconds = 300;
    events.setEndtime(seconds * SECOND);
    TcpRtxTimerScanner alarms(SCAN_PERIOD, events);
    Wire forward(events, 10 * MBPS, 20 * MILLISECOND, 100);
    Wire backward(events, 10 * MBPS, 20 * MILLISECOND, 100);
    Loss loss(0.01);
    std::deque<Flow> flows;
    auto& flow = flows.emplace_back(events);
    forward.Join(flow.there);
    flow.there.push_back(&loss);
    backward.Join(flow.back);
    flow.Start(alarms, 0);
    RunAndPrint(events, flows, seconds);
}

/** Flows from a node each to a node each, through two routers. */
void
Dumbbell(EventList& events, uint64_t count, uint64_t rateBps, uint64_t queuePackets, uint64_t seconds)
{
    events.setEndtime(seconds * SECOND);
    TcpRtxTimerScanner alarms(SCAN_PERIOD, events);
    Wire forward(events, rateBps, 10 * MILLISECOND, queuePackets);
    Wire backward(events, rateBps, 10 * MILLISECOND, queuePackets);
    std::deque<Flow> flows;
    std::deque<Wire> access;
    const auto join = [&](Route& route) {
        access.emplace_back(events, 1000 * MBPS, MILLISECOND, 300).Join(route);
    };
    for (uint64_t i = 0; i < count; ++i)
    {
        auto& flow = flows.emplace_back(events);
        join(flow.there);
        forward.Join(flow.there);
        join(flow.there);
        join(flow.back);
        backward.Join(flow.back);
        join(flow.back);
        // Starts are spread over the first second.
        flow.Start(alarms, MICROSECOND * (1'000'000 * i / count));
    }
    RunAndPrint(events, flows, static_cast<double>(seconds));
}

} // namespace

int
main(int argc, char** argv)
{
    const std::string name = argc > 1 ? argv[1] : "";
    const long flows = argc == 3 ? std::atol(argv[2]) : 0;
    Packet::set_packet_size(PACKET_BYTES);
    EventList events;
    if (name == "bulk" && argc == 2)
    {
        Bulk(events);
    }
    else if (name == "dumbbell" && flows > 0)
    {
        Dumbbell(events, flows, 100 * MBPS, 300, 60);
    }
    else if (name == "wide" && flows > 0)
    {
        // Each flow has the share of the bottleneck and of its queue that one of dumbbell-100 has.
        Dumbbell(events, flows, flows * MBPS, 3 * flows, 6);
    }
    else
    {
        std::cerr << "usage: htsim_bench bulk | dumbbell FLOWS | wide FLOWS\n";
        return 2;
    }
    return 0;
}
