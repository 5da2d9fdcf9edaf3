//! Access points and stations that find them: time lines of beacons, scans and associations, and walks.
//!
//! 802.11b with long preambles: management frames at 1 Mb/s take 192 us and 8 us an octet, their ACKs 304 us.
//! Windows of no slot at all leave DIFS, 50 us, before each frame. Radios are those of `places`: understood
//! up to 110.98 m.

use super::places::radio;
use super::*;
use crate::link::indication::{LinkEvent, Quality};
use crate::link::testing::{datagram, stream};
use crate::link::wifi::radios::radio::ALL;
use crate::link::wifi::stations::layout::MemberIndex;
use crate::mobility::Point;
use crate::traffic_class::TrafficClass;
use proptest::prelude::*;
use roamsim_engine::Span;
use roamsim_protocols::mih::wire::handover::LinkActionResult;

pub(in crate::link::wifi) fn us(us: u64) -> Span {
    Span::from_us(us)
}

pub(in crate::link::wifi) fn config(members: usize) -> CellConfig {
    CellConfig { cw_min: 0, ..super::config(members) }
}

/// A station that scans its channels actively.
pub(in crate::link::wifi) fn station(channels: &[u8]) -> StationConfig {
    StationConfig {
        scan: Scan::Active,
        channels: channels.to_vec(),
        min_channel_time: us(1024),
        max_channel_time: us(10_240),
        probe_delay: us(100),
        scan_interval: Span::from_secs(1),
        missed_beacons: 3,
        failure_timeout: Span::from_ms(200),
        attempts: 3,
        signal_weight: 0.25,
        signal_threshold_dbm: None,
        going_down_dbm: -58.0,
        lost_dbm: -61.0,
    }
}

/// Access points by place and channel, and stations that may be in all of their cells.
pub(in crate::link::wifi) fn ess(
    access_points: &[(f64, u8)],
    beacons: Option<BeaconConfig>,
    stations: &[(Trajectory, Option<StationConfig>)],
) -> Ess {
    let at = |&(x_m, _): &(f64, u8)| Trajectory::fixed(Point::new(x_m, 0.0));
    let bss = |&(_, channel): &(f64, u8)| Bss { channel, stations: (0..stations.len()).collect(), beacons };
    Ess {
        bsses: access_points.iter().map(bss).collect(),
        stations: stations.iter().map(|(_, config)| config.clone()).collect(),
        radio: radio(-61.0, 0.0),
        places: access_points.iter().map(at).chain(stations.iter().map(|(place, _)| place.clone())).collect(),
    }
}

pub(in crate::link::wifi) fn stands(x_m: f64) -> Trajectory {
    Trajectory::fixed(Point::new(x_m, 0.0))
}

/// A medium at work: what was on the air, what was indicated, and packets in and out.
pub(in crate::link::wifi) struct Work {
    pub cell: Cell,
    /// Nanoseconds, kind, from and to.
    pub frames: Vec<(u64, Kind, usize, usize)>,
    pub events: Vec<(u64, u32, LinkEvent)>,
    /// By member, the power that it has heard last.
    heard: Vec<Option<f64>>,
    /// By radio, the member that it has chosen.
    pub chosen: BTreeMap<RadioIndex, u32>,
    taken: u64,
    pub delivered: u64,
    pub dropped: Vec<DropReason>,
    ids: u64,
}

use crate::link::wifi::medium::frame::Kind;

impl Work {
    pub fn new(cell: Cell) -> Work {
        Work {
            heard: vec![None; cell.associations.members.len()],
            cell,
            frames: Vec::new(),
            events: Vec::new(),
            chosen: BTreeMap::new(),
            taken: 0,
            delivered: 0,
            dropped: Vec::new(),
            ids: 0,
        }
    }

    pub fn send(&mut self, now: Time, from: Attachment, bytes: u32) {
        self.send_in(now, from, bytes, TrafficClass::default());
    }

    fn send_in(&mut self, now: Time, from: Attachment, bytes: u32, traffic_class: TrafficClass) {
        let mut random = stream("unused");
        let packet = Packet { id: PacketId(self.ids), traffic_class, ..datagram(bytes) };
        self.ids += 1;
        self.taken += 1;
        if let Err(dropped) = self.cell.enqueue(&mut Context { now, random: &mut random }, from, packet) {
            self.dropped.push(dropped.reason);
        }
    }

    pub fn broadcast(&mut self, now: Time, cell: usize) {
        let Some(from) = self.cell.associations.cells[CellIndex(cell)].broadcast() else { return };
        let packet = Packet { id: PacketId(self.ids), destination: crate::packet::BROADCAST, ..datagram(60) };
        self.ids += 1;
        match Stations::broadcast(&mut self.cell, now, from, &packet, self.ids) {
            Ok(copies) => {
                self.ids += copies.len() as u64 - 1;
                self.taken += copies.len() as u64;
            }
            Err(dropped) => {
                self.taken += 1;
                self.dropped.push(dropped.reason);
            }
        }
    }

    /// Works until then. Stations join the first cell that they hear, and change to one that is 5 dB
    /// stronger.
    pub fn until(&mut self, until: Time) {
        let mut seen = self.cell.medium.frames;
        while let Some(now) = self.cell.poll_timeout().filter(|&now| now <= until) {
            self.cell.handle_timeout(&mut Context { now, random: &mut stream("unused") });
            for frame in self.cell.medium.on_air.iter().filter(|frame| frame.number >= seen) {
                let begin = self.cell.radios[frame.from].sent.0;
                self.frames.push((begin.as_ns(), frame.kind, frame.from.0, frame.to.0));
            }
            seen = self.cell.medium.frames;
            while let Some(Indication { at, event }) = self.cell.poll_indication(now) {
                self.indicated(now, at, event);
            }
            while self.cell.poll_delivery(now).is_some() {
                self.delivered += 1;
            }
            while let Some((.., dropped)) = self.cell.poll_drop() {
                self.dropped.push(dropped.reason);
            }
            let ended = self.delivered + self.dropped.len() as u64;
            assert_eq!(self.taken, ended + self.cell.packets_inside(), "at {now:?}");
        }
    }

    fn indicated(&mut self, now: Time, at: Attachment, event: LinkEvent) {
        let member = self.cell.associations.ways[at.0 as usize].member;
        let radio = self.cell.associations.members[member].radio;
        let MemberIndex(member) = member;
        self.events.push((now.as_ns(), member, event));
        match event {
            LinkEvent::Detected { quality: Quality::Signal(signal_dbm) }
            | LinkEvent::ParametersReport { quality: Quality::Signal(signal_dbm) } => {
                self.heard[member as usize] = Some(signal_dbm);
            }
            LinkEvent::Down(_) | LinkEvent::Lost => self.heard[member as usize] = None,
            _ => return,
        }
        let own = self.chosen.get(&radio).copied().filter(|&own| self.heard[own as usize].is_some());
        let members = (0..self.heard.len() as u32)
            .filter(|&member| self.cell.associations.members[MemberIndex(member)].radio == radio)
            .filter_map(|member| Some((member, self.heard[member as usize]?)));
        let Some((best, power_dbm)) = members.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            self.chosen.remove(&radio);
            return;
        };
        if own.is_some_and(|own| self.heard[own as usize].is_none_or(|own_dbm| power_dbm <= own_dbm + 5.0)) {
            return;
        }
        self.chosen.insert(radio, best);
        if let Some(own) = own
            && let Some(down) = self.cell.leave(now, own)
        {
            self.events.push((now.as_ns(), own, down));
        }
        assert_eq!(self.cell.associate(now, best), None, "an association takes frames");
    }

    /// The events of this name: nanoseconds and members.
    pub fn named(&self, name: &str) -> Vec<(u64, u32)> {
        let named = self.events.iter().filter(|(.., event)| event.name() == name);
        named.map(|&(at_ns, member, _)| (at_ns, member)).collect()
    }
}

pub(in crate::link::wifi) fn streams(radio: usize, purpose: &str) -> Stream {
    stream(&format!("{radio} {purpose}"))
}

/// When the first station of so many access points begins to scan.
fn first_scan_ns(access_points: usize) -> u64 {
    streams(access_points, "backoff").below(10_240_000)
}

/// Beacons that do not come into the way.
pub(in crate::link::wifi) const LATE: BeaconConfig =
    BeaconConfig { period: Span::from_us(102_400), first: Time::from_ns(900_000_000) };

#[test]
fn a_beacon_waits_for_the_medium_and_the_next_one_comes_at_its_time() {
    let beacons = BeaconConfig { period: us(102_400), first: Time::ZERO + us(1000) };
    let ess = ess(&[(0.0, 1)], Some(beacons), &[(stands(10.0), None)]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    let up = work.cell.associations.members[MemberIndex(0)].up;
    work.until(Time::ZERO + us(900));
    work.send(Time::ZERO + us(900), up, 248);
    work.until(Time::ZERO + us(110_000));
    // Data of 399 us, ACK from 1309 to 1557, DIFS; a beacon of 65 octets. The next one waits for nobody.
    let frames = [
        (900_000, Kind::Data, 1, 0),
        (1_309_000, Kind::Ack, 0, 1),
        (1_607_000, Kind::Management, 0, ALL.0),
        (103_400_000, Kind::Management, 0, ALL.0),
    ];
    assert_eq!(work.frames, frames);
    assert_eq!(work.cell.radio_time(0).management, us(2 * (192 + 8 * 65)));
    // DIFS before the first was no attempt's.
    let RadioTime { attempts, contention, .. } = work.cell.radio_time(0);
    assert_eq!((attempts, contention), (0, Span::ZERO));
    assert_eq!(work.cell.medium_time(0).management, us(2 * 712));
}

#[test]
fn a_station_scans_authenticates_and_associates_to_the_nanosecond() {
    let ess = ess(&[(0.0, 1)], Some(LATE), &[(stands(10.0), Some(station(&[1])))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    let up = work.cell.associations.members[MemberIndex(0)].up;
    // It waits until the station is associated.
    work.send(Time::ZERO, up, 248);
    work.until(Time::ZERO + us(100_000));
    let begin_ns = first_scan_ns(1);
    let frames: Vec<_> =
        work.frames.iter().map(|&(at_ns, kind, from, _)| ((at_ns - begin_ns) / 1000, kind, from)).collect();
    // Octets: probe request 44, its response 59; authentication 34, twice; association request 48, its
    // response 40.
    let expected = [
        (100, Kind::Management, 1),
        (100 + 544 + 50, Kind::Management, 0),
        (694 + 664 + 10, Kind::Ack, 1),
        // The medium was busy: 10.24 ms from the end of the probe request on.
        (644 + 10_240, Kind::Management, 1),
        (10_884 + 464 + 10, Kind::Ack, 0),
        (11_358 + 304 + 50, Kind::Management, 0),
        (11_712 + 464 + 10, Kind::Ack, 1),
        (12_186 + 304 + 50, Kind::Management, 1),
        (12_540 + 576 + 10, Kind::Ack, 0),
        (13_126 + 304 + 50, Kind::Management, 0),
        (13_480 + 512 + 10, Kind::Ack, 1),
        (14_002 + 304 + 50, Kind::Data, 1),
        (14_356 + 399 + 10, Kind::Ack, 0),
    ];
    assert_eq!(frames, expected);
    assert_eq!(work.named("link_detected"), [(begin_ns + 10_884_000, 0)]);
    assert_eq!(work.named("link_up"), [(begin_ns + (13_480 + 512) * 1000, 0)]);
    assert_eq!((work.delivered, work.dropped), (1, vec![]));
}

#[test]
fn a_silent_channel_takes_the_shorter_time_and_a_passive_scan_the_longer() {
    let quiet = [(0.0, 6)];
    let walk = |config| ess(&quiet, Some(LATE), &[(stands(10.0), Some(config))]);
    let mut work = Work::new(Cell::with_access_points(config(1), walk(station(&[1, 6])), streams));
    work.until(Time::ZERO + us(100_000));
    // Delay, probe request and MinChannelTime on channel 1: 100 + 544 + 1024; on channel 6 100 + 544 +
    // 10,240.
    assert_eq!(work.named("link_detected"), [(first_scan_ns(1) + (1668 + 10_884) * 1000, 0)]);

    let passive = StationConfig { scan: Scan::Passive, ..station(&[1, 6]) };
    let beacons = BeaconConfig { first: Time::from_ns(first_scan_ns(1)) + us(15_000), ..LATE };
    let ess = ess(&quiet, Some(beacons), &[(stands(10.0), Some(passive))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(Time::ZERO + us(30_500));
    assert_eq!(work.named("link_detected"), [(first_scan_ns(1) + 20_480_000, 0)]);
}

#[test]
fn a_station_scans_when_it_is_told_to_and_its_packets_wait() {
    let ess = ess(&[(0.0, 1)], Some(LATE), &[(stands(10.0), Some(station(&[1, 6])))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    let told = |work: &mut Work, at: Time| {
        work.until(at);
        Stations::scan(&mut work.cell, at, 0)
    };
    // Channel 1 takes 100 + 544 + 10,240 us and the silent channel 6 100 + 544 + 1024; then it joins.
    let scan = us(10_884 + 1668);
    let joins = Time::from_ns(first_scan_ns(1)) + scan + us(300);
    assert_eq!(told(&mut work, joins), LinkActionResult::REFUSED);
    let begin = Time::ZERO + us(100_000);
    assert_eq!([0, 500].map(|later| told(&mut work, begin + us(later))), [LinkActionResult::SUCCESS; 2]);
    let up = work.cell.associations.members[MemberIndex(0)].up;
    work.send(begin + us(500), up, 248);
    work.until(begin + us(20_000));
    let frames: Vec<_> = work
        .frames
        .iter()
        .filter(|frame| frame.0 >= begin.as_ns())
        .map(|&(at_ns, kind, from, _)| ((at_ns - begin.as_ns()) / 1000, kind, from))
        .collect();
    // As of its first scan; DIFS after its end goes the packet.
    let expected = [
        (100, Kind::Management, 1),
        (694, Kind::Management, 0),
        (1368, Kind::Ack, 1),
        (10_884 + 100, Kind::Management, 1),
        (10_884 + 1668 + 50, Kind::Data, 1),
        (12_602 + 399 + 10, Kind::Ack, 0),
    ];
    assert_eq!(frames, expected);
    assert_eq!(work.named("link_parameters_report"), [((begin + scan).as_ns(), 0)]);
    assert_eq!((work.delivered, work.named("link_up").len()), (1, 1));
}

#[test]
fn an_access_point_is_lost_after_missed_beacons_and_the_station_scans_again() {
    let beacons = BeaconConfig { period: Span::from_ms(10), first: Time::ZERO };
    // At 10 m until 1.5 s, and then, within 0.2 ms, at 210 m.
    let walk = Trajectory::waypoints(
        Point::new(10.0, 0.0),
        Time::from_ns(1_500_000_000),
        &[(Point::new(210.0, 0.0), 1e6, Span::ZERO)],
    );
    let ess = ess(&[(0.0, 1)], Some(beacons), &[(walk, Some(station(&[1])))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(Time::from_ns(1_600_000_000));
    let (last_ns, _) = *work.named("link_parameters_report").last().expect("beacons are heard");
    assert_eq!(work.named("link_down"), [(last_ns + 35_000_000, 0)], "three periods and a half");
    // The first of each second: the begin of the scan that follows at once.
    let probes = work.frames.iter().filter(|frame| frame.3 == ALL.0 && frame.2 == 1);
    assert_eq!(probes.filter(|frame| frame.0 > last_ns).count(), 1);
    // The access point has the station on its list still, and tries.
    let down = work.cell.associations.members[MemberIndex(0)].down;
    work.send(Time::from_ns(1_600_000_000), down, 248);
    work.until(Time::from_ns(1_700_000_000));
    assert_eq!(work.dropped, [DropReason::RetryLimit]);
}

#[test]
fn access_points_contend_on_one_channel_and_do_not_on_two() {
    let last_ns = |channels: [u8; 2]| {
        let at = |x_m: f64| (stands(x_m), None);
        let mut ess = ess(&[(0.0, channels[0]), (20.0, channels[1])], None, &[at(5.0), at(15.0)]);
        (ess.bsses[0].stations, ess.bsses[1].stations) = (vec![0], vec![1]);
        let mut work = Work::new(Cell::with_access_points(config(2), ess, streams));
        for cell in 0..2 {
            let down = work.cell.associations.members[MemberIndex(cell)].down;
            (0..50).for_each(|_| work.send(Time::ZERO + us(10 * cell as u64), down, 1000));
        }
        work.until(Time::MAX);
        assert_eq!((work.delivered, work.dropped), (100, vec![]));
        work.frames.last().expect("a frame").0
    };
    // Without slots one exchange takes 946 + 10 + 248 us and DIFS, 1254 us: the last ACK begins after DIFS,
    // 49 of them and 956 us.
    let alone_ns = (50 + 49 * 1254 + 956) * 1000;
    assert_eq!(last_ns([1, 6]), alone_ns);
    // On one channel twice as many, and the collisions of two that have no slots to tell them apart.
    assert!(last_ns([1, 1]) > 2 * alone_ns);
}

#[test]
fn a_walk_hands_over_and_every_packet_has_an_end() {
    let beacons = BeaconConfig { period: us(102_400), first: Time::ZERO + us(500) };
    for channels in [[1, 1], [1, 6]] {
        let walk = Trajectory::waypoints(
            Point::new(5.0, 0.0),
            Time::ZERO,
            &[(Point::new(155.0, 0.0), 10.0, Span::ZERO)],
        );
        let config = CellConfig { cw_min: 31, ..config(2) };
        let places = [(0.0, channels[0]), (160.0, channels[1])];
        let mut ess = ess(&places, Some(beacons), &[(walk, Some(station(&[1, 6])))]);
        // At one time they would collide again and again.
        ess.bsses[1].beacons = Some(BeaconConfig { first: Time::ZERO + us(50_000), ..beacons });
        let mut work = Work::new(Cell::with_access_points(config, ess, streams));
        for tenth in 0..160 {
            let now = Time::from_ns(tenth * 100_000_000);
            work.until(now);
            for member in 0..2 {
                let (down, up) = (
                    work.cell.associations.members[MemberIndex(member)].down,
                    work.cell.associations.members[MemberIndex(member)].up,
                );
                work.send(now, down, 500);
                work.send(now, up, 500);
            }
            (0..2).for_each(|cell| work.broadcast(now, cell));
        }
        work.until(Time::from_ns(16_000_000_000));
        let up: Vec<u32> = work.named("link_up").into_iter().map(|(_, member)| member).collect();
        assert_eq!(up, [0, 1], "{channels:?}");
        let (left_ns, _) = work.named("link_down")[0];
        // Authentication and association take some 3 ms and four back-offs.
        assert!(work.named("link_up")[1].0 - left_ns < 10_000_000, "{channels:?}");
        // Equal powers at 80 m, 7.5 s; 5 dB more where d / (160 - d) = 10^(5 / 20), at 102.4 m, 9.7 s, and
        // the mean is a second late.
        assert!((9.7..12.5).contains(&(left_ns as f64 * 1e-9)), "{left_ns} {channels:?}");
        assert!(work.dropped.contains(&DropReason::NotAssociated));
        let going_down = work.named("link_going_down");
        assert!(going_down.first().is_none_or(|&(at_ns, member)| member == 0 && at_ns < left_ns));
    }
}

/// How the MAC works, and the radio, in a random medium.
#[derive(Clone, Debug)]
struct Ways {
    edca: bool,
    fragmentation_threshold_bytes: u32,
    rts_threshold_bytes: u32,
    rate_control: Option<RateControl>,
    redrawn: Redrawn,
    capture: Option<CaptureConfig>,
    sinr: Option<SinrConfig>,
    dscp: Vec<u8>,
}

const THRESHOLDS: [(u64, f64); 4] =
    [(1_000_000, -70.0), (2_000_000, -67.0), (5_500_000, -64.0), (11_000_000, -61.0)];

fn ways() -> impl Strategy<Value = Ways> {
    let by_signal = BySignalConfig { thresholds: THRESHOLDS.to_vec(), forgotten_after: 7 };
    let controls = vec![
        None,
        Some(RateControl::Arf(ArfConfig::ARF)),
        Some(RateControl::Arf(ArfConfig::AARF)),
        Some(RateControl::BySignal(by_signal)),
    ];
    let redrawn = vec![
        Redrawn::PerFrame,
        Redrawn::PerCoherenceTime(Span::from_ms(30)),
        Redrawn::ByDistance { decorrelation_distance_m: 8.0 },
    ];
    let receptions = vec![
        (None, None),
        (Some(CaptureConfig { threshold_db: 6.0, later_frames: false }), None),
        (Some(CaptureConfig { threshold_db: 6.0, later_frames: true }), None),
        (None, Some(SinrConfig { noise_figure_db: 10.0 })),
    ];
    let thresholds = (prop_oneof![Just(2346_u32), (128_u32..600).prop_map(|half| 2 * half)], 0_u32..2347);
    let dscp = prop::collection::vec(prop::sample::select(vec![0_u8, 8, 34, 46]), 1..8);
    let select = prop::sample::select::<Option<RateControl>>;
    (
        any::<bool>(),
        thresholds,
        select(controls),
        prop::sample::select(redrawn),
        prop::sample::select(receptions),
        dscp,
    )
        .prop_map(|(edca, (fragmentation, rts), rate_control, redrawn, (capture, sinr), dscp)| Ways {
            edca,
            fragmentation_threshold_bytes: fragmentation,
            rts_threshold_bytes: rts,
            rate_control,
            redrawn,
            capture,
            sinr,
            dscp,
        })
}

impl Ways {
    fn config(&self, config: CellConfig) -> CellConfig {
        let of =
            |aifsn, cw, txop_us| Category { aifsn, cw_min: cw, cw_max: 4 * cw + 3, txop_limit: us(txop_us) };
        let all = [of(7, 15, 0), of(3, 15, 0), of(2, 7, 6016), of(2, 3, 3264)];
        let rates_bps = THRESHOLDS.map(|(rate_bps, _)| rate_bps).to_vec();
        CellConfig {
            edca: self.edca.then_some(Edca { access_point: all, stations: all }),
            fragmentation_threshold_bytes: self.fragmentation_threshold_bytes,
            rts_threshold_bytes: self.rts_threshold_bytes,
            rate_control: self.rate_control.clone().map(|control| (control, rates_bps)),
            ..config
        }
    }

    fn radio(&self, radio: RadioConfig) -> RadioConfig {
        let by_rate = if self.rate_control.is_some() { THRESHOLDS.to_vec() } else { Vec::new() };
        let &Ways { redrawn: shadowing, capture, sinr, .. } = self;
        RadioConfig { thresholds_by_rate: by_rate, shadowing, capture, sinr, ..radio }
    }
}

use crate::link::wifi::medium::shadowing::Redrawn;
use crate::link::wifi::radios::rate_control::RateControl;
use crate::link::wifi::radios::rate_control::arf::ArfConfig;
use crate::link::wifi::radios::rate_control::by_signal::BySignalConfig;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_whatever_the_walks(
        seed in 0_u32..1000,
        places in prop::collection::vec((0.0_f64..200.0, 1_u8..4), 1..4),
        walks in prop::collection::vec((0.0_f64..200.0, 0.0_f64..200.0, 1.0_f64..60.0), 1..4),
        passive in any::<bool>(),
        shadowing in any::<bool>(),
        ways in ways(),
        traffic in prop::collection::vec((0_u64..6_000, any::<prop::sample::Index>(), 40_u32..1500), 0..200),
    ) {
        let beacons = BeaconConfig { period: us(20_480), first: Time::ZERO + us(u64::from(seed)) };
        let walks: Vec<_> = walks
            .into_iter()
            .map(|(from_m, to_m, speed)| {
                let there = [(Point::new(to_m, 0.0), speed, Span::ZERO), (Point::new(from_m, 0.0), speed, Span::ZERO)];
                let walk = Trajectory::waypoints(Point::new(from_m, 0.0), Time::ZERO, &there);
                let scan = if passive { Scan::Passive } else { Scan::Active };
                (walk, Some(StationConfig { scan, max_channel_time: us(22_528), ..station(&[3, 1, 2]) }))
            })
            .collect();
        let config = ways.config(CellConfig { cw_min: 15, ..config(places.len() * walks.len()) });
        let mut ess = ess(&places, Some(beacons), &walks);
        ess.radio = ways.radio(radio(-72.0, if shadowing { 4.0 } else { 0.0 }));
        let streams = |radio: usize, purpose: &str| stream(&format!("{seed} {radio} {purpose}"));
        let mut work = Work::new(Cell::with_access_points(config, ess, streams));
        let mut traffic = traffic;
        traffic.sort_by_key(|(at_ms, ..)| *at_ms);
        for ((at_ms, from, bytes), &dscp) in traffic.into_iter().zip(ways.dscp.iter().cycle()) {
            let now = Time::from_ns(at_ms * 1_000_000);
            // The account is added up after each step.
            work.until(now);
            let from = Attachment(from.index(work.cell.associations.ways.len()) as u32);
            match work.cell.is_broadcast(from) {
                true => work.broadcast(now, work.cell.associations.ways[from.0 as usize].from.0),
                false => work.send_in(now, from, bytes, TrafficClass::of_dscp(dscp)),
            }
        }
        work.until(Time::from_ns(6_000_000_000));
        let parts: u64 = (0..work.cell.associations.cells.len()).map(|cell| {
            work.cell.finish(Time::from_ns(6_000_000_000));
            let MediumTime { data, control, management, collisions, backoff, idle, .. } = work.cell.medium_time(cell);
            [data, control, management, collisions, backoff, idle].iter().map(|part| part.as_ns()).sum::<u64>()
        }).sum();
        prop_assert_eq!(parts, 6_000_000_000 * work.cell.associations.cells.len() as u64);
    }
}
