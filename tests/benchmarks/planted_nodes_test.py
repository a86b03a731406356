#!/usr/bin/env python3
"""Tests where planted_nodes.py plants faults, and how it reads diagnoses."""
import unittest

from planted_nodes import NODE, fits, verdict_of


def node(line):
    return NODE.match(line).groupdict()


RELU = node("  %v8: float32[2, 64] = aten::relu_(%v7)")
SUM = node("  %v9: float32[2, 64] = aten::add.Tensor(%v8, %v3, 1)")
SOFTMAX = node("  %v10: float32[2, 4] = aten::softmax.int(%v9, -1, None)")
FIRST = node("  %v0: float32[2, 64] = aten::conv2d(%input0, conv.weight: float32[64, 3, 7, 7], None)")


class PlantedNodes(unittest.TestCase):
    def test_a_node_is_read_with_its_operator_and_shape(self):
        self.assertEqual(SUM, {"value": "v9", "dtype": "float32", "sizes": "2, 64", "op": "aten::add.Tensor", "arguments": "%v8, %v3, 1"})
        self.assertIsNone(NODE.match("  %input0: float32[2, 3] on cpu"))

    def test_a_kind_is_planted_where_it_means_something(self):
        self.assertTrue(all(fits("scaled", one) for one in (RELU, SUM, SOFTMAX, FIRST)))
        self.assertEqual([fits("dropped", one) for one in (RELU, SUM, SOFTMAX, FIRST)], [True, False, True, False])
        self.assertEqual([fits("constant", one) for one in (RELU, SUM, SOFTMAX)], [False, True, False])
        self.assertEqual([fits("axis", one) for one in (RELU, SUM, SOFTMAX)], [False, False, True])
        self.assertEqual([fits("late", one) for one in (SUM, FIRST)], [True, False])
        self.assertFalse(fits("scaled", node("  %v2: int64[1, 32] = aten::gather(%v1, 1, %v0, False)")))
        self.assertFalse(fits("scaled", node("  %v2: float32[] = aten::mean(%v1, None)")))

    def test_a_model_without_a_verdict_counts_for_nothing(self):
        for status in ("pass_due_to_skip", "eager_two_runs_differ"):
            self.assertEqual(verdict_of({"status": status, "outcome": "none", "part": []}, "v8"), "not judged")
        self.assertEqual(verdict_of({"status": "fail_accuracy", "outcome": "none", "part": []}, "v8"), "missed")

    def test_only_the_planted_node_alone_is_named_exactly(self):
        self.assertEqual(verdict_of({"status": "fail_accuracy", "outcome": "located", "part": ["v8"]}, "v8"), "named")
        self.assertEqual(verdict_of({"status": "fail_accuracy", "outcome": "located", "part": ["v7", "v8"]}, "v8"), "within")
        self.assertEqual(verdict_of({"status": "fail_accuracy", "outcome": "unknown", "part": []}, "v8"), "missed")
        self.assertEqual(verdict_of({"status": "pass", "outcome": "healthy", "part": []}, "v8"), "no effect")


if __name__ == "__main__":
    unittest.main()
