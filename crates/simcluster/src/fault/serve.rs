//! One request on its way through the faults.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::{Method, header};
use tower::ServiceExt;

use super::{Asked, Fate, Fault, Faults, Moment, When, answer, watch};

/// How many earlier answers to a list are kept.
const KEPT_ANSWERS: usize = 4;
/// The most frames that a watch sends which is to be dropped.
const WATCH_FRAMES: usize = 20;

/// The Router of one life.
pub(super) fn wrap(faults: Faults, inner: Router) -> Router {
    let dead = Arc::new(AtomicBool::new(false));
    let service = tower::service_fn(move |request: Request| {
        let life = Life { faults: faults.clone(), inner: inner.clone(), dead: dead.clone() };
        async move { Ok::<_, Infallible>(life.serve(request).await) }
    });
    Router::new().fallback_service(service)
}

struct Life {
    faults: Faults,
    inner: Router,
    dead: Arc<AtomicBool>,
}

/// What was settled about a request when it came in.
struct Case {
    number: u64,
    write: u64,
    method: Method,
    path: String,
    asked: Asked,
    fault: Option<Fault>,
    rng: fastrand::Rng,
    slowest: Duration,
    watch_life: Duration,
    keep_list: bool,
}

impl Life {
    async fn serve(&self, request: Request) -> Response {
        self.die_if_dead().await;
        let Some(mut case) = self.open(&request) else { return answer::unavailable() };
        self.hook(&case, When::Before).await;
        match case.fault {
            Some(Fault::Conflict) => return answer::conflict(&case.path),
            Some(Fault::Throttled) => return answer::throttled(),
            Some(Fault::TooMany) => return answer::too_many(),
            Some(Fault::ServerError) => return answer::server_error(),
            Some(Fault::Unavailable) => return answer::unavailable(),
            _ => {}
        }
        let delay = self.delay(&mut case);
        let delay_first = case.rng.bool();
        if delay_first {
            tokio::time::sleep(delay).await;
        }
        let response = self.pass(request, &mut case).await;
        if !delay_first {
            tokio::time::sleep(delay).await;
        }
        self.hook(&case, When::After).await;
        // It may have died of another request meanwhile.
        self.die_if_dead().await;
        response
    }

    /// Numbers a request and draws its fault; `None` when it is refused.
    fn open(&self, request: &Request) -> Option<Case> {
        let (method, uri) = (request.method().clone(), request.uri());
        let (path, asked) = (uri.path().to_owned(), Asked::of(&method, uri));
        let mut state = self.faults.state();
        state.requests += 1;
        let number = state.requests;
        state.writes += u64::from(asked.is_write());
        let write = state.writes;
        if state.refused.as_ref().is_some_and(|refused| refused(&method, &path)) {
            state.log.push(format!("#{number} {method} {path}: refused"));
            return None;
        }
        let exposed = state.only.as_ref().is_none_or(|only| only(&method, &path));
        let fault = state.plan.decide(number, asked).filter(|_| exposed);
        if let Some(fault) = fault {
            state.log.push(format!("#{number} {method} {path}: {fault:?}"));
        }
        let plan = &state.plan;
        Some(Case {
            number,
            write,
            method,
            path,
            asked,
            fault,
            rng: plan.rng(!number),
            slowest: plan.slowest,
            watch_life: plan.watch_life,
            keep_list: asked == Asked::List && plan.rates.stale_list > 0.0,
        })
    }

    async fn hook(&self, case: &Case, when: When) {
        if !case.asked.is_write() {
            return;
        }
        let Some(hook) = self.faults.state().hook.clone() else { return };
        let moment = Moment { number: case.write, when, method: &case.method, path: &case.path };
        if hook(moment) == Fate::Continue {
            return;
        }
        let line = format!("#{} {} {}: crash {when:?}", case.number, case.method, case.path);
        self.faults.state().log.push(line);
        self.dead.store(true, Ordering::SeqCst);
        self.faults.crashed.notify_one();
        std::future::pending::<()>().await;
    }

    async fn die_if_dead(&self) {
        if self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    fn delay(&self, case: &mut Case) -> Duration {
        if case.fault != Some(Fault::Slow) {
            return Duration::ZERO;
        }
        case.slowest.mul_f64(case.rng.f64())
    }

    async fn pass(&self, request: Request, case: &mut Case) -> Response {
        let asked_for = (case.keep_list).then(|| list_key(&request));
        let response = match self.inner.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        match case.fault {
            Some(Fault::LostAnswer) => return answer::timed_out(),
            Some(Fault::DroppedWatch) => return self.cut(response, case, None),
            Some(Fault::ExpiredWatch) => return self.cut(response, case, Some(answer::expired())),
            _ => {}
        }
        match asked_for {
            Some(asked_for) if response.status().is_success() => {
                self.remember(response, asked_for, case).await
            }
            _ => response,
        }
    }

    fn cut(&self, response: Response, case: &mut Case, last: Option<String>) -> Response {
        if !response.status().is_success() {
            return response;
        }
        let frames = case.rng.usize(0..=WATCH_FRAMES);
        let life = case.watch_life.mul_f64(case.rng.f64());
        watch::cut(response, frames, life, last)
    }

    /// Keeps a list for later, and answers with an earlier one if that is the request's fault.
    async fn remember(&self, response: Response, asked_for: String, case: &mut Case) -> Response {
        let (parts, body) = response.into_parts();
        let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
            return answer::server_error();
        };
        let mut state = self.faults.state();
        let answers = state.lists.entry(asked_for).or_default();
        let old = (case.fault == Some(Fault::StaleList) && !answers.is_empty())
            .then(|| answers[case.rng.usize(0..answers.len())].clone());
        if answers.back().is_none_or(|(_, last)| *last != bytes) {
            answers.push_back((parts.headers.clone(), bytes.clone()));
        }
        if answers.len() > KEPT_ANSWERS {
            answers.pop_front();
        }
        drop(state);
        let (headers, bytes) = old.unwrap_or((parts.headers, bytes));
        let mut response = Response::new(Body::from(bytes));
        *response.headers_mut() = headers;
        response
    }
}

fn list_key(request: &Request) -> String {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    format!("{} {}", request.uri(), accept.unwrap_or_default())
}
