//! Which Wi-Fi cells are one medium: those that share a channel, and those that share a station, whose one
//! radio is on the channel of one of them at a time. They are one link, whose machine the first of them
//! stands for.

use roamsim_engine::{Stream, Time};
use roamsim_network::link::AnyLink;
use roamsim_network::link::wifi::{BeaconConfig, Bss, Cell, Ess};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;
use std::collections::{BTreeMap, BTreeSet};

use super::build::{cell_config, loss};
use super::model::{Beacons, Wifi};
use crate::access::{Making, places, stations};
use crate::builder::{Builder, escaped};

/// Cells of one medium, in the order of the scenario.
pub(super) struct Medium<'a> {
    pub cells: Vec<&'a Wifi>,
}

impl<'a> Medium<'a> {
    /// The medium of a cell.
    pub fn of(all: &'a [Wifi], cell: &'a Wifi) -> Medium<'a> {
        if cell.radio.is_none() {
            return Medium { cells: vec![cell] };
        }
        let with_radio = || all.iter().filter(|cell| cell.radio.is_some());
        let (mut channels, mut stations) = (BTreeSet::from([cell.channel]), BTreeSet::new());
        let is_in = |cell: &Wifi, channels: &BTreeSet<u8>, stations: &BTreeSet<&str>| {
            channels.contains(&cell.channel)
                || cell.stations.iter().any(|station| stations.contains(station.as_str()))
        };
        let mut reached = 0;
        while reached < channels.len() + stations.len() {
            reached = channels.len() + stations.len();
            for cell in with_radio() {
                if is_in(cell, &channels, &stations) {
                    channels.insert(cell.channel);
                    stations.extend(cell.stations.iter().map(String::as_str));
                }
            }
        }
        Medium { cells: with_radio().filter(|cell| is_in(cell, &channels, &stations)).collect() }
    }

    /// The medium that a cell is the first of; `None` where it is another cell.
    pub fn of_first(all: &'a [Wifi], cell: &'a Wifi) -> Option<Medium<'a>> {
        let of_channel = |other: &&Wifi| other.radio.is_some() && other.channel == cell.channel;
        let precedes = |other: &Wifi| other.name != cell.name;
        if cell.radio.is_some() && all.iter().find(of_channel).is_some_and(precedes) {
            return None;
        }
        let medium = Medium::of(all, cell);
        medium.cells.first().is_some_and(|first| first.name == cell.name).then_some(medium)
    }

    /// Whether it is one cell to which its stations belong for ever.
    pub fn is_alone(&self) -> bool {
        self.cells.len() == 1 && self.cells[0].beacons.is_none()
    }

    /// Its stations by name, in the order in which cells name them.
    pub fn stations(&self) -> Vec<&'a str> {
        let mut known = BTreeSet::new();
        let all = self.cells.iter().flat_map(|cell| &cell.stations).map(String::as_str);
        all.filter(|&station| known.insert(station)).collect()
    }

    /// Gives all of its cells their interfaces.
    pub fn join(&self, builder: &Builder<'_>, topology: &mut Topology, link: LinkId) -> Vec<Address> {
        let mut addresses = Vec::new();
        for &cell in &self.cells {
            let first = addresses.len();
            if cell.beacons.is_some() {
                addresses.extend(stations::join_topology(cell, builder, topology, (link, first)));
                continue;
            }
            let access_point = builder.node(&cell.access_point);
            let stations: Vec<_> = cell.stations.iter().map(|name| builder.node(name)).collect();
            // The access point has a sub-interface a station.
            let down = stations.iter().map(|&station| (access_point, station));
            let up = stations.iter().map(|&station| (station, access_point));
            addresses.extend(places::interfaces_from(cell, topology, (link, first), down.chain(up)));
        }
        addresses
    }

    /// The machine of several cells, or of one with beacons; they agree about all that concerns the medium.
    pub fn machine(&self, making: &Making<'_>) -> Option<AnyLink> {
        let builder = making.builder;
        let &first = self.cells.first()?;
        let radio = first.radio.as_ref()?.config(first);
        let stations = self.stations();
        let place: BTreeMap<&str, usize> = stations.iter().copied().zip(0..).collect();
        let mut config = cell_config(first);
        config.rates_bps = self
            .cells
            .iter()
            .flat_map(|cell| cell.stations.iter().map(|name| cell.rate_of_bps(name)))
            .collect();
        // Stations of another cell may be faster than those of the first.
        if let Some((_, rates_bps)) = &mut config.rate_control {
            let of_cells = self.cells.iter().map(|cell| cell.chosen_rates_bps());
            *rates_bps = of_cells.max_by_key(Vec::len).unwrap_or_default();
        }
        let bss = |cell: &&Wifi| Bss {
            channel: cell.channel,
            stations: cell.stations.iter().filter_map(|name| place.get(name.as_str()).copied()).collect(),
            beacons: cell.beacons.map(|beacons| {
                let Beacons { period, start } = beacons;
                let drawn = || {
                    let mut draws = builder.stream("wifi", &cell.name, &["beacons"]);
                    Time::from_ns(draws.below(period.as_ns()))
                };
                BeaconConfig { period, first: start.unwrap_or_else(drawn) }
            }),
        };
        let mut cells_of: BTreeMap<&str, Vec<&Wifi>> = BTreeMap::new();
        for &cell in &self.cells {
            for name in &cell.stations {
                cells_of.entry(name).or_default().push(cell);
            }
        }
        let station = |&name: &&str| {
            let own = &cells_of[name];
            let node = &builder.nodes[builder.node(name).0 as usize];
            let settings = node.wifi.as_deref().cloned().unwrap_or_default();
            own.iter()
                .any(|cell| cell.beacons.is_some())
                .then(|| settings.config(own, radio.least_threshold_dbm()))
        };
        let access_points = self.cells.iter().map(|cell| cell.access_point.as_str());
        let ess = Ess {
            bsses: self.cells.iter().map(bss).collect(),
            stations: stations.iter().map(station).collect(),
            radio,
            places: access_points
                .chain(stations.iter().copied())
                .map(|node| builder.trajectory(node))
                .collect(),
        };
        let stream = |radio: usize, purpose: &str| -> Stream {
            match self.cells.get(radio) {
                Some(cell) => builder.stream("wifi", &cell.name, &["access point", purpose]),
                None => {
                    let station = stations[radio - self.cells.len()];
                    builder.stream("wifi", &first.name, &["station", &escaped(station), purpose])
                }
            }
        };
        let mut cell = Cell::with_access_points(config, ess, stream);
        loss::add(&self.cells, making, &mut cell);
        Some(AnyLink::Wifi(Box::new(cell)))
    }
}

impl Wifi {
    /// Whether two cells are one medium: they share a channel, or a station.
    pub(super) fn shares(&self, other: &Wifi) -> bool {
        self.radio.is_some()
            && other.radio.is_some()
            && (self.channel == other.channel || self.shared_station(other).is_some())
    }

    /// A station of two cells.
    pub(super) fn shared_station<'a>(&'a self, other: &Wifi) -> Option<&'a String> {
        self.stations.iter().find(|station| other.stations.contains(station))
    }
}
