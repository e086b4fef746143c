"""Generators that a module creates at import: which of them a child seeds again."""

import tempfile
import unittest

from .support import read_output

WATCHED_IMPORT = """
import sys
from service_runner import randomness
assert "random" not in sys.modules
randomness.watch()
import random
"""


class Randomness(unittest.TestCase):
    def test_a_generator_without_a_seed_is_seeded_again_and_one_with_a_seed_is_not(self) -> None:
        program = """
unseeded, seeded, late = random.Random(), random.Random(1), random.Random()
late.seed(2)
states = [generator.getstate() for generator in (unseeded, seeded, late)]
found = randomness.find_unseeded()
randomness.seed(found)
changed = [g.getstate() != s for g, s in zip((unseeded, seeded, late), states)]
print(found == [unseeded], changed)
"""
        self.assertEqual(read_output(WATCHED_IMPORT + program), "True [True, False, False]\n")

    def test_nothing_is_imported_or_left_on_the_import_path(self) -> None:
        program = """
import sys
from service_runner import randomness
before = list(sys.meta_path)
randomness.watch()
found = randomness.find_unseeded()
print(found, sys.meta_path == before, "random" in sys.modules, "secrets" in sys.modules)
"""
        self.assertEqual(read_output(program), "[] True False False\n")

    def test_what_is_drawn_after_the_import_is_not_kept(self) -> None:
        program = """
import secrets
secrets.randbits(9)
watched = len(randomness._entropies)
randomness.find_unseeded()
secrets.randbits(99)
print(watched, len(randomness._entropies))
"""
        self.assertEqual(read_output(WATCHED_IMPORT + program), "1 1\n")

    def test_a_module_that_was_loaded_before_is_watched_too(self) -> None:
        program = """
import random
from service_runner import randomness
randomness.watch()
generator = random.Random()
print(randomness.find_unseeded() == [generator])
"""
        self.assertEqual(read_output(program), "True\n")

    def test_a_module_of_the_project_with_the_same_name_is_left_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/random.py", "w", encoding="utf-8") as file:
                file.write("OWN = True\n")
            program = """
import sys
from service_runner import randomness
sys.path.insert(0, sys.argv[1])
randomness.watch()
import random
print(random.OWN, randomness.find_unseeded())
"""
            self.assertEqual(read_output(program, folder), "True []\n")

    def test_a_generator_that_cannot_be_created_again_does_not_stop_the_others(self) -> None:
        program = """
class Stubborn(random.Random):
    def seed(self, a=None, version=2):
        if a is None and hasattr(self, "broken"):
            raise ValueError
        super().seed(a, version)
stubborn, other = Stubborn(), random.Random()
stubborn.broken = True
state = other.getstate()
randomness.seed([stubborn, other])
print(other.getstate() != state)
"""
        self.assertEqual(read_output(WATCHED_IMPORT + program), "True\n")


if __name__ == "__main__":
    unittest.main()
