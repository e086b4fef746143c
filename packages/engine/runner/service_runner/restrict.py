"""Becomes a program of a build, restricted by Landlock, where there are no user namespaces.

Trusted code: the base installation's interpreter runs it (`-I -S`, standard library only).
"""

from __future__ import annotations

import json
import os
import signal

from . import kernel, landlock
from .seccomp import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .messages import RestrictOrder

_REFUSED = 126


def main_restrict(text: str) -> NoReturn:
    """Everything until the interpreter is replaced by the program. Says on stderr why it cannot.

    The program ends with Node, which alone knows how long it may take: nothing else would end a
    download that an index draws out.
    """
    order: RestrictOrder = json.loads(text)
    try:
        kernel.set_process_option(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != order["parent"]:
            os._exit(_REFUSED)  # Node ended before the line above
        kernel.hide_session_keyring()
        kernel.set_process_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
        landlock.Confinement(order["readable"], order["used"], order["owned"]).enter()
        if order["filter"] is not None:
            Filter(order["filter"]).install()
        os.execv(order["command"][0], order["command"])
    except BaseException as error:
        os.write(2, f"the build cannot be confined: {error}\n".encode())
    finally:
        os._exit(_REFUSED)
