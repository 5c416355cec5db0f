//! Watches that end before their time.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};

/// Ends a watch after some frames or some time, whichever comes first; then `last` is sent.
pub(super) fn cut(
    response: Response,
    frames: usize,
    life: Duration,
    last: Option<String>,
) -> Response {
    let (parts, body) = response.into_parts();
    let until = tokio::time::Instant::now() + life;
    let events = body.into_data_stream().take(frames).map(|frame| frame.map_err(Into::into));
    let stream = until_then(events, until).chain(stream::iter(last.map(|last| Ok(last.into()))));
    Response::from_parts(parts, Body::from_stream(stream))
}

type Frame = Result<Bytes, axum::BoxError>;

fn until_then(
    events: impl Stream<Item = Frame> + Send + 'static,
    until: tokio::time::Instant,
) -> impl Stream<Item = Frame> + Send + 'static {
    let sleep = Box::pin(tokio::time::sleep_until(until));
    stream::unfold((Box::pin(events), sleep), |(mut events, mut sleep)| async move {
        tokio::select! {
            biased;
            event = events.next() => event.map(|event| (event, (events, sleep))),
            () = &mut sleep => None,
        }
    })
}
