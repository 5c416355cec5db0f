package kubelet

import (
	"context"
	"fmt"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

const (
	// The kubelet's own defaults.
	leaseSeconds = 40
	heartbeat    = 10 * time.Second
)

func isLost(node *v1.Node) bool {
	value, found := node.Annotations[Lost]
	return found && value != "false"
}

func hostOf(node *v1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == v1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}

func nodeReady(node *v1.Node) *v1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == v1.NodeReady {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

// register creates our Nodes, for as long as it takes the API server to take them.
func (k *kubelets) register(ctx context.Context) {
	for number := range k.options.Nodes {
		name := fmt.Sprintf("node-%d", number)
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname: name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64",
		}}}
		node.Status = k.alive(node, fmt.Sprintf("10.0.%d.%d", number/250, number%250+1), time.Now())
		for {
			_, err := k.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			if err == nil || errors.IsAlreadyExists(err) || ctx.Err() != nil {
				break
			}
			time.Sleep(again)
		}
	}
}

// alive is the status of a Node that is ready and has room for everything.
func (k *kubelets) alive(node *v1.Node, ip string, now time.Time) v1.NodeStatus {
	status := *node.Status.DeepCopy()
	if len(status.Allocatable) == 0 {
		status.Capacity = v1.ResourceList{
			v1.ResourceCPU:    resource.MustParse("64"),
			v1.ResourceMemory: resource.MustParse("256Gi"),
			v1.ResourcePods:   resource.MustParse("1000"),
		}
		status.Allocatable = status.Capacity
	}
	if len(status.Addresses) == 0 {
		status.Addresses = []v1.NodeAddress{
			{Type: v1.NodeInternalIP, Address: ip}, {Type: v1.NodeHostName, Address: node.Name},
		}
	}
	status.NodeInfo = v1.NodeSystemInfo{
		KubeletVersion: k.options.Version, OSImage: "controlplane", KernelVersion: "0",
		ContainerRuntimeVersion: "controlplane://1", Architecture: "amd64", OperatingSystem: "linux",
	}
	at := metav1.NewTime(now)
	ready := v1.NodeCondition{
		Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
		Message:           "kubelet is posting ready status",
		LastHeartbeatTime: at, LastTransitionTime: at,
	}
	if old := nodeReady(&v1.Node{Status: status}); old != nil {
		*old = ready
	} else {
		status.Conditions = append(status.Conditions, ready)
	}
	return status
}

// nodeChanged sees to it that a Node which isn't lost is ready, and looks after its Pods again when
// it is back or new.
func (k *kubelets) nodeChanged(ctx context.Context, old, node *v1.Node) {
	if isLost(node) {
		return
	}
	if old == nil || isLost(old) {
		for _, pod := range k.podsOf(node.Name) {
			k.enqueue(pod)
		}
		go k.renew(ctx, node)
	}
	ready := nodeReady(node)
	if ready != nil && ready.Status == v1.ConditionTrue {
		return
	}
	if ready != nil {
		lostAt := ready.LastTransitionTime.Time
		k.heal(node.Name, lostAt)
		// The node controller writes the Node first and its Pods after: it may still be at it.
		for _, later := range []time.Duration{time.Second, 5 * time.Second} {
			time.AfterFunc(later, func() { k.heal(node.Name, lostAt) })
		}
	}
	// Only a Node of somebody else's has no address yet.
	ip := fmt.Sprintf("10.1.%d.%d", byte(version(node)>>8), byte(version(node)))
	revived := node.DeepCopy()
	revived.Status = k.alive(node, ip, time.Now())
	go func() {
		_, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, revived, metav1.UpdateOptions{})
		if err != nil {
			klog.InfoS("a node's status was refused; its next change brings it again",
				"node", node.Name, "err", err)
		}
	}()
}

// heal marks the Pods that the node controller made unready when it lost the node. It leaves no
// reason in the condition, so they are told by the time: no earlier than the node's own.
func (k *kubelets) heal(node string, lostAt time.Time) {
	for _, pod := range k.podsOf(node) {
		ready := condition(pod, v1.PodReady)
		if ready == nil || ready.Status == v1.ConditionTrue || ready.LastTransitionTime.Time.Before(lostAt) {
			continue
		}
		known := k.knownOf(pod.UID)
		k.lock.Lock()
		known.heal = true
		k.lock.Unlock()
		k.enqueue(pod)
	}
}

// heartbeats renews the leases of all nodes that aren't lost.
func (k *kubelets) heartbeats(ctx context.Context) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		for _, object := range k.nodes.GetStore().List() {
			if node := object.(*v1.Node); !isLost(node) {
				k.renew(ctx, node)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (k *kubelets) renew(ctx context.Context, node *v1.Node) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	leases := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease)
	now := metav1.NowMicro()
	// A patch, since a lease may not be replaced without its resourceVersion.
	patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, now.UTC().Format(metav1.RFC3339Micro))
	_, err := leases.Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if errors.IsNotFound(err) {
		seconds := int32(leaseSeconds)
		_, err = leases.Create(ctx, &coordination.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: node.Name, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID,
			}}},
			Spec: coordination.LeaseSpec{
				HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: &now,
			},
		}, metav1.CreateOptions{})
	}
	if err != nil && ctx.Err() == nil {
		klog.InfoS("a lease was not renewed", "node", node.Name, "err", err)
	}
}
