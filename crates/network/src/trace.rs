//! The kinds of traces that a run may keep, by their names. One more is a line here, and what records it.

/// A type with a key a kind: those that are samples of a quantity, and those that have rows of their own.
macro_rules! kinds {
    (samples: { $($(#[$sampled:meta])* $sample:ident,)* } rows: { $($(#[$kept:meta])* $row:ident,)* }) => {
        /// What to record beside the result tables.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Trace {
            $($(#[$sampled])* pub $sample: bool,)*
            $($(#[$kept])* pub $row: bool,)*
        }

        impl Trace {
            /// The names that [`Trace::add`] knows.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($sample),)* $(stringify!($row),)*];

            /// Adds a kind by its name; false when there is none of this name.
            pub fn add(&mut self, name: &str) -> bool {
                let kind = match name {
                    $(stringify!($sample) => &mut self.$sample,)*
                    $(stringify!($row) => &mut self.$row,)*
                    _ => return false,
                };
                *kind = true;
                true
            }

            /// Whether any samples are wanted.
            pub fn has_samples(&self) -> bool {
                $(self.$sample)||*
            }
        }
    };
}

kinds! {
    samples: {
        /// cwnd and ssthresh of every TCP and SCTP sender, when they change.
        cwnd,
        /// Every RTT measured by a TCP or SCTP sender; smoothed RTT, RTO and RACK's reordering window, when
        /// they change.
        rtt,
        /// Octets in flight of every TCP sender and endpoint of another crate, when they change.
        in_flight,
        /// Pacing rate of the same, and delivery rate of every TCP sender, when they change.
        pacing,
        /// Packets waiting at every interface, at every arrival.
        queue,
        /// Octets delivered by every flow, at every delivery.
        throughput,
        /// Octets that the source of every flow over TCP has written and that are not acknowledged, when they
        /// change.
        backlog,
        /// Bearers of the terminal of every DECT access, when they change.
        bearers,
        /// Fragments in the DLC of every DECT access, when they change.
        dlc_queue,
        /// Rates of data frames in every Wi-Fi cell where they adapt, when they change.
        rates,
    }
    rows: {
        /// Which channel of every DECT access is in use by whom.
        occupancy,
        /// Every message that a flow delivered.
        messages,
        /// What every TCP and SCTP sender sent, sent again and why, and lost, and the acknowledgements that
        /// reached it.
        segments,
        /// The state of the congestion control of every TCP sender, and what it repairs, when they change.
        states,
        /// The story of every packet.
        packets,
        /// Every transaction of signalling.
        transactions,
        /// Link events.
        link_events,
    }
}
