"""`skillopt train` as a person and a script meet it: exits, the one line of JSON, Ctrl-C, and running it again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt.cli.main import main
from skillopt.testing.server.embedded import ThreadedServer, serve_in_thread
from tests.unit.app.projects import as_dict, lasting, lasting_bytes, over_http, settings, write_project

Capture = pytest.CaptureFixture[str]
SOURCE = Path(__file__).parents[3] / "src"
RETRY = {"attempts": 1}

USAGE = {"calls", "input_tokens", "cached_tokens", "output_tokens", "usd"}
SCORES = {"hard", "soft", "n", "low", "high"}
OVERHEAD = {
    *("attempts", "failed", "failed_tokens", "replayed", "lost", "lost_tokens"),
    *("speculative", "speculative_tokens", "usd", "seconds"),
}
FIELDS = {
    *("run", "run_dir", "status", "stop_reason", "steps", "accepts", "rejects", "inconclusive", "skips", "best_step"),
    *("best_skill", "scores", "by_type", "epochs", "current_origin", "best_origin", "claimed_val", "usage"),
    *("wall_seconds", "config_digest", "version"),
}


def trained(capsys: Capture, code: int, *arguments: str) -> dict[str, object]:
    """Run the command and return its one line of JSON."""
    assert main(["train", *arguments, "--json"]) == code
    return one_line(capsys.readouterr().out)


def one_line(out: str) -> dict[str, object]:
    assert out.count("\n") == 1
    assert out.endswith("}\n")
    return as_dict(json.loads(out))


def scripted(target: str = "rules", optimizer: str = "rules") -> dict[str, object]:
    return {
        "target": {"backend": "scripted", "scenario": target},
        "optimizer": {"backend": "scripted", "scenario": optimizer},
    }


def test_the_summary_has_exactly_its_fields(tmp_path: Path, capsys: Capture) -> None:
    summary = trained(capsys, 0, str(write_project(tmp_path)))
    assert set(summary) == FIELDS
    assert set(as_dict(summary["usage"])) == {"target", "optimizer", "judge", "total", "overhead"}
    for name, usage in as_dict(summary["usage"]).items():
        assert set(as_dict(usage)) == (OVERHEAD if name == "overhead" else USAGE)
    assert set(as_dict(summary["scores"])) == {"baseline", "best", "last"}
    for scores in as_dict(summary["scores"]).values():
        assert set(as_dict(scores)) == {"val", "test"}
        assert all(set(as_dict(score)) == SCORES for score in as_dict(scores).values())
    assert set(as_dict(summary["by_type"])) == {"val", "test"}
    kept = json.loads((tmp_path / str(summary["run_dir"]) / "summary.json").read_bytes())
    assert {**kept, "wall_seconds": 0, "usage": 0} == {**summary, "wall_seconds": 0, "usage": 0}


def test_the_folder_of_a_run_has_what_other_tools_rely_on(tmp_path: Path, capsys: Capture) -> None:
    summary = trained(capsys, 0, str(write_project(tmp_path)))
    folder = tmp_path / str(summary["run_dir"])
    assert {path.name for path in folder.iterdir()} == {
        *("best_skill.md", "history.json", "summary.json", "report.html", "skills", "steps"),
        *("slow_update", "meta_skill"),
    }
    assert (tmp_path / str(summary["best_skill"])).is_file()
    assert len(json.loads((folder / "history.json").read_bytes())) == summary["steps"]
    assert len(list((folder / "steps").iterdir())) == summary["steps"]


@pytest.mark.parametrize(
    ("models", "caps", "code", "status"),
    [
        (scripted(), {}, 0, "finished"),
        (scripted(optimizer="stubborn"), {}, 3, "failed"),
        (scripted(target="always-fails"), {}, 3, "failed"),
        (scripted(target="rules,kinds=auth"), {}, 3, "failed"),
        (scripted(), {"calls": 7}, 4, "stopped"),
        (scripted(), {"calls": 0}, 4, "stopped"),
        (scripted(), {"tokens": 2000}, 4, "stopped"),
        (scripted(target="rules,at=3:quota"), {}, 7, "stopped"),
    ],
)
def test_every_end_is_told_in_one_line(
    tmp_path: Path, capsys: Capture, models: dict[str, object], caps: dict[str, object], code: int, status: str
) -> None:
    config = write_project(tmp_path, settings(models=models, limits={"concurrency": 4, **caps}, retry=RETRY))
    summary = trained(capsys, code, str(config))
    assert summary["status"] == status
    folder = tmp_path / str(summary["run_dir"])
    assert {"best_skill.md", "history.json", "summary.json", "report.html"} <= {each.name for each in folder.iterdir()}
    if code:
        assert (folder / "best_skill.md").read_bytes() == (tmp_path / "SKILL.md").read_bytes()
        baseline = as_dict(as_dict(summary["scores"])["baseline"])["val"]
        assert baseline is None or as_dict(baseline)["hard"] != 0.0
    assert main(["train", str(config)]) == code, "the same command tells the same again"
    captured = capsys.readouterr()
    assert f"run {summary['run']}: {status}" in captured.out
    assert ("error: " in captured.err) is bool(code)


def test_a_raised_cap_ends_as_if_there_had_been_none(tmp_path: Path, capsys: Capture) -> None:
    whole = trained(capsys, 0, str(write_project(tmp_path / "whole")))
    config = str(write_project(tmp_path / "capped"))
    trained(capsys, 4, config, "--set", "limits.calls=9")
    trained(capsys, 4, config, "--set", "limits.calls=20")
    raised = trained(capsys, 0, config)
    assert lasting(raised) == lasting(whole)
    assert lasting_bytes(tmp_path / "capped" / str(raised["run_dir"])) == lasting_bytes(
        tmp_path / "whole" / str(whole["run_dir"])
    )


def test_another_plan_under_a_name_is_2_and_names_what_differs(tmp_path: Path, capsys: Capture) -> None:
    config = str(write_project(tmp_path))
    trained(capsys, 0, config, "--run", "mine")
    trained(capsys, 0, config, "--run", "mine", "--set", "limits.concurrency=1")
    assert main(["train", config, "--run", "mine", "--json", "--set", "gate.metric=soft"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "gate.metric changed" in captured.err
    with (tmp_path / "SKILL.md").open("a") as skill:
        skill.write("More.\n")
    assert main(["train", config, "--run", "mine"]) == 2
    assert ": skill changed" in capsys.readouterr().err


def test_fresh_makes_another_run_that_pays_nothing_twice(tmp_path: Path, capsys: Capture) -> None:
    config = str(write_project(tmp_path))
    first = trained(capsys, 0, config)
    second = trained(capsys, 0, config, "--fresh")
    third = trained(capsys, 0, config, "--fresh")
    assert [second["run"], third["run"]] == [f"{first['run']}-2", f"{first['run']}-3"]
    assert lasting(second) == lasting(third) == lasting(first)
    assert as_dict(as_dict(third["usage"])["overhead"])["attempts"] == 0


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "-x", "a b", "x" * 101])
def test_a_name_that_is_no_folder_name_is_2(tmp_path: Path, capsys: Capture, name: str) -> None:
    config = str(write_project(tmp_path))
    code = main(["train", config, f"--run={name}"])
    assert (code, capsys.readouterr().out) == (2, "")
    assert [path.name for path in tmp_path.iterdir() if path.name not in {"tasks", "SKILL.md", "skillopt.yaml"}] in (
        [],
        [".skillopt"],
    )


def test_another_workspace_is_told_by_its_path(tmp_path: Path, capsys: Capture) -> None:
    config = str(write_project(tmp_path / "project"))
    inside = trained(capsys, 0, config, "--workspace", str(tmp_path / "project" / "w"))
    outside = trained(capsys, 0, config, "--workspace", str(tmp_path / "far"))
    assert inside["run_dir"] == f"w/runs/{inside['run']}"
    assert outside["run_dir"] == (tmp_path / "far" / "runs" / str(outside["run"])).as_posix()
    assert not (tmp_path / "project" / ".skillopt").exists()


def test_warnings_about_tasks_go_to_stderr(tmp_path: Path, capsys: Capture) -> None:
    config = write_project(tmp_path)
    with (tmp_path / "tasks" / "train.jsonl").open("a") as rows:
        rows.write('{"id": "torn", "inp')
    assert main(["train", str(config), "--json"]) == 0
    captured = capsys.readouterr()
    one_line(captured.out)
    assert "warning: " in captured.err
    assert "cut off in the middle" in captured.err


# real processes -----------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[ThreadedServer]:
    with serve_in_thread() as running:
        yield running


@contextlib.contextmanager
def started(config: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command in a process of its own; it is gone when the block ends."""
    command = [sys.executable, "-m", "skillopt.cli.main", "train", str(config), "--json", *more]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """Read what the process says until it says these words."""
    assert process.stderr is not None
    heard = []
    for line in process.stderr:
        heard.append(line)
        if words in line:
            return
    pytest.fail(f"it never said {words!r} but: {''.join(heard)}")


@pytest.mark.parametrize("asked_to_stop", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(
    server: ThreadedServer, tmp_path: Path, capsys: Capture, asked_to_stop: signal.Signals
) -> None:
    whole = trained(capsys, 0, str(write_project(tmp_path / "whole", settings(models=over_http(server.url("rules"))))))
    slow = server.url("rules,latency=0.05")
    models = over_http(slow, alias=server.url("rules"))
    config = write_project(tmp_path / "cut", settings(models=models))
    with started(config) as process:
        wait_for(process, "step 1/")
        process.send_signal(asked_to_stop)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    stopped = one_line(out)
    assert (stopped["status"], stopped["stop_reason"]) == ("stopped", "InterruptedRunError")
    assert "Run the same command again" in err
    assert "Traceback" not in err
    finished = trained(capsys, 0, str(config))
    assert {**lasting(finished), "config_digest": ""} == {**lasting(whole), "config_digest": ""}
    asked = sum(role.requests for role in server.stats("rules,latency=0.05").values())
    assert asked == as_dict(as_dict(finished["usage"])["overhead"])["attempts"]
    assert asked == as_dict(as_dict(finished["usage"])["total"])["calls"], "nothing that was answered is asked again"


def test_a_second_process_leaves_at_once_and_names_the_first(
    server: ThreadedServer, tmp_path: Path, capsys: Capture
) -> None:
    config = write_project(tmp_path, settings(models=over_http(server.url("rules,latency=3600"))))
    with started(config, "--run", "one") as first:
        wait_for(first, "run one: ")
        assert main(["train", str(config), "--run", "one", "--json"]) == 6
        captured = capsys.readouterr()
        assert captured.out == ""
        assert f"process {first.pid} since" in captured.err
        assert main(["runs", "list", "--workspace", str(tmp_path / ".skillopt")]) == 0
        assert "one  running now" in capsys.readouterr().out
    assert main(["runs", "list", "--workspace", str(tmp_path / ".skillopt")]) == 0
    assert "one  killed" in capsys.readouterr().out
    assert main(["runs", "rm", "one", "--workspace", str(tmp_path / ".skillopt")]) == 0, "a dead owner's lock is free"
