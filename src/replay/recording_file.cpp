#include "replay/recording_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

namespace hearth::replay {
namespace {

/// The file's length as its own head has it; 0: it has none.
std::uint64_t stated_length(const std::string& path) {
  unsigned char head[32] = {};
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(head), sizeof head);
  const std::uint64_t page = head[16] * 256u + head[17];
  const std::uint64_t pages = std::uint64_t{head[28]} << 24 | head[29] << 16 | head[30] << 8 | head[31];
  return (page == 1 ? 65536 : page) * pages;
}

}  // namespace

std::int64_t Row::integer(int column) const { return sqlite3_column_int64(statement_, column); }
std::int64_t Row::integer_or(int column, std::int64_t otherwise) const {
  return is_null(column) ? otherwise : integer(column);
}
bool Row::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::string Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

RecordingFile::~RecordingFile() { sqlite3_close(database_); }

std::string RecordingFile::open(const std::string& path) {
  path_ = path;
  if (access(path.c_str(), R_OK) != 0) return fmt::format("{}: {}", path, std::strerror(errno));
  if (!is_recording(path)) return fmt::format("{}: is no recording of hearth record", path);
  std::error_code error;
  const std::uint64_t length = std::filesystem::file_size(path, error);
  const std::uint64_t stated = stated_length(path);
  if (error || length != stated)
    return fmt::format("{}: has {} bytes and should have {}: it was cut or written over", path, length,
                       stated);
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
    return fmt::format("{}: {}", path, sqlite3_errmsg(database_));
  std::string schema;
  if (!query("SELECT value FROM meta WHERE key = 'schema'", [&](const Row& row) { schema = row.text(0); }))
    return wrong_;
  if (schema.size() != 1 || schema[0] < '1' || schema[0] > '0' + kNewestSchema)
    return fmt::format("{}: has schema \"{}\"; this hearth reads 1 to {}", path, schema, kNewestSchema);
  schema_ = schema.front() - '0';
  bool whole = true;
  if (!query("PRAGMA quick_check(1)", [&](const Row& row) { whole = row.text(0) == "ok"; })) return wrong_;
  return whole ? "" : fmt::format("{}: is damaged or was cut: sqlite's check of it fails", path);
}

bool RecordingFile::query(const char* sql, const std::function<void(const Row&)>& each) {
  sqlite3_stmt* statement = nullptr;
  int result = sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr);
  if (result == SQLITE_OK)
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) each(Row(statement));
  if (result != SQLITE_DONE && wrong_.empty())
    wrong_ = fmt::format("{}: {}", path_, sqlite3_errmsg(database_));
  sqlite3_finalize(statement);
  return result == SQLITE_DONE;
}

std::int64_t RecordingFile::number(const char* sql) {
  std::int64_t value = 0;
  query(sql, [&](const Row& row) { value = row.integer(0); });
  return value;
}

std::string RecordingFile::text(const char* sql) {
  std::string value;
  query(sql, [&](const Row& row) { value = row.text(0); });
  return value;
}

bool is_recording(const std::string& path) {
  char head[72] = "";
  std::ifstream in(path, std::ios::binary);
  in.read(head, sizeof head);
  // SQLite keeps its user's mark there, highest byte first.
  return in.gcount() == sizeof head && std::memcmp(head, "SQLite format 3", 16) == 0 &&
         std::memcmp(head + 68, "HREC", 4) == 0;
}

}  // namespace hearth::replay
