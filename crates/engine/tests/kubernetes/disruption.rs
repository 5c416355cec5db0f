//! The disruption budget's controller, the Eviction API, and the deletion of a Pod that is not ready.

use engine::decision::Victim;
use engine::world::{Outcome, PodPhase, Refusal};

use super::{Kubernetes, budget_over};

impl Kubernetes {
    /// How many Pods it expects; there is none where there is no workload.
    pub(super) fn disruption_controller(&mut self, expected: Option<u32>) {
        if self.budget_lag > 0 {
            self.budget_lag -= 1;
            return;
        }
        let asked = self.budget_of.zip(expected);
        self.budget = asked.map(|(max, expected)| budget_over(&self.pods, expected, max));
    }

    /// One after another, up to the first that a budget or a webhook refuses; a process that dies has come
    /// half the way.
    pub(crate) fn evict(&mut self, victims: &[Victim], part: bool, outcome: &mut Outcome) {
        self.each(victims, part, outcome, Self::evict_one);
    }

    /// The same, where no budget is asked.
    pub(crate) fn delete(&mut self, victims: &[Victim], part: bool, outcome: &mut Outcome) {
        self.each(victims, part, outcome, Self::delete_one);
    }

    fn each(
        &mut self,
        victims: &[Victim],
        part: bool,
        outcome: &mut Outcome,
        way: impl Fn(&mut Self, &Victim) -> Result<(), Refusal>,
    ) {
        let victims = if part { &victims[..victims.len().div_ceil(2)] } else { victims };
        let mut stopped = false;
        for victim in victims {
            let answer = if stopped { Err(Refusal::NotTried) } else { way(self, victim) };
            match answer {
                Ok(()) => {
                    outcome.accepted.insert(victim.uid.clone());
                }
                Err(refusal) => {
                    stopped |= matches!(refusal, Refusal::Budget(_) | Refusal::Policy(_));
                    outcome.refused.insert(victim.uid.clone(), refusal);
                }
            }
        }
    }

    fn find(&self, victim: &Victim) -> Result<usize, Refusal> {
        self.pods.iter().position(|pod| pod.uid == victim.uid).ok_or(Refusal::Gone)
    }

    fn evict_one(&mut self, victim: &Victim) -> Result<(), Refusal> {
        let nth = self.find(victim)?;
        if self.refusals > 0 {
            self.refusals -= 1;
            return Err(Refusal::Policy("a webhook says no".into()));
        }
        let pod = &self.pods[nth];
        let free = pod.phase == PodPhase::Pending || pod.deletion.is_some();
        if let Some(budget) = self.budget.as_mut().filter(|_| !free) {
            let met =
                budget.desired_healthy > 0 && budget.current_healthy >= budget.desired_healthy;
            let costs_nothing = pod.ready_since.is_none() && met;
            if !costs_nothing {
                let left = budget.allowed.checked_sub(1);
                budget.allowed = left.ok_or_else(|| Refusal::Budget("no room".into()))?;
            }
        }
        self.end(nth);
        Ok(())
    }

    fn delete_one(&mut self, victim: &Victim) -> Result<(), Refusal> {
        let nth = self.find(victim)?;
        if self.pods[nth].ready_since.is_some() {
            return Err(Refusal::Gone);
        }
        self.end(nth);
        Ok(())
    }
}
