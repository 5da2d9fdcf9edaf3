//! Automatic repeat request of an 802.16 cell.

use crate::units;
use roamsim_engine::Span;
use roamsim_network::link::wimax::{Acknowledgement as NetworkAcknowledgement, ArqConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ARQ of service flows (IEEE Std 802.16-2004 section 6.3.4). The standard has no defaults; these are of
/// ORBIT's base stations (wimax.orbit-lab.org, "ARQ Control").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxArq")]
pub struct Arq {
    /// ARQ_BLOCK_SIZE: packets are cut into blocks of this size, up to 2040 bytes (section 11.13.18.8).
    /// Default: ORBIT.
    #[serde(rename = "block_size", default = "default_block_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub block_bytes: u64,
    /// ARQ_WINDOW_SIZE: unacknowledged blocks, up to 1024 (section 11.13.18.2). Default: ORBIT.
    #[serde(rename = "window", default = "default_window_blocks")]
    pub window_blocks: u32,
    /// ARQ_RETRY_TIMEOUT: retransmission this long after the last transmission (section 11.13.18.3). Default:
    /// ORBIT, transmitter and receiver delay.
    #[serde(default = "default_retry_timeout", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub retry_timeout: Span,
    /// ARQ_BLOCK_LIFETIME: a block and its packet are dropped this long after the first transmission; 0 s:
    /// never (section 11.13.18.4). Default: ORBIT.
    #[serde(default = "default_lifetime", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub block_lifetime: Span,
    /// ARQ_SYNC_LOSS_TIMEOUT: a sender with a stalled window resets ARQ after this time; 0 s: never (section
    /// 11.13.18.5). Default: ORBIT.
    #[serde(default = "default_sync_loss_timeout", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub sync_loss_timeout: Span,
    /// ARQ_RX_PURGE_TIMEOUT: how long a receiver waits for missing blocks before a received one; 0 s: for
    /// ever (section 11.13.18.7). Default: ORBIT.
    #[serde(default = "default_lifetime", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub purge_timeout: Span,
    /// ARQ_DELIVER_IN_ORDER (section 11.13.18.6). Default: ORBIT.
    #[serde(default = "default_deliver_in_order")]
    pub deliver_in_order: bool,
    /// The receivers' feedback (section 6.3.4.2). Default chosen: the form that includes the others.
    #[serde(default)]
    pub acknowledgement: Acknowledgement,
}

/// Types of ARQ feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ArqAcknowledgement")]
pub enum Acknowledgement {
    /// Type 0: maps of 16 blocks.
    #[serde(rename = "selective")]
    Selective,
    /// Type 1: all blocks up to one.
    #[serde(rename = "cumulative")]
    Cumulative,
    /// Type 2: all blocks up to one, and maps behind it.
    #[default]
    #[serde(rename = "cumulative with selective")]
    CumulativeSelective,
}

fn default_block_bytes() -> u64 {
    256
}

fn default_window_blocks() -> u32 {
    1024
}

fn default_retry_timeout() -> Span {
    Span::from_ms(200)
}

fn default_lifetime() -> Span {
    Span::from_ms(500)
}

fn default_sync_loss_timeout() -> Span {
    Span::from_secs(1)
}

fn default_deliver_in_order() -> bool {
    true
}

impl Arq {
    /// That of a connection whose packets have so many octets at most: no block is longer.
    pub(super) fn config(&self, mtu_bytes: u64) -> ArqConfig {
        let &Arq {
            block_bytes,
            window_blocks,
            retry_timeout,
            block_lifetime,
            sync_loss_timeout,
            purge_timeout,
            deliver_in_order,
            acknowledgement,
        } = self;
        let limited = |time: Span| (time > Span::ZERO).then_some(time);
        ArqConfig {
            block_bytes: block_bytes.min(mtu_bytes) as u32,
            window_blocks,
            retry_timeout,
            block_lifetime: limited(block_lifetime),
            sync_loss_timeout: limited(sync_loss_timeout),
            purge_timeout: limited(purge_timeout),
            deliver_in_order,
            acknowledgement: match acknowledgement {
                Acknowledgement::Selective => NetworkAcknowledgement::Selective,
                Acknowledgement::Cumulative => NetworkAcknowledgement::Cumulative,
                Acknowledgement::CumulativeSelective => NetworkAcknowledgement::CumulativeSelective,
            },
        }
    }
}
