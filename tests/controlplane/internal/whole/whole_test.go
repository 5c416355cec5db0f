package whole

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

const web = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 3
  serviceName: web
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {simcluster.sluice.dev/startup: 300ms, simcluster.sluice.dev/terminate-after: 3s}
    spec:
      containers: [{name: main, image: "app:v1"}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`

const evictWeb = `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "POD", "namespace": "default"}}`

const ready = `{.status.conditions[?(@.type=="Ready")].status}`

func TestWhatScenariosLeanOn(t *testing.T) {
	b := newBench(t, "--audit", "--node-grace", "16s", "--user", "robot=system:serviceaccount:default:robot")
	run := func(claim string, check func(t *testing.T)) {
		t.Run(claim, func(t *testing.T) {
			b.t = t
			check(t)
		})
		b.t = t
	}
	run("a StatefulSet with claims comes up", func(t *testing.T) {
		b.apply(web, "apply", "-f", "-")
		b.shows("statefulset/web", "{.status.readyReplicas}", "3")
		b.shows("pvc/data-web-0", "{.status.phase}", "Bound")
	})
	run("an eviction is let through and the next one refused by the budget", func(t *testing.T) {
		evict := func(pod string) (string, error) {
			path := "/api/v1/namespaces/default/pods/" + pod + "/eviction"
			return b.try("admin", strings.Replace(evictWeb, "POD", pod, 1), "create", "--raw", path, "-f", "-")
		}
		b.shows("pdb/web", "{.status.disruptionsAllowed}", "1")
		if out, err := evict("web-2"); err != nil || !strings.Contains(out, `"code":201`) {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := evict("web-1"); err == nil || !strings.Contains(out, "Cannot evict pod as it would violate the pod's disruption budget") {
			t.Errorf("%v: %s", err, out)
		}
		b.shows("pdb/web", "{.status.disruptionsAllowed}", "1")
	})
	run("a new image rolls through, a broken one sticks", func(t *testing.T) {
		b.kubectl("set", "image", "statefulset/web", "main=app:v2")
		b.kubectl("rollout", "status", "statefulset/web")
		b.kubectl("set", "image", "statefulset/web", "main=app:broken")
		b.shows("pod/web-2", "{.status.phase} {.status.containerStatuses[0].state.waiting.reason}", "Pending ImagePullBackOff")
	})
	run("a crashing Pod runs and is never ready", func(t *testing.T) {
		b.kubectl("run", "bad", "--image=app:crash")
		b.shows("pod/bad", "{.status.phase} {.status.containerStatuses[0].state.waiting.reason} "+ready, "Running CrashLoopBackOff False")
	})
	run("an image changes in place", func(t *testing.T) {
		b.kubectl("run", "one", "--image=app:v1", "--annotations=simcluster.sluice.dev/startup=300ms")
		b.shows("pod/one", ready, "True")
		b.kubectl("set", "image", "pod/one", "one=app:v2")
		b.shows("pod/one", "{.status.containerStatuses[0].image} {.status.containerStatuses[0].restartCount} "+ready, "app:v2 1 True")
	})
	run("users have the rights that their names promise", func(t *testing.T) {
		check := func(user, want string, question ...string) {
			t.Helper()
			out, _ := b.try(user, "", append([]string{"auth", "can-i"}, question...)...)
			if got := strings.TrimSpace(out); got != want {
				t.Errorf("%s %v: got %q, want %q", user, question, got, want)
			}
		}
		check("editor", "yes", "delete", "pods")
		check("viewer", "yes", "list", "pods")
		check("viewer", "no", "delete", "pods")
		check("nobody", "no", "list", "pods")
		out, err := b.try("robot", "", "get", "pods")
		if err == nil || !strings.Contains(out, `User "system:serviceaccount:default:robot" cannot list resource "pods"`) {
			t.Errorf("%v: %s", err, out)
		}
	})
	run("a lost node takes its Pods' readiness with it, and gives it back", func(t *testing.T) {
		node := b.kubectl("get", "pod/one", "-o", "jsonpath={.spec.nodeName}")
		b.kubectl("annotate", "node", node, "simcluster.sluice.dev/lost=true")
		b.shows("node/"+node, ready, "Unknown")
		b.shows("pod/one", ready, "False")
		b.kubectl("annotate", "node", node, "simcluster.sluice.dev/lost-")
		b.shows("node/"+node, ready, "True")
		b.shows("pod/one", ready, "True")
		// It took longer than the others would be trusted without heartbeats.
		silent := b.kubectl("get", "events", "-A", "--field-selector=reason=NodeNotReady,involvedObject.kind=Node",
			"-o", "jsonpath={.items[*].involvedObject.name}")
		if silent != node {
			t.Errorf("lost was %s, the node controller missed %q", node, silent)
		}
	})
	run("each component takes its faults alone", func(t *testing.T) {
		b.order("pause", "etcd")
		b.order("resume", "etcd")
		b.order("kill", "kube-apiserver")
		if out, err := b.try("admin", "", "get", "pods"); err == nil {
			t.Errorf("it answers: %s", out)
		}
		b.order("restart", "kube-apiserver")
		for _, component := range []string{"etcd", "kube-controller-manager", "kube-scheduler", "kubelets"} {
			b.order("restart", component)
		}
		b.kubectl("run", "after", "--image=app:v1", "--annotations=simcluster.sluice.dev/startup=300ms")
		b.shows("pod/after", ready, "True")
	})
	run("the audit log counts requests by user", func(t *testing.T) {
		b.order("audit", "--user", "admin")
	})
}

func TestNoChildOutlivesItsParent(t *testing.T) {
	for name, end := range map[string]func(b *bench){
		"killed":   func(b *bench) { _ = b.up.Process.Kill() },
		"signaled": func(b *bench) { _ = b.up.Process.Signal(os.Interrupt) },
		"ordered":  func(b *bench) { b.order("down") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			state, err := b.state()
			if err != nil || len(state.Components) != 5 {
				t.Fatalf("%v: %+v", err, state)
			}
			// One that is stopped can't see to its own end.
			if err := syscall.Kill(state.Components[0].PID, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			end(b)
			_ = b.up.Wait()
			for _, component := range state.Components {
				b.until(component.Name+" is gone", func() bool { return !alive(component.PID) })
			}
		})
	}
}
