"""Checks that JSON files obey a schema: validate.py SCHEMA FILE... Prints each violation, and ends with exit code 1
then.

Supports the keywords of Reprise's schemas, and fails on any other.
"""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "title", "description", "type", "required", "additionalProperties", "properties", "minProperties", "items", "minItems", "maxItems", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "oneOf", "$ref", "$defs"}


def is_of(value, name):
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))


def find_mistake(value, schema, where="$"):
    """The first thing that is wrong, or None."""
    assert set(schema) <= KNOWN, sorted(set(schema) - KNOWN)
    if "$ref" in schema:
        return find_mistake(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
    types = schema.get("type", [])
    if types and not any(is_of(value, name) for name in ([types] if isinstance(types, str) else types)):
        return f"{where}: expected {types}, got {value!r}"
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return f"{where}: {value!r} is none of the values"
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        return f"{where}: {value} is too small"
    if "maximum" in schema and value is not None and value > schema["maximum"]:
        return f"{where}: {value} is too large"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return f"{where}: {value} is too small"
    if "oneOf" in schema:
        mistakes = [find_mistake(value, option, where) for option in schema["oneOf"]]
        return None if mistakes.count(None) == 1 else f"{where}: {mistakes}"
    if isinstance(value, dict):
        return find_mistake_in_object(value, schema, where)
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return f"{where}: {len(value)} items are too few or too many"
    children = enumerate(value) if isinstance(value, list) and "items" in schema else []
    return next(filter(None, (find_mistake(child, schema["items"], f"{where}[{i}]") for i, child in children)), None)


def find_mistake_in_object(value, schema, where):
    properties = schema.get("properties", {})
    for key in schema.get("required", []):
        if key not in value:
            return f"{where}: no '{key}'"
    if len(value) < schema.get("minProperties", 0):
        return f"{where}: too few keys"
    for key, child in value.items():
        others = schema.get("additionalProperties")
        if key not in properties and not others:
            return f"{where}: unknown key '{key}'"
        mistake = find_mistake(child, properties.get(key, others), f"{where}.{key}")
        if mistake:
            return mistake
    return None


root = json.load(open(sys.argv[1]))
mistakes = [(path, find_mistake(json.load(open(path)), root)) for path in sys.argv[2:]]
for path, mistake in mistakes:
    if mistake:
        print(f"{path}: {mistake}")
sys.exit(any(mistake for _, mistake in mistakes))
