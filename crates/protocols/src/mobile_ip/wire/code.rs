//! The codes of registration replies (RFC 5944 section 3.4, RFC 3024 section 3.4).

use std::fmt;

/// Why a registration was accepted or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(pub u8);

impl Code {
    /// Registration accepted.
    pub const ACCEPTED: Code = Code(0);
    /// Registration accepted, but simultaneous mobility bindings are not supported.
    pub const ACCEPTED_NO_SIMULTANEOUS_BINDINGS: Code = Code(1);
    /// Foreign agent: insufficient resources.
    pub const FA_INSUFFICIENT_RESOURCES: Code = Code(66);
    /// Foreign agent: requested lifetime too long; the reply's lifetime is the longest that it takes.
    pub const FA_LIFETIME_TOO_LONG: Code = Code(69);
    /// Foreign agent: poorly formed request.
    pub const FA_POORLY_FORMED_REQUEST: Code = Code(70);
    /// Foreign agent: poorly formed reply.
    pub const FA_POORLY_FORMED_REPLY: Code = Code(71);
    /// Foreign agent: requested encapsulation unavailable.
    pub const FA_ENCAPSULATION_UNAVAILABLE: Code = Code(72);
    /// Foreign agent: requested reverse tunnel unavailable (RFC 3024).
    pub const FA_REVERSE_TUNNEL_UNAVAILABLE: Code = Code(74);
    /// Foreign agent: invalid care-of address.
    pub const FA_INVALID_CARE_OF_ADDRESS: Code = Code(77);
    /// Foreign agent: registration timeout; the home agent did not answer.
    pub const FA_REGISTRATION_TIMEOUT: Code = Code(78);
    /// Home agent: mobile node failed authentication.
    pub const HA_FAILED_AUTHENTICATION: Code = Code(131);
    /// Home agent: registration identification mismatch.
    pub const HA_IDENTIFICATION_MISMATCH: Code = Code(133);
    /// Home agent: poorly formed request.
    pub const HA_POORLY_FORMED_REQUEST: Code = Code(134);
    /// Home agent: unknown home agent address.
    pub const HA_UNKNOWN_HOME_AGENT: Code = Code(136);
    /// Home agent: requested reverse tunnel unavailable (RFC 3024).
    pub const HA_REVERSE_TUNNEL_UNAVAILABLE: Code = Code(137);
    /// Home agent: requested encapsulation unavailable (RFC 3024).
    pub const HA_ENCAPSULATION_UNAVAILABLE: Code = Code(139);

    /// Whether the registration was accepted.
    pub const fn accepted(self) -> bool {
        self.0 <= 1
    }

    /// Whether a foreign agent refused: codes 64 to 127. Such a reply carries no authentication of the home
    /// agent.
    pub const fn of_foreign_agent(self) -> bool {
        self.0 >= 64 && self.0 < 128
    }

    /// What the code says, in the RFCs' words; "" for those that no agent here gives.
    pub const fn words(self) -> &'static str {
        match self {
            Code::ACCEPTED => "accepted",
            Code::ACCEPTED_NO_SIMULTANEOUS_BINDINGS => "accepted without simultaneous bindings",
            Code::FA_INSUFFICIENT_RESOURCES => "insufficient resources",
            Code::FA_LIFETIME_TOO_LONG => "requested lifetime too long",
            Code::FA_POORLY_FORMED_REQUEST | Code::HA_POORLY_FORMED_REQUEST => "poorly formed request",
            Code::FA_POORLY_FORMED_REPLY => "poorly formed reply",
            Code::FA_ENCAPSULATION_UNAVAILABLE | Code::HA_ENCAPSULATION_UNAVAILABLE => {
                "requested encapsulation unavailable"
            }
            Code::FA_REVERSE_TUNNEL_UNAVAILABLE | Code::HA_REVERSE_TUNNEL_UNAVAILABLE => {
                "requested reverse tunnel unavailable"
            }
            Code::FA_INVALID_CARE_OF_ADDRESS => "invalid care-of address",
            Code::FA_REGISTRATION_TIMEOUT => "registration timeout",
            Code::HA_FAILED_AUTHENTICATION => "mobile node failed authentication",
            Code::HA_IDENTIFICATION_MISMATCH => "registration identification mismatch",
            Code::HA_UNKNOWN_HOME_AGENT => "unknown home agent address",
            Code(_) => "",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            "" => write!(f, "code {}", self.0),
            words => write!(f, "code {}, {words}", self.0),
        }
    }
}
