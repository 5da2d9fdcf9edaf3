//! Reading a scenario: text, tree, overrides, files, repetition, stacks, model, validation.

use crate::diagnostics::{Diagnostics, Problem, Problems};
use crate::files::Folder;
use crate::scenario::Scenario;
use crate::schema;
use crate::transport::tcp::{control, stack};
use crate::tree::{self, MAX_BYTES, Tree};
use crate::{decode, files, overrides, repeat, validate};

/// The notation of a scenario's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1, as in files.
    Toml,
    /// JSON, as from a Python dictionary: the same tree. A `null` leaves its key out.
    Json,
}

impl Scenario {
    /// Reads and validates a scenario.
    ///
    /// `source_name` is what reports call the text, usually a file's name. `overrides` are pairs of path and
    /// value, applied in their order. Everything that is wrong is reported at once, as far as it can be
    /// known.
    pub fn parse(
        text: &str,
        source_name: &str,
        format: Format,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Diagnostics> {
        Scenario::parse_in(&Folder::of(source_name), text, source_name, format, overrides)
    }

    /// `parse`, with files from this folder instead of the one of `source_name`.
    pub fn parse_in(
        folder: &Folder,
        text: &str,
        source_name: &str,
        format: Format,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Diagnostics> {
        let mut problems = Problems::default();
        let scenario = read(folder, text, source_name, format, overrides, &mut problems);
        match scenario {
            Some(scenario) if problems.count() == 0 => {
                Ok(Scenario { warnings: problems.warnings(), ..scenario })
            }
            _ => Err(problems.into_diagnostics()),
        }
    }
}

fn read(
    folder: &Folder,
    text: &str,
    source_name: &str,
    format: Format,
    overrides: &[(String, String)],
    problems: &mut Problems,
) -> Option<Scenario> {
    let is_too_large = text.len() > MAX_BYTES;
    // Of JSON only an error shows the text, which is long where a program has written it.
    let kept = if format == Format::Toml && !is_too_large { text } else { "" };
    let source = problems.source(source_name, kept);
    if is_too_large {
        problems.add(Problem::new("this scenario is too large").help("a scenario has 4 GiB at most"));
        return None;
    }
    let mut tree = match format {
        Format::Toml => tree::from_toml(text, source, problems),
        Format::Json => tree::from_json(text, source, problems),
    }?;
    let split = |(path, value): &(String, String)| {
        overrides::joined(path).into_iter().map(|path| (path.to_owned(), value.clone())).collect::<Vec<_>>()
    };
    let overrides: Vec<(String, String)> = overrides.iter().flat_map(split).collect();
    let of_a_copy: Vec<bool> =
        overrides.iter().map(|(path, _)| overrides::is_of_a_copy(&tree, path)).collect();
    let set = |tree: &mut Tree, copies: bool, problems: &mut Problems| {
        for ((path, value), _) in
            overrides.iter().zip(&of_a_copy).filter(|(_, of_a_copy)| **of_a_copy == copies)
        {
            overrides::apply(tree, path, value, problems);
        }
    };
    set(&mut tree, false, problems);
    files::apply(&mut tree, folder, problems);
    let written = repeat::is_meant(&tree).then(|| tree.root().canonical_json());
    let before = problems.count();
    let repeated = repeat::apply(&mut tree, problems);
    if problems.count() > before {
        return None;
    }
    if repeated {
        set(&mut tree, true, problems);
        // What the number of a copy chooses from a file.
        files::apply(&mut tree, folder, problems);
        problems.fold_copies();
    }
    stack::apply(&mut tree);
    control::apply(&mut tree);
    let mut scenario: Scenario = decode::decode(tree.root(), repeated, schema::other_kinds, problems)?;
    scenario.share_names();
    scenario.imply();
    if problems.count() == 0 {
        validate::validate(&scenario, tree.root(), problems);
    }
    // Memory takes all that is written to it.
    tree.root().write_json(&mut scenario.canonical).ok();
    scenario.canonical.shrink();
    // One copy that was set has no place in a tree without copies.
    scenario.written = written.filter(|_| repeated && !of_a_copy.contains(&true));
    Some(scenario)
}
