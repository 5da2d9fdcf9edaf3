//! MIH in the world: MIHFs over their sockets, users over their MIHFs.

use super::link_commands::result_of;
use super::{Work, World};
use crate::alarm::Moment;
use crate::event::Event;
use crate::packet::Message;
use crate::signalling::{End, Kind, SessionUser};
use crate::socket::Traffic;
use roamsim_engine::Time;
use roamsim_protocols::mih::{self, Held, MessageId, Mihf, SessionId};
use roamsim_protocols::{Context, Machine};
use std::sync::Arc;

impl World {
    pub(super) fn handle_mihf(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let node = &mut self.mih_nodes[number as usize];
        if !node.alarm.fires(now) {
            return false;
        }
        let worked = node.mihf.poll_timeout().is_some_and(|due| due <= now);
        node.mihf.handle_timeout(&mut Context { now, random: &mut node.random });
        self.serve_mihf(moment, number);
        worked
    }

    /// MIH_TP_Data.indication: a message has come in from the transport of a session.
    #[inline(always)]
    pub(super) fn deliver_mih(&mut self, now: Time, number: u32, session: u32, pdu: Arc<mih::Message>) {
        let node = &mut self.mih_nodes[number as usize];
        let mut cx = Context { now, random: &mut node.random };
        node.mihf.tp_data_indication(&mut cx, SessionId(session), pdu);
        // A segment may bring several.
        if self.work.back() != Some(&Work::Mihf(number)) {
            self.work.push_back(Work::Mihf(number));
        }
    }

    /// Passes on what an MIHF has for its transports and its users.
    #[inline(always)]
    pub(super) fn serve_mihf(&mut self, moment: &mut Moment<'_>, number: u32) {
        let mut node = &mut self.mih_nodes[number as usize];
        while node.mihf.has_something_to_pass_on() {
            // Users first: an answer that is ready before the acknowledgement leaves can carry it.
            if let Some(event) = node.mihf.poll_event() {
                self.on_mih_event(moment, number, event);
            } else {
                let mut cx = Context { now: moment.now, random: &mut node.random };
                if let Some(request) = node.mihf.poll_transmit(&mut cx) {
                    let socket = node.sessions[request.session.0 as usize].socket;
                    self.send_message(moment, socket, Message::Mih(request.pdu));
                }
            }
            node = &mut self.mih_nodes[number as usize];
        }
        node.alarm.arm(node.mihf.poll_timeout(), Event::Mihf(number), moment);
    }

    /// An MIHF tells its user of an event; indications here, as they are most.
    #[inline(always)]
    fn on_mih_event(&mut self, moment: &mut Moment<'_>, number: u32, event: mih::Event) {
        let user = self.mih_nodes[number as usize].sessions[event.session().0 as usize].user;
        match (user, event) {
            (
                SessionUser::Signalling(entry),
                mih::Event::IndicationReceived { number: transaction, pdu, .. },
            ) => {
                let signalling = &mut self.signalling[entry as usize];
                if let Some(transaction) = signalling.transaction(transaction) {
                    // With a lifetime, an indication may be delivered again: the first time counts.
                    transaction.completed.get_or_insert(moment.now);
                }
                if !signalling.config.actions.is_empty() {
                    self.act_upon(moment.now, entry, &pdu);
                }
            }
            (SessionUser::Signalling(entry), event) => self.on_other_event(moment, number, entry, event),
            (SessionUser::MihHandover(handover), event) => {
                self.on_handover_event(moment.now, number, handover, &event);
            }
            (SessionUser::Selection(selection), event) => {
                self.on_selected_event(moment.now, number, selection, &event);
            }
        }
    }

    /// The same for all but indications; apart, so that it is out of their way.
    #[inline(never)]
    fn on_other_event(&mut self, moment: &mut Moment<'_>, number: u32, entry: u32, event: mih::Event) {
        let now = moment.now;
        let signalling = &self.signalling[entry as usize];
        let of_responder = signalling.responder.mihf == number;
        match event {
            mih::Event::RequestReceived { number: transaction, ref pdu, .. }
                if pdu.mid == MessageId::LINK_ACTIONS_REQUEST && !of_responder =>
            {
                self.act_on_links(moment, entry, transaction, pdu);
            }
            mih::Event::RequestReceived { number: transaction, .. } => {
                let signalling = &mut self.signalling[entry as usize];
                signalling.on_request(now, transaction);
                // An answer that needs no time is ready before the request is acknowledged.
                self.answer(now, entry);
                self.signalling[entry as usize].arm(entry, moment);
            }
            mih::Event::PeerRegistered { links, .. } => {
                self.subscribe_to_links(now, entry, links);
            }
            mih::Event::PeerConfigured { link, parameters, .. } if !of_responder => {
                self.count_errors(now, entry, &link.link, &parameters);
                self.signalling[entry as usize].arm(entry, moment);
            }
            mih::Event::ResponseReceived { number: transaction, ref pdu, .. }
                if matches!(self.signalling[entry as usize].config.kind, Kind::LinkEvents) =>
            {
                let result = result_of(pdu);
                self.signalling[entry as usize].command_ended(now, transaction, Some(result));
            }
            mih::Event::TransactionFailed { number: transaction, .. }
                if of_responder
                    && matches!(self.signalling[entry as usize].config.kind, Kind::LinkEvents) =>
            {
                self.signalling[entry as usize].command_ended(now, transaction, None);
            }
            mih::Event::ResponseReceived { number: transaction, .. } => {
                if let Some(transaction) = self.signalling[entry as usize].transaction(transaction) {
                    transaction.completed.get_or_insert(now);
                }
            }
            mih::Event::TransactionFailed { number: transaction, .. } => {
                if let Some(transaction) = self.signalling[entry as usize].transaction(transaction) {
                    transaction.given_up = true;
                }
            }
            _ => {}
        }
    }

    pub(super) fn handle_signalling(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let signalling = &mut self.signalling[number as usize];
        if !signalling.alarm.fires(now) {
            return false;
        }
        // Mostly it is the next message.
        let due = |at: Time| at <= now;
        let worked = signalling.next.is_some_and(due) || signalling.deadline().is_some_and(due);
        if !signalling.set_up {
            signalling.set_up = true;
            self.set_up_session(now, number);
        }
        self.note_traffic(now, number);
        let signalling = &mut self.signalling[number as usize];
        if let Some(due) = signalling.next.filter(|&due| due <= now) {
            let interval = signalling.config.interval.as_ref();
            let next = interval.map(|interval| due + interval.sample_span(&mut signalling.origin_random));
            signalling.next = next.filter(|&next| next < signalling.config.stop);
            self.generate(now, number);
        }
        let signalling = &self.signalling[number as usize];
        if !signalling.working.is_empty() || !signalling.error_meters.is_empty() {
            self.answer(now, number);
            self.report_errors(now, number);
        }
        self.signalling[number as usize].arm(number, moment);
        worked
    }

    /// What the sockets have exchanged and the MIHFs held at the start and at the stop, when these come.
    #[inline]
    fn note_traffic(&mut self, now: Time, number: u32) {
        let signalling = &self.signalling[number as usize];
        let starts = signalling.traffic_at_start.is_none() && signalling.config.start <= now;
        let stops = signalling.traffic_at_stop.is_none() && signalling.config.stop <= now;
        if starts || stops {
            self.take_note_of_traffic(now, number, [starts, stops]);
        }
    }

    #[inline(never)]
    fn take_note_of_traffic(&mut self, now: Time, number: u32, [starts, stops]: [bool; 2]) {
        let (traffic, states) = (self.session_traffic(number), self.session_states(number, now));
        let signalling = &mut self.signalling[number as usize];
        if starts {
            signalling.traffic_at_start = Some(traffic);
        }
        if stops {
            signalling.traffic_at_stop = Some(traffic);
            signalling.states_at_stop = Some(states);
        }
    }

    /// Both sockets' exchange with IP so far: origin, responder.
    pub fn session_traffic(&self, number: u32) -> [Traffic; 2] {
        let signalling = &self.signalling[number as usize];
        [signalling.origin, signalling.responder].map(|end: End| {
            let socket = self.mih_nodes[end.mihf as usize].sessions[end.session as usize];
            self.traffic(socket.socket)
        })
    }

    /// The transaction states that the MIHFs of both ends have held up to `at`: origin, responder.
    pub fn session_states(&self, number: u32, at: Time) -> [Held; 2] {
        let signalling = &self.signalling[number as usize];
        [signalling.origin, signalling.responder]
            .map(|end: End| self.mih_nodes[end.mihf as usize].mihf.states(SessionId(end.session), at))
    }

    /// Opens the connection and has the ends register and subscribe: the origin of indications registers with
    /// their receiver, which subscribes to them; the node that gets requests registers with their origin.
    fn set_up_session(&mut self, now: Time, number: u32) {
        let signalling = &self.signalling[number as usize];
        let (origin, responder, kind) = (signalling.origin, signalling.responder, signalling.config.kind);
        let (link, events) = (signalling.content.link.clone(), signalling.content.events());
        let links = vec![link.link.clone()];
        let socket = self.mih_nodes[origin.mihf as usize].sessions[origin.session as usize];
        self.open(socket.socket);
        match kind {
            Kind::Indication => {
                self.on_mihf(now, origin, |mihf, cx, session| mihf.register(cx, session, links));
                self.on_mihf(now, responder, |mihf, cx, session| mihf.subscribe(cx, session, link, events));
            }
            Kind::Request => {
                self.on_mihf(now, responder, |mihf, cx, session| mihf.register(cx, session, links));
            }
            Kind::LinkEvents => self.register_links(now, number),
        }
    }

    pub(super) fn on_mihf<R>(
        &mut self,
        now: Time,
        end: End,
        call: impl FnOnce(&mut Mihf, &mut Context<'_>, SessionId) -> R,
    ) -> R {
        let node = &mut self.mih_nodes[end.mihf as usize];
        let mut cx = Context { now, random: &mut node.random };
        self.work.push_back(Work::Mihf(end.mihf));
        call(&mut node.mihf, &mut cx, SessionId(end.session))
    }

    /// The origin's user makes an indication or a request.
    fn generate(&mut self, now: Time, number: u32) {
        let World { signalling, mih_nodes, work, .. } = self;
        let signalling = &mut signalling[number as usize];
        let (bytes, End { mihf: origin, session }) = (signalling.message_bytes(), signalling.origin);
        let node = &mut mih_nodes[origin as usize];
        let (mihf, session) = (&mut node.mihf, SessionId(session));
        let mut cx = Context { now, random: &mut node.random };
        let content = &signalling.content;
        let transaction = match signalling.config.kind {
            // Links make their events by themselves.
            Kind::Indication | Kind::LinkEvents => {
                let mid = MessageId::LINK_GOING_DOWN_INDICATION;
                mihf.indicate_shared(&mut cx, session, mid, &content.indication, bytes)
            }
            Kind::Request => {
                let mid = MessageId::LINK_GET_PARAMETERS_REQUEST;
                mihf.request(&mut cx, session, mid, content.request.clone(), bytes)
            }
        };
        work.push_back(Work::Mihf(origin));
        signalling.begin(now, transaction);
    }

    /// The responder's user answers the requests whose processing is done.
    fn answer(&mut self, now: Time, number: u32) {
        loop {
            let signalling = &mut self.signalling[number as usize];
            let Some((_, request)) = signalling.working.pop_front_if(|&mut (due, _)| due <= now) else {
                return;
            };
            let content = signalling.content.response.clone();
            let size = signalling.config.message_size.as_ref();
            let bytes = size.map(|size| size.sample(&mut signalling.responder_random) as u32);
            let responder = signalling.responder;
            self.on_mihf(now, responder, |mihf, cx, session| {
                mihf.respond(cx, session, request, content, bytes);
            });
        }
    }
}
