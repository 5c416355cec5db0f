package kubelet

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lab is one Pod and a kubelet that is asked again whenever it wants to be. Its tests are those of
// the embedded cluster's kubelet, so that the two don't drift apart.
type lab struct {
	t      *testing.T
	pod    *v1.Pod
	memory memory
	now    time.Time
	heal   bool
	events []string
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 700_000_000, time.UTC)

func newLab(t *testing.T, image string, annotations notes) *lab {
	return &lab{t: t, pod: podWith(image, annotations), now: start}
}

// until steps until nothing is due before `seconds` after the start.
func (l *lab) until(seconds float64) {
	end := start.Add(time.Duration(seconds * float64(time.Second)))
	for l.pod != nil {
		script := ScriptOf(l.pod, 2*time.Second, 1)
		out := step(l.pod, "10.0.0.1", script, l.memory, l.heal, l.now)
		l.memory = out.memory
		for _, event := range out.events {
			l.events = append(l.events, event.reason+": "+event.message)
		}
		if out.write != nil {
			l.pod = throughTheAPI(out.write)
		}
		if out.remove {
			zero := int64(0)
			l.pod.DeletionGracePeriodSeconds = &zero
			if len(l.pod.Finalizers) == 0 {
				l.pod = nil
			}
		}
		switch {
		case out.write != nil || out.remove:
		case !out.wake.IsZero() && !out.wake.After(end):
			l.now = out.wake
		default:
			l.now = end
			return
		}
	}
	l.now = end
}

// throughTheAPI loses what the API doesn't keep: fractions of seconds.
func throughTheAPI(pod *v1.Pod) *v1.Pod {
	text, err := pod.Marshal()
	if err != nil {
		panic(err)
	}
	read := &v1.Pod{}
	if err := read.Unmarshal(text); err != nil {
		panic(err)
	}
	return read
}

func (l *lab) delete(grace int64) {
	at := metav1.NewTime(l.now)
	l.pod.DeletionTimestamp, l.pod.DeletionGracePeriodSeconds = &at, &grace
}

type seen struct {
	phase    v1.PodPhase
	waiting  string
	restarts int32
	ready    bool
}

func (l *lab) check(phase v1.PodPhase, waiting string, restarts int32, ready bool) {
	l.t.Helper()
	first := l.pod.Status.ContainerStatuses[0]
	got := seen{phase: l.pod.Status.Phase, restarts: first.RestartCount}
	if first.State.Waiting != nil {
		got.waiting = first.State.Waiting.Reason
	}
	if found := condition(l.pod, v1.PodReady); found != nil {
		got.ready = found.Status == v1.ConditionTrue
	}
	if want := (seen{phase, waiting, restarts, ready}); got != want {
		l.t.Errorf("after %v: got %+v, want %+v", l.now.Sub(start), got, want)
	}
}

func (l *lab) gone(want bool) {
	l.t.Helper()
	if (l.pod == nil) != want {
		l.t.Errorf("after %v: gone is %v", l.now.Sub(start), l.pod == nil)
	}
}

func TestAPodRunsAfterItsStartUpToTheMillisecond(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "8s"})
	lab.until(7.99)
	lab.check("Pending", "ContainerCreating", 0, false)
	lab.until(8)
	lab.check("Running", "", 0, true)
	if lab.pod.Status.PodIP != "10.128.0.1" || lab.pod.Status.HostIP != "10.0.0.1" {
		t.Errorf("addresses %q, %q", lab.pod.Status.PodIP, lab.pod.Status.HostIP)
	}
}

func TestReadyAfterDelaysReadinessAlone(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "2s", "ready-after": "3s"})
	lab.until(4.9)
	lab.check("Running", "", 0, false)
	lab.until(5)
	lab.check("Running", "", 0, true)
}

func TestABrokenImageStaysPendingWithImagePullBackOff(t *testing.T) {
	lab := newLab(t, "app:broken", nil)
	lab.until(3600)
	lab.check("Pending", "ImagePullBackOff", 0, false)
	if !slices.Contains(lab.events, `BackOff: Back-off pulling image "app:broken"`) {
		t.Error(lab.events)
	}
}

func TestABrokenImageThatIsMendedInPlaceStarts(t *testing.T) {
	lab := newLab(t, "app:broken", nil)
	lab.until(10)
	lab.pod.Spec.Containers[0].Image = "app:v1"
	lab.until(20)
	lab.check("Running", "", 0, true)
}

func TestACrashingImageIsRunningNeverReadyAndWaitsLongerEachTime(t *testing.T) {
	lab := newLab(t, "app:crash", notes{"startup": "1s"})
	lab.until(1)
	lab.check("Running", "CrashLoopBackOff", 1, false)
	lab.until(11)
	lab.check("Running", "CrashLoopBackOff", 2, false)
	lab.until(30.9)
	lab.check("Running", "CrashLoopBackOff", 2, false)
	lab.until(31)
	lab.check("Running", "CrashLoopBackOff", 3, false)
}

func TestCrashAfterTakesAReadyPodDownAndARestartBringsItBack(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "1s", "crash-after": "5s"})
	lab.until(5.9)
	lab.check("Running", "", 0, true)
	lab.until(6)
	lab.check("Running", "CrashLoopBackOff", 1, false)
	lab.until(16)
	lab.check("Running", "", 1, true)
}

func TestAReadyConditionSetBySomebodyElseStays(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "1s"})
	lab.until(2)
	condition(lab.pod, v1.PodReady).Status = v1.ConditionFalse
	lab.until(600)
	lab.check("Running", "", 0, false)
}

func TestAPodThatTheNodeControllerMadeUnreadyIsReadyWhenItsNodeIsBack(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "1s"})
	lab.until(2)
	condition(lab.pod, v1.PodReady).Status = v1.ConditionFalse
	lab.heal = true
	lab.until(3)
	lab.check("Running", "", 0, true)
}

func TestReadinessGatesHoldAPodUntilAllAreTrue(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "1s"})
	lab.pod.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}}
	lab.until(2)
	lab.check("Running", "", 0, false)
	setCondition(lab.pod, "InPlaceUpdateReady", v1.ConditionTrue, "", "", lab.now)
	lab.until(3)
	lab.check("Running", "", 0, true)
	setCondition(lab.pod, "InPlaceUpdateReady", v1.ConditionFalse, "", "", lab.now)
	lab.until(4)
	lab.check("Running", "", 0, false)
}

func TestATerminatingPodStaysForAsLongAsItsContainersNeed(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "1s", "terminate-after": "10s"})
	lab.until(2)
	lab.delete(30)
	lab.until(11.9)
	lab.check("Running", "", 0, true)
	lab.until(12)
	lab.gone(true)
	if !slices.Contains(lab.events, "Killing: Stopping container main") {
		t.Error(lab.events)
	}
}

func TestTheGracePeriodCutsALongStopShort(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"terminate-after": "1h"})
	lab.until(5)
	lab.delete(3)
	lab.until(7.9)
	lab.gone(false)
	lab.until(8)
	lab.gone(true)
}

func TestAFinalizerKeepsAStoppedPodAndTheKubeletLeavesItBe(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "1s"})
	lab.pod.Finalizers = []string{"x/y"}
	lab.until(2)
	lab.delete(30)
	lab.until(100)
	lab.gone(false)
	lab.check(v1.PodSucceeded, "", 0, false)
}

func TestAnImageChangedInPlaceRestartsTheContainerUnderTheSamePod(t *testing.T) {
	lab := newLab(t, "app:v1", notes{"startup": "4s"})
	lab.until(5)
	lab.pod.Spec.Containers[0].Image = "app:v2"
	lab.until(8.9)
	lab.check("Running", "ContainerCreating", 1, false)
	lab.until(9)
	lab.check("Running", "", 1, true)
	if got := lab.pod.Status.ContainerStatuses[0].Image; got != "app:v2" {
		t.Error(got)
	}
}

func TestAKubeletThatForgotGoesByWhatTheAPISays(t *testing.T) {
	lab := newLab(t, "app:crash", notes{"startup": "1s"})
	lab.until(11)
	lab.check("Running", "CrashLoopBackOff", 2, false)
	lab.memory = memory{}
	lab.until(29)
	lab.check("Running", "CrashLoopBackOff", 2, false)
	lab.until(31)
	lab.check("Running", "CrashLoopBackOff", 3, false)
}

func TestAnImageMendedInPlaceTakesAsLongToStartAsAnyOther(t *testing.T) {
	lab := newLab(t, "app:broken", nil)
	lab.until(100)
	lab.check("Pending", "ImagePullBackOff", 0, false)
	lab.pod.Spec.Containers[0].Image = "app:v2"
	lab.until(101.9)
	lab.check("Pending", "ContainerCreating", 0, false)
	lab.until(102.2)
	lab.check("Running", "", 0, true)
}

func TestAnImageBrokenInPlaceIsToldByItsOwnName(t *testing.T) {
	lab := newLab(t, "app:broken", nil)
	lab.until(100)
	lab.pod.Spec.Containers[0].Image = "app:broken-too"
	lab.until(102)
	if !slices.Contains(lab.events, `BackOff: Back-off pulling image "app:broken-too"`) {
		t.Error(lab.events)
	}
}
