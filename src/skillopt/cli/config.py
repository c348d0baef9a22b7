"""`skillopt config`: show what a configuration means and where each value came from, check it, print its schema.
Owns the layout of these answers; refuses to know any setting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skillopt.cli.output import print_json, print_text

if TYPE_CHECKING:
    import msgspec

    from skillopt.app.settings.load import Loaded

_FILE = click.argument("config", type=click.Path(path_type=Path))
_SETS = click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Change one setting; may be repeated.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object on one line.")


@click.group(epilog="Example: skillopt config show skillopt.yaml --origin")
def command() -> None:
    """Show, check and describe configurations."""


@command.command(epilog="Example: skillopt config show skillopt.yaml --origin --set train.epochs=2")
@_FILE
@_SETS
@click.option("--origin", is_flag=True, help="Also say where each value came from.")
@_JSON
def show(config: Path, sets: tuple[str, ...], *, origin: bool, as_json: bool) -> None:
    """Print every setting of CONFIG as it will be used."""
    from skillopt.app.settings.layers import dotted
    from skillopt.app.settings.schema import leaves

    loaded = _load(config, sets)
    if as_json:
        origins = {key: {"layer": one.layer, "where": one.where} for key, one in loaded.origins.items()}
        print_json({"config": loaded.config, **({"origins": origins} if origin else {})})
        return
    settings = {dotted(path): json.dumps(value, ensure_ascii=False) for path, value in leaves(loaded.config)}
    rows = [f"{key}: {value}" for key, value in settings.items()]
    if origin:
        width = max(map(len, rows))
        rows = [f"{row:<{width}}  # {loaded.origins[key]}" for row, key in zip(rows, settings, strict=True)]
    print_text("\n".join(rows))


@command.command(epilog="Example: skillopt config check skillopt.yaml")
@_FILE
@_SETS
@_JSON
def check(config: Path, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Say whether CONFIG can be used; nothing is run."""
    loaded = _load(config, sets)
    given = sum(origin.layer != "default" for origin in loaded.origins.values())
    if as_json:
        print_json({"valid": True, "given": given, "default": len(loaded.origins) - given})
    else:
        print_text(f"{config.name} is valid: {given} settings given, {len(loaded.origins) - given} by default.")


@command.command(epilog="Example: skillopt config schema > skillopt.schema.json")
@_JSON
def schema(*, as_json: bool) -> None:
    """Print the JSON Schema of configurations, which editors use for completion."""
    from skillopt.app.settings.load import EXTENDS
    from skillopt.app.settings.schema import json_schema

    described = json.loads(json_schema(_shape(), also=(EXTENDS,)))
    if as_json:
        print_json(described)
    else:
        print_text(json.dumps(described, indent=2))


def _shape() -> type[msgspec.Struct]:
    """Return the type of configurations; loaded when used, so that help stays quick."""
    from skillopt.app.config import Config

    return Config


def _load(path: Path, sets: tuple[str, ...]) -> Loaded[msgspec.Struct]:
    from skillopt.app.environ import variables
    from skillopt.app.settings.load import load

    return load(path, _shape(), sets=sets, environ=variables())
