//! Management frames: which there are, how long they are, and what their receivers do about them (clauses
//! 7.2.3, 11.1, 11.3).
//!
//! They contend for the medium as packets do, before those that wait, at the lowest basic rate. One that is
//! for a single receiver is acknowledged and repeated; beacons and probe requests are for all, and sent once.
//!
//! Data from an access point that a station is not associated with is a frame of class 3 that it may not
//! take: it answers by a disassociation (clause 11.3).
//!
//! Not modelled: the content of beacons, traffic indication maps among it; deauthentication, and
//! disassociation by those who leave: an access point hears from the distribution system that a station is
//! another one's.

use super::medium::Frame;
use super::phy::Format;
use super::radios::radio::{ALL, Head, Job};
use super::{Cell, Heard};
use roamsim_engine::Time;

/// A management frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Management {
    /// Of an access point, for all.
    Beacon,
    /// Of a station, for all.
    ProbeRequest,
    /// Of an access point that has heard it.
    ProbeResponse,
    /// Of open system authentication the request and the response (clause 8.2.2.2).
    Authentication,
    /// The response.
    Authenticated,
    /// For association, or for reassociation.
    AssociationRequest {
        /// Whether the station was associated before.
        again: bool,
    },
    /// To either.
    AssociationResponse,
    /// To a station that is on no list.
    Disassociation,
}

/// Octets of the MAC header of a management frame and of its FCS (clause 7.2.3).
const HEADER_BYTES: u32 = 28;

/// The octets of an SSID: chosen, the names of networks have about as many.
const SSID_BYTES: u32 = 8;

impl Management {
    /// Octets of the frame: fixed fields (clause 7.3.1) and information elements (clause 7.3.2) of two octets
    /// and their content.
    pub(super) fn bytes(self, format: Format) -> u32 {
        let ssid = 2 + SSID_BYTES;
        // 802.11b has four rates; of the twelve of 802.11g, eight fit the first element. The ERP information
        // is of access points.
        let (rates, erp) = match format {
            Format::Dsss(_) => (2 + 4, 0),
            Format::ErpOfdm => (2 + 8 + 2 + 4, 2 + 1),
        };
        let channel = 2 + 1;
        HEADER_BYTES
            + match self {
                // Timestamp, interval, capabilities; a traffic indication map with one octet of its bitmap.
                Management::Beacon => 8 + 2 + 2 + ssid + rates + channel + (2 + 4) + erp,
                Management::ProbeResponse => 8 + 2 + 2 + ssid + rates + channel + erp,
                Management::ProbeRequest => ssid + rates,
                // Algorithm, sequence number, status.
                Management::Authentication | Management::Authenticated => 2 + 2 + 2,
                // Capabilities, listen interval, and of a reassociation the current access point.
                Management::AssociationRequest { again } => 2 + 2 + if again { 6 } else { 0 } + ssid + rates,
                // Capabilities, status, association identifier.
                Management::AssociationResponse => 2 + 2 + 2 + rates,
                // The reason.
                Management::Disassociation => 2,
            }
    }
}

impl Cell {
    /// A radio gets a management frame to send.
    pub(super) fn push_management(&mut self, now: Time, number: usize, what: Management, to: usize) {
        let radio = &mut self.radios[number];
        radio.management.push_back((what, to));
        self.resume(now, number);
    }

    /// A radio that has nothing in hand turns to what it may send now.
    pub(super) fn resume(&mut self, now: Time, number: usize) {
        self.each_function(number, |cell| cell.resume_own(now, number));
    }

    /// Does something for each channel access function of a radio, as if it were the one at work.
    pub(super) fn each_function(&mut self, number: usize, mut does: impl FnMut(&mut Cell)) {
        does(self);
        for place in 1..=self.radios[number].others.len() {
            self.radios[number].turn_to(place);
            does(self);
            self.radios[number].turn_to(place);
        }
    }

    /// The same of the function at work alone.
    pub(super) fn resume_own(&mut self, now: Time, number: usize) {
        if self.radios[number].own.head.is_none() {
            self.next_head(now, number);
            if self.radios[number].own.head.is_some() {
                self.first_packet(now, number);
                self.list(number);
            }
        }
    }

    /// The next frame of a radio: its management frames go first.
    pub(super) fn management_head(&mut self, number: usize) -> Option<Head> {
        let (what, to) = self.radios[number].management.pop_front()?;
        let bytes = what.bytes(self.config.format);
        Some(Head::new(to, bytes, self.lowest_rate_bps(), Job::Management(what, false)))
    }

    /// The rate of beacons, probe requests, broadcasts and other management frames: the lowest basic one
    /// (clause 9.6 asks for some basic rate).
    pub(super) fn lowest_rate_bps(&self) -> u64 {
        self.config.basic_rates_bps.first().copied().unwrap_or_default()
    }

    /// Time for a beacon. One that is still to be sent is not joined by another.
    pub(super) fn beacon_due(&mut self, now: Time, cell: usize) {
        let Some(beacons) = self.cells[cell].beacons else { return };
        let radio = &self.radios[cell];
        let waits = radio.management.iter().any(|&(what, _)| what == Management::Beacon);
        let contends = radio.functions().any(|function| function.head.as_ref().is_some_and(Head::is_beacon));
        if !waits && !contends {
            // It goes before what else waits.
            self.radios[cell].management.push_front((Management::Beacon, ALL));
            self.resume(now, cell);
        }
        self.at(now + beacons.period, super::exchange::Step::Beacon(cell));
    }

    /// A frame that was for all has ended; who has understood it is named.
    pub(super) fn broadcast_ends(&mut self, now: Time, frame: &Frame, hearers: &[Heard]) {
        let sender = frame.from;
        let what = match &self.radios[sender].own.head {
            Some(Head { job: Job::Management(what, _), .. }) => Some(*what),
            _ => None,
        };
        match what {
            None => self.broadcast_arrives(now, sender, hearers),
            Some(Management::Beacon) => {
                for &heard in hearers {
                    self.hears_cell(now, heard, sender);
                }
            }
            Some(_) => {
                for &(access_point, _) in hearers {
                    if self.cells.get(access_point).is_some_and(|cell| cell.beacons.is_some()) {
                        self.push_management(now, access_point, Management::ProbeResponse, sender);
                    }
                }
            }
        }
        self.account(now, sender);
        self.next_packet(now, sender);
        if what == Some(Management::ProbeRequest) {
            self.has_probed(now, sender);
        }
    }

    /// A management frame has arrived at the radio that it is for, which acknowledges it.
    pub(super) fn management_arrives(&mut self, now: Time, from: usize, heard: Heard) {
        let (to, _) = heard;
        let Some(Head { job: Job::Management(what, taken), .. }) = &mut self.radios[from].own.head else {
            return;
        };
        if std::mem::replace(taken, true) {
            return;
        }
        match *what {
            Management::Beacon | Management::ProbeRequest => {}
            Management::ProbeResponse => self.hears_cell(now, heard, from),
            Management::Authentication => self.push_management(now, to, Management::Authenticated, from),
            Management::AssociationRequest { .. } => {
                self.push_management(now, to, Management::AssociationResponse, from);
            }
            Management::Authenticated => self.is_authenticated(now, to, from),
            Management::AssociationResponse => self.is_associated(now, to, from),
            Management::Disassociation => self.is_disassociated(from, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::phy::Preamble;
    use super::*;

    #[test]
    fn frames_have_their_elements() {
        let b = Format::Dsss(Preamble::Long);
        // 28 + 12 + 10 + 6 + 3 + 6, and in 802.11g 10 more of rates and 3 of ERP information.
        assert_eq!(Management::Beacon.bytes(b), 65);
        assert_eq!(Management::Beacon.bytes(Format::ErpOfdm), 78);
        assert_eq!(Management::ProbeRequest.bytes(b), 28 + 10 + 6);
        assert_eq!(Management::ProbeResponse.bytes(b), 59);
        assert_eq!(Management::Authentication.bytes(b), 34);
        assert_eq!(Management::AssociationRequest { again: false }.bytes(b), 28 + 4 + 10 + 6);
        assert_eq!(Management::AssociationRequest { again: true }.bytes(b), 28 + 10 + 10 + 6);
        assert_eq!(Management::AssociationResponse.bytes(b), 28 + 6 + 6);
        assert_eq!(Management::Disassociation.bytes(b), 30);
    }
}
