"""Runs the user's `run(data, params)`: a zygote per version, one forked child per execution.

A package, because its submodules are found by its own `__path__`: its directory need not stay on
`sys.path`, where it would hide the user's modules.
"""


def main(arguments: list[str]) -> None:
    """Starts as zygote (no argument, or `confined`), or as one of its helpers.

    `spawned` is the fresh interpreter of one child, `confine` the launcher of isolation level C,
    `restrict` that of a program of a build there, `trial` tries one piece of the isolation.
    """
    if arguments[:1] == ["confine"]:
        from .confine import main_confine

        main_confine(arguments[1])
    elif arguments[:1] == ["restrict"]:
        from .restrict import main_restrict

        main_restrict(arguments[1])
    elif arguments[:1] == ["trial"]:
        from .trial import main_trial

        main_trial(arguments[1:])
    elif arguments == ["spawned"]:
        from .spawned import main_spawned

        main_spawned()
    else:
        from .zygote import main_zygote

        main_zygote(is_confined=arguments == ["confined"])
