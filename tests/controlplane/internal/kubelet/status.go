package kubelet

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// What our own "not ready" says, so that one set by somebody else can be told from it.
	notReady      = "ContainersNotReady"
	gatesNotReady = "ReadinessGatesNotReady"
)

// waiting, running and ended are the states that the containers of a Pod are in, all alike.
func waiting(reason, message string) v1.ContainerState {
	return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func running(since metav1.Time) v1.ContainerState {
	return v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: since}}
}

func ended(code int32, at time.Time) v1.ContainerState {
	reason := "Error"
	if code == 0 {
		reason = "Completed"
	}
	end := &v1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(at)}
	return v1.ContainerState{Terminated: end}
}

// setContainers writes the containers' state. died is when they last died, which counts as a
// restart; zero when they didn't.
func setContainers(pod *v1.Pod, state v1.ContainerState, ready bool, died time.Time) {
	before := map[string]v1.ContainerStatus{}
	for _, status := range pod.Status.ContainerStatuses {
		before[status.Name] = status
	}
	pod.Status.ContainerStatuses = nil
	for _, spec := range pod.Spec.Containers {
		old := before[spec.Name]
		started := state.Running != nil
		status := v1.ContainerStatus{
			Name: spec.Name, Image: spec.Image, ImageID: old.ImageID,
			RestartCount: old.RestartCount, LastTerminationState: old.LastTerminationState,
			State: *state.DeepCopy(), Ready: ready, Started: &started,
		}
		if started {
			status.ImageID = "sim://" + spec.Image
		}
		if !died.IsZero() {
			status.RestartCount++
			status.LastTerminationState = ended(1, died)
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
}

// setReady brings ContainersReady and Ready in line with the containers. A Ready that somebody else
// set to False is left alone unless heal says that it was the node controller, which writes no
// reason to tell it by. Readiness gates are asked.
func setReady(pod *v1.Pod, containersReady, heal bool, now time.Time) {
	if !containersReady {
		var names []string
		for _, container := range pod.Spec.Containers {
			names = append(names, container.Name)
		}
		message := fmt.Sprintf("containers with unready status: [%s]", strings.Join(names, " "))
		setCondition(pod, v1.ContainersReady, v1.ConditionFalse, notReady, message, now)
		setCondition(pod, v1.PodReady, v1.ConditionFalse, notReady, message, now)
		return
	}
	setCondition(pod, v1.ContainersReady, v1.ConditionTrue, "", "", now)
	ready := condition(pod, v1.PodReady)
	foreign := ready != nil && ready.Status == v1.ConditionFalse &&
		ready.Reason != notReady && ready.Reason != gatesNotReady
	if foreign && !heal {
		return
	}
	if why := closedGate(pod); why != "" {
		setCondition(pod, v1.PodReady, v1.ConditionFalse, gatesNotReady, why, now)
		return
	}
	setCondition(pod, v1.PodReady, v1.ConditionTrue, "", "", now)
}

// closedGate says why the first closed readiness gate is closed; empty when all are open.
func closedGate(pod *v1.Pod) string {
	for _, gate := range pod.Spec.ReadinessGates {
		found := condition(pod, gate.ConditionType)
		if found == nil {
			return fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.",
				gate.ConditionType)
		}
		if found.Status != v1.ConditionTrue {
			return fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s",
				gate.ConditionType, found.Status)
		}
	}
	return ""
}

func condition(pod *v1.Pod, kind v1.PodConditionType) *v1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// setCondition moves lastTransitionTime only when the status does.
func setCondition(
	pod *v1.Pod, kind v1.PodConditionType, status v1.ConditionStatus, reason, message string,
	now time.Time,
) {
	after := v1.PodCondition{
		Type: kind, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now),
	}
	before := condition(pod, kind)
	if before == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, after)
		return
	}
	if before.Status == status {
		after.LastTransitionTime = before.LastTransitionTime
	}
	after.ObservedGeneration = before.ObservedGeneration
	*before = after
}
