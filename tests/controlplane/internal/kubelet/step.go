package kubelet

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// How long a pull takes to fail.
	pull = time.Second
	// First and longest wait before a crashed container is started again; it doubles each time.
	backOffFirst = 10 * time.Second
	backOffLimit = 5 * time.Minute
)

// memory is what a kubelet remembers of a Pod, to the nanosecond where the API has seconds. One that
// forgot (a restart) goes by what the API says.
type memory struct {
	// Since when the containers are in the state that they are in.
	since time.Time
	// Since when they are being stopped.
	stopping time.Time
}

type event struct{ kind, reason, message string }

// outcome is what one look at a Pod asks for. Memory holds only once the write has been taken.
type outcome struct {
	// The Pod with the status to be written; nil when there is nothing to write.
	write *v1.Pod
	// Whether the Pod is to be removed for good, after the write.
	remove bool
	events []event
	memory memory
	// When to look again though nothing changed; zero for never.
	wake time.Time
}

// look is one look at one Pod. It asks for at most one status write.
type look struct {
	pod    *v1.Pod
	host   string
	script Script
	// The node controller marked the Pod unready, and its node is back.
	heal bool
	now  time.Time
	out  outcome
}

func step(pod *v1.Pod, host string, script Script, remembered memory, heal bool, now time.Time) outcome {
	look := &look{pod: pod, host: host, script: script, heal: heal, now: now}
	look.out.memory = remembered
	switch {
	case pod.DeletionTimestamp != nil:
		look.out.wake = look.stop()
	case hasEnded(pod):
	case pod.Status.StartTime == nil:
		look.out.wake = look.admit()
	default:
		look.out.wake = look.live()
	}
	return look.out
}

func hasEnded(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// first is the status of the first container, which stands for all of them.
func (l *look) first() v1.ContainerStatus {
	if len(l.pod.Status.ContainerStatuses) == 0 {
		return v1.ContainerStatus{}
	}
	return l.pod.Status.ContainerStatuses[0]
}

// since is when the containers took the state that they are in.
func (l *look) since() time.Time {
	if !l.out.memory.since.IsZero() {
		return l.out.memory.since
	}
	first := l.first()
	switch {
	case first.State.Running != nil:
		return first.State.Running.StartedAt.Time
	// After a crash the state is "waiting", and when that began is told by the death before.
	case first.State.Waiting != nil && first.LastTerminationState.Terminated != nil:
		return first.LastTerminationState.Terminated.FinishedAt.Time
	case l.pod.Status.StartTime != nil:
		return l.pod.Status.StartTime.Time
	}
	return l.now
}

func (l *look) edit(edit func(pod *v1.Pod)) {
	after := l.pod.DeepCopy()
	edit(after)
	if !equality.Semantic.DeepEqual(l.pod.Status, after.Status) {
		l.out.write = after
	}
}

func (l *look) say(kind, reason, format string, args ...any) {
	l.out.events = append(l.out.events, event{kind, reason, fmt.Sprintf(format, args...)})
}

func (l *look) admit() time.Time {
	l.out.memory.since = l.now
	l.edit(func(pod *v1.Pod) {
		start := metav1.NewTime(l.now)
		pod.Status.Phase = v1.PodPending
		pod.Status.StartTime = &start
		if l.host != "" {
			pod.Status.HostIP = l.host
			pod.Status.HostIPs = []v1.HostIP{{IP: l.host}}
		}
		pod.Status.PodIP = address(pod)
		pod.Status.PodIPs = []v1.PodIP{{IP: pod.Status.PodIP}}
		setCondition(pod, v1.PodInitialized, v1.ConditionTrue, "", "", l.now)
		setContainers(pod, waiting("ContainerCreating", ""), false, time.Time{})
		setReady(pod, false, false, l.now)
	})
	if l.script.Broken != "" {
		return l.now.Add(pull)
	}
	return l.now.Add(l.script.StartUp)
}

func (l *look) live() time.Time {
	first := l.first()
	runs := first.State.Running != nil
	if l.imageChanged() {
		return l.replace(runs)
	}
	if runs {
		return l.run(first)
	}
	reason := ""
	if first.State.Waiting != nil {
		reason = first.State.Waiting.Reason
	}
	switch reason {
	case "ImagePullBackOff":
		return time.Time{}
	case "CrashLoopBackOff":
		return l.restart(first.RestartCount)
	}
	return l.start(first.RestartCount)
}

func (l *look) start(restarts int32) time.Time {
	if l.script.Broken != "" {
		return l.failToPull()
	}
	if due := l.since().Add(l.script.StartUp); due.After(l.now) {
		return due
	}
	if l.script.Crashes {
		return l.crash(restarts)
	}
	return l.begin()
}

// begin: the containers run from now on.
func (l *look) begin() time.Time {
	l.out.memory.since = l.now
	ready := l.script.ReadyAfter == 0
	l.edit(func(pod *v1.Pod) {
		pod.Status.Phase = v1.PodRunning
		setContainers(pod, running(metav1.NewTime(l.now)), ready, time.Time{})
		setReady(pod, ready, false, l.now)
	})
	for range l.pod.Spec.Containers {
		l.say(v1.EventTypeNormal, "Started", "Container started")
	}
	return l.nextOfRun(ready)
}

func (l *look) nextOfRun(ready bool) time.Time {
	var next time.Time
	if !ready {
		next = l.since().Add(l.script.ReadyAfter)
	}
	if l.script.CrashAfter != nil {
		crash := l.since().Add(*l.script.CrashAfter)
		if next.IsZero() || crash.Before(next) {
			next = crash
		}
	}
	return next
}

func (l *look) run(first v1.ContainerStatus) time.Time {
	if after := l.script.CrashAfter; after != nil && !l.since().Add(*after).After(l.now) {
		return l.crash(first.RestartCount)
	}
	if first.Ready {
		// Gates may have opened or closed, and a lost node may be back.
		if l.heal || len(l.pod.Spec.ReadinessGates) > 0 {
			l.edit(func(pod *v1.Pod) { setReady(pod, true, l.heal, l.now) })
		}
		return l.nextOfRun(true)
	}
	if l.since().Add(l.script.ReadyAfter).After(l.now) {
		return l.nextOfRun(false)
	}
	l.edit(func(pod *v1.Pod) {
		setContainers(pod, *first.State.DeepCopy(), true, time.Time{})
		setReady(pod, true, l.heal, l.now)
	})
	return l.nextOfRun(true)
}

// replace: the containers are replaced under the same Pod; those that ran die for it.
func (l *look) replace(ran bool) time.Time {
	l.out.memory.since = l.now
	var died time.Time
	if ran {
		died = l.now
	}
	l.edit(func(pod *v1.Pod) {
		setContainers(pod, waiting("ContainerCreating", ""), false, died)
		setReady(pod, false, false, l.now)
	})
	if l.script.Broken != "" {
		return l.now.Add(pull)
	}
	return l.now.Add(l.script.StartUp)
}

func (l *look) imageChanged() bool {
	shown := map[string]string{}
	for _, status := range l.pod.Status.ContainerStatuses {
		shown[status.Name] = status.Image
	}
	for _, spec := range l.pod.Spec.Containers {
		if image, found := shown[spec.Name]; found && image != spec.Image {
			return true
		}
	}
	return false
}

func (l *look) failToPull() time.Time {
	if due := l.since().Add(pull); due.After(l.now) {
		return due
	}
	image := l.script.Broken
	message := fmt.Sprintf("Back-off pulling image %q", image)
	l.edit(func(pod *v1.Pod) {
		setContainers(pod, waiting("ImagePullBackOff", message), false, time.Time{})
	})
	l.say(v1.EventTypeWarning, "Failed", "Failed to pull image %q: not found", image)
	l.say(v1.EventTypeWarning, "Failed", "Error: ErrImagePull")
	l.say(v1.EventTypeNormal, "BackOff", "%s", message)
	l.say(v1.EventTypeWarning, "Failed", "Error: ImagePullBackOff")
	return time.Time{}
}

func (l *look) crash(restarts int32) time.Time {
	l.out.memory.since = l.now
	wait := backOff(restarts)
	name := l.pod.Spec.Containers[0].Name
	who := fmt.Sprintf("%s_%s(%s)", l.pod.Name, l.pod.Namespace, l.pod.UID)
	message := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", wait, name, who)
	l.edit(func(pod *v1.Pod) {
		pod.Status.Phase = v1.PodRunning
		setContainers(pod, waiting("CrashLoopBackOff", message), false, l.now)
		setReady(pod, false, false, l.now)
	})
	l.say(v1.EventTypeWarning, "BackOff",
		"Back-off restarting failed container %s in pod %s", name, who)
	return l.now.Add(wait)
}

func (l *look) restart(restarts int32) time.Time {
	// The crash that is being waited out was number `restarts`.
	if due := l.since().Add(backOff(restarts - 1)); due.After(l.now) {
		return due
	}
	if l.script.Crashes {
		return l.crash(restarts)
	}
	return l.begin()
}

// stop stops the containers within the grace period, then lets the Pod go. Finalizers keep the
// object; a kubelet has no more to do with it then.
func (l *look) stop() time.Time {
	var grace time.Duration
	if seconds := l.pod.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	held := len(l.pod.Finalizers) > 0
	if grace == 0 && held && hasEnded(l.pod) {
		return time.Time{}
	}
	if l.out.memory.stopping.IsZero() {
		l.out.memory.stopping = l.now
		for _, container := range l.pod.Spec.Containers {
			l.say(v1.EventTypeNormal, "Killing", "Stopping container %s", container.Name)
		}
	}
	due := l.out.memory.stopping.Add(min(l.script.TerminateAfter, grace))
	if due.After(l.now) {
		return due
	}
	if held && !hasEnded(l.pod) {
		phase, code := v1.PodSucceeded, int32(0)
		if l.script.TerminateAfter > grace {
			phase, code = v1.PodFailed, 137
		}
		l.edit(func(pod *v1.Pod) {
			pod.Status.Phase = phase
			setContainers(pod, ended(code, l.now), false, time.Time{})
			setReady(pod, false, false, l.now)
		})
	}
	l.out.remove = true
	return time.Time{}
}

func backOff(restarts int32) time.Duration {
	return min(backOffFirst<<max(0, min(restarts, 5)), backOffLimit)
}

// address is one that no other Pod has: the resourceVersion of the binding is given out once. The
// lower half of 10/8 is for nodes and Services.
func address(pod *v1.Pod) string {
	version, err := strconv.ParseUint(pod.ResourceVersion, 10, 64)
	if err != nil {
		version = 1
	}
	return fmt.Sprintf("10.%d.%d.%d", byte(version>>16)|128, byte(version>>8), byte(version))
}
