"""Makes the agents of a run: finds each program once, decides where it runs, and gives it its model and key.
Owns whose key goes to which program; refuses to know what the programs are told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import msgspec

from skillopt.agents.asked import CliChat
from skillopt.agents.finding import Driver, Program, find_driver, find_program
from skillopt.agents.grounds import Confined, Grounds, Unconfined, way_to
from skillopt.agents.program import Adapter
from skillopt.agents.runner import CliAgent
from skillopt.agents.settings import AgentSettings, CliSettings
from skillopt.agents.shims import check_absent
from skillopt.agents.team import Team
from skillopt.app.config import CliModel, Config
from skillopt.app.environ import resolve_reference, variables
from skillopt.app.programs.adapters import ADAPTERS
from skillopt.backends.endpoint import check_key_host
from skillopt.backends.http import parse_url
from skillopt.backends.providers.presets import usual_key
from skillopt.backends.providers.prices import price_of
from skillopt.domain.errors import UsageError
from skillopt.kernel.sandbox import Sandbox, Tier, probe

_NO_KEY = "none"
_OURS = Path(sys.executable)  # the Python that skillopt's extras are installed for
Place = tuple[str, str | None]


class Programs(msgspec.Struct, frozen=True, kw_only=True):
    """The programs that a config names, found on this machine, and the sandbox that holds here, if one does.

    `driver` drives the agent's program by its SDK; a model that is asked once is always reached by the command line.
    """

    found: Mapping[Place, Program] = MappingProxyType({})
    sandbox: Sandbox | None = None
    driver: Driver | None = None

    def asked_once(self, model: CliSettings) -> CliChat:
        """Return a model behind a program as one that is asked; confined where this machine can confine it."""
        adapter = adapter_of(model)
        grounds = Unconfined() if self.sandbox is None else self._confined(adapter, model)
        return CliChat(self._team(model, model.path, grounds))

    def sent(
        self, model: CliSettings, settings: AgentSettings, root: Path, tools: Mapping[str, str] = MappingProxyType({})
    ) -> CliAgent:
        """Return the agent of a run, whose tasks want these tools called; each is given with its task."""
        asked = self._team(model, settings.path, self._grounds(model, settings))
        team = msgspec.structs.replace(asked, driver=self.driver)
        check_absent(tools, team.program.search)
        return CliAgent(team, settings, root)

    def _grounds(self, model: CliSettings, settings: AgentSettings) -> Grounds:
        if settings.sandbox == "none":
            return Unconfined()
        if self.sandbox is None:
            raise UsageError(
                "An agent runs confined by bubblewrap, which does not hold on this machine.",
                hint="Install it (skillopt doctor tries it), or set agent.sandbox: none and allow that by --trust.",
            )
        return self._confined(adapter_of(model), model)

    def _confined(self, adapter: Adapter, model: CliSettings) -> Grounds:
        if self.sandbox is None:
            raise UsageError("bubblewrap does not hold on this machine.", hint="Install it: skillopt doctor tries it.")
        return Confined(self.sandbox, way_to(model.base_url, adapter.hosts))

    def _team(self, model: CliSettings, path: str | None, grounds: Grounds) -> Team:
        adapter = adapter_of(model)
        price = price_of(model.model or "") if model.price is None else model.price
        return Team(
            adapter=adapter,
            program=self.found[adapter.name, path],
            grounds=grounds,
            settings=msgspec.structs.replace(model, price=price),
            key=key_of(model),
        )


async def find_programs(config: Config, root: Path, *, python: Path = _OURS) -> Programs:
    """Look up every program that a config names; one that is missing is an error that says how to install it.

    An SDK that is to drive one is looked for in this Python.
    """
    wanted = dict.fromkeys(_wanted(config))
    if not wanted:
        return Programs()
    environ = variables()
    places = {(name, path): (name, path or _path_of_the_agent(config, name)) for name, path in wanted}
    at = {
        (name, place): await find_program(ADAPTERS[name], path=place, root=root, environ=environ)
        for name, place in dict.fromkeys(places.values())
    }
    found = {key: at[place] for key, place in places.items()}
    confines = (await probe(Tier.BUBBLEWRAP)).holds
    sandbox = Sandbox(Tier.BUBBLEWRAP) if confines else None
    return Programs(found=found, sandbox=sandbox, driver=await _driver_of_the_agent(config, found, python))


async def _driver_of_the_agent(config: Config, found: Mapping[Place, Program], python: Path) -> Driver | None:
    """Return what drives the agent, if its SDK is to; only one that is sent has a mode."""
    target, settings = config.models.target, config.agent
    if not isinstance(target, CliModel) or config.environment.kind != "agent":
        return None
    adapter = adapter_of(target)
    program = found[adapter.name, settings.path]
    return await find_driver(adapter, program, mode=settings.mode, python=python)


def adapter_of(model: CliSettings) -> Adapter:
    """Return who speaks for the program of a model."""
    return ADAPTERS[str(model.__struct_config__.tag)]


def key_reference_of(model: CliSettings) -> str | None:
    """Return the reference to the key that a program is given, or None where it uses its own login or needs none."""
    if model.api_key is not None:
        return None if model.api_key == _NO_KEY else model.api_key
    if model.base_url is None:
        return None
    usual = usual_key(parse_url(model.base_url).host)
    return None if usual is None else f"${{{usual}}}"


def key_of(model: CliSettings) -> Callable[[], str] | None:
    """Return how to get the key at call time; it goes only to the address that it was written beside."""
    reference = key_reference_of(model)
    if reference is None:
        return None
    if model.base_url is not None:
        check_key_host(parse_url(model.base_url))
    return partial(resolve_reference, reference)


def _wanted(config: Config) -> list[Place]:
    """Return each program with the path that was given for it: as an agent, and as a model that is asked."""
    models = config.models
    behind = [each for each in (models.target, models.optimizer, models.judge) if isinstance(each, CliModel)]
    asked = [(adapter_of(model).name, model.path) for model in behind]
    if isinstance(models.target, CliModel) and config.environment.kind == "agent":
        asked.append((adapter_of(models.target).name, config.agent.path))
    return asked


def _path_of_the_agent(config: Config, name: str) -> str | None:
    """Return where the agent's program was said to be, for the same program where it is asked once."""
    target = config.models.target
    same = config.environment.kind == "agent" and isinstance(target, CliModel) and adapter_of(target).name == name
    return config.agent.path if same else None
