//! A TCP connection under a script.

mod notation;

use notation::{Expected, Settings, Step, event_text, parse_segment, parse_step, print_segment, set};
use std::sync::Arc;

use roamsim_engine::Span;
use roamsim_protocols::tcp::{Codepoint, Config, Connection, Flags, Options, SackBlocks, Segment, State};
use roamsim_protocols::{Context, Machine};

use crate::script::Subject;

/// Runs a script; the error says where, what was expected and what happened.
pub fn run(name: &str, text: &str) -> Result<(), String> {
    crate::script::run::<Tcp>(name, text)
}

/// The connection; numbers of scripts are relative to the initial ones.
struct Tcp {
    connection: Connection,
    iss: u32,
    irs: u32,
}

impl Subject for Tcp {
    type Settings = Settings;
    type Step = Step;
    type Expected = Expected;
    type Sent = Segment;

    const TRACE: &'static str = "TCP_SCRIPT";

    fn settings() -> Settings {
        Settings {
            config: Config::default(),
            iss: 100_000,
            irs: 200_000,
            own_cookie: None,
            known_server: None,
        }
    }

    fn set(settings: &mut Settings, key: &str, text: &str) -> Result<(), String> {
        set(settings, key, text)
    }

    fn new(settings: Settings) -> Result<Tcp, String> {
        let Settings { config, iss, irs, own_cookie, known_server } = settings;
        let mut connection = Connection::new(&Arc::new(config), 1000, 2000, iss);
        if let Some(cookie) = own_cookie {
            connection.set_own_cookie(cookie);
        }
        if let Some(known) = known_server {
            connection.set_known_server(known);
        }
        Ok(Tcp { connection, iss, irs })
    }

    fn parse_step(text: &str) -> Result<Step, String> {
        parse_step(text)
    }

    fn parse_expected(text: &str) -> Result<Expected, String> {
        parse_segment(text)
    }

    fn step(&mut self, cx: &mut Context<'_>, step: &Step) -> Result<(), String> {
        let tcp = &mut self.connection;
        match step {
            Step::Connect => tcp.open(),
            Step::Listen => tcp.listen(),
            Step::Write(bytes) => tcp.write(*bytes),
            Step::PathMss(bytes) => tcp.set_path_mss(*bytes),
            Step::Close => tcp.close(),
            Step::CloseHalfDuplex => tcp.close_half_duplex(),
            Step::Abort => tcp.abort(),
            Step::Read(bytes) => tcp.read(*bytes),
            Step::SetReading(reading) => tcp.set_reading(*reading),
            Step::Arrives(segment, codepoint) => {
                let segment = Segment {
                    options: shift_blocks(&segment.options, self.iss),
                    seq: segment.seq.wrapping_add(self.irs),
                    ack: segment.ack.wrapping_add(self.iss),
                    ..segment.clone()
                };
                match codepoint {
                    Codepoint::NotCapable => {}
                    Codepoint::Marked => tcp.note_mark(&segment),
                    said => tcp.note_codepoint(*said),
                }
                tcp.handle_segment(cx, &segment);
            }
        }
        Ok(())
    }

    fn machine(&mut self) -> &mut impl Machine {
        &mut self.connection
    }

    /// With relative numbers.
    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        let segment = self.connection.poll_transmit(cx)?;
        let acknowledges = segment.flags.contains(Flags::ACK);
        Some(Segment {
            options: shift_blocks(&segment.options, self.irs.wrapping_neg()),
            seq: segment.seq.wrapping_sub(self.iss),
            ack: if acknowledges { segment.ack.wrapping_sub(self.irs) } else { 0 },
            ..segment
        })
    }

    fn poll_event(&mut self) -> Option<String> {
        self.connection.poll_event().map(event_text)
    }

    fn text(&self, sent: &Segment) -> String {
        print_segment(sent)
    }

    fn fits(&self, expected: &Expected, sent: &Segment) -> bool {
        expected.matches(sent)
    }

    fn value_of(&self, name: &str) -> Result<String, String> {
        let tcp = &self.connection;
        let stats = tcp.stats();
        let span = |span: Span| format!("{}s", span.as_secs_f64());
        Ok(match name {
            "state" => match tcp.state() {
                State::Closed => "CLOSED",
                State::Listen => "LISTEN",
                State::SynSent => "SYN_SENT",
                State::SynReceived => "SYN_RECEIVED",
                State::Established => "ESTABLISHED",
                State::FinWait1 => "FIN_WAIT_1",
                State::FinWait2 => "FIN_WAIT_2",
                State::CloseWait => "CLOSE_WAIT",
                State::Closing => "CLOSING",
                State::LastAck => "LAST_ACK",
                State::TimeWait => "TIME_WAIT",
            }
            .to_owned(),
            "cwnd" => tcp.cwnd_bytes().to_string(),
            "ssthresh" => tcp.ssthresh_bytes().to_string(),
            "flight" => tcp.flight_bytes().to_string(),
            "smss" => tcp.smss_bytes().to_string(),
            "recovering" => tcp.is_recovering().to_string(),
            "ecn_capable" => tcp.is_ecn_capable().to_string(),
            "has_ecn" => tcp.has_ecn().to_string(),
            "ecn_marks_received" => stats.ecn_marks_received.to_string(),
            "ecn_reductions" => stats.ecn_reductions.to_string(),
            "rto" => span(tcp.rto()),
            "srtt" => tcp.srtt().map_or("none".to_owned(), span),
            "received" => tcp.received_offset().to_string(),
            "acknowledged" => tcp.snd_una_offset().to_string(),
            "segments_sent" => stats.segments_sent.to_string(),
            "data_segments_sent" => stats.data_segments_sent.to_string(),
            "pure_acks_sent" => stats.pure_acks_sent.to_string(),
            "control_segments_sent" => stats.control_segments_sent.to_string(),
            "retransmissions" => stats.retransmissions.to_string(),
            "duplicate_ack_retransmissions" => stats.data_retransmissions_for[0].to_string(),
            "rack_retransmissions" => stats.data_retransmissions_for[1].to_string(),
            "loss_probe_retransmissions" => stats.data_retransmissions_for[2].to_string(),
            "timeout_retransmissions" => stats.data_retransmissions_for[3].to_string(),
            "repair" => tcp.repair().map_or("none".to_owned(), |why| format!("{why:?}")),
            "in_flight" => tcp.in_flight_bytes().to_string(),
            "reordering_window" => tcp.reordering_window().map_or("none".to_owned(), span),
            "timeouts" => stats.timeouts.to_string(),
            "fast_retransmits" => stats.fast_retransmits.to_string(),
            "delivery_rate" => tcp.delivery_rate().unwrap_or_default().rate_bytes_per_s().to_string(),
            "app_limited" => tcp.delivery_rate().unwrap_or_default().app_limited.to_string(),
            "pacing_rate" => tcp.pacing_rate_bytes_per_s().unwrap_or_default().to_string(),
            "congestion_state" => tcp.congestion_state().unwrap_or("none").to_owned(),
            "tail_loss_probes" => stats.tail_loss_probes.to_string(),
            "keep_alive_probes" => stats.keep_alive_probes_sent.to_string(),
            "given_up" => tcp.given_up().map_or("none".to_owned(), |why| format!("{why:?}")),
            "cookie_requested" => stats.cookie_requested.to_string(),
            "syn_data_sent" => stats.syn_data_sent.to_string(),
            "syn_data_taken" => stats.syn_data_taken.to_string(),
            "bytes_retransmitted" => stats.bytes_retransmitted.to_string(),
            "user_timeout" => tcp.user_timeout().map_or("none".to_owned(), span),
            "send_buffer" => tcp.send_buffer_bytes().map_or("none".to_owned(), |bytes| bytes.to_string()),
            "send_buffer_limited" => span(stats.send_buffer_limited),
            "undone_reductions" => stats.undone_reductions.to_string(),
            "window_probes_sent" => stats.window_probes_sent.to_string(),
            "rtt_samples" => stats.rtt_samples.to_string(),
            "duplicate_acks_received" => stats.duplicate_acks_received.to_string(),
            "duplicate_segments_received" => stats.duplicate_segments_received.to_string(),
            "out_of_order_segments_received" => stats.out_of_order_segments_received.to_string(),
            "segments_refused" => stats.segments_refused.to_string(),
            _ => return Err(format!("  unknown name `{name}`")),
        })
    }
}

/// The options with the edges of SACK blocks moved by `by`.
fn shift_blocks(options: &Options, by: u32) -> Options {
    let mut sack = SackBlocks::default();
    for (left, right) in options.sack.as_slice() {
        sack.push(left.wrapping_add(by), right.wrapping_add(by));
    }
    if let Some(accurate) = options.sack.accurate() {
        sack.set_accurate(accurate);
    }
    if let Some(cookie) = options.sack.fast_open() {
        sack.set_fast_open(cookie);
    }
    if let Some(option) = options.sack.user_timeout() {
        sack.set_user_timeout(option);
    }
    Options { sack, ..options.clone() }
}
