//! Repetition without copying: an element whose `name` holds `{i}` stands for many.
//!
//! `[[node]] name = "sta{i}", count = 100` is a hundred nodes, `sta0` to `sta99`: the element is copied, and
//! in every string of a copy `{i}` becomes its number; a string that is `{i}` alone becomes the number
//! itself. An element that refers to repeated ones (`from = "sta{i}"`) is repeated with them and needs no
//! `count`. In a list of names of an element that is not repeated, `"sta{i}"` stands for all of them.
//!
//! All of this happens to the tree, before it is decoded: the rest of the program sees elements as if each
//! had been written out. Copies keep the places of what they were copied from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::diagnostics::{Place, Problem, Problems};
use crate::suggest::{alternatives, nearest};
use crate::tree::{New, Node, Tree, Value};

/// What becomes a copy's number.
pub(crate) const NUMBER: &str = "{i}";

/// More copies of an element are refused: a slip of the pen should not fill the memory.
pub(crate) const MAX_COUNT: u64 = 1_000_000;

/// Values in all copies together, against the same slip. One of a dumbbell takes some 80 octets at the most
/// while it is read, with what the scenario makes of it, and 110 with the world of it: a gigabyte.
const MAX_VALUES: u64 = 10_000_000;

/// What the schema says of the key.
pub(crate) const COUNT: &str = "The number of copies: `{i}` in the `name` and other strings becomes 0, 1 and so on. \
    Default: with `{i}`, as many as the copies that it refers to; else one.";

/// Whether anything in a section has the number of a copy in it, so that [`apply`] may change the tree.
pub(crate) fn is_meant(tree: &Tree) -> bool {
    tree.may_mention(NUMBER) && tree.root().inner().filter_map(Node::list).flatten().any(mentions_number)
}

/// Copies what is to be repeated; whether anything was. What is wrong goes to `problems`.
pub(crate) fn apply(tree: &mut Tree, problems: &mut Problems) -> bool {
    let before = problems.count();
    let counts = counts(tree.root(), problems);
    if problems.count() == before {
        check_room(tree.root(), &counts, problems);
    }
    if problems.count() > before || !is_meant(tree) {
        return false;
    }
    let mut repeated = false;
    for section in tree.root().numbers() {
        let Some(elements) = tree.node(section).list() else { continue };
        if !elements.clone().any(mentions_number) {
            continue;
        }
        let mut copies = Vec::with_capacity(elements.len());
        for element in tree.node(section).numbers() {
            match pattern(tree.node(element)).and_then(|name| counts.get(name)) {
                Some(&count) => {
                    tree.remove(element, "count");
                    copies.extend((0..count).map(|number| copy(tree, element, number, &counts)));
                    repeated = true;
                }
                None => {
                    spread(tree, (section, element), &counts, problems);
                    copies.push(tree.taken(element));
                }
            }
        }
        let copies = tree.list(copies);
        tree.set_value(section, copies);
    }
    repeated
}

/// How often each repeated element is there, by its name as written. Where two sections use the same name,
/// they must agree.
type Counts = BTreeMap<String, u64>;

/// An element that says nothing of its own count, by its section.
type Follower<'a> = (&'a str, Node<'a>, &'a str);

fn counts(root: Node<'_>, problems: &mut Problems) -> Counts {
    let mut counts = Counts::new();
    let mut followers: Vec<Follower<'_>> = Vec::new();
    for node in root.inner() {
        let section = node.key();
        let mut names = BTreeSet::new();
        for element in node.list().into_iter().flatten() {
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
                (Some(count), Some(name)) => match count.value() {
                    Value::Integer(number @ 0..=MAX_INTEGER) => {
                        declare(&mut counts, name, number.unsigned_abs(), section, count, problems);
                    }
                    _ => {
                        let message = format!("`count` is a whole number from 0 to {MAX_COUNT}");
                        let help = "write the number of copies, such as 10";
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
    check_references(root, &counts, problems);
    counts
}

/// `MAX_COUNT` as TOML's integers are.
const MAX_INTEGER: i64 = MAX_COUNT as i64;

fn declare(
    counts: &mut Counts,
    name: &str,
    count: u64,
    section: &str,
    node: Node<'_>,
    problems: &mut Problems,
) {
    let known = *counts.entry(name.to_owned()).or_insert(count);
    if known != count {
        let message = format!("\"{name}\" has {known} copies elsewhere, and {count} here");
        problems.add(at(node, section, name, message).help("give one of the two another name"));
    }
}

/// Gives elements without a count that of what they refer to, which may itself follow others: a flow follows
/// a node, a loss names the flow.
fn follow(followers: &[Follower<'_>], counts: &mut Counts, problems: &mut Problems) {
    let mut followed_by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, &(_, element, _)) in followers.iter().enumerate() {
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
                let message =
                    format!("this name has no copies, so the number of copies of \"{name}\" is unknown");
                problems.add(at(node, section, name, message).help(format!("did you mean \"{meant}\"?")));
            }
            None => {
                let here = element.table().and_then(|table| table.get("name")).unwrap_or(element);
                let message = format!("the number of copies of \"{name}\" is missing");
                let help = format!("write a `count`, or refer to copies, or leave {NUMBER} out of the name");
                problems.add(at(here, section, name, message).help(help));
            }
        }
    }
}

/// Refuses an element that is there more often than what it refers to. One without a `count` of its own
/// follows all that it refers to, which must agree.
fn check_references(root: Node<'_>, counts: &Counts, problems: &mut Problems) {
    for node in root.inner() {
        let section = node.key();
        for element in node.list().into_iter().flatten() {
            let Some((name, &count)) = pattern(element).and_then(|name| Some((name, counts.get(name)?)))
            else {
                continue;
            };
            let follows = element.table().is_some_and(|table| table.get("count").is_none());
            each_reference(element, &mut |text, node| {
                let Some(&there) = counts.get(text).filter(|_| !problems.full()) else { return };
                if there < count || (follows && there != count) {
                    let only = if there < count { "only " } else { "" };
                    let message = format!("\"{name}\" has {count} copies, \"{text}\" {only}{there}");
                    let help = match follows {
                        true => "give both the same `count`, or write a `count` here",
                        false => "lower the one `count` or raise the other",
                    };
                    problems.add(at(node, section, name, message).help(help));
                }
            });
        }
    }
}

/// Refuses what would not fit.
fn check_room(root: Node<'_>, counts: &Counts, problems: &mut Problems) {
    let mut all = 0_u64;
    for node in root.inner() {
        let section = node.key();
        for element in node.list().into_iter().flatten() {
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
fn values(node: Node<'_>) -> u64 {
    let text = node.text().map_or(0, |text| text.len() as u64 / 64);
    1 + text + node.inner().map(values).sum::<u64>()
}

/// How many there will be once lists of names have all copies.
fn spread_values(node: Node<'_>, counts: &Counts) -> u64 {
    match node.text() {
        Some(text) => counts.get(text).copied().unwrap_or(0),
        None => node.inner().fold(0, |all, inner| all.saturating_add(spread_values(inner, counts))),
    }
}

/// The name of an element that is repeated.
fn pattern(element: Node<'_>) -> Option<&str> {
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

fn mentions_number(element: Node<'_>) -> bool {
    let mut mentions = false;
    each_text(element, &mut |text, _| mentions |= text.contains(NUMBER));
    mentions
}

/// Calls `visit` with each string in an element but its name.
fn each_reference<'a>(element: Node<'a>, visit: &mut impl FnMut(&'a str, Node<'a>)) {
    let entries = element.table().into_iter().flat_map(|table| table.entries());
    entries.filter(|entry| entry.key() != "name").for_each(|entry| each_text(entry, visit));
}

/// Calls `visit` with each string in a value.
fn each_text<'a>(node: Node<'a>, visit: &mut impl FnMut(&'a str, Node<'a>)) {
    match node.text() {
        Some(text) => visit(text, node),
        None => node.inner().for_each(|inner| each_text(inner, visit)),
    }
}

/// The text of the copy of a number.
fn numbered(text: &str, number: impl ToString) -> String {
    text.replace(NUMBER, &number.to_string())
}

/// The same value, with its key, for the copy of a number.
fn copy(tree: &mut Tree, node: u32, number: u64, counts: &Counts) -> New {
    let of = tree.taken(node);
    let new = match tree.node(node).value() {
        // A name may be the number alone.
        Value::Text(text) if text == NUMBER && !counts.contains_key(NUMBER) => {
            New::integer(i64::try_from(number).unwrap_or(i64::MAX))
        }
        Value::Text(text) if text.contains(NUMBER) => {
            let text = numbered(text, number);
            tree.text(&text)
        }
        Value::List(_) => {
            let inner: Vec<_> =
                tree.node(node).numbers().map(|inner| copy(tree, inner, number, counts)).collect();
            tree.list(inner)
        }
        Value::Table(_) => {
            let inner: Vec<_> =
                tree.node(node).numbers().map(|inner| copy(tree, inner, number, counts)).collect();
            tree.table(inner)
        }
        _ => of,
    };
    new.in_place_of(of)
}

/// In an element that is not repeated: puts all copies in place of a pattern in a list of names.
fn spread(tree: &mut Tree, (section, element): (u32, u32), counts: &Counts, problems: &mut Problems) {
    let name = tree.node(element).name().unwrap_or_default().to_owned();
    let section = tree.node(section).key().to_owned();
    spread_within(tree, element, counts, &mut |place, text| {
        if problems.full() {
            return problems.leave_out();
        }
        let names = || counts.keys().map(String::as_str);
        let (message, help) = if counts.contains_key(text) {
            let first = numbered(text, 0);
            let message = format!("\"{text}\" has several copies, and \"{name}\" refers to one of them");
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
            (format!("there are no copies with the name \"{text}\""), help)
        };
        problems.add(at_place(place, &section, &name, message).help(help));
    });
}

fn spread_within(tree: &mut Tree, node: u32, counts: &Counts, wrong: &mut impl FnMut(Option<Place>, &str)) {
    match tree.node(node).value() {
        Value::Text(text) if text.contains(NUMBER) => wrong(tree.node(node).place(), text),
        Value::List(list) => {
            let mut all = Vec::with_capacity(list.len());
            for inner in tree.node(node).numbers() {
                let of = tree.taken(inner);
                match tree.node(inner).text().and_then(|text| counts.get_key_value(text)) {
                    Some((text, &count)) => all.extend((0..count).map(|number| {
                        let text = numbered(text, number);
                        tree.text(&text).in_place_of(of)
                    })),
                    None => {
                        spread_within(tree, inner, counts, wrong);
                        all.push(tree.taken(inner));
                    }
                }
            }
            let all = tree.list(all);
            tree.set_value(node, all);
        }
        Value::Table(_) => {
            tree.node(node).numbers().for_each(|inner| spread_within(tree, inner, counts, wrong));
        }
        _ => {}
    }
}

fn at(node: Node<'_>, section: &str, name: &str, message: impl Into<String>) -> Problem {
    at_place(node.place(), section, name, message)
}

fn at_place(place: Option<Place>, section: &str, name: &str, message: impl Into<String>) -> Problem {
    let mut path = format!("{section}.");
    // Writing to a string cannot fail.
    let _ = crate::decode::write_step(&mut path, name);
    Problem::new(message).at(place).path(path)
}
