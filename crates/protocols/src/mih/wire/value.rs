//! The basic data types of IEEE 802.21's annex F: integers, BOOLEAN, OCTET_STRING, LIST, CHOICE with NULL,
//! and BITMAP.

use std::fmt;
use std::sync::Arc;

use super::error::DecodeError;
use super::octets::{Reader, Sink};

/// A data type with an encoding.
pub trait Value: Sized {
    /// Writes the encoding.
    fn write(&self, sink: &mut impl Sink);

    /// Reads one value from the front.
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

impl Value for u8 {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_u8(*self);
    }
    fn read(reader: &mut Reader<'_>) -> Result<u8, DecodeError> {
        reader.u8()
    }
}

impl Value for i8 {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_u8(self.to_be_bytes()[0]);
    }
    fn read(reader: &mut Reader<'_>) -> Result<i8, DecodeError> {
        Ok(i8::from_be_bytes([reader.u8()?]))
    }
}

impl Value for u16 {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_u16(*self);
    }
    fn read(reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
        reader.u16()
    }
}

impl Value for u32 {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_u32(*self);
    }
    fn read(reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
        reader.u32()
    }
}

/// BOOLEAN: one octet, 0 or 1.
impl Value for bool {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_u8(u8::from(*self));
    }
    fn read(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
        match reader.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(reader.bad_value()),
        }
    }
}

/// LIST(T): the number of elements, then the elements.
impl<T: Value> Value for Vec<T> {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_length(self.len());
        for element in self {
            element.write(sink);
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Vec<T>, DecodeError> {
        let count = reader.length()?;
        // Every element takes an octet at least: a longer list cannot be there, and must not be allocated
        // for.
        if count > reader.remaining() {
            return Err(reader.bad_value());
        }
        (0..count).map(|_| T::read(reader)).collect()
    }
}

/// CHOICE(NULL, T): selector 0 with nothing behind it, or 1 and the value.
impl<T: Value> Value for Option<T> {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_u8(u8::from(self.is_some()));
        if let Some(value) = self {
            value.write(sink);
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Option<T>, DecodeError> {
        match reader.u8()? {
            0 => Ok(None),
            1 => Ok(Some(T::read(reader)?)),
            _ => Err(reader.bad_value()),
        }
    }
}

/// OCTET_STRING. Cloning is cheap.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OctetString(Arc<[u8]>);

impl OctetString {
    /// The octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for OctetString {
    fn from(octets: &[u8]) -> OctetString {
        OctetString(Arc::from(octets))
    }
}

impl From<&str> for OctetString {
    fn from(text: &str) -> OctetString {
        OctetString(Arc::from(text.as_bytes()))
    }
}

impl fmt::Debug for OctetString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl Value for OctetString {
    fn write(&self, sink: &mut impl Sink) {
        sink.put_length(self.0.len());
        sink.put(&self.0);
    }
    fn read(reader: &mut Reader<'_>) -> Result<OctetString, DecodeError> {
        let length = reader.length()?;
        Ok(OctetString::from(reader.take(length)?))
    }
}

/// The mask of bit `index` in a BITMAP of `octets` octets (at most 4), as a big-endian number.
///
/// IEEE 802.21's sources disagree on the order. Here bit 0 is the most significant bit of the first octet, as
/// Wireshark reads it; this function is the one place that says so.
pub const fn bitmap_mask(octets: u32, index: u32) -> u32 {
    1 << (octets * 8 - 1 - index)
}

/// Defines a BITMAP with named bits.
macro_rules! bitmap {
    ($(#[$attribute:meta])* $name:ident($integer:ty, $octets:literal) {
        $($(#[$bit_attribute:meta])* $bit:ident = $index:literal,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $integer);

        impl $name {
            $($(#[$bit_attribute])* pub const $bit: $name =
                $name($crate::mih::wire::value::bitmap_mask($octets, $index) as $integer);)*

            /// No bit set.
            pub const NONE: $name = $name(0);

            /// Every bit of either.
            pub const fn union(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// The bits that both have.
            pub const fn intersection(self, other: $name) -> $name {
                $name(self.0 & other.0)
            }

            /// The bits that `other` does not have.
            pub const fn difference(self, other: $name) -> $name {
                $name(self.0 & !other.0)
            }

            /// Whether every bit of `other` is set.
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl $crate::mih::wire::value::Value for $name {
            fn write(&self, sink: &mut impl $crate::mih::wire::octets::Sink) {
                self.0.write(sink);
            }
            fn read(
                reader: &mut $crate::mih::wire::octets::Reader<'_>,
            ) -> Result<$name, $crate::mih::wire::error::DecodeError> {
                Ok($name(<$integer>::read(reader)?))
            }
        }
    };
}
pub(crate) use bitmap;

/// Defines an ENUMERATED: one octet, any value allowed (128 to 255 are a vendor's), the standard's ones
/// named.
macro_rules! enumerated {
    ($(#[$attribute:meta])* $name:ident { $($(#[$value_attribute:meta])* $value:ident = $code:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u8);

        impl $name {
            $($(#[$value_attribute])* pub const $value: $name = $name($code);)*
        }

        impl $crate::mih::wire::value::Value for $name {
            fn write(&self, sink: &mut impl $crate::mih::wire::octets::Sink) {
                sink.put_u8(self.0);
            }
            fn read(
                reader: &mut $crate::mih::wire::octets::Reader<'_>,
            ) -> Result<$name, $crate::mih::wire::error::DecodeError> {
                Ok($name(reader.u8()?))
            }
        }
    };
}
pub(crate) use enumerated;

/// Defines a SEQUENCE: its fields one after the other.
macro_rules! sequence {
    ($(#[$attribute:meta])* $name:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_attribute])* pub $field: $type,)*
        }

        impl $crate::mih::wire::value::Value for $name {
            fn write(&self, sink: &mut impl $crate::mih::wire::octets::Sink) {
                $(self.$field.write(sink);)*
            }
            fn read(
                reader: &mut $crate::mih::wire::octets::Reader<'_>,
            ) -> Result<$name, $crate::mih::wire::error::DecodeError> {
                Ok($name { $($field: $crate::mih::wire::value::Value::read(reader)?,)* })
            }
        }
    };
}
pub(crate) use sequence;

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(value: &impl Value) -> Vec<u8> {
        let mut octets = Vec::new();
        value.write(&mut octets);
        octets
    }

    #[test]
    fn basic_types_have_their_octets() {
        assert_eq!(encoded(&vec![0x0102u16, 0x0304]), [2, 1, 2, 3, 4]);
        assert_eq!(encoded(&OctetString::from("mn1")), [3, b'm', b'n', b'1']);
        assert_eq!(encoded(&Some(7u8)), [1, 7]);
        assert_eq!(encoded(&None::<u8>), [0]);
        assert_eq!(encoded(&-1i8), [0xff]);
    }

    #[test]
    fn a_list_longer_than_its_octets_is_refused_before_anything_is_allocated() {
        let mut reader = Reader::new(&[0x84, 0xff, 0xff, 0xff, 0xff, 1], 25);
        assert_eq!(Vec::<u8>::read(&mut reader), Err(DecodeError::BadValue { tlv_type: 25 }));
        assert!(bool::read(&mut Reader::new(&[2], 41)).is_err());
    }

    #[test]
    fn bit_0_is_the_most_significant_of_the_first_octet() {
        assert_eq!(bitmap_mask(4, 0), 0x8000_0000);
        assert_eq!(bitmap_mask(2, 1), 0x4000);
        assert_eq!(bitmap_mask(1, 2), 0x20);
    }
}
