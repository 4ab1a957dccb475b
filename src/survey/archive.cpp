// ustar inside gzip; see archive.h. The format: per file one header block of 512 bytes, then the content
// padded to whole blocks; two empty blocks at the end.
#include "survey/archive.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <zlib.h>

namespace hearth::survey {
namespace {

constexpr std::size_t kBlock = 512;
// A machine of 1024 CPUs has about 40,000 small files.
constexpr std::size_t kMostFiles = 400'000;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

struct Header {  // POSIX ustar
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char link[100];
  char magic[6];
  char version[2];
  char user[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char padding[12];
};
static_assert(sizeof(Header) == kBlock);

unsigned checksum_of(Header header) {
  std::memset(header.checksum, ' ', sizeof header.checksum);
  unsigned char bytes[kBlock];
  std::memcpy(bytes, &header, kBlock);
  unsigned sum = 0;
  for (unsigned char byte : bytes) sum += byte;
  return sum;
}

template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return std::string(field, strnlen(field, size));
}

template <std::size_t size>
std::size_t octal_of(const char (&field)[size], const std::string& archive) {
  std::size_t value = 0;
  for (char c : text_of(field)) {
    if (c == ' ') continue;
    if (c < '0' || c > '7' || value > kMostBytes)
      throw std::runtime_error(fmt::format("{}: damaged archive", archive));
    value = value * 8 + static_cast<std::size_t>(c - '0');
  }
  return value;
}

void check_name(const std::string& name, const std::string& archive) {
  bool bad = name.empty() || name.front() == '/' || name.size() > 255;
  for (const auto& part : std::filesystem::path(name)) bad = bad || part == "..";
  if (bad)
    throw std::runtime_error(
        fmt::format("{}: \"{}\" is no name for a file in a replay archive", archive, name));
}

class GzipFile {
 public:
  GzipFile(const std::string& path, const char* mode) : path_(path), file_(gzopen(path.c_str(), mode)) {
    if (file_ == nullptr)
      throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno != 0 ? errno : ENOMEM)));
  }
  ~GzipFile() {
    if (file_ != nullptr) gzclose(file_);
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void write(const void* bytes, std::size_t size) {
    if (size > 0 && gzwrite(file_, bytes, static_cast<unsigned>(size)) != static_cast<int>(size))
      fail("cannot be written");
  }
  // False at a clean end.
  bool read(void* bytes, std::size_t size) {
    const int got = gzread(file_, bytes, static_cast<unsigned>(size));
    if (got == 0 && size > 0) return false;
    if (got != static_cast<int>(size)) fail("cannot be read, or is cut short");
    return true;
  }
  void close() {
    const int result = gzclose(file_);
    file_ = nullptr;
    if (result != Z_OK) fail("cannot be written");
  }

 private:
  [[noreturn]] void fail(const char* what) { throw std::runtime_error(fmt::format("{}: {}", path_, what)); }

  std::string path_;
  gzFile file_;
};

}  // namespace

void write_archive(const std::string& path, const std::vector<ArchiveFile>& files) {
  GzipFile out(path, "wb9");
  const char zeros[2 * kBlock] = {};
  for (const ArchiveFile& file : files) {
    check_name(file.name, path);
    Header header{};
    std::string name = file.name;
    if (name.size() >= sizeof header.name) {
      // The prefix takes whole folders.
      const std::size_t cut = name.find('/', name.size() - sizeof header.name);
      if (cut == std::string::npos || cut >= sizeof header.prefix) {
        throw std::runtime_error(fmt::format("{}: the name {} is too long for an archive", path, name));
      }
      std::memcpy(header.prefix, name.data(), cut);
      name.erase(0, cut + 1);
    }
    std::memcpy(header.name, name.data(), name.size());
    std::snprintf(header.mode, sizeof header.mode, "%07o", 0644);
    std::snprintf(header.uid, sizeof header.uid, "%07o", 0);
    std::snprintf(header.gid, sizeof header.gid, "%07o", 0);
    std::snprintf(header.size, sizeof header.size, "%011zo", file.content.size());
    std::snprintf(header.mtime, sizeof header.mtime, "%011o", 0);
    header.type = '0';
    std::memcpy(header.magic, "ustar", 6);
    std::memcpy(header.version, "00", 2);
    std::snprintf(header.checksum, sizeof header.checksum, "%06o", checksum_of(header));
    out.write(&header, sizeof header);
    out.write(file.content.data(), file.content.size());
    out.write(zeros, (kBlock - file.content.size() % kBlock) % kBlock);
  }
  out.write(zeros, sizeof zeros);
  out.close();
}

std::vector<ArchiveFile> read_archive(const std::string& path) {
  GzipFile in(path, "rb");
  std::vector<ArchiveFile> files;
  std::size_t total = 0;
  Header header;
  const Header empty{};
  while (in.read(&header, sizeof header)) {
    if (std::memcmp(&header, &empty, sizeof header) == 0) return files;
    if (std::memcmp(header.magic, "ustar", 5) != 0 ||
        octal_of(header.checksum, path) != checksum_of(header)) {
      throw std::runtime_error(
          fmt::format("{}: not a replay archive; `hearth topo --gather` writes one", path));
    }
    std::string name = text_of(header.name);
    if (const std::string prefix = text_of(header.prefix); !prefix.empty())
      name = fmt::format("{}/{}", prefix, name);
    while (name.rfind("./", 0) == 0) name.erase(0, 2);
    const std::size_t size = octal_of(header.size, path);
    total += size;
    if (total > kMostBytes || files.size() >= kMostFiles) {
      throw std::runtime_error(fmt::format("{}: larger than any replay archive", path));
    }
    std::string content(size, '\0');
    if (size > 0 && !in.read(content.data(), size))
      throw std::runtime_error(fmt::format("{}: cut short", path));
    char padding[kBlock];
    const std::size_t rest = (kBlock - size % kBlock) % kBlock;
    if (rest > 0 && !in.read(padding, rest)) throw std::runtime_error(fmt::format("{}: cut short", path));
    if (header.type != '0' && header.type != '\0')
      continue;  // folders come with their files; links are not for us
    check_name(name, path);
    files.push_back({std::move(name), std::move(content)});
  }
  if (files.empty()) throw std::runtime_error(fmt::format("{}: empty", path));
  return files;
}

UnpackedArchive::UnpackedArchive(const std::vector<ArchiveFile>& files) {
  std::string pattern = (std::filesystem::temp_directory_path() / "hearth-replay-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error(fmt::format("{}: {}", pattern, std::strerror(errno)));
  }
  folder_ = pattern;
  std::filesystem::path last;
  try {
    for (const ArchiveFile& file : files) {
      const std::filesystem::path target = std::filesystem::path(folder_) / file.name;
      // Neighbours share their folder: asking once per folder, not per file, halves the time.
      if (target.parent_path() != last) {
        last = target.parent_path();
        std::filesystem::create_directories(last);
      }
      std::ofstream out(target, std::ios::binary);
      out << file.content;
      out.close();
      if (!out) throw std::runtime_error(fmt::format("{}: cannot be written", target.string()));
    }
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    throw;
  }
}

UnpackedArchive::~UnpackedArchive() {
  std::error_code ignored;  // a destructor cannot do anything about a folder that somebody else took away
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace hearth::survey
