//! `transactions`: one row a transaction of a signalling entry.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::signalling::Outcome;

pub(crate) fn table(world: &World) -> Table {
    let rows: Vec<_> = world
        .signalling
        .iter()
        .flat_map(|entry| entry.transactions.iter().map(move |transaction| (entry, transaction)))
        .collect();
    let rows = rows.iter();
    Table {
        name: "transactions",
        columns: vec![
            text("name", rows.clone().map(|(entry, _)| entry.config.name.clone())),
            integer("number", "", rows.clone().map(|(_, transaction)| transaction.number.0)),
            float(
                "generated_s",
                "s",
                rows.clone().map(|(_, transaction)| transaction.generated.as_secs_f64()),
            ),
            float(
                "completed_s",
                "s",
                rows.clone().map(|(_, t)| t.completed.map_or(f64::NAN, |completed| completed.as_secs_f64())),
            ),
            float(
                "delay_s",
                "s",
                rows.clone().map(|(_, t)| {
                    t.completed.map_or(f64::NAN, |completed| completed.since(t.generated).as_secs_f64())
                }),
            ),
            text(
                "outcome",
                rows.map(|(_, transaction)| {
                    match transaction.outcome() {
                        Outcome::Pending => "pending",
                        Outcome::Success => "success",
                        Outcome::Failure => "failure",
                    }
                    .to_owned()
                }),
            ),
        ],
    }
}
