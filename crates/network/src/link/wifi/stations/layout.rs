//! Who is attached where: cells, their members, and the ways of packets between them.

use crate::link::Attachment;
use crate::link::stations::account::{Path, Toward};
use crate::link::stations::confidence::Confidence;
use crate::link::wifi::config::{BeaconConfig, Bss, CellConfig};
use crate::link::wifi::index::{ByCell, ByRadio, CellIndex, RadioIndex};
use crate::link::wifi::radios::account::RadioTime;
use crate::link::wifi::radios::radio::ALL;
use std::ops::{Index, IndexMut, Range};

/// A cell: the radio of its access point has the cell's number.
#[derive(Clone, Debug)]
pub struct CellPlace {
    /// Its first attachment.
    pub first: u32,
    /// Its members, one a station, among those of the medium.
    members: Range<u32>,
    pub beacons: Option<BeaconConfig>,
}

impl CellPlace {
    /// The numbers of its members.
    pub fn members(&self) -> impl Iterator<Item = MemberIndex> + use<> {
        self.members.clone().map(MemberIndex)
    }

    /// Its broadcast interface; a cell without beacons has none.
    pub fn broadcast(&self) -> Option<Attachment> {
        self.beacons.map(|_| Attachment(self.first))
    }
}

/// The number of a member among those of the medium; others know it as that of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberIndex(pub u32);

/// All members of a medium.
#[derive(Clone, Debug, Default)]
pub struct Members(Vec<Member>);

impl Members {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Member> {
        self.0.iter()
    }

    /// Those of a cell.
    pub fn of(&self, cell: &CellPlace) -> &[Member] {
        &self.0[cell.members.start as usize..cell.members.end as usize]
    }
}

impl Index<MemberIndex> for Members {
    type Output = Member;

    #[inline(always)]
    fn index(&self, member: MemberIndex) -> &Member {
        &self.0[member.0 as usize]
    }
}

impl IndexMut<MemberIndex> for Members {
    #[inline(always)]
    fn index_mut(&mut self, member: MemberIndex) -> &mut Member {
        &mut self.0[member.0 as usize]
    }
}

/// A station in a cell.
#[derive(Clone, Debug)]
pub struct Member {
    pub cell: CellIndex,
    pub radio: RadioIndex,
    /// The access point's sub-interface to the station.
    pub down: Attachment,
    /// The station's interface.
    pub up: Attachment,
    pub path: Path,
    pub confidence: Confidence,
    /// What the station did as this member before its last association.
    pub time: RadioTime,
}

/// Where packets from an attachment go.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The radio that sends them.
    pub from: RadioIndex,
    /// The one that gets them, or [`ALL`].
    pub to: RadioIndex,
    /// Where they arrive; a broadcast arrives at all members of its cell.
    pub opposite: Attachment,
    pub rate_bps: u64,
    /// The member between whom and its access point they go; of broadcasts the first of the cell.
    pub member: MemberIndex,
    pub toward: Toward,
}

/// All cells of a medium.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub cells: ByCell<CellPlace>,
    pub members: Members,
    pub ways: Vec<Way>,
    /// By radio, access points first: the channel that it is on at first.
    pub channels: ByRadio<u8>,
    /// By radio, the attachments that it sends from, in ascending order.
    pub attachments: ByRadio<Vec<u32>>,
}

impl Layout {
    /// Attachments, cell by cell: the broadcast interface if it has beacons, the sub-interfaces, the
    /// stations.
    pub fn new(config: &CellConfig, bsses: &[Bss], stations: usize) -> Layout {
        let mut layout = Layout {
            channels: bsses.iter().map(|bss| bss.channel).chain((0..stations).map(|_| 0)).collect(),
            attachments: vec![Vec::new(); bsses.len() + stations].into(),
            ..Layout::default()
        };
        for (cell, bss) in (0..).map(CellIndex).zip(bsses) {
            let access_point = cell.access_point();
            let radio_of = |station: usize| RadioIndex(bsses.len() + station);
            let first = layout.ways.len() as u32;
            let member = layout.members.len() as u32;
            let count = bss.stations.len() as u32;
            let place = CellPlace { first, members: member..member + count, beacons: bss.beacons };
            if let Some(opposite) = place.broadcast() {
                layout.ways.push(Way {
                    from: access_point,
                    to: ALL,
                    opposite,
                    rate_bps: config.basic_rates_bps.first().copied().unwrap_or_default(),
                    member: MemberIndex(member),
                    toward: Toward::Station,
                });
            }
            let down = layout.ways.len() as u32;
            let ends = |n: u32| (Attachment(down + n), Attachment(down + count + n));
            let pairs = || {
                let rates_bps = &config.rates_bps[member as usize..];
                (member..).map(MemberIndex).zip(0..).zip(bss.stations.iter().zip(rates_bps))
            };
            for ((member, n), (&station, &rate_bps)) in pairs() {
                let (to, opposite) = (radio_of(station), ends(n).1);
                let (from, toward) = (access_point, Toward::Station);
                layout.ways.push(Way { from, to, opposite, rate_bps, member, toward });
                layout.channels[to] = bss.channel;
            }
            for ((member, n), (&station, &rate_bps)) in pairs() {
                let (from, opposite) = (radio_of(station), ends(n).0);
                let (to, toward) = (access_point, Toward::BaseStation);
                layout.ways.push(Way { from, to, opposite, rate_bps, member, toward });
                let (down, up) = ends(n);
                layout.members.0.push(Member {
                    cell,
                    radio: from,
                    down,
                    up,
                    path: Path::default(),
                    confidence: Confidence::default(),
                    time: RadioTime::default(),
                });
            }
            layout.cells.push(place);
        }
        for (number, way) in (0..).zip(&layout.ways) {
            layout.attachments[way.from].push(number);
        }
        layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_of_many_cells_has_as_many_attachments_as_cells() {
        // A range from the first of them to the last would have 18,000 of a station's, and 18 million of a
        // thousand.
        let bss = Bss { channel: 1, stations: (0..1000).collect(), beacons: None };
        let layout = Layout::new(&crate::link::wifi::tests::config(10_000), &vec![bss; 10], 1000);
        assert_eq!(layout.ways.len(), 20_000);
        assert_eq!(layout.attachments.iter().map(Vec::len).sum::<usize>(), 20_000);
        assert_eq!(
            layout.attachments[RadioIndex(10 + 7)],
            (0..10).map(|cell| cell * 2000 + 1007).collect::<Vec<u32>>()
        );
    }
}
