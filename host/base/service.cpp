#include "host/base/service.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace sluice::host {

void tell_service_manager(std::string_view message) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets variables
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  const std::size_t length = path ? std::strlen(path) : 0;
  if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract name
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  [[maybe_unused]] const ssize_t sent =
      ::sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address), size);
  ::close(socket);
}

}  // namespace sluice::host
