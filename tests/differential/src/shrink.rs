//! Makes a failing sequence short: drops operations while it still fails.

use std::future::Future;

/// The indices that are left when none of them can go; at most `tries` attempts.
///
/// `fails` is asked about a choice of indices, in ascending order.
pub async fn shrink<F: Future<Output = bool>>(
    mut kept: Vec<usize>,
    mut tries: usize,
    mut fails: impl FnMut(Vec<usize>) -> F,
) -> Vec<usize> {
    let mut size = kept.len().div_ceil(2);
    while size > 0 && tries > 0 {
        let mut start = 0;
        while start < kept.len() && tries > 0 {
            let end = (start + size).min(kept.len());
            let without: Vec<usize> = kept[..start].iter().chain(&kept[end..]).copied().collect();
            tries -= 1;
            if !without.is_empty() && fails(without.clone()).await {
                kept = without;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(length: usize, needed: &[usize]) {
        let all: Vec<usize> = (0..length).collect();
        let fails =
            |kept: Vec<usize>| std::future::ready(needed.iter().all(|index| kept.contains(index)));
        let left = futures::executor::block_on(shrink(all, 1_000, fails));
        assert_eq!(left, needed);
    }

    #[test]
    fn what_a_failure_needs_is_what_is_left() {
        check(1, &[0]);
        check(14, &[3]);
        check(14, &[0, 13]);
        check(40, &[5, 6, 30]);
    }
}
