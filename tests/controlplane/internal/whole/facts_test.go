package whole

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// What docs/kubernetes-facts.md says, replayed. Each claim makes its own objects; the name of a claim's
// test is the one that the page gives.

const factSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec:
  replicas: 3
  serviceName: NAME
  podManagementPolicy: Parallel
  updateStrategy: {type: OnDelete}
  selector: {matchLabels: {app: NAME}}
  template:
    metadata:
      labels: {app: NAME}
      annotations: {simcluster.sluice.dev/startup: 200ms, simcluster.sluice.dev/terminate-after: 200ms}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "app:v1"}]
`

const factBudget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: NAME}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: APP}}}
`

const image = "{.spec.containers[0].image}"

// answer is what the server said to one request.
type answer struct {
	code       int
	retryAfter string
	body       struct {
		Status, Reason, Message string
		Details                 struct {
			Causes []struct{ Reason, Message string }
		}
	}
}

// facts is a bench with raw requests.
type facts struct {
	*bench
	client *http.Client
	server string
}

func newFacts(t *testing.T) *facts {
	b := newBench(t, "--node-grace", "10m")
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(b.dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &facts{bench: b, client: client, server: config.Host}
}

// evict sends an Eviction with these deleteOptions, as JSON.
func (f *facts) evict(pod, query, options string) answer {
	f.t.Helper()
	body := fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": "default"}, "deleteOptions": %s}`, pod, options)
	url := f.server + "/api/v1/namespaces/default/pods/" + pod + "/eviction" + query
	response, err := f.client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	said := answer{code: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	if err := json.Unmarshal(text, &said.body); err != nil {
		f.t.Fatalf("%v: %s", err, text)
	}
	f.t.Logf("evict %s%s: %d %s", pod, query, response.StatusCode, text)
	return said
}

func (f *facts) is(what string, got, want any) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (f *facts) read(object, path string) string {
	f.t.Helper()
	return f.kubectl("get", object, "-o", "jsonpath="+path)
}

// deploy makes a set of three Pods of app:v1, and waits until they are ready.
func (f *facts) deploy(name string) {
	f.t.Helper()
	f.apply(strings.ReplaceAll(factSet, "NAME", name), "apply", "-f", "-")
	f.settled(name)
}

func (f *facts) guard(name, app string) {
	f.t.Helper()
	f.apply(strings.NewReplacer("NAME", name, "APP", app).Replace(factBudget), "apply", "-f", "-")
	f.shows("pdb/"+name, "{.status.disruptionsAllowed} {.status.currentHealthy}", "1 3")
}

// settled waits until the controller has seen the set's generation and all Pods are ready.
func (f *facts) settled(name string) {
	f.t.Helper()
	f.until(name+" has settled", func() bool {
		out, _ := f.try("admin", "", "get", "statefulset/"+name, "-o",
			"jsonpath={.metadata.generation} {.status.observedGeneration} {.status.readyReplicas} {.status.replicas}")
		var generation, observed, ready, all int
		n, _ := fmt.Sscan(out, &generation, &observed, &ready, &all)
		return n == 4 && generation == observed && ready == 3 && all == 3
	})
}

func (f *facts) template(name, image string) {
	f.t.Helper()
	f.kubectl("set", "image", "statefulset/"+name, "main="+image)
	f.settled(name)
}

func (f *facts) strategy(name, strategy string) {
	f.t.Helper()
	f.kubectl("patch", "statefulset", name, "--type=merge", "-p", `{"spec": {"updateStrategy": `+strategy+`}}`)
	f.settled(name)
}

func (f *facts) partition(name string, partition int) {
	f.t.Helper()
	f.strategy(name, fmt.Sprintf(`{"type": "RollingUpdate", "rollingUpdate": {"partition": %d}}`, partition))
}

// lose deletes Pods, and waits until others of their names are ready.
func (f *facts) lose(pods ...string) {
	f.t.Helper()
	before := map[string]string{}
	for _, pod := range pods {
		before[pod] = f.read("pod/"+pod, "{.metadata.uid}")
	}
	f.kubectl(append([]string{"delete", "pod", "--wait=false"}, pods...)...)
	for pod, uid := range before {
		f.until(pod+" is back", func() bool {
			out, err := f.try("admin", "", "get", "pod/"+pod, "-o", "jsonpath={.metadata.uid} "+ready)
			return err == nil && !strings.HasPrefix(out, uid) && strings.HasSuffix(out, "True")
		})
	}
}

func (f *facts) revisions(name string) (current, update string) {
	f.t.Helper()
	_, _ = fmt.Sscan(f.read("statefulset/"+name, "{.status.currentRevision} {.status.updateRevision}"), &current, &update)
	return current, update
}

func TestFacts(t *testing.T) {
	f := newFacts(t)
	for _, claim := range []struct {
		name  string
		check func(f *facts)
	}{
		{"on-delete-returns-at-the-update-revision", onDelete},
		{"switch-trap", switchTrap},
		{"partition-holds-after-settling", settling},
		{"eviction-codes", evictionCodes},
		{"eviction-under-two-budgets", twoBudgets},
		{"eviction-of-pods-that-are-not-running", notRunning},
		{"eviction-precondition-costs-a-slot", precondition},
		{"evicted-and-back-counts-at-once", backAtOnce},
		{"newborn-under-a-disrupted-name", newborn},
		{"written-current-revision", writtenRevision},
	} {
		t.Run(claim.name, func(t *testing.T) {
			f.t = t
			claim.check(f)
		})
		f.t = t
	}
}

func onDelete(f *facts) {
	f.deploy("ondelete")
	first, _ := f.revisions("ondelete")
	f.template("ondelete", "app:v2")
	f.is("Pod that nobody deleted", f.read("pod/ondelete-0", image), "app:v1")
	f.lose("ondelete-1")
	f.is("deleted Pod", f.read("pod/ondelete-1", image), "app:v2")
	f.lose("ondelete-0", "ondelete-2")
	f.shows("statefulset/ondelete", "{.status.updatedReplicas} {.status.readyReplicas}", "3 3")
	current, update := f.revisions("ondelete")
	f.is("currentRevision with all Pods updated", current, first)
	f.is("updateRevision is another", update != first, true)
}

func switchTrap(f *facts) {
	for name, seen := range map[string]bool{"trap": false, "seen": true} {
		f.deploy(name)
		f.template(name, "app:v2")
		f.lose(name+"-0", name+"-1", name+"-2")
		f.shows("statefulset/"+name, "{.status.updatedReplicas}", "3")
		if seen {
			// The controller sees the new strategy with every Pod updated: that is what completes a
			// rolling update, whatever the partition.
			f.partition(name, 3)
			f.until("currentRevision is the update revision", func() bool {
				current, update := f.revisions(name)
				return current == update
			})
		}
		f.kubectl("patch", "statefulset", name, "--type=merge", "-p",
			`{"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}, "template": {"spec": {"containers": [{"name": "main", "image": "app:v3"}]}}}}`)
		f.settled(name)
		f.lose(name + "-1")
		want := "app:v1"
		if seen {
			want = "app:v2"
		}
		f.is("Pod of "+name+" lost below the partition", f.read("pod/"+name+"-1", image), want)
	}
}

func settling(f *facts) {
	f.deploy("settle")
	f.template("settle", "app:v2")
	f.lose("settle-0", "settle-1", "settle-2")
	uids := f.read("pods", `{.items[*].metadata.uid}`)
	f.partition("settle", 0)
	f.until("currentRevision is the update revision", func() bool {
		current, update := f.revisions("settle")
		return current == update
	})
	f.is("UIDs after settling", f.read("pods", `{.items[*].metadata.uid}`), uids)
	f.kubectl("patch", "statefulset", "settle", "--type=merge", "-p",
		`{"spec": {"updateStrategy": {"rollingUpdate": {"partition": 3}}, "template": {"spec": {"containers": [{"name": "main", "image": "app:v3"}]}}}}`)
	f.settled("settle")
	f.lose("settle-1")
	f.is("Pod lost under partition 3", f.read("pod/settle-1", image), "app:v2")
	f.kubectl("patch", "statefulset", "settle", "--type=merge", "-p", `{"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}}`)
	f.shows("pod/settle-1", image+" "+ready, "app:v3 True")
	f.shows("pod/settle-2", image+" "+ready, "app:v3 True")
	f.lose("settle-0")
	f.is("Pod lost below partition 1", f.read("pod/settle-0", image), "app:v2")
}

func evictionCodes(f *facts) {
	f.deploy("codes")
	free := f.evict("codes-0", "?dryRun=All", `{"dryRun": ["All"]}`)
	f.is("without a budget, dry", free.code, http.StatusCreated)
	f.guard("codes", "codes")
	dry := f.evict("codes-0", "?dryRun=All", `{"dryRun": ["All"]}`)
	f.is("dry run", dry.code, http.StatusCreated)
	f.is("allowed after a dry run", f.read("pdb/codes", "{.status.disruptionsAllowed}"), "1")
	// A Pod that stays on its way out keeps the budget used up.
	f.kubectl("patch", "pod", "codes-0", "--type=merge", "-p", `{"metadata": {"finalizers": ["facts.test/hold"]}}`)
	done := f.evict("codes-0", "", `{}`)
	f.is("accepted", done.code, http.StatusCreated)
	f.is("accepted says", done.body.Status, "Success")
	full := f.evict("codes-1", "", `{}`)
	f.is("budget used up", full.code, http.StatusTooManyRequests)
	f.is("reason", full.body.Reason, "TooManyRequests")
	f.is("Retry-After", full.retryAfter, "")
	if causes := full.body.Details.Causes; len(causes) != 1 || causes[0].Reason != "DisruptionBudget" ||
		causes[0].Message != "The disruption budget codes needs 2 healthy pods and has 2 currently" {
		f.t.Errorf("causes: %+v", causes)
	}
	again := f.evict("codes-0", "", `{}`)
	f.is("once more while it goes", again.code, http.StatusCreated)
	f.is("reason of its condition", f.read("pod/codes-0", `{.status.conditions[?(@.type=="DisruptionTarget")].reason}`), "EvictionByEvictionAPI")
	f.kubectl("patch", "pod", "codes-0", "--type=merge", "-p", `{"metadata": {"finalizers": null}}`)
	f.is("no such Pod", f.evict("codes-9", "", `{}`).code, http.StatusNotFound)
}

func twoBudgets(f *facts) {
	f.deploy("both")
	f.guard("both", "both")
	f.guard("both-too", "both")
	said := f.evict("both-0", "", `{}`)
	f.is("code", said.code, http.StatusInternalServerError)
	f.is("status", said.body.Status, "Failure")
	f.is("reason", said.body.Reason, "")
	f.is("message names the cause", strings.Contains(said.body.Message, "more than one PodDisruptionBudget"), true)
}

func notRunning(f *facts) {
	f.deploy("sick")
	f.template("sick", "app:broken")
	f.guard("sick", "sick")
	f.kubectl("delete", "pod", "sick-2")
	f.shows("pod/sick-2", "{.status.containerStatuses[0].state.waiting.reason}", "ImagePullBackOff")
	f.shows("pdb/sick", "{.status.disruptionsAllowed} {.status.currentHealthy}", "0 2")
	f.is("healthy Pod", f.evict("sick-1", "", `{}`).code, http.StatusTooManyRequests)
	f.is("Pending Pod", f.evict("sick-2", "", `{}`).code, http.StatusCreated)
}

func precondition(f *facts) {
	f.deploy("slot")
	f.guard("slot", "slot")
	uid := f.read("pod/slot-0", "{.metadata.uid}")
	said := f.evict("slot-0", "", `{"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}}`)
	f.is("another's UID", said.code, http.StatusConflict)
	f.is("Pod after it", f.read("pod/slot-0", "{.metadata.uid}"), uid)
	f.shows("pdb/slot", "{.status.disruptionsAllowed} {.status.disruptedPods}", "0 "+f.read("pdb/slot", "{.status.disruptedPods}"))
	f.is("disruptedPods names it", strings.Contains(f.read("pdb/slot", "{.status.disruptedPods}"), "slot-0"), true)
	f.is("the next one", f.evict("slot-1", "", `{}`).code, http.StatusTooManyRequests)
}

func backAtOnce(f *facts) {
	f.deploy("quick")
	f.guard("quick", "quick")
	began := time.Now()
	uid := f.read("pod/quick-0", "{.metadata.uid}")
	f.is("eviction", f.evict("quick-0", "", `{}`).code, http.StatusCreated)
	f.until("another is ready", func() bool {
		out, err := f.try("admin", "", "get", "pod/quick-0", "-o", "jsonpath={.metadata.uid} "+ready)
		return err == nil && !strings.HasPrefix(out, uid) && strings.HasSuffix(out, "True")
	})
	back := time.Since(began)
	f.shows("pdb/quick", "{.status.disruptionsAllowed} {.status.currentHealthy}", "1 3")
	f.t.Logf("ready again after %v, budget back after %v", back, time.Since(began))
	f.is("long before the two minutes are over", time.Since(began) < time.Minute, true)
}

// A budget whose controller sees nothing between the eviction and the readiness of a Pod of the same
// name: it is stopped meanwhile. When it goes on, it may look at its Pods between two of the changes
// that it has missed; then there is nothing to be learned from that try.
func newborn(f *facts) {
	const tries = 10
	for try := range tries {
		name := fmt.Sprintf("twin-%d", try)
		if f.newborn(name) {
			f.is("disruptedPods names it", strings.Contains(f.read("pdb/"+name, "{.status.disruptedPods}"), name), true)
			return
		}
	}
	f.t.Errorf("in %d tries the controller never took a newborn for the one that was evicted", tries)
}

// newborn says whether the controller took a Pod for the one that was evicted under its name.
func (f *facts) newborn(name string) bool {
	pod := func(called string) {
		f.apply(fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q, "labels": {"app": %q}, "annotations": {"simcluster.sluice.dev/startup": "200ms"}}, "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "app:v1"}]}}`, called, name), "apply", "-f", "-")
	}
	pod(name)
	pod(name + "-other")
	f.apply(fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": %q}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": %q}}}}`, name, name), "apply", "-f", "-")
	f.shows("pdb/"+name, "{.status.disruptionsAllowed} {.status.currentHealthy}", "1 2")
	uid := f.read("pod/"+name, "{.metadata.uid}")
	f.order("pause", "kube-controller-manager")
	f.is("eviction", f.evict(name, "", `{}`).code, http.StatusCreated)
	f.until("it is gone", func() bool {
		out, err := f.try("admin", "", "get", "pod/"+name)
		return err != nil && strings.Contains(out, "NotFound")
	})
	pod(name)
	f.shows("pod/"+name, ready, "True")
	f.is("another Pod", f.read("pod/"+name, "{.metadata.uid}") != uid, true)
	f.order("resume", "kube-controller-manager")
	// Pods are seen in order: with a later one, the newborn has been seen.
	pod(name + "-later")
	f.shows("pod/"+name+"-later", ready, "True")
	counts := ""
	f.until("the later Pod is counted", func() bool {
		counts, _ = f.try("admin", "", "get", "pdb/"+name, "-o", "jsonpath={.status.expectedPods} {.status.currentHealthy} {.status.disruptionsAllowed}")
		return counts == "3 2 1" || counts == "3 3 2"
	})
	f.t.Logf("%s: expected, healthy, allowed: %s", name, counts)
	return counts == "3 2 1"
}

// currentRevision written by somebody else under OnDelete.
func writtenRevision(f *facts) {
	f.deploy("written")
	first, _ := f.revisions("written")
	f.template("written", "app:v2")
	f.lose("written-0", "written-1", "written-2")
	_, update := f.revisions("written")
	write := func(revision string) {
		f.kubectl("patch", "statefulset", "written", "--subresource=status", "--type=merge", "-p", `{"status": {"currentRevision": "`+revision+`"}}`)
	}
	write(update)
	f.lose("written-1")
	f.settled("written")
	current, _ := f.revisions("written")
	f.is("currentRevision after a write in peace and a lost Pod", current, update)
	lost := 0
	const tries = 10
	for range tries {
		write(first)
		f.settled("written")
		// So that it finds the write and the lost Pods in one moment, by two watches.
		f.order("pause", "kube-controller-manager")
		f.kubectl("delete", "pod", "--wait=false", "written-0", "written-1", "written-2")
		write(update)
		f.order("resume", "kube-controller-manager")
		f.until("all Pods are there", func() bool {
			out, _ := f.try("admin", "", "get", "pods", "-l", "app=written", "-o", "jsonpath={.items[*].metadata.deletionTimestamp}/{.items[*].status.conditions[?(@.type==\"Ready\")].status}")
			return out == "/True True True"
		})
		f.settled("written")
		if current, _ = f.revisions("written"); current != update {
			lost++
		}
	}
	f.t.Logf("a write while the controller was behind was lost %d times of %d", lost, tries)
}
