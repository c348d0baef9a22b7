"""The real command line against the real scripted server, both in processes of their own, killed and capped.

What the server counted is read from the server, so nothing here trusts what a run says of itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.unit.app.projects import as_dict, lasting_bytes, over_http, settings, write_project

SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE)}
FAULTS = "rate=0.3,repeats=3,retry_after=0.01,kinds=rate_limit+internal+cut+crash+garbage"
_COMING_IN = 16  # answers that may have come in while a busy disk was writing others
QUICK = {"first_wait": 0.001, "longest_wait": 0.01}


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    """Run the server and return its address."""
    command = [sys.executable, "-m", "skillopt.testing.server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]
        server.terminate()


def received(root: str, scenario: str) -> int:
    """Return how many requests the server has received under a scenario."""
    with urllib.request.urlopen(f"{root}/s/{scenario}/stats") as reply:
        told = json.loads(reply.read())["scenarios"][scenario]
    return sum(role["requests"] for role in told.values())


def project(folder: Path, root: str, scenario: str, **sections: object) -> Path:
    """Write a project whose models are at the server; all that play one scenario share answers and names."""
    models = over_http(f"{root}/s/{scenario}/v1", alias="scripted", timeout=30.0)
    usual: dict[str, object] = {"train": {"epochs": 2, "batch_size": 6}, "retry": QUICK, "limits": {"concurrency": 64}}
    return write_project(folder, settings(models=models, **usual | sections))


@contextmanager
def started(config: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "skillopt.cli.main", "train", str(config), "--run", "run", "--json", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as run:
        try:
            yield run
        finally:
            run.kill()


def ended(config: Path, code: int, *more: str) -> dict[str, object]:
    """Run the command to its end and return its summary."""
    with started(config, *more) as run:
        out, err = run.communicate(timeout=60)
    assert run.returncode == code, err
    assert "Traceback" not in err, err
    assert out.count("\n") == 1, out
    return as_dict(json.loads(out))


def killed_after(config: Path, root: str, scenario: str, requests: int, *more: str) -> bool:
    """Kill a run with SIGKILL once the server has received so many of its requests; say whether it still ran."""
    with started(config, *more) as run:
        while run.poll() is None and received(root, scenario) < requests:
            pass
        alive = run.poll() is None
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=20)
    return alive


def folder_of(config: Path) -> Path:
    return config.parent / ".skillopt" / "runs" / "run"


def usage(summary: dict[str, object], part: str) -> dict[str, object]:
    return as_dict(as_dict(summary["usage"])[part])


def number(value: object) -> int:
    assert isinstance(value, int)
    return value


@pytest.fixture(scope="module")
def whole(root: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the config of a run that nothing disturbed."""
    config = project(tmp_path_factory.mktemp("whole"), root, "rules")
    summary = ended(config, 0)
    assert received(root, "rules") == usage(summary, "total")["calls"]
    return config


def test_a_kill_at_any_time_and_the_same_command_leave_the_same_bytes(root: str, whole: Path, tmp_path: Path) -> None:
    calls = received(root, "rules")
    points = [1, calls // 4, calls // 2, 3 * calls // 4, calls - 2]

    def trial(point: int) -> tuple[bool, bool]:
        scenario = f"rules,latency=0.01,seed={point}"
        config = project(tmp_path / str(point), root, scenario, limits={"concurrency": 4})
        alive = killed_after(config, root, scenario, point)
        summary = ended(config, 0)
        lost, attempts = number(usage(summary, "overhead")["lost"]), number(usage(summary, "overhead")["attempts"])
        assert attempts == number(usage(summary, "total")["calls"]) + lost
        assert lost <= 2 * 4 + _COMING_IN, "four to the target and four to the optimizer may be under way"
        assert received(root, scenario) <= attempts
        return alive, lasting_bytes(folder_of(config)) == lasting_bytes(folder_of(whole))

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(trial, points))
    assert [same for _, same in found] == [True] * len(points)
    assert all(alive for alive, _ in found), "every kill must hit a run that is going on"


def test_a_cap_holds_through_faults_and_a_kill_at_full_width(root: str, whole: Path, tmp_path: Path) -> None:
    calls = received(root, "rules")

    def trial(cap: int) -> tuple[int, int, bool]:
        scenario = f"rules,{FAULTS},latency=0.005,seed={cap}"
        config = project(tmp_path / str(cap), root, scenario)
        flag = f"limits.calls={cap}"
        killed_after(config, root, scenario, max(1, cap // 2), "--set", flag)
        with started(config, "--set", flag) as run:
            out, err = run.communicate(timeout=60)
        assert run.returncode in {0, 4}, err
        assert json.loads(out)["status"] == ("stopped" if run.returncode else "finished")
        same = run.returncode == 4 or lasting_bytes(folder_of(config)) == lasting_bytes(folder_of(whole))
        return cap, received(root, scenario), same

    caps = [1, 2, 5, calls // 3, calls // 2, calls - 1, calls, calls + 20, 3 * calls]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(trial, caps))
    assert all(asked <= cap for cap, asked, _ in found), found
    assert all(same for *_, same in found), found
    assert any(asked < cap for cap, asked, _ in found), "with three times the calls it reaches its end"


def test_an_optimizer_that_never_answers_is_no_success(root: str, tmp_path: Path) -> None:
    summary = ended(project(tmp_path, root, "stubborn"), 3)
    assert (summary["status"], summary["stop_reason"]) == ("failed", "OptimizerError")
    assert summary["accepts"] == 0
    assert (tmp_path / str(summary["best_skill"])).read_bytes() == (tmp_path / "SKILL.md").read_bytes()


@pytest.mark.parametrize("scenario", ["always-fails", "rules,kinds=context", "rules,kinds=auth", "rules,kinds=garbage"])
def test_a_target_that_always_fails_has_no_score_at_all(root: str, tmp_path: Path, scenario: str) -> None:
    config = project(tmp_path, root, scenario, retry={"attempts": 2, **QUICK})
    summary = ended(config, 3)
    assert summary["status"] == "failed"
    for scores in as_dict(summary["scores"]).values():
        for score in as_dict(scores).values():
            assert score is None or as_dict(score)["hard"] is None
    assert json.loads((folder_of(config) / "history.json").read_bytes()) == []


def test_a_request_to_end_is_kept_to_and_the_same_command_goes_on(root: str, whole: Path, tmp_path: Path) -> None:
    scenario = "rules,latency=0.02,seed=99"
    config = project(tmp_path, root, scenario, limits={"concurrency": 2})
    with started(config) as run:
        while received(root, scenario) < 20:
            assert run.poll() is None
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=30)
    assert run.returncode == 130, err
    stopped = json.loads(out)
    assert stopped["status"] == "stopped"
    assert stopped["usage"]["overhead"]["lost"] == 0, "what was under way was let finish"
    finished = ended(config, 0)
    assert received(root, scenario) == usage(finished, "overhead")["attempts"] == usage(finished, "total")["calls"]
    assert lasting_bytes(folder_of(config)) == lasting_bytes(folder_of(whole))
