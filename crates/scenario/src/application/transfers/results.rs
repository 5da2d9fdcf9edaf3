//! `transfers`: for each flow of transfers that arrive a row for all sizes, and one for each class that its
//! keys allow, whether drawn or not; `transfer_times`: the distribution of their completion times. Only where
//! there are any.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::application::Source;
use roamsim_network::application::completions::Class;
use roamsim_network::subject::Subject;

struct Row<'w> {
    name: &'w str,
    from: &'w str,
    to: &'w str,
    /// The class of sizes, or all.
    sizes: String,
    /// From and below.
    bounds_bytes: (u64, u64),
    class: Class,
    refused: u64,
}

/// A power of ten as people write it.
fn size_text(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        1000.. => format!("{} kB", bytes / 1000),
        _ => format!("{bytes} B"),
    }
}

pub(crate) fn tables(world: &World) -> Vec<Table> {
    let mut rows = Vec::new();
    for (number, flow) in (0..).zip(&world.flows) {
        let Source::Transfers(transfers) = &flow.source else { continue };
        let named = world.named(Subject::Flow(number));
        let row = |sizes, bounds_bytes, class, refused| Row {
            name: named.name,
            from: named.from,
            to: named.to,
            sizes,
            bounds_bytes,
            class,
            refused,
        };
        let completions = &transfers.completions;
        let classes: Vec<_> = completions.by_size().collect();
        let bounds = (classes.first().map_or(0, |class| class.0), classes.last().map_or(0, |class| class.1));
        rows.push(row("all".to_owned(), bounds, completions.all(), completions.refused));
        if classes.len() > 1 {
            rows.extend(classes.into_iter().map(|(from, below, class)| {
                let sizes = format!("{} to {}", size_text(from), size_text(below));
                row(sizes, (from, below), class.clone(), 0)
            }));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let transfers = Table {
        name: "transfers",
        columns: vec![
            text("name", rows.iter().map(|row| row.name.to_owned())),
            text("from", rows.iter().map(|row| row.from.to_owned())),
            text("to", rows.iter().map(|row| row.to.to_owned())),
            text("sizes", rows.iter().map(|row| row.sizes.clone())),
            integer("from_bytes", "B", rows.iter().map(|row| row.bounds_bytes.0)),
            integer("below_bytes", "B", rows.iter().map(|row| row.bounds_bytes.1)),
            integer("begun", "transfers", rows.iter().map(|row| row.class.begun)),
            integer("completed", "transfers", rows.iter().map(|row| row.class.times.count())),
            integer("failed", "transfers", rows.iter().map(|row| row.class.failed)),
            integer("refused", "transfers", rows.iter().map(|row| row.refused)),
            float("mean_completion_time_s", "s", rows.iter().map(|row| row.class.times.mean_s())),
            float("median_completion_time_s", "s", rows.iter().map(|row| row.class.times.percentile_s(50))),
            float("p95_completion_time_s", "s", rows.iter().map(|row| row.class.times.percentile_s(95))),
            float("p99_completion_time_s", "s", rows.iter().map(|row| row.class.times.percentile_s(99))),
            float("longest_completion_time_s", "s", rows.iter().map(|row| row.class.times.longest_s())),
        ],
    };
    let mut times = Vec::new();
    for row in &rows {
        times.extend(row.class.times.distribution().map(|(time_s, completed)| (row, time_s, completed)));
    }
    let distribution = Table {
        name: "transfer_times",
        columns: vec![
            text("name", times.iter().map(|(row, ..)| row.name.to_owned())),
            text("sizes", times.iter().map(|(row, ..)| row.sizes.clone())),
            float("completion_time_s", "s", times.iter().map(|&(_, time_s, _)| time_s)),
            integer("completed", "transfers", times.iter().map(|&(.., completed)| completed)),
        ],
    };
    vec![transfers, distribution]
}
