//! Events on their way out: told beside the loop, so that a slow answer never holds a rollout up.

use cluster::{Events, Key, Told};
use engine::notice::{Notice, Topic};
use engine::world::Uid;
use tokio::sync::mpsc;

/// How many may wait; what comes on top is dropped, as Events are best effort.
const ROOM: usize = 1024;

/// One event to tell.
struct Letter {
    rollout: Key,
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
                events.tell(&letter.rollout, &letter.uid, &letter.told).await;
            }
        };
        (Self(put), empty)
    }

    /// Puts what is new about a rollout.
    pub(crate) fn put(&self, rollout: &Key, uid: &Uid, news: Vec<Notice>) {
        for notice in news {
            let action = match notice.topic {
                Topic::Phase => "Rollout",
                Topic::Group => "MovePods",
                Topic::Blocked => "Wait",
                Topic::Leaked => "CountLeaks",
                Topic::NotGated => "SkipGate",
            };
            let told = Told {
                warning: notice.warning,
                reason: notice.reason,
                action: action.to_owned(),
                note: notice.text,
            };
            // Full: the cluster takes no Events just now, and newer ones will follow.
            let _ = self.0.try_send(Letter { rollout: rollout.clone(), uid: uid.clone(), told });
        }
    }
}
