//! The lease: taken, kept, lost by one's own clock, taken over and given back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster::elector::Leadership;
use cluster::lease::{Judgement, LeaseFacts, evaluate};
use cluster::{Clock, Durations, Elector};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::far::{Asked, Far, Reply, far};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + seconds).unwrap()
}

fn lease(holder: &str) -> LeaseFacts {
    LeaseFacts { holder: holder.into(), seconds: 15, ..LeaseFacts::default() }
}

#[test]
fn a_lease_is_judged_by_how_long_it_has_been_seen_unchanged() {
    fn check(lease: Option<&LeaseFacts>, now: i64, expect: Judgement) {
        assert_eq!(evaluate(lease, at(0), "me", at(now)), expect);
    }
    check(None, 0, Judgement::Acquire);
    check(Some(&lease("")), 0, Judgement::Acquire);
    check(Some(&lease("me")), 100, Judgement::Renew);
    check(Some(&lease("other")), 14, Judgement::Yield { until: at(15) });
    check(Some(&lease("other")), 15, Judgement::Acquire);
}

/// A server with one Lease in it.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Stored>>);

#[derive(Default)]
struct Stored {
    lease: Option<Value>,
    version: u64,
}

impl Server {
    /// A client that gets no answer while `mute` is set.
    fn client(&self, mute: Arc<AtomicBool>) -> (Client, Far) {
        let server = self.clone();
        far(
            move |asked| {
                if mute.load(Ordering::SeqCst) { Reply::Silence } else { server.answer(asked) }
            },
        )
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let mut stored = self.0.lock().unwrap();
        let method = asked.line.split(' ').next().unwrap();
        match (method, stored.lease.clone()) {
            ("GET", None) => Reply::failure(404, "leases \"sluice\" not found"),
            ("GET", Some(lease)) => Reply::ok(lease),
            ("POST", Some(_)) => Reply::failure(409, "already exists"),
            ("PUT", None) => Reply::failure(404, "not found"),
            ("PUT", Some(lease))
                if lease["metadata"]["resourceVersion"]
                    != asked.body["metadata"]["resourceVersion"] =>
            {
                Reply::failure(409, "the object has been modified")
            }
            _ => {
                stored.version += 1;
                let mut lease = asked.body.clone();
                lease["metadata"]["resourceVersion"] = json!(stored.version.to_string());
                stored.lease = Some(lease.clone());
                Reply::ok(lease)
            }
        }
    }

    fn holder(&self) -> String {
        let stored = self.0.lock().unwrap();
        LeaseFacts::read(stored.lease.as_ref().unwrap()).holder
    }
}

struct Candidate {
    hear: watch::Receiver<Leadership>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    far: Far,
    mute: Arc<AtomicBool>,
}

fn candidate(server: &Server, me: &str, clock: &Clock) -> Candidate {
    let mute = Arc::new(AtomicBool::new(false));
    let (client, far) = server.client(Arc::clone(&mute));
    let (elector, hear) =
        Elector::new(client, clock.clone(), me, "sluice-system", Durations::default(), 1);
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(elector.run(async {
        let _ = stopped.await;
    }));
    Candidate { hear, stop, task, far, mute }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_created_and_then_kept_by_one_write_every_two_seconds() {
    let (server, clock) = (Server::default(), Clock::starting_at(at(0)));
    let one = candidate(&server, "one", &clock);
    pass(1).await;
    assert!(one.hear.borrow().holds(clock.now()));
    let asked = one.far.take();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/sluice-system/leases";
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
    assert_eq!(lines, [format!("GET {leases}/sluice"), format!("POST {leases}")]);
    assert_eq!(
        asked[1].body,
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "sluice", "namespace": "sluice-system"},
            "spec": {
                "holderIdentity": "one",
                "leaseDurationSeconds": 15,
                "acquireTime": "2026-01-01T00:00:00.000000Z",
                "renewTime": "2026-01-01T00:00:00.000000Z",
                "leaseTransitions": 0,
            },
        })
    );
    pass(10).await;
    let lines = one.far.lines();
    assert!((4..=5).contains(&lines.len()), "{lines:?}");
    assert!(lines.iter().all(|line| *line == format!("PUT {leases}/sluice")), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn two_candidates_never_lead_at_once_and_a_cut_off_leader_gives_up_first() {
    let (server, clock) = (Server::default(), Clock::starting_at(at(0)));
    let one = candidate(&server, "one", &clock);
    pass(1).await;
    let two = candidate(&server, "two", &clock);
    pass(5).await;
    assert!(one.hear.borrow().leading && !two.hear.borrow().leading);
    one.mute.store(true, Ordering::SeqCst);
    let mut taken_over = None;
    for second in 0..30 {
        pass(1).await;
        let now = clock.now();
        let (first, second_leads) = (one.hear.borrow().holds(now), two.hear.borrow().holds(now));
        assert!(!(first && second_leads), "both lead after {second} s");
        if second_leads && taken_over.is_none() {
            taken_over = Some(second);
        }
    }
    assert!(taken_over.is_some_and(|seconds| (10..20).contains(&seconds)), "{taken_over:?}");
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_stops_gives_the_lease_back_and_the_next_need_not_wait() {
    let (server, clock) = (Server::default(), Clock::starting_at(at(0)));
    let one = candidate(&server, "one", &clock);
    pass(1).await;
    let two = candidate(&server, "two", &clock);
    pass(1).await;
    one.stop.send(()).unwrap();
    one.task.await.unwrap();
    assert_eq!(server.holder(), "");
    assert_eq!(*one.hear.borrow(), Leadership::NOT);
    pass(3).await;
    assert!(two.hear.borrow().holds(clock.now()));
    let stored = server.0.lock().unwrap();
    assert_eq!(stored.lease.as_ref().unwrap()["spec"]["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_was_taken_from_it_stops_at_its_next_attempt() {
    let (server, clock) = (Server::default(), Clock::starting_at(at(0)));
    let one = candidate(&server, "one", &clock);
    pass(1).await;
    {
        let mut stored = server.0.lock().unwrap();
        stored.version += 1;
        let version = stored.version.to_string();
        let lease = stored.lease.as_mut().unwrap();
        lease["spec"]["holderIdentity"] = json!("thief");
        lease["metadata"]["resourceVersion"] = json!(version);
    }
    pass(6).await;
    assert!(!one.hear.borrow().leading);
    assert_eq!(server.holder(), "thief");
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_may_not_read_leases_does_not_lead_and_goes_on_trying() {
    let clock = Clock::starting_at(at(0));
    let words = "leases.coordination.k8s.io \"sluice\" is forbidden";
    let (client, asked) = far(move |_| Reply::failure(403, words));
    let (elector, hear) =
        Elector::new(client, clock, "me", "sluice-system", Durations::default(), 1);
    let _ =
        tokio::time::timeout(Duration::from_secs(10), elector.run(std::future::pending())).await;
    assert_eq!(*hear.borrow(), Leadership::NOT);
    assert!(asked.lines().len() >= 4);
}

#[tokio::test(start_paused = true)]
async fn one_answer_that_is_lost_does_not_cost_the_lead() {
    let (server, clock) = (Server::default(), Clock::starting_at(at(0)));
    let one = candidate(&server, "one", &clock);
    pass(1).await;
    one.mute.store(true, Ordering::SeqCst);
    pass(3).await;
    one.mute.store(false, Ordering::SeqCst);
    for _ in 0..60 {
        pass(1).await;
        assert!(one.hear.borrow().holds(clock.now()));
    }
}

#[test]
fn a_leader_gives_up_before_its_lease_can_be_taken() {
    let Durations { lease, renew_deadline, retry } = Durations::default();
    assert!(renew_deadline + retry < lease);
    assert_eq!(lease, SignedDuration::from_secs(15));
}
