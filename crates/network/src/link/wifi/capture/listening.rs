//! Captures of the air: frames with radiotap headers, each written when it ends. Repetitions,
//! acknowledgements, RTS and CTS, beacons, other management frames and collided frames are included.
//!
//! A capture of one radio has the frames that it sends, and those that it hears, with their power;
//! undecoded frames are marked as broken. A capture of the whole air has each frame once, as it was sent.

use super::octets::{Reception, Surroundings, encode};
use super::record::{AirFrame, Content};
use crate::link::frames::{CapturedFrame, Listening, OctetsOf};
use crate::link::wifi::config::CellConfig;
use crate::link::wifi::index::{ByCell, ByRadio, CellIndex, RadioIndex};
use crate::link::wifi::management::Management;
use crate::link::wifi::stations::layout::{CellPlace, Members};
use std::collections::BTreeMap;

/// Who captures, and what it remembers.
#[derive(Debug)]
pub struct Listener {
    listening: Listening,
    /// By radio, the name of its network.
    ssids: ByRadio<String>,
    /// By radio and access category, the packet that it sent last: of a repetition for want of the
    /// acknowledgement nothing else has it.
    packets: BTreeMap<(RadioIndex, usize), Vec<u8>>,
    /// By radio, whether it asked for reassociation the last time.
    again: ByRadio<bool>,
}

impl Listener {
    /// Of so many radios in these cells.
    pub fn new(
        listening: Listening,
        radios: usize,
        cells: &ByCell<CellPlace>,
        members: &Members,
    ) -> Listener {
        let ssids = ssids(radios, cells.len(), members, &listening.names);
        let again = vec![false; radios].into();
        Listener { listening, ssids, packets: BTreeMap::new(), again }
    }

    /// A frame of the cell is over; `None`: it was not heard.
    pub fn hear(
        &mut self,
        (config, cells): (&CellConfig, &ByCell<CellPlace>),
        frame: &AirFrame,
        octets_of: OctetsOf<'_>,
    ) -> Option<CapturedFrame> {
        let sender = (frame.from, frame.category);
        if let Content::Data(Some(packet)) = &frame.content
            && let Some(packet) = octets_of(packet)
        {
            self.packets.insert(sender, packet);
        }
        let station = match &frame.content {
            Content::Management(Management::AssociationRequest { again }) => {
                self.again[frame.from] = *again;
                frame.from
            }
            _ => frame.to.unwrap_or(frame.from),
        };
        let (reception, sent) = match self.listening.radio.map(RadioIndex) {
            None => (None, None),
            Some(radio) if radio == frame.from => (None, Some(true)),
            Some(radio) => {
                let heard = frame.heard.iter().find(|heard| heard.radio == radio)?;
                let reception = Reception { signal_dbm: heard.signal_dbm, understood: heard.understood };
                (Some(reception), Some(false))
            }
        };
        let around = Surroundings {
            config,
            cells,
            medium: self.listening.medium,
            ssids: &self.ssids,
            ip: self.listening.ip,
            packet: self.packets.get(&sender).map_or(&[], Vec::as_slice),
            again: self.again[station],
        };
        Some(CapturedFrame { end: frame.end, sent, octets: encode(frame, &around, reception) })
    }
}

/// By radio, the SSID of its extended service set (clauses 5.2.3.1, 7.3.2.1): cells between which stations
/// move, which are those with a station in common, have one, and go by the name of the first.
fn ssids(radios: usize, cells: usize, members: &Members, names: &[String]) -> ByRadio<String> {
    let mut first: ByCell<CellIndex> = (0..cells).map(CellIndex).collect();
    // Of each radio a cell that it is in.
    let mut of: ByRadio<Option<CellIndex>> =
        (0..radios).map(RadioIndex).map(|radio| radio.cell(cells)).collect();
    for member in members.iter() {
        let here = first[member.cell];
        let there = first[*of[member.radio].get_or_insert(member.cell)];
        for other in first.iter_mut().filter(|other| **other == here.max(there)) {
            *other = here.min(there);
        }
    }
    let name =
        |of: Option<CellIndex>| names.get(first[of.unwrap_or(CellIndex(0))].0).cloned().unwrap_or_default();
    of.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::wifi::phy::{Format, Preamble};
    use crate::link::wifi::tests::places::radio;
    use crate::link::wifi::tests::roaming::stands;
    use crate::link::wifi::{Bss, Cell, Ess};
    use crate::packet::IpVersion;
    use crate::testing::{datagram, stream};
    use roamsim_engine::{Span, Time};

    #[test]
    fn a_repetition_has_the_octets_of_its_own_category() {
        let cell = Cell::new(crate::link::wifi::tests::config(1), stream);
        let (config, cells) = (&cell.config, &cell.associations.cells);
        let names = vec!["air".to_owned()];
        let listening = Listening { medium: 0, names, radio: None, ip: IpVersion::V4 };
        let mut listener = Listener::new(listening, 2, cells, &cell.associations.members);
        let frame = |category, sequence, packet: bool| AirFrame {
            begin: Time::ZERO,
            end: Time::ZERO + Span::from_us(399),
            from: RadioIndex(1),
            to: Some(RadioIndex(0)),
            category,
            content: Content::Data(packet.then(|| Box::new(datagram(16)))),
            rate_bps: 11_000_000,
            duration: Span::ZERO,
            retry: !packet,
            sequence,
            format: Format::Dsss(Preamble::Long),
            fragment: None,
            channel: 1,
            heard: Vec::new(),
        };
        let mut holds = |frame: &AirFrame, known: &[u8], octets: &[u8]| {
            let captured =
                listener.hear((config, cells), frame, &mut |_| Some(known.to_vec())).expect("on the air");
            captured.octets.windows(octets.len()).any(|part| part == octets)
        };
        let (best_effort, voice) = (b"best effort, 16 o", b"voice, of 16 octs");
        assert!(holds(&frame(1, 10, true), best_effort, best_effort));
        assert!(holds(&frame(3, 11, true), voice, voice));
        // The receiver has it, and its acknowledgement was lost.
        assert!(holds(&frame(1, 10, false), voice, best_effort));
    }

    #[test]
    fn cells_with_a_station_in_common_are_one_network() {
        let bss = |stations: &[usize]| Bss { channel: 1, stations: stations.to_vec(), beacons: None };
        // The fourth joins the first to the third; the second and the last are by themselves.
        let bsses: Vec<Bss> = [&[0, 1][..], &[2], &[3], &[1, 3], &[]].map(bss).to_vec();
        let (radio, places) = (radio(-61.0, 0.0), (0..9).map(|x_m| stands(f64::from(x_m))).collect());
        let ess = Ess { bsses, stations: vec![None; 4], radio, places };
        let stream_of = |radio: usize, purpose: &str| stream(&format!("{radio} {purpose}"));
        let cell = Cell::with_access_points(crate::link::wifi::tests::config(6), ess, stream_of);
        let ssids = ssids(
            cell.radios.len(),
            5,
            &cell.associations.members,
            &["a", "b", "c", "d", "e"].map(str::to_owned),
        );
        assert_eq!(Vec::from_iter(ssids), ["a", "b", "a", "a", "e", "a", "a", "b", "a"]);
    }
}
