#!/usr/bin/env python3
"""Writes ODS's data about the ops of the dialect as the rows of a C++ table (OpTable.cpp).

Usage: op-table.py LLVM-TBLGEN RepriseOps.td INCLUDE... > OpTable.inc
"""
import json
import subprocess
import sys


def load(tblgen, definitions, includes):
    command = [tblgen, "--dump-json", definitions] + [word for folder in includes for word in ("-I", folder)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def text(value):
    return json.dumps(value)


class Table:
    def __init__(self, records):
        self.records = records

    def supers(self, record):
        return record["!superclasses"]

    def unwrap(self, record, wrapper, field):
        """Returns the constraint inside Optional<…>, Variadic<…>, OptionalAttr<…>, …, and whether it was wrapped."""
        if wrapper not in self.supers(record):
            return record, False
        return self.records[record[field]["def"]], True

    def operand(self, name, record):
        count = "One"
        for wrapper in ("Optional", "Variadic"):
            record, wrapped = self.unwrap(record, wrapper, "baseType")
            count = wrapper if wrapped else count
        return "{%s, OperandSpec::%s, %s}" % (text(name), count, text(record["summary"]))

    def attribute(self, name, record):
        optional = bool(record["isOptional"]) or record["defaultValue"] is not None
        while record.get("baseAttr"):
            record = self.records[record["baseAttr"]["def"]]
        literals = []
        if "EnumAttr" in self.supers(record):
            cases = self.records[record["enum"]["def"]]["enumerants"]
            dialect = self.records[record["dialect"]["def"]]["name"]
            for case in cases:
                literals.append("#%s<%s %s>" % (dialect, record["mnemonic"], self.records[case["def"]]["str"]))
                literals.append("#%s<%s<%s>>" % (dialect, record["mnemonic"], self.records[case["def"]]["str"]))
        storage = record["storageType"].strip().removeprefix("::mlir::")
        element = record.get("valueType") or {"def": ""}
        return "{%s, %s, %s, %s, {%s}}" % (text(name), text(storage), text(element["def"]), str(optional).lower(),
                                          ", ".join(text(literal) for literal in literals))

    def row(self, op):
        operands, attributes = [], []
        for value, name in op["arguments"]["args"]:
            record = self.records[value["def"]]
            if "TypeConstraint" in self.supers(record):
                operands.append(self.operand(name, record))
            elif "AttrConstraint" in self.supers(record) and name != "replay":
                attributes.append(self.attribute(name, record))
        results = [self.operand(name, self.records[value["def"]]) for value, name in op["results"]["args"]]
        name = "%s.%s" % (self.records[op["opDialect"]["def"]]["name"], op["opName"])
        regions = len(op["regions"]["args"])
        traits = {trait["def"] for trait in op["traits"]}
        has_parent = any("HasParent" in self.supers(self.records[trait]) for trait in traits)
        return "{%s, {%s}, {%s}, {%s}, %d, %s, %s}," % (
            text(name), ", ".join(operands), ", ".join(attributes), ", ".join(results), regions,
            str("Terminator" in traits).lower(), str(has_parent).lower())


def main(arguments):
    records = load(arguments[0], arguments[1], arguments[2:])
    table = Table(records)
    for name in records["!instanceof"]["Op"]:
        if not records[name]["!anonymous"]:
            print(table.row(records[name]))


if __name__ == "__main__":
    main(sys.argv[1:])
