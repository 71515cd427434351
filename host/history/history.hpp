// HostHistory: the history of a host: the file, the recorder that writes it, and the thread that
// answers questions.
//
// Where it cannot be opened the host goes on without: the log says why, and so does the answer to
// each question. ask() and state() may be called from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/apiserver/backend.hpp"
#include "host/apiserver/question_thread.hpp"
#include "host/base/fd.hpp"
#include "host/config/config.hpp"
#include "host/history/history_reader.hpp"
#include "host/history/recorder.hpp"

namespace sluice::host {

class HostHistory final : public History {
 public:
  /// All must outlive it. `store_folder`: empty for a store in memory, whose history ends with the
  /// process. `name`: of the store, as for the recorder.
  HostHistory(const HistoryConfig& config, const std::string& store_folder, LiveStore& store,
              const api::Scheme& scheme, std::function<Time()> clock, const std::string& name = {});
  ~HostHistory() override;

  void start();
  /// Everything that is published by now is in the file.
  void stop();

  void ask(HistoryRequest request, Done done) override;
  HistoryState state() const;
  /// How long the latest runs of each LocalQueue took that succeeded; empty where nothing is known.
  /// For one thread.
  std::map<std::string, std::vector<Duration>> run_times();

 private:
  Result<void> open(const HistoryConfig& config, const std::string& store_folder, LiveStore& store,
                    const api::Scheme& scheme, const std::string& name);
  Result<void> lock(const std::string& path);
  ApiResult<boost::json::value> answer(const HistoryRequest& request);

  const std::function<Time()> clock_;
  std::filesystem::path temporary_;  // a folder that goes with this; empty: none
  Fd lock_;
  std::string failure_;  // why there is no history
  std::unique_ptr<HistoryRecorder> recorder_;
  std::unique_ptr<HistoryReader> reader_;  // of the thread of questions
  std::unique_ptr<HistoryReader> times_;   // of the one that asks for run times
  QuestionThread thread_;
};

/// Of a cluster that is followed into `store`, where the configuration names a file for it; null:
/// it names none. Its store begins anew with each process.
std::unique_ptr<HostHistory> history_of_cluster(const HistoryConfig& config, LiveStore& store,
                                                const api::Scheme& scheme,
                                                std::function<Time()> clock);

}  // namespace sluice::host
