//! Octets of 802.11 frames (IEEE Std 802.11-2007 clause 7) behind radiotap headers (radiotap.org).
//!
//! Frames are as long as the model's: data frames have LLC and SNAP (RFC 1042) before the packet, management
//! frames the elements that `management.rs` counts. Addresses are locally administered: 02:00:00, the medium,
//! the radio.

use super::record::{AirFrame, Content};
use crate::link::wifi::config::CellConfig;
use crate::link::wifi::index::{ByCell, ByRadio, CellIndex, RadioIndex};
use crate::link::wifi::management::Management;
use crate::link::wifi::phy::{Format, Preamble};
use crate::link::wifi::stations::layout::CellPlace;
use crate::packet::IpVersion;
use roamsim_engine::{Span, Time};

/// Radiotap headers followed by 802.11 frames (LINKTYPE_IEEE802_11_RADIOTAP).
pub const LINKTYPE_RADIOTAP: u16 = 127;

/// What a frame has beside the frame itself.
pub struct Surroundings<'a> {
    pub config: &'a CellConfig,
    pub cells: &'a ByCell<CellPlace>,
    /// The number of the medium, and by radio the name of its network.
    pub medium: u8,
    pub ssids: &'a ByRadio<String>,
    pub ip: IpVersion,
    /// The packet that a data frame carries.
    pub packet: &'a [u8],
    /// Whether the station asked for reassociation.
    pub again: bool,
}

/// How a frame was received: by whom it was captured, if not by all.
#[derive(Clone, Copy)]
pub struct Reception {
    pub signal_dbm: Option<f64>,
    pub understood: bool,
}

const BROADCAST: [u8; 6] = [0xFF; 6];

/// What fits into a type and subtype (clause 7.1.3.1.2), in the order of the frame control field's first
/// octet.
const ASSOCIATION_REQUEST: u8 = 0x00;
const ASSOCIATION_RESPONSE: u8 = 0x10;
const REASSOCIATION_REQUEST: u8 = 0x20;
const REASSOCIATION_RESPONSE: u8 = 0x30;
const PROBE_REQUEST: u8 = 0x40;
const PROBE_RESPONSE: u8 = 0x50;
const BEACON: u8 = 0x80;
const DISASSOCIATION: u8 = 0xA0;
const AUTHENTICATION: u8 = 0xB0;
const RTS: u8 = 0xB4;
const CTS: u8 = 0xC4;
const ACK: u8 = 0xD4;
const DATA: u8 = 0x08;

/// The second octet.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const MORE_FRAGMENTS: u8 = 0x04;
const RETRY: u8 = 0x08;

/// Of 802.11g (clause 19.4.4).
const SHORT_SLOT: Span = Span::from_us(9);

/// The octets of an SSID, as the lengths of management frames have them.
const SSID_BYTES: usize = 8;

/// Radiotap header, frame and FCS.
pub fn encode(frame: &AirFrame, around: &Surroundings<'_>, reception: Option<Reception>) -> Vec<u8> {
    let mut octets = radiotap(frame, frame.format, reception);
    let begin = octets.len();
    mac_frame(frame, around, &mut octets);
    let fcs = fcs(&octets[begin..]);
    octets.extend(fcs.to_le_bytes());
    octets
}

/// TSFT, flags, rate, channel, and the signal where one radio captures.
fn radiotap(frame: &AirFrame, format: Format, reception: Option<Reception>) -> Vec<u8> {
    let signal_dbm = reception.and_then(|reception| reception.signal_dbm);
    let length: u16 = 22 + u16::from(signal_dbm.is_some());
    let present: u32 = 0b1111 | u32::from(signal_dbm.is_some()) << 5;
    let mut octets = vec![0, 0];
    octets.extend(length.to_le_bytes());
    octets.extend(present.to_le_bytes());
    // When the first bit of the MPDU came.
    octets.extend(microseconds(frame.begin + format.preamble()).to_le_bytes());
    let short = format == Format::Dsss(Preamble::Short);
    // 0x02 short preamble, 0x10 FCS at the end, 0x40 a bad one.
    let bad = reception.is_some_and(|reception| !reception.understood);
    octets.push(0x10 | u8::from(short) << 1 | u8::from(bad) << 6);
    octets.push((frame.rate_bps / 500_000) as u8);
    // Channel 1 is 2412 MHz (clause 18.4.6.2). 0x80: 2.4 GHz; 0x20: CCK; 0x40: OFDM.
    octets.extend((2407 + 5 * u16::from(channel(frame))).to_le_bytes());
    let modulation: u16 = if matches!(format, Format::Dsss(_)) { 0xA0 } else { 0xC0 };
    octets.extend(modulation.to_le_bytes());
    octets.extend(signal_dbm.map(|dbm| dbm.round().clamp(-128.0, 127.0) as i8 as u8));
    octets
}

/// Its channel; a cell in which all hear each other has none of its own.
fn channel(frame: &AirFrame) -> u8 {
    frame.channel.max(1)
}

fn microseconds(time: Time) -> u64 {
    time.as_ns() / 1000
}

fn mac_frame(frame: &AirFrame, around: &Surroundings<'_>, octets: &mut Vec<u8>) {
    let address = |radio: RadioIndex| {
        let [high, low] = (radio.0 as u16).to_be_bytes();
        [2, 0, 0, around.medium, high, low]
    };
    let from = address(frame.from);
    let to = frame.to.map_or(BROADCAST, address);
    let sends_for = frame.from.cell(around.cells.len());
    let retry = if frame.retry { RETRY } else { 0 };
    // Whole microseconds, rounded up (clause 7.1.3.2).
    let duration = (frame.duration.as_ns().div_ceil(1000) as u16).to_le_bytes();
    let fragment = frame.fragment.as_ref();
    let sequence =
        (frame.sequence << 4 | fragment.map_or(0, |fragment| fragment.number.into())).to_le_bytes();
    match &frame.content {
        Content::Rts => {
            octets.extend([RTS, 0]);
            octets.extend(duration);
            octets.extend(to);
            octets.extend(from);
        }
        Content::Cts | Content::Ack => {
            octets.extend([if matches!(frame.content, Content::Cts) { CTS } else { ACK }, 0]);
            octets.extend(duration);
            octets.extend(to);
        }
        Content::Data(_) => {
            // Clause 7.2.2: the BSSID stands where the access point does; source and destination end at the
            // radios.
            let (way, bssid) = if sends_for.is_some() { (FROM_DS, from) } else { (TO_DS, to) };
            let addresses = if way == FROM_DS { [to, bssid, from] } else { [bssid, from, to] };
            let more = if fragment.is_some_and(|fragment| fragment.more) { MORE_FRAGMENTS } else { 0 };
            octets.extend([DATA, way | retry | more]);
            octets.extend(duration);
            octets.extend(addresses.as_flattened());
            octets.extend(sequence);
            let mut body = vec![0xAA, 0xAA, 3, 0, 0, 0];
            let ether_type: u16 = if around.ip == IpVersion::V6 { 0x86DD } else { 0x0800 };
            body.extend(ether_type.to_be_bytes());
            body.extend(around.packet);
            match fragment {
                Some(fragment) => octets.extend(body.get(fragment.bytes.clone()).unwrap_or_default()),
                None => octets.extend(body),
            }
        }
        Content::Management(what) => {
            let cell = sends_for.or_else(|| frame.to?.cell(around.cells.len()));
            octets.extend([subtype(*what, around.again), retry]);
            octets.extend(duration);
            octets.extend(
                [to, from, cell.map_or(BROADCAST, |cell| address(cell.access_point()))].as_flattened(),
            );
            octets.extend(sequence);
            management_body(frame, *what, cell, around, octets);
        }
    }
}

fn subtype(what: Management, again: bool) -> u8 {
    match what {
        Management::Beacon => BEACON,
        Management::Disassociation => DISASSOCIATION,
        Management::ProbeRequest => PROBE_REQUEST,
        Management::ProbeResponse => PROBE_RESPONSE,
        Management::Authentication | Management::Authenticated => AUTHENTICATION,
        Management::AssociationRequest { again: true } => REASSOCIATION_REQUEST,
        Management::AssociationRequest { again: false } => ASSOCIATION_REQUEST,
        Management::AssociationResponse if again => REASSOCIATION_RESPONSE,
        Management::AssociationResponse => ASSOCIATION_RESPONSE,
    }
}

/// Fixed fields (clause 7.3.1) and elements (clause 7.3.2), as many octets as the model counts.
fn management_body(
    frame: &AirFrame,
    what: Management,
    cell: Option<CellIndex>,
    around: &Surroundings<'_>,
    octets: &mut Vec<u8>,
) {
    let ofdm = around.config.format == Format::ErpOfdm;
    let protection = around.config.protection;
    let long_preambles = protection.is_some_and(|protection| protection.preamble == Preamble::Long);
    // Clause 7.3.1.4. ESS, short preamble, short slot time.
    let short_preambles =
        if ofdm { !long_preambles } else { around.config.format != Format::Dsss(Preamble::Long) };
    let short_slots = ofdm && around.config.timing.slot == SHORT_SLOT;
    let capabilities: u16 = 0x0001 | u16::from(short_preambles) << 5 | u16::from(short_slots) << 10;
    // Clause 7.3.2.13: stations of 802.11b are there, frames are protected, preambles of DSSS are long.
    let erp = (u8::from(protection.is_some()) * 0b11) | (u8::from(long_preambles) << 2);
    let ssid = |octets: &mut Vec<u8>| {
        let mut name: Vec<u8> =
            around.ssids.get(frame.from).map_or(Vec::new(), |name| name.bytes().collect());
        name.resize(SSID_BYTES, b' ');
        octets.extend([0, SSID_BYTES as u8]);
        octets.extend(name);
    };
    let rate = |bps: &u64| {
        let basic = around.config.basic_rates_bps.contains(bps);
        (bps / 500_000) as u8 | u8::from(basic) << 7
    };
    let dsss = [1_000_000, 2_000_000, 5_500_000, 11_000_000];
    let slow = [6_000_000, 9_000_000, 12_000_000, 18_000_000];
    let fast = [24_000_000, 36_000_000, 48_000_000, 54_000_000];
    let rates = |octets: &mut Vec<u8>| {
        let first: Vec<u64> = dsss.into_iter().chain(slow.into_iter().filter(|_| ofdm)).collect();
        octets.extend([1, first.len() as u8]);
        octets.extend(first.iter().map(rate));
    };
    let more_rates = |octets: &mut Vec<u8>| {
        if ofdm {
            octets.extend([50, 4]);
            octets.extend(fast.iter().map(rate));
        }
    };
    match what {
        Management::Beacon | Management::ProbeResponse => {
            octets.extend(microseconds(frame.begin).to_le_bytes());
            let beacons = cell.and_then(|cell| around.cells.get(cell)?.beacons);
            let period = beacons.map_or(Span::ZERO, |beacons| beacons.period);
            octets.extend(((period.as_ns() / 1_024_000) as u16).to_le_bytes());
            octets.extend(capabilities.to_le_bytes());
            ssid(octets);
            rates(octets);
            octets.extend([3, 1, channel(frame)]);
            if what == Management::Beacon {
                // A traffic indication map: count and period of DTIMs, nothing waits.
                octets.extend([5, 4, 0, 1, 0, 0]);
            }
            if ofdm {
                octets.extend([42, 1, erp]);
            }
            more_rates(octets);
        }
        Management::ProbeRequest => {
            ssid(octets);
            rates(octets);
            more_rates(octets);
        }
        Management::Authentication | Management::Authenticated => {
            // Open system; the first or the second of two; successful.
            let number = if what == Management::Authentication { 1 } else { 2 };
            octets.extend([0, 0, number, 0, 0, 0]);
        }
        Management::AssociationRequest { again } => {
            octets.extend(capabilities.to_le_bytes());
            // A listen interval of one beacon.
            octets.extend([1, 0]);
            if again {
                // The access point before is not known to the frame; the one that is asked stands for it.
                let [high, low] = (frame.to.map_or(0, |to| to.0) as u16).to_be_bytes();
                octets.extend([2, 0, 0, around.medium, high, low]);
            }
            ssid(octets);
            rates(octets);
            more_rates(octets);
        }
        // Reason code 7: a frame of class 3 from a station that is not associated (clause 7.3.1.7).
        Management::Disassociation => octets.extend([7, 0]),
        Management::AssociationResponse => {
            octets.extend(capabilities.to_le_bytes());
            let station = frame.to.map_or(0, |to| to.0.saturating_sub(around.cells.len())) as u16;
            // Successful; the association identifier has its two highest bits set (clause 7.3.1.8).
            octets.extend([0, 0]);
            octets.extend((0xC000 | (station + 1)).to_le_bytes());
            rates(octets);
            more_rates(octets);
        }
    }
}

/// The frame check sequence (clause 7.1.3.6): the CRC of 32 bits that Ethernet has.
fn fcs(octets: &[u8]) -> u32 {
    let byte = |crc: u32, &octet: &u8| {
        (0..8).fold(crc ^ u32::from(octet), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 })
    };
    !octets.iter().fold(u32::MAX, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_crc() {
        // Of "123456789", as catalogues of CRCs have it for CRC-32.
        assert_eq!(fcs(b"123456789"), 0xCBF4_3926);
    }
}
