//! `mih_handovers`: one row a handover by MIH users, entry by entry, in order of their beginnings.
//! `mih_users`: one row a user of an entry, what its MIHF sent for it, and what came and fitted to nothing.
//! Only where there are any.

use crate::table::{Table, float, integer, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::mih_handover::{Account, MihHandover, MihHandoverConfig, Notice};
use roamsim_network::selected_handover::FromNetwork;
use roamsim_network::signalling::SessionUser;
use roamsim_network::topology::NodeId;
use roamsim_protocols::mih::handover::{Cause, GivenUp, Initiation, Trigger};
use roamsim_protocols::mih::{Rejection, SessionId, Stats};

fn outcome(account: &Account) -> &'static str {
    match (account.cause, account.redirected) {
        (Some(Cause::Commit), Some(_)) => "committed",
        (Some(Cause::LinkDown), Some(_)) => "link_down",
        (Some(Cause::NoAnswer), Some(_)) => "no_answer",
        (Some(_), None) => "redirecting",
        (None, _) if account.taken_back => "rolled_back",
        (None, _) if account.given_up.is_some() => "given_up",
        (None, _) => "pending",
    }
}

fn given_up_by(account: &Account) -> &'static str {
    match account.given_up {
        None => "",
        Some((_, GivenUp::Message)) => "message",
        Some((_, GivenUp::NoAnswer)) => "no_answer",
        Some((_, GivenUp::Response)) => "response",
        Some((_, GivenUp::Notice)) => "notice",
        Some((_, GivenUp::NoCandidate)) => "no_candidate",
        Some((_, GivenUp::Rollback)) => "rollback",
    }
}

/// The event that it began with, in the word of the table of link events.
fn begun_by(account: &Account) -> &'static str {
    match account.begun_by {
        Trigger::GoingDown => "link_going_down",
        Trigger::Detected(_) => "link_detected",
        Trigger::Crossed => "link_parameters_report",
        Trigger::Down => "link_down",
        Trigger::Selected => "selection",
    }
}

/// How who prepared it came to know of that event.
fn notice(entry: &MihHandover, account: &Account) -> &'static str {
    let MihHandoverConfig { initiation, notice, .. } = entry.config;
    match (account.begun_by, initiation, notice) {
        (Trigger::GoingDown, Initiation::Network, Notice::Remote) => "remote",
        _ => "local",
    }
}

/// A handover, and what its entry or selection says of it.
struct Row<'a> {
    name: &'a str,
    node: NodeId,
    initiation: Initiation,
    from: String,
    to: String,
    /// Where the event was that it began with.
    begun_in: String,
    notice: &'static str,
    account: &'a Account,
}

fn of_entries(world: &World) -> Vec<Row<'_>> {
    let cell = |entry: &MihHandover, place: usize| {
        let member = world.handovers.stations[entry.parties.station as usize].cells[place];
        world.handovers.cells[member.cell as usize].name.clone()
    };
    // Whoever prepares a handover does so in the first network.
    let begun_in = |entry: &MihHandover, number: usize| match entry.accounts[number].begun_by {
        Trigger::Detected(candidate) => cell(entry, entry.target(candidate).0),
        Trigger::GoingDown | Trigger::Crossed => cell(entry, entry.parties.serving_place),
        Trigger::Down | Trigger::Selected => cell(entry, entry.left(number)),
    };
    let mut rows = Vec::new();
    for entry in &world.mih_handovers {
        rows.extend(entry.accounts.iter().enumerate().map(|(number, account)| Row {
            name: &entry.config.name,
            node: world.handovers.stations[entry.parties.station as usize].node,
            initiation: entry.config.initiation,
            from: cell(entry, entry.left(number)),
            to: account.to.map(|to| cell(entry, entry.target(to).0)).unwrap_or_default(),
            begun_in: begun_in(entry, number),
            notice: notice(entry, account),
            account,
        }));
    }
    rows
}

fn of_selections(world: &World) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for handover in &world.selected_handovers {
        let config = &world.selections.all[handover.selection as usize].config;
        let network = |place: Option<usize>| {
            let interface = place.map(|place| world.network.topology.interface(handover.interfaces[place]));
            interface.map_or(String::new(), |interface| interface.name.to_string())
        };
        rows.extend(handover.accounts.iter().map(|FromNetwork { from, account }| Row {
            name: &config.name,
            node: config.node,
            initiation: Initiation::Mobile,
            from: network(*from),
            to: network(account.to),
            begun_in: network(*from),
            notice: "local",
            account,
        }));
    }
    rows
}

pub(crate) fn table(world: &World) -> Table {
    let mut all = of_entries(world);
    all.extend(of_selections(world));
    let rows = || all.iter();
    let time = |name, of: fn(&Account) -> Option<Time>| {
        float(name, "s", rows().map(|row| of(row.account).map_or(f64::NAN, Time::as_secs_f64)))
    };
    let span = |name, from: fn(&Account) -> Option<Time>, to: fn(&Account) -> Option<Time>| {
        let between = |account: &Account| Some(to(account)?.as_secs_f64() - from(account)?.as_secs_f64());
        float(name, "s", rows().map(move |row| between(row.account).unwrap_or(f64::NAN)))
    };
    Table {
        name: "mih_handovers",
        columns: vec![
            text("name", rows().map(|row| row.name.to_owned())),
            text("node", rows().map(|row| world.network.topology.node(row.node).name.clone())),
            text(
                "initiated_by",
                rows().map(|row| match row.initiation {
                    Initiation::Mobile => "mobile_node".to_owned(),
                    Initiation::Network => "network".to_owned(),
                    Initiation::Both => "both".to_owned(),
                }),
            ),
            text("from_cell", rows().map(|row| row.from.clone())),
            text("to_cell", rows().map(|row| row.to.clone())),
            text("begun_by", rows().map(|row| begun_by(row.account))),
            text("begun_in", rows().map(|row| row.begun_in.clone())),
            text("notice", rows().map(|row| row.notice)),
            text("outcome", rows().map(|row| outcome(row.account).to_owned())),
            text("given_up_by", rows().map(|row| given_up_by(row.account).to_owned())),
            time("going_down_s", |account| account.going_down),
            time("started_s", |account| account.started),
            time("scan_begun_s", |account| account.scan_begun),
            time("scan_done_s", |account| account.scan_done),
            time("resources_asked_s", |account| account.resources_asked),
            time("resources_known_s", |account| account.resources_known),
            time("commit_asked_s", |account| account.commit_asked),
            time("committed_s", |account| account.committed),
            time("given_up_s", |account| account.given_up.map(|(at, _)| at)),
            time("entry_begun_s", |account| account.entry_begun),
            time("redirect_begun_s", |account| account.redirect_begun),
            time("redirected_s", |account| account.redirected),
            time("completed_s", |account| account.completed),
            span("scan_s", |account| account.scan_begun, |account| account.scan_done),
            span("resources_s", |account| account.resources_asked, |account| account.resources_known),
            span("commit_s", |account| account.commit_asked, |account| account.committed),
            span("entry_s", |account| account.entry_begun, |account| account.redirect_begun),
            span("redirect_s", |account| account.redirect_begun, |account| account.redirected),
            span("handover_s", |account| account.going_down, |account| account.redirected),
        ],
    }
}

/// A user of an entry or a selection: whose sessions it has, the number of its MIHF, what it is, and what it
/// could do nothing with.
struct User<'a> {
    name: &'a str,
    sessions: SessionUser,
    mihf: u32,
    role: &'static str,
    unexpected: u64,
}

impl User<'_> {
    /// A count of its MIHF, over the sessions of its entry.
    fn count(&self, world: &World, of: impl Fn(&Stats) -> u64) -> u64 {
        let node = &world.mih_nodes[self.mihf as usize];
        let own = (0..).zip(&node.sessions).filter(|(_, session)| session.user == self.sessions);
        own.map(|(session, _)| of(node.mihf.stats(SessionId(session)))).sum()
    }
}

pub(crate) fn users(world: &World) -> Table {
    let mut users = Vec::new();
    for (number, entry) in (0..).zip(&world.mih_handovers) {
        let (parties, name) = (&entry.parties, entry.config.name.as_str());
        let sessions = SessionUser::MihHandover(number);
        let mut user = |mihf, role, unexpected| users.push(User { name, sessions, mihf, role, unexpected });
        user(parties.mobile_node.mihf, "mobile node", parties.mobile_node.user.unexpected());
        user(parties.serving.mihf, "serving PoS", parties.serving.user.unexpected());
        for candidate in &parties.candidates {
            user(candidate.pos.mihf, "candidate PoS", candidate.pos.user.unexpected());
        }
    }
    for (number, handover) in (0..).zip(&world.selected_handovers) {
        let name = world.selections.all[handover.selection as usize].config.name.as_str();
        let sessions = SessionUser::Selection(number);
        let mut user = |mihf, role, unexpected| users.push(User { name, sessions, mihf, role, unexpected });
        let mobile_node = &handover.mobile_node;
        user(mobile_node.mihf, "mobile node", mobile_node.user.unexpected());
        for point in &handover.points_of_service {
            user(point.mihf, "PoS", point.user.unexpected());
        }
    }
    let users = || users.iter();
    let node =
        |user: &User<'_>| world.network.topology.node(world.mih_nodes[user.mihf as usize].node).name.clone();
    let count = |name, unit, of: fn(&Stats) -> u64| {
        integer(name, unit, users().map(move |user| user.count(world, of)))
    };
    let rejected = |stats: &Stats| Rejection::ALL.iter().map(|&reason| stats.rejected(reason)).sum::<u64>();
    Table {
        name: "mih_users",
        columns: vec![
            text("name", users().map(|user| user.name)),
            text("node", users().map(node)),
            text("role", users().map(|user| user.role.to_owned())),
            count("information_messages", "messages", Stats::information_messages),
            count("mih_packets", "packets", |stats| stats.packets.total()),
            count("retransmissions", "packets", |stats| stats.packets.retransmissions),
            count("acks", "packets", |stats| stats.packets.acks),
            count("given_up", "transactions", |stats| stats.given_up + stats.responses_given_up),
            count("late", "packets", |stats| stats.late_responses + stats.late_acks),
            count("duplicates", "packets", |stats| stats.duplicates),
            count("rejected", "packets", rejected),
            integer("unexpected", "messages", users().map(|user| user.unexpected)),
        ],
    }
}
