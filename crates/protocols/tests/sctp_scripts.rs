//! SCTP scripts in packetdrill's notation, run straight on the machine: one behaviour a file in
//! `sctp_scripts/`.
//!
//! Comments, `--key=value` settings, times and assertions are as in the scripts of TCP. This end has the
//! addresses 0, 1 and so on (`--local_addresses`), the peer 10, 11 and so on (`--remote_addresses`); both
//! first TSNs and this end's tag are 1, packets hold 1028 octets, so that the largest DATA chunk has 1016,
//! and there are no HEARTBEATs, if no setting says otherwise. The actions:
//! - `connect()`, `listen()`, `close()`, `abort()`, `set_primary(0-11)`
//! - `send(BYTES [sid N] [count N] [unordered])`, `reconfigure(from N [add N] [delete N] [primary N])`; with
//!   `= -1` behind it the call must be refused
//! - `< [0-10] sctp[(TAG)]: CHUNK[...]; ...`: these chunks arrive, from the address behind the dash at the
//!   one before; fields left out are those of the peer's defaults. A HEARTBEAT_ACK without information
//!   answers the HEARTBEAT sent last on that path, a COOKIE_ECHO brings the cookie sent last
//! - `> [0-10] sctp[(TAG)]: CHUNK[...]; ...`: this packet is sent, at this very nanosecond (with `1~+.5` from
//!   1 s to 1.5 s), and is the next one sent; `...` stands for anything, a path or tag left out is not looked
//!   at
//! - `event NAME ...`: the application has been told so since the last such line
//! - `%{ assert NAME OPERATOR VALUE; ... }%`: the machine's state and counters; `cwnd[0-11]` is that of one
//!   path
//!
//! A packet sent that no line expects is an error, also after the last line until its time.
//! `SCTP_SCRIPT=name` in the environment runs one script and prints what is sent.

#[path = "script/folder.rs"]
mod folder;
mod script;
mod sctp_script;

use folder::scripts;
use sctp_script::run;

#[test]
fn every_script_holds() {
    let only = std::env::var("SCTP_SCRIPT").ok();
    let mut scripts = scripts("sctp_scripts");
    assert!(scripts.len() >= 25, "only {} scripts", scripts.len());
    scripts.retain(|(name, _)| only.as_deref().is_none_or(|only| name == only));
    assert!(!scripts.is_empty(), "no script of that name");
    let failures: Vec<String> =
        scripts.iter().filter_map(|(name, text)| run(&format!("{name}.pkt"), text).err()).collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), scripts.len(), failures.join("\n"));
}

const HEAD: &str = "// a\n// b\n// c\n";

fn error_of(body: &str) -> String {
    run("t.pkt", &format!("{HEAD}{body}")).expect_err("the script must fail")
}

#[test]
fn a_wrong_packet_is_told_with_line_expected_and_got() {
    let error = error_of("0 connect()\n+0 > sctp: INIT[flgs=0, tag=2, ...]\n");
    assert_eq!(
        error,
        "t.pkt:5: +0 > sctp: INIT[flgs=0, tag=2, ...]\n  expected  0.000000000s > sctp: INIT[flgs=0, tag=2, ...]\n  \
         got       0.000000000s > 0-10 sctp(0): INIT[flgs=0, tag=1, a_rwnd=6291456, os=10, is=65535, tsn=1]"
    );
    let error = error_of("0 connect()\n+0 > 0-11 sctp: INIT[...]\n");
    assert!(error.contains("got       0.000000000s > 0-10"), "{error}");
    let error = error_of("0 connect()\n+0 > sctp(1): INIT[...]\n");
    assert!(error.contains("sctp(0)"), "{error}");
}

#[test]
fn a_packet_at_the_wrong_time_is_told() {
    let error = error_of("0 connect()\n+0 > sctp: INIT[...]\n+.9 > sctp: INIT[...]\n");
    assert!(error.contains("got       nothing until then"), "{error}");
    let error = error_of("0 connect()\n+0 > sctp: INIT[...]\n+1.1 > sctp: INIT[...]\n");
    assert!(error.contains("got       1.000000000s > 0-10"), "{error}");
    assert_eq!(
        run("t.pkt", &format!("{HEAD}0 connect()\n+0 > sctp: INIT[...]\n+.9~+.1 > sctp: INIT[...]\n")),
        Ok(())
    );
}

#[test]
fn a_packet_that_no_line_expects_is_told() {
    let error = error_of("0 connect()\n+0 send(10)\n");
    assert!(error.starts_with("t.pkt:5:") && error.contains("expected  nothing"), "{error}");
    let error = error_of("0 connect()\n");
    assert!(error.starts_with("t.pkt:5: end of script"), "{error}");
}

#[test]
fn what_is_no_script_is_told() {
    for (body, part) in [
        ("0 conect()\n", "unknown action"),
        ("0 < tcp: SACK[]\n", "`tcp` is not `sctp`"),
        ("0 < sctp: SAK[]\n", "unknown chunk `SAK`"),
        ("0 < sctp: SACK\n", "`SACK` is not `NAME[...]`"),
        ("0 < 0+10 sctp: SACK[]\n", "`0+10` is no path"),
        ("0 < sctp: SACK[gaps=2:3]\n", "`2:3` is no list"),
        ("0 < sctp: DATA[len=3]\n", "16 octets"),
        ("0 send(x)\n", "no number"),
        ("0 %{ assert cwmd == 1 }%\n", "unknown name `cwmd`"),
        ("0 %{ assert cwnd[0+1] == 1 }%\n", "is no path"),
        ("--packt=1\n0 connect()\n", "unknown setting `packt`"),
    ] {
        let error = error_of(body);
        assert!(error.contains(part), "{body}: {error}");
    }
}
