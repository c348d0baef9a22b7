"""CliAgent: one errand done by an agent's program, in a fresh folder and a home of its own, and what it left of it.
Owns the order of a run and its repetition when it ended without an answer; refuses to know any program's ways."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import msgspec

from skillopt.agents.grounds import Stay
from skillopt.agents.homes import Homes
from skillopt.agents.program import Ended, Heard, Job
from skillopt.agents.settings import AgentSettings
from skillopt.agents.settling import failure
from skillopt.agents.shims import provided
from skillopt.agents.team import SHARE_OF_A_REQUEST, Team
from skillopt.agents.wording import SCHEMA, heard_answer, prompt
from skillopt.agents.workspace import Laid, lay_out, left_files, skill_name
from skillopt.domain.agency.errands import Errand
from skillopt.domain.agency.transcripts import LeftFile, Transcript
from skillopt.domain.chat import ModelIdentity, Reply
from skillopt.domain.errors import AgentError, CrashedError, EmptyReplyError, ProviderError
from skillopt.domain.usage import NOTHING, Usage
from skillopt.kernel.boundary import Attributed

LONGEST_RAW = 256 << 10
_FENCE = ".git"  # an empty repository: where programs take a project to begin
_DECIDES_NOTHING = ("timeout", "at_once", "most_tokens", "path")


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What we saw of a run ourselves, whatever its program says."""

    files: tuple[LeftFile, ...]
    shims: tuple[str, ...]
    attempt: int


class CliAgent:
    """The Agent port over a program: no more than `agent.at_once` runs at a time."""

    def __init__(self, team: Team, settings: AgentSettings, root: Path) -> None:
        self._team = team
        self._settings = settings
        self._mounts = tuple(
            ((root / place).resolve(), f"data/{name}") for name, place in sorted(settings.data_dirs.items())
        )
        self._homes = Homes(team.adapter.lasting)
        self._places = asyncio.Semaphore(settings.at_once)

    @property
    def identity(self) -> ModelIdentity:
        """Who answers, and everything of the settings that may change what it answers."""
        told = msgspec.to_builtins(self._settings)
        kept = {name: value for name, value in told.items() if name not in _DECIDES_NOTHING}
        kept["data_dirs"] = sorted(self._settings.data_dirs)  # what they hold is the environment's to say
        return self._team.identity(msgspec.json.encode(kept, order="deterministic").decode())

    def worst(self, errand: Errand) -> Usage:
        """Return what a run is reserved at, with its repetitions; all of it might be written, which costs the most."""
        del errand
        return self._team.reserved(written=self._settings.most_tokens, times=self._settings.empty_retries + 1)

    async def run(self, errand: Errand) -> Reply:
        """Have the errand done; a run that ended without an answer is begun again, with a note."""
        spent = NOTHING
        async with self._places:
            for attempt in range(1, self._settings.empty_retries + 2):
                try:
                    reply = await self._attempted(errand, attempt)
                except (AgentError, ProviderError) as error:
                    error.usage = _with_earlier(spent, error)
                    raise
                spent += reply.usage
                if reply.text.strip():
                    return msgspec.structs.replace(reply, usage=spent)
        raise CrashedError(
            f"{self._team.adapter.name} ended {attempt} times without an answer.",
            hint="Look at what it did: skillopt doctor CONFIG --call; agent.empty_retries says how often it may.",
            usage=spent,
        )

    async def close(self) -> None:
        """Remove the homes."""
        await asyncio.to_thread(self._homes.close)

    async def _attempted(self, errand: Errand, attempt: int) -> Reply:
        """Do the errand once, in folders that are gone afterwards."""
        with (
            Attributed(CrashedError, f"A run of {self._team.adapter.name}"),
            self._homes.lent() as home,
            provided(errand.shims) as shims,
            tempfile.TemporaryDirectory(prefix="skillopt-work-", ignore_cleanup_errors=True) as folder,
        ):
            laid = await asyncio.to_thread(self._laid_out, Path(folder), errand)
            stay = Stay(
                work=laid.folder,
                home=home,
                seconds=self._settings.timeout,
                writes=self._settings.files == "edit",
                network=self._settings.network,
                mounts=self._mounts,
                tools=shims.folder,
            )
            job = self._job(errand, laid, stay, again=attempt > 1)
            ended = await self._team.start(self._team.adapter.command(job), stay, job)
            heard = await asyncio.to_thread(self._team.adapter.heard, ended)
            left = await asyncio.to_thread(left_files, laid)
        return self._reply(ended, heard, _Seen(files=left, shims=shims.log.calls, attempt=attempt))

    def _laid_out(self, folder: Path, errand: Errand) -> Laid:
        """Lay it out below a fence: a program that looks upwards for skills and instructions goes no further."""
        place = folder.resolve() / "job"
        place.mkdir()
        for part in ("objects", "refs"):
            (folder / _FENCE / part).mkdir(parents=True)
        (folder / _FENCE / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        return lay_out(place, errand, preamble=self._settings.preamble)

    def _reply(self, ended: Ended, heard: Heard, seen: _Seen) -> Reply:
        """Return the answer with what was done for it; an empty one is still to be tried again."""
        error = failure(self._team.adapter, ended, heard)
        if error is not None and not isinstance(error, EmptyReplyError):
            raise error
        finished = ended.finished
        transcript = Transcript(
            program=self._team.identity("").backend,
            actions=heard.actions,
            calls=heard.calls,
            denied=heard.denied,
            skill_opened=heard.skill_opened,
            task_read=heard.task_read,
            shims=seen.shims,
            files=seen.files,
            requests=heard.requests,
            exit_code=finished.exit_code,
            attempts=seen.attempt,
            raw=finished.stdout[-LONGEST_RAW:].decode(errors="replace"),
        )
        return Reply(
            text=heard_answer(heard.text) if ended.job.schema is not None else heard.text,
            usage=Usage(calls=1) if heard.usage is None else heard.usage,
            model=heard.model,
            request_id=heard.session,
            seconds=finished.seconds,
            transcript=transcript,
        )

    def _job(self, errand: Errand, laid: Laid, stay: Stay, *, again: bool) -> Job:
        work, home = self._team.grounds.places(stay)
        settings = self._settings
        name = skill_name(errand.skill)
        return Job(
            prompt=prompt(errand, settings, skill=name, again=again),
            work=work,
            home=home,
            confined=self._team.grounds.confines,
            model=self._team.model,
            agent=settings,
            skill=name,
            schema=SCHEMA if settings.structured and self._team.adapter.schemas else None,
            images=tuple(f"{work}/{image}" for image in laid.images),
            data_dirs=tuple(f"{work}/{place}" for _, place in self._mounts),
            effort=settings.effort,
            seconds=settings.timeout * SHARE_OF_A_REQUEST,
            driven=self._team.driven,
        )


def _with_earlier(spent: Usage, error: AgentError | ProviderError) -> Usage | None:
    """Return what a failure cost together with the empty runs before it; None where nobody knows, or none came before.

    A refusal with a status and no usage of its own is not billed, but for the call.
    """
    if spent == NOTHING:
        return error.usage
    if error.usage is None and isinstance(error, ProviderError) and error.status is not None:
        return spent + Usage(calls=1)
    return None if error.usage is None else spent + error.usage
