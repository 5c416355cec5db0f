//! What the API server does with a request, without a clock and without I/O.
//!
//! A write is prepared against what is stored, admitted, and committed only if the stored object is
//! still the one that it was prepared against: so that admission can happen outside the lock.

mod admit;
mod bind;
mod born;
mod carry;
pub mod convert;
pub mod decode;
pub mod definitions;
pub mod delete;
pub mod events;
mod evict;
pub mod meta;
pub mod options;
pub mod part;
mod past;
pub mod patch;
pub mod read;
mod refuse;
pub mod scale;
pub mod watch;
pub mod write;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Notify;

use crate::admission::WebhookCaller;
use crate::behaviour::{Change, Write};
use crate::conversion::Converted;
use crate::error::ApiError;
use crate::json::{Value, json};
use crate::kind::{Kind, Registry};
use crate::object::Collection;
use crate::server::options::{DeleteOptions, WriteOptions};
use crate::server::part::Part;
use crate::store::Store;

/// Everything behind one lock.
#[derive(Debug)]
pub struct Inner {
    /// The objects.
    pub store: Store,
    /// The kinds.
    pub registry: Registry,
    /// Source of UIDs and name suffixes.
    pub rng: fastrand::Rng,
    /// What stands between the two looks of a write through a version that is not the stored one.
    pub(crate) converted: Converted,
    /// Woken when a collection changes; one each, so that a watch of Pods sleeps through Leases.
    wakers: BTreeMap<Collection, Arc<Notify>>,
}

/// The API server without its HTTP skin. Shared; each call takes the lock for as long as it runs.
pub struct Server {
    inner: Mutex<Inner>,
    changed: Arc<Notify>,
    webhooks: Mutex<Option<WebhookCaller>>,
}

/// A consistent picture of the store: nothing is written while it lives.
#[derive(Debug)]
pub struct Picture<'a>(MutexGuard<'a, Inner>);

impl Deref for Picture<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0.store
    }
}

impl Server {
    /// An empty server. `window` is how many changes watches can go back before they get a 410.
    pub fn new(seed: u64, window: usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                store: Store::new(window),
                registry: Registry::built_in(),
                rng: fastrand::Rng::with_seed(seed),
                converted: Converted::default(),
                wakers: BTreeMap::new(),
            }),
            changed: Arc::new(Notify::new()),
            webhooks: Mutex::new(None),
        }
    }

    /// The lock. A panic elsewhere leaves the store whole: each write is one insertion.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A picture of the store for steps to read; drop it before committing.
    pub fn view(&self) -> Picture<'_> {
        Picture(self.lock())
    }

    /// Fires on each change of anything. Register (`notified().enable()`) before looking.
    pub fn changed(&self) -> Arc<Notify> {
        self.changed.clone()
    }

    /// The changes after a cursor (0 at first), and the cursor to ask with next.
    pub fn changes_since(&self, cursor: u64) -> (Vec<Change>, u64) {
        let inner = self.lock();
        let changes = inner.store.log_after(cursor).map(|logged| logged.change.clone()).collect();
        (changes, inner.store.revision())
    }

    /// Commits what a component wants, as a client's request would be, but for webhooks: what furnishes a
    /// cluster, and what nobody is to be asked about.
    pub fn commit(&self, write: Write, actor: &str, now: Timestamp) -> Result<(), ApiError> {
        let options = WriteOptions::of(actor);
        self.write(|inner| match write {
            Write::Create { collection, object } => {
                let kind = inner.kind_of(&collection)?;
                let namespace = crate::object::namespace(&object).to_owned();
                inner.create(&kind, &namespace, object, &options, now).map(|_| ())
            }
            Write::Update { key, subresource, object } => {
                let kind = inner.kind_of(&key.collection)?;
                let part = Part::parse(subresource.unwrap_or_default())
                    .ok_or_else(ApiError::no_such_resource)?;
                inner.update(&kind, &key, part, object, &options, now).map(|_| ())
            }
            Write::Delete { key, uid, grace_period_seconds } => {
                let kind = inner.kind_of(&key.collection)?;
                let options = DeleteOptions { uid, grace_period_seconds, ..Default::default() };
                inner.delete(&kind, &key, &options, now).map(|_| ())
            }
            Write::DeleteForeground { key, uid } => {
                let kind = inner.kind_of(&key.collection)?;
                let propagation = Some("Foreground".to_owned());
                let options = DeleteOptions { uid, propagation, ..Default::default() };
                inner.delete(&kind, &key, &options, now).map(|_| ())
            }
            Write::Event { regarding, type_, reason, message, component } => {
                let event = events::Said { type_, reason, message: &message, component };
                inner.say(&regarding, &event, now)
            }
        })
    }

    /// Runs one synchronous request and wakes whoever waits for what it changed.
    pub(crate) fn write<T>(
        &self,
        request: impl FnOnce(&mut Inner) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut inner = self.lock();
        let before = inner.store.revision();
        let out = request(&mut inner);
        let mut touched: Vec<Collection> = Vec::new();
        for logged in inner.store.log_after(before) {
            if !touched.contains(&logged.change.key.collection) {
                touched.push(logged.change.key.collection.clone());
            }
        }
        let wakers: Vec<_> =
            touched.iter().filter_map(|one| inner.wakers.get(one)).cloned().collect();
        drop(inner);
        for waker in wakers {
            waker.notify_waiters();
        }
        if !touched.is_empty() {
            self.changed.notify_waiters();
        }
        out
    }

    /// Puts in what every cluster has: roles, and a Lease for each Node, which nobody renews. Their
    /// UIDs follow from their names, so that those of all other objects stay what they are without
    /// them.
    pub(crate) fn furnish(&self, now: Timestamp) {
        let mut inner = self.lock();
        let mut objects = crate::authorization::bootstrap::objects();
        let nodes = inner.store.list_after(&crate::object::NODES, None, None);
        objects.extend(nodes.map(|node| node_lease(node, now)));
        for mut object in objects {
            let kind = object["kind"].as_str().unwrap_or_default().to_owned();
            let api_version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
            let Some(kind) = inner.registry.by_kind(&api_version, &kind) else { continue };
            let collection = kind.collection();
            let name = crate::object::name(&object).to_owned();
            let seed = name.bytes().fold(u64::from(kind.plural.len() as u32), |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
            object["metadata"]["uid"] = meta::new_uid(&mut fastrand::Rng::with_seed(seed)).into();
            object["metadata"]["creationTimestamp"] = meta::stamp(now).into();
            inner.store.put(crate::object::Key::of(collection, &object), object);
        }
    }

    /// Forgets the history that new watches could start from, as etcd's compaction does.
    pub fn compact(&self) {
        self.lock().store.compact();
    }

    /// Hands in what carries calls to webhooks; without it their configurations are inert.
    pub fn set_webhook_caller(&self, caller: WebhookCaller) {
        *self.webhooks.lock().unwrap_or_else(PoisonError::into_inner) = Some(caller);
    }

    pub(crate) fn webhook_caller(&self) -> Option<WebhookCaller> {
        self.webhooks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a watch of a collection waits on.
    pub(crate) fn waker(&self, collection: &Collection) -> Arc<Notify> {
        self.lock().wakers.entry(collection.clone()).or_default().clone()
    }
}

/// The Lease by which a kubelet says that it is there.
fn node_lease(node: &Value, now: Timestamp) -> Value {
    let name = crate::object::name(node);
    let owner = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "name": name,
        "uid": crate::object::uid(node),
    });
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": "kube-node-lease", "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": format!("{now:.6}"),
        },
    })
}

impl Inner {
    /// The kind of a collection, in the version in which behaviours handle it.
    pub fn kind_of(&self, collection: &Collection) -> Result<Arc<Kind>, ApiError> {
        self.registry.of_collection(collection).cloned().ok_or_else(ApiError::no_such_resource)
    }
}
