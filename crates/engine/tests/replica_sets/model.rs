//! A small Deployment: ReplicaSet controllers that lag, Pods that start, die and heal, and a judge who
//! looks at each write before it is made.

use engine::mover::replica_sets::{Bounds, Deployment, Next, ReplicaSet, Write, next};

/// One Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pod {
    /// Available in so many ticks.
    Starting(u32),
    Available,
    /// Never available, until it is mended.
    Broken,
}

#[derive(Clone, Debug)]
struct Set {
    told: ReplicaSet,
    pods: Vec<Pod>,
    /// Ticks until its controller looks again.
    blind: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) replicas: u32,
    /// Share of the batch in percent.
    pub(crate) percent: u32,
    pub(crate) bounds: Bounds,
    pub(crate) paused: bool,
    /// Pods of the new revision never come up.
    pub(crate) broken: bool,
    /// Ticks that the controllers are behind.
    pub(crate) lag: u32,
    sets: Vec<Set>,
    revision: u64,
}

impl Model {
    pub(crate) fn new(replicas: u32, bounds: Bounds) -> Self {
        let told = ReplicaSet {
            name: "r1".to_owned(),
            revision: 1,
            size: replicas,
            available: replicas,
            sized_for: replicas,
            seen: true,
        };
        let pods = vec![Pod::Available; usize::try_from(replicas).expect("few")];
        let sets = vec![Set { told, pods, blind: 0 }];
        Self {
            replicas,
            percent: 0,
            bounds,
            paused: false,
            broken: false,
            lag: 0,
            sets,
            revision: 2,
        }
    }

    pub(crate) fn target(&self) -> u32 {
        engine::quantity::IntOrPercent::Percent(self.percent).of_deployment(self.replicas)
    }

    /// A new template: what was new is old.
    pub(crate) fn template(&mut self) {
        self.revision += 1;
    }

    fn name(&self) -> String {
        format!("r{}", self.revision)
    }

    pub(crate) fn deployment(&self) -> Deployment {
        let (new, old) =
            self.sets.iter().map(|set| set.told.clone()).partition(|set| set.name == self.name());
        let new: Vec<ReplicaSet> = new;
        Deployment {
            replicas: self.replicas,
            target: self.target(),
            bounds: self.bounds,
            paused: self.paused,
            new: new.into_iter().next(),
            old,
            stable: Some("r1".to_owned()),
        }
    }

    pub(crate) fn kill(&mut self, nth: usize, broken: bool) {
        let pods: Vec<&mut Pod> = self.sets.iter_mut().flat_map(|set| &mut set.pods).collect();
        let count = pods.len().max(1);
        if let Some(pod) = pods.into_iter().nth(nth % count) {
            *pod = if broken { Pod::Broken } else { Pod::Starting(2) };
        }
    }

    pub(crate) fn heal(&mut self) {
        self.broken = false;
        for pod in self.sets.iter_mut().flat_map(|set| &mut set.pods) {
            if *pod == Pod::Broken {
                *pod = Pod::Starting(1);
            }
        }
    }

    /// One tick: controllers and Pods, then writes until there is none more to make at once.
    pub(crate) fn tick(&mut self) {
        let (name, broken) = (self.name(), self.broken);
        for set in &mut self.sets {
            for pod in &mut set.pods {
                *pod = match *pod {
                    Pod::Starting(0) => Pod::Available,
                    Pod::Starting(left) => Pod::Starting(left - 1),
                    other => other,
                };
            }
            if set.blind > 0 {
                set.blind -= 1;
                continue;
            }
            let size = usize::try_from(set.told.size).expect("few");
            let fresh =
                if broken && set.told.name == name { Pod::Broken } else { Pod::Starting(2) };
            // Those that are not available go first.
            set.pods.sort_by_key(|pod| *pod != Pod::Available);
            set.pods.resize(size, fresh);
            let available = set.pods.iter().filter(|pod| **pod == Pod::Available).count();
            set.told.available = u32::try_from(available).expect("few");
            set.told.seen = true;
        }
        for _ in 0..20 {
            let deployment = self.deployment();
            let Next::Write(write) = next(&deployment) else { return };
            crate::walk::judge(&deployment, &write);
            self.write(&write);
        }
        panic!("writes without an end: {:#?}", self.deployment());
    }

    fn write(&mut self, write: &Write) {
        let (name, size) = match write {
            Write::Create { size } => {
                let (name, revision) = (self.name(), self.revision);
                let told = ReplicaSet { name: name.clone(), revision, ..ReplicaSet::default() };
                self.sets.push(Set { told, pods: Vec::new(), blind: 0 });
                (name, *size)
            }
            Write::Size { name, size } => (name.clone(), *size),
        };
        let (replicas, lag) = (self.replicas, self.lag);
        let set = self.sets.iter_mut().find(|set| set.told.name == name).expect("a known one");
        (set.told.size, set.told.sized_for) = (size, replicas);
        (set.told.seen, set.blind) = (false, lag);
    }
}
