//! The user timeout of TCP, and the option that tells the peer of it.

use crate::outcome::{self, texts};
use roamsim_scenario::run::Options;

/// A phone and a server write to each other each second, and the link is out from 10 s to 310 s.
fn ending(settings: &str) -> String {
    let text = format!(
        r#"
[scenario]
name = "tunnel"
duration = "600s"
[[node]]
name = "phone"
[[node]]
name = "server"
[[link]]
name = "line"
between = ["phone", "server"]
rate = "8Mb/s"
delay = "10ms"
outages = [{{ start = "10s", duration = "300s" }}]
[[flow]]
name = "f"
from = "phone"
to = "server"
bidirectional = true
transport = {{ protocol = "tcp", user_timeout = "120s"{settings} }}
application = {{ kind = "cbr", packet_size = "100B", interval = "1s", stop = "500s" }}
"#
    );
    let outcome = outcome::of(&text, &[], Options { seed: 1, ..Options::default() });
    texts(&outcome, "flows", "connection")[0].to_owned()
}

#[test]
fn an_advertised_timeout_has_both_ends_wait_out_an_outage() {
    assert_eq!(ending(""), "user timeout");
    assert_eq!(ending(", advertised_user_timeout = \"600s\""), "still open");
}

#[test]
fn a_limit_or_an_end_that_does_not_adapt_ends_the_connection() {
    let advertised = ", advertised_user_timeout = \"600s\", user_timeout_changeable = false";
    assert_eq!(ending(advertised), "user timeout");
    let limited = ", advertised_user_timeout = \"200s\", user_timeout_upper_limit = \"200s\"";
    assert_eq!(ending(limited), "user timeout");
}
