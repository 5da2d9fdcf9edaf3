//! `dect`, `dect_states`, `dect_transitions`, `dect_procedures`, `dect_terminals` and, when asked for,
//! `dect_occupancy`: what the DECT accesses counted from their warm-up on.
//!
//! Columns that end in `_up` are of the direction from the terminal, those in `_down` of that from the
//! gateway.

use crate::table::sample::Sample;
use crate::table::{Column, Table, float, integer, named, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::AnyLink;
use roamsim_network::link::dect::FRAME;
use roamsim_network::link::dect::access::{Access, AccessLog, AccessStats};
use roamsim_network::link::dect::direction::{DirectionStats, DlcStats};
use roamsim_network::link::dect::mac::{MacState, MacStats, Occupancy, ProcedureStats, TerminalType};
use roamsim_network::subject::{Named, Subject};
use roamsim_protocols::Address;
use std::ops::Range;

/// An access after the end of the run.
struct Row<'a> {
    name: &'a str,
    stats: &'a AccessStats,
    /// Where the terminal is attached.
    terminal: Address,
}

fn rows(world: &World) -> Vec<Row<'_>> {
    let links = world.network.links();
    let accesses = links.filter_map(|link| match link.link {
        AnyLink::Dect(access) => {
            Some(Row { name: link.name, stats: access.access_stats()?, terminal: link.addresses[0] })
        }
        _ => None,
    });
    accesses.collect()
}

/// The direction from the terminal.
fn up(world: &World, terminal: Address) -> Named<'_> {
    Named { kind: "dect", ..world.named(Subject::Interface(terminal)) }
}

fn seconds(frames: u64) -> f64 {
    (FRAME * frames).as_secs_f64()
}

/// The tables of a run with any access; none otherwise.
pub(super) fn tables(world: &World) -> Vec<Table> {
    let rows = rows(world);
    if rows.is_empty() {
        return Vec::new();
    }
    vec![accesses(world, &rows), states(&rows), transitions(&rows), procedures(&rows), terminals(&rows)]
}

/// One row an access.
fn accesses(world: &World, rows: &[Row<'_>]) -> Table {
    let mac = |value: fn(&MacStats) -> f64| rows.iter().map(move |row| value(&row.stats.mac));
    let bearer_frames = |row: &Row<'_>| row.stats.mac.mean_user_bearers() * row.stats.mac.frames() as f64;
    let mut columns = vec![
        text("name", rows.iter().map(|row| row.name.to_owned())),
        text("terminal", rows.iter().map(|row| up(world, row.terminal).from.to_owned())),
        text("gateway", rows.iter().map(|row| up(world, row.terminal).to.to_owned())),
        float("measured_s", "s", mac(|mac| seconds(mac.frames()))),
        float("mean_bearers", "bearers", mac(MacStats::mean_user_bearers)),
        float(
            "no_bearer_share",
            "",
            mac(|mac| {
                let without = mac.frames_by_user_bearers.first().copied().unwrap_or(0);
                ratio(without as f64, mac.frames() as f64)
            }),
        ),
        float(
            "occupied_channels",
            "channels",
            mac(|mac| {
                // A full slot has two units.
                let units: u64 = mac.unit_frames.iter().sum();
                ratio(units as f64 / 2.0, mac.frames() as f64)
            }),
        ),
    ];
    type Count = fn(&DirectionStats) -> u64;
    let counts: [(&str, &str, &str, Count); 12] = [
        ("packets_up", "packets_down", "fragments", |d| d.ip.packets),
        ("attempts_up", "attempts_down", "", |d| d.ip.attempts),
        ("discarded_up", "discarded_down", "fragments", |d| d.ip.discarded),
        ("lost_with_bearer_up", "lost_with_bearer_down", "fragments", |d| d.ip.lost_with_bearer),
        ("received_up", "received_down", "fragments", |d| d.ip.received),
        ("fragments_up", "fragments_down", "fragments", |d| match d.dlc {
            DlcStats::Lu2(lu2) => lu2.fragments,
            DlcStats::Lu1(lu1) => lu1.fragments,
        }),
        ("fragments_repeated_up", "fragments_repeated_down", "fragments", |d| match d.dlc {
            DlcStats::Lu2(lu2) => lu2.fragments_repeated,
            DlcStats::Lu1(_) => 0,
        }),
        ("duplicates_up", "duplicates_down", "fragments", |d| match d.dlc {
            DlcStats::Lu2(lu2) => lu2.duplicates,
            DlcStats::Lu1(_) => 0,
        }),
        ("fragments_lost_up", "fragments_lost_down", "fragments", |d| match d.dlc {
            DlcStats::Lu2(_) => d.ip.discarded + d.ip.lost_with_bearer,
            DlcStats::Lu1(lu1) => lu1.fragments_lost,
        }),
        ("retransmission_requests_up", "retransmission_requests_down", "", |d| match d.dlc {
            DlcStats::Lu2(lu2) => lu2.retransmission_requests,
            DlcStats::Lu1(_) => 0,
        }),
        ("dlc_frames_delivered_up", "dlc_frames_delivered_down", "packets", |d| match d.dlc {
            DlcStats::Lu2(lu2) => lu2.frames_delivered,
            DlcStats::Lu1(lu1) => lu1.frames_delivered,
        }),
        ("dlc_frames_dropped_up", "dlc_frames_dropped_down", "packets", |d| match d.dlc {
            DlcStats::Lu2(lu2) => lu2.frames_dropped,
            DlcStats::Lu1(lu1) => lu1.frames_dropped,
        }),
    ];
    for (up, down, unit, count) in counts {
        for (name, from) in [(up, 0), (down, 1)] {
            columns.push(integer(name, unit, rows.iter().map(|row| count(&row.stats.directions[from]))));
        }
    }
    for (name, from) in [("received_per_bearer_frame_up", 0), ("received_per_bearer_frame_down", 1)] {
        let received = |row: &Row<'_>| row.stats.directions[from].ip.received as f64;
        columns.push(float(
            name,
            "fragments",
            rows.iter().map(|row| ratio(received(row), bearer_frames(row))),
        ));
    }
    Table { name: "dect", columns }
}

/// One row a state of the MAC, in the order of the state diagram, of each type of terminal and access. The
/// time of terminals at rest has no value but for the access' own: their pool is unlimited.
fn states(rows: &[Row<'_>]) -> Table {
    let all: Vec<(&Row<'_>, TerminalType, MacState)> = types(rows)
        .flat_map(|(row, kind)| MacState::ALL.into_iter().map(move |state| (row, kind, state)))
        .collect();
    let frames = |&(row, kind, state): &(&Row<'_>, TerminalType, MacState)| {
        let counted = kind == TerminalType::User || state != MacState::IdleLocked;
        counted.then(|| row.stats.mac.of(kind).frames_in_state[state as usize])
    };
    let in_all_states = |&(row, kind, _): &(&Row<'_>, TerminalType, MacState)| {
        row.stats.mac.of(kind).frames_in_state.iter().sum::<u64>() as f64
    };
    let share = |one| frames(one).map_or(f64::NAN, |frames| ratio(frames as f64, in_all_states(one)));
    Table {
        name: "dect_states",
        columns: vec![
            text("name", all.iter().map(|(row, ..)| row.name.to_owned())),
            text("type", all.iter().map(|(_, kind, _)| kind.name().to_owned())),
            text("state", all.iter().map(|(.., state)| state.name().to_owned())),
            float("time_s", "s", all.iter().map(|one| frames(one).map_or(f64::NAN, seconds))),
            float("share", "", all.iter().map(share)),
            integer(
                "entries",
                "",
                all.iter().map(|&(row, kind, state)| row.stats.mac.of(kind).entries(state)),
            ),
        ],
    }
}

/// One row an arrow of the state diagram, of each type of terminal and access, those that never happened
/// included.
fn transitions(rows: &[Row<'_>]) -> Table {
    let all: Vec<(&Row<'_>, TerminalType, MacState, MacState)> = types(rows)
        .flat_map(|(row, kind)| MacState::DIAGRAM.into_iter().map(move |(from, to)| (row, kind, from, to)))
        .collect();
    Table {
        name: "dect_transitions",
        columns: vec![
            text("name", all.iter().map(|(row, ..)| row.name.to_owned())),
            text("type", all.iter().map(|(_, kind, ..)| kind.name().to_owned())),
            text("from", all.iter().map(|(.., from, _)| from.name().to_owned())),
            text("to", all.iter().map(|(.., to)| to.name().to_owned())),
            integer(
                "count",
                "",
                all.iter().map(|&(row, kind, from, to)| {
                    row.stats.mac.of(kind).transitions[from as usize][to as usize]
                }),
            ),
        ],
    }
}

/// One row a procedure in which channels are tried, of each type of terminal and access.
fn procedures(rows: &[Row<'_>]) -> Table {
    let all: Vec<(&Row<'_>, TerminalType, MacState, ProcedureStats)> = types(rows)
        .flat_map(|(row, kind)| {
            let of = row.stats.mac.of(kind);
            MacState::PROCEDURES.into_iter().map(move |state| (row, kind, state, of.procedure(state)))
        })
        .collect();
    let of = || all.iter().map(|&(.., of)| of);
    let per_bearer = |name, count: fn(&ProcedureStats) -> u64| {
        float(name, "", of().map(|of| ratio(count(&of) as f64, of.bearers_tried as f64)))
    };
    Table {
        name: "dect_procedures",
        columns: vec![
            text("name", all.iter().map(|(row, ..)| row.name.to_owned())),
            text("type", all.iter().map(|(_, kind, ..)| kind.name().to_owned())),
            text("procedure", all.iter().map(|(_, _, state, _)| state.name().to_owned())),
            integer("bearers_tried", "bearers", of().map(|of| of.bearers_tried)),
            integer("bearers_obtained", "bearers", of().map(|of| of.bearers_obtained)),
            integer("bearers_lost", "bearers", of().map(|of| of.bearers_lost)),
            integer("bearers_tried_again", "bearers", of().map(|of| of.bearers_tried_again)),
            per_bearer("more_than_one_attempt_share", |of| of.bearers_tried_again),
            integer("attempts", "", of().map(|of| of.attempts)),
            integer("attempts_occupied", "", of().map(|of| of.attempts_occupied)),
            integer("attempts_collided", "", of().map(|of| of.attempts_collided)),
            per_bearer("mean_attempts", |of| of.attempts),
        ],
    }
}

/// Every access with every type of terminal, the access' own terminal ("User") last.
fn types<'a>(rows: &'a [Row<'a>]) -> impl Iterator<Item = (&'a Row<'a>, TerminalType)> {
    rows.iter().flat_map(|row| TerminalType::ALL.into_iter().map(move |kind| (row, kind)))
}

/// One row a type of terminal, the access' own terminal ("User") last.
fn terminals(rows: &[Row<'_>]) -> Table {
    let pairs = || types(rows).map(|(row, kind)| (row, row.stats.mac.of(kind), kind));
    let column =
        |name: &'static str, unit: &'static str, value: fn(&MacStats, TerminalType) -> u64| -> Column {
            integer(name, unit, pairs().map(|(row, _, kind)| value(&row.stats.mac, kind)))
        };
    let per_call = |name: &'static str, count: fn(&MacStats, TerminalType) -> u64| -> Column {
        float(
            name,
            "",
            pairs().map(|(row, stats, kind)| ratio(count(&row.stats.mac, kind) as f64, stats.calls() as f64)),
        )
    };
    let blocked = |mac: &MacStats, kind| mac.of(kind).blocked;
    let dropped = |mac: &MacStats, kind| mac.of(kind).dropped;
    Table {
        name: "dect_terminals",
        columns: vec![
            text("name", pairs().map(|(row, ..)| row.name.to_owned())),
            text("type", pairs().map(|(.., kind)| kind.name().to_owned())),
            column("calls", "calls", |mac, kind| mac.of(kind).calls()),
            column("blocked", "calls", blocked),
            column("dropped", "calls", dropped),
            per_call("blocked_share", blocked),
            per_call("dropped_share", dropped),
            float(
                "mean_bearers",
                "bearers",
                pairs()
                    .map(|(row, stats, _)| ratio(stats.bearer_frames as f64, row.stats.mac.frames() as f64)),
            ),
            column("attempts", "", |mac, kind| mac.of(kind).in_all_procedures(|of| of.attempts)),
            column("attempts_occupied", "", |mac, kind| {
                mac.of(kind).in_all_procedures(|of| of.attempts_occupied)
            }),
            column("attempts_collided", "", |mac, kind| {
                mac.of(kind).in_all_procedures(|of| of.attempts_collided)
            }),
            column("bearer_handovers", "", |mac, kind| mac.of(kind).entries(MacState::BearerHandover)),
            column("bearer_handovers_failed", "", |mac, kind| {
                mac.of(kind).procedure(MacState::BearerHandover).bearers_lost
            }),
            column("connection_handovers", "", |mac, kind| {
                mac.of(kind).entries(MacState::ConnectionHandover)
            }),
            column("connection_handovers_with_loss", "", |mac, kind| {
                mac.of(kind).connection_handovers_with_loss
            }),
            column("bearers_lost_in_connection_handover", "bearers", |mac, kind| {
                mac.of(kind).procedure(MacState::ConnectionHandover).bearers_lost
            }),
        ],
    }
}

/// A channel that one terminal used, and the name of its access.
pub(super) type Used<'a> = (&'a str, &'a Occupancy);

/// The channels in use, access by access, each in order of release; of a run that is over.
pub(super) fn used(world: &World) -> Vec<Used<'_>> {
    let mut all = Vec::new();
    for row in rows(world) {
        all.extend(row.stats.occupancy.iter().map(|used| (row.name, used)));
    }
    all
}

/// One row a channel in use by one terminal, over the whole run, in order of release.
pub(super) fn occupancy(rows: &[Used<'_>]) -> Table {
    let all = || rows.iter();
    Table {
        name: "dect_occupancy",
        columns: vec![
            named("name", all().map(|(name, _)| *name), |name| (*name).to_owned()),
            named("type", all().map(|(_, used)| used.kind.name()), |name| (*name).to_owned()),
            integer("radio_fixed_part", "", all().map(|(_, used)| u64::from(used.channel.rfp))),
            integer("carrier", "", all().map(|(_, used)| u64::from(used.channel.carrier()))),
            integer("slot_pair", "", all().map(|(_, used)| u64::from(used.channel.slot_pair()))),
            integer("half", "", all().map(|(_, used)| u64::from(used.channel.first_unit % 2))),
            float("slots", "slots", all().map(|(_, used)| f64::from(used.channel.format.width()) / 2.0)),
            float("from_s", "s", all().map(|(_, used)| seconds(used.from_frame))),
            float("until_s", "s", all().map(|(_, used)| seconds(used.until_frame))),
        ],
    }
}

/// An access that keeps a log, and its terminal's address.
fn logging(world: &World) -> impl Iterator<Item = (&Access, Address)> {
    world.network.links().filter_map(|link| match link.link {
        AnyLink::Dect(access) => Some((&**access, link.addresses[0])),
        _ => None,
    })
}

/// Of a log: whether it is of the direction from the terminal, a quantity and its unit, and values from
/// frames on.
type Values<'a> = (bool, &'static str, &'static str, &'a [(u64, u64)]);

/// The values of an access's log, with what they are of.
fn logs(log: &AccessLog) -> impl Iterator<Item = Values<'_>> {
    let bearers = log.bearers.iter().map(|values| (true, "bearers", "bearers", &values[..]));
    let queues = log.dlc_queue.iter().flat_map(|[up, down]| {
        [(true, "dlc_queue", "fragments", &up[..]), (false, "dlc_queue", "fragments", &down[..])]
    });
    bearers.chain(queues)
}

/// How many values accesses have logged.
pub(super) fn logged(world: &World) -> usize {
    logging(world).flat_map(|(access, _)| logs(access.log())).map(|(.., values)| values.len()).sum()
}

/// The series that accesses logged in a time, in order of time. Bearers are the terminal's.
pub(super) fn samples<'a>(world: &'a World, time: &Range<Time>) -> Vec<Sample<'a>> {
    let mut samples = Vec::new();
    let start = |frame: u64| Time::ZERO + FRAME * frame;
    for (access, terminal) in logging(world) {
        let up = up(world, terminal);
        let down = Named { from: up.to, to: up.from, ..up };
        for (from_terminal, quantity, unit, values) in logs(access.log()) {
            let place = |of: Time| values.partition_point(|&(frame, _)| start(frame) < of);
            let of = if from_terminal { up } else { down };
            samples.extend(values[place(time.start)..place(time.end)].iter().map(|&(frame, value)| Sample {
                time: start(frame),
                of,
                quantity,
                value: value as f64,
                unit,
            }));
        }
    }
    samples.sort_by_key(|sample| sample.time);
    samples
}
