// What is ours in the package of helpers that all specs use.
package util

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

var waiting = []string{
	"Pending", "Inadmissible", "Waiting", "WaitingForQuota", "ExceedsMaxQuota", "Misconfigured",
	"Suspended", "PendingEvaluation", "WaitingForPreemptedWorkloads", "WaitingForPodsReady",
	"NoMatchingFlavor", "Deactivated",
}

// sluiceReasons takes all reasons to wait for one: specs expect the few that Kueue has unless a
// gate is on. So with texts that say that the spec has no scheduler, where Kueue's keep those of
// what was before.
var sluiceReasons = cmp.Options{
	cmp.FilterPath(
		func(path cmp.Path) bool { return path.Last().String() == ".Reason" },
		cmp.Comparer(func(one, other string) bool {
			return one == other || slices.Contains(waiting, one) && slices.Contains(waiting, other)
		})),
	cmp.FilterPath(
		func(path cmp.Path) bool { return path.Last().String() == ".Message" },
		cmp.Comparer(func(one, other string) bool {
			const nobody = "the spec has no scheduler"
			return one == other || strings.HasSuffix(one, nobody) || strings.HasSuffix(other, nobody)
		})),
}

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

// executed is what the program that runs the specs answers for a command in a pod, whose containers
// nobody has.
func executed(namespace, pod string, command []string) ([]byte, []byte, error) {
	text, err := json.Marshal(map[string]any{"namespace": namespace, "pod": pod, "command": command})
	if err != nil {
		return nil, nil, err
	}
	url := os.Getenv("SUITES_SERVER") + "/execute"
	answer, err := http.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, nil, errors.New(string(told))
	}
	values := map[string]string{}
	err = json.Unmarshal(told, &values)
	return []byte(values["output"]), nil, err
}

// owned makes a pod that a spec gives to a slice of an elastic job by a mark alone one of that job.
func owned(ctx context.Context, c client.Client, made client.Object) {
	name := made.GetAnnotations()[kueue.WorkloadSliceNameAnnotation]
	if _, ok := made.(*corev1.Pod); !ok || name == "" || len(made.GetOwnerReferences()) > 0 {
		return
	}
	slice := &kueue.Workload{}
	key := client.ObjectKey{Name: name, Namespace: made.GetNamespace()}
	if c.Get(ctx, key, slice) == nil {
		made.SetOwnerReferences(slice.OwnerReferences)
	}
}

// withQueue makes what a spec grants a workload with its own hands be somebody's to give, for as
// long as the spec lasts: where Kueue's manager has no scheduler, specs do without the queues. The
// queue takes nobody by itself, since it selects no namespace.
func withQueue(
	ctx context.Context, c client.Client, key client.ObjectKey, admission *kueue.Admission,
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
	for i := 0; i < 50 && c.Get(ctx, key, waits) != nil; i++ {
		time.Sleep(100 * time.Millisecond)
	}
	withNames(waits, admission)
	withWholePods(admission)
	withoutOthers(ctx, c, waits, admission)
	if waits.Spec.QueueName != "" {
		give(&kueue.LocalQueue{
			ObjectMeta: metav1.ObjectMeta{
				Name: string(waits.Spec.QueueName), Namespace: key.Namespace,
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

// admitted says Admitted together with the grant, where no check is asked: a grant without it is
// looked at again here, and what specs grant is often not what would be chosen.
func admitted(
	ctx context.Context, c client.Client, granted *kueue.Workload, admission *kueue.Admission,
) {
	queue := &kueue.ClusterQueue{}
	key := client.ObjectKey{Name: string(admission.ClusterQueue)}
	chosen := true
	for _, podSet := range admission.PodSetAssignments {
		chosen = chosen && len(podSet.ResourceUsage) > 0
	}
	for _, podSet := range granted.Spec.PodSets {
		chosen = chosen && requests(podSet) > 0
	}
	if !chosen && len(granted.Status.AdmissionChecks) == 0 && c.Get(ctx, key, queue) == nil &&
		queue.Spec.AdmissionChecksStrategy == nil {
		workload.SyncAdmittedCondition(granted, time.Now())
	}
}

// requests tells how many requests the containers of a pod set have.
func requests(podSet kueue.PodSet) int {
	found := 0
	for _, container := range podSet.Template.Spec.Containers {
		found += len(container.Resources.Requests)
	}
	return found
}

// withWholePods rounds what is granted up to a multiple of the pods: other grants are no grants.
func withWholePods(admission *kueue.Admission) {
	for _, granted := range admission.PodSetAssignments {
		for name, amount := range granted.ResourceUsage {
			if granted.Count == nil || *granted.Count == 0 {
				continue
			}
			count := int64(*granted.Count)
			if over := amount.MilliValue() % count; over != 0 {
				amount = *resource.NewMilliQuantity(amount.MilliValue()+count-over, amount.Format)
				granted.ResourceUsage[name] = amount
			}
		}
	}
}

// withNames gives an admission the names of the pod sets that there are: roles of pods have other
// hashes here.
func withNames(waits *kueue.Workload, admission *kueue.Admission) {
	taken := map[kueue.PodSetReference]bool{}
	for _, podSet := range waits.Spec.PodSets {
		for _, granted := range admission.PodSetAssignments {
			taken[podSet.Name] = taken[podSet.Name] || granted.Name == podSet.Name
		}
	}
	for i := range admission.PodSetAssignments {
		granted := &admission.PodSetAssignments[i]
		if _, known := taken[granted.Name]; known {
			continue
		}
		for _, podSet := range waits.Spec.PodSets {
			if !taken[podSet.Name] && (granted.Count == nil || *granted.Count == podSet.Count) {
				granted.Name = podSet.Name
				taken[podSet.Name] = true
				break
			}
		}
	}
}

// withoutOthers keeps a queue that the spec made from taking a workload that requests nothing, for
// which no flavor is looked for.
func withoutOthers(
	ctx context.Context, c client.Client, waits *kueue.Workload, admission *kueue.Admission,
) {
	for _, podSet := range waits.Spec.PodSets {
		queue := &kueue.ClusterQueue{}
		key := client.ObjectKey{Name: string(admission.ClusterQueue)}
		if requests(podSet) == 0 && c.Get(ctx, key, queue) == nil && queue.Spec.NamespaceSelector != nil {
			before := queue.DeepCopy()
			queue.Spec.NamespaceSelector = nil
			_ = c.Patch(ctx, queue, client.MergeFrom(before))
			time.Sleep(200 * time.Millisecond)
		}
	}
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
