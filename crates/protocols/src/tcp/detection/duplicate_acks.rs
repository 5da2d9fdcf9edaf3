//! A number of duplicate ACKs in a row tells of a loss (RFC 5681 3.2, step 2).

use super::{LossDetection, Settings};

/// Counts duplicate ACKs since the last ACK for new data.
#[derive(Clone, Copy, Debug)]
pub struct DuplicateAcks {
    threshold: u32,
    count: u32,
}

impl DuplicateAcks {
    /// Detects at the `threshold`-th duplicate in a row; 3 in RFC 5681.
    pub fn new(threshold: u32) -> DuplicateAcks {
        DuplicateAcks { threshold: threshold.max(1), count: 0 }
    }

    /// True at the threshold, and only there: what recovery refuses once it refuses until new data is
    /// acknowledged.
    #[inline]
    pub(super) fn add(&mut self) -> bool {
        self.count = self.count.saturating_add(1);
        self.count == self.threshold
    }

    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    pub(super) fn limited_transmit_segments(&self) -> u64 {
        u64::from(self.count.min(2).min(self.threshold - 1))
    }
}

impl LossDetection for DuplicateAcks {
    const NAME: &str = "duplicate-acks";

    fn new(settings: &Settings) -> DuplicateAcks {
        DuplicateAcks::new(settings.dup_ack_threshold)
    }

    #[inline]
    fn counter(&self) -> &DuplicateAcks {
        self
    }

    #[inline]
    fn counter_mut(&mut self) -> &mut DuplicateAcks {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_once_at_the_threshold() {
        let mut part = DuplicateAcks::new(3);
        let told: Vec<bool> = (0..5).map(|_| part.add()).collect();
        assert_eq!(told, [false, false, true, false, false]);
        part.clear();
        assert!(!part.add());
        assert_eq!(part.limited_transmit_segments(), 1);
    }

    #[test]
    fn a_threshold_of_one_leaves_nothing_to_limited_transmit() {
        let mut part = DuplicateAcks::new(1);
        assert!(part.add());
        assert_eq!(part.limited_transmit_segments(), 0);
    }
}
