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

use super::phy::Format;

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
