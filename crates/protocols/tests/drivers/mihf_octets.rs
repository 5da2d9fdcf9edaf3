//! Drives an MIHF with whatever an input says; for the fuzzer and for a property test.
//!
//! The input's first octet chooses the session's settings; then come steps: an octet that says what happens,
//! an octet for how many milliseconds later, and for a message its length and octets. In front of a message's
//! payload come the right names, so that not everything ends as malformed.

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::{
    Acknowledgement, AcknowledgementMode, Event, MessageId, Mihf, MihfId, RateLimit, SessionConfig, Tlv,
    Validity,
};
use roamsim_protocols::{Address, Context, Machine, PeerAddress};
use std::sync::Arc;

/// Source "p", destination "m".
const NAMES: [u8; 8] = [1, 2, 1, b'p', 2, 2, 1, b'm'];

fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(count)?;
    *input = rest;
    Some(taken)
}

/// Runs the input; `None` when it ended within a step.
pub fn run(mut input: &[u8]) -> Option<()> {
    let &[settings] = take(&mut input, 1)? else { return None };
    let mode = if settings & 1 == 0 { AcknowledgementMode::Separate } else { AcknowledgementMode::Piggyback };
    let timeout = Span::from_ms(100);
    let mut mihf = Mihf::new(MihfId::new("m").ok()?);
    let session = mihf.add_session(SessionConfig {
        peer: MihfId::new("p").ok()?,
        remote: PeerAddress { address: Address(1), port: 4551 },
        reliable: settings & 2 != 0,
        acknowledgement: (settings & 4 != 0).then_some(Acknowledgement { timeout, retransmissions: 2, mode }),
        validity: [Validity::Open, Validity::Acked, Validity::Strict][usize::from(settings >> 3 & 3).min(2)],
        lifetime: (settings & 32 != 0).then_some(Span::from_ms(450)),
        timers: Arc::from([]),
        rate_limit: (settings & 64 != 0).then_some(RateLimit {
            bucket_packets: 2,
            rate_per_s: 7.0,
            queue_packets: 3,
        }),
    });
    let mut now = Time::ZERO;
    let mut random = Stream::new(0, 0, "fuzz");
    while let Some(&[what, pause]) = take(&mut input, 2) {
        now += Span::from_ms(u64::from(pause));
        let mut cx = Context { now, random: &mut random };
        match what % 8 {
            0 => {
                mihf.indicate(&mut cx, session, MessageId::LINK_UP_INDICATION, Vec::<Tlv>::new(), Some(60));
            }
            1 => {
                mihf.request(&mut cx, session, MessageId::LINK_ACTIONS_REQUEST, Vec::<Tlv>::new(), None);
            }
            2 => mihf.register(&mut cx, session, Vec::new()),
            3 => mihf.discover(&mut cx, session),
            4 => mihf.handle_timeout(&mut cx),
            _ => {
                let &[length] = take(&mut input, 1)? else { return None };
                let length = usize::from(length).min(input.len());
                let rest = take(&mut input, length)?;
                if rest.len() < 6 {
                    mihf.tp_data_octets(&mut cx, session, rest);
                    continue;
                }
                let payload = (NAMES.len() + rest.len() - 6) as u16;
                let mut octets = rest[..6].to_vec();
                octets.extend(payload.to_be_bytes());
                octets.extend(NAMES);
                octets.extend(&rest[6..]);
                mihf.tp_data_octets(&mut cx, session, &octets);
            }
        }
        while let Some(event) = mihf.poll_event() {
            if let Event::RequestReceived { session, number, .. } = event {
                mihf.respond(&mut cx, session, number, Vec::<Tlv>::new(), None);
            }
        }
        while mihf.poll_transmit(&mut cx).is_some() {}
        assert!(mihf.poll_timeout().is_none_or(|at| at > now), "work that is due was left");
    }
    Some(())
}
