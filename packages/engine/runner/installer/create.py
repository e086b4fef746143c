"""Creates a virtual environment with the packages of another one, which its interpreter has made.

    python -I create.py ENVIRONMENT PREPARED

`python -m venv` unpacks and compiles pip in each environment anew. Copied files keep their times,
by which compiled modules know their sources. Scripts (`bin/pip`) are not copied: they name the
environment that they belong to. What cannot be copied is made anew, as `python -m venv` does.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import venv


def create(environment: str, prepared: str) -> None:
    """Makes `environment`, whose folder may exist, with the packages of `prepared`."""
    venv.EnvBuilder(symlinks=True).create(environment)
    try:
        copy_folder(locate_packages(prepared), locate_packages(environment))
    except OSError as error:
        print(f"The prepared pip could not be copied: {error.strerror}")
        venv.EnvBuilder(symlinks=True, with_pip=True, clear=True).create(environment)


def locate_packages(environment: str) -> str:
    """Where the packages of an environment of this interpreter lie."""
    places = dict.fromkeys(("base", "platbase", "installed_base"), environment)
    return sysconfig.get_path("purelib", "venv", places)


def copy_folder(source: str, target: str) -> None:
    """Not `shutil.copytree`: it copies attributes, which security modules of systems refuse."""
    os.makedirs(target, exist_ok=True)
    for entry in os.scandir(source):
        copied = os.path.join(target, entry.name)
        if entry.is_dir(follow_symlinks=False):
            copy_folder(entry.path, copied)
            continue
        stats = entry.stat(follow_symlinks=False)
        shutil.copyfile(entry.path, copied, follow_symlinks=False)
        os.utime(copied, ns=(stats.st_atime_ns, stats.st_mtime_ns), follow_symlinks=False)


if __name__ == "__main__":
    create(*sys.argv[1:])
