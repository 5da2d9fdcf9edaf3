//! Management messages of network entry, and their octets (IEEE Std 802.16-2004 clauses 6.3.2.3 and 11):
//! type, fields, and the encodings that are listed with each; the choice of encodings is ours. A PDU adds its
//! header and CRC.

use super::pdu::WHOLE_BYTES;
use super::phy::BurstProfile;

/// A message between the base station and one station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Message {
    /// RNG-REQ, in initial ranging: nothing else is sent in contention for it.
    RangingRequest,
    /// RNG-RSP with status success and the CIDs of basic and primary management connection.
    RangingResponse,
    /// RNG-RSP to who has sent a ranging code, of which the base station knows nothing else.
    CodeResponse,
    /// RNG-RSP with status abort: the station has to begin anew.
    RangingAbort,
    /// SBC-REQ.
    CapabilityRequest,
    /// SBC-RSP.
    CapabilityResponse,
    /// REG-REQ.
    RegistrationRequest,
    /// REG-RSP.
    RegistrationResponse,
    /// DSA-REQ of the base station, for one of the station's service flows.
    FlowRequest(Sfid),
    /// DSA-RSP.
    FlowResponse(Sfid),
    /// DSA-ACK.
    FlowAcknowledgement(Sfid),
    /// DBPC-REQ: another burst profile to the station.
    ProfileRequest(BurstProfile),
    /// DBPC-RSP.
    ProfileResponse(BurstProfile),
    /// MOB_SCN-REQ.
    ScanRequest,
    /// MOB_SCN-RSP.
    ScanResponse,
}

/// A service flow of a station in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sfid {
    /// Its number at the station: that of its first one is 0.
    pub number: u8,
    /// To the station or from it.
    pub direction: Direction,
}

impl Sfid {
    /// All of a station with so many, each way.
    pub(super) fn all(count: usize) -> impl Iterator<Item = Sfid> {
        (0..count as u8).flat_map(|number| Direction::ALL.map(|direction| Sfid { number, direction }))
    }

    /// Its place among them.
    pub(super) fn place(self) -> usize {
        2 * usize::from(self.number) + self.direction as usize
    }
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To it.
    Downlink,
    /// From it.
    Uplink,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

    /// The other one.
    pub(super) const fn opposite(self) -> Direction {
        match self {
            Direction::Downlink => Direction::Uplink,
            Direction::Uplink => Direction::Downlink,
        }
    }
}

impl Message {
    /// What a station answers to it.
    pub(super) const fn answer(self) -> Option<Message> {
        match self {
            Message::RangingResponse => Some(Message::CapabilityRequest),
            Message::CapabilityResponse => Some(Message::RegistrationRequest),
            Message::FlowRequest(flow) => Some(Message::FlowResponse(flow)),
            _ => None,
        }
    }

    /// The octets of its PDU.
    pub const fn bytes(self) -> u32 {
        WHOLE_BYTES
            + match self {
                // Type and channel 2; burst profile 3, MAC address 8, MAC version 3.
                Message::RangingRequest => 2 + 3 + 8 + 3,
                // Type and channel 2; timing 6, power 3, frequency 6, status 3, MAC address 8, two CIDs 4
                // each.
                Message::RangingResponse => 2 + 6 + 3 + 6 + 3 + 8 + 4 + 4,
                // Type and channel 2; timing 6, power 3, frequency 6, status 3, code attributes 6 (IEEE Std
                // 802.16e-2005 clause 11.6).
                Message::CodeResponse => 2 + 6 + 3 + 6 + 3 + 6,
                // Type and channel 2; status 3, MAC address 8.
                Message::RangingAbort => 2 + 3 + 8,
                // Type 1; bandwidth allocation 3, transmit powers 6 and 3, four lists of the PHY 3 each.
                Message::CapabilityRequest | Message::CapabilityResponse => 1 + 3 + 6 + 3 + 12,
                // Type 1; number of CIDs 4, management, IP version, ARQ, CRC, convergence sublayers 3 each,
                // HMAC 23.
                Message::RegistrationRequest => 1 + 4 + 5 * 3 + 23,
                // Response 1 more.
                Message::RegistrationResponse => 1 + 1 + 4 + 5 * 3 + 23,
                // Type and transaction 3; flow 6, CID 4, state, service, ARQ 3 each, rates 6 and 6, latency
                // 6, sublayer 3, HMAC 23. For a class a rule of its classifier as well: 2, with its index 4
                // and the range of the type of service 5.
                Message::FlowRequest(Sfid { number, .. }) => {
                    3 + 6 + 4 + 3 * 3 + 6 + 6 + 6 + 3 + 23 + if number > 0 { 2 + 4 + 5 } else { 0 }
                }
                // Confirmation 1 more, and flow and CID alone.
                Message::FlowResponse(_) => 3 + 1 + 6 + 4 + 23,
                Message::FlowAcknowledgement(_) => 3 + 1 + 23,
                // Type, DIUC with four reserved bits, configuration change count.
                Message::ProfileRequest(_) | Message::ProfileResponse(_) => 3,
                // Type, scan duration, interleaving interval, scan iteration, and no recommended base station
                // by index or by name.
                Message::ScanRequest => 1 + 1 + 1 + 1 + 1 + 1,
                // Type, scan duration, report mode with period and metric 3; start frame, interleaving
                // interval, scan iteration; no recommended base station by index or by name.
                Message::ScanResponse => 1 + 1 + 3 + 1 + 1 + 1 + 1 + 1,
            }
    }
}

/// The longest message from a station, initial ranging apart, which has opportunities of its own.
pub const LONGEST_FROM_STATION_BYTES: u32 = Message::RegistrationRequest.bytes();

/// The longest message to a station, which has service flows for classes or not.
pub const fn longest_to_station_bytes(has_classes: bool) -> u32 {
    Message::FlowRequest(Sfid { number: has_classes as u8, direction: Direction::Uplink }).bytes()
}

/// DCD with its PDU: type, channel, count 3; power, gaps, base station, frame duration 3 + 3 + 3 + 8 + 3; and
/// for each of seven burst profiles 3 and the code, the thresholds to leave and to enter 3 each.
pub const DOWNLINK_DESCRIPTOR_BYTES: u32 = WHOLE_BYTES + 3 + 20 + 7 * (3 + 9);

/// UCD with its PDU: type, count and four back-off exponents 6; sizes of opportunities and frequency 4 + 4 +
/// 6; and for each of seven burst profiles 3 and the code 3.
pub const UPLINK_DESCRIPTOR_BYTES: u32 = WHOLE_BYTES + 6 + 14 + 7 * (3 + 3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_octets_of_their_fields() {
        assert_eq!(Message::RangingRequest.bytes(), 26);
        assert_eq!((Message::RangingResponse.bytes(), Message::RangingAbort.bytes()), (46, 23));
        assert_eq!(Message::CapabilityRequest.bytes(), 35);
        assert_eq!(Message::RegistrationRequest.bytes(), 53);
        assert_eq!((longest_to_station_bytes(false), longest_to_station_bytes(true)), (76, 87));
        let from = [Message::CapabilityRequest, Message::RegistrationRequest];
        let from = from.into_iter().chain(Sfid::all(2).map(Message::FlowResponse));
        assert_eq!(from.map(Message::bytes).max(), Some(LONGEST_FROM_STATION_BYTES));
        let to = [Message::RangingResponse, Message::CapabilityResponse, Message::RegistrationResponse];
        let to = to.into_iter().chain(Sfid::all(2).map(Message::FlowRequest));
        assert_eq!(to.map(Message::bytes).max(), Some(longest_to_station_bytes(true)));
        assert_eq!((Message::ScanRequest.bytes(), Message::ScanResponse.bytes()), (16, 20));
        assert_eq!((DOWNLINK_DESCRIPTOR_BYTES, UPLINK_DESCRIPTOR_BYTES), (117, 72));
    }
}
