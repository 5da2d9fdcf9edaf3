//! Outcomes of scenarios, and columns of their tables.

use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::table::{Table, Texts, Values};
use roamsim_scenario::{Format, Scenario};

/// What comes of a scenario, in which these keys have these values instead.
pub fn of(text: &str, overrides: &[(&str, &str)], options: Options) -> Outcome {
    let pairs: Vec<_> = overrides.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    let scenario = Scenario::parse(text, "scenario.toml", Format::Toml, &pairs);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, options).unwrap_or_else(|error| panic!("{error}"))
}

/// What comes of one TCP flow from "server" to "phone" over a link with these keys, by these settings of TCP
/// and this application. The queue is long, unless the keys have another one.
pub fn down_a_pipe(duration: &str, link: &str, transport: &str, application: &str, trace: Trace) -> Outcome {
    let queue = if link.contains("queue = ") { "" } else { "queue = { packets = 10000 }" };
    let text = format!(
        r#"
[scenario]
name = "pipe"
duration = "{duration}"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "pipe"
between = ["server", "phone"]
{queue}
{link}
[[flow]]
name = "f"
from = "server"
to = "phone"
transport = {{ protocol = "tcp", mss = "1000B", {transport} }}
application = {{ {application} }}
"#
    );
    of(&text, &[], Options { seed: 1, trace, ..Options::default() })
}

/// A table.
pub fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("no table {name}"))
}

fn values<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a Values {
    &table(outcome, of).columns.iter().find(|column| column.name == name).expect(name).values
}

/// A column of floats of the table `of`.
pub fn floats<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a [f64] {
    match values(outcome, of, name) {
        Values::Float(values) => values,
        _ => panic!("{name} is not of floats"),
    }
}

/// A column of integers.
pub fn integers<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a [u64] {
    match values(outcome, of, name) {
        Values::Integer(values) => values,
        _ => panic!("{name} is not of integers"),
    }
}

/// A column of texts.
pub fn texts<'a>(outcome: &'a Outcome, of: &str, name: &str) -> &'a Texts {
    match values(outcome, of, name) {
        Values::Text(values) => values,
        _ => panic!("{name} is not of texts"),
    }
}
