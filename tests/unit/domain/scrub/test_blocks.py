"""Private-key blocks are hidden whole, whatever carries them."""

from __future__ import annotations

import json

import pytest

from skillopt.domain.scrub.blocks import REACH, key_blocks

BODY = "MIIEowIBAAKCAQEAt7xq1234567890abcdefghijklmnopqrstuvwxyzABCDEFGH"


def block(label: str = "RSA PRIVATE KEY", body: str = f"{BODY}\n{BODY}\nabc=") -> str:
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def hidden(text: str) -> list[str]:
    return [text.encode()[found.start : found.end].decode() for found in key_blocks(text.encode())]


@pytest.mark.parametrize(
    "label",
    [
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ],
)
def test_a_block_is_hidden_whole(label: str) -> None:
    assert hidden(f"a\n{block(label)}\nb") == [block(label)]


@pytest.mark.parametrize(
    "carried",
    [
        json.dumps(block())[1:-1],
        json.dumps(json.dumps(block()))[3:-3],
        block().replace("\n", "\r\n"),
        block().replace("\n", "\n    "),
        block().replace("\n", '\\n"\n"'),
        block().replace("\n", "\n+"),
        block().replace("\n", "\n> "),
        block().replace("\n", " "),
        block(body=f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{BODY}"),
    ],
)
def test_a_block_is_hidden_in_every_carrier(carried: str) -> None:
    assert hidden(f'x "{carried}" y') == [carried]


def test_two_blocks_are_two() -> None:
    assert hidden(f"{block()}\nbetween\n{block('PRIVATE KEY')}") == [block(), block("PRIVATE KEY")]


@pytest.mark.parametrize(
    "cut", [f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\nabc", f"-----BEGIN PRIVATE KEY-----\\n{BODY}"]
)
def test_a_block_cut_off_is_hidden_as_far_as_it_goes(cut: str) -> None:
    assert hidden(f"x {cut}") == [cut]


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN CERTIFICATE-----\n" + BODY + "\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\n" + BODY + "\n-----END PUBLIC KEY-----",
        "it starts with -----BEGIN PRIVATE KEY----- and then the key follows",
        'START = "-----BEGIN PRIVATE KEY-----"\nEND = "-----END PRIVATE KEY-----"',
        "PRIVATE KEY",
    ],
)
def test_what_holds_no_private_key_is_left_alone(text: str) -> None:
    assert hidden(text) == []


def test_an_end_out_of_reach_is_not_looked_for() -> None:
    begin, prose = "-----BEGIN PRIVATE KEY-----\n", "a word and a word\n" * (REACH // 10)
    assert hidden(begin + prose + "-----END PRIVATE KEY-----") == []
