//! Message identifiers, and the catalogue of all messages with the TLVs they carry (IEEE 802.21 clause 8).

use std::fmt;

/// SID: which service a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// 1: registration, capability discovery, subscription.
    Management,
    /// 2: event service.
    Event,
    /// 3: command service.
    Command,
    /// 4: information service.
    Information,
}

/// What a message is within its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// 1: asks for a response.
    Request,
    /// 2: answers a request.
    Response,
    /// 3: tells, and expects no response.
    Indication,
}

/// MID: service (4 bits), opcode (2 bits) and action (10 bits), as on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u16);

impl MessageId {
    /// The opcode; an undefined one (0) counts as an indication's, and no message of the catalogue has it.
    pub const fn opcode(self) -> Opcode {
        match self.0 >> 10 & 0b11 {
            1 => Opcode::Request,
            2 => Opcode::Response,
            _ => Opcode::Indication,
        }
    }

    /// The service, `None` for SIDs that the standard does not define.
    pub const fn service(self) -> Option<Service> {
        match self.0 >> 12 {
            1 => Some(Service::Management),
            2 => Some(Service::Event),
            3 => Some(Service::Command),
            4 => Some(Service::Information),
            _ => None,
        }
    }

    /// Whether it belongs to service management.
    pub const fn is_management(self) -> bool {
        matches!(self.service(), Some(Service::Management))
    }

    /// The action identifier.
    pub const fn action(self) -> u16 {
        self.0 & 0x03ff
    }

    /// The response that answers this request: the same service and action, opcode 2.
    pub const fn response(self) -> MessageId {
        MessageId(self.0 & !0x0c00 | 0x0800)
    }

    /// The request that this response answers: the same service and action, opcode 1.
    pub const fn request(self) -> MessageId {
        MessageId(self.0 & !0x0c00 | 0x0400)
    }

    /// The message's entry in the catalogue.
    pub fn describe(self) -> Option<&'static Description> {
        let at = CATALOGUE.binary_search_by_key(&self, |description| description.id).ok()?;
        Some(&CATALOGUE[at])
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.describe() {
            Some(description) => f.write_str(description.name),
            None => write!(f, "MIH message 0x{:04x}", self.0),
        }
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What the standard says of one message.
#[derive(Debug, PartialEq, Eq)]
pub struct Description {
    /// Its identifier.
    pub id: MessageId,
    /// Its name, with `.request`, `.response` or `.indication`.
    pub name: &'static str,
    /// The types of the TLVs it must carry, in their order, source and destination aside.
    pub mandatory: &'static [u8],
    /// The types of the TLVs it may carry.
    pub optional: &'static [u8],
}

macro_rules! catalogue {
    ($($constant:ident = $id:literal, $name:literal, [$($mandatory:literal),*], [$($optional:literal),*];)*) => {
        impl MessageId {
            $(#[doc = concat!("`", $name, "`.")] pub const $constant: MessageId = MessageId($id);)*
        }

        /// Every message, ordered by identifier.
        pub const CATALOGUE: &[Description] = &[$(Description {
            id: MessageId($id),
            name: $name,
            mandatory: &[$($mandatory),*],
            optional: &[$($optional),*],
        }),*];
    };
}

catalogue! {
    CAPABILITY_DISCOVER_REQUEST = 0x1401, "MIH_Capability_Discover.request", [], [9, 5, 6, 7, 8, 10];
    REGISTER_REQUEST = 0x1402, "MIH_Register.request", [25, 11], [];
    DEREGISTER_REQUEST = 0x1403, "MIH_DeRegister.request", [], [];
    EVENT_SUBSCRIBE_REQUEST = 0x1404, "MIH_Event_Subscribe.request", [13, 5], [54];
    EVENT_UNSUBSCRIBE_REQUEST = 0x1405, "MIH_Event_Unsubscribe.request", [13, 5], [];
    CAPABILITY_DISCOVER_RESPONSE = 0x1801, "MIH_Capability_Discover.response", [3], [9, 5, 6, 7, 8, 10];
    REGISTER_RESPONSE = 0x1802, "MIH_Register.response", [3], [12];
    DEREGISTER_RESPONSE = 0x1803, "MIH_DeRegister.response", [3], [];
    EVENT_SUBSCRIBE_RESPONSE = 0x1804, "MIH_Event_Subscribe.response", [3, 13], [5];
    EVENT_UNSUBSCRIBE_RESPONSE = 0x1805, "MIH_Event_Unsubscribe.response", [3, 13], [5];
    LINK_DETECTED_INDICATION = 0x2c01, "MIH_Link_Detected.indication", [58], [];
    LINK_UP_INDICATION = 0x2c02, "MIH_Link_Up.indication", [13], [15, 16, 17, 18];
    LINK_DOWN_INDICATION = 0x2c03, "MIH_Link_Down.indication", [13, 20], [15];
    LINK_PARAMETERS_REPORT_INDICATION = 0x2c05, "MIH_Link_Parameters_Report.indication", [13, 23], [];
    LINK_GOING_DOWN_INDICATION = 0x2c06, "MIH_Link_Going_Down.indication", [13, 21, 22], [];
    LINK_HANDOVER_IMMINENT_INDICATION = 0x2c07, "MIH_Link_Handover_Imminent.indication", [13, 14], [15, 16];
    LINK_HANDOVER_COMPLETE_INDICATION = 0x2c08, "MIH_Link_Handover_Complete.indication", [13, 14, 3], [15, 16];
    LINK_GET_PARAMETERS_REQUEST = 0x3401, "MIH_Link_Get_Parameters.request", [25, 27], [24];
    LINK_CONFIGURE_THRESHOLDS_REQUEST = 0x3402, "MIH_Link_Configure_Thresholds.request", [13, 29], [];
    LINK_ACTIONS_REQUEST = 0x3403, "MIH_Link_Actions.request", [38], [];
    NET_HO_CANDIDATE_QUERY_REQUEST = 0x3404, "MIH_Net_HO_Candidate_Query.request", [31, 53], [];
    MN_HO_CANDIDATE_QUERY_REQUEST = 0x3405, "MIH_MN_HO_Candidate_Query.request", [13, 31, 33], [19, 36, 37, 35];
    N2N_HO_QUERY_RESOURCES_REQUEST = 0x3406, "MIH_N2N_HO_Query_Resources.request", [33], [19, 36, 37, 35, 25];
    MN_HO_COMMIT_REQUEST = 0x3407, "MIH_MN_HO_Commit.request", [4, 55], [];
    NET_HO_COMMIT_REQUEST = 0x3408, "MIH_Net_HO_Commit.request", [4, 56, 57, 21], [38];
    N2N_HO_COMMIT_REQUEST = 0x3409, "MIH_N2N_HO_Commit.request", [52, 59, 60, 63], [];
    MN_HO_COMPLETE_REQUEST = 0x340a, "MIH_MN_HO_Complete.request", [13, 14, 40], [];
    N2N_HO_COMPLETE_REQUEST = 0x340b, "MIH_N2N_HO_Complete.request", [52, 13, 14, 40], [];
    LINK_GET_PARAMETERS_RESPONSE = 0x3801, "MIH_Link_Get_Parameters.response", [3], [26, 28];
    LINK_CONFIGURE_THRESHOLDS_RESPONSE = 0x3802, "MIH_Link_Configure_Thresholds.response", [3, 13], [30];
    LINK_ACTIONS_RESPONSE = 0x3803, "MIH_Link_Actions.response", [3], [39];
    NET_HO_CANDIDATE_QUERY_RESPONSE = 0x3804, "MIH_Net_HO_Candidate_Query.response", [3, 13], [34, 32];
    MN_HO_CANDIDATE_QUERY_RESPONSE = 0x3805, "MIH_MN_HO_Candidate_Query.response", [3, 13], [32];
    N2N_HO_QUERY_RESOURCES_RESPONSE = 0x3806, "MIH_N2N_HO_Query_Resources.response", [3], [41, 32];
    MN_HO_COMMIT_RESPONSE = 0x3807, "MIH_MN_HO_Commit.response", [3, 4, 55], [];
    NET_HO_COMMIT_RESPONSE = 0x3808, "MIH_Net_HO_Commit.response", [3], [4, 55, 39];
    N2N_HO_COMMIT_RESPONSE = 0x3809, "MIH_N2N_HO_Commit.response", [3, 52], [13, 57];
    MN_HO_COMPLETE_RESPONSE = 0x380a, "MIH_MN_HO_Complete.response", [3, 13, 14], [];
    N2N_HO_COMPLETE_RESPONSE = 0x380b, "MIH_N2N_HO_Complete.response", [3, 52, 13, 14], [42];
    GET_INFORMATION_REQUEST = 0x4401, "MIH_Get_Information.request", [61], [43, 44, 45, 46, 47, 62];
    GET_INFORMATION_RESPONSE = 0x4801, "MIH_Get_Information.response", [3], [48, 49, 50, 51];
    PUSH_INFORMATION_INDICATION = 0x4c02, "MIH_Push_Information.indication", [], [48, 49, 50, 51];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_split_into_service_opcode_and_action() {
        // 0x3407 = 0011 01 0000000111.
        let commit = MessageId::MN_HO_COMMIT_REQUEST;
        assert_eq!(commit.service(), Some(Service::Command));
        assert_eq!(commit.opcode(), Opcode::Request);
        assert_eq!(commit.action(), 7);
        assert_eq!(commit.response(), MessageId::MN_HO_COMMIT_RESPONSE);
        assert_eq!(MessageId::LINK_GOING_DOWN_INDICATION.opcode(), Opcode::Indication);
        assert_eq!(commit.to_string(), "MIH_MN_HO_Commit.request");
        assert_eq!(MessageId(0x2c04).to_string(), "MIH message 0x2c04");
    }

    #[test]
    fn the_catalogue_is_ordered_and_every_request_has_its_response() {
        assert!(CATALOGUE.windows(2).all(|pair| pair[0].id < pair[1].id));
        for description in CATALOGUE {
            assert_eq!(description.id.describe(), Some(description));
            if description.id.opcode() == Opcode::Request {
                assert!(description.id.response().describe().is_some(), "{}", description.name);
            }
        }
    }
}
