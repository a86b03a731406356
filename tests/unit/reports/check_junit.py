"""check_junit.py SCHEMA FILE: validates FILE against the subset of XSD that junit-10.xsd uses, where xmllint is absent.
Prints what is wrong and exits 1; exits 0 when nothing is."""
import re
import sys
import xml.etree.ElementTree as ElementTree

XS = "{http://www.w3.org/2001/XMLSchema}"


def read_schema(path):
    root = ElementTree.parse(path).getroot()
    patterns = {t.get("name"): t.find(f".//{XS}pattern").get("value") for t in root.iter(f"{XS}simpleType")}
    types = {t.get("name"): t for t in root.findall(f"{XS}complexType")}
    elements = {}
    for element in root.findall(f"{XS}element"):
        kind = element.get("type")
        body = types.get(kind) if kind else element.find(f"{XS}complexType")
        attributes = {} if body is None else {a.get("name"): a for a in body.findall(f"{XS}attribute")}
        children = set() if body is None else {c.get("ref") for c in body.iter(f"{XS}element")}
        text_allowed = body is None or body.get("mixed") == "true"
        elements[element.get("name")] = (attributes, children, text_allowed)
    return elements, patterns


def problems_of(node, elements, patterns):
    attributes, children, text_allowed = elements[node.tag]
    for name, value in node.attrib.items():
        if name not in attributes:
            yield f"<{node.tag}> has no attribute {name}"
        elif not re.fullmatch(patterns.get(attributes[name].get("type"), "(?s:.*)"), value):
            yield f"<{node.tag} {name}>: {value!r} has the wrong form"
    for name, attribute in attributes.items():
        if attribute.get("use") == "required" and name not in node.attrib:
            yield f"<{node.tag}> lacks {name}"
    texts = [node.text] + [child.tail for child in node]
    if not text_allowed and any(text and text.strip() for text in texts):
        yield f"<{node.tag}> holds text"
    for child in node:
        if child.tag in children:
            yield from problems_of(child, elements, patterns)
        else:
            yield f"<{child.tag}> must not stand in <{node.tag}>"


def main(schema, file):
    elements, patterns = read_schema(schema)
    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        print(f"{file}: {error}")
        return 1
    problems = list(problems_of(root, elements, patterns)) if root.tag == "testsuites" else [f"the root is <{root.tag}>"]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
