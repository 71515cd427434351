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
	c := configuration{fair: fairSharing(g.Config), podsReady: podsReadySection(g.Config)}
	first := play(s, c)
	for range runs - 1 {
		if !reflect.DeepEqual(plain(first), plain(play(s, c))) {
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

// asReleased leaves out two mends, without which nothing could be compared after such a moment:
//   - a Retry that names a delay evicts at once, and the delay is told when that is over; v0.19.2
//     evicts at the end of the delay and holds the quota until then, against KEP-3258;
//   - one that Kueue turned off is requeued when it is turned on again; in v0.19.2 the reason
//     DeactivatedDueTo… of its condition Requeued is none that its controller knows.
var asReleased = flag.Bool("as-released", false,
	"delays of a Retry hold quota, and who was turned off for a cause stays so, as in v0.19.2")

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
				"-gates", *gates, "-into", *into, fmt.Sprintf("-as-released=%t", *asReleased)}
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

// configuration is what stands under scheduling in Sluice's, in Kueue's types.
type configuration struct {
	fair      *config.FairSharing
	podsReady *config.WaitForPodsReady
}

func (c configuration) blocks() bool {
	return c.podsReady != nil && c.podsReady.BlockAdmission != nil && *c.podsReady.BlockAdmission
}

func (c configuration) timestamp() config.RequeuingTimestamp {
	if c.podsReady == nil {
		return config.EvictionTimestamp
	}
	return *c.podsReady.RequeuingStrategy.Timestamp
}
