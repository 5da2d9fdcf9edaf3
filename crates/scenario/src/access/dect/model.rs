//! DECT accesses: a mobile terminal, the radio fixed parts around it, and everyone who competes for their
//! channels.
//!
//! "The paper" in the descriptions is Baiocchi, Cautelier, Di Benedetto, Poscetti, Simeoni, "Performance of
//! TCP/IP data transfer over the DECT radio interface". Defaults that it does not give are chosen;
//! docs/models/dect.md says why, and what depends on them.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::units;

/// A `[[dect]]`: the access of one mobile terminal with a multibearer data connection to its gateway.
///
/// Times of the MAC and DLC are in frames of 10 ms.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dect {
    /// The access' name in results.
    pub name: String,
    /// The node that is the mobile terminal.
    pub terminal: String,
    /// The node behind the fixed part, with its interworking unit.
    pub gateway: String,
    /// The largest IP packet; its fragments must fit into the DLC window. Default: Ethernet's, because the
    /// gateway bridges to it.
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub mtu_bytes: u64,
    /// The queue before each direction, for packets that the DLC has not begun to send. Left out: no limit,
    /// FIFO (chosen: the paper drops packets in the network alone).
    #[serde(default)]
    pub queue: Option<Queue>,
    /// The tables `dect`, `dect_states`, `dect_transitions`, `dect_procedures` and `dect_terminals` count
    /// from here on, or from the scenario's `warm_up` if it is later. Default: from the start.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub warm_up: Time,
    /// Radio fixed parts in the cluster, one a cell. Default: the paper.
    #[serde(default = "default_radio_fixed_parts")]
    pub radio_fixed_parts: u32,
    /// Carriers of each radio fixed part, 12 slot pairs each. Default: ETS 300 175-2 clause 4.1.1.
    #[serde(default = "default_carriers")]
    pub carriers: u32,
    /// Bearers that the terminal keeps for the whole run, in place of `connection`. Left out: bearers come
    /// and go by MAC procedures.
    #[serde(default)]
    pub fixed_bearers: Option<u32>,
    /// How many bearers the terminal wants and needs.
    #[serde(default)]
    pub connection: Connection,
    /// The other terminals, an entry a type. Left out: none.
    #[serde(default)]
    pub terminals: Vec<Terminals>,
    /// Multiplies the offered traffic of all `terminals`. Default: unchanged.
    #[serde(default = "one")]
    pub load_factor: f64,
    /// How many bearers the other terminals of type `data` want and need.
    #[serde(default)]
    pub data_terminals: DataTerminals,
    /// Bit errors on the terminal's bearers.
    #[serde(default)]
    pub errors: Errors,
    /// When bearers need a handover, and terminals change their cell.
    #[serde(default)]
    pub handovers: Handovers,
    /// Timers and attempts of the MAC's procedures.
    #[serde(default)]
    pub procedures: Procedures,
    /// How terminals see the channels.
    #[serde(default)]
    pub channel_list: ChannelList,
    /// The data link control service. Left out: LU2 with its defaults.
    #[serde(default)]
    pub dlc: Dlc,
}

fn default_radio_fixed_parts() -> u32 {
    3
}

fn default_carriers() -> u32 {
    10
}

fn one() -> f64 {
    1.0
}

/// How many bearers the terminal wants and needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Connection {
    /// Set-up and modification end at this number of bearers. Default: the paper.
    pub target_bearers: u32,
    /// With fewer bearers the connection is blocked or dropped, and set up again. Default chosen: 1.
    pub minimum_bearers: u32,
    /// With fewer bearers the connection is modified: set up to the target again. 0: never. Default: the
    /// paper.
    pub modification_threshold: u32,
}

impl Default for Connection {
    fn default() -> Connection {
        Connection { target_bearers: 10, minimum_bearers: 1, modification_threshold: 4 }
    }
}

/// How many bearers the other terminals of type `data` want and need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataTerminals {
    /// Set-up ends at this number of bearers. Default: the paper.
    pub target_bearers: u32,
    /// With fewer bearers a call is blocked or dropped. Default chosen: 1.
    pub minimum_bearers: u32,
}

impl Default for DataTerminals {
    fn default() -> DataTerminals {
        DataTerminals { target_bearers: 10, minimum_bearers: 1 }
    }
}

/// The other terminals of one type: Poisson calls in the whole cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Terminals {
    /// Their type.
    #[serde(rename = "type")]
    pub terminal_type: TerminalType,
    /// Offered traffic of the whole cluster in erlang.
    pub offered_erlang: f64,
    /// Mean of exponential call durations. Left out: `durations`, or else the paper's: a mean of 120 s, for
    /// `data` 1, 2 or 3 minutes with weight 0.333 each and 30 minutes with weight 0.001.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub mean_duration: Option<Span>,
    /// Call durations by weight, in place of `mean_duration`.
    #[serde(default)]
    pub durations: Vec<WeightedDuration>,
}

/// The types of terminals that compete for channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TerminalType {
    /// One bearer of half a slot (physical packet P08j).
    P08j,
    /// One bearer of a full slot (physical packet P32): a telephone.
    P32,
    /// One bearer of a double slot (physical packet P80).
    P80,
    /// Several bearers of a full slot.
    Data,
}

/// A call duration and how often it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedDuration {
    /// Its weight; weights need not add up to one.
    pub weight: f64,
    /// How long the call lasts.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub duration: Span,
}

/// Bit errors on the terminal's bearers, each good or bad; the chain moves once a frame.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Errors {
    /// Bit error ratio in the good state. Default: the paper, with its two ratios exchanged.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub ber_good: f64,
    /// Bit error ratio in the bad state. Default: the paper, with its two ratios exchanged.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub ber_bad: f64,
    /// Multiplies both bit error ratios. Default: unchanged.
    pub ber_factor: f64,
    /// Probability a frame of going from good to bad. Default: the paper.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub good_to_bad: f64,
    /// Probability a frame of going from bad to good. Default: the paper.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub bad_to_good: f64,
    /// Whether the A field may fail too, which loses the whole slot or its acknowledgement. Default chosen:
    /// no, because the paper does not mention it.
    pub a_field_errors: bool,
    /// Times in which both bit error ratios are multiplied. Left out: none.
    pub bursts: Vec<Burst>,
}

impl Default for Errors {
    fn default() -> Errors {
        Errors {
            ber_good: 1.7e-4,
            ber_bad: 3e-3,
            ber_factor: 1.0,
            good_to_bad: 0.02,
            bad_to_good: 0.2,
            a_field_errors: false,
            bursts: Vec::new(),
        }
    }
}

/// A time in which the bit error ratios are multiplied, for the frames that begin in it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// When it begins.
    #[serde(with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
    /// How long it lasts.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub duration: Span,
    /// A factor of the bit error ratios, beside `ber_factor`.
    pub factor: f64,
}

/// When bearers need a handover, and terminals change their cell.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Handovers {
    /// Probability a frame that a good bearer of the terminal needs a handover. Default: the paper.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub need_good: f64,
    /// The same in its bad state. Default: the paper.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub need_bad: f64,
    /// Mean time until a bearer of another terminal needs a handover, exponential. Default chosen: 5500
    /// frames, as often as one of the terminal.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub other_terminals_interval: Span,
    /// Multiplies how often handovers are needed, for all terminals. Default: unchanged.
    pub need_factor: f64,
    /// Mean stay of a terminal in a cell, exponential. Default chosen: one minute; the paper gives no times.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub cell_time: Span,
}

impl Default for Handovers {
    fn default() -> Handovers {
        Handovers {
            need_good: 1e-4,
            need_bad: 1e-3,
            other_terminals_interval: Span::from_secs(55),
            need_factor: 1.0,
            cell_time: Span::from_secs(60),
        }
    }
}

/// Timers and attempts of the MAC's procedures.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Procedures {
    /// When call set-up is given up. Default: the paper's 3 s.
    pub call_setup_timer_frames: u64,
    /// When a bearer handover is given up and the bearer released. Default: the paper's 3 s.
    pub bearer_handover_timer_frames: u64,
    /// When a connection handover is given up and the old bearers released. Default: the paper's 3 s.
    pub connection_handover_timer_frames: u64,
    /// When a connection modification is given up. Default chosen: as the others.
    pub connection_modification_timer_frames: u64,
    /// Probability that a terminal may try a channel in a frame. Default chosen: 0.1, because a fixed part
    /// listens to one of its ten carriers a frame.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub attempt_permission: f64,
    /// Channels tried for a bearer in call set-up and connection modification. Default: N200 of ETS 300
    /// 175-3.
    pub setup_attempts: u32,
    /// Channels tried for a bearer in multibearer handovers. Default chosen: 2; results depend on it.
    pub multibearer_handover_attempts: u32,
    /// Channels tried in handovers of single-bearer terminals. Default: N201 of ETS 300 175-3.
    pub single_bearer_handover_attempts: u32,
    /// Whether data uses the bearers that exist before call set-up ends. Default chosen: yes.
    pub data_during_setup: bool,
    /// How many bearers of a terminal may share a slot pair. Default chosen: any number, because the paper
    /// names no limit.
    pub transceivers: Transceivers,
}

impl Default for Procedures {
    fn default() -> Procedures {
        Procedures {
            call_setup_timer_frames: 300,
            bearer_handover_timer_frames: 300,
            connection_handover_timer_frames: 300,
            connection_modification_timer_frames: 300,
            attempt_permission: 0.1,
            setup_attempts: 10,
            multibearer_handover_attempts: 2,
            single_bearer_handover_attempts: 15,
            data_during_setup: true,
            transceivers: Transceivers::Unlimited,
        }
    }
}

/// How many bearers of a terminal may share a slot pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transceivers {
    /// Any number.
    Unlimited,
    /// One: a terminal has a single transceiver.
    OnePerSlotPair,
}

/// How terminals see channels: quiet, interfered or busy, with errors.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelList {
    /// Frames after which a list is refreshed. Default: the paper.
    pub refresh_frames: u64,
    /// Probability that an idle channel is seen as quiet; otherwise as interfered. Default: the paper.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub idle_seen_quiet: f64,
    /// Probability that a reserved channel is seen as interfered; otherwise as busy, and never tried.
    /// Default: the paper.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub reserved_seen_interfered: f64,
    /// Which channel of the list is tried. Default chosen: any; results depend on it.
    pub selection: Selection,
}

impl Default for ChannelList {
    fn default() -> ChannelList {
        ChannelList {
            refresh_frames: 30,
            idle_seen_quiet: 0.8,
            reserved_seen_interfered: 0.5,
            selection: Selection::Uniform,
        }
    }
}

/// Which channel of the list is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Any that is not busy, with equal probability.
    Uniform,
    /// A quiet one; an interfered one if none is quiet.
    QuietFirst,
}

/// The service of the data link control layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "tag:service", rename_all = "snake_case")]
#[schemars(rename = "DectDlc", tag = "service")]
pub enum Dlc {
    /// Frame relay with go-back-N, over the error-corrected Ip channel (ETS 300 175-4 clause 11.3).
    Lu2(Lu2),
    /// No recovery: unprotected slots of 40 octets (the In channel). TCP alone repairs losses.
    Lu1(Lu1),
}

impl Default for Dlc {
    fn default() -> Dlc {
        Dlc::Lu2(Lu2::default())
    }
}

/// The settings of LU1: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lu1 {}

/// The settings of LU2 and the Ip channel below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lu2 {
    /// Fragments of 29 octets that may be unacknowledged, 1 to 127. Default: the paper.
    pub window_fragments: u32,
    /// T1: frames without progress before the receiver of an incomplete DLC frame requests a retransmission.
    /// Default: the paper.
    pub retransmission_timer_frames: u32,
    /// T2: frames from that request until the DLC frame is dropped. Default: the paper.
    pub discard_timer_frames: u32,
    /// The unit that the receiver acknowledges. Default chosen: every fragment.
    pub acknowledgement: DlcAcknowledgement,
    /// Frames until the receiver's state reaches the sender. Default chosen: 1, the shortest.
    pub acknowledgement_delay_frames: u32,
    /// Whether T1 and T2 run while there is no bearer. Default chosen: no, nothing can arrive then.
    pub timers_without_bearers: TimersWithoutBearers,
    /// The Ip channel: transmissions of a packet before it is discarded. Default: the paper.
    pub max_attempts: u32,
    /// The Ip channel: the fate of an unfinished packet when its bearer goes. Default chosen: it is lost.
    pub unfinished_packets: UnfinishedPackets,
}

impl Default for Lu2 {
    fn default() -> Lu2 {
        Lu2 {
            window_fragments: 63,
            retransmission_timer_frames: 10,
            discard_timer_frames: 20,
            acknowledgement: DlcAcknowledgement::Fragments,
            acknowledgement_delay_frames: 1,
            timers_without_bearers: TimersWithoutBearers::Stopped,
            max_attempts: 10,
            unfinished_packets: UnfinishedPackets::Lost,
        }
    }
}

/// The unit that the receiver of LU2 acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DlcAcknowledgement {
    /// All fragments before the next expected one.
    Fragments,
    /// All fragments before the oldest incomplete DLC frame.
    Frames,
}

/// Whether the timers of LU2 run while there is no bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimersWithoutBearers {
    /// They stand still.
    Stopped,
    /// They run.
    Running,
}

/// The fate of an unfinished packet of the Ip channel whose bearer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedPackets {
    /// It is lost; go-back-N repairs it.
    Lost,
    /// The next idle bearer goes on with it.
    Kept,
}
