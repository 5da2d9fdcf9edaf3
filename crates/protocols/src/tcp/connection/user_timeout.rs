//! The option that tells a peer of the user timeout (RFC 5482 section 3).
//!
//! - Ends with the option send it on SYN and SYN-ACK, in the first segment behind them, and whenever they
//!   begin to use another user timeout (section 3.1).
//! - The end that opens advertises a timeout of its own, and uses it. The other end advertises the one of its
//!   settings, if it has one.
//! - An option that arrives sets the user timeout to min(U_LIMIT, max(ADV_UTO, REMOTE_UTO, L_LIMIT)), if it
//!   may. Neither limit is below the retransmission timeout.
//!
//! Chosen: an end without a user timeout takes the one that its peer advertises.
//!
//! Not modelled: applications that change their timeout while the connection is open.

use roamsim_engine::{Span, Time};

use super::{Connection, Extended, State};
use crate::tcp::segment::{OPTIONS_BYTES, Options, Segment};
use crate::tcp::user_timeout::{UserTimeout, UserTimeoutOption};

impl Connection {
    /// The user timeout in force, if there is one.
    pub fn user_timeout(&self) -> Option<Span> {
        self.sender.extras.as_ref()?.liveness.as_ref()?.user_timeout
    }

    /// This end opens, and so uses what it advertises.
    pub(super) fn begin_user_timeout(&mut self) {
        let Some(option) = self.config.user_timeout_option else { return };
        let rto = self.sender.rtt.rto();
        if let Some(liveness) = self.sender.liveness() {
            liveness.user_timeout = option.adapted(Some(option.advertised), None, rto);
        }
    }

    /// Adds the option to a SYN or SYN-ACK; it goes again in the first segment behind that.
    pub(super) fn add_user_timeout_on_syn(&mut self, options: &mut Options) {
        if self.config.user_timeout_option.is_some()
            && let Some(liveness) = self.sender.liveness()
        {
            liveness.tells_timeout = true;
            self.tell_user_timeout(options);
        }
    }

    /// Adds the option where there is room for it beside others. Whether there was.
    fn tell_user_timeout(&self, options: &mut Options) -> bool {
        let Some(user_timeout) = self.user_timeout() else { return false };
        let fits = options.bytes() + UserTimeout::BYTES <= OPTIONS_BYTES;
        if fits {
            options.sack.set_user_timeout(UserTimeout::of(user_timeout));
        }
        fits
    }

    /// Adds the option to a segment of `payload_bytes` that is neither SYN nor RST, where it is due and there
    /// is room for it, in the header and within the MSS.
    #[cold]
    pub(super) fn add_user_timeout(&mut self, options: &mut Options, payload_bytes: u32) {
        let most = self.sender.agreed_mss.min(self.sender.path_mss);
        let is_due = self.tells_user_timeout();
        if !is_due || payload_bytes > 0 && options.bytes() + UserTimeout::BYTES + payload_bytes > most {
            return;
        }
        if self.tell_user_timeout(options)
            && let Some(liveness) = self.sender.liveness()
        {
            liveness.tells_timeout = false;
        }
    }

    /// Whether the next segment has the option.
    #[inline(always)]
    pub(super) fn tells_user_timeout(&self) -> bool {
        let liveness = || self.sender.extras.as_ref()?.liveness.as_ref();
        self.extended.has(Extended::LIVENESS) && liveness().is_some_and(|liveness| liveness.tells_timeout)
    }

    /// An acceptable segment may bring the peer's option.
    #[inline]
    pub(super) fn take_user_timeout(&mut self, now: Time, segment: &Segment) {
        if let Some(told) = segment.options.sack.user_timeout()
            && let Some(option) = self.config.user_timeout_option
            && option.changeable
        {
            self.adapt_user_timeout(now, option, told.time());
        }
    }

    #[cold]
    fn adapt_user_timeout(&mut self, now: Time, option: UserTimeoutOption, remote: Span) {
        // A peer that crosses this end's SYN opens too.
        let own = if self.passive { self.config.user_timeout } else { Some(option.advertised) };
        let rto = self.sender.rtt.rto();
        let Some(liveness) = self.sender.liveness() else { return };
        let adapted = option.adapted(own, Some(remote), rto);
        if adapted != liveness.user_timeout {
            liveness.user_timeout = adapted;
            liveness.tells_timeout = true;
            if self.state != State::Listen {
                self.arm_liveness(now);
            }
        }
    }
}
