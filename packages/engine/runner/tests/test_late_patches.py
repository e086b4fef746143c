"""Modules that are patched when they are imported."""

import unittest

from .support import read_output

PATCHED = """
import sys
from service_runner.late_patches import forget_patch, patch_when_imported
before = list(sys.meta_path)
assert "colorsys" not in sys.modules
def patch(module): module.patches = getattr(module, "patches", 0) + 1
"""


class LatePatches(unittest.TestCase):
    def test_a_module_is_patched_once_when_it_is_imported_and_not_before(self) -> None:
        program = """
patch_when_imported("colorsys", patch)
print("colorsys" in sys.modules)
import colorsys, colorsys
print(colorsys.patches, colorsys.rgb_to_hsv(0, 0, 0), hasattr(sys, "patches"))
"""
        self.assertEqual(read_output(PATCHED + program), "False\n1 (0.0, 0.0, 0) False\n")

    def test_a_module_that_is_there_is_patched_at_once(self) -> None:
        program = """
import colorsys
patch_when_imported("colorsys", patch)
print(colorsys.patches)
"""
        self.assertEqual(read_output(PATCHED + program), "1\n")

    def test_what_is_forgotten_is_left_alone_and_nothing_stays_on_the_import_path(self) -> None:
        program = """
patch_when_imported("colorsys", patch)
patch_when_imported("bisect", patch)
forget_patch("colorsys")
import bisect, colorsys
print(bisect.patches, hasattr(colorsys, "patches"))
forget_patch("bisect")
forget_patch("bisect")
print(sys.meta_path == before)
"""
        self.assertEqual(read_output(PATCHED + program), "1 False\nTrue\n")


if __name__ == "__main__":
    unittest.main()
