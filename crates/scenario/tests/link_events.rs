//! Link events, end to end: what links say, and what a remote MIH user hears of it.

use crate::outcome::{self, floats, integers, texts};
use crate::refusal;
use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::{Format, Scenario};
use std::fs;
use std::path::PathBuf;

fn example(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fs::read_to_string(folder.join(name)).expect("the example")
}

fn outcome(text: &str) -> Outcome {
    let scenario = Scenario::parse(text, "link_events.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let trace = Trace { link_events: true, transactions: true, bearers: true, ..Trace::default() };
    run(&scenario, Options { trace, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"))
}

/// Rows of the table without reports: milliseconds, link, event.
fn events(outcome: &Outcome) -> Vec<(f64, String, String)> {
    let (times, links, events) = (
        floats(outcome, "link_events", "time_s"),
        texts(outcome, "link_events", "link"),
        texts(outcome, "link_events", "event"),
    );
    let rows = times.iter().zip(links.iter()).zip(events.iter());
    rows.filter(|(_, event)| *event != "link_parameters_report")
        .map(|((time_s, link), event)| ((time_s * 1e5).round() / 100.0, link.to_owned(), event.to_owned()))
        .collect()
}

#[test]
fn a_walk_between_two_cells_is_told_step_by_step_and_by_mih() {
    let outcome = outcome(&example("link-events.toml"));
    // Beacons come every 102.4 ms. The reach of 170 m at a height of 10 m is left at x = sqrt(170^2 - 10^2) =
    // 169.706 m, after (169.706 - 20) / 5 = 29.941 s; the other one is entered at x = 130.294 m, after 22.059
    // s: by beacon 216 at 22118.4 ms. 3 s ahead: the first beacon after 26.941 s, number 264 at 27033.6 ms.
    // Missed from number 293 at 30003.2 ms on: lost by the third, at 30208 ms, with the other at once.
    let found = events(&outcome);
    let found: Vec<_> = found.iter().map(|(ms, link, event)| (*ms, link.as_str(), event.as_str())).collect();
    assert_eq!(
        found,
        [
            (0.0, "west cell", "link_detected"),
            (0.0, "west cell", "link_up"),
            (22118.4, "east cell", "link_detected"),
            (27033.6, "west cell", "link_going_down"),
            (30208.0, "west cell", "link_down"),
            (30208.0, "east cell", "link_up"),
        ]
    );
    // The first Link_Up came before the user had subscribed.
    assert_eq!(floats(&outcome, "transactions", "generated_s"), [27.0336, 30.208, 30.208]);
    assert_eq!(texts(&outcome, "transactions", "outcome"), ["success"; 3]);
    assert_eq!(texts(&outcome, "handovers", "scheme"), ["bridged"]);
}

#[test]
fn who_subscribes_to_them_hears_of_detected_links_and_of_each_beacon() {
    let asked = "kind = \"link_events\"\nevents = [\"link_detected\", \"link_parameters_report\"]";
    let outcome = outcome(&example("link-events.toml").replace("kind = \"link_events\"", asked));
    // West: beacon 0 comes before the subscription, 1 to 292 are heard. East: 216 is the detection, and then
    // each up to number 585 at 59904 ms.
    let generated = floats(&outcome, "transactions", "generated_s");
    assert_eq!(generated.len(), 292 + 1 + (585 - 216));
    assert!(generated.contains(&22.1184));
    // The message of beacon 293 of the east cell, while the terminal is in neither, is lost and sent again.
    let lost =
        texts(&outcome, "transactions", "outcome").iter().filter(|outcome| *outcome != "success").count();
    assert!(lost <= 6, "{lost}");
}

#[test]
fn a_registration_that_exceeds_a_packet_is_fragmented() {
    let mut text = "[scenario]\nname = \"star\"\nduration = \"1s\"\n".to_owned();
    let with_nodes = |text: &mut String, names: &mut dyn Iterator<Item = String>| {
        names.for_each(|name| *text += &format!("[[node]]\nname = \"{name}\"\n"));
    };
    let leaves = 130;
    with_nodes(&mut text, &mut ["center", "user"].map(str::to_owned).into_iter());
    with_nodes(&mut text, &mut (1..leaves).map(|leaf| format!("leaf-{leaf}")));
    let mut link = |to: &str| {
        text += &format!(
            "[[link]]\nname = \"{to}\"\nbetween = [\"center\", \"{to}\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\n"
        );
    };
    link("user");
    (1..leaves).for_each(|leaf| link(&format!("leaf-{leaf}")));
    text += "[[signalling]]\nname = \"events\"\nkind = \"link_events\"\nfrom = \"center\"\nto = \"user\"\n";
    // Header 8, MIHF IDs 9 and 7, type and length 1 + 2 of a list of 2 + 130 * 11 octets, code 3: 1462, with
    // UDP and IPv6 1510.
    let over_udp = outcome(&(text.clone() + "transport = { protocol = \"udp\" }\n"));
    assert_eq!(integers(&over_udp, "fragmentation", "fragmented_datagrams"), [1]);
    outcome(&(text + "transport = { protocol = \"tcp\" }\n"));
}

#[test]
fn a_registration_that_comes_again_is_no_second_subscription() {
    let text = r#"
        [scenario]
        name = "Registered twice"
        duration = "10s"
        [[node]]
        name = "origin"
        [[node]]
        name = "user"
        [[link]]
        name = "pipe"
        between = ["origin", "user"]
        rate = "10Mb/s"
        delay = "10ms"
        loss = { from = "user", model = "list", segments = [1] }
        [[signalling]]
        name = "events"
        kind = "link_events"
        from = "origin"
        to = "user"
        transport = { protocol = "udp" }
    "#;
    let outcome = outcome(text);
    let senders = texts(&outcome, "links", "from");
    let at = senders.iter().position(|from| from == "user").expect("the user's direction");
    // The answer to the registration, which is lost, and a subscription; after 3 s, with the registration
    // again, an answer.
    assert_eq!(outcome::integers(&outcome, "links", "sent_packets")[at], 3);
}

#[test]
fn without_time_ahead_it_is_a_beacon_missed_that_tells() {
    let text = example("link-events.toml").replace("advertisement = { going_down_ahead = \"3s\" }\n", "");
    let found = events(&outcome(&text));
    let going_down: Vec<_> = found.iter().filter(|(_, _, event)| event == "link_going_down").collect();
    // Beacon 293 is the first that is out of reach; two remain, certainly.
    assert_eq!(going_down.len(), 1);
    assert_eq!(going_down[0].0, 30003.2);
}

#[test]
fn an_outage_takes_a_wire_down_and_up_at_both_ends() {
    let text = example("outages.toml");
    let found = events(&outcome(&text));
    let at_both_ends = |ms: f64, event: &str| vec![(ms, "radio".to_owned(), event.to_owned()); 2];
    let expected = [
        at_both_ends(10_000.0, "link_down"),
        at_both_ends(10_800.0, "link_up"),
        at_both_ends(30_000.0, "link_down"),
        at_both_ends(42_000.0, "link_up"),
    ];
    assert_eq!(found, expected.concat());
}

#[test]
fn a_dect_terminal_is_up_while_it_has_a_bearer() {
    // So many others that it loses all of its bearers from time to time.
    let text = example("dect-access.toml")
        .replace("\"15min\"", "\"11min\"")
        .replace("offered_erlang = 105", "offered_erlang = 300")
        .replace("cell_time = \"60s\"", "cell_time = \"2s\"")
        .replace("bursts = [{ start = \"750s\", duration = \"1s\", factor = 10 }]\n", "");
    let outcome = outcome(&text);
    let (times, bearers) = (floats(&outcome, "samples", "time_s"), floats(&outcome, "samples", "value"));
    let samples: Vec<_> = times.iter().zip(bearers).collect();
    let turns = samples.windows(2).filter(|pair| (*pair[0].1 == 0.0) != (*pair[1].1 == 0.0));
    // What happens in a frame of 10 ms is known at its end.
    let expected: Vec<_> = turns
        .map(|pair| {
            let ms = (pair[1].0 * 1e5).round() / 100.0 + 10.0;
            (ms, "air".to_owned(), if *pair[1].1 > 0.0 { "link_up" } else { "link_down" }.to_owned())
        })
        .collect();
    assert!(expected.len() > 2, "{expected:?}");
    assert_eq!(events(&outcome), expected);
}

const WALK: &str = include_str!("../../../examples/link-events.toml");

reports! { on WALK;
    events_of_no_link:
        "kind = \"link_events\"" => "kind = \"indication\"\nmessage_size = \"100B\"\ninterval = \"1s\"\nevents = [\"link_up\"]";
    no_events: "kind = \"link_events\"" => "kind = \"link_events\"\nevents = []";
    an_event_twice:
        "kind = \"link_events\"" => "kind = \"link_events\"\nevents = [\"link_up\", \"link_down\", \"link_up\"]";
    an_event_that_is_none: "kind = \"link_events\"" => "kind = \"link_events\"\nevents = [\"link_sideways\"]";
    one_interface_under_mobile_sctp: "\"bridged\"" => "\"mobile_sctp\"";
    one_interface_that_is_multihomed: "\"bridged\"" => "\"multihomed\"";
    mobile_ip_without_an_entry: "\"bridged\"" => "\"mobile_ip\"";
    a_bridged_station_with_an_address_in_each_cell: "\"bridged\"" => "\"bridged\"\nmultihomed = true";
    a_handover_of_a_node_without_cells:
        "name = \"point of service\"\n[" => "name = \"point of service\"\nhandover = \"bridged\"\n[";
    a_bridge_between_base_stations_that_nothing_joins:
        "[[link]]\nname = \"to east\"\nbetween = [\"point of service\", \"east\"]" =>
        "[[node]]\nname = \"elsewhere\"\n[[link]]\nname = \"to east\"\nbetween = [\"elsewhere\", \"east\"]";
    going_down_no_time_ahead:
        "advertisement = { going_down_ahead = \"3s\" }\n[[cell]]" => "advertisement = { going_down_ahead = \"0s\" }\n[[cell]]";
    indications_without_a_pace: "kind = \"link_events\"" => "kind = \"indication\"";
    link_events_at_an_interval: "kind = \"link_events\"" => "kind = \"link_events\"\ninterval = \"1s\"";
}

const MOBILE_IP: &str = include_str!("../../../examples/mobile-ip.toml");

reports! { on MOBILE_IP;
    a_mobile_node_that_is_bridged: "handover = \"mobile_ip\"" => "handover = \"bridged\"";
    a_cell_without_an_agent: "[[mobile_ip]]\nname" => "\
[[node]]
name = \"third\"
position = { x = \"150m\", y = \"0m\" }
[[link]]
name = \"to third\"
between = [\"router\", \"third\"]
rate = \"10Mb/s\"
delay = \"20ms\"
[[cell]]
name = \"third cell\"
base_station = \"third\"
stations = [\"terminal\"]
rate = \"1Mb/s\"
coverage = { model = \"disc\", radius = \"170m\" }
[[mobile_ip]]
name";
}

/// The walk of the example by a terminal that is in both cells at once, whose remote user configures a
/// threshold.
fn commanded(direction: &str, actions: &str) -> String {
    example("link-events.toml")
        .replace("handover = \"bridged\"\n", "")
        .replace("# It stays with a cell as long as it hears it.\nhysteresis = \"300m\"", "multihomed = true")
        + &format!(
            "thresholds = [{{ link = \"west cell\", percent = 20, direction = \"{direction}\" }}]\nactions = [{actions}]\n"
        )
}

/// The rows of the table of commands: link, command, result.
fn commands(outcome: &Outcome) -> Vec<[String; 3]> {
    let column = |name| texts(outcome, "link_commands", name).to_vec();
    let rows = column("link").into_iter().zip(column("command")).zip(column("result"));
    rows.map(|((link, command), result)| [link, command, result].map(|text| text.to_string())).collect()
}

#[test]
fn a_remote_user_is_told_when_the_signal_has_crossed_its_threshold_and_not_before() {
    let outcome = outcome(&commanded("below", ""));
    assert_eq!(commands(&outcome), [["west cell", "configure_thresholds", "success"]]);
    // Less than 19.5 % beyond 136.85 m, or 136.485 m west to east, after 23.297 s: beacon 228 at 23347.2 ms.
    // The reports of 228 beacons before are not told. Link_Up of the east at 22118.4 ms, of which no
    // threshold is known, Link_Going_Down and Link_Down of the west.
    let at = |outcome: &Outcome, at_s: f64| {
        let told = floats(outcome, "transactions", "generated_s");
        told.iter().filter(|told_s| (**told_s - at_s).abs() < 1e-9).count()
    };
    // Reports of the east, which has none, nobody has asked for.
    assert_eq!([at(&outcome, 23.2448), at(&outcome, 23.3472), at(&outcome, 23.4496)], [0, 1, 0]);
    assert!(floats(&outcome, "transactions", "generated_s").iter().all(|at_s| *at_s > 22.1));
    let other = self::outcome(&commanded("above", ""));
    assert_eq!(at(&other, 23.3472), 0);
}

#[test]
fn a_remote_user_is_told_that_a_link_is_going_down_when_that_is_sure_enough() {
    // A beacon that is missed within reach makes it less sure than a second one.
    let lossy = "{ model = \"distance_power\", radius = \"170m\", error_at_edge = 0.8 }";
    let text = example("link-events.toml")
        .replace("advertisement = { going_down_ahead = \"3s\" }\n", "")
        .replace("{ model = \"disc\", radius = \"170m\" }", lossy);
    let told = |keys: &str| {
        let keys = format!("kind = \"link_events\"\nevents = [\"link_going_down\"]{keys}");
        let outcome = outcome(&text.replace("kind = \"link_events\"", &keys));
        // Of each time that a link was going down, how sure it was, and when.
        let mut times: Vec<Vec<(f64, f64)>> = Vec::new();
        let sure = floats(&outcome, "link_events", "confidence");
        let rows = texts(&outcome, "link_events", "event").iter().zip(sure);
        let mut last = std::collections::BTreeMap::new();
        let links = texts(&outcome, "link_events", "link").iter();
        for (((event, sure), link), at_s) in rows.zip(links).zip(floats(&outcome, "link_events", "time_s")) {
            match event {
                "link_going_down" => {
                    let number = *last.entry(link).or_insert_with(|| {
                        times.push(Vec::new());
                        times.len() - 1
                    });
                    times[number].push((*at_s, *sure));
                }
                "link_event_rollback" | "link_down" => drop(last.remove(link)),
                _ => {}
            }
        }
        (times, floats(&outcome, "transactions", "generated_s").to_vec())
    };
    let (plain, all) = told("");
    assert!(plain.iter().all(|time| time.len() == 1) && all.len() == plain.len() && all.len() > 5);
    let (rising, heard) = told("\nconfidence = 0.4");
    let first = |times: &[Vec<(f64, f64)>]| times.iter().map(|time| time[0]).collect::<Vec<_>>();
    assert_eq!(first(&plain), first(&rising));
    let reached = rising.iter().filter_map(|time| time.iter().find(|(_, sure)| *sure >= 0.4));
    assert_eq!(heard, reached.map(|(at_s, _)| *at_s).collect::<Vec<_>>());
    // Some come to it by a second beacon, and some never do.
    assert!(rising.iter().any(|time| time.len() == 2 && time[0].1 < 0.4 && time[1].1 >= 0.4), "{rising:?}");
    assert!(rising.len() > heard.len());
}

#[test]
fn a_remote_user_has_links_powered_down_and_up() {
    let upon = "upon = \"link_parameters_report\", of = \"west cell\"";
    let down = format!("{{ link = \"east cell\", action = \"power_down\", {upon} }}");
    let up =
        "{ link = \"east cell\", action = \"power_up\", upon = \"link_going_down\", of = \"west cell\" }";
    let outcome = outcome(&commanded("below", &format!("{down}, {up}")));
    let row = |link: &str, command: &str| [link, command, "success"].map(str::to_owned);
    let expected = [
        row("west cell", "configure_thresholds"),
        row("east cell", "power_down"),
        row("east cell", "power_up"),
    ];
    assert_eq!(commands(&outcome), expected);
    let found = events(&outcome);
    let of_east: Vec<(f64, &str)> = found
        .iter()
        .filter(|(_, link, _)| link == "east cell")
        .map(|(ms, _, event)| (ms.floor(), event.as_str()))
        .collect();
    // Told at 23347.2 and 27033.6 ms; the indication and the command travel 5 ms each, and a little.
    assert_eq!(of_east[0], (22118.0, "link_detected"));
    assert_eq!(of_east[1], (22118.0, "link_up"));
    let [(down_ms, "link_down"), (up_ms, "link_up")] = of_east[2..4] else { panic!("{of_east:?}") };
    assert!((23357.0..23362.0).contains(&down_ms) && (27043.0..27048.0).contains(&up_ms), "{of_east:?}");
    let answered_s = floats(&outcome, "link_commands", "answered_s");
    assert!((23.352..23.37).contains(&answered_s[1]), "{answered_s:?}");
}

/// A user at the client commands links of a node, when the one from it to the clock goes down at 5 s, and up
/// at 8 s.
fn switched(from: &str, more: &str, actions: &str) -> String {
    format!(
        r#"[scenario]
name = "Links that are switched"
duration = "12s"
ip = "ipv4"

[[node]]
name = "client"
[[node]]
name = "{from}"
[[node]]
name = "pulse"

[[link]]
name = "clock"
between = ["{from}", "pulse"]
rate = "100Mb/s"
delay = "5ms"
outages = [{{ start = "5s", duration = "3s" }}]
[[link]]
name = "wire"
between = ["client", "{from}"]
rate = "100Mb/s"
delay = "5ms"
{more}
[[signalling]]
name = "commands"
kind = "link_events"
from = "{from}"
to = "client"
transport = {{ protocol = "udp" }}
actions = [{actions}]
"#
    )
}

#[test]
fn a_remote_user_has_a_wire_switched_off_and_on() {
    let third = "\
[[node]]
name = \"sink\"
[[link]]
name = \"switched\"
between = [\"server\", \"sink\"]
rate = \"100Mb/s\"
delay = \"5ms\"
[[flow]]
name = \"stream\"
from = \"server\"
to = \"sink\"
transport = { protocol = \"udp\" }
application = { kind = \"cbr\", packet_size = \"100B\", interval = \"100ms\" }
[[flow]]
name = \"back\"
from = \"sink\"
to = \"server\"
transport = { protocol = \"udp\" }
application = { kind = \"cbr\", packet_size = \"100B\", interval = \"100ms\" }
";
    let command = |action: &str, upon: &str| {
        format!("{{ link = \"switched\", action = \"{action}\", upon = \"{upon}\", of = \"clock\" }}")
    };
    let actions = [command("power_down", "link_down"), command("power_up", "link_up")].join(", ");
    let outcome = outcome(&switched("server", third, &actions));
    let row = |command: &str| ["switched", command, "success"].map(str::to_owned);
    assert_eq!(commands(&outcome), [row("power_down"), row("power_up")]);
    // An indication and a command take 5 ms each and some microseconds. Both ends hear of it.
    let of_it: Vec<(f64, String)> = events(&outcome)
        .into_iter()
        .filter(|(_, link, _)| link == "switched")
        .map(|(ms, _, event)| (ms.floor(), event))
        .collect();
    let told = |ms: f64, event: &str| (ms, event.to_owned());
    let expected = [
        told(5010.0, "link_down"),
        told(5010.0, "link_down"),
        told(8010.0, "link_up"),
        told(8010.0, "link_up"),
    ];
    assert_eq!(of_it, expected);
    // Of 120 packets those of 5.1 to 8.0 s, each way.
    for flow in 0..2 {
        assert_eq!(floats(&outcome, "flows", "delivered_packets")[flow], 90.0);
    }
    let reasons = texts(&outcome, "drops", "reason");
    assert_eq!(reasons.different(), ["outage"]);
}

#[test]
fn a_remote_user_has_a_terminal_of_dect_switched_off_and_on() {
    let air = "\
[[node]]
name = \"gateway\"
[[dect]]
name = \"air\"
terminal = \"terminal\"
gateway = \"gateway\"
[[flow]]
name = \"stream\"
from = \"terminal\"
to = \"gateway\"
transport = { protocol = \"udp\" }
application = { kind = \"cbr\", packet_size = \"100B\", interval = \"100ms\" }
";
    let command = |action: &str, upon: &str| {
        format!("{{ link = \"air\", action = \"{action}\", upon = \"{upon}\", of = \"clock\" }}")
    };
    let actions = [command("disconnect", "link_down"), command("power_up", "link_up")].join(", ");
    let outcome = outcome(&switched("terminal", air, &actions));
    let row = |command: &str| ["air", command, "success"].map(str::to_owned);
    assert_eq!(commands(&outcome), [row("disconnect"), row("power_up")]);
    // What comes at 5.010 s is done in the frame that ends at 5.02 s: the connection is released, and none is
    // there up to 8.02 s.
    let of_it: Vec<(f64, String)> = events(&outcome)
        .into_iter()
        .filter(|(_, link, _)| link == "air")
        .map(|(ms, _, event)| (ms, event))
        .filter(|(ms, _)| *ms > 4000.0)
        .collect();
    assert_eq!(of_it[0], (5020.0, "link_down".to_owned()));
    assert_eq!(of_it.len(), 2, "{of_it:?}");
    assert!(of_it[1].1 == "link_up" && (8020.0..8500.0).contains(&of_it[1].0), "{of_it:?}");
    let reasons = texts(&outcome, "link_events", "reason");
    assert!(reasons.iter().any(|reason| reason == "explicit disconnect"));
    // What waited goes then: all 120 but those that are under way at the end.
    assert!(floats(&outcome, "flows", "delivered_packets")[0] >= 118.0);
}

/// Rows of reports of packet errors: seconds, ratio.
fn errors_of(outcome: &Outcome) -> Vec<(f64, f64)> {
    let rates = floats(outcome, "link_events", "packet_error_rate");
    let times = floats(outcome, "link_events", "time_s");
    times.iter().copied().zip(rates.iter().copied()).filter(|(_, rate)| !rate.is_nan()).collect()
}

#[test]
fn a_remote_user_is_told_when_the_packet_errors_of_a_wire_have_crossed_its_threshold() {
    let measured = "\
[[node]]
name = \"sink\"
[[link]]
name = \"measured\"
between = [\"server\", \"sink\"]
rate = \"100Mb/s\"
delay = \"5ms\"
loss = { model = \"series\", from = \"sink\", steps = [{ at = \"0s\", probability = 0 }, { at = \"3s\", probability = 1 }, { at = \"6s\", probability = 0 }] }
[[flow]]
name = \"back\"
from = \"sink\"
to = \"server\"
transport = { protocol = \"udp\" }
application = { kind = \"cbr\", packet_size = \"100B\", interval = \"100ms\", start = \"50ms\" }
";
    let threshold = |percent: u8, direction: &str| {
        format!(
            "{{ link = \"measured\", packet_error_percent = {percent}, report_interval = \"1s\", direction = \"{direction}\" }}"
        )
    };
    let text = |actions: &str| {
        let thresholds = [threshold(60, "above"), threshold(10, "below")].join(", ");
        switched("server", measured, actions) + &format!("thresholds = [{thresholds}]\n")
    };
    let plain = outcome(&text(""));
    assert_eq!(commands(&plain), [["measured", "configure_thresholds", "success"]]);
    // Configured after two messages, some 10 ms from the beginning; from then on each second has the ten
    // packets sent at 50, 150, ... 950 ms of it: whole ones, those sent from 3 to 6 s in error.
    let reports = errors_of(&plain);
    let ratios: Vec<f64> = reports.iter().map(|(_, ratio)| *ratio).collect();
    assert_eq!(ratios, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    for ((at_s, _), second) in reports.iter().zip(1..) {
        assert!((0.01..0.012).contains(&(at_s - f64::from(second))), "{at_s}");
    }
    // Told of the fourth and of the seventh alone, and of the clock.
    let told: Vec<f64> = floats(&plain, "transactions", "generated_s").to_vec();
    assert_eq!(told, [reports[3].0, 5.0, reports[6].0, 8.0]);
    // After the stop nothing is counted: each further second has the packets that it would have without
    // thresholds.
    let events_within = |duration: &str, thresholds: &str| {
        let text = switched("server", measured, "").replace("\"12s\"", &format!("\"{duration}\""));
        outcome(&(text + "stop = \"5500ms\"\n" + thresholds)).events
    };
    let [with, without] = [format!("thresholds = [{}]\n", threshold(60, "above")), String::new()]
        .map(|thresholds| events_within("40s", &thresholds) - events_within("20s", &thresholds));
    assert_eq!(with, without);
    // A user who switches the link off then; nothing comes any more, of which there is no report.
    let off = "{ link = \"measured\", action = \"power_down\", upon = \"link_parameters_report\", of = \"measured\" }";
    let off = outcome(&text(off));
    assert_eq!(errors_of(&off).iter().map(|(_, ratio)| *ratio).collect::<Vec<_>>(), [0.0, 0.0, 0.0, 1.0]);
    let found = events(&off);
    let down = found.iter().find(|(_, link, event)| link == "measured" && event == "link_down");
    // Told at 4.010 s; the indication and the command travel 5 ms each.
    assert!((4020.0..4023.0).contains(&down.expect("its end").0), "{down:?}");
}

/// The ratio of errors that one end of a DECT access reports every second for 600 s: its mean, and the error
/// of that.
fn dect_errors(at: &str, dlc: &str) -> (f64, f64) {
    let other = if at == "terminal" { "gateway" } else { "terminal" };
    let measured = format!(
        "\
[[node]]
name = \"{other}\"
[[dect]]
name = \"air\"
terminal = \"terminal\"
gateway = \"gateway\"
fixed_bearers = 2
errors = {{ ber_bad = 1.7e-4 }}
warm_up = \"40s\"
{dlc}
[[flow]]
name = \"stream\"
from = \"{other}\"
to = \"{at}\"
transport = {{ protocol = \"udp\" }}
application = {{ kind = \"cbr\", packet_size = \"480B\", interval = \"100ms\" }}
"
    );
    let threshold = "thresholds = [{ link = \"air\", packet_error_percent = 90, report_interval = \"1s\", direction = \"above\" }]\n";
    let reports =
        errors_of(&outcome(&(switched(at, &measured, "").replace("\"12s\"", "\"601s\"") + threshold)));
    assert_eq!(reports.len(), 600);
    let count = reports.len() as f64;
    let mean = reports.iter().map(|(_, ratio)| ratio).sum::<f64>() / count;
    let squares = reports.iter().map(|(_, ratio)| (ratio - mean) * (ratio - mean)).sum::<f64>();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn a_remote_user_is_told_of_the_errors_at_either_end_of_a_dect_access() {
    // A packet of the Ip channel is repeated until all four of its subfields are correct, each of which fails
    // with s = 1 - (1 - 1.7e-4)^80 = 0.01351 a time: 1 + sum over k of 1 - (1 - s^k)^4 = 1.05369 attempts,
    // all but the last of them in error. A B field of LU1 has 320 bits: 1 - (1 - 1.7e-4)^320 = 0.05295.
    for (at, dlc, expected) in [
        ("terminal", "", 1.0 - 1.0 / 1.05369),
        ("gateway", "", 1.0 - 1.0 / 1.05369),
        ("terminal", "dlc = { service = \"lu1\" }", 0.05295),
    ] {
        let (mean, error) = dect_errors(at, dlc);
        assert!(
            (mean - expected).abs() < 3.0 * error && error < 0.003,
            "{at}: {mean} not {expected}, {error}"
        );
    }
}

#[test]
fn a_threshold_of_errors_that_cannot_be_is_refused() {
    let wire = "link = \"clock\"";
    for (threshold, message) in [
        (
            "link = \"nowhere\", packet_error_percent = 5, report_interval = \"1s\"",
            "\"nowhere\" is not a link of \"server\" that reports its",
        ),
        (&format!("{wire}, dbm = -70"), "\"clock\" has no signal"),
        (&format!("{wire}, percent = 70, packet_error_percent = 5"), "\"clock\" has no signal"),
        (wire, "\"clock\" reports only packet errors"),
        (&format!("{wire}, packet_error_percent = 5"), "packet errors are counted in an interval"),
        (
            &format!("{wire}, packet_error_percent = 0, report_interval = \"1s\""),
            "no value is below 0 percent",
        ),
        (&format!("{wire}, packet_error_percent = 101, report_interval = \"1s\""), "there are 100 percent"),
        (
            &format!("{wire}, packet_error_percent = 5, report_interval = \"0s\""),
            "the message has a report interval",
        ),
        (
            &format!("{wire}, packet_error_percent = 5, report_interval = \"66s\""),
            "the message has a report interval",
        ),
        (
            &format!(
                "{wire}, packet_error_percent = 5, report_interval = \"1s\", direction = \"above\" }}, {{ {wire}, packet_error_percent = 5, report_interval = \"2s\""
            ),
            "are counted in two",
        ),
    ] {
        let text = switched("server", "", "")
            + &format!("thresholds = [{{ {threshold}, direction = \"below\" }}]\n");
        let report = refusal::refuse(&text);
        assert!(report.contains(message), "{report}");
    }
    let signal = example("link-events.toml")
        + "thresholds = [{ link = \"west cell\", percent = 20, report_interval = \"1s\", direction = \"below\" }]\n";
    let report = refusal::refuse(&signal);
    assert!(report.contains("reports its signal at its own"), "{report}");
    let never = signal.replace("report_interval = \"1s\", direction = \"below\"", "direction = \"above\"");
    let report = refusal::refuse(&never.replace("percent = 20", "percent = 100"));
    assert!(report.contains("no value is above 100 percent"), "{report}");
}

#[test]
fn a_remote_user_has_a_station_of_802_11_scan() {
    let commands_of = example("wifi-roaming.toml")
        + "\n[[signalling]]\nname = \"commands\"\nkind = \"link_events\"\nfrom = \"neighbour\"\nto = \"server\"\n\
           transport = { protocol = \"tcp\" }\nevents = [\"link_parameters_report\"]\n\
           actions = [{ link = \"west cell\", action = \"scan\", upon = \"link_parameters_report\" }]\n";
    let outcome = outcome(&commands_of);
    let results = commands(&outcome);
    // The last ones are under way at the end.
    let answered: Vec<_> = results.iter().filter(|row| !row[2].is_empty()).collect();
    assert!(answered.len() > 100 && answered.len() + 5 > results.len());
    assert!(answered.iter().all(|row| **row == ["west cell", "scan", "success"].map(str::to_owned)));
    // It stands beside its access point, and looks for one once by itself.
    let (nodes, phases) = (texts(&outcome, "radio_phases", "node"), texts(&outcome, "radio_phases", "phase"));
    let scans = nodes
        .iter()
        .zip(phases.iter())
        .filter(|(node, phase)| *node == "neighbour" && *phase == "scanning")
        .count();
    assert!(scans > answered.len() / 2, "{scans} scans for {} commands", answered.len());
}

reports! { on WALK;
    thresholds_of_no_link_events: "kind = \"link_events\"" => "kind = \"indication\"\nmessage_size = \"200B\"\ninterval = \"1s\"\nthresholds = [{ link = \"west cell\", percent = 20, direction = \"below\" }]";
    a_threshold_of_no_cell: "kind = \"link_events\"" => "kind = \"link_events\"\nthresholds = [{ link = \"north cell\", percent = 20, direction = \"below\" }]";
    a_threshold_in_dbm_of_a_distance: "kind = \"link_events\"" => "kind = \"link_events\"\nthresholds = [{ link = \"west cell\", dbm = -70, direction = \"below\" }]";
    a_confidence_of_no_link_events: "kind = \"link_events\"" => "kind = \"indication\"\nmessage_size = \"200B\"\ninterval = \"1s\"\nconfidence = 0.5";
    a_confidence_of_what_is_not_told: "kind = \"link_events\"" => "kind = \"link_events\"\nevents = [\"link_up\"]\nconfidence = 0.5";
    a_confidence_in_percent: "kind = \"link_events\"" => "kind = \"link_events\"\nconfidence = 50";
    a_threshold_of_two_values: "kind = \"link_events\"" => "kind = \"link_events\"\nthresholds = [{ link = \"west cell\", dbm = -70, percent = 20, direction = \"below\" }]";
    an_action_upon_what_is_not_told: "kind = \"link_events\"" => "kind = \"link_events\"\nactions = [{ link = \"west cell\", action = \"power_down\", upon = \"link_detected\" }]";
    an_action_of_who_chooses_by_himself: "kind = \"link_events\"" => "kind = \"link_events\"\nactions = [{ link = \"west cell\", action = \"power_down\", upon = \"link_up\" }]";
    an_action_of_no_link: "kind = \"link_events\"" => "kind = \"link_events\"\nactions = [{ link = \"north cell\", action = \"power_down\", upon = \"link_up\" }]";
    a_scan_of_a_link_that_cannot: "kind = \"link_events\"" => "kind = \"link_events\"\nactions = [{ link = \"west cell\", action = \"scan\", upon = \"link_up\" }]";
}
