//! How many owners are kept.

use super::entries::Entry;

/// The most managers that update, besides those that apply, and who gets the fields of the rest.
const MOST_UPDATERS: usize = 10;
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest entries of more managers than are kept, those of one version into one.
pub(super) fn cap(owners: &mut Vec<Entry>) {
    owners.retain(|owner| !owner.fields.is_empty());
    let mut updaters: Vec<Entry> = Vec::new();
    for owner in owners.iter().filter(|owner| !owner.applies) {
        updaters.push(owner.clone());
    }
    let mut length = updaters.len();
    if length <= MOST_UPDATERS {
        return;
    }
    updaters.sort_by_key(|owner| (owner.time.clone(), owner.identifier()));
    let mut first: Vec<Entry> = Vec::new();
    for mut owner in updaters {
        if length <= MOST_UPDATERS {
            break;
        }
        let Some(place) = first.iter().position(|one| one.api_version == owner.api_version) else {
            first.push(owner);
            continue;
        };
        let mut bucket = Entry {
            manager: ANCIENT.to_owned(),
            subresource: String::new(),
            ..first[place].clone()
        };
        owners.retain(|one| !one.same_manager(&owner));
        if let Some(known) = owners.iter_mut().find(|one| one.same_manager(&bucket)) {
            known.fields.set().absorb(owner.fields.set());
            known.time = owner.time;
        } else {
            let one = first[place].clone();
            owners.retain(|other| !other.same_manager(&one));
            bucket.fields.set().absorb(owner.fields.set());
            bucket.time = owner.time;
            owners.push(bucket);
        }
        length -= 1;
    }
}
