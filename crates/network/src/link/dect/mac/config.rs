//! What describes the MAC: traffic, timers, attempts and the choices that the paper leaves open.
//!
//! Sources of the defaults: "paper" is Baiocchi, Cautelier, Di Benedetto, Poscetti, Simeoni, "Performance of
//! TCP/IP data transfer over the DECT radio interface"; clauses are those of ETS 300 175. Times are in frames
//! of 10 ms.

/// The kinds of mobile terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerminalType {
    /// Half slot, physical packet P08j.
    P08j,
    /// Telephone: full slot, physical packet P32.
    P32,
    /// Double slot, physical packet P80.
    P80,
    /// Multibearer connection of full slots.
    Data,
    /// The one Data terminal that is studied: it never goes idle.
    User,
}

impl TerminalType {
    /// Every type, in the order of their declaration.
    pub const ALL: [TerminalType; 5] =
        [TerminalType::P08j, TerminalType::P32, TerminalType::P80, TerminalType::Data, TerminalType::User];
    /// Those that make the background traffic.
    pub const BACKGROUND: [TerminalType; 4] =
        [TerminalType::P08j, TerminalType::P32, TerminalType::P80, TerminalType::Data];

    /// Whether its connections have more than one bearer.
    pub fn is_multibearer(self) -> bool {
        matches!(self, TerminalType::Data | TerminalType::User)
    }

    /// Its name in tables and traces.
    pub fn name(self) -> &'static str {
        match self {
            TerminalType::P08j => "P08j",
            TerminalType::P32 => "P32",
            TerminalType::P80 => "P80",
            TerminalType::Data => "Data",
            TerminalType::User => "User",
        }
    }
}

/// How long the calls of a type last, from Call_Setup on.
#[derive(Clone, Debug, PartialEq)]
pub enum CallDuration {
    /// Exponential.
    Exponential {
        /// Mean.
        mean_frames: f64,
    },
    /// One of several lengths.
    OneOf(
        /// Weight and length in frames of each; the weights need not add up to one.
        Vec<(f64, f64)>,
    ),
}

impl CallDuration {
    /// The mean, in frames.
    pub fn mean_frames(&self) -> f64 {
        match self {
            CallDuration::Exponential { mean_frames } => *mean_frames,
            CallDuration::OneOf(lengths) => {
                let weights: f64 = lengths.iter().map(|(weight, _)| weight).sum();
                lengths.iter().map(|(weight, frames)| weight * frames).sum::<f64>() / weights
            }
        }
    }
}

/// The calls of one background type.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Mean calls at a time in the whole system, if none were lost: arrival rate times mean duration.
    pub offered_erlang: f64,
    /// How long they last.
    pub duration: CallDuration,
}

/// How many bearers a multibearer connection wants and needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BearerCounts {
    /// Set-up and modification end when it is reached.
    pub target: u32,
    /// With fewer, a call is blocked or dropped.
    pub minimum: u32,
}

/// The states of a bearer of the user: a chain that moves once a frame, and a handover need in each state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualityChain {
    /// Probability a frame of going from good to bad.
    pub good_to_bad: f64,
    /// Probability a frame of going from bad to good.
    pub bad_to_good: f64,
    /// Probability a frame that a bearer in the good state comes to need a handover.
    pub handover_need_good: f64,
    /// The same in the bad state.
    pub handover_need_bad: f64,
}

/// How the user's bearers are allocated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UserAllocation {
    /// By the procedures, in competition with the background.
    Procedures {
        /// Target and minimum.
        bearers: BearerCounts,
        /// Connection_Mod is entered with fewer bearers than this.
        modification_threshold: u32,
    },
    /// So many from frame 0 to the end: no procedure touches them, none ever needs a handover.
    Fixed {
        /// Their number.
        bearers: u32,
    },
}

/// When each procedure is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcedureTimers {
    /// Call_Setup.
    pub call_setup_frames: u64,
    /// Bearer_HO.
    pub bearer_handover_frames: u64,
    /// Connection_HO.
    pub connection_handover_frames: u64,
    /// Connection_Mod.
    pub connection_modification_frames: u64,
}

/// Which channel of its list a terminal tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Any of the quiet and the interfered ones, with equal probability.
    Uniform,
    /// One of the quiet ones; of the interfered ones only when no quiet one is left.
    QuietFirst,
}

/// What a channel list shows, and how it is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelListConfig {
    /// A list is made anew after so many frames.
    pub refresh_frames: u64,
    /// Probability that an idle channel is found quiet; otherwise interfered.
    pub idle_seen_quiet: f64,
    /// Probability that a reserved channel is found interfered; otherwise busy, and never tried.
    pub reserved_seen_interfered: f64,
    /// Which channel is tried.
    pub selection: Selection,
}

/// How many bearers of one terminal may share a slot pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transceivers {
    /// Any number.
    Unlimited,
    /// One: a terminal tries no channel in a slot pair where it has a bearer, the one to be replaced
    /// included.
    OnePerSlotPair,
}

/// How often a terminal may try, for one bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptLimits {
    /// In Call_Setup and Connection_Mod.
    pub setup: u32,
    /// In a handover of a multibearer connection.
    pub handover_multibearer: u32,
    /// In a handover of a terminal of one bearer.
    pub handover_single_bearer: u32,
}

/// The whole MAC. `Default` is the reference case of the study.
#[derive(Clone, Debug, PartialEq)]
pub struct MacConfig {
    /// Radio fixed parts of the cluster, one a cell. 3: paper.
    pub rfps: u32,
    /// Carriers that each RFP may use, 1 to 10. 10: ETS 300 175-2 clause 4.1.1.
    pub carriers: u32,
    /// Background calls of P08j, P32, P80 and Data, in this order. See [`MacConfig::default`].
    pub traffic: [Traffic; 4],
    /// Multiplies all offered traffic. 1; 3 is the study's "high background load": chosen, because at it the
    /// channels are nearly all taken.
    pub load_factor: f64,
    /// Bearers of the background's Data calls. 10 and 1: chosen, as the user's.
    pub data_bearers: BearerCounts,
    /// How the user's bearers are allocated. Target 10 and threshold 4: paper. Minimum 1: chosen, because the
    /// paper's connection lives as long as anything can be sent.
    pub user: UserAllocation,
    /// The user's bearers. 0.02, 0.2, 1e-4, 1e-3: paper.
    pub quality: QualityChain,
    /// Mean time until a bearer of the background needs a handover; infinite for never. 5500: chosen, because
    /// it is that of the user's bearers, whose mean need a frame is (10 * 1e-4 + 1 * 1e-3) / 11 = 1 / 5500.
    pub handover_need_mean_frames: f64,
    /// Multiplies the handover needs of all bearers. 1.
    pub handover_need_factor: f64,
    /// 300 frames each: paper for the first three; the fourth chosen as the others.
    pub timers: ProcedureTimers,
    /// 30 frames, 0.8, 0.5: paper. Uniform: chosen, because the paper tells of no order; decisive.
    pub channel_list: ChannelListConfig,
    /// Probability that a terminal in a procedure may try a channel in a frame. 0.1: chosen, because an RFP's
    /// receiver scans one of its 10 carriers a frame (ETS 300 175-3 clause 11.8).
    pub attempt_permission: f64,
    /// 10 for set-up: N200, and 15 for single-bearer handovers: N201 (ETS 300 175-3 annex A). 2 for
    /// multibearer handovers: chosen, and the figures are sensitive to it.
    pub attempts: AttemptLimits,
    /// Mean time in a cell, exponential; infinite for terminals that stay. The next is any other cell. 6000:
    /// the chain is the paper's, its mean (one minute) is chosen.
    pub cell_dwell_mean_frames: f64,
    /// Whether the user's bearers carry data before Call_Setup has ended. True: chosen, because a bearer in
    /// the air costs its channel anyway.
    pub carry_data_in_setup: bool,
    /// Unlimited: chosen, because the paper names no limit.
    pub transceivers: Transceivers,
}

impl Default for MacConfig {
    /// The reference case. Durations: exponential of mean 120 s (paper); Data calls last 1, 2 or 3 min with
    /// probability 0.333 each and 30 min with 0.001 (paper). Offered traffic: 20, 105, 12 and 18 E (chosen).
    fn default() -> MacConfig {
        let speech = |offered_erlang| Traffic {
            offered_erlang,
            duration: CallDuration::Exponential { mean_frames: 12_000.0 },
        };
        let minutes = |weight, minutes| (weight, 6000.0 * minutes);
        let data = CallDuration::OneOf(vec![
            minutes(0.333, 1.0),
            minutes(0.333, 2.0),
            minutes(0.333, 3.0),
            minutes(0.001, 30.0),
        ]);
        MacConfig {
            rfps: 3,
            carriers: 10,
            traffic: [
                speech(20.0),
                speech(105.0),
                speech(12.0),
                Traffic { offered_erlang: 18.0, duration: data },
            ],
            load_factor: 1.0,
            data_bearers: BearerCounts { target: 10, minimum: 1 },
            user: UserAllocation::Procedures {
                bearers: BearerCounts { target: 10, minimum: 1 },
                modification_threshold: 4,
            },
            quality: QualityChain {
                good_to_bad: 0.02,
                bad_to_good: 0.2,
                handover_need_good: 1e-4,
                handover_need_bad: 1e-3,
            },
            handover_need_mean_frames: 5500.0,
            handover_need_factor: 1.0,
            timers: ProcedureTimers {
                call_setup_frames: 300,
                bearer_handover_frames: 300,
                connection_handover_frames: 300,
                connection_modification_frames: 300,
            },
            channel_list: ChannelListConfig {
                refresh_frames: 30,
                idle_seen_quiet: 0.8,
                reserved_seen_interfered: 0.5,
                selection: Selection::Uniform,
            },
            attempt_permission: 0.1,
            attempts: AttemptLimits { setup: 10, handover_multibearer: 2, handover_single_bearer: 15 },
            cell_dwell_mean_frames: 6000.0,
            carry_data_in_setup: true,
            transceivers: Transceivers::Unlimited,
        }
    }
}

impl MacConfig {
    /// Target and minimum of a type.
    pub(super) fn bearer_counts(&self, kind: TerminalType) -> BearerCounts {
        match (kind, self.user) {
            (TerminalType::Data, _) => self.data_bearers,
            (TerminalType::User, UserAllocation::Procedures { bearers, .. }) => bearers,
            (TerminalType::User, UserAllocation::Fixed { bearers }) => {
                BearerCounts { target: bearers, minimum: bearers }
            }
            _ => BearerCounts { target: 1, minimum: 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_durations_have_the_stated_means() {
        let config = MacConfig::default();
        let mean_s = config.traffic.each_ref().map(|t| t.duration.mean_frames() / 100.0);
        // 0.333 * (60 + 120 + 180) + 0.001 * 1800 = 119.88 + 1.8.
        assert!((mean_s[3] - 121.68).abs() < 1e-9, "{mean_s:?}");
        assert_eq!(mean_s[..3], [120.0, 120.0, 120.0]);
    }

    #[test]
    fn background_needs_handovers_as_often_as_the_user() {
        let config = MacConfig::default();
        let q = config.quality;
        // The chain is bad for 0.02 / 0.22 = 1/11 of the time.
        let bad = q.good_to_bad / (q.good_to_bad + q.bad_to_good);
        let need = q.handover_need_good * (1.0 - bad) + q.handover_need_bad * bad;
        assert!((1.0 / need - config.handover_need_mean_frames).abs() < 1e-6, "{need}");
    }
}
