//! The far side of the wire: answers by a script and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use cluster::{Clock, Hands};
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A request as it came in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) content: String,
    pub(crate) body: Value,
}

/// What is answered.
pub(crate) enum Reply {
    Json(u16, Value),
    /// Plain text with a `Retry-After`, as priority and fairness answers.
    Busy(u32),
    /// A watch; it ends when the sender is dropped.
    Stream(mpsc::UnboundedReceiver<Value>),
    /// No answer, ever.
    Silence,
}

impl Reply {
    pub(crate) fn ok(body: Value) -> Self {
        Self::Json(200, body)
    }

    /// A `Failure` of this code.
    pub(crate) fn failure(code: u16, message: &str) -> Self {
        Self::Json(code, failure(code, message))
    }
}

pub(crate) fn failure(code: u16, message: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code,
    })
}

/// What the far side was asked, in order.
#[derive(Clone, Default)]
pub(crate) struct Far(Arc<Mutex<Vec<Asked>>>);

impl Far {
    /// `METHOD path?query` of all requests since the last time, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.take().into_iter().map(|asked| asked.line).collect()
    }

    /// All requests since the last time.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A client whose requests `answer` answers.
pub(crate) fn far(answer: impl FnMut(&Asked) -> Reply + Send + 'static) -> (Client, Far) {
    let (far, answer) = (Far::default(), Arc::new(Mutex::new(answer)));
    let heard = far.clone();
    let router = Router::new().fallback(move |request: Request| {
        let (heard, answer) = (heard.clone(), Arc::clone(&answer));
        async move {
            let asked = read(request).await;
            heard.0.lock().unwrap().push(asked.clone());
            let reply = (answer.lock().unwrap())(&asked);
            send(reply).await
        }
    });
    (Client::new(router, "default"), far)
}

/// A client that gets these answers, one after another, and then silence.
pub(crate) fn script(replies: impl IntoIterator<Item = Reply>) -> (Client, Far) {
    let mut replies: VecDeque<Reply> = replies.into_iter().collect();
    far(move |_| replies.pop_front().unwrap_or(Reply::Silence))
}

/// Hands with a clock that starts with the year 2026.
pub(crate) fn hands(client: Client) -> Hands {
    Hands { client, clock: Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap()) }
}

async fn read(request: Request) -> Asked {
    let line = format!("{} {}", request.method(), request.uri());
    let content = request.headers().get("content-type");
    let content = content.map_or("", |value| value.to_str().unwrap()).to_owned();
    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
    Asked { line, content, body: serde_json::from_slice(&body).unwrap_or_default() }
}

async fn send(reply: Reply) -> Response {
    let response = Response::builder();
    match reply {
        Reply::Json(code, body) => response
            .status(code)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap(),
        Reply::Busy(seconds) => response
            .status(429)
            .header("retry-after", seconds)
            .body(Body::from("Too many requests, please try again later."))
            .unwrap(),
        Reply::Stream(events) => {
            let lines = futures::stream::unfold(events, |mut events| async {
                let event = events.recv().await?;
                Some((Ok::<_, std::io::Error>(Bytes::from(format!("{event}\n"))), events))
            });
            response.body(Body::from_stream(lines)).unwrap()
        }
        Reply::Silence => std::future::pending().await,
    }
}
