//! A run step by step: `begin`, any number of `step`s, `finish`. [`World::run`] consists of these three.
//!
//! Between two steps packets enter from outside ([`World::inject`]) and leave ([`World::poll_emitted`]).
//! The choice of steps does not change the results of a run.

use super::{Looked, Series, World};
use crate::alarm::Moment;
use crate::event::{Event, Wake};
use crate::handover::mobile_ip::MobileIp;
use crate::network::edge::{Gathered, Taken};
use crate::network::{Emitted, Network, tunnel};
use crate::octets::{Incoming, SCTP};
use crate::packet::Pdu;
use crate::topology::NodeId;
use roamsim_engine::run::{Unfinished, Watch, run_until};
use roamsim_engine::{EventQueue, Time};
use roamsim_protocols::Address;

/// A run under way.
pub(super) struct Course {
    queue: EventQueue<Wake>,
    /// Up to where it has come.
    now: Time,
    /// Where it ends.
    until: Time,
    /// The part that is under way, from 1, of so many.
    part: u64,
    parts: u64,
    /// When it stops for the end of its warm-up, while that lies ahead.
    warms_until: Option<Time>,
    /// Events that did something.
    events: u64,
}

impl World {
    /// Runs to the end, where series are kept part by part; returns the number of events that did something.
    /// `look` is called now and then with the time before which nothing will change; false ends the run.
    pub fn run(
        &mut self,
        until: Time,
        watch: &Watch,
        look: &mut dyn FnMut(&mut World, Time) -> bool,
    ) -> Result<u64, Unfinished> {
        self.begin(until);
        self.step(until, watch, look)?;
        Ok(self.finish())
    }

    /// Begins a run that lasts until then at most.
    pub fn begin(&mut self, until: Time) {
        let mut queue = EventQueue::new();
        let moment = &mut Moment::new(Time::ZERO, &mut queue);
        self.find_link_event_users();
        self.let_sinks_count();
        // Before all else, so that stations in reach are associated when flows start.
        self.network.start(moment);
        self.mobile_ip().start(moment);
        self.begin_selections(moment);
        self.open_selected_sessions();
        for (number, flow) in self.flows.iter_mut().enumerate() {
            flow.source_alarm.arm(flow.source.poll_timeout(), Event::Source(number as u32), moment);
            if let Some(reader) = &flow.reader {
                flow.reader_alarm.arm(reader.poll_timeout(), Event::Reader(number as u32), moment);
            }
        }
        for (number, signalling) in self.signalling.iter_mut().enumerate() {
            signalling.arm(number as u32, moment);
        }
        for (number, handover) in self.mih_handovers.iter_mut().enumerate() {
            handover.arm(number as u32, moment);
        }
        let parts = if self.series.is_some() { Series::PARTS } else { 1 };
        let warms_until = self.last_of_warm_up();
        self.course =
            Some(Box::new(Course { queue, now: Time::ZERO, until, part: 1, parts, warms_until, events: 0 }));
    }

    /// Goes on to an instant, what happens then included, and no further than the end. `look` as of
    /// [`World::run`].
    pub fn step(
        &mut self,
        to: Time,
        watch: &Watch,
        look: &mut dyn FnMut(&mut World, Time) -> bool,
    ) -> Result<(), Unfinished> {
        let Some(mut course) = self.course.take() else { return Ok(()) };
        let to = to.min(course.until).max(course.now);
        let done = self.go_on(&mut course, to, watch, look);
        self.course = Some(course);
        done
    }

    fn go_on(
        &mut self,
        course: &mut Course,
        to: Time,
        watch: &Watch,
        look: &mut dyn FnMut(&mut World, Time) -> bool,
    ) -> Result<(), Unfinished> {
        while course.part <= course.parts {
            let end = Series::end(course.until, course.part, course.parts);
            if let Some(last) = course.warms_until.take_if(|last| *last <= end.min(to)) {
                self.go_to(course, last, watch, look)?;
                self.end_warm_up();
            }
            self.go_to(course, end.min(to), watch, look)?;
            if end > to {
                break;
            }
            if let Some(mut series) = self.series.take() {
                series.take_part(self, end);
                self.series = Some(series);
            }
            course.part += 1;
        }
        Ok(())
    }

    fn go_to(
        &mut self,
        course: &mut Course,
        to: Time,
        watch: &Watch,
        look: &mut dyn FnMut(&mut World, Time) -> bool,
    ) -> Result<(), Unfinished> {
        let done = run_until(&mut Looked { world: self, look }, &mut course.queue, to, watch);
        course.events += done.map_err(|unfinished| unfinished.after(course.events))?;
        course.now = course.now.max(to);
        Ok(())
    }

    /// The instant that the run has come to.
    pub fn now(&self) -> Time {
        self.course.as_ref().map_or(Time::ZERO, |course| course.now)
    }

    /// An instant before which nothing happens by itself: mostly that of the next event. `None` where nothing
    /// more does.
    pub fn next_deadline(&self) -> Option<Time> {
        let course = self.course.as_ref()?;
        course.queue.next_time().filter(|&next| next <= course.until)
    }

    /// Takes a packet that a program of an external node sends now. What is no packet for this network is
    /// refused, and counted.
    pub fn inject(&mut self, node: NodeId, octets: &[u8]) {
        let Some(mut course) = self.course.take() else { return };
        if let Some(taken) = self.network.take_in(node, octets) {
            let to = self.network.topology.owner(taken.0[1]);
            let ip = self.network.ip;
            match self.network.edge.gather(ip, course.now, to, taken) {
                Gathered::Packet(taken) => self.put_in(&mut course, (node, to), taken, false),
                Gathered::Datagram(taken) => self.put_in(&mut course, (node, to), taken, true),
                Gathered::Nothing => {}
            }
            while let Some(taken) = self.network.edge.poll_abandoned() {
                let to = self.network.topology.owner(taken.0[1]);
                self.put_in(&mut course, (node, to), taken, false);
            }
        }
        self.course = Some(course);
    }

    /// Sends a packet of a program, or a datagram that `was_cut` by it.
    fn put_in(
        &mut self,
        course: &mut Course,
        (node, to): (NodeId, NodeId),
        taken: ([Address; 2], Incoming),
        was_cut: bool,
    ) {
        let World { network, mobile_ip, .. } = self;
        let path_mtu = network.known_path_mtu((node, to), |network| path_mtu(network, mobile_ip, (node, to)));
        let moment = &mut Moment::new(course.now, &mut course.queue);
        let octets = &taken.1.octets;
        if octets.protocol() == SCTP {
            self.forget_askers(moment.now, to, octets.ports().1);
        }
        let fits = octets.as_slice().len() as u32 <= path_mtu;
        let is_read = fits || was_cut || octets.may_be_cut();
        let datagram = if is_read { self.take_datagram(moment.now, to, &taken) } else { None };
        if let Some((socket, Pdu::Udp(datagram, message))) = &datagram
            && !fits
        {
            let cut = (*socket, *datagram, message.clone());
            self.send_cut(moment, node, &taken, path_mtu, cut);
            return self.serve_work(moment);
        }
        match self.network.send_octets(moment, node, taken, path_mtu, datagram) {
            Some(Taken::Segment(segment)) => self.count_segment(moment.now, segment),
            Some(Taken::Chunks(chunks)) => self.count_chunks(moment.now, &chunks),
            None => {}
        }
        self.serve_work(moment);
    }

    /// The next packet for the programs of an external node.
    pub fn poll_emitted(&mut self) -> Option<Emitted> {
        self.network.edge.poll_emitted()
    }

    /// Ends the run where it is; returns the number of events that did something.
    pub fn finish(&mut self) -> u64 {
        let Some(course) = self.course.take() else { return 0 };
        if course.warms_until.is_some() {
            // It ended before there was anything to measure: then all of it is.
            self.forget_warm_up();
        }
        self.read_sinks(self.flows.len());
        self.settle_counts(course.now);
        self.finish_handovers();
        self.finish_selections(course.now);
        course.events
    }

    /// The largest packet that every path between two nodes carries, there and back.
    pub fn path_mtu(&self, ends: (NodeId, NodeId)) -> u32 {
        path_mtu(&self.network, &self.mobile_ip, ends)
    }
}

/// Among equally short routes the two directions may take different ones.
fn path_mtu(network: &Network, mobile_ip: &MobileIp, (from, to): (NodeId, NodeId)) -> u32 {
    let topology = &network.topology;
    let mut links = [topology.path(from, to), topology.path(to, from)].concat();
    // A node with bound interfaces may use any of them in the course of the run.
    for node in [from, to] {
        if topology.primary(node).is_some() {
            links.extend(topology.node(node).interfaces.iter().copied().map(Address));
        }
    }
    let mut headers = 0;
    // What is for a mobile node may come through a tunnel, wherever its agents are.
    let is_mobile =
        |node| mobile_ip.hosts.iter().any(|host| host.node == node) || mobile_ip.home_of(node).is_some();
    if is_mobile(from) || is_mobile(to) {
        links = topology.addresses().collect();
        headers = tunnel::HEADER_BYTES;
    }
    let mtu = links.iter().map(|&address| topology.interface(address).mtu_bytes).min();
    u32::from(mtu.unwrap_or(0)).saturating_sub(headers)
}

#[cfg(test)]
mod tests;
