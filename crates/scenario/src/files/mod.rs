//! Files that a scenario names: motion, errors by distance, rates, delays, losses and signals over time, and
//! traces of video and of delivery opportunities.
//!
//! They are read before the scenario is decoded, and their content replaces their name: lines about the
//! node as `content` (motion), `points` (errors), lines as `content` or `opportunities` (traces). So
//! results are filed under the content of the files, and the canonical scenario needs no file. A name with
//! the number of a copy (`{i}`) is read when the copies exist.
//!
//! Files are untrusted. An error names the file, the line and what to do.

pub mod bonnmotion;
mod content;
pub mod errors;
pub mod frames;
pub mod mahimahi;
pub mod series;
pub mod setdest;
mod text;
pub mod transfers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

pub(crate) use self::content::only_first;
pub use self::content::{Fault, Lines, Walk};
use self::series::Quantity;
pub use self::text::decode;
use self::text::{MAX_BYTES, lines};
use crate::diagnostics::{Place, Problem, Problems};
use crate::repeat;
use crate::tree::{New, Node, Tree, Value};

/// Where a scenario's files lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// What paths are relative to; empty for the current folder.
    pub path: PathBuf,
    /// Whether files that lie outside of it are read. Those that an override names always are: the user has
    /// named them.
    pub outside: bool,
}

impl Folder {
    /// The folder of a scenario's file, and what lies in it.
    pub fn of(source_name: &str) -> Folder {
        Folder { path: Path::new(source_name).parent().unwrap_or(Path::new("")).to_owned(), outside: false }
    }

    /// The path of a file, links followed.
    ///
    /// # Errors
    /// What is wrong, and what to do. Of a file outside it is not said whether it is there.
    fn find(&self, name: &str, allowed: bool) -> Result<PathBuf, (String, String)> {
        let (path, shown) = (self.path.join(name), Path::new(name).display());
        let found = fs::canonicalize(&path);
        let is_inside = || {
            let folder = fs::canonicalize(match self.path.as_os_str().is_empty() {
                true => Path::new("."),
                false => &self.path,
            });
            match (&found, folder) {
                (Ok(found), Ok(folder)) => found.starts_with(folder),
                // A missing file is reported as missing if its path stays inside.
                (Err(_), _) => std::path::absolute(&path)
                    .ok()
                    .zip(std::path::absolute(Path::new(".").join(&self.path)).ok())
                    .is_some_and(|(path, folder)| {
                        let normal = |part| matches!(part, Component::Normal(_));
                        path.strip_prefix(folder).is_ok_and(|rest| rest.components().all(normal))
                    }),
                (Ok(_), Err(_)) => false,
            }
        };
        if !allowed && !self.outside && !is_inside() {
            let help = "copy it into that folder, or allow files outside: `--allow-files-outside`, in Python \
                        `allow_files_outside=True`";
            return Err((format!("{shown} lies outside of the scenario's folder"), help.to_owned()));
        }
        // An escape sequence that the author of a Windows path did not mean, or a backslash where it is none.
        let escaped = name.contains(|c: char| c.is_control() || cfg!(not(windows)) && c == '\\');
        found.map_err(|_| {
            if escaped {
                let help = "write `/` between folders: `\\` begins an escape sequence";
                return (format!("there is no file {name:?}"), help.to_owned());
            }
            let help = "a path is relative to the folder of the scenario";
            (format!("there is no file {}", path.display()), help.to_owned())
        })
    }
}

/// Reads the files that the scenario names.
pub(crate) fn apply(tree: &mut Tree, folder: &Folder, problems: &mut Problems) {
    let mut files = Files { folder, read: BTreeMap::new(), tree, problems };
    for section in files.tree.root().numbers() {
        let section = files.tree.node(section);
        let keys: &[&str] = match section.key() {
            "node" => &["motion"],
            "flow" => &["application"],
            "link" => &["rate", "delay", "loss", "signal"],
            "wifi" => &["loss"],
            _ => &["coverage"],
        };
        let Some(elements) = section.list() else { continue };
        let first = section.numbers().start;
        let naming: Vec<u32> =
            elements.filter(|element| names_file(*element, keys)).map(Node::number).collect();
        let section = section.key().to_owned();
        for element in naming {
            let element_node = files.tree.node(element);
            let name = element_node.name().map_or_else(|| (element - first).to_string(), str::to_owned);
            for entry in element_node.numbers() {
                let entry = files.tree.node(entry);
                let key = entry.key().to_owned();
                if !keys.contains(&&*key) {
                    continue;
                }
                let (number, path) = (entry.number(), format!("{section}.{name}.{key}"));
                match (&*key, entry.value()) {
                    ("motion", Value::Table(_)) => files.motion(number, &path),
                    ("application", Value::Table(_)) => files.trace(number, &path),
                    ("coverage", Value::Table(_)) => files.errors(number, &path),
                    (key, Value::Table(_)) => files.over_time(key, number, &path),
                    // A table a direction, or a loss.
                    ("rate" | "delay" | "loss" | "signal", Value::List(_)) => {
                        for (direction, node) in entry.numbers().enumerate() {
                            if files.tree.node(node).table().is_some() {
                                files.over_time(&key, node, &format!("{path}.{direction}"));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether one of these keys of an element leads to the name of a file.
fn names_file(element: Node<'_>, keys: &[&str]) -> bool {
    let names = |node: Node<'_>| {
        node.table().is_some_and(|table| REPLACED.iter().any(|replaced| table.get(replaced.key).is_some()))
    };
    let entries = element.table().into_iter().flat_map(|table| table.entries());
    let mut of_keys = entries.filter(|entry| keys.contains(&entry.key()));
    of_keys.any(|entry| match entry.list() {
        Some(mut list) => list.any(names),
        None => names(entry),
    })
}

/// A file that was read: its number among the sources of problems, and its text, which many nodes may share.
type Text = (u32, Rc<str>);

/// The key that names a file, and the one that takes its place with what the file says.
#[derive(Clone, Copy)]
struct Replaced {
    key: &'static str,
    by: &'static str,
}

const FILE_OF_CONTENT: Replaced = Replaced { key: "file", by: "content" };
const FILE_OF_POINTS: Replaced = Replaced { key: "file", by: "points" };
const TRACE: Replaced = Replaced { key: "trace", by: "content" };
const MAHIMAHI: Replaced = Replaced { key: "mahimahi", by: "opportunities" };

/// All of them.
const REPLACED: [Replaced; 4] = [FILE_OF_CONTENT, FILE_OF_POINTS, TRACE, MAHIMAHI];

struct Files<'a> {
    folder: &'a Folder,
    /// By name and by whether a file outside is allowed. Each file is read once, and a fault of the whole
    /// file is reported once.
    read: BTreeMap<(String, bool), Option<Text>>,
    tree: &'a mut Tree,
    problems: &'a mut Problems,
}

impl Files<'_> {
    fn get(&self, table: u32, key: &str) -> Option<Node<'_>> {
        self.tree.node(table).table()?.get(key)
    }

    fn get_text(&self, table: u32, key: &str) -> Option<&str> {
        self.get(table, key)?.text()
    }

    /// Puts the lines about the node in place of a file of motion.
    fn motion(&mut self, table: u32, path: &str) {
        let bonnmotion = match self.get_text(table, "kind") {
            Some("setdest") => false,
            Some("bonnmotion") => true,
            _ => return,
        };
        if self.get_text(table, "node").is_some_and(waits) {
            return self.anchor(table, "file");
        }
        let Some(entry) = self.get(table, "node") else { return };
        let Value::Integer(node) = entry.value() else { return };
        let entry = entry.number();
        // Decoding refuses a number that no node can have.
        let Ok(node) = u32::try_from(node) else { return };
        let dimensions = self.get(table, "dimensions");
        let given = match dimensions.map(Node::value) {
            Some(Value::Integer(given)) => u32::try_from(given).ok(),
            _ => None,
        };
        let dimensions = dimensions.map(Node::number);
        let parse = |text: &str| match bonnmotion {
            true => bonnmotion::parse(text, node, given),
            false => setdest::parse(text, node),
        };
        let Some(walk) = self.parse(table, FILE_OF_CONTENT, path, parse) else { return };
        self.put_text(table, FILE_OF_CONTENT, &walk.lines);
        if bonnmotion {
            // Its lines have no numbers: the only one that is left is the first. It has no heights any more.
            self.tree.set_value(entry, New::integer(0));
            let ambiguous = bonnmotion::parse(&walk.lines, 0, None).is_err();
            match dimensions {
                Some(entry) => self.tree.set_value(entry, New::integer(2)),
                None if ambiguous => {
                    let entry = self.tree.under("dimensions", None, New::integer(2));
                    self.tree.add(table, [entry]);
                }
                None => {}
            }
        }
    }

    /// Puts the points in place of a file of errors.
    fn errors(&mut self, table: u32, path: &str) {
        if self.get_text(table, "model") != Some("table") {
            return;
        }
        if let Some(points) = self.parse(table, FILE_OF_POINTS, path, errors::parse) {
            let tree = &mut *self.tree;
            let point = |(distance_m, error): (f64, f64)| {
                let distance = tree.text(&crate::units::length_text(distance_m));
                let entries =
                    [tree.under("distance", None, distance), tree.under("error", None, New::float(error))];
                tree.table(entries)
            };
            let points: Vec<_> = points.into_iter().map(point).collect();
            let points = self.tree.list(points);
            self.put(table, FILE_OF_POINTS, points);
        }
    }

    /// Puts the lines in place of a trace of frames or of transfers.
    fn trace(&mut self, table: u32, path: &str) {
        let parse = match self.get_text(table, "kind") {
            Some("video") => |text: &str| frames::parse(text).map(|trace| trace.lines),
            Some("transfers") => |text: &str| transfers::parse(text).map(|list| list.lines),
            _ => return,
        };
        if let Some(lines) = self.parse(table, TRACE, path, parse) {
            self.put_text(table, TRACE, &lines);
        }
    }

    /// Puts the lines in place of a file of rates, delays, losses or signals, or of opportunities.
    fn over_time(&mut self, key: &str, table: u32, path: &str) {
        let quantity = match key {
            "rate" => Quantity::Mbps,
            "delay" => Quantity::Ms,
            "signal" => Quantity::Dbm,
            _ => Quantity::Probability,
        };
        let parse = |text: &str| {
            series::parse(text, quantity).map_err(|fault| match mahimahi::parse(text) {
                Ok(_) => fault.advise(
                    "this is a trace of mahimahi: name it by `mahimahi`, a key of `rate`, instead of `file`",
                ),
                Err(_) => fault,
            })
        };
        if let Some(values) = self.parse(table, FILE_OF_CONTENT, path, parse) {
            self.put_text(table, FILE_OF_CONTENT, &values.lines);
        }
        let parse = |text: &str| {
            mahimahi::parse(text)
                .map(|_| lines(text).fold(String::new(), |said, (_, line)| said + line + "\n"))
        };
        let parse = |text: &str| {
            parse(text).map_err(|fault| match series::parse(text, quantity) {
                Ok(_) => {
                    fault.advise("these are times and rates: name the file by `file` instead of `mahimahi`")
                }
                Err(_) => fault,
            })
        };
        if let Some(lines) = self.parse(table, MAHIMAHI, path, parse) {
            self.put_text(table, MAHIMAHI, &lines);
        }
    }

    /// Names the file from wherever the scenario is read again. A path of this folder has no other form where
    /// there is no current folder.
    fn anchor(&mut self, table: u32, key: &str) {
        let Some(file) = self.get(table, key) else { return };
        if let Some(name) = file.text()
            && let Ok(path) = std::path::absolute(self.folder.path.join(name))
            && let Some(path) = path.to_str()
        {
            let file = file.number();
            let path = self.tree.text(path);
            self.tree.set_value(file, path);
        }
    }

    /// What the file says. It may not stand there already. The path is that of the table.
    fn parse<T>(
        &mut self,
        table: u32,
        Replaced { key, by }: Replaced,
        path: &str,
        parse: impl Fn(&str) -> Result<T, Fault>,
    ) -> Option<T> {
        let path = &format!("{path}.{key}");
        let file = self.get(table, key)?;
        let (name, place) = (file.text()?.to_owned(), file.place());
        if self.get(table, by).is_some() {
            let message = format!("`{key}` and `{by}` exclude each other");
            self.problems.add(Problem::new(message).at(place).path(path).help("write one of them"));
            return None;
        }
        if waits(&name) {
            self.anchor(table, key);
            return None;
        }
        let (source, text) = self.read(&name, place, path)?;
        match parse(&text) {
            Ok(parsed) => Some(parsed),
            Err(fault) => {
                let whole = fault.span.is_empty();
                let at = if whole { place } else { Place::new(source, fault.span) };
                let mut problem = Problem::new(fault.message).at(at).path(path).help(fault.help);
                if !whole {
                    problem = problem.related(place, "the file is named here");
                }
                self.problems.add(problem);
                None
            }
        }
    }

    /// Puts a value in place of the name of a file.
    fn put(&mut self, table: u32, replaced: Replaced, value: New) {
        if let Some(file) = self.get(table, replaced.key).map(Node::number) {
            self.tree.set_key(file, replaced.by);
            self.tree.set_value(file, value);
        }
    }

    fn put_text(&mut self, table: u32, replaced: Replaced, text: &str) {
        let text = self.tree.text(text);
        self.put(table, replaced, text);
    }

    fn read(&mut self, name: &str, place: Option<Place>, path: &str) -> Option<Text> {
        let key = (name.to_owned(), place.is_some_and(Place::is_of_an_override));
        if !self.read.contains_key(&key) {
            let read =
                self.folder.find(name, key.1).and_then(|found| read(&found, &self.folder.path.join(name)));
            let text = match read {
                Ok(text) => Some((self.problems.source(name, &text), Rc::from(text))),
                Err((message, help)) => {
                    self.problems.add(Problem::new(message).at(place).path(path).help(help));
                    None
                }
            };
            self.read.insert(key.clone(), text);
        }
        self.read[&key].clone()
    }
}

/// Whether a value waits for the number of a copy.
fn waits(text: &str) -> bool {
    text.contains(repeat::NUMBER)
}

fn read(path: &Path, named: &Path) -> Result<String, (String, String)> {
    let shown = named.display();
    let fault = |what: String, help: &str| (what, help.to_owned());
    let relative = "a path is relative to the folder of the scenario";
    let metadata = fs::metadata(path).map_err(|_| fault(format!("there is no file {shown}"), relative))?;
    if !metadata.is_file() {
        return Err(fault(format!("{shown} is not a file"), relative));
    }
    if metadata.len() > MAX_BYTES {
        let help = "split it: a file has 256 MiB at most";
        return Err(fault(format!("{shown} is too large: {} bytes", metadata.len()), help));
    }
    let octets = fs::read(path)
        .map_err(|error| fault(format!("{shown} cannot be read: {error}"), "look at its permissions"))?;
    decode(octets).map_err(|(what, help)| fault(format!("{shown} {what}"), help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roamsim_engine::{Span, Time};

    /// Two lines of a file, and what a reader makes of it.
    type Reader = (&'static str, &'static str, fn(&str) -> Result<String, Fault>);

    /// All readers.
    fn readers() -> Vec<Reader> {
        fn said<T: std::fmt::Debug>(read: Result<T, Fault>) -> Result<String, Fault> {
            read.map(|read| format!("{read:?}"))
        }
        vec![
            ("0,1", "10,0.5", |text| said(series::parse(text, Quantity::Mbps))),
            ("0,1", "10,0.5", |text| said(errors::parse(text))),
            ("0,100", "10,5", |text| said(transfers::parse(text))),
            ("1 I 0 5000", "2 P 40 200", |text| said(frames::parse(text))),
            ("0", "5", |text| said(mahimahi::parse(text))),
            ("0 1 2", "0 3 4", |text| said(bonnmotion::parse(text, 0, None))),
            ("$node_(0) set X_ 3", "$node_(0) set Y_ 4", |text| said(setdest::parse(text, 0))),
        ]
    }

    #[test]
    fn a_byte_order_mark_hides_no_line() {
        for (first, second, read) in readers() {
            let plain = format!("{first}\n{second}\n");
            let marked = format!("\u{feff}{plain}");
            assert_eq!(read(&marked), Ok(read(&plain).expect(&plain)));
            // Behind the beginning it is no mark: the line is refused, not skipped.
            for text in [format!("#\n{marked}"), format!("\u{feff}{marked}"), format!("x{plain}")] {
                let fault = read(&text).expect_err(&text);
                let word = first.split([' ', ',']).next().expect("a word");
                assert!(
                    text[fault.span.clone()].contains(word) || text.starts_with("#\n"),
                    "{text:?}: {fault:?}"
                );
            }
        }
    }

    #[test]
    fn only_a_heading_is_passed_over() {
        let tables = [0, 1, 2];
        for (first, second, read) in tables.map(|table| readers()[table]) {
            let plain = format!("{first}\n{second}\n");
            assert_eq!(read(&format!("time_s,value\n{plain}")), Ok(read(&plain).expect(&plain)));
            for line in ["a\tb\tc", "<!DOCTYPE html>", "time_s,value\nname,value", "O,1"] {
                let fault = read(&format!("{line}\n{plain}")).expect_err(line);
                assert!(!fault.span.is_empty(), "{line}: {fault:?}");
            }
        }
    }

    #[test]
    fn a_file_outside_is_not_looked_at() {
        let place = std::env::temp_dir().join(format!("roamsim-folder-{}", std::process::id()));
        let inside = place.join("inside");
        fs::create_dir_all(inside.join("deeper")).expect("a folder");
        for file in ["secret", "inside/file", "inside/deeper/file"] {
            fs::write(place.join(file), "7").expect("a file");
        }
        let absolute = |file: &str| place.join(file).display().to_string();
        let folder = Folder { path: inside.clone(), outside: false };
        for name in
            ["file", "./file", "deeper/../file", "deeper/file", "../inside/file", &absolute("inside/file")]
        {
            assert!(folder.find(name, false).is_ok(), "{name}");
        }
        for name in [
            "../secret",
            "deeper/../../secret",
            &absolute("secret"),
            "/etc/passwd",
            "../nothing",
            &absolute("nothing"),
        ] {
            let (message, help) = folder.find(name, false).expect_err(name);
            assert!(
                message.contains("lies outside") && help.contains("--allow-files-outside"),
                "{name}: {message}"
            );
            let there = fs::exists(inside.join(name)).expect("a path");
            assert_eq!(folder.find(name, true).is_ok(), there, "{name}");
            assert_eq!(Folder { outside: true, ..folder.clone() }.find(name, false).is_ok(), there, "{name}");
        }
        for name in ["nothing", "./nothing", &absolute("inside/nothing")] {
            assert!(folder.find(name, false).expect_err(name).0.contains("there is no file"), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret", inside.join("link")).expect("a link");
            assert!(folder.find("link", false).expect_err("a link out").0.contains("lies outside"));
            std::os::unix::fs::symlink("file", inside.join("near")).expect("a link");
            assert!(folder.find("near", false).is_ok());
        }
        fs::remove_dir_all(place).expect("a folder");
    }

    /// Texts of what such files are made of, in any order.
    fn text() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("$node_(0)"),
            Just("\"$node_(0)"),
            Just("set"),
            Just("X_"),
            Just("Y_"),
            Just("$ns_ at"),
            Just("setdest"),
            Just("0"),
            Just("1e9"),
            Just("-3.5"),
            Just("1e308"),
            Just("nan\""),
            Just("5.0\""),
            Just("µ,"),
            Just("\n"),
            Just("\r\n#"),
            Just("\n1 I 0 534"),
            Just("\n2 P 120 1542\n"),
            Just("40 B"),
            Just("18446744073709551616"),
            Just("-1"),
            Just("\0"),
        ];
        let line =
            Just("\n$node_(0) set X_ 3\n$node_(0) set Y_ 4\n$ns_ at 1 \"$node_(0) setdest 1 2 1e308\"\n");
        let piece = prop_oneof![8 => word.boxed(), 1 => line.boxed(), 1 => Just("0 1 2\n").boxed()];
        prop::collection::vec(piece, 0..40).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused_with_a_place(text in text(), node in 0u32..3) {
            let motion = [setdest::parse(&text, node), bonnmotion::parse(&text, node, None)];
            for walk in motion {
                match walk {
                    Ok(walk) => {
                        let end = Time::ZERO + Span::from_secs(10);
                        prop_assert!(walk.trajectory.corners(end).all(|(_, place)| place.x_m.is_finite()));
                    }
                    Err(fault) => prop_assert!(text.get(fault.span).is_some()),
                }
            }
            let others = [
                errors::parse(&text).err(),
                mahimahi::parse(&text).err(),
                series::parse(&text, Quantity::Mbps).err(),
                transfers::parse(&text).err(),
            ];
            for fault in others.into_iter().flatten() {
                prop_assert!(text.get(fault.span).is_some());
            }
            match frames::parse(&text) {
                Ok(trace) => {
                    prop_assert!(trace.frames.iter().all(|frame| frame.spacing > Span::ZERO));
                    prop_assert_eq!(frames::parse(&trace.lines).map(|again| again.frames), Ok(trace.frames));
                }
                Err(fault) => prop_assert!(text.get(fault.span).is_some()),
            }
        }
    }
}
