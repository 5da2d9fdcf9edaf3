//! Mistakes in TOML: each has a message of ours that shows its place and says what to write instead.

use crate::refusal::refuse;
use roamsim_scenario::{Format, Scenario};

/// Texts with one mistake each, by the name of the mistake.
const MISTAKES: &[(&str, &[&str])] = &[
    (
        "texts that do not end",
        &[
            "name = \"x\nseed = 1",
            "rate = \"5Mb/s  # of the wire",
            "queue = { mode = \"x, packets = 5 }",
            "name = 'x\n",
            "name = \"x'",
            "name = \"\"\"x\nseed = 1",
            "name = x\"",
            "name = \"he said \"hello\" there\"",
            "between = \"a\" \"b\"",
            "delay = \"5\" ms",
        ],
    ),
    (
        "brackets",
        &[
            "[scenario\nseed = 1",
            "[[node]\nname = \"a\"",
            "[ [node] ]",
            "[[[node]]]",
            "[]",
            "[my table]",
            "[node.]",
            "[scenario]]",
            "between = [\"a\", \"b\"\nseed = 1",
            "between = [\"a\", \"b\"\n\n[[node]]\nname = \"a\"",
            "between = [\"a\", \"b\"",
            "steps = [[1, 2], [3, 4]\nseed = 1",
            "between = [\"a\"]]",
            "between = ]",
            "between = (1, 2)",
            "queue = { packets = 1\nseed = 1",
            "queue = { packets = 1\n[scenario]",
            "queue = { packets = 1",
            "queue = { packets = 1 }}",
        ],
    ),
    (
        "no = between key and value",
        &[
            "duration \"1s\"",
            "duration 5",
            "duration 1 s # all of it",
            "duration",
            "duration: \"1s\"",
            "duration := 1",
            "duration == 1",
            "queue = { packets: 1 }",
            "queue = { packets == 1 }",
            "scenario:\n  duration: 1 s\n  seed: 1",
            "- a\n- b",
        ],
    ),
    ("no key", &["= 3", "packet size = 3", "länge = 3", "a/b = 3", "a(1) = 3"]),
    (
        "no value",
        &["seed =\nname = \"x\"", "seed = # later", "queue = { packets = }", "queue = { packets = , x = 1 }"],
    ),
    (
        "numbers",
        &[
            "loss = 0,5",
            "loss = { probability = 0,01 }",
            "delay = 0,5 ms",
            "delay = -1,5",
            "packets = 1,000",
            "packets = 1,000,000",
            "loss = [0,5; 0,6]",
            "packets = 1\t000",
            "packets = 1 000",
            "packets = 1'000",
            "packets = 1__0",
            "packets = 05",
            "loss = .5",
            "loss = -5.",
            "loss = - 5",
            "loss = 5%",
            "loss = 1e",
            "packets = 10^6",
            "packets = 1/2",
            "packets = 0X10",
            "packets = 0xZZ",
            "rate = 5 Mb/s",
            "delay = 20ms",
            "delay = 5µs",
        ],
    ),
    (
        "words",
        &[
            "protocol = tcp",
            "file = traces/x.csv",
            "address = 10.0.0.1",
            "day = 2024-13-01",
            "ecn = True",
            "ecn = no",
            "seed = None",
            "rate = Infinity",
            "name = f\"x\"",
        ],
    ),
    (
        "backslashes",
        &[
            "file = \"C:\\Users\\x.csv\"",
            "file = \"traces\\data.csv\"",
            "file = \"D:\\new\\\"",
            "name = \"\\d\"",
            "name = \"\"\"\n\\d\n\"\"\"",
        ],
    ),
    (
        "twice",
        &[
            "seed = 1\nname = \"x\"\nseed = 2",
            "[scenario]\nseed = 1\n[scenario]\nseed = 2",
            "[node]\nname = \"a\"\n[[node]]\nname = \"b\"",
            "[[node]]\nname = \"a\"\n[node]\nname = \"b\"",
            "queue = { packets = 1, packets = 2 }",
            "queue.packets = 1\n[queue]\nmode = \"x\"",
            "seed = 1\nseed.first = 2",
        ],
    ),
    (
        "lines",
        &[
            "seed = 1 name = \"x\"",
            "name = \"x\" seed = 1",
            "[scenario] seed = 1",
            "[scenario], ",
            "seed = 1; name = \"x\"",
            "seed = 1;",
            "name = \"x\",",
            "between = 1, 2",
            "seed = true 5",
            "seed = 1\rname = 2\r",
        ],
    ),
    (
        "elements",
        &[
            "between = [\"a\" \"b\"]",
            "between = [\"a\"; \"b\"]",
            "between = [\"a\",, \"b\"]",
            "queue = { packets = 1 mode = \"x\" }",
            "queue = { packets = 1,, mode = \"x\" }",
        ],
    ),
    (
        "characters",
        &[
            "name = “x”",
            "name = „x“",
            "name = \"x”",
            "“name” = \"x\"",
            "loss = −1",
            "name\u{a0}= \"x\"",
            "name = \"x\u{1}\"",
            "seed = 1\0",
            "name = \"it’s",
        ],
    ),
    (
        "other languages",
        &[
            "// a comment",
            "; a comment",
            "-- a comment",
            "seed = 1 // a comment",
            "between = [\n\"a\", // a comment\n\"b\"]",
            "{\"scenario\": {}}",
            "```toml\nseed = 1",
            "<<<<<<< mine\nseed = 1",
            "<scenario>",
        ],
    ),
];

/// The problems of a text: place, message and help, and the second place.
fn told(text: &str, format: Format) -> String {
    let Err(refused) = Scenario::parse(text, "scenario.toml", format, &[]) else { panic!("{text}") };
    let report = refused.render(false);
    let places = report.lines().filter_map(|line| line.split_once("[scenario.toml:")?.1.strip_suffix(']'));
    let label = report.lines().find_map(|line| line.split_once("╰── ")).map(|(_, label)| label);
    let problems = refused.problems().iter().zip(places);
    let lines = problems.map(|(problem, place)| {
        let help = problem.advice().unwrap_or("NO HELP");
        format!("    {place} {}; {help}\n", problem.message())
    });
    lines.chain(label.map(|label| format!("    ({label})\n"))).collect()
}

/// The message for each mistake. Read the snapshot as the author of the text would.
#[test]
fn every_mistake_has_its_place_and_its_help() {
    let mut all = String::new();
    for (kind, texts) in MISTAKES {
        all.push_str(&format!("# {kind}\n"));
        for text in *texts {
            let told = told(text, Format::Toml);
            assert!(!told.contains("invalid TOML") && !told.contains("NO HELP"), "{text}\n{told}");
            all.push_str(&format!("{}\n{told}", text.escape_debug().to_string().replace("\\\"", "\"")));
        }
    }
    insta::assert_snapshot!(all);
}

/// The line is shown, and with it the place where it began.
#[test]
fn a_list_that_is_not_closed_is_shown_where_it_begins() {
    insta::assert_snapshot!(refuse("[[link]]\nbetween = [\"a\", \"b\"\nrate = \"5Mb/s\"\n"));
}

/// What is right beside a mistake is not named instead of it.
#[test]
fn good_texts_beside_a_mistake_are_left_alone() {
    for (text, message) in [
        ("name = 'it’s' seed = 1", "the key `seed` is in the line of another key"),
        ("seed = tcp # it’s – “so”", "a text needs quotation marks"),
        ("name = \"a = 1, 5\" 7", "the text ends before this"),
        ("between = [\n\"[a]\", \"b = 1\",\n\"c\" \"d\"]", "between two elements of the list is no comma"),
        ("steps = [\n[1, 2],\n[3, 4]\n[5, 6]]", "between two elements of the list is no comma"),
        ("name = \"\"\"\nseed = [\n\"\"\"\nseed", "the key `seed` has no value"),
    ] {
        let Err(refused) = Scenario::parse(text, "scenario.toml", Format::Toml, &[]) else {
            panic!("{text}")
        };
        let messages: Vec<&str> = refused.problems().iter().map(|problem| problem.message()).collect();
        assert_eq!(messages, [message], "{text}");
    }
}

/// A mistake does not hide those behind it, unless they only follow from it.
#[test]
fn further_mistakes_are_told_unless_they_follow_from_the_first() {
    let count = |text: &str| match Scenario::parse(text, "scenario.toml", Format::Toml, &[]) {
        Ok(_) => 0,
        Err(refused) => refused.problems().len(),
    };
    assert_eq!(count("[scenario]\nseed = tcp\nname = x\nduration \"1s\"\n"), 3);
    assert_eq!(count("between = [\"a\", \"b\"\nseed = 1\nname = x\n[[link]]\nrate = 5 kb/s\n"), 1);
}

/// The same of JSON, whose messages are the parser's.
#[test]
fn mistakes_in_json_have_their_help_too() {
    let mut all = String::new();
    for text in [
        "[scenario]\nseed = 1",
        "seed = 1",
        "// comment\n{}",
        "{'seed': 1}",
        "{seed: 1}",
        "{\"seed\": 'x'}",
        "{\"seed\": True}",
        "{\"seed\": 01}",
        "{\"seed\": .5}",
        "{\"seed\": 1,}",
        "{\"seed\": [1,]}",
        "{\"seed\": 1 \"name\": 2}",
        "{\"seed\": [1 2]}",
        "{\"seed\" 1}",
        "{\"seed\": 1",
        "{\"seed\": \"x",
        "{\"seed\": \"x\ny\"}",
        "{\"file\": \"C:\\Users\"}",
        "{\"seed\": 1}}",
        "{\"seed\": 1, // the seed\n\"name\": 2}",
    ] {
        let told = told(text, Format::Json);
        assert!(!told.contains("NO HELP"), "{text}\n{told}");
        all.push_str(&format!("{}\n{told}", text.escape_debug().to_string().replace("\\\"", "\"")));
    }
    insta::assert_snapshot!(all);
}
