#include "host/store/encrypted_journal.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "host/base/log.hpp"
#include "host/store/row_cipher.hpp"

namespace sluice::host {
namespace {

JournalRow with_body(JournalRow row, std::string_view body) {
  row.metadata = row.status = row.hidden = {};
  row.body = body;
  return row;
}

}  // namespace

/// A Secret that is to be written anew, as it is meant.
struct EncryptedJournal::Copy {
  std::string kind, key;
  std::uint64_t version = 0;
  RowTexts texts;

  JournalRow row() const {
    JournalRow out;
    out.kind = kind;
    out.key = key;
    out.version = version;
    return with_texts(out, texts);
  }
};

Result<JournalState> EncryptedJournal::load(const std::function<void(const JournalRow&)>& take) {
  std::optional<Error> problem;
  std::vector<Copy> others;
  auto state = journal_->load([&](const JournalRow& row) {
    const bool encrypted = is_secret_kind(row.kind) && is_encrypted(row);
    if (!is_secret_kind(row.kind) || (!encrypted && encryption_.keys.empty())) return take(row);
    on_disk_[std::string(row.key)] = row_checksum(row);
    RowTexts texts{std::string(row.metadata), std::string(row.body), std::string(row.status),
                   std::string(row.hidden)};
    if (encrypted) {
      auto plain = decrypted(row, encryption_.keys);
      if (!plain) {
        if (!problem) problem = plain.error();
        return;
      }
      texts = std::move(*plain);
    }
    take(with_texts(row, texts));
    const bool as_wanted = encrypted == encryption_.writes() &&
                           (!encrypted || key_name_of(row) == encryption_.keys.first().name);
    if (!as_wanted)
      others.push_back(
          {std::string(row.kind), std::string(row.key), row.version, std::move(texts)});
  });
  if (!state) return state;
  if (problem) return problem->context("store.encryption");
  if (auto written = rewrite(others); !written) return written.error();
  return state;
}

Result<void> EncryptedJournal::rewrite(const std::vector<Copy>& copies) {
  constexpr std::size_t kMostRows = 1000;
  if (encryption_.writes()) {
    if (auto marked = journal_->set_encrypted(true); !marked) return marked;
    if (!copies.empty())
      if (auto due = journal_->scrub_later(); !due) return due;
  }
  for (std::size_t at = 0; at < copies.size(); at += kMostRows) {
    std::vector<JournalRow> rows;
    for (std::size_t i = at; i < std::min(copies.size(), at + kMostRows); ++i) {
      rows.push_back(copies[i].row());
      rows.back().replaces = 0;  // write() knows what is there
    }
    if (auto done = write(rows, 0, {}); !done) return done;
  }
  if (!copies.empty())
    log(LogLevel::kInfo, "store",
        encryption_.writes() ? "Secrets were encrypted with the first key"
                             : "Secrets were written in plain",
        {{"secrets", std::to_string(copies.size())},
         {"key", encryption_.writes() ? encryption_.keys.first().name : "none"}});
  if (encryption_.writes()) return journal_->scrub_if_due();
  return encryption_.keys.empty() ? Result<void>() : journal_->set_encrypted(false);
}

Result<void> EncryptedJournal::write(std::span<const JournalRow> rows, std::uint64_t version,
                                     std::string_view fields) {
  const bool any = std::any_of(rows.begin(), rows.end(),
                               [](const JournalRow& row) { return is_secret_kind(row.kind); });
  if (!any || encryption_.keys.empty()) return journal_->write(rows, version, fields);
  std::vector<JournalRow> out(rows.begin(), rows.end());
  std::deque<std::string> bodies;  // which stay where they are
  for (JournalRow& row : out) {
    if (!is_secret_kind(row.kind)) continue;
    if (row.replaces) {
      const auto known = on_disk_.find(std::string(row.key));
      if (known == on_disk_.end())
        return Error{"Secret " + std::string(row.key) + " replaces one that is not there"};
      row.replaces = known->second;
    }
    if (row.deleted || !encryption_.writes()) continue;
    auto body = encrypted_body(row, encryption_.keys.first());
    if (!body) return body.error();
    row = with_body(row, bodies.emplace_back(std::move(*body)));
  }
  if (auto done = journal_->write(out, version, fields); !done) return done;
  for (const JournalRow& row : out) {
    if (!is_secret_kind(row.kind)) continue;
    if (row.deleted)
      on_disk_.erase(std::string(row.key));
    else
      on_disk_[std::string(row.key)] = row_checksum(row);
  }
  return {};
}

}  // namespace sluice::host
