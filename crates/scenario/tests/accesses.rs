//! What holds for every access technology alike: names, stations beside other accesses, addresses that come
//! and go.

use crate::outcome::{integers, texts};
use roamsim_scenario::run::{Options, run};
use roamsim_scenario::{Format, Scenario};

/// An access between two nodes, in each technology that has no places: its words, and its entry.
const BETWEEN: [(&str, &str); 4] = [
    ("link", "between = [\"A\", \"B\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\n"),
    ("wifi", "access_point = \"A\"\nstations = [\"B\"]\n"),
    ("dect", "terminal = \"A\"\ngateway = \"B\"\n"),
    ("wimax", "base_station = \"A\"\nstations = [\"B\"]\n"),
];

/// The access of one of these technologies between two nodes.
fn between((section, keys): (&str, &str), name: &str, a: &str, b: &str) -> String {
    let keys = keys.replace("\"A\"", &format!("\"{a}\"")).replace("\"B\"", &format!("\"{b}\""));
    format!("[[{section}]]\nname = \"{name}\"\n{keys}")
}

/// A station in reach of two base stations that a server is joined to; `station` is what its node says beside
/// its place.
fn cells(station: &str) -> String {
    let mut text =
        String::from("[scenario]\nname = \"x\"\nduration = \"10s\"\n[[node]]\nname = \"server\"\n");
    for (name, x, more) in [("west", 0, ""), ("east", 50, ""), ("walker", 10, station), ("other", 0, "")] {
        text += &format!("[[node]]\nname = \"{name}\"\nposition = {{ x = \"{x}m\", y = \"0m\" }}\n{more}");
    }
    for base_station in ["west", "east"] {
        text += &between(BETWEEN[0], &format!("wire-{base_station}"), "server", base_station);
        text += &format!(
            "[[cell]]\nname = \"cell-{base_station}\"\nbase_station = \"{base_station}\"\nstations = [\"walker\"]\n\
             rate = \"1Mb/s\"\ncoverage = {{ model = \"disc\", radius = \"100m\" }}\n"
        );
    }
    text
}

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "x.toml", Format::Toml, &[]).map_err(|diagnostics| diagnostics.render(false))
}

#[test]
fn a_station_with_another_access_must_keep_an_address_on_each() {
    for access in BETWEEN {
        for (a, b) in [("walker", "other"), ("other", "walker")] {
            let text = cells("") + &between(access, "beside", a, b);
            let refused = read(&text).expect_err("a station that would forward nothing");
            let message = "\"walker\" is a station of this cell and has another link";
            assert_eq!(refused.matches(message).count(), 2, "once a cell: {} {a} {refused}", access.0);
            let text = cells("multihomed = true\n") + &between(access, "beside", a, b);
            assert_eq!(read(&text).map(drop), Ok(()), "{} {a}", access.0);
        }
    }
}

#[test]
fn an_association_may_follow_a_station_with_one_cell_and_any_other_access() {
    let flow = "[[flow]]\nname = \"f\"\nfrom = \"server\"\nto = \"walker\"\n\
                transport = { protocol = \"sctp\", dynamic_addresses = true }\napplication = { kind = \"bulk\" }\n";
    let one_cell = cells("multihomed = true\n").replace("\"walker\"]\nrate", "\"other\"]\nrate");
    let one_cell = one_cell.replacen("stations = [\"other\"]", "stations = [\"walker\"]", 1);
    let refused = read(&(one_cell.clone() + flow)).expect_err("one address");
    assert!(refused.contains("\"walker\" is in one cell and has no other link"), "{refused}");
    for access in BETWEEN {
        for (a, b) in [("walker", "server"), ("server", "walker")] {
            let text = one_cell.clone() + &between(access, "beside", a, b) + flow;
            assert_eq!(read(&text).map(drop), Ok(()), "{} {a}", access.0);
        }
    }
}

/// Heartbeats go over every path of an association, from the path's own address and to it.
#[test]
fn a_node_may_have_interfaces_of_every_technology_and_each_carries_what_is_for_its_address() {
    let other = "[[node]]\nname = \"other\"\nposition = { x = \"0m\", y = \"0m\" }\n";
    let mut text = cells("multihomed = true\n").replace(other, "").replace("\"10s\"", "\"100s\"");
    for (number, access) in BETWEEN.into_iter().enumerate() {
        let far = format!("far-{number}");
        text += &format!("[[node]]\nname = \"{far}\"\n");
        text += &between(BETWEEN[0], &format!("wire-{far}"), "server", &far);
        let [a, b] = if access.0 == "dect" { ["walker", far.as_str()] } else { [far.as_str(), "walker"] };
        text += &between(access, &format!("access-{}", access.0), a, b);
    }
    text += "[[flow]]\nname = \"f\"\nfrom = \"server\"\nto = \"walker\"\n\
             transport = { protocol = \"sctp\" }\napplication = { kind = \"cbr\", packet_size = \"100B\", interval = \"1s\" }\n";
    let scenario = read(&text).unwrap_or_else(|report| panic!("{report}"));
    let outcome = run(&scenario, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let (names, to) = (texts(&outcome, "links", "name"), texts(&outcome, "links", "to"));
    let delivered = integers(&outcome, "links", "delivered_packets");
    let rows = names.iter().zip(to.iter()).zip(delivered);
    let own: Vec<_> = rows.filter(|((name, _), _)| !name.starts_with("wire-")).collect();
    // Two cells, a wire, Wi-Fi, DECT and 802.16, both ways.
    assert_eq!(own.len(), 12, "{own:?}");
    assert!(own.iter().all(|(_, delivered)| **delivered > 0), "{own:?}");
}

#[test]
fn no_two_accesses_share_a_name() {
    for access in BETWEEN {
        for other in ["wire-west", "cell-west"] {
            let refused =
                read(&(cells("") + &between(access, other, "server", "other"))).expect_err("two names");
            assert!(refused.contains(&format!("two links are named \"{other}\"")), "{}: {refused}", access.0);
            assert!(refused.contains("the first"), "{refused}");
        }
        for second in BETWEEN {
            let text = cells("") + &between(access, "same", "server", "other");
            let refused = read(&(text + &between(second, "same", "west", "other"))).expect_err("two names");
            assert!(refused.contains("two links are named \"same\""), "{} {}: {refused}", access.0, second.0);
        }
    }
}

#[test]
fn an_access_beside_another_between_the_same_nodes_is_refused_whatever_they_are() {
    for access in BETWEEN {
        for second in BETWEEN {
            let text = cells("") + &between(access, "one", "server", "other");
            let refused =
                read(&(text + &between(second, "two", "other", "server"))).expect_err("no packet takes it");
            assert!(refused.contains("joins the same two nodes"), "{} {}: {refused}", access.0, second.0);
        }
    }
}

#[test]
fn every_access_has_rows_among_the_links() {
    let mut text = cells("multihomed = true\n");
    for (number, access) in BETWEEN.into_iter().enumerate() {
        text += &between(
            access,
            &format!("beside-{}", access.0),
            ["west", "east", "walker", "server"][number],
            "other",
        );
    }
    let scenario = read(&text).unwrap_or_else(|refused| panic!("{refused}"));
    let [.., (_, links)] = scenario.row_names();
    // In the order in which they join the topology.
    let expected = [
        "wire-west",
        "wire-east",
        "beside-link",
        "beside-wifi",
        "cell-west",
        "cell-east",
        "beside-dect",
        "beside-wimax",
    ];
    assert_eq!(links, expected);
}
