"""The specs of Kueue as they are compiled against Sluice: a copy of its module in which the package
framework is ours, metrics are read from the controller, and a few texts are edited. No line of
Kueue's is kept here."""
import os
import re
import shutil
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = "test/integration/singlecluster"
END_TO_END = "test/e2e/singlecluster"
METRICS = "test/sluice/testutil"

# Labels of pods that say in which queues they are: they have none here.
NO_QUEUE = (r"(Labels\[\w+\.(?:Cluster|Local)QueueLabel\]\)\.To)\(gomega\.Equal\((.*)\)\)",
            r'\1(gomega.BeElementOf("", \2))')

# Waits that are too short for a busy machine; what an eviction without a job leaves to be done,
# which is over at once here; reasons to wait, which here are those of a gate that is off in Kueue;
# 422 where Kueue's webhooks refuse with 403; labels of ours beside theirs; the marks of options,
# which are Kueue's variants; and what of the end-to-end specs asks for a real cluster.
EDITS = {
    "pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go": [  # a name without a UID
        (r"(GetWorkloadNameForOwnerWithGVK\(.*), uid, gvk\)", r'\1, "", gvk)')],
    "pkg/util/testing/condition_matchers.go": [
        (r"(func HaveConditionStatusFalseAndReason\(.*\{)",
         '\\1\n\tif conditionType == "QuotaReserved" && reason == "Pending" {'
         '\n\t\treason = ""\n\t}')],
    "pkg/util/testing/error_matchers.go": [
        (r"(return \[\]isError\{.*\}\[em\]\(err\))",
         r"\1 || em == ForbiddenError && apierrors.IsInvalid(err)")],
    "test/util/constants.go": [
        (r"(\n\tTimeout\s+=) 10 \*", r"\1 20 *"),
        (r"(\n\tConsistentDuration\s+=) 300 \*", r"\1 500 *"),
        (r"(IgnoreConditionTimestamps\w*\s+= )(.*)", r"\1cmp.Options{sluiceReasons, \2}"),
        (r"\nimport \(", '\nimport (\n\t"github.com/google/go-cmp/cmp"')],
    SUITES + "/controller/admissionchecks/provisioning/provisioning_test.go": [
        (r"BeComparableTo\(map\[string\]string\{(constants\.ManagedByKueueLabelKey): "
         r"(constants\.ManagedByKueueLabelValue)\}\)", r"HaveKeyWithValue(\1, \2)")],
    SUITES + "/controller/jobs/pod/pod_controller_test.go": [
        (r"(wlConditionCmpOpts = cmp\.Options\{)",
         "\\1\n\t\tcmpopts.IgnoreSliceElements(func(each metav1.Condition) bool {"
         '\n\t\t\treturn each.Type == "PodsReady"\n\t\t}),'),
        (r"gomega\.Expect\(k8sClient\.Create\(ctx, (pod)\)\)\.Should\(gomega\.Succeed\(\)\)",
         r"util.MustCreate(ctx, k8sClient, \1)"),
        (r"(createdWorkload\.Annotations\)\.Should\()gomega\.Equal\(map\[string\]string\{"
         r"(\"[^\"]*\"): (\"[^\"]*\")\}\)", r"\1gomega.HaveKeyWithValue(\2, \3)")],
    SUITES + "/controller/jobs/job/job_controller_test.go": [
        (r"(createdWorkload\.Annotations\)\.Should\()gomega\.Equal\(map\[string\]string\{"
         r"(\"[^\"]*\"): (\"[^\"]*\")\}\)", r"\1gomega.HaveKeyWithValue(\2, \3)"),
        (r"(createdWorkload\.Status\.Conditions\)\.Should)\(gomega\.HaveLen\(2\)\)",
         r"\1Not(gomega.BeEmpty())"),
        (r"\n(\t+)(g\.Expect\(cq\.Status\.FlavorsUsage)\[0\]",
         r"\n\1\2).NotTo(gomega.BeEmpty())\g<0>")],
    "test/util/util_scheduling.go": [
        (r"finished\.Len\(\)\)\.Should\(gomega\.Equal\(n\)",
         'finished.Len()).Should(gomega.BeNumerically("<=", n)')],
    END_TO_END + "/baseline/concurrent_admission_test.go": [
        (r"Labels\[controllerconstants\.ConcurrentAdmissionParentLabelKey\]",
         'Annotations["kueue.x-k8s.io/parent-option"]'),
        (r"controllerconstants\.WorkloadAllowedResourceFlavorAnnotation", '"sluice.dev/option"'),
        (r"\n\tcontrollerconstants .*", "")],
    END_TO_END + "/baseline/job_test.go": [NO_QUEUE],
    END_TO_END + "/baseline/pod_test.go": [NO_QUEUE],
    "test/util/e2e.go": [  # they look for Deployments, and for Kueue's Lease
        (r"(func (?:waitForKueueAvailability|waitForDeploymentAvailability)\(.*\{)",
         r"\1\n\treturn")],
    "test/util/util.go": [
        (r"(func KExecute\(.*\{)", r"\1\n\treturn executed(ns, pod, command)"),
        (r"(gomega\.Expect\(c\.Create\(ctx, obj\)\)\.Should\(gomega\.Succeed\(\)\))",
         r"owned(ctx, c, obj)\n\t\1\n\tsettled(ctx, c, obj)"),
        (r"(func SetQuotaReservation\(.*\{)", r"\1\n\twithQueue(ctx, k8sClient, wlKey, admission)"),
        (r"(updated = workload\.SetQuotaReservation\(wl, admission, clk\))",
         r"\1\n\t\t\t\tadmitted(ctx, k8sClient, wl, admission)"),
        (r"(var pendingQuotaReservedReasons = sets.New\()", r'\1\n\t"Misconfigured", "Suspended",'),
        (r'cond\.Reason == "Inadmissible"',
         'sets.New("Inadmissible", "Misconfigured", "Suspended").Has(cond.Reason)'),
        (r"cond\.Reason == kueue\.WorkloadWaiting ",
         'sets.New("Waiting", "WaitingForPodsReady").Has(cond.Reason) ')],
}

SETUP = re.compile(r"^func (\w+)\(((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*)\)"
                   r"( framework\.ManagerSetup)? \{$", re.M)


def folder_of(module, where):
    """The folder of a module that the module in `where` requires, or of that itself."""
    return subprocess.run(["go", "list", "-m", "-f", "{{.Dir}}", module], cwd=where,
                          capture_output=True, text=True, check=True).stdout.strip()


def with_setups_that_tell(text):
    """A suite's file, each of whose setups of a manager notes what it was asked for; the setup
    itself is kept under no name, so that what it imports is still imported for something."""
    def told(found):
        name, arguments, result = found.groups()
        if not result and "mgr manager.Manager" not in arguments:
            return found.group(0)
        signature = f"({arguments}){result or ''} {{"
        if not result:
            call = f'framework.Asked("{name}")(ctx, mgr)'
        else:
            names = "".join(", " + each for each in names_of(arguments))
            call = f'return framework.Asked("{name}"{names})'
        return f"func {name}{signature}\n\t{call}\n}}\n\nfunc _{signature}"

    return SETUP.sub(told, text)


def names_of(arguments):
    """The names of the arguments of a signature."""
    depth, part, parts = 0, "", []
    for each in arguments + ",":
        depth += (each in "([{") - (each in ")]}")
        if each == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += each
    return [each.split()[0] for each in parts if each.strip()]


def change(path, by):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    changed = by(text)
    if changed != text:
        with open(path, "w", encoding="utf-8") as out:
            out.write(changed)
    return changed != text


def edit(text, pattern, by):
    text, times = re.subn(pattern, by, text)
    if times == 0:
        raise AssertionError(f"there is nothing like {pattern}")
    return text


def copy(kueue, target):
    """Copies the module, once, and edits it: what is there already is kept."""
    if not os.path.isdir(target):
        shutil.copytree(kueue, target + ".new", ignore=shutil.ignore_patterns("site", "kueueviz"))
        for where, _, files in os.walk(target + ".new"):
            for each in [where, *(os.path.join(where, name) for name in files)]:
                os.chmod(each, os.stat(each).st_mode | stat.S_IWUSR)
        edit_all(target + ".new")
        os.rename(target + ".new", target)
    for source, place in (("framework.go", "test/integration/framework/framework.go"),
                          ("metrics.go", METRICS + "/metrics.go"),
                          ("util.go", "test/util/sluice.go")):
        os.makedirs(os.path.dirname(os.path.join(target, place)), exist_ok=True)
        shutil.copyfile(os.path.join(HERE, source), os.path.join(target, place))


def edit_all(target):
    for name, edits in EDITS.items():
        for pattern, by in edits:
            change(os.path.join(target, name), lambda text: edit(text, pattern, by))
    for where, _, files in os.walk(os.path.join(target, "test")):
        for name in (each for each in files if each.endswith(".go")):
            path = os.path.join(where, name)
            change(path, lambda text: text.replace(
                '"k8s.io/component-base/metrics/testutil"', f'"sigs.k8s.io/kueue/{METRICS}"'))
            if name == "suite_test.go" and SUITES in where:
                change(path, with_setups_that_tell)


def compile_suite(target, folder, program):
    """Compiles the specs of a folder; raises where they cannot be."""
    compile_go(target, "test", "-c", "-o", program, f"./{folder}")


def compile_go(target, *arguments):
    flags = os.environ.get("GOFLAGS", "") + " -mod=readonly -buildvcs=false"
    subprocess.run(["nice", "go", *arguments], cwd=target, check=True,
                   env=os.environ | {"GOFLAGS": flags.strip()})
