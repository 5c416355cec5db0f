//! How often the driver looks, and in which order.

use super::*;

#[test]
fn one_seed_makes_one_history_and_another_makes_another() {
    let run = |seed| {
        let mut lab = Lab::with_set(seed, 5, |_| ());
        lab.create(BUDGETS, budget(&json!(2)));
        lab.pass(5);
        lab.set_image("app:v2");
        lab.pass(1);
        lab.evict(4).unwrap();
        lab.evict(3).unwrap();
        lab.pass(30);
        (lab.picture(), lab.driver.looks())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
}

#[test]
fn slow_controllers_notice_late_and_come_to_the_same_end() {
    let run = |factor| {
        let mut lab = Lab::with_set(22, 4, |_| ());
        lab.create(BUDGETS, budget(&json!(1)));
        lab.pass(60);
        lab.driver = lab.driver.slowed(factor);
        lab.set_image("app:v2");
        lab.evict(3).unwrap();
        let seconds = (1..=300).find(|_| {
            lab.pass(1);
            lab.evict(2) == Ok(())
        });
        lab.pass(300);
        (seconds.unwrap(), lab.images(), lab.status()["readyReplicas"].clone())
    };
    let (quick, slow) = (run(1), run(200));
    assert!(quick.0 <= 4 && slow.0 > 2 * quick.0, "{quick:?} {slow:?}");
    assert_eq!((quick.1, quick.2), (slow.1, slow.2));
}

#[test]
fn a_cluster_at_rest_takes_no_look_at_all() {
    let mut lab = Lab::with_set(14, 3, |_| ());
    lab.create(BUDGETS, budget(&json!(1)));
    lab.pass(300);
    let (looks, revision) = (lab.driver.looks(), lab.server.view().revision());
    lab.pass(86_400);
    assert_eq!((lab.driver.looks(), lab.server.view().revision()), (looks, revision));
}

#[test]
fn a_log_cut_behind_the_drivers_back_loses_nothing() {
    let mut lab = Lab::with_set(15, 2, |_| ());
    lab.delete(&pod_key(1), None);
    lab.server.lock().store.compact();
    lab.pass(60);
    assert_eq!(lab.status()["readyReplicas"], 2);
}

#[test]
fn a_rollout_of_a_thousand_pods_takes_few_looks_a_pod() {
    let mut lab = Lab::with_set(16, 1000, |_| ());
    lab.create(BUDGETS, budget(&json!("10%")));
    lab.set_image("app:v2");
    lab.pass(5);
    let looks = lab.driver.looks();
    for wave in 0..10 {
        for ordinal in wave * 100..(wave + 1) * 100 {
            lab.evict(ordinal).unwrap();
        }
        lab.pass(10);
    }
    assert_eq!(lab.status()["updatedReplicas"], 1000);
    let each = (lab.driver.looks() - looks) / 1000;
    assert!(each <= 20, "{each} looks a Pod");
}

#[test]
fn the_driver_runs_on_tokios_paused_clock() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let lab = Lab::new(17);
        let begun = tokio::time::Instant::now();
        let clock: Clock =
            Arc::new(move || start() + SignedDuration::try_from(begun.elapsed()).unwrap());
        tokio::spawn(lab.driver.drive(clock.clone()));
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let object = json!({
            "metadata": {"name": "web-0", "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
        });
        lab.server.commit(Write::Create { collection: PODS, object }, "test", clock()).unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        let pod = lab.server.view().get(&pod_key(0)).unwrap().clone();
        assert!(pod::is_ready(&pod), "{pod}");
    });
}
