//! What nodes, links and flows say alike is held once.

use roamsim_scenario::{Format, Scenario};
use std::sync::Arc;

#[test]
fn what_one_says_as_the_one_before_is_held_once() {
    let text = r#"
        scenario = { name = "x", duration = "1s" }
        node = [{ name = "a" }, { name = "b" }, { name = "c", multihomed = true }, { name = "d" }]
        link = [
            { name = "1", between = ["a", "b"], rate = "1Mb/s", delay = "1ms", queue = { packets = 5 } },
            { name = "2", between = ["b", "c"], rate = "1Mb/s", delay = "1ms", queue = { packets = 5 } },
            { name = "3", between = ["c", "d"], rate = "2Mb/s", delay = "1ms", queue = { packets = 6 } },
        ]
        flow = [
            { name = "f", from = "a", to = "b", transport = { protocol = "tcp" }, application = { kind = "bulk" } },
            { name = "g", from = "b", to = "c", transport = { protocol = "tcp" }, application = { kind = "bulk" } },
        ]
    "#;
    let Scenario { nodes, links, flows, .. } =
        Scenario::parse(text, "x", Format::Toml, &[]).expect("a valid scenario");
    let [one, two, three] = &links[..] else { panic!("three links") };
    assert!(Arc::ptr_eq(&one.kind, &two.kind) && !Arc::ptr_eq(&two.kind, &three.kind));
    assert_eq!(three.rate[0].constant_bps, Some(2_000_000));
    assert!(Arc::ptr_eq(&nodes[0].kind, &nodes[1].kind) && !Arc::ptr_eq(&nodes[1].kind, &nodes[2].kind));
    assert!(nodes[2].multihomed);
    assert!(Arc::ptr_eq(&flows[0].transport, &flows[1].transport));
    let letters = [&nodes[1].name, &one.between[1], &two.between[0], &flows[0].to, &flows[1].from];
    assert!(letters.iter().all(|name| name.as_ptr() == nodes[1].name.as_ptr()), "all are b");
}
