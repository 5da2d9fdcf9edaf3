//! The floors of the crate: a module imports from its own floor and from those below it, never in a circle.
//!
//! A module is a file or a folder of `src`. What stands in a path counts, in a `use` and anywhere else, tests
//! included; paths in comments and in quotes do not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up.
const FLOORS: [(&str, &[&str]); 9] = [
    (
        "what the loop wakes, what is drawn and counted",
        &["names", "ends", "ways", "event", "alarm", "distribution", "durations"],
    ),
    ("packets and addresses", &["traffic_class", "octets", "packet", "drops", "topology", "testing"]),
    ("queues", &["queue"]),
    ("links and motion", &["mobility", "link"]),
    ("what is recorded", &["subject", "segment_log", "capture", "trace", "recorder"]),
    ("nodes between links", &["network"]),
    ("handovers", &["handover"]),
    ("sockets and applications", &["application", "ending", "socket", "flow", "signalling", "mih_handover"]),
    ("the world", &["world"]),
];

type Imports = BTreeMap<String, BTreeSet<String>>;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
    all
}

/// The path of the module that a file is, from the crate's root.
fn module(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(sources()).expect("below the sources").with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// The length of a text in quotes, both quotes included.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Words and signs, without comments and without what stands in quotes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            quoted(rest)
        } else if ["'\"'", "'{'", "'}'"].iter().any(|sign| rest.starts_with(sign)) {
            3
        } else {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
            if !first.is_whitespace() {
                tokens.push(rest[..length].to_owned());
            }
            length
        };
        rest = &rest[length..];
    }
    tokens
}

/// The modules at the crate's root that a text of the module at `path` names.
fn imports(path: &[String], text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let mut found = BTreeSet::new();
    // Modules within the file: at which depth of braces each began.
    let mut inner: Vec<usize> = Vec::new();
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        let begins = at == 0 || tokens[at - 1] != "::";
        match token.as_str() {
            "{" => {
                depth += 1;
                if at >= 2 && tokens[at - 2] == "mod" {
                    inner.push(depth);
                }
            }
            "}" => {
                inner.pop_if(|began| *began == depth);
                depth -= 1;
            }
            "crate" if begins => found.extend(heads(&tokens[at + 1..])),
            "super" if begins => {
                let steps = tokens[at..].chunks(2).take_while(|pair| pair[0] == "super").count();
                // Who climbs out of the file to the crate's root names a module there.
                if steps == inner.len() + path.len() {
                    found.extend(heads(&tokens[at + 2 * steps - 1..]));
                }
            }
            _ => {}
        }
    }
    found
}

/// The first words of the paths that go on with these tokens: `::word`, or `::{word, word, ...}`.
fn heads(tokens: &[String]) -> Vec<String> {
    match tokens {
        [colons, brace, rest @ ..] if colons == "::" && brace == "{" => {
            let mut depth = 1;
            let mut heads = Vec::new();
            let mut before = "{";
            for token in rest {
                if depth == 1 && (before == "{" || before == ",") && token != "}" {
                    heads.push(token.clone());
                }
                match token.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                before = token;
            }
            heads
        }
        [colons, word, ..] if colons == "::" => vec![word.clone()],
        _ => Vec::new(),
    }
}

/// What is wrong with the imports between modules.
fn complaints(imports: &Imports) -> Vec<String> {
    let floor = |module: &str| FLOORS.iter().position(|(_, modules)| modules.contains(&module));
    let mut complaints = Vec::new();
    for (importer, imported) in imports {
        let Some(own) = floor(importer) else {
            complaints.push(format!("`{importer}` is on no floor: give it a place in FLOORS"));
            continue;
        };
        for module in imported.iter().filter(|module| *module != importer) {
            match floor(module) {
                Some(other) if other > own => complaints.push(format!(
                    "`{importer}` ({}) imports `{module}`, which is above it ({})",
                    FLOORS[own].0, FLOORS[other].0
                )),
                Some(other) if other == own && leads_to(imports, module, importer, own) => {
                    complaints.push(format!("`{importer}` imports `{module}`, which leads back to it"));
                }
                _ => {}
            }
        }
    }
    complaints
}

/// Whether imports lead from one module to another on one floor.
fn leads_to(imports: &Imports, from: &str, to: &str, floor: usize) -> bool {
    let mut open = vec![from];
    let mut seen = BTreeSet::new();
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            let next = imports.get(module).into_iter().flatten().map(String::as_str);
            open.extend(next.filter(|next| FLOORS[floor].1.contains(next)));
        }
    }
    false
}

#[test]
fn no_import_leads_upward_or_in_a_circle() {
    let mut all = Imports::new();
    for file in files(&sources()) {
        let path = module(&file);
        // The root lists the modules.
        let Some(top) = path.first().cloned() else { continue };
        let text = fs::read_to_string(&file).expect("a readable source");
        all.entry(top).or_default().extend(imports(&path, &text));
    }
    for module in FLOORS.iter().flat_map(|(_, modules)| *modules) {
        assert!(all.contains_key(*module), "`{module}` has a floor and is not there");
    }
    let complaints = complaints(&all);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn imports_are_found_however_they_are_written() {
    let path = ["link", "dect"].map(str::to_owned);
    let text = r#"
        use crate::{
            flow::{Association, Flow},
            socket::SocketId, world,
        };
        use super::super::handover;
        use super::wired::Wire;
        fn f() -> crate::recorder::Recorder { let _ = "crate::capture"; }
        // use crate::signalling;
        mod tests {
            use super::super::Link;
            use super::super::super::network::Network;
            mod inner { use super::super::super::super::application; }
        }
        use super::super::{queue, drops::Dropped};
    "#;
    let found: Vec<String> = imports(&path, text).into_iter().collect();
    let expected =
        ["application", "drops", "flow", "handover", "network", "queue", "recorder", "socket", "world"];
    assert_eq!(found, expected);
}

#[test]
fn what_leads_upward_or_in_a_circle_is_told() {
    let told = |importer: &str, imported: &[&str]| {
        let mut all = Imports::from([("subject".to_owned(), BTreeSet::from(["capture".to_owned()]))]);
        all.insert(importer.to_owned(), imported.iter().map(|module| (*module).to_owned()).collect());
        complaints(&all)
    };
    assert!(told("link", &["queue", "packet", "mobility", "link"]).is_empty());
    let upward = "`link` (links and motion) imports `flow`, which is above it (sockets and applications)";
    assert_eq!(told("link", &["flow"]), [upward]);
    assert_eq!(told("capture", &["subject"]).len(), 2);
    assert!(told("attic", &[])[0].contains("is on no floor"));
}
