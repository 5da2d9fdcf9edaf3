//! What validation takes for connected has addresses: every flow and signalling entry of an accepted scenario
//! runs.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use roamsim_scenario::run::{Options, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};
use std::cell::Cell;

const NODES: usize = 7;

/// Links, cells and accesses between any nodes, some of them multihomed; a flow and a signalling entry
/// between two.
#[derive(Clone, Debug)]
struct Places {
    links: Vec<(usize, usize)>,
    cells: Vec<(usize, Vec<usize>)>,
    dect: Option<(usize, usize)>,
    wifi: Option<(usize, usize)>,
    multihomed: Vec<bool>,
    ends: (usize, usize),
    transport: &'static str,
}

impl Places {
    /// In how many accesses a node is.
    fn accesses_of(&self, node: usize) -> usize {
        let pairs = self.links.iter().chain(&self.dect).chain(&self.wifi);
        let cells = self.cells.iter().filter(|(base, stations)| *base == node || stations.contains(&node));
        pairs.filter(|(a, b)| *a == node || *b == node).count() + cells.count()
    }
}

fn places() -> impl Strategy<Value = Places> {
    let node = 0..NODES;
    (
        prop::collection::vec((node.clone(), node.clone()), 0..8),
        prop::collection::vec((node.clone(), prop::collection::vec(node.clone(), 1..4)), 0..3),
        prop::option::of((node.clone(), node.clone())),
        prop::option::of((node.clone(), node.clone())),
        prop::collection::vec(prop::bool::weighted(0.3), NODES),
        (node.clone(), node),
        prop::sample::select(&["udp", "tcp", "sctp"][..]),
    )
        .prop_map(|(links, cells, dect, wifi, multihomed, ends, transport)| Places {
            links,
            cells,
            dect,
            wifi,
            multihomed,
            ends,
            transport,
        })
}

fn scenario(places: &Places) -> String {
    let mut text = String::new();
    for (number, (a, b)) in places.links.iter().enumerate() {
        text += &format!(
            "[[link]]\nname = \"l{number}\"\nbetween = [\"n{a}\", \"n{b}\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\n"
        );
    }
    for (number, (base, stations)) in places.cells.iter().enumerate() {
        let stations: Vec<String> = stations.iter().map(|station| format!("\"n{station}\"")).collect();
        text += &format!(
            "[[cell]]\nname = \"c{number}\"\nbase_station = \"n{base}\"\nstations = [{}]\nrate = \"1Mb/s\"\n\
             coverage = {{ model = \"disc\", radius = \"50m\" }}\n",
            stations.join(", ")
        );
    }
    if let Some((terminal, gateway)) = places.dect {
        text += &format!(
            "[[dect]]\nname = \"d\"\nterminal = \"n{terminal}\"\ngateway = \"n{gateway}\"\nfixed_bearers = 2\n\
             dlc = {{ service = \"lu2\" }}\n"
        );
    }
    if let Some((point, station)) = places.wifi {
        text += &format!(
            "[[wifi]]\nname = \"w\"\naccess_point = \"n{point}\"\nstations = [\"n{station}\"]\nrate = \"11Mb/s\"\n"
        );
    }
    let (from, to, transport) = (places.ends.0, places.ends.1, places.transport);
    text += &format!(
        "[[flow]]\nname = \"f\"\nfrom = \"n{from}\"\nto = \"n{to}\"\ntransport = {{ protocol = \"{transport}\" }}\n\
         application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"50ms\" }}\nbidirectional = true\n\
         [[signalling]]\nname = \"s\"\nfrom = \"n{to}\"\nto = \"n{from}\"\nkind = \"indication\"\nmessage_size = \"200B\"\n\
         interval = \"50ms\"\ntransport = {{ protocol = \"{transport}\" }}\n"
    );
    // A node that nothing names is refused.
    for (number, multihomed) in places.multihomed.iter().enumerate() {
        if text.contains(&format!("\"n{number}\"")) {
            // So is one with one link that is to keep an address on each.
            let multihomed = *multihomed && places.accesses_of(number) > 1;
            text += &format!(
                "[[node]]\nname = \"n{number}\"\nposition = {{ x = \"{number}m\", y = \"0m\" }}\nmultihomed = {multihomed}\n"
            );
        }
    }
    format!("[scenario]\nname = \"routes\"\nduration = \"200ms\"\n{text}")
}

#[test]
fn what_is_accepted_has_a_row_for_each_flow() {
    let accepted = Cell::new(0);
    let checked = TestRunner::new(Config::with_cases(3000)).run(&places(), |places| {
        let Ok(scenario) = Scenario::parse(&scenario(&places), "routes", Format::Toml, &[]) else {
            return Ok(());
        };
        accepted.set(accepted.get() + 1);
        let outcome = run(&scenario, Options::default()).expect("the run succeeds");
        for (name, rows) in [("flows", 2), ("signalling", 1)] {
            let table = outcome.tables.iter().find(|table| table.name == name).expect("the table");
            let Values::Text(names) = &table.columns[0].values else { panic!("names come first") };
            prop_assert_eq!(names.len(), rows);
        }
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
    // Otherwise this would be about nothing.
    assert!(accepted.get() > 100, "{} were accepted", accepted.get());
}
