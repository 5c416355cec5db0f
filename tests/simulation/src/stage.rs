//! Where plays happen: a cluster, one operator or two, faults, crashes, and a witness of it all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use controller::Settings;
use controller::admission::Admission;
use simcluster::fault::{FaultPlan, Faults, Rates, When};
use simcluster::json::Value;

use crate::harness::{Harness, Operator, send};
use crate::witness::{Judge, Witness};

/// How faults come.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// None.
    None,
    /// Each kind at this rate, from this seed.
    Rate(u64, f64),
    /// One crash of the operator, at its n-th write.
    Crash(u64, When),
}

/// What came of a play.
#[derive(Debug)]
pub struct Report {
    /// Promises broken, and ends not reached.
    pub broken: Vec<String>,
    /// Every request of the operator.
    pub log: Vec<String>,
    /// Requests by kind.
    pub kinds: BTreeMap<String, u64>,
    /// Writes of the operator.
    pub writes: u64,
    /// The virtual time that it took.
    pub took: Duration,
    /// Where the Pods and the rollout ended.
    pub end: String,
}

impl Report {
    /// How many writes there were up to the last that is not about the lease.
    pub fn writes_until_done(&self) -> u64 {
        let is_write = |line: &&String| {
            let method = line.split(' ').nth(1).unwrap_or_default();
            method != "GET"
        };
        let writes: Vec<&String> = self.log.iter().filter(is_write).collect();
        let last = writes.iter().rposition(|line| !line.contains("/leases")).unwrap_or(0);
        u64::try_from(last + 1).unwrap_or(u64::MAX)
    }
}

/// The stage of one play.
pub struct Stage {
    /// The cluster.
    pub harness: Harness,
    /// Who sees what the operators do.
    pub witness: Witness,
    /// What befalls the requests of the operator.
    pub faults: Faults,
    /// What befalls those of the standby.
    pub standby_faults: Faults,
    /// Promises broken so far, other than those that the witness saw.
    pub broken: Vec<String>,
    client: kube::Client,
    operator: Option<Operator>,
    standby: Option<Operator>,
    lives: u32,
}

impl Stage {
    /// An empty cluster, with or without Kruise, and no operator yet.
    pub async fn set(seed: u64, kruise: bool, trouble: &Trouble, judge: Judge) -> Self {
        let harness = Harness::with(seed, |options| options.kruise = kruise).await;
        let server = Arc::clone(harness.cluster.server());
        let witness = Witness::new(server, harness.clock.clone(), Some(judge));
        let plan = match trouble {
            Trouble::Rate(seed, rate) => FaultPlan::new(*seed, Rates::all(*rate)),
            _ => FaultPlan::new(seed, Rates::NONE),
        };
        let faults = Faults::new(plan.clone());
        let standby_faults = Faults::new(FaultPlan { seed: !plan.seed, ..plan });
        if let Trouble::Crash(number, when) = trouble {
            faults.crash_at(*number, *when);
        }
        let client = harness.client();
        Self {
            harness,
            witness,
            faults,
            standby_faults,
            broken: Vec::new(),
            client,
            operator: None,
            standby: None,
            lives: 0,
        }
    }

    /// What came of the play; `end` says where it ended, `began` when it began.
    pub fn report(mut self, began: tokio::time::Instant, end: String) -> Report {
        let mut seen = self.witness.seen();
        let twice = seen.evicted.iter().filter(|(_, times)| **times > 1);
        let mut broken: Vec<String> = twice
            .map(|(uid, times)| format!("evicted {times} times while it stood: {uid}"))
            .collect();
        broken.append(&mut seen.broken);
        let (log, kinds) = (std::mem::take(&mut seen.log), std::mem::take(&mut seen.kinds));
        drop(seen);
        broken.append(&mut self.broken);
        Report { broken, log, kinds, writes: self.faults.writes(), took: began.elapsed(), end }
    }

    /// Starts an operator, the next life of the one client.
    pub fn begin(&mut self) {
        self.operator = Some(self.live("operator", &self.faults.clone()));
    }

    /// Starts the other operator, which waits for the lease.
    pub fn stand_by(&mut self) {
        self.standby = Some(self.live("standby", &self.standby_faults.clone()));
    }

    fn live(&mut self, who: &str, faults: &Faults) -> Operator {
        self.lives += 1;
        let router = faults.wrap(self.witness.before(self.harness.router()));
        let settings = Settings { seed: self.harness.seed, ..Settings::default() };
        self.harness.operator(router, &format!("{who}-{}", self.lives), settings)
    }

    /// Lets time pass; an operator that crashes or loses its lease begins its next life.
    pub async fn pass(&mut self, span: Duration) {
        let end = tokio::time::Instant::now() + span;
        loop {
            let tick = tokio::time::sleep_until(
                end.min(tokio::time::Instant::now() + Duration::from_secs(1)),
            );
            tokio::select! {
                biased;
                () = self.faults.crashed() => self.again().await,
                () = tick => {}
            }
            if self.operator.as_ref().is_some_and(Operator::has_ended) {
                self.again().await;
            }
            if self.standby.as_ref().is_some_and(Operator::has_ended) {
                self.stand_by();
            }
            if tokio::time::Instant::now() >= end {
                return;
            }
        }
    }

    /// The operator dies at once, and its next life begins.
    pub async fn again(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.kill().await;
        }
        self.begin();
    }

    /// A request of a user.
    pub async fn user(&mut self, method: &str, path: &str, body: Value) {
        if let Err(error) = send(&self.client, method, path, &body).await {
            // A Pod that is already gone, a name that is taken, a budget without room.
            let known = matches!(&*error, kube::Error::Api(status) if [404, 409, 429].contains(&status.code));
            if !known {
                self.broken.push(format!("the cluster refuses {method} {path}: {error}"));
            }
        }
    }

    /// A request that may have to wait for the webhook; whether it was taken.
    pub async fn tries(&mut self, method: &str, path: &str, body: &Value) -> bool {
        match send(&self.client, method, path, body).await {
            Ok(_) => true,
            Err(error) => {
                let text = error.to_string();
                if !text.contains("webhook") {
                    self.broken.push(format!("the cluster refuses {method} {path}: {text}"));
                }
                false
            }
        }
    }

    /// The admission service of the operator that lives now.
    pub fn admission(&self) -> Option<Admission> {
        self.operator.as_ref().map(|operator| operator.admission.clone())
    }

    /// How many lives there were: another number means another admission service.
    pub fn lives(&self) -> u32 {
        self.lives
    }

    /// No more faults.
    pub fn calm_down(&self) {
        self.faults.set_rates(Rates::NONE);
        self.standby_faults.set_rates(Rates::NONE);
    }

    /// Ten minutes in which nothing may be asked of the cluster but watches and the lease.
    pub async fn stillness(&mut self) {
        let requests = self.witness.seen().log.len();
        self.pass(Duration::from_secs(600)).await;
        let seen = self.witness.seen();
        let noise: Vec<String> = seen
            .log
            .iter()
            .skip(requests)
            .filter(|line| !line.contains("watch=") && !line.contains("/leases/"))
            .cloned()
            .collect();
        drop(seen);
        self.broken.extend(noise.into_iter().map(|line| format!("stillness: {line}")));
    }
}
