// reprise: the little JSON that the runtime writes and reads
#ifndef REPRISE_RUNTIME_JSON_H
#define REPRISE_RUNTIME_JSON_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <map>

namespace reprise::runtime {

/// The text in quotes, escaped.
std::string jsonString(const std::string &text);
/// The shortest decimal that reads back as `value`; infinities and NaNs, which JSON has no numbers
/// for, as "inf", "-inf" and "nan" in quotes.
std::string jsonNumber(double value);

/// The members of an object that are integers in the range of int64_t; other members are skipped.
/// Fails on anything that is not one JSON object, without the file's name.
Expected<std::map<std::string, int64_t>> parseJsonIntegers(const std::string &text);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_JSON_H
