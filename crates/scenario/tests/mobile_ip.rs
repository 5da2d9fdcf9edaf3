//! Mobile IP, end to end: what a handover takes and costs can be worked out by hand.

use roamsim_scenario::run::{Options, Outcome, run};
use roamsim_scenario::table::{Table, Values};
use roamsim_scenario::{Format, Scenario};

#[test]
fn print_example() {
    let text = std::fs::read_to_string("../../examples/mobile-ip.toml").unwrap();
    let scenario = Scenario::parse(&text, "x.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let outcome: Outcome = run(&scenario, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    for table in &outcome.tables {
        let table: &Table = table;
        println!("## {}", table.name);
        for column in &table.columns {
            match &column.values {
                Values::Float(v) => println!("  {} {:?}", column.name, v),
                Values::Integer(v) => println!("  {} {:?}", column.name, v),
                Values::Text(v) => println!("  {} {:?}", column.name, v),
                #[allow(unreachable_patterns)]
                _ => {}
            }
        }
    }
}
