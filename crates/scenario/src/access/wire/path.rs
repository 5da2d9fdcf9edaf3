//! What a wire is over time, in one direction or both: its rate, its delay, the loss that changes, its
//! signal.

use roamsim_engine::{Span, Time};
use roamsim_network::link::managed_wire::Change;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

use crate::decode::schema::plain_value_is_first_key;
use crate::distribution::model::TimeDistribution;
use crate::files::series::{self, Quantity};
use crate::files::{Fault, Lines, mahimahi};
use crate::units;

impl Rate {
    /// The opportunities of a trace of mahimahi, in milliseconds.
    pub(super) fn schedule_ms(&self) -> Option<Result<&Arc<[u32]>, &Fault>> {
        let parse = |text: &str| mahimahi::parse(text).map(Arc::from);
        self.opportunities.as_ref().map(|lines| lines.say(parse))
    }
}

/// When a step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begins<'a> {
    pub at: Option<Time>,
    pub on: Option<&'a LinkEvent>,
}

/// What changes by steps.
pub(crate) trait Varying {
    /// What a step says.
    type Value: Copy + PartialEq;

    /// What a number of a file is.
    const QUANTITY: Quantity;

    /// The value of a number of a file.
    fn value(number: f64) -> Self::Value;

    /// What happens to the machine where a step begins by a link event.
    fn change(value: Self::Value) -> Change;

    fn constant(&self) -> Option<Self::Value>;
    fn steps(&self) -> Vec<(Begins<'_>, Self::Value)>;
    fn file(&self) -> Option<&str>;
    fn content(&self) -> Option<&Lines<Vec<(Time, f64)>>>;
    fn period(&self) -> Option<Span>;

    /// Whether it is the same all the time.
    fn never_changes(&self) -> bool {
        self.steps().is_empty() && self.content().is_none()
    }

    /// What the lines of a file say, in order of time.
    fn rows(&self) -> Option<Result<&Vec<(Time, f64)>, &Fault>> {
        let parse = |text: &str| series::parse(text, Self::QUANTITY).map(|values| values.rows);
        self.content().map(|content| content.say(parse))
    }

    /// Steps by time in order, and whatever holds before them; of keys that are valid.
    fn steps_by_time(&self) -> Vec<(Time, Self::Value)> {
        let written = self.steps().into_iter().filter_map(|(begins, value)| Some((begins.at?, value)));
        let read = self.rows().and_then(Result::ok).into_iter().flatten();
        let steps = written.chain(read.map(|&(at, number)| (at, Self::value(number))));
        self.constant().map(|value| (Time::ZERO, value)).into_iter().chain(steps).collect()
    }

    /// What changes by link events.
    fn changes(&self) -> Vec<(&LinkEvent, Change)> {
        let steps = self.steps().into_iter();
        steps.filter_map(|(begins, value)| Some((begins.on?, Self::change(value)))).collect()
    }
}

/// Keys of what changes over time, with those of its steps: what is the same of all, and what each has of its
/// own.
macro_rules! over_time {
    (
        $(#[$about:meta])*
        $keys:ident {
            $(#[$about_constant:meta])*
            $constant:ident: $value:ty,
            $(#[$about_from:meta])*
            from,
            $(#[$about_steps:meta])*
            steps,
            $(#[$about_file:meta])*
            file,
            $($(#[$about_own:meta])* $own:ident: $of_own:ty,)*
        }
        $(#[$about_step:meta])*
        $step:ident {
            $(#[$about_value:meta])*
            $of_step:ident,
        }
        $quantity:ident as $of_number:expr, $change:expr
    ) => {
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
        $(#[$about])*
        pub struct $keys {
            $(#[$about_constant])*
            pub $constant: Option<$value>,
            $(#[$about_from])*
            #[serde(default)]
            pub from: Option<String>,
            $(#[$about_steps])*
            #[serde(default)]
            pub steps: Vec<$step>,
            $(#[$about_file])*
            #[serde(default)]
            pub file: Option<String>,
            /// The steps, in place of `file`.
            #[serde(default)]
            #[schemars(with = "Option<String>")]
            pub content: Option<Lines<Vec<(Time, f64)>>>,
            /// The steps begin again after this time. Left out: the last step stays.
            #[serde(default, with = "units::duration")]
            #[schemars(with = "Option<units::Duration>")]
            pub period: Option<Span>,
            $($(#[$about_own])* pub $own: $of_own,)*
        }

        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        $(#[$about_step])*
        #[serde(deny_unknown_fields)]
        pub struct $step {
            /// When it begins. Either this or `on`.
            #[serde(default, with = "units::instant")]
            #[schemars(with = "Option<units::Instant>")]
            pub at: Option<Time>,
            /// The link event that begins it, each time it happens, until the next step. Either this or `at`.
            #[serde(default)]
            pub on: Option<LinkEvent>,
            $(#[$about_value])*
            pub $of_step: $value,
        }

        impl Varying for $keys {
            type Value = $value;

            const QUANTITY: Quantity = Quantity::$quantity;

            fn value(number: f64) -> $value {
                ($of_number)(number)
            }

            fn change(value: $value) -> Change {
                ($change)(value)
            }

            fn constant(&self) -> Option<$value> {
                self.$constant
            }

            fn steps(&self) -> Vec<(Begins<'_>, $value)> {
                let steps = self.steps.iter();
                steps.map(|step| (Begins { at: step.at, on: step.on.as_ref() }, step.$of_step)).collect()
            }

            fn file(&self) -> Option<&str> {
                self.file.as_deref()
            }

            fn content(&self) -> Option<&Lines<Vec<(Time, f64)>>> {
                self.content.as_ref()
            }

            fn period(&self) -> Option<Span> {
                self.period
            }
        }
    };
}

over_time! {
    /// The bit rate of a direction: a plain rate, or a table. A table has `constant`, `steps`, `file` or
    /// `mahimahi`; `constant` may precede steps.
    #[serde(rename = "plain value or table", deny_unknown_fields)]
    #[schemars(rename = "LinkRate", transform = plain_value_is_first_key)]
    Rate {
        /// The rate, or the one before the first step.
        #[serde(rename = "constant", default, with = "units::rate")]
        #[schemars(with = "Option<units::Rate>")]
        constant_bps: u64,
        /// The node that sends in this direction. Left out: both directions.
        from,
        /// When each rate begins, in order of time. A rate of zero sends nothing.
        steps,
        /// A file of steps: a time in seconds and a rate in Mb/s a line. The first line holds from the
        /// beginning.
        file,
        /// A mahimahi trace: each line is the millisecond in which 1504 octets may leave, 4 octets of header
        /// a packet included. It repeats.
        #[serde(default)]
        mahimahi: Option<String>,
        /// The lines, in place of `mahimahi`.
        #[serde(default)]
        #[schemars(with = "Option<String>")]
        opportunities: Option<Lines<Arc<[u32]>>>,
    }
    /// A step of a rate.
    RateStep {
        /// The rate.
        #[serde(rename = "rate", with = "units::rate")]
        #[schemars(with = "units::Rate")]
        rate_bps,
    }
    Mbps as |mbps: f64| (mbps * 1e6).round() as u64, Change::RateBps
}

over_time! {
    /// The delay of a direction: a plain time, or a table.
    #[serde(rename = "plain value or table", deny_unknown_fields)]
    #[schemars(rename = "LinkDelay", transform = plain_value_is_first_key)]
    Delay {
        /// The delay, or the one before the first step.
        #[serde(default, with = "units::duration")]
        #[schemars(with = "Option<units::Duration>")]
        constant: Span,
        /// The node that sends in this direction. Left out: both directions.
        from,
        /// When each delay begins, in order of time: for packets whose last bit is sent from then on.
        steps,
        /// A file of steps: a time in seconds and a delay in milliseconds a line. The first line holds from
        /// the beginning.
        file,
        /// An additional delay, drawn for each packet. Default: nothing.
        #[serde(default)]
        #[schemars(extend("default" = "0s"))]
        jitter: TimeDistribution,
        /// Whether a packet may overtake an earlier one whose delay is longer. Default chosen: no, as on a
        /// path of FIFO queues: a packet arrives no earlier than the one before it.
        #[serde(default)]
        reordering: bool,
    }
    /// A step of a delay.
    DelayStep {
        /// The delay.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        delay,
    }
    Ms as |ms: f64| Span::from_ns((ms * 1e6).round() as u64), Change::Delay
}

over_time! {
    /// Each packet is lost on its own, with a probability that changes.
    #[serde(deny_unknown_fields)]
    LossSeries {
        /// The probability before the first step. Left out: the first step is at "0s".
        #[serde(default, deserialize_with = "units::some_probability")]
        #[schemars(with = "Option<units::Probability>")]
        constant: f64,
        /// The node that sends in this direction. Left out: both directions, each independently.
        from,
        /// When each probability begins, in order of time: for packets whose last bit is sent from then on.
        steps,
        /// A file of steps: a time in seconds and a probability a line. The first line holds from the
        /// beginning.
        file,
    }
    /// A step of a loss.
    LossStep {
        /// The probability of a loss.
        #[serde(deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        probability,
    }
    Probability as |number| number, |probability| Change::Loss { number: 0, probability }
}

over_time! {
    /// The received signal strength of a direction, in dBm: a plain value, or a table.
    #[serde(rename = "plain value or table", deny_unknown_fields)]
    #[schemars(rename = "LinkSignal", transform = plain_value_is_first_key)]
    Signal {
        /// The signal, or the one before the first step.
        #[serde(rename = "constant", default, deserialize_with = "units::some_power")]
        #[schemars(with = "Option<units::Power>")]
        constant_dbm: f64,
        /// The node that sends in this direction; the other node hears it. Left out: both directions.
        from,
        /// When each signal begins, in order of time.
        steps,
        /// A file of steps: a time in seconds and a signal in dBm a line. The first line holds from the
        /// beginning.
        file,
    }
    /// A step of a signal.
    SignalStep {
        /// The signal.
        #[serde(rename = "signal", deserialize_with = "units::power")]
        #[schemars(with = "units::Power")]
        signal_dbm,
    }
    Dbm as |dbm| dbm, Change::SignalDbm
}

/// A link event of a link or cell of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEvent {
    /// The link or cell.
    pub link: String,
    /// The event.
    pub event: LinkEventName,
    /// The node for which it happens. Left out: any.
    #[serde(default)]
    pub node: Option<String>,
}

/// An event of a link, in the words of IEEE 802.21.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::enum_variant_names, reason = "the standard's names")]
pub enum LinkEventName {
    /// A new base station is heard.
    LinkDetected,
    /// Packets can be sent over it.
    LinkUp,
    /// It will be down soon.
    LinkGoingDown,
    /// No packets can be sent over it.
    LinkDown,
}

impl LinkEventName {
    /// Those of stations that come and go.
    pub(crate) const ALL: &[LinkEventName] = &[
        LinkEventName::LinkDetected,
        LinkEventName::LinkUp,
        LinkEventName::LinkGoingDown,
        LinkEventName::LinkDown,
    ];

    /// Those of what carries packets or does not.
    pub(crate) const UP_AND_DOWN: &[LinkEventName] = &[LinkEventName::LinkUp, LinkEventName::LinkDown];

    /// As result tables have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LinkEventName::LinkDetected => "link_detected",
            LinkEventName::LinkUp => "link_up",
            LinkEventName::LinkGoingDown => "link_going_down",
            LinkEventName::LinkDown => "link_down",
        }
    }
}
