//! `radio_phases`: one row a phase of a station's radio on its way into a network, link by link, in order of
//! their beginnings. Only where a link has any.

use crate::table::{Table, float, text};
use roamsim_network::World;
use roamsim_network::link::Link;
use roamsim_network::link::phase::PhaseRow;
use roamsim_protocols::Address;

pub(crate) fn table(world: &World) -> Option<Table> {
    let topology = &world.network.topology;
    let rows: Vec<(Address, &PhaseRow)> = world
        .network
        .links()
        .flat_map(|view| {
            let rows = view.link.phases().iter();
            rows.map(move |row| (view.addresses[row.at.0 as usize], row))
        })
        .collect();
    let rows = || rows.iter().copied();
    rows().next()?;
    let name = |(at, row): (Address, &PhaseRow)| match row.of_all {
        true => String::new(),
        false => topology.interface(at).name.to_string(),
    };
    Some(Table {
        name: "radio_phases",
        columns: vec![
            text("node", rows().map(|(at, _)| topology.owner_name(at))),
            text("link", rows().map(name)),
            text("phase", rows().map(|(_, row)| row.phase.name().to_owned())),
            float("begin_s", "s", rows().map(|(_, row)| row.begin.as_secs_f64())),
            float("end_s", "s", rows().map(|(_, row)| row.end.map_or(f64::NAN, |end| end.as_secs_f64()))),
        ],
    })
}
