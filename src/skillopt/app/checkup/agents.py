"""Looks for the agent programs: where each is, in which version, and whether somebody is logged in to it.
Owns what is said of them; refuses to ask any model, unless told to, and to read what a login holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from skillopt.agents.finding import Program, find_program
from skillopt.agents.program import Adapter
from skillopt.agents.settings import CliSettings
from skillopt.app.checkup.finding import Finding
from skillopt.app.config import CliModel
from skillopt.app.environ import resolve_reference
from skillopt.app.programs.adapters import ADAPTERS
from skillopt.app.programs.teams import adapter_of, find_programs, key_reference_of
from skillopt.app.project.prepare import Prepared
from skillopt.domain.agency.errands import Errand
from skillopt.domain.errors import NotInstalledError, SkilloptError
from skillopt.domain.skill import Skill

_READY = "Answer with the word ready."
_PATIENCE = 60.0  # seconds for one word: some programs wait very long for a server that is not there


async def programs_here(environ: Mapping[str, str]) -> Sequence[Finding]:
    """Return what is known of every agent program on this machine; one that is missing is no fault."""
    return [await _found(adapter, environ) for adapter in ADAPTERS.values()]


async def agent_at_work(prepared: Prepared, *, environ: Mapping[str, str], call: bool) -> Sequence[Finding]:
    """Return whether the agent of a config could be sent; with `call` it is, to say one word."""
    target = prepared.config.models.target
    if prepared.members.errands is None or not isinstance(target, CliModel):
        return ()
    settings = msgspec.structs.replace(prepared.config.agent, timeout=min(prepared.config.agent.timeout, _PATIENCE))
    check = "agent"
    untrusted = waiting(prepared, check)
    if untrusted is not None:
        return (untrusted,)
    try:
        programs = await find_programs(prepared.config, prepared.root)
        agent = programs.sent(target, settings, prepared.root)
        key = key_reference_of(target)
        if key is not None:
            resolve_reference(key)
    except SkilloptError as error:
        return (Finding(check=check, ok=False, says=str(error)),)
    named = f"{agent.identity.backend}, {_confined(settings.sandbox)}; {_login(target, environ)}"
    if not call:
        await agent.close()
        return (Finding(check=check, ok=True, says=f"{named}; not sent (--call has it say one word)"),)
    try:
        reply = await agent.run(Errand(instruction=_READY, skill=Skill.blank()))
    except SkilloptError as error:
        return (Finding(check=check, ok=False, says=prepared.scrub(f"{named}; {error}")),)
    else:
        return (Finding(check=check, ok=True, says=f"{named}; answered in {reply.seconds:.2f} s"),)
    finally:
        await agent.close()


def waiting(prepared: Prepared, check: str) -> Finding | None:
    """Return what the person has to allow before any program of this config is started, even for its version."""
    missing = [asked.words for asked in prepared.asked if not prepared.trust.has(asked)]
    if not missing:
        return None
    return Finding(check=check, ok=None, says=f"waits for your word (--trust): {'; '.join(missing)}")


async def _found(adapter: Adapter, environ: Mapping[str, str]) -> Finding:
    check = f"agents.{adapter.name}"
    try:
        program = await find_program(adapter, path=None, root=Path(), environ=environ)
    except NotInstalledError:
        return Finding(check=check, ok=None, says=f"not on PATH; to install it: {adapter.install}")
    except SkilloptError as error:
        return Finding(check=check, ok=False, says=str(error))
    return Finding(check=check, ok=True, says=f"{_told(program)}; {_logged_in(adapter, environ)}")


def _told(program: Program) -> str:
    real = program.path.resolve()
    link = "" if real == program.path else f", which is {real}"
    wrapper = " (a script that starts something else: its version need not be what runs)" if program.wrapper else ""
    return f"{program.version} at {program.path}{link}{wrapper}"


def _logged_in(adapter: Adapter, environ: Mapping[str, str]) -> str:
    return "you are logged in to it" if _has_login(adapter, environ) else "no login of yours was found"


def _has_login(adapter: Adapter, environ: Mapping[str, str]) -> bool:
    home = environ.get("HOME", "")
    return home.startswith("/") and adapter.login(Path(home))


def _login(model: CliSettings, environ: Mapping[str, str]) -> str:
    """Return with what the program is let in: runs have a home of their own, so only a key goes with them."""
    reference = key_reference_of(model)
    if reference is not None:
        return f"its key is {reference}"
    own = ", and a run does not use the login that you have" if _has_login(adapter_of(model), environ) else ""
    return f"it is given no key{own}"


def _confined(sandbox: str) -> str:
    return "not confined" if sandbox == "none" else f"confined by {sandbox}"
