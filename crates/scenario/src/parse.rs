//! Reading a scenario: text, tree, overrides, files, repetition, profiles, model, validation.

use crate::diagnostics::{Diagnostics, Problems};
use crate::transport::tcp::profile;
use crate::tree::{self, Node};
use crate::{Scenario, decode, files, overrides, repeat, validate};

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
    /// `source_name` is what reports call the text, usually a file's name. `overrides` are pairs of path and value,
    /// applied in their order. Everything that is wrong is reported at once, as far as it can be known.
    pub fn parse(
        text: &str,
        source_name: &str,
        format: Format,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Diagnostics> {
        let mut problems = Problems::default();
        let scenario = read(text, source_name, format, overrides, &mut problems);
        match scenario {
            Some(scenario) if problems.count() == 0 => {
                Ok(Scenario { warnings: problems.warnings(), ..scenario })
            }
            _ => Err(problems.into_diagnostics()),
        }
    }
}

fn read(
    text: &str,
    source_name: &str,
    format: Format,
    overrides: &[(String, String)],
    problems: &mut Problems,
) -> Option<Scenario> {
    // Of JSON only an error shows the text, which is long where a program has written it.
    let kept = if format == Format::Toml { text } else { "" };
    let source = problems.source(source_name, kept);
    let mut root = match format {
        Format::Toml => tree::from_toml(text, source, problems),
        Format::Json => tree::from_json(text, source, problems),
    }?;
    let of_a_copy: Vec<bool> =
        overrides.iter().map(|(path, _)| overrides::is_of_a_copy(&root, path)).collect();
    let set = |root: &mut Node, copies: bool, problems: &mut Problems| {
        for ((path, value), _) in
            overrides.iter().zip(&of_a_copy).filter(|(_, of_a_copy)| **of_a_copy == copies)
        {
            overrides::apply(root, path, value, problems);
        }
    };
    set(&mut root, false, problems);
    files::apply(&mut root, source_name, problems);
    let written = repeat::is_meant(&root).then(|| root.canonical_json());
    let before = problems.count();
    let repeated = repeat::apply(&mut root, problems);
    if problems.count() > before {
        return None;
    }
    if repeated {
        set(&mut root, true, problems);
        // What the number of a copy chooses from a file.
        files::apply(&mut root, source_name, problems);
        problems.fold_copies();
    }
    profile::apply(&mut root);
    let mut scenario: Scenario = decode::decode(&root, repeated, problems)?;
    if problems.count() == 0 {
        validate::validate(&scenario, &root, problems);
    }
    scenario.canonical = root.into_canonical_json();
    // One copy that was set has no place in a tree without copies.
    scenario.written = written.filter(|_| repeated && !of_a_copy.contains(&true));
    Some(scenario)
}
