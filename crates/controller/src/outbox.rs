//! Events on their way out: told beside the loop, so that a slow answer never holds a rollout up.

use cluster::{About, Events, Told};
use engine::world::Uid;
use tokio::sync::mpsc;

/// How many may wait; what comes on top is dropped, as Events are best effort.
const ROOM: usize = 1024;

/// One event to tell.
struct Letter {
    about: About,
    uid: Uid,
    told: Told,
}

/// Where events are put.
#[derive(Clone)]
pub(crate) struct Outbox(mpsc::Sender<Letter>);

impl Outbox {
    /// An outbox, and the future that empties it for as long as it is polled.
    pub(crate) fn new(events: Events) -> (Self, impl Future<Output = ()> + Send) {
        let (put, mut take) = mpsc::channel::<Letter>(ROOM);
        let empty = async move {
            while let Some(letter) = take.recv().await {
                events.tell(letter.about, &letter.uid, &letter.told).await;
            }
        };
        (Self(put), empty)
    }

    /// Puts what is new about an object.
    pub(crate) fn put(&self, about: impl Into<About>, uid: &Uid, news: Vec<Told>) {
        let about = about.into();
        for told in news {
            // Full: the cluster takes no Events just now, and newer ones will follow.
            let _ = self.0.try_send(Letter { about: about.clone(), uid: uid.clone(), told });
        }
    }
}
