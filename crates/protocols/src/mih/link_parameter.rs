//! Parameters that links report.

use super::wire::handover::LinkParameterType;
use super::wire::link::SignalStrength;

/// A parameter that a link reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkParameter {
    /// The signal's strength.
    Signal(SignalStrength),
    /// The packet error rate, a PERCENTAGE (LINK_PARAM_GEN): how many of a hundred frames were in error.
    PacketErrorPercent(u8),
}

impl LinkParameter {
    /// Which it is.
    pub(super) fn parameter(self) -> LinkParameterType {
        match self {
            LinkParameter::Signal(_) => LinkParameterType::SIGNAL_STRENGTH,
            LinkParameter::PacketErrorPercent(_) => LinkParameterType::PACKET_ERROR_RATE,
        }
    }

    /// Its value as thresholds have it: in dBm or in percent.
    pub(super) fn value(self) -> i16 {
        match self {
            LinkParameter::Signal(SignalStrength::Dbm(dbm)) => i16::from(dbm),
            LinkParameter::Signal(SignalStrength::Percent(percent))
            | LinkParameter::PacketErrorPercent(percent) => i16::from(percent),
        }
    }
}
