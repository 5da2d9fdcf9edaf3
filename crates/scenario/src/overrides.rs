//! Overrides: `link.path.loss.probability=0.05` sets one value of the tree before it is decoded.
//!
//! A path is keys with dots between them; an element of a list is named by its `name` or by its index, counted from
//! 0. A name that holds a dot is quoted: `link."a.b".rate`. Keys that are not there are added, with the tables that
//! they need; whether such a key may be there is for decoding to say. The value is a TOML value if it reads as one,
//! else a string, so that units need no quotes.

use crate::decode::write_step;
use crate::diagnostics::{Place, Problem, Problems};
use crate::repeat;
use crate::suggest::{alternatives, nearest};
use crate::tree::{self, Entry, MAX_DEPTH, Node, Table, Value};

/// Applies one override to the tree. Problems point into the override's text.
pub(crate) fn apply(root: &mut Node, path: &str, value: &str, problems: &mut Problems) {
    let text = format!("{path}={value}");
    let source = problems.source("--set", &text);
    let steps = match split(path, source) {
        Ok(steps) => steps,
        Err(problem) => return problems.add(*problem),
    };
    let shift = path.len() + 1;
    let before = problems.count();
    let node = tree::from_toml_value(value, source, shift, problems);
    if problems.count() > before {
        return;
    }
    let mut node = node.unwrap_or_else(|| Node { place: None, value: Value::Text(value.to_owned()) });
    node.place = Place::new(source, shift..text.len());
    if let Value::Date(text) = node.value {
        node.value = Value::Text(text);
    }
    if let Err(problem) = set(root, &steps, node) {
        problems.add(*problem);
    }
}

/// Whether a path leads to one copy of an element that stands for many, `link.line-3.rate`: it is there once elements are
/// repeated.
pub(crate) fn is_of_a_copy(root: &Node, path: &str) -> bool {
    let Ok(steps) = split(path, 0) else { return false };
    let [section, name, ..] = &steps[..] else { return false };
    let elements = root.table().and_then(|table| table.get(section.name)?.list()).unwrap_or_default();
    elements.iter().all(|element| element.name() != Some(name.name))
        && elements.iter().filter_map(Node::name).any(|pattern| repeat::is_copy(pattern, name.name))
}

struct Step<'a> {
    name: &'a str,
    place: Option<Place>,
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
        steps.push(Step { name, place: place(start, start + length) });
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

fn set(root: &mut Node, steps: &[Step<'_>], value: Node) -> Result<(), Box<Problem>> {
    let mut at = root;
    let mut value = Some(value);
    for (depth, step) in steps.iter().enumerate() {
        let taken = &steps[..depth];
        let last = depth + 1 == steps.len();
        let noun = at.noun();
        at = match &mut at.value {
            Value::Table(table) => {
                let index = match table.entries.iter().position(|e| *e.key == *step.name) {
                    Some(index) => index,
                    None => {
                        let empty = Node { place: step.place, value: Value::Table(Table::default()) };
                        let entry = Entry { key: step.name.into(), key_place: step.place, node: empty };
                        table.entries.push(entry);
                        table.entries.len() - 1
                    }
                };
                let entry = &mut table.entries[index];
                if last {
                    entry.key_place = step.place;
                }
                &mut entry.node
            }
            Value::List(list) => {
                let index = element(list, step, taken)?;
                &mut list[index]
            }
            _ => {
                let taken = join(taken);
                let problem = Problem::new(format!("`{taken}` is {noun}, so nothing can be set inside it"));
                let help = format!("set `{taken}` as a whole, for example to a table {{ ... }}");
                return Err(problem.at(step.place).help(help).into());
            }
        };
        if last && let Some(value) = value.take() {
            *at = value;
            break;
        }
    }
    Ok(())
}

/// The index of the element that a step names: by `name`, else by number.
fn element(list: &[Node], step: &Step<'_>, taken: &[Step<'_>]) -> Result<usize, Box<Problem>> {
    if let Some(index) = list.iter().position(|node| node.name() == Some(step.name)) {
        return Ok(index);
    }
    if let Some(index) = step.name.parse::<usize>().ok().filter(|&index| index < list.len()) {
        return Ok(index);
    }
    let names = || list.iter().filter_map(Node::name);
    let problem = Problem::new(format!("`{}` has no element `{}`", join(taken), step.name)).at(step.place);
    let mut help = String::new();
    if let Some(meant) = nearest(step.name, names()) {
        help = format!("did you mean `{meant}`? ");
    }
    if names().next().is_some() {
        help += &format!("Its elements: {}, or their numbers from 0", alternatives(names()));
    } else if list.is_empty() {
        help += "It is an empty list";
    } else {
        help += &format!("Its elements have numbers from 0 to {}", list.len() - 1);
    }
    Err(problem.help(help).into())
}

fn join(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for (i, step) in steps.iter().enumerate() {
        if i > 0 {
            path.push('.');
        }
        // Writing to a string cannot fail.
        let _ = write_step(&mut path, step.name);
    }
    path
}
