// The scheduler of Kueue alone, in one process: its queues, cache and cycle, and an API server that
// answers at once. Every workload fits, so each is one decision; `engine_bench --part drains` plays
// the same worlds. Prints µs for each: processor time, the garbage collector's included, and time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/util/expectations"
)

const (
	namespace = "ns"
	flavor    = "flavor"
)

// server stands for the API server: it takes every status at once and keeps none.
type server struct {
	client.Client
	admitted atomic.Int64
	wanted   int64
	done     chan struct{}
}

func (s *server) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	object.SetName(key.Name)
	object.SetNamespace(key.Namespace)
	return nil
}

func (s *server) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func (s *server) Status() client.SubResourceWriter { return statuses{s: s} }

type statuses struct {
	client.SubResourceWriter
	s *server
}

func (w statuses) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	if w.s.admitted.Add(1) == w.s.wanted {
		close(w.s.done)
	}
	return nil
}

func (w statuses) Apply(context.Context, k8sruntime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return w.Patch(nil, nil, nil)
}

type silent struct{}

func (silent) Eventf(_, _ k8sruntime.Object, _, _, _, _ string, _ ...any) {}

type form struct {
	queues, each int
	fair         bool
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func queue(f form, name string) *kueue.ClusterQueue {
	group := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{corev1.ResourceCPU}}
	group.Flavors = []kueue.FlavorQuotas{{
		Name: flavor,
		Resources: []kueue.ResourceQuota{{
			Name:         corev1.ResourceCPU,
			NominalQuota: *resource.NewQuantity(int64(f.each), resource.DecimalSI),
		}},
	}}
	return &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: kueue.ClusterQueueSpec{
			CohortName:        "cohort",
			NamespaceSelector: &metav1.LabelSelector{},
			QueueingStrategy:  kueue.BestEffortFIFO,
			ResourceGroups:    []kueue.ResourceGroup{group},
		},
	}
}

func workload(name, localQueue string, created time.Time) *kueue.Workload {
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "c",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(1, resource.DecimalSI),
		}},
	}}}}
	active, priority := true, int32(0)
	return &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(name),
			CreationTimestamp: metav1.NewTime(created),
		},
		Spec: kueue.WorkloadSpec{
			QueueName: kueue.LocalQueueName(localQueue), Active: &active, Priority: &priority,
			PodSets: []kueue.PodSet{{Name: kueue.DefaultPodSetName, Count: 1, Template: pod}},
		},
	}
}

func world(ctx context.Context, f form, api *server, expected *expectations.Store) (*qcache.Manager, *schdcache.Cache) {
	log := logr.Discard()
	cache := schdcache.New(api)
	queues := qcache.NewManagerForUnitTests(api, cache, qcache.WithPreemptionExpectations(expected))
	cache.AddOrUpdateResourceFlavor(log, &kueue.ResourceFlavor{
		ObjectMeta: metav1.ObjectMeta{Name: flavor},
	})
	for i := range f.queues {
		cq := queue(f, fmt.Sprintf("queue-%d", i))
		must(cache.AddClusterQueue(ctx, cq))
		must(queues.AddClusterQueue(ctx, cq))
		local := &kueue.LocalQueue{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cq.Name},
			Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(cq.Name)},
		}
		must(cache.AddLocalQueue(local))
		must(queues.AddLocalQueue(ctx, local))
	}
	start := time.Now().Add(-time.Hour)
	for n := range f.each {
		for i := range f.queues {
			name := fmt.Sprintf("w-%d-%d", i, n)
			created := start.Add(time.Duration(n) * time.Second)
			must(queues.AddOrUpdateWorkload(log, workload(name, fmt.Sprintf("queue-%d", i), created)))
		}
	}
	return queues, cache
}

func processorTime() time.Duration {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func main() {
	var f form
	flag.IntVar(&f.queues, "queues", 100, "ClusterQueues of one cohort")
	flag.IntVar(&f.each, "each", 100, "workloads that wait in each")
	flag.BoolVar(&f.fair, "fair", false, "fair sharing")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	api := &server{wanted: int64(f.queues * f.each), done: make(chan struct{})}
	expected := expectations.NewStore("preemption")
	queues, cache := world(ctx, f, api, expected)
	options := []scheduler.Option{scheduler.WithPreemptionExpectations(expected)}
	if f.fair {
		options = append(options, scheduler.WithFairSharing(&config.FairSharing{}))
	}
	runtime.GC()
	used, start := processorTime(), time.Now()
	must(scheduler.New(queues, cache, api, silent{}, options...).Start(ctx))
	<-api.done
	each := float64(api.wanted) * 1e-6
	fmt.Printf("%.3f %.3f\n", (processorTime()-used).Seconds()/each, time.Since(start).Seconds()/each)
}
