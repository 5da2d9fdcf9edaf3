//! Overrides: `link.path.loss.probability=0.05` sets one value of the tree before it is decoded.
//!
//! A path is keys with dots between them; an element of a list is named by its `name` or by its index,
//! counted from
//! 0. A name that holds a dot is quoted: `link."a.b".rate`. Keys that are not there are added, with the
//!    tables that they need; whether such a key may be there is for decoding to say. The value is a TOML
//!    value if it reads as one, else a string, so that units need no quotes; but for a table or a list that
//!    is not closed.
//!
//! A step with `*` names every element of a list whose name matches, `wifi.*.rate`, and `+` joins paths that
//! get the same value, `wifi.a.rate+wifi.b.rate`. In quotes both are letters of a name.

use std::borrow::Cow;

use crate::decode::write_step;
use crate::diagnostics::{Place, Problem, Problems};
use crate::repeat;
use crate::suggest::{alternatives, nearest};
use crate::tree::{MAX_DEPTH, New, Node, Nodes, Tree, Value};

/// Applies one override to the tree. Problems point into the override's text.
pub(crate) fn apply(tree: &mut Tree, path: &str, value: &str, problems: &mut Problems) {
    let text = format!("{path}={value}");
    let source = problems.source("--set", &text);
    let steps = match split(path, source) {
        Ok(steps) => steps,
        Err(problem) => return problems.add(*problem),
    };
    let shift = path.len() + 1;
    let before = problems.count();
    let all = match expand(tree, &steps) {
        Ok(all) => all,
        Err(problem) => return problems.add(*problem),
    };
    for steps in all {
        let new = tree.read_toml_value(value, source, shift, problems);
        if problems.count() > before {
            return;
        }
        let new = new.unwrap_or_else(|| tree.text(value));
        let new = new.no_date().at(Place::new(source, shift..text.len()));
        if let Err(problem) = set(tree, &steps, new) {
            return problems.add(*problem);
        }
    }
}

/// The paths that `+` joins.
pub(crate) fn joined(path: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, letter) in path.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '+' if !quoted => {
                parts.push(&path[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&path[start..]);
    parts
}

/// A path for each element that its patterns name.
fn expand<'a>(tree: &Tree, steps: &[Step<'a>]) -> Result<Vec<Vec<Step<'a>>>, Box<Problem>> {
    let mut found = vec![(tree.root(), Vec::new())];
    for (depth, step) in steps.iter().enumerate() {
        let Some(pattern) = step.pattern() else { continue };
        let mut next = Vec::new();
        for (at, path) in found {
            // Keys on the way may not be there yet; then there is no list to choose from.
            let between = &steps[path.len()..depth];
            let list = between.iter().try_fold(at, |node, step: &Step<'a>| inner(node, &step.name));
            let elements = list.and_then(Node::list).into_iter().flatten().enumerate();
            for (number, element) in elements {
                let name = element.name();
                if name.is_some_and(|name| matches(pattern, name)) || (name.is_none() && pattern == "*") {
                    let name = name.map_or_else(|| number.to_string(), str::to_owned);
                    let own = Step { name: name.into(), place: step.place, quoted: true };
                    let path = [&path[..], between, &[own]].concat();
                    next.push((element, path));
                }
            }
        }
        if next.is_empty() {
            let message =
                format!("`{}` has no element whose name matches `{pattern}`", join(&steps[..depth]));
            let help = "`*` stands for any letters of a name; in quotes it is a letter";
            return Err(Problem::new(message).at(step.place).help(help).into());
        }
        found = next;
    }
    Ok(found.into_iter().map(|(_, path)| [&path[..], &steps[path.len()..]].concat()).collect())
}

/// What a node has at a step.
fn inner<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    match node.value() {
        Value::Table(table) => table.get(name),
        Value::List(list) => list
            .clone()
            .find(|node| node.name() == Some(name))
            .or_else(|| name.parse().ok().and_then(|index| list.clone().nth(index))),
        _ => None,
    }
}

/// Whether a name is what a pattern says, in which `*` stands for any letters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let behind = parts.try_fold(rest, |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]));
    behind.is_some_and(|rest| rest.ends_with(last))
}

/// Whether a path leads to one copy of an element that stands for many, `link.line-3.rate`: it is there once
/// elements are repeated.
pub(crate) fn is_of_a_copy(tree: &Tree, path: &str) -> bool {
    let Ok(steps) = split(path, 0) else { return false };
    let [section, name, ..] = &steps[..] else { return false };
    let section = tree.root().table().and_then(|table| table.get(&section.name));
    let elements = || section.and_then(Node::list).into_iter().flatten();
    elements().all(|element| element.name() != Some(&*name.name))
        && elements().filter_map(Node::name).any(|pattern| repeat::is_copy(pattern, &name.name))
}

#[derive(Clone)]
struct Step<'a> {
    name: Cow<'a, str>,
    place: Option<Place>,
    quoted: bool,
}

impl Step<'_> {
    /// The pattern that it is.
    fn pattern(&self) -> Option<&str> {
        (!self.quoted && self.name.contains('*')).then_some(&*self.name)
    }
}

fn split(path: &str, source: u32) -> Result<Vec<Step<'_>>, Box<Problem>> {
    let place = |start, end| Place::new(source, start..end);
    let example = "a path is keys with dots between them, such as `link.path.loss.probability`";
    let mut steps = Vec::new();
    let mut start = 0;
    loop {
        let rest = &path[start..];
        let (name, length) = match rest.strip_prefix('"') {
            Some(quoted) => match quoted.find('"') {
                Some(end) => (&quoted[..end], end + 2),
                None => {
                    let problem =
                        Problem::new("this quotation mark is never closed").at(place(start, start + 1));
                    return Err(problem.help(example).into());
                }
            },
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                if end == 0 {
                    let problem = Problem::new("a key is missing here").at(place(start, start + 1));
                    return Err(problem.help(example).into());
                }
                (&rest[..end], end)
            }
        };
        let quoted = rest.starts_with('"');
        steps.push(Step { name: name.into(), place: place(start, start + length), quoted });
        if steps.len() > MAX_DEPTH {
            let problem = Problem::new("this path is too long").at(place(0, path.len()));
            return Err(problem.help(example).into());
        }
        start += length;
        match path.as_bytes().get(start) {
            None => return Ok(steps),
            Some(b'.') => start += 1,
            Some(_) => {
                let problem = Problem::new("a dot is missing here").at(place(start, start + 1));
                return Err(problem.help(example).into());
            }
        }
    }
}

fn set(tree: &mut Tree, steps: &[Step<'_>], value: New) -> Result<(), Box<Problem>> {
    let mut at = Tree::ROOT;
    for (depth, step) in steps.iter().enumerate() {
        let taken = &steps[..depth];
        let last = depth + 1 == steps.len();
        let node = tree.node(at);
        at = match node.value() {
            Value::Table(table) => {
                let number = match table.get(&step.name) {
                    Some(entry) => entry.number(),
                    None => {
                        let empty = tree.table([]).at(step.place);
                        let entry = tree.under(&step.name, step.place, empty);
                        tree.add(at, [entry])
                    }
                };
                if last {
                    tree.set_key_place(number, step.place);
                }
                number
            }
            Value::List(list) => element(list, step, taken)?.number(),
            _ => {
                let (taken, noun) = (join(taken), node.noun());
                let problem = Problem::new(format!("`{taken}` is {noun}, so nothing can be set inside it"));
                let help = format!("set `{taken}` as a whole, for example to a table {{ ... }}");
                return Err(problem.at(step.place).help(help).into());
            }
        };
        if last {
            tree.set(at, value);
        }
    }
    Ok(())
}

/// The element that a step names: by `name`, else by number.
fn element<'t>(list: Nodes<'t>, step: &Step<'_>, taken: &[Step<'_>]) -> Result<Node<'t>, Box<Problem>> {
    if let Some(named) = list.clone().find(|node| node.name() == Some(&*step.name)) {
        return Ok(named);
    }
    if let Some(counted) = step.name.parse().ok().and_then(|index| list.clone().nth(index)) {
        return Ok(counted);
    }
    let names: Vec<String> = list.clone().filter_map(Node::name).map(as_step).collect();
    let names = || names.iter().map(String::as_str);
    let problem = Problem::new(format!("`{}` has no element `{}`", join(taken), step.name)).at(step.place);
    let mut help = String::new();
    if let Some(meant) = nearest(&step.name, names()) {
        help = format!("did you mean `{meant}`? ");
    }
    if names().next().is_some() {
        help += &format!("Its elements: {}, or their numbers from 0", alternatives(names()));
    } else if list.len() == 0 {
        help += "It is an empty list";
    } else {
        help += &format!("Its elements have numbers from 0 to {}", list.len() - 1);
    }
    Err(problem.help(help).into())
}

/// A name as a step of a path.
fn as_step(name: &str) -> String {
    let mut step = String::new();
    // Writing to a string cannot fail.
    let _ = write_step(&mut step, name);
    step
}

fn join(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for (i, step) in steps.iter().enumerate() {
        if i > 0 {
            path.push('.');
        }
        // Writing to a string cannot fail.
        let _ = write_step(&mut path, &step.name);
    }
    path
}
