// See json.h.
#include "cli/json.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace hearth::cli {

using Document = nlohmann::ordered_json;

static const Json kNull;

/// Between our values and the library's.
struct JsonLibrary {
  static Document to(const Json& json) {
    switch (json.kind_) {
      case Json::Kind::null: return nullptr;
      case Json::Kind::boolean: return json.boolean_;
      case Json::Kind::integer: return json.integer_;
      case Json::Kind::natural: return json.natural_;
      case Json::Kind::real: return json.real_;
      case Json::Kind::text: return json.text_;
      case Json::Kind::array: {
        Document all = Document::array();
        for (const Json& element : json.values_) all.push_back(to(element));
        return all;
      }
      case Json::Kind::object: {
        Document all = Document::object();
        for (std::size_t i = 0; i < json.values_.size(); ++i) all[json.keys_[i]] = to(json.values_[i]);
        return all;
      }
    }
    return nullptr;
  }

  static Json from(const Document& document) {
    switch (document.type()) {
      case Document::value_t::boolean: return document.get<bool>();
      case Document::value_t::number_integer: return document.get<std::int64_t>();
      case Document::value_t::number_unsigned: return document.get<std::uint64_t>();
      case Document::value_t::number_float: return document.get<double>();
      case Document::value_t::string: return document.get_ref<const std::string&>();
      case Document::value_t::array: {
        Json all = Json::array();
        all.values_.reserve(document.size());
        for (const Document& element : document) all.values_.push_back(from(element));
        return all;
      }
      case Document::value_t::object: {
        Json all;
        all.kind_ = Json::Kind::object;
        for (const auto& [key, value] : document.items()) all[key] = from(value);
        return all;
      }
      default: return {};
    }
  }
};

Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(bool value) : kind_(Kind::boolean) { boolean_ = value; }
Json::Json(const char* text) : Json(std::string_view(text)) {}
Json::Json(std::string_view text) : kind_(Kind::text), text_(text) {}
Json::Json(const std::string& text) : kind_(Kind::text), text_(text) {}
Json::Json(std::initializer_list<Member> members) : kind_(Kind::object) {
  for (const Member& member : members) (*this)[member.key] = member.value;
}

void Json::set_integer(std::int64_t value) {
  kind_ = Kind::integer;
  integer_ = value;
}
void Json::set_natural(std::uint64_t value) {
  kind_ = Kind::natural;
  natural_ = value;
}
void Json::set_real(double value) {
  kind_ = Kind::real;
  real_ = value;
}

Json Json::array() {
  Json all;
  all.kind_ = Kind::array;
  return all;
}

void Json::push_back(Json element) { values_.push_back(std::move(element)); }

Json& Json::operator[](std::string_view key) {
  kind_ = Kind::object;
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found != keys_.end()) return values_[static_cast<std::size_t>(found - keys_.begin())];
  keys_.emplace_back(key);
  return values_.emplace_back();
}

std::string Json::dump(int indent) const {
  return JsonLibrary::to(*this).dump(indent > 0 ? indent : -1, ' ', false, Document::error_handler_t::replace);
}

Json Json::parse(std::string_view text) {
  const Document document = Document::parse(text, nullptr, false);
  return document.is_discarded() ? Json() : JsonLibrary::from(document);
}

bool Json::contains(std::string_view key) const { return std::find(keys_.begin(), keys_.end(), key) != keys_.end(); }

const Json& Json::get(std::string_view key) const {
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  return found == keys_.end() ? kNull : values_[static_cast<std::size_t>(found - keys_.begin())];
}

const Json& Json::at(std::size_t index) const { return index < elements().size() ? values_[index] : kNull; }

const std::vector<Json>& Json::elements() const { return kind_ == Kind::array ? values_ : kNull.values_; }

std::uint64_t Json::natural() const {
  if (kind_ == Kind::integer) return integer_ < 0 ? 0 : static_cast<std::uint64_t>(integer_);
  return kind_ == Kind::natural ? natural_ : 0;
}

std::string json_quoted(std::string_view text) {
  return Document(text).dump(-1, ' ', true, Document::error_handler_t::replace);
}

}  // namespace hearth::cli
