//! What scenarios mean, at the edges: run-level behaviour that a user would notice.

use roamsim_scenario::run::{Options, Trace, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::transport::tcp::model::TcpVariant;
use roamsim_scenario::{Format, Scenario};

const TWO_NODES: &str = r#"
[scenario]
name = "edge"
duration = "10s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "100Mb/s"
delay = "10ms"
"#;

/// The first row's value of a column, NaN for none.
fn value(text: &str, table: &str, column: &str) -> f64 {
    let scenario = Scenario::parse(text, "edge", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let outcome = run(&scenario, Options { seed: 1, ..Options::default() }).expect("the run succeeds");
    let table = outcome.tables.into_iter().find(|t| t.name == table).expect("the table");
    match table.columns.into_iter().find(|c| c.name == column).expect("the column").values {
        Values::Float(values) => values[0],
        Values::Integer(values) => values[0] as f64,
        Values::Text(_) => panic!("a number was expected"),
    }
}

fn signalling(settings: &str) -> String {
    format!(
        "{TWO_NODES}[[signalling]]\nname = \"s\"\nfrom = \"a\"\nto = \"b\"\nmessage_size = \"200B\"\n\
         interval = \"500ms\"\n{settings}\n"
    )
}

#[test]
fn a_source_without_a_stop_generates_before_the_end_of_the_run() {
    // 0, 0.5, ... 9.5 s: twenty, and none at 10 s, which could not arrive.
    let text = signalling("kind = \"indication\"\ntransport = { protocol = \"udp\" }");
    assert_eq!(value(&text, "signalling", "messages"), 20.0);
    assert_eq!(value(&text, "signalling", "success_rate"), 1.0);
    let flow = format!(
        "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
         application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"1s\" }}\n"
    );
    assert_eq!(value(&flow, "flows", "sent_packets"), 10.0);
}

#[test]
fn a_response_that_is_ready_at_once_carries_the_acknowledgement() {
    // Three packets for two messages: request, response with ACK-Rsp, and the ACK of the response.
    let text = signalling(
        "kind = \"request\"\ntransport = { protocol = \"udp\" }\nstart = \"1s\"\n\
         acknowledgement = { timeout = \"100ms\", mode = \"piggyback\" }",
    );
    assert_eq!(value(&text, "signalling", "overhead"), 1.5);
    assert_eq!(value(&text.replace("piggyback", "separate"), "signalling", "overhead"), 2.0);
}

#[test]
fn a_response_is_acknowledged_by_timers_of_its_own() {
    // A request arrives 10 ms after 1 s. Its ACK and response are lost, and so is all until 1.2 s: the
    // request at 1.1 s, the response at 1.11 s. By timers of its own the response goes again at 1.21 s.
    let text = signalling(
        "kind = \"request\"\ntransport = { protocol = \"udp\" }\nstart = \"1s\"\nstop = \"1.4s\"\n\
         acknowledgement = { timeout = \"100ms\", retransmissions = 1, validity = \"open\" }",
    );
    let text = text.replace(
        "delay = \"10ms\"",
        "delay = \"10ms\"\noutages = [{ start = \"1.005s\", duration = \"195ms\" }]",
    );
    assert_eq!(value(&text, "signalling", "successes"), 0.0);
    let messages = "messages = [{ message = \"response\", timeout = \"200ms\" }]";
    assert_eq!(value(&format!("{text}{messages}\n"), "signalling", "successes"), 1.0);
    // Its octets take a little: 200 and headers at 100 Mb/s, twice.
    let delay_s = value(&format!("{text}{messages}\n"), "signalling", "mean_delay_s");
    assert!((0.22..0.2201).contains(&delay_s), "{delay_s}");
}

#[test]
fn transaction_states_are_averaged_up_to_the_stop_and_from_the_end_of_the_warm_up() {
    // Indications arrive at 1.01, 1.51, ... 4.51 s and are known for 2 s: up to the stop, 4 s after the
    // start, 2 s each of four and 1.99, 1.49, 0.99, 0.49 s, in all 12.96 s. The origin waits 20 ms for each
    // of eight ACKs.
    let text = signalling(
        "kind = \"indication\"\ntransport = { protocol = \"udp\" }\nstart = \"1s\"\nstop = \"5s\"\n\
         acknowledgement = { timeout = \"100ms\" }\nlifetime = \"2s\"",
    );
    let near = |text: &str, column: &str, expected: f64| {
        // Octets take 22 us and less each way.
        let found = value(text, "signalling", column);
        assert!((found - expected).abs() < 1e-4, "{column} is {found}");
    };
    near(&text, "peer_mean_states", 12.96 / 4.0);
    near(&text, "origin_mean_states", 0.16 / 4.0);
    assert_eq!(value(&text, "signalling", "peer_max_states"), 4.0);
    assert_eq!(value(&text, "signalling", "origin_max_states"), 1.0);
    // From 3 s on: 0.01, 0.51, 1.01 and 1.51 s are left of those before, in all 8 s of 2 s.
    let cut = text.replace("duration = \"10s\"", "duration = \"10s\"\nwarm_up = \"3s\"");
    near(&cut, "peer_mean_states", 8.0 / 2.0);
    // Of those that began before 6 s all have ended then: nothing is left to be counted.
    let late = text.replace("duration = \"10s\"", "duration = \"10s\"\nwarm_up = \"8s\"");
    assert_eq!(value(&late, "signalling", "peer_max_states"), 0.0);
}

#[test]
fn the_send_buffer_that_counts_is_the_servers() {
    // Responses of 500 kB through 10 kB take most of the time; the client's requests never wait.
    let text = format!(
        "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"tcp\", send_buffer = \"10kB\" }}\n\
         application = {{ kind = \"request_response\", request_size = \"100B\", response_size = \"500kB\" }}\n"
    );
    assert!(value(&text, "send_buffers", "limited_s") > 4.0);
}

#[test]
fn requests_given_up_are_the_lost_ones() {
    let request_response = |processing: &str| {
        format!(
            "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"request_response\", request_size = \"100B\", response_size = \"100B\", \
             think_time = \"100ms\", timeout = \"100ms\", processing_time = \"{processing}\" }}\n"
        )
    };
    // Every answer comes after 20 ms of path and 200 ms of work: too late. Cycles of 200 ms in 10 s: 50.
    assert_eq!(value(&request_response("200ms"), "flows", "lost_packets"), 50.0);
    assert_eq!(value(&request_response("200ms"), "flows", "delivered_packets"), 0.0);
    assert_eq!(value(&request_response("10ms"), "flows", "lost_packets"), 0.0);
}

#[test]
fn answers_over_tcp_count_the_segments_of_the_server() {
    let text = format!(
        "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\", mss = \"1000B\" }}\n\
         application = {{ kind = \"request_response\", request_size = \"100B\", response_size = \"100kB\", \
         think_time = \"20s\" }}\n"
    );
    // One request of one segment, one response of a hundred.
    assert_eq!(value(&text, "flows", "segments_sent"), 101.0);
}

#[test]
fn a_repeated_syn_is_no_retransmission_of_data() {
    let text = TWO_NODES.to_owned()
        + "loss = { model = \"bernoulli\", probability = 1.0 }\n\
           [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = { protocol = \"tcp\" }\n\
           application = { kind = \"bulk\" }\n";
    assert_eq!(value(&text, "flows", "retransmissions"), 0.0);
    assert_eq!(value(&text, "flows", "segments_sent"), 0.0);
}

#[test]
fn messages_for_a_connection_that_is_gone_are_lost() {
    let text = TWO_NODES.to_owned()
        + "loss = { model = \"bernoulli\", probability = 1.0, start = \"1s\" }\n\
           [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
           transport = { protocol = \"tcp\", max_retransmissions = 1 }\n\
           application = { kind = \"cbr\", packet_size = \"100B\", interval = \"100ms\" }\n";
    // The first message after 1 s is lost, repeated once after about a second, and given up two seconds
    // later: about sixty of the hundred find no connection.
    let lost = value(&text, "flows", "lost_packets");
    assert!((50.0..70.0).contains(&lost), "{lost}");
}

#[test]
fn the_segment_size_fits_the_way_back_as_well() {
    // Two routes of two links. Each end takes the one described first at it: the way back has the smaller
    // MTU.
    let text = r#"
[scenario]
name = "two ways"
duration = "5s"
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "x"
[[node]]
name = "y"
[[link]]
name = "ax"
between = ["a", "x"]
rate = "10Mb/s"
delay = "1ms"
[[link]]
name = "by"
between = ["b", "y"]
rate = "10Mb/s"
delay = "1ms"
mtu = "1300B"
[[link]]
name = "xb"
between = ["x", "b"]
rate = "10Mb/s"
delay = "1ms"
[[link]]
name = "ya"
between = ["y", "a"]
rate = "10Mb/s"
delay = "1ms"
mtu = "1300B"
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "tcp" }
application = { kind = "request_response", request_size = "5kB", response_size = "5kB", think_time = "100ms" }
"#;
    assert!(value(text, "flows", "delivered_packets") > 20.0);
}

#[test]
fn streams_of_different_places_differ_whatever_they_are_called() {
    let lost = |link: &str, end: &str| {
        let text = format!(
            "[scenario]\nname = \"n\"\nduration = \"10s\"\n[[node]]\nname = \"{end}\"\n[[node]]\nname = \"z\"\n\
             [[link]]\nname = \"{link}\"\nbetween = [\"{end}\", \"z\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\n\
             loss = {{ model = \"bernoulli\", probability = 0.5 }}\n\
             [[flow]]\nname = \"f\"\nfrom = \"{end}\"\nto = \"z\"\ntransport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"cbr\", packet_size = \"10B\", interval = \"1ms\" }}\n"
        );
        value(&text, "flows", "lost_packets")
    };
    assert_ne!(lost("a/b", "c"), lost("a", "b/c"));
}

#[test]
fn a_loss_list_takes_the_packets_it_names_and_no_others() {
    let listed = |loss: &str, flows: &str| format!("{TWO_NODES}loss = {loss}\n{flows}");
    let cbr = |name: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"1s\" }}\n"
        )
    };
    let (first, both) = (cbr("first"), cbr("first") + &cbr("second"));
    // Ten datagrams of each flow, one of each a second. The list may be in any order; there is no number 99.
    let lost = |loss: &str, flows: &str| value(&listed(loss, flows), "flows", "lost_packets");
    assert_eq!(lost("{ model = \"list\", segments = [10, 3, 99] }", &first), 2.0);
    assert_eq!(lost("{ model = \"list\", segments = [] }", &first), 0.0);
    // 1 and 3 of both are the first flow's; 2 and 4 are the second's.
    assert_eq!(lost("{ model = \"list\", segments = [1, 3, 4] }", &both), 2.0);
    assert_eq!(lost("{ model = \"list\", segments = [1, 3, 4], flow = \"first\" }", &both), 3.0);
    assert_eq!(lost("{ model = \"list\", segments = [1, 3, 4], flow = \"second\" }", &both), 0.0);
    // At 0, 1 and 2 s nothing is counted.
    assert_eq!(lost("{ model = \"list\", segments = [7, 8], start = \"2500ms\" }", &first), 1.0);
}

#[test]
fn a_loss_list_of_a_stream_can_take_a_retransmission() {
    let transfer = |segments: &str| {
        format!(
            "{TWO_NODES}loss = {{ model = \"list\", segments = {segments} }}\n[[flow]]\nname = \"f\"\n\
             from = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\", mss = \"1000B\" }}\n\
             application = {{ kind = \"transfer\", size = \"10000B\" }}\n"
        )
    };
    // Ten segments leave at once: the second is lost and repeated as the eleventh packet with data.
    let counts = |segments: &str| {
        ["retransmissions", "timeouts"].map(|column| value(&transfer(segments), "flows", column))
    };
    assert_eq!(counts("[]"), [0.0, 0.0]);
    assert_eq!(counts("[2]"), [1.0, 0.0]);
    // The eleventh is lost as well: only the timer is left.
    let [repeated, timeouts] = counts("[2, 11]");
    assert!(repeated >= 2.0 && timeouts == 1.0, "{repeated} {timeouts}");
}

/// A transfer of 100 kB over the two nodes' link.
fn transfer(transport: &str) -> String {
    format!(
        "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"tcp\", {transport} }}\n\
         application = {{ kind = \"transfer\", size = \"100000B\" }}\n"
    )
}

#[test]
fn a_stack_fills_in_what_is_left_out_and_nothing_else() {
    let time = |transport: &str| value(&transfer(transport), "flows", "completion_time_s");
    // A handshake of 20 ms, then windows of 1, 2, 4, ... segments every 20 ms against ten at once.
    let (classic, linux) = (time("stack = \"classic\""), time("stack = \"linux\""));
    assert!(classic > linux + 0.06, "{classic} {linux}");
    // The classic window is one segment; set beside the stack, it goes first.
    let wider = time("stack = \"classic\", initial_window = 10");
    assert!(wider < classic - 0.04, "{wider} {classic}");
    // Written out, a stack is the same scenario.
    let written = "variant = \"reno\", initial_window = 1, receive_window = \"65535B\", window_scaling = false, \
                   timestamps = false, limited_transmit = false, delayed_ack = true, \
                   delayed_ack_timeout = \"200ms\", nagle = true, dup_ack_threshold = 3, \
                   clock_granularity = \"500ms\", min_rto = \"1s\", max_rto = \"64s\", initial_rto = \"3s\"";
    assert_eq!(time(written), classic);
}

/// A path with losses, marks, outages and a rise of the delay, at whose end later packets come first. One end
/// asks the other after pauses, another flow fills the queue, and a third writes little at a time.
fn rough(transport: &str) -> Scenario {
    let text = format!(
        "[scenario]\nname = \"rough\"\nduration = \"20s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"path\"\nbetween = [\"a\", \"b\"]\nrate = \"20Mb/s\"\n\
         delay = {{ constant = \"20ms\", steps = [{{ at = \"6s\", delay = \"400ms\" }}, {{ at = \"8s\", delay = \"20ms\" }}], reordering = true }}\n\
         queue = {{ discipline = \"codel\", packets = 100, ecn = true }}\n\
         loss = {{ model = \"bernoulli\", probability = 0.005, start = \"3s\" }}\n\
         outages = [{{ start = \"10s\", duration = \"250ms\" }}, {{ start = \"12s\", duration = \"700ms\" }}, \
         {{ start = \"15s\", duration = \"300ms\" }}]\n\
         [[flow]]\nname = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"tcp\", {transport} }}\napplication = {{ kind = \"bulk\" }}\n\
         [[flow]]\nname = \"asks\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\", {transport} }}\n\
         application = {{ kind = \"request_response\", request_size = \"2000B\", response_size = \"40kB\", \
         think_time = \"700ms\" }}\n\
         [[flow]]\nname = \"taps\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\", {transport} }}\n\
         application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"15ms\" }}\n"
    );
    Scenario::parse(&text, "rough", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{transport}: {}", diagnostics.render(false)))
}

#[test]
fn each_mechanism_of_a_stack_is_switched_by_its_own_key() {
    let packets = |scenario: &Scenario, seed: u64| {
        let outcome = run(scenario, Options { seed, fingerprints: true, ..Options::default() });
        outcome.expect("the run succeeds").fingerprints.expect("asked for").packets
    };
    for stack in ["linux", "rfc"] {
        let preset = rough(&format!("stack = \"{stack}\""));
        let mut alone = [None; 40];
        for beside in
            [
                "rack = false",
                "tail_loss_probe = false",
                "prr = false",
                "frto = false",
                "undo = false",
                "undo_rules = \"rfc3522\"",
                "growth_rules = \"rfc5681\"",
                "rack_rules = \"rfc8985\"",
                "hystart = false",
                "reduce_after_lost_retransmission = true",
                "reduce_after_lost_retransmission = false",
                "initial_window_rules = \"rfc5681\"",
                "initial_window = 10",
                "pacing = true",
                "pacing = false",
                "sack = false",
                "delayed_ack = false",
                "timestamps = false",
                "window_scaling = false",
                "ecn = true",
                "restart_after_idle = false",
                "cubic_rules = \"rfc9438\"",
                "cubic_rules = \"linux\"",
                "quick_acks = 0",
                "compressed_acks = false",
                "loss_probe_rules = \"rfc8985\"",
                "delayed_ack_adapts = false",
                "delayed_ack_rules = \"rfc\"",
                "delayed_ack_count = 3",
                "rto_rules = \"rfc6298\"",
                "nagle = false",
                "nagle_rules = \"rfc\"",
                "hystart_rules = \"rfc9406\"",
                "window_validation = \"half\"",
                "receive_window = \"20kB\"",
                "send_buffer = \"20kB\"",
                "byte_counting_limit = 1",
                "congestion_control = \"reno\"",
                "congestion_control = \"reno\", reno_rules = \"rfc5681\"",
                "congestion_control = \"reno\", reno_rules = \"linux\"",
                "congestion_control = \"bbr\"",
            ]
            .map(str::to_owned)
            .into_iter()
            .chain(TcpVariant::NAMES.map(|name| {
                format!("variant = \"{name}\"{}", if name == "dctcp" { ", l4s = true" } else { "" })
            }))
        {
            let scenario = rough(&format!("stack = \"{stack}\", {beside}"));
            let is_as_before = scenario.flows[0].transport == preset.flows[0].transport;
            let anyway = if stack == "rfc" { &RFC_ANYWAY[..] } else { &LINUX_ANYWAY };
            let is_known = beside == "variant = \"cubic\"" || anyway.contains(&&beside[..]);
            assert_eq!(is_as_before, is_known, "{stack}, {beside}");
            // All else changes which packets go when. Not each seed has a needless timeout for F-RTO.
            let mut seeds = (1..).zip(&mut alone);
            let changes = !is_as_before
                && seeds.any(|(seed, alone)| {
                    packets(&scenario, seed) != *alone.get_or_insert_with(|| packets(&preset, seed))
                });
            assert!(is_as_before || changes, "{stack}, {beside}");
        }
    }
}

/// Of these keys, what is as in the preset `rfc`.
const RFC_ANYWAY: [&str; 17] = [
    "pacing = true",
    "undo_rules = \"rfc3522\"",
    "growth_rules = \"rfc5681\"",
    "rack_rules = \"rfc8985\"",
    "initial_window_rules = \"rfc5681\"",
    "reduce_after_lost_retransmission = true",
    "compressed_acks = false",
    "loss_probe_rules = \"rfc8985\"",
    "byte_counting_limit = 1",
    "cubic_rules = \"rfc9438\"",
    "quick_acks = 0",
    "delayed_ack_adapts = false",
    "delayed_ack_rules = \"rfc\"",
    "rto_rules = \"rfc6298\"",
    "nagle_rules = \"rfc\"",
    "hystart_rules = \"rfc9406\"",
    "window_validation = \"half\"",
];

/// Of these keys, what is as in the preset `linux`.
const LINUX_ANYWAY: [&str; 4] = [
    "pacing = false",
    "initial_window = 10",
    "reduce_after_lost_retransmission = false",
    "cubic_rules = \"linux\"",
];

/// Samples of ssthresh and cwnd of a bulk flow over a queue that loses nothing.
fn windows(duration: &str, link: &str, transport: &str) -> [Vec<(f64, f64)>; 2] {
    let text = format!(
        "[scenario]\nname = \"rise\"\nduration = \"{duration}\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"path\"\nbetween = [\"a\", \"b\"]\n{link}\n\
         queue = {{ packets = 10000 }}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
         application = {{ kind = \"bulk\" }}\n\
         transport = {{ protocol = \"tcp\", hystart = true, delayed_ack = false, {transport} }}\n"
    );
    let scenario = Scenario::parse(&text, "rise", Format::Toml, &[]).expect("it is valid");
    let trace = Trace { cwnd: true, ..Trace::default() };
    let outcome = run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("the run succeeds");
    let samples = outcome.tables.into_iter().find(|table| table.name == "samples").expect("the table");
    let mut columns = samples.columns.into_iter();
    let mut column = |name: &str| columns.find(|column| column.name == name).expect("the column").values;
    let (Values::Float(times), Values::Text(from), Values::Text(quantity), Values::Float(values)) =
        (column("time_s"), column("from"), column("quantity"), column("value"))
    else {
        panic!("text and numbers")
    };
    ["ssthresh", "cwnd"].map(|wanted| {
        let rows = (0..times.len()).filter(|&row| &from[row] == "a" && &quantity[row] == wanted);
        rows.map(|row| (times[row], values[row])).collect()
    })
}

/// 10 Mb/s over 100 ms hold 125 kB, and the queue a hundred times as much. Nothing is lost, and the round
/// trip tells of the queue. Five conservative rounds later ssthresh is the window (RFC 9406 section 4.2).
#[test]
fn hystart_ends_slow_start_at_the_window_that_a_queue_has_lengthened() {
    let [ssthresh, cwnd] = windows("5s", "rate = \"10Mb/s\"\ndelay = \"50ms\"", "variant = \"reno\"");
    let (at, ssthresh) = *ssthresh.iter().find(|sample| sample.1 < 1e9).expect("slow start ends");
    let cwnd = cwnd.into_iter().rfind(|sample| sample.0 <= at).expect("a window").1;
    assert_eq!(ssthresh, cwnd);
    assert!((125e3..2e6).contains(&ssthresh), "{ssthresh}");
}

/// Packets of the shorter path overtake others in slow start, and the repair is undone: HyStart ends slow
/// start yet, at a window in the order of what 10 Mb/s and 40 ms hold. Where a threshold has ended it,
/// HyStart does nothing.
#[test]
fn the_hystart_of_linux_goes_on_behind_an_undone_repair() {
    let link = "rate = \"10Mb/s\"\ndelay = { reordering = true, steps = [\
                { at = \"0s\", delay = \"60ms\" }, { at = \"500ms\", delay = \"20ms\" }] }";
    let transport =
        "variant = \"sack\", rack = true, timestamps = true, undo = true, hystart_rules = \"linux\"";
    let [ssthresh, cwnd] = windows("5s", link, transport);
    // Repairs have halved windows below that, and were undone.
    assert!(ssthresh.first().is_some_and(|sample| sample.1 < 60e3), "{ssthresh:?}");
    let last = ssthresh.last().expect("a threshold").1;
    assert!(
        (100e3..300e3).contains(&last) && cwnd.last().is_some_and(|sample| sample.1 < 300e3),
        "{ssthresh:?}"
    );
    let transport = "variant = \"reno\", hystart_rules = \"linux\", initial_ssthresh = \"20kB\"";
    let [ssthresh, cwnd] = windows("5s", "rate = \"2Mb/s\"\ndelay = \"50ms\"", transport);
    assert!(ssthresh.iter().all(|sample| sample.1 == 20e3), "{ssthresh:?}");
    assert!(cwnd.last().is_some_and(|sample| sample.1 > 40e3), "{cwnd:?}");
}

/// Ten flows over 1 Mb/s and 20 ms have less than a segment each in the path, so two each make a queue.
#[test]
fn marks_shorten_a_queue_that_two_segments_of_each_flow_make() {
    let mean_wait_s = |transport: &str| {
        let text = format!(
            "[scenario]\nname = \"marks\"\nduration = \"30s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
             [[link]]\nname = \"path\"\nbetween = [\"a\", \"b\"]\nrate = \"1Mb/s\"\ndelay = \"10ms\"\n\
             queue = {{ discipline = \"codel\", ecn = true }}\n\
             [[flow]]\nname = \"f{{i}}\"\ncount = 10\nfrom = \"a\"\nto = \"b\"\napplication = {{ kind = \"bulk\" }}\n\
             transport = {{ protocol = \"tcp\", ecn = true, {transport} }}\n"
        );
        value(&text, "queues", "mean_wait_s")
    };
    let (two, one) =
        (mean_wait_s("variant = \"cubic\""), mean_wait_s("variant = \"cubic\", ecn_min_window = 1"));
    assert!(two > 0.15 && one < 0.75 * two, "{one} instead of {two}");
    let rfc = mean_wait_s("stack = \"rfc\"");
    assert!(rfc < 0.6 * mean_wait_s("stack = \"rfc\", ecn_min_window = 2"), "{rfc}");
}

/// What a transport sends over 10 Mb/s and 20 ms, to a queue that marks.
fn packets_beside_marks(transport: &str) -> u64 {
    let text = format!(
        "[scenario]\nname = \"marks\"\nduration = \"5s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"path\"\nbetween = [\"a\", \"b\"]\nrate = \"10Mb/s\"\ndelay = \"20ms\"\n\
         queue = {{ discipline = \"codel\", ecn = true }}\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\napplication = {{ kind = \"bulk\" }}\n\
         transport = {{ protocol = \"tcp\", {transport} }}\n"
    );
    let scenario = Scenario::parse(&text, "marks", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{transport}: {}", diagnostics.render(false)));
    let outcome = run(&scenario, Options { fingerprints: true, ..Options::default() });
    outcome.expect("the run succeeds").fingerprints.expect("asked for").packets
}

#[test]
fn linux_reduces_for_marks_by_prr_where_the_congestion_control_does() {
    for (transport, has_it) in [
        ("stack = \"linux\"", true),
        ("stack = \"linux\", variant = \"sack\"", true),
        ("stack = \"linux\", variant = \"dctcp\"", true),
        ("stack = \"linux\", variant = \"newreno\"", true),
        ("stack = \"linux\", sack = false", true),
        ("stack = \"linux\", variant = \"prague\"", false),
        ("stack = \"linux\", variant = \"vegas\"", false),
        ("stack = \"linux\", prr = false", false),
        ("stack = \"rfc\"", false),
    ] {
        let preset = packets_beside_marks(&format!("{transport}, ecn = true"));
        let without = packets_beside_marks(&format!("{transport}, ecn = true, prr_for_ecn = false"));
        assert_eq!(preset != without, has_it, "{transport}");
    }
    let (at_once, by_prr) =
        ("stack = \"rfc\", ecn = true", "stack = \"rfc\", ecn = true, prr_for_ecn = true");
    assert_ne!(packets_beside_marks(at_once), packets_beside_marks(by_prr));
}

#[test]
fn a_short_rest_waits_for_short_segments_alone_by_minshalls_rule() {
    let delay = |transport: &str| {
        let text = transfer(&format!("mss = \"1000B\", {transport}"));
        let application = "kind = \"cbr\", packet_size = \"1500B\", interval = \"1s\"";
        value(&text.replace("kind = \"transfer\", size = \"100000B\"", application), "flows", "mean_delay_s")
    };
    // 1000 octets and 500. By RFC 896 the 500 wait for an acknowledgement of the 1000, which is delayed by
    // 200 ms; by Minshall's rule they take the 10 ms of the path.
    let (rfc, minshall) = (delay("nagle_rules = \"rfc\""), delay("nagle_rules = \"minshall\""));
    assert!((0.2..0.3).contains(&rfc) && (0.01..0.02).contains(&minshall), "{rfc} {minshall}");
    assert_eq!(minshall, delay("nagle = false"));
}

#[test]
fn a_window_that_follows_what_arrives_costs_little_and_a_fixed_one_of_that_size_much() {
    let time = |window: &str| {
        let text = transfer(&format!("timestamps = true, byte_counting_limit = 2, {window}"));
        value(&text.replace("\"100000B\"", "\"5MB\""), "flows", "completion_time_s")
    };
    // 20 kB in a round trip of 20 ms are 8 Mb/s: 5 s for 5 MB.
    let fixed = time("receive_window = \"20kB\"");
    assert!((4.9..5.5).contains(&fixed), "{fixed}");
    // 250 kB fill the path, and nothing is lost.
    let tuned = time("initial_receive_window = \"20kB\", receive_window = \"250kB\"");
    let wide = time("receive_window = \"250kB\"");
    // A few round trips behind one that is wide at once.
    assert!(tuned >= wide && tuned < wide + 0.1, "{tuned} {wide}");
}

#[test]
fn a_send_buffer_bounds_what_is_in_flight_and_one_that_tunes_itself_does_not() {
    let of = |buffer: &str, table, column| {
        let text = transfer(&format!("byte_counting_limit = 2, {buffer}"));
        value(&text.replace("\"100000B\"", "\"5MB\""), table, column)
    };
    let time = |buffer: &str| of(buffer, "flows", "completion_time_s");
    // A unit of some 64 kB beyond two thirds of 20 kB, in a round trip of 20 ms: 30 Mb/s, 1.3 s for 5 MB.
    let fixed = "send_buffer = \"20kB\"";
    assert!((1.2..2.6).contains(&time(fixed)), "{}", time(fixed));
    let limited_s = of(fixed, "send_buffers", "limited_s");
    assert!(limited_s > 0.3 && limited_s < time(fixed), "{limited_s}");
    let tuned = "send_buffer = \"4MiB\", initial_send_buffer = \"16KiB\"";
    assert_eq!(time(tuned), time(""));
    assert!(of(tuned, "send_buffers", "size_bytes") > 87_000.0);
}

fn cbr(settings: &str, node: &str) -> String {
    format!(
        "{}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
         application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"1s\", {settings} }}\n",
        TWO_NODES.replace("name = \"a\"\n", &format!("name = \"a\"\n{node}\n"))
    )
}

#[test]
fn a_packet_waits_for_its_node() {
    // 148 octets at 100 Mb/s and 10 ms: 10.01184 ms; with 3 ms at the source, 13.01184 ms.
    let delay_s = |node: &str| value(&cbr("", node), "flows", "mean_delay_s");
    assert!((delay_s("") - 0.010_011_84).abs() < 1e-12);
    assert!((delay_s("packet_processing_time = \"3ms\"") - 0.013_011_84).abs() < 1e-12);
    // Ten draws between 2 and 4 ms.
    let uniform = "packet_processing_time = { distribution = \"uniform\", min = \"2ms\", max = \"4ms\" }";
    assert!((0.012_011_84..0.014_011_84).contains(&delay_s(uniform)));
    assert_ne!(delay_s(uniform), delay_s("packet_processing_time = \"3ms\""));
}

#[test]
fn a_start_is_drawn_once_a_run() {
    let scenario = |settings: &str| {
        Scenario::parse(&cbr(settings, ""), "edge", Format::Toml, &[])
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let start_s = |settings: &str, replication| {
        let options = Options { seed: 1, replication, ..Options::default() };
        let outcome = run(&scenario(settings), options).expect("the run succeeds");
        let table = outcome.tables.into_iter().find(|t| t.name == "flows").expect("the table");
        match table.columns.into_iter().find(|c| c.name == "start_s").expect("the column").values {
            Values::Float(values) => values[0],
            _ => panic!("a number was expected"),
        }
    };
    assert_eq!(
        start_s("start = { distribution = \"constant\", value = \"2s\" }", 0),
        start_s("start = \"2s\"", 0)
    );
    let uniform = "start = { distribution = \"uniform\", min = \"2s\", max = \"4s\" }";
    let drawn: Vec<f64> = (0..5).map(|replication| start_s(uniform, replication)).collect();
    assert!(drawn.iter().all(|at| (2.0..=4.0).contains(at)), "{drawn:?}");
    assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]), "{drawn:?}");
    assert_eq!(start_s(uniform, 3), drawn[3]);
}

#[test]
fn a_drawn_size_takes_its_time_of_the_rate() {
    // 8 kb/s for 10 s are 10,000 octets: the last message begins before that, whatever the sizes.
    let flow = cbr("", "").replace(
        "packet_size = \"100B\", interval = \"1s\", ",
        "packet_size = { distribution = \"uniform\", min = \"50B\", max = \"150B\" }, rate = \"8kb/s\"",
    );
    let (bytes, packets) = (value(&flow, "flows", "sent_bytes"), value(&flow, "flows", "sent_packets"));
    assert!((10_000.0..10_150.0).contains(&bytes), "{bytes}");
    // 100 of 100 octets in the mean, with a deviation of 29 each: 3 of sqrt(100) * 29 / 100.
    assert!((packets - 100.0).abs() < 9.0, "{packets}");
}

/// The request goes at 20 ms, is acknowledged half a second later, and is given up by the client's TCP after
/// 0.2 s; so the server's is reset, and the response refused. The client waits for ever, and has not given
/// up.
#[test]
fn lost_requests_are_those_that_the_client_gave_up() {
    let scenario = format!(
        "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"tcp\", max_retransmissions = 0, min_rto = \"200ms\", delayed_ack_timeout = \"500ms\" }}\n\
         application = {{ kind = \"request_response\", request_size = \"100B\", response_size = \"100B\", \
         processing_time = \"1s\", think_time = \"10s\" }}\n"
    );
    let of = |column: &str| value(&scenario, "flows", column);
    assert_eq!([of("sent_packets"), of("delivered_packets"), of("lost_packets")], [1.0, 0.0, 0.0]);
}

#[test]
fn messages_that_are_lost_or_late_are_not_in_time() {
    // Ten messages, at 0, 1, ... 9 s; each takes 10 ms and its transmission. The third and the tenth are
    // lost.
    let lossy = TWO_NODES.replace(
        "delay = \"10ms\"",
        "delay = \"10ms\"\nloss = { from = \"a\", model = \"list\", segments = [3, 10] }",
    );
    let share = |deadline: &str| {
        let text = format!(
            "{lossy}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"1s\"{deadline} }}\n"
        );
        value(&text, "flows", "in_time_share")
    };
    assert!(share("").is_nan());
    assert_eq!(share(", deadline = \"10ms\""), 0.0);
    assert_eq!(share(", deadline = \"20ms\""), 0.8);
    // Within 3 s of the end it is not known of a message at 8 or 9 s: seven of eight.
    assert_eq!(share(", deadline = \"3s\""), 0.875);
    // Of requests the response counts: 20 ms and two transmissions.
    let asks = |deadline: &str| {
        let text = format!(
            "{TWO_NODES}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"request_response\", request_size = \"100B\", response_size = \"100B\", \
             think_time = \"100ms\", deadline = \"{deadline}\" }}\n"
        );
        value(&text, "flows", "in_time_share")
    };
    assert_eq!((asks("20ms"), asks("21ms")), (0.0, 1.0));
}

#[test]
fn a_response_over_one_way_connections_carries_no_acknowledgement_of_its_request() {
    // What the responder sends, in the first row of `links`.
    let packets = |keys: &str| {
        let text = signalling(&format!(
            "kind = \"request\"\ntransport = {{ protocol = \"tcp\"{keys} }}\nstart = \"0s\""
        ));
        value(&text.replace("[\"a\", \"b\"]", "[\"b\", \"a\"]"), "links", "sent_packets")
    };
    // A SYN-ACK, MIH_Register.request and twenty responses: data carries every acknowledgement.
    assert_eq!(packets(""), 22.0);
    // Twenty requests and MIH_Register.response are acknowledged in packets of their own.
    assert_eq!(packets(", one_way_connections = true"), 22.0 + 21.0);
}
