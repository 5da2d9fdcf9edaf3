//! Every key of `[[handover]]`, each of its values against another: what is measured changes with it.

use roamsim_scenario::run::{Options, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario, schema};
use std::collections::BTreeSet;

const GOOD: &str = include_str!("../../../examples/mih-handover.toml");

/// The example in which packets are lost, each with the same probability wherever it goes by radio.
fn lossy() -> String {
    let small = GOOD.split("[[cell]]").nth(1).expect("the small cell");
    let wifi = "\nname = \"small\"\naccess_point = \"access-point\"\nstations = [\"terminal\"]\nstandard = \"802.11b\"\n\
                beacons = {}\nedca = {}\nradio = { path_loss = { model = \"free_space\" }, radius = \"50m\", \
                carrier_sense_threshold = \"-90dBm\" }\n\
                loss = [{ model = \"bernoulli\", during = \"link_going_down\", probability = 0.4 }]\n\n";
    GOOD.replace(&format!("[[cell]]{small}"), &format!("[[wifi]]{wifi}")).replace(
        "multihomed = true",
        "wifi = { going_down_factor = 1.5, signal_weight = 1.0 }\nmultihomed = true",
    )
}

/// The example with an 802.16 cell as the new network, which takes its time to enter.
fn to_wimax() -> String {
    let large =
        GOOD.split("[[cell]]").nth(2).expect("the large cell").split("[[link]]").next().expect("links");
    let wimax = "\nname = \"large\"\nbase_station = \"base-station\"\nstations = [\"terminal\"]\nbandwidth = \"5MHz\"\n\
                 entry = { radius = \"500m\" }\n\n";
    GOOD.replace(&format!("[[cell]]{large}"), &format!("[[wimax]]{wimax}"))
}

/// The example with a third network, nearer at hand, whose point of service is behind a wire of its own.
fn with_third(capacities: [&str; 2]) -> String {
    let [second, third] = capacities;
    GOOD.replace(
        "to = [{ access = \"large\", pos = \"pos-2\" }]",
        &format!(
            "to = [{{ access = \"large\", pos = \"pos-2\"{second} }}, {{ access = \"other\", pos = \"pos-3\"{third} }}]"
        ),
    ) + "\n[[node]]\nname = \"pos-3\"\n[[node]]\nname = \"other-station\"\nposition = { x = \"50m\", y = \"0m\" }\n\
         [[cell]]\nname = \"other\"\nbase_station = \"other-station\"\nstations = [\"terminal\"]\nrate = \"5Mb/s\"\n\
         coverage = { model = \"disc\", radius = \"400m\" }\nadvertisement = { period = \"100ms\" }\n\
         [[link]]\nname = \"f\"\nbetween = [\"router\", \"pos-3\"]\nrate = \"100Mb/s\"\ndelay = \"3ms\"\n\
         [[link]]\nname = \"g\"\nbetween = [\"router\", \"other-station\"]\nrate = \"100Mb/s\"\ndelay = \"3ms\"\n"
}

/// Two terminals, one a metre behind the other, on their way into an 802.16 cell with room for one, which
/// they enter when it is agreed.
fn two_for_one() -> String {
    let text = to_wimax()
        .replace("stations = [\"terminal\"]", "stations = [\"terminal\", \"other\"]")
        .replace("pos = \"pos-2\" }", "pos = \"pos-2\", capacity = 1 }")
        // The first has not come yet when the second asks.
        .replace("radius = \"500m\" }", "radius = \"500m\", ranging_interval = \"2s\" }")
        .replace(SCAN, &format!("{SCAN}\nentry = \"after_commitment\""));
    let part = |from: &str, to: &str| {
        let part = text.split(from).nth(1).expect(from).split(to).next().expect(to);
        format!("\n{from}{part}").replace("terminal", "other").replace("\"stream\"", "\"other stream\"")
    };
    let node = part("[[node]]\nname = \"terminal\"", "[[node]]").replace("25m", "24m");
    let handover = part("[[handover]]", "[[none]]").replace("\"walk\"", "\"other walk\"");
    format!("{text}{node}{}{handover}", part("[[flow]]", "[[handover]]"))
}

/// What is measured: all numbers, no names.
fn measured(text: &str, seed: u64) -> String {
    let scenario = Scenario::parse(text, "keys.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}\n{text}", diagnostics.render(false)));
    let outcome =
        run(&scenario, Options { seed, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"));
    let mut found = String::new();
    for table in &outcome.tables {
        for column in &table.columns {
            match &column.values {
                Values::Text(_) => {}
                numbers => found += &format!("{}.{} {numbers:?}\n", table.name, column.name),
            }
        }
    }
    found
}

/// The keys of a type, as the schema has them.
fn keys(name: &str) -> BTreeSet<String> {
    let found = &schema()["$defs"][name]["properties"];
    found.as_object().unwrap_or_else(|| panic!("no {name}")).keys().cloned().collect()
}

/// The words of a type.
fn words(name: &str) -> BTreeSet<String> {
    let schema = schema();
    let found = &schema["$defs"][name];
    let list = found["enum"].as_array().or(found["oneOf"].as_array()).unwrap_or_else(|| panic!("no {name}"));
    let word = |value: &serde_json::Value| {
        value.as_str().or(value["const"].as_str()).unwrap_or_else(|| panic!("{value}")).to_owned()
    };
    list.iter().map(word).collect()
}

/// One key: the scenario, what of its text is replaced, by each of its values in turn.
struct Key {
    name: &'static str,
    scenario: String,
    place: &'static str,
    values: Vec<String>,
}

fn key<const N: usize>(name: &'static str, scenario: &str, place: &'static str, values: [&str; N]) -> Key {
    assert!(scenario.contains(place), "{name}: {place}");
    Key { name, scenario: scenario.to_owned(), place, values: values.map(str::to_owned).to_vec() }
}

const MOBILE: &str = "initiated_by = \"mobile_node\"\n";
const NETWORK: &str = "initiated_by = \"network\"\n";
const SCAN: &str = "scan_time = \"600ms\"";
const ACKS: &str = "acknowledgement = { timeout = \"100ms\", retransmissions = 2 }";

fn all() -> Vec<Key> {
    let lossy = lossy();
    let network = GOOD.replace(MOBILE, NETWORK);
    // The commitment is never answered: its point of service is not there in time.
    let silent = GOOD.replace(ACKS, "").replace(
        "to = [{ access = \"large\", pos = \"pos-2\" }]",
        "to = [{ access = \"large\", pos = \"pos-2\", processing_time = \"5s\" }]",
    );
    let limit = |bucket: u32, rate: u32, queue: u32| {
        format!("{SCAN}\nrate_limit = {{ bucket = {bucket}, rate = \"{rate}/s\", queue = {queue} }}")
    };
    let limits = |others: [String; 2]| [SCAN.to_owned(), limit(1, 2, 10)].into_iter().chain(others).collect();
    let mut list = vec![
        key("initiated_by", GOOD, MOBILE, [MOBILE, NETWORK, "initiated_by = \"both\"\n"]),
        key("notice", &network, NETWORK, [NETWORK, "initiated_by = \"network\"\nnotice = \"remote\"\n"]),
        key("from.pos", GOOD, "pos = \"pos-1\"", ["pos = \"pos-1\"", "pos = \"server\""]),
        key(
            "from.processing_time",
            GOOD,
            "pos = \"pos-1\"",
            ["pos = \"pos-1\"", "pos = \"pos-1\", processing_time = \"0s\""],
        ),
        key("to.pos", GOOD, "pos = \"pos-2\"", ["pos = \"pos-2\"", "pos = \"server\""]),
        key("to.capacity", GOOD, "pos = \"pos-2\"", ["pos = \"pos-2\"", "pos = \"pos-2\", capacity = 0"]),
        key(
            "reservation_time",
            &two_for_one(),
            SCAN,
            [SCAN, "scan_time = \"600ms\"\nreservation_time = \"50ms\""],
        ),
        key(
            "to.processing_time",
            GOOD,
            "pos = \"pos-2\"",
            ["pos = \"pos-2\"", "pos = \"pos-2\", processing_time = \"0s\""],
        ),
        key(
            "transport",
            &GOOD.replace(ACKS, ""),
            "{ protocol = \"udp\" }\nmessage_size",
            [
                "{ protocol = \"udp\" }\nmessage_size",
                "{ protocol = \"tcp\" }\nmessage_size",
                "{ protocol = \"sctp\" }\nmessage_size",
            ],
        ),
        key(
            "transport_between_pos",
            &GOOD.replace(ACKS, ""),
            SCAN,
            [SCAN, "scan_time = \"600ms\"\ntransport_between_pos = { protocol = \"tcp\" }"],
        ),
        // Of a class of its own it contends otherwise.
        key("dscp", &lossy, SCAN, [SCAN, "scan_time = \"600ms\"\ndscp = \"ef\""]),
        key(
            "message_size",
            GOOD,
            "message_size = \"200B\"\n",
            ["message_size = \"200B\"\n", "message_size = \"400B\"\n", ""],
        ),
        key(
            "processing_time",
            GOOD,
            "processing_time = \"200ms\"",
            ["processing_time = \"200ms\"", "processing_time = \"50ms\""],
        ),
        key("scan_time", GOOD, SCAN, [SCAN, "scan_time = \"100ms\""]),
        key(
            "act_on",
            GOOD,
            SCAN,
            [
                "scan_time = \"600ms\"\nact_on = \"link_going_down\"",
                "scan_time = \"600ms\"\nact_on = \"link_detected\"",
                "scan_time = \"600ms\"\nact_on = \"link_down\"",
            ],
        ),
        key(
            "act_on",
            GOOD,
            SCAN,
            [SCAN, "scan_time = \"600ms\"\nact_on = \"link_parameters_report\"\nthresholds = [{ percent = 40, direction = \"below\" }]"],
        ),
        key("confidence", &lossy, SCAN, [SCAN, "scan_time = \"600ms\"\nconfidence = 0.6"]),
        key(
            "thresholds",
            GOOD,
            SCAN,
            [20, 40].map(|percent| {
                format!("scan_time = \"600ms\"\nact_on = \"link_parameters_report\"\nthresholds = [{{ percent = {percent}, direction = \"below\" }}]")
            }).each_ref().map(String::as_str),
        ),
        key("act_ahead", GOOD, SCAN, [SCAN, "scan_time = \"600ms\"\nact_ahead = \"4s\""]),
        // The second is nearer, and has more room; by room the first is chosen where it has more.
        key("choose", &with_third(["", ""]), SCAN, [SCAN, "scan_time = \"600ms\"\nchoose = \"signal\""]),
        key(
            "choose",
            &with_third([", capacity = 2", ", capacity = 3"]),
            SCAN,
            [
                "scan_time = \"600ms\"\nchoose = \"order\"",
                "scan_time = \"600ms\"\nchoose = \"free_capacity\"",
            ],
        ),
        key(
            "entry",
            &to_wimax(),
            SCAN,
            [
                "scan_time = \"600ms\"\nentry = \"before\"",
                "scan_time = \"600ms\"\nentry = \"after_commitment\"",
            ],
        ),
        key(
            "old_link",
            &lossy,
            SCAN,
            [
                "scan_time = \"600ms\"\nold_link = \"kept\"",
                "scan_time = \"600ms\"\nold_link = \"until_completed\"",
                "scan_time = \"600ms\"\nold_link = \"until_redirected\"",
                "scan_time = \"600ms\"\nold_link = \"until_committed\"",
            ],
        ),
        key(
            "no_answer.then",
            &silent,
            SCAN,
            [
                SCAN,
                "scan_time = \"600ms\"\nno_answer = { after = \"1s\", then = \"repeat\" }",
                "scan_time = \"600ms\"\nno_answer = { after = \"1s\", then = \"abort\" }",
                "scan_time = \"600ms\"\nno_answer = { after = \"1s\", then = \"other_interface\" }",
            ],
        ),
        key(
            "no_answer.after",
            &silent,
            SCAN,
            [
                "scan_time = \"600ms\"\nno_answer = { after = \"1s\", then = \"abort\" }",
                "scan_time = \"600ms\"\nno_answer = { after = \"2s\", then = \"abort\" }",
            ],
        ),
        key(
            "acknowledgement.timeout",
            &lossy,
            "timeout = \"100ms\"",
            ["timeout = \"100ms\"", "timeout = \"150ms\""],
        ),
        key(
            "acknowledgement.retransmissions",
            &lossy,
            "retransmissions = 2",
            ["retransmissions = 2", "retransmissions = 0"],
        ),
        key(
            "acknowledgement.mode",
            GOOD,
            "retransmissions = 2",
            ["retransmissions = 2", "retransmissions = 2, mode = \"piggyback\""],
        ),
        key(
            "acknowledgement.validity",
            &lossy,
            "retransmissions = 2",
            [
                "retransmissions = 1, validity = \"open\"",
                "retransmissions = 1, validity = \"acked\"",
                "retransmissions = 1, validity = \"strict\"",
            ],
        ),
        key("lifetime", GOOD, SCAN, [SCAN, "scan_time = \"600ms\"\nlifetime = \"50ms\""]),
    ];
    for (name, others) in [
        ("rate_limit.bucket", [limit(3, 2, 10), limit(2, 2, 10)]),
        ("rate_limit.rate", [limit(1, 5, 10), limit(1, 1, 10)]),
        ("rate_limit.queue", [limit(1, 2, 0), limit(1, 2, 1)]),
    ] {
        list.push(Key { name, scenario: GOOD.to_owned(), place: SCAN, values: limits(others) });
    }
    let message =
        |message: &str, of: &str| format!("{SCAN}\nmessages = [{{ message = \"{message}\", {of} }}]");
    for (name, of) in [
        ("messages.timeout", ["timeout = \"40ms\"", "timeout = \"60ms\""]),
        ("messages.retransmissions", ["timeout = \"40ms\"", "timeout = \"40ms\", retransmissions = 6"]),
    ] {
        let values = of.map(|of| message("mn_ho_candidate_query_request", of)).to_vec();
        list.push(Key { name, scenario: lossy.clone(), place: SCAN, values });
    }
    list
}

#[test]
fn every_value_of_every_key_changes_what_is_measured() {
    for Key { name, scenario, place, values } in all() {
        // What happens only now and then is seen in one of some runs.
        let seeds: &[u64] =
            if scenario.contains("bernoulli") { &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } else { &[1] };
        let runs: Vec<Vec<String>> = values
            .iter()
            .map(|value| seeds.iter().map(|&seed| measured(&scenario.replace(place, value), seed)).collect())
            .collect();
        for a in 0..runs.len() {
            for b in 0..a {
                assert!(
                    runs[a] != runs[b],
                    "{name}: nothing differs between {:?} and {:?}",
                    values[a],
                    values[b]
                );
            }
        }
    }
}

#[test]
fn every_key_is_in_the_list() {
    let listed: BTreeSet<&str> = all().iter().map(|key| key.name).collect();
    let has = |name: &str| listed.iter().any(|key| *key == name || key.starts_with(&format!("{name}.")));
    // Who and where; and what repeats whole entries.
    for key in keys("MihHandover") {
        let names = ["name", "mobile_node", "count"].contains(&key.as_str());
        assert!(names || has(&key), "{key}");
    }
    for (of, name) in [
        ("ServingNetwork", "from"),
        ("CandidateNetwork", "to"),
        ("NoAnswer", "no_answer"),
        ("MessageTimers", "messages"),
        ("Acknowledgement", "acknowledgement"),
        ("RateLimit", "rate_limit"),
    ] {
        for key in keys(of) {
            let names = ["access", "message"].contains(&key.as_str());
            assert!(names || has(&format!("{name}.{key}")), "{name}.{key}");
        }
    }
    // And every word of a key.
    for (of, name) in [
        ("Initiator", "initiated_by"),
        ("ActOn", "act_on"),
        ("Choice", "choose"),
        ("NetworkEntry", "entry"),
        ("OldLink", "old_link"),
        ("Then", "no_answer.then"),
        ("Validity", "acknowledgement.validity"),
    ] {
        let found: String =
            all().into_iter().filter(|key| key.name == name).flat_map(|key| key.values).collect();
        for word in words(of) {
            // What is the default may be left out.
            let default = word == "order";
            assert!(default || found.contains(&word), "{name} = {word:?}");
        }
    }
}

#[test]
fn every_message_may_have_timers_of_its_own() {
    // Two of them travel where the network decides and is told.
    for word in words("MessageKind") {
        let initiated = match word.starts_with("net_") || word.starts_with("link_") {
            true => "initiated_by = \"network\"\nnotice = \"remote\"\n",
            false => MOBILE,
        };
        // Nothing comes back in no time: whatever waits for an acknowledgement is sent again, and given up at
        // once.
        let text = GOOD.replace(MOBILE, initiated);
        let shorter = format!(
            "{SCAN}\nmessages = [{{ message = \"{word}\", timeout = \"1ms\", retransmissions = 1 }}]"
        );
        if word == "link_parameters_report_indication" {
            continue; // sent when a link recovers: see `mih_handover.rs`
        }
        assert!(measured(&text, 1) != measured(&text.replace(SCAN, &shorter), 1), "{word}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (from, to, told) in [
        (
            SCAN,
            "scan_time = \"600ms\"\nact_on = \"link_down\"\nact_ahead = \"1s\"",
            "only Link_Going_Down tells ahead",
        ),
        (MOBILE, "initiated_by = \"network\"\nact_on = \"link_down\"\n", "a point of service gets only"),
        (SCAN, "scan_time = \"600ms\"\nact_on = \"link_down\"\nconfidence = 0.5", "has a confidence"),
        (SCAN, "scan_time = \"600ms\"\nact_on = \"link_parameters_report\"", "no threshold says"),
        (
            SCAN,
            "scan_time = \"600ms\"\nthresholds = [{ percent = 40, direction = \"below\" }]",
            "no report of the signal is acted upon",
        ),
        (
            SCAN,
            "scan_time = \"600ms\"\nact_on = \"link_parameters_report\"\nthresholds = [{ dbm = -70, direction = \"below\" }]",
            "a distance stands for the signal",
        ),
        (MOBILE, "initiated_by = \"both\"\nact_on = \"link_detected\"\n", "a point of service gets only"),
        (MOBILE, "initiated_by = \"mobile_node\"\nnotice = \"remote\"\n", "tells nobody before"),
        (
            SCAN,
            "scan_time = \"600ms\"\nno_answer = { after = \"0s\", then = \"abort\" }",
            "must be above zero",
        ),
        (
            MOBILE,
            "initiated_by = \"network\"\nno_answer = { after = \"1s\", then = \"other_interface\" }\n",
            "no other interface",
        ),
        (
            ACKS,
            "messages = [{ message = \"mn_ho_commit_request\", timeout = \"1s\" }]",
            "messages that are not acknowledged",
        ),
        (
            SCAN,
            "scan_time = \"600ms\"\nmessages = [{ message = \"mn_ho_commit_request\", timeout = \"0s\" }]",
            "must be above zero",
        ),
        (
            SCAN,
            "scan_time = \"600ms\"\nmessages = [{ message = \"mn_ho_commit_request\", timeout = \"1s\" }, \
             { message = \"mn_ho_commit_request\", timeout = \"2s\" }]",
            "named twice",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let report = match Scenario::parse(&GOOD.replace(from, to), "keys.toml", Format::Toml, &[]) {
            Ok(_) => panic!("accepted: {to}"),
            Err(diagnostics) => diagnostics.render(false),
        };
        assert!(report.contains(told), "{report}");
    }
}
