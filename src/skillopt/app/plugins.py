"""The only door to importlib: loads code by name, when it is first used.
Owns the errors of code that is not there; refuses to know what the code is for."""

from __future__ import annotations

import importlib

from skillopt.domain.errors import UsageError, unknown_name


def load_attribute(module: str, attribute: str) -> object:
    """Import a module by its dotted name and return one of its names."""
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise UsageError(
                f"There is no module {module!r}.", hint="Check the name, or install the package that has it."
            ) from error
        raise UsageError(
            f"The module {module!r} needs {error.name!r}, which is not installed.", hint="Install it, then try again."
        ) from error
    if not hasattr(loaded, attribute):
        public = [name for name in vars(loaded) if not name.startswith("_")]
        raise unknown_name(f"name in module {module!r}:", attribute, public)
    return getattr(loaded, attribute)
