//! The whole scenario as the rest of the program sees it: plain values in base units (`Span`, `Time`, bits
//! per second, bytes), names not yet resolved, defaults filled in.
//!
//! Its types are also the grammar: a field is a key, its doc comment is what `roamsim schema` prints, and its
//! default is the default. Enumerations whose serde name is `tag:KEY` are tables in which KEY names the
//! variant (see `decode`).
//!
//! What is a concept of its own has its keys in a folder of its own, beside its checks and its building:
//! [`crate::node`], [`crate::access`], [`crate::application`], [`crate::flow`], [`crate::mobile_ip`],
//! [`crate::selection`], [`crate::signalling`], [`crate::transport`].

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use foldhash::fast::FixedState;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::cell::model::Cell;
use crate::access::dect::model::Dect;
use crate::access::wifi::model::Wifi;
use crate::access::wimax::model::Wimax;
use crate::access::wire::model::Link;
use crate::access::{Entries, Entry, Network, Traffic};
use crate::application::model::Application;
use crate::decode::sharing;
use crate::dscp::Dscp;
use crate::flow::model::Flow;
use crate::flow::programs::{self, ProgramFlow};
use crate::general::General;
use crate::handover::schemes::Schemes;
use crate::mih_handover::model::MihHandover;
use crate::mobile_ip::model::MobileIp;
use crate::names::name::Name;
use crate::node::model::Node;
use crate::packed::PackedText;
use crate::selection::model::{Scheme, Selection};
use crate::signalling::model::Signalling;
use crate::transport::Transport;

/// A scenario: nodes, the links between them, and who sends what to whom.
///
/// Lists keep the order of the file.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the run and its duration.
    #[serde(rename = "scenario")]
    pub general: General,
    /// The nodes, one `[[node]]` each: hosts and routers alike.
    #[serde(rename = "node", default, deserialize_with = "sharing")]
    #[schemars(with = "Vec<Node>")]
    pub nodes: Vec<Node>,
    /// The wired links, one `[[link]]` each.
    #[serde(rename = "link", default, deserialize_with = "sharing")]
    #[schemars(with = "Vec<Link>")]
    pub links: Vec<Link>,
    /// The Wi-Fi cells, one `[[wifi]]` each.
    #[serde(default)]
    pub wifi: Vec<Wifi>,
    /// The DECT accesses, one `[[dect]]` each.
    #[serde(default)]
    pub dect: Vec<Dect>,
    /// The abstract radio cells, one `[[cell]]` each.
    #[serde(rename = "cell", default)]
    pub cells: Vec<Cell>,
    /// The 802.16 cells, one `[[wimax]]` each.
    #[serde(default)]
    pub wimax: Vec<Wimax>,
    /// Mobile nodes with a fixed home address (Mobile IPv4), one `[[mobile_ip]]` for each set of agents.
    #[serde(default)]
    pub mobile_ip: Vec<MobileIp>,
    /// Nodes that select one of their interfaces, one `[[selection]]` each.
    #[serde(rename = "selection", default)]
    pub selections: Vec<Selection>,
    /// The data flows, one `[[flow]]` each: an application over a transport connection.
    #[serde(rename = "flow", default, deserialize_with = "sharing")]
    #[schemars(with = "Vec<Flow>")]
    pub flows: Vec<Flow>,
    /// The IEEE 802.21 signalling sources, one `[[signalling]]` each.
    #[serde(default)]
    pub signalling: Vec<Signalling>,
    /// Mobile nodes that MIH users hand over to another network, one `[[handover]]` each.
    #[serde(rename = "handover", default)]
    pub mih_handovers: Vec<MihHandover>,
    /// The tree that this scenario was decoded from, as JSON with sorted keys.
    #[serde(skip)]
    pub(crate) canonical: PackedText,
    /// The same before elements were repeated, where any were.
    #[serde(skip)]
    pub(crate) written: Option<String>,
    /// What in it is hardly meant, each as a report for a person: where, what, and the way out.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

impl Scenario {
    /// Has links and flows hold the names of nodes together with these.
    pub(crate) fn share_names(&mut self) {
        let nodes: HashSet<Name, FixedState> = self.nodes.iter().map(|node| node.name.clone()).collect();
        let ends = self.links.iter_mut().flat_map(|link| &mut link.between);
        for name in ends.chain(self.flows.iter_mut().flat_map(|flow| [&mut flow.from, &mut flow.to])) {
            if let Some(of_node) = nodes.get(name) {
                *name = of_node.clone();
            }
        }
    }

    /// Writes down what a selection implies: its node has an address on each link and cell, and with
    /// `mobile_sctp` associations follow them.
    pub(crate) fn imply(&mut self) {
        if self.selections.is_empty() {
            return;
        }
        let schemes: BTreeMap<&str, Scheme> =
            self.selections.iter().map(|entry| (entry.node.as_str(), entry.scheme)).collect();
        for node in self.nodes.iter_mut().filter(|node| schemes.contains_key(node.name.as_str())) {
            let kind = Arc::make_mut(&mut node.kind);
            (kind.multihomed, kind.selects) = (true, true);
        }
        let follows = |name: &Name| schemes.get(name.as_str()) == Some(&Scheme::MobileSctp);
        for flow in &mut self.flows {
            let followed = follows(&flow.from) || follows(&flow.to);
            if followed && let Transport::Sctp(sctp) = Arc::make_mut(&mut flow.transport) {
                sctp.dynamic_addresses = true;
            }
        }
    }

    /// The accesses by technology, in the order in which their links join the topology. With the keys above,
    /// this is where a technology is named.
    fn entries(&self) -> [&(dyn Entries + 'static); 5] {
        [&self.links, &self.wifi, &self.cells, &self.dect, &self.wimax]
    }

    /// Every access, in that order.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().into_iter().flat_map(|entries| entries.iter())
    }

    /// Nodes and accesses.
    pub(crate) fn network(&self) -> Network<'_> {
        Network { general: &self.general, nodes: &self.nodes, entries: self.entries().to_vec() }
    }

    /// The nodes whose programs run outside.
    pub fn external_nodes(&self) -> impl Iterator<Item = &str> {
        programs::external_nodes(&self.nodes)
    }

    /// The flows with a program at one end, in order.
    pub fn program_flows(&self) -> Vec<ProgramFlow<'_>> {
        programs::program_flows(&self.flows, &self.nodes)
    }

    /// The nodes whose addresses an association follows.
    pub(crate) fn with_followed_addresses(&self) -> BTreeSet<&str> {
        let flows = self.flows.iter().map(|flow| (&*flow.transport, [flow.from.as_str(), &flow.to]));
        let signalling =
            self.signalling.iter().map(|entry| (&entry.transport, [entry.from.as_str(), &entry.to]));
        let follows =
            |transport: &Transport| matches!(transport, Transport::Sctp(sctp) if sctp.dynamic_addresses);
        flows
            .chain(signalling)
            .filter(|(transport, _)| follows(transport))
            .flat_map(|(_, ends)| ends)
            .collect()
    }

    /// The nodes whose QUIC clients migrate.
    fn with_migrating_clients(&self) -> BTreeSet<&str> {
        let flows = self.flows.iter().map(|flow| (&*flow.transport, [flow.from.as_str(), &flow.to]));
        let signalling =
            self.signalling.iter().map(|entry| (&entry.transport, [entry.from.as_str(), &entry.to]));
        flows.chain(signalling).filter_map(|(transport, ends)| transport.migrating_client(ends)).collect()
    }

    /// The congestion controls from outside that its connections have, by name: [`Options::laws`] must hold
    /// them.
    ///
    /// [`Options::laws`]: crate::run::Options::laws
    pub fn laws(&self) -> BTreeSet<&str> {
        let flows = self.flows.iter().map(|flow| &*flow.transport);
        let signalling = self.signalling.iter().map(|entry| &entry.transport);
        let handovers = self.mih_handovers.iter();
        let between = handovers.clone().filter_map(|entry| entry.transport_between_pos.as_ref());
        let all = flows.chain(signalling).chain(handovers.map(|entry| &entry.transport)).chain(between);
        all.filter_map(Transport::law).collect()
    }

    /// The policies from outside by which its nodes select, by name: [`Options::policies`] must hold them.
    ///
    /// [`Options::policies`]: crate::run::Options::policies
    pub fn policies(&self) -> BTreeSet<&str> {
        self.selections.iter().filter_map(|entry| entry.policy.class()).collect()
    }

    /// Whether a program of the user takes part in its runs.
    pub fn calls_programs(&self) -> bool {
        !self.laws().is_empty() || !self.policies().is_empty()
    }

    /// The handover schemes of its stations.
    pub(crate) fn schemes(&self) -> Schemes<'_> {
        Schemes::new(
            self.with_followed_addresses(),
            self.with_migrating_clients(),
            &self.mobile_ip,
            &self.mih_handovers,
        )
    }

    /// The values of the column `name` in the result tables that have rows for each entry of their kind, by
    /// table.
    pub fn row_names(&self) -> [(&'static str, Vec<&str>); 3] {
        [
            ("flows", self.flows.iter().map(|flow| flow.name.as_str()).collect()),
            ("signalling", self.signalling.iter().map(|entry| entry.name.as_str()).collect()),
            ("links", self.accesses().map(|entry| entry.access.name()).collect()),
        ]
    }

    /// The first access of each technology that the scenario has.
    pub(crate) fn technologies(&self) -> impl Iterator<Item = Entry<'_>> {
        self.accesses().filter(|entry| entry.number == 0)
    }

    /// The scenario as JSON with sorted keys: the tree as written, after overrides and before defaults.
    ///
    /// Two scenarios with the same text here are the same scenario; it is what results are keyed by.
    pub fn canonical_json(&self) -> String {
        self.canonical.text()
    }

    /// The same with elements that stand for many as they were written: to read it again with other values,
    /// such as of `count`.
    pub fn written_json(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.canonical_json())
    }
}

impl Traffic for Scenario {
    fn sent_dscps(&self) -> BTreeSet<u8> {
        let flows = self.flows.iter().map(|flow| flow.dscp);
        let signalling = self.signalling.iter().map(|entry| entry.dscp);
        let handovers = self.mih_handovers.iter().map(|entry| entry.dscp);
        let sent = flows.chain(signalling).chain(handovers).chain([Dscp::default()]);
        sent.map(Dscp::codepoint).collect()
    }

    fn flows(&self) -> Vec<&str> {
        self.flows.iter().map(|flow| flow.name.as_str()).collect()
    }

    fn has_transfers(&self, flow: &str) -> bool {
        let mut named = self.flows.iter().filter(|other| other.name == *flow);
        named.any(|flow| {
            matches!(flow.application, Application::Transfers(_))
                && matches!(*flow.transport, Transport::Tcp(_))
        })
    }

    fn is_commanded(&self, link: &str) -> bool {
        self.signalling.iter().flat_map(|entry| &entry.actions).any(|action| action.link == link)
    }

    fn has_errors_counted(&self, link: &str) -> bool {
        let mut thresholds = self.signalling.iter().flat_map(|entry| &entry.thresholds);
        thresholds.any(|threshold| threshold.packet_error_percent.is_some() && threshold.link == link)
    }
}
