//! The machines of agents and mobile nodes driven: their messages, their deadlines, and what follows from
//! their events for routes, tunnels and handovers.

use super::{MobileIp, react};
use crate::alarm::Moment;
use crate::event::Event;
use crate::handover::Handovers;
use crate::network::Network;
use crate::network::tunnel::Ends;
use crate::packet::{BROADCAST, Icmp, Message, Packet, Pdu};
use crate::recorder::Detail;
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_protocols::mobile_ip::{
    Arrival, ForeignAgentEvent, HomeAgentEvent, Interface, Message as Registration, Pdu as MobileIpPdu,
    Transmit,
};
use roamsim_protocols::udp::Datagram;
use roamsim_protocols::{Address, Context, Machine};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// No socket waits for the messages of Mobile IP.
const NO_SOCKET: u32 = u32::MAX;

/// What they act on.
pub(crate) struct Driving<'a> {
    pub mobile_ip: &'a mut MobileIp,
    pub handovers: &'a mut Handovers,
    pub network: &'a mut Network,
}

impl Driving<'_> {
    /// Starts all machines. Until it has heard an agent, a mobile node sends by its home cell.
    pub(crate) fn start(&mut self, moment: &mut Moment<'_>) {
        for number in 0..self.mobile_ip.agents.len() as u32 {
            let agent = &mut self.mobile_ip.agents[number as usize];
            agent.advertiser.start(&mut Context { now: moment.now, random: &mut agent.random });
            self.serve_agent(moment, number);
        }
        for number in 0..self.mobile_ip.hosts.len() as u32 {
            let host = &mut self.mobile_ip.hosts[number as usize];
            self.network.topology.set_egress(host.node, Some(host.home_address));
            host.machine.start(&mut Context { now: moment.now, random: &mut host.random });
            self.serve_host(moment, number);
        }
    }

    pub(crate) fn handle_agent(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        if let Some(at) = (number as usize).checked_sub(self.mobile_ip.agents.len()) {
            return self.handle_co_located(moment, at, true);
        }
        let agent = &mut self.mobile_ip.agents[number as usize];
        if !agent.alarm.fires(now) {
            return false;
        }
        let mut cx = Context { now, random: &mut agent.random };
        let mut worked = false;
        let foreign = agent.foreign.as_mut().map(|machine| machine as &mut dyn Machine);
        let home = agent.home.as_mut().map(|machine| machine as &mut dyn Machine);
        let advertiser: &mut dyn Machine = &mut agent.advertiser;
        for machine in [Some(advertiser), home, foreign].into_iter().flatten() {
            worked |= machine.poll_timeout().is_some_and(|due| due <= now);
            machine.handle_timeout(&mut cx);
        }
        self.serve_agent(moment, number);
        worked
    }

    pub(crate) fn handle_host(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        if let Some(at) = (number as usize).checked_sub(self.mobile_ip.hosts.len()) {
            return self.handle_co_located(moment, at, false);
        }
        let host = &mut self.mobile_ip.hosts[number as usize];
        if !host.alarm.fires(now) {
            return false;
        }
        let worked = host.machine.poll_timeout().is_some_and(|due| due <= now);
        host.machine.handle_timeout(&mut Context { now, random: &mut host.random });
        self.serve_host(moment, number);
        worked
    }

    /// An ICMP message has come to a node; `packet.socket` of a broadcast is the interface that it came in
    /// at.
    #[cold]
    pub(crate) fn receive_icmp(&mut self, moment: &mut Moment<'_>, packet: &Packet, icmp: &Icmp) {
        let now = moment.now;
        match icmp {
            Icmp::AgentAdvertisement(advertisement) => {
                let to = if packet.is_broadcast() { Address(packet.socket) } else { packet.destination };
                let node = self.network.topology.owner(to);
                let Some(number) = self.mobile_ip.host_of(node) else { return };
                let Some(agent) = self.mobile_ip.agent(packet.source) else { return };
                let cell = self.mobile_ip.agents[agent as usize].cell;
                let host = &mut self.mobile_ip.hosts[number as usize];
                let mut cx = Context { now, random: &mut host.random };
                host.machine.handle_advertisement(
                    &mut cx,
                    arrival(self.network, packet, cell, 0),
                    advertisement,
                );
                self.serve_host(moment, number);
            }
            Icmp::AgentSolicitation => {
                let Some(cell) = self.handovers.cell_of(Address(packet.socket)) else { return };
                let Some(number) = self.mobile_ip.agent_on(Interface(cell)) else { return };
                let agent = &mut self.mobile_ip.agents[number as usize];
                agent.advertiser.handle_solicitation(arrival(self.network, packet, cell, 0));
                self.serve_agent(moment, number);
            }
        }
    }

    /// A registration message has come to a node.
    #[cold]
    pub(crate) fn receive_registration(
        &mut self,
        moment: &mut Moment<'_>,
        packet: &Packet,
        datagram: Datagram,
        message: &Registration,
    ) {
        let now = moment.now;
        if !self.mobile_ip.co_located.is_empty() && self.receive_co_located(moment, packet, datagram, message)
        {
            return;
        }
        if let Some(number) = self.mobile_ip.host(packet.destination) {
            let host = &mut self.mobile_ip.hosts[number as usize];
            let mut cx = Context { now, random: &mut host.random };
            host.machine.handle_registration(&mut cx, message);
            self.serve_host(moment, number);
        } else if let Some(number) = self.mobile_ip.agent(packet.destination) {
            let agent = &mut self.mobile_ip.agents[number as usize];
            let arrival = arrival(self.network, packet, agent.cell, datagram.source_port);
            let mut cx = Context { now, random: &mut agent.random };
            // A request names its home agent; what else comes is for, or through, the foreign agent.
            let home = match message {
                Registration::Request(request) => {
                    request.home_agent == self.network.topology.ip().v4(agent.address)
                }
                Registration::Reply(_) => false,
            };
            match (&mut agent.home, &mut agent.foreign) {
                (Some(machine), _) if home => machine.handle_registration(&mut cx, arrival, message),
                (_, Some(machine)) => machine.handle_registration(&mut cx, arrival, message),
                (Some(machine), None) => machine.handle_registration(&mut cx, arrival, message),
                (None, None) => {}
            }
            self.serve_agent(moment, number);
        }
    }

    /// Does what follows from an agent's events, and sends what it has to send.
    fn serve_agent(&mut self, moment: &mut Moment<'_>, number: u32) {
        let agent = &mut self.mobile_ip.agents[number as usize];
        while let Some(event) = agent.home.as_mut().and_then(|machine| machine.poll_event()) {
            let (home_address, care_of_address) = match event {
                HomeAgentEvent::Bound { home_address, care_of_address } => {
                    (home_address, Some(care_of_address))
                }
                HomeAgentEvent::Unbound { home_address, .. } => (home_address, None),
                HomeAgentEvent::Refused { .. } => continue,
            };
            let home_address = number_of(self.network, home_address);
            let Some(home_interface) = sub_interface(self.network, self.handovers, agent.cell, home_address)
            else {
                continue;
            };
            let tunnel = care_of_address
                .map(|exit| Ends { entry: agent.address, exit: number_of(self.network, exit) });
            self.network.set_binding(agent.node, home_address, home_interface, tunnel);
        }
        while let Some(event) = agent.foreign.as_mut().and_then(|machine| machine.poll_event()) {
            let (ForeignAgentEvent::VisitorRegistered { home_address }
            | ForeignAgentEvent::VisitorLeft { home_address, .. }) = event
            else {
                continue;
            };
            let visitor = agent.foreign.as_ref().and_then(|machine| machine.visitor(home_address)).copied();
            let home_address = number_of(self.network, home_address);
            let interface = visitor.and_then(|visitor| {
                sub_interface(self.network, self.handovers, visitor.interface.0, home_address)
            });
            let reverse = visitor.filter(|visitor| visitor.reverse_tunnel);
            let reverse = reverse.map(|visitor| Ends {
                entry: agent.address,
                exit: number_of(self.network, visitor.home_agent),
            });
            self.network.set_visitor(agent.node, agent.address, home_address, interface, reverse);
        }
        if let Some(foreign) = &agent.foreign {
            agent.advertiser.set_busy(foreign.is_busy());
        }
        loop {
            let agent = &mut self.mobile_ip.agents[number as usize];
            let transmit = agent
                .advertiser
                .poll_transmit()
                .or_else(|| agent.home.as_mut().and_then(|machine| machine.poll_transmit()))
                .or_else(|| agent.foreign.as_mut().and_then(|machine| machine.poll_transmit()));
            let Some(transmit) = transmit else { break };
            let (node, broadcast) = (agent.node, agent.address);
            let destination = number_of(self.network, transmit.destination);
            let by = transmit.interface.and_then(|interface| match destination {
                BROADCAST => Some(broadcast),
                home => sub_interface(self.network, self.handovers, interface.0, home),
            });
            self.send_mobile_ip(moment, node, by, transmit);
        }
        let agent = &mut self.mobile_ip.agents[number as usize];
        let wanted = [
            agent.advertiser.poll_timeout(),
            agent.home.as_ref().and_then(|machine| machine.poll_timeout()),
            agent.foreign.as_ref().and_then(|machine| machine.poll_timeout()),
        ];
        agent.alarm.arm(wanted.into_iter().flatten().min(), Event::MobilityAgent(number), moment);
    }

    /// Does what follows from a mobile node's events, and sends what it has to send.
    fn serve_host(&mut self, moment: &mut Moment<'_>, number: u32) {
        let now = moment.now;
        let host = &mut self.mobile_ip.hosts[number as usize];
        let station = host.station;
        let mut events = std::iter::from_fn(|| host.machine.poll_event());
        for action in react(&self.handovers.stations[station as usize], &mut events) {
            self.handovers.perform(self.network, now, station, action);
        }
        loop {
            let host = &mut self.mobile_ip.hosts[number as usize];
            let Some(transmit) = host.machine.poll_transmit() else { break };
            let cells = &self.handovers.stations[station as usize].cells;
            let by = transmit.interface.and_then(|interface| {
                cells.iter().find(|membership| membership.cell == interface.0).map(|at| at.interface)
            });
            let node = host.node;
            self.send_mobile_ip(moment, node, by, transmit);
        }
        let host = &mut self.mobile_ip.hosts[number as usize];
        host.alarm.arm(host.machine.poll_timeout(), Event::MobileNode(number), moment);
    }

    /// Sends a message: by an interface, or where routes lead.
    pub(super) fn send_mobile_ip(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        by: Option<Address>,
        transmit: Transmit,
    ) {
        let pdu = match transmit.pdu {
            MobileIpPdu::Advertisement(advertisement) => {
                Pdu::Icmp(Icmp::AgentAdvertisement(Arc::new(advertisement)))
            }
            MobileIpPdu::Solicitation => Pdu::Icmp(Icmp::AgentSolicitation),
            MobileIpPdu::Registration { source_port, destination_port, message } => {
                let payload_bytes = message.encoded_bytes() as u32;
                let datagram = Datagram { source_port, destination_port, payload_bytes };
                Pdu::Udp(datagram, Message::MobileIp(Arc::new(message)))
            }
        };
        let content_bytes = match &pdu {
            Pdu::Icmp(icmp) => icmp.bytes(),
            Pdu::Udp(datagram, _) => datagram.total_bytes(),
            Pdu::Tcp(_) | Pdu::Fragment(_) | Pdu::Sctp(_) | Pdu::Octets(_) => return,
        };
        let described = self.network.recorder.as_ref().is_some_and(|recorder| recorder.wants_details());
        let detail = described.then(|| {
            Box::new(match &pdu {
                Pdu::Icmp(icmp) => Detail { description: describe_icmp(icmp), ..Detail::default() },
                Pdu::Udp(_, Message::MobileIp(message)) => Detail {
                    description: describe_registration(message),
                    payload: if self.network.capturing() { message.encode() } else { Vec::new() },
                    parts: Vec::new(),
                },
                _ => Detail::default(),
            })
        });
        let packet = Packet {
            id: self.network.next_packet_id(),
            source: number_of(self.network, transmit.source),
            destination: number_of(self.network, transmit.destination),
            socket: NO_SOCKET,
            size_bytes: self.network.ip.header_bytes() + content_bytes,
            // Best effort: RFC 5944 asks for nothing else.
            traffic_class: TrafficClass::default(),
            tunnel: None,
            pdu,
        };
        match by {
            Some(interface) if packet.is_broadcast() && self.mobile_ip.agent(interface).is_some() => {
                self.network.broadcast(moment, interface, packet, detail);
            }
            Some(interface) => self.network.send_by(moment, interface, packet, detail),
            None => self.network.send(moment, node, packet, detail),
        }
    }
}

/// The number of an address that a machine knows, which are those of interfaces.
fn number_of(network: &Network, ip: Ipv4Addr) -> Address {
    match ip {
        Ipv4Addr::BROADCAST => BROADCAST,
        ip => network.topology.find(ip.into()).unwrap_or(BROADCAST),
    }
}

fn arrival(network: &Network, packet: &Packet, cell: u32, source_port: u16) -> Arrival {
    let ip = network.topology.ip();
    Arrival {
        interface: Interface(cell),
        source: ip.v4(packet.source),
        source_port,
        destination: ip.v4(packet.destination),
    }
}

/// The base station's interface, in a cell, to the station that has this home address.
fn sub_interface(
    network: &Network,
    handovers: &Handovers,
    cell: u32,
    home_address: Address,
) -> Option<Address> {
    let node = network.topology.owner(home_address);
    let station = handovers.station(node)?;
    let membership = station.cells.iter().find(|membership| membership.cell == cell)?;
    let link = handovers.cells[cell as usize].link;
    Some(network.address_of(link, network.stations(link)?.sub_interface(membership.number)))
}

/// A message of agent discovery in words: "agent advertisement 7 for 3 s".
fn describe_icmp(icmp: &Icmp) -> String {
    match icmp {
        Icmp::AgentAdvertisement(advertisement) => {
            format!("agent advertisement {} for {} s", advertisement.sequence, advertisement.lifetime_s)
        }
        Icmp::AgentSolicitation => "agent solicitation".to_owned(),
    }
}

/// A registration message in words: "registration request of 10.0.0.9 at 10.0.0.4 for 300 s".
pub(crate) fn describe_registration(message: &Registration) -> String {
    match message {
        Registration::Request(request) => format!(
            "registration request of {} at {} for {} s",
            request.home_address, request.care_of_address, request.lifetime_s
        ),
        Registration::Reply(reply) => {
            format!("registration reply to {}: {} for {} s", reply.home_address, reply.code, reply.lifetime_s)
        }
    }
}
