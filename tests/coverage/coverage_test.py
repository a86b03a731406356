#!/usr/bin/env python3
"""Tests how coverage.py reads ledgers and writes its table."""
import json
import pathlib
import tempfile
import unittest

import coverage

FACTS = {"date": "2026-11-23", "commit": "abc1234", "versions": {"torch": "2.13.0", "timm": "1.0.31"}}


def exported(name, judged, reason="", **facts):
    return {"name": name, "kind": "exported", "judged": judged, "reason": reason, **FACTS, **facts}


def verdict(name, status, kind="python", backend="torch_compile", mode="inference", reason="", **facts):
    return {"name": name, "kind": kind, "backend": backend, "mode": mode, "status": status, "reason": reason, "device": "cpu",
            "preset": "mini", **FACTS, **facts}


class Ledger(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def ledger(self, suites, exports=(), verdicts=()):
        for name, rows in (("exported.jsonl", exports), ("verdicts.jsonl", verdicts)):
            (self.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return coverage.ledger(suites, self.folder / "verdicts.jsonl", {self.folder / "exported.jsonl": "cpu"})

    def test_the_newest_verdict_of_a_combination_counts(self):
        suites = {"timm": [("a", None, "x")], "huggingface": [("B", None, "x")]}
        rows = self.ledger(suites, [exported("upstream:a", {"inductor": "fail_accuracy"}), exported("timm:c", {"inductor": "pass"}),
                                    exported("timm:a", {"inductor": "pass"}, date="2026-11-25"),
                                    exported("transformers:B", {}, "gated"), exported("upstream:a", {}) | {"kind": "traced"}],
                           [verdict("a", "fail_to_run", date="2026-11-20"), verdict("a", "pass"), verdict("a", "pass", mode="training")])
        found = sorted((row["name"], row["kind"], row["backend"], row["mode"], row["status"]) for row in rows)
        self.assertEqual(found, [("B", "exported", "", "inference", "not_run"), ("a", "exported", "inductor", "inference", "pass"),
                                 ("a", "python", "torch_compile", "inference", "pass"),
                                 ("a", "python", "torch_compile", "training", "pass")])
        self.assertEqual(coverage.ledger(suites, self.folder / "none", {}), [])

    def test_a_name_that_upstream_has_not_is_an_error(self):
        self.assertEqual(coverage.foreign({"timm": [("a", "a", None)]}, [verdict("b", "pass")]),
                         ["verdicts.jsonl: b is no name of upstream's"])

    def test_the_list_has_the_names_of_upstream_s_facts(self):
        facts = json.loads(coverage.FACTS.read_text())["models"]
        suites, errors = coverage.upstream()
        self.assertEqual(errors, [])
        unknown = [name for suite, entries in suites.items() for name, _, _ in entries if name not in facts[suite]]
        self.assertEqual(unknown, ["Qwen/Qwen3.5-0.8B"])  # newer than facts.json


class Headline(unittest.TestCase):
    def test_only_verdicts_about_a_compiler_count(self):
        for status in ("pass", "fail_accuracy", "fail_to_compile", "fail_to_run"):
            self.assertTrue(coverage.by_compiler(verdict("a", status)), status)
        for status in ("model_fail_to_load", "uninformative", "not_run", "timeout", "eager_fail_to_run", "pass_due_to_skip", "OOM"):
            self.assertFalse(coverage.by_compiler(verdict("a", status)), status)
        self.assertFalse(coverage.by_compiler(verdict("a", "pass", kind="exported", backend="torchscript")))

    def test_counts_names_by_mode_kind_and_suite(self):
        suites = {"timm": [("a", "a", None), ("b", None, "x"), ("c", None, "x")], "huggingface": [("D", None, "x")]}
        verdicts = [verdict("a", "pass", kind="native", backend="inductor"), verdict("a", "pass"),
                    verdict("b", "fail_accuracy", mode="training"), verdict("c", "pass", kind="exported", backend="torchscript"),
                    verdict("D", "model_fail_to_load")]
        text = "\n".join(coverage.summary(suites, verdicts, {}))
        self.assertIn("**1 of 4 names are judged by a compiler in inference. Upstream trains 4 names: 1 of them are judged in training, "
                      "and 0 others.**", text)
        self.assertIn("| timm | 3 | 1 | 3 | 1 | 0 | 1 | 0 | 2 | 1 |", text)
        self.assertIn("| huggingface | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |", text)

    def test_training_of_names_that_upstream_does_not_train_is_counted_separately(self):
        suites = {"timm": [("a", "a", None), ("b", None, "x"), ("c", None, "x")]}
        verdicts = [verdict(name, "pass", mode="training") for name in ("a", "b")]
        text = "\n".join(coverage.summary(suites, verdicts, {"b": "skip.all", "c": "skip.all"}))
        self.assertIn("Upstream trains 1 names: 1 of them are judged in training, and 1 others.**", text)
        self.assertIn("| timm | 3 | 0 | 1 | 1 | 1 |", text)


class Training(unittest.TestCase):
    def test_upstream_s_lists_and_batch_sizes_decide_what_it_trains(self):
        facts = {"timm": {"listed": {"inference": 1, "training": 1, "lists": {"skip.test.training": 1}},
                          "nowhere": {"inference": 1, "training": 1, "lists": {"skip.all": 1, "skip.test.training": 1}},
                          "without_batch": {"inference": 1, "lists": {}}, "trained": {"inference": 1, "training": 1, "lists": {}},
                          "without_sizes": {"lists": {}}, "in_eval_mode": {"inference": 1, "training": 1, "lists": {"only_inference": 1}}}}
        suites = {"timm": [(name, None, "x") for name in (*facts["timm"], "newer")]}
        reasons = coverage.untrained(suites, facts)
        self.assertEqual(set(reasons), {"listed", "nowhere", "without_batch"})
        self.assertIn("skip.test.training", reasons["listed"])
        self.assertIn("skip.all", reasons["nowhere"])

    def test_the_facts_name_models_that_upstream_does_not_train(self):
        reasons = coverage.untrained(coverage.upstream()[0])
        self.assertIn("skip.test.training", reasons["maml"])
        self.assertIn("no training batch", reasons["sam"])
        self.assertNotIn("resnet18", reasons)

    def test_a_name_without_verdict_has_a_reason(self):
        suites = {"timm": [(name, None, "x") for name in "abcd"]}
        verdicts = [verdict("a", "pass", mode="training"), verdict("b", "OOM", mode="training", reason="too | large"),
                    verdict("c", "pass"), verdict("d", "timeout", mode="training", reason="300 s")]
        lines = coverage.training_gaps(suites, verdicts, {"d": "skip.all"})
        self.assertEqual(lines[5:], [r"| timm | b | yes | python: OOM: too \| large |", "| timm | c | yes | not attempted |",
                                     "| timm | d | no | skip.all; python: timeout: 300 s |"])



class Rows(unittest.TestCase):
    def rows_of(self, entries, verdicts):
        models = {"a": {"family": "a", "suites": "timm"}}
        return coverage.table({"timm": entries}, models, verdicts, {}).splitlines()

    def test_each_name_has_one_with_what_each_kind_said(self):
        rows = self.rows_of([("a", "a", None), ("b", None, "a family"), ("c", None, "a family"), ("d", None, "a family"),
                             ("e", "a", None)],
                            [verdict("a", "pass"), verdict("a", "fail_accuracy", mode="training", reason="too far"),
                             verdict("a", "pass", device="cuda", preset="full", date="2026-11-24"),
                             verdict("b", "pass", kind="exported", backend="torchscript"),
                             verdict("c", "not_run", kind="exported", backend="", reason="gated | by <it>")])
        self.assertIn("| a | in the zoo |  | torch_compile: pass, torch_compile (training): fail_accuracy, "
                      "torch_compile (cuda, full): pass (2026-11-24, torch 2.13.0) | too far |", rows)
        self.assertIn("| b |  | torchscript: pass (2026-11-23, torch 2.13.0) |  | a family |", rows)
        self.assertIn(r"| c |  | not judged |  | a family: gated \| by \<it> (2026-11-23, abc1234, timm 1.0.31, torch 2.13.0) |", rows)
        self.assertIn("| d |  |  |  | a family |", rows)
        self.assertIn("| e | in the zoo as a |  |  |  |", rows)

    def test_a_run_without_verdict_is_forgotten_when_a_later_one_has_one(self):
        rows = self.rows_of([("b", None, "a family")], [verdict("b", "not_run", reason="no package"), verdict("b", "pass", mode="training")])
        self.assertIn("| b |  |  | torch_compile (training): pass (2026-11-23, torch 2.13.0) | a family |", rows)

    def test_a_cell_names_each_torch_release_of_its_verdicts(self):
        older = verdict("b", "pass", mode="training", versions={"torch": "2.11.0+cpu"})
        rows = self.rows_of([("b", None, "a family"), ("c", None, "a family")], [verdict("b", "pass"), older, older | {"name": "c"}])
        self.assertIn("| b |  |  | torch_compile: pass, torch_compile (training): pass (2026-11-23, torch 2.11.0 and 2.13.0) "
                      "| a family |", rows)
        self.assertIn("| c |  |  | torch_compile (training): pass (2026-11-23, torch 2.11.0) | a family |", rows)


if __name__ == "__main__":
    unittest.main()
