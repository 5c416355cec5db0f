package kubelet

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// What the scheduler asks of a claim before it trusts its volume.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// claims binds each claim to a volume of its own, of any class, and removes the volume with it.
type claims struct {
	client   kubernetes.Interface
	informer cache.SharedIndexInformer
	queue    workqueue.TypedDelayingInterface[string]
}

func newClaims(client kubernetes.Interface, factory informers.SharedInformerFactory) *claims {
	c := &claims{
		client:   client,
		informer: factory.Core().V1().PersistentVolumeClaims().Informer(),
		queue:    workqueue.NewTypedDelayingQueue[string](),
	}
	enqueue := func(object any) {
		claim := object.(*v1.PersistentVolumeClaim)
		c.queue.Add(claim.Namespace + "/" + claim.Name)
	}
	// The informer has not been started, which is the only way for this to fail.
	_, _ = c.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
		DeleteFunc: func(object any) {
			if claim, ok := object.(*v1.PersistentVolumeClaim); ok {
				go c.release(claim)
			}
		},
	})
	return c
}

func (c *claims) run(ctx context.Context) {
	go func() {
		<-ctx.Done()
		c.queue.ShutDown()
	}()
	for {
		key, done := c.queue.Get()
		if done {
			return
		}
		object, found, err := c.informer.GetStore().GetByKey(key)
		if err == nil && found {
			err = c.bind(ctx, object.(*v1.PersistentVolumeClaim).DeepCopy())
		}
		if err != nil && !errors.IsNotFound(err) {
			c.queue.AddAfter(key, again)
		}
		c.queue.Done(key)
	}
}

func (c *claims) bind(ctx context.Context, claim *v1.PersistentVolumeClaim) error {
	if claim.Status.Phase == v1.ClaimBound || claim.DeletionTimestamp != nil {
		return nil
	}
	volume := volumeOf(claim)
	volumes := c.client.CoreV1().PersistentVolumes()
	created, err := volumes.Create(ctx, volume, metav1.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		created, err = volumes.Get(ctx, volume.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	created.Status.Phase = v1.VolumeBound
	if _, err := volumes.UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return err
	}
	claims := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace)
	claim.Spec.VolumeName = volume.Name
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, bindCompleted, "yes")
	claim, err = claims.Update(ctx, claim, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	claim.Status.Phase = v1.ClaimBound
	claim.Status.AccessModes = claim.Spec.AccessModes
	claim.Status.Capacity = claim.Spec.Resources.Requests
	_, err = claims.UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}

func (c *claims) release(claim *v1.PersistentVolumeClaim) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = c.client.CoreV1().PersistentVolumes().Delete(ctx, volumeName(claim), metav1.DeleteOptions{})
}

func volumeName(claim *v1.PersistentVolumeClaim) string {
	return "pvc-" + string(claim.UID)
}

func volumeOf(claim *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volumeName(claim)},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      claim.Spec.Resources.Requests,
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: v1.PersistentVolumeSource{
				HostPath: &v1.HostPathVolumeSource{Path: "/volumes/" + string(claim.UID)},
			},
			ClaimRef: &v1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
	if claim.Spec.StorageClassName != nil {
		volume.Spec.StorageClassName = *claim.Spec.StorageClassName
	}
	return volume
}
