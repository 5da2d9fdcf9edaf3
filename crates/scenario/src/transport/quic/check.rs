//! Settings of QUIC.

use super::model::{Quic, QuicCongestionControl, QuicCrypto};
use crate::access::Network;
use crate::digested;
use crate::report::{Report, Step, join};
use crate::suggest::nearest;
use crate::topology::Topology;
use crate::transport::tcp::control::{class, counting_marks, refuse_file};
use crate::transport::{Udp, own};
use roamsim_engine::Span;
use roamsim_protocols::tcp::congestion::Kind;

/// The largest number that packets can tell (RFC 9000 section 16), and the largest window.
const MOST_WINDOW_BYTES: u64 = 1 << 32;

/// The smallest congestion window: two datagrams (RFC 9002 section 7.2).
const MIN_WINDOW_BYTES: u64 = 2 * Quic::MIN_DATAGRAM_BYTES;

/// The largest certificate chain, whose message the library's buffer of 16 KiB holds.
const MAX_CERTIFICATE_BYTES: u64 = 15_000;

/// The shortest time between two ports (chosen: NATs keep one for 2 minutes or more, RFC 4787 section 4.3).
const SHORTEST_MAPPING: Span = Span::from_secs(1);

/// Checks the settings at `at`; `ends` are the transport's nodes where a route between them exists.
pub(crate) fn check(
    at: &[Step],
    quic: &Quic,
    ends: Option<(usize, usize)>,
    network: &Network<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    if !cfg!(feature = "quic") {
        let message = "this build has no QUIC, because it was made without the cargo feature `quic`";
        report.add(&join(at, ["protocol"]), message, "build with that feature, which is on by default");
    }
    if cfg!(feature = "quic") && quic.crypto == QuicCrypto::Tls && !cfg!(feature = "tls") {
        let message = "this build has no TLS, because it was made without the cargo feature `tls`";
        report.add(
            &join(at, ["crypto"]),
            message,
            "build with that feature, which wheels have, or leave it out",
        );
    }
    let least = [
        (
            "initial_window",
            quic.initial_window_bytes,
            MIN_WINDOW_BYTES,
            "two datagrams (RFC 9002 section 7.2)",
        ),
        ("receive_window", quic.receive_window_bytes, Quic::MIN_DATAGRAM_BYTES, "one datagram"),
    ];
    for (key, bytes, least_bytes, why) in least {
        if bytes < least_bytes {
            let message = format!("a window of {bytes} B holds less than {why}");
            report.add(&join(at, [key]), message, format!("write \"{least_bytes}B\" or more"));
        } else if bytes > MOST_WINDOW_BYTES {
            let message = format!("a window of {bytes} B is more than a sender keeps in memory here");
            report.add(&join(at, [key]), message, "write \"4GiB\" or less");
        }
    }
    if !(1..=MAX_CERTIFICATE_BYTES).contains(&quic.certificate_bytes) {
        let message = format!("a certificate chain has 1 to {MAX_CERTIFICATE_BYTES} B here");
        let help = format!("write \"{MAX_CERTIFICATE_BYTES}B\" or less");
        report.add(&join(at, ["certificate_size"]), message, help);
    }
    if quic.keep_alive > Span::ZERO
        && quic.max_idle_timeout > Span::ZERO
        && quic.keep_alive >= quic.max_idle_timeout
    {
        let message = "`keep_alive` is no shorter than `max_idle_timeout`, so it keeps no connection";
        report.add(&join(at, ["keep_alive"]), message, "write a third of `max_idle_timeout`, or less");
    }
    if quic.rebinding_interval > Span::ZERO && quic.rebinding_interval < SHORTEST_MAPPING {
        let message = format!("a NAT that keeps a port for {} passes on no answer", quic.rebinding_interval);
        let help = format!("write \"{SHORTEST_MAPPING}\" or more");
        report.add(&join(at, ["rebinding_interval"]), message, help);
    }
    check_control(at, quic, report);
    check_own(at, quic, report);
    check_marks(at, quic, report);
    let least_bytes = Quic::MIN_DATAGRAM_BYTES + Udp::HEADER_BYTES + network.general.ip.header_bytes();
    // With several addresses it may use any link.
    let path_bytes =
        ends.and_then(|ends| match [ends.0, ends.1].iter().any(|&end| network.nodes[end].multihomed) {
            true => Some(topology.smallest_mtu()).filter(|&mtu_bytes| mtu_bytes < least_bytes),
            false => topology.too_small_mtu(ends, least_bytes),
        });
    if let Some(path_bytes) = path_bytes {
        let message = format!(
            "QUIC needs packets of {least_bytes} B (RFC 9000 section 14), and the path carries {path_bytes} B at most"
        );
        report.add(at, message, "raise the `mtu` of the links");
    }
}

/// Refuses a congestion control that does not exist.
fn check_control(at: &[Step], quic: &Quic, report: &mut Report<'_>) {
    let (named, steps) = (&quic.congestion_control, join(at, ["congestion_control"]));
    if quic.control().is_some() || quic.law().is_some() {
        return;
    }
    if digested::is_file(named) {
        return refuse_file(&steps, named, report);
    }
    let names = || QuicCongestionControl::all().map(QuicCongestionControl::name);
    let meant = nearest(named, names()).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    let all: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let help = format!("{meant}There are {}, and classes in Python by FILE.py:CLASS", all.join(", "));
    report.add(&steps, format!("there is no congestion control `{named}` over QUIC"), help);
}

/// Keys that belong to one congestion control act on that one alone.
fn check_own(at: &[Step], quic: &Quic, report: &mut Report<'_>) {
    if quic.law().is_some() {
        return own::check(at, &quic.own, None, "a class in Python", None, report);
    }
    let Some(control) = quic.control() else { return };
    let with = format!("congestion_control = \"{}\"", control.name());
    own::check(at, &quic.own, control.kind(), &with, Some("congestion_control"), report);
    if let Some((key, value)) = control.kind().and_then(Kind::only_traced)
        && quic.own.get(key) == Some(value)
    {
        let message = format!(
            "`{} = {}` shows only in the trace `states`, which QUIC does not have",
            key.name,
            key.text(value)
        );
        report.add(&join(at, [key.place()]), message, "leave it out, or choose another value");
    }
}

/// What ECN and the congestion control ask of each other.
fn check_marks(at: &[Step], quic: &Quic, report: &mut Report<'_>) {
    let control = quic.control();
    let counting = control.filter(|control| control.counts_marks());
    if let Some(control) = counting
        && !quic.ecn
    {
        let help = "write ecn = true as well, and a queue that marks, such as `dualpi2`";
        let message = format!("`{}` reduces its window by marks, and ECN is off", control.name());
        report.add(&join(at, ["congestion_control"]), message, help);
    }
    // Of the keys that controls refuse, QUIC has this one.
    let refused = control.and_then(|control| control.kind()?.refuses().iter().find(|of| of.key == "ecn"));
    if let Some(refusal) = refused.filter(|_| quic.ecn) {
        report.add(&join(at, ["ecn"]), refusal.message, refusal.help);
    }
    if quic.l4s && counting.is_none() {
        let message = format!(
            "`l4s` promises a window that falls by the share of marks (RFC 9331 section 4.3); that of `{}` does not",
            class(&quic.congestion_control)
        );
        let help = format!("write congestion_control = {} and ecn = true, or leave it out", counting_marks());
        report.add(&join(at, ["l4s"]), message, help);
    }
}
