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

#[cfg(test)]
mod tests {
    use crate::Format;
    use crate::scenario::Scenario;
    use std::sync::Arc;

    #[test]
    fn what_one_says_as_the_one_before_is_held_once() {
        let text = r#"
            scenario = { name = "x", duration = "1s" }
            node = [{ name = "a" }, { name = "b" }, { name = "c", multihomed = true }, { name = "d" }]
            link = [
                { name = "1", between = ["a", "b"], rate = "1Mb/s", delay = "1ms", queue = { packets = 5 } },
                { name = "2", between = ["b", "c"], rate = "1Mb/s", delay = "1ms", queue = { packets = 5 } },
                { name = "3", between = ["c", "d"], rate = "2Mb/s", delay = "1ms", queue = { packets = 6 } },
            ]
            flow = [
                { name = "f", from = "a", to = "b", transport = { protocol = "tcp" }, application = { kind = "bulk" } },
                { name = "g", from = "b", to = "c", transport = { protocol = "tcp" }, application = { kind = "bulk" } },
            ]
        "#;
        let Scenario { nodes, links, flows, .. } =
            Scenario::parse(text, "x", Format::Toml, &[]).expect("a valid scenario");
        let [one, two, three] = &links[..] else { panic!("three links") };
        assert!(Arc::ptr_eq(&one.kind, &two.kind) && !Arc::ptr_eq(&two.kind, &three.kind));
        assert_eq!(three.rate[0].constant_bps, Some(2_000_000));
        assert!(Arc::ptr_eq(&nodes[0].kind, &nodes[1].kind) && !Arc::ptr_eq(&nodes[1].kind, &nodes[2].kind));
        assert!(nodes[2].multihomed);
        assert!(Arc::ptr_eq(&flows[0].transport, &flows[1].transport));
        let letters = [&nodes[1].name, &one.between[1], &two.between[0], &flows[0].to, &flows[1].from];
        assert!(letters.iter().all(|name| name.as_ptr() == nodes[1].name.as_ptr()), "all are b");
    }
}
