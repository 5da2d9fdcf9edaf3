//! The losses of the machine, and how link events change them.

use crate::access::Making;
use crate::access::wifi::loss::{During, Loss, LossOf};
use crate::access::wifi::model::Wifi;
use crate::access::wire::loss_model;
use crate::access::wire::model::LossModel;
use crate::access::wire::path::{LinkEvent, Varying};
use crate::builder::escaped;
use roamsim_network::link::Attachment;
use roamsim_network::link::loss::Loss as NetworkLoss;
use roamsim_network::link::managed_wire::Change;
use roamsim_network::link::wifi::Cell;
use roamsim_network::link::wifi::loss::{CellLoss, Of};

/// A loss in one direction of a station.
struct Directed<'a> {
    /// The cell's number in its medium, and the loss's in its cell.
    cell: usize,
    place: usize,
    loss: &'a Loss,
    /// The station's number in its cell.
    station: usize,
    up: bool,
}

/// What the machine of a medium loses, in its order.
fn directed<'a>(cells: &[&'a Wifi]) -> Vec<Directed<'a>> {
    let mut all = Vec::new();
    for (number, cell) in cells.iter().copied().enumerate() {
        for (place, loss) in cell.loss.iter().enumerate() {
            for (station, name) in cell.stations.iter().enumerate() {
                for (up, sender) in [(false, &cell.access_point), (true, name)] {
                    if loss.from.as_ref().is_none_or(|from| from == sender) {
                        all.push(Directed { cell: number, place, loss, station, up });
                    }
                }
            }
        }
    }
    all
}

/// Gives the machine of a medium the losses of its cells, in their order.
pub(crate) fn add(cells: &[&Wifi], making: &Making<'_>, machine: &mut Cell) {
    let ends = |number| machine.members_of(number).map(|(_, down, up)| (down, up)).collect();
    let ends: Vec<Vec<(Attachment, Attachment)>> = (0..cells.len()).map(ends).collect();
    let losses = directed(cells).into_iter().map(|Directed { cell, place, loss, station, up }| {
        let Loss { from: _, start, during, of, model } = loss;
        let ((down_end, up_end), name) = (ends[cell][station], &cells[cell].stations[station]);
        let way = if up { "up" } else { "down" };
        let stream = |purpose: &str| {
            let path = ["loss", &place.to_string(), &escaped(name), way, purpose];
            making.builder.stream("wifi", &cells[cell].name, &path)
        };
        CellLoss {
            from: if up { up_end } else { down_end },
            of: match of {
                LossOf::Packets => Of::Packets,
                LossOf::Attempts => Of::Attempts,
            },
            while_going_down: *during == During::LinkGoingDown,
            loss: NetworkLoss::new(loss_model(model, making.flows), *start, stream),
        }
    });
    let losses = losses.collect();
    machine.add_losses(losses);
}

/// How the losses of a medium change at link events.
pub(crate) fn changes<'a>(cells: &[&'a Wifi]) -> Vec<(&'a LinkEvent, Change)> {
    let mut changes = Vec::new();
    for (number, Directed { loss, .. }) in directed(cells).into_iter().enumerate() {
        let LossModel::Series(series) = &loss.model else { continue };
        changes.extend(series.changes().into_iter().map(|(event, change)| match change {
            Change::Loss { probability, .. } => (event, Change::Loss { number, probability }),
            other => (event, other),
        }));
    }
    changes
}
