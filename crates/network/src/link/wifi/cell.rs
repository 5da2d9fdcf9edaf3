//! The medium as one machine: what it is made of, and the order of its steps.

use super::agenda::{Agenda, Step};
use super::capture::listening::Listener;
use super::capture::log::AirLog;
use super::config::{Bss, CellConfig, Ess, StationConfig};
use super::index::{ByRadio, RadioIndex};
use super::medium::Medium;
use super::medium::air::{Air, Hearing};
use super::medium::config::RadioConfig;
use super::medium::frame::Kind;
use super::radios::airtime::FrameTimes;
use super::radios::radio::Radio;
use super::radios::rate_control::Rates;
use super::radios::undisturbed::Undisturbed;
use super::radios::{Radios, take_turns};
use super::stations::Associations;
use super::stations::layout::{Layout, MemberIndex};
use super::stations::station::Station;
use crate::drops::Dropped;
use crate::link::{Attachment, LinkStats};
use crate::mobility::Trajectory;
use crate::packet::{Packet, PacketId};
use crate::queue::Queue;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::{Context, Machine};
use std::collections::{BTreeMap, VecDeque};

/// The access point's number among the radios; the stations follow.
const ACCESS_POINT: RadioIndex = RadioIndex(0);

/// A radio's name in those of random streams.
fn radio_name(number: RadioIndex) -> String {
    match number {
        ACCESS_POINT => "access point".to_owned(),
        RadioIndex(1) => "station".to_owned(),
        RadioIndex(more) => format!("station/{}", more - 1),
    }
}

/// The medium.
#[derive(Debug)]
pub struct Cell {
    pub(super) config: CellConfig,
    pub(super) medium: Medium,
    pub(super) radios: Radios,
    pub(super) associations: Associations,
    pub(super) agenda: Agenda,
    pub(super) frame_times: FrameTimes,
    /// Those who get the medium now.
    winners: Vec<RadioIndex>,
    /// The radio that nobody disturbs, where that may be and there is one: it has nothing on the air then,
    /// nor on the agenda.
    pub(super) undisturbed: Option<Undisturbed>,
    pub(super) may_be_undisturbed: bool,
    pub(super) arrived: VecDeque<(Attachment, Packet)>,
    pub(super) dropped: VecDeque<(Attachment, Packet, Dropped)>,
    /// Of each broadcast in a queue, by its first copy: the copies and the members that they are for.
    pub(super) copies: BTreeMap<PacketId, Vec<(PacketId, MemberIndex)>>,
    /// By attachment, what was sent.
    pub(super) stats: Vec<LinkStats>,
    /// Where rates are not fixed.
    pub(super) rates: Option<Box<Rates>>,
    /// For a capture of frames.
    pub(super) log: Option<Box<AirLog>>,
    /// Who captures frames.
    pub(super) listener: Option<Box<Listener>>,
}

impl Cell {
    /// A silent cell in which all hear each other; `stream(purpose)` gives the random streams.
    pub fn new(config: CellConfig, stream: impl Fn(&str) -> Stream) -> Cell {
        Cell::alone(config, Hearing::All, stream)
    }

    /// A silent cell in which radio `i` hears radio `j` where `hears[i][j]`: the access point is the first,
    /// the stations follow.
    pub fn with_hidden(
        config: CellConfig,
        mut hears: Vec<Vec<bool>>,
        stream: impl Fn(&str) -> Stream,
    ) -> Cell {
        for (radio, heard) in hears.iter_mut().enumerate() {
            // Its own frames keep a radio as busy as those of others.
            heard[radio] = true;
        }
        Cell::alone(config, Hearing::Given(hears), stream)
    }

    /// A silent cell whose radios hear each other as their places let them: that of the access point is the
    /// first, those of the stations follow. What arrives decides about carrier sense when a frame begins, and
    /// about its reception when it ends.
    pub fn with_places(
        config: CellConfig,
        radio: RadioConfig,
        places: Vec<Trajectory>,
        stream: impl Fn(&str) -> Stream,
    ) -> Cell {
        let draws = |purpose: &str, of: RadioIndex| stream(&format!("{}/{purpose}", radio_name(of)));
        let air = Air::new(radio, places, draws);
        Cell::alone(config, Hearing::Placed(Box::new(air)), stream)
    }

    /// One cell without beacons.
    fn alone(config: CellConfig, hearing: Hearing, stream: impl Fn(&str) -> Stream) -> Cell {
        let stations = config.rates_bps.len();
        let bss = Bss { channel: 0, stations: (0..stations).collect(), beacons: None };
        let of_radio = |number, purpose: &str| stream(&format!("{}/{purpose}", radio_name(number)));
        Cell::build(config, &[bss], (0..stations).map(|_| None).collect(), hearing, of_radio)
    }

    /// A silent medium of several access points, or of one with beacons; `stream(radio, purpose)` gives the
    /// random streams.
    pub fn with_access_points(config: CellConfig, ess: Ess, stream: impl Fn(usize, &str) -> Stream) -> Cell {
        let Ess { bsses, stations, radio, places } = ess;
        let stream = |RadioIndex(radio): RadioIndex, purpose: &str| stream(radio, purpose);
        let air = Air::new(radio, places, |purpose, of| stream(of, purpose));
        Cell::build(config, &bsses, stations, Hearing::Placed(Box::new(air)), stream)
    }

    fn build(
        config: CellConfig,
        bsses: &[Bss],
        stations: Vec<Option<StationConfig>>,
        hearing: Hearing,
        stream: impl Fn(RadioIndex, &str) -> Stream,
    ) -> Cell {
        let Layout { cells, members, ways, mut channels, attachments } =
            Layout::new(&config, bsses, stations.len());
        let shared = matches!(hearing, Hearing::All);
        let accesses = [false, true].map(|access_point| config.accesses(access_point));
        let radios: Vec<Radio> = attachments
            .pairs()
            .filter_map(|(number, of)| {
                let accesses = &accesses[usize::from(number.cell(cells.len()).is_some())];
                let queue = |category| {
                    let random = stream(number, &format!("queue of {category}"));
                    Queue::new(config.rule.discipline(config.queue, random), of.iter().copied())
                };
                Radio::new(accesses, queue, stream(number, "backoff"))
            })
            .collect();
        let mut members_of: ByRadio<Vec<MemberIndex>> = vec![Vec::new(); radios.len()].into();
        for (number, member) in (0..).map(MemberIndex).zip(members.iter()) {
            members_of[member.radio].push(number);
        }
        let configs = bsses.iter().map(|_| None).chain(stations);
        let stations: ByRadio<Option<Station>> = configs
            .zip(members_of)
            .map(|(config, members)| config.map(|config| Station::new(config, members)))
            .collect();
        for (channel, station) in channels.iter_mut().zip(stations.iter()) {
            *channel = station.as_ref().map_or(*channel, Station::first_channel);
        }
        let most = cells.iter().zip(channels.iter()).map(|(_, &channel)| channel);
        let most = most.chain(stations.iter().flatten().flat_map(|station| station.channels())).max();
        let rates = config.rate_control.as_ref().map(|(control, rates_bps)| {
            let rates: Vec<_> = rates_bps.iter().map(|&bps| (bps, config.usual_exchange_time(bps))).collect();
            let random = stations.numbers().map(|radio| stream(radio, "rates")).collect();
            Box::new(Rates::new(control, &rates, config.backoff(), bsses.len(), random))
        });
        let in_turns = take_turns(radios.len(), shared);
        let access_points = cells.len();
        let mut cell = Cell {
            medium: Medium::new(
                hearing,
                channels,
                access_points,
                most.unwrap_or_default(),
                config.timing,
                in_turns,
            ),
            radios: Radios::new(radios, &config, shared),
            agenda: Agenda::default(),
            frame_times: FrameTimes::default(),
            winners: Vec::new(),
            undisturbed: None,
            may_be_undisturbed: false,
            arrived: VecDeque::new(),
            dropped: VecDeque::new(),
            copies: BTreeMap::new(),
            stats: vec![LinkStats::default(); ways.len()],
            rates,
            log: None,
            listener: None,
            associations: Associations::new(cells, members, ways, stations),
            config,
        };
        cell.may_be_undisturbed = cell.has_undisturbed();
        cell.start_stations();
        cell
    }

    /// Puts beacons and first scans on the agenda. When a station scans first is drawn within the time that
    /// it has for a channel, since stations do not know of each other.
    fn start_stations(&mut self) {
        for (number, cell) in self.associations.cells.pairs() {
            if let Some(beacons) = cell.beacons {
                self.agenda.put(beacons.first, Step::Beacon(number));
            }
        }
        for (number, station) in self.associations.stations.pairs() {
            if let Some(station) = station {
                let within = station.config.max_channel_time;
                let radio = &mut self.radios[number];
                let begins = Time::from_ns(radio.random.below(within.as_ns().max(1)));
                radio.blocked = true;
                self.agenda.put(begins, Step::Station(number, 0));
            }
        }
    }

    /// What has arrived next, and where.
    #[inline(always)]
    pub(in crate::link) fn first_arrived(&self) -> Option<(Attachment, &Packet)> {
        self.arrived.front().map(|(at, packet)| (*at, packet))
    }

    /// What has arrived, in order.
    #[inline(always)]
    pub(in crate::link) fn arrived(&mut self) -> &mut VecDeque<(Attachment, Packet)> {
        &mut self.arrived
    }

    /// Looks who gets the medium next.
    pub(super) fn plan(&mut self) {
        self.radios.plan(&mut self.medium, &self.agenda);
    }

    /// Those begin who get the medium now, of whom each knows nothing of the others, nor of what else happens
    /// at this instant.
    #[inline(never)]
    fn handle_access(&mut self, now: Time) {
        let mut winners = std::mem::take(&mut self.winners);
        self.radios.choose_winners(now, &mut self.medium, &mut winners);
        self.take_due(now);
        for number in winners.drain(..) {
            self.begin(now, number);
        }
        self.winners = winners;
        self.radios.collide_inside();
    }

    #[inline(never)]
    fn take_due(&mut self, now: Time) {
        while let Some(step) = self.agenda.take_due(now) {
            self.take(now, step);
        }
    }

    #[inline(always)]
    fn take(&mut self, now: Time, step: Step) {
        match step {
            Step::End(frame) => self.end(now, frame),
            Step::Cts(from, to) => {
                self.send(now, Kind::Cts, from, to);
                let radio = &mut self.radios[from];
                radio.invites_until = radio.sent.1 + self.config.timing.sifs + Span::from_ns(1);
            }
            Step::Ack(from, to) => self.send(now, Kind::Ack, from, to),
            Step::Data(from) => {
                if let Some(head) = &self.radios[from].own.head {
                    self.send(now, head.kind(), from, head.to);
                }
            }
            Step::Continue(number) => self.begin(now, number),
            Step::Fragment(number) => self.begin_or_continue(now, number, true),
            Step::Timeout(number) => self.fail(now, number),
            Step::Beacon(cell) => self.beacon_due(now, cell),
            Step::Free => {}
            Step::Station(number, timer) => self.station_timer(now, number, timer),
        }
    }
}

impl Machine for Cell {
    fn poll_timeout(&self) -> Option<Time> {
        if let Some(undisturbed) = &self.undisturbed {
            return Some(undisturbed.until);
        }
        match (self.agenda.next(), self.radios.next_access) {
            (Some(step), Some(access)) => Some(step.min(access)),
            (step, access) => step.or(access),
        }
    }

    #[inline(always)]
    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        if self.undisturbed.is_some() {
            return self.go_on_undisturbed(now);
        }
        if self.radios.next_access.is_some_and(|time| time <= now) {
            self.handle_access(now);
        } else {
            self.take_due(now);
        }
        if self.radios.any_departs() {
            self.let_depart(now);
        }
        self.plan();
        if self.may_be_undisturbed && self.radios.listed.len() == 1 {
            self.find_undisturbed(now);
        }
    }
}
