//! No input makes the parser panic, and every refusal can be rendered.

use cpu_time::ThreadTime;
use proptest::prelude::*;
use roamsim_scenario::{Format, Scenario, template};

/// A walk between two cells.
const CELLS: &str = include_str!("../../../examples/cell-walk.toml");

/// Parses, and renders what is refused.
fn survives(text: &str, format: Format, overrides: &[(String, String)]) {
    match Scenario::parse(text, "input", format, overrides) {
        Ok(scenario) => {
            assert!(serde_json::from_str::<serde_json::Value>(&scenario.canonical_json()).is_ok())
        }
        Err(diagnostics) => {
            assert!(!diagnostics.problems().is_empty());
            assert!(!diagnostics.render(true).is_empty());
            let plain = diagnostics.render(false);
            let moves = |c: char| {
                matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
                    || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}')
                    || (c.is_control() && c != '\n' && c != '\t')
            };
            assert!(!plain.chars().any(moves), "{plain:?}");
        }
    }
}

/// Pieces that scenarios are made of, to be put in the wrong places.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\"10ms\"".to_owned()),
        Just("-5".to_owned()),
        Just("nan".to_owned()),
        Just("1e400".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("{ distribution = \"uniform\", min = \"2s\", max = \"1s\" }".to_owned()),
        Just("[[link]]".to_owned()),
        Just("[link.loss]".to_owned()),
        Just("1979-05-27".to_owned()),
        Just("\"18446744073709551615ns\"".to_owned()),
        Just("\"1e18kB\"".to_owned()),
        Just("\"9e12km\"".to_owned()),
        Just("\"-9e12km\"".to_owned()),
        Just("\"1e-6km/h\"".to_owned()),
        Just("{ kind = \"setdest\", file = \"/\", node = 0 }".to_owned()),
        Just("{ kind = \"video\", trace = \"/\", packet_size = \"1kB\" }".to_owned()),
        Just("{ kind = \"video\", content = \"1 I 0 5\\n2 B -1 5\", packet_size = \"1kB\" }".to_owned()),
        Just("{ distribution = \"pareto\", mean = \"1s\", shape = 1.5 }".to_owned()),
        Just("{ kind = \"bonnmotion\", node = 0, content = \"0 1 2 3\" }".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
        Just("\"µ\u{1b}[31m\"".to_owned()),
        Just("\"a\u{202e}b\u{2066}c\u{feff}\"".to_owned()),
        Just("\r\n".to_owned()),
        "[a-z_.=\"{}\\[\\]0-9 ]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}", json: bool) {
        survives(&text, if json { Format::Json } else { Format::Toml }, &[]);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        survives(&text, Format::Toml, &[]);
        survives(&text, Format::Json, &[]);
    }

    #[test]
    fn a_damaged_scenario_is_read_or_refused(
        damages in prop::collection::vec((0.0..1.0f64, 0usize..30, piece()), 1..4),
        cells: bool,
    ) {
        let mut text = if cells { CELLS.to_owned() } else { template().to_owned() };
        for (at, cut, piece) in damages {
            let mut start = (at * text.len() as f64) as usize;
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + cut).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, &piece);
        }
        survives(&text, Format::Toml, &[]);
    }

    #[test]
    fn any_value_of_a_template_key_can_be_replaced(line in 0usize..200, piece in piece(), cells: bool) {
        let text = if cells { CELLS } else { template() };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = line % lines.len();
        if let Some((key, _)) = lines[line].split_once('=') {
            lines[line] = format!("{key}= {piece}");
        }
        survives(&lines.join("\n"), Format::Toml, &[]);
    }

    #[test]
    fn any_override_is_applied_or_refused(path in "[a-z0-9.\"]{0,30}|link\\.(pipe|0|9)\\.[a-z_.]{0,12}", value in piece()) {
        survives(template(), Format::Toml, &[(path, value)]);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    for text in [
        format!("{}1", "a.".repeat(deep)),
        format!("{}a = 1", "a.".repeat(deep)),
        format!("[{}a]\nb = 1", "a.".repeat(deep)),
        format!("{}a = 1", "a . ".repeat(deep)),
        format!("{}a = 1", "\"a\".".repeat(deep)),
        format!("{}a = 1", "'a' . ".repeat(deep)),
        format!("a = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}1{}", "{ a = ".repeat(deep), " }".repeat(deep)),
        format!("a = {{ {}a = 1 }}", "a.".repeat(deep)),
    ] {
        assert!(Scenario::parse(&text, "deep", Format::Toml, &[]).is_err());
    }
    let json = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    assert!(Scenario::parse(&json, "deep", Format::Json, &[]).is_err());
    let path = "a.".repeat(deep) + "a";
    assert!(Scenario::parse(template(), "deep", Format::Toml, &[(path, "1".into())]).is_err());
    for value in
        [format!("{{ {}a = 1 }}", "a.".repeat(deep)), format!("{{ {}a = 1 }}", "\"a\".".repeat(deep))]
    {
        assert!(Scenario::parse(template(), "deep", Format::Toml, &[("link.pipe".into(), value)]).is_err());
    }
}

#[test]
fn nesting_is_too_deep_at_the_same_depth_and_in_the_same_words_in_both_notations() {
    for (lists, too_deep) in [(31, false), (32, true), (33, true), (79, true), (200, true), (100_000, true)] {
        let nested = format!("{}1{}", "[".repeat(lists), "]".repeat(lists));
        let tables = format!("{}1{}", "{\"a\":".repeat(lists), "}".repeat(lists));
        for (text, format) in [
            (format!("a = {nested}"), Format::Toml),
            (format!("{{\"a\": {nested}}}"), Format::Json),
            (format!("a = {}", tables.replace(':', "=")), Format::Toml),
            (format!("{{\"a\": {tables}}}"), Format::Json),
        ] {
            let error = Scenario::parse(&text, "deep", format, &[]).expect_err("it is no scenario");
            let said =
                error.problems().iter().any(|problem| problem.message() == "this is nested too deeply");
            assert_eq!(said, too_deep, "{lists} in {format:?}: {error}");
            assert!(!too_deep || error.problems().len() == 1, "{lists} in {format:?}: {error}");
        }
    }
}

#[test]
fn many_mistakes_are_cut_short() {
    let wrong: String =
        (0..5000).map(|i| format!("[[link]]\nname = \"{i}\"\nbandwith = 3\ndelay = 1\n")).collect();
    let error = Scenario::parse(&wrong, "wrong", Format::Toml, &[]).expect_err("nothing in it is right");
    assert_eq!(error.problems().len(), 50);
    let wrong: String = (0..5000).map(|i| format!("k{i} = 3\n")).collect();
    let error = Scenario::parse(&wrong, "wrong", Format::Toml, &[]).expect_err("nothing in it is right");
    assert!(error.problems().len() <= 51);
}

/// The longest line of a report in characters.
fn widest(report: &str) -> usize {
    report.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn long_lines_are_cut_wherever_the_mistake_is() {
    let long = "x".repeat(70_000);
    for (text, format, column) in [
        // The text ends behind 6 + 70,000 characters, where the quotation mark is missing; b stands behind
        // 5 + 70,000 + 2.
        (format!("{{\"a\":\"{long}"), Format::Json, Some(70_006)),
        (format!("a = \"{long}\" b"), Format::Toml, Some(70_008)),
        (format!("{long} = 1\na ="), Format::Toml, None),
        (format!("[scenario]\nname = \"{long}\"\nduration = 1"), Format::Toml, None),
        (format!("[scenario]\nname = \"a\"\n{long} = \"µ{long}\""), Format::Toml, None),
        (format!("a = [{}", "1,".repeat(40_000)), Format::Toml, Some(5)),
    ] {
        let error = Scenario::parse(&text, "input", format, &[]).expect_err("nothing in it is right");
        for color in [false, true] {
            let report = error.render(color);
            assert!(report.len() < 20_000, "{} octets", report.len());
        }
        let report = error.render(false);
        assert!(widest(&report) < 140, "{report}");
        if let Some(column) = column {
            assert!(report.contains(&format!("[input:1:{column}]")), "{report}");
        }
    }
    let set = [("scenario.name".to_owned(), format!("[1, {long}"))];
    let report = Scenario::parse(template(), "input", Format::Toml, &set);
    assert!(report.is_ok() || widest(&report.expect_err("no name").render(false)) < 140);
    let set = [(format!("link.\"{long}"), "1".to_owned())];
    let report = Scenario::parse(template(), "input", Format::Toml, &set).expect_err("no path").render(false);
    assert!(widest(&report) < 140, "{report}");
}

#[test]
fn two_hundred_thousand_unknown_keys_cost_little_each() {
    // 50 are told, each beside at most 70 synonyms of 9 keys. Looking the keys up in the table for each
    // synonym took some 6 * 10^9 comparisons, and minutes in this profile; what is left takes a second or two
    // of the processor.
    let begun = ThreadTime::now();
    let keys: String = (0..200_000).map(|i| format!("k{i} = 1\n")).collect();
    let text = format!("[scenario]\nname = \"a\"\nduration = \"1s\"\n{keys}");
    let error = Scenario::parse(&text, "input", Format::Toml, &[]).expect_err("unknown keys");
    assert_eq!(error.problems().len(), 50);
    assert!(error.render(false).len() < 50_000);
    let took = begun.elapsed();
    assert!(took < std::time::Duration::from_secs(60), "{took:?}");
}
