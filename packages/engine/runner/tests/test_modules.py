"""Every module of the runner has tests of its own, or is tested through Node."""

import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
WITHOUT_BEHAVIOUR = {"__init__", "messages"}
TESTED_THROUGH_NODE = {
    # The processes and their descriptors are only there in a sandbox that Node started:
    # zygote.test.ts, lifecycle.test.ts, system-calls.test.ts and others of
    # packages/engine/src/python.
    "child",
    "children",
    "control",
    "restrictions",
    "zygote",
}


def list_modules(folder: str, prefix: str) -> set[str]:
    names = os.listdir(os.path.join(HERE, folder))
    suffix = ".py"
    found = {name for name in names if name.startswith(prefix) and name.endswith(suffix)}
    return {name.removeprefix(prefix).removesuffix(suffix) for name in found}


class Modules(unittest.TestCase):
    def test_every_module_has_tests_of_its_own_or_is_tested_through_node(self) -> None:
        modules = list_modules("../service_runner", "")
        # Of the helpers for user code, each is tested with what it is made of.
        helpers = list_modules("../helpers/platform_service", "")
        tested = list_modules(".", "test_") - {"modules"} - (helpers - modules)
        self.assertEqual(modules - WITHOUT_BEHAVIOUR - TESTED_THROUGH_NODE, tested)


if __name__ == "__main__":
    unittest.main()
