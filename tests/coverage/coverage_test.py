#!/usr/bin/env python3
"""coverage.py's reading of the ledger."""
import json
import pathlib
import tempfile
import unittest

import coverage


def row(name, judged, reason="", export="ok"):
    return {"name": name, "kind": "exported", "export": export, "judged": judged, "reason": reason, "date": "2026-11-23",
            "commit": "abc1234", "versions": {"torch": "2.13.0", "timm": "1.0.31"}}


class Ledger(unittest.TestCase):
    def test_the_last_line_of_a_name_counts_and_others_are_no_upstream_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "exported.jsonl")
            lines = [row("upstream:a", {}, "once"), row("timm:b", {"inductor": "pass"}), row("upstream:a", {"inductor": "pass"})]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            self.assertEqual(list(coverage.ledger(path)), ["a"])
            self.assertEqual(coverage.ledger(path)["a"]["judged"], {"inductor": "pass"})
            self.assertEqual(coverage.ledger(path.with_name("none")), {})

    def test_a_wrong_answer_is_judged_and_a_model_that_did_not_load_is_not(self):
        self.assertTrue(coverage.is_judged(row("upstream:a", {"inductor": "fail_accuracy"})))
        for status in ("model_fail_to_load", "interrupted", "uninformative"):
            self.assertFalse(coverage.is_judged(row("upstream:a", {"torchscript": "pass", "inductor": status})), status)
        self.assertFalse(coverage.is_judged(row("upstream:a", {}, "gated", "failed")))
        self.assertFalse(coverage.is_judged(None))

    def test_every_name_has_a_row_with_what_was_said(self):
        suites = {"timm": [("a", "a", None), ("b", None, "a family"), ("c", None, "a family"), ("d", None, "a family")]}
        models = {"a": {"family": "a", "suites": "timm"}}
        exported = {"b": row("upstream:b", {"torchscript": "pass", "inductor": "pass"}), "c": row("upstream:c", {}, "gated | by <it>")}
        text = coverage.table(suites, models, exported)
        self.assertIn("| timm | 4 | 1 | 1 | 2 |", text)
        self.assertIn("| a | native |  | |", text)
        self.assertIn("| b | exported | inductor: pass, torchscript: pass (2026-11-23) | a family |", text)
        self.assertIn(r"| c | neither | gated \| by \<it> (2026-11-23, abc1234, timm 1.0.31, torch 2.13.0) | a family |", text)
        self.assertIn("| d |  | not tried yet | a family |", text)

    def test_a_name_that_upstream_has_not_is_an_error(self):
        self.assertEqual(list(coverage.foreign({"timm": [("a", "a", None)]}, {"b": row("upstream:b", {})})),
                         ["exported.jsonl: b is no name of upstream's"])

    def test_the_list_has_the_names_of_upstream_s_facts(self):
        facts = json.loads((coverage.HERE.parent / "upstream/facts.json").read_text())["models"]
        suites, errors = coverage.upstream()
        self.assertEqual(errors, [])
        unknown = [name for suite, entries in suites.items() for name, _, _ in entries if name not in facts[suite]]
        self.assertEqual(unknown, ["Qwen/Qwen3.5-0.8B"])  # newer than the facts


if __name__ == "__main__":
    unittest.main()
