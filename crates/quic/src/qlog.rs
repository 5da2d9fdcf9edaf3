//! qlog for its readers (draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-02, version
//! 0.3, as JSON text sequences of RFC 7464).
//!
//! The library's records differ from the drafts in four places, which viewers such as qvis stumble over.
//! [`Mended`] puts them right on the way to the file:
//!
//! | the library writes | the drafts, and here |
//! |---|---|
//! | a vantage point of type `unknown` | `client` or `server` |
//! | the octets of a packet as `length` of its header | as `length` of `raw` |
//! | round-trip times in seconds | in milliseconds |
//! | a `group_id` that the handshake changes | none: a file has one connection |
//!
//! Not in its records: frames, and the sizes of received packets.

use quinn_proto::Side;
use roamsim_network::socket::endpoint::LogFile;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Round-trip times among the metrics of recovery.
const TIMES: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];

/// A file whose records are mended.
pub(crate) struct Mended {
    file: LogFile,
    side: Side,
    /// What has come of the record under way.
    record: Vec<u8>,
}

impl Mended {
    /// Records of an end on this side.
    pub(crate) fn new(file: LogFile, side: Side) -> Mended {
        Mended { file, side, record: Vec::new() }
    }

    fn end_record(&mut self) -> io::Result<()> {
        let record = std::mem::take(&mut self.record);
        let text = record.strip_prefix(b"\x1e").unwrap_or(&record);
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(text) else {
            return self.file.write_all(&record);
        };
        mend(&mut fields, self.side);
        let mut mended = b"\x1e".to_vec();
        serde_json::to_writer(&mut mended, &fields)?;
        mended.push(b'\n');
        self.file.write_all(&mended)
    }
}

impl Write for Mended {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        for part in octets.split_inclusive(|&octet| octet == b'\n') {
            self.record.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_record()?;
            }
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn mend(fields: &mut Map<String, Value>, side: Side) {
    fields.shift_remove("group_id");
    if let Some(kind) = fields.get_mut("trace").and_then(|trace| trace.pointer_mut("/vantage_point/type")) {
        *kind = json!(if side.is_client() { "client" } else { "server" });
    }
    let Some(Value::Object(data)) = fields.get_mut("data") else { return };
    let header = data.get_mut("header").and_then(Value::as_object_mut);
    if let Some(length) = header.and_then(|header| header.shift_remove("length")) {
        data.insert("raw".to_owned(), json!({ "length": length }));
    }
    for time in TIMES {
        if let Some(value) = data.get_mut(time)
            && let Some(seconds) = value.as_f64()
        {
            // To a nanosecond.
            *value = json!((seconds * 1e9).round() / 1e6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("octets").write(octets)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// In whatever pieces the records come.
    #[test]
    fn records_are_mended() {
        let written = concat!(
            "\x1e{\"qlog_version\":\"0.3\",\"trace\":{\"vantage_point\":{\"type\":\"unknown\"}}}\n",
            "\x1e{\"time\":0.5,\"data\":{\"header\":{\"packet_number\":7,\"length\":1200}},\"group_id\":\"0a\"}\n",
            "\x1e{\"time\":41.9968,\"data\":{\"min_rtt\":0.0419968,\"congestion_window\":12000}}\n",
            "\x1eno JSON\n",
        );
        let mended = concat!(
            "\x1e{\"qlog_version\":\"0.3\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n",
            "\x1e{\"time\":0.5,\"data\":{\"header\":{\"packet_number\":7},\"raw\":{\"length\":1200}}}\n",
            "\x1e{\"time\":41.9968,\"data\":{\"min_rtt\":41.9968,\"congestion_window\":12000}}\n",
            "\x1eno JSON\n",
        );
        for piece in [1, 7, 1000] {
            let shared = Shared::default();
            let mut file = Mended::new(Box::new(shared.clone()), Side::Server);
            written.as_bytes().chunks(piece).for_each(|part| file.write_all(part).expect("octets"));
            file.flush().expect("octets");
            assert_eq!(String::from_utf8_lossy(&shared.0.lock().expect("octets")), mended);
        }
    }
}
