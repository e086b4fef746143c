"""Memory of an import is put into huge pages, where the kernel can do that."""

import os
import sys
import unittest

from .support import read_output

PROGRAM = """
import os
from service_runner import huge_pages
kept = [str(number) * 3 for number in range(COUNT)]
def read():
    with open("/proc/self/smaps_rollup") as rollup:
        fields = dict(line.split()[:2] for line in rollup if line.count(":") == 1 and "kB" in line)
    return int(fields["AnonHugePages:"]) >> 10, int(fields["Rss:"]) >> 10
before, resident = read()
huge_pages.collapse()
after, now = read()
print(before < 20, after - before > 50, now - resident < 20, kept[-1] == str(COUNT - 1) * 3)
"""


def can_collapse() -> bool:
    """MADV_COLLAPSE is there since Linux 6.1, and refused where huge pages are switched off."""
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as enabled:
            is_on = "[never]" not in enabled.read()
    except OSError:
        return False
    major, minor = (int(number) for number in os.uname().release.split(".")[:2])
    return is_on and (major, minor) >= (6, 1)


@unittest.skipUnless(sys.platform == "linux" and can_collapse(), "no huge pages on demand")
class HugePages(unittest.TestCase):
    def test_many_small_objects_are_put_into_huge_pages_and_take_no_more_memory(self) -> None:
        program = PROGRAM.replace("COUNT", "2_400_000")
        self.assertEqual(read_output(program), "True True True True\n")

    def test_a_small_import_is_left_alone(self) -> None:
        program = PROGRAM.replace("COUNT", "100_000")
        self.assertEqual(read_output(program), "True False True True\n")
