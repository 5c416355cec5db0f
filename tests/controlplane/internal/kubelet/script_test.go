package kubelet

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type notes = map[string]string

func podWith(image string, annotations notes) *v1.Pod {
	all := map[string]string{}
	for name, value := range annotations {
		all[Prefix+name] = value
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-0", Namespace: "ns", UID: "u", ResourceVersion: "1", Annotations: all,
		},
		Spec: v1.PodSpec{
			NodeName:   "node-1",
			Containers: []v1.Container{{Name: "main", Image: image}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

func script(image string, annotations notes) Script {
	return ScriptOf(podWith(image, annotations), 2*time.Second, 7)
}

func TestDurationsAreReadAsGoWritesThem(t *testing.T) {
	check := func(text string, want time.Duration, good bool) {
		t.Helper()
		got, ok := ParseSpan(text)
		if ok != good || good && got != want {
			t.Errorf("%q: got %v, %v", text, got, ok)
		}
	}
	check("8s", 8*time.Second, true)
	check("1m30s", 90*time.Second, true)
	check("1.5s", 1500*time.Millisecond, true)
	check("250ms", 250*time.Millisecond, true)
	check("3", 3*time.Second, true)
	check("", 0, false)
	check("8 apples", 0, false)
	check("s", 0, false)
	check("-1", 0, false)
	check("-1s", 0, false)
	check("inf", 0, false)
}

func TestWordsInImageNamesDecide(t *testing.T) {
	if got := script("app:broken", nil).Broken; got != "app:broken" {
		t.Errorf("broken: %q", got)
	}
	if got := script("app:unbroken", nil).Broken; got != "" {
		t.Errorf("unbroken: %q", got)
	}
	if !script("registry/crash-app:v2", nil).Crashes || script("crashes:v1", nil).Crashes {
		t.Error("crash is a word by itself")
	}
	if got := script("slow:v1", nil).StartUp; got < slow {
		t.Errorf("slow: %v", got)
	}
}

func TestAnnotationsFixTimesExactlyAndTheDefaultVariesALittle(t *testing.T) {
	if got := script("app:v1", notes{"startup": "8s"}).StartUp; got != 8*time.Second {
		t.Errorf("fixed: %v", got)
	}
	got := script("app:v1", nil).StartUp
	if got < 2*time.Second || got > 2100*time.Millisecond {
		t.Errorf("default: %v", got)
	}
	if again := script("app:v1", nil).StartUp; again != got {
		t.Errorf("another look reads %v, not %v", again, got)
	}
}

func TestAFailProbabilityOfOneAlwaysFailsAndOfZeroNever(t *testing.T) {
	if !script("app:v1", notes{"fail-probability": "1"}).Crashes {
		t.Error("1 did not fail")
	}
	if script("app:v1", notes{"fail-probability": "0"}).Crashes {
		t.Error("0 failed")
	}
}
