//! `signalling`: one row a signalling entry.

use crate::flow::results::connection;
use crate::table::{Table, float, integer, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::application::delay_statistics;
use roamsim_network::flow::Association;
use roamsim_network::signalling::{End, Kind, Outcome, Signalling};
use roamsim_network::socket::{SocketId, Traffic};
use roamsim_network::subject::Subject;
use roamsim_protocols::mih::{Held, Stats};

/// What a row needs of an entry.
struct Row<'a> {
    entry: &'a Signalling,
    origin: Stats,
    responder: Stats,
    sockets: Association,
    validity: String,
    /// Exchange with IP from the start, or the end of the warm-up, to the end of the run: origin, responder.
    all: [Traffic; 2],
    /// The same, up to the stop.
    active: [Traffic; 2],
    active_s: f64,
    /// Transaction states: origin, responder.
    states: [Held; 2],
    messages: u64,
    successes: u64,
    delays_ns: Vec<u64>,
}

fn row<'a>(world: &'a World, number: u32, entry: &'a Signalling, end: Time) -> Row<'a> {
    let socket = |at: End| world.mih_nodes[at.mihf as usize].sessions[at.session as usize].socket;
    let now = world.session_traffic(number);
    // An entry that never started exchanged nothing.
    let before = world.session_traffic_before(number).unwrap_or(now);
    // Nor does one that stopped within the warm-up.
    let stopped = entry.config.stop <= world.measured_from();
    let at_stop = if stopped { before } else { entry.traffic_at_stop.unwrap_or(now) };
    let since = |later: [Traffic; 2]| [later[0].since(before[0]), later[1].since(before[1])];
    let [successes, messages, _] = counts(world, number, entry);
    let [origin, responder] = world.measured_session_stats(number);
    Row {
        entry,
        origin,
        responder,
        sockets: Association { source: socket(entry.origin), sink: socket(entry.responder) },
        validity: entry.config.validity.clone(),
        all: since(now),
        active: since(at_stop),
        active_s: entry
            .config
            .stop
            .min(end)
            .since(entry.config.start.max(world.measured_from()))
            .as_secs_f64(),
        states: world.measured_session_states(number, end),
        messages,
        successes,
        delays_ns: delays_ns(world, entry),
    }
}

/// Its transactions: those that had success, all, and those that its origin gave up.
pub(crate) fn counts(world: &World, number: u32, entry: &Signalling) -> [u64; 3] {
    let measured = entry.transactions.iter().filter(|t| t.generated >= world.measured_from());
    let successes = measured.clone().filter(|t| t.outcome() == Outcome::Success).count();
    let [origin, _] = world.measured_session_stats(number);
    [successes as u64, measured.count() as u64, origin.given_up]
}

/// The delays of its transactions that had success.
pub(crate) fn delays_ns(world: &World, entry: &Signalling) -> Vec<u64> {
    let measured = entry.transactions.iter().filter(|t| t.generated >= world.measured_from());
    let completed = measured.filter(|t| t.outcome() == Outcome::Success);
    completed.filter_map(|t| Some(t.completed?.since(t.generated).as_ns())).collect()
}

impl Row<'_> {
    fn both(&self, count: impl Fn(&Stats) -> u64) -> u64 {
        count(&self.origin) + count(&self.responder)
    }

    /// How many states an end held on average.
    fn mean_states(&self, end: usize) -> f64 {
        ratio(1e-9 * self.states[end].area_ns as f64, self.active_s)
    }

    fn bits_per_second(&self, bytes: u64) -> f64 {
        ratio(8.0 * bytes as f64, self.active_s)
    }
}

pub(crate) fn table(world: &World, end: Time) -> Table {
    let rows: Vec<Row<'_>> = world
        .signalling
        .iter()
        .enumerate()
        .map(|(number, entry)| row(world, number as u32, entry, end))
        .collect();
    let rows = rows.iter();
    let delays: Vec<_> = rows.clone().map(|row| delay_statistics(&row.delays_ns)).collect();
    let information = |row: &Row<'_>| row.both(Stats::information_messages);
    let packets = |row: &Row<'_>| row.both(|stats| stats.packets.total());
    let segments = |row: &Row<'_>| row.all[0].sent_packets + row.all[1].sent_packets;
    let tcp = |row: &Row<'_>| matches!(row.sockets.source, SocketId::Tcp(_));
    let if_tcp = |row: &Row<'_>, value: f64| if tcp(row) { value } else { f64::NAN };
    let named = |row: &Row<'_>| world.named(Subject::Socket(row.sockets.source));
    Table {
        name: "signalling",
        columns: vec![
            text("name", rows.clone().map(|row| row.entry.config.name.clone())),
            text("from", rows.clone().map(|row| named(row).from.to_owned())),
            text("to", rows.clone().map(|row| named(row).to.to_owned())),
            text(
                "kind",
                rows.clone().map(|row| match row.entry.config.kind {
                    Kind::Indication => "indication".to_owned(),
                    Kind::Request => "request".to_owned(),
                    Kind::LinkEvents => "link_events".to_owned(),
                }),
            ),
            text("transport", rows.clone().map(|row| row.sockets.source.protocol().to_owned())),
            text("validity", rows.clone().map(|row| row.validity.clone())),
            text("connection", rows.clone().map(|row| connection(world, row.sockets))),
            integer("messages", "messages", rows.clone().map(|row| row.messages)),
            integer("successes", "messages", rows.clone().map(|row| row.successes)),
            float(
                "success_rate",
                "",
                rows.clone().map(|row| ratio(row.successes as f64, row.messages as f64)),
            ),
            float("mean_delay_s", "s", delays.iter().map(|delay| delay.mean_s)),
            float("median_delay_s", "s", delays.iter().map(|delay| delay.median_s)),
            float("p95_delay_s", "s", delays.iter().map(|delay| delay.p95_s)),
            float("p99_delay_s", "s", delays.iter().map(|delay| delay.p99_s)),
            float(
                "overhead",
                "",
                rows.clone().map(|row| ratio(packets(row) as f64, information(row) as f64)),
            ),
            integer("information_messages", "messages", rows.clone().map(information)),
            integer("mih_packets", "packets", rows.clone().map(packets)),
            integer(
                "retransmissions",
                "packets",
                rows.clone().map(|row| row.both(|stats| stats.packets.retransmissions)),
            ),
            integer("acks", "packets", rows.clone().map(|row| row.both(|stats| stats.packets.acks))),
            integer("given_up", "transactions", rows.clone().map(|row| row.origin.given_up)),
            integer("late", "packets", rows.clone().map(|r| r.both(|s| s.late_responses + s.late_acks))),
            integer("duplicates", "packets", rows.clone().map(|row| row.both(|stats| stats.duplicates))),
            integer("redelivered", "messages", rows.clone().map(|row| row.both(|stats| stats.redelivered))),
            integer("rate_limited", "packets", rows.clone().map(|row| row.both(|stats| stats.rate_limited))),
            integer(
                "tcp_segments",
                "segments",
                rows.clone().map(|row| if tcp(row) { segments(row) } else { 0 }),
            ),
            float(
                "tcp_segments_per_message",
                "segments",
                rows.clone().map(|row| if_tcp(row, ratio(segments(row) as f64, packets(row) as f64))),
            ),
            float(
                "load_bps",
                "bit/s",
                rows.clone()
                    .map(|row| row.bits_per_second(row.active[0].sent_bytes + row.active[1].sent_bytes)),
            ),
            float(
                "throughput_bps",
                "bit/s",
                rows.clone().map(|row| {
                    row.bits_per_second(row.active[0].received_bytes + row.active[1].received_bytes)
                }),
            ),
            float(
                "origin_load_bps",
                "bit/s",
                rows.clone().map(|row| row.bits_per_second(row.active[0].sent_bytes)),
            ),
            float(
                "peer_throughput_bps",
                "bit/s",
                rows.clone().map(|row| row.bits_per_second(row.active[1].received_bytes)),
            ),
            integer("id_reuses", "", rows.clone().map(|row| row.both(|stats| stats.id_reuses))),
            float("origin_mean_states", "transactions", rows.clone().map(|row| row.mean_states(0))),
            integer("origin_max_states", "transactions", rows.clone().map(|row| row.states[0].most)),
            float("peer_mean_states", "transactions", rows.clone().map(|row| row.mean_states(1))),
            integer("peer_max_states", "transactions", rows.clone().map(|row| row.states[1].most)),
        ],
    }
}

/// `link_commands`: one row a command of a remote MIH user to a link; `None` where no entry has any.
pub(crate) fn commands(world: &World) -> Option<Table> {
    let asks = |entry: &&Signalling| !entry.config.thresholds.is_empty() || !entry.config.actions.is_empty();
    world.signalling.iter().find(asks)?;
    let topology = &world.network.topology;
    let rows: Vec<_> = world
        .signalling
        .iter()
        .flat_map(|entry| entry.commands.iter().map(move |one| (entry, one)))
        .collect();
    let rows = || rows.iter();
    let node = |end: End| topology.node(world.mih_nodes[end.mihf as usize].node).name.clone();
    let answered_s = |answered: Option<Time>| answered.map_or(f64::NAN, Time::as_secs_f64);
    Some(Table {
        name: "link_commands",
        columns: vec![
            text("name", rows().map(|(entry, _)| entry.config.name.clone())),
            text("node", rows().map(|(entry, _)| node(entry.origin))),
            text("link", rows().map(|(_, one)| topology.interface(one.link).name.clone())),
            text("command", rows().map(|(_, one)| one.command.to_owned())),
            float("time_s", "s", rows().map(|(_, one)| one.asked.as_secs_f64())),
            float("answered_s", "s", rows().map(|(_, one)| answered_s(one.answered))),
            text("result", rows().map(|(_, one)| one.result.to_owned())),
        ],
    })
}
