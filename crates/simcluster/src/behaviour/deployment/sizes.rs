//! How large each ReplicaSet of a Deployment is to be. Plain numbers in, plain numbers out.

use super::bounds::Bounds;

/// What counts of one ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Its name.
    pub name: String,
    /// When it was made, as the API writes it.
    pub created: String,
    /// Its `spec.replicas`.
    pub replicas: i64,
    /// Its `status.availableReplicas`.
    pub available: i64,
    /// Annotation `deployment.kubernetes.io/desired-replicas`.
    pub desired: Option<i64>,
    /// Annotation `deployment.kubernetes.io/max-replicas`.
    pub most: Option<i64>,
}

/// One ReplicaSet is to have another size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resize {
    /// Which.
    pub name: String,
    /// To how many.
    pub to: i64,
    /// Whether its annotations are brought up to date though the size stays.
    pub always: bool,
}

fn resize(size: &Size, to: i64) -> Resize {
    Resize { name: size.name.clone(), to, always: false }
}

fn total(sizes: &[Size]) -> i64 {
    sizes.iter().map(|size| size.replicas).sum()
}

/// How large a new ReplicaSet may be, of `now` size at present, beside the others.
pub fn room(bounds: Bounds, now: i64, others: &[Size]) -> i64 {
    if !bounds.rolling {
        return bounds.replicas;
    }
    let left = bounds.most() - now - total(others);
    if left <= 0 { now } else { now + left.min(bounds.replicas - now) }
}

/// The next step of a rolling update: up with the new one if there is room, else down with old
/// ones as far as enough Pods stay available. `old` from the oldest to the newest.
pub fn roll(bounds: Bounds, new: &Size, old: &[Size]) -> Vec<Resize> {
    if new.replicas != bounds.replicas {
        let to = room(bounds, new.replicas, old).min(bounds.replicas);
        if to != new.replicas {
            return vec![resize(new, to)];
        }
    }
    let mut old: Vec<Size> = old.iter().filter(|size| size.replicas > 0).cloned().collect();
    let waiting = new.replicas - new.available;
    let spare = new.replicas + total(&old) - bounds.fewest() - waiting;
    if old.is_empty() || spare <= 0 {
        return Vec::new();
    }
    let mut out = Vec::new();
    if sick(&mut old, spare, &mut out) {
        out.extend(healthy(bounds, new, &old));
    }
    out
}

/// Pods of old ones that are not available go first: nobody misses them. Says whether it got to the
/// end: it gives up at one that still counts more available Pods than it is to have.
fn sick(old: &mut [Size], most: i64, out: &mut Vec<Resize>) -> bool {
    let mut gone = 0;
    for size in old.iter_mut() {
        if gone >= most {
            break;
        }
        let down = (most - gone).min(size.replicas - size.available);
        if down < 0 {
            return false;
        }
        if down > 0 {
            gone += down;
            size.replicas -= down;
            out.push(resize(size, size.replicas));
        }
    }
    true
}

fn healthy(bounds: Bounds, new: &Size, old: &[Size]) -> Vec<Resize> {
    let available: i64 = new.available + old.iter().map(|size| size.available).sum::<i64>();
    let mut left = available - bounds.fewest();
    let mut out = Vec::new();
    for size in old.iter().filter(|size| size.replicas > 0) {
        if left <= 0 {
            break;
        }
        let down = size.replicas.min(left);
        left -= down;
        out.push(resize(size, size.replicas - down));
    }
    out
}

/// What a change of the Deployment's own number comes to, in the midst of a rollout or while it is
/// paused: each active ReplicaSet gets its share, so that the rollout stays where it is. `new` may
/// not be there; `old` from the oldest to the newest; `counted` is the Deployment's
/// `status.replicas`.
pub fn scale(bounds: Bounds, new: Option<&Size>, old: &[Size], counted: i64) -> Vec<Resize> {
    let mut active: Vec<&Size> = old.iter().chain(new).filter(|size| size.replicas > 0).collect();
    // The new one may be older than the others, if it was one before.
    active.sort_by(|a, b| (&a.created, &a.name).cmp(&(&b.created, &b.name)));
    if active.len() <= 1 {
        let only = active.pop().or(new).or(old.last());
        let changed = only.filter(|size| size.replicas != bounds.replicas);
        return changed.map(|size| resize(size, bounds.replicas)).into_iter().collect();
    }
    if new.is_some_and(|new| saturated(bounds, new)) {
        return old.iter().filter(|size| size.replicas > 0).map(|size| resize(size, 0)).collect();
    }
    if bounds.rolling { share(bounds, &active, counted) } else { Vec::new() }
}

fn saturated(bounds: Bounds, new: &Size) -> bool {
    new.desired == Some(bounds.replicas)
        && new.replicas == bounds.replicas
        && new.available == bounds.replicas
}

/// Shares out what there is to add or take, the largest first; leftovers are the largest one's.
fn share(bounds: Bounds, active: &[&Size], counted: i64) -> Vec<Resize> {
    let allowed = if bounds.replicas > 0 { bounds.most() } else { 0 };
    let to_add = allowed - active.iter().map(|size| size.replicas).sum::<i64>();
    let mut sizes: Vec<&Size> = active.to_vec();
    if to_add > 0 {
        sizes.reverse();
    }
    if to_add != 0 {
        // Stable: of equal ones the newest comes first on the way up, the oldest on the way down.
        sizes.sort_by_key(|size| -size.replicas);
    }
    let mut added = 0;
    let mut out: Vec<Resize> = sizes
        .iter()
        .map(|size| {
            let part = portion(bounds, size, to_add, added, counted);
            added += part;
            Resize { name: size.name.clone(), to: size.replicas + part, always: true }
        })
        .collect();
    if let Some(first) = out.first_mut() {
        first.to = (first.to + to_add - added).max(0);
    }
    out
}

fn portion(bounds: Bounds, size: &Size, to_add: i64, added: i64, counted: i64) -> i64 {
    if to_add == 0 || to_add == added {
        return 0;
    }
    let fraction = if bounds.replicas == 0 {
        -size.replicas
    } else {
        let before = size.most.filter(|most| *most != 0).unwrap_or(counted);
        if before == 0 {
            return 0;
        }
        rounded(size.replicas * bounds.most(), before) - size.replicas
    };
    let left = to_add - added;
    if to_add > 0 { fraction.min(left) } else { fraction.max(left) }
}

/// To the nearest whole number, a half upwards.
fn rounded(part: i64, whole: i64) -> i64 {
    (2 * part + whole).div_euclid(2 * whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(replicas: i64, surge: i64, unavailable: i64) -> Bounds {
        Bounds { replicas, surge, unavailable, rolling: true }
    }

    /// `name replicas/available`, with the annotations of a Deployment of `whole` Pods.
    fn size(name: &str, replicas: i64, available: i64, whole: (i64, i64)) -> Size {
        let (desired, most) = (Some(whole.0), Some(whole.1));
        Size { name: name.to_owned(), created: name.to_owned(), replicas, available, desired, most }
    }

    fn told(resizes: Vec<Resize>) -> Vec<(String, i64)> {
        resizes.into_iter().map(|one| (one.name, one.to)).collect()
    }

    #[track_caller]
    fn check_roll(bounds: Bounds, new: (i64, i64), old: &[(i64, i64)], expect: &[(&str, i64)]) {
        let new = size("new", new.0, new.1, (0, 0));
        let names = ["a", "b", "c"];
        let old: Vec<Size> =
            old.iter().zip(names).map(|(one, name)| size(name, one.0, one.1, (0, 0))).collect();
        let expect: Vec<_> = expect.iter().map(|(name, to)| ((*name).to_owned(), *to)).collect();
        assert_eq!(told(roll(bounds, &new, &old)), expect);
    }

    #[test]
    fn the_new_one_grows_into_the_surge_and_the_old_ones_shrink_behind_it() {
        let b = bounds(10, 3, 2);
        check_roll(b, (0, 0), &[(10, 10)], &[("new", 3)]);
        check_roll(b, (3, 0), &[(10, 10)], &[("a", 8)]);
        check_roll(b, (3, 0), &[(8, 8)], &[("new", 5)]);
        check_roll(b, (5, 0), &[(8, 8)], &[]);
        check_roll(b, (5, 2), &[(8, 8)], &[("a", 6)]);
        check_roll(b, (10, 8), &[(3, 3)], &[("a", 0)]);
        check_roll(b, (10, 10), &[(0, 0)], &[]);
    }

    #[test]
    fn old_pods_that_are_not_available_go_first() {
        check_roll(bounds(10, 3, 2), (3, 0), &[(4, 2), (6, 6)], &[("a", 2)]);
        // A rollback out of the midst of a rollout that is stuck.
        check_roll(bounds(10, 3, 2), (8, 7), &[(5, 0)], &[("a", 1)]);
    }

    #[test]
    fn one_that_is_too_large_shrinks_to_the_wanted_number() {
        check_roll(bounds(2, 1, 0), (5, 5), &[], &[("new", 2)]);
    }

    #[test]
    fn without_surge_an_old_one_goes_first() {
        check_roll(bounds(1, 0, 1), (0, 0), &[(1, 1)], &[("a", 0)]);
        check_roll(bounds(1, 0, 1), (0, 0), &[(0, 1)], &[("new", 1)]);
    }

    #[track_caller]
    fn check_scale(bounds: Bounds, new: Option<&Size>, old: &[Size], expect: &[(&str, i64)]) {
        let expect: Vec<_> = expect.iter().map(|(name, to)| ((*name).to_owned(), *to)).collect();
        assert_eq!(told(scale(bounds, new, old, 0)), expect);
    }

    #[test]
    fn a_single_active_one_takes_the_whole_number() {
        let one = size("new", 3, 3, (3, 4));
        check_scale(bounds(5, 2, 1), Some(&one), &[size("a", 0, 0, (3, 4))], &[("new", 5)]);
        check_scale(bounds(3, 1, 0), Some(&one), &[], &[]);
        check_scale(bounds(3, 1, 0), None, &[size("a", 0, 0, (0, 0))], &[("a", 3)]);
    }

    #[test]
    fn in_the_midst_of_a_rollout_each_gets_its_share() {
        // 10 with surge 3: 8 old and 5 new; then 15 are wanted.
        let (new, old) = (size("new", 5, 5, (10, 13)), [size("a", 8, 8, (10, 13))]);
        let b = bounds(15, 3, 2);
        check_scale(b, Some(&new), &old, &[("a", 11), ("new", 7)]);
        check_scale(bounds(5, 3, 2), Some(&new), &old, &[("a", 5), ("new", 3)]);
        check_scale(bounds(0, 3, 2), Some(&new), &old, &[("a", 0), ("new", 0)]);
    }

    #[test]
    fn a_saturated_new_one_ends_the_old_ones() {
        let (new, old) = (size("new", 3, 3, (3, 4)), [size("a", 1, 1, (3, 4))]);
        check_scale(bounds(3, 1, 0), Some(&new), &old, &[("a", 0)]);
    }

    #[test]
    fn under_recreate_two_active_ones_are_left_alone() {
        let b = Bounds { replicas: 9, surge: 0, unavailable: 0, rolling: false };
        let (new, old) = (size("new", 2, 2, (3, 4)), [size("a", 1, 1, (3, 4))]);
        check_scale(b, Some(&new), &old, &[]);
    }
}
