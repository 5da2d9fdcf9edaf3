//! What users see when an arrangement of Mobile IP cannot work; each report was read with the question
//! whether its reader would know where the mistake is and what to do.

use crate::refusal;
use roamsim_scenario::{Format, Scenario};

const GOOD: &str = r#"[scenario]
name = "walk"
duration = "60s"
ip = "ipv4"

[[node]]
name = "server"
[[node]]
name = "home"
position = { x = "0m", y = "0m" }
[[node]]
name = "abroad"
position = { x = "100m", y = "0m" }
[[node]]
name = "phone"
position = { x = "50m", y = "0m" }
[[node]]
name = "island"
[[node]]
name = "other"
position = { x = "60m", y = "0m" }

[[link]]
name = "to home"
between = ["server", "home"]
rate = "10Mb/s"
delay = "20ms"
[[link]]
name = "to abroad"
between = ["server", "abroad"]
rate = "10Mb/s"
delay = "20ms"

[[cell]]
name = "home cell"
base_station = "home"
stations = ["phone"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }
[[cell]]
name = "foreign cell"
base_station = "abroad"
stations = ["phone"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }

[[mobile_ip]]
name = "roaming"
mobile_nodes = ["phone"]
home_agent = "home"
foreign_agents = ["abroad"]
advertisement = { period = "1s", lifetime = "3s" }
registration = { lifetime = "300s" }

[[flow]]
name = "ftp"
from = "phone"
to = "server"
transport = { protocol = "tcp" }
application = { kind = "bulk" }

# Elsewhere.
[[node]]
name = "reef"
position = { x = "60m", y = "0m" }
[[wifi]]
name = "lagoon"
access_point = "reef"
stations = ["island"]
[[cell]]
name = "third cell"
base_station = "reef"
stations = ["other"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }
"#;

reports! {
    mobile_ip_over_ipv6: "ip = \"ipv4\"\n" => "";
    home_agent_as_foreign_agent: "foreign_agents = [\"abroad\"]" => "foreign_agents = [\"home\"]";
    no_foreign_agent: "foreign_agents = [\"abroad\"]" => "foreign_agents = []";
    agents_without_a_route: "between = [\"server\", \"abroad\"]" => "between = [\"abroad\", \"island\"]";
    agent_misspelt: "home_agent = \"home\"" => "home_agent = \"hone\"";
    no_home_address: "base_station = \"home\"\nstations = [\"phone\"]" => "base_station = \"home\"\nstations = [\"other\"]";
    not_in_the_foreign_cell: "base_station = \"abroad\"\nstations = [\"phone\"]" => "base_station = \"abroad\"\nstations = [\"other\"]";
    mobile_node_twice: "mobile_nodes = [\"phone\"]" => "mobile_nodes = [\"phone\", \"phone\"]";
    advertisement_lifetime_below_its_period: "{ period = \"1s\", lifetime = \"3s\" }" => "{ period = \"5s\", lifetime = \"3s\" }";
    advertisement_lifetime_of_no_whole_seconds: "lifetime = \"3s\" }" => "lifetime = \"2.5s\" }";
    advertisement_jitter_above_its_period: "lifetime = \"3s\" }" => "jitter = \"1s\" }";
    registration_retransmission_too_soon: "{ lifetime = \"300s\" }" => "{ retransmission = \"500ms\" }";
    registration_without_lifetime: "{ lifetime = \"300s\" }" => "{ lifetime = \"0s\" }";
    mobile_node_multihomed: "position = { x = \"50m\", y = \"0m\" }" => "position = { x = \"50m\", y = \"0m\" }\nmultihomed = true";
    mobile_node_multihomed_as_it_says: "position = { x = \"50m\", y = \"0m\" }" => "position = { x = \"50m\", y = \"0m\" }\nmultihomed = true\nhandover = \"mobile_ip\"";
    mss_without_room_for_the_tunnel: "transport = { protocol = \"tcp\" }" => "transport = { protocol = \"tcp\", mss = \"1460B\" }";
}

#[test]
fn the_good_one_is_good() {
    let parsed = Scenario::parse(GOOD, "scenario.toml", Format::Toml, &[]);
    assert!(parsed.is_ok());
    // 1500 - 20 - 20 - 20.
    let text = GOOD.replace("protocol = \"tcp\" }", "protocol = \"tcp\", mss = \"1440B\" }");
    assert!(Scenario::parse(&text, "scenario.toml", Format::Toml, &[]).is_ok());
}

#[test]
fn settings_that_others_leave_without_effect_are_refused() {
    let with = |good: &str, bad: &str| refusal::report_on(GOOD, good, bad);
    let prefix = "lifetime = \"3s\", prefix_length = 24 }";
    let report = with("lifetime = \"3s\" }", prefix);
    assert!(report.contains("only move detection by prefix looks at prefixes"), "{report}");
    for (key, said) in [
        ("replay_window = \"5s\"", "`replay_window` has no effect with nonces"),
        ("clock_ahead = \"1s\"", "`clock_ahead` has no effect with nonces"),
    ] {
        let registration = format!("{{ lifetime = \"300s\", replay_protection = \"nonces\", {key} }}");
        let report = with("{ lifetime = \"300s\" }", &registration);
        assert!(report.contains(said), "{report}");
    }
    let text = GOOD.replace("lifetime = \"3s\" }", &format!("{prefix}\nmove_detection = \"prefix\""));
    assert!(Scenario::parse(&text, "scenario.toml", Format::Toml, &[]).is_ok());
}

#[test]
fn two_arrangements_agree_on_the_agents_that_they_share() {
    let second = "\n[[mobile_ip]]\nname = \"second\"\nmobile_nodes = [\"tablet\"]\nhome_agent = \"home\"\n\
                  foreign_agents = [\"abroad\"]\n";
    let text = GOOD.replace("stations = [\"phone\"]", "stations = [\"phone\", \"tablet\"]").replace(
        "[[link]]\nname = \"to home\"",
        "[[node]]\nname = \"tablet\"\nposition = { x = \"5m\", y = \"0m\" }\n[[link]]\nname = \"to home\"",
    );
    let parse = |text: &str| Scenario::parse(text, "scenario.toml", Format::Toml, &[]);
    let agreeing = format!(
        "{text}{second}advertisement = {{ period = \"1s\", lifetime = \"3s\" }}\nregistration = {{ lifetime = \"300s\" }}\n"
    );
    assert!(parse(&agreeing).is_ok());
    let error = match parse(&format!("{text}{second}")) {
        Ok(_) => panic!("accepted"),
        Err(diagnostics) => diagnostics.render(false),
    };
    insta::assert_snapshot!("two_arrangements_disagree", error);
}
