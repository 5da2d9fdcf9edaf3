//! A digest of what the simulator is built from, for the keys of kept results: two builds with equal digests
//! give equal results, since a run depends on its scenario, seed and these files alone.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The crates that a run goes through, and this one, beside each other in `crates`.
const CRATES: [&str; 6] = ["engine", "network", "protocols", "python", "quic", "scenario"];

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut files = vec![root.join("Cargo.lock"), root.join("Cargo.toml")];
    for name in CRATES {
        let folder = root.join("crates").join(name);
        files.push(folder.join("Cargo.toml"));
        collect(&folder.join("src"), &mut files);
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        // A package made of the sources may lack the lock file.
        let octets = fs::read(file).unwrap_or_default();
        let name = file.strip_prefix(&root).expect("all lie below it").to_string_lossy().replace('\\', "/");
        digest.update(format!("{name}\0{}\0", octets.len()));
        digest.update(octets);
    }
    println!("cargo:rustc-env=ROAMSIM_BUILD={:x}", digest.finalize());
}

/// Adds the files below a folder, and has cargo look at the folder for new ones.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("the crates are there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
