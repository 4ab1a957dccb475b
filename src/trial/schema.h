// Holds a JSON document against a JSON Schema: the part of the language that bench.schema.json uses (type, const, enum,
// properties, required, additionalProperties: false, items, anyOf, $ref to #/$defs, minimum, maximum, minLength, maxLength, and
// of patterns those two that stand there). A schema that uses more is refused, so that no rule is passed over.
#pragma once

#include <string>

#include "trial/value.h"

namespace hearth::trial {

/// Empty: the value is as the schema says. Else the place, what is wrong, and what is legal.
std::string against_schema(const Value& value, const Value& schema);

/// bench.schema.json, built in.
const Value& bench_schema();

}  // namespace hearth::trial
