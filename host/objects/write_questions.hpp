// WriteQuestions: what plugins are asked about one write, as far as they have answered.
//
// A write whose judges take their time is laid aside and begun again when an answer came
// (WriteRequest::may_wait). What they were asked stays here meanwhile, so that each is asked once:
// beginning again puts the same questions in the same order, and is given the answers that are
// there. It belongs to one draft: a draft that is made anew asks anew. [kernel's thread]
#pragma once

namespace sluice::host {

class WriteQuestions {
 public:
  virtual ~WriteQuestions() = default;
  /// An answer is not there yet. The host is woken when it is.
  virtual bool wait() const = 0;
};

}  // namespace sluice::host
