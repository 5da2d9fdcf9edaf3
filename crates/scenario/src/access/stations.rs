//! What accesses with a base station and stations that come and go share: beacons, members, interfaces.

use std::collections::BTreeSet;

use roamsim_engine::{Span, Time};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;
use schemars::JsonSchema;
use serde::Deserialize;

use super::mtu::MAX_MTU_BYTES;
use super::{Access, Context, Pair, Role, places};
use crate::builder::Builder;
use crate::report::{At, Report, Step, join};
use crate::timing::check_start;
use crate::units;

/// Entries whose stations come and go, in the words of a scenario.
pub(crate) const THAT_COME_AND_GO: &str =
    "a [[cell]], a [[wifi]] with `beacons`, or a [[wimax]] with `entry`";

/// Beacons at a shorter period are more events than packets.
const SHORTEST_PERIOD: Span = Span::from_ms(1);

/// Beacons of a base station's link layer; they take no time on the transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advertisement {
    /// Time between two beacons. Default: 100 time units of 1024 us, common in IEEE 802.11 (IEEE 802.11-2007
    /// section 3.162).
    #[serde(default = "default_period", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub period: Span,
    /// When the first beacon comes.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
    /// Missed beacons in a row after which a station leaves the cell. Default chosen: 3, as in router
    /// discovery (RFC 1256 section 4.1) and agent advertisements (RFC 5944 section 2.1).
    #[serde(default = "default_lifetime")]
    pub lifetime: u32,
    /// The length of a beacon, for bit errors. Default chosen: about a beacon of IEEE 802.11.
    #[serde(rename = "size", default = "default_size_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub size_bytes: u64,
    /// Link_Going_Down comes this long before the station leaves the cell's reach. Left out: at its first
    /// missed beacon.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub going_down_ahead: Option<Span>,
}

fn default_period() -> Span {
    Span::from_us(102_400)
}

fn default_lifetime() -> u32 {
    3
}

fn default_size_bytes() -> u64 {
    100
}

impl Default for Advertisement {
    fn default() -> Advertisement {
        Advertisement {
            period: default_period(),
            start: Time::ZERO,
            lifetime: default_lifetime(),
            size_bytes: default_size_bytes(),
            going_down_ahead: None,
        }
    }
}

/// Checks the beacons of an access under `at`.
pub(crate) fn check_advertisement(
    at: &[Step],
    advertisement: &Advertisement,
    context: &Context<'_>,
    report: &mut Report<'_>,
) {
    let steps = join(at, ["advertisement"]);
    check_start(&join(&steps, ["start"]), advertisement.start, context.network.duration(), report);
    if advertisement.period < SHORTEST_PERIOD {
        let message = "a base station beacons at most once a millisecond";
        report.add(&join(&steps, ["period"]), message, "write a longer time, such as \"100ms\"");
    }
    if advertisement.lifetime == 0 {
        let help = "write 1 or more; 3 is usual";
        report.add(
            &join(&steps, ["lifetime"]),
            "a cell needs at least 1 missed beacon before it is lost",
            help,
        );
    }
    if advertisement.going_down_ahead == Some(Span::ZERO) {
        let help = "write a time above zero, such as \"2s\", or leave it out";
        let message = "with no time ahead Link_Going_Down comes only when a beacon is missed";
        report.add(&join(&steps, ["going_down_ahead"]), message, help);
    }
    if !(1..=MAX_MTU_BYTES).contains(&advertisement.size_bytes) {
        let help = format!("write a size from \"1B\" to \"{MAX_MTU_BYTES}B\"");
        report.add(&join(&steps, ["size"]), "a beacon has a size", help);
    }
}

/// Checks the base station of an access under `at`, and its stations.
pub(crate) fn check_members(
    at: &[Step],
    base_station: &str,
    stations: &[String],
    context: &Context<'_>,
    report: &mut Report<'_>,
) {
    let place = |name: &str, steps: &[Step], report: &mut Report<'_>| {
        let Some(node) = context.names.resolve(name, steps, report) else { return };
        let node = &context.network.nodes[node];
        if node.position.is_none() && node.motion.is_none() {
            let help = format!("write in [[node]] \"{name}\": position = {{ x = \"0m\", y = \"0m\" }}");
            report.add(steps, format!("\"{name}\" is in a cell, but it has no position"), help);
        }
    };
    place(base_station, &join(at, ["base_station"]), report);
    let own = |station: &String| *station == base_station;
    if context.attached.is(base_station, Role::Station) && !stations.iter().any(own) {
        let message = format!("\"{base_station}\" is a station of another cell");
        let help = "a station forwards nothing; give the cell a base station of its own";
        report.add(&join(at, ["base_station"]), message, help);
    }
    if stations.is_empty() {
        let help = "name the nodes that may be stations here";
        report.add(&join(at, ["stations"]), "a cell without stations carries nothing", help);
    }
    let mut named = BTreeSet::new();
    for (j, station) in stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(j));
        place(station, &steps, report);
        if own(station) {
            let message = format!("\"{station}\" is the base station of this cell");
            report.add(&steps, message, "name a node that is not the base station");
            continue;
        } else if !named.insert(station) {
            report.add(&steps, format!("\"{station}\" is named twice"), "name each station once");
        }
        let node = context.names.node(station);
        let multihomed = node.is_some_and(|node| context.network.nodes[node].multihomed);
        if context.attached.is(station, Role::Fixed) && !multihomed {
            let message = format!("\"{station}\" is a station of this cell and has another link");
            // Stations of [[cell]] have a radio in each.
            let is_its = |pair: &Pair<'_>| pair.nodes[1] == station;
            let radio = context
                .network
                .accesses()
                .filter(|entry| entry.has_one_radio() && entry.pairs().iter().any(is_its))
                .count();
            report.add(&steps, message, several_accesses_help(context, station, radio));
        }
    }
}

/// What a station that is not multihomed can do about a link beside its cells.
///
/// `cells` are those of one radio: with several, `multihomed` alone would be refused by `one_radio_help`.
pub(crate) fn several_accesses_help(context: &Context<'_>, station: &str, cells: usize) -> &'static str {
    if cells > 1 {
        one_radio_help(context, station, cells)
    } else {
        "add a [[selection]] with this `node`, which selects one of its interfaces; or write `multihomed = true` in its \
         [[node]], so that it keeps an address on each"
    }
}

/// What a station in several cells of one radio can do about `multihomed`: each way is a valid scenario.
pub(crate) fn one_radio_help(context: &Context<'_>, station: &str, cells: usize) -> &'static str {
    if context.attached.of(station).len() > cells {
        "add a [[selection]] with this `node`, which selects one of its interfaces at a time"
    } else {
        "add a [[selection]] with this `node`, which selects one of its interfaces at a time; or leave `multihomed` \
         out, so that its address follows it"
    }
}

/// Gives the base station and the stations of an access their interfaces on a link that has so many already,
/// in the order of `network::link::stations`: broadcast, one a station at the base station, the stations.
pub(crate) fn join_topology(
    access: &dyn Access,
    builder: &Builder<'_>,
    topology: &mut Topology,
    (link, first): (LinkId, usize),
) -> Vec<Address> {
    let pairs: Vec<_> = access.pairs().iter().map(|pair| pair.nodes.map(|name| builder.node(name))).collect();
    // The broadcast interface leads to nobody, so that no route goes there.
    let broadcast = pairs.first().map(|&[base_station, _]| (base_station, base_station));
    let down = pairs.iter().map(|&[base_station, station]| (base_station, station));
    let up = pairs.iter().map(|&[base_station, station]| (station, base_station));
    let ends = broadcast.into_iter().chain(down).chain(up);
    let addresses = places::interfaces_from(access, topology, (link, first), ends);
    for &address in &addresses[1 + pairs.len()..] {
        topology.bind(address);
        let station = topology.owner(address);
        if topology.primary(station).is_none() {
            topology.set_primary(address);
        }
    }
    addresses
}
