//! Mobile nodes with a co-located care-of address, and their home agents: driven by a selection, which says
//! by which interface a node is to be reached.
//!
//! The home address is that of one of the node's interfaces; the home agent is the node at the other end of
//! its link. It needs no cell and does not advertise. Packets to the node leave the tunnel at the node
//! itself.

use super::Driving;
use crate::alarm::{Alarm, Moment};
use crate::event::Event;
use crate::network::tunnel::Ends;
use crate::packet::Packet;
use crate::topology::NodeId;
use roamsim_engine::Stream;
use roamsim_protocols::mobile_ip::{
    Arrival, CoLocated, HomeAgent, HomeAgentEvent, Interface, Message as Registration,
};
use roamsim_protocols::udp::Datagram;
use roamsim_protocols::{Address, Context, Machine};

/// A mobile node and its home agent.
pub struct CoLocatedHost {
    /// The node.
    pub node: NodeId,
    /// Its home address.
    pub home_address: Address,
    /// Its machine.
    pub machine: CoLocated,
    /// The node that is its home agent.
    pub agent_node: NodeId,
    /// The home agent's interface to the home link, whose address is the home agent's.
    pub agent_interface: Address,
    /// The home agent, of this mobile node alone.
    pub agent: HomeAgent,
    /// The random streams of both.
    pub random: [Stream; 2],
    alarms: [Alarm; 2],
}

impl CoLocatedHost {
    /// One at home, by node and home address, and its home agent by node and interface.
    pub fn new(
        (node, home_address, machine): (NodeId, Address, CoLocated),
        (agent_node, agent_interface, agent): (NodeId, Address, HomeAgent),
        random: [Stream; 2],
    ) -> CoLocatedHost {
        CoLocatedHost {
            node,
            home_address,
            machine,
            agent_node,
            agent_interface,
            agent,
            random,
            alarms: Default::default(),
        }
    }
}

impl Driving<'_> {
    /// A node is to be reached by this interface from now on.
    pub(crate) fn attach(&mut self, moment: &mut Moment<'_>, node: NodeId, interface: Option<Address>) {
        let Some(at) = self.mobile_ip.co_located.iter().position(|host| host.node == node) else { return };
        if interface.is_some() {
            self.network.topology.set_egress(node, interface);
        }
        let address = interface.map(|interface| self.network.topology.ip().v4(interface));
        let host = &mut self.mobile_ip.co_located[at];
        let mut cx = Context { now: moment.now, random: &mut host.random[0] };
        host.machine.attach(&mut cx, address);
        self.serve_co_located(moment, at);
    }

    /// The alarm of a mobile node, or of a home agent, goes off: these come behind those of cells.
    pub(super) fn handle_co_located(&mut self, moment: &mut Moment<'_>, at: usize, of_agent: bool) -> bool {
        let now = moment.now;
        let host = &mut self.mobile_ip.co_located[at];
        if !host.alarms[usize::from(of_agent)].fires(now) {
            return false;
        }
        let [of_node, of_its_agent] = &mut host.random;
        let (machine, random): (&mut dyn Machine, _) = match of_agent {
            true => (&mut host.agent, of_its_agent),
            false => (&mut host.machine, of_node),
        };
        let worked = machine.poll_timeout().is_some_and(|due| due <= now);
        machine.handle_timeout(&mut Context { now, random });
        self.serve_co_located(moment, at);
        worked
    }

    /// A registration message has come, for a mobile node or its home agent; false: for none of these.
    pub(super) fn receive_co_located(
        &mut self,
        moment: &mut Moment<'_>,
        packet: &Packet,
        datagram: Datagram,
        message: &Registration,
    ) -> bool {
        let topology = &self.network.topology;
        let home_address = match message {
            Registration::Request(request) => request.home_address,
            Registration::Reply(reply) => reply.home_address,
        };
        let home_address = topology.find(home_address.into());
        let all = &self.mobile_ip.co_located;
        let Some(at) = all.iter().position(|host| Some(host.home_address) == home_address) else {
            return false;
        };
        let to = topology.owner(packet.destination);
        let arrival = Arrival {
            // The home link is its only one.
            interface: Interface(0),
            source: topology.ip().v4(packet.source),
            source_port: datagram.source_port,
            destination: topology.ip().v4(packet.destination),
        };
        let host = &mut self.mobile_ip.co_located[at];
        let [of_node, of_agent] = &mut host.random;
        if to == host.node {
            host.machine.handle_registration(&mut Context { now: moment.now, random: of_node }, message);
        } else if to == host.agent_node {
            let mut cx = Context { now: moment.now, random: of_agent };
            host.agent.handle_registration(&mut cx, arrival, message);
        }
        self.serve_co_located(moment, at);
        true
    }

    /// Does what follows from a home agent's events, and sends what both have to send.
    fn serve_co_located(&mut self, moment: &mut Moment<'_>, at: usize) {
        let host = &mut self.mobile_ip.co_located[at];
        let (node, agent_node, entry) = (host.node, host.agent_node, host.agent_interface);
        while let Some(event) = host.agent.poll_event() {
            let tunnel = match event {
                HomeAgentEvent::Bound { care_of_address, .. } => {
                    let exit = self.network.topology.find(care_of_address.into());
                    exit.map(|exit| Ends { entry, exit })
                }
                HomeAgentEvent::Unbound { .. } => None,
                HomeAgentEvent::Refused { .. } => continue,
            };
            self.network.set_binding(agent_node, host.home_address, entry, tunnel);
        }
        loop {
            let host = &mut self.mobile_ip.co_located[at];
            let transmit = host.machine.poll_transmit().map(|transmit| (node, transmit));
            let transmit =
                transmit.or_else(|| host.agent.poll_transmit().map(|transmit| (agent_node, transmit)));
            let Some((from, transmit)) = transmit else { break };
            self.send_mobile_ip(moment, from, None, transmit);
        }
        let agents = self.mobile_ip.agents.len();
        let hosts = self.mobile_ip.hosts.len();
        let host = &mut self.mobile_ip.co_located[at];
        let [of_node, of_agent] = &mut host.alarms;
        of_node.arm(host.machine.poll_timeout(), Event::MobileNode((hosts + at) as u32), moment);
        of_agent.arm(host.agent.poll_timeout(), Event::MobilityAgent((agents + at) as u32), moment);
    }
}
