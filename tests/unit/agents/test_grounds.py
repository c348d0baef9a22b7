from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillopt.agents.grounds import Stay, Unconfined, seen_from_inside, way_to
from skillopt.domain.errors import UsageError
from skillopt.kernel.sandbox import Forwarded, Proxied, Way
from tests.unit.agents.programs import team

HOSTS = ("api.example.com", "login.example.com")


@pytest.mark.parametrize(
    ("base_url", "way", "inside"),
    [
        (None, Proxied(places=(("api.example.com", 443), ("login.example.com", 443))), None),
        ("http://127.0.0.1:8000/v1", Forwarded(host="127.0.0.1", port=8000), "http://127.0.0.1:8000/v1"),
        ("http://localhost/v1?a=b", Forwarded(host="localhost", port=80), "http://127.0.0.1:20080/v1?a=b"),
        ("http://gpu.lan:8000", Forwarded(host="gpu.lan", port=8000), "http://127.0.0.1:8000"),
        ("http://[::1]:9/v1", Forwarded(host="::1", port=9), "http://127.0.0.1:20009/v1"),
        ("https://API.openai.com/v1", Proxied(places=(("api.openai.com", 443),)), "https://API.openai.com/v1"),
        ("https://gateway.lan:8443", Proxied(places=(("gateway.lan", 8443),)), "https://gateway.lan:8443"),
    ],
)
def test_the_one_way_out_leads_to_the_model(base_url: str | None, way: Way, inside: str | None) -> None:
    """A port that only root may listen on has another on the inside."""
    assert way_to(base_url, HOSTS) == way
    assert seen_from_inside(base_url, way) == inside


@pytest.mark.parametrize("base_url", ["ftp://model", "model:80", "http://", "", "http:///v1", "file:///etc/passwd"])
def test_what_is_no_address_of_a_server_is_refused(base_url: str) -> None:
    with pytest.raises(UsageError, match="no address of a server"):
        way_to(base_url, HOSTS)


@pytest.mark.parametrize("base_url", ["http://host:port", "http://host:99999", "http://[::1"])
def test_an_address_that_cannot_be_read_is_the_persons_to_mend(base_url: str) -> None:
    with pytest.raises(UsageError, match="no address of a server"):
        way_to(base_url, HOSTS)


def test_unconfined_a_program_knows_the_places_themselves(tmp_path: Path) -> None:
    grounds = Unconfined()
    stay = Stay(work=tmp_path / "work", home=tmp_path / "home", seconds=1.0)
    assert grounds.places(stay) == (str(tmp_path / "work"), str(tmp_path / "home"))
    assert grounds.address("http://gpu.lan:8000") == "http://gpu.lan:8000"
    assert not grounds.confines


def test_unconfined_it_finds_what_is_mounted_and_a_folder_for_what_is_temporary(tmp_path: Path) -> None:
    for name in ("work", "home", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "page").write_text("read me")
    who = team(tmp_path, "open(os.environ['TMPDIR'] + '/x', 'w'); print(open('data/manual/page').read(), prompt)")
    mounts = ((tmp_path / "docs", "data/manual"),)
    stay = Stay(work=tmp_path / "work", home=tmp_path / "home", seconds=60.0, mounts=mounts)
    finished = asyncio.run(Unconfined().run(who.program, (), {}, b"please", stay))
    assert (finished.exit_code, finished.stdout) == (0, b"read me please\n")
    assert (tmp_path / "home" / "tmp" / "x").exists()
