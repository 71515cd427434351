package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// server stands for the API server: objects by kind and key, and the changes of workloads, in
// order, which the controllers of a cluster would watch.
type server struct {
	client.Client
	mu         sync.Mutex
	workloads  map[string]*kueue.Workload
	queues     map[string]*kueue.ClusterQueue
	locals     map[string]*kueue.LocalQueue
	cohorts    map[string]*kueue.Cohort
	flavors    map[string]*kueue.ResourceFlavor
	namespaces map[string]*corev1.Namespace
	changes    []change
}

// change is one write of a workload by the scheduler or a controller.
type change struct{ before, after *kueue.Workload }

func newServer() *server {
	return &server{
		workloads:  map[string]*kueue.Workload{},
		queues:     map[string]*kueue.ClusterQueue{},
		locals:     map[string]*kueue.LocalQueue{},
		cohorts:    map[string]*kueue.Cohort{},
		flavors:    map[string]*kueue.ResourceFlavor{},
		namespaces: map[string]*corev1.Namespace{},
	}
}

func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func missing(key string) error {
	resource := schema.GroupResource{Group: "kueue.x-k8s.io", Resource: "object"}
	return apierrors.NewNotFound(resource, key)
}

func (s *server) Get(
	_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := keyOf(key.Namespace, key.Name)
	switch out := object.(type) {
	case *kueue.Workload:
		if found := s.workloads[k]; found != nil {
			found.DeepCopyInto(out)
			return nil
		}
	case *kueue.ClusterQueue:
		if found := s.queues[k]; found != nil {
			found.DeepCopyInto(out)
			return nil
		}
	case *kueue.LocalQueue:
		if found := s.locals[k]; found != nil {
			found.DeepCopyInto(out)
			return nil
		}
	case *corev1.Namespace:
		if found := s.namespaces[key.Name]; found != nil {
			found.DeepCopyInto(out)
			return nil
		}
	default:
		return fmt.Errorf("unexpected Get of a %T", object)
	}
	return missing(k)
}

// List knows the two lists that Kueue's queues ask for: the LocalQueues of a ClusterQueue and the
// workloads of a LocalQueue. There is nothing of all else (LimitRanges).
func (s *server) List(
	_ context.Context, list client.ObjectList, options ...client.ListOption,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := client.ListOptions{}
	wanted.ApplyOptions(options)
	value := ""
	if wanted.FieldSelector != nil {
		for _, r := range wanted.FieldSelector.Requirements() {
			value = r.Value
		}
	}
	switch out := list.(type) {
	case *kueue.LocalQueueList:
		for _, key := range sorted(s.locals) {
			if q := s.locals[key]; string(q.Spec.ClusterQueue) == value {
				out.Items = append(out.Items, *q.DeepCopy())
			}
		}
	case *kueue.WorkloadList:
		for _, key := range sorted(s.workloads) {
			w := s.workloads[key]
			if w.Namespace == wanted.Namespace && string(w.Spec.QueueName) == value {
				out.Items = append(out.Items, *w.DeepCopy())
			}
		}
	}
	return nil
}

func (s *server) Status() client.SubResourceWriter { return statuses{s: s} }

type statuses struct {
	client.SubResourceWriter
	s *server
}

// merged is a workload after a merge patch. Times lose what is below a second, as in the texts of an
// API server; that is where the jitter of a backoff goes.
func merged(stored *kueue.Workload, patch []byte) (*kueue.Workload, error) {
	data, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	if data, err = jsonpatch.MergePatch(data, patch); err != nil {
		return nil, err
	}
	after := &kueue.Workload{}
	return after, json.Unmarshal(data, after)
}

func (w statuses) Patch(
	_ context.Context, object client.Object, p client.Patch, _ ...client.SubResourcePatchOption,
) error {
	patched, ok := object.(*kueue.Workload)
	if !ok {
		return fmt.Errorf("unexpected status patch of a %T", object)
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	key := keyOf(patched.Namespace, patched.Name)
	stored := w.s.workloads[key]
	if stored == nil {
		return missing(key)
	}
	data, err := p.Data(object)
	if err != nil {
		return err
	}
	after, err := merged(stored, data)
	if err != nil {
		return err
	}
	after.Spec, after.ObjectMeta = stored.Spec, stored.ObjectMeta
	w.s.written(key, after)
	return nil
}

// Update is of the controller of workloads, which lists checks so.
func (w statuses) Update(
	_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption,
) error {
	updated, ok := object.(*kueue.Workload)
	if !ok {
		return fmt.Errorf("unexpected status update of a %T", object)
	}
	w.s.write(keyOf(updated.Namespace, updated.Name), updated.DeepCopy())
	return nil
}

// Update is of the controller of workloads, which turns them off so.
func (s *server) Update(
	_ context.Context, object client.Object, _ ...client.UpdateOption,
) error {
	updated, ok := object.(*kueue.Workload)
	if !ok {
		return fmt.Errorf("unexpected update of a %T", object)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(updated.Namespace, updated.Name)
	after := s.workloads[key].DeepCopy()
	after.Spec = *updated.Spec.DeepCopy()
	after.Generation++
	s.written(key, after)
	return nil
}

// write takes a workload as somebody wants it to be.
func (s *server) write(key string, after *kueue.Workload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rounded, err := merged(after, []byte("{}"))
	must(err)
	s.written(key, rounded)
}

func (s *server) written(key string, after *kueue.Workload) {
	s.changes = append(s.changes, change{s.workloads[key], after})
	s.workloads[key] = after
}

// taken returns the changes since the last call.
func (s *server) taken() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.changes
	s.changes = nil
	return out
}
