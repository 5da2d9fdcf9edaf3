//! What the symbols of a cell were used for, and what its stations did.

/// Units of all frames that have begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellTime {
    /// Frames.
    pub frames: u64,
    /// Those that were worked out, because the base station had something to send or to grant.
    pub busy_frames: u64,
    /// Units of bursts with maps.
    pub map_units: u64,
    /// Units of downlink bursts with data.
    pub downlink_units: u64,
    /// Units of opportunities for initial ranging.
    pub ranging_units: u64,
    /// Units granted on the uplink, preambles of bursts included.
    pub uplink_units: u64,
}

/// What a station, or one of its service flows, did, and what was done for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationStats {
    /// PDUs from it.
    pub uplink_pdus: u64,
    /// Those of them that have a fragment.
    pub uplink_fragments: u64,
    /// Bursts that it sent or was free to send: also unsolicited ones, where it had data for them.
    pub bursts: u64,
    /// What these had room for, in octets.
    pub burst_bytes: u64,
    /// Octets of them that it had no data for.
    pub padding_bytes: u64,
    /// Requests that it sent with its data.
    pub piggybacked_requests: u64,
    /// PDUs, in both directions, that were not understood.
    pub lost_pdus: u64,
    /// Bursts granted to it on request.
    pub grants: u64,
    /// Bandwidth requests that it sent by contention.
    pub requests: u64,
    /// Those of them that collided.
    pub collided_requests: u64,
    /// PDUs to it.
    pub downlink_pdus: u64,
    /// Those of them that have a fragment.
    pub downlink_fragments: u64,
    /// Polls that it answered by a request.
    pub answered_polls: u64,
    /// Connections that the base station refused: it was served best effort instead.
    pub refused_connections: u64,
    /// RNG-REQ that it sent by contention.
    pub ranging_requests: u64,
    /// Those of them that collided.
    pub collided_ranging_requests: u64,
    /// Packets that it gave up, because no grant came.
    pub given_up: u64,
}

impl StationStats {
    /// Adds what others did.
    pub(super) fn add(&mut self, other: &StationStats) {
        let StationStats {
            downlink_pdus,
            downlink_fragments,
            uplink_pdus,
            uplink_fragments,
            grants,
            bursts,
            burst_bytes,
            padding_bytes,
            requests,
            collided_requests,
            piggybacked_requests,
            answered_polls,
            refused_connections,
            ranging_requests,
            collided_ranging_requests,
            lost_pdus,
            given_up,
        } = other;
        self.downlink_pdus += downlink_pdus;
        self.downlink_fragments += downlink_fragments;
        self.uplink_pdus += uplink_pdus;
        self.uplink_fragments += uplink_fragments;
        self.grants += grants;
        self.bursts += bursts;
        self.burst_bytes += burst_bytes;
        self.padding_bytes += padding_bytes;
        self.requests += requests;
        self.collided_requests += collided_requests;
        self.piggybacked_requests += piggybacked_requests;
        self.answered_polls += answered_polls;
        self.refused_connections += refused_connections;
        self.ranging_requests += ranging_requests;
        self.collided_ranging_requests += collided_ranging_requests;
        self.lost_pdus += lost_pdus;
        self.given_up += given_up;
    }
}
