"""What `logging` prints, with its severity."""

import tempfile
import unittest

from .support import run_python

INSTALL = """
import sys
from service_runner.log_records import install_log_records
install_log_records()
assert "logging" not in sys.modules
import logging
"""


def log(program: str, level: str = "INFO") -> tuple[str, str]:
    """stdout and stderr of a program after the records were installed."""
    done = run_python(INSTALL + program, variables={"LOG_LEVEL": level})
    return done.stdout, done.stderr


class LogRecords(unittest.TestCase):
    def test_each_severity_has_its_letter(self) -> None:
        program = "for level in (10, 20, 25, 30, 40, 50): logging.log(level, 'level %d', level)"
        letters = "DIIWEC"
        levels = (10, 20, 25, 30, 40, 50)
        expected = "".join(
            f"\x1e{letter}level {level}\n" for letter, level in zip(letters, levels, strict=True)
        )
        self.assertEqual(log(program, "DEBUG"), ("", expected))

    def test_without_any_configuration_records_of_the_level_are_printed(self) -> None:
        program = "logger = logging.getLogger('a'); logger.info('x'); logger.debug('y')"
        self.assertEqual(log(program), ("", "\x1eIx\n"))
        self.assertEqual(log(program, "debug"), ("", "\x1eIx\n\x1eDy\n"))
        self.assertEqual(log(program, "ERROR"), ("", ""))
        self.assertEqual(log(program, "chatty"), ("", "\x1eIx\n"))

    def test_a_module_of_the_project_with_the_same_name_is_left_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/logging.py", "w", encoding="utf-8") as file:
                file.write("OWN = True\n")
            program = f"""
from service_runner.log_records import install_log_records
import sys
install_log_records()
sys.path.insert(0, {folder!r})
import logging
print(vars(logging).get("OWN"), hasattr(logging, "basicConfig"))
"""
            done = run_python(program)
            self.assertEqual((done.stdout, done.stderr), ("True False\n", ""))

    def test_each_line_of_a_record_is_marked(self) -> None:
        self.assertEqual(log("logging.error('a\\nb')"), ("", "\x1eEa\n\x1eEb\n"))

    def test_the_users_own_configuration_keeps_its_stream_and_format(self) -> None:
        program = """
logging.basicConfig(stream=sys.stdout, format="%(name)s %(message)s")
logging.getLogger("a").warning("x")
"""
        self.assertEqual(log(program), ("\x1eWa x\n", ""))
        self.assertEqual(log("logging.basicConfig(); logging.warning('x')"), ("", "\x1eWx\n"))
        styled = "logging.basicConfig(style='{', format='{message}!'); logging.warning('x')"
        self.assertEqual(log(styled), ("", "\x1eWx!\n"))

    def test_a_file_gets_records_without_a_mark(self) -> None:
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
            program = f"logging.basicConfig(filename={file.name!r}); logging.warning('x')"
            self.assertEqual(log(program), ("", ""))
            self.assertEqual(file.read(), "x\n")


if __name__ == "__main__":
    unittest.main()
