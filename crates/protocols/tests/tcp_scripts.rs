//! Scripts in packetdrill's notation, run straight on the machine: one behaviour a file in `tcp_scripts/`.
//!
//! A script starts with three or more lines of comment that say what is tested, then `--key=value` settings
//! (the names of [`Config`], spans as `200ms` or `1s`, `off` for none), then lines of a time and an action. A
//! time is absolute (`1.5`) or follows the line before (`+.2`). The actions:
//! - `connect()`, `listen()`, `write(BYTES)`, `close()`, `close_half_duplex()`, `abort()`, `read(BYTES)`,
//!   `set_reading(on|off)`
//! - `< FLAGS SEQ:END(LENGTH) [ack N] [win N] [<OPTIONS>]`: this segment arrives (window 65535 if left out);
//!   behind `< [ce]`, `[ect0]` or `[ect1]` in a packet that says so
//! - `> FLAGS SEQ:END(LENGTH) [ack N] [win N] [<OPTIONS>]`: this segment is sent, at this very nanosecond,
//!   and is the next one sent; a window left out is not looked at, options left out are none, `<any>` any
//! - `event NAME [OFFSET]`: the application has been told so since the last such line
//! - `%{ assert NAME OPERATOR VALUE; ... }%`: the machine's state and counters
//!
//! Sequence numbers are relative, the SYN is 0. A segment sent that no line expects is an error, also after
//! the last line until its time. `TCP_SCRIPT=name` in the environment runs one script and prints what is
//! sent.

#[path = "script/folder.rs"]
mod folder;
mod script;
mod tcp_script;

use folder::scripts;
use tcp_script::run;

#[test]
fn every_script_holds() {
    let only = std::env::var("TCP_SCRIPT").ok();
    let mut scripts = scripts("tcp_scripts");
    assert!(scripts.len() >= 25, "only {} scripts", scripts.len());
    scripts.retain(|(name, _)| only.as_deref().is_none_or(|only| name == only));
    assert!(!scripts.is_empty(), "no script of that name");
    let failures: Vec<String> =
        scripts.iter().filter_map(|(name, text)| run(&format!("{name}.pkt"), text).err()).collect();
    assert!(failures.is_empty(), "{} of {} failed\n{}", failures.len(), scripts.len(), failures.join("\n"));
}

/// A variant is distinct: it has five scripts or more that its neighbours fail, though they negotiate the
/// same options.
#[test]
fn each_variant_has_scripts_that_its_neighbours_fail() {
    let scripts = scripts("tcp_scripts");
    let neighbours = [
        ("tahoe", &["reno"][..], "off"),
        ("reno", &["tahoe", "newreno"], "off"),
        ("newreno", &["reno", "tahoe"], "off"),
        ("sack", &["newreno", "cubic"], "on"),
        ("vegas", &["reno", "newreno"], "off"),
        ("cubic", &["sack", "newreno"], "on"),
    ];
    for (variant, neighbours, sack) in neighbours {
        let setting = format!("--variant={variant}");
        let own =
            scripts.iter().filter(|(_, text)| text.lines().any(|l| l.split(' ').any(|word| word == setting)));
        let distinct = own.filter(|(name, text)| {
            neighbours.iter().all(|neighbour| {
                run(name, &text.replace(&setting, &format!("--variant={neighbour} --sack={sack}"))).is_err()
            })
        });
        let names: Vec<&str> = distinct.map(|(name, _)| name.as_str()).collect();
        assert!(names.len() >= 5, "{variant}: only {names:?}");
    }
}

const HEAD: &str = "// a\n// b\n// c\n--mss=1000\n";

fn error_of(body: &str) -> String {
    run("t.pkt", &format!("{HEAD}{body}")).expect_err("the script must fail")
}

#[test]
fn a_wrong_segment_is_told_with_line_expected_and_got() {
    let error = error_of("0 connect()\n+0 > S 1:1(0) <mss 1000,wscale 7>\n");
    assert_eq!(
        error,
        "t.pkt:6: +0 > S 1:1(0) <mss 1000,wscale 7>\n  expected  0.000000000s > S 1:1(0) <mss 1000,wscale 7>\n  \
         got       0.000000000s > S 0:0(0) win 65535 <mss 1000,wscale 7>"
    );
}

#[test]
fn a_segment_at_the_wrong_time_is_told() {
    let error = error_of("0 connect()\n+0 > S 0:0(0) <any>\n+0.9 > S 0:0(0) <any>\n");
    assert!(error.contains("got       nothing until then"), "{error}");
    let error = error_of("0 connect()\n+0 > S 0:0(0) <any>\n+1.1 > S 0:0(0) <any>\n");
    assert!(error.contains("got       1.000000000s > S 0:0(0)"), "{error}");
}

#[test]
fn a_segment_that_no_line_expects_is_told() {
    let error = error_of("0 connect()\n+0 write(10)\n");
    assert!(error.starts_with("t.pkt:6:") && error.contains("expected  nothing"), "{error}");
    let error = error_of("0 connect()\n");
    assert!(error.starts_with("t.pkt:6: end of script"), "{error}");
}

#[test]
fn a_wrong_assertion_is_told() {
    let error = error_of("0 connect()\n+0 > S 0:0(0) <any>\n+0 %{ assert rto == 2s; assert cwnd == 7 }%\n");
    assert!(error.contains("expected  rto == 2s") && error.contains("got       rto == 1s"), "{error}");
    let error = error_of("0 connect()\n+0 > S 0:0(0) <any>\n+0 %{ assert state == LISTEN }%\n");
    assert!(error.contains("got       state == SYN_SENT"), "{error}");
}

#[test]
fn what_is_no_script_is_told() {
    for (body, part) in [
        ("0 conect()\n", "unknown action"),
        ("x connect()\n", "no time"),
        ("0 < Q 0:0(0)\n", "flag `Q`"),
        ("0 < S 0:5(0)\n", "0:5(0)"),
        ("0 write(x)\n", "no number"),
        ("0 %{ assert cwmd == 1 }%\n", "unknown name `cwmd`"),
        ("--nagel=off\n0 connect()\n", "unknown setting `nagel`"),
    ] {
        let error = error_of(body);
        assert!(error.contains(part), "{body}: {error}");
    }
    assert!(run("t.pkt", "// a\n0 connect()\n").unwrap_err().contains("three lines"));
}
