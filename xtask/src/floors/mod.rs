//! `cargo xtask floors`: the walls between the crates, checked on the real dependencies.

mod picture;
mod source;
mod table;

use crate::workspace::{self, Member};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use table::{FLOORS, Floor};

const PAGE: &str = "ARCHITECTURE.md";

/// Fails with everything that breaks a rule, and when the picture is stale.
pub(crate) fn check() -> anyhow::Result<()> {
    let members = workspace::members()?;
    let mut wrong = misplaced(&members);
    for floor in FLOORS.iter().filter(|floor| members.contains_key(floor.name)) {
        wrong.extend(walls(floor, &members[floor.name])?);
    }
    for member in members.values() {
        wrong.extend(lengths(member)?);
    }
    let page = workspace::read(PAGE)?;
    if drawn(&page, &members)? != page {
        wrong.push(format!("{PAGE}: stale picture; run `cargo xtask floors --write`"));
    }
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("\n")) }
}

/// Draws the picture into ARCHITECTURE.md.
pub(crate) fn write() -> anyhow::Result<()> {
    let members = workspace::members()?;
    let page = workspace::read(PAGE)?;
    let fresh = drawn(&page, &members)?;
    if fresh != page {
        std::fs::write(workspace::root().join(PAGE), fresh).context(PAGE)?;
        println!("wrote {PAGE}");
    }
    Ok(())
}

fn drawn(page: &str, members: &BTreeMap<String, Member>) -> anyhow::Result<String> {
    picture::replaced(page, &picture::draw(members))
        .with_context(|| format!("{PAGE} has lost the markers around its picture"))
}

/// Crates without a floor, and uses that don't lead down.
fn misplaced(members: &BTreeMap<String, Member>) -> Vec<String> {
    let floor_of = |name: &str| FLOORS.iter().find(|floor| floor.name == name);
    let mut wrong = Vec::new();
    for (name, member) in members.iter().filter(|(_, m)| m.folder.starts_with("crates/")) {
        let Some(own) = floor_of(name) else {
            wrong.push(format!("{name}: has no floor; give it one in xtask/src/floors/table.rs"));
            continue;
        };
        for used in member.uses.iter().filter(|used| members.contains_key(*used)) {
            match floor_of(used) {
                Some(other) if other.floor < own.floor => {}
                Some(other) => wrong.push(format!(
                    "{name} (floor {}) uses {used} (floor {}); only lower floors may be used",
                    own.floor, other.floor
                )),
                None => wrong.push(format!("{name} uses {used}, which stands beside the floors")),
            }
        }
        for kept_out in own.must_not_name.iter().filter(|kept_out| member.uses.contains(**kept_out))
        {
            wrong.push(format!("{name} names {kept_out} in its Cargo.toml, which it must not"));
        }
    }
    wrong
}

/// What a crate reaches or says that it must not.
fn walls(floor: &Floor, member: &Member) -> anyhow::Result<Vec<String>> {
    let name = floor.name;
    let reached = workspace::reaches(name)?;
    let mut wrong: Vec<String> = floor
        .must_not_reach
        .iter()
        .filter(|kept_out| reached.contains(**kept_out))
        .map(|kept_out| {
            format!("{name} reaches {kept_out}; see `cargo tree -p {name} -i {kept_out} -e normal`")
        })
        .collect();
    for path in workspace::sources(&format!("{}/src", member.folder))? {
        if source::is_test_file(&path) {
            continue;
        }
        if let Some((line, word)) = source::says(&workspace::read(&path)?, floor.must_not_say) {
            wrong.push(format!("{path}:{line}: {name} must not say {word}"));
        }
    }
    Ok(wrong)
}

/// Files past the hard limit; those past the soft one are printed as warnings.
fn lengths(member: &Member) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for path in workspace::sources(&member.folder)? {
        if source::is_test_file(&path) {
            continue;
        }
        let length = source::without_tests(&workspace::read(&path)?).len();
        if length > source::TOO_LONG {
            wrong.push(format!("{path}: {length} lines, more than {}", source::TOO_LONG));
        } else if length > source::LONG {
            println!("warning: {path}: {length} lines; look for the second idea in it");
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uses: &[(&str, &[&str])], expect: &[&str]) {
        let members = uses
            .iter()
            .map(|(name, uses)| {
                let uses = uses.iter().map(|used| (*used).to_owned()).collect();
                let folder = format!("crates/{name}");
                ((*name).to_owned(), Member { folder, uses, ..Member::default() })
            })
            .collect();
        assert_eq!(misplaced(&members), expect, "{uses:?}");
    }

    #[test]
    fn a_crate_uses_lower_floors_only() {
        check(&[("engine", &[]), ("api", &["engine", "serde"])], &[]);
        check(
            &[("engine", &["api"]), ("api", &[])],
            &["engine (floor 0) uses api (floor 1); only lower floors may be used"],
        );
        check(
            &[("engine", &["simcluster"]), ("simcluster", &[])],
            &["engine (floor 0) uses simcluster (floor 0); only lower floors may be used"],
        );
    }

    #[test]
    fn a_crate_without_a_floor_is_refused() {
        check(&[("bell", &[])], &["bell: has no floor; give it one in xtask/src/floors/table.rs"]);
    }

    #[test]
    fn what_a_crate_must_not_name_is_refused() {
        check(
            &[("operator", &["engine"]), ("engine", &[])],
            &["operator names engine in its Cargo.toml, which it must not"],
        );
    }
}
