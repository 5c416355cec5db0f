use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::response::Response;
use futures::StreamExt;
use http::{Request, StatusCode};
use tower::ServiceExt;

use super::*;

/// A server that counts its requests, answers with the count, and streams ten frames to a watch.
fn server() -> (Router, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let router = Router::new().fallback(move |request: axum::extract::Request| {
        let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            if request.uri().query().is_some_and(|query| query.contains("watch=true")) {
                let frames = (0..10).map(|i| Ok::<_, axum::BoxError>(format!("frame {i}\n")));
                let endless = futures::stream::iter(frames).chain(futures::stream::pending());
                return Response::new(Body::from_stream(endless));
            }
            Response::new(Body::from(number.to_string()))
        }
    });
    (router, count)
}

fn faults(rates: Rates) -> Faults {
    Faults::new(FaultPlan::new(1, rates))
}

async fn ask(router: &Router, method: Method, uri: &str) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
}

const POD: &str = "/api/v1/namespaces/ns/pods/p";
const SET: &str = "/apis/apps/v1/namespaces/ns/statefulsets/web";
const LIST: &str = "/api/v1/pods?&limit=500";
const WATCH: &str = "/api/v1/pods?&watch=true";

/// One kind of fault at rate 1: the code of the answer, and whether the server saw the request.
async fn check(rates: Rates, method: Method, uri: &str, expect: (u16, u64)) -> (HeaderMap, String) {
    let (router, count) = server();
    let (code, headers, body) = ask(&faults(rates).wrap(router), method, uri).await;
    assert_eq!((code.as_u16(), count.load(Ordering::SeqCst)), expect, "{rates:?} {uri}: {body}");
    (headers, body)
}

#[tokio::test(start_paused = true)]
async fn refusals_never_reach_the_server() {
    let rates = Rates { conflict: 1.0, ..Rates::NONE };
    let (_, body) = check(rates, Method::PUT, SET, (409, 0)).await;
    assert!(body.contains("Operation cannot be fulfilled on statefulsets.apps \\\"web\\\""));
    check(rates, Method::POST, "/api/v1/namespaces/ns/pods", (200, 1)).await;
    let rates = Rates { throttled: 1.0, ..Rates::NONE };
    let (headers, body) = check(rates, Method::GET, POD, (429, 0)).await;
    assert_eq!(headers["retry-after"], "1");
    assert!(!body.contains("Status"));
    let rates = Rates { too_many: 1.0, ..Rates::NONE };
    let (headers, _) = check(rates, Method::GET, POD, (429, 0)).await;
    assert!(headers.get("retry-after").is_none());
    check(Rates { server_error: 1.0, ..Rates::NONE }, Method::GET, POD, (500, 0)).await;
    check(Rates { unavailable: 1.0, ..Rates::NONE }, Method::GET, POD, (503, 0)).await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_leaves_the_write_done() {
    let rates = Rates { lost_answer: 1.0, ..Rates::NONE };
    check(rates, Method::DELETE, POD, (504, 1)).await;
    check(rates, Method::GET, POD, (200, 1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_request_takes_virtual_time_and_no_more_than_allowed() {
    let begun = tokio::time::Instant::now();
    check(Rates { slow: 1.0, ..Rates::NONE }, Method::GET, POD, (200, 1)).await;
    let took = begun.elapsed();
    assert!(took > Duration::ZERO && took <= Duration::from_secs(2), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_watch_ends_and_an_expired_one_says_so() {
    let (_, body) =
        check(Rates { dropped_watch: 1.0, ..Rates::NONE }, Method::GET, WATCH, (200, 1)).await;
    assert!(!body.contains("ERROR"));
    let (_, body) =
        check(Rates { expired_watch: 1.0, ..Rates::NONE }, Method::GET, WATCH, (200, 1)).await;
    let last: crate::json::Value = serde_json::from_str(body.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["object"]["code"]), (&"ERROR".into(), &410.into()));
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_is_an_earlier_answer_to_the_same_request() {
    let (router, _) = server();
    let router = faults(Rates { stale_list: 1.0, ..Rates::NONE }).wrap(router);
    assert_eq!(ask(&router, Method::GET, LIST).await.2, "1");
    assert_eq!(ask(&router, Method::GET, LIST).await.2, "1");
    assert_eq!(ask(&router, Method::GET, "/api/v1/nodes").await.2, "3");
    let old = ask(&router, Method::GET, LIST).await.2;
    assert!(["1", "2"].contains(&&*old), "{old}");
}

#[tokio::test(start_paused = true)]
async fn a_crash_before_a_write_leaves_it_undone_and_after_it_done() {
    for (when, done) in [(When::Before, 1), (When::After, 2)] {
        let (router, count) = server();
        let faults = faults(Rates::NONE);
        faults.crash_at(2, when);
        let first = faults.wrap(router.clone());
        assert_eq!(ask(&first, Method::PUT, POD).await.0, StatusCode::OK);
        let dying = tokio::spawn({
            let first = first.clone();
            async move { ask(&first, Method::PUT, POD).await }
        });
        faults.crashed().await;
        assert_eq!(count.load(Ordering::SeqCst), done);
        // Nothing of this life is answered any more, reads neither.
        let late = tokio::time::timeout(Duration::from_secs(3600), ask(&first, Method::GET, POD));
        assert!(late.await.is_err());
        assert!(!dying.is_finished());
        let second = faults.wrap(router);
        assert_eq!(ask(&second, Method::PUT, POD).await.0, StatusCode::OK);
        assert_eq!(faults.writes(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_refuses_by_path_until_it_ends() {
    let (router, _) = server();
    let faults = faults(Rates::NONE);
    let router = faults.wrap(router);
    faults.refuse(|_, path| path.contains("/leases/"));
    let lease = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/sluice";
    assert_eq!(ask(&router, Method::PUT, lease).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ask(&router, Method::PUT, POD).await.0, StatusCode::OK);
    faults.accept();
    assert_eq!(ask(&router, Method::PUT, lease).await.0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn one_seed_draws_the_same_faults_and_only_for_chosen_requests() {
    async fn run(seed: u64, rates: Rates) -> Vec<String> {
        let (router, _) = server();
        let faults = Faults::new(FaultPlan::new(seed, rates));
        faults.only(|_, path| path != POD);
        let router = faults.wrap(router);
        for _ in 0..50 {
            for (method, uri) in [(Method::PUT, SET), (Method::GET, LIST), (Method::GET, POD)] {
                ask(&router, method, uri).await;
            }
        }
        faults.log()
    }
    let rates = Rates::all(0.05);
    let log = run(1, rates).await;
    assert!(!log.is_empty() && log.len() < 60, "{log:?}");
    assert_eq!(log, run(1, rates).await);
    assert_ne!(log, run(2, rates).await);
    assert!(log.iter().all(|line| !line.contains("/pods/p")), "{log:?}");
    assert!(run(1, Rates::NONE).await.is_empty());
}

#[test]
fn every_fault_comes_up_at_about_its_rate() {
    for (asked, fault) in [
        (Asked::Update, Fault::Conflict),
        (Asked::Create, Fault::LostAnswer),
        (Asked::Watch, Fault::ExpiredWatch),
        (Asked::List, Fault::StaleList),
        (Asked::Read, Fault::Slow),
    ] {
        let plan = FaultPlan::new(9, Rates::all(0.01));
        let drawn = (0..20_000).filter(|n| plan.decide(*n, asked) == Some(fault)).count();
        assert!((120..=280).contains(&drawn), "{fault:?}: {drawn}");
    }
}
