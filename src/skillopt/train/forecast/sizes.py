"""How large a call will be, by verb: as an earlier run had them, or else from the prompts as they will be sent.
Owns the guess of a token from characters and of a reply nobody has seen; refuses to know prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from skillopt.domain.usage import Usage
from skillopt.kernel.ports import Environment
from skillopt.kernel.work import STAGES, Stage
from skillopt.phases.prompting import shipped_prompt
from skillopt.phases.proposals.modes import MODES
from skillopt.train.forecast.calls import Setup
from skillopt.train.forecast.estimate import Size

_CHARACTERS_A_TOKEN = 4
_USUAL_IMAGE = 1000  # tokens; a page or a screenshot, as most providers count
_DENSITY = 2.0  # how many times more or fewer characters a token may have: other tokenizers, other languages
_USUAL_LESSON = 18  # a line of the skill
_SPREAD = 2.0  # how much shorter or longer than seen the texts of a whole run may be on average
_SAMPLE = 50
_AROUND_A_CASE = 110  # characters: headings, and what grading found


class Replies(msgspec.Struct, frozen=True, kw_only=True):
    """How many tokens a reply is thought to have as long as none was seen: an answer, a proposal, a choice, advice.

    The usual lengths are a prior and no more: models that think aloud write ten times as much, terse ones a tenth.
    """

    answer: int = 150
    proposal: int = 500
    choice: int = 100
    advice: int = 500


TERSE = Replies(answer=14, proposal=50, choice=20, advice=30)  # how the scripted models that come with the package talk


def sizes(
    setup: Setup,
    environment: Environment,
    seen: Mapping[str, Usage],
    longest: Mapping[Stage, int],
    usual: Mapping[Stage, Replies] | None = None,
) -> dict[str, Size]:
    """Return the size of a call of each verb.

    `seen` is what a run used, `longest` the most tokens of a reply, `usual` how whoever is asked talks.
    """
    told = dict.fromkeys(STAGES, Replies()) | dict({} if usual is None else usual)
    proposal = told["reflect"].proposal * _CHARACTERS_A_TOKEN
    answer = told["rollout"].answer * _CHARACTERS_A_TOKEN
    guessed: dict[Stage, tuple[float, int, int]] = {
        "rollout": (_rollout(setup, environment), told["rollout"].answer, 1),
        "judge": (_judge(setup, answer), told["judge"].answer, 0),
        "reflect": (_reflect(setup, answer), told["reflect"].proposal, 1),
        "merge": (_about(setup, "merge_failures", 2 * proposal), told["merge"].proposal, 1),
        "rank": (_about(setup, "rank", 2 * proposal), told["rank"].choice, 1),
        "budget": (_about(setup, "budget", 2 * proposal), told["budget"].choice, 1),
        "repair": (_about(setup, "repair", proposal), told["repair"].proposal, 1),
        "rewrite": (
            _about(setup, "rewrite", proposal),
            told["rewrite"].proposal + _skill(setup) // _CHARACTERS_A_TOKEN,
            1,
        ),
        "notes": (_about(setup, "notes", proposal), told["notes"].proposal, 1),
        "slow_update": (_epoch(setup, "slow_update", answer), told["slow_update"].advice, 2),
        "meta_skill": (_epoch(setup, "meta_skill", answer), told["meta_skill"].advice, 2),
    }
    return {
        verb: _seen(seen[verb], longest[verb]) if verb in seen else _guess(*guess, longest[verb])
        for verb, guess in guessed.items()
    }


def _seen(usage: Usage, longest: int) -> Size:
    read, written = usage.input_tokens / usage.calls, usage.output_tokens / usage.calls
    return Size(
        read=read,
        least_read=read / _SPREAD,
        most_read=read * _SPREAD,
        written=written,
        least_written=written / _SPREAD,
        most_written=min(longest, written * _SPREAD),
    )


def _guess(characters: float, written: int, skills: int, longest: int) -> Size:
    """A reply may be as short as a token, and as long as the model may write."""
    read = characters / _CHARACTERS_A_TOKEN
    return Size(
        read=read,
        least_read=read / _DENSITY,
        most_read=read * _DENSITY,
        lesson=skills * _USUAL_LESSON,
        written=min(written, longest),
        least_written=1,
        most_written=longest,
    )


def _rollout(setup: Setup, environment: Environment) -> float:
    skill = setup.plan.seed_skill.rendered
    return _mean(
        [
            sum(
                len(message.content) + len(message.images) * _USUAL_IMAGE * _CHARACTERS_A_TOKEN
                for message in environment.messages(task, skill)
            )
            for task in setup.plan.val[:_SAMPLE]
        ]
    )


def _reflect(setup: Setup, answer: int) -> float:
    most = setup.reflect.transcript_tokens * _CHARACTERS_A_TOKEN // 2
    shown = _mean(
        [min(most, len(str(task.input)) + len(task.context or "")) for task in setup.plan.tasks.train[:_SAMPLE]]
    )
    case = shown + min(most, answer) + _AROUND_A_CASE
    cases = setup.reflect.minibatch_size * case
    return _instructions(setup) + _skill(setup) + cases


def _instructions(setup: Setup) -> int:
    """What a reflection is told whatever it is shown: its task, and the form of a change in this mode."""
    form = MODES[setup.plan.optimizer.mode].fragments.values()
    return sum(len(shipped_prompt(name)) for name in ("reflect_failures", *form))


def _about(setup: Setup, prompt: str, proposals: int) -> float:
    """The prompt, the skill, and proposals of so many characters."""
    return len(shipped_prompt(prompt)) + _skill(setup) + proposals


def _skill(setup: Setup) -> int:
    return len(setup.plan.seed_skill.rendered)


def _epoch(setup: Setup, prompt: str, answer: int) -> float:
    """The prompt, both skills, and about as much of each compared task as a reflection shows of a case."""
    case = (_reflect(setup, answer) - _instructions(setup) - _skill(setup)) / setup.reflect.minibatch_size
    samples = min(setup.plan.optimizer.slow_update.samples, len(setup.plan.tasks.train))
    return len(shipped_prompt(prompt)) + 2 * _skill(setup) + samples * case


def _judge(setup: Setup, answer: int) -> float:
    judged = [len(str(task.input)) + len(task.rubric) for task in setup.plan.val if task.rubric is not None]
    return len(shipped_prompt("judge")) + _mean(judged) + answer


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
