//! What the tables of parts of a connection have in common: congestion controls, recoveries, detections.

/// The names of a table's parts, as an enum `Kind`.
macro_rules! kinds {
    ($(#[$doc:meta])* $($part:ident,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $(#[doc = concat!("[`", stringify!($part), "`](struct@", stringify!($part), ").")] $part,)*
        }

        impl Kind {
            /// Each of them, in the order of the table.
            pub const ALL: &[Kind] = &[$(Kind::$part,)*];

            /// The name as it stands in a scenario.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Kind::$part => $part::NAME,)*
                }
            }

            /// What the variant of its name is, if it brings one.
            pub(super) const fn variant(self) -> Option<&'static str> {
                match self {
                    $(Kind::$part => $part::VARIANT,)*
                }
            }
        }
    };
}

/// How a part lies in its connection: as it is, or in a box.
macro_rules! stored {
    ($type:ident) => { $type };
    ($type:ident $box:ident) => { $box<$type> };
}

pub(super) use {kinds, stored};
