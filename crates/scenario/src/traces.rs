//! Traces on their way out of a run: final rows become tables of so many rows, which are handed out or put
//! below each other.
//!
//! Samples, link events, messages, segments, states and packets are handed out during the run, so few rows
//! are held: those of the last events, and losses that are known but have not happened. Rows that a run
//! keeps for its other tables anyway (transactions, logs of accesses) are held; only their tables are made
//! in parts.

use crate::results::{link_events, messages, packets, samples, segments, states};
use crate::scenario::Scenario;
use crate::signalling::transactions;
use crate::table::traced::TracedTable;
use crate::table::{Table, sample};
use roamsim_engine::log::{Log, Timed};
use roamsim_engine::run::Watch;
use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::trace::Trace;
use std::sync::Arc;

/// Takes some rows of a trace, which come in their order; false where it takes no more, which ends the run.
pub type Sink = Box<dyn FnMut(Table) -> bool + Send>;

/// Rows that make a table of their own. Chosen: tables of some MB, for which the work on each does not count.
pub const ROWS_AT_ONCE: usize = 1 << 15;

/// Where rows go to.
enum Destination {
    Sink(Sink),
    /// Tables that grow, one a name.
    Tables(Vec<Table>),
}

/// The traces of one run.
pub(crate) struct Traces {
    trace: Trace,
    rows_at_once: usize,
    destination: Destination,
    watch: Arc<Watch>,
    /// Up to where samples that accesses log by themselves were handed out, and how many there were then.
    logged_before: Time,
    logged: usize,
}

impl Traces {
    pub(crate) fn new(
        trace: Trace,
        sink: Option<Sink>,
        rows_at_once: Option<usize>,
        watch: Arc<Watch>,
    ) -> Traces {
        Traces {
            trace,
            rows_at_once: rows_at_once.unwrap_or(ROWS_AT_ONCE).max(1),
            destination: sink.map_or_else(|| Destination::Tables(Vec::new()), Destination::Sink),
            watch,
            logged_before: Time::ZERO,
            logged: 0,
        }
    }

    fn give(&mut self, table: Table) -> bool {
        match &mut self.destination {
            Destination::Sink(sink) => sink(table) && !self.watch.stopped(),
            Destination::Tables(tables) => {
                match tables.iter_mut().find(|known| known.name == table.name) {
                    Some(known) => known.append(table),
                    None => tables.push(table),
                }
                !self.watch.stopped()
            }
        }
    }

    fn give_rows<T>(&mut self, rows: &[T], table: impl Fn(&[T]) -> Table) -> bool {
        rows.chunks(self.rows_at_once).all(|rows| self.give(table(rows)))
    }

    /// Hands out what is final when nothing before `now` will change, where enough waits; without a time all
    /// that is left. False ends the run.
    pub(crate) fn hand_out(&mut self, scenario: &Scenario, world: &mut World, now: Option<Time>) -> bool {
        let Some(recorder) = &mut world.network.recorder else { return true };
        let least = self.rows_at_once;
        let link_events = ripe(&mut recorder.link_events, now, least);
        let messages = ripe(&mut recorder.messages, now, least);
        let segments = ripe(&mut recorder.segments, now, least);
        let states = ripe(&mut recorder.states, now, least);
        let packets = ripe(&mut recorder.packets, now, least);
        self.hand_out_samples(scenario, world, now)
            && self.give_rows(&link_events, |rows| link_events::table(world, rows))
            && self.give_rows(&messages, |rows| messages::table(world, rows))
            && self.give_rows(&segments, |rows| segments::table(world, rows))
            && self.give_rows(&states, |rows| states::table(world, rows))
            && self.give_rows(&packets, |rows| packets::table(world, rows))
    }

    fn hand_out_samples(&mut self, scenario: &Scenario, world: &mut World, now: Option<Time>) -> bool {
        let (mut logged, mut behind) = (0, Span::ZERO);
        for log in scenario.technologies().filter_map(|technology| technology.logged(world, &self.trace)) {
            (logged, behind) = (logged + log.values, behind.max(log.behind));
        }
        let Some(recorder) = &mut world.network.recorder else { return true };
        let samples = &mut recorder.probe.samples;
        if now.is_some() && !samples.due(self.rows_at_once) && logged - self.logged < self.rows_at_once {
            return true;
        }
        let line = now.map_or(Time::MAX, |now| Time::ZERO + now.since(Time::ZERO).saturating_sub(behind));
        let recorded = if now.is_some() { samples.take(line) } else { samples.take_all() };
        let rows = samples::merged(scenario, world, &recorded, &(self.logged_before..line));
        (self.logged_before, self.logged) = (line, logged);
        self.give_rows(&rows, sample::table)
    }

    /// Hands out all that is left when the run is over. The tables that were asked for, in order: with their
    /// rows where nobody took them. `None` where the run is to end before that.
    pub(crate) fn finish(mut self, scenario: &Scenario, world: &mut World) -> Option<Vec<Table>> {
        let mut given = self.hand_out(scenario, world, None);
        let mut tables = Vec::new();
        let mut traced = Vec::new();
        if self.trace.transactions {
            traced.push(TracedTable::new(transactions::rows(world), transactions::table));
        }
        let technologies = scenario.technologies();
        traced.extend(technologies.flat_map(|technology| technology.traced_tables(world, &self.trace)));
        for table in traced {
            let mut starts = (0..table.rows).step_by(self.rows_at_once);
            given = given
                && starts.all(|start| {
                    let end = table.rows.min(start.saturating_add(self.rows_at_once));
                    self.give((table.make)(start..end))
                });
            tables.push((table.make)(0..0));
        }
        if self.trace.has_samples() {
            tables.push(sample::table(&[]));
        }
        if self.trace.link_events {
            tables.push(link_events::table(world, &[]));
        }
        if self.trace.messages {
            tables.push(messages::table(world, &[]));
        }
        if self.trace.segments {
            tables.push(segments::table(world, &[]));
        }
        if self.trace.states {
            tables.push(states::table(world, &[]));
        }
        if self.trace.packets {
            tables.push(packets::table(world, &[]));
        }
        if let Destination::Tables(collected) = self.destination {
            for table in collected {
                if let Some(place) = tables.iter_mut().find(|place| place.name == table.name) {
                    *place = table;
                }
            }
        }
        given.then_some(tables)
    }
}

/// The rows that are final, where enough wait; without a time all of them.
fn ripe<T: Timed>(log: &mut Log<T>, now: Option<Time>, least: usize) -> Vec<T> {
    match now {
        Some(now) if log.due(least) => log.take(now),
        Some(_) => Vec::new(),
        None => log.take_all(),
    }
}
