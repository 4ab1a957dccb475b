// A recording that hearth record has made, opened for reading (docs/reference/recording.md describes the tables).
//
// Whoever reads one must expect anything in it: the file may have been changed or cut. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace hearth::replay {

/// A row of a query's answer.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  std::int64_t integer(int column) const;
  std::int64_t integer_or(int column, std::int64_t otherwise) const;
  bool is_null(int column) const;
  std::string text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

/// Is the file one that hearth record has made?
bool is_recording(const std::string& path);

class RecordingFile {
 public:
  RecordingFile() = default;
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  /// Empty, or what is wrong with the file.
  std::string open(const std::string& path);
  /// Calls `each` for every row. False, and wrong() says why, when the file cannot be read.
  bool query(const char* sql, const std::function<void(const Row&)>& each);
  /// The answer's first number, or 0.
  std::int64_t number(const char* sql);
  std::string text(const char* sql);
  const std::string& wrong() const { return wrong_; }
  /// 2 has the table "allocation", 3 "move", 4 where things are: machines, bytes by location,
  /// decisions, homes.
  static constexpr int kNewestSchema = 4, kFirstWithPlaces = 4;
  int schema() const { return schema_; }

 private:
  sqlite3* database_ = nullptr;
  std::string path_, wrong_;
  int schema_ = 0;
};

}  // namespace hearth::replay
