//! Worlds by the clock, whose devices are ends of Unix sockets.

use super::*;
use roamsim_scenario::Format;
use roamsim_scenario::run::{Options, prepare};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;

const SCENARIO: &str = r#"
    scenario = { name = "x", duration = "300ms", ip = "ipv4" }
    node = [{ name = "a", external = true }, { name = "b", external = true }]
    link = [{ name = "wire", between = ["a", "b"], rate = "8Mb/s", delay = "20ms" }]
"#;

/// A program's end of a device, and the device.
fn device() -> (UnixDatagram, File) {
    let (program, device) = UnixDatagram::pair().expect("sockets");
    device.set_nonblocking(true).expect("a socket");
    program.set_nonblocking(true).expect("a socket");
    (program, File::from(OwnedFd::from(device)))
}

#[test]
fn a_packet_goes_through_by_the_clock_and_the_end_ends_it() {
    let scenario =
        Scenario::parse(SCENARIO, "x", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut prepared = prepare(&scenario, Options::default()).expect("it is built");
    let ((a, a_device), (b, b_device)) = (device(), device());
    let gates = [(NodeId(0), a_device), (NodeId(1), b_device)].map(|(node, device)| Gate { node, device });
    let mut packet = vec![0x45, 0, 0, 30, 0, 0, 0x40, 0, 64, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.resize(30, 9);
    let sum: u32 = packet[..20].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let checksum = !((sum & 0xFFFF) + (sum >> 16)) as u16;
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    a.send(&packet).expect("room for a packet");
    prepared.begin();
    let mut clock = Clock::default();
    let begun = Instant::now();
    assert_eq!(clock.go(&mut prepared, &gates, &[]).expect("a run"), Ended::Duration);
    assert!(begun.elapsed() >= Duration::from_millis(300));
    let mut buffer = [0; 100];
    let length = b.recv(&mut buffer).expect("a packet");
    assert_eq!(buffer[..length], packet);
    assert_eq!((clock.lateness.packets(), clock.unwritten), (1, 0));
    // Nobody else has anything.
    assert!(a.recv(&mut buffer).is_err() && b.recv(&mut buffer).is_err());
    prepared.conclude();
    prepared.finish().expect("packets add up");
}

#[test]
fn time_goes_at_the_speed_that_is_set_and_the_world_is_shown() {
    let text = SCENARIO.replace("300ms", "60ms");
    let scenario = Scenario::parse(&text, "x", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"));
    for (speed, least_ms, most_ms) in [(0.25, 240, 1200), (60.0, 1, 50)] {
        let mut prepared = prepare(&scenario, Options::default()).expect("it is built");
        prepared.begin();
        let (mut clock, board) = (Clock::default(), Arc::default());
        clock.set_speed(speed);
        clock.show_on(Arc::clone(&board));
        let begun = Instant::now();
        assert_eq!(clock.go(&mut prepared, &[], &[]).expect("a run"), Ended::Duration);
        let took_ms = begun.elapsed().as_millis();
        assert!((least_ms..most_ms).contains(&took_ms), "{speed}: {took_ms} ms");
        let shown = board.lock().expect("nobody panics");
        let ends: Vec<_> = shown.links.iter().map(|link| link.ends.join(" ")).collect();
        assert_eq!(ends, ["wire a b", "wire b a"]);
        assert!(shown.flows.is_empty() && shown.stations.is_empty());
    }
}

#[test]
fn whoever_has_something_to_say_wakes_it() {
    let scenario =
        Scenario::parse(SCENARIO, "x", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut prepared = prepare(&scenario, Options::default()).expect("it is built");
    prepared.begin();
    let (other, wake) = device();
    other.send(&[1]).expect("room");
    let mut clock = Clock::default();
    assert_eq!(clock.go(&mut prepared, &[], &[wake]).expect("a run"), Ended::Woken);
    assert!(prepared.world().now() < prepared.end());
}

#[test]
fn it_wakes_so_much_earlier_as_the_kernel_oversleeps() {
    let us = Duration::from_micros;
    let mut margin = Margin(Margin::LEAST);
    margin.overslept(us(10));
    assert_eq!(margin.0, us(60));
    margin.overslept(us(100));
    assert_eq!(margin.0, us(125));
    // A sixteenth less.
    margin.overslept(us(10));
    assert_eq!(margin.0, Duration::from_nanos(117_188));
    margin.overslept(us(5000));
    assert_eq!(margin.0, us(200));
    for _ in 0..40 {
        margin.overslept(Duration::ZERO);
    }
    assert_eq!(margin.0, us(60));
}
