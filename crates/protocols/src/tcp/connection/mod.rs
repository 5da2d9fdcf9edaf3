//! A connection: the public face of the machine, and what its parts share.
//!
//! The subject of each file:
//! - [`open_close`]: the states from LISTEN to TIME-WAIT; [`fast_open`]: data on a SYN
//! - [`arrival`]: the checks on a segment that arrives; [`ecn`]: marks of congestion,
//!   [`mark_reduction`]: PRR for them
//! - [`sender`]: acknowledgements received; [`rack`]: losses by time; [`pipe_ack`]: windows that are not used
//! - [`receiver`]: data received and acknowledgements owed
//! - [`next`]: what is sent; [`send_buffer`]: what waits in the application
//! - [`timers`]: the table of timers; [`liveness`]: keep-alive and user timeout; [`user_timeout`]: its option
//! - [`extras`], [`tracked`]: what only some connections have and do
//! - [`steady`]: the short way of the segments that are as expected

mod arrival;
mod ecn;
mod extras;
mod fast_open;
mod liveness;
mod mark_reduction;
mod next;
mod open_close;
mod pipe_ack;
mod rack;
mod receiver;
mod send_buffer;
mod sender;
mod steady;
mod timers;
mod tracked;
mod user_timeout;

use std::sync::Arc;

use roamsim_engine::{Span, Stream, Time};

use super::config::Config;
use super::recovery::{Recovery, Repair};
use super::repeat::{Proof, Reason};
use super::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use super::sent::RateSample;
use super::sequence::to_wire;
use super::stats::{Counters, Stats};
use crate::machine::{Context, Machine};
use ecn::Ecn;
pub use extras::GivenUp;
use next::Next;
use receiver::{Acknowledgement, Receiver};
use sender::Sender;
use steady::Due;
use timers::{Timer, Timers};

/// Octets of one timestamps option with its padding.
const TIMESTAMPS_BYTES: u32 = 12;

/// The timestamp clock ticks no faster (RFC 7323 5.4).
const FINEST_TICK: Span = Span::from_ms(1);

/// The longest stream: what a greedy application may write without a sequence offset ever wrapping.
const MAX_STREAM_BYTES: u64 = 1 << 62;

/// The states of RFC 9293 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and sent.
    SynReceived,
    /// Open in both directions.
    Established,
    /// Closed by this end; its FIN is queued or sent.
    FinWait1,
    /// This end's FIN is acknowledged.
    FinWait2,
    /// The peer has closed, this end has not.
    CloseWait,
    /// Both have closed, this end's FIN is not acknowledged.
    Closing,
    /// Closed after the peer; the FIN is queued or sent.
    LastAck,
    /// Both FINs are acknowledged; old segments die out.
    TimeWait,
}

/// What the application is told. Offsets count octets of a stream from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// The stream has arrived in order up to this offset. Several arrivals are told as one.
    Received {
        /// One above the last octet.
        up_to: u64,
    },
    /// The peer has acknowledged the stream up to this offset. Several are told as one.
    Acknowledged {
        /// One above the last octet.
        up_to: u64,
    },
    /// The peer has closed its direction: nothing follows what was received.
    RemoteClosed,
    /// The connection is gone, by close or abort.
    Closed,
    /// The peer reset or refused the connection.
    Reset,
    /// This end has given up, for the reason that [`given_up`](Connection::given_up) says.
    TimedOut,
    /// The application has closed and left data unread, or data arrived afterwards: this end has reset the
    /// connection, so that the peer knows (RFC 9293 3.6.1).
    DataLost,
}

/// Events not yet told, one bit each, in the order of telling.
#[derive(Clone, Copy, Debug, Default)]
struct Pending(u8);

impl Pending {
    const ESTABLISHED: u8 = 1;
    const RECEIVED: u8 = 2;
    const ACKNOWLEDGED: u8 = 4;
    const REMOTE_CLOSED: u8 = 8;
    const CLOSED: u8 = 16;
    const RESET: u8 = 32;
    const TIMED_OUT: u8 = 64;
    const DATA_LOST: u8 = 128;

    #[inline]
    fn set(&mut self, bit: u8) {
        self.0 |= bit;
    }
}

/// Whether nothing goes on but new data and its acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steady {
    No = 0,
    /// Of a connection that has nothing that the shortest way leaves out.
    Plain = 1,
    /// Of one that is [`Extended`] by timestamps alone.
    Stamped = 2,
    /// Of another that is [`Extended`].
    Extended = 4,
}

/// By bits: comparisons in a row become a table of jumps, and a plain connection pays for it.
impl Steady {
    #[inline(always)]
    fn is_plain(self) -> bool {
        self as u8 & Steady::Plain as u8 != 0
    }

    #[inline(always)]
    fn is_extended(self) -> bool {
        self as u8 & (Steady::Stamped as u8 | Steady::Extended as u8) != 0
    }
}

/// What the shortest way leaves out, and a connection has, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Extended(u8);

impl Extended {
    /// Both ends use timestamps.
    const TIMESTAMPS: u8 = 1;
    /// It has [`extras`].
    const EXTRAS: u8 = 2;
    /// Extras that look at data that arrives.
    const ARRIVALS: u8 = 4;
    /// Marks are echoed one by one, and counted.
    const MARKS: u8 = 8;
    /// The time counts at which segments arrive.
    const LIVENESS: u8 = 16;

    #[inline(always)]
    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    #[inline(always)]
    fn has_more_than_extras(self) -> bool {
        self.0 & !Extended::EXTRAS != 0
    }
}

/// A reset, outside of any state's order.
#[derive(Clone, Copy, Debug)]
struct Reset {
    seq: u32,
    ack: u32,
    flags: Flags,
}

/// One end of a TCP connection.
///
/// The caller brings segments in with [`handle_segment`](Connection::handle_segment) and takes what is to be
/// sent with [`poll_transmit`](Connection::poll_transmit) after every call that changes anything, until it
/// returns `None`; a duplicate ACK is lost when two segments are brought in without polling between them.
/// Segments are assumed to be for this connection: the caller compares addresses and ports.
#[derive(Clone, Debug)]
#[repr(C)] // what every segment needs lies together, here and in the parts
pub struct Connection {
    /// What [`is_steady`](Connection::is_steady) says, kept: whoever may end that calls
    /// [`settle`](Connection::settle). What begins it is a segment that arrives.
    steady: Steady,
    state: State,
    pending: Pending,
    extended: Extended,
    local_port: u16,
    remote_port: u16,
    timers: Timers,
    config: Arc<Config>,
    /// A reset that is due.
    reset: Option<Reset>,
    ecn: Ecn,
    /// A SYN or SYN-ACK is due.
    syn_due: bool,
    /// Opened by `listen`: a reset in SYN-RECEIVED leads back to LISTEN.
    passive: bool,
    receiver: Receiver,
    sender: Sender,
    stats: Counters,
}

impl Connection {
    /// A closed connection between two ports with the initial send sequence number `iss`. Connections share
    /// their settings.
    ///
    /// Settings are not checked here. Those without a defined meaning do no harm.
    pub fn new(config: &Arc<Config>, local_port: u16, remote_port: u16, iss: u32) -> Connection {
        Connection {
            steady: Steady::No,
            state: State::Closed,
            passive: false,
            syn_due: false,
            extended: Extended::default(),
            pending: Pending::default(),
            ecn: Ecn::default(),
            sender: Sender::new(config, iss),
            receiver: Receiver::new(config),
            timers: Timers::new(config.has_extras()),
            reset: None,
            local_port,
            remote_port,
            stats: Counters::default(),
            config: Arc::clone(config),
        }
    }

    /// What the congestion control draws comes from this stream. Without a call it is one of no seed.
    pub fn set_random(&mut self, random: &Stream) {
        self.sender.congestion.set_random(random);
    }

    /// The application appends `bytes` to its stream; a huge number is a greedy application. Allowed before
    /// the connection is established; without effect after a close.
    #[inline]
    pub fn write(&mut self, bytes: u64) {
        if self.sender.fin_queued {
            return;
        }
        if self.sender.send_buffer().is_some() {
            return self.write_to_buffer(bytes);
        }
        self.sender.written = self.sender.written.saturating_add(bytes).min(MAX_STREAM_BYTES);
    }

    /// Whether the application takes what arrives at once (as it does from the start) or only by
    /// [`read`](Connection::read), so that the window closes when it does not.
    pub fn set_reading(&mut self, reading: bool) {
        self.receiver.set_reading(reading);
        if reading {
            self.read(u64::MAX);
        }
    }

    /// The application takes up to `bytes` of what has arrived in order.
    pub fn read(&mut self, bytes: u64) {
        if self.receiver.read(bytes) && self.state.is_synchronized() {
            self.receiver.acknowledgement = Acknowledgement::Now;
        }
    }

    /// Whether there may be a segment to send: data that has not gone, or goes anew; an acknowledgement that
    /// is due; or a FIN, a repair, a reset or a SYN.
    #[inline(always)]
    pub fn may_transmit(&self) -> bool {
        self.receiver.acknowledgement != Acknowledgement::None
            || self.sender.snd_nxt <= self.sender.written
            || self.steady == Steady::No && self.may_transmit_beside_data()
    }

    /// Whether a FIN may go, or octets that are repaired, a reset or a SYN.
    #[inline]
    fn may_transmit_beside_data(&self) -> bool {
        let sender = &self.sender;
        let end = 1 + sender.written + u64::from(sender.fin_queued);
        sender.snd_una < end && (sender.fin_queued || sender.recovery.is_busy())
            || self.reset.is_some()
            || self.syn_due
    }

    /// The next segment to send, if there is one now.
    #[inline(always)]
    pub fn poll_transmit(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        self.transmit_to(cx.now, |segment, _| segment)
    }

    /// The same, handed to `write` where it is made: not moved, if that stands in line. A connection draws
    /// nothing, so that the time is all that it has to know.
    #[inline(always)]
    pub fn transmit_to<T>(&mut self, now: Time, write: impl FnOnce(Segment, &Connection) -> T) -> Option<T> {
        let due = if self.steady.is_plain() { self.due_when_steady() } else { Due::Other };
        let (start, length, flags) = match due {
            Due::Nothing => return None,
            Due::Data => self.send_next_data(now, Steady::Plain),
            Due::Acknowledgement => {
                let (start, flags) = (self.sender.offset_without_data(), self.send_acknowledgement());
                // Written here, which knows that it has no data.
                let segment = self.segment(start, flags, 0, Options::default());
                return Some(write(segment, self));
            }
            Due::Other => {
                let is_steady = self.steady.is_extended() && !self.tells_user_timeout();
                let due = if is_steady { self.due_when_steady() } else { Due::Other };
                let sent = match due {
                    Due::Nothing => return None,
                    Due::Data => Some(self.send_next_data(now, Steady::Extended)),
                    Due::Acknowledgement => {
                        let flags = self.send_acknowledgement();
                        Some((self.acknowledgement_offset(), 0, flags))
                    }
                    Due::Other => None,
                };
                if let Some((start, length, flags)) = sent {
                    // A steady connection has no SACK blocks to tell.
                    let options = Options { timestamps: self.agreed_timestamps(now), ..Options::default() };
                    let segment = self.segment(start, flags, length, options);
                    return Some(write(segment, self));
                }
                match self.next(now) {
                    Next::Nothing => return None,
                    Next::Segment { start, length, flags } if !self.has_options() => (start, length, flags),
                    next => {
                        let segment = self.segment_with_options(now, next)?;
                        return Some(write(segment, self));
                    }
                }
            }
        };
        let segment = self.segment(start, flags, length, Options::default());
        Some(write(segment, self))
    }

    /// A full-sized segment of new data of a steady connection: where it starts, its length and control bits.
    #[inline(always)]
    fn send_next_data(&mut self, now: Time, kind: Steady) -> (u64, u32, Flags) {
        let (start, length) = (self.sender.snd_nxt, self.sender.smss);
        (start, length as u32, self.send_data(now, start, length, false, kind))
    }

    /// The segment that goes, if one does, with all that it may have.
    #[inline(never)]
    fn segment_with_options(&mut self, now: Time, next: Next) -> Option<Segment> {
        match next {
            Next::Nothing => None,
            Next::Segment { start, length, flags } => {
                let options = self.options(now, length);
                Some(self.segment(start, flags, length, options))
            }
            Next::OneWayData { start, length, flags } => Some(self.one_way_data(now, start, flags, length)),
            Next::Control => self.transmit_control(now),
        }
    }

    /// Does the work that is due: [`handle_timeout`](Machine::handle_timeout) by the time alone.
    pub fn handle_timeout_at(&mut self, now: Time) {
        self.expire(now);
        self.settle();
    }

    /// Whether nothing has happened but that the stream has arrived further, or has been acknowledged
    /// further, where the application need not be told of that: then all is done with. Otherwise everything
    /// stays for [`poll_event`](Connection::poll_event).
    #[inline(always)]
    pub fn passes_over(&mut self, received: bool, acknowledged: bool) -> bool {
        let received = Pending::RECEIVED * u8::from(received);
        let acknowledged = Pending::ACKNOWLEDGED * u8::from(acknowledged);
        let untold = received | acknowledged;
        let is_all = self.pending.0 & !untold == 0;
        if is_all {
            self.pending.0 = 0;
        }
        is_all
    }

    /// The next event the application has not been told of.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        let pending = self.pending.0;
        if pending == 0 {
            return None;
        }
        let lowest = pending & pending.wrapping_neg();
        self.pending.0 &= !lowest;
        Some(match lowest {
            Pending::ESTABLISHED => Event::Established,
            Pending::RECEIVED => Event::Received { up_to: self.receiver.stream_offset() },
            Pending::ACKNOWLEDGED => Event::Acknowledged { up_to: self.sender.acknowledged() },
            Pending::REMOTE_CLOSED => Event::RemoteClosed,
            Pending::CLOSED => Event::Closed,
            Pending::RESET => Event::Reset,
            Pending::TIMED_OUT => Event::TimedOut,
            _ => Event::DataLost,
        })
    }

    /// The state.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// The settings the connection was made with.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The counters.
    pub fn stats(&self) -> Stats {
        let told = self.stats.told(self.sender.acknowledged(), self.receiver.stream_offset());
        match &self.sender.extras {
            None => told,
            Some(extras) => Stats {
                tail_loss_probes: extras.tail_loss_probes,
                undone_reductions: extras.undone_reductions,
                cookie_requested: extras.fast_open.as_ref().is_some_and(|fast_open| fast_open.requested),
                syn_data_sent: extras.fast_open.as_ref().is_some_and(|fast_open| fast_open.data_sent),
                syn_data_taken: extras.fast_open.as_ref().is_some_and(|fast_open| fast_open.data_taken),
                keep_alive_probes_sent: extras.liveness.as_ref().map_or(0, |liveness| liveness.probes_sent),
                send_buffer_limited: extras.send_buffer.as_ref().map_or(Span::ZERO, |buffer| buffer.limited),
                ..told
            },
        }
    }

    /// The congestion window in bytes as the sender applies it: inflated by duplicate ACKs during recovery.
    #[inline]
    pub fn cwnd_bytes(&self) -> u64 {
        self.sender.send_window()
    }

    /// The slow-start threshold in bytes, `u64::MAX` while it is arbitrarily high.
    pub fn ssthresh_bytes(&self) -> u64 {
        self.sender.congestion.ssthresh_bytes()
    }

    /// Octets sent and neither acknowledged nor, after a timeout, taken as lost.
    #[inline]
    pub fn flight_bytes(&self) -> u64 {
        self.sender.flight()
    }

    /// The largest payload of a segment here, in bytes: SMSS of RFC 5681, options subtracted.
    pub fn smss_bytes(&self) -> u64 {
        self.sender.smss
    }

    /// From now on the path carries `mss_bytes` in a segment, options included; segments become smaller, or
    /// as large again as the ends have agreed on (RFC 9293 section 3.7.1; what RFC 1191 and RFC 8201 find out
    /// is told here). What was sent and is lost is sent again in segments that fit. The window stays as it
    /// is, in octets. What comes is acknowledged by segments of that size.
    pub fn set_path_mss(&mut self, mss_bytes: u32) {
        self.sender.path_mss = mss_bytes;
        self.fit_to_path();
    }

    fn fit_to_path(&mut self) {
        let options = u64::from(self.option_bytes());
        let full_sized = u64::from(self.sender.agreed_mss.min(self.sender.path_mss).max(1));
        self.receiver.set_full_sized(full_sized, &self.config);
        self.sender.smss = full_sized.saturating_sub(options).max(1);
        self.sender.congestion.set_smss(self.sender.smss);
    }

    /// The peer's last offered window in bytes.
    pub fn peer_window_bytes(&self) -> u64 {
        self.sender.snd_wnd
    }

    /// Whether a loss is being repaired by fast recovery.
    pub fn is_recovering(&self) -> bool {
        self.sender.recovery.is_recovering()
    }

    /// The smoothed round-trip time, `None` before the first measurement.
    #[inline]
    pub fn srtt(&self) -> Option<Span> {
        self.sender.rtt.srtt()
    }

    /// The round-trip time measured last, unless it was taken before.
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.rtt.take_latest()
    }

    /// The retransmission timeout in force, backed off if it is.
    #[inline]
    pub fn rto(&self) -> Span {
        self.sender.rtt.rto()
    }

    /// The rate at which data is paced by the congestion control, in octets a second, where it has one of its
    /// own.
    pub fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
        self.sender.congestion.pacing_rate_bytes_per_s()
    }

    /// The rate at which data is paced, in octets a second: the congestion control's, or the window's over
    /// the round trip; `None` where nothing is paced, or no round trip measured.
    pub fn paced_bytes_per_s(&self) -> Option<u64> {
        self.sender.paced_bytes_per_s()
    }

    /// Octets that count as in flight: neither acknowledged nor told of by SACK nor taken as lost, as far as
    /// the recovery keeps that.
    pub fn in_flight_bytes(&self) -> u64 {
        match &self.sender.recovery {
            Recovery::Rack(rack) => rack.sent.in_flight_bytes(),
            _ => self.sender.pipe_bytes(),
        }
    }

    /// The window in which RACK takes segments for reordered (RFC 8985 6.2, step 4); `None` without RACK, or
    /// before the first measurement.
    pub fn reordering_window(&self) -> Option<Span> {
        let Recovery::Rack(rack) = &self.sender.recovery else { return None };
        let srtt = self.sender.rtt.srtt()?;
        Some(rack.detection.window(&rack.conditions(Some(srtt), self.sender.smss)))
    }

    /// Why the data was sent again that last was.
    pub fn last_repeated_for(&self) -> Reason {
        self.sender.repeats_for
    }

    /// Whether the segment made last, which is this one, is a tail loss probe (RFC 8985 section 7), of new
    /// data or again.
    pub fn is_loss_probe(&self, segment: &Segment) -> bool {
        let Recovery::Rack(rack) = &self.sender.recovery else { return false };
        let fin = u64::from(segment.flags.contains(Flags::FIN));
        let end = self.payload_offset(segment) + 1 + u64::from(segment.payload_bytes) + fin;
        rack.probe.is_some_and(|probe| probe.end == self.sender.snd_max && end == probe.end)
    }

    /// What proved a reduction of the window to be needless, and from where on the stream was outstanding by
    /// then, unless that was taken before.
    pub fn take_undone(&mut self) -> Option<(Proof, u64)> {
        let (proof, from) = self.sender.extras.as_mut()?.undone_by.take()?;
        Some((proof, from.saturating_sub(1)))
    }

    /// Whether the congestion window is below the slow-start threshold.
    pub fn is_in_slow_start(&self) -> bool {
        self.sender.congestion.cwnd_bytes() < self.sender.congestion.ssthresh_bytes()
    }

    /// What is repaired: losses that ACKs told of, or those of a timeout.
    pub fn repair(&self) -> Option<Reason> {
        match &self.sender.recovery {
            Recovery::Rack(rack) => match rack.repair {
                Repair::None => None,
                Repair::Fast => Some(Reason::Rack),
                Repair::Timeout => Some(Reason::Timeout),
            },
            _ if self.sender.snd_nxt < self.sender.snd_max => Some(self.sender.goes_back_for),
            recovery => recovery.is_recovering().then_some(Reason::DuplicateAcks),
        }
    }

    /// The state of a congestion control that has states of its own.
    pub fn congestion_state(&self) -> Option<&'static str> {
        self.sender.congestion.state_name()
    }

    #[cfg(test)]
    pub(in crate::tcp) fn bbr(&self) -> &super::congestion::Bbr {
        let super::congestion::Controller::Bbr(control) = &self.sender.congestion else {
            unreachable!("another control")
        };
        control
    }

    /// The last sample of the rate of delivery, where transmissions are kept.
    pub fn delivery_rate(&self) -> Option<RateSample> {
        match &self.sender.recovery {
            Recovery::Rack(rack) => Some(rack.rate),
            _ => None,
        }
    }

    /// Octets the application has written, those that wait for room in the send buffer included.
    pub fn written_bytes(&self) -> u64 {
        self.sender.send_buffer().map_or(self.sender.written, |buffer| buffer.written)
    }

    /// The size of the send buffer in octets; `None` without a limit.
    pub fn send_buffer_bytes(&self) -> Option<u64> {
        self.sender.send_buffer().map(|buffer| buffer.size_bytes)
    }

    /// Stream offset up to which the peer has acknowledged.
    #[inline]
    pub fn snd_una_offset(&self) -> u64 {
        self.sender.acknowledged()
    }

    /// The port of this end.
    pub fn local_port(&self) -> u16 {
        self.local_port
    }

    /// Stream offset of the next octet to send; goes back after a timeout.
    pub fn snd_nxt_offset(&self) -> u64 {
        self.sender.snd_nxt.saturating_sub(1).min(self.sender.written)
    }

    /// Whether the segment made last, which is this one, probes a closed window (RFC 9293 3.8.6.1): it leaves
    /// what comes next where it was.
    pub fn is_window_probe(&self, segment: &Segment) -> bool {
        segment.payload_bytes > 0 && segment.seq == to_wire(self.sender.iss, self.sender.snd_nxt)
    }

    /// Stream offset up to which anything has been sent.
    pub fn snd_max_offset(&self) -> u64 {
        self.sender.highest_sent().saturating_sub(1).min(self.sender.written)
    }

    /// Stream offset up to which the peer's stream has arrived in order.
    #[inline]
    pub fn received_offset(&self) -> u64 {
        self.receiver.stream_offset()
    }

    /// The stream offset at which the payload of `segment`, sent by this end, starts: where to fetch its
    /// octets.
    pub fn payload_offset(&self, segment: &Segment) -> u64 {
        self.sent_offset(segment.seq)
    }

    /// The offset in this end's stream that a sequence number on the wire stands for: of a segment sent, of
    /// an acknowledgement, or of the edge of a SACK block.
    pub fn sent_offset(&self, sequence_number: u32) -> u64 {
        let near = self.sender.snd_max;
        super::sequence::from_wire(self.sender.iss, sequence_number, near).unwrap_or(0).saturating_sub(1)
    }

    /// The options of a segment that is neither SYN nor RST.
    #[inline(always)]
    fn options(&mut self, now: Time, payload_bytes: u32) -> Options {
        let timestamps = self.agreed_timestamps(now);
        let sack = if self.receiver.has_blocks_to_tell() {
            self.sack_blocks(payload_bytes)
        } else {
            SackBlocks::default()
        };
        let mut options = Options { timestamps, sack, ..Options::default() };
        if self.extended.has(Extended::LIVENESS) {
            self.add_user_timeout(&mut options, payload_bytes);
        }
        if self.ecn.accurate {
            self.add_accurate_option(&mut options, payload_bytes);
        }
        options
    }

    /// A segment with the fields that every segment of this connection has, and its acknowledgement, which is
    /// hereby sent.
    #[inline(always)]
    fn segment(&mut self, offset: u64, flags: Flags, payload_bytes: u32, options: Options) -> Segment {
        let window = self.receiver.advertise();
        self.receiver.acknowledged();
        self.timers.stop(Timer::DelayedAck);
        Segment {
            source_port: self.local_port,
            destination_port: self.remote_port,
            seq: to_wire(self.sender.iss, offset),
            ack: to_wire(self.receiver.irs, self.receiver.rcv_nxt),
            flags: flags | Flags::ACK,
            window,
            payload_bytes,
            options,
        }
    }

    /// Data of one-way connections: with number and window of the last acknowledgement, so that it tells
    /// nothing new.
    #[cold]
    fn one_way_data(&mut self, now: Time, offset: u64, flags: Flags, payload_bytes: u32) -> Segment {
        let receiver = &self.receiver;
        Segment {
            source_port: self.local_port,
            destination_port: self.remote_port,
            seq: to_wire(self.sender.iss, offset),
            ack: to_wire(receiver.irs, receiver.last_ack_sent),
            flags: Flags(flags.0 & !Flags::ECE.0) | Flags::ACK,
            window: receiver.last_window(),
            payload_bytes,
            options: Options { timestamps: self.agreed_timestamps(now), ..Options::default() },
        }
    }

    /// Octets of the options on every segment.
    #[inline]
    fn option_bytes(&self) -> u32 {
        if self.extended.has(Extended::TIMESTAMPS) { TIMESTAMPS_BYTES } else { 0 }
    }

    /// Whether what is sent now has options.
    #[inline(always)]
    fn has_options(&self) -> bool {
        self.steady != Steady::Plain
            && (self.extended.has(Extended::TIMESTAMPS)
                || self.receiver.has_blocks_to_tell()
                || self.ecn.accurate
                || self.extended.has(Extended::LIVENESS))
    }

    /// The option of every segment, resets included, once both ends have agreed on it (RFC 7323 3.2).
    #[inline]
    fn agreed_timestamps(&self, now: Time) -> Option<Timestamps> {
        self.extended
            .has(Extended::TIMESTAMPS)
            .then(|| Timestamps { value: self.timestamp_clock(now), echo_reply: self.receiver.ts_recent })
    }

    /// The timestamp clock, in ticks of the connection's clock.
    #[inline]
    fn timestamp_clock(&self, now: Time) -> u32 {
        // A known divisor costs a multiplication.
        let ticks = match self.timestamp_tick() {
            FINEST_TICK => now.as_ns() / FINEST_TICK.as_ns(),
            tick => now.as_ns() / tick.as_ns(),
        };
        ticks as u32
    }

    fn timestamp_tick(&self) -> Span {
        self.config.clock_granularity.max(FINEST_TICK)
    }
}

impl Machine for Connection {
    #[inline]
    fn poll_timeout(&self) -> Option<Time> {
        let at = self.timers.earliest();
        (at != Time::MAX).then_some(at)
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.handle_timeout_at(cx.now);
    }
}

#[cfg(test)]
mod tests;
