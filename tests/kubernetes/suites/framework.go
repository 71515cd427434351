// Package framework stands in for Kueue's package of that name when its integration specs are
// compiled (see run.py): a control plane that run.py started takes the place of envtest, and
// `sluice controller`, started by run.py on request, the place of Kueue's manager.
package framework

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	goruntime "runtime"
	"runtime/debug"
	"slices"

	kfmpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	sparkv1beta2 "github.com/kubeflow/spark-operator/v2/api/v1beta2"
	kftrainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	kftraining "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	awv1beta2 "github.com/project-codeflare/appwrapper/api/v1beta2"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"go.uber.org/zap/zaptest/observer"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	autoscaling "k8s.io/autoscaler/cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	leaderworkersetv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/client-go/clientset/versioned/scheme"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/test/util"
)

type ManagerSetup func(context.Context, manager.Manager)

type ManagerOption func(*manager.Options)

// WithNewClient has no effect: the specs' client is not that of the controller.
func WithNewClient(client.NewClientFunc) ManagerOption { return nil }

// WithNewCache has no effect.
func WithNewCache(cache.NewCacheFunc) ManagerOption { return nil }

type Framework struct {
	DepCRDPaths               []string
	WebhookPath               string
	APIServerFeatureGates     []string
	APIServerRuntimeConfig    []string
	APIServerAdmissionPlugins []string
	ObservedLogs              *observer.ObservedLogs

	scheme *runtime.Scheme
	cancel context.CancelFunc
}

// Which labels specs of slow or redundant ones carry.
var (
	SlowSpec      = ginkgo.Label("slow")
	RedundantSpec = ginkgo.Label("Redundant")
)

// Gates that are told always, because they are plugins here.
var plugins = []string{"ElasticJobsViaWorkloadSlices", "ConcurrentAdmission"}

// What the suite's setup function was called with; see Asked.
var asked map[string]any

// Asked is what run.py has a suite's setup functions return: a setup that only notes its name and
// arguments, from which run.py makes a configuration.
func Asked(name string, arguments ...any) ManagerSetup {
	return func(context.Context, manager.Manager) {
		told := []any{}
		for _, each := range arguments {
			told = append(told, toTell(each))
		}
		asked = map[string]any{"setup": name, "arguments": told}
	}
}

// An argument of a setup function as JSON tells it.
func toTell(argument any) any {
	switch value := argument.(type) {
	case []jobframework.Option:
		options := jobframework.ProcessOptions(value...)
		told := map[string]any{
			"manageJobsWithoutQueueName": options.ManageJobsWithoutQueueName,
			"waitForPodsReady":           options.WaitForPodsReady,
			"frameworks":                 options.EnabledFrameworks.UnsortedList(),
			"labelKeysToCopy":            options.LabelKeysToCopy.UnsortedList(),
			"retention":                  options.WorkloadRetentionPolicy,
		}
		if selector := options.ManagedJobsNamespaceSelector; selector != nil {
			told["managedJobsNamespaceSelector"] = selector.String()
			told["everyNamespace"] = selector.String() == labels.Everything().String()
		}
		return map[string]any{"options": told}
	case *config.Configuration:
		return map[string]any{"configuration": value}
	case nil:
		return nil
	}
	kind := reflect.ValueOf(argument)
	if kind.Kind() == reflect.Slice {
		told := []any{}
		for i := range kind.Len() {
			told = append(told, toTell(kind.Index(i).Interface()))
		}
		return told
	}
	if kind.Kind() == reflect.Func {
		if kind.IsNil() {
			return nil
		}
		return map[string]any{"function": goruntime.FuncForPC(kind.Pointer()).Name()}
	}
	if _, err := json.Marshal(argument); err != nil {
		return fmt.Sprintf("%T", argument)
	}
	return argument
}

// ask has run.py do something, and gives its answer.
func ask(what string, body any) map[string]string {
	text, err := json.Marshal(body)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	url := os.Getenv("SUITES_SERVER") + "/" + what
	answer, err := http.Post(url, "application/json", bytes.NewReader(text))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK), string(told))
	values := map[string]string{}
	gomega.Expect(json.Unmarshal(told, &values)).To(gomega.Succeed())
	return values
}

func (f *Framework) Init() *rest.Config {
	f.ObservedLogs = util.SetupLoggerGetObservedLogs()
	answer := ask("init", map[string]any{
		"definitions": f.DepCRDPaths, "gates": f.APIServerFeatureGates,
		"runtime": f.APIServerRuntimeConfig, "plugins": f.APIServerAdmissionPlugins,
		"webhooks": f.WebhookPath != "",
	})
	cfg, err := clientcmd.BuildConfigFromFlags("", answer["kubeconfig"])
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	cfg.QPS, cfg.Burst = 1000, 2000
	for _, add := range []func(*runtime.Scheme) error{kueue.AddToScheme, kueuev1beta1.AddToScheme} {
		gomega.Expect(add(scheme.Scheme)).To(gomega.Succeed())
	}
	return cfg
}

func (f *Framework) SetupClient(cfg *rest.Config) (context.Context, client.WithWatch) {
	f.scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, config.AddToScheme, kueue.AddToScheme, kueuev1beta1.AddToScheme,
		awv1beta2.AddToScheme, kfmpi.AddToScheme, rayv1.AddToScheme, jobsetapi.AddToScheme,
		kftraining.AddToScheme, autoscaling.AddToScheme, kftrainer.AddToScheme,
		resourcev1.AddToScheme, inventoryv1alpha1.AddToScheme, leaderworkersetv1.AddToScheme,
		sparkv1beta2.AddToScheme,
	} {
		gomega.Expect(add(f.scheme)).To(gomega.Succeed())
	}
	made, err := client.NewWithWatch(cfg, client.Options{Scheme: f.scheme})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := context.WithCancel(ginkgo.GinkgoT().Context())
	f.cancel = cancel
	return ctx, made
}

// StartManager has a controller decide, with the configuration that the setup was to have and with
// the feature gates that the spec has set up to now.
func (f *Framework) StartManager(
	ctx context.Context, _ *rest.Config, setup ManagerSetup, _ ...ManagerOption,
) {
	ginkgo.By("starting the controller", func() {
		asked = map[string]any{"setup": "unknown", "arguments": []any{}}
		func() {
			defer func() {
				if broken := recover(); broken != nil {
					ginkgo.GinkgoWriter.Printf("a setup of its own: %v\n%s\n", broken, debug.Stack())
				}
			}()
			setup(ctx, nil)
		}()
		gates := map[string]bool{}
		for name, about := range utilfeature.DefaultMutableFeatureGate.GetAll() {
			enabled := utilfeature.DefaultFeatureGate.Enabled(name)
			if enabled != about.Default || slices.Contains(plugins, string(name)) {
				gates[string(name)] = enabled
			}
		}
		asked["gates"] = gates
		asked["spec"] = ginkgo.CurrentSpecReport().FullText()
		ask("start", asked)
	})
}

func (f *Framework) StopManager(context.Context) {
	ginkgo.By("stopping the controller", func() { ask("stop", nil) })
}

func (f *Framework) Teardown() {
	if f.cancel != nil {
		f.cancel()
	}
	ask("end", nil)
}
