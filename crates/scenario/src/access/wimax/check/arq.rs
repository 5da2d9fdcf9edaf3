//! Automatic repeat request.

use crate::access::wimax::model::Wimax;
use crate::report::{At, Key, Report, Step, join};
use roamsim_engine::Span;
use roamsim_network::link::wimax::{MOST_BLOCK_BYTES, MOST_WINDOW_BLOCKS};

/// The longest time that its encodings can tell: 65,535 times 100 us (IEEE Std 802.16e-2005 section
/// 11.13.18).
const LONGEST: Span = Span::from_us(6_553_500);

/// Checks it, and who has it; whether a machine can be made of it.
pub(super) fn check(at: &[Step], cell: &Wimax, report: &mut Report<'_>) -> bool {
    let Some(arq) = &cell.arq else {
        check_asked(at, cell, report);
        return true;
    };
    let steps = join(at, ["arq"]);
    let mut good = true;
    let mut refuse = |key: &'static str, message: String, help: &str| {
        report.add(&join(&steps, [key]), message, help);
        good = false;
    };
    if !(1..=u64::from(MOST_BLOCK_BYTES)).contains(&arq.block_bytes) {
        let message =
            format!("a block has from 1 to {MOST_BLOCK_BYTES} B (IEEE Std 802.16-2004 section 11.13.18.8)");
        refuse("block_size", message, "write a size such as \"256B\"");
    }
    if !(1..=MOST_WINDOW_BLOCKS).contains(&arq.window_blocks) {
        let message = format!(
            "a window has from 1 to {MOST_WINDOW_BLOCKS} blocks (IEEE Std 802.16-2004 section 11.13.18.2)"
        );
        refuse("window", message, "write a number such as 1024");
    }
    if arq.retry_timeout == Span::ZERO {
        let message = "this time must be above zero".to_owned();
        refuse("retry_timeout", message, "write a time such as \"200ms\"");
    }
    for (key, time) in [
        ("retry_timeout", arq.retry_timeout),
        ("block_lifetime", arq.block_lifetime),
        ("sync_loss_timeout", arq.sync_loss_timeout),
        ("purge_timeout", arq.purge_timeout),
    ] {
        if time > LONGEST {
            let message =
                "the standard has times up to 6.5535 s here (IEEE Std 802.16e-2005 section 11.13.18)"
                    .to_owned();
            let help = match key {
                "retry_timeout" => "write a shorter time, such as \"200ms\"",
                _ => "write a shorter time, such as \"500ms\", or \"0s\" for no limit",
            };
            refuse(key, message, help);
        }
    }
    if cell.entry.is_none() {
        let help = "write `entry` with a `radio` and `block_errors`, or leave `arq` out";
        report.warn(&steps, "nothing is lost in a cell without `entry`: nothing is ever sent again", help);
    }
    good
}

/// Refuses entries that ask for ARQ where the cell has none.
fn check_asked(at: &[Step], cell: &Wimax, report: &mut Report<'_>) {
    for (key, list) in [
        ("real_time_polling", &cell.real_time_polling),
        ("non_real_time_polling", &cell.non_real_time_polling),
    ] {
        for (number, _) in list.iter().enumerate().filter(|(_, entry)| entry.arq == Some(true)) {
            let place = [&join(at, [key])[..], &[At(number), Key("arq")]].concat();
            let help = "write `arq = {}` in the cell for its defaults, or leave this out";
            report.add(&place, "the cell says nothing of `arq`", help);
        }
    }
}
