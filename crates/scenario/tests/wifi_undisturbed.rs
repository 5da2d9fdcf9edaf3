//! A station that nobody disturbs exchanges its frames by an arithmetic of its own, unless its frames are
//! captured: both give the same run, to the last event.

use proptest::prelude::*;
use roamsim_scenario::run::{Captured, Options, run};
use roamsim_scenario::table::Table;
use roamsim_scenario::{Format, Scenario};
use std::fmt::Write;
use std::io;

/// What makes a cell another one, and needs places where it says so.
const KEYS: [(&str, bool); 9] = [
    ("", false),
    ("rts_threshold = \"500B\"", false),
    ("fragmentation_threshold = \"600B\"", false),
    ("short_retry_limit = 1", false),
    ("edca = {}", false),
    ("rate_control = { algorithm = \"arf\" }", false),
    ("protection = { mechanism = \"cts_to_self\" }", false),
    ("queue = { packets = 50, discipline = \"codel\" }", false),
    (
        "beacons = {}\nradio = { radius = \"50m\", path_loss = { model = \"log_distance\", exponent = 3.0 } }",
        true,
    ),
];

/// What a flow carries.
const FLOWS: [&str; 4] = [
    "transport = { protocol = \"udp\" }\napplication = { kind = \"cbr\", packet_size = \"1000B\", interval = \"300us\" }",
    "transport = { protocol = \"udp\" }\napplication = { kind = \"poisson\", packet_size = \"300B\", mean_interval = \"4ms\" }",
    "transport = { protocol = \"tcp\", variant = \"sack\" }\napplication = { kind = \"bulk\" }",
    "transport = { protocol = \"udp\" }\napplication = { kind = \"cbr\", packet_size = \"200B\", interval = \"5ms\", start = \"100ms\" }",
];

/// A cell of 802.11g with these keys, and flows: which, of which station, and whether to it.
fn cell(stations: usize, keys: usize, flows: &[(usize, usize, bool)]) -> String {
    let (keys, placed) = KEYS[keys];
    let place = |number: usize| match placed {
        true => format!("position = {{ x = \"{}m\", y = \"0m\" }}\n", 10 * number),
        false => String::new(),
    };
    let mut text = "[scenario]\nname = \"Undisturbed\"\nduration = \"1s\"\n".to_owned();
    let names: Vec<_> = (0..stations).map(|number| format!("\"s{number}\"")).collect();
    writeln!(text, "[[node]]\nname = \"ap\"\n{}", place(0)).expect("text");
    for (number, name) in names.iter().enumerate() {
        writeln!(text, "[[node]]\nname = {name}\n{}", place(number + 1)).expect("text");
    }
    let names = names.join(", ");
    writeln!(
        text,
        "[[wifi]]\nname = \"air\"\naccess_point = \"ap\"\nstations = [{names}]\nstandard = \"802.11g\"\n{keys}"
    )
    .expect("text");
    for (number, &(flow, station, down)) in flows.iter().enumerate() {
        let station = format!("s{}", station % stations);
        let (from, to) = if down { ("ap", &*station) } else { (&*station, "ap") };
        writeln!(text, "[[flow]]\nname = \"f{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{}", FLOWS[flow])
            .expect("text");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_capture_of_frames_changes_nothing(
        stations in 1_usize..4,
        keys in prop_oneof![Just(0), 0..KEYS.len()],
        flows in prop::collection::vec((0..FLOWS.len(), 0_usize..4, any::<bool>()), 1..4),
        seed in 1_u64..100,
    ) {
        let text = cell(stations, keys, &flows);
        let scenario = Scenario::parse(&text, "scenario.toml", Format::Toml, &[]);
        let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}\n{text}", diagnostics.render(false)));
        let of = |options: Options| {
            let outcome = run(&scenario, Options { seed, fingerprints: true, series: true, ..options }).expect("a run");
            let tables: Vec<&Table> = outcome.tables.iter().collect();
            (outcome.events, outcome.fingerprints, format!("{tables:?}"))
        };
        let plain = of(Options::default());
        let capture: Box<dyn io::Write + Send> = Box::new(io::sink());
        let captured = of(Options { capture: Some(capture), captured: Captured::Frames, ..Options::default() });
        prop_assert_eq!((plain.0, plain.1), (captured.0, captured.1));
        prop_assert_eq!(plain.2, captured.2);
    }
}
