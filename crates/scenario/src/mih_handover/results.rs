//! `mih_handovers`: one row a handover by MIH users, entry by entry, in order of their beginnings. Only where there are any.

use crate::table::{Table, float, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::mih_handover::{Account, MihHandover};
use roamsim_protocols::mih::handover::{Cause, GivenUp, Initiation};

fn outcome(account: &Account) -> &'static str {
    match (account.cause, account.redirected) {
        (Some(Cause::Commit), Some(_)) => "committed",
        (Some(Cause::LinkDown), Some(_)) => "link_down",
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
        Some((_, GivenUp::Response)) => "response",
        Some((_, GivenUp::Notice)) => "notice",
        Some((_, GivenUp::NoCandidate)) => "no_candidate",
        Some((_, GivenUp::Rollback)) => "rollback",
    }
}

pub(crate) fn table(world: &World) -> Table {
    let rows: Vec<(&MihHandover, &Account)> = world
        .mih_handovers
        .iter()
        .flat_map(|entry| entry.accounts.iter().map(move |account| (entry, account)))
        .collect();
    let rows = || rows.iter().copied();
    let cell = |entry: &MihHandover, place: usize| {
        let member = world.handovers.stations[entry.parties.station as usize].cells[place];
        world.handovers.cells[member.cell as usize].name.clone()
    };
    let cell_of_interface = |entry: &MihHandover| {
        let cells = &world.handovers.stations[entry.parties.station as usize].cells;
        let place = cells.iter().position(|member| member.interface == entry.parties.serving_interface);
        place.map(|place| cell(entry, place)).unwrap_or_default()
    };
    let time = |name, of: fn(&Account) -> Option<Time>| {
        float(name, "s", rows().map(|(_, account)| of(account).map_or(f64::NAN, Time::as_secs_f64)))
    };
    let span = |name, from: fn(&Account) -> Option<Time>, to: fn(&Account) -> Option<Time>| {
        let between = |account: &Account| Some(to(account)?.as_secs_f64() - from(account)?.as_secs_f64());
        float(name, "s", rows().map(move |(_, account)| between(account).unwrap_or(f64::NAN)))
    };
    Table {
        name: "mih_handovers",
        columns: vec![
            text("name", rows().map(|(entry, _)| entry.config.name.clone())),
            text(
                "node",
                rows().map(|(entry, _)| {
                    let node = world.handovers.stations[entry.parties.station as usize].node;
                    world.network.topology.node(node).name.clone()
                }),
            ),
            text(
                "initiated_by",
                rows().map(|(entry, _)| match entry.config.initiation {
                    Initiation::Mobile => "mobile_node".to_owned(),
                    Initiation::Network => "network".to_owned(),
                }),
            ),
            text("from_cell", rows().map(|(entry, _)| cell_of_interface(entry))),
            text(
                "to_cell",
                rows().map(|(entry, account)| {
                    account.to.map(|to| cell(entry, entry.parties.candidates[to].place)).unwrap_or_default()
                }),
            ),
            text("outcome", rows().map(|(_, account)| outcome(account).to_owned())),
            text("given_up_by", rows().map(|(_, account)| given_up_by(account).to_owned())),
            time("going_down_s", |account| account.going_down),
            time("started_s", |account| account.started),
            time("scan_begun_s", |account| account.scan_begun),
            time("scan_done_s", |account| account.scan_done),
            time("resources_asked_s", |account| account.resources_asked),
            time("resources_known_s", |account| account.resources_known),
            time("commit_asked_s", |account| account.commit_asked),
            time("committed_s", |account| account.committed),
            time("given_up_s", |account| account.given_up.map(|(at, _)| at)),
            time("redirect_begun_s", |account| account.redirect_begun),
            time("redirected_s", |account| account.redirected),
            time("completed_s", |account| account.completed),
            span("scan_s", |account| account.scan_begun, |account| account.scan_done),
            span("resources_s", |account| account.resources_asked, |account| account.resources_known),
            span("commit_s", |account| account.commit_asked, |account| account.committed),
            span("redirect_s", |account| account.redirect_begun, |account| account.redirected),
            span("handover_s", |account| account.going_down, |account| account.redirected),
        ],
    }
}
