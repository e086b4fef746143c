"""The variable that keeps OpenBLAS from starting threads at import, and the threads of a child."""

import os
import unittest
from unittest import mock

from service_runner import blas

VARIABLE = "OPENBLAS_NUM_THREADS"


class Threads(unittest.TestCase):
    def setUp(self) -> None:
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop(VARIABLE, None)

    def test_one_thread_during_the_import_and_the_former_value_after_it(self) -> None:
        for former in (None, "4"):
            with self.subTest(former=former):
                os.environ.update({} if former is None else {VARIABLE: former})
                wanted = blas.hold_back()
                self.assertEqual(int(os.environ[VARIABLE]), 1)
                blas.release(wanted)
                self.assertEqual(os.environ.get(VARIABLE), former)

    def test_a_number_that_the_module_sets_stays(self) -> None:
        for chosen in ("1", "3"):
            wanted = blas.hold_back()
            os.environ[VARIABLE] = chosen
            blas.release(wanted)
            self.assertEqual(os.environ[VARIABLE], chosen)

    def test_a_child_starts_as_many_threads_as_the_environment_says(self) -> None:
        for value, expected in (("4", [4, 4]), ("1", []), ("many", []), ("\u00b2", []), ("", [])):
            with self.subTest(value=value):
                asked: list[int] = []
                os.environ[VARIABLE] = value
                blas.start_threads([asked.append, asked.append])
                self.assertEqual(asked, expected)

    def test_without_openblas_nothing_has_threads(self) -> None:
        self.assertEqual(blas.find_setters(), [])


if __name__ == "__main__":
    unittest.main()
