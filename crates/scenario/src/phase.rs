//! Where flows meet with nothing random on their way: there the phases of their packets, and not chance,
//! decide whose packets a full queue drops (Floyd and Jacobson, "On traffic phase effects in packet-switched
//! gateways", 1992).

use crate::access::Access;
use crate::application::model::Application;
use crate::build;
use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::flow::model::Flow;
use crate::node::model::Node;
use crate::scenario::Scenario;
use crate::transport::Transport;
use roamsim_network::topology::{LinkId, NodeId, Topology};
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// A drop-tail queue that several flows pass in step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The link, as `name` in the table `drops`.
    pub link: String,
    /// The node that sends there, as `node` in that table.
    pub node: String,
    /// The flows whose data pass it, in the order of the scenario.
    pub flows: Vec<String>,
}

impl Scenario {
    /// The drop-tail queues that the data of several flows pass, where no node and no link on the ways of all
    /// that passes them draws anything, and no application does but for its start.
    pub fn meetings_in_step(&self) -> Vec<Meeting> {
        let (topology, nodes, links) = build::topology(self);
        let is_steady = |ends| self.is_steady(&topology, &links, ends);
        let nodes = |from: &str, to: &str| [nodes[from], nodes[to]];
        // By interface: the flows whose data pass it, and whether all that passes it keeps step.
        let mut passing: BTreeMap<u32, (Vec<String>, bool)> = BTreeMap::new();
        let mut pass = |topology: &Topology, [from, to]: [NodeId; 2], name: Option<&str>, steady: bool| {
            for Address(interface) in topology.path(from, to) {
                let (flows, in_step) = passing.entry(interface).or_insert((Vec::new(), true));
                flows.extend(name.map(str::to_owned));
                *in_step &= steady;
            }
        };
        for flow in &self.flows {
            let ends @ [from, to] = nodes(&flow.from, &flow.to);
            let steady = draws_nothing(flow) && [ends, [to, from]].iter().all(|&ends| is_steady(ends));
            pass(&topology, ends, Some(&flow.name), steady);
            let back = flow.bidirectional || matches!(flow.application, Application::RequestResponse(_));
            let data = back.then_some(flow.name.as_str());
            if data.is_some() || !matches!(*flow.transport, Transport::Udp(_)) {
                pass(&topology, [to, from], data, steady);
            }
        }
        for entry in &self.signalling {
            let ends @ [from, to] = nodes(&entry.from, &entry.to);
            let steady = entry.interval.as_ref().is_some_and(TimeDistribution::is_constant)
                && entry.processing_time.is_constant()
                && entry.message_size.as_ref().is_some_and(SizeDistribution::is_constant)
                && [ends, [to, from]].iter().all(|&ends| is_steady(ends));
            pass(&topology, ends, None, steady);
            pass(&topology, [to, from], None, steady);
        }
        let in_step = passing.into_iter().filter(|(_, (flows, in_step))| *in_step && flows.len() > 1);
        in_step
            .map(|(interface, (flows, _))| {
                let at = Address(interface);
                let node = topology.owner_name(at).to_string();
                Meeting { link: topology.interface(at).name.to_string(), node, flows }
            })
            .collect()
    }

    /// Whether nothing on the way from one node to another is drawn.
    fn is_steady(&self, topology: &Topology, links: &[&dyn Access], [from, to]: [NodeId; 2]) -> bool {
        let model = |node: NodeId| &self.nodes[node.0 as usize];
        topology.path(from, to).into_iter().all(|address| {
            let (LinkId(link), _) = topology.attachment(address);
            keeps_time(model(topology.owner(address))) && links[link as usize].draws_nothing()
        })
    }
}

fn draws_nothing(flow: &Flow) -> bool {
    match &flow.application {
        Application::Bulk(_) | Application::Transfer(_) => true,
        Application::Cbr(a) => a.packet_size.is_constant(),
        Application::Poisson(_) => false,
        Application::Transfers(a) => a.content.is_some(),
        Application::Video(a) => a.film.is_none(),
        Application::OnOff(a) => a.packet_size.is_constant() && a.on.is_constant() && a.off.is_constant(),
        Application::RequestResponse(a) => {
            // A program's are its own.
            let constant = |size: Option<SizeDistribution>| size.is_some_and(|size| size.is_constant());
            let sizes = constant(a.request_size) && constant(a.response_size);
            sizes && a.think_time.is_constant() && a.processing_time.is_constant()
        }
    }
}

fn keeps_time(node: &Node) -> bool {
    node.packet_processing_time.is_constant()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    /// Two flows, and ACKs the other way, over the wire between two routers.
    fn meetings(changes: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let mut text = String::from("[scenario]\nname = \"x\"\nduration = \"10s\"\n");
        for node in ["left", "right", "s0", "s1", "r0", "r1"] {
            text += &format!("[[node]]\nname = \"{node}\"\n");
        }
        for (name, a, b) in [
            ("core", "left", "right"),
            ("i0", "s0", "left"),
            ("i1", "s1", "left"),
            ("o0", "right", "r0"),
            ("o1", "right", "r1"),
        ] {
            text += &format!(
                "[[link]]\nname = \"{name}\"\nbetween = [\"{a}\", \"{b}\"]\nrate = \"1Mb/s\"\ndelay = \"1ms\"\n"
            );
        }
        for k in 0..2 {
            text += &format!(
                "[[flow]]\nname = \"f{k}\"\nfrom = \"s{k}\"\nto = \"r{k}\"\ntransport = {{ protocol = \"tcp\" }}\n\
                 application = {{ kind = \"bulk\" }}\n"
            );
        }
        let changes: Vec<_> =
            changes.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
        let scenario =
            Scenario::parse(&text, "x", Format::Toml, &changes).unwrap_or_else(|error| panic!("{error}"));
        scenario
            .meetings_in_step()
            .into_iter()
            .map(|meeting| (format!("{} from {}", meeting.link, meeting.node), meeting.flows))
            .collect()
    }

    #[test]
    fn flows_that_meet_without_anything_random_are_found() {
        let core =
            |side: &str, flows: [&str; 2]| (format!("core from {side}"), flows.map(str::to_owned).to_vec());
        assert_eq!(meetings(&[]), [core("left", ["f0", "f1"])]);
        let both = meetings(&[("flow.f0.bidirectional", "true"), ("flow.f1.bidirectional", "true")]);
        assert_eq!(both, [core("left", ["f0", "f1"]), core("right", ["f0", "f1"])]);
        // A drawn start makes runs differ, and not the packets of a run.
        let start = "{ distribution = \"uniform\", min = \"0s\", max = \"1s\" }";
        assert_eq!(meetings(&[("flow.f0.application.start", start)]), meetings(&[]));
        assert_eq!(meetings(&[("node.s0.packet_processing_time", "1ms")]), meetings(&[]));
    }

    #[test]
    fn anything_random_on_the_way_breaks_the_step() {
        let time = "{ distribution = \"exponential\", mean = \"1ms\" }";
        let loss = "{ model = \"bernoulli\", probability = 0.01 }";
        let poisson = "{ kind = \"poisson\", packet_size = \"100B\", mean_interval = \"1s\" }";
        for (path, value) in [
            ("node.s0.packet_processing_time", time),
            // Of the receiver: the ACKs.
            ("node.r1.packet_processing_time", time),
            ("node.left.packet_processing_time", time),
            ("link.o1.loss", loss),
            ("flow.f1.application", poisson),
        ] {
            assert_eq!(meetings(&[(path, value)]), [], "{path}");
        }
    }
}
