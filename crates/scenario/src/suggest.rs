//! "Did you mean ...?"

/// What people write, and the key that they mean.
const SYNONYMS: &[(&str, &str)] = &[
    ("ack", "acknowledgement"),
    ("acknowledgment", "acknowledgement"),
    ("algorithm", "variant"),
    ("ap", "access_point"),
    ("bandwidth", "rate"),
    ("bidir", "bidirectional"),
    ("bitrate", "rate"),
    ("both_ways", "bidirectional"),
    ("buffer", "queue"),
    ("capacity", "rate"),
    ("chunk_size", "message_size"),
    ("congestion_control", "variant"),
    ("cookie_life", "valid_cookie_life"),
    ("cwmin", "cw_min"),
    ("datarate", "rate"),
    ("delayed_ack_timeout", "sack_delay"),
    ("destination", "to"),
    ("dst", "to"),
    ("dup_ack_threshold", "missing_reports"),
    ("end", "stop"),
    ("endpoints", "between"),
    ("error_rate", "probability"),
    ("hb_interval", "heartbeat_interval"),
    ("flavor", "variant"),
    ("frequency", "rate"),
    ("initial_cwnd", "initial_window"),
    ("initial_rto", "rto_initial"),
    ("latency", "delay"),
    ("length", "duration"),
    ("loss_rate", "loss"),
    ("loss_rate", "probability"),
    ("max_retransmissions", "association_max_retrans"),
    ("max_retries", "max_retransmissions"),
    ("max_retries", "retransmissions"),
    ("max_rto", "rto_max"),
    ("maximum_segment_size", "mss"),
    ("messagesize", "message_size"),
    ("min_rto", "rto_min"),
    ("mss", "mtu"),
    ("nodes", "between"),
    ("outage", "outages"),
    ("outbound_streams", "streams"),
    ("packets", "queue"),
    ("packetsize", "packet_size"),
    ("period", "interval"),
    ("propagation_delay", "delay"),
    ("queue_limit", "queue"),
    ("queue_size", "queue"),
    ("queuesize", "queue"),
    ("receiver", "to"),
    ("retries", "retransmissions"),
    ("rto_max", "max_rto"),
    ("rto_min", "min_rto"),
    ("runtime", "duration"),
    ("rwnd", "receive_window"),
    ("segment_size", "mss"),
    ("sender", "from"),
    ("size", "message_size"),
    ("size", "packet_size"),
    ("source", "from"),
    ("speed", "rate"),
    ("src", "from"),
    ("ssthresh", "initial_ssthresh"),
    ("station", "stations"),
    ("throughput", "rate"),
    ("time", "duration"),
    ("title", "name"),
    ("type", "distribution"),
    ("type", "kind"),
    ("type", "model"),
    ("type", "protocol"),
    ("unordered", "ordered"),
    ("version", "rules"),
    ("window", "receive_window"),
];

/// The candidate nearest to `written` in spelling, if it is near enough to be meant.
pub(crate) fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    scored(written, candidates.into_iter().map(|c| (c, c))).map(|(_, meant)| meant)
}

/// The key that was probably meant: nearest in spelling, or in spelling to a synonym.
pub(crate) fn nearest_key<'a>(written: &str, keys: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let synonyms = SYNONYMS
        .iter()
        .flat_map(|&(synonym, key)| keys.clone().filter(move |k| *k == key).map(move |k| (synonym, k)));
    scored(written, keys.clone().map(|k| (k, k)).chain(synonyms)).map(|(_, meant)| meant)
}

/// The pair (spelling, meaning) whose spelling is nearest; the first among equals.
fn scored<'a, 'b>(
    written: &str,
    candidates: impl Iterator<Item = (&'b str, &'a str)>,
) -> Option<(usize, &'a str)> {
    // Identifiers are short; a long text is no misspelling of one.
    if written.len() > 100 {
        return None;
    }
    let written = written.to_lowercase().replace('-', "_");
    let mut best: Option<(usize, &'a str)> = None;
    for (spelling, meaning) in candidates {
        let spelling = spelling.to_lowercase();
        let longest = written.chars().count().max(spelling.chars().count());
        // One error in three letters; none in names of one or two.
        let allowed = longest / 3;
        if written.len().abs_diff(spelling.len()) > 3 * allowed {
            continue;
        }
        let distance = strsim::osa_distance(&written, &spelling);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, meaning));
        }
    }
    best
}

/// `` `a`, `b` or `c` ``, at most 12 of them.
pub(crate) fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(12);
    if more > 0 {
        all.truncate(12);
        return format!("{} and {more} more", all.join(", "));
    }
    match all.pop() {
        None => "none".into(),
        Some(last) if all.is_empty() => last,
        Some(last) => format!("{} or {last}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_and_synonyms_find_their_key() {
        let keys = ["name", "between", "rate", "delay", "queue", "mtu", "loss", "outages"];
        for (written, meant) in [
            ("bandwith", Some("rate")),
            ("Bandwidth", Some("rate")),
            ("dealy", Some("delay")),
            ("latency", Some("delay")),
            ("queue-size", Some("queue")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest_key(written, keys.iter().copied()), meant, "{written}");
        }
        assert_eq!(nearest("servr", ["phone", "server"]), Some("server"));
        // Two different names of one letter are no misspelling of each other.
        assert_eq!(nearest("a", ["b", "c"]), None);
    }

    #[test]
    fn alternatives_read_as_a_sentence() {
        assert_eq!(alternatives([]), "none");
        assert_eq!(alternatives(["a"]), "`a`");
        assert_eq!(alternatives(["a", "b", "c"]), "`a`, `b` or `c`");
        let many = ["x"; 14];
        assert!(alternatives(many).ends_with("`x` and 2 more"));
    }
}
