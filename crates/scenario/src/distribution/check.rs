//! What can be drawn.

use super::model::{SizeDistribution, TimeDistribution};
use crate::report::{Report, Step, join};

/// Checks that a size can be drawn, and that it is one that can be sent.
pub(crate) fn check_size(at: &[Step], size: &SizeDistribution, report: &mut Report<'_>) -> bool {
    let (min_bytes, max_bytes) = (size.min_bytes(), size.max_bytes());
    if let SizeDistribution::Exponential { mean_bytes, .. } = *size
        && min_bytes <= max_bytes
        && min_bytes > 0
        && !(min_bytes..=max_bytes).contains(&mean_bytes)
    {
        // Most draws, or all, would be the bound.
        let message = format!(
            "the mean of {mean_bytes} B lies outside of the sizes from {min_bytes} B to {max_bytes} B"
        );
        let help = "write a mean between `min`, 1 B unless it is written, and `max`";
        report.add(&join(at, ["mean"]), message, help);
        return false;
    }
    if min_bytes > max_bytes {
        report.add(at, "`min` is larger than `max`", "exchange them");
    } else if min_bytes == 0 {
        report.add(at, "a size of 0 B sends nothing", "write a size of 1 B or more");
    } else if max_bytes > MAX_MESSAGE_BYTES {
        let help = "write \"4294967295B\" or less; `bulk` and `transfer` send more than that";
        report.add(at, "a message has 4 GiB at most", help);
    } else {
        return true;
    }
    false
}

/// The length of a message is counted in 32 bits.
const MAX_MESSAGE_BYTES: u64 = u32::MAX as u64;

/// Checks that a time can be drawn, and that not every draw is zero where `zero` says what that would mean.
pub(crate) fn check_distribution(
    at: &[Step],
    times: &TimeDistribution,
    zero: Option<&str>,
    report: &mut Report<'_>,
) {
    if let TimeDistribution::Uniform { min, max } = times
        && min > max
    {
        report.add(at, "`min` is larger than `max`", "exchange them");
    } else if let Some(zero) = zero
        && times.is_zero()
    {
        report.add(at, zero, "write a time above zero");
    }
}
