//! Mutations of scenarios: of their text, and of their tree.

use roamsim_engine::Stream;
use serde_json::{Value, json};

/// Values that are wrong in most places, or at the edge of what is right.
fn strange(random: &mut Stream) -> Value {
    let values = [
        json!("0s"),
        json!("1ns"),
        json!("1e9s"),
        json!("-1ms"),
        json!("18446744073709551615ns"),
        json!("1e-9b/s"),
        json!("1Tb/s"),
        json!("0B"),
        json!("1B"),
        json!("65535B"),
        json!("4294967295B"),
        json!("1e18kB"),
        json!("9e12km"),
        json!("1mm"),
        json!("inf"),
        json!(""),
        json!("server"),
        json!("a.b=\"\u{1b}[31m"),
        json!("µ".repeat(300)),
        json!(0),
        json!(1),
        json!(-1),
        json!(255),
        json!(65536),
        json!(u32::MAX),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(0.5),
        json!(1e-300),
        json!(1e300),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!([["0s", "1s"]]),
        json!({ "distribution": "exponential", "mean": "1ns" }),
        json!({ "distribution": "uniform", "min": "0s", "max": "1e9s" }),
        json!({ "distribution": "pareto", "mean": "1ms", "shape": 1.0000001 }),
        json!({ "model": "bernoulli", "probability": 1.0 }),
        json!({ "packets": 1 }),
        json!({ "bytes": "1B" }),
        json!({ "discipline": "codel", "target": "1ns", "interval": "1ns", "ecn": true }),
        json!({ "discipline": "fq_codel", "packets": 1, "flows": 1, "quantum": "1B" }),
        json!({ "discipline": "red", "packets": 1, "weight": 1.0 }),
        json!({ "discipline": "dualpi2", "packets": 1, "target": "1ns", "update_interval": "100us", "alpha": 1e300 }),
        json!({ "discipline": "drr", "classes": [{ "dscp": ["ef"], "quantum": "1B" }] }),
    ];
    values[random.below(values.len() as u64) as usize].clone()
}

/// Pieces of text to be put in the wrong place.
const PIECES: [&str; 18] = [
    "\"",
    "'''",
    "[[link]]\n",
    "[[flow]]\n",
    "[[node]]\nname = \"server\"\n",
    "[scenario]\n",
    "{",
    "}",
    "= ",
    ",",
    "\\u0000",
    "1979-05-27",
    "nan",
    "-inf",
    "99999999999999999999",
    "\r",
    "#",
    "\u{feff}",
];

fn pick(random: &mut Stream, count: usize) -> usize {
    random.below(count.max(1) as u64) as usize
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A text with some of its parts cut, doubled, exchanged, or taken from elsewhere.
pub fn text(text: &str, other: &str, random: &mut Stream) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let at = boundary(&text, pick(random, text.len() + 1));
        let end = boundary(&text, (at + pick(random, 30)).min(text.len())).max(at);
        match random.below(7) {
            0 => text.replace_range(at..end, ""),
            1 => text.insert_str(at, PIECES[pick(random, PIECES.len())]),
            2 => {
                let start = boundary(other, pick(random, other.len() + 1));
                let stop = boundary(other, (start + pick(random, 200)).min(other.len())).max(start);
                text.insert_str(at, &other[start..stop]);
            }
            3 => {
                let mut lines: Vec<&str> = text.lines().collect();
                let (a, b) = (pick(random, lines.len()), pick(random, lines.len()));
                if !lines.is_empty() {
                    match random.below(3) {
                        0 => lines.swap(a, b),
                        1 => lines.insert(a, lines[b]),
                        _ => drop(lines.remove(a)),
                    }
                }
                text = lines.join("\n");
            }
            4 => {
                // Another value behind a key.
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                let line = pick(random, lines.len());
                if let Some((key, _)) = lines.get(line).and_then(|line| line.split_once('=')) {
                    lines[line] = format!("{key}= {}", strange(random));
                }
                text = lines.join("\n");
            }
            5 => {
                // Another digit.
                if let Some(found) = text[at..].find(|c: char| c.is_ascii_digit()) {
                    let digit = char::from(b'0' + random.below(10) as u8);
                    text.replace_range(at + found..at + found + 1, &digit.to_string());
                }
            }
            _ => {
                // A very long line.
                if random.below(20) == 0 {
                    text.insert_str(at, &"x".repeat(70_000));
                }
            }
        }
    }
    text
}

/// The pointers to all values of a tree below its root.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut step = |key: &str, value: &Value| {
        let path = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers(value, &path, found);
        found.push(path);
    };
    match value {
        Value::Object(table) => table.iter().for_each(|(key, value)| step(key, value)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| step(&index.to_string(), value));
        }
        _ => {}
    }
}

/// A number or a quantity, larger or smaller by orders of magnitude.
fn scaled(value: &Value, random: &mut Stream) -> Value {
    let factors = [0.0, 1e-9, 1e-3, 0.1, 0.5, 2.0, 10.0, 1e3, 1e6, 1e9, -1.0];
    let factor = factors[pick(random, factors.len())];
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!((whole as f64 * factor) as i64),
            None => json!(number.as_f64().unwrap_or(0.0) * factor),
        },
        Value::String(text) => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            match text[..end].parse::<f64>() {
                Ok(number) => json!(format!("{}{}", number * factor, &text[end..])),
                Err(_) => strange(random),
            }
        }
        _ => strange(random),
    }
}

/// A tree with some of its values replaced, scaled, removed, doubled, or taken from elsewhere.
pub fn tree(tree: &Value, other: &Value, random: &mut Stream) -> Value {
    let mut tree = tree.clone();
    for _ in 0..=random.below(3) {
        let mut found = Vec::new();
        pointers(&tree, "", &mut found);
        let Some(path) = found.get(pick(random, found.len())).cloned() else { break };
        let (parent, key) = path.rsplit_once('/').unwrap_or(("", &path));
        let value = tree.pointer(&path).cloned().unwrap_or_default();
        match random.below(8) {
            0 => put(&mut tree, &path, strange(random)),
            1..=3 => put(&mut tree, &path, scaled(&value, random)),
            4 => match tree.pointer_mut(parent) {
                Some(Value::Object(table)) => drop(table.remove(key)),
                Some(Value::Array(list)) => drop(list.remove(key.parse().unwrap_or(0))),
                _ => {}
            },
            5 => {
                if let Some(Value::Array(list)) = tree.pointer_mut(parent) {
                    let mut twin = value;
                    if let Some(name) = twin.get_mut("name").filter(|_| random.below(2) == 0) {
                        *name = json!("twin");
                    }
                    list.push(twin);
                }
            }
            6 => {
                // What stands under the same key elsewhere.
                let mut there = Vec::new();
                pointers(other, "", &mut there);
                there.retain(|path| path.rsplit('/').next() == Some(key));
                if let Some(from) = there.get(pick(random, there.len())) {
                    put(&mut tree, &path, other.pointer(from).cloned().unwrap_or_default());
                }
            }
            _ => {
                // A key of another table.
                let mut there = Vec::new();
                pointers(other, "", &mut there);
                let from = there.get(pick(random, there.len())).cloned().unwrap_or_default();
                let key = from.rsplit('/').next().unwrap_or_default().to_owned();
                if let Some(Value::Object(table)) = tree.pointer_mut(parent) {
                    table.insert(key, other.pointer(&from).cloned().unwrap_or_default());
                }
            }
        }
    }
    tree
}

fn put(tree: &mut Value, path: &str, value: Value) {
    if let Some(place) = tree.pointer_mut(path) {
        *place = value;
    }
}
