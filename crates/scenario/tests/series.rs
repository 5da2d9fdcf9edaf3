//! Coarse series of flows and links: what is counted in which part of a run, and that it adds up to the
//! tables of the whole.

use crate::outcome::{self, floats, integers, table, texts};
use roamsim_scenario::run::{Fingerprints, Options, Outcome, Trace};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A datagram of 1000 octets with its headers, 1 ms on the wire, each 100 ms for 10 s: 200 parts of 50 ms.
const DATAGRAMS: &str = r#"
    scenario = { name = "x", duration = "10s" }
    node = [{ name = "a" }, { name = "b" }]
    link = [{ name = "wire", between = ["a", "b"], rate = "8Mb/s", delay = "10ms" }]
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    transport = { protocol = "udp" }
    application = { kind = "cbr", packet_size = "952B", interval = "100ms" }
"#;

fn with_series(text: &str, overrides: &[(&str, &str)], fingerprints: bool) -> Outcome {
    outcome::of(text, overrides, Options { seed: 1, series: true, fingerprints, ..Options::default() })
}

/// The sums of a column over the rows of each flow, or direction of a link.
fn sums(outcome: &Outcome, kind: &str, value: impl Fn(usize) -> f64) -> BTreeMap<[String; 3], f64> {
    let column = |name| texts(outcome, "series", name);
    let [kinds, names, from, to] = ["kind", "name", "from", "to"].map(column);
    let mut sums = BTreeMap::new();
    for row in (0..kinds.len()).filter(|&row| &kinds[row] == kind) {
        *sums.entry([names, from, to].map(|column| column[row].to_owned())).or_default() += value(row);
    }
    sums
}

#[test]
fn what_is_delivered_counts_in_the_part_in_which_it_arrives() {
    let outcome = with_series(DATAGRAMS, &[], false);
    let delivered = floats(&outcome, "series", "delivered_bytes");
    // It arrives 11 ms after each tenth of a second: in the first part of 50 ms, the third, and so on.
    let expected: Vec<f64> = (0..200).map(|part| if part % 2 == 0 { 952.0 } else { 0.0 }).collect();
    assert_eq!(delivered[..200], expected);
    // Then the direction of the wire that is used, and nothing of the other.
    assert_eq!(table(&outcome, "series").height(), 400);
    assert_eq!(&texts(&outcome, "series", "kind")[200], "link");
    assert!(delivered[200].is_nan());
    let (begin, end) = (floats(&outcome, "series", "begin_s"), floats(&outcome, "series", "end_s"));
    assert_eq!((begin[0], end[0], begin[1], end[199]), (0.0, 0.05, 0.05, 10.0));
}

#[test]
fn what_happens_at_the_end_of_a_part_belongs_to_it() {
    // It arrives at 50 ms, 150 ms, ...: 1 ms on the wire and 49 ms of delay.
    let outcome = with_series(DATAGRAMS, &[("link.wire.delay", "49ms")], false);
    assert_eq!(floats(&outcome, "series", "delivered_bytes")[..4], [952.0, 0.0, 952.0, 0.0]);
}

#[test]
fn a_queue_delay_is_the_mean_wait_of_the_packets_that_came() {
    let second = r#"
        [[flow]]
        name = "g"
        from = "a"
        to = "b"
        transport = { protocol = "udp" }
        application = { kind = "cbr", packet_size = "952B", interval = "200ms" }
    "#;
    let outcome = with_series(&format!("{DATAGRAMS}{second}"), &[], false);
    let waits = &floats(&outcome, "series", "queue_delay_s")[400..600];
    // At 0 ms one of two waits 1 ms; at 100 ms, the end of the second part, one comes alone; then two again
    // at 200 ms.
    let told = waits[..4].iter().map(|wait| (1e6 * wait).round()).collect::<Vec<_>>();
    assert_eq!((told[0], told[1], told[2].is_nan(), told[3]), (500.0, 0.0, true, 500.0));
}

#[test]
fn losses_count_for_their_flow_and_for_their_link() {
    // Last bits are sent 1 ms after each tenth of a second: those of 100 and 200 ms fall into the outage.
    let outage = ("link.wire.outages", r#"[{ start = "90ms", duration = "120ms" }]"#);
    let outcome = with_series(DATAGRAMS, &[outage], false);
    let lost = integers(&outcome, "series", "lost_packets");
    let parts = |rows: &[u64]| (0..200).filter(|&part| rows[part] > 0).collect::<Vec<_>>();
    // They are known when the packets are queued, at the ends of the second and of the fourth part.
    assert_eq!((parts(&lost[..200]), parts(&lost[200..])), (vec![1, 3], vec![1, 3]));
}

#[test]
fn a_window_is_that_at_the_end_of_a_part() {
    let tcp = [
        ("flow.f.transport", "{ protocol = \"tcp\", variant = \"reno\" }"),
        ("flow.f.application", "{ kind = \"bulk\", start = \"1s\" }"),
    ];
    let outcome = with_series(DATAGRAMS, &tcp, false);
    let windows = &floats(&outcome, "series", "cwnd_bytes")[..200];
    // The connection opens at 1 s and is there 20 ms later: before the end of the 21st part.
    assert!(windows[..20].iter().all(|window| window.is_nan()), "{:?}", &windows[..22]);
    assert!(windows[20] > 0.0 && windows[199] > windows[20]);
}

#[test]
fn series_add_up_to_the_tables_and_change_nothing() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in
        ["dumbbell", "mobile-ip", "short-transfers", "sctp-multihoming", "wifi-contention", "dect-access"]
    {
        let text = fs::read_to_string(folder.join(format!("{name}.toml"))).expect("an example");
        let plain = outcome::of(&text, &[], Options { seed: 1, fingerprints: true, ..Options::default() });
        let outcome = with_series(&text, &[], true);
        let without: Option<Fingerprints> = plain.fingerprints;
        assert_eq!((outcome.fingerprints, outcome.events), (without, plain.events), "{name}");
        let delivered = floats(&outcome, "series", "delivered_bytes");
        let flows = sums(&outcome, "flow", |row| delivered[row]);
        let whole = integers(&outcome, "flows", "delivered_bytes");
        assert_eq!(flows.values().sum::<f64>(), whole.iter().sum::<u64>() as f64, "{name}");
        let lost = integers(&outcome, "series", "lost_packets");
        for (direction, dropped) in sums(&outcome, "link", |row| lost[row] as f64) {
            let place = ["name", "from", "to"].map(|column| texts(&outcome, "links", column));
            let mine = (0..place[0].len()).filter(|&row| place.map(|of| of[row].to_owned()) == direction);
            let told: u64 = mine.map(|row| integers(&outcome, "links", "dropped_packets")[row]).sum();
            assert_eq!(dropped, told as f64, "{name} {direction:?}");
        }
    }
}

#[test]
fn of_many_flows_the_first_hundred_and_the_sum_of_the_others_are_kept_and_the_links_that_most_share() {
    let text = r#"
        scenario = { name = "x", duration = "2s" }
        node = [{ name = "client-{i}", count = 120 }, { name = "router" }, { name = "server" }]
        link = [
            { name = "line-{i}", between = ["client-{i}", "router"], rate = "8Mb/s", delay = "1ms" },
            { name = "shared", between = ["router", "server"], rate = "80Mb/s", delay = "1ms", queue = { packets = 200 } },
        ]
        [[flow]]
        name = "up-{i}"
        from = "client-{i}"
        to = "server"
        transport = { protocol = "udp" }
        application = { kind = "cbr", packet_size = "952B", interval = "100ms" }
    "#;
    let outcome = with_series(text, &[], false);
    let delivered = floats(&outcome, "series", "delivered_bytes");
    assert_eq!(sums(&outcome, "flow", |row| delivered[row]).len(), 100);
    // Twenty messages of each of twenty flows.
    let others = sums(&outcome, "flows", |row| delivered[row]);
    assert_eq!(others.into_values().collect::<Vec<_>>(), [20.0 * 20.0 * 952.0]);
    let links = sums(&outcome, "link", |_| 1.0);
    assert!(links.len() <= 100 && links.keys().any(|[name, ..]| name == "shared"), "{}", links.len());
}

#[test]
fn of_stations_that_move_signals_and_associations_are_kept() {
    let example = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/wifi-roaming.toml");
    let text = fs::read_to_string(example).expect("an example");
    let kept = with_series(&text, &[], true);
    let trace = Trace { link_events: true, ..Trace::default() };
    let traced =
        outcome::of(&text, &[], Options { seed: 1, trace, fingerprints: true, ..Options::default() });
    let events = |outcome: &Outcome, of: &str| -> Vec<(String, String, String, u64, u64)> {
        let column = |name| texts(outcome, of, name);
        let [nodes, links, kinds] = ["node", "link", "event"].map(column);
        let (times, signals) = (floats(outcome, of, "time_s"), floats(outcome, of, "signal_dbm"));
        let row = |row: usize| {
            let [node, link, kind] = [nodes, links, kinds].map(|column| column[row].to_owned());
            (node, link, kind, (times[row] * 1e9).round() as u64, signals[row].to_bits())
        };
        (0..times.len()).map(row).collect()
    };
    let (kept_events, all) = (events(&kept, "signals"), events(&traced, "link_events"));
    // The neighbour stands. Of the walker what is no report is there, and of reports the last of each part of
    // 300 ms, in order.
    let is_report = |kind: &str| kind == "link_parameters_report";
    let others = ["link_detected", "link_up", "link_down", "link_lost"];
    let last = |event: &(String, String, String, u64, u64)| {
        let part = |ns: u64| ns.saturating_sub(1) / 300_000_000;
        !all.iter().any(|other| {
            is_report(&other.2)
                && other.1 == event.1
                && other.0 == event.0
                && part(other.3) == part(event.3)
                && other.3 > event.3
        })
    };
    let expected: Vec<_> = all
        .iter()
        .filter(|event| event.0 == "walker")
        .filter(|event| others.contains(&event.2.as_str()) || is_report(&event.2) && last(event))
        .cloned()
        .collect();
    assert_eq!(kept_events, expected);
    let ups = kept_events.iter().filter(|event| event.2 == "link_up").count();
    assert!(ups >= 2 && kept_events.len() * 2 < all.len(), "{ups} {} {}", kept_events.len(), all.len());
    // They cost no packet, and no fingerprint.
    let plain = outcome::of(&text, &[], Options { seed: 1, fingerprints: true, ..Options::default() });
    assert_eq!(kept.fingerprints, plain.fingerprints);
    assert!(plain.tables.iter().all(|table| table.name != "signals"));
}
