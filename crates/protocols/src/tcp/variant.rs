//! Variants: named triples of loss detection, recovery and congestion control.
//!
//! No table lists them. A part that says what the variant of its name is brings that variant, and every part
//! of the name belongs to it. In place of a part without the name stand:
//! - the count of duplicate ACKs as detection;
//! - Reno's congestion control;
//! - NewReno's recovery; beside a congestion control of the name that of SACK, or RACK's if the control takes
//!   samples.

use std::fmt;
use std::str::FromStr;

use super::{congestion, detection, recovery};

/// A named triple of loss detection, recovery and congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant(u8);

/// What a variant is.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    about: &'static str,
    detection: detection::Kind,
    recovery: recovery::Kind,
    congestion: congestion::Kind,
}

/// The first part of a table that has the name.
macro_rules! part_named {
    ($parts:ident, $name:expr) => {{
        let (mut at, mut found) = (0, None);
        while at < $parts::Kind::ALL.len() && found.is_none() {
            if is_same($parts::Kind::ALL[at].name(), $name) {
                found = Some($parts::Kind::ALL[at]);
            }
            at += 1;
        }
        found
    }};
}

/// Adds the variants that the parts of each table bring, in the order of the tables.
macro_rules! add_variants {
    ($rows:ident, $count:ident, $($parts:ident),*) => {
        $(
            let mut at = 0;
            while at < $parts::Kind::ALL.len() {
                if let Some(about) = $parts::Kind::ALL[at].variant() {
                    $rows[$count] = Row::new($parts::Kind::ALL[at].name(), about);
                    $count += 1;
                }
                at += 1;
            }
        )*
    };
}

const PARTS: usize = recovery::Kind::ALL.len() + congestion::Kind::ALL.len() + detection::Kind::ALL.len();

/// The variants, and how many there are.
const ROWS: ([Row; PARTS], usize) = {
    let (mut rows, mut count) = ([Row::new("", ""); PARTS], 0);
    add_variants!(rows, count, recovery, congestion, detection);
    (rows, count)
};

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

impl Row {
    const fn new(name: &'static str, about: &'static str) -> Row {
        let control = part_named!(congestion, name);
        Row {
            name,
            about,
            detection: match part_named!(detection, name) {
                Some(kind) => kind,
                None => detection::Kind::DuplicateAcks,
            },
            recovery: match (part_named!(recovery, name), control) {
                (Some(kind), _) => kind,
                (None, Some(control)) if control.takes_samples() => recovery::Kind::Rack,
                (None, Some(_)) => recovery::Kind::Sack,
                (None, None) => recovery::Kind::NewReno,
            },
            congestion: match control {
                Some(kind) => kind,
                None => congestion::Kind::Reno,
            },
        }
    }
}

/// Those that code elsewhere speaks of.
impl Variant {
    /// Fast retransmit, then slow start.
    pub const TAHOE: Variant = Variant::named("tahoe");
    /// RFC 5681.
    pub const RENO: Variant = Variant::named("reno");
    /// RFC 6582.
    pub const NEW_RENO: Variant = Variant::named("newreno");
    /// RFC 6675.
    pub const SACK: Variant = Variant::named("sack");
    /// Brakmo and Peterson 1995.
    pub const VEGAS: Variant = Variant::named("vegas");
    /// RFC 9438.
    pub const CUBIC: Variant = Variant::named("cubic");
    /// BBR version 3.
    pub const BBR: Variant = Variant::named("bbr");
    /// BBR version 1.
    pub const BBR1: Variant = Variant::named("bbr1");
}

impl Variant {
    /// How many there are.
    pub const COUNT: usize = ROWS.1;

    /// Every variant, those that halve the window first.
    pub const ALL: [Variant; Variant::COUNT] = {
        let mut all = [Variant(0); Variant::COUNT];
        let mut at = 0;
        while at < all.len() {
            all[at] = Variant(at as u8);
            at += 1;
        }
        all
    };

    /// Their names, in that order.
    pub const NAMES: [&str; Variant::COUNT] = {
        let mut names = [""; Variant::COUNT];
        let mut at = 0;
        while at < names.len() {
            names[at] = Variant::ALL[at].name();
            at += 1;
        }
        names
    };

    /// The one of that name, known when this is compiled.
    const fn named(name: &str) -> Variant {
        let mut at = 0;
        while !is_same(ROWS.0[at].name, name) {
            at += 1;
        }
        Variant(at as u8)
    }

    /// The name as it stands in a scenario.
    pub const fn name(self) -> &'static str {
        ROWS.0[self.0 as usize].name
    }

    /// What it is, for users.
    pub const fn describe(self) -> &'static str {
        ROWS.0[self.0 as usize].about
    }

    /// Its loss detection.
    pub(super) const fn detection(self) -> detection::Kind {
        ROWS.0[self.0 as usize].detection
    }

    /// Its recovery.
    pub(super) const fn recovery(self) -> recovery::Kind {
        ROWS.0[self.0 as usize].recovery
    }

    /// Its congestion control.
    pub const fn congestion(self) -> congestion::Kind {
        ROWS.0[self.0 as usize].congestion
    }

    /// The name of its congestion control.
    pub const fn congestion_control(self) -> &'static str {
        self.congestion().name()
    }

    /// Whether its window falls by the share of marked octets. It needs ECN then.
    pub const fn counts_marks(self) -> bool {
        self.congestion().counts_marks()
    }

    /// Whether it works on samples of the rate of delivery: it paces and detects losses by time, always.
    pub const fn takes_samples(self) -> bool {
        self.congestion().takes_samples()
    }

    /// Whether it offers selective acknowledgements on its SYN (RFC 2018 section 2): it repairs by them.
    pub const fn permits_sack(self) -> bool {
        self.recovery().takes_blocks()
    }

    /// Whether proportional rate reduction may say how much its recovery sends.
    pub const fn takes_prr(self) -> bool {
        self.recovery().takes_prr()
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is no variant's; the message lists those there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariant(pub String);

impl fmt::Display for UnknownVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown TCP variant `{}`; there are", self.0)?;
        for (i, variant) in Variant::ALL.iter().enumerate() {
            write!(f, "{} `{variant}`", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownVariant {}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(name: &str) -> Result<Variant, UnknownVariant> {
        Variant::ALL
            .into_iter()
            .find(|variant| variant.name() == name)
            .ok_or_else(|| UnknownVariant(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_has_the_parts_of_its_name_and_the_common_ones_otherwise() {
        let parts = Variant::ALL.map(|variant| {
            let (detection, recovery) = (variant.detection().name(), variant.recovery().name());
            format!("{variant}: {detection}, {recovery}, {}", variant.congestion_control())
        });
        for line in [
            "tahoe: duplicate-acks, tahoe, reno",
            "reno: duplicate-acks, reno, reno",
            "newreno: duplicate-acks, newreno, reno",
            "sack: duplicate-acks, sack, reno",
            "vegas: vegas, vegas, vegas",
            "cubic: duplicate-acks, sack, cubic",
            "bbr: duplicate-acks, rack, bbr",
            "dctcp: duplicate-acks, sack, dctcp",
            "prague: duplicate-acks, rack, prague",
        ] {
            assert!(parts.iter().any(|parts| parts == line), "{line}: {parts:?}");
        }
    }

    #[test]
    fn names_of_variants_are_read_back() {
        for variant in Variant::ALL {
            assert_eq!(variant.to_string().parse(), Ok(variant));
        }
        let error = "newrenoo".parse::<Variant>().unwrap_err();
        let names = Variant::NAMES.map(|name| format!("`{name}`")).join(", ");
        assert_eq!(error.to_string(), format!("unknown TCP variant `newrenoo`; there are {names}"));
    }
}
