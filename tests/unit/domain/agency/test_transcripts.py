from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skillopt.domain.agency.transcripts import LONGEST_ACCOUNT, LONGEST_STEP, Action, LeftFile, Transcript

KINDS = st.sampled_from(["said", "thought", "ran", "error"])
ACTIONS = st.lists(st.builds(Action, kind=KINDS, text=st.text(max_size=900), status=st.text(max_size=90)), max_size=60)


def made(*actions: Action) -> Transcript:
    return Transcript(program="codex 1", actions=actions)


@given(ACTIONS)
def test_an_account_keeps_its_bounds_and_says_what_it_left_out(actions: list[Action]) -> None:
    account = made(*actions).account()
    assert len(account) <= LONGEST_ACCOUNT
    numbered = [line for line in account.splitlines() if line[:1].isdigit()]
    assert len(numbered) == len(actions) or f"[… {len(actions) - len(numbered)} steps left out …]" in account
    assert all(len(action.line) <= LONGEST_STEP for action in actions)


def test_an_account_up_to_a_step_is_its_beginning() -> None:
    whole = made(*(Action(kind="said", text=f"word {number}") for number in range(5)))
    assert whole.account(until=2).splitlines() == whole.account().splitlines()[:2]


def test_a_step_is_told_with_its_tool_and_how_it_went() -> None:
    assert (
        Action(kind="ran", tool="Bash", text="cat task.md\n", status="exit 1").line == "ran Bash: cat task.md [exit 1]"
    )


def test_a_summary_names_what_was_read_called_denied_and_went_wrong() -> None:
    transcript = Transcript(
        program="claude_code 2",
        actions=tuple(Action(kind="error", text=f"no {number}") for number in range(4)),
        calls=(("Bash", 2),),
        shims=("lookup", "tides", "lookup"),
        denied=("WebFetch",),
        skill_opened="yes",
        task_read="no",
    )
    assert transcript.summary().splitlines() == [
        "agent: claude_code 2, exit code 0",
        "task read: no; skill opened: yes",
        "tools called: Bash 2×",
        "commands of the task called: lookup 2×, tides 1×",
        "denied: WebFetch",
        "error: no 0",
        "error: no 1",
        "error: no 2",
    ]


def test_secrets_leave_every_word_of_a_transcript() -> None:
    transcript = Transcript(
        program="codex 1",
        actions=(Action(kind="ran", text="echo hush"),),
        denied=("hush",),
        files=(LeftFile(path="a", size=4, digest="d", text="hush"), LeftFile(path="b", size=1, digest="e", text="b")),
        raw="hush",
    )
    told = transcript.scrubbed(lambda text: text.replace("hush", "[SECRET]"))
    assert "hush" not in repr(told)
    assert told.files[0].digest == ""
    assert told.files[1] is transcript.files[1]
