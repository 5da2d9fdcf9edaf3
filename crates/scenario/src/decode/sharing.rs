//! Lists whose elements mostly say what the one before says: what is the same is held once.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

/// An element that may hold things together with the one before it.
pub(crate) trait Sharing {
    /// Takes what is the same from the one before.
    fn share(&mut self, before: &Self);
}

/// Takes the other's, if it is the same.
pub(crate) fn share<T: PartialEq + ?Sized>(mine: &mut Arc<T>, before: &Arc<T>) {
    if **mine == **before {
        *mine = Arc::clone(before);
    }
}

/// A list whose elements share as they are read.
pub(crate) fn sharing<'de, D: Deserializer<'de>, T: Deserialize<'de> + Sharing>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct ListVisitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de> + Sharing> Visitor<'de> for ListVisitor<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut all: Vec<T> = Vec::new();
            while let Some(mut one) = list.next_element::<T>()? {
                if let Some(before) = all.last() {
                    one.share(before);
                }
                all.push(one);
            }
            all.shrink_to_fit();
            Ok(all)
        }
    }

    deserializer.deserialize_seq(ListVisitor(PhantomData))
}
