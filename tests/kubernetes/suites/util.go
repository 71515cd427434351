// What is ours in the package of helpers that all specs use.
package util

import (
	"context"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

var waiting = []string{
	"Pending", "Inadmissible", "Waiting", "WaitingForQuota", "ExceedsMaxQuota", "Misconfigured",
	"Suspended", "PendingEvaluation", "WaitingForPreemptedWorkloads", "WaitingForPodsReady",
	"NoMatchingFlavor",
}

// sluiceReasons takes all reasons to wait for one: specs expect the few that Kueue has unless a
// gate is on.
var sluiceReasons = cmp.FilterPath(
	func(path cmp.Path) bool { return path.Last().String() == ".Reason" },
	cmp.Comparer(func(one, other string) bool {
		return one == other || slices.Contains(waiting, one) && slices.Contains(waiting, other)
	}))

// settled waits for a moment, if need be, for what Kueue's webhook does and the controller does
// here, right after a pod is created.
func settled(ctx context.Context, c client.Client, made client.Object) {
	pod, ok := made.(*corev1.Pod)
	if !ok || pod.Labels["kueue.x-k8s.io/managed"] != "true" {
		return
	}
	for range 50 {
		seen := &corev1.Pod{}
		if c.Get(ctx, client.ObjectKeyFromObject(pod), seen) != nil ||
			slices.Contains(seen.Finalizers, "kueue.x-k8s.io/managed") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// withQueue makes what a spec grants a workload with its own hands be somebody's to give, for as
// long as the spec lasts: where Kueue's manager has no scheduler, specs do without the queues. The
// queue takes nobody by itself, since it selects no namespace.
func withQueue(
	ctx context.Context, c client.Client, workload client.ObjectKey, admission *kueue.Admission,
) {
	if admission == nil {
		return
	}
	give := func(made client.Object) {
		if c.Create(ctx, made) == nil {
			ginkgo.DeferCleanup(func(ctx context.Context) { _ = c.Delete(ctx, made) })
		}
	}
	name := string(admission.ClusterQueue)
	waits := &kueue.Workload{}
	for i := 0; i < 50 && c.Get(ctx, workload, waits) != nil; i++ {
		time.Sleep(100 * time.Millisecond)
	}
	if waits.Spec.QueueName != "" {
		give(&kueue.LocalQueue{
			ObjectMeta: metav1.ObjectMeta{
				Name: string(waits.Spec.QueueName), Namespace: workload.Namespace,
			},
			Spec: kueue.LocalQueueSpec{ClusterQueue: admission.ClusterQueue},
		})
	}
	withFlavors(ctx, c, waits, admission)
	group := kueue.ResourceGroup{}
	var flavors []kueue.ResourceFlavorReference
	for _, podSet := range admission.PodSetAssignments {
		for resourceName, flavor := range podSet.Flavors {
			if !slices.Contains(group.CoveredResources, resourceName) {
				group.CoveredResources = append(group.CoveredResources, resourceName)
			}
			if !slices.Contains(flavors, flavor) {
				flavors = append(flavors, flavor)
				give(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: string(flavor)}})
			}
		}
	}
	for _, flavor := range flavors {
		quotas := kueue.FlavorQuotas{Name: flavor}
		for _, each := range group.CoveredResources {
			quotas.Resources = append(quotas.Resources,
				kueue.ResourceQuota{Name: each, NominalQuota: resource.MustParse("1k")})
		}
		group.Flavors = append(group.Flavors, quotas)
	}
	queue := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if len(flavors) > 0 {
		queue.Spec.ResourceGroups = []kueue.ResourceGroup{group}
	}
	give(queue)
	made := &kueue.ClusterQueue{}
	if c.Get(ctx, client.ObjectKeyFromObject(queue), made) == nil &&
		len(made.Spec.ResourceGroups) == 0 {
		made.Spec.ResourceGroups = queue.Spec.ResourceGroups
		_ = c.Update(ctx, made)
	}
	time.Sleep(200 * time.Millisecond)
}

// withFlavors completes an admission that grants pods and names no flavors.
func withFlavors(
	ctx context.Context, c client.Client, waits *kueue.Workload, admission *kueue.Admission,
) {
	queue := &kueue.ClusterQueue{}
	key := client.ObjectKey{Name: string(admission.ClusterQueue)}
	if c.Get(ctx, key, queue) != nil || len(queue.Spec.ResourceGroups) == 0 {
		return
	}
	for i := range admission.PodSetAssignments {
		granted := &admission.PodSetAssignments[i]
		for _, podSet := range waits.Spec.PodSets {
			if len(granted.Flavors) > 0 || podSet.Name != granted.Name {
				continue
			}
			granted.Count = &podSet.Count
			granted.Flavors = map[corev1.ResourceName]kueue.ResourceFlavorReference{}
			granted.ResourceUsage = corev1.ResourceList{}
			for _, container := range podSet.Template.Spec.Containers {
				for name, amount := range container.Resources.Requests {
					granted.Flavors[name] = queue.Spec.ResourceGroups[0].Flavors[0].Name
					used := granted.ResourceUsage[name]
					for range podSet.Count {
						used.Add(amount)
					}
					granted.ResourceUsage[name] = used
				}
			}
		}
	}
}
