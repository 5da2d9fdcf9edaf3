//! A value that changes at instants, such as the rate, the delay or the loss of a path over time.

use roamsim_engine::{Span, Time};

/// A step function of time. Behind its period, where it has one, it begins again.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<T> {
    /// From when on each value holds, in ascending order; the first from the beginning of the run.
    steps: Vec<(Time, T)>,
    period: Option<Span>,
}

impl<T: Copy> Series<T> {
    /// Always the same.
    pub fn constant(value: T) -> Series<T> {
        Series { steps: vec![(Time::ZERO, value)], period: None }
    }

    /// Steps in ascending order, of which the first holds from the beginning on, whenever it is said to;
    /// `None` without any. The period is longer than the last of them is late.
    pub fn new(mut steps: Vec<(Time, T)>, period: Option<Span>) -> Option<Series<T>> {
        steps.first_mut()?.0 = Time::ZERO;
        Some(Series { steps, period })
    }

    /// The value at an instant, and until when it holds.
    pub fn stretch(&self, at: Time) -> (T, Time) {
        let begun = match self.period {
            Some(period) => Time::from_ns(at.as_ns() / period.as_ns() * period.as_ns()),
            None => Time::ZERO,
        };
        let into = Time::ZERO + at.since(begun);
        let next = self.steps.partition_point(|&(from, _)| from <= into);
        let until = match (self.steps.get(next), self.period) {
            (Some(&(from, _)), _) => begun + from.since(Time::ZERO),
            (None, Some(period)) => begun + period,
            (None, None) => Time::MAX,
        };
        (self.steps[next - 1].1, until)
    }

    /// The period, where one begins at this instant.
    pub fn period_from(&self, at: Time) -> Option<Span> {
        self.period.filter(|period| at.as_ns().is_multiple_of(period.as_ns()))
    }

    /// The values of a period, or up to the end of time, and how long each holds.
    pub fn stretches(&self) -> impl Iterator<Item = (T, Span)> {
        let end = self.period.map_or(Time::MAX, |period| Time::ZERO + period);
        let ends = self.steps.iter().skip(1).map(|&(from, _)| from).chain([end]);
        self.steps.iter().zip(ends).map(|(&(from, value), until)| (value, until - from))
    }

    /// The value at an instant.
    pub fn at(&self, at: Time) -> T {
        self.stretch(at).0
    }

    /// From `now` on this holds, until the next step. Of a series without a period.
    pub fn begin(&mut self, now: Time, value: T) {
        let next = self.steps.partition_point(|&(from, _)| from <= now);
        self.steps.insert(next, (now, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_value_holds_from_its_step_to_the_next_and_the_last_for_ever() {
        let series = Series::new(vec![(at(0), 'a'), (at(10), 'b'), (at(30), 'c')], None).expect("steps");
        assert_eq!(series.stretch(at(0)), ('a', at(10)));
        assert_eq!(series.stretch(at(10)), ('b', at(30)));
        assert_eq!(series.stretch(at(29)), ('b', at(30)));
        assert_eq!(series.stretch(at(1_000_000)), ('c', Time::MAX));
        assert_eq!(Series::constant(7).stretch(at(5)), (7, Time::MAX));
    }

    #[test]
    fn behind_its_period_it_begins_again() {
        let steps = vec![(at(0), 'a'), (at(10), 'b')];
        let series = Series::new(steps, Some(Span::from_ms(30))).expect("steps");
        // 64 ms are 4 ms into the third period, which begins at 60 ms.
        assert_eq!(series.stretch(at(64)), ('a', at(70)));
        assert_eq!(series.stretch(at(70)), ('b', at(90)));
        assert_eq!(series.stretch(at(90)), ('a', at(100)));
        assert_eq!(
            series.stretches().collect::<Vec<_>>(),
            [('a', Span::from_ms(10)), ('b', Span::from_ms(20))]
        );
        assert_eq!((series.period_from(at(60)), series.period_from(at(64))), (Some(Span::from_ms(30)), None));
    }

    #[test]
    fn what_begins_at_an_event_holds_until_the_next_step() {
        let mut series = Series::new(vec![(at(0), 'a'), (at(30), 'b')], None).expect("steps");
        series.begin(at(12), 'x');
        series.begin(at(12), 'y');
        assert_eq!((series.at(at(11)), series.at(at(12)), series.at(at(30))), ('a', 'y', 'b'));
        assert_eq!(series.stretch(at(12)), ('y', at(30)));
    }
}
