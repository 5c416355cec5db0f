// Package kubelet plays the kubelets of all nodes of a real API server: Nodes that are alive and
// Pods that start, ready, crash, restart and stop as their images and annotations say.
package kubelet

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

const (
	// How many Pods are looked at side by side; each look may wait for a write.
	workers = 16
	// How long a write that failed waits for its next try.
	again = 200 * time.Millisecond
	// The index of Pods by their node.
	byNode = "node"
)

// Options say what the nodes are like.
type Options struct {
	Kubeconfig string
	// The release that the Nodes show as their kubelets'.
	Version string
	// How many Nodes to register: node-0, node-1, … Nodes that somebody else creates live too.
	Nodes int
	// How long a Pod takes to start when it doesn't say.
	StartUp time.Duration
	// What is left to chance about Pods follows from it and their UIDs.
	Seed uint64
}

type kubelets struct {
	options Options
	client  kubernetes.Interface
	events  record.EventRecorder
	pods    cache.SharedIndexInformer
	nodes   cache.SharedIndexInformer
	queue   workqueue.TypedDelayingInterface[string]

	lock sync.Mutex
	// By UID.
	known map[types.UID]*known
}

// known is what is kept of one Pod between two looks.
type known struct {
	memory memory
	// The resourceVersion that our last write made: a cache that is behind it isn't looked at.
	written uint64
	heal    bool
}

// Run plays all kubelets until the context is done.
func Run(ctx context.Context, options Options) error {
	config, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = "kubelet/" + options.Version
	config.QPS = -1
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&corev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	factory := informers.NewSharedInformerFactory(client, 0)
	k := &kubelets{
		options: options,
		client:  client,
		events:  broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: "kubelet"}),
		pods:    factory.Core().V1().Pods().Informer(),
		nodes:   factory.Core().V1().Nodes().Informer(),
		queue:   workqueue.NewTypedDelayingQueue[string](),
		known:   map[types.UID]*known{},
	}
	if err := k.listen(ctx); err != nil {
		return err
	}
	claims := newClaims(client, factory)
	factory.Start(ctx.Done())
	go k.register(ctx)
	factory.WaitForCacheSync(ctx.Done())
	go k.heartbeats(ctx)
	go claims.run(ctx)
	for range workers {
		go k.work(ctx)
	}
	<-ctx.Done()
	k.queue.ShutDown()
	return nil
}

func (k *kubelets) listen(ctx context.Context) error {
	err := k.pods.AddIndexers(cache.Indexers{byNode: func(object any) ([]string, error) {
		return []string{object.(*v1.Pod).Spec.NodeName}, nil
	}})
	if err != nil {
		return err
	}
	_, err = k.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.enqueue,
		UpdateFunc: func(_, object any) { k.enqueue(object) },
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if pod, ok := object.(*v1.Pod); ok {
				k.lock.Lock()
				delete(k.known, pod.UID)
				k.lock.Unlock()
			}
		},
	})
	if err != nil {
		return err
	}
	_, err = k.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.nodeChanged(ctx, nil, object.(*v1.Node)) },
		UpdateFunc: func(old, object any) { k.nodeChanged(ctx, old.(*v1.Node), object.(*v1.Node)) },
	})
	return err
}

func (k *kubelets) enqueue(object any) {
	if pod := object.(*v1.Pod); pod.Spec.NodeName != "" {
		k.queue.Add(pod.Namespace + "/" + pod.Name)
	}
}

func (k *kubelets) podsOf(node string) []*v1.Pod {
	objects, err := k.pods.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		return nil
	}
	pods := make([]*v1.Pod, 0, len(objects))
	for _, object := range objects {
		pods = append(pods, object.(*v1.Pod))
	}
	return pods
}

func (k *kubelets) knownOf(uid types.UID) *known {
	k.lock.Lock()
	defer k.lock.Unlock()
	found := k.known[uid]
	if found == nil {
		found = &known{}
		k.known[uid] = found
	}
	return found
}

func (k *kubelets) work(ctx context.Context) {
	for {
		key, done := k.queue.Get()
		if done {
			return
		}
		if wake := k.visit(ctx, key, time.Now()); !wake.IsZero() {
			k.queue.AddAfter(key, time.Until(wake))
		}
		k.queue.Done(key)
	}
}

// visit looks at one Pod and carries out what the look asks for. It returns when to come again;
// zero for never. The queue hands out no key twice at once.
func (k *kubelets) visit(ctx context.Context, key string, now time.Time) time.Time {
	object, found, err := k.pods.GetStore().GetByKey(key)
	if err != nil || !found {
		return time.Time{}
	}
	pod := object.(*v1.Pod)
	object, found, err = k.nodes.GetStore().GetByKey(pod.Spec.NodeName)
	if err != nil || !found || isLost(object.(*v1.Node)) {
		return time.Time{}
	}
	known := k.knownOf(pod.UID)
	if version(pod) < known.written {
		return time.Time{}
	}
	k.lock.Lock()
	heal := known.heal
	k.lock.Unlock()
	script := ScriptOf(pod, k.options.StartUp, k.options.Seed)
	out := step(pod, hostOf(object.(*v1.Node)), script, known.memory, heal, now)
	if err := k.carryOut(ctx, pod, known, out); err != nil {
		if errors.IsNotFound(err) {
			return time.Time{}
		}
		return now.Add(again)
	}
	known.memory = out.memory
	k.lock.Lock()
	known.heal = known.heal && !heal
	k.lock.Unlock()
	return out.wake
}

func (k *kubelets) carryOut(ctx context.Context, pod *v1.Pod, known *known, out outcome) error {
	pods := k.client.CoreV1().Pods(pod.Namespace)
	if out.write != nil {
		written, err := pods.UpdateStatus(ctx, out.write, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		known.written = version(written)
	}
	for _, event := range out.events {
		k.events.Event(pod, event.kind, event.reason, event.message)
	}
	if !out.remove {
		return nil
	}
	now := int64(0)
	same := metav1.NewUIDPreconditions(string(pod.UID))
	return pods.Delete(ctx, pod.Name,
		metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: same})
}

// version is a resourceVersion as a number, which servers since 1.35 promise it to be.
func version(object metav1.Object) uint64 {
	number, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s: resourceVersion %q is no number", object.GetName(),
			object.GetResourceVersion()))
	}
	return number
}
