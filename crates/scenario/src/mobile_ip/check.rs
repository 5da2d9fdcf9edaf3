//! Mobile IPv4.

use std::collections::BTreeSet;

use roamsim_engine::Span;

use super::model::{AgentAdvertisement, MobileIp, MoveDetection, Registration, ReplayProtection};
use crate::access::{Attached, Network, Role};
use crate::general::IpVersion;
use crate::names::Names;
use crate::report::{At, Key, Report, Step, join};
use crate::topology::Topology;
use crate::units::time_text;

/// The longest lifetime that a message can say (RFC 5944 sections 2.1.1, 3.3; RFC 1256 section 3).
const MAX_LIFETIME: Span = Span::from_secs(65_535);

/// More advertisements than that are more events than packets.
const SHORTEST_PERIOD: Span = Span::from_ms(1);

/// RFC 5944 section 3.6.3: "MUST NOT be less than 1 second".
const SHORTEST_RETRANSMISSION: Span = Span::from_secs(1);

pub(crate) fn check(
    entries: &[MobileIp],
    network: &Network<'_>,
    names: &Names<'_>,
    attached: &Attached<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    let mut named = BTreeSet::new();
    for (i, entry) in entries.iter().enumerate() {
        let at = [Key("mobile_ip"), At(i)];
        if network.general.ip != IpVersion::Ipv4 {
            let help = "write ip = \"ipv4\" in [scenario]";
            let message = "Mobile IP of RFC 5944 is for IPv4, and this network speaks IPv6";
            report.add(&at, message, help);
        }
        let home = names.resolve(&entry.home_agent, &join(&at, ["home_agent"]), report);
        check_foreign_agents(&at, entry, home, names, topology, report);
        check_mobile_nodes(&at, entry, &mut named, network, names, attached, report);
        check_advertisement(&join(&at, ["advertisement"]), &entry.advertisement, report);
        check_registration(&join(&at, ["registration"]), &entry.registration, report);
        check_unused(&at, entry, entries, report);
        for (j, other) in entries[..i].iter().enumerate() {
            check_shared_agents(&at, entry, (j, other), report);
        }
    }
}

/// `steps` and a place in the list behind them.
fn nth(at: &[Step], key: &'static str, place: usize) -> Vec<Step> {
    let mut steps = join(at, [key]);
    steps.push(At(place));
    steps
}

fn check_foreign_agents(
    at: &[Step],
    entry: &MobileIp,
    home: Option<usize>,
    names: &Names<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    if entry.foreign_agents.is_empty() {
        let help = "name the base stations of the other cells";
        report.add(
            &join(at, ["foreign_agents"]),
            "without a foreign agent no mobile node can leave home",
            help,
        );
    }
    for (j, name) in entry.foreign_agents.iter().enumerate() {
        let steps = nth(at, "foreign_agents", j);
        let Some(node) = names.resolve(name, &steps, report) else { continue };
        if *name == entry.home_agent {
            let message = format!("\"{name}\" is the home agent, and cannot be its own foreign agent");
            let help = "in the home agent's cell a mobile node is at home; name other base stations";
            report.add(&steps, message, help);
        } else if entry.foreign_agents[..j].contains(name) {
            report.add(&steps, format!("\"{name}\" is named twice"), "name each agent once");
        } else if home.is_some_and(|home| !topology.connected(home, node)) {
            let message = format!(
                "there is no route from the home agent \"{}\" to the foreign agent \"{name}\"",
                entry.home_agent
            );
            report.add(&steps, message, "the tunnel goes between them: join them with a [[link]]");
        }
    }
}

fn check_mobile_nodes<'a>(
    at: &[Step],
    entry: &'a MobileIp,
    named: &mut BTreeSet<&'a str>,
    network: &Network<'_>,
    names: &Names<'_>,
    attached: &Attached<'_>,
    report: &mut Report<'_>,
) {
    if entry.mobile_nodes.is_empty() {
        let help = "name the nodes that keep their home address";
        report.add(&join(at, ["mobile_nodes"]), "without mobile nodes there is nothing to do", help);
    }
    for (j, name) in entry.mobile_nodes.iter().enumerate() {
        let steps = nth(at, "mobile_nodes", j);
        let Some(node) = names.resolve(name, &steps, report) else { continue };
        let cells_of = |agent: &str| {
            let parts = attached.of(name).iter();
            parts.filter(|part| part.role == Role::Station && part.with == agent).count()
        };
        if !named.insert(name.as_str()) {
            let message = format!("\"{name}\" is named twice as a mobile node");
            report.add(&steps, message, "a mobile node has one home agent; name it once");
            continue;
        }
        if network.nodes[node].multihomed && !network.nodes[node].selects {
            let message = format!("\"{name}\" keeps an address in each cell (`multihomed = true`)");
            let help = "with Mobile IP it keeps its home address everywhere; leave one of the two out";
            report.add(&steps, message, help);
        }
        match cells_of(&entry.home_agent) {
            0 if names.node(&entry.home_agent).is_some() => {
                let message = format!(
                    "\"{name}\" has no home address: it is a station in no cell of its home agent, \"{}\"",
                    entry.home_agent
                );
                let help = format!("name \"{name}\" among the stations of a [[cell]] of the home agent");
                report.add(&steps, message, help);
            }
            2.. => {
                let message =
                    format!("\"{name}\" is in several cells of \"{}\": which is its home?", entry.home_agent);
                report.add(&steps, message, "leave it a station of one of them");
            }
            // One is right; none of an agent that there is not was reported.
            _ => {}
        }
        for agent in entry.foreign_agents.iter().filter(|&agent| *agent != entry.home_agent) {
            if names.node(agent).is_some() && cells_of(agent) == 0 {
                let message = format!("\"{name}\" is a station in no cell of the foreign agent \"{agent}\"");
                let help = format!("name it among the stations of a [[cell]] of \"{agent}\"");
                report.add(&steps, message, help);
            }
        }
    }
}

/// Whether a lifetime can be written into a message.
fn check_lifetime(steps: &[Step], lifetime: Span, report: &mut Report<'_>) -> bool {
    let whole = lifetime.as_ns().is_multiple_of(roamsim_engine::time::NS_PER_S);
    let good = whole && lifetime > Span::ZERO && lifetime <= MAX_LIFETIME;
    if !good {
        let message = "a lifetime is a whole number of seconds, 1 to 65535";
        report.add(steps, message, "messages carry it as seconds in 16 bits; write for example \"3s\"");
    }
    good
}

fn check_advertisement(at: &[Step], advertisement: &AgentAdvertisement, report: &mut Report<'_>) {
    let period = advertisement.period;
    if period < SHORTEST_PERIOD {
        let message = "an agent advertises at most once a millisecond";
        report.add(&join(at, ["period"]), message, "write a longer time, such as \"1s\"");
        return;
    }
    if advertisement.jitter() >= period {
        let message = format!("the jitter is not shorter than the period, {}", time_text(period));
        report.add(&join(at, ["jitter"]), message, "write less, or leave it out for a quarter of the period");
    }
    // A lifetime that was not written follows the period, and may be too long with it.
    let lifetime = advertisement.lifetime();
    let key = if advertisement.lifetime.is_some() { "lifetime" } else { "period" };
    if check_lifetime(&join(at, [key]), lifetime, report) && lifetime < period {
        let message = format!(
            "an advertisement holds for {}, shorter than the period of {}",
            time_text(lifetime),
            time_text(period)
        );
        let help = "between two advertisements every agent would be lost; RFC 5944 has three periods";
        report.add(&join(at, ["lifetime"]), message, help);
    }
    check_lifetime(&join(at, ["registration_lifetime"]), advertisement.registration_lifetime, report);
    if advertisement.prefix_length > 32 {
        let message = "a prefix of IPv4 has 32 bits at most";
        report.add(&join(at, ["prefix_length"]), message, "write 0 to 32, or leave it out");
    }
    if advertisement.max_visitors == Some(0) {
        let message = "a foreign agent needs room for at least 1 visitor";
        report.add(&join(at, ["max_visitors"]), message, "write 1 or more, or leave it out");
    }
}

fn check_registration(at: &[Step], registration: &Registration, report: &mut Report<'_>) {
    check_lifetime(&join(at, ["lifetime"]), registration.lifetime, report);
    if registration.retransmission < SHORTEST_RETRANSMISSION {
        let message = "a request is sent again after 1 s at the earliest (RFC 5944 section 3.6.3)";
        report.add(&join(at, ["retransmission"]), message, "write \"1s\" or more");
    } else if registration.max_retransmission < registration.retransmission {
        let key = if report.is_set(&join(at, ["max_retransmission"])) {
            "max_retransmission"
        } else {
            "retransmission"
        };
        let message = format!(
            "`max_retransmission`, {}, is below `retransmission`, {}",
            time_text(registration.max_retransmission),
            time_text(registration.retransmission)
        );
        report.add(&join(at, [key]), message, "the time grows from the one to the other");
    }
    if registration.replay_window == Span::ZERO {
        let message = "no timestamp is exact: every request would be refused";
        report.add(&join(at, ["replay_window"]), message, "write a time above zero, such as \"7s\"");
    }
    if registration.clock_ahead > MAX_LIFETIME {
        let message = "a clock that is so wrong is not meant";
        report.add(&join(at, ["clock_ahead"]), message, "write \"65535s\" or less");
    }
}

/// Refuses settings that others leave without effect.
fn check_unused(at: &[Step], entry: &MobileIp, entries: &[MobileIp], report: &mut Report<'_>) {
    let steps = join(at, ["advertisement", "prefix_length"]);
    // An agent of several entries advertises for the nodes of all of them.
    let heard_by = |other: &&MobileIp| agents(entry).any(|agent| agents(other).any(|theirs| theirs == agent));
    let mut hearers = entries.iter().filter(heard_by);
    if report.is_set(&steps) && !hearers.any(|other| other.move_detection == MoveDetection::Prefix) {
        let help = "write move_detection = \"prefix\", or leave `prefix_length` out";
        report.add(&steps, "only move detection by prefix looks at prefixes", help);
    }
    if entry.registration.replay_protection == ReplayProtection::Nonces {
        for (key, what) in [("replay_window", "times"), ("clock_ahead", "clocks")] {
            let steps = join(at, ["registration", key]);
            if report.is_set(&steps) {
                let message = format!("`{key}` has no effect with nonces, which need no {what}");
                let help = "leave it out, or write replay_protection = \"timestamps\"";
                report.add(&steps, message, help);
            }
        }
    }
}

fn agents(entry: &MobileIp) -> impl Iterator<Item = &String> {
    entry.foreign_agents.iter().chain([&entry.home_agent])
}

/// An agent that two entries name advertises once: the settings must agree.
fn check_shared_agents(
    at: &[Step],
    entry: &MobileIp,
    (other_number, other): (usize, &MobileIp),
    report: &mut Report<'_>,
) {
    if entry.home_agent == other.home_agent && entry.registration != other.registration {
        let message = format!(
            "\"{}\" is the home agent of \"{}\" as well, with another `registration`",
            entry.home_agent, other.name
        );
        let help = "write the same table in both, or name all mobile nodes in one entry";
        let related = [Key("mobile_ip"), At(other_number)];
        report.add_related(&join(at, ["registration"]), message, help, (&related, "the other entry"));
    }
    let shared = agents(entry).find(|agent| agents(other).any(|theirs| theirs == *agent));
    if let Some(agent) = shared
        && entry.advertisement != other.advertisement
    {
        let message = format!(
            "\"{agent}\" is an agent of \"{}\" as well, which has another `advertisement`",
            other.name
        );
        let help = "an agent advertises in one way; write the same table in both";
        let related = [Key("mobile_ip"), At(other_number)];
        report.add_related(&join(at, ["advertisement"]), message, help, (&related, "the other entry"));
    }
}
