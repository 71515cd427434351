package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"
)

// expectation is what tests/decisions/compare.py compares with.
type expectation struct {
	Name     string         `json:"name"`
	Tags     []string       `json:"tags"`
	Config   map[string]any `json:"config"`
	Instants []*instant     `json:"instants"`
	// Until is how far the clock went, where it would go on by itself.
	Until         *float64 `json:"until,omitempty"`
	UnsettledFrom *float64 `json:"unsettledFrom,omitempty"`
	// Skipped events are those that Kueue's validation refuses.
	Skipped []string `json:"skipped,omitempty"`
}

type instant struct {
	T        float64           `json:"t"`
	Admitted map[string][]any  `json:"admitted"`
	Pending  map[string]string `json:"pending"`
	Reserved map[string][]any  `json:"reserved,omitempty"` // it holds quota and waits for checks
	Inactive []string          `json:"inactive,omitempty"`
	Evicted  [][]string        `json:"evicted,omitempty"`
	Cycles   [][]string        `json:"cycles,omitempty"`
}

func podSets(w *kueue.Workload) []any {
	out := []any{}
	for _, p := range w.Status.Admission.PodSetAssignments {
		flavors := map[string]string{}
		for resource, flavor := range p.Flavors {
			flavors[string(resource)] = string(flavor)
		}
		count := int32(1)
		if p.Count != nil {
			count = *p.Count
		}
		out = append(out, []any{string(p.Name), count, flavors})
	}
	return out
}

// state fills in who holds quota and who waits, as the API shows it.
func (i *instant) state(s *server) {
	i.Admitted, i.Pending = map[string][]any{}, map[string]string{}
	i.Reserved = map[string][]any{}
	for _, key := range sorted(s.workloads) {
		w := s.workloads[key]
		switch {
		case finish.IsFinished(w):
		case !workload.IsActive(w) && w.Status.Admission == nil:
			i.Inactive = append(i.Inactive, key)
		case workload.IsAdmitted(w):
			i.Admitted[key] = podSets(w)
		case w.Status.Admission != nil:
			i.Reserved[key] = podSets(w)
		default:
			why := ""
			c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved)
			if c != nil {
				why = c.Reason + "|" + c.Message
			}
			i.Pending[key] = why
		}
	}
}

var preemptorUID = regexp.MustCompile(`\(UID: ([^,]+),`)

// eviction is [workload, reason, made room for]; the last is empty unless it was preempted.
func eviction(s *server, w *kueue.Workload) []string {
	key := keyOf(w.Namespace, w.Name)
	evicted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	if evicted.Reason != kueue.WorkloadEvictedByPreemption {
		return []string{key, evicted.Reason, ""}
	}
	preempted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPreempted)
	by := "?"
	if m := preemptorUID.FindStringSubmatch(preempted.Message); m != nil {
		for other, o := range s.workloads {
			if string(o.UID) == m[1] {
				by = other
			}
		}
	}
	return []string{key, preempted.Reason, by}
}

func (i *instant) sort() {
	slices.SortFunc(i.Evicted, func(a, b []string) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}
