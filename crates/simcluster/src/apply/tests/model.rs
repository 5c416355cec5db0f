//! Generated applies against what is promised of them.

use super::*;

/// Sets of paths, small enough to overlap often.
fn some_set() -> impl proptest::strategy::Strategy<Value = FieldSet> {
    let path = proptest::collection::vec("[ab]", 1..4);
    proptest::strategy::Strategy::prop_map(proptest::collection::vec(path, 0..6), |paths| {
        let mut set = FieldSet::default();
        for path in paths {
            let mut at = &mut set;
            for segment in path {
                at = at.below(&format!("f:{segment}"));
            }
            at.member = true;
        }
        set
    })
}

type Data = std::collections::BTreeMap<String, String>;

/// What server-side apply promises, in a few lines: a key stays while somebody wants it, and whoever
/// last wanted another value is its only owner.
#[derive(Default)]
struct Model(
    std::collections::BTreeMap<String, (String, std::collections::BTreeSet<&'static str>)>,
);

impl Model {
    fn apply(&mut self, manager: &'static str, data: &Data) {
        for (key, value) in data {
            let entry = self.0.entry(key.clone()).or_default();
            if entry.0 != *value {
                *entry = (value.clone(), Default::default());
            }
            entry.1.insert(manager);
        }
        for (key, (_, owners)) in &mut self.0 {
            if !data.contains_key(key) {
                owners.remove(manager);
            }
        }
        self.0.retain(|_, (_, owners)| !owners.is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn forced_applies_follow_the_model(
        steps in proptest::collection::vec(
            (proptest::sample::select(vec!["ann", "bob", "cat"]),
             proptest::collection::btree_map("[abc]", "[12]", 0..3)),
            1..8,
        )
    ) {
        let map = kind("", "v1", "configmaps");
        let (mut model, mut live) = (Model::default(), None);
        for (manager, data) in steps {
            model.apply(manager, &data);
            let mut wanted = config(json!(data));
            if data.is_empty() {
                wanted.as_object_mut().expect("an object").remove("data");
            }
            let after = apply(&map, live.as_ref(), &wanted, &writer(manager, "v1"), true);
            let after = after.expect("forced");
            let expect: Data =
                model.0.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect();
            let found = after.get("data").cloned().unwrap_or_else(|| json!({}));
            proptest::prop_assert_eq!(found, json!(expect));
            for (title, fields) in owners(&after) {
                let manager = title.split(' ').next().unwrap_or_default();
                let mine = model.0.iter().filter(|(_, (_, owners))| owners.contains(manager));
                let mine: Vec<String> = mine.map(|(key, _)| format!("f:{key}")).collect();
                let found: Vec<Text> = fields["f:data"]
                    .as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
                proptest::prop_assert_eq!(found, mine);
            }
            live = Some(after);
        }
    }

    #[test]
    fn what_is_common_and_what_is_not_make_the_whole(a in some_set(), b in some_set()) {
        let whole = a.difference(&b).union(&a.intersection(&b));
        proptest::prop_assert_eq!(whole.paths(), a.paths());
        proptest::prop_assert!(a.difference(&b).intersection(&b).is_empty());
        proptest::prop_assert_eq!(a.union(&b).paths(), b.union(&a).paths());
    }

    #[test]
    fn a_set_survives_being_written(a in some_set()) {
        proptest::prop_assert_eq!(FieldSet::from_json(&a.to_json()).paths(), a.paths());
    }
}
