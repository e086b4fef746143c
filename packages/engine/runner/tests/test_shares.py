"""What one child may have of what the kernel counts for a user.

What comes of it for runs is tested through Node (`shares.test.ts`).
"""

import resource
import unittest

from service_runner import shares
from service_runner.kernel import LINUX


@unittest.skipUnless(LINUX, "Linux counts these")
class Shares(unittest.TestCase):
    def test_all_children_together_have_what_the_user_has(self) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_SIGPENDING)
        for children in (1, 8, 128):
            for kind, limits in shares.list_limits(children):
                self.assertEqual(kind, resource.RLIMIT_SIGPENDING)
                self.assertEqual(limits, (most // children,) * 2)
            for path, share in shares.list_files(children):
                name = path.rpartition("_")[2]
                with open(f"/proc/sys/fs/inotify/max_user_{name}", "rb") as file:
                    self.assertEqual(int(share), int(file.read()) // children)

    def test_there_is_one_of_each_at_least(self) -> None:
        for _, limits in shares.list_limits(1 << 40):
            self.assertEqual(limits, (1, 1))
        self.assertEqual({share for _, share in shares.list_files(1 << 40)}, {b"1"})
