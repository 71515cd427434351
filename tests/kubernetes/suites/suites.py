"""What each suite of Kueue's integration specs runs with, beside what its specs say themselves."""
import os

from specs import folder_of

# Plugins that are on whatever a suite says: Kueue has them built in.
ALWAYS = ["flavor-fungibility", "provisioning-check", "multi-cluster"]
OF_GATES = {"ElasticJobsViaWorkloadSlices": "elastic-jobs",
            "ConcurrentAdmission": "concurrent-admission"}
PODS = ["pod-groups"]

# plugins: those that a suite needs beside. configuration: what its setup says in its own code.
# kinds: pages of kinds of jobs. scheduler: whether the setup brings Kueue's scheduler, by its name
# and arguments; where it does not, nobody is admitted.
SUITES = {
    "scheduler": {"configuration": {"resources": {"transformations": [
        {"input": "kueue.x-k8s.io/cpu", "strategy": "Replace", "outputs": {"cpu": "2"}}]}}},
    "scheduler/fairsharing": {"configuration": {"fairSharing": {}}},
    "controller/core": {"scheduler": lambda name, arguments: name == "managerAndSchedulerSetup"
                        or "runScheduler" in str(arguments)},
    "controller/jobs/job": {
        "plugins": ["elastic-jobs"],
        "scheduler": lambda name, arguments: name != "managerSetup" and arguments[1]},
    "controller/jobs/pod": {
        "plugins": PODS, "scheduler": lambda name, arguments: arguments[1]},
    "controller/jobs/statefulset": {"plugins": PODS},
    "controller/admissionchecks/provisioning": {
        "scheduler": lambda name, arguments: "runScheduler" in str(arguments)},
    "controller/concurrentadmission": {"plugins": ["concurrent-admission"]},
    "webhook/core": {"scheduler": lambda name, arguments: False,
                     "plugins": ["elastic-jobs", "concurrent-admission"]},
    "webhook/jobs": {"scheduler": lambda name, arguments: False,
                     "plugins": ["elastic-jobs", *PODS],
                     "kinds": ["jobset", "mpijob", "paddlejob", "pytorchjob", "tfjob",
                               "xgboostjob", "rayjob", "rayservice"]},
}
for _kind in ("jobset", "rayjob", "xgboostjob", "jaxjob", "pytorchjob", "mpijob", "tfjob",
              "paddlejob"):
    SUITES["controller/jobs/" + _kind] = {
        "kinds": [_kind], "scheduler": lambda name, arguments: name != "managerSetup"}
SUITES["controller/jobs/raycluster"] = {
    "scheduler": lambda name, arguments: name != "managerSetup", "plugins": ["elastic-jobs"],
    "kinds": ["rayjob"]}
# The end-to-end specs, which say nothing of what they run with: see end_to_end.py.
SUITES["baseline"] = {"plugins": PODS}
SUITES["extended"] = {"plugins": PODS}

# Where the definitions of others are, by the name of the folder in which Kueue's tests look.
DEFINITIONS = {
    "cluster-autoscaler": ("k8s.io/autoscaler/cluster-autoscaler/apis", "config/crd"),
    "jobset-operator": ("sigs.k8s.io/jobset", "config/components/crd/bases"),
    "leaderworkerset-operator": ("sigs.k8s.io/lws", "config/crd/bases"),
    "training-operator-crds": ("github.com/kubeflow/training-operator", "manifests/base/crds"),
    "mpi-operator": ("github.com/kubeflow/mpi-operator", "manifests/base"),
    "ray-operator-crds": ("github.com/ray-project/kuberay/ray-operator", "config/crd/bases"),
    "appwrapper-crds": ("github.com/project-codeflare/appwrapper", "config/crd/bases"),
    "kf-trainer-crds": ("github.com/kubeflow/trainer/v2", "manifests/base/crds"),
    "spark-operator-crds": ("github.com/kubeflow/spark-operator/v2", "config/crd/bases"),
}


def definitions(paths, kueue):
    """The files of definitions that Kueue's tests look for in these folders."""
    for path in paths or []:
        module, place = DEFINITIONS[os.path.basename(path)]
        folder = os.path.join(folder_of(module, kueue), place)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".yaml") and not name.startswith("kustom"):
                yield os.path.join(folder, name)


def scheduler_runs(suite, asked):
    runs = SUITES.get(suite, {}).get("scheduler", lambda name, arguments: True)
    return runs(asked["setup"], asked["arguments"])


def plugins(suite, asked=None):
    """The plugins with which the suite's controllers run; of all its specs where `asked` is
    None."""
    names = ALWAYS + SUITES.get(suite, {}).get("plugins", [])
    if asked is None:
        return names + [each for each in OF_GATES.values() if each not in names]
    gates = asked["gates"]
    off = [each for gate, each in OF_GATES.items() if not gates.get(gate)]
    names = [each for each in names if each not in off]
    names += [each for gate, each in OF_GATES.items() if gates.get(gate) and each not in names]
    return names + ([] if scheduler_runs(suite, asked) else ["nobody"])


def without_nothing(value):
    """Without what is null or empty text, as Go writes what is not set."""
    if isinstance(value, dict):
        kept = {key: without_nothing(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each is not None and each != ""}
    return value


def configuration(suite, asked):
    """The configuration as the suite's setup was to have it: Kueue's, but where plugins have
    settings of their own."""
    made = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    settings, undeclared = {}, "block"
    made |= SUITES.get(suite, {}).get("configuration", {})
    for place, argument in enumerate(asked["arguments"]):
        if isinstance(argument, dict) and argument.get("configuration"):
            told = without_nothing(argument["configuration"])
            made |= {key: told[key] for key in (
                "waitForPodsReady", "fairSharing", "resources", "objectRetentionPolicies",
                "manageJobsWithoutQueueName", "managedJobsNamespaceSelector") if key in told}
            if told.get("admissionFairSharing"):
                settings["admission-fair-sharing"] = told["admissionFairSharing"]
        elif isinstance(argument, dict) and "options" in argument:
            made = of_options(argument["options"]) | made
        elif isinstance(argument, dict) and "usageHalfLifeTime" in argument:
            settings["admission-fair-sharing"] = argument
        elif suite == "scheduler/quotacheckstrategy" and place == 0 and argument:
            made["resources"] = {"quotaCheckStrategy": argument}
            undeclared = "ignore" if argument == "IgnoreUndeclared" else "block"
        elif suite == "scheduler/resourcetransformations" and argument:
            made["resources"] = {"transformations": argument}
    if settings:  # plugins that are set up are so in Sluice's own configuration only
        names = [*plugins(suite, asked), *settings]
        return {"apiVersion": "config.sluice.dev/v1alpha1", "kind": "Configuration",
                "scheduling": {"fairSharing": {"enable": "fairSharing" in made}},
                "resources": {"undeclared": undeclared},
                "plugins": {"load": [{"name": each, "config": taken(settings.get(each, {}))}
                                     for each in names]}}
    if asked["gates"]:
        made["featureGates"] = asked["gates"]
    return made


def taken(settings):
    """Settings of a plugin without what it refuses: times below a second."""
    return {key: "1s" if str(value).endswith("ms") else value for key, value in settings.items()}


def of_options(options):
    """What options of a job's controller are in Kueue's configuration."""
    made = {"manageJobsWithoutQueueName": options["manageJobsWithoutQueueName"]}
    if options.get("labelKeysToCopy"):
        made["integrations"] = {"labelKeysToCopy": options["labelKeysToCopy"]}
    if options["waitForPodsReady"]:
        made["waitForPodsReady"] = {}
    if options.get("everyNamespace"):
        made["managedJobsNamespaceSelector"] = {}
    elif options.get("managedJobsNamespaceSelector"):
        made["managedJobsNamespaceSelector"] = selector(options["managedJobsNamespaceSelector"])
    return made


def selector(text):
    """A label selector as Kubernetes writes it into one line."""
    labels, expressions = {}, []
    for each in text.replace(" ", "").split("),") if "(" in text else text.split(","):
        for operator, name in (("notin(", "NotIn"), ("in(", "In"), ("!=", "NotIn")):
            key, mark, values = each.partition(operator)
            if mark:
                expressions.append({"key": key, "operator": name,
                                    "values": values.rstrip(")").split(",")})
                break
        else:
            key, _, value = each.partition("=")
            labels[key] = value
    return {key: each for key, each in (("matchLabels", labels),
                                        ("matchExpressions", expressions)) if each}
