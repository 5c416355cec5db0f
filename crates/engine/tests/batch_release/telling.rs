use engine::front::batch_release::{Phase, Target, news};
use engine::nature::Nature;

use crate::fixture::{Fixture, ago, partition, set};

/// What one look tells: reasons, with `!` where a person ought to look.
fn told(fixture: &Fixture) -> String {
    let news = news(&fixture.world.status, &fixture.decide().status);
    let told = news.iter().map(|it| format!("{}{}", it.reason, if it.warning { "!" } else { "" }));
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_batch_is_told_once() {
    let ready = set(5).strategy(partition(4)).updated(&[4]);
    assert_eq!(told(&ready), "BatchReady");
    assert_eq!(told(&ready.clone().again()), "");
    assert_eq!(told(&set(5)), "");
    let over = ready.release(|it| it.batch_partition = None).body(|body| {
        body.control = engine::front::batch_release::Control::Free;
        body.machinery = engine::front::batch_release::Machinery::Pods {
            nature: Nature::STATEFUL_SET,
            saved: None,
        };
    });
    let over = over.strategy(partition(0)).status(|it| it.phase = Some(Phase::Finalizing));
    assert_eq!(told(&over), "ReleaseCompleted");
}

#[test]
fn what_is_wrong_is_told_once_each() {
    let gone = set(5).with(|world| world.target = Target::Missing);
    assert_eq!(told(&gone), "WorkloadNotFound!");
    assert_eq!(told(&gone.again()), "");
    let stuck = set(5).strategy(partition(4)).starting(4);
    let stuck = stuck.again().status(|status| status.last_progress = Some(ago(700)));
    assert_eq!(told(&stuck), "ProgressDeadlineExceeded!");
    assert_eq!(told(&stuck.again()), "");
    let surplus = set(10).strategy(partition(7)).updated(&[9, 8, 7]);
    assert_eq!(told(&surplus), "BatchReady MoreThanTheBatch!");
}
