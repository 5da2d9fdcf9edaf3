//! The scripts of a folder.

use std::fs;
use std::path::Path;

/// Name and text of every script of a folder, by name.
pub fn scripts(folder: &str) -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&directory)
        .expect("the directory of scripts is there")
        .map(|entry| entry.expect("the directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pkt"))
        .collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = |path: &Path| fs::read_to_string(path).expect("a script can be read");
    paths.iter().map(|path| (name(path), text(path))).collect()
}
