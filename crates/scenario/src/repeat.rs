//! Repetition without copying: an element whose `name` holds `{i}` stands for many.
//!
//! `[[node]] name = "sta{i}", count = 100` is a hundred nodes, `sta0` to `sta99`: the element is copied, and in every
//! string of a copy `{i}` becomes its number; a string that is `{i}` alone becomes the number itself. An element that
//! refers to repeated ones (`from = "sta{i}"`) is repeated with them and needs no `count`. In a list of names of an
//! element that is not repeated, `"sta{i}"` stands for all of them.
//!
//! All of this happens to the tree, before it is decoded: the rest of the program sees elements as if each had been
//! written out. Copies keep the places of what they were copied from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::diagnostics::{Problem, Problems};
use crate::suggest::{alternatives, nearest};
use crate::tree::{Entry, Node, Table, Value};

/// What becomes a copy's number.
pub(crate) const NUMBER: &str = "{i}";

/// More copies of an element are refused: a slip of the pen should not fill the memory.
pub(crate) const MAX_COUNT: u64 = 1_000_000;

/// Values in all copies together, each with its key some hundred octets: a gigabyte.
const MAX_VALUES: u64 = 10_000_000;

/// What the schema says of the key.
pub(crate) const COUNT: &str = "How often the element is there, from 0: in its `name` and in every other string `{i}` \
    becomes the number of the copy, from 0. Default: where the name holds `{i}`, as often as what it refers to; else once.";

/// Whether anything in a section has the number of a copy in it, so that [`apply`] may change the tree.
pub(crate) fn is_meant(root: &Node) -> bool {
    let sections = root.table().into_iter().flat_map(|sections| &sections.entries);
    sections.filter_map(|section| section.node.list()).flatten().any(mentions_number)
}

/// Copies what is to be repeated; whether anything was. What is wrong goes to `problems`.
pub(crate) fn apply(root: &mut Node, problems: &mut Problems) -> bool {
    let Value::Table(sections) = &mut root.value else { return false };
    let before = problems.count();
    let counts = counts(sections, problems);
    if problems.count() == before {
        check_room(sections, &counts, problems);
    }
    if problems.count() > before {
        return false;
    }
    let mut repeated = false;
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
                    copies.extend((0..count).map(|number| copy(&element, number, &counts)));
                    repeated = true;
                }
                None => {
                    spread(&mut element, &counts, section, problems);
                    copies.push(element);
                }
            }
        }
        *elements = copies;
    }
    repeated
}

/// How often each repeated element is there, by its name as written. Where two sections use the same name, they must
/// agree.
type Counts = BTreeMap<String, u64>;

/// An element that says nothing of its own count, by its section.
type Follower<'a> = (&'a str, &'a Node, &'a str);

fn counts(sections: &Table, problems: &mut Problems) -> Counts {
    let mut counts = Counts::new();
    let mut followers: Vec<Follower<'_>> = Vec::new();
    for Entry { key: section, node, .. } in &sections.entries {
        let mut names = BTreeSet::new();
        for element in node.list().unwrap_or_default() {
            let Some(table) = element.table() else { continue };
            if let Some(name) = pattern(element)
                && !names.insert(name)
            {
                let message = format!("another [[{section}]] is named \"{name}\" as well");
                problems.add(at(element, section, name, message).help("give each a name of its own"));
                continue;
            }
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
                        let message = format!("`count` is a whole number from 0 to {MAX_COUNT}");
                        let help = "write how often the element is there, such as 10";
                        problems.add(at(count, section, name, message).help(help));
                        // So that what follows it is not complained about as well.
                        counts.entry(name.to_owned()).or_insert(1);
                    }
                },
                (None, Some(name)) => followers.push((section, element, name)),
            }
        }
    }
    follow(&followers, &mut counts, problems);
    check_references(sections, &counts, problems);
    counts
}

/// `MAX_COUNT` as TOML's integers are.
const MAX_INTEGER: i64 = MAX_COUNT as i64;

fn declare(counts: &mut Counts, name: &str, count: u64, section: &str, node: &Node, problems: &mut Problems) {
    let known = *counts.entry(name.to_owned()).or_insert(count);
    if known != count {
        let message = format!("\"{name}\" is there {known} times elsewhere, and {count} times here");
        problems.add(at(node, section, name, message).help("give one of the two another name"));
    }
}

/// Gives elements without a count that of what they refer to, which may itself follow others: a flow follows a node, a
/// loss names the flow.
fn follow(followers: &[Follower<'_>], counts: &mut Counts, problems: &mut Problems) {
    let mut followed_by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, (_, element, _)) in followers.iter().enumerate() {
        each_reference(element, &mut |text, _| {
            if text.contains(NUMBER) {
                followed_by.entry(text).or_default().push(place);
            }
        });
    }
    let mut settled = vec![false; followers.len()];
    let mut known: VecDeque<(String, u64)> =
        counts.iter().map(|(name, count)| (name.clone(), *count)).collect();
    while let Some((name, count)) = known.pop_front() {
        for &place in followed_by.get(name.as_str()).into_iter().flatten() {
            if std::mem::replace(&mut settled[place], true) {
                continue;
            }
            let (section, element, name) = followers[place];
            declare(counts, name, count, section, element, problems);
            known.push_back((name.to_owned(), count));
        }
    }
    let unsettled: Vec<Follower<'_>> = followers
        .iter()
        .zip(settled)
        .filter(|(_, settled)| !settled)
        .map(|(follower, _)| *follower)
        .collect();
    let unsettled_names: BTreeSet<&str> = unsettled.iter().map(|&(_, _, name)| name).collect();
    for (section, element, name) in unsettled {
        if problems.full() {
            return problems.leave_out();
        }
        let mut follows_unsettled = false;
        let mut unknown = None;
        each_reference(element, &mut |text, node| {
            follows_unsettled |= text != name && unsettled_names.contains(text);
            if text.contains(NUMBER) && !counts.contains_key(text) {
                unknown = unknown.or_else(|| Some((nearest(text, counts.keys().map(String::as_str))?, node)));
            }
        });
        match unknown {
            // What it follows is complained about.
            _ if follows_unsettled => {}
            Some((meant, node)) => {
                let message = format!(
                    "nothing is repeated under this name, so nothing says how often \"{name}\" is there"
                );
                problems.add(at(node, section, name, message).help(format!("did you mean \"{meant}\"?")));
            }
            None => {
                let here = element.table().and_then(|table| table.get("name")).unwrap_or(element);
                let message = format!("nothing says how often \"{name}\" is there");
                let help = format!(
                    "write a `count`, or refer to something that is repeated, or leave {NUMBER} out of the name"
                );
                problems.add(at(here, section, name, message).help(help));
            }
        }
    }
}

/// Refuses an element that is there more often than what it refers to. One without a `count` of its own follows all that
/// it refers to, which must agree.
fn check_references(sections: &Table, counts: &Counts, problems: &mut Problems) {
    for Entry { key: section, node, .. } in &sections.entries {
        for element in node.list().unwrap_or_default() {
            let Some((name, &count)) = pattern(element).and_then(|name| Some((name, counts.get(name)?)))
            else {
                continue;
            };
            let follows = element.table().is_some_and(|table| table.get("count").is_none());
            each_reference(element, &mut |text, node| {
                let Some(&there) = counts.get(text).filter(|_| !problems.full()) else { return };
                if there < count || (follows && there != count) {
                    let only = if there < count { "only " } else { "" };
                    let message =
                        format!("\"{name}\" is there {count} times, \"{text}\" {only}{there} times");
                    let help = match follows {
                        true => "make what it refers to equally many, or write a `count` here",
                        false => "lower the one `count` or raise the other",
                    };
                    problems.add(at(node, section, name, message).help(help));
                }
            });
        }
    }
}

/// Refuses what would not fit.
fn check_room(sections: &Table, counts: &Counts, problems: &mut Problems) {
    let mut all = 0_u64;
    for Entry { key: section, node, .. } in &sections.entries {
        for element in node.list().unwrap_or_default() {
            let copies = pattern(element).and_then(|name| counts.get(name)).copied();
            let values = match copies {
                Some(count) => count.saturating_mul(values(element)),
                None => spread_values(element, counts),
            };
            all = all.saturating_add(values);
            if all > MAX_VALUES {
                let name = element.name().unwrap_or_default();
                let message =
                    format!("with the copies of \"{name}\" this scenario has more than {MAX_VALUES} values");
                problems.add(at(element, section, name, message).help("lower a `count`"));
                return;
            }
        }
    }
}

/// How many values there are in one, itself included; long texts count for several.
fn values(node: &Node) -> u64 {
    match &node.value {
        Value::Text(text) => 1 + text.len() as u64 / 64,
        Value::List(list) => 1 + list.iter().map(values).sum::<u64>(),
        Value::Table(table) => 1 + table.entries.iter().map(|entry| values(&entry.node)).sum::<u64>(),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Date(_) => 1,
    }
}

/// How many there will be once lists of names have all copies.
fn spread_values(node: &Node, counts: &Counts) -> u64 {
    match &node.value {
        Value::Text(text) => counts.get(text).copied().unwrap_or(0),
        Value::List(list) => {
            list.iter().fold(0, |all, inner| all.saturating_add(spread_values(inner, counts)))
        }
        Value::Table(table) => {
            let entries = table.entries.iter();
            entries.fold(0, |all, entry| all.saturating_add(spread_values(&entry.node, counts)))
        }
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Date(_) => 0,
    }
}

/// The name of an element that is repeated.
fn pattern(element: &Node) -> Option<&str> {
    element.name().filter(|name| name.contains(NUMBER))
}

/// Whether a name is that of a copy of an element.
pub(crate) fn is_copy(pattern: &str, name: &str) -> bool {
    let Some((head, _)) = pattern.split_once(NUMBER) else { return false };
    let digits = name.strip_prefix(head).unwrap_or_default();
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    // Where digits follow the number, it is not plain where it ends.
    (1..=digits.len()).any(|length| numbered(pattern, &digits[..length]) == name)
}

fn mentions_number(element: &Node) -> bool {
    let mut mentions = false;
    each_text(element, &mut |text, _| mentions |= text.contains(NUMBER));
    mentions
}

/// Calls `visit` with each string in an element but its name.
fn each_reference<'a>(element: &'a Node, visit: &mut impl FnMut(&'a str, &'a Node)) {
    let entries = element.table().map_or(&[][..], |table| &table.entries);
    entries.iter().filter(|entry| &*entry.key != "name").for_each(|entry| each_text(&entry.node, visit));
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

/// The text of the copy of a number.
fn numbered(text: &str, number: impl ToString) -> String {
    text.replace(NUMBER, &number.to_string())
}

fn remove_count(element: &mut Node) {
    if let Value::Table(table) = &mut element.value {
        table.entries.retain(|entry| &*entry.key != "count");
    }
}

/// The same value for the copy of a number.
fn copy(node: &Node, number: u64, counts: &Counts) -> Node {
    let value = match &node.value {
        // A name may be the number alone.
        Value::Text(text) if text == NUMBER && !counts.contains_key(NUMBER) => {
            Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
        }
        Value::Text(text) => Value::Text(numbered(text, number)),
        Value::List(list) => Value::List(list.iter().map(|inner| copy(inner, number, counts)).collect()),
        Value::Table(table) => {
            let entry = |entry: &Entry| Entry {
                key: entry.key.clone(),
                key_place: entry.key_place,
                node: copy(&entry.node, number, counts),
            };
            Value::Table(Table { entries: table.entries.iter().map(entry).collect() })
        }
        plain => plain.clone(),
    };
    Node { place: node.place, value }
}

/// In an element that is not repeated: puts all copies in place of a pattern in a list of names.
fn spread(element: &mut Node, counts: &Counts, section: &str, problems: &mut Problems) {
    let name = element.name().unwrap_or_default().to_owned();
    spread_within(element, counts, &mut |node, text| {
        if problems.full() {
            return problems.leave_out();
        }
        let names = || counts.keys().map(String::as_str);
        let (message, help) = if counts.contains_key(text) {
            let first = numbered(text, 0);
            let message = format!("which of the \"{text}\"? \"{name}\" is there once");
            let help = format!(
                "write one of them, such as \"{first}\", or put {NUMBER} into the name of \"{name}\""
            );
            (message, help)
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
                        let text = text.clone();
                        all.extend((0..counts[&text]).map(|number| Node {
                            place: inner.place,
                            value: Value::Text(numbered(&text, number)),
                        }));
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
