//! Repetition without copying: an element whose `name` holds `{i}` stands for many.
//!
//! `[[node]] name = "sta{i}", count = 100` is a hundred nodes, `sta0` to `sta99`: the element is copied, and in every
//! string of a copy `{i}` becomes its number; a string that is `{i}` alone becomes the number itself. An element that
//! refers to repeated ones (`from = "sta{i}"`) is repeated with them and needs no `count`. In a list of names of an
//! element that is not repeated, `"sta{i}"` stands for all of them.
//!
//! All of this happens to the tree, before it is decoded: the rest of the program sees elements as if each had been
//! written out. Copies keep the places of what they were copied from.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Problem, Problems};
use crate::suggest::{alternatives, nearest};
use crate::tree::{Entry, Node, Table, Value};

/// What becomes a copy's number.
const NUMBER: &str = "{i}";

/// More elements than this are refused: a slip of the pen should not fill the memory.
pub(crate) const MAX_ELEMENTS: u64 = 1_000_000;

/// What the schema says of the key.
pub(crate) const COUNT: &str = "How often the element is there, from 0: in its `name` and in every other string `{i}` \
    becomes the number of the copy, from 0. Default: where the name holds `{i}`, as often as what it refers to; else once.";

/// Copies what is to be repeated. What is wrong goes to `problems`, and then the result is false.
pub(crate) fn apply(root: &mut Node, problems: &mut Problems) -> bool {
    let Value::Table(sections) = &mut root.value else { return true };
    let before = problems.count();
    let counts = counts(sections, problems);
    if problems.count() > before {
        return false;
    }
    for Entry { key: section, node, .. } in &mut sections.entries {
        let Value::List(elements) = &mut node.value else { continue };
        if !elements.iter().any(mentions_number) {
            continue;
        }
        let mut copies = Vec::with_capacity(elements.len());
        for mut element in elements.drain(..) {
            match pattern(&element).and_then(|name| counts.get(name)) {
                Some(&count) => {
                    remove_count(&mut element);
                    copies.extend((0..count).map(|number| copy(&element, number)));
                }
                None => {
                    spread(&mut element, &counts, section, problems);
                    copies.push(element);
                }
            }
        }
        *elements = copies;
        problems.fold_copies();
    }
    problems.count() == before
}

/// How often each repeated element is there, by its name as written. Names are unique in a section; where two sections
/// use the same one, they must agree.
type Counts = BTreeMap<String, u64>;

fn counts(sections: &Table, problems: &mut Problems) -> Counts {
    let mut counts = Counts::new();
    let mut waiting = Vec::new();
    for Entry { key: section, node, .. } in &sections.entries {
        for element in node.list().unwrap_or_default() {
            let Some(table) = element.table() else { continue };
            match (table.get("count"), pattern(element)) {
                (None, None) => {}
                (Some(count), None) => {
                    // Of a section without names, decoding refuses the key.
                    let Some(name) = element.name() else { continue };
                    let message = "copies need names of their own";
                    let help = format!("write the number of the copy into `name`: \"{name}{NUMBER}\"");
                    problems.add(at(count, section, name, message).help(help));
                }
                (Some(count), Some(name)) => match count.value {
                    Value::Integer(number @ 0..=MAX_INTEGER) => {
                        declare(&mut counts, name, number.unsigned_abs(), section, count, problems);
                    }
                    _ => {
                        let message = format!("`count` is a whole number from 0 to {MAX_ELEMENTS}");
                        let help = "write how often the element is there, such as 10";
                        problems.add(at(count, section, name, message).help(help));
                        // So that what follows it is not complained about as well.
                        counts.entry(name.to_owned()).or_insert(1);
                    }
                },
                (None, Some(name)) => waiting.push((section, element, name)),
            }
        }
    }
    // What follows others may itself be followed: a flow follows a node, a loss names the flow.
    loop {
        let before = waiting.len();
        waiting.retain(|&(section, element, name)| match follows(element, &counts) {
            Follows::Nothing => true,
            Follows::All(count) => {
                declare(&mut counts, name, count, section, element, problems);
                false
            }
            Follows::Different((first, first_count), (second, second_count)) => {
                let message = format!(
                    "\"{name}\" would be there as often as \"{first}\", {first_count} times, and as \"{second}\", {second_count} times"
                );
                problems.add(at(element, section, name, message).help("write a `count`, or make them equal"));
                false
            }
        });
        if waiting.len() == before {
            break;
        }
    }
    let unknown: BTreeSet<&str> = waiting.iter().map(|&(.., name)| name).collect();
    for (section, element, name) in waiting {
        let mut follows = None;
        let mut follows_unknown = false;
        each_reference(element, &mut |text, node| {
            follows_unknown |= unknown.contains(text);
            if text.contains(NUMBER) && !counts.contains_key(text) {
                follows = follows.or_else(|| Some((nearest(text, counts.keys().map(String::as_str))?, node)));
            }
        });
        let here = element.table().and_then(|table| table.get("name")).unwrap_or(element);
        match follows {
            // What it follows is complained about.
            _ if follows_unknown => {}
            Some((meant, node)) => {
                let message = format!(
                    "nothing is repeated under this name, so nothing says how often \"{name}\" is there"
                );
                problems.add(at(node, section, name, message).help(format!("did you mean \"{meant}\"?")));
            }
            None => {
                let message = format!("nothing says how often \"{name}\" is there");
                let help = format!(
                    "write a `count`, or refer to something that is repeated, or leave {NUMBER} out of the name"
                );
                problems.add(at(here, section, name, message).help(help));
            }
        }
    }
    too_few(sections, &counts, problems);
    let elements: u64 = counts.values().sum();
    if elements > MAX_ELEMENTS {
        let message = format!("this scenario would have {elements} repeated elements");
        problems.add(Problem::new(message).help(format!("a scenario has at most {MAX_ELEMENTS}")));
    }
    counts
}

/// `MAX_ELEMENTS` as TOML's integers are.
const MAX_INTEGER: i64 = MAX_ELEMENTS as i64;

fn declare(counts: &mut Counts, name: &str, count: u64, section: &str, node: &Node, problems: &mut Problems) {
    let known = *counts.entry(name.to_owned()).or_insert(count);
    if known != count {
        let message = format!("\"{name}\" is there {known} times elsewhere, and {count} times here");
        problems.add(at(node, section, name, message).help("give one of the two another name"));
    }
}

/// Refuses an element that is there more often than what it refers to.
fn too_few(sections: &Table, counts: &Counts, problems: &mut Problems) {
    for Entry { key: section, node, .. } in &sections.entries {
        for element in node.list().unwrap_or_default() {
            let Some((name, &count)) = pattern(element).and_then(|name| Some((name, counts.get(name)?)))
            else {
                continue;
            };
            each_reference(element, &mut |text, node| {
                if let Some(&there) = counts.get(text)
                    && there < count
                {
                    let message = format!("\"{name}\" is there {count} times, \"{text}\" only {there} times");
                    problems.add(
                        at(node, section, name, message).help("lower the one `count` or raise the other"),
                    );
                }
            });
        }
    }
}

enum Follows<'a> {
    Nothing,
    All(u64),
    Different((&'a str, u64), (&'a str, u64)),
}

/// What the names of repeated elements, in an element without `count`, say about its own.
fn follows<'a>(element: &'a Node, counts: &Counts) -> Follows<'a> {
    let mut found: Option<(&str, u64)> = None;
    let mut different = None;
    each_reference(element, &mut |text, _| {
        let Some(&count) = counts.get(text) else { return };
        match found {
            None => found = Some((text, count)),
            Some(first) if first.1 != count => different = Some((first, (text, count))),
            Some(_) => {}
        }
    });
    match (found, different) {
        (_, Some((first, second))) => Follows::Different(first, second),
        (Some((_, count)), None) => Follows::All(count),
        (None, None) => Follows::Nothing,
    }
}

/// The name of an element that is repeated.
fn pattern(element: &Node) -> Option<&str> {
    element.name().filter(|name| name.contains(NUMBER))
}

fn mentions_number(element: &Node) -> bool {
    let mut mentions = false;
    each_text(element, &mut |text, _| mentions |= text.contains(NUMBER));
    mentions
}

/// Calls `visit` with each string in an element but its name.
fn each_reference<'a>(element: &'a Node, visit: &mut impl FnMut(&'a str, &'a Node)) {
    let entries = element.table().map_or(&[][..], |table| &table.entries);
    entries.iter().filter(|entry| entry.key != "name").for_each(|entry| each_text(&entry.node, visit));
}

/// Calls `visit` with each string in a value.
fn each_text<'a>(node: &'a Node, visit: &mut impl FnMut(&'a str, &'a Node)) {
    match &node.value {
        Value::Text(text) => visit(text, node),
        Value::List(list) => list.iter().for_each(|inner| each_text(inner, visit)),
        Value::Table(table) => table.entries.iter().for_each(|entry| each_text(&entry.node, visit)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Date(_) => {}
    }
}

fn remove_count(element: &mut Node) {
    if let Value::Table(table) = &mut element.value {
        table.entries.retain(|entry| entry.key != "count");
    }
}

/// The same value for the copy of a number.
fn copy(node: &Node, number: u64) -> Node {
    let value = match &node.value {
        Value::Text(text) if text == NUMBER => Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
        Value::Text(text) => Value::Text(text.replace(NUMBER, &number.to_string())),
        Value::List(list) => Value::List(list.iter().map(|inner| copy(inner, number)).collect()),
        Value::Table(table) => Value::Table(Table {
            entries: table
                .entries
                .iter()
                .map(|entry| Entry { node: copy(&entry.node, number), ..entry.clone() })
                .collect(),
        }),
        plain => plain.clone(),
    };
    Node { place: node.place, value }
}

/// In an element that is not repeated: puts all copies in place of a pattern in a list of names.
fn spread(element: &mut Node, counts: &Counts, section: &str, problems: &mut Problems) {
    let name = element.name().unwrap_or_default().to_owned();
    spread_within(element, counts, &mut |node, text| {
        let names = || counts.keys().map(String::as_str);
        let (message, help) = if counts.contains_key(text) {
            let first = text.replace(NUMBER, "0");
            let message = format!("which of the \"{text}\"? \"{name}\" is there once");
            (
                message,
                format!(
                    "write one of them, such as \"{first}\", or put {NUMBER} into the name of \"{name}\""
                ),
            )
        } else {
            let help = match (nearest(text, names()), counts.is_empty()) {
                (Some(meant), _) => format!("did you mean \"{meant}\"?"),
                (None, true) => format!("a [[node]] whose name has {NUMBER} is repeated `count` times"),
                (None, false) => format!("what is repeated: {}", alternatives(names())),
            };
            (format!("nothing is repeated under the name \"{text}\""), help)
        };
        problems.add(at(node, section, &name, message).help(help));
    });
}

fn spread_within(node: &mut Node, counts: &Counts, wrong: &mut impl FnMut(&Node, &str)) {
    match &mut node.value {
        Value::Text(text) if text.contains(NUMBER) => {
            let text = text.clone();
            wrong(node, &text);
        }
        Value::List(list) => {
            let mut all = Vec::with_capacity(list.len());
            for mut inner in list.drain(..) {
                match &inner.value {
                    Value::Text(text) if counts.contains_key(text) => {
                        all.extend((0..counts[text]).map(|number| copy(&inner, number)));
                    }
                    _ => {
                        spread_within(&mut inner, counts, wrong);
                        all.push(inner);
                    }
                }
            }
            *list = all;
        }
        Value::Table(table) => {
            table.entries.iter_mut().for_each(|entry| spread_within(&mut entry.node, counts, wrong));
        }
        _ => {}
    }
}

fn at(node: &Node, section: &str, name: &str, message: impl Into<String>) -> Problem {
    let mut path = format!("{section}.");
    // Writing to a string cannot fail.
    let _ = crate::decode::write_step(&mut path, name);
    Problem::new(message).at(node.place).path(path)
}
