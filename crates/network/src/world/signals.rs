//! Coarse signals of moving stations over time: for each cell the last reported signal in each part of the
//! run. The instants at which a cell was detected, associated, left and lost are exact.
//!
//! All of it comes from link events, so it costs nothing per packet.

use super::{Series, World};
use crate::link::indication::LinkEvent;
use crate::recorder::LinkEventRow;
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// What stations that move heard.
#[derive(Clone, Debug)]
pub struct Signals {
    /// Events in order.
    pub rows: Vec<LinkEventRow>,
    /// Whether an address is of a station that is watched.
    watched: Vec<bool>,
    /// Those of the part under way, by when they came among all; of reports the last one at each address.
    events: Vec<(u64, LinkEventRow)>,
    reports: BTreeMap<Address, (u64, LinkEventRow)>,
    /// How many have come.
    count: u64,
}

impl Signals {
    pub(super) fn new(world: &World, moving: &[&str]) -> Signals {
        let topology = &world.network.topology;
        let watched: Vec<&str> = moving.iter().copied().take(Series::MOST).collect();
        let is_watched = |name: &str| watched.contains(&name);
        Signals {
            rows: Vec::new(),
            watched: (topology.addresses()).map(|address| is_watched(topology.owner_name(address))).collect(),
            events: Vec::new(),
            reports: BTreeMap::new(),
            count: 0,
        }
    }

    /// A link event has happened.
    pub(super) fn take(&mut self, row: LinkEventRow) {
        if !self.watched.get(row.at.0 as usize).is_some_and(|is_watched| *is_watched) {
            return;
        }
        self.count += 1;
        match row.event {
            LinkEvent::ParametersReport { .. } => {
                self.reports.insert(row.at, (self.count, row));
            }
            LinkEvent::Detected { .. } | LinkEvent::Up | LinkEvent::Down(_) | LinkEvent::Lost => {
                self.events.push((self.count, row));
            }
            _ => {}
        }
    }

    /// The rows from this one on, and what has come since the last row was made: of reports the last ones.
    pub fn since(&self, rows: usize) -> impl Iterator<Item = &LinkEventRow> {
        let made = self.rows.get(rows..).unwrap_or_default().iter();
        made.chain(self.events.iter().chain(self.reports.values()).map(|(_, row)| row))
    }

    /// A part of the run has come to its end.
    pub(super) fn end_part(&mut self) {
        self.events.extend(std::mem::take(&mut self.reports).into_values());
        self.events.sort_by_key(|(place, _)| *place);
        self.rows.extend(self.events.drain(..).map(|(_, row)| row));
    }
}
