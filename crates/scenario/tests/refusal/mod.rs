//! Reports on scenarios that are refused, each a snapshot.

use roamsim_scenario::{Format, Scenario};

/// The report on a good scenario with one text replaced by another.
pub fn report_on(good_scenario: &str, good: &str, bad: &str) -> String {
    assert_eq!(good_scenario.matches(good).count(), 1, "{good}");
    refuse(&good_scenario.replace(good, bad))
}

/// The report on a scenario.
pub fn refuse(text: &str) -> String {
    match Scenario::parse(text, "scenario.toml", Format::Toml, &[]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(diagnostics) => diagnostics.render(false),
    }
}

/// A test for each line: the scenario `GOOD`, or the one behind `on`, with the first text replaced by the
/// second.
macro_rules! reports {
    ($($name:ident: $good:literal => $bad:literal;)*) => {
        reports! { on GOOD; $($name: $good => $bad;)* }
    };
    (on $scenario:ident; $($name:ident: $good:literal => $bad:literal;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(stringify!($name), crate::refusal::report_on($scenario, $good, $bad));
            }
        )*
    };
}
