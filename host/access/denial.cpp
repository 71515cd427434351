#include "host/access/denial.hpp"

#include <fmt/format.h>

namespace sluice::host {

std::string denial_text(const Identity& who, const AccessRequest& request) {
  if (!request.path.empty())
    return fmt::format("User \"{}\" cannot {} path \"{}\"", who.user, request.verb, request.path);
  const std::string where = request.ns.empty() ? std::string("at the cluster scope")
                                               : fmt::format("in the namespace \"{}\"", request.ns);
  return fmt::format("User \"{}\" cannot {} resource \"{}{}{}\" in API group \"{}\" {}", who.user,
                     request.verb, request.resource, request.subresource.empty() ? "" : "/",
                     request.subresource, request.group, where);
}

ApiError access_denied(const Identity& who, const AccessRequest& request, std::string_view why) {
  ApiError out;
  out.code = 403;
  out.reason = "Forbidden";
  const std::string denial =
      denial_text(who, request) + (why.empty() ? "" : ": ") + std::string(why);
  if (!request.path.empty()) {
    out.text = "forbidden: " + denial;
    return out;
  }
  out.group = request.group;
  out.resource = request.resource;
  out.name = request.name;
  const std::string full = std::string(request.resource) + (request.group.empty() ? "" : ".") +
                           std::string(request.group);
  out.text = request.name.empty()
                 ? fmt::format("{} is forbidden: {}", full, denial)
                 : fmt::format("{} \"{}\" is forbidden: {}", full, request.name, denial);
  return out;
}

ApiError unauthorized() {
  ApiError out;
  out.code = 401;
  out.reason = "Unauthorized";
  out.text = "Unauthorized";
  return out;
}

}  // namespace sluice::host
