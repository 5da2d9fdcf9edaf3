//! Thresholds of links' parameters that the peer of a session, or a local user, has configured (MIH_Link_Configure_Thresholds, IEEE Std 802.21-2008
//! section 7.4): from then on the link's reports go to it when they cross one alone.
//!
//! A report crosses a threshold that lies between the one before and itself, in the threshold's direction; the first report after the
//! configuration crosses none. Links here tell the signal's strength, in dBm or in percent; other parameters are refused, and so is a
//! report interval, since links have their own.

use super::wire::handover::{
    LinkConfigurationParameter, LinkParameterType, Threshold, ThresholdAction, ThresholdDirection,
};
use super::wire::link::{LinkTupleId, SignalStrength, Status};

/// Thresholds of a link's signal.
#[derive(Debug)]
struct Watched {
    link: LinkTupleId,
    /// Each, and whether it counts for one crossing.
    thresholds: Vec<(Threshold, bool)>,
    /// The last report.
    before: Option<i16>,
}

/// Those of one session's peer, or of a user of the node itself.
#[derive(Debug, Default)]
pub struct Thresholds {
    watched: Vec<Watched>,
}

/// The value of a signal, as reports write it.
fn value_of(signal: SignalStrength) -> i16 {
    match signal {
        SignalStrength::Dbm(dbm) => i16::from(dbm),
        SignalStrength::Percent(percent) => i16::from(percent),
    }
}

impl Thresholds {
    /// Configures a link: all of it, or nothing.
    pub fn configure(&mut self, link: &LinkTupleId, parameters: &[LinkConfigurationParameter]) -> Status {
        let understood = |one: &LinkConfigurationParameter| {
            one.parameter == LinkParameterType::SIGNAL_STRENGTH
                && one.report_interval_ms.is_none()
                && [ThresholdAction::NORMAL, ThresholdAction::ONE_SHOT, ThresholdAction::CANCEL]
                    .contains(&one.action)
        };
        if parameters.is_empty() || !parameters.iter().all(understood) {
            return Status::REJECTED;
        }
        for LinkConfigurationParameter { action, thresholds, .. } in parameters {
            let own = self.watched.iter().position(|watched| watched.link == *link);
            if *action == ThresholdAction::CANCEL {
                // Without a list all of them.
                if let Some(own) = own {
                    let kept =
                        |(one, _): &(Threshold, bool)| !thresholds.is_empty() && !thresholds.contains(one);
                    self.watched[own].thresholds.retain(kept);
                    if self.watched[own].thresholds.is_empty() {
                        self.watched.remove(own);
                    }
                }
                continue;
            }
            let own = own.unwrap_or_else(|| {
                let (thresholds, before) = (Vec::new(), None);
                self.watched.push(Watched { link: link.clone(), thresholds, before });
                self.watched.len() - 1
            });
            let once = *action == ThresholdAction::ONE_SHOT;
            self.watched[own].thresholds.retain(|(one, _)| !thresholds.contains(one));
            self.watched[own].thresholds.extend(thresholds.iter().map(|one| (one.clone(), once)));
        }
        Status::SUCCESS
    }

    /// The thresholds that a report of a link crosses; `None`: it has none, and every report counts.
    pub fn crossed(&mut self, link: &LinkTupleId, signal: SignalStrength) -> Option<Vec<Threshold>> {
        let own = self.watched.iter_mut().find(|watched| {
            let there = &watched.link.point_of_attachment;
            watched.link.link == link.link && (there.is_none() || *there == link.point_of_attachment)
        })?;
        let now = value_of(signal);
        let Some(before) = own.before.replace(now) else { return Some(Vec::new()) };
        let crosses = |threshold: &Threshold| {
            // In two's complement.
            let value = threshold.value as i16;
            match threshold.direction {
                ThresholdDirection::ABOVE => before <= value && value < now,
                ThresholdDirection::BELOW => now < value && value <= before,
                _ => false,
            }
        };
        let crossed: Vec<_> = own.thresholds.iter().filter(|(one, _)| crosses(one)).cloned().collect();
        // What was to count once is over; nothing is left of it but that reports do not come by themselves.
        own.thresholds.retain(|one| !one.1 || !crossed.contains(one));
        Some(crossed.into_iter().map(|(one, _)| one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mih::wire::link::LinkType;

    fn link() -> LinkTupleId {
        LinkTupleId::of_macs(LinkType::IEEE_802_16, [2, 1, 0, 0, 0, 7], [2, 1, 0, 0, 0, 1])
    }

    fn below(dbm: i16) -> Threshold {
        Threshold { value: dbm as u16, direction: ThresholdDirection::BELOW }
    }

    fn parameter(action: ThresholdAction, thresholds: &[Threshold]) -> LinkConfigurationParameter {
        LinkConfigurationParameter {
            parameter: LinkParameterType::SIGNAL_STRENGTH,
            report_interval_ms: None,
            action,
            thresholds: thresholds.to_vec(),
        }
    }

    #[test]
    fn a_report_crosses_what_lies_between_the_one_before_and_itself() {
        let above = Threshold { value: -70i16 as u16, direction: ThresholdDirection::ABOVE };
        let mut own = Thresholds::default();
        let dbm = SignalStrength::Dbm;
        assert_eq!(own.crossed(&link(), dbm(-60)), None);
        let both = [below(-70), above.clone()];
        assert_eq!(own.configure(&link(), &[parameter(ThresholdAction::NORMAL, &both)]), Status::SUCCESS);
        let told: Vec<_> = [-65, -70, -71, -80, -70, -69, -71].map(|at| own.crossed(&link(), dbm(at))).into();
        let (none, down, up) = (Some(vec![]), Some(vec![below(-70)]), Some(vec![above]));
        let expected = [&none, &none, &down, &none, &none, &up, &down];
        assert_eq!(told.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_counts_once_counts_once_and_what_is_cancelled_not_at_all() {
        let mut own = Thresholds::default();
        let tell = |own: &mut Thresholds| {
            [-60, -80, -60, -80]
                .map(|at| own.crossed(&link(), SignalStrength::Dbm(at)).map(|told| told.len()))
        };
        own.configure(&link(), &[parameter(ThresholdAction::ONE_SHOT, &[below(-70)])]);
        assert_eq!(tell(&mut own), [Some(0), Some(1), Some(0), Some(0)]);
        own.configure(&link(), &[parameter(ThresholdAction::NORMAL, &[below(-70), below(-75)])]);
        assert_eq!(tell(&mut own), [Some(0), Some(2), Some(0), Some(2)]);
        own.configure(&link(), &[parameter(ThresholdAction::CANCEL, &[below(-70)])]);
        assert_eq!(tell(&mut own), [Some(0), Some(1), Some(0), Some(1)]);
        own.configure(&link(), &[parameter(ThresholdAction::CANCEL, &[])]);
        assert_eq!(tell(&mut own), [None; 4]);
    }

    #[test]
    fn what_links_do_not_tell_is_refused() {
        let mut own = Thresholds::default();
        let other = LinkConfigurationParameter {
            parameter: LinkParameterType::SINR,
            ..parameter(ThresholdAction::NORMAL, &[below(-70)])
        };
        let paced = LinkConfigurationParameter {
            report_interval_ms: Some(100),
            ..parameter(ThresholdAction::NORMAL, &[below(-70)])
        };
        for refused in [&[other][..], &[paced][..], &[][..]] {
            assert_eq!(own.configure(&link(), refused), Status::REJECTED);
        }
        assert_eq!(own.crossed(&link(), SignalStrength::Percent(50)), None);
    }
}
