//! A mobile node's registrations (RFC 5944 section 3.6): one request at a time, retransmitted until it is
//! answered.

use std::net::Ipv4Addr;

use roamsim_engine::{Span, Time};

use super::super::identification::Requester;
use super::super::wire::{Code, Extensions, Message, Reply, Request, RequestFlags};
use super::super::{INFINITE_LIFETIME, SecurityAssociation, end_of};
use crate::Context;

/// When a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// The first timeout.
    pub initial: Span,
    /// What timeouts grow to, by doubling.
    pub maximum: Span,
}

impl Default for Retransmission {
    /// 1 s, the least that section 3.6.3 allows; at most 64 s, chosen: the sixth doubling, as TCP's 60 s (RFC
    /// 6298).
    fn default() -> Retransmission {
        Retransmission { initial: Span::from_secs(1), maximum: Span::from_secs(64) }
    }
}

/// What a registration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Purpose {
    pub(in super::super) care_of_address: Ipv4Addr,
    pub(in super::super) lifetime_s: u16,
}

#[derive(Clone, Debug)]
struct Pending {
    purpose: Purpose,
    sent: Time,
    timeout: Span,
    again_at: Time,
    /// Refused in a way that was set right; a second refusal of the kind waits for the timer.
    corrected: bool,
    /// It was answered, by a refusal: what goes out next is a new request.
    refused: bool,
}

/// What a reply did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Outcome {
    /// It answers nothing.
    Unsolicited,
    /// Its authenticator is missing or wrong.
    FailedAuthentication,
    /// Accepted; `lifetime_s` is 0 for a deregistration.
    Accepted { lifetime_s: u16 },
    /// Refused; `again` when a corrected request goes out at once.
    Refused { code: Code, again: bool },
}

/// The registrations of a mobile node.
#[derive(Clone, Debug)]
pub(in super::super) struct Registrar {
    home_address: Ipv4Addr,
    home_agent: Ipv4Addr,
    security: SecurityAssociation,
    retransmission: Retransmission,
    /// Those of registrations; deregistrations have none.
    flags: RequestFlags,
    requester: Requester,
    pending: Option<Pending>,
    /// When the registration ends that was accepted last.
    pub(in super::super) expires: Option<Time>,
    renew_at: Option<Time>,
    /// A binding may be at the home agent: something was asked for since the last deregistration.
    pub(in super::super) may_be_bound: bool,
}

impl Registrar {
    pub(in super::super) fn new(
        home_address: Ipv4Addr,
        home_agent: Ipv4Addr,
        security: SecurityAssociation,
        retransmission: Retransmission,
        flags: RequestFlags,
        requester: Requester,
    ) -> Registrar {
        Registrar {
            home_address,
            home_agent,
            security,
            retransmission,
            flags,
            requester,
            pending: None,
            expires: None,
            renew_at: None,
            may_be_bound: false,
        }
    }

    pub(in super::super) fn poll_timeout(&self) -> Option<Time> {
        let again_at = self.pending.as_ref().map(|pending| pending.again_at);
        [again_at, self.renew_at, self.expires].into_iter().flatten().min()
    }

    /// A request is on its way.
    pub(in super::super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// What is asked for is not wanted any more.
    pub(in super::super) fn cancel(&mut self) {
        self.pending = None;
        self.renew_at = None;
    }

    /// Begins a registration, or a deregistration.
    pub(in super::super) fn begin(&mut self, cx: &mut Context<'_>, purpose: Purpose) -> Message {
        self.renew_at = None;
        self.may_be_bound = true;
        let timeout = self.retransmission.initial;
        let again_at = cx.now + timeout;
        self.pending =
            Some(Pending { purpose, sent: cx.now, timeout, again_at, corrected: false, refused: false });
        let identification = self.requester.fresh(cx.now, cx.random);
        self.request(purpose, identification)
    }

    fn request(&self, purpose: Purpose, identification: u64) -> Message {
        let mut message = Message::Request(Request {
            flags: if purpose.lifetime_s > 0 { self.flags } else { RequestFlags::default() },
            lifetime_s: purpose.lifetime_s,
            home_address: self.home_address,
            home_agent: self.home_agent,
            care_of_address: purpose.care_of_address,
            identification,
            extensions: Extensions::default(),
        });
        self.security.authenticate(&mut message);
        message
    }

    /// The request again, if its time has come: the timeout doubles, up to the maximum and the lifetime asked
    /// for.
    pub(in super::super) fn retransmit(&mut self, cx: &mut Context<'_>) -> Option<Message> {
        let maximum = self.retransmission.maximum;
        let pending = self.pending.as_mut().filter(|pending| pending.again_at <= cx.now)?;
        let lifetime = match pending.purpose.lifetime_s {
            0 => Span::MAX,
            seconds => Span::from_secs(u64::from(seconds)).max(self.retransmission.initial),
        };
        pending.timeout = (pending.timeout * 2).min(maximum).min(lifetime);
        pending.sent = cx.now;
        pending.again_at = cx.now + pending.timeout;
        let purpose = pending.purpose;
        let identification = if std::mem::take(&mut pending.refused) {
            self.requester.fresh(cx.now, cx.random)
        } else {
            self.requester.again(cx.now, cx.random)
        };
        Some(self.request(purpose, identification))
    }

    /// A corrected request, behind a refusal that said what was wrong.
    pub(in super::super) fn correct(&mut self, cx: &mut Context<'_>) -> Option<Message> {
        let pending = self.pending.as_mut()?;
        pending.sent = cx.now;
        pending.again_at = cx.now + pending.timeout;
        pending.refused = false;
        let purpose = pending.purpose;
        let identification = self.requester.fresh(cx.now, cx.random);
        Some(self.request(purpose, identification))
    }

    /// Whether the registration ends at this instant.
    pub(in super::super) fn expire(&mut self, now: Time) -> bool {
        let over = self.expires.is_some_and(|expires| expires <= now);
        if over {
            self.expires = None;
        }
        over
    }

    /// Whether the registration is to be renewed now.
    pub(in super::super) fn renewal_is_due(&mut self, now: Time) -> bool {
        let due = self.renew_at.is_some_and(|at| at <= now);
        if due {
            self.renew_at = None;
        }
        due
    }

    /// Section 3.6.2.
    pub(in super::super) fn on_reply(&mut self, now: Time, message: &Message, reply: &Reply) -> Outcome {
        let Some(pending) = &mut self.pending else { return Outcome::Unsolicited };
        if reply.home_address != self.home_address || !self.requester.matches(reply.identification) {
            return Outcome::Unsolicited;
        }
        let code = reply.code;
        // A foreign agent that refuses has no security association with the mobile node.
        if !code.of_foreign_agent() {
            if !self.security.verify(message) {
                return Outcome::FailedAuthentication;
            }
            self.requester.on_reply(reply.identification);
        }
        if code.accepted() {
            let (asked, sent) = (pending.purpose.lifetime_s, pending.sent);
            self.pending = None;
            return self.on_accepted(sent, reply.lifetime_s.min(asked));
        }
        let again = match code {
            Code::FA_LIFETIME_TOO_LONG => {
                let shorter = reply.lifetime_s > 0 && reply.lifetime_s < pending.purpose.lifetime_s;
                if shorter {
                    pending.purpose.lifetime_s = reply.lifetime_s;
                }
                shorter
            }
            Code::HA_IDENTIFICATION_MISMATCH => {
                self.requester.resynchronise(now, reply.identification);
                true
            }
            _ => false,
        };
        pending.refused = true;
        let again = again && !std::mem::replace(&mut pending.corrected, again);
        Outcome::Refused { code, again }
    }

    fn on_accepted(&mut self, sent: Time, lifetime_s: u16) -> Outcome {
        (self.expires, self.renew_at) = (None, None);
        if lifetime_s == 0 {
            self.may_be_bound = false;
        } else {
            // What remains counts from the request, whose answer the lifetime is (section 3.6.2.2).
            self.expires = end_of(sent, lifetime_s);
            let half = Span::from_ms(500 * u64::from(lifetime_s));
            self.renew_at = (lifetime_s != INFINITE_LIFETIME).then(|| sent + half);
        }
        Outcome::Accepted { lifetime_s }
    }
}
