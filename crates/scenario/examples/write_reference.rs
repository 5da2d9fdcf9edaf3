//! Writes `docs/reference/scenario.md` from the schema. Run it from the workspace's folder.

fn main() -> std::io::Result<()> {
    std::fs::create_dir_all("docs/reference")?;
    std::fs::write("docs/reference/scenario.md", roamsim_scenario::schema_markdown())
}
