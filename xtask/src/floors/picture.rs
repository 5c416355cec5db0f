//! The picture of the floors in ARCHITECTURE.md, drawn from the real dependencies.

use super::table::FLOORS;
use crate::workspace::Member;
use std::collections::{BTreeMap, BTreeSet};

const BEGIN: &str = "<!-- floors: drawn by `cargo xtask floors --write` -->";
const END: &str = "<!-- floors: end -->";

/// The text block: one line per crate, highest floor first, then what stands beside the floors.
pub(crate) fn draw(members: &BTreeMap<String, Member>) -> String {
    let width = members.keys().map(String::len).max().unwrap_or_default();
    let mut lines = vec![format!("floor  {:width$}  holds", "crate")];
    let mut last = None;
    for floor in FLOORS {
        let Some(member) = members.get(floor.name) else { continue };
        if last.is_some_and(|last| last != floor.floor) {
            lines.push(format!("  {:─<1$}", "", width + 60));
        }
        last = Some(floor.floor);
        lines.push(format!("    {}  {:width$}  {}", floor.floor, floor.name, floor.holds));
        lines.extend(uses("uses", &member.uses, members, width));
        lines.extend(uses("its tests use", &member.tests_use, members, width));
    }
    lines.push(format!("  {:═<1$}", "", width + 60));
    for (name, member) in members.iter().filter(|(name, _)| !stands(name)) {
        lines.push(format!("beside {name:width$}  {}", member.folder));
        lines.extend(uses("uses", &member.uses, members, width));
        lines.extend(uses("its tests use", &member.tests_use, members, width));
    }
    lines.join("\n")
}

fn stands(name: &str) -> bool {
    FLOORS.iter().any(|floor| floor.name == name)
}

/// A line of the crates of the workspace among `names`, highest floor first; none when there are none.
fn uses(
    word: &str,
    names: &BTreeSet<String>,
    members: &BTreeMap<String, Member>,
    width: usize,
) -> Option<String> {
    let ours = FLOORS.iter().map(|floor| floor.name).filter(|name| names.contains(*name));
    let others =
        names.iter().map(String::as_str).filter(|n| members.contains_key(*n) && !stands(n));
    let list: Vec<&str> = ours.chain(others).collect();
    (!list.is_empty()).then(|| format!("       {:width$}  {word}: {}", "", list.join(", ")))
}

/// The page with the picture between its markers replaced; `None` without markers.
pub(crate) fn replaced(page: &str, picture: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n```text\n{picture}\n```\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(folder: &str, uses: &[&str], tests_use: &[&str]) -> Member {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        Member { folder: folder.to_owned(), uses: names(uses), tests_use: names(tests_use) }
    }

    #[test]
    fn the_picture_shows_our_crates_from_the_top() {
        let members = BTreeMap::from([
            ("engine".to_owned(), member("crates/engine", &["jiff"], &["proptest"])),
            ("api".to_owned(), member("crates/api", &["engine", "serde"], &["simcluster"])),
            ("simcluster".to_owned(), member("crates/simcluster", &[], &[])),
            ("xtask".to_owned(), member("xtask", &["api"], &[])),
        ]);
        let picture = draw(&members);
        let place = |text: &str| picture.find(text).unwrap_or_else(|| panic!("{text}\n{picture}"));
        assert!(place("    1  api") < place("uses: engine"));
        assert!(place("uses: engine") < place("its tests use: simcluster"));
        assert!(place("its tests use: simcluster") < place("    0  engine"));
        assert!(place("    0  simcluster") < place("beside xtask"));
        assert!(!picture.contains("jiff") && !picture.contains("proptest"));
    }

    #[test]
    fn only_what_lies_between_the_markers_changes() {
        let page = format!("# Before\n{BEGIN}\nold\n{END}\nafter\n");
        let drawn = replaced(&page, "new").unwrap();
        assert_eq!(drawn, format!("# Before\n{BEGIN}\n```text\nnew\n```\n{END}\nafter\n"));
        assert_eq!(replaced(&drawn, "new").as_deref(), Some(drawn.as_str()));
        assert_eq!(replaced("no markers", "new"), None);
    }
}
