//! What the open parameters of the DECT MAC lead to: the table of docs/models/dect-mac.md.
//!
//! Each row is the reference case with one change: 10 replications of 40,000 s after 600 s of warm-up, and
//! the 95 % confidence interval of the mean number of the user's bearers. With an argument, only the cases
//! whose names contain it.
#![allow(clippy::print_stdout, reason = "a program whose output is a table")]

use roamsim_engine::Stream;
use roamsim_network::link::dect::mac::config::{
    AttemptLimits, BearerCounts, ChannelListConfig, MacConfig, Selection, Transceivers,
};
use roamsim_network::link::dect::mac::{Mac, MacStats, TerminalType, TypeStats};

const WARM_UP: u64 = 60_000;
const FRAMES: u64 = 4_000_000;
const REPLICATIONS: u64 = 10;
/// The 97.5 % point of Student's t with 9 degrees of freedom.
const STUDENT_T: f64 = 2.262;

fn cases() -> Vec<(&'static str, MacConfig)> {
    let reference = MacConfig::default;
    let load = |load_factor| MacConfig { load_factor, ..reference() };
    let permission = |attempt_permission| MacConfig { attempt_permission, ..reference() };
    let dwell = |cell_dwell_mean_frames| MacConfig { cell_dwell_mean_frames, ..reference() };
    let handover_attempts = |handover_multibearer| MacConfig {
        attempts: AttemptLimits { handover_multibearer, ..reference().attempts },
        ..reference()
    };
    let quiet_first = ChannelListConfig { selection: Selection::QuietFirst, ..reference().channel_list };
    vec![
        ("reference", reference()),
        ("load x 0.5", load(0.5)),
        ("load x 0.75", load(0.75)),
        ("load x 1.5", load(1.5)),
        ("load x 3", load(3.0)),
        ("handover needs x 2", MacConfig { handover_need_factor: 2.0, ..reference() }),
        ("1 handover attempt", handover_attempts(1)),
        ("3 handover attempts", handover_attempts(3)),
        ("5 handover attempts", handover_attempts(5)),
        ("15 handover attempts", handover_attempts(15)),
        ("quiet channels first", MacConfig { channel_list: quiet_first, ..reference() }),
        ("permission 0.05", permission(0.05)),
        ("permission 0.5", permission(0.5)),
        ("permission 1", permission(1.0)),
        ("cell dwell 3000 frames", dwell(3000.0)),
        ("cell dwell 12,000 frames", dwell(12_000.0)),
        ("no change of cell", dwell(f64::INFINITY)),
        ("one bearer per slot pair", MacConfig { transceivers: Transceivers::OnePerSlotPair, ..reference() }),
        (
            "minimum of Data 5",
            MacConfig { data_bearers: BearerCounts { target: 10, minimum: 5 }, ..reference() },
        ),
        ("no data in Call_Setup", MacConfig { carry_data_in_setup: false, ..reference() }),
    ]
}

fn run(mac: &mut Mac, until: u64) {
    while mac.next_frame() < until {
        let frame = mac.next_frame();
        mac.run_frame(frame);
        while mac.poll_user_event().is_some() {}
    }
}

fn replication(config: &MacConfig, number: u64) -> MacStats {
    let mut mac = Mac::new(config.clone(), |purpose| Stream::new(1, number, purpose));
    run(&mut mac, WARM_UP);
    mac.restart_measurement(WARM_UP);
    run(&mut mac, WARM_UP + FRAMES);
    mac.stats(WARM_UP + FRAMES)
}

fn main() {
    println!(
        "| case | user's bearers | channels taken | P32 blocked, dropped | P80 blocked, dropped | Data dropped | \
         user's bearers lost in Bearer_HO, Connection_HO |"
    );
    println!("|---|---|---|---|---|---|---|");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (name, config) in cases().into_iter().filter(|(name, _)| name.contains(&wanted)) {
        let runs: Vec<MacStats> = (0..REPLICATIONS).map(|number| replication(&config, number)).collect();
        let mean = |value: &dyn Fn(&MacStats) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
        let bearers = mean(&MacStats::mean_user_bearers);
        let variance = mean(&|stats| {
            let difference = stats.mean_user_bearers() - bearers;
            difference * difference
        }) / (runs.len() - 1) as f64;
        let units = f64::from(config.rfps * config.carriers * 24);
        let taken =
            mean(&|stats| stats.unit_frames.iter().sum::<u64>() as f64 / stats.frames() as f64 / units);
        let percent = |kind, value: fn(&TypeStats) -> f64| 100.0 * mean(&|stats| value(stats.of(kind)));
        let (p32, p80) = (TerminalType::P32, TerminalType::P80);
        println!(
            "| {name} | {bearers:.2} +- {:.2} | {:.0} % | {:.2} %, {:.2} % | {:.1} %, {:.1} % | {:.1} % | {:.0} %, {} |",
            STUDENT_T * variance.sqrt(),
            100.0 * taken,
            percent(p32, TypeStats::blocking),
            percent(p32, TypeStats::dropping),
            percent(p80, TypeStats::blocking),
            percent(p80, TypeStats::dropping),
            percent(TerminalType::Data, TypeStats::dropping),
            percent(TerminalType::User, TypeStats::bearer_handover_failure),
            // Without changes of cell there is none to lose bearers in.
            if config.cell_dwell_mean_frames.is_finite() {
                format!("{:.0} %", percent(TerminalType::User, TypeStats::connection_handover_loss))
            } else {
                "-".to_owned()
            },
        );
    }
}
