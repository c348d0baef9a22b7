"""Looks a machine and a configuration over before anything is spent, and says what each failure means.
Owns the list of checks; refuses to mend anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from skillopt.app.checkup.agents import agent_at_work, programs_here, waiting
from skillopt.app.checkup.finding import Finding
from skillopt.app.config import CliModel, Model, UseRole, WiredModel
from skillopt.app.environ import resolve_reference
from skillopt.app.models import key_references, make_chat
from skillopt.app.programs.teams import Programs, find_programs
from skillopt.app.project.prepare import Prepared, prepare
from skillopt.app.project.secrets import scrubber
from skillopt.app.project.trust import Asked, described
from skillopt.backends.handoff import HandoffSettings
from skillopt.domain.chat import ChatRequest, Message
from skillopt.domain.errors import SkilloptError
from skillopt.domain.skill import check_standard
from skillopt.domain.tasks import SplitName
from skillopt.domain.usage import Caps
from skillopt.kernel.sandbox import Tier, probe

_OLDEST = (3, 11)
_NAMED = 3


async def examine(config: Path | None, *, environ: Mapping[str, str], call: bool) -> tuple[Finding, ...]:
    """Return what was found; with `call`, each model is asked one tiny question, which may cost a little."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    findings = [Finding(check="python", ok=sys.version_info >= _OLDEST, says=version), await _sandbox()]
    if config is None:
        findings += await programs_here(environ)
        findings.append(Finding(check="config", ok=None, says="none given: skillopt doctor CONFIG checks one"))
        return tuple(findings)
    prepared = _tried(findings, "config", lambda: prepare(config, environ=environ))
    if prepared is None:
        return tuple(findings)
    tasks = prepared.plan.tasks
    findings.append(
        Finding(check="tasks", ok=True, says=f"train {len(tasks.train)}, val {len(tasks.val)}, test {len(tasks.test)}")
    )
    findings += [Finding(check="tasks", ok=None, says=warning) for warning in tasks.warnings]
    for found in check_standard(prepared.plan.seed_skill, prepared.plan.seed_skill.name):
        findings.append(Finding(check="skill", ok=None, says=str(found.message)))
    models = prepared.config.models
    asked: dict[str, Model] = {"target": models.target, "optimizer": models.optimizer}
    findings += _judging(prepared)
    findings += _command(prepared, findings[1])
    if not isinstance(models.judge, UseRole):
        asked["judge"] = models.judge
    sent = await agent_at_work(prepared, environ=environ, call=call)
    if sent:
        del asked["target"]
    findings += [await _model(prepared, role, model, call=call) for role, model in asked.items()]
    return (*findings, *sent)


async def _sandbox() -> Finding:
    """Try the sandbox; a machine without one trains all the same, but runs no code of others."""
    probed = [await probe(tier) for tier in Tier]
    holding = next((each.tier.value for each in probed if each.holds), None)
    told = "; ".join(f"{each.tier.value}: {each.says}" for each in probed)
    if holding is None:
        return Finding(check="sandbox", ok=None, says=f"none holds here, so code of others does not run ({told})")
    return Finding(check="sandbox", ok=True, says=f"{holding} holds ({told})")


def _judging(prepared: Prepared) -> Iterator[Finding]:
    """Say which tasks take a judge, and who that is."""
    judged = [task.id for split in SplitName for task in prepared.plan.tasks.of(split) if task.rubric is not None]
    judge, how = prepared.config.models.judge, prepared.config.judge
    if judged:
        named = ", ".join(judged[:_NAMED]) + (", …" if len(judged) > _NAMED else "")
        who = f"the {judge.use}'s model" if isinstance(judge, UseRole) else "models.judge"
        times = "once" if how.repeats == 1 else f"{how.repeats} times"
        says = f"{len(judged)} tasks have a rubric ({named}), each answer judged {times} by {who}"
        yield Finding(check="judge", ok=True, says=says)
    elif not isinstance(judge, UseRole):
        yield Finding(check="judge", ok=None, says="no task has a rubric, so models.judge is never asked")


def _command(prepared: Prepared, sandbox: Finding) -> Iterator[Finding]:
    """Say which program grades, and whether it may and can run."""
    program = prepared.program
    if program is None:
        return
    if not sandbox.ok:
        says = f"answers are graded by {described(program)}, which runs in a sandbox only, and none holds here"
        yield Finding(check="command", ok=False, says=says)
    elif prepared.trust.has(Asked.of(program)):
        yield Finding(check="command", ok=True, says=f"answers are graded by {described(program)}")
    else:
        says = f"answers are graded by {described(program)}: look at it, then train or eval with --trust"
        yield Finding(check="command", ok=None, says=says)


async def _model(prepared: Prepared, role: str, model: Model, *, call: bool) -> Finding:
    """Make a role's model, look whether its keys are there, and with `call` ask it one word."""
    check = f"models.{role}"
    untrusted = waiting(prepared, check) if isinstance(model, CliModel) else None
    if untrusted is not None:
        return untrusted
    try:
        programs = await find_programs(prepared.config, prepared.root) if isinstance(model, CliModel) else Programs()
        chat = make_chat(role, model, Caps(), prepared.root, programs)
        if isinstance(model, WiredModel):
            for reference in key_references(model):
                resolve_reference(reference)
    except SkilloptError as error:
        return Finding(check=check, ok=False, says=str(error))
    named = f"{chat.identity.backend} {chat.identity.model} at {chat.identity.address}"
    try:
        if isinstance(model, HandoffSettings):
            return Finding(check=check, ok=None, says=f"{named}: asks by {model.folder}/pending.json")
        if not call:
            return Finding(check=check, ok=None, says=f"{named}: not asked (--call asks one word)")
        words = (Message("user", "Answer with the word ready."),)
        reply = await chat.send(ChatRequest(messages=words, max_tokens=model.max_tokens))
    except SkilloptError as error:
        return Finding(check=check, ok=False, says=prepared.scrub(f"{named}: {error}"))
    else:
        return Finding(check=check, ok=True, says=f"{named}: answered in {reply.seconds:.2f} s")
    finally:
        await chat.close()


def _tried(findings: list[Finding], check: str, work: Callable[[], Prepared]) -> Prepared | None:
    try:
        done = work()
    except SkilloptError as error:
        findings.append(Finding(check=check, ok=False, says=scrubber().text(str(error))))
        return None
    findings.append(Finding(check=check, ok=True, says=f"valid; the run would be called {done.default_name}"))
    return done
