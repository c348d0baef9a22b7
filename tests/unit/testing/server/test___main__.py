from __future__ import annotations

import http.client
import json
import subprocess
import sys

import pytest

from skillopt.testing.server.__main__ import main


def test_the_program_prints_its_port_and_serves() -> None:
    command = [sys.executable, "-m", "skillopt.testing.server", "--scenario", "echo", "--log", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    ) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            assert said["url"] == f"http://127.0.0.1:{said['port']}"
            connection = http.client.HTTPConnection("127.0.0.1", said["port"], timeout=5)
            connection.request("GET", "/v1/models")
            assert connection.getresponse().status == 200
            connection.close()
        finally:
            process.terminate()


def test_a_scenario_nobody_knows_ends_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scenario", "rulse"]) == 2
    assert "Did you mean 'rules'?" in capsys.readouterr().err
