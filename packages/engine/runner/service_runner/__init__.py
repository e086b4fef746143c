"""Runs the user's `run(data, params)`: a zygote per version, one forked child per execution.

A package, because its submodules are found by its own `__path__`: its directory need not stay on
`sys.path`, where it would hide the user's modules.
"""


def main(arguments: list[str]) -> None:
    """Starts as zygote (no argument), or as the fresh interpreter of one child (`spawned`)."""
    if arguments == ["spawned"]:
        from .spawned import main_spawned

        main_spawned()
    else:
        from .zygote import main_zygote

        main_zygote()
