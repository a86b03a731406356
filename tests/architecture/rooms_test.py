"""Tests rooms.py with a small source tree that has planted violations."""
import pathlib
import tempfile
import unittest

import rooms


def tree_with(files):
    """Makes a source tree with one file in each room, and with the additional `files` (path → text)."""
    root = pathlib.Path(tempfile.mkdtemp())
    whole = {f"{folder}/{room}/own.h": "#pragma once\n" for folder, names in rooms.ORDER.items() for room in names}
    for path, text in {**whole, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def faults(files):
    return rooms.survey(tree_with(files))[2]


class Rooms(unittest.TestCase):
    def test_arrows_that_point_down_are_right(self):
        self.assertEqual(faults({"cases/main/a.cpp": '#include "cases/settings/own.h"\n#include "reports/base/own.h"\n'}), [])

    def test_an_arrow_that_points_up_is_a_fault(self):
        found = faults({"reports/base/a.cpp": '#include "reports/judge/own.h"\n'})
        self.assertEqual(found, ["reports/base/a.cpp: includes reports/judge/own.h: the arrow points up"])

    def test_a_circle_is_a_fault(self):
        found = faults({"fixtures/compare/a.h": '#include "fixtures/measure/own.h"\n',
                        "fixtures/measure/b.h": '#include "fixtures/compare/own.h"\n'})
        self.assertEqual(len(found), 1)

    def test_models_and_reports_do_not_know_each_other(self):
        found = faults({"models/core/a.cpp": '#include "reports/base/own.h"\n'})
        self.assertEqual(found, ["models/core/a.cpp: includes reports/base/own.h: models/ does not use reports/"])

    def test_a_folder_does_not_use_the_ones_above_it(self):
        self.assertEqual(len(faults({"reports/write/a.cpp": '#include "fixtures/core/own.h"\n'})), 1)

    def test_a_file_outside_of_every_room_is_a_fault(self):
        self.assertIn("reports/stray.h: no room in ORDER", faults({"reports/stray.h": "#pragma once\n"})[0])
        self.assertIn("reports/attic/a.h: no room in ORDER", faults({"reports/attic/a.h": "#pragma once\n"})[0])

    def test_public_headers_are_the_lowest_room(self):
        public = {"reports/include/torchstone/status.h": "#pragma once\n"}
        self.assertEqual(faults({**public, "reports/base/a.h": "#include <torchstone/status.h>\n"}), [])
        found = faults({"reports/include/torchstone/status.h": '#include "reports/base/own.h"\n'})
        self.assertIn("reports/include/torchstone/status.h: includes reports/base/own.h: the arrow points up", found)

    def test_public_headers_need_the_standard_library_and_libtorch_alone(self):
        header = "fixtures/include/torchstone/backend.h"
        self.assertEqual(faults({header: "#include <map>\n#include <torch/script.h>\n#include <torchstone/case.h>\n"}), [])
        for name in ("nlohmann/json.hpp", "fmt/format.h", "unistd.h", "gtest/gtest.h"):
            self.assertEqual(len(faults({header: f"#include <{name}>\n"})), 1, name)

    def test_a_file_of_the_ground_is_below_every_room_and_includes_nothing_of_the_project(self):
        ground = {"models/core/registration.h": "#include <map>\n"}
        self.assertEqual(faults({**ground, "reports/write/a.cpp": '#include "models/core/registration.h"\n'}), [])
        found = faults({"models/core/registration.h": '#include "models/core/own.h"\n'})
        self.assertEqual(len(found), 1, found)

    def test_a_library_that_a_build_may_lack_is_included_by_one_file_alone(self):
        include = '#include "fixtures/diagnose/own.h"\n'
        self.assertEqual(faults({"cases/main/main.cpp": include, "fixtures/diagnose/a.cpp": include}), [])
        found = faults({"cases/main/session.cpp": include})
        self.assertEqual(found, ["cases/main/session.cpp: includes fixtures/diagnose/own.h: "
                                 "a build may lack fixtures/diagnose, so only cases/main/main.cpp includes it"])
        self.assertEqual(len(faults({"fixtures/checks/a.cpp": include})), 1)

    def test_a_room_that_is_gone_is_a_fault(self):
        root = tree_with({})
        (root / "reports/base/own.h").unlink()
        self.assertEqual(rooms.survey(root)[2], ["reports/base: in ORDER, but there is no file"])


if __name__ == "__main__":
    unittest.main()
