package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// scenario is a file as `sluice simulate` takes it: a List of manifests, one of them a Timeline.
type scenario struct {
	objects []json.RawMessage
	start   time.Time
	events  []happening
}

type happening struct {
	at     time.Duration
	Apply  json.RawMessage `json:"apply"`
	Patch  *patch          `json:"patch"`
	Finish *reference      `json:"finish"`
	Delete *reference      `json:"delete"`
}

type reference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type patch struct {
	reference
	Subresource string          `json:"subresource"`
	Merge       json.RawMessage `json:"merge"`
}

type head struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string    `json:"name"`
		Namespace string    `json:"namespace"`
		UID       types.UID `json:"uid"`
	} `json:"metadata"`
}

func headOf(raw json.RawMessage) head {
	var h head
	must(json.Unmarshal(raw, &h))
	return h
}

// order is that of sluice: what is referred to comes before what refers to it.
var order = []string{
	"Namespace", "ResourceFlavor", "AdmissionCheck", "Cohort", "ClusterQueue", "LocalQueue",
	"Workload",
}

func (s *scenario) hasChecks() bool {
	return slices.ContainsFunc(s.objects, func(raw json.RawMessage) bool {
		return headOf(raw).Kind == "AdmissionCheck"
	})
}

func readScenario(path string) (*scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	s := &scenario{start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, raw := range list.Items {
		if headOf(raw).Kind != "Timeline" {
			s.objects = append(s.objects, raw)
			continue
		}
		var timeline struct {
			Events []struct {
				At string `json:"at"`
				happening
			}
		}
		if err := json.Unmarshal(raw, &timeline); err != nil {
			return nil, err
		}
		for _, e := range timeline.Events {
			e.happening.at, err = time.ParseDuration(e.At)
			if err != nil {
				return nil, fmt.Errorf("at: %w", err)
			}
			s.events = append(s.events, e.happening)
		}
	}
	slices.SortStableFunc(s.objects, func(a, b json.RawMessage) int {
		return slices.Index(order, headOf(a).Kind) - slices.Index(order, headOf(b).Kind)
	})
	slices.SortStableFunc(s.events, func(a, b happening) int { return int(a.at - b.at) })
	return s, nil
}
