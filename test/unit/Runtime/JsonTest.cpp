// reprise: tests of the runtime's JSON
#include "reprise/Runtime/Json.h"

#include "gtest/gtest.h"

using namespace reprise::runtime;

namespace {

TEST(Json, Numbers) {
  EXPECT_EQ(jsonNumber(0.1), "0.1");
  EXPECT_EQ(jsonNumber(-3), "-3");
  EXPECT_EQ(jsonNumber(1.0 / 0.0), "\"inf\"");
  EXPECT_EQ(jsonNumber(-1.0 / 0.0), "\"-inf\"");
  EXPECT_EQ(jsonNumber(0.0 / 0.0), "\"nan\"");
  EXPECT_EQ(jsonString("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(Json, ReadsWhatIsWritten) {
  std::string name = "a\"b\\c\n\t\x01/ä";
  Expected<JsonValue> object =
      parseJson("{" + jsonString(name) + ": [1, -2.5, true, null, {}], \"s\": \"y\"}");
  ASSERT_TRUE(bool(object)) << object.message();
  const JsonValue *array = object->find(name);
  ASSERT_TRUE(array && array->kind == JsonValue::Array);
  ASSERT_EQ(array->elements.size(), 5u);
  EXPECT_EQ(array->elements[0].integer(), 1);
  EXPECT_FALSE(array->elements[1].integer());
  EXPECT_EQ(array->elements[2].kind, JsonValue::Bool);
  EXPECT_EQ(array->elements[3].kind, JsonValue::Null);
  EXPECT_EQ(object->find("s")->text, "y");
  EXPECT_EQ(object->find("t"), nullptr);
  EXPECT_EQ(parseJson("{\"\\u00e4\\ud83d\\ude00\": 1}")->keys[0], "ä😀");
}

TEST(Json, RefusesEverythingElse) {
  for (const char *text : {"", "[1]", "1", "x"})
    EXPECT_EQ(parseJson(text).message(), "expected a JSON object at line 1, column 1") << text;
  for (const char *text :
       {"{", "{\"a\": 1,}", "{\"a\" 1}", "{}x", "{\"a\": tru}", "{\"a\": \"\\x\"}", "{\"a\": 0x1}",
        "{\"a\": 01}", "{\"a\": inf}", "{\"a\": \"\\u00\"}", "{\"a\": \"", "{\"a\": \"\\"})
    EXPECT_NE(parseJson(text).message().find(" at line 1, column "), std::string::npos) << text;
  EXPECT_EQ(parseJson("{\"a\": " + std::string(100000, '[')).message(),
            "too many nested values at line 1, column 206");
  EXPECT_EQ(parseJson("{\n \"a\" 1}").message(), "expected ':' at line 2, column 6");
}

TEST(Json, ReplacesHalvesOfPairs) {
  EXPECT_EQ(parseJson("{\"a\": \"\\ud83d\\u0041\"}")->find("a")->text, "\xEF\xBF\xBD"
                                                                       "A");
}

TEST(Json, RefusesRepeatedKeysAndByteOrderMarks) {
  EXPECT_EQ(parseJson("{\"a\": {\"b\": 1},\n \"b\": 2, \"a\": 3}").message(),
            "the key 'a' is repeated at line 2, column 10");
  EXPECT_EQ(parseJson("{\"x\": [{\"a\": 1, \"\\u0061\": 1}]}").message(),
            "the key '\\u0061' is repeated at line 1, column 17");
  EXPECT_TRUE(bool(parseJson("{\"a\": [{\"a\": 1}, {\"a\": 1}]}")));
  EXPECT_EQ(parseJson("\xEF\xBB\xBF{}").message(),
            "unexpected byte-order mark (save the file as UTF-8 without it) at line 1, column 1");
}

} // namespace
