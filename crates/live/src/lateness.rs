//! How late packets went out: a histogram whose buckets are an eighth of a power of two wide.

/// Buckets in a power of two.
const PARTS: u64 = 8;

/// The histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lateness {
    counts: Vec<u64>,
    packets: u64,
    most_ns: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; bucket(u64::MAX) + 1], packets: 0, most_ns: 0 }
    }
}

/// The bucket of a number of nanoseconds.
fn bucket(ns: u64) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let power = u64::from(ns.ilog2());
    let part = ns >> (power - u64::from(PARTS.ilog2())) & (PARTS - 1);
    ((power - u64::from(PARTS.ilog2()) + 1) * PARTS + part) as usize
}

/// The largest number in a bucket.
fn last_of(bucket: usize) -> u64 {
    let (power, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    match power {
        0 => part,
        power => {
            (u128::from(PARTS + part + 1) << (power - 1)).saturating_sub(1).min(u128::from(u64::MAX)) as u64
        }
    }
}

impl Lateness {
    /// Counts a packet.
    pub fn add(&mut self, ns: u64) {
        self.counts[bucket(ns)] += 1;
        self.packets += 1;
        self.most_ns = self.most_ns.max(ns);
    }

    /// How many packets there were.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The longest.
    pub fn most_ns(&self) -> u64 {
        self.most_ns
    }

    /// The histogram: for each bucket that is not empty, the most that a packet in it was late, and how many
    /// packets.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(|(bucket, &count)| (last_of(bucket).min(self.most_ns), count))
    }

    /// What so many of a thousand packets did not exceed: at most an eighth too large. Zero without packets.
    pub fn per_mille_ns(&self, per_mille: u64) -> u64 {
        let wanted = (self.packets * per_mille).div_ceil(1000);
        let mut passed = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            passed += count;
            if passed >= wanted && passed > 0 {
                return last_of(bucket).min(self.most_ns);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_at_most_an_eighth_too_large() {
        let mut lateness = Lateness::default();
        assert_eq!((lateness.per_mille_ns(999), lateness.most_ns()), (0, 0));
        (1..=100_000).for_each(|us| lateness.add(1000 * us));
        for per_mille in [1, 500, 999, 1000] {
            let (told, exact) = (lateness.per_mille_ns(per_mille), 100_000 * per_mille);
            assert!(told >= exact && told <= exact + exact / 8, "{told} {exact}");
        }
        assert_eq!((lateness.packets(), lateness.most_ns()), (100_000, 100_000_000));
        assert_eq!(lateness.buckets().map(|(_, count)| count).sum::<u64>(), 100_000);
        assert_eq!(lateness.buckets().last().map(|(most_ns, _)| most_ns), Some(100_000_000));
    }

    #[test]
    fn every_number_has_its_bucket() {
        for ns in (0..2000).chain([1 << 40, u64::MAX - 1, u64::MAX]) {
            let bucket = bucket(ns);
            assert!(ns <= last_of(bucket) && (bucket == 0 || ns > last_of(bucket - 1)), "{ns}");
        }
    }
}
