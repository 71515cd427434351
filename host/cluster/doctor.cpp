#include "host/cluster/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/base64.hpp"
#include "host/access/pki.hpp"
#include "host/base/version.hpp"
#include "host/kube/caller.hpp"
#include "host/objects/job_pages.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/webhook/configuration.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

using Level = Finding::Level;

constexpr int kOldestMinor = 30;  // of Kubernetes 1
constexpr std::int64_t kDay = 86'400;
constexpr std::string_view kWebhookKinds =
    "MutatingWebhookConfiguration,ValidatingWebhookConfiguration,Service";
constexpr const char* kServer = "server";
constexpr const char* kAccount = "sluice-controller";
constexpr std::string_view kOfPlugins = ".plugins.sluice.dev";
constexpr const char* kGroupPath = "/apis/kueue.x-k8s.io/";
/// No queue has less than nothing.
constexpr const char* kWrongQueue =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",)"
    R"("metadata":{"generateName":"sluice-doctor-"},"spec":{"resourceGroups":[)"
    R"({"coveredResources":["cpu"],"flavors":[{"name":"none","resources":[)"
    R"({"name":"cpu","nominalQuota":"-1"}]}]}]}})";

class Examination {
 public:
  Examination(const DoctorOrder& order, const AskCluster& ask) : order_(order), ask_(ask) {}

  std::vector<Finding> run() {
    if (!server()) return std::move(findings_);
    if (is_own_host_) {
      own_host();
      return std::move(findings_);
    }
    definitions();
    lease();
    neighbour();
    rights();
    job_kinds();
    const std::size_t hooked = configurations();
    if (hooked > 0) webhook();
    versions();
    return std::move(findings_);
  }

 private:
  void add(Level level, std::string about, std::string told, std::string remedy = {}) {
    findings_.push_back({level, std::move(about), std::move(told), std::move(remedy)});
  }
  /// To be given again, as it was first; `only` these kinds of it, so that nothing else changes.
  std::string give(std::string_view only) const {
    return fmt::format(
        "sluice manifests --config FILE{}{}{} | kubectl apply -f -, with the other options that it "
        "was installed with",
        order_.has_pages ? " --job-kinds PAGES" : "", only.empty() ? "" : " --only ", only);
  }
  ClusterAnswer get(std::string path) const {
    ClusterRequest request;
    request.path = std::move(path);
    return ask_(std::move(request));
  }

  bool server() {
    const ClusterAnswer answer = get("/version");
    const auto version = api::parse_object(answer.body);
    if (answer.status != 200 || !version) {
      add(Level::kWrong, kServer, trouble_of(answer),
          "look at the server and the user that the kubeconfig names");
      return false;
    }
    const std::string minor = text_in(*version, "minor");  // some add a plus
    int number = 0;
    std::from_chars(minor.data(), minor.data() + minor.size(), number);
    const std::string git_version = text_in(*version, "gitVersion");
    is_own_host_ = git_version.find(kHostMark) != std::string::npos;
    const std::string told = "Kubernetes " + git_version;
    if (is_own_host_)
      add(Level::kGood, kServer,
          git_version +
              ": a host of Sluice, which decides by itself. What a cluster needs for that "
              "(definitions, a lease, webhooks) it does not; doctor is for clusters");
    else if (text_in(*version, "major") == "1" && number < kOldestMinor)
      add(Level::kWrong, kServer, told,
          fmt::format("Kubernetes 1.{} or later is needed", kOldestMinor));
    else
      add(Level::kGood, kServer, told);
    return true;
  }

  /// What it says itself of how it stands.
  void own_host() {
    const ClusterAnswer answer = get("/readyz?verbose");
    if (answer.status == 200) return add(Level::kGood, "host", "it is ready");
    add(Level::kWrong, "host", "it is not ready: " + trouble_of(answer),
        "kubectl get --raw '/readyz?verbose' tells which part, its log tells why");
  }

  void definitions() {
    std::vector<std::string> missing, others, unready, unseen;
    std::size_t good = 0;
    for (const api::KindInfo* kind : order_.scheme->kinds()) {
      if (kind->group != kQueueGroup || kind->internal) continue;
      const std::string name = kind->plural + "." + kind->group;
      const ClusterAnswer answer =
          get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name);
      const auto definition = api::parse_object(answer.body);
      if (answer.status == 404) {
        missing.push_back(kind->plural);
      } else if (answer.status != 200 || !definition) {
        unseen.push_back(kind->plural);
      } else {
        const json::object& conversion = part(part(*definition, "spec"), "conversion");
        const json::object& client = part(part(conversion, "webhook"), "clientConfig");
        if (text_in(part(client, "service"), "name") == "kueue-webhook-service")
          others.push_back(kind->plural);
        else if (!has_condition(part(*definition, "status"), "Established"))
          unready.push_back(kind->plural);
        else
          ++good;
      }
    }
    const std::string remedy_of_all = give("");
    const auto tell = [this](const std::vector<std::string>& which, Level level, const char* how,
                             const std::string& remedy) {
      if (!which.empty())
        add(level, "definitions", fmt::format("{}: {}", how, fmt::join(which, ", ")), remedy);
    };
    tell(missing, Level::kWrong, "are not there", remedy_of_all);
    tell(unready, Level::kWrong, "are not established", "kubectl describe tells why");
    tell(others, Level::kWrong, "are Kueue's, and are converted by its webhook", remedy_of_all);
    tell(unseen, Level::kUnknown, "cannot be read by this user", "");
    if (good > 0) add(Level::kGood, "definitions", fmt::format("{} are established", good));
  }

  /// nullopt: there is none, or it cannot be read, which was reported.
  std::optional<json::object> lease_of(const std::string& ns, const std::string& name,
                                       const char* about, bool wanted) {
    const ClusterAnswer answer =
        get(fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}", ns, name));
    auto found = api::parse_object(answer.body);
    if (answer.status == 200 && found) return part(*found, "spec");
    if (answer.status == 404 && wanted)
      add(Level::kWrong, about, fmt::format("there is no lease {}/{}: nobody decides", ns, name),
          "start sluice controller; as a pod it is part of what sluice manifests prints");
    if (answer.status != 404) add(Level::kUnknown, about, trouble_of(answer));
    return std::nullopt;
  }

  bool is_held(const json::object& spec) const {
    const auto renewed = api::find_time(spec, "renewTime");
    const Duration lasts = api::find_int(spec, "leaseDurationSeconds").value_or(15) * kSecond;
    return !text_in(spec, "holderIdentity").empty() && renewed &&
           order_.now - *renewed < 2 * lasts;  // clocks may differ
  }

  void lease() {
    const auto spec = lease_of(order_.ns, "sluice-controller", "lease", true);
    if (!spec) return;
    const std::string holder = text_in(*spec, "holderIdentity");
    if (is_held(*spec)) return add(Level::kGood, "lease", holder + " decides");
    add(Level::kWrong, "lease",
        holder.empty() ? "nobody holds it: nobody decides"
                       : fmt::format("{} held it last, at {}: nobody decides", holder,
                                     text_in(*spec, "renewTime")),
        fmt::format("kubectl -n {} get pods, and their logs", order_.ns));
  }

  void neighbour() {
    const auto spec = lease_of("kueue-system", "c1f6bfd2.kueue.x-k8s.io", "neighbour", false);
    if (spec && is_held(*spec))
      add(Level::kWrong, "neighbour", "Kueue decides here, too",
          "let one of the two decide: kubectl -n kueue-system scale "
          "deployment/kueue-controller-manager --replicas 0");
  }

  /// Of the account that the manifests give the controllers; one that runs elsewhere has another.
  void rights() {
    const ClusterAnswer account =
        get(fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}", order_.ns, kAccount));
    if (account.status == 404) return;
    if (account.status != 200) return add(Level::kUnknown, "rights", trouble_of(account));
    const std::string user = fmt::format("system:serviceaccount:{}:{}", order_.ns, kAccount);
    const Lacking anywhere = lacking(order_.rights.anywhere, user, "", ask_);
    const Lacking own = lacking(order_.rights.own, user, order_.ns, ask_);
    for (const Lacking* each : {&anywhere, &own})
      if (!each->unseen.empty())
        return add(Level::kUnknown, "rights", "this user may not ask for others: " + each->unseen);
    std::vector<std::string> all = anywhere.rights;
    for (const std::string& each : own.rights)
      all.push_back(fmt::format("{} in {}", each, order_.ns));
    if (all.empty()) return add(Level::kGood, "rights", user + " may decide");
    add(Level::kWrong, "rights", fmt::format("{} may not: {}", user, fmt::join(all, "; ")),
        give("ClusterRole,ClusterRoleBinding,Role,RoleBinding"));
  }

  /// Pages that the controller does not serve say so themselves.
  void job_kinds() {
    const ClusterAnswer answer = get(fmt::format("/apis/{}/jobkinds", kJobKindVersion));
    if (answer.status == 404) return;
    const auto list = api::parse_object(answer.body);
    if (answer.status != 200 || !list) return add(Level::kUnknown, "job kinds", trouble_of(answer));
    for_each_object(*list, "items", [this](const json::object& page) {
      const json::object* served = find_condition(part(page, "status"), "Served");
      const std::string name = text_in(part(page, "metadata"), "name");
      if (served == nullptr)
        add(Level::kUnknown, "job kinds", name + ": no controller looked at it yet");
      else if (text_in(*served, "status") != "True")
        add(Level::kWrong, "job kinds", name + " is not served: its jobs run without quota",
            text_in(*served, "message"));
    });
  }

  /// How many webhooks there are.
  std::size_t configurations() {
    std::size_t webhooks = 0;
    std::set<std::string> trusts;
    std::set<std::string> asked;  // what the mutating ones are about, PLURAL.GROUP
    for (const char* kind : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
      const ClusterAnswer answer =
          get(fmt::format("/apis/admissionregistration.k8s.io/v1/{}/sluice-controller", kind));
      const auto found = api::parse_object(answer.body);
      if (answer.status != 200 || !found) {
        add(answer.status == 404 ? Level::kWrong : Level::kUnknown, "webhooks",
            answer.status == 404 ? fmt::format("there is no {}/sluice-controller: jobs with a "
                                               "queue may begin before they are held",
                                               kind)
                                 : trouble_of(answer),
            answer.status == 404 ? give(kWebhookKinds) : "");
        continue;
      }
      for_each_object(*found, "webhooks", [&](const json::object& webhook) {
        ++webhooks;
        if (std::string_view(kind).starts_with("mutating")) note_rules(webhook, asked);
        trusts.insert(text_in(part(webhook, "clientConfig"), "caBundle"));
        const std::string name = text_in(webhook, "name");
        // Of those that plugins ask for some are meant to be passed by: their manifests say so.
        if (text_in(webhook, "failurePolicy") != "Fail" && !name.ends_with(kOfPlugins))
          add(Level::kWrong, "webhooks",
              fmt::format("{} of {} is passed by while nobody answers", name, kind),
              "set its failurePolicy to Fail");
      });
    }
    for (const std::string& each : trusts) trust(each);
    if (!asked.empty()) held_jobs(asked);
    return webhooks;
  }

  static void note_rules(const json::object& webhook, std::set<std::string>& asked) {
    for_each_object(webhook, "rules", [&asked](const json::object& rule) {
      for (const std::string& group : texts_in(rule, "apiGroups"))
        for (const std::string& plural : texts_in(rule, "resources"))
          asked.insert(plural + "." + group);
    });
  }

  /// Jobs of all kinds that are decided on, those of pages as well, have to be held when made.
  void held_jobs(const std::set<std::string>& asked) {
    std::vector<std::string> missing;
    for (const api::KindInfo* kind : order_.scheme->kinds())
      if (kind->job && !asked.contains(kind->plural + "." + kind->group))
        missing.push_back(kind->plural + "." + kind->group);
    if (!missing.empty())
      add(Level::kWrong, "webhooks",
          fmt::format("not asked about {}: jobs with a queue may begin before they are held",
                      fmt::join(missing, ", ")),
          give(kWebhookKinds));
  }

  void trust(const std::string& bundle) {
    if (bundle.empty())
      return add(Level::kWrong, "webhooks", "a configuration does not say whom to trust",
                 "the controller that decides puts its authority there: look at its log");
    const auto ends = expiry_of(base64_bytes(bundle));
    if (!ends)
      return add(Level::kWrong, "webhooks", "caBundle: " + ends.error().text,
                 "take caBundle out; the controller that decides puts its authority there");
    if (*ends < order_.now / kSecond + kDay)
      add(Level::kWrong, "webhooks",
          "the authority that is trusted ends at " + format_time(*ends * kSecond),
          fmt::format("kubectl -n {} delete secret sluice-webhook: another one is made",
                      order_.ns));
  }

  /// Whether API servers reach it: by an object that it must refuse.
  void webhook() {
    const ClusterAnswer answer =
        ask_(posting(std::string(kGroupPath) + "v1beta2/clusterqueues?dryRun=All", kWrongQueue));
    const std::string told = trouble_of(answer);
    if (answer.status == 422 && told.find("denied the request") != std::string::npos)
      return add(Level::kGood, "webhooks", "API servers are answered");
    if (answer.status == 403 || answer.status == 401)
      return add(Level::kUnknown, "webhooks",
                 "this user may not create ClusterQueues, so it was not tried: " + told);
    if (told.find("failed calling webhook") == std::string::npos)
      return add(Level::kWrong, "webhooks",
                 answer.status == 201 ? "a ClusterQueue with a negative quota was taken" : told,
                 give(kWebhookKinds));
    add(Level::kWrong, "webhooks", told, remedy_of(told));
  }

  std::string remedy_of(const std::string& told) const {
    const auto says = [&told](const char* what) { return told.find(what) != std::string::npos; };
    if (says("x509") || says("certificate"))
      return "API servers do not trust it (yet): the controller that decides says in its log what "
             "keeps it from putting its authority there";
    if (says("no endpoints") || says("not found") || says("connection refused"))
      return fmt::format("no controller is ready: kubectl -n {} get pods, and their logs",
                         order_.ns);
    return "API servers do not reach port 9443 of the controllers: look for network policies and "
           "firewalls";
  }

  void versions() {
    if (converted_definitions(*order_.scheme).empty()) return;
    const ClusterAnswer answer = get(std::string(kGroupPath) + "v1beta1/clusterqueues?limit=1");
    if (answer.status == 200) return add(Level::kGood, "versions", "v1beta1 can be read");
    if (answer.status == 404) return add(Level::kGood, "versions", "v1beta1 is not served");
    const bool away = answer.status >= 500;
    add(away ? Level::kWrong : Level::kUnknown, "versions", trouble_of(answer),
        away ? remedy_of(trouble_of(answer)) : "");
  }

  const DoctorOrder& order_;
  const AskCluster& ask_;
  bool is_own_host_ = false;
  std::vector<Finding> findings_;
};

std::string_view word_of(Level level) {
  return level == Level::kGood ? "ok" : level == Level::kWrong ? "wrong" : "unknown";
}

}  // namespace

std::vector<Finding> examine(const DoctorOrder& order, const AskCluster& ask) {
  return Examination(order, ask).run();
}

bool any_wrong(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& each) { return each.level == Level::kWrong; });
}

bool sees_nothing(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.level == Level::kWrong || (each.level == Level::kGood && each.about != kServer);
  });
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& each : findings) {
    out += fmt::format("{:8} {:12} {}\n", word_of(each.level), each.about, each.told);
    if (!each.remedy.empty()) out += fmt::format("{:8} {:12} → {}\n", "", "", each.remedy);
  }
  return out;
}

json::object findings_document(const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& each : findings) {
    json::object made{{"result", api::json_view(word_of(each.level))},
                      {"about", each.about},
                      {"message", each.told}};
    if (!each.remedy.empty()) made["remedy"] = each.remedy;
    list.push_back(std::move(made));
  }
  return {{"apiVersion", "sluice.dev/v1alpha1"},
          {"kind", "ClusterFindings"},
          {"findings", std::move(list)}};
}

}  // namespace sluice::host
