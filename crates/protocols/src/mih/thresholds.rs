//! Thresholds of links' parameters that the peer of a session, or a local user, has configured
//! (MIH_Link_Configure_Thresholds, IEEE Std 802.21-2008 section 7.4): from then on the link's reports go to
//! it when they cross one alone.
//!
//! A report crosses a threshold that lies between the one before and itself, in the threshold's direction;
//! the first report after the configuration crosses none. Links here tell the signal's strength, in dBm or in
//! percent, at a pace of their own: a report interval of it is refused. The packet error rate, in percent, is
//! that of each report interval, and is told nobody who has no threshold of it. Other parameters are refused.

use super::link_parameter::LinkParameter;
use super::wire::handover::{
    LinkConfigurationParameter, LinkParameterType, Threshold, ThresholdAction, ThresholdDirection,
};
use super::wire::link::{LinkId, LinkTupleId, Status};

/// Thresholds of a parameter of a link.
#[derive(Debug)]
struct Watched {
    link: LinkTupleId,
    parameter: LinkParameterType,
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

/// Whether links here can do this.
fn is_understood(one: &LinkConfigurationParameter) -> bool {
    let of_parameter = match one.parameter {
        LinkParameterType::SIGNAL_STRENGTH => one.report_interval_ms.is_none(),
        LinkParameterType::PACKET_ERROR_RATE if one.action != ThresholdAction::CANCEL => {
            one.report_interval_ms.is_some_and(|interval_ms| interval_ms > 0) && !one.thresholds.is_empty()
        }
        other => other == LinkParameterType::PACKET_ERROR_RATE,
    };
    of_parameter
        && [ThresholdAction::NORMAL, ThresholdAction::ONE_SHOT, ThresholdAction::CANCEL].contains(&one.action)
}

impl Thresholds {
    /// Configures a link: all of it, or nothing.
    pub fn configure(&mut self, link: &LinkTupleId, parameters: &[LinkConfigurationParameter]) -> Status {
        if parameters.is_empty() || !parameters.iter().all(is_understood) {
            return Status::REJECTED;
        }
        for LinkConfigurationParameter { parameter, action, thresholds, .. } in parameters {
            let is_it = |watched: &Watched| watched.link == *link && watched.parameter == *parameter;
            let own = self.watched.iter().position(is_it);
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
                self.watched.push(Watched { link: link.clone(), parameter: *parameter, thresholds, before });
                self.watched.len() - 1
            });
            let once = *action == ThresholdAction::ONE_SHOT;
            self.watched[own].thresholds.retain(|(one, _)| !thresholds.contains(one));
            self.watched[own].thresholds.extend(thresholds.iter().map(|one| (one.clone(), once)));
        }
        Status::SUCCESS
    }

    /// Whether a parameter of a link has some.
    pub(super) fn has(&self, link: &LinkId, parameter: LinkParameterType) -> bool {
        let is_it = |watched: &&Watched| watched.link.link == *link && watched.parameter == parameter;
        self.watched.iter().find(is_it).is_some_and(|watched| !watched.thresholds.is_empty())
    }

    /// Whether a report of a link counts, and the thresholds that it crosses: none where there are none, and
    /// every report counts. `None`: it does not.
    pub fn told(&mut self, link: &LinkTupleId, parameter: LinkParameter) -> Option<Vec<Threshold>> {
        let own = self.watched.iter_mut().find(|watched| {
            let there = &watched.link.point_of_attachment;
            watched.parameter == parameter.parameter()
                && watched.link.link == link.link
                && (there.is_none() || *there == link.point_of_attachment)
        });
        let Some(own) = own else {
            return matches!(parameter, LinkParameter::Signal(_)).then(Vec::new);
        };
        let now = parameter.value();
        let before = own.before.replace(now)?;
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
        (!crossed.is_empty()).then(|| crossed.into_iter().map(|(one, _)| one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mih::wire::link::{LinkType, SignalStrength};

    fn link() -> LinkTupleId {
        LinkTupleId::of_macs(LinkType::IEEE_802_16, [2, 1, 0, 0, 0, 7], [2, 1, 0, 0, 0, 1])
    }

    fn dbm(dbm: i8) -> LinkParameter {
        LinkParameter::Signal(SignalStrength::Dbm(dbm))
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
        assert_eq!(own.told(&link(), dbm(-60)), Some(vec![]));
        let both = [below(-70), above.clone()];
        assert_eq!(own.configure(&link(), &[parameter(ThresholdAction::NORMAL, &both)]), Status::SUCCESS);
        let told: Vec<_> = [-65, -70, -71, -80, -70, -69, -71].map(|at| own.told(&link(), dbm(at))).into();
        let (none, down, up) = (None, Some(vec![below(-70)]), Some(vec![above]));
        let expected = [&none, &none, &down, &none, &none, &up, &down];
        assert_eq!(told.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_counts_once_counts_once_and_what_is_cancelled_not_at_all() {
        let mut own = Thresholds::default();
        let tell = |own: &mut Thresholds| {
            [-60, -80, -60, -80].map(|at| own.told(&link(), dbm(at)).map(|told| told.len()))
        };
        own.configure(&link(), &[parameter(ThresholdAction::ONE_SHOT, &[below(-70)])]);
        assert_eq!(tell(&mut own), [None, Some(1), None, None]);
        own.configure(&link(), &[parameter(ThresholdAction::NORMAL, &[below(-70), below(-75)])]);
        assert_eq!(tell(&mut own), [None, Some(2), None, Some(2)]);
        own.configure(&link(), &[parameter(ThresholdAction::CANCEL, &[below(-70)])]);
        assert_eq!(tell(&mut own), [None, Some(1), None, Some(1)]);
        own.configure(&link(), &[parameter(ThresholdAction::CANCEL, &[])]);
        assert_eq!(tell(&mut own), [Some(0); 4]);
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
        let errors = |report_interval_ms, thresholds: &[Threshold]| LinkConfigurationParameter {
            parameter: LinkParameterType::PACKET_ERROR_RATE,
            report_interval_ms,
            ..parameter(ThresholdAction::NORMAL, thresholds)
        };
        for refused in [errors(None, &[below(10)]), errors(Some(0), &[below(10)]), errors(Some(100), &[])] {
            assert_eq!(own.configure(&link(), &[refused]), Status::REJECTED);
        }
        let percent = LinkParameter::Signal(SignalStrength::Percent(50));
        assert_eq!(own.told(&link(), percent), Some(vec![]));
    }

    #[test]
    fn errors_are_told_to_who_has_a_threshold_of_them_alone() {
        let mut own = Thresholds::default();
        let percent = LinkParameter::PacketErrorPercent;
        assert_eq!([5, 50].map(|at| own.told(&link(), percent(at))), [None, None]);
        let above = Threshold { value: 10, direction: ThresholdDirection::ABOVE };
        let errors = LinkConfigurationParameter {
            parameter: LinkParameterType::PACKET_ERROR_RATE,
            report_interval_ms: Some(100),
            ..parameter(ThresholdAction::NORMAL, std::slice::from_ref(&above))
        };
        let has = |own: &Thresholds| own.has(&link().link, LinkParameterType::PACKET_ERROR_RATE);
        assert!(!has(&own));
        assert_eq!(own.configure(&link(), &[errors]), Status::SUCCESS);
        assert!(has(&own));
        let told: Vec<_> = [5, 50, 60, 10, 11].map(|at| own.told(&link(), percent(at))).into();
        let crossed = Some(vec![above]);
        assert_eq!(told, [None, crossed.clone(), None, None, crossed]);
        // The signal has none.
        assert_eq!(own.told(&link(), dbm(-60)), Some(vec![]));
        let cancel = LinkConfigurationParameter {
            parameter: LinkParameterType::PACKET_ERROR_RATE,
            ..parameter(ThresholdAction::CANCEL, &[])
        };
        assert_eq!(own.configure(&link(), &[cancel]), Status::SUCCESS);
        assert!(!has(&own));
        assert_eq!([5, 50].map(|at| own.told(&link(), percent(at))), [None, None]);
    }
}
