// What API servers pass on, by the head of a request alone: who is answered, and what is served.
#include "host/aggregation/aggregated_api.hpp"

#include <gmock/gmock.h>

#include "host/client/link.hpp"

namespace sluice::host {
namespace {

const std::string kPending = "/apis/visibility.kueue.x-k8s.io/";

class AggregatedApiTest : public ::testing::Test {
 protected:
  static Kubeconfig nowhere() {
    Kubeconfig out;
    out.server = "http://127.0.0.1:1";  // nothing is asked there
    return out;
  }
  static FrontProxy proxy() {
    FrontProxy out;
    out.allowed_names = {"front-proxy"};
    out.user_headers = {"x-remote-user"};
    return out;
  }
  static Request asked(const std::string& path, const char* method = "GET") {
    Request out;
    out.method = method;
    out.path = path;
    out.headers = {{"x-remote-user", "ann"}};
    out.certificate = CertificateSubject{"front-proxy", {}};
    return out;
  }
  /// The code with which it is refused; 0: it is not.
  int refused(const Request& request) const {
    const auto reply = api_.check(request);
    return reply ? reply->status : 0;
  }

  api::Scheme scheme_;
  AccessReviews reviews_{*link_target(nowhere()), nowhere()};
  AggregatedApi api_{scheme_, reviews_, [] { return true; }};
};

TEST_F(AggregatedApiTest, NobodyIsAnsweredBeforeItKnowsTheApiServers) {
  EXPECT_EQ(refused(asked("/apis")), 503);
  api_.trust(proxy());
  EXPECT_EQ(refused(asked("/apis")), 0);
}

TEST_F(AggregatedApiTest, StrangersAreAnsweredNothing) {
  api_.trust(proxy());
  for (const char* path : {"/apis", "/openapi/v2", "/apis/elsewhere/v1/things"}) {
    Request stranger = asked(path);
    stranger.certificate.reset();
    EXPECT_EQ(refused(stranger), 401) << path;
  }
}

TEST_F(AggregatedApiTest, ServesWhoWaitsAndItsDocumentsAndNothingElse) {
  api_.trust(proxy());
  struct Case {
    std::string path;
    const char* method;
    int refused;
  };
  for (const auto& [path, method, code] : std::vector<Case>{
           {"/apis", "GET", 0},
           {"/apis/visibility.kueue.x-k8s.io", "GET", 0},
           {kPending + "v1beta2", "GET", 0},
           {"/openapi/v3", "GET", 0},
           {kPending + "v1beta2/clusterqueues/q/pendingworkloads", "GET", 0},
           {kPending + "v1beta1/namespaces/a/localqueues/q/pendingworkloads", "GET", 0},
           {kPending + "v1alpha1/clusterqueues/q/pendingworkloads", "GET", 404},
           {kPending + "v1beta2/clusterqueues/q", "GET", 404},
           {"/apis/kueue.x-k8s.io/v1beta2/workloads", "GET", 404},
           {"/apis/sluice.dev/v1alpha1/whatifs", "POST", 404},
           {kPending + "v1beta2/clusterqueues/q/pendingworkloads", "POST", 405},
           {"/apis", "POST", 405},
       }) {
    EXPECT_TRUE(AggregatedApi::serves(path)) << path;
    EXPECT_EQ(refused(asked(path, method)), code) << method << " " << path;
  }
  for (const char* path : {"/mutate", "/validate", "/convert", "/readyz", "/apisx"})
    EXPECT_FALSE(AggregatedApi::serves(path)) << path;
}

}  // namespace
}  // namespace sluice::host
