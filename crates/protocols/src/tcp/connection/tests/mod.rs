//! A connection as a whole.

mod twins;

use super::Connection;
use super::extras::Ending;
use super::sender::Sender;
use crate::tcp::config::{Config, HystartRules};
use roamsim_engine::{Span, Time};

#[test]
fn a_connection_is_small() {
    assert!(size_of::<Connection>() <= 728, "{} bytes", size_of::<Connection>());
}

#[test]
fn a_timeout_has_the_hystart_of_linux_begin_anew() {
    let config = Config { hystart: true, hystart_rules: HystartRules::Linux, ..Config::default() };
    let mut sender = Sender::new(&config, 0);
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let ends = |sender: &mut Sender, first_ms: u64, base: u64| {
        let Some(Ending::Linux(train)) = sender.hystart_end() else { panic!("Linux's") };
        // A train of acknowledgements a millisecond apart is as long as half of 40 ms.
        (1..30).any(|n| train.on_ack(at(first_ms + n), Span::from_ms(40), 16, base + n, base + 30))
    };
    assert!(ends(&mut sender, 0, 0));
    assert!(!ends(&mut sender, 100, 100));
    sender.go_back(at(200), false);
    assert!(ends(&mut sender, 300, 200));
}
