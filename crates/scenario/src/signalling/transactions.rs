//! `transactions`: one row a transaction of a signalling entry.

use crate::table::{Table, float, integer, named};
use roamsim_network::World;
use roamsim_network::signalling::{Outcome, Signalling, Transaction};

/// A transaction of a signalling entry.
pub(crate) type Row<'a> = (&'a Signalling, &'a Transaction);

pub(crate) fn rows(world: &World) -> Vec<Row<'_>> {
    let entries = world.signalling.iter();
    entries.flat_map(|entry| entry.transactions.iter().map(move |transaction| (entry, transaction))).collect()
}

pub(crate) fn table(rows: &[Row<'_>]) -> Table {
    let rows = rows.iter();
    Table {
        name: "transactions",
        columns: vec![
            named("name", rows.clone().map(|(entry, _)| entry.config.name.as_str()), |name| {
                (*name).to_owned()
            }),
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
            named(
                "outcome",
                rows.map(|(_, transaction)| match transaction.outcome() {
                    Outcome::Pending => "pending",
                    Outcome::Success => "success",
                    Outcome::Failure => "failure",
                }),
                |name| (*name).to_owned(),
            ),
        ],
    }
}
