// See packed.h.
#include "report/packed.h"

#include <new>

#include <zlib.h>

namespace hearth::report {

std::string deflated(std::string_view bytes) {
  constexpr int kLevel = 6;
  uLongf length = compressBound(bytes.size());
  std::string out(length, '\0');
  // It can only fail for want of memory.
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
                bytes.size(), kLevel) != Z_OK)
    throw std::bad_alloc();
  out.resize(length);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace hearth::report
