//! `count` and `{i}`: elements that stand for many are the same as elements written out, and what is wrong
//! with them is told once, where it stands.

use crate::refusal::refuse;
use cpu_time::ThreadTime;
use roamsim_scenario::{Format, Scenario, schema};

/// Clients at a router, each with a link and a flow of its own.
const STAR: &str = r#"[scenario]
name = "star"
duration = "10s"

[[node]]
name = "server"
[[node]]
name = "client-{i}"
count = 3

[[link]]
name = "line-{i}"
between = ["server", "client-{i}"]
rate = "10Mb/s"
delay = "{i}ms"
loss = { from = "client-{i}", model = "list", segments = [1], flow = "up-{i}" }

[[flow]]
name = "up-{i}"
from = "client-{i}"
to = "server"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms" }
"#;

fn parse(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    Scenario::parse(text, "star", Format::Toml, &overrides)
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)))
}

/// The three copies of every element whose name has a number, by hand.
fn written_out() -> String {
    let (head, elements) = STAR.split_once("[[node]]\nname = \"client").expect("the first repeated element");
    let elements = format!("[[node]]\nname = \"client{elements}").replace("count = 3\n", "");
    let sections = elements.split("\n\n").map(|element| {
        let element = element.trim_end();
        (0..3).map(|number| element.replace("{i}", &number.to_string()) + "\n").collect::<String>()
    });
    head.to_owned() + &sections.collect::<String>()
}

#[test]
fn repeated_elements_are_the_same_as_elements_written_out() {
    let written_out = written_out();
    assert!(written_out.contains("name = \"up-2\"") && !written_out.contains("{i}"), "{written_out}");
    assert_eq!(parse(STAR, &[]).canonical_json(), parse(&written_out, &[]).canonical_json());
}

#[test]
fn the_number_is_one_that_an_override_sets() {
    let scenario = parse(STAR, &[("node.client-{i}.count", "40")]);
    assert_eq!((scenario.nodes.len(), scenario.links.len(), scenario.flows.len()), (41, 40, 40));
    assert_eq!(scenario.flows[39].from, "client-39");
    assert_eq!(scenario.links[39].delay[0].constant.map(|delay| delay.as_ns()), Some(39_000_000));
}

#[test]
fn none_is_a_number() {
    let text = format!(
        "{STAR}[[node]]\nname = \"other\"\n[[link]]\nname = \"far\"\nbetween = [\"server\", \"other\"]\nrate = \"1Mb/s\"\n\
         delay = \"1ms\"\n[[flow]]\nname = \"down\"\nfrom = \"server\"\nto = \"other\"\ntransport = {{ protocol = \"udp\" }}\n\
         application = {{ kind = \"cbr\", packet_size = \"172B\", interval = \"20ms\" }}\n"
    );
    let scenario = parse(&text, &[("node.client-{i}.count", "0")]);
    assert_eq!((scenario.nodes.len(), scenario.links.len(), scenario.flows.len()), (2, 1, 1));
}

#[test]
fn flows_may_be_fewer_than_the_nodes_that_they_start_from() {
    let text = STAR.replace("loss = {", "# {").replace("name = \"up-{i}\"", "name = \"up-{i}\"\ncount = 1");
    let scenario = parse(&text, &[]);
    assert_eq!((scenario.nodes.len(), scenario.flows.len()), (4, 1));
}

#[test]
fn flows_between_nodes_that_are_there_once_need_only_a_count() {
    let text = STAR
        .replace("client-{i}", "client")
        .replace("count = 3\n", "")
        .replace("line-{i}", "line")
        .replace("delay = \"{i}ms\"\nloss = {", "delay = \"5ms\"\n# {")
        .replace("name = \"up-{i}\"", "name = \"up-{i}\"\ncount = 1000");
    let scenario = parse(&text, &[]);
    assert_eq!(scenario.flows.len(), 1000);
    assert_eq!(scenario.flows[999].name, "up-999");
}

#[test]
fn a_list_of_names_takes_all_copies() {
    let scenario = parse(CELL, &[]);
    assert_eq!(scenario.cells[0].stations, ["walker0", "walker1"]);
    assert_eq!(scenario.nodes[2].position.expect("a place").x_m, 10.0);
}

const CELL: &str = r#"[scenario]
name = "cell"
duration = "10s"

[[node]]
name = "base"
position = { x = "0m", y = "0m" }
[[node]]
name = "walker{i}"
count = 2
position = { x = "{i}0m", y = "0m" }

[[cell]]
name = "air"
base_station = "base"
stations = ["walker{i}"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }

[[flow]]
name = "up{i}"
from = "walker{i}"
to = "base"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms" }
"#;

#[test]
fn a_number_alone_stays_a_number() {
    let text = STAR.replace("segments = [1]", "segments = [\"{i}\"]");
    // The first would be the packet 0, which there is not.
    let report = refuse(&text);
    assert!(report.contains("from 1"), "{report}");
    assert!(!report.contains("a string"), "{report}");
}

#[test]
fn the_schema_knows_the_key_in_every_section_of_elements() {
    let schema = schema();
    for section in ["Node", "Link", "Flow", "Cell", "Signalling"] {
        assert_eq!(schema["$defs"][section]["properties"]["count"]["type"], "integer", "{section}");
    }
}

#[test]
fn one_copy_can_be_set() {
    let scenario = parse(STAR, &[("link.line-1.delay", "77ms"), ("node.client-{i}.count", "2")]);
    let delays: Vec<u64> =
        scenario.links.iter().filter_map(|link| Some(link.delay[0].constant?.as_ns() / 1_000_000)).collect();
    assert_eq!(delays, [0, 77]);
    // It has no place in the scenario as written.
    assert_eq!(scenario.written_json(), scenario.canonical_json());
}

#[test]
fn a_scenario_that_was_read_can_be_read_again_with_another_number() {
    let written = parse(STAR, &[("node.client-{i}.count", "2")]).written_json();
    let more = [("node.client-{i}.count".to_owned(), "5".to_owned())];
    let again = Scenario::parse(&written, "again", Format::Json, &more).expect("valid");
    assert_eq!(again.flows.len(), 5);
}

/// Walkers that take their lines from files by their numbers; the cell reaches all of them.
const WALKERS: &str = r#"[scenario]
name = "walkers"
duration = "20s"

[[node]]
name = "base"
position = { x = "100m", y = "0m" }
[[node]]
name = "walker-{i}"
count = 2
motion = { kind = "bonnmotion", file = "tests/files/two.movements", node = "{i}" }

[[cell]]
name = "air"
base_station = "base"
stations = ["walker-{i}"]
rate = "2Mb/s"
coverage = { model = "disc", radius = "1000m" }

[[flow]]
name = "up-{i}"
from = "walker-{i}"
to = "base"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms" }
"#;

#[test]
fn each_copy_takes_its_own_lines_of_a_file() {
    let scenario = parse(WALKERS, &[]);
    for number in 0..2 {
        let line = format!("two.movements\", node = {number}");
        let alone = WALKERS
            .replace("count = 2\n", "")
            .replace("two.movements\", node = \"{i}\"", &line)
            .replace("{i}", &number.to_string());
        assert_eq!(scenario.nodes[1 + number].motion, parse(&alone, &[]).nodes[1].motion);
    }
    assert_ne!(scenario.nodes[1].motion, scenario.nodes[2].motion);
}

#[test]
fn a_copy_may_have_a_file_of_its_own() {
    let files = WALKERS
        .replace("walker-{i}", "{i}")
        .replace("count = 2\n", "count = 1\n")
        .replace("two.movements\", node = \"{i}\"", "{i}.movements\", node = 0");
    // Where the folder's name is long, its path has a line of its own.
    let report = refuse(&files).replace("\n  │ ", "");
    assert!(report.contains("tests/files/0.movements\n"), "{report}");
    assert!(!report.contains("no file tests/files/{i}"), "{report}");
}

/// Sweeps over `count` read it again, from JSON without a folder.
#[test]
fn files_by_number_are_found_when_the_scenario_is_read_again() {
    let text = WALKERS.replace("tests/files/", "");
    let scenario = Scenario::parse(&text, "tests/files/walkers.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let one = [("node.walker-{i}.count".to_owned(), "1".to_owned())];
    let again = Scenario::parse(&scenario.written_json(), "walkers", Format::Json, &one)
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    assert_eq!(again.nodes[1].motion, scenario.nodes[1].motion);
}

#[test]
fn a_name_may_be_the_number_alone() {
    let scenario = parse(&STAR.replace("client-{i}", "{i}"), &[]);
    assert_eq!((scenario.nodes[3].name.as_str(), scenario.flows[2].from.as_str()), ("2", "2"));
}

#[test]
fn what_is_wrong_with_every_copy_does_not_hide_what_is_wrong_elsewhere() {
    let text = STAR
        .replace("count = 3", "count = 60")
        .replace("rate = \"10Mb/s\"", "rate = \"10Mb\"\ncolour = \"red\"")
        .replace("interval = \"20ms\"", "interval = \"20\"");
    let report = refuse(&text);
    for told in ["unknown key `colour`", "\"10Mb\"", "\"20\""] {
        assert!(report.contains(told), "{told}: {report}");
    }
    assert!(report.trim_end().ends_with("3 problems"), "{report}");
}

#[test]
fn copies_that_would_not_fit_are_refused_before_they_are_made() {
    // A million links have some twenty values each.
    let walls = "segments = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]";
    let report = refuse(&STAR.replace("count = 3", "count = 1000000").replace("segments = [1]", walls));
    assert!(report.contains("more than 10000000 values"), "{report}");
    // 30 times 400,000 names in a list.
    let list = vec!["\"walker{i}\""; 30].join(", ");
    let many = CELL.replace("count = 2", "count = 400000").replace("\"walker{i}\"]", &format!("{list}]"));
    assert!(refuse(&many).contains("more than 10000000 values"));
}

#[test]
fn a_long_chain_of_followers_is_no_reason_to_take_long() {
    let chain: String = (0..20_000)
        .map(|n| format!("[[flow]]\nname = \"f{n}-{{i}}\"\nto = \"f{}-{{i}}\"\n", n + 1))
        .collect();
    let started = ThreadTime::now();
    let report = refuse(&format!("[scenario]\nname = \"chain\"\nduration = \"1s\"\n{chain}"));
    assert!(report.contains("the number of copies of"), "{report}");
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

reports! { on STAR;
    count_without_a_number_in_the_name: "name = \"server\"" => "name = \"server\"\ncount = 3";
    count_negative: "count = 3" => "count = -1";
    count_no_number: "count = 3" => "count = \"many\"";
    count_too_large: "count = 3" => "count = 1000001";
    count_missing: "count = 3" => "";
    more_flows_than_nodes: "name = \"up-{i}\"" => "name = \"up-{i}\"\ncount = 4";
    one_of_many: "name = \"up-{i}\"" => "name = \"up\"";
    pattern_of_nothing: "from = \"client-{i}\"\nto" => "from = \"clint-{i}\"\nto";
    two_with_one_name: "name = \"server\"" => "name = \"server\"\n[[node]]\nname = \"client-{i}\"\ncount = 2";
    fault_of_every_copy: "rate = \"10Mb/s\"" => "rate = \"0Mb/s\"";
    unknown_key_of_every_copy: "rate = \"10Mb/s\"" => "rate = \"10Mb/s\"\ncolour = \"red\"";
}

reports! { on CELL;
    pattern_of_nothing_in_a_list: "stations = [\"walker{i}\"]" => "stations = [\"waker{i}\"]";
    counts_that_differ: "to = \"base\"" => "to = \"other{i}\"\n[[node]]\nname = \"other{i}\"\ncount = 5\n[[flow]]\nname = \"x\"\nfrom = \"base\"\nto = \"walker0\"";
}
