// Plays scenarios on Kueue's own scheduler, one cycle at a time under a virtual clock, and writes
// what it decided in the form of the measured cases: FILE.json in, FILE.expect.json out. Each is
// played some times, in Go's random map order; one whose runs differ gets no expectation.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	ctrl "sigs.k8s.io/controller-runtime"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// given is what a scenario comes with: FILE.config.json, or the expectation that it already has.
type given struct {
	Tags   []string       `json:"tags"`
	Config map[string]any `json:"config"`
}

func readGiven(base string) (given, error) {
	out := given{
		Tags:   []string{},
		Config: map[string]any{"fairSharing": map[string]any{"enable": false}},
	}
	for _, suffix := range []string{".config.json", ".expect.json"} {
		data, err := os.ReadFile(base + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return out, err
		}
		return out, json.Unmarshal(data, &out)
	}
	return out, nil
}

func fairSharing(c map[string]any) *config.FairSharing {
	f, _ := c["fairSharing"].(map[string]any)
	if f["enable"] != true {
		return nil
	}
	out := &config.FairSharing{}
	list, _ := f["preemptionStrategies"].([]any)
	for _, s := range list {
		strategy := config.PreemptionStrategy(s.(string))
		out.PreemptionStrategies = append(out.PreemptionStrategies, strategy)
	}
	return out
}

func plain(e *expectation) (out any) {
	data, err := json.Marshal(e)
	must(err)
	must(json.Unmarshal(data, &out))
	return out
}

// played returns the expectation, or why there is none.
func played(base string, runs int) (result *expectation, why string) {
	defer func() {
		if r := recover(); r != nil {
			result, why = nil, fmt.Sprintf("error: %v", r)
		}
	}()
	g, err := readGiven(base)
	must(err)
	s, err := readScenario(base + ".json")
	must(err)
	fair := fairSharing(g.Config)
	first := play(s, fair)
	for range runs - 1 {
		if !reflect.DeepEqual(plain(first), plain(play(s, fair))) {
			return nil, "two runs differ"
		}
	}
	first.Name, first.Tags, first.Config = filepath.Base(base), g.Tags, g.Config
	return first, ""
}

const endless = "Kueue's scheduler does not come back"

// within is played, with a limit to the time that it may take.
func within(base string, runs int, limit time.Duration) (*expectation, string) {
	type outcome struct {
		result *expectation
		why    string
	}
	done := make(chan outcome, 1)
	go func() {
		result, why := played(base, runs)
		done <- outcome{result, why}
	}()
	select {
	case o := <-done:
		return o.result, o.why
	case <-time.After(limit):
		return nil, endless
	}
}

func main() {
	// Kueue's main branch, on which most measured cases were played, has this gate on.
	gates := flag.String("gates", "RecomputeAssignmentUponPreemptionTargetsOverlap=true",
		"feature gates, beside Kueue's defaults")
	runs := flag.Int("runs", 2, "how often each is played")
	limit := flag.Duration("limit", 20*time.Second, "for one scenario")
	into := flag.String("into", "", "folder for the expectations (default: beside the scenarios)")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	// A merge patch hands the fake API whole statuses.
	must(utilfeature.DefaultMutableFeatureGate.Set("WorkloadRequestUseMergePatch=true"))
	if *gates != "" {
		must(utilfeature.DefaultMutableFeatureGate.Set(*gates))
	}
	dropped := 0
	for i, path := range flag.Args() {
		base := strings.TrimSuffix(path, ".json")
		result, why := within(base, *runs, *limit)
		if why == endless {
			// The loop cannot be stopped from outside: go on with the rest in a new program.
			fmt.Println(base, why)
			self, err := os.Executable()
			must(err)
			options := []string{self, "-runs", fmt.Sprint(*runs), "-limit", limit.String(),
				"-gates", *gates, "-into", *into}
			must(syscall.Exec(self, append(options, flag.Args()[i+1:]...), os.Environ()))
		}
		if result == nil {
			dropped++
			fmt.Println(base, why)
			continue
		}
		out := base
		if *into != "" {
			out = filepath.Join(*into, filepath.Base(base))
		}
		data, err := json.Marshal(result)
		must(err)
		must(os.WriteFile(out+".expect.json", data, 0o644))
	}
	fmt.Printf("%d played, %d dropped\n", flag.NArg()-dropped, dropped)
}
