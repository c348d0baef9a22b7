from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from skillopt.agents.program import Ended, Heard, Problem
from skillopt.agents.runner import CliAgent
from skillopt.agents.settings import AgentSettings
from skillopt.agents.wording import SCHEMA
from skillopt.domain.agency.errands import Attachment, Errand
from skillopt.domain.agency.transcripts import Action
from skillopt.domain.chat import ModelIdentity, Reply
from skillopt.domain.errors import (
    AgentError,
    AgentTimeoutError,
    CrashedError,
    ProviderError,
    RateLimitedError,
    TaskError,
)
from skillopt.domain.skill import Skill
from skillopt.domain.usage import Price, Usage
from tests.unit.agents.programs import VERSION, ScriptedAdapter, ScriptedSettings, Turnstile, team

SKILL = Skill.from_text("---\nname: sums\ndescription: Sums.\n---\nCarry the one.\n")
ERRAND = Errand(instruction="Add 40 and 2.", skill=SKILL)
SPENT = Usage(calls=1, input_tokens=7, output_tokens=2, nano_usd=30)


def heard(**said: object) -> str:
    """Return the code that says this to whoever listens."""
    return f"print({msgspec.json.encode(msgspec.convert(said, Heard)).decode()!r})\n"


def agent(folder: Path, code: str, settings: AgentSettings = AgentSettings(), **more: object) -> CliAgent:
    adapter = more.pop("adapter", ScriptedAdapter())
    assert isinstance(adapter, ScriptedAdapter)
    return CliAgent(team(folder, code, adapter=adapter), settings, folder)


def sent(who: CliAgent, errand: Errand = ERRAND) -> Reply:
    """Send an agent once, and let it go."""

    async def scene() -> Reply:
        try:
            return await who.run(errand)
        finally:
            await who.close()

    return asyncio.run(scene())


def failed(who: CliAgent) -> AgentError | ProviderError:
    with pytest.raises((AgentError, ProviderError)) as raised:
        sent(who)
    error = raised.value
    assert isinstance(error, AgentError | ProviderError)
    return error


def test_an_answer_comes_with_what_was_done_for_it(tmp_path: Path) -> None:
    told = heard(
        text="42",
        usage=msgspec.to_builtins(SPENT),
        requests=3,
        model="m-1",
        session="s-1",
        actions=[msgspec.to_builtins(Action(kind="ran", text="ls", tool="shell"))],
        calls=[("shell", 1)],
        denied=["web"],
        skill_opened="yes",
        task_read="no",
    )
    reply = sent(agent(tmp_path, told))
    assert (reply.text, reply.usage, reply.model, reply.request_id) == ("42", SPENT, "m-1", "s-1")
    did = reply.transcript
    assert did is not None
    assert did.program == "scripted_program 1.2.3"
    assert (did.actions, did.calls, did.denied) == (
        (Action(kind="ran", text="ls", tool="shell"),),
        (("shell", 1),),
        ("web",),
    )
    assert (did.skill_opened, did.task_read, did.requests, did.exit_code, did.attempts) == ("yes", "no", 3, 0, 1)
    assert did.raw.startswith('{"text":"42"')


def test_a_program_that_does_not_tell_what_it_used_has_made_a_call(tmp_path: Path) -> None:
    assert sent(agent(tmp_path, "print('42')")).usage == Usage(calls=1)


def test_it_works_in_a_folder_with_the_task_its_files_and_the_skill_and_what_it_leaves_is_known(tmp_path: Path) -> None:
    code = (
        "for name in ('task.md', 'in.csv', '.agents/skills/skillopt-sums/SKILL.md'):\n"
        "    print(pathlib.Path(name).read_text().strip())\n"
        "os.makedirs('out'); open('out/sum.txt', 'w').write('42'); os.remove('in.csv')\n"
    )
    (tmp_path / "in.csv").write_bytes(b"1,2")
    wrong = Attachment(name="in.csv", digest="0" * 64, source=str(tmp_path / "in.csv"))
    with pytest.raises(TaskError, match="has changed"):
        sent(agent(tmp_path, code), msgspec.structs.replace(ERRAND, files=(wrong,)))
    right = msgspec.structs.replace(wrong, digest=hashlib.sha256(b"1,2").hexdigest())
    reply = sent(agent(tmp_path, code), msgspec.structs.replace(ERRAND, files=(right,)))
    assert reply.text.startswith("Add 40 and 2.\n1,2\n---\n")
    assert "Carry the one." in reply.text
    assert reply.transcript is not None
    assert [(file.path, file.text, file.deleted) for file in reply.transcript.files] == [
        ("out/sum.txt", "42", False),
        ("in.csv", None, True),
    ]


EMPTY_FIRST = (
    "again = 'An earlier attempt' in prompt\n"
    "usage = {'calls': 1, 'input_tokens': 7, 'output_tokens': 2, 'nano_usd': 30}\n"
    "print(json.dumps({'text': '42' if again else ' ', 'usage': usage}))\n"
)


def test_a_run_that_ended_without_an_answer_is_begun_again_with_a_note_and_both_are_paid_for(tmp_path: Path) -> None:
    adapter = ScriptedAdapter()
    reply = sent(agent(tmp_path, EMPTY_FIRST, adapter=adapter))
    assert (reply.text, reply.usage) == ("42", SPENT + SPENT)
    assert reply.transcript is not None
    assert reply.transcript.attempts == 2
    first, second = adapter.jobs
    assert second.prompt.startswith(first.prompt)
    assert first.work != second.work


@pytest.mark.parametrize("retries", [0, 2])
def test_a_run_that_never_ends_with_an_answer_is_a_crash_and_all_of_it_is_paid_for(
    tmp_path: Path, retries: int
) -> None:
    settings = AgentSettings(empty_retries=retries)
    error = failed(agent(tmp_path, heard(text="\n", usage=msgspec.to_builtins(SPENT)), settings))
    assert isinstance(error, CrashedError)
    assert f"ended {retries + 1} times without an answer" in error.message
    assert error.usage == Usage(
        calls=retries + 1, input_tokens=7 * (retries + 1), output_tokens=2 * (retries + 1), nano_usd=30 * (retries + 1)
    )


def test_what_its_provider_calls_an_empty_reply_is_begun_again_too(tmp_path: Path) -> None:
    problem = msgspec.to_builtins(Problem(cause="empty", message="nothing came"))
    error = failed(agent(tmp_path, heard(problem=problem)))
    assert isinstance(error, CrashedError)
    assert error.usage == Usage(calls=2)


def test_a_failure_after_an_empty_run_costs_what_both_cost(tmp_path: Path) -> None:
    code = (
        "again = 'An earlier attempt' in prompt\n"
        "usage = {'calls': 1, 'input_tokens': 7, 'output_tokens': 2, 'nano_usd': 30}\n"
        "print(json.dumps({'problem': {'cause': 'rate_limited', 'message': 'slow down', 'status': 429}} if again\n"
        "      else {'text': '', 'usage': usage}))\n"
    )
    error = failed(agent(tmp_path, code))
    assert isinstance(error, RateLimitedError)
    assert error.usage == SPENT + Usage(calls=1)


def test_an_exit_code_that_is_not_0_is_a_failure_whatever_was_said(tmp_path: Path) -> None:
    error = failed(agent(tmp_path, "print('42', flush=True); sys.exit('no disk left')"))
    assert isinstance(error, CrashedError)
    assert "ended with exit code 1: no disk left" in error.message


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()


def test_a_run_that_reaches_its_deadline_failed_and_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "child = os.fork()\n"
        f"if child: open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child}}')\n"
        "print('42', flush=True)\n"
        "while True: time.sleep(60)\n"
    )
    error = failed(agent(tmp_path, code, AgentSettings(timeout=3.0)))
    assert isinstance(error, AgentTimeoutError)
    assert not [pid for pid in map(int, pids.read_text().split()) if is_running(pid)]


def test_a_cancelled_run_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = (
        f"with open({str(pipe)!r}, 'w') as pipe: pipe.write(f'{{os.getpid()}} ' + os.environ['WORK'])\n"
        "while True: time.sleep(60)\n"
    )

    async def scene() -> tuple[int, Path]:
        who = agent(tmp_path, code)
        running = asyncio.ensure_future(who.run(ERRAND))
        process, work = (await asyncio.to_thread(pipe.read_text)).split()
        running.cancel()
        await asyncio.wait((running,))
        assert running.cancelled()
        await who.close()
        return int(process), Path(work)

    process, work = asyncio.run(scene())
    assert not is_running(process)
    assert not work.exists()


PLACES = (
    "home = pathlib.Path.home()\nprint(home, os.environ['WORK'], len(list(home.iterdir())))\n(home / 'mine').touch()\n"
)


def test_no_run_finds_anything_of_another_and_nothing_is_left_of_any(tmp_path: Path) -> None:
    async def scene() -> list[str]:
        who = agent(tmp_path, PLACES)
        replies = [await who.run(ERRAND) for _ in range(2)]
        await who.close()
        return [word for reply in replies for word in reply.text.split()]

    home, work, before, other_home, other_work, before_again = asyncio.run(scene())
    assert (home, before) == (other_home, before_again)
    assert work != other_work
    assert not any(Path(place).exists() for place in (home, work, other_work))


def test_as_many_run_at_once_as_may_and_no_more(tmp_path: Path) -> None:
    async def scene() -> tuple[int, list[str]]:
        turnstile = Turnstile(2)
        grown = team(tmp_path, "print(prompt[:4])", grounds=turnstile)
        who = CliAgent(grown, AgentSettings(at_once=2), tmp_path)
        async with asyncio.timeout(60):
            replies = await asyncio.gather(*(who.run(ERRAND) for _ in range(6)))
        await who.close()
        return turnstile.most, [reply.text for reply in replies]

    assert asyncio.run(scene()) == (2, ["Your\n"] * 6)


def test_the_answer_of_a_schema_is_read_out_of_it(tmp_path: Path) -> None:
    said = msgspec.json.encode({"final_response": "It is 42.", "final_answer": "42"}).decode()
    adapter = ScriptedAdapter(schemas=True)
    assert sent(agent(tmp_path, heard(text=said), adapter=adapter)).text == "It is 42."
    assert [job.schema for job in adapter.jobs] == [SCHEMA]
    adapter = ScriptedAdapter(schemas=True)
    plain = agent(tmp_path, heard(text=said), AgentSettings(structured=False), adapter=adapter)
    assert sent(plain).text == said
    assert [job.schema for job in adapter.jobs] == [None]


def test_an_answer_by_a_schema_that_has_no_words_is_begun_again_like_any_that_is_empty(tmp_path: Path) -> None:
    said = msgspec.json.encode({"final_response": " ", "final_answer": ""}).decode()
    adapter = ScriptedAdapter(schemas=True)
    error = failed(agent(tmp_path, heard(text=said), adapter=adapter))
    assert isinstance(error, CrashedError)
    assert "ended 2 times without an answer" in error.message
    assert ["earlier attempt" in job.prompt for job in adapter.jobs] == [False, True]


@pytest.mark.skipif(shutil.which("git") is None, reason="git says where a project begins, and is not here")
def test_for_git_the_project_begins_right_above_its_folder_and_has_no_file(tmp_path: Path) -> None:
    look = "import subprocess\ndef git(*words):\n"
    look += "    return subprocess.run(['git', *words], capture_output=True, text=True)\n"
    code = look + "print(git('rev-parse', '--show-toplevel').stdout.strip() == str(pathlib.Path.cwd().parent))\n"
    assert sent(agent(tmp_path, code)).text == "True\n"
    assert sent(agent(tmp_path, look + "print(git('ls-files').returncode, git('ls-files').stdout)\n")).text == "0 \n"


def test_data_folders_can_be_read_and_are_no_files_that_were_left(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page").write_text("read me")
    adapter = ScriptedAdapter()
    settings = AgentSettings(data_dirs={"manual": "docs"})
    reply = sent(agent(tmp_path, "print(open('data/manual/page').read())", settings, adapter=adapter))
    assert reply.text == "read me\n"
    assert reply.transcript is not None
    assert reply.transcript.files == ()
    assert adapter.jobs[0].data_dirs == (f"{adapter.jobs[0].work}/data/manual",)


def identity_of(
    folder: Path, settings: AgentSettings = AgentSettings(), version: str = VERSION, **model: str
) -> ModelIdentity:
    behind = msgspec.structs.replace(ScriptedSettings(model="m"), **model)
    return CliAgent(team(folder, "", settings=behind, version=version), settings, folder).identity


def test_what_may_change_an_answer_is_another_identity_and_nothing_else_is(tmp_path: Path) -> None:
    same = [
        identity_of(tmp_path),
        identity_of(tmp_path, AgentSettings(timeout=7.0, at_once=1, most_tokens=9, path="elsewhere")),
        identity_of(tmp_path, api_key="${OTHER}"),
    ]
    others = [
        identity_of(tmp_path, version="1.2.4"),
        identity_of(tmp_path, model="another"),
        identity_of(tmp_path, base_url="http://127.0.0.1:1"),
        identity_of(tmp_path, AgentSettings(skill="told")),
        identity_of(tmp_path, AgentSettings(effort="low")),
        identity_of(tmp_path, AgentSettings(sandbox="none")),
        identity_of(tmp_path, AgentSettings(data_dirs={"manual": "docs"})),
    ]
    assert len(set(same)) == 1
    assert len({*same, *others}) == 1 + len(others)


def test_a_run_is_reserved_with_its_repetitions_at_the_price_of_what_is_written(tmp_path: Path) -> None:
    price = Price(input=1.0, output=3.0)
    settings = AgentSettings(most_tokens=1000, empty_retries=2)
    grown = team(tmp_path, "", settings=ScriptedSettings(price=price))
    worst = CliAgent(grown, settings, tmp_path).worst(ERRAND)
    assert worst == Usage(calls=3, output_tokens=3000, nano_usd=3000 * 3000)


class Slips(ScriptedAdapter):
    """An adapter with a slip of its own."""

    def heard(self, ended: Ended) -> Heard:
        """Break."""
        raise KeyError(ended.job.prompt[:4])


def test_the_slip_of_an_adapter_is_its_own_and_no_crash_of_ours(tmp_path: Path) -> None:
    error = failed(agent(tmp_path, "print('42')", adapter=Slips()))
    assert isinstance(error, CrashedError)
    assert "A run of scripted_program broke with KeyError" in error.message
