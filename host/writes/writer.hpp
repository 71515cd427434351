// Writer: carries out a WriteRequest of a client: which object, what the patch makes of it, whether
// the client may overwrite what is there (resourceVersion), field validation, dry run. What then
// happens to the object is ObjectWriter's business.
//
// Belongs to the kernel's thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/writes/object_writer.hpp"
#include "host/writes/write.hpp"

namespace sluice::host {

class Writer {
 public:
  explicit Writer(ObjectWriter& objects) : objects_(objects) {}

  ApiResult<WriteOutcome> execute(const WriteRequest& request);

 private:
  ApiResult<WriteOutcome> create(const WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> update(const WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> patch(const WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> scale(const WriteRequest& request, const WriteMode& mode);
  ApiResult<WriteOutcome> replace(const WriteRequest& request, const ObjectRef& ref,
                                  boost::json::object after, const WriteMode& mode);
  ApiResult<boost::json::object> patched(const WriteRequest& request, const ObjectRef& ref) const;

  ObjectWriter& objects_;
};

}  // namespace sluice::host
