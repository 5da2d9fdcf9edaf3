//! Writes `docs/reference/scenario.md` and the pages below it from the schema. Run it from the workspace's
//! folder.

fn main() -> std::io::Result<()> {
    let folder = std::path::Path::new("docs/reference");
    // A table that is gone leaves no page.
    if folder.join("scenario").exists() {
        std::fs::remove_dir_all(folder.join("scenario"))?;
    }
    std::fs::create_dir_all(folder.join("scenario"))?;
    for (name, text) in roamsim_scenario::schema_pages() {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}
