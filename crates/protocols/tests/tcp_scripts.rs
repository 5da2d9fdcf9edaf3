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

/// A repair in [`repairs_in_a_row`].
#[derive(Clone, Copy, PartialEq)]
enum InARow {
    Needed,
    /// The echo is older than the retransmission.
    NeedlessAtItsEnd,
    NeedlessBefore,
}

/// A duplicate report widens the window for reordering to two quarters of a round trip of 100 ms. Then
/// repairs follow, each of one segment or two. The last of them begins after `last_wait_ms`.
fn repairs_in_a_row(kind: InARow, count: u32, last_wait_ms: u32) -> Result<(), String> {
    let mut text = format!(
        "{HEAD}--mss=1012 --variant=sack --rack=on --undo=on --timestamps=on --limited_transmit=off\n\
         1 connect()\n+0 > S 0:0(0) <any>\n\
         +.1 < S. 0:0(0) ack 1 win 65535 <mss 1012,TS val 1 ecr 1000,sackOK>\n+0 > . 1:1(0) ack 1 <any>\n\
         +0 write(2000)\n+0 > . 1:1001(1000) ack 1 <any>\n+0 > P. 1001:2001(1000) ack 1 <any>\n\
         +.1 < . 1:1(0) ack 1 <TS val 2 ecr 1100,sack 1001:2001>\n\
         +.025 > . 1:1001(1000) ack 1 <any>\n\
         +.005 < . 1:1(0) ack 2001 <TS val 3 ecr 1225>\n\
         +.095 < . 1:1(0) ack 2001 <TS val 3 ecr 1225,sack 1:1001>\n"
    );
    let (mut now_ms, mut una) = (1325, 2001);
    for round in 1..=count {
        let wait_ms = if round == count { last_wait_ms } else { 50 };
        let lost = if kind == InARow::NeedlessBefore { 2 } else { 1 };
        let segment = |at: u64| format!("{}:{}(1000) ack 1 <any>\n", una + 1000 * at, una + 1000 * (at + 1));
        let (sacked, end) = (una + 1000 * lost, una + 1000 * (lost + 1));
        let stamp = |echo_ms| format!("<TS val {} ecr {echo_ms}", 3 + round);
        text += &format!("+0 write({})\n", end - una);
        text.extend((0..lost).map(|at| format!("+0 > . {}", segment(at))));
        text += &format!("+0 > P. {}", segment(lost));
        text += &format!("+.1 < . 1:1(0) ack {una} {},sack {sacked}:{end}>\n", stamp(now_ms));
        text += &format!("+.0{wait_ms} > . {}", segment(0));
        text.extend((1..lost).map(|at| format!("+0 > . {}", segment(at))));
        let repeated_ms = now_ms + 100 + wait_ms;
        let (echo, answered_ms) = match kind {
            InARow::Needed => (stamp(repeated_ms), 100),
            _ => (stamp(now_ms), 5),
        };
        let middle = if kind == InARow::NeedlessBefore { una + 1000 } else { end };
        text += &format!("+.{answered_ms:03} < . 1:1(0) ack {middle} {echo}>\n");
        text += &format!("+0 < . 1:1(0) ack {end} {echo}>\n");
        let undone = if kind == InARow::Needed { 1 } else { 1 + round };
        text += &format!("+0 %{{ assert recovering == false; assert undone_reductions == {undone} }}%\n");
        (now_ms, una) = (repeated_ms + answered_ms, end);
    }
    run("repairs", &text)
}

#[test]
fn sixteen_repairs_without_a_duplicate_report_narrow_the_reordering_window() {
    assert_eq!(repairs_in_a_row(InARow::Needed, 16, 50), Ok(()));
    assert_eq!(repairs_in_a_row(InARow::Needed, 17, 25), Ok(()));
}

#[test]
fn repairs_that_are_undone_do_not_narrow_the_reordering_window() {
    for kind in [InARow::NeedlessAtItsEnd, InARow::NeedlessBefore] {
        assert_eq!(repairs_in_a_row(kind, 18, 50), Ok(()));
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
