//! Which of its interfaces a node uses: a policy chooses among those that are up.
//!
//! A selection hears the link events of its node's interfaces and says which of them is selected; a file a
//! policy says which it prefers (`preference`, `strongest`, `cheapest`, or `given` by another crate). What
//! follows for flows is the scheme's ([`Scheme`]), which `world/selection.rs` carries out. The rules that
//! all policies share:
//! - An interface is up from Link_Up to Link_Down; one without stations is up from the beginning. Only
//!   interfaces that are up are selected.
//! - With a threshold, an interface whose signal is below it is selected only if no other is up. One that is
//!   not selected needs the threshold and the hysteresis.
//! - A selected interface that goes down is left at once, for one as good; for another one, when it has been
//!   down for the hold time. For another reason it is left when the same other one was preferred for the
//!   whole dwell time.
//! - If links are left that say that they are going down (Link_Going_Down of IEEE 802.21), such an interface
//!   counts as one below the threshold until it says otherwise.
//!
//! Not modelled: the time to get an address (DHCP, duplicate address detection), the energy of radios that
//! search, and of their changes from one state to another.

pub mod account;
mod cheapest;
pub mod given;
mod preference;
mod strongest;

use self::account::{Power, Reason, Stay, Switch};
use self::given::{Chooser, State};
use crate::alarm::{Alarm, Moment};
use crate::event::Event;
use crate::link::indication::{LinkEvent, Quality};
use crate::topology::NodeId;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// By what a node chooses among the interfaces that it could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The one that is named first.
    Preference,
    /// The one with the strongest signal.
    Strongest,
    /// The one that costs the least.
    Cheapest,
    /// The one that another crate names ([`given`]).
    Given,
}

/// What moves the node's flows to the selected interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Nothing: a connection keeps the address at which it began.
    None,
    /// Both ends of UDP and TCP flows use the new address at once.
    Redirect,
    /// SCTP associations add, prefer and delete addresses by ASCONF (RFC 5061).
    MobileSctp,
    /// Clients of QUIC migrate (RFC 9000 section 9).
    Migration,
    /// The home address follows by Mobile IPv4, with a co-located care-of address (RFC 5944).
    MobileIp,
    /// UDP and TCP flows are redirected when IEEE 802.21's handover commands have been exchanged.
    Mih,
}

impl Scheme {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::None => "none",
            Scheme::Redirect => "redirect",
            Scheme::MobileSctp => "mobile_sctp",
            Scheme::Migration => "migration",
            Scheme::MobileIp => "mobile_ip",
            Scheme::Mih => "mih",
        }
    }

    /// Whether transports are told which addresses can be used, and which is selected.
    pub(crate) fn tells_transports(self) -> bool {
        matches!(self, Scheme::MobileSctp | Scheme::Migration)
    }
}

/// What describes a selection.
#[derive(Clone, Debug)]
pub struct SelectionConfig {
    /// Its name in the scenario; that of the flow, if it is for one flow alone.
    pub name: String,
    /// The node.
    pub node: NodeId,
    /// It is for the flow of its name alone, and not for what else its node sends.
    pub of_one_flow: bool,
    /// By what it chooses.
    pub policy: Policy,
    /// The policy's name in tables.
    pub policy_name: String,
    /// What moves its flows.
    pub scheme: Scheme,
    /// By how much a signal has to be stronger, in dB.
    pub hysteresis_db: f64,
    /// The weakest signal that is good enough, in dBm.
    pub threshold_dbm: Option<f64>,
    /// How long another interface has to be preferred.
    pub dwell_time: Span,
    /// How long the selected one may be down before one that is not as good is selected.
    pub hold_time: Span,
    /// An interface whose link is going down is no good one.
    pub leave_when_going_down: bool,
    /// A node that comes back within this time has gone for nothing.
    pub ping_pong_time: Span,
}

/// An interface that may be selected.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its address.
    pub interface: Address,
    /// Its place among those that are preferred; several may share one.
    pub rank: usize,
    /// What it costs, per 10^6 octets of IP either way.
    pub cost_per_mb: Option<f64>,
    /// What its radio draws, if it is counted.
    pub power: Option<Power>,
    /// Since when it is up, if it is.
    up: Option<Time>,
    /// When it went down last.
    down_at: Time,
    /// Its link has said that it is going down.
    going_down: bool,
    signal_dbm: Option<f64>,
    /// Since when it is up and selected, if it is.
    active: Option<Time>,
    /// Its time, as far as it is over.
    pub stay: Stay,
}

impl Candidate {
    /// One that is down.
    pub fn new(interface: Address, rank: usize, cost_per_mb: Option<f64>) -> Candidate {
        Candidate {
            interface,
            rank,
            cost_per_mb,
            power: None,
            up: None,
            down_at: Time::ZERO,
            going_down: false,
            signal_dbm: None,
            active: None,
            stay: Stay::default(),
        }
    }

    /// Counts the time for which it was up and selected, and whether it is from now on.
    fn set_active(&mut self, now: Time, active: bool) {
        if let Some(since) = self.active.take() {
            self.stay.active += now - since;
        }
        self.active = active.then_some(now);
    }
}

/// A node that selects one of its interfaces.
#[derive(Debug)]
pub struct Selection {
    /// What describes it.
    pub config: SelectionConfig,
    /// Its interfaces, in the order of the scenario.
    pub candidates: Vec<Candidate>,
    /// The policy of another crate, if it chooses by one.
    chooser: Option<Box<dyn Chooser>>,
    /// The flows that it is for: numbers of the world's.
    pub(crate) flows: Vec<u32>,
    /// The users that hand its node over, by number in `World::selected_handovers`.
    pub(crate) handover: Option<u32>,
    /// When these have something to do.
    pub(crate) handover_due: Option<Time>,
    /// Its changes, in order.
    pub switches: Vec<Switch>,
    /// How long none was selected, as far as that is over.
    pub without: Span,
    /// It has chosen for the first time.
    begun: bool,
    current: Option<usize>,
    /// Since when it is as it is.
    since: Time,
    /// The one that is preferred to the selected one, and since when.
    preferred: Option<(usize, Time)>,
    alarm: Alarm,
}

impl Selection {
    /// A node that has not chosen yet.
    pub fn new(config: SelectionConfig, candidates: Vec<Candidate>) -> Selection {
        Selection {
            config,
            candidates,
            chooser: None,
            flows: Vec::new(),
            handover: None,
            handover_due: None,
            switches: Vec::new(),
            without: Span::ZERO,
            begun: false,
            current: None,
            since: Time::ZERO,
            preferred: None,
            alarm: Alarm::default(),
        }
    }

    /// One that chooses by [`Policy::Given`].
    pub fn with_chooser(self, chooser: Box<dyn Chooser>) -> Selection {
        Selection { chooser: Some(chooser), ..self }
    }

    /// The selected interface.
    pub fn selected(&self) -> Option<Address> {
        self.current.map(|current| self.candidates[current].interface)
    }

    /// The number of the selected interface among its own.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Whether each of its interfaces is up.
    pub(crate) fn states(&self) -> Vec<bool> {
        self.candidates.iter().map(|candidate| candidate.up.is_some()).collect()
    }

    /// The selected interface, then those that are up, in the order of the scenario.
    pub fn usable(&self) -> impl Iterator<Item = Address> {
        let others = self.up().filter(|&at| Some(at) != self.current);
        self.current.into_iter().chain(others).map(|at| self.candidates[at].interface)
    }

    fn up(&self) -> impl Iterator<Item = usize> {
        (0..self.candidates.len()).filter(|&at| self.candidates[at].up.is_some())
    }

    /// An interface without stations is there from the beginning.
    pub(crate) fn set_up(&mut self, at: usize) {
        self.candidates[at].up = Some(Time::ZERO);
    }

    /// Whether an event may change what it selects. A report of a distance does not, unless time may, or
    /// another crate chooses.
    #[inline]
    pub(crate) fn heeds(&self, event: LinkEvent) -> bool {
        match event {
            LinkEvent::Detected { quality } | LinkEvent::ParametersReport { quality } => {
                !quality.is_distance() || self.chooser.is_some() || self.deadline().is_some()
            }
            _ => true,
        }
    }

    /// An interface tells of its link: whether it has come up or gone down.
    pub(crate) fn on_link_event(&mut self, now: Time, at: usize, event: LinkEvent) -> bool {
        let selected = self.current == Some(at);
        let candidate = &mut self.candidates[at];
        match event {
            LinkEvent::Detected { quality } | LinkEvent::ParametersReport { quality } => {
                if let Quality::Signal(signal_dbm) = quality {
                    candidate.signal_dbm = Some(signal_dbm);
                }
                false
            }
            LinkEvent::GoingDown { .. } => {
                candidate.going_down = true;
                false
            }
            LinkEvent::Rollback => {
                candidate.going_down = false;
                false
            }
            LinkEvent::Up => {
                candidate.going_down = false;
                let comes = candidate.up.is_none();
                candidate.up.get_or_insert(now);
                candidate.set_active(now, selected);
                comes
            }
            LinkEvent::Down(_) => match candidate.up.take() {
                Some(since) => {
                    candidate.stay.up += now - since;
                    candidate.set_active(now, false);
                    (candidate.down_at, candidate.going_down) = (now, false);
                    true
                }
                None => false,
            },
            LinkEvent::Lost
            | LinkEvent::ErrorReport { .. }
            | LinkEvent::GoingDownAgain { .. }
            | LinkEvent::ScanBegun
            | LinkEvent::ScanEnded => false,
        }
    }

    /// The same as `decide`, also for the first time.
    pub(crate) fn begin(&mut self, now: Time) -> bool {
        self.begun = true;
        self.decide(now)
    }

    /// Whether another interface is selected now, or none any more.
    pub(crate) fn decide(&mut self, now: Time) -> bool {
        if !self.begun {
            return false;
        }
        let wanted = self.wanted(now);
        let reason = match self.current {
            current if current == wanted => {
                self.preferred = None;
                return false;
            }
            None if self.switches.is_empty() => Reason::First,
            None => Reason::Regained,
            Some(current) if self.candidates[current].up.is_none() => {
                let is_as_good = wanted.is_some_and(|wanted| self.is_as_good(wanted, current));
                if !is_as_good && self.held_until(current).is_some_and(|until| now < until) {
                    return false;
                }
                Reason::Lost
            }
            Some(_) => {
                let Some(better) = wanted else { return false };
                let since = match self.preferred {
                    Some((before, since)) if before == better => since,
                    _ => now,
                };
                self.preferred = Some((better, since));
                if now - since < self.config.dwell_time {
                    return false;
                }
                Reason::Preferred
            }
        };
        self.switch(now, wanted, reason);
        true
    }

    fn switch(&mut self, now: Time, to: Option<usize>, reason: Reason) {
        self.end_stay(now);
        let from = self.current;
        let within = self.config.ping_pong_time;
        let is_back = |last: &Switch| {
            from.is_some() && last.to == from && to.is_some() && last.from == to && now - last.time < within
        };
        let ping_pong = self.switches.last().is_some_and(is_back);
        self.switches.push(Switch { time: now, from, to, reason, ping_pong, stay: now - self.since });
        if let Some(from) = from {
            self.candidates[from].set_active(now, false);
        }
        if let Some(to) = to {
            self.candidates[to].set_active(now, true);
            self.candidates[to].stay.selections += 1;
        }
        (self.current, self.since, self.preferred) = (to, now, None);
    }

    /// The time as it was is over.
    fn end_stay(&mut self, now: Time) {
        let stay = match self.current {
            Some(current) => &mut self.candidates[current].stay.selected,
            None => &mut self.without,
        };
        *stay += now - self.since;
    }

    /// The run has ended: what is under way counts up to now.
    pub(crate) fn finish(&mut self, now: Time) {
        self.end_stay(now);
        self.since = now;
        for candidate in &mut self.candidates {
            if let Some(since) = &mut candidate.up {
                candidate.stay.up += now - *since;
                *since = now;
            }
            candidate.set_active(now, candidate.active.is_some());
        }
    }

    /// The one that its policy prefers now.
    fn wanted(&mut self, now: Time) -> Option<usize> {
        if let Some(chooser) = &mut self.chooser {
            let current = self.current;
            let state = |(at, candidate): (usize, &Candidate)| State {
                up: candidate.up.is_some(),
                since: candidate.up.unwrap_or(candidate.down_at),
                selected: current == Some(at),
                signal_dbm: candidate.signal_dbm,
                going_down: candidate.going_down,
            };
            let states: Vec<State> = self.candidates.iter().enumerate().map(state).collect();
            return chooser.choose(now, &states).or(current).filter(|&at| states[at].up);
        }
        let good: Vec<usize> = self.up().filter(|&at| self.is_good(at)).collect();
        let among = if good.is_empty() { self.up().collect() } else { good };
        let (candidates, current) = (&self.candidates, self.current);
        match self.config.policy {
            Policy::Preference => preference::best(&among, candidates, current),
            Policy::Strongest => strongest::best(&among, candidates, current, self.config.hysteresis_db),
            Policy::Cheapest => cheapest::best(&among, candidates, current),
            // Only where a configuration asks for one and has none.
            Policy::Given => current.filter(|current| among.contains(current)),
        }
    }

    /// Until when an interface that is down is not given up.
    fn held_until(&self, at: usize) -> Option<Time> {
        let candidate = &self.candidates[at];
        candidate.up.is_none().then(|| candidate.down_at + self.config.hold_time)
    }

    /// Whether the policy has no reason to wait for the second one, which is down.
    fn is_as_good(&self, at: usize, lost: usize) -> bool {
        let (candidate, lost) = (&self.candidates[at], &self.candidates[lost]);
        let cost = |candidate: &Candidate| candidate.cost_per_mb.unwrap_or(0.0);
        match self.config.policy {
            Policy::Preference => candidate.rank <= lost.rank,
            Policy::Strongest => candidate.signal_dbm.is_some() || lost.signal_dbm.is_none(),
            Policy::Cheapest => cost(candidate) <= cost(lost),
            Policy::Given => true,
        }
    }

    /// Whether it is not going down, and a signal is strong enough, if there is one.
    fn is_good(&self, at: usize) -> bool {
        if self.config.leave_when_going_down && self.candidates[at].going_down {
            return false;
        }
        let above_db = if Some(at) == self.current { 0.0 } else { self.config.hysteresis_db };
        let threshold = self.config.threshold_dbm.zip(self.candidates[at].signal_dbm);
        threshold.is_none_or(|(threshold_dbm, signal_dbm)| signal_dbm >= threshold_dbm + above_db)
    }

    /// When another interface will have been preferred for long enough.
    fn deadline(&self) -> Option<Time> {
        if !self.begun {
            return Some(Time::ZERO);
        }
        let held = self.current.and_then(|current| self.held_until(current));
        let dwelt = self.preferred.map(|(_, since)| since + self.config.dwell_time);
        [held, dwelt, self.handover_due].into_iter().flatten().min()
    }

    pub(crate) fn arm(&mut self, number: u32, moment: &mut Moment<'_>) {
        let deadline = self.deadline();
        self.alarm.arm(deadline, Event::Selection(number), moment);
    }

    /// Its alarm goes off: whether something is due.
    pub(crate) fn fires(&mut self, now: Time) -> bool {
        self.alarm.fires(now) && self.deadline().is_some_and(|due| due <= now)
    }
}

/// All nodes that select.
#[derive(Debug, Default)]
pub struct Selections {
    /// In the order of the scenario; behind those of nodes, those of flows with a policy of their own.
    pub all: Vec<Selection>,
    of_node: BTreeMap<NodeId, u32>,
    /// Of flows with a policy of their own, by name and by number.
    of_name: BTreeMap<String, u32>,
    of_flow: BTreeMap<u32, u32>,
    of_interface: BTreeMap<Address, Vec<(u32, usize)>>,
}

impl Selections {
    /// Adds one; a node has one at most, and so has each of its flows.
    pub fn add(&mut self, selection: Selection) {
        let number = self.all.len() as u32;
        if selection.config.of_one_flow {
            self.of_name.insert(selection.config.name.clone(), number);
        } else {
            self.of_node.insert(selection.config.node, number);
        }
        for (at, candidate) in selection.candidates.iter().enumerate() {
            self.of_interface.entry(candidate.interface).or_default().push((number, at));
        }
        self.all.push(selection);
    }

    /// Those of nodes.
    pub fn of_nodes(&self) -> impl Iterator<Item = &Selection> {
        self.all.iter().filter(|selection| !selection.config.of_one_flow)
    }

    /// A flow with this name has these ends: it is its own selection's, or else those of its nodes.
    pub(crate) fn add_flow(&mut self, flow: u32, name: &str, ends: [NodeId; 2]) {
        let own = self.of_name.get(name).copied();
        self.of_flow.extend(own.map(|own| (flow, own)));
        for node in ends {
            let own = own.filter(|&own| self.all[own as usize].config.node == node);
            if let Some(number) = own.or(self.number_of(node)) {
                self.all[number as usize].flows.push(flow);
            }
        }
    }

    /// Whether no node selects.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of the selection of a node.
    pub(crate) fn number_of(&self, node: NodeId) -> Option<u32> {
        self.of_node.get(&node).copied()
    }

    /// The selection of a node, and its number.
    pub fn of_node(&self, node: NodeId) -> Option<(u32, &Selection)> {
        let number = self.number_of(node)?;
        Some((number, &self.all[number as usize]))
    }

    /// The selection of a node.
    pub(crate) fn of(&self, node: NodeId) -> Option<&Selection> {
        Some(&self.all[self.number_of(node)? as usize])
    }

    /// The selection that is for this flow at this node.
    pub(crate) fn of_flow(&self, node: NodeId, flow: Option<u32>) -> Option<&Selection> {
        let own = flow.and_then(|flow| self.of_flow.get(&flow)).map(|&own| &self.all[own as usize]);
        own.filter(|own| own.config.node == node).or_else(|| self.of(node))
    }

    /// The numbers of the selections that an interface belongs to, and its place in each.
    pub(crate) fn at(&self, interface: Address) -> &[(u32, usize)] {
        self.of_interface.get(&interface).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests;
